// Calls by address in relocatable code: virtual functions, a table of functions, mutual and own recursion, lanes that call
// different ones; calls_device.cu has the other half.
#include "check.h"
#include <cstdio>

extern __device__ int even(int n), odd(int n), factorial(int n);
typedef int (*function)(int);
__device__ function table[3] = {even, odd, factorial};

struct value {
    __device__ virtual int of(int x) const = 0;
    __device__ virtual ~value() {}
};
struct sum : value {
    int k;
    __device__ sum(int k) : k(k) {}
    __device__ int of(int x) const override { return x + k; }
};
struct product : value {
    int k;
    __device__ product(int k) : k(k) {}
    __device__ int of(int x) const override { return x * k + even(x & 7); }
};

__global__ void run(int *out)
{
    int t = threadIdx.x;
    value *object = t & 1 ? (value *)new sum(t) : (value *)new product(t);
    int v = object->of(t);
    delete object;
    v += 1000 * table[t % 3](t % 10);
    if (t % 5 == 0)
        v += factorial(t % 6);
    out[t] = v + 7 * __shfl_xor_sync(0xffffffffu, v, 1);
    if (t == 3)
        printf("value %d of %s\n", v, "three");
}

static int even_here(int n) { return n % 2 == 0; }
static int factorial_here(int n) { return n < 2 ? 1 : n * factorial_here(n - 1); }

int main()
{
    const int n = 64;
    int *out, host[n], want[n];
    CHECK(cudaMalloc(&out, sizeof host));
    run<<<1, n>>>(out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int t = 0; t < n; t++) {
        int x = t % 10, called = t % 3 == 0 ? even_here(x) : t % 3 == 1 ? !even_here(x) : factorial_here(x);
        want[t] = (t & 1 ? t + t : t * t + even_here(t & 7)) + 1000 * called + (t % 5 ? 0 : factorial_here(t % 6));
    }
    for (int t = 0; t < n; t++)
        EXPECT(host[t] == want[t] + 7 * want[t ^ 1]);
    return verdict("calls");
}
