// lines.ptx is what nvcc 13.0 -lineinfo -arch=sm_80 -ptx makes of this file, with the folder taken out of .file.
#include "add.cuh"

extern "C" __global__ void lines(const float *a, float *b, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = scaled(a, i, by);
        b[i] = value + a[n - 1 - i];
    }
}
