// Device functions: not inlined, recursive, through pointers, variadic printf, structs by value, assertions.
#include <assert.h>
#include <stdio.h>

struct Pair {
    double first;
    int second;
    char tail[5];
};

__device__ __noinline__ int plain(int a, int b) { return a * b + 7; }

__device__ __noinline__ Pair swap_pair(Pair p, float scale)
{
    Pair q;
    q.first = p.second * scale;
    q.second = (int)p.first;
    for (int i = 0; i < 5; i++)
        q.tail[i] = p.tail[4 - i];
    return q;
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ __noinline__ void nothing(int *p) { *p += 1; }

typedef float (*Unary)(float);
__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ float recip(float x) { return 1 / x; }
__device__ Unary table[3] = {twice, square, recip};
__constant__ Unary fixed_table[2] = {square, twice};

extern "C" __global__ void direct(int *out, Pair *pairs)
{
    int i = threadIdx.x;
    out[i] = plain(i, out[i]) + fibonacci(i & 7);
    nothing(&out[i + 32]);
    pairs[i] = swap_pair(pairs[i], 1.5f);
}

extern "C" __global__ void indirect(float *x, const int *which)
{
    int i = threadIdx.x;
    x[i] = table[which[i]](x[i]) + fixed_table[i & 1](x[i + 32]);
}

extern "C" __global__ void talk(const int *in, int n)
{
    assert(n > 0);
    printf("thread %d of %d: %d %f\n", threadIdx.x, blockDim.x, in[threadIdx.x], (double)n);
    if (in[threadIdx.x] < 0)
        printf("negative\n");
}

extern "C" __global__ void heap(int **out, int n)
{
    int *p = (int *)malloc(n * sizeof(int));
    if (p) {
        p[0] = n;
        out[threadIdx.x] = p;
    }
}

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Box : Shape {
    float w, h;
    __device__ Box(float a, float b) : w(a), h(b) {}
    __device__ float area() const override { return w * h; }
};
struct Disc : Shape {
    float r;
    __device__ Disc(float a) : r(a) {}
    __device__ float area() const override { return 3.14159265f * r * r; }
};

extern "C" __global__ void virtual_calls(float *out, int n)
{
    Box box(n, 2);
    Disc disc(n);
    Shape *shape = threadIdx.x & 1 ? (Shape *)&box : (Shape *)&disc;
    out[threadIdx.x] = shape->area();
}
