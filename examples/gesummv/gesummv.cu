// y = alpha * A x + beta * B x in double precision: a thread for each row does both products together.
//
// Evaluated by: PolyBench/GPU (GESUMMV).
// Memory: reads of doubles a row apart between lanes.

#define THREADS 64

extern "C" __global__ void __launch_bounds__(THREADS)
    gesummv(const double *__restrict__ a, const double *__restrict__ b, const double *__restrict__ x,
            double *__restrict__ y, int n, double alpha, double beta)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double first = 0.0, second = 0.0;
        for (int j = 0; j < n; j++) {
            first = fma(a[i * n + j], x[j], first);
            second = fma(b[i * n + j], x[j], second);
        }
        y[i] = fma(alpha, first, beta * second);
    }
}
