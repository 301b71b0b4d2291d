// Potential and forces between particles in boxes that are as wide as the cutoff. A particle feels those of its own
// box and of the up to 26 boxes around it. A CTA does one home box: it loads the home particles into shared memory,
// then box after box the neighbours, and each thread adds up what its particle feels. Double precision, with an
// exponential potential exp(-a2 r^2).
//
// Evaluated by: Rodinia (lavaMD).
// Memory: boxes of particles in shared memory read by broadcast; structs of four doubles.

#define THREADS 64
#define PER_BOX 48

struct Vector {
    double v, x, y, z;
};

// Particles of box b stand at b * PER_BOX. Boxes are numbered x fastest, then y; nx, ny and nz of them.
extern "C" __global__ void __launch_bounds__(THREADS)
    lavaMD(const struct Vector *__restrict__ position, const double *__restrict__ charge,
           struct Vector *__restrict__ force, int nx, int ny, int nz, double alpha)
{
    __shared__ struct Vector home[PER_BOX];
    __shared__ struct Vector other[PER_BOX];
    __shared__ double other_charge[PER_BOX];

    int box = blockIdx.x;
    int bx = box % nx, by = box / nx % ny, bz = box / (nx * ny);
    double a2 = 2.0 * alpha * alpha;
    struct Vector sum = {0.0, 0.0, 0.0, 0.0};

    for (int i = threadIdx.x; i < PER_BOX; i += THREADS)
        home[i] = position[box * PER_BOX + i];
    __syncthreads();

    for (int n = 0; n < 27; n++) {
        int x = bx + n % 3 - 1, y = by + n / 3 % 3 - 1, z = bz + n / 9 - 1;
        if (x < 0 || x >= nx || y < 0 || y >= ny || z < 0 || z >= nz)
            continue;
        int neighbour = (z * ny + y) * nx + x;
        for (int i = threadIdx.x; i < PER_BOX; i += THREADS) {
            other[i] = position[neighbour * PER_BOX + i];
            other_charge[i] = charge[neighbour * PER_BOX + i];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < PER_BOX; i += THREADS)
            for (int j = 0; j < PER_BOX; j++) {
                double dot = fma(home[i].x, other[j].x, fma(home[i].y, other[j].y, home[i].z * other[j].z));
                double u2 = a2 * (home[i].v + other[j].v - dot);
                double vij = exp(-u2);
                double fs = 2.0 * vij;
                double dx = home[i].x - other[j].x;
                double dy = home[i].y - other[j].y;
                double dz = home[i].z - other[j].z;
                sum.v = fma(other_charge[j], vij, sum.v);
                sum.x = fma(other_charge[j], fs * dx, sum.x);
                sum.y = fma(other_charge[j], fs * dy, sum.y);
                sum.z = fma(other_charge[j], fs * dz, sum.z);
            }
        __syncthreads();
    }
    if (threadIdx.x < PER_BOX)
        force[box * PER_BOX + threadIdx.x] = sum;
}
