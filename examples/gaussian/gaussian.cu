// A system of linear equations by Gaussian elimination without pivoting. For every column t, Fan1 works out the
// multipliers below the diagonal, and Fan2 subtracts multiples of row t from the rows below, in the matrix and in
// the right-hand side. (Rodinia substitutes back on the host; here backSubstitute does it.)
//
// Evaluated by: Rodinia (gaussian).
// Memory: column-wise accesses a row apart in one dimension; everything in global memory, no reuse but in caches.

#define BLOCK 64
#define BLOCK_XY 8

// Makes the diagonal dominant, so that no pivot is small.
extern "C" __global__ void raiseDiagonal(float *a, int size, float amount)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
        a[i * size + i] += amount;
}

extern "C" __global__ void __launch_bounds__(BLOCK) Fan1(float *m, const float *a, int size, int t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size - 1 - t)
        return;
    m[size * (i + t + 1) + t] = a[size * (i + t + 1) + t] / a[size * t + t];
}

extern "C" __global__ void __launch_bounds__(BLOCK_XY *BLOCK_XY)
    Fan2(const float *m, float *a, float *b, int size, int t)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= size - 1 - t || column >= size - t)
        return;
    float factor = m[size * (row + 1 + t) + t];
    float *place = &a[size * (row + 1 + t) + column + t];
    *place = fmaf(-factor, a[size * t + column + t], *place);
    if (column == 0)
        b[row + 1 + t] = fmaf(-factor, b[t], b[row + 1 + t]);
}

// One CTA with a thread for each row.
extern "C" __global__ void backSubstitute(const float *__restrict__ a, const float *__restrict__ b, float *x, int size)
{
    __shared__ float solved;

    int row = threadIdx.x;
    float rest = b[row];
    for (int i = size - 1; i >= 0; i--) {
        if (row == i) {
            solved = rest / a[i * size + i];
            x[i] = solved;
        }
        __syncthreads();
        if (row < i)
            rest = fmaf(-a[row * size + i], solved, rest);
        __syncthreads();
    }
}
