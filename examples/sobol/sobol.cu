// Sobol's quasirandom sequence, with a row of the grid for each dimension. A thread makes its first point from the bits
// of the Gray code of its number; as the number of threads is a power of two, it needs two direction numbers for each
// further one.
//   sobol          points in [0, 1) as floats
//   sobolIntegral  how many points have a sum of squares below one over `dimensions` dimensions (a ball's part of the
//                  cube)
//
// Evaluated by: CUDA SDK (SobolQRNG, QuasirandomGenerator).
// Memory: direction numbers in shared memory, read by broadcast and by bit scans; coalesced writes.

#define BITS 32

extern "C" __global__ void sobol(const unsigned *__restrict__ directions, float *__restrict__ out, unsigned points)
{
    __shared__ unsigned v[BITS];
    directions += BITS * blockIdx.y;
    out += points * blockIdx.y;
    if (threadIdx.x < BITS)
        v[threadIdx.x] = directions[threadIdx.x];
    __syncthreads();

    const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    unsigned gray = first ^ (first >> 1), x = 0;
    for (unsigned k = 0; k < __ffs(stride) - 1; k++) {
        x ^= -(gray & 1) & v[k];
        gray >>= 1;
    }
    if (first < points)
        out[first] = (float)x * 2.3283064365386962890625e-10f;

    // Between two of its points the bit below the stride changes, and one bit above it.
    const unsigned below = v[__ffs(stride) - 2];
    for (unsigned i = first + stride; i < points; i += stride) {
        x ^= below ^ v[__ffs(~((i - stride) | (stride - 1))) - 1];
        out[i] = (float)x * 2.3283064365386962890625e-10f;
    }
}

extern "C" __global__ void sobolIntegral(const float *__restrict__ sequence, unsigned *inside, unsigned points,
                                         int dimensions)
{
    unsigned count = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += gridDim.x * blockDim.x) {
        float sum = 0.0f;
        int d = 0;
        for (; d < dimensions && sum < 1.0f; d++) {
            const float x = sequence[d * points + i];
            sum = fmaf(x, x, sum);
        }
        count += sum < 1.0f;
    }
#pragma unroll
    for (int delta = 16; delta > 0; delta >>= 1)
        count += __shfl_down_sync(0xffffffffu, count, delta);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(inside, count);
}
