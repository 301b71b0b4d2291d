// Device-wide algorithms of CUB, from the toolkit's headers.
#include "check.h"
#include <cub/cub.cuh>

template <class T> static T *copy_of(const T *host, int n)
{
    T *device;
    CHECK(cudaMalloc(&device, n * sizeof(T)));
    CHECK(cudaMemcpy(device, host, n * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main()
{
    const int n = 3000;
    unsigned keys[n], sorted[n];
    int values[n], selected[n], count;
    for (int i = 0; i < n; i++) {
        keys[i] = (i * 2654435761u) >> 7;
        values[i] = i % 100 - 50;
    }
    unsigned *in = copy_of(keys, n), *out = copy_of(keys, n);
    int *numbers = copy_of(values, n), *result = copy_of(values, n), *found = copy_of(values, 1);
    void *room = nullptr;
    size_t bytes = 0;
    CHECK(cub::DeviceRadixSort::SortKeys(room, bytes, in, out, n));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cub::DeviceRadixSort::SortKeys(room, bytes, in, out, n));
    CHECK(cudaMemcpy(sorted, out, sizeof sorted, cudaMemcpyDeviceToHost));
    for (int i = 1; i < n; i++)
        EXPECT(sorted[i - 1] <= sorted[i]);
    size_t needed = 0;
    CHECK(cub::DeviceReduce::Max(nullptr, needed, numbers, found, n));
    EXPECT(needed <= bytes);
    CHECK(cub::DeviceReduce::Max(room, bytes, numbers, found, n));
    CHECK(cudaMemcpy(&count, found, sizeof count, cudaMemcpyDeviceToHost));
    EXPECT(count == 49);
    auto positive = [] __device__(int x) { return x > 0; };
    CHECK(cub::DeviceSelect::If(nullptr, needed, numbers, result, found, n, positive));
    if (needed > bytes)
        CHECK(cudaMalloc(&room, needed));
    CHECK(cub::DeviceSelect::If(room, needed, numbers, result, found, n, positive));
    CHECK(cudaMemcpy(&count, found, sizeof count, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(selected, result, sizeof selected, cudaMemcpyDeviceToHost));
    EXPECT(count == n / 100 * 49);
    for (int i = 0; i < count; i++)
        EXPECT(selected[i] == i % 49 + 1);
    return verdict("cub");
}
