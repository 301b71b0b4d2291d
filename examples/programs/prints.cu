// Output of kernels comes in the order of launches, between that of the host; a failed assertion is an error code.
#include "check.h"
#include <cassert>

__global__ void greet(int n)
{
    if (threadIdx.x < n)
        printf("block %d, thread %d: %5.2f %s %lld%c\n", blockIdx.x, threadIdx.x, threadIdx.x * 0.25, "text",
               1000000000000ll + threadIdx.x, '!');
}

__global__ void insist(int n) { assert(n > 2); }

int main()
{
    printf("host before\n");
    greet<<<2, 32>>>(2);
    CHECK(cudaDeviceSynchronize());
    printf("host after\n");
    insist<<<1, 1>>>(3);
    CHECK(cudaDeviceSynchronize());
    insist<<<1, 1>>>(2);
    EXPECT(cudaDeviceSynchronize() == cudaErrorAssert);
    EXPECT(cudaGetLastError() == cudaErrorAssert);
    int *p;
    EXPECT(cudaMalloc(&p, 4) == cudaErrorAssert); // the context is lost
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&p, 4));
    return verdict("prints");
}
