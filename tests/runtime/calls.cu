/* What nvcc makes of calls and of the device runtime: virtual functions, function pointers, recursion, structs by value,
 * alloca, printf, assert, malloc; and kernels that do something wrong. `regenerate` compiles it in three ways. */
#include <cassert>
#include <cstdio>
#include <new>

struct Shape {
    int k;
    __device__ Shape(int k) : k(k) {}
    __device__ virtual int area(int x) = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    __device__ Square(int k) : Shape(k) {}
    __device__ int area(int x) override { return x * k; }
};
struct Frame : Shape {
    long border;
    __device__ Frame(int k) : Shape(k), border(k) {}
    __device__ int area(int x) override { return x + k + (int)border; }
};

typedef int (*binary)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ binary table[3] = {add, subtract, multiply};

__device__ __noinline__ int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

struct Record { /* with padding in the middle and at the end */
    int a[7];
    double d;
    char c;
};
__device__ __noinline__ Record make(int i)
{
    Record r;
    for (int k = 0; k < 7; k++)
        r.a[k] = i * k;
    r.d = i * 0.5;
    r.c = (char)('a' + i % 26);
    return r;
}
__device__ __noinline__ int use(Record r, int i) { return r.a[i % 7] + (int)r.d + r.c; }

__device__ __noinline__ int take_stack(int n)
{
    int *p = (int *)alloca(n * 4), sum = 0;
    for (int i = 0; i < n; i++)
        p[i] = i * n;
    for (int i = 0; i < n; i++)
        sum += p[(i * 7) % n];
    return sum;
}

#define KERNEL extern "C" __global__ void
KERNEL virtuals(int *out, int n)
{
    int i = threadIdx.x;
    Shape *s;
    if (i & 1)
        s = new Square(i);
    else
        s = new Frame(i);
    out[i] = s->area(n);
    delete s;
}
KERNEL pointers(int *out, int n) { out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x, n); }
KERNEL recursion(int *out, int n) { out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x % 5 + n); }
KERNEL structs(int *out, int n)
{
    Record r = make(threadIdx.x + n);
    out[threadIdx.x] = use(r, threadIdx.x);
}
KERNEL copies(Record *out, int n) { out[threadIdx.x] = make(threadIdx.x + n); }
KERNEL stacks(int *out, int n) { out[threadIdx.x] = take_stack(threadIdx.x % 9 + n); }
KERNEL prints(int *out, int n)
{
    int i = threadIdx.x, count = 0;
    if (i < 2) {
        count = printf("thread %d of %u: %s %c %5.2f [%-8x] %lld %%\n", i, n, i ? "odd" : "even", 'a' + i, i * 1.5,
                       i + 255, 1LL << (40 + i));
        printf("done\n");
    }
    out[i] = count;
}
KERNEL blocks(long *out, int n)
{
    int *p = (int *)malloc(n * (threadIdx.x + 1));
    long sum = -1;
    if (p) {
        sum = 0;
        for (int k = 0; k < n / 4; k++)
            p[k] = threadIdx.x * k;
        for (int k = 0; k < n / 4; k++)
            sum += p[k];
        free(p);
    }
    out[threadIdx.x] = sum;
}
KERNEL asserts(int *out, int n)
{
    out[threadIdx.x] = 1;
    assert(threadIdx.x < n && "too many");
    out[threadIdx.x] = 2;
}
KERNEL freed(int *out, int n)
{
    int *p = new int[n];
    p[0] = threadIdx.x;
    delete[] p;
    out[threadIdx.x] = *(volatile int *)p;
}
KERNEL beyond(int *out, int n) { out[threadIdx.x * n] = 1; }
KERNEL races(int *out, int n)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (n)
        __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
KERNEL unset(int *out, int n)
{
    __shared__ int s[64];
    if ((int)threadIdx.x < n)
        s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x] + 1;
}
