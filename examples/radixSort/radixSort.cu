// Sorts pairs of keys and values by their digits of four bits, the lowest first; four launches a digit.
//   radixBlocks   a CTA sorts TILE pairs by the digit in shared memory: one bit after the other, zeros to the front,
//                 places by scans
//   radixCount    where the digits start in each sorted tile, and how many there are
//   radixScan     exclusive prefix sums of all counts, by digit, then by tile
//   radixScatter  every pair to its place
//
// Evaluated by: CUDA SDK (RadixSort).
// Memory: vector reads, scans by shuffles, scattered shared writes, runs of global writes.

#define THREADS 256
#define TILE (4 * THREADS)
#define DIGITS 16

// Exclusive sums over the CTA of one number a thread; `total` gets the sum of all.
static __device__ unsigned scan_cta(unsigned value, unsigned *warp_sums, unsigned &total)
{
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned sum = value;
#pragma unroll
    for (unsigned delta = 1; delta < 32; delta <<= 1) {
        const unsigned other = __shfl_up_sync(0xffffffffu, sum, delta);
        if (lane >= delta)
            sum += other;
    }
    if (lane == 31)
        warp_sums[warp] = sum;
    __syncthreads();
    unsigned before = 0;
    total = 0;
#pragma unroll
    for (unsigned w = 0; w < THREADS / 32; w++) {
        before += w < warp ? warp_sums[w] : 0;
        total += warp_sums[w];
    }
    __syncthreads();
    return before + sum - value;
}

// Zeros of one bit to the front; every thread has four neighbouring pairs before and after.
static __device__ void split(uint4 &key, uint4 &value, unsigned bit, unsigned *keys, unsigned *values,
                             unsigned *warp_sums)
{
    const unsigned zero[4] = {~key.x >> bit & 1, ~key.y >> bit & 1, ~key.z >> bit & 1, ~key.w >> bit & 1};
    const unsigned k[4] = {key.x, key.y, key.z, key.w}, v[4] = {value.x, value.y, value.z, value.w};
    unsigned zeros;
    unsigned before = scan_cta(zero[0] + zero[1] + zero[2] + zero[3], warp_sums, zeros);
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        const unsigned place = zero[i] ? before : zeros + threadIdx.x * 4 + i - before;
        keys[place] = k[i];
        values[place] = v[i];
        before += zero[i];
    }
    __syncthreads();
    key = ((const uint4 *)keys)[threadIdx.x];
    value = ((const uint4 *)values)[threadIdx.x];
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS)
    radixBlocks(const uint4 *in_keys, const uint4 *in_values, uint4 *out_keys, uint4 *out_values, unsigned start_bit)
{
    __shared__ __align__(16) unsigned keys[TILE], values[TILE];
    __shared__ unsigned warp_sums[THREADS / 32];
    const unsigned at = blockIdx.x * THREADS + threadIdx.x;
    uint4 key = in_keys[at], value = in_values[at];
#pragma unroll 1
    for (unsigned bit = start_bit; bit < start_bit + 4; bit++)
        split(key, value, bit, keys, values, warp_sums);
    out_keys[at] = key;
    out_values[at] = value;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    radixCount(const unsigned *__restrict__ keys, unsigned *__restrict__ counts, unsigned *__restrict__ starts,
               unsigned start_bit)
{
    __shared__ unsigned char digits[TILE];
    __shared__ unsigned first[DIGITS], end[DIGITS];
    for (unsigned i = threadIdx.x; i < TILE; i += THREADS)
        digits[i] = keys[blockIdx.x * TILE + i] >> start_bit & (DIGITS - 1);
    if (threadIdx.x < DIGITS)
        first[threadIdx.x] = end[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < TILE; i += THREADS) {
        if (i == 0 || digits[i] != digits[i - 1])
            first[digits[i]] = i;
        if (i == TILE - 1 || digits[i] != digits[i + 1])
            end[digits[i]] = i + 1;
    }
    __syncthreads();
    if (threadIdx.x < DIGITS) {
        counts[threadIdx.x * gridDim.x + blockIdx.x] = end[threadIdx.x] - first[threadIdx.x];
        starts[blockIdx.x * DIGITS + threadIdx.x] = first[threadIdx.x];
    }
}

// One CTA; n is at most THREADS.
extern "C" __global__ void __launch_bounds__(THREADS) radixScan(unsigned *counts, unsigned n)
{
    __shared__ unsigned warp_sums[THREADS / 32];
    unsigned total;
    const unsigned sum = scan_cta(threadIdx.x < n ? counts[threadIdx.x] : 0, warp_sums, total);
    if (threadIdx.x < n)
        counts[threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    radixScatter(const unsigned *__restrict__ in_keys, const unsigned *__restrict__ in_values,
                 unsigned *__restrict__ out_keys, unsigned *__restrict__ out_values,
                 const unsigned *__restrict__ offsets, const unsigned *__restrict__ starts, unsigned start_bit)
{
    __shared__ unsigned bases[DIGITS];
    if (threadIdx.x < DIGITS)
        bases[threadIdx.x] = offsets[threadIdx.x * gridDim.x + blockIdx.x] - starts[blockIdx.x * DIGITS + threadIdx.x];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < TILE; i += THREADS) {
        const unsigned key = in_keys[blockIdx.x * TILE + i];
        const unsigned place = bases[key >> start_bit & (DIGITS - 1)] + i;
        out_keys[place] = key;
        out_values[place] = in_values[blockIdx.x * TILE + i];
    }
}
