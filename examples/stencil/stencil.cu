// One Jacobi step of a heat equation on a 3D grid: seven points, constant coefficients; the border stays as it is.
//   stencilNaive    one point a thread, all neighbours from global memory
//   stencilBlocked  a CTA goes up through z with a tile of x and y: the plane is in shared memory, the points below and
//                   above in registers; neighbours beyond the tile come from global memory, by the threads at its edge
//                   only
//
// Evaluated by: Parboil (STENCIL), SHOC.
// Memory: coalesced but overlapping global reads (naive), planes in shared memory and a rolling window of registers
// (blocked).

#define TILE_X 32
#define TILE_Y 8
#define AT(x, y, z) ((x) + nx * ((y) + ny * (z)))

extern "C" __global__ void stencilNaive(float c0, float c1, const float *in, float *out, int nx, int ny, int nz)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int z = blockIdx.z + 1;
    if (x < nx - 1 && y < ny - 1 && z < nz - 1) {
        const float sum = in[AT(x, y, z + 1)] + in[AT(x, y, z - 1)] + in[AT(x, y + 1, z)] + in[AT(x, y - 1, z)] +
                          in[AT(x + 1, y, z)] + in[AT(x - 1, y, z)];
        out[AT(x, y, z)] = fmaf(c1, sum, -(c0 * in[AT(x, y, z)]));
    }
}

extern "C" __global__ void __launch_bounds__(TILE_X *TILE_Y)
    stencilBlocked(float c0, float c1, const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz)
{
    __shared__ float plane[TILE_Y][TILE_X];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * TILE_X + tx, y = blockIdx.y * TILE_Y + ty;
    const bool inside = x < nx && y < ny;
    const bool inner = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;

    float below = 0.0f, here = 0.0f, above = 0.0f;
    if (inside) {
        below = in[AT(x, y, 0)];
        here = in[AT(x, y, 1)];
    }
    for (int z = 1; z < nz - 1; z++) {
        plane[ty][tx] = here;
        __syncthreads();
        if (inside)
            above = in[AT(x, y, z + 1)];
        if (inner) {
            const float north = ty < TILE_Y - 1 ? plane[ty + 1][tx] : in[AT(x, y + 1, z)];
            const float south = ty > 0 ? plane[ty - 1][tx] : in[AT(x, y - 1, z)];
            const float east = tx < TILE_X - 1 ? plane[ty][tx + 1] : in[AT(x + 1, y, z)];
            const float west = tx > 0 ? plane[ty][tx - 1] : in[AT(x - 1, y, z)];
            const float sum = above + below + north + south + east + west;
            out[AT(x, y, z)] = fmaf(c1, sum, -(c0 * here));
        }
        __syncthreads();
        below = here;
        here = above;
    }
}
