// Functions of the driver that the model lacks, by symbol and by name.
#include <cstdio>
#include <cuda.h>

int main()
{
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR shape = {64, 64, CU_AD_FORMAT_FLOAT, 1};
    void *named = nullptr, *unknown = nullptr;
    int first = cuArrayCreate(&array, &shape), again = cuArrayCreate(&array, &shape);
    int found = cuGetProcAddress("cuArrayDestroy", &named, CUDA_VERSION, 0, nullptr);
    int called = found ? found : ((CUresult(*)(CUarray))named)(array);
    int absent = cuGetProcAddress("cuNoSuchFunction", &unknown, CUDA_VERSION, 0, nullptr);
    printf("%d %d %d %d %d\n", first, again, found, called, absent);
    return unknown != nullptr;
}
