// Constants and device variables: set, read, and taken by address.
#include "check.h"

__constant__ float weights[8];
__constant__ int shift = 3;
__device__ int counters[4] = {1, 2, 3, 4};
__device__ float *target;
static __device__ unsigned hidden = 7;

__global__ void apply(const float *in)
{
    int i = threadIdx.x;
    target[i] = in[i] * weights[i & 7] + shift;
    atomicAdd(&counters[i & 3], 1);
    if (i == 0)
        hidden++;
}

int main()
{
    const int n = 64;
    float host[n], w[8], *in, *out;
    int got[4], one = 11;
    size_t bytes;
    void *address;
    for (int i = 0; i < n; i++)
        host[i] = i;
    for (int i = 0; i < 8; i++)
        w[i] = i + 0.5f;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
    CHECK(cudaMemcpyToSymbol(target, &out, sizeof out));
    CHECK(cudaMemcpyToSymbol(counters, &one, sizeof one, 2 * sizeof(int)));
    apply<<<1, n>>>(in);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDefault));
    CHECK(cudaMemcpyFromSymbol(got, counters, sizeof got));
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == i * ((i & 7) + 0.5f) + 3);
    EXPECT(got[0] == 17 && got[1] == 18 && got[2] == 27 && got[3] == 20);
    CHECK(cudaGetSymbolSize(&bytes, weights));
    EXPECT(bytes == sizeof w);
    CHECK(cudaGetSymbolAddress(&address, counters));
    CHECK(cudaMemset(address, 0, sizeof got));
    CHECK(cudaMemcpyFromSymbol(got, counters, sizeof(int), 4));
    EXPECT(got[0] == 0);
    unsigned h = 0;
    CHECK(cudaMemcpyFromSymbol(&h, hidden, sizeof h));
    EXPECT(h == 8);
    EXPECT(cudaMemcpyToSymbol(weights, w, 4 * sizeof w) == cudaErrorInvalidValue);
    cudaGetLastError();
    return verdict("symbols");
}
