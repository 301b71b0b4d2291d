// State spaces, vectors, atomics, fences, constant tables with initializers, textures and surfaces.
#include <cuda_runtime.h>

struct Entry {
    const char *name;
    float weight[3];
    short id;
};

__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ float identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
__constant__ double half = 0.5;
__device__ const Entry entries[2] = {{"first", {1.5f, -2.25f, 3e10f}, 1}, {"second\n\\", {0, 1, 2}, -2}};
__device__ int counter;
__device__ int *pointer = &counter;
__device__ unsigned char bytes[5] = {1, 2, 255, 0, 7};
__managed__ long long managed_total = -1;

extern "C" __global__ void spaces(int *out, const float4 *vectors, long long n)
{
    __shared__ float tile[33][32];
    extern __shared__ int dynamic[];
    int local[16];
    int i = threadIdx.x;
    float4 v = vectors[i];
    tile[i & 31][i >> 5] = v.x + v.y * v.z - v.w;
    dynamic[i] = primes[i & 7];
#pragma unroll 1
    for (int k = 0; k < 16; k++)
        local[(k * i) & 15] = k;
    __syncthreads();
    out[i] = local[i & 15] + dynamic[i ^ 1] + (int)(tile[i >> 5][i & 31] * half) + (int)identity[i % 3][1];
    out[i + 1] = entries[i & 1].name[i % 5] + entries[i & 1].id + (int)entries[i & 1].weight[i % 3] + bytes[i % 5];
    if (i == 0) {
        managed_total += n;
        *pointer = (int)n;
    }
}

extern "C" __global__ void atomics(int *i, unsigned long long *u, float *f, double *d)
{
    atomicAdd(i, 1);
    atomicSub(i + 1, 2);
    atomicMax(i + 2, threadIdx.x);
    atomicCAS(i + 3, 5, 6);
    int old = atomicExch(i + 4, 9);
    atomicInc((unsigned *)i + 5, 100);
    atomicAnd(u, 0xff00ull);
    atomicXor(u + 1, u[2]);
    float g = atomicAdd(f, 1.0f);
    atomicAdd(d, 2.0);
    atomicAdd_block(i + 6, old);
    atomicAdd_system(i + 7, (int)g);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    volatile int *v = i + 8;
    *v = *v + 1;
}

extern "C" __global__ void cached(float *out, const float *__restrict__ in, const double2 *__restrict__ pairs)
{
    double2 p = __ldg(pairs + threadIdx.x);
    out[threadIdx.x] = in[threadIdx.x] + __ldcs(in + 1) + __ldcg(in + 2) + (float)(p.x * p.y);
    __stwt(out + 64, 1.0f);
}

extern "C" __global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float4 *out)
{
    float x = threadIdx.x * 0.125f;
    float4 a = tex2D<float4>(t, x, x + 0.5f);
    float b = tex1Dfetch<float>(t, threadIdx.x);
    float4 c = tex3D<float4>(t, x, x, x);
    float4 g = tex2Dgather<float4>(t, x, x, 1);
    float l = tex2DLod<float>(t, x, x, 2.0f);
    int4 e = surf2Dread<int4>(s, threadIdx.x * 16, 3);
    surf2Dwrite(e.x + (int)b, s, threadIdx.x * 4, 1, cudaBoundaryModeClamp);
    out[threadIdx.x] = make_float4(a.x + c.y, b + g.z, l, (float)e.w);
}
