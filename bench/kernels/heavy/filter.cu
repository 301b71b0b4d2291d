// Filters whose taps and delay line stay in registers.
template <int TAPS> __global__ void fir(const float *__restrict__ in, const float *__restrict__ taps, float *__restrict__ out, int count, int stride)
{
    float tap[TAPS], line[TAPS];
    int channel = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int t = 0; t < TAPS; t++) {
        tap[t] = taps[t * stride + channel];
        line[t] = 0;
    }
    for (int i = 0; i < count; i++) {
#pragma unroll
        for (int t = TAPS - 1; t > 0; t--)
            line[t] = line[t - 1];
        line[0] = in[(size_t)i * stride + channel];
        float sum = 0;
#pragma unroll
        for (int t = 0; t < TAPS; t++)
            sum += tap[t] * line[t];
        out[(size_t)i * stride + channel] = sum;
    }
}
template __global__ void fir<16>(const float *, const float *, float *, int, int);
template __global__ void fir<32>(const float *, const float *, float *, int, int);
template __global__ void fir<48>(const float *, const float *, float *, int, int);
template __global__ void fir<64>(const float *, const float *, float *, int, int);
template __global__ void fir<96>(const float *, const float *, float *, int, int);

// Several outputs at a time, taps in registers, double precision too.
template <class T, int TAPS, int OUTPUTS>
__global__ void convolve(const T *__restrict__ in, const T *__restrict__ taps, T *__restrict__ out, int count)
{
    T tap[TAPS], window[TAPS + OUTPUTS - 1];
#pragma unroll
    for (int t = 0; t < TAPS; t++)
        tap[t] = taps[t];
    for (int base = (blockIdx.x * blockDim.x + threadIdx.x) * OUTPUTS; base < count; base += gridDim.x * blockDim.x * OUTPUTS) {
#pragma unroll
        for (int t = 0; t < TAPS + OUTPUTS - 1; t++)
            window[t] = in[base + t];
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++) {
            T sum = 0;
#pragma unroll
            for (int t = 0; t < TAPS; t++)
                sum += tap[t] * window[o + t];
            out[base + o] = sum;
        }
    }
}
template __global__ void convolve<float, 32, 8>(const float *, const float *, float *, int);
template __global__ void convolve<float, 64, 8>(const float *, const float *, float *, int);
template __global__ void convolve<double, 16, 4>(const double *, const double *, double *, int);
template __global__ void convolve<double, 32, 8>(const double *, const double *, double *, int);
