// The two-point angular correlation of points on a sphere: how many pairs have an angle within each of BINS classes,
// among the observed points, between them and sets of random points, and among the random ones. blockIdx.x says which
// histogram: 0 observed with observed, then for each random set the one with itself, then for each the one with the
// observed points.
// A pair's class is found by binary search among the classes' cosines; the warps of a CTA count in histograms of their
// own.
//
// Evaluated by: Parboil (TPACF).
// Memory: points staged in shared memory, a table in constant memory at places that differ between lanes, shared
// atomics.

#define BINS 20
#define COUNTERS (BINS + 2)
#define THREADS 128
#define WARPS (THREADS / 32)

__constant__ float tpacf_cosines[BINS + 1];

static __device__ __forceinline__ int class_of(float cosine)
{
    int low = 0, high = BINS;
    while (high > low + 1) {
        const int middle = (low + high) / 2;
        if (cosine >= tpacf_cosines[middle])
            high = middle;
        else
            low = middle;
    }
    if (cosine >= tpacf_cosines[low])
        return low;
    return cosine < tpacf_cosines[high] ? high + 1 : high;
}

// Sets stand behind each other, the observed points first; a set has all x, then all y, then all z.
extern "C" __global__ void __launch_bounds__(THREADS)
    tpacf(const float *__restrict__ points, unsigned *__restrict__ counts, int n, int sets)
{
    __shared__ float tile_x[THREADS], tile_y[THREADS], tile_z[THREADS];
    __shared__ unsigned bins[WARPS][COUNTERS];
    const int t = threadIdx.x;
    const bool with_itself = blockIdx.x <= sets;
    const float *first = points + (with_itself ? blockIdx.x : 0) * 3 * n;
    const float *second = points + (with_itself ? blockIdx.x : blockIdx.x - sets) * 3 * n;
    unsigned *mine = bins[t / 32];

    for (int i = t; i < WARPS * COUNTERS; i += THREADS)
        bins[0][i] = 0;

    const int j = blockIdx.y * THREADS + t;
    float x = 0.0f, y = 0.0f, z = 0.0f;
    if (j < n) {
        x = second[j];
        y = second[n + j];
        z = second[2 * n + j];
    }
    for (int start = 0; start < n; start += THREADS) {
        __syncthreads();
        if (start + t < n) {
            tile_x[t] = first[start + t];
            tile_y[t] = first[n + start + t];
            tile_z[t] = first[2 * n + start + t];
        }
        __syncthreads();
        const int count = min(THREADS, n - start);
        for (int i = 0; i < count; i++)
            if (j < n && (!with_itself || start + i < j)) {
                const float cosine = fmaf(tile_z[i], z, fmaf(tile_y[i], y, tile_x[i] * x));
                atomicAdd(&mine[class_of(cosine)], 1u);
            }
    }
    __syncthreads();
    if (t < COUNTERS) {
        unsigned sum = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            sum += bins[w][t];
        atomicAdd(&counts[blockIdx.x * COUNTERS + t], sum);
    }
}
