// The sum of a whole array. A thread first adds up its elements in steps of the grid's size; a CTA then
// halves the number of partial sums in shared memory down to one warp, and that warp finishes with
// shuffles. The CTAs' sums are joined in one of two ways:
//   reducePartial writes one sum a CTA, reduceFinal (one CTA) adds those: a fixed order, so the
//   floating-point result is the same in every run;
//   reduceAtomic adds them to one word with atomicAdd: unsigned, so that the order does not matter.
// The CTA's size is a power of two from 64 to 1024.
//
// Evaluated by: CUDA SDK (Reduction).
// Memory: coalesced global reads, halving in shared memory, warp shuffles, atomics on one word.

#define MAX_THREADS 1024

template <typename T> static __device__ T sum_of_thread(const T *in, unsigned n)
{
    T sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    return sum;
}

// The result is valid in thread 0 only.
template <typename T> static __device__ T sum_of_cta(T sum, T *scratch)
{
    unsigned t = threadIdx.x;
    scratch[t] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half >= 32; half /= 2) {
        if (t < half)
            scratch[t] += scratch[t + half];
        __syncthreads();
    }
    if (t < 32) {
        sum = scratch[t];
        for (int delta = 16; delta > 0; delta /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, delta);
    }
    return sum;
}

extern "C" __global__ void reducePartial(const float *in, float *partial, unsigned n)
{
    __shared__ float scratch[MAX_THREADS];
    float sum = sum_of_cta(sum_of_thread(in, n), scratch);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

extern "C" __global__ void reduceFinal(const float *partial, float *out, unsigned n)
{
    __shared__ float scratch[MAX_THREADS];
    float sum = threadIdx.x < n ? partial[threadIdx.x] : 0.0f;
    sum = sum_of_cta(sum, scratch);
    if (threadIdx.x == 0)
        *out = sum;
}

extern "C" __global__ void reduceAtomic(const unsigned *in, unsigned *out, unsigned n)
{
    __shared__ unsigned scratch[MAX_THREADS];
    unsigned sum = sum_of_cta(sum_of_thread(in, n), scratch);
    if (threadIdx.x == 0)
        atomicAdd(out, sum);
}
