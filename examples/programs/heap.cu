// Memory that kernels allocate: lists by thread that live from one launch to the next.
#include "check.h"

struct item {
    int value;
    item *next;
};
__device__ item *lists[64];

__global__ void build(int n)
{
    item *list = nullptr;
    for (int i = 0; i < n; i++) {
        item *one = (item *)malloc(sizeof *one);
        *one = {(int)threadIdx.x + i, list};
        list = one;
    }
    lists[threadIdx.x] = list;
}

__global__ void take(int *sums)
{
    int sum = 0;
    for (item *i = lists[threadIdx.x]; i;) {
        item *next = i->next;
        sum += i->value;
        free(i);
        i = next;
    }
    sums[threadIdx.x] = sum;
}

int main()
{
    int *sums, host[64];
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
    CHECK(cudaMalloc(&sums, sizeof host));
    build<<<1, 64>>>(5);
    take<<<1, 64>>>(sums);
    CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 64; t++)
        EXPECT(host[t] == 5 * t + 10);
    return verdict("heap");
}
