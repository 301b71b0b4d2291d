/* Six Jacobi steps on the host. */
#include "../tools/fills.h"

enum { NX = 70, NY = 30, NZ = 20, POINTS = NX * NY * NZ };

static void step(const float *in, float *out)
{
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++) {
                const int at = (z * NY + y) * NX + x;
                const float *p = in + at;
                if (x == 0 || x == NX - 1 || y == 0 || y == NY - 1 || z == 0 || z == NZ - 1)
                    out[at] = *p;
                else
                    out[at] = (p[-1] + p[1] + p[-NX] + p[NX] + p[-NX * NY] + p[NX * NY]) * (1.0f / 6.0f);
            }
}

int main(void)
{
    float *a = uniform_floats(POINTS, -1, 1, 191), *b = allocate(POINTS, sizeof *b);
    for (int i = 0; i < 3; i++) {
        step(a, b);
        step(b, a);
    }
    expect("A", a, POINTS * sizeof *a);
    expect("B", b, POINTS * sizeof *b);
    return 0;
}
