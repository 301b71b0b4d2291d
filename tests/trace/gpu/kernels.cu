// Kernels whose machine code the functional model of tests/trace executes, and a program that runs one on a GPU and
// prints its output. 96 threads: three warps, so that barriers have someone to wait for.
//
//   nvcc -O3 -arch=sm_90 -o kernels kernels.cu && ./kernels INDEX
#include <cstdio>
#include <cstdlib>

enum { THREADS = 96 };

extern "C" __global__ void collatz(unsigned *out, const unsigned *in)
{
    unsigned n = in[threadIdx.x] % 27 + 1, steps = 0;
    while (n != 1 && steps < 40) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    out[threadIdx.x] = steps;
}

extern "C" __global__ void branches(unsigned *out, const unsigned *in)
{
    unsigned x = in[threadIdx.x], r = 0;
    if (threadIdx.x % 7 == 3)
        return;
    if (x & 4) {
        for (unsigned i = 0; i < (x & 3) + 1; i++) {
            r += in[(threadIdx.x + i) % THREADS];
            if (r & 64)
                break;
            r ^= i << 5;
        }
    } else if (x & 8) {
        r = x * 2654435761u >> 7;
    }
    switch (x >> 4 & 7) {
    case 0: r += 11; break;
    case 1: r ^= x << 3; break;
    case 2: r = __popc(r) + 5; break;
    case 3: r = __brev(r); break;
    case 4: r -= threadIdx.x; break;
    case 5: r = r * r; break;
    case 6: r = max(r, x); break;
    default: r = __clz(r | 1); break;
    }
    out[threadIdx.x] = r;
}

extern "C" __global__ void scan(unsigned *out, const unsigned *in)
{
    __shared__ unsigned values[THREADS];
    unsigned t = threadIdx.x;
    values[t] = in[t] & 0xffff;
    __syncthreads();
    for (unsigned d = 1; d < THREADS; d *= 2) {
        unsigned more = t >= d ? values[t - d] : 0;
        __syncthreads();
        values[t] += more;
        __syncthreads();
    }
    out[t] = values[t];
}

extern "C" __global__ void warps(unsigned *out, const unsigned *in)
{
    __shared__ unsigned total;
    unsigned t = threadIdx.x, x = in[t] & 1023, sum = x;
    if (t == 0)
        total = 0;
    __syncthreads();
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    unsigned big = __ballot_sync(0xffffffff, x > 500);
    if (t % 32 == 0)
        atomicAdd(&total, sum);
    if (x > 500)
        atomicMax(&out[0], x);
    __syncthreads();
    unsigned up = __shfl_up_sync(0xffffffff, x, 3);
    out[1 + t] = total + __popc(big) + up + (__any_sync(0xffffffff, x == 7) ? 1000000 : 0);
}

extern "C" __global__ void reals(float *out, const unsigned *in)
{
    float x = (float)(in[threadIdx.x] & 255) + 0.5f, sum = 0;
    for (int i = 0; i < 6; i++)
        sum = fmaf(sum, 0.75f, x * i);
    float inverse = 1.0f / (x + 3.0f), root = sqrtf(x);
    out[threadIdx.x] = sum > 200.0f ? sum * inverse + root : fminf(sum, root) - truncf(inverse * 100);
}

extern "C" __global__ void wide(unsigned long long *out, const unsigned *in)
{
    unsigned long long x = in[threadIdx.x], y = 0x9e3779b97f4a7c15ull ^ x;
    double d = (double)(int)(x & 4095);
    for (int i = 0; i < 3; i++) {
        y = (y ^ y >> 29) * 0xbf58476d1ce4e5b9ull + x;
        d = d * 1.25 + (double)i;
    }
    out[threadIdx.x] = y + (unsigned long long)__double_as_longlong(d) + (x > 1u << 31 ? 1 : y % 3 == 0);
}

static __device__ __noinline__ unsigned mix(unsigned a, unsigned b)
{
    if (a & 1)
        return a * 33 + b;
    return a / 2 ^ b;
}

extern "C" __global__ void calls(unsigned *out, const unsigned *in)
{
    unsigned r = in[threadIdx.x];
    for (unsigned i = 0; i < 3; i++)
        r = mix(r, i + threadIdx.x);
    if (r & 16)
        r = mix(r, 7);
    out[threadIdx.x] = r;
}

extern "C" __global__ void locals(unsigned *out, const uint4 *in)
{
    unsigned table[8];
    uint4 v = in[threadIdx.x % 24];
    for (unsigned i = 0; i < 8; i++)
        table[i] = i * 3 + v.x;
    table[v.y & 7] += v.z;
    table[v.w & 7] ^= threadIdx.x;
    unsigned char *bytes = (unsigned char *)(out + THREADS);
    bytes[threadIdx.x] = (unsigned char)table[(v.x >> 3) & 7];
    ((unsigned short *)bytes)[THREADS + threadIdx.x] = (unsigned short)(table[v.z & 7] >> 2);
    out[threadIdx.x] = table[(v.y ^ threadIdx.x) & 7];
}

int main(int argc, char **argv)
{
    const void *kernels[] = {(void *)collatz, (void *)branches, (void *)scan, (void *)warps, (void *)reals, (void *)wide, (void *)calls, (void *)locals};
    int which = argc > 1 ? atoi(argv[1]) : 0;
    unsigned in[THREADS], out[4 * THREADS], seed = 12345, *device_in, *device_out;
    if (which < 0 || which >= (int)(sizeof kernels / sizeof *kernels))
        return 1;
    for (int i = 0; i < THREADS; i++) {
        seed = seed * 1664525 + 1013904223;
        in[i] = seed >> 5;
    }
    cudaMalloc(&device_in, sizeof in);
    cudaMalloc(&device_out, sizeof out);
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemset(device_out, 0, sizeof out);
    void *arguments[] = {&device_out, &device_in};
    printf("in %p out %p\n", (void *)device_in, (void *)device_out);
    cudaLaunchKernel(kernels[which], dim3(1), dim3(THREADS), arguments, 0, 0);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4 * THREADS; i++)
        printf("%08x%c", out[i], i % 8 == 7 ? '\n' : ' ');
    return 0;
}
