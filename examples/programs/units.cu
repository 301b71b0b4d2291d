// Two translation units without relocatable device code: kernels and variables of the same names (units_other.cu).
#include "check.h"

static __device__ int value = 1;
static __global__ void run(int *out) { out[threadIdx.x] = value + threadIdx.x; }
extern __shared__ int room[];
__global__ void use(int *out)
{
    room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = room[31 - threadIdx.x];
}
int other(int *out);

int main()
{
    int *out, host[32];
    CHECK(cudaMalloc(&out, sizeof host));
    run<<<1, 32>>>(out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[5] == 6);
    EXPECT(other(out) == 0);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[5] == 105);
    use<<<1, 32, sizeof host>>>(out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[5] == 26);
    return verdict("units");
}
