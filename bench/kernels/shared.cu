// Shared memory, barriers and the exchange of values in a warp.

template <class T, int BLOCK> __global__ void __launch_bounds__(BLOCK) sumBlocks(const T *in, T *out, int count)
{
    __shared__ T part[BLOCK];
    T sum = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += BLOCK * gridDim.x)
        sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
#pragma unroll
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}
template __global__ void sumBlocks<float, 128>(const float *, float *, int);
template __global__ void sumBlocks<double, 256>(const double *, double *, int);
template __global__ void sumBlocks<int, 512>(const int *, int *, int);

__global__ void sumLoop(const float *in, float *out, int count)
{
    extern __shared__ float part[];
    float sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        sum += in[blockIdx.x * count + i];
    part[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

template <class T> __device__ T warpSum(T v)
{
#pragma unroll
    for (int k = 16; k; k >>= 1)
        v += __shfl_xor_sync(~0u, v, k);
    return v;
}
template <int BLOCK> __global__ void __launch_bounds__(BLOCK) softmax(const float *__restrict__ in, float *__restrict__ out, int columns)
{
    __shared__ float shared[BLOCK / 32];
    const float *row = in + (size_t)blockIdx.x * columns;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        most = fmaxf(most, row[i]);
    for (int k = 16; k; k >>= 1)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = most;
    __syncthreads();
    for (int k = 0; k < BLOCK / 32; k++)
        most = fmaxf(most, shared[k]);
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        sum += expf(row[i] - most);
    sum = warpSum(sum);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < BLOCK / 32; k++)
        sum += shared[k];
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        out[(size_t)blockIdx.x * columns + i] = expf(row[i] - most) / sum;
}
template __global__ void softmax<64>(const float *, float *, int);
template __global__ void softmax<256>(const float *, float *, int);

template <int ITEMS> __global__ void __launch_bounds__(256) prefix(const int *in, int *out, int *totals, int count)
{
    __shared__ int warps[8];
    int v[ITEMS], base = (blockIdx.x * 256 + threadIdx.x) * ITEMS, sum = 0, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        v[k] = base + k < count ? in[base + k] : 0;
        sum += v[k];
    }
    int scan = sum;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        int other = __shfl_up_sync(~0u, scan, d);
        if (lane >= d)
            scan += other;
    }
    if (lane == 31)
        warps[warp] = scan;
    __syncthreads();
    int before = scan - sum;
    for (int k = 0; k < 8; k++)
        if (k < warp)
            before += warps[k];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        if (base + k < count)
            out[base + k] = before;
        before += v[k];
    }
    if (threadIdx.x == 255)
        totals[blockIdx.x] = before;
}
template __global__ void prefix<1>(const int *, int *, int *, int);
template __global__ void prefix<4>(const int *, int *, int *, int);
template __global__ void prefix<12>(const int *, int *, int *, int);

template <class T, int TILE, int ROWS> __global__ void __launch_bounds__(TILE *ROWS) turn(T *out, const T *in, int width, int height)
{
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS)
        if (x < width && y + k < height)
            tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS)
        if (x < height && y + k < width)
            out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}
template __global__ void turn<float, 32, 8>(float *, const float *, int, int);
template __global__ void turn<double, 16, 16>(double *, const double *, int, int);
template __global__ void turn<char, 32, 4>(char *, const char *, int, int);

template <int RADIUS> __global__ void blur(const float *__restrict__ in, float *__restrict__ out, const float *__restrict__ weights, int width)
{
    __shared__ float line[256 + 2 * RADIUS];
    int x = blockIdx.x * 256 + threadIdx.x, row = blockIdx.y * width;
    line[threadIdx.x + RADIUS] = x < width ? in[row + x] : 0;
    if (threadIdx.x < RADIUS) {
        line[threadIdx.x] = x >= RADIUS ? in[row + x - RADIUS] : 0;
        line[threadIdx.x + 256 + RADIUS] = x + 256 < width ? in[row + x + 256] : 0;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += line[threadIdx.x + RADIUS + k] * weights[k + RADIUS];
    if (x < width)
        out[row + x] = sum;
}
template __global__ void blur<1>(const float *, float *, const float *, int);
template __global__ void blur<4>(const float *, float *, const float *, int);
template __global__ void blur<12>(const float *, float *, const float *, int);

template <int BINS> __global__ void count(const unsigned char *in, unsigned *out, int bytes)
{
    __shared__ unsigned bins[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i] % BINS], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        atomicAdd(&out[i], bins[i]);
}
template __global__ void count<64>(const unsigned char *, unsigned *, int);
template __global__ void count<1000>(const unsigned char *, unsigned *, int);

__global__ void oddEven(unsigned *keys, int count)
{
    __shared__ unsigned s[512];
    s[threadIdx.x] = keys[blockIdx.x * 512 + threadIdx.x];
    s[threadIdx.x + 256] = keys[blockIdx.x * 512 + threadIdx.x + 256];
    for (int p = 0; p < count; p++) {
        __syncthreads();
        int i = 2 * threadIdx.x + (p & 1);
        if (i < 511 && s[i] > s[i + 1]) {
            unsigned t = s[i];
            s[i] = s[i + 1];
            s[i + 1] = t;
        }
    }
    __syncthreads();
    keys[blockIdx.x * 512 + threadIdx.x] = s[threadIdx.x];
    keys[blockIdx.x * 512 + threadIdx.x + 256] = s[threadIdx.x + 256];
}
__global__ void heat(float *out, const float *in, int n, int steps, float c)
{
    __shared__ float a[18][18], b[18][18];
    int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x;
    a[y + 1][x + 1] = in[i];
    __syncthreads();
    for (int s = 0; s < steps; s++) {
        float v = a[y + 1][x + 1];
        b[y + 1][x + 1] = v + c * (a[y][x + 1] + a[y + 2][x + 1] + a[y + 1][x] + a[y + 1][x + 2] - 4 * v);
        __syncthreads();
        a[y + 1][x + 1] = b[y + 1][x + 1];
        __syncthreads();
    }
    out[i] = a[y + 1][x + 1];
}
__global__ void compact(const int *in, int *out, unsigned *fill, int count, int bound)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < count ? in[i] : 0;
    bool keep = i < count && v > bound;
    unsigned vote = __ballot_sync(~0u, keep), lane = threadIdx.x & 31, base = 0;
    if (lane == 0)
        base = atomicAdd(fill, __popc(vote));
    base = __shfl_sync(~0u, base, 0);
    if (keep)
        out[base + __popc(vote & ((1u << lane) - 1))] = v;
}
