// out = the transpose of in, a matrix of height x width floats, in four ways.
//   transposeNaive     one element a thread; rows are read, columns are written
//   transposeTile      a tile of TILE x TILE by way of shared memory, ROWS rows at a time: reads and writes are both
//                      coalesced, but a column of the tile lies in one bank
//   transposePadded    the same with rows one word longer: no bank is hit twice
//   transposeDiagonal  the same, with the CTAs in diagonal order, so that neighbours write to other memory partitions
// width and height are multiples of TILE; transposeDiagonal needs a square grid.
//
// Evaluated by: CUDA SDK (Transpose).
// Memory: strided global writes (naive) against coalesced ones by way of shared memory, with and without bank
// conflicts.

#define TILE 32
#define ROWS 8

extern "C" __global__ void transposeNaive(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        out[x * height + y + i] = in[(y + i) * width + x];
}

template <int PITCH>
static __device__ void transpose_tile(const float *in, float *out, int width, int height, int bx, int by,
                                      float (*tile)[PITCH])
{
    int x = bx * TILE + threadIdx.x;
    int y = by * TILE + threadIdx.y;
#pragma unroll
    for (int i = 0; i < TILE; i += ROWS)
        tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
    __syncthreads();
    x = by * TILE + threadIdx.x;
    y = bx * TILE + threadIdx.y;
#pragma unroll
    for (int i = 0; i < TILE; i += ROWS)
        out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void transposeTile(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    transpose_tile<TILE>(in, out, width, height, blockIdx.x, blockIdx.y, tile);
}

extern "C" __global__ void transposePadded(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    transpose_tile<TILE + 1>(in, out, width, height, blockIdx.x, blockIdx.y, tile);
}

extern "C" __global__ void transposeDiagonal(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int by = blockIdx.x;
    int bx = (blockIdx.x + blockIdx.y) % gridDim.x;
    transpose_tile<TILE + 1>(in, out, width, height, bx, by, tile);
}
