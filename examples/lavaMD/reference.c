/* Each particle's potential and force on the host, from all particles of the boxes that are next to its own. */
#include "../tools/fills.h"

enum { NX = 3, NY = 2, NZ = 2, PER_BOX = 48, PARTICLES = NX * NY * NZ * PER_BOX };

static int adjacent(int a, int b)
{
    int dx = a % NX - b % NX, dy = a / NX % NY - b / NX % NY, dz = a / (NX * NY) - b / (NX * NY);
    return abs(dx) <= 1 && abs(dy) <= 1 && abs(dz) <= 1;
}

static void feel(const double *home, const double *other, double charge, double *force)
{
    double dot = home[1] * other[1] + home[2] * other[2] + home[3] * other[3];
    double potential = exp(-2.0 * 0.5 * 0.5 * (home[0] + other[0] - dot));
    force[0] += charge * potential;
    for (int axis = 1; axis < 4; axis++)
        force[axis] += charge * 2.0 * potential * (home[axis] - other[axis]);
}

int main(void)
{
    double *position = uniform_doubles(PARTICLES * 4, 0.1, 1, 101), *charge = uniform_doubles(PARTICLES, 0.1, 1, 102);
    double *force = allocate(PARTICLES * 4, sizeof *force);
    for (int i = 0; i < PARTICLES; i++)
        for (int j = 0; j < PARTICLES; j++)
            if (adjacent(i / PER_BOX, j / PER_BOX))
                feel(position + 4 * i, position + 4 * j, charge[j], force + 4 * i);
    expect("FORCE", force, PARTICLES * 4 * sizeof *force);
    return 0;
}
