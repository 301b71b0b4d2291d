// The matrix Q of non-Cartesian magnetic resonance image reconstruction: for every voxel a sum over all samples of
// k-space.
//   phiMagnitude  the squared magnitude of each sample's coil sensitivity
//   computeQ      Q(x) = sum of magnitude(k) * exp(2 pi i k x), one voxel a thread, the trajectory in constant memory
//
// Evaluated by: Parboil (MRI-Q).
// Memory: constant memory read by broadcast, registers for the rest; sines and cosines of any argument.

#define SAMPLES 160

__constant__ float mri_trajectory[SAMPLES][3];

extern "C" __global__ void phiMagnitude(const float *real, const float *imaginary, float *magnitude, int samples)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < samples)
        magnitude[k] = fmaf(real[k], real[k], imaginary[k] * imaginary[k]);
}

extern "C" __global__ void __launch_bounds__(256)
    computeQ(const float *__restrict__ x, const float *__restrict__ y, const float *__restrict__ z,
             const float *__restrict__ magnitude, float *__restrict__ real, float *__restrict__ imaginary, int samples)
{
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    const float px = x[voxel], py = y[voxel], pz = z[voxel];
    float sum_real = 0.0f, sum_imaginary = 0.0f;
    for (int k = 0; k < samples; k++) {
        const float along = fmaf(mri_trajectory[k][2], pz, fmaf(mri_trajectory[k][1], py, mri_trajectory[k][0] * px));
        float sine, cosine;
        sincosf(6.2831853071795864769f * along, &sine, &cosine);
        sum_real = fmaf(magnitude[k], cosine, sum_real);
        sum_imaginary = fmaf(magnitude[k], sine, sum_imaginary);
    }
    real[voxel] = sum_real;
    imaginary[voxel] = sum_imaginary;
}
