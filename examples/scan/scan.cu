// Exclusive prefix sums of a long array in three launches.
//   scanBlocks      a CTA scans 2 * THREADS elements in shared memory, up and down a balanced tree, and keeps their sum
//   scanBlocks      again, with one CTA, on the sums
//   addSums         every CTA adds what lies before its part
//   scanWarps       the same for at most 1024 elements, inclusive, by shuffles within warps
//   scanBlocksWide  four elements a thread as one vector, inclusive within the CTA (Hillis and Steele)
// Words are unsigned, so that the order of the additions does not matter.
//
// Evaluated by: CUDA SDK (ScanLargeArrays, Scan).
// Memory: coalesced global reads and writes, tree steps in shared memory with padding against bank conflicts.

#define THREADS 256
#define BANKS_LOG 5
#define PADDED(i) ((i) + ((i) >> BANKS_LOG))

extern "C" __global__ void scanBlocks(const unsigned *in, unsigned *out, unsigned *sums, unsigned n)
{
    __shared__ unsigned tree[PADDED(2 * THREADS)];
    const unsigned t = threadIdx.x;
    const unsigned base = blockIdx.x * 2 * THREADS;

    tree[PADDED(t)] = base + t < n ? in[base + t] : 0;
    tree[PADDED(t + THREADS)] = base + t + THREADS < n ? in[base + t + THREADS] : 0;

    unsigned step = 1;
    for (unsigned active = THREADS; active > 0; active >>= 1, step <<= 1) {
        __syncthreads();
        if (t < active)
            tree[PADDED(step * (2 * t + 2) - 1)] += tree[PADDED(step * (2 * t + 1) - 1)];
    }
    if (t == 0) {
        const unsigned last = PADDED(2 * THREADS - 1);
        if (sums)
            sums[blockIdx.x] = tree[last];
        tree[last] = 0;
    }
    for (unsigned active = 1; active <= THREADS; active <<= 1) {
        step >>= 1;
        __syncthreads();
        if (t < active) {
            const unsigned left = PADDED(step * (2 * t + 1) - 1), right = PADDED(step * (2 * t + 2) - 1);
            const unsigned kept = tree[left];
            tree[left] = tree[right];
            tree[right] += kept;
        }
    }
    __syncthreads();
    if (base + t < n)
        out[base + t] = tree[PADDED(t)];
    if (base + t + THREADS < n)
        out[base + t + THREADS] = tree[PADDED(t + THREADS)];
}

extern "C" __global__ void addSums(unsigned *out, const unsigned *sums, unsigned n)
{
    __shared__ unsigned before;
    if (threadIdx.x == 0)
        before = sums[blockIdx.x];
    __syncthreads();
    const unsigned i = blockIdx.x * 2 * THREADS + threadIdx.x;
    if (i < n)
        out[i] += before;
    if (i + THREADS < n)
        out[i + THREADS] += before;
}

// Inclusive within a warp.
static __device__ unsigned scan_warp(unsigned value)
{
    const unsigned lane = threadIdx.x & 31;
#pragma unroll
    for (unsigned delta = 1; delta < 32; delta <<= 1) {
        const unsigned other = __shfl_up_sync(0xffffffffu, value, delta);
        if (lane >= delta)
            value += other;
    }
    return value;
}

extern "C" __global__ void scanWarps(const unsigned *in, unsigned *out)
{
    __shared__ unsigned totals[32];
    const unsigned t = threadIdx.x, warp = t >> 5, lane = t & 31;
    unsigned value = scan_warp(in[blockIdx.x * blockDim.x + t]);
    if (lane == 31)
        totals[warp] = value;
    __syncthreads();
    if (warp == 0)
        totals[lane] = scan_warp(lane < blockDim.x >> 5 ? totals[lane] : 0);
    __syncthreads();
    if (warp > 0)
        value += totals[warp - 1];
    out[blockIdx.x * blockDim.x + t] = value;
}

// Two halves of shared memory, the lower one zero, so that no step asks where it is.
static __device__ unsigned scan_inclusive(unsigned value, volatile unsigned *shared, unsigned size)
{
    unsigned at = 2 * threadIdx.x - (threadIdx.x & (size - 1));
    shared[at] = 0;
    at += size;
    shared[at] = value;
    for (unsigned offset = 1; offset < size; offset <<= 1) {
        __syncthreads();
        const unsigned sum = shared[at] + shared[at - offset];
        __syncthreads();
        shared[at] = sum;
    }
    return shared[at];
}

extern "C" __global__ void scanBlocksWide(const uint4 *in, uint4 *out)
{
    __shared__ unsigned shared[2 * THREADS];
    uint4 four = in[blockIdx.x * THREADS + threadIdx.x];
    four.y += four.x;
    four.z += four.y;
    four.w += four.z;
    const unsigned before = scan_inclusive(four.w, shared, THREADS) - four.w;
    four.x += before;
    four.y += before;
    four.z += before;
    four.w += before;
    out[blockIdx.x * THREADS + threadIdx.x] = four;
}
