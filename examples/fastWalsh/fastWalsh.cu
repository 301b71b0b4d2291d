// The fast Walsh-Hadamard transform of arrays of 2^n floats in natural order, and with it a dyadic convolution.
//   walshGlobal  two steps at once (radix 4) of a stride that does not fit in shared memory, in place
//   walshShared  all steps within parts of 2^log_part elements, in shared memory, four elements a thread
//   modulate     the product of two transforms, scaled
// Every element's additions come in the order of falling strides, so the result is exact.
//
// Evaluated by: CUDA SDK (FastWalshTransform).
// Memory: strided but coalesced global accesses, then many passes over shared memory with growing bank conflicts.

static __device__ __forceinline__ void butterfly(float &a, float &b)
{
    const float kept = a;
    a = kept + b;
    b = kept - b;
}

// One thread for four elements that stand `stride` apart; blockIdx.y counts arrays of n elements.
extern "C" __global__ void walshGlobal(float *data, unsigned n, unsigned stride)
{
    const unsigned position = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned low = position & (stride - 1);
    float *at = data + blockIdx.y * n + ((position - low) << 2) + low;
    float d0 = at[0], d1 = at[stride], d2 = at[2 * stride], d3 = at[3 * stride];

    butterfly(d0, d2);
    butterfly(d1, d3);
    butterfly(d0, d1);
    butterfly(d2, d3);
    at[0] = d0;
    at[stride] = d1;
    at[2 * stride] = d2;
    at[3 * stride] = d3;
}

extern "C" __global__ void walshShared(float *data, int log_part)
{
    extern __shared__ float part[];
    const int size = 1 << log_part;
    float *base = data + blockIdx.x * size;
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        part[i] = base[i];

    const int position = threadIdx.x;
    for (int stride = size >> 2; stride > 0; stride >>= 2) {
        const int low = position & (stride - 1);
        float *at = part + ((position - low) << 2) + low;
        __syncthreads();
        float d0 = at[0], d1 = at[stride], d2 = at[2 * stride], d3 = at[3 * stride];
        butterfly(d0, d2);
        butterfly(d1, d3);
        butterfly(d0, d1);
        butterfly(d2, d3);
        at[0] = d0;
        at[stride] = d1;
        at[2 * stride] = d2;
        at[3 * stride] = d3;
    }
    if (log_part & 1) {
        __syncthreads();
        for (int i = threadIdx.x; i < size / 2; i += blockDim.x)
            butterfly(part[2 * i], part[2 * i + 1]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        base[i] = part[i];
}

extern "C" __global__ void modulate(float *a, const float *b, int n)
{
    const float scale = 1.0f / (float)n;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        a[i] *= scale * b[i];
}
