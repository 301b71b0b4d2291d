/* Scalar products on the host, in the kernels' order of additions. */
#include "../tools/fills.h"

enum { VECTORS = 64, ELEMENTS = 4096, ACCUMULATORS = 512, VECTORS64 = 32, ELEMENTS64 = 2048, THREADS64 = 128 };

static float product(const float *a, const float *b)
{
    float sums[ACCUMULATORS] = {0};
    for (int i = 0; i < ELEMENTS; i++)
        sums[i % ACCUMULATORS] = fmaf(a[i], b[i], sums[i % ACCUMULATORS]);
    for (int stride = ACCUMULATORS / 2; stride > 0; stride /= 2)
        for (int k = 0; k < stride; k++)
            sums[k] += sums[k + stride];
    return sums[0];
}

static double product64(const double *a, const double *b)
{
    double slices[4][THREADS64] = {{0}}, sums[THREADS64];
    for (int i = 0; i < ELEMENTS64; i++) {
        double *slice = &slices[i / THREADS64 % 4][i % THREADS64];
        *slice = fma(a[i], b[i], *slice);
    }
    for (int t = 0; t < THREADS64; t++)
        sums[t] = (slices[0][t] + slices[1][t]) + (slices[2][t] + slices[3][t]);
    double total = 0;
    for (int w = 0; w < THREADS64 / 32; w++) { /* what lane 0 gets from the butterfly */
        double *warp = sums + 32 * w;
        for (int half = 16; half > 0; half /= 2)
            for (int k = 0; k < half; k++)
                warp[k] += warp[k + half];
        total += warp[0];
    }
    return total;
}

int main(void)
{
    const float *a = uniform_floats(VECTORS * ELEMENTS, -1, 1, 41), *b = uniform_floats(VECTORS * ELEMENTS, -1, 1, 42);
    const double *a64 = uniform_doubles(VECTORS64 * ELEMENTS64, -1, 1, 43),
                 *b64 = uniform_doubles(VECTORS64 * ELEMENTS64, -1, 1, 44);
    float c[VECTORS];
    double c64[VECTORS64];
    for (int v = 0; v < VECTORS; v++)
        c[v] = product(a + v * ELEMENTS, b + v * ELEMENTS);
    for (int v = 0; v < VECTORS64; v++)
        c64[v] = product64(a64 + v * ELEMENTS64, b64 + v * ELEMENTS64);
    expect("C", c, sizeof c);
    expect("C64", c64, sizeof c64);
    return 0;
}
