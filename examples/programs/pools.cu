// Memory in the order of a stream.
#include "check.h"

__global__ void fill(int *p, int v) { p[threadIdx.x] = v + threadIdx.x; }

int main()
{
    cudaStream_t stream;
    cudaMemPool_t pool;
    int *a, *b, host[32];
    unsigned long long threshold = 1 << 20, got = 0;
    size_t before, available, total;
    CHECK(cudaMemGetInfo(&before, &total));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
    EXPECT(got == threshold);
    for (int i = 0; i < 5; i++) {
        CHECK(cudaMallocAsync(&a, sizeof host, stream));
        CHECK(cudaMallocFromPoolAsync((void **)&b, sizeof host, pool, stream));
        fill<<<1, 32, 0, stream>>>(a, i);
        CHECK(cudaMemcpyAsync(b, a, sizeof host, cudaMemcpyDeviceToDevice, stream));
        CHECK(cudaFreeAsync(a, stream));
        CHECK(cudaMemcpyAsync(host, b, sizeof host, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(b, stream));
        CHECK(cudaStreamSynchronize(stream));
        EXPECT(host[31] == 31 + i);
    }
    CHECK(cudaMemGetInfo(&available, &total));
    EXPECT(available == before && total >= before);
    return verdict("pools");
}
