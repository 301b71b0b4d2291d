// LU factors of a matrix in place: for each column two launches of grids that shrink, and the largest error of L * U.
#include "check.h"
#include <cmath>
#include <vector>

__global__ void scale_column(double *a, int n, int k)
{
    int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i * n + k] /= a[k * n + k];
}

__global__ void subtract(double *a, int n, int k)
{
    int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y, j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 48;
    std::vector<double> a(n * n), factors(a);
    for (int i = 0; i < n * n; i++)
        a[i] = (i * 37 % 101) / 50.0 + (i % (n + 1) ? 0 : n);
    double *device;
    CHECK(cudaMalloc(&device, a.size() * sizeof(double)));
    CHECK(cudaMemcpy(device, a.data(), a.size() * sizeof(double), cudaMemcpyHostToDevice));
    for (int k = 0; k + 1 < n; k++) {
        int left = n - k - 1;
        scale_column<<<(left + 31) / 32, 32>>>(device, n, k);
        subtract<<<dim3((left + 15) / 16, (left + 7) / 8), dim3(16, 8)>>>(device, n, k);
    }
    CHECK(cudaMemcpy(factors.data(), device, a.size() * sizeof(double), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k <= i && k <= j; k++)
                sum += (k == i ? 1 : factors[i * n + k]) * factors[k * n + j];
            worst = fmax(worst, fabs(sum - a[i * n + j]));
        }
    EXPECT(worst < 1e-10);
    return verdict("factors");
}
