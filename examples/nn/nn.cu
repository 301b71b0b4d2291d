// Nearest neighbours: of many places, the ones that are nearest to a point.
//   distances  one thread a place: its distance from the point;
//   nearest    each CTA finds the nearest of its places by a tree in shared memory; of equal ones the first.
//
// Evaluated by: Rodinia (nn).
// Memory: coordinates read two words apart, coalesced writes; then a tree in shared memory.

#define THREADS 256

struct place {
    float latitude, longitude;
};

extern "C" __global__ void __launch_bounds__(THREADS)
    distances(const place *places, float *distance, int count, float latitude, float longitude)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    float a = latitude - places[id].latitude, b = longitude - places[id].longitude;
    distance[id] = sqrtf(a * a + b * b);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    nearest(const float *distance, float *least, int *which, int count)
{
    __shared__ float best[THREADS];
    __shared__ int place[THREADS];
    int id = blockIdx.x * THREADS + threadIdx.x, t = threadIdx.x;

    best[t] = id < count ? distance[id] : 3.0e38f;
    place[t] = id;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half && (best[t + half] < best[t] || (best[t + half] == best[t] && place[t + half] < place[t]))) {
            best[t] = best[t + half];
            place[t] = place[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        least[blockIdx.x] = best[0];
        which[blockIdx.x] = place[0];
    }
}
