// Dense and sparse linear algebra in tiles of many sizes.

template <class T, int TILE, int EACH> __global__ void __launch_bounds__(TILE *TILE) multiply(const T *a, const T *b, T *c, int n, int k, int m)
{
    __shared__ T as[TILE * EACH][TILE], bs[TILE][TILE * EACH];
    T sum[EACH][EACH] = {};
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE * EACH, column = blockIdx.x * TILE * EACH;
    for (int at = 0; at < k; at += TILE) {
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            as[y + e * TILE][x] = a[(row + y + e * TILE) * k + at + x];
            bs[y][x + e * TILE] = b[(at + y) * m + column + x + e * TILE];
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < TILE; q++)
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += as[y + i * TILE][q] * bs[q][x + j * TILE];
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++)
            c[(row + y + i * TILE) * m + column + x + j * TILE] = sum[i][j];
}
template __global__ void multiply<float, 8, 1>(const float *, const float *, float *, int, int, int);
template __global__ void multiply<float, 8, 2>(const float *, const float *, float *, int, int, int);
template __global__ void multiply<float, 8, 4>(const float *, const float *, float *, int, int, int);
template __global__ void multiply<float, 16, 3>(const float *, const float *, float *, int, int, int);
template __global__ void multiply<float, 32, 1>(const float *, const float *, float *, int, int, int);
template __global__ void multiply<double, 16, 1>(const double *, const double *, double *, int, int, int);
template __global__ void multiply<double, 8, 4>(const double *, const double *, double *, int, int, int);
template __global__ void multiply<int, 16, 2>(const int *, const int *, int *, int, int, int);

__global__ void plain(const float *a, const float *b, float *c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
template <class T> __global__ void rows(const T *__restrict__ a, const T *__restrict__ x, T *__restrict__ y, int n, int m, T alpha, T beta)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n)
        return;
    T sum = 0;
    for (int k = lane; k < m; k += 32)
        sum += a[(size_t)row * m + k] * x[k];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        y[row] = alpha * sum + beta * y[row];
}
template __global__ void rows<float>(const float *, const float *, float *, int, int, float, float);
template __global__ void rows<double>(const double *, const double *, double *, int, int, double, double);

__global__ void columns(const float *__restrict__ a, const float *__restrict__ x, float *y, int n, int m)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= m)
        return;
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i * m + j] * x[i];
    y[j] = sum;
}
template <int N> __global__ void smallInverse(const float *in, float *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float a[N][N], b[N][N];
#pragma unroll
    for (int r = 0; r < N; r++)
#pragma unroll
        for (int c = 0; c < N; c++) {
            a[r][c] = in[(r * N + c) * count + i];
            b[r][c] = r == c;
        }
#pragma unroll
    for (int p = 0; p < N; p++) {
        float f = 1.0f / a[p][p];
#pragma unroll
        for (int c = 0; c < N; c++) {
            a[p][c] *= f;
            b[p][c] *= f;
        }
#pragma unroll
        for (int r = 0; r < N; r++) {
            if (r == p)
                continue;
            float g = a[r][p];
#pragma unroll
            for (int c = 0; c < N; c++) {
                a[r][c] -= g * a[p][c];
                b[r][c] -= g * b[p][c];
            }
        }
    }
#pragma unroll
    for (int r = 0; r < N; r++)
#pragma unroll
        for (int c = 0; c < N; c++)
            out[(r * N + c) * count + i] = b[r][c];
}
template __global__ void smallInverse<2>(const float *, float *, int);
template __global__ void smallInverse<3>(const float *, float *, int);
template __global__ void smallInverse<4>(const float *, float *, int);
template __global__ void smallInverse<6>(const float *, float *, int);

__global__ void determinant(const double *in, double *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const double *m = in + 9 * (size_t)i;
    out[i] = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}
template <class T> __global__ void compressedRows(const int *__restrict__ first, const int *__restrict__ column, const T *__restrict__ value,
                                                  const T *__restrict__ x, T *y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    T sum = 0;
    for (int k = first[row]; k < first[row + 1]; k++)
        sum += value[k] * x[column[k]];
    y[row] = sum;
}
template __global__ void compressedRows<float>(const int *, const int *, const float *, const float *, float *, int);
template __global__ void compressedRows<double>(const int *, const int *, const double *, const double *, double *, int);

__global__ void ellpack(const int *__restrict__ column, const float *__restrict__ value, const float *__restrict__ x, float *y, int n, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row < n) {
        for (int k = 0; k < width; k++) {
            int c = column[k * n + row];
            if (c >= 0)
                sum += value[k * n + row] * x[c];
        }
        y[row] = sum;
    }
}
__global__ void cholesky(float *a, int n, int k)
{
    int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x, j = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j <= i)
        a[i * n + j] -= a[i * n + k] * a[j * n + k];
}
template <int K> __global__ void convolve(const float *__restrict__ in, const float *__restrict__ weights, float *__restrict__ out, int channels,
                                          int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, o = blockIdx.z;
    if (x >= width)
        return;
    float sum = 0;
    for (int c = 0; c < channels; c++)
#pragma unroll
        for (int r = 0; r < K; r++)
#pragma unroll
            for (int s = 0; s < K; s++) {
                int yy = y + r - K / 2, xx = x + s - K / 2;
                if (yy >= 0 && yy < height && xx >= 0 && xx < width)
                    sum += in[(c * height + yy) * width + xx] * weights[((o * channels + c) * K + r) * K + s];
            }
    out[(o * height + y) * width + x] = sum;
}
template __global__ void convolve<1>(const float *, const float *, float *, int, int, int);
template __global__ void convolve<3>(const float *, const float *, float *, int, int, int);
template __global__ void convolve<5>(const float *, const float *, float *, int, int, int);
