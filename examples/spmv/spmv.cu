// y = A * x for a sparse matrix with rows of very different length, in three formats.
//   spmvScalar  compressed rows, one row a thread: divergent, accesses far apart
//   spmvVector  compressed rows, one row a warp, the lanes' sums joined by shuffles
//   makeJds     jagged diagonals from compressed rows: rows in the order of falling length, element k of all rows
//               together
//   spmvJds     jagged diagonals, one row a thread; where the diagonals start stands in constant memory
//
// Evaluated by: Parboil (SPMV), SHOC.
// Memory: gathered reads of x; matrix reads strided (scalar), coalesced within a row (vector) or across rows (jagged
// diagonals).

#define DIAGONALS 64

__constant__ int jds_start[DIAGONALS + 1];

extern "C" __global__ void spmvScalar(const int *__restrict__ starts, const int *__restrict__ columns,
                                      const float *__restrict__ values, const float *__restrict__ x,
                                      float *__restrict__ y, int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int i = starts[row]; i < starts[row + 1]; i++)
        sum = fmaf(values[i], x[columns[i]], sum);
    y[row] = sum;
}

extern "C" __global__ void spmvVector(const int *__restrict__ starts, const int *__restrict__ columns,
                                      const float *__restrict__ values, const float *__restrict__ x,
                                      float *__restrict__ y, int rows)
{
    const int lane = threadIdx.x & 31, warps = gridDim.x * blockDim.x >> 5;
    for (int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5; row < rows; row += warps) {
        float sum = 0.0f;
        for (int i = starts[row] + lane; i < starts[row + 1]; i += 32)
            sum = fmaf(values[i], x[columns[i]], sum);
#pragma unroll
        for (int delta = 16; delta > 0; delta >>= 1)
            sum += __shfl_down_sync(0xffffffffu, sum, delta);
        if (lane == 0)
            y[row] = sum;
    }
}

extern "C" __global__ void makeJds(const int *starts, const int *columns, const float *values, const int *order,
                                   int *jds_columns, float *jds_values, int rows)
{
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= rows)
        return;
    const int row = order[place], start = starts[row], length = starts[row + 1] - start;
    for (int k = 0; k < length; k++) {
        jds_columns[jds_start[k] + place] = columns[start + k];
        jds_values[jds_start[k] + place] = values[start + k];
    }
}

// Row `place` has an element on diagonal k as long as place lies before the diagonal's end; the next element is read
// ahead.
extern "C" __global__ void __launch_bounds__(64)
    spmvJds(const int *__restrict__ jds_columns, const float *__restrict__ jds_values, const int *__restrict__ order,
            const float *__restrict__ x, float *__restrict__ y, int rows, int diagonals)
{
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= rows)
        return;
    float sum = 0.0f;
    int column = jds_columns[place];
    float value = jds_values[place];
    int k = 1;
    for (; k < diagonals && place < jds_start[k + 1] - jds_start[k]; k++) {
        const int next = jds_start[k] + place;
        const int next_column = jds_columns[next];
        const float next_value = jds_values[next];
        sum = fmaf(value, x[column], sum);
        column = next_column;
        value = next_value;
    }
    y[order[place]] = fmaf(value, x[column], sum);
}
