// Clustering of a stream: does opening a centre at point x pay? For a sequence of candidates:
//   pgain     one thread a point: if x is nearer than its centre, what switching saves goes to the point's own row of
//             `lower`, at the centre that it would leave, and at the end of the row what it would save in any case;
//   totals    one CTA for each place of the rows adds them up in a fixed order;
//   decide    one thread: closes centres that are no longer worth their price, and tells what opening x gains;
//   reassign  if that is positive, moves the points.
// Coordinates stand one array a dimension; the candidate's own ones are loaded into shared memory.
//
// Evaluated by: Rodinia and PARSEC (streamcluster).
// Memory: coalesced reads a dimension, scattered words in rows of nine, structs of three words.

#define THREADS 128
#define DIMENSIONS 32
#define CENTRES 8

struct Point {
    float weight;
    float cost;
    int centre;
};

// The square of the distance between a point and the candidate.
static __device__ __forceinline__ float distance_to(const float *__restrict__ coordinates, const float *candidate,
                                                    int id, int points)
{
    float sum = 0.0f;
#pragma unroll 8
    for (int d = 0; d < DIMENSIONS; d++) {
        float difference = coordinates[d * points + id] - candidate[d];
        sum = fmaf(difference, difference, sum);
    }
    return sum;
}

// Every point starts at centre 0, which stands at point 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    begin(const float *__restrict__ coordinates, const float *__restrict__ weights, struct Point *all, int points)
{
    __shared__ float candidate[DIMENSIONS];
    if (threadIdx.x < DIMENSIONS)
        candidate[threadIdx.x] = coordinates[threadIdx.x * points];
    __syncthreads();
    int id = blockIdx.x * THREADS + threadIdx.x;
    if (id >= points)
        return;
    struct Point p;
    p.weight = weights[id];
    p.cost = distance_to(coordinates, candidate, id, points) * p.weight;
    p.centre = 0;
    all[id] = p;
}

// A row of `lower` has a place for each centre, and one for what the point saves at x.
extern "C" __global__ void __launch_bounds__(THREADS)
    pgain(const float *__restrict__ coordinates, const struct Point *__restrict__ all, float *__restrict__ lower,
          unsigned char *__restrict__ would_switch, int points, int x)
{
    __shared__ float candidate[DIMENSIONS];
    if (threadIdx.x < DIMENSIONS)
        candidate[threadIdx.x] = coordinates[threadIdx.x * points + x];
    __syncthreads();
    int id = blockIdx.x * THREADS + threadIdx.x;
    if (id >= points)
        return;

    float *row = &lower[id * (CENTRES + 1)];
    for (int c = 0; c <= CENTRES; c++)
        row[c] = 0.0f;
    struct Point p = all[id];
    float cost = distance_to(coordinates, candidate, id, points) * p.weight;
    bool better = cost < p.cost;
    if (better)
        row[CENTRES] += cost - p.cost;
    else
        row[p.centre] += p.cost - cost;
    would_switch[id] = better;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    totals(const float *__restrict__ lower, float *__restrict__ total, int points)
{
    __shared__ float sum[THREADS];
    int t = threadIdx.x;
    float mine = 0.0f;
    for (int i = t; i < points; i += THREADS)
        mine += lower[i * (CENTRES + 1) + blockIdx.x];
    sum[t] = mine;
    __syncthreads();
#pragma unroll
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            sum[t] += sum[t + half];
        __syncthreads();
    }
    if (t == 0)
        total[blockIdx.x] = sum[0];
}

// lower[] of a centre is negative: what its points lose by going to x. It closes where it costs more than that.
// state[c] = 1: centre c is open. One thread; opened tells the number of the new centre, or -1.
extern "C" __global__ void decide(const float *__restrict__ total, int *state, unsigned char *closes, float *gains,
                                  int *opened, float price, int x)
{
    float cost = price + total[CENTRES];
    int free_place = -1;
    for (int c = 0; c < CENTRES; c++) {
        closes[c] = 0;
        if (state[c]) {
            float saved = total[c] + price;
            if (saved > 0.0f) {
                closes[c] = 1;
                cost -= saved;
            }
        }
    }
    for (int c = CENTRES - 1; c >= 0; c--)
        if (!state[c] || closes[c])
            free_place = c;
    gains[x] = -cost;
    bool pays = cost < 0.0f && free_place >= 0;
    *opened = pays ? free_place : -1;
    if (pays) {
        for (int c = 0; c < CENTRES; c++)
            if (closes[c])
                state[c] = 0;
        state[free_place] = 1;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    reassign(const float *__restrict__ coordinates, struct Point *all, const unsigned char *__restrict__ would_switch,
             const unsigned char *__restrict__ closes, const int *__restrict__ opened, int points, int x)
{
    __shared__ float candidate[DIMENSIONS];
    int place = *opened;
    if (place < 0)
        return;
    if (threadIdx.x < DIMENSIONS)
        candidate[threadIdx.x] = coordinates[threadIdx.x * points + x];
    __syncthreads();
    int id = blockIdx.x * THREADS + threadIdx.x;
    if (id < points && (would_switch[id] || closes[all[id].centre])) {
        all[id].cost = distance_to(coordinates, candidate, id, points) * all[id].weight;
        all[id].centre = place;
    }
}
