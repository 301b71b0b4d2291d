// Prices European call options by simulation, one CTA an option.
//   inverseNormal   normally distributed samples, by Moro's approximation of the inverse of the cumulative distribution
//   monteCarlo      sums of the pay-offs and of their squares over all samples, a slice a thread, then halving in
//                   shared memory; the result is the price and the width of its confidence interval
//
// Evaluated by: CUDA SDK (MonteCarlo).
// Memory: samples streamed by every CTA, two reductions in shared memory.

#define THREADS 256

static __device__ float moro(float p)
{
    const float a1 = 2.50662823884f, a2 = -18.61500062529f, a3 = 41.39119773534f, a4 = -25.44106049637f;
    const float b1 = -8.4735109309f, b2 = 23.08336743743f, b3 = -21.06224101826f, b4 = 3.13082909833f;
    const float c1 = 0.337475482272615f, c2 = 0.976169019091719f, c3 = 0.160797971491821f, c4 = 2.76438810333863e-2f;
    const float c5 = 3.8405729373609e-3f, c6 = 3.951896511919e-4f, c7 = 3.21767881768e-5f, c8 = 2.888167364e-7f,
                c9 = 3.960315187e-7f;
    const float y = p - 0.5f;
    if (fabsf(y) < 0.42f) {
        const float z = y * y;
        return y * fmaf(fmaf(fmaf(a4, z, a3), z, a2), z, a1) / fmaf(fmaf(fmaf(fmaf(b4, z, b3), z, b2), z, b1), z, 1.0f);
    }
    float z = y > 0.0f ? 1.0f - p : p;
    z = logf(-logf(z));
    float x = c9;
    x = fmaf(x, z, c8);
    x = fmaf(x, z, c7);
    x = fmaf(x, z, c6);
    x = fmaf(x, z, c5);
    x = fmaf(x, z, c4);
    x = fmaf(x, z, c3);
    x = fmaf(x, z, c2);
    x = fmaf(x, z, c1);
    return y < 0.0f ? -x : x;
}

extern "C" __global__ void inverseNormal(float *out, int n)
{
    const float step = 1.0f / (float)(n + 1);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = moro((float)(i + 1) * step);
}

struct Option {
    float stock, strike;
    float drift;     // (rate - volatility^2 / 2) * years
    float deviation; // volatility * sqrt(years)
};

template <int COUNT> static __device__ void sum_of_cta(volatile float *sums, volatile float *squares)
{
    for (int half = COUNT / 2; half > 0; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            squares[threadIdx.x] += squares[threadIdx.x + half];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    monteCarlo(float2 *__restrict__ out, const Option *__restrict__ options, const float *__restrict__ samples,
               int paths, float discount)
{
    __shared__ float sums[THREADS], squares[THREADS];
    const Option option = options[blockIdx.x];
    float sum = 0.0f, square = 0.0f;
    for (int i = threadIdx.x; i < paths; i += THREADS) {
        const float end = option.stock * expf(fmaf(option.deviation, samples[i], option.drift));
        const float gain = fmaxf(end - option.strike, 0.0f);
        sum += gain;
        square = fmaf(gain, gain, square);
    }
    sums[threadIdx.x] = sum;
    squares[threadIdx.x] = square;
    sum_of_cta<THREADS>(sums, squares);
    if (threadIdx.x == 0) {
        const double s = sums[0], q = squares[0], n = paths;
        const double deviation = sqrt((n * q - s * s) / (n * (n - 1.0)));
        out[blockIdx.x] = make_float2((float)(discount * s / n), (float)(discount * 1.96 * deviation / sqrt(n)));
    }
}
