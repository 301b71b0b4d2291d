// Element by element: how many loads are in flight, how wide they are, and what is computed between them.
#include <cuda_fp16.h>

template <class T, int UNROLL> __global__ void scaleAdd(T *out, const T *in, T factor, int count)
{
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * UNROLL;
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        if (at + k < count)
            out[at + k] = in[at + k] * factor + out[at + k];
}
template __global__ void scaleAdd<float, 1>(float *, const float *, float, int);
template __global__ void scaleAdd<float, 2>(float *, const float *, float, int);
template __global__ void scaleAdd<double, 1>(double *, const double *, double, int);
template __global__ void scaleAdd<int, 8>(int *, const int *, int, int);
template __global__ void scaleAdd<long long, 4>(long long *, const long long *, long long, int);

template <int UNROLL> __global__ void gridStride(float *__restrict__ out, const float *__restrict__ a, const float *__restrict__ b, size_t count)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
#pragma unroll UNROLL
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        out[i] = fmaxf(a[i], 0.0f) * b[i];
}
template __global__ void gridStride<1>(float *, const float *, const float *, size_t);
template __global__ void gridStride<4>(float *, const float *, const float *, size_t);

template <int BATCH> __global__ void batched(const float4 *__restrict__ in, float4 *__restrict__ out, float a, float b)
{
    float4 v[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; k++)
        v[k] = in[(blockIdx.x * BATCH + k) * blockDim.x + threadIdx.x];
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
        v[k].x = v[k].x * a + b;
        v[k].y = v[k].y * a + b;
        v[k].z = v[k].z * a + b;
        v[k].w = v[k].w * a + b;
        out[(blockIdx.x * BATCH + k) * blockDim.x + threadIdx.x] = v[k];
    }
}
template __global__ void batched<1>(const float4 *, float4 *, float, float);
template __global__ void batched<2>(const float4 *, float4 *, float, float);
template __global__ void batched<4>(const float4 *, float4 *, float, float);
template __global__ void batched<8>(const float4 *, float4 *, float, float);

template <class T, int DEGREE> __global__ void polynomial(const T *x, T *y, const T *__restrict__ coefficients, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    T sum = coefficients[DEGREE], at = x[i];
#pragma unroll
    for (int k = DEGREE - 1; k >= 0; k--)
        sum = sum * at + coefficients[k];
    y[i] = sum;
}
template __global__ void polynomial<float, 4>(const float *, float *, const float *, int);
template __global__ void polynomial<float, 15>(const float *, float *, const float *, int);
template __global__ void polynomial<double, 7>(const double *, double *, const double *, int);

__global__ void gelu(const float *in, float *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float x = in[i];
        out[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    }
}
__global__ void logistic(const double *in, double *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = 1.0 / (1.0 + exp(-in[i]));
}
__global__ void polar(const float2 *in, float2 *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = make_float2(sqrtf(in[i].x * in[i].x + in[i].y * in[i].y), atan2f(in[i].y, in[i].x));
}
__global__ void rotate(float2 *points, float angle, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float s, c;
    sincosf(angle, &s, &c);
    float2 p = points[i];
    points[i] = make_float2(c * p.x - s * p.y, s * p.x + c * p.y);
}
__global__ void adam(float *w, float *m, float *v, const float *g, float rate, float b1, float b2, float eps, float c1, float c2, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float grad = g[i], first = b1 * m[i] + (1 - b1) * grad, second = b2 * v[i] + (1 - b2) * grad * grad;
    m[i] = first;
    v[i] = second;
    w[i] -= rate * (first / c1) / (sqrtf(second / c2) + eps);
}
__global__ void blendHalves(const __half2 *a, const __half2 *b, __half2 *out, __half2 t, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[i] = __hfma2(__hsub2(b[i], a[i]), t, a[i]);
}
__global__ void gray(const uchar4 *in, unsigned char *out, int width, int height, int pitch)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        uchar4 p = in[y * pitch + x];
        out[y * width + x] = (unsigned char)(0.299f * p.x + 0.587f * p.y + 0.114f * p.z);
    }
}
__global__ void toHue(const uchar4 *in, float4 *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float r = in[i].x / 255.0f, g = in[i].y / 255.0f, b = in[i].z / 255.0f;
    float most = fmaxf(r, fmaxf(g, b)), least = fminf(r, fminf(g, b)), d = most - least, h = 0;
    if (d > 0) {
        if (most == r)
            h = fmodf((g - b) / d, 6.0f);
        else if (most == g)
            h = (b - r) / d + 2;
        else
            h = (r - g) / d + 4;
    }
    out[i] = make_float4(h * 60, most > 0 ? d / most : 0, most, in[i].w / 255.0f);
}
__global__ void __launch_bounds__(128) mandelbrot(unsigned *out, float x0, float y0, float step, int width, int most)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float cx = x0 + x * step, cy = y0 + y * step, a = 0, b = 0;
    int n = 0;
    while (n < most && a * a + b * b < 4) {
        float t = a * a - b * b + cx;
        b = 2 * a * b + cy;
        a = t;
        n++;
    }
    out[y * width + x] = n;
}
