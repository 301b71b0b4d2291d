#include "grid.h"

__global__ void change(const float *a, const float *b, float *sum)
{
    __shared__ float part[CHANGE_THREADS];
    float own = 0.0f;
    for (int i = threadIdx.x; i < WIDTH * HEIGHT; i += CHANGE_THREADS) {
        float difference = a[i] - b[i];
        own += difference * difference;
    }
    part[threadIdx.x] = own;
    for (int half = CHANGE_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *sum = part[0];
}
