// Heat on a chip: an iterative 2D stencil with a power source in every cell. A CTA loads a BLOCK x BLOCK tile and
// does several time steps on it in shared memory; with each step the part that is still right shrinks by one cell
// on every side (a pyramid), so tiles overlap by `iterations` cells.
//
// Evaluated by: Rodinia (hotspot).
// Memory: tiles with overlapping borders in shared memory, coalesced reads by rows of 16.

#define BLOCK 16
#define AMBIENT 80.0f

static __device__ bool inside(int value, int low, int high) { return value >= low && value <= high; }

extern "C" __global__ void __launch_bounds__(BLOCK *BLOCK)
    hotspot(int iterations, const float *__restrict__ power, const float *__restrict__ temperature,
            float *__restrict__ result, int columns, int rows, float cap, float rx, float ry, float rz, float step)
{
    __shared__ float now[BLOCK][BLOCK];
    __shared__ float source[BLOCK][BLOCK];
    __shared__ float next[BLOCK][BLOCK];

    float step_per_cap = step / cap;
    float rx_1 = 1.0f / rx, ry_1 = 1.0f / ry, rz_1 = 1.0f / rz;

    int tx = threadIdx.x, ty = threadIdx.y;
    int useful = BLOCK - iterations * 2;
    int top = useful * blockIdx.y - iterations;
    int left = useful * blockIdx.x - iterations;
    int bottom = top + BLOCK - 1;
    int right = left + BLOCK - 1;
    int y = top + ty;
    int x = left + tx;
    int index = columns * y + x;

    if (inside(y, 0, rows - 1) && inside(x, 0, columns - 1)) {
        now[ty][tx] = temperature[index];
        source[ty][tx] = power[index];
    }
    __syncthreads();

    // The part of the tile that lies on the chip.
    int y_first = top < 0 ? -top : 0;
    int y_last = bottom > rows - 1 ? BLOCK - 1 - (bottom - rows + 1) : BLOCK - 1;
    int x_first = left < 0 ? -left : 0;
    int x_last = right > columns - 1 ? BLOCK - 1 - (right - columns + 1) : BLOCK - 1;
    int north = max(ty - 1, y_first);
    int south = min(ty + 1, y_last);
    int west = max(tx - 1, x_first);
    int east = min(tx + 1, x_last);

    bool computed = false;
    for (int i = 0; i < iterations; i++) {
        computed = false;
        if (inside(tx, i + 1, BLOCK - i - 2) && inside(ty, i + 1, BLOCK - i - 2) && inside(tx, x_first, x_last) &&
            inside(ty, y_first, y_last)) {
            computed = true;
            float here = now[ty][tx];
            float vertical = fmaf(-2.0f, here, now[south][tx] + now[north][tx]) * ry_1;
            float horizontal = fmaf(-2.0f, here, now[ty][east] + now[ty][west]) * rx_1;
            float sink = (AMBIENT - here) * rz_1;
            next[ty][tx] = fmaf(step_per_cap, source[ty][tx] + vertical + horizontal + sink, here);
        }
        __syncthreads();
        if (i == iterations - 1)
            break;
        if (computed)
            now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed)
        result[index] = next[ty][tx];
}
