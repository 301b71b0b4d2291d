/* Four steps on the host. */
#include "../tools/fills.h"

enum { NX = 64, NY = 40, NZ = 24, POINTS = NX * NY * NZ };

static void step(const float *in, float *out)
{
    for (int z = 1; z < NZ - 1; z++)
        for (int y = 1; y < NY - 1; y++)
            for (int x = 1; x < NX - 1; x++) {
                const float *p = in + (z * NY + y) * NX + x;
                float sum = p[NX * NY] + p[-NX * NY] + p[NX] + p[-NX] + p[1] + p[-1];
                out[(z * NY + y) * NX + x] = fmaf(0.15f, sum, -(0.1f * p[0]));
            }
}

int main(void)
{
    float *a = uniform_floats(POINTS, 0, 100, 181), *b = uniform_floats(POINTS, 0, 100, 181);
    for (int i = 0; i < 2; i++) {
        step(a, b);
        step(b, a);
    }
    expect("A", a, POINTS * sizeof *a);
    expect("B", b, POINTS * sizeof *b);
    expect("C", a, POINTS * sizeof *a);
    expect("D", b, POINTS * sizeof *b);
    return 0;
}
