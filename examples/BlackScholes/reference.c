/* Option prices on the host in double, with the error function of the C library in place of the kernel's polynomial. */
#include "../tools/fills.h"

enum { OPTIONS = 10000 };

static double cumulative_normal(double d)
{
    return 0.5 * erfc(-d * 0.70710678118654752440);
}

int main(void)
{
    const float *stock = uniform_floats(OPTIONS, 5, 30, 51), *strike = uniform_floats(OPTIONS, 1, 100, 52);
    const float *years = uniform_floats(OPTIONS, 0.25, 10, 53);
    const double rate = 0.02f, volatility = 0.3f;
    float *call = allocate(OPTIONS, sizeof *call), *put = allocate(OPTIONS, sizeof *put);
    for (int i = 0; i < OPTIONS; i++) {
        double s = stock[i], x = strike[i], t = years[i], root = sqrt(t);
        double d1 = (log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root);
        double d2 = d1 - volatility * root, discounted = x * exp(-rate * t);
        call[i] = (float)(s * cumulative_normal(d1) - discounted * cumulative_normal(d2));
        put[i] = (float)(discounted * cumulative_normal(-d2) - s * cumulative_normal(-d1));
    }
    expect("CALL", call, OPTIONS * sizeof *call);
    expect("PUT", put, OPTIONS * sizeof *put);
    return 0;
}
