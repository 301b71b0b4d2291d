// The cheapest path from the top to the bottom row of a grid, by dynamic programming. A CTA takes BLOCK columns
// through several rows at once in shared memory; columns at the edge of a tile are only good for fewer rows, so
// tiles overlap by `rows` columns on each side.
//
// Evaluated by: Rodinia (pathfinder).
// Memory: coalesced reads of the wall, rows in shared memory.

#define BLOCK 256

static __device__ bool inside(int value, int low, int high) { return value >= low && value <= high; }

// Rows first + 1 to first + rows of the wall, given the costs `in` at row `first`.
extern "C" __global__ void __launch_bounds__(BLOCK)
    pathfinder(int rows, const int *__restrict__ wall, const int *__restrict__ in, int *__restrict__ out, int columns,
               int first)
{
    __shared__ int before[BLOCK];
    __shared__ int result[BLOCK];

    int t = threadIdx.x;
    int useful = BLOCK - rows * 2;
    int left = useful * blockIdx.x - rows;
    int right = left + BLOCK - 1;
    int x = left + t;

    int x_first = left < 0 ? -left : 0;
    int x_last = right > columns - 1 ? BLOCK - 1 - (right - columns + 1) : BLOCK - 1;
    int west = max(t - 1, x_first);
    int east = min(t + 1, x_last);
    bool on_grid = inside(t, x_first, x_last);

    if (inside(x, 0, columns - 1))
        before[t] = in[x];
    __syncthreads();

    bool computed = false;
    for (int i = 0; i < rows; i++) {
        computed = false;
        if (inside(t, i + 1, BLOCK - i - 2) && on_grid) {
            computed = true;
            int shortest = min(min(before[west], before[t]), before[east]);
            result[t] = shortest + wall[columns * (first + i + 1) + x];
        }
        __syncthreads();
        if (i == rows - 1)
            break;
        if (computed)
            before[t] = result[t];
        __syncthreads();
    }
    if (computed)
        out[x] = result[t];
}
