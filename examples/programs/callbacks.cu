// Functions of the host between kernels of two streams, in the order of each stream; mapped and registered memory.
#include "check.h"
#include <vector>

static std::vector<int> order;
static void note(void *which) { order.push_back((int)(size_t)which); }
static void CUDART_CB noted(cudaStream_t, cudaError_t status, void *which)
{
    EXPECT(status == cudaSuccess);
    order.push_back((int)(size_t)which);
}

__global__ void add(int *p, int v) { *p += v; }

int main()
{
    cudaStream_t a, b;
    int *mapped, *seen, plain[1024] = {5}, *device;
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    CHECK(cudaHostAlloc(&mapped, 64, cudaHostAllocMapped));
    *mapped = 1;
    CHECK(cudaHostGetDevicePointer(&seen, mapped, 0));
    for (int i = 0; i < 3; i++) {
        add<<<1, 1, 0, a>>>(seen, 10);
        CHECK(cudaLaunchHostFunc(a, note, (void *)(size_t)i));
        CHECK(cudaStreamAddCallback(b, noted, (void *)(size_t)(100 + i), 0));
    }
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaStreamSynchronize(b));
    EXPECT(*mapped == 31);
    *mapped += 100;
    add<<<1, 1>>>(seen, 1);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*mapped == 132);
    int last[2] = {-1, 99};
    EXPECT(order.size() == 6);
    for (int v : order) {
        EXPECT(v == last[v >= 100] + 1);
        last[v >= 100] = v;
    }
    CHECK(cudaHostRegister(plain, sizeof plain, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&device, plain, 0));
    add<<<1, 1>>>(device, 37);
    CHECK(cudaDeviceSynchronize());
    EXPECT(plain[0] == 42);
    CHECK(cudaHostUnregister(plain));
    EXPECT(cudaHostUnregister(plain) == cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
    CHECK(cudaFreeHost(mapped));
    return verdict("callbacks");
}
