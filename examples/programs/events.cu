// Vector addition in parts, each on a stream of its own, timed with events.
#include "check.h"
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int parts = 4, n = 10000, bytes = n * sizeof(float);
    float *a, *b, *c, *host;
    cudaStream_t streams[parts];
    cudaEvent_t start, stop, copied;
    CHECK(cudaMallocHost(&host, 3 * parts * bytes));
    CHECK(cudaMalloc(&a, parts * bytes));
    CHECK(cudaMalloc(&b, parts * bytes));
    CHECK(cudaMalloc(&c, parts * bytes));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
    for (int i = 0; i < parts * n; i++) {
        host[i] = i * 0.5f;
        host[parts * n + i] = 1000 - i;
    }
    CHECK(cudaEventRecord(start));
    CHECK(cudaMemcpyAsync(a, host, parts * bytes, cudaMemcpyHostToDevice));
    CHECK(cudaEventRecord(copied));
    for (int p = 0; p < parts; p++) {
        CHECK(cudaStreamCreate(&streams[p]));
        CHECK(cudaMemcpyAsync(b + p * n, host + (parts + p) * n, bytes, cudaMemcpyHostToDevice, streams[p]));
        CHECK(cudaStreamWaitEvent(streams[p], copied, 0));
        add<<<(n + 255) / 256, 256, 0, streams[p]>>>(a + p * n, b + p * n, c + p * n, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(host + (2 * parts + p) * n, c + p * n, bytes, cudaMemcpyDeviceToHost, streams[p]));
    }
    for (int p = 0; p < parts; p++) {
        CHECK(cudaStreamSynchronize(streams[p]));
        CHECK(cudaStreamDestroy(streams[p]));
    }
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    EXPECT(milliseconds >= 0);
    for (int i = 0; i < parts * n; i++)
        EXPECT(host[2 * parts * n + i] == i * 0.5f + (1000 - i));
    EXPECT(cudaEventElapsedTime(&milliseconds, start, copied) == cudaErrorInvalidResourceHandle);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFreeHost(host));
    CHECK(cudaEventDestroy(start));
    return verdict("events");
}
