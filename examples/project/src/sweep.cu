#include "grid.h"

__global__ void sweep(const float *from, float *to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT)
        return;
    bool inside = x > 0 && x < WIDTH - 1 && y > 0 && y < HEIGHT - 1;
    to[y * WIDTH + x] = inside ? relaxed(from, x, y) : from[y * WIDTH + x];
}
