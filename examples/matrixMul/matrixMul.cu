// C = A * B for row-major matrices, A of m x k, B of k x n, in three ways. Every way adds the products of an element
// in the order of k, in one chain of fused multiply-adds from zero, so that all give the same bits.
//   matrixMul         tiles of TILE x TILE in shared memory, one element a thread
//   matrixMulNaive    every operand from global memory
//   matrixMulBlocked  tiles of BLOCK x BLOCK, of which a thread holds ROWS x COLUMNS elements in registers
// m, n and k are multiples of TILE, for matrixMulBlocked of BLOCK.
//
// Evaluated by: CUDA SDK (MatrixMul), in nearly all papers about the register file.
// Memory: coalesced global reads, tiles in shared memory read by broadcast and by rows.

#define TILE 16
#define BLOCK 64
#define DEPTH 16
#define ROWS 4
#define COLUMNS 4

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
            sum = fmaf(tile_a[threadIdx.y][i], tile_b[i][threadIdx.x], sum);
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void matrixMulNaive(const float *a, const float *b, float *c, int k, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum = fmaf(a[row * k + i], b[i * n + column], sum);
    c[row * n + column] = sum;
}

// A CTA of (BLOCK / COLUMNS) x (BLOCK / ROWS) threads. The next tiles are read into registers while this one is used.
extern "C" __global__ void __launch_bounds__(256, 2)
    matrixMulBlocked(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int k, int n)
{
    __shared__ float tile_a[DEPTH][BLOCK + 1];
    __shared__ float tile_b[DEPTH][BLOCK];
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    const int row0 = blockIdx.y * BLOCK, column0 = blockIdx.x * BLOCK;
    const int a_row = thread / DEPTH, a_depth = thread % DEPTH;
    const int b_depth = thread / BLOCK, b_column = thread % BLOCK;
    float sum[ROWS][COLUMNS] = {};
    float next_a[BLOCK * DEPTH / 256], next_b[BLOCK * DEPTH / 256];

#pragma unroll
    for (int i = 0; i < 4; i++) {
        next_a[i] = a[(row0 + a_row + 16 * i) * k + a_depth];
        next_b[i] = b[(b_depth + 4 * i) * n + column0 + b_column];
    }
    for (int start = 0; start < k; start += DEPTH) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            tile_a[a_depth][a_row + 16 * i] = next_a[i];
            tile_b[b_depth + 4 * i][b_column] = next_b[i];
        }
        __syncthreads();
        if (start + DEPTH < k) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                next_a[i] = a[(row0 + a_row + 16 * i) * k + start + DEPTH + a_depth];
                next_b[i] = b[(start + DEPTH + b_depth + 4 * i) * n + column0 + b_column];
            }
        }
#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            float left[ROWS], right[COLUMNS];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                left[r] = tile_a[i][threadIdx.y * ROWS + r];
#pragma unroll
            for (int s = 0; s < COLUMNS; s++)
                right[s] = tile_b[i][threadIdx.x + 16 * s];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int s = 0; s < COLUMNS; s++)
                    sum[r][s] = fmaf(left[r], right[s], sum[r][s]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int s = 0; s < COLUMNS; s++)
            c[(row0 + threadIdx.y * ROWS + r) * n + column0 + threadIdx.x + 16 * s] = sum[r][s];
}
