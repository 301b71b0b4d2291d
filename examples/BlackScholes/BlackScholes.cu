// Prices of European call and put options by the Black-Scholes formula. The cumulative normal distribution is the
// polynomial of Abramowitz and Stegun (26.2.17); two options a thread are read and written as vectors.
//
// Evaluated by: CUDA SDK (BlackScholes).
// Memory: three coalesced vector reads and two writes for a long chain of arithmetic; no shared memory.

static __device__ __forceinline__ float cumulative_normal(float d)
{
    const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
    const float root_of_half_pi = 0.39894228040143267794f;
    const float k = 1.0f / fmaf(0.2316419f, fabsf(d), 1.0f);
    const float tail =
        root_of_half_pi * expf(-0.5f * d * d) * (k * fmaf(k, fmaf(k, fmaf(k, fmaf(k, a5, a4), a3), a2), a1));
    return d > 0.0f ? 1.0f - tail : tail;
}

static __device__ __forceinline__ void price(float &call, float &put, float stock, float strike, float years,
                                             float rate, float volatility)
{
    const float root = sqrtf(years);
    const float d1 = (logf(stock / strike) + fmaf(0.5f * volatility, volatility, rate) * years) / (volatility * root);
    const float d2 = d1 - volatility * root;
    const float n1 = cumulative_normal(d1);
    const float n2 = cumulative_normal(d2);
    const float discounted = strike * expf(-rate * years);
    call = stock * n1 - discounted * n2;
    put = discounted * (1.0f - n2) - stock * (1.0f - n1);
}

extern "C" __global__ void __launch_bounds__(128)
    BlackScholes(float2 *__restrict__ call, float2 *__restrict__ put, const float2 *__restrict__ stock,
                 const float2 *__restrict__ strike, const float2 *__restrict__ years, float rate, float volatility,
                 int pairs)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    float2 c, p;
    price(c.x, p.x, stock[i].x, strike[i].x, years[i].x, rate, volatility);
    price(c.y, p.y, stock[i].y, strike[i].y, years[i].y, rate, volatility);
    call[i] = c;
    put[i] = p;
}
