// Tracking of a bright disk in a film by a particle filter, in double precision. For each frame:
//   move        a particle goes on as the disk is thought to, plus normal noise from a linear congruential generator
//   likelihood  one thread a particle compares the pixels around it with disk and background; a CTA adds up its weights
//   normalize   weights become a distribution; one thread makes its running sum
//   estimate    one CTA: the mean position
//   resample    each particle looks for its place in the running sum, one after the other from the start
// film makes the frames: a disk that moves right and up, with noise.
//
// Evaluated by: Rodinia (particlefilter).
// Memory: gathers of bytes around a particle, broadcast of the running sum while the lanes of a warp search.

#define THREADS 128
#define SIDE 128
#define RADIUS 5
#define BACKGROUND 100
#define DISK 228

static __device__ __forceinline__ int next_random(int seed)
{
    return (int)(((long long)1103515245 * seed + 12345) % 2147483647LL);
}

static __device__ __forceinline__ double uniform(int &seed)
{
    seed = next_random(seed);
    return fabs((double)seed / 2147483647.0);
}

static __device__ double normal(int &seed)
{
    double u = uniform(seed);
    double v = uniform(seed);
    return sqrt(-2.0 * log(u)) * cos(2.0 * 3.14159265358979323846 * v);
}

extern "C" __global__ void film(unsigned char *__restrict__ pixels)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, frame = blockIdx.z;
    int index = (frame * SIDE + y) * SIDE + x;
    int dx = x - (SIDE / 2 + frame), dy = y - (SIDE / 2 - 2 * frame);
    int value = dx * dx + dy * dy < RADIUS * RADIUS ? DISK : BACKGROUND;
    pixels[index] = value + next_random(index + 1) % 16;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    begin(double *__restrict__ x, double *__restrict__ y, double *__restrict__ weights, int *__restrict__ seeds,
          int particles)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < particles) {
        x[i] = SIDE / 2;
        y[i] = SIDE / 2;
        weights[i] = 1.0 / particles;
        seeds[i] = 7919 * (i + 1);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    move(double *__restrict__ x, double *__restrict__ y, int *__restrict__ seeds, int particles)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < particles) {
        int seed = seeds[i];
        x[i] += 1.0 + 2.0 * normal(seed);
        y[i] += -2.0 + 2.0 * normal(seed);
        seeds[i] = seed;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    likelihood(const unsigned char *__restrict__ pixels, const double *__restrict__ x, const double *__restrict__ y,
               double *__restrict__ weights, double *__restrict__ sums, int particles, int frame)
{
    __shared__ double sum[THREADS];

    int t = threadIdx.x;
    int i = blockIdx.x * THREADS + t;
    double weight = 0.0;
    if (i < particles) {
        int column = (int)floor(x[i] + 0.5), row = (int)floor(y[i] + 0.5);
        int match = 0, count = 0;
        for (int dy = 1 - RADIUS; dy < RADIUS; dy++)
            for (int dx = 1 - RADIUS; dx < RADIUS; dx++)
                if (dx * dx + dy * dy < RADIUS * RADIUS) {
                    int px = min(max(column + dx, 0), SIDE - 1), py = min(max(row + dy, 0), SIDE - 1);
                    int pixel = pixels[(frame * SIDE + py) * SIDE + px];
                    int to_background = pixel - BACKGROUND, to_disk = pixel - DISK;
                    match += to_background * to_background - to_disk * to_disk;
                    count++;
                }
        weight = weights[i] * exp((double)match / 50.0 / (double)count);
        weights[i] = weight;
    }
    sum[t] = weight;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            sum[t] += sum[t + half];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = sum[0];
}

// One CTA, THREADS divides the number of particles.
extern "C" __global__ void __launch_bounds__(THREADS)
    normalize(double *__restrict__ weights, const double *__restrict__ sums, double *__restrict__ running,
              int particles, int ctas)
{
    double total = 0.0;
    for (int i = 0; i < ctas; i++)
        total += sums[i];
    for (int i = threadIdx.x; i < particles; i += THREADS)
        weights[i] /= total;
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0.0;
        for (int i = 0; i < particles; i++) {
            sum += weights[i];
            running[i] = sum;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    estimate(const double *__restrict__ x, const double *__restrict__ y, const double *__restrict__ weights,
             double *__restrict__ positions, int particles, int frame)
{
    __shared__ double sum_x[THREADS], sum_y[THREADS];

    int t = threadIdx.x;
    double mean_x = 0.0, mean_y = 0.0;
    for (int i = t; i < particles; i += THREADS) {
        mean_x = fma(x[i], weights[i], mean_x);
        mean_y = fma(y[i], weights[i], mean_y);
    }
    sum_x[t] = mean_x;
    sum_y[t] = mean_y;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            sum_x[t] += sum_x[t + half];
            sum_y[t] += sum_y[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        positions[2 * frame] = sum_x[0];
        positions[2 * frame + 1] = sum_y[0];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    resample(const double *__restrict__ x, const double *__restrict__ y, double *__restrict__ new_x,
             double *__restrict__ new_y, double *__restrict__ weights, const double *__restrict__ running,
             int *__restrict__ chosen, int particles)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= particles)
        return;
    double wanted = ((double)i + 0.37) / particles;
    int place = particles - 1;
    for (int k = 0; k < particles; k++)
        if (running[k] >= wanted) {
            place = k;
            break;
        }
    chosen[i] = place;
    new_x[i] = x[place];
    new_y[i] = y[place];
    weights[i] = 1.0 / particles;
}
