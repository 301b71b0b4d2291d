// Relocatable device code: calls and variables of the other file (rdc_device.cu), which keeps a pointer to a function.
#include "check.h"
#include "rdc.h"

__device__ int seen;
static __device__ int twice(int x) { return 2 * x; }
__device__ unary chosen = twice;

__global__ void run(int *out)
{
    int i = threadIdx.x;
    out[i] = apply(i) + offset;
    atomicAdd(&seen, 1);
}

int main()
{
    const int n = 40;
    int *out, host[n], value = 100, count;
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemcpyToSymbol(offset, &value, sizeof value));
    run<<<1, n>>>(out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == (i % 2 ? 2 * i : 3 * i) + 100);
    CHECK(cudaMemcpyFromSymbol(&count, seen, sizeof count));
    EXPECT(count == n);
    launch_other(out, n);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == n && host[n - 1] == n);
    return verdict("rdc");
}
