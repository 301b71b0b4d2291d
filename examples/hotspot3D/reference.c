/* The time steps on the host, cell by cell; a cell at an edge is its own missing neighbour. */
#include "../tools/fills.h"

enum { NX = 64, NY = 64, NZ = 8, CELLS = NX * NY * NZ, STEPS = 4 };

static int clamp(int value, int count) { return value < 0 ? 0 : value >= count ? count - 1 : value; }

static float cell(const float *now, int x, int y, int z)
{
    return now[(clamp(z, NZ) * NY + clamp(y, NY)) * NX + clamp(x, NX)];
}

static float next_of(const float *now, float power, int x, int y, int z)
{
    float ew = (float)0.03, ns = (float)0.025, tb = (float)0.001, center = (float)0.887, step_per_cap = (float)0.0213;
    float sum = center * cell(now, x, y, z);
    sum = fmaf(ew, cell(now, x - 1, y, z), sum);
    sum = fmaf(ew, cell(now, x + 1, y, z), sum);
    sum = fmaf(ns, cell(now, x, y + 1, z), sum);
    sum = fmaf(ns, cell(now, x, y - 1, z), sum);
    sum = fmaf(tb, cell(now, x, y, z - 1), sum);
    sum = fmaf(tb, cell(now, x, y, z + 1), sum);
    float ambient = tb * 80.0f;
    return fmaf(step_per_cap, power, sum) + ambient;
}

int main(void)
{
    float *power = uniform_floats(CELLS, 0, 1, 71), *now = uniform_floats(CELLS, 320, 340, 72);
    float *next = allocate(CELLS, sizeof *next);
    for (int step = 1; step <= STEPS; step++) {
        for (int z = 0; z < NZ; z++)
            for (int y = 0; y < NY; y++)
                for (int x = 0; x < NX; x++)
                    next[(z * NY + y) * NX + x] = next_of(now, power[(z * NY + y) * NX + x], x, y, z);
        memcpy(now, next, CELLS * sizeof *now);
        if (step == STEPS - 1)
            expect("B", now, CELLS * sizeof *now);
    }
    expect("A", now, CELLS * sizeof *now);
    return 0;
}
