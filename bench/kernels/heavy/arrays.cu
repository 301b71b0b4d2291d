// Local arrays that stay in registers through a loop.
template <int SIZE> __device__ __forceinline__ void mix(float *v, float a)
{
#pragma unroll
    for (int step = SIZE / 2; step > 0; step /= 2)
#pragma unroll
        for (int i = 0; i < SIZE; i++)
            if (!(i & step)) {
                float x = v[i], y = v[i | step];
                v[i] = x + y * a;
                v[i | step] = x * a - y;
            }
}

// As many as SIZE values, each of which meets all others in each turn.
template <int SIZE> __device__ __forceinline__ void relax(const float *__restrict__ in, float *__restrict__ out, const float *__restrict__ factors, int turns)
{
    float v[SIZE];
    int at = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
#pragma unroll
    for (int i = 0; i < SIZE; i++)
        v[i] = in[at + i * step];
    for (int turn = 0; turn < turns; turn++)
        mix<SIZE>(v, factors[turn]);
#pragma unroll
    for (int i = 0; i < SIZE; i++)
        out[at + i * step] = v[i];
}
#define RELAX(name, size, bounds)                                                                                       \
    extern "C" __global__ void bounds name(const float *in, float *out, const float *factors, int turns)               \
    {                                                                                                                  \
        relax<size>(in, out, factors, turns);                                                                          \
    }
RELAX(relax32, 32, )
RELAX(relax64, 64, )
RELAX(relax128, 128, )
RELAX(relax128of1024, 128, __launch_bounds__(1024))
RELAX(relax128thousandTwice, 128, __launch_bounds__(1024, 2))
RELAX(relax128quarterFour, 128, __launch_bounds__(256, 4))
RELAX(relax128halfTwice, 128, __launch_bounds__(512, 2))
RELAX(relax64thousandTwice, 64, __launch_bounds__(1024, 2))
RELAX(relax64quarterFour, 64, __launch_bounds__(256, 4))
RELAX(relax128eighthFive, 128, __launch_bounds__(128, 5))

// Counts by class of a stream, a counter each.
template <int CLASSES> __global__ void classify(const int *__restrict__ in, int *__restrict__ out, int count)
{
    int counters[CLASSES] = {};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int value = in[i];
#pragma unroll
        for (int c = 0; c < CLASSES; c++)
            counters[c] += value % CLASSES == c;
    }
#pragma unroll
    for (int c = 0; c < CLASSES; c++)
        atomicAdd(&out[c], counters[c]);
}
template __global__ void classify<24>(const int *, int *, int);
template __global__ void classify<64>(const int *, int *, int);

// Least squares: the normal matrix of SIZE unknowns in registers, in float and double.
template <class T, int SIZE> __global__ void normal(const T *__restrict__ rows, T *__restrict__ out, int count)
{
    T sum[SIZE * (SIZE + 1) / 2] = {}, row[SIZE];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
#pragma unroll
        for (int k = 0; k < SIZE; k++)
            row[k] = rows[(size_t)i * SIZE + k];
        int at = 0;
#pragma unroll
        for (int a = 0; a < SIZE; a++)
#pragma unroll
            for (int b = 0; b <= a; b++)
                sum[at++] += row[a] * row[b];
    }
#pragma unroll
    for (int k = 0; k < SIZE * (SIZE + 1) / 2; k++)
        atomicAdd(&out[k], sum[k]);
}
template __global__ void normal<float, 6>(const float *, float *, int);
template __global__ void normal<float, 10>(const float *, float *, int);
template __global__ void normal<float, 14>(const float *, float *, int);
template __global__ void normal<double, 6>(const double *, double *, int);
template __global__ void normal<double, 9>(const double *, double *, int);
