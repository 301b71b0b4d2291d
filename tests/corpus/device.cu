// For clang's CUDA front end without a toolkit: what a header would declare is declared here.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
typedef unsigned long size_t;
struct dim3 { unsigned x, y, z; };
typedef struct stream *cudaStream_t;
extern "C" int cudaConfigureCall(dim3, dim3, size_t, cudaStream_t);
extern "C" int __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
extern "C" int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);

#define TID __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define SIZE __nvvm_read_ptx_sreg_ntid_x()
__constant__ float weights[16] = {0.5f, 1.5f};
__device__ int counter;
struct __attribute__((aligned(16))) pair { float a; double b; int c[3]; };

template <typename T> __device__ T clamp(T value, T low, T high) { return value < low ? low : value > high ? high : value; }

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = BLOCK * SIZE + TID;
    if (i < n)
        y[i] = a * x[i] + clamp(y[i], -1.0f, 1.0f);
}

__global__ void reduce(const int *in, int *out)
{
    __shared__ int part[256];
    part[TID] = in[BLOCK * 256 + TID];
    __nvvm_bar_sync(0);
#pragma unroll
    for (int step = 128; step; step /= 2) {
        if (TID < step)
            part[TID] += part[TID + step];
        __nvvm_bar_sync(0);
    }
    if (!TID)
        out[BLOCK] = part[0] + __nvvm_atom_add_gen_i(&counter, 1);
}

__global__ void filter(const float *in, double *out, pair p, int n)
{
    float window[8];
    double sum = p.b;
    for (int k = 0; k < 8; k++)
        window[k] = in[TID + k];
    for (int r = 0; r < n; r++) {
        for (int k = 0; k < 8; k++)
            sum += window[(k + r) & 7] * weights[k] + p.c[r % 3];
        if (sum > 1e6)
            break;
    }
    out[TID] = sum;
}

__device__ __attribute__((noinline)) int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
struct shape { __device__ virtual int area(int) const = 0; };
struct square : shape { __device__ int area(int a) const override { return a * a; } };
struct strip : shape { __device__ int area(int a) const override { return a * 2; } };

__global__ void dispatch(int *out, int n)
{
    square s;
    strip t;
    const shape *which = n & 1 ? (const shape *)&s : &t;
    switch (n) {
    case 0: out[TID] = 3; break;
    case 1: out[TID] = fibonacci(n + TID); break;
    case 2: out[TID] = which->area(TID); break;
    case 5: out[TID] = n % 7; break;
    case 6: __builtin_trap();
    default: out[TID] = (int)((long)n * TID >> 3); break;
    }
}
