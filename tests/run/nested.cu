// A kernel that launches another one; with FAULTY, one that stores beyond its buffer; with PLAIN, one that does neither.
// Prints the device's compute capability, what the launch and the wait return, and the architecture that the kernel was
// compiled for; ends well whatever that is.
#include <cstdio>

__global__ void child(int *p) { atomicAdd(p, 1); }

__global__ void parent(int *p)
{
#if defined FAULTY
    p[threadIdx.x + 100] = 1; // faulty
#elif defined PLAIN && defined __CUDA_ARCH__
    *p = __CUDA_ARCH__ / 10;
#elif !defined PLAIN
    child<<<2, 32>>>(p);
#endif
}

int main()
{
    int *p, compiled_for = 0;
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    cudaMalloc(&p, 64);
    parent<<<2, 32>>>(p);
    cudaError_t launched = cudaGetLastError(), waited = cudaDeviceSynchronize();
    cudaMemcpy(&compiled_for, p, sizeof compiled_for, cudaMemcpyDeviceToHost);
    printf("%d%d, launch %d, code for %d\n", device.major, device.minor, launched ? launched : waited, compiled_for);
    return 0;
}
