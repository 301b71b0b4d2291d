// LU decomposition in place by blocks, without pivoting. For the block step at `offset`:
//   diagonal   one CTA of BLOCK threads decomposes the block on the diagonal in shared memory;
//   perimeter  a CTA for each further block: half of its threads solve for a block of the top row (U), the other
//              half for a block of the left column (L);
//   internal   a CTA for each block of what is left subtracts the product of its L and U blocks.
// Every element is a sequence of fused multiply-adds in the order of the pivots within a block.
//
// Evaluated by: Rodinia (lud).
// Memory: tiles in shared memory read by rows and by columns, with bank conflicts in the columns.

#define BLOCK 16

extern "C" __global__ void raiseDiagonal(float *m, int size, float amount)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
        m[i * size + i] += amount;
}

extern "C" __global__ void __launch_bounds__(BLOCK) diagonal(float *m, int size, int offset)
{
    __shared__ float block[BLOCK][BLOCK];

    int t = threadIdx.x;
    float *corner = m + offset * size + offset;
    for (int i = 0; i < BLOCK; i++)
        block[i][t] = corner[i * size + t];
    __syncthreads();
    for (int i = 0; i < BLOCK - 1; i++) {
        if (t > i) {
            for (int j = 0; j < i; j++)
                block[t][i] = fmaf(-block[t][j], block[j][i], block[t][i]);
            block[t][i] /= block[i][i];
        }
        __syncthreads();
        if (t > i)
            for (int j = 0; j < i + 1; j++)
                block[i + 1][t] = fmaf(-block[i + 1][j], block[j][t], block[i + 1][t]);
        __syncthreads();
    }
    for (int i = 0; i < BLOCK; i++)
        corner[i * size + t] = block[i][t];
}

extern "C" __global__ void __launch_bounds__(2 * BLOCK) perimeter(float *m, int size, int offset)
{
    __shared__ float dia[BLOCK][BLOCK];
    __shared__ float row[BLOCK][BLOCK];
    __shared__ float col[BLOCK][BLOCK];

    int upper = threadIdx.x < BLOCK;
    int t = upper ? threadIdx.x : threadIdx.x - BLOCK;
    float *corner = m + offset * size + offset;
    float *right = corner + (blockIdx.x + 1) * BLOCK;
    float *down = corner + (blockIdx.x + 1) * BLOCK * size;

    if (upper) {
        for (int i = 0; i < BLOCK / 2; i++)
            dia[i][t] = corner[i * size + t];
        for (int i = 0; i < BLOCK; i++)
            row[i][t] = right[i * size + t];
    } else {
        for (int i = BLOCK / 2; i < BLOCK; i++)
            dia[i][t] = corner[i * size + t];
        for (int i = 0; i < BLOCK; i++)
            col[i][t] = down[i * size + t];
    }
    __syncthreads();

    if (upper) {
        for (int i = 1; i < BLOCK; i++)
            for (int j = 0; j < i; j++)
                row[i][t] = fmaf(-dia[i][j], row[j][t], row[i][t]);
    } else {
        for (int i = 0; i < BLOCK; i++) {
            for (int j = 0; j < i; j++)
                col[t][i] = fmaf(-col[t][j], dia[j][i], col[t][i]);
            col[t][i] /= dia[i][i];
        }
    }
    __syncthreads();

    if (upper)
        for (int i = 1; i < BLOCK; i++)
            right[i * size + t] = row[i][t];
    else
        for (int i = 0; i < BLOCK; i++)
            down[i * size + t] = col[i][t];
}

extern "C" __global__ void __launch_bounds__(BLOCK *BLOCK) internal(float *m, int size, int offset)
{
    __shared__ float row[BLOCK][BLOCK];
    __shared__ float col[BLOCK][BLOCK];

    int tx = threadIdx.x, ty = threadIdx.y;
    int global_row = offset + (blockIdx.y + 1) * BLOCK;
    int global_col = offset + (blockIdx.x + 1) * BLOCK;

    row[ty][tx] = m[(offset + ty) * size + global_col + tx];
    col[ty][tx] = m[(global_row + ty) * size + offset + tx];
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < BLOCK; i++)
        sum = fmaf(col[ty][i], row[i][tx], sum);
    m[(global_row + ty) * size + global_col + tx] -= sum;
}
