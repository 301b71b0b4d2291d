// Sorts pairs of keys and values by merging; pairs of equal keys stay in their order.
//   mergeSortShared  sorts parts of PART elements in shared memory: every element finds its place in the other half by
//                    binary search
//   mergeRuns        merges neighbouring sorted runs in global memory: a CTA makes TILE elements of the result, of
//                    which it first finds the ends of both parts on the merge path; a thread makes PER_THREAD of them
//                    one after the other
//
// Evaluated by: CUDA SDK (MergeSort).
// Memory: data-dependent shared accesses of binary searches, bank conflicts, gathered global reads.

#define PART 1024
#define TILE 1024
#define PER_THREAD 4
#define THREADS (TILE / PER_THREAD)

// How many of `length` sorted keys (a power of two) are below `key`, or not above it.
template <bool NOT_ABOVE> static __device__ unsigned rank_of(unsigned key, const unsigned *keys, unsigned length)
{
    unsigned position = 0;
    for (unsigned stride = length; stride > 0; stride >>= 1) {
        const unsigned next = min(position + stride, length);
        if (NOT_ABOVE ? keys[next - 1] <= key : keys[next - 1] < key)
            position = next;
    }
    return position;
}

extern "C" __global__ void __launch_bounds__(PART / 2)
    mergeSortShared(unsigned *out_keys, unsigned *out_values, const unsigned *in_keys, const unsigned *in_values)
{
    __shared__ unsigned keys[PART], values[PART];
    const unsigned t = threadIdx.x, at = blockIdx.x * PART + t;
    keys[t] = in_keys[at];
    values[t] = in_values[at];
    keys[t + PART / 2] = in_keys[at + PART / 2];
    values[t + PART / 2] = in_values[at + PART / 2];

    for (unsigned run = 1; run < PART; run <<= 1) {
        const unsigned mine = t & (run - 1);
        const unsigned base = 2 * (t - mine);
        __syncthreads();
        const unsigned key_a = keys[base + mine], value_a = values[base + mine];
        const unsigned key_b = keys[base + run + mine], value_b = values[base + run + mine];
        const unsigned place_a = rank_of<false>(key_a, keys + base + run, run) + mine;
        const unsigned place_b = rank_of<true>(key_b, keys + base, run) + mine;
        __syncthreads();
        keys[base + place_a] = key_a;
        values[base + place_a] = value_a;
        keys[base + place_b] = key_b;
        values[base + place_b] = value_b;
    }
    __syncthreads();
    out_keys[at] = keys[t];
    out_values[at] = values[t];
    out_keys[at + PART / 2] = keys[t + PART / 2];
    out_values[at + PART / 2] = values[t + PART / 2];
}

// Of the first `diagonal` elements of the merged a and b: how many come from a.
static __device__ int merge_path(const unsigned *a, int count_a, const unsigned *b, int count_b, int diagonal)
{
    int low = max(0, diagonal - count_b), high = min(diagonal, count_a);
    while (low < high) {
        const int middle = (low + high) >> 1;
        if (a[middle] <= b[diagonal - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    mergeRuns(unsigned *__restrict__ out_keys, unsigned *__restrict__ out_values, const unsigned *__restrict__ in_keys,
              const unsigned *__restrict__ in_values, int run)
{
    __shared__ unsigned keys[TILE];
    __shared__ int ends[2];
    const int t = threadIdx.x, first = blockIdx.x * TILE;
    const int base = first / (2 * run) * (2 * run), diagonal = first - base;
    const unsigned *a = in_keys + base, *b = a + run;

    if (t < 2)
        ends[t] = merge_path(a, run, b, run, diagonal + t * TILE);
    __syncthreads();
    const int a0 = ends[0], count_a = ends[1] - a0, b0 = diagonal - a0, count_b = TILE - count_a;
    for (int i = t; i < TILE; i += THREADS)
        keys[i] = i < count_a ? a[a0 + i] : b[b0 + i - count_a];
    __syncthreads();

    int i = merge_path(keys, count_a, keys + count_a, count_b, t * PER_THREAD);
    int j = count_a + t * PER_THREAD - i;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        const bool from_a = j >= TILE || (i < count_a && keys[i] <= keys[j]);
        const int source = from_a ? i++ : j++;
        out_keys[first + t * PER_THREAD + k] = keys[source];
        out_values[first + t * PER_THREAD + k] = in_values[base + (from_a ? a0 + source : run + b0 + source - count_a)];
    }
}
