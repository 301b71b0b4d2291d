// K-means clustering.
//   invertMapping  turns the points' rows into one array for each feature, so that neighbouring threads read
//                  neighbouring words;
//   assignPoints   gives each point the nearest centre (one thread a point, centres in shared memory);
//   moveCentres    one CTA for each centre and feature adds up the members in a fixed order and divides (Rodinia
//                  leaves this step to the host).
//
// Evaluated by: Rodinia (kmeans).
// Memory: strided reads and writes while inverting, then coalesced reads, broadcasts from shared memory, atomics on one
// word.

#include <float.h>

#define THREADS 128
#define FEATURES 16
#define CENTRES 6

extern "C" __global__ void __launch_bounds__(THREADS)
    invertMapping(const float *__restrict__ in, float *__restrict__ out, int points)
{
    int id = threadIdx.x + blockDim.x * blockIdx.x;
    if (id < points)
        for (int f = 0; f < FEATURES; f++)
            out[points * f + id] = in[id * FEATURES + f];
}

extern "C" __global__ void __launch_bounds__(THREADS)
    assignPoints(const float *__restrict__ features, const float *__restrict__ centres, int *membership, int *changed,
                 int points)
{
    __shared__ float centre[CENTRES * FEATURES];

    for (int i = threadIdx.x; i < CENTRES * FEATURES; i += THREADS)
        centre[i] = centres[i];
    __syncthreads();

    int id = threadIdx.x + blockDim.x * blockIdx.x;
    if (id >= points)
        return;
    int nearest = -1;
    float least = FLT_MAX;
    for (int c = 0; c < CENTRES; c++) {
        float distance = 0.0f;
#pragma unroll 4
        for (int f = 0; f < FEATURES; f++) {
            float difference = features[id + f * points] - centre[c * FEATURES + f];
            distance = fmaf(difference, difference, distance);
        }
        if (distance < least) {
            least = distance;
            nearest = c;
        }
    }
    if (membership[id] != nearest)
        atomicAdd(changed, 1);
    membership[id] = nearest;
}

// Grid CENTRES x FEATURES. A thread adds up every THREADS-th point; the CTA halves.
extern "C" __global__ void __launch_bounds__(THREADS)
    moveCentres(const float *__restrict__ features, const int *__restrict__ membership, float *centres, int points)
{
    __shared__ float sum[THREADS];
    __shared__ int count[THREADS];

    int c = blockIdx.x, f = blockIdx.y, t = threadIdx.x;
    float mine = 0.0f;
    int members = 0;
    for (int i = t; i < points; i += THREADS)
        if (membership[i] == c) {
            mine += features[points * f + i];
            members++;
        }
    sum[t] = mine;
    count[t] = members;
    __syncthreads();
#pragma unroll
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            sum[t] += sum[t + half];
            count[t] += count[t + half];
        }
        __syncthreads();
    }
    if (t == 0 && count[0] > 0)
        centres[c * FEATURES + f] = sum[0] / (float)count[0];
}
