// Heat in a plate: two buffers change places, each step a launch with a tile and its border in dynamic shared memory.
#include "check.h"
#include <vector>

constexpr int width = 100, height = 70, tile = 16;

__global__ void spread(const float *from, float *to, int w, int h, float rate)
{
    extern __shared__ float cells[];
    const int pitch = blockDim.x + 2, x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    auto at = [&](int i, int j) { return from[min(max(j, 0), h - 1) * w + min(max(i, 0), w - 1)]; };
    float *own = cells + (threadIdx.y + 1) * pitch + threadIdx.x + 1;
    *own = at(x, y);
    if (threadIdx.x == 0)
        own[-1] = at(x - 1, y);
    if (threadIdx.x == blockDim.x - 1)
        own[1] = at(x + 1, y);
    if (threadIdx.y == 0)
        own[-pitch] = at(x, y - 1);
    if (threadIdx.y == blockDim.y - 1)
        own[pitch] = at(x, y + 1);
    __syncthreads();
    if (x < w && y < h)
        to[y * w + x] = __fmaf_rn(rate, __fadd_rn(__fadd_rn(own[-1], own[1]), __fadd_rn(own[-pitch], own[pitch])) - 4 * *own, *own);
}

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 12;
    std::vector<float> cells(width * height), next(cells), result(cells);
    for (int i = 0; i < width * height; i++)
        cells[i] = i % 37 * 0.25f;
    float *device[2];
    const size_t bytes = cells.size() * sizeof(float);
    for (float *&p : device)
        CHECK(cudaMalloc(&p, bytes));
    CHECK(cudaMemcpy(device[0], cells.data(), bytes, cudaMemcpyHostToDevice));
    const dim3 block(tile, tile), grid((width + tile - 1) / tile, (height + tile - 1) / tile);
    for (int s = 0; s < steps; s++)
        spread<<<grid, block, (tile + 2) * (tile + 2) * sizeof(float)>>>(device[s % 2], device[1 - s % 2], width, height, 0.125f);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result.data(), device[steps % 2], bytes, cudaMemcpyDeviceToHost));
    for (int s = 0; s < steps; s++, cells.swap(next))
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                auto at = [&](int i, int j) { return cells[min(max(j, 0), height - 1) * width + min(max(i, 0), width - 1)]; };
                float sum = (at(x - 1, y) + at(x + 1, y)) + (at(x, y - 1) + at(x, y + 1));
                next[y * width + x] = fmaf(0.125f, sum - 4 * at(x, y), at(x, y));
            }
    for (size_t i = 0; i < cells.size(); i++)
        EXPECT(cells[i] == result[i]);
    return verdict("heat");
}
