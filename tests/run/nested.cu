// A kernel that launches another one; with FAULTY, one that stores beyond its buffer. Prints the device's compute
// capability and what the launch and the wait return; the program ends well whatever that is.
#include <cstdio>

__global__ void child(int *p) { atomicAdd(p, 1); }

__global__ void parent(int *p)
{
#ifdef FAULTY
    p[threadIdx.x + 100] = 1; // faulty
#else
    child<<<2, 32>>>(p);
#endif
}

int main()
{
    int *p;
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    cudaMalloc(&p, 64);
    parent<<<2, 32>>>(p);
    cudaError_t launched = cudaGetLastError(), waited = cudaDeviceSynchronize();
    printf("%d%d, launch %d\n", device.major, device.minor, launched ? launched : waited);
    return 0;
}
