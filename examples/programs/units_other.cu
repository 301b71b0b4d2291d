// The other translation unit of units.cu.
static __device__ int value = 100;
static __global__ void run(int *out) { out[threadIdx.x] = value + threadIdx.x; }
extern __shared__ double room[];
__global__ void wide(double *out) { out[threadIdx.x] = room[threadIdx.x]; }

int other(int *out)
{
    int now = 0;
    cudaMemcpyFromSymbol(&now, value, sizeof now);
    run<<<1, 32>>>(out);
    return now == 100 ? cudaGetLastError() : 1;
}
