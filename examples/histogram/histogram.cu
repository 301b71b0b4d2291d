// How often each value occurs among bytes.
//   histogram64   64 bins (the upper six bits): every thread counts in bytes of its own in shared memory, without
//                 atomics; the counters of a bin are then added up
//   histogram256  256 bins: the threads of a warp share counters in shared memory, by atomics
//   histogramJoin adds the partial histograms of all CTAs, one CTA a bin
//   histogramAll  256 bins in one launch: shared atomics, then global atomics
// In histogram64 a thread may count at most 255 bytes.
//
// Evaluated by: CUDA SDK (Histogram), Parboil (HISTO).
// Memory: byte-wise shared memory, shared atomics whose conflicts depend on the data, global atomics.

#define BINS64 64
#define THREADS64 64
#define BINS256 256
#define WARPS256 6
#define JOIN_THREADS 256

static __device__ __forceinline__ void count64(unsigned char *mine, unsigned bin)
{
    mine[bin * THREADS64]++;
}

extern "C" __global__ void __launch_bounds__(THREADS64)
    histogram64(const unsigned *data, unsigned *partial, unsigned words)
{
    __shared__ unsigned char counters[BINS64 * THREADS64];
    const unsigned t = threadIdx.x;
    // Neighbouring threads are put into different banks.
    const unsigned place = (t & ~63u) | ((t & 15) << 2) | ((t & 48) >> 4);
    unsigned char *mine = counters + place;

    for (int i = 0; i < BINS64 / 4; i++)
        ((unsigned *)counters)[t + i * THREADS64] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + t; i < words; i += blockDim.x * gridDim.x) {
        const unsigned four = data[i];
        count64(mine, four >> 2 & 63);
        count64(mine, four >> 10 & 63);
        count64(mine, four >> 18 & 63);
        count64(mine, four >> 26);
    }
    __syncthreads();
    if (t < BINS64) {
        unsigned sum = 0;
        for (int i = 0; i < THREADS64; i++)
            sum += counters[t * THREADS64 + ((t * 4 + i) & (THREADS64 - 1))];
        partial[blockIdx.x * BINS64 + t] = sum;
    }
}

static __device__ __forceinline__ void count256(unsigned *bins, unsigned four)
{
    atomicAdd(&bins[four & 255], 1u);
    atomicAdd(&bins[four >> 8 & 255], 1u);
    atomicAdd(&bins[four >> 16 & 255], 1u);
    atomicAdd(&bins[four >> 24], 1u);
}

extern "C" __global__ void __launch_bounds__(WARPS256 * 32)
    histogram256(const unsigned *data, unsigned *partial, unsigned words)
{
    __shared__ unsigned counters[WARPS256 * BINS256];
    unsigned *mine = counters + (threadIdx.x >> 5) * BINS256;
#pragma unroll
    for (int i = 0; i < BINS256 / 32; i++)
        counters[threadIdx.x + i * WARPS256 * 32] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += blockDim.x * gridDim.x)
        count256(mine, data[i]);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < BINS256; bin += WARPS256 * 32) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS256; w++)
            sum += counters[bin + w * BINS256];
        partial[blockIdx.x * BINS256 + bin] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(JOIN_THREADS)
    histogramJoin(unsigned *bins, const unsigned *partial, unsigned parts)
{
    __shared__ unsigned sums[JOIN_THREADS];
    unsigned sum = 0;
    for (unsigned i = threadIdx.x; i < parts; i += JOIN_THREADS)
        sum += partial[blockIdx.x + i * gridDim.x];
    sums[threadIdx.x] = sum;
    for (unsigned stride = JOIN_THREADS / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride)
            sums[threadIdx.x] += sums[threadIdx.x + stride];
    }
    if (threadIdx.x == 0)
        bins[blockIdx.x] = sums[0];
}

extern "C" __global__ void histogramAll(const unsigned *data, unsigned *bins, unsigned words)
{
    __shared__ unsigned counters[BINS256];
    counters[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * BINS256 + threadIdx.x; i < words; i += BINS256 * gridDim.x)
        count256(counters, data[i]);
    __syncthreads();
    if (counters[threadIdx.x])
        atomicAdd(&bins[threadIdx.x], counters[threadIdx.x]);
}
