/* Heat in a plate: Jacobi sweeps on the GPU and on the host, which must agree. Prints PASSED, or FAILED and exits with 1. */
#include "grid.h"

#include <cmath>
#include <cstdio>
#include <cstring>

static float host[2][WIDTH * HEIGHT], result[WIDTH * HEIGHT];

static void start(float *grid)
{
    memset(grid, 0, sizeof host[0]);
    for (int x = 0; x < WIDTH; x++)
        grid[x] = 100.0f;
}

static void sweep_on_host(const float *from, float *to)
{
    memcpy(to, from, sizeof host[0]);
    for (int y = 1; y < HEIGHT - 1; y++)
        for (int x = 1; x < WIDTH - 1; x++) {
            const float *at = from + y * WIDTH + x;
            to[y * WIDTH + x] = 0.25f * ((at[-1] + at[1]) + (at[-WIDTH] + at[WIDTH]));
        }
}

static bool failed(cudaError_t error)
{
    if (error != cudaSuccess)
        printf("FAILED: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}

int main()
{
    float *grids[2], *sum, last;
    start(host[0]);
    if (failed(cudaMalloc(&grids[0], sizeof result)) || failed(cudaMalloc(&grids[1], sizeof result)) ||
        failed(cudaMalloc(&sum, sizeof last)) ||
        failed(cudaMemcpy(grids[0], host[0], sizeof result, cudaMemcpyHostToDevice)))
        return 1;
    dim3 block(16, 8), blocks((WIDTH + 15) / 16, (HEIGHT + 7) / 8);
    for (int i = 0; i < SWEEPS; i++) {
        sweep<<<blocks, block>>>(grids[i & 1], grids[~i & 1]);
        sweep_on_host(host[i & 1], host[~i & 1]);
    }
    change<<<1, CHANGE_THREADS>>>(grids[0], grids[1], sum);
    if (failed(cudaMemcpy(result, grids[SWEEPS & 1], sizeof result, cudaMemcpyDeviceToHost)) ||
        failed(cudaMemcpy(&last, sum, sizeof last, cudaMemcpyDeviceToHost)))
        return 1;
    double expected = 0.0;
    int wrong = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        double difference = (double)host[0][i] - host[1][i];
        expected += difference * difference;
        wrong += fabsf(result[i] - host[SWEEPS & 1][i]) > 1e-4f;
    }
    bool good = wrong == 0 && std::fabs(last - expected) <= 1e-4 * expected;
    printf("%s: %d cells differ, last change %.4f, expected %.4f\n", good ? "PASSED" : "FAILED", wrong, last, expected);
    return good ? 0 : 1;
}
