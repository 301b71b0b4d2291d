// Sorts pairs of keys and values with the bitonic network.
//   bitonicShared       sorts parts of PART elements in shared memory, in alternating directions
//   bitonicMergeGlobal  one step of a merge whose stride is PART / 2 or more, straight on global memory
//   bitonicMergeShared  the rest of that merge, in shared memory
// A thread has one comparison at a time, so PART / 2 threads are a CTA. Directions depend on the place only; the swap
// itself is by selection, without divergence in the shared kernels, by a branch in the global one.
//
// Evaluated by: CUDA SDK (SortingNetworks).
// Memory: shared memory at strides that halve in every step; global accesses at large strides.

#define PART 1024

static __device__ __forceinline__ void compare(unsigned &key_a, unsigned &value_a, unsigned &key_b, unsigned &value_b,
                                               bool ascending)
{
    const bool swap = (key_a > key_b) == ascending;
    const unsigned key = swap ? key_b : key_a, value = swap ? value_b : value_a;
    key_b = swap ? key_a : key_b;
    value_b = swap ? value_a : value_b;
    key_a = key;
    value_a = value;
}

// The steps of one merge from `stride` down, in shared memory.
static __device__ void merge_shared(unsigned *keys, unsigned *values, unsigned stride, bool ascending)
{
    for (; stride > 0; stride >>= 1) {
        __syncthreads();
        const unsigned at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        compare(keys[at], values[at], keys[at + stride], values[at + stride], ascending);
    }
}

extern "C" __global__ void __launch_bounds__(PART / 2)
    bitonicShared(unsigned *out_keys, unsigned *out_values, const unsigned *in_keys, const unsigned *in_values)
{
    __shared__ unsigned keys[PART], values[PART];
    const unsigned t = threadIdx.x, at = blockIdx.x * PART + t;
    keys[t] = in_keys[at];
    values[t] = in_values[at];
    keys[t + PART / 2] = in_keys[at + PART / 2];
    values[t + PART / 2] = in_values[at + PART / 2];
    for (unsigned size = 2; size < PART; size <<= 1)
        merge_shared(keys, values, size / 2, (t & (size / 2)) == 0);
    merge_shared(keys, values, PART / 2, (blockIdx.x & 1) == 0);
    __syncthreads();
    out_keys[at] = keys[t];
    out_values[at] = values[t];
    out_keys[at + PART / 2] = keys[t + PART / 2];
    out_values[at + PART / 2] = values[t + PART / 2];
}

extern "C" __global__ void bitonicMergeGlobal(unsigned *keys, unsigned *values, unsigned size, unsigned stride)
{
    const unsigned pair = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned at = 2 * pair - (pair & (stride - 1));
    const bool ascending = (pair & (size / 2)) == 0;
    const unsigned a = keys[at], b = keys[at + stride];
    if ((a > b) == ascending) {
        const unsigned value = values[at];
        values[at] = values[at + stride];
        values[at + stride] = value;
        keys[at] = b;
        keys[at + stride] = a;
    }
}

extern "C" __global__ void __launch_bounds__(PART / 2)
    bitonicMergeShared(unsigned *all_keys, unsigned *all_values, unsigned size)
{
    __shared__ unsigned keys[PART], values[PART];
    const unsigned t = threadIdx.x, at = blockIdx.x * PART + t;
    keys[t] = all_keys[at];
    values[t] = all_values[at];
    keys[t + PART / 2] = all_keys[at + PART / 2];
    values[t + PART / 2] = all_values[at + PART / 2];
    const unsigned pair = blockIdx.x * (PART / 2) + t;
    merge_shared(keys, values, PART / 2, (pair & (size / 2)) == 0);
    __syncthreads();
    all_keys[at] = keys[t];
    all_values[at] = values[t];
    all_keys[at + PART / 2] = keys[t + PART / 2];
    all_values[at + PART / 2] = values[t + PART / 2];
}
