// One Jacobi step of Laplace's equation on a 3D grid with fixed values at the border. A CTA goes up through z with
// three planes of a tile and its rim in shared memory, as a ring; the grid's sides need not be multiples of the tile's.
//
// Evaluated by: GPGPU-Sim's suite of ISPASS 2009 (LPS).
// Memory: planes in shared memory, rims loaded by part of the threads, a column of global accesses along z.

#define TILE_X 32
#define TILE_Y 4
#define PITCH (TILE_X + 2)
#define PLANE (PITCH * (TILE_Y + 2))

// The tile and its rim of one plane; places outside of the grid are left out.
static __device__ void load_plane(float *plane, const float *in, int nx, int ny, int z)
{
    for (int i = threadIdx.y * TILE_X + threadIdx.x; i < PLANE; i += TILE_X * TILE_Y) {
        const int x = blockIdx.x * TILE_X + i % PITCH - 1, y = blockIdx.y * TILE_Y + i / PITCH - 1;
        if (x >= 0 && x < nx && y >= 0 && y < ny)
            plane[i] = in[(z * ny + y) * nx + x];
    }
}

extern "C" __global__ void __launch_bounds__(TILE_X *TILE_Y)
    laplace3D(const float *in, float *out, int nx, int ny, int nz)
{
    __shared__ float planes[3 * PLANE];
    const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    const bool active = x < nx && y < ny;
    const bool border = x == 0 || x == nx - 1 || y == 0 || y == ny - 1;
    const int at = (threadIdx.y + 1) * PITCH + threadIdx.x + 1;
    float *below = planes, *here = planes + PLANE, *above = planes + 2 * PLANE;

    load_plane(above, in, nx, ny, 0);
    for (int z = 0; z < nz; z++) {
        float *oldest = below;
        below = here;
        here = above;
        above = oldest;
        __syncthreads();
        if (z < nz - 1)
            load_plane(above, in, nx, ny, z + 1);
        __syncthreads();
        if (active) {
            float value;
            if (border || z == 0 || z == nz - 1)
                value = here[at];
            else
                value = (here[at - 1] + here[at + 1] + here[at - PITCH] + here[at + PITCH] + below[at] + above[at]) *
                        (1.0f / 6.0f);
            out[(z * ny + y) * nx + x] = value;
        }
    }
}
