// Dynamic shared memory, above the default limit too, and what kernels say about themselves.
#include "check.h"

extern __shared__ unsigned char room[];

__global__ void reverse(int *values, int n)
{
    int *copy = reinterpret_cast<int *>(room);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        copy[i] = values[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        values[i] = copy[n - 1 - i];
}

__global__ void __launch_bounds__(128) bounded(double *out)
{
    __shared__ double part[128];
    part[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[127 - threadIdx.x];
}

int main()
{
    const int n = 15000, bytes = n * sizeof(int); // 60,000 bytes
    int *values, *host = new int[n];
    for (int i = 0; i < n; i++)
        host[i] = i;
    CHECK(cudaMalloc(&values, bytes));
    CHECK(cudaMemcpy(values, host, bytes, cudaMemcpyHostToDevice));
    reverse<<<1, 256, bytes>>>(values, n);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    reverse<<<1, 256, bytes>>>(values, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, values, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == n - 1 - i);
    cudaFuncAttributes is;
    CHECK(cudaFuncGetAttributes(&is, bounded));
    EXPECT(is.sharedSizeBytes == 1024 && is.maxThreadsPerBlock == 128 && is.numRegs > 0 && is.numRegs < 256);
    EXPECT(is.ptxVersion >= 75);
    int blocks, best, least;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0));
    EXPECT(blocks >= 4 && blocks <= 32);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &best, reverse, 0, 0));
    EXPECT(least >= 1 && best >= 32 && best % 32 == 0);
    return verdict("shared");
}
