/* D = alpha * A * B * C + beta * D on the host. */
#include "../tools/fills.h"

enum { NI = 64, NJ = 96, NK = 80, NL = 72 };

int main(void)
{
    float *a = uniform_floats(NI * NK, -1, 1, 161), *b = uniform_floats(NK * NJ, -1, 1, 162);
    float *c = uniform_floats(NJ * NL, -1, 1, 163), *d = uniform_floats(NI * NL, -1, 1, 164);
    float *product = allocate(NI * NJ, sizeof *product);
    for (int i = 0; i < NI; i++)
        for (int k = 0; k < NK; k++)
            for (int j = 0; j < NJ; j++)
                product[i * NJ + j] = fmaf(1.5f * a[i * NK + k], b[k * NJ + j], product[i * NJ + j]);
    for (int i = 0; i < NI * NL; i++) {
        d[i] *= (float)1.2;
        for (int k = 0; k < NJ; k++)
            d[i] = fmaf(product[i / NL * NJ + k], c[k * NL + i % NL], d[i]);
    }
    expect("PRODUCT", product, NI * NJ * sizeof *product);
    expect("D", d, NI * NL * sizeof *d);
    return 0;
}
