// Register-blocked matrix products: M x N accumulators in each thread, tiles in shared memory, double-buffered or not.
template <int M, int N, int DEPTH, bool AHEAD>
__device__ __forceinline__ void multiply(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n)
{
    const int SIDE = 16;
    __shared__ float as[DEPTH][SIDE * M], bs[DEPTH][SIDE * N];
    int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE, top = blockIdx.y * SIDE * M, left = blockIdx.x * SIDE * N;
    float acc[M][N] = {}, va[M], vb[N], nexta[DEPTH * M / SIDE], nextb[DEPTH * N / SIDE];
    if (AHEAD) {
        for (int i = 0; i < DEPTH * M / SIDE; i++)
            nexta[i] = a[(size_t)(top + (threadIdx.x + 256 * i) / DEPTH) * n + (threadIdx.x + 256 * i) % DEPTH];
        for (int i = 0; i < DEPTH * N / SIDE; i++)
            nextb[i] = b[(size_t)((threadIdx.x + 256 * i) / (SIDE * N)) * n + left + (threadIdx.x + 256 * i) % (SIDE * N)];
    }
    for (int k = 0; k < n; k += DEPTH) {
        for (int i = 0; i < DEPTH * M / SIDE; i++) {
            int at = threadIdx.x + 256 * i;
            as[at % DEPTH][at / DEPTH] = AHEAD ? nexta[i] : a[(size_t)(top + at / DEPTH) * n + k + at % DEPTH];
        }
        for (int i = 0; i < DEPTH * N / SIDE; i++) {
            int at = threadIdx.x + 256 * i;
            bs[at / (SIDE * N)][at % (SIDE * N)] = AHEAD ? nextb[i] : b[(size_t)(k + at / (SIDE * N)) * n + left + at % (SIDE * N)];
        }
        __syncthreads();
        if (AHEAD && k + DEPTH < n) {
            for (int i = 0; i < DEPTH * M / SIDE; i++)
                nexta[i] = a[(size_t)(top + (threadIdx.x + 256 * i) / DEPTH) * n + k + DEPTH + (threadIdx.x + 256 * i) % DEPTH];
            for (int i = 0; i < DEPTH * N / SIDE; i++)
                nextb[i] = b[(size_t)(k + DEPTH + (threadIdx.x + 256 * i) / (SIDE * N)) * n + left + (threadIdx.x + 256 * i) % (SIDE * N)];
        }
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            for (int i = 0; i < M; i++)
                va[i] = as[d][y * M + i];
            for (int j = 0; j < N; j++)
                vb[j] = bs[d][x * N + j];
            for (int i = 0; i < M; i++)
                for (int j = 0; j < N; j++)
                    acc[i][j] += va[i] * vb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            c[(size_t)(top + y * M + i) * n + left + x * N + j] = acc[i][j];
}

#define MULTIPLY(name, m, n, depth, ahead, bounds)                                                                      \
    extern "C" __global__ void bounds name(const float *a, const float *b, float *c, int size)                         \
    {                                                                                                                  \
        multiply<m, n, depth, ahead>(a, b, c, size);                                                                   \
    }
MULTIPLY(multiply4x4, 4, 4, 16, false, )
MULTIPLY(multiply8x8, 8, 8, 16, false, )
MULTIPLY(multiply8x8ahead, 8, 8, 16, true, )
MULTIPLY(multiply16x8, 16, 8, 16, false, )
MULTIPLY(multiply16x8ahead, 16, 8, 16, true, )
MULTIPLY(multiply8x8of256, 8, 8, 16, true, __launch_bounds__(256))
MULTIPLY(multiply16x8two, 16, 8, 16, true, __launch_bounds__(256, 2))

// The same without shared memory: operands come from the caches.
template <int M, int N> __global__ void outer(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * N, y = blockIdx.y * M;
    float acc[M][N] = {};
    for (int k = 0; k < n; k++)
#pragma unroll
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++)
                acc[i][j] += a[(size_t)k * n + y + i] * b[(size_t)k * n + x + j];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            c[(size_t)(y + i) * n + x + j] = acc[i][j];
}
template __global__ void outer<8, 8>(const float *, const float *, float *, int);
template __global__ void outer<16, 8>(const float *, const float *, float *, int);
