// Algorithms of Thrust, from the toolkit's headers.
#include "check.h"
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};

int main()
{
    const int n = 5000;
    thrust::host_vector<int> host(n);
    for (int i = 0; i < n; i++)
        host[i] = (i * 7919) % 10007;
    thrust::device_vector<int> device = host, sums(n), squares(n);
    thrust::sort(device.begin(), device.end());
    thrust::host_vector<int> sorted = device;
    for (int i = 1; i < n; i++)
        EXPECT(sorted[i - 1] <= sorted[i]);
    long long expected = 0;
    for (int v : host)
        expected += v;
    EXPECT(thrust::reduce(device.begin(), device.end(), 0ll) == expected);
    thrust::sequence(sums.begin(), sums.end());
    thrust::inclusive_scan(sums.begin(), sums.end(), sums.begin());
    EXPECT(sums[n - 1] == n * (n - 1) / 2 && sums[10] == 55);
    thrust::sequence(squares.begin(), squares.end());
    thrust::transform(squares.begin(), squares.end(), squares.begin(), square());
    EXPECT(squares[100] == 10000);
    return verdict("thrust");
}
