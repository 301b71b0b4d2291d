// D = alpha * A * B * C + beta * D in two products. One thread for each element of the result, no tiles. A is ni x
// nk, B nk x nj, C nj x nl, D ni x nl. Each element is a chain of fused multiply-adds in the order of the inner
// index.
//
// Evaluated by: PolyBench/GPU (2MM).
// Memory: broadcast and coalesced global reads, no tiles.

#define BLOCK_X 32
#define BLOCK_Y 8

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    mm2First(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ product, int ni, int nj,
             int nk, float alpha)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nj) {
        float sum = 0.0f;
        for (int k = 0; k < nk; k++)
            sum = fmaf(alpha * a[i * nk + k], b[k * nj + j], sum);
        product[i * nj + j] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    mm2Second(const float *__restrict__ product, const float *__restrict__ c, float *__restrict__ d, int ni, int nj,
              int nl, float beta)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nl) {
        float sum = d[i * nl + j] * beta;
        for (int k = 0; k < nj; k++)
            sum = fmaf(product[i * nj + k], c[k * nl + j], sum);
        d[i * nl + j] = sum;
    }
}
