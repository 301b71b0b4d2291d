/* For GCC's offload compiler for nvptx: loops of OpenACC, and functions that they call. */
#include <stdint.h>

static int collatz(unsigned n)
{
    int steps = 0;
    for (; n != 1 && steps < 1000; steps++)
        n = n & 1 ? 3 * n + 1 : n / 2;
    return steps;
}
#pragma acc routine seq
__attribute__((noinline)) static double horner(const double *c, int n, double x)
{
    double sum = 0;
    for (int i = n; i--;)
        sum = sum * x + c[i];
    return sum;
}

int main(void)
{
    enum { N = 1024 };
    static int a[N];
    static float f[N];
    static double d[N], c[5] = {1, 0.5, 0.25, 0.125, 2};
    int64_t total = 0;
#pragma acc parallel loop copy(a) reduction(+ : total)
    for (int i = 0; i < N; i++) {
        a[i] = collatz((unsigned)a[i] + 1) * 3 + i % 7;
        total += a[i];
    }
#pragma acc parallel loop gang vector copy(d) copyin(c)
    for (int i = 0; i < N; i++)
        d[i] = horner(c, 5, d[i]) / (1 + i);
#pragma acc parallel loop copy(f)
    for (int i = 0; i < N / 16; i++) {
#pragma acc loop vector
        for (int k = 0; k < 16; k++)
            f[i * 16 + k] = f[i * 16 + k] * 0.5f + (float)(i >> (k & 3));
    }
    return (int)total + (int)d[3] + (int)f[5];
}
