// Instantiates device-wide sort, scan and reduce from the toolkit's own headers, and a thrust sort with a comparison
// of ours: big, deeply inlined kernels that nobody wrote by hand.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

struct Record {
    float weight;
    unsigned id;
};

struct HeavierFirst {
    __host__ __device__ bool operator()(const Record &a, const Record &b) const { return a.weight > b.weight; }
};

struct Farther {
    __host__ __device__ float operator()(float a, float b) const { return a * a < b * b ? b : a; }
};

cudaError_t instantiate(void *memory, size_t bytes, unsigned *keys, unsigned *sorted, float *in, float *out,
                        Record *records, int n)
{
    cub::DeviceRadixSort::SortKeys(memory, bytes, keys, sorted, n);
    cub::DeviceScan::InclusiveSum(memory, bytes, in, out, n);
    cub::DeviceReduce::Reduce(memory, bytes, in, out, n, Farther(), 0.0f);
    thrust::device_ptr<Record> first(records);
    thrust::sort(thrust::device, first, first + n, HeavierFirst());
    return cudaGetLastError();
}
