// y = A^T (A x): a thread for each row, then a thread for each column.
//
// Evaluated by: PolyBench/GPU (ATAX).
// Memory: reads a row apart between lanes in the first kernel, coalesced in the second.

#define THREADS 128

extern "C" __global__ void __launch_bounds__(THREADS)
    ataxRows(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ tmp, int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        float sum = 0.0f;
        for (int j = 0; j < columns; j++)
            sum = fmaf(a[i * columns + j], x[j], sum);
        tmp[i] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    ataxColumns(const float *__restrict__ a, const float *__restrict__ tmp, float *__restrict__ y, int rows,
                int columns)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < columns) {
        float sum = 0.0f;
        for (int i = 0; i < rows; i++)
            sum = fmaf(a[i * columns + j], tmp[i], sum);
        y[j] = sum;
    }
}
