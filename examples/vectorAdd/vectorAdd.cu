// c[i] = a[i] + b[i], one element a thread; the last CTA is only partly used.
//
// Evaluated by: CUDA SDK (VectorAdd).
// Memory: coalesced reads and writes, nothing is reused.

extern "C" __global__ void vectorAdd(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
