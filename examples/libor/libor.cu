// Values a portfolio of swaptions by simulating forward interest rates (the LIBOR market model), one path a thread.
//   liborValue   the portfolio's value on each path
//   liborGreeks  also the value's derivative with respect to the last rate, by going backward through the whole path
//                (adjoint differentiation); all rates of all steps are kept in local memory
//
// Evaluated by: GPGPU-Sim's suite of ISPASS 2009 (LIB).
// Memory: arrays of a thread's own in local memory, tables in constant memory, coalesced reads of the random numbers.

#define RATES 40
#define STEPS 20
#define OPTIONS 8

__constant__ float libor_delta;
__constant__ float libor_lambda[RATES];
__constant__ int libor_maturities[OPTIONS];
__constant__ float libor_swap_rates[OPTIONS];

// One step of rates n + 1 and on.
static __device__ void step_rates(int n, float z, const float *in, float *out)
{
    const float random = sqrtf(libor_delta) * z;
    float drift = 0.0f;
    for (int i = n + 1; i < RATES; i++) {
        const float lambda = libor_lambda[i - n - 1], scaled = libor_delta * lambda;
        drift += scaled * in[i] / fmaf(libor_delta, in[i], 1.0f);
        out[i] = in[i] * expf(fmaf(scaled, drift, lambda * (random - 0.5f * scaled)));
    }
}

// B[k], S[k]: the value of a bond that ends after k + 1 periods behind the last step, and of the payments until then.
static __device__ float portfolio(const float *rates, float *bonds, float *payments)
{
    float bond = 1.0f, payment = 0.0f;
    for (int k = 0; k < RATES - STEPS; k++) {
        bond /= fmaf(libor_delta, rates[STEPS + k], 1.0f);
        payment = fmaf(libor_delta, bond, payment);
        bonds[k] = bond;
        payments[k] = payment;
    }
    float value = 0.0f;
    for (int i = 0; i < OPTIONS; i++) {
        const int k = libor_maturities[i] - 1;
        const float swap = fmaf(libor_swap_rates[i], payments[k], bonds[k]) - 1.0f;
        if (swap < 0.0f)
            value = fmaf(-100.0f, swap, value);
    }
    return value;
}

static __device__ float discount(const float *rates)
{
    float factor = 1.0f;
    for (int n = 0; n < STEPS; n++)
        factor /= fmaf(libor_delta, rates[n], 1.0f);
    return factor;
}

extern "C" __global__ void __launch_bounds__(64)
    liborValue(const float *__restrict__ normals, float *__restrict__ values, float rate0, int paths)
{
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;
    float rates[RATES], bonds[RATES - STEPS], payments[RATES - STEPS];
    for (int i = 0; i < RATES; i++)
        rates[i] = rate0;
    for (int n = 0; n < STEPS; n++)
        step_rates(n, normals[n * paths + path], rates, rates);
    values[path] = portfolio(rates, bonds, payments) * discount(rates);
}

// The derivative of the undiscounted value with respect to rates STEPS and on.
static __device__ void portfolio_back(const float *rates, const float *bonds, const float *payments, float *back)
{
    float bond_back[RATES - STEPS] = {}, payment_back[RATES - STEPS] = {};
    for (int i = 0; i < OPTIONS; i++) {
        const int k = libor_maturities[i] - 1;
        if (fmaf(libor_swap_rates[i], payments[k], bonds[k]) - 1.0f < 0.0f) {
            bond_back[k] -= 100.0f;
            payment_back[k] = fmaf(-100.0f, libor_swap_rates[i], payment_back[k]);
        }
    }
    float bond = 0.0f, payment = 0.0f;
    for (int k = RATES - STEPS - 1; k >= 0; k--) {
        const float growth = fmaf(libor_delta, rates[STEPS + k], 1.0f);
        payment += payment_back[k];
        bond = (bond + bond_back[k]) + libor_delta * payment;
        back[STEPS + k] = -bond * libor_delta * bonds[k] / growth;
        bond /= growth;
    }
}

// Takes `back` from behind step n to before it. Only the last rate's value is asked for, but all of them feed it.
static __device__ void step_back(int n, const float *before, const float *after, float *back)
{
    float drift = 0.0f;
    for (int i = RATES - 1; i > n; i--) {
        const float scaled = libor_delta * libor_lambda[i - n - 1], growth = fmaf(libor_delta, before[i], 1.0f);
        const float weight = back[i] * after[i];
        drift = fmaf(weight, scaled, drift);
        back[i] = weight / before[i] + drift * scaled / (growth * growth);
    }
}

extern "C" __global__ void __launch_bounds__(64)
    liborGreeks(const float *__restrict__ normals, float *__restrict__ values, float *__restrict__ derivatives,
                float rate0, int paths)
{
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;
    float rates[STEPS + 1][RATES], back[RATES], bonds[RATES - STEPS], payments[RATES - STEPS];
    for (int i = 0; i < RATES; i++)
        rates[0][i] = rate0;
    for (int n = 0; n < STEPS; n++) {
        for (int i = 0; i <= n; i++)
            rates[n + 1][i] = rates[n][i];
        step_rates(n, normals[n * paths + path], rates[n], rates[n + 1]);
    }
    const float *end = rates[STEPS];
    const float factor = discount(end), value = portfolio(end, bonds, payments) * factor;
    portfolio_back(end, bonds, payments, back);
    for (int i = STEPS; i < RATES; i++)
        back[i] *= factor;
    for (int n = 0; n < STEPS; n++)
        back[n] = -value * libor_delta / fmaf(libor_delta, end[n], 1.0f);
    for (int n = STEPS - 1; n >= 0; n--)
        step_back(n, rates[n], rates[n + 1], back);
    values[path] = value;
    derivatives[path] = back[RATES - 1];
}
