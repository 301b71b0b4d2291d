// Symmetric updates of rank k, C = alpha * A * A^T + beta * C, and of rank 2k. One thread for each element of C. In
// syrk that element stands in global memory during the sum; syrk2, C = alpha * (A * B^T + B * A^T) + beta * C, has
// it in a register.
//
// Evaluated by: PolyBench/GPU (SYRK, SYR2K).
// Memory: reads a row apart between lanes; the sum of `syrk` stands in global memory.

#define BLOCK_X 32
#define BLOCK_Y 8

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    syrk(const float *a, float *c, int n, int m, float alpha, float beta)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) {
        c[i * n + j] *= beta;
        for (int k = 0; k < m; k++)
            c[i * n + j] = fmaf(alpha * a[i * m + k], a[j * m + k], c[i * n + j]);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    syrk2(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n, int m, float alpha,
          float beta)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) {
        float sum = c[i * n + j] * beta;
#pragma unroll 4
        for (int k = 0; k < m; k++) {
            sum = fmaf(alpha * a[i * m + k], b[j * m + k], sum);
            sum = fmaf(alpha * b[i * m + k], a[j * m + k], sum);
        }
        c[i * n + j] = sum;
    }
}
