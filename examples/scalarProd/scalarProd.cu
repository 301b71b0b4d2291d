// Scalar products of many pairs of vectors. A CTA takes a pair after the other; ACCUMULATORS partial sums are made in
// shared memory by strided slices, then added by halving.
//   scalarProd    one set of accumulators for the whole CTA
//   scalarProd64  the same in double precision, four slices a thread in registers, the warps' sums joined by shuffles
// The order of additions is fixed, so the result is exact.
//
// Evaluated by: CUDA SDK (ScalarProd).
// Memory: coalesced streaming reads, partial sums in shared memory.

#define ACCUMULATORS 512

extern "C" __global__ void __launch_bounds__(256) scalarProd(const float *__restrict__ a, const float *__restrict__ b,
                                                             float *__restrict__ c, int vectors, int elements)
{
    __shared__ float sums[ACCUMULATORS];
    for (int v = blockIdx.x; v < vectors; v += gridDim.x) {
        const int base = v * elements, end = base + elements;
        for (int k = threadIdx.x; k < ACCUMULATORS; k += blockDim.x) {
            float sum = 0.0f;
            for (int i = base + k; i < end; i += ACCUMULATORS)
                sum = fmaf(a[i], b[i], sum);
            sums[k] = sum;
        }
        for (int stride = ACCUMULATORS / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            for (int k = threadIdx.x; k < stride; k += blockDim.x)
                sums[k] += sums[k + stride];
        }
        __syncthreads();
        if (threadIdx.x == 0)
            c[v] = sums[0];
    }
}

template <int WARPS> static __device__ double sum_of_cta(double sum, double *scratch)
{
#pragma unroll
    for (int delta = 16; delta > 0; delta >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, delta);
    if ((threadIdx.x & 31) == 0)
        scratch[threadIdx.x >> 5] = sum;
    __syncthreads();
    sum = 0.0;
#pragma unroll
    for (int w = 0; w < WARPS; w++)
        sum += scratch[w];
    __syncthreads();
    return sum;
}

extern "C" __global__ void __launch_bounds__(128)
    scalarProd64(const double *__restrict__ a, const double *__restrict__ b, double *__restrict__ c, int vectors,
                 int elements)
{
    __shared__ double scratch[4];
    for (int v = blockIdx.x; v < vectors; v += gridDim.x) {
        const double *left = a + v * elements, *right = b + v * elements;
        double sum[4] = {};
        for (int i = threadIdx.x; i < elements; i += 4 * 128)
#pragma unroll
            for (int k = 0; k < 4; k++)
                sum[k] = fma(left[i + 128 * k], right[i + 128 * k], sum[k]);
        const double total = sum_of_cta<4>((sum[0] + sum[1]) + (sum[2] + sum[3]), scratch);
        if (threadIdx.x == 0)
            c[v] = total;
    }
}
