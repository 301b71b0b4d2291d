// Heat in a stack of chip layers: a 7-point stencil. A thread owns one (x, y) column and walks up through the
// layers with the cells below, here and above in registers.
//
// Evaluated by: Rodinia (hotspot3D).
// Memory: coalesced reads of five places a layer, the column's three in registers.

#define BLOCK_X 32
#define BLOCK_Y 4
#define AMBIENT 80.0f

struct Weights {
    float east_west, north_south, top_bottom, center, step_per_cap;
};

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    hotspot3D(const float *__restrict__ power, const float *__restrict__ in, float *__restrict__ out, int nx, int ny,
              int nz, struct Weights w)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    int j = blockDim.y * blockIdx.y + threadIdx.y;
    int layer = nx * ny;
    int c = i + j * nx;
    int west = i == 0 ? c : c - 1;
    int east = i == nx - 1 ? c : c + 1;
    int north = j == 0 ? c : c - nx;
    int south = j == ny - 1 ? c : c + nx;

    float below = in[c];
    float here = below;
    float above = in[c + layer];
    float ambient = w.top_bottom * AMBIENT;

#pragma unroll 2
    for (int k = 0; k < nz; k++) {
        float sum = w.center * here;
        sum = fmaf(w.east_west, in[west], sum);
        sum = fmaf(w.east_west, in[east], sum);
        sum = fmaf(w.north_south, in[south], sum);
        sum = fmaf(w.north_south, in[north], sum);
        sum = fmaf(w.top_bottom, below, sum);
        sum = fmaf(w.top_bottom, above, sum);
        out[c] = fmaf(w.step_per_cap, power[c], sum) + ambient;
        c += layer;
        west += layer;
        east += layer;
        north += layer;
        south += layer;
        below = here;
        here = above;
        above = k < nz - 2 ? in[c + layer] : here;
    }
}
