// C = A * B for row-major matrices, A of m x k, B of k x n, by tiles in shared memory.
// A CTA of TILE x TILE threads makes one tile of C; m, n and k are multiples of TILE.
// Each element of C is one chain of fused multiply-adds in the order of k, starting from zero.

#define TILE 16

extern "C" __global__ void matrixMul(const float *a, const float *b, float *c, int k, int n)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;

    for (int start = 0; start < k; start += TILE) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * k + start + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
