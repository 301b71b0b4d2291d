// The error codes of calls that are wrong, and of a kernel that is.
#include "check.h"
#include <cstring>

__global__ void store(int *p, long i) { p[i] = (int)i; }

int main()
{
    int *p, *null = nullptr, count;
    cudaStream_t stream;
    CHECK(cudaGetDeviceCount(&count));
    EXPECT(count == 1);
    EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaMalloc(&p, size_t(1) << 50) == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&p, 400));
    EXPECT(cudaMemcpy(p, &count, 404, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(&count, p + 100, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(p, &count, 4, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaFree(&count) == cudaErrorInvalidValue);
    EXPECT(cudaFree(p + 1) == cudaErrorInvalidValue);
    EXPECT(cudaFree(null) == cudaSuccess);
    CHECK(cudaStreamCreate(&stream));
    store<<<1, 2000, 0, stream>>>(p, 0);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    store<<<0, 1>>>(p, 0);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument") == 0);
    EXPECT(strcmp(cudaGetErrorName((cudaError_t)4711), "unrecognized error code") == 0);
    store<<<1, 1>>>(p, 99);
    CHECK(cudaDeviceSynchronize());
    store<<<1, 1>>>(p, 1l << 40);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaMemcpy(&count, p, 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaMalloc(&p, 4) == cudaErrorIllegalAddress); // until the device is reset
    CHECK(cudaDeviceReset());
    return verdict("errors");
}
