/* One training step on the host. The sums of the first kernel are exact; what comes after the exponential is worked
 * out in double, for a comparison with a tolerance. */
#include "../tools/fills.h"

enum { INPUTS = 960, HIDDEN = 16, TILE = 16, CTAS = INPUTS / TILE, WEIGHTS = (INPUTS + 1) * (HIDDEN + 1) };

/* A CTA's 16 products for one hidden unit, halved in the kernel's order. */
static float partial_sum(const float *input, const float *weights, int cta, int unit)
{
    float product[TILE];
    for (int i = 0; i < TILE; i++) {
        int row = cta * TILE + i + 1;
        product[i] = weights[row * (HIDDEN + 1) + unit + 1] * input[row];
    }
    for (int step = 2; step <= TILE; step *= 2)
        for (int i = 0; i < TILE; i += step)
            product[i] += product[i + step / 2];
    return product[0];
}

static double squash(double x) { return 1.0 / (1.0 + exp(-x)); }

static void adjust(const float *input, float *weights, const double *delta)
{
    float *change = uniform_floats(WEIGHTS, -0.01, 0.01, 24);
    for (int row = 0; row <= INPUTS; row++)
        for (int unit = 1; unit <= HIDDEN; unit++) {
            int index = row * (HIDDEN + 1) + unit;
            double source = row == 0 ? 1.0 : input[row];
            weights[index] = (float)(weights[index] + 0.3 * delta[unit] * source + 0.3 * change[index]);
        }
    expect("WEIGHTS", weights, WEIGHTS * sizeof *weights);
}

static void expect_floats(const char *name, const double *values, size_t count)
{
    float *floats = allocate(count, sizeof *floats);
    for (size_t i = 0; i < count; i++)
        floats[i] = (float)values[i];
    expect(name, floats, count * sizeof *floats);
}

int main(void)
{
    float *input = uniform_floats(INPUTS + 1, 0, 1, 21);
    float *weights = uniform_floats(WEIGHTS, -0.1, 0.1, 22);
    float *output_weights = uniform_floats(HIDDEN + 1, -1, 1, 23);
    float partial[CTAS * HIDDEN];
    double hidden[HIDDEN + 1] = {1.0}, delta[HIDDEN + 1] = {0.0}, output[2];

    double net = output_weights[0];
    for (int unit = 0; unit < HIDDEN; unit++) {
        double sum = weights[unit + 1];
        for (int cta = 0; cta < CTAS; cta++)
            sum += partial[cta * HIDDEN + unit] = partial_sum(input, weights, cta, unit);
        hidden[unit + 1] = squash(sum);
        net += hidden[unit + 1] * output_weights[unit + 1];
    }
    output[0] = squash(net);
    output[1] = output[0] * (1.0 - output[0]) * ((double)0.9f - output[0]);
    for (int unit = 1; unit <= HIDDEN; unit++)
        delta[unit] = hidden[unit] * (1.0 - hidden[unit]) * output[1] * output_weights[unit];

    expect("PARTIAL", partial, sizeof partial);
    expect_floats("HIDDEN", hidden, HIDDEN + 1);
    expect_floats("DELTA", delta, HIDDEN + 1);
    expect_floats("OUTPUT", output, 2);
    adjust(input, weights, delta);
    return 0;
}
