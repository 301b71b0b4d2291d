/* The portfolio on the host in double; the derivative as a difference quotient, not by adjoint differentiation. A path
 * on which a swaption is so near to its strike that the quotient crosses it would differ: the step is small enough for
 * these paths. */
#include "../tools/fills.h"

enum { RATES = 40, STEPS = 20, OPTIONS = 8, PATHS = 256 };

static const int MATURITIES[OPTIONS] = {4, 4, 8, 8, 12, 16, 20, 20};
static const float SWAP_RATES[OPTIONS] = {0.045f, 0.05f, 0.055f, 0.05f, 0.055f, 0.045f, 0.05f, 0.055f};
static const double DELTA = 0.25;

static double value_of(int path, double last_rate)
{
    double rates[RATES], value = 0;
    for (int i = 0; i < RATES; i++)
        rates[i] = i == RATES - 1 ? last_rate : 0.051f;
    for (int n = 0; n < STEPS; n++) {
        double random = sqrt(DELTA) * (float)fill_normal(0, 1, 212, n * PATHS + path), drift = 0;
        for (int i = n + 1; i < RATES; i++) {
            double lambda = (float)fill_uniform(0.15, 0.25, 211, i - n - 1);
            drift += DELTA * lambda * rates[i] / (1 + DELTA * rates[i]);
            rates[i] *= exp(DELTA * lambda * drift + lambda * (random - 0.5 * DELTA * lambda));
        }
    }
    for (int o = 0; o < OPTIONS; o++) {
        double bond = 1, payment = 0;
        for (int k = 0; k < MATURITIES[o]; k++) {
            bond /= 1 + DELTA * rates[STEPS + k];
            payment += DELTA * bond;
        }
        double swap = bond + SWAP_RATES[o] * payment - 1;
        value += swap < 0 ? -100 * swap : 0;
    }
    for (int n = 0; n < STEPS; n++)
        value /= 1 + DELTA * rates[n];
    return value;
}

int main(void)
{
    float values[PATHS], derivatives[PATHS];
    for (int p = 0; p < PATHS; p++) {
        const double h = 1e-6;
        values[p] = (float)value_of(p, 0.051f);
        derivatives[p] = (float)((value_of(p, 0.051f + h) - value_of(p, 0.051f - h)) / (2 * h));
    }
    expect("VALUES", values, sizeof values);
    expect("VALUES2", values, sizeof values);
    expect("DERIVATIVES", derivatives, sizeof derivatives);
    return 0;
}
