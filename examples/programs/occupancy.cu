// Attributes of a kernel, blocks that fit an SM, the block size that occupies it best, and more than 48 KiB of shared memory.
#include "check.h"
#include <vector>

__global__ void __launch_bounds__(256) reverse(int *data, int n)
{
    extern __shared__ int room[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        room[i] = data[blockIdx.x * n + i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[blockIdx.x * n + i] = room[n - 1 - i];
}

__global__ void axpy(const float *x, float *y, float a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

int main()
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, reverse));
    EXPECT(attributes.maxThreadsPerBlock == 256 && attributes.numRegs > 0 && attributes.sharedSizeBytes == 0);
    EXPECT(attributes.maxDynamicSharedSizeBytes == 48 * 1024);

    const int n = 15000, blocks = 2; // 60,000 bytes
    std::vector<int> data(n * blocks);
    for (int i = 0; i < n * blocks; i++)
        data[i] = i;
    int *d_data, fit = 0, few = 0;
    CHECK(cudaMalloc(&d_data, data.size() * sizeof(int)));
    CHECK(cudaMemcpy(d_data, data.data(), data.size() * sizeof(int), cudaMemcpyHostToDevice));
    reverse<<<blocks, 256, n * sizeof(int)>>>(d_data, n);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT((int)device.sharedMemPerBlockOptin >= n * (int)sizeof(int));
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, n * sizeof(int)));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, reverse, 256, 1024));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, reverse, 256, n * sizeof(int)));
    EXPECT(few >= 1 && few < fit && few == (int)(device.sharedMemPerMultiprocessor / (n * sizeof(int) + device.reservedSharedMemPerBlock)));
    reverse<<<blocks, 256, n * sizeof(int)>>>(d_data, n);
    CHECK(cudaMemcpy(data.data(), d_data, data.size() * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n * blocks; i++)
        EXPECT(data[i] == i / n * n + n - 1 - i % n);

    int grid = 0, block = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, axpy, 0, 0));
    EXPECT(block >= 32 && block <= device.maxThreadsPerBlock && grid >= device.multiProcessorCount);
    std::vector<float> x(4000, 2), y(4000, 1);
    float *d_x, *d_y;
    CHECK(cudaMalloc(&d_x, 16000));
    CHECK(cudaMalloc(&d_y, 16000));
    CHECK(cudaMemcpy(d_x, x.data(), 16000, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y.data(), 16000, cudaMemcpyHostToDevice));
    axpy<<<4, block>>>(d_x, d_y, 3, 4000);
    CHECK(cudaMemcpy(y.data(), d_y, 16000, cudaMemcpyDeviceToHost));
    for (float v : y)
        EXPECT(v == 7);
    return verdict("occupancy");
}
