/* The samples and the simulated prices on the host in double. The inverse of the cumulative normal distribution is
 * found by bisection on the error function, not by the kernel's approximation. */
#include "../tools/fills.h"

enum { OPTIONS = 32, PATHS = 8192 };

static double inverse_normal(double p)
{
    double low = -10, high = 10;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(-middle * 0.70710678118654752440) < p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int main(void)
{
    static float samples[PATHS], options[OPTIONS][4], prices[OPTIONS][2];
    for (int i = 0; i < PATHS; i++)
        samples[i] = (float)inverse_normal((i + 1) / (double)(PATHS + 1));
    for (int o = 0; o < OPTIONS; o++) {
        double years = fill_uniform(0.5, 3, 121, o), volatility = fill_uniform(0.1, 0.4, 122, o);
        options[o][0] = (float)fill_uniform(5, 50, 123, o);
        options[o][1] = (float)fill_uniform(10, 25, 124, o);
        options[o][2] = (float)((0.06 - 0.5 * volatility * volatility) * years);
        options[o][3] = (float)(volatility * sqrt(years));
        double sum = 0, square = 0;
        for (int i = 0; i < PATHS; i++) {
            double gain = options[o][0] * exp((double)options[o][3] * samples[i] + options[o][2]) - options[o][1];
            sum += gain > 0 ? gain : 0;
            square += gain > 0 ? gain * gain : 0;
        }
        const double discount = 0.9f, n = PATHS;
        prices[o][0] = (float)(discount * sum / n);
        prices[o][1] = (float)(discount * 1.96 * sqrt((n * square - sum * sum) / (n * (n - 1))) / sqrt(n));
    }
    input("OPTIONS", options, sizeof options);
    expect("SAMPLES", samples, sizeof samples);
    expect("PRICES", prices, sizeof prices);
    return 0;
}
