#include "grid.h"

__device__ float relaxed(const float *grid, int x, int y)
{
    const float *at = grid + y * WIDTH + x;
    return 0.25f * ((at[-1] + at[1]) + (at[-WIDTH] + at[WIDTH]));
}
