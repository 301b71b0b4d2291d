// Tiles of attention: online softmax with scores and outputs of a thread in registers, keys and values in shared memory.
#include <math.h>

// ROWS x COLS accumulators of the output in each thread; HEAD elements of a row of the query stay in registers.
template <int ROWS, int COLS, int HEAD, int TILE>
__device__ __forceinline__ void attend(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
                                       float *__restrict__ out, int length, float scale)
{
    __shared__ float keys[TILE][HEAD + 1], values[TILE][HEAD + 1];
    int lane = threadIdx.x % (HEAD / COLS), row = (blockIdx.x * blockDim.x + threadIdx.x) / (HEAD / COLS) * ROWS;
    float acc[ROWS][COLS], best[ROWS], sum[ROWS];
    for (int r = 0; r < ROWS; r++) {
        best[r] = -INFINITY;
        sum[r] = 0;
        for (int c = 0; c < COLS; c++)
            acc[r][c] = 0;
    }
    for (int base = 0; base < length; base += TILE) {
        for (int i = threadIdx.x; i < TILE * HEAD; i += blockDim.x) {
            keys[i / HEAD][i % HEAD] = k[(size_t)base * HEAD + i];
            values[i / HEAD][i % HEAD] = v[(size_t)base * HEAD + i];
        }
        __syncthreads();
        for (int t = 0; t < TILE; t++) {
            float score[ROWS];
            for (int r = 0; r < ROWS; r++)
                score[r] = 0;
#pragma unroll
            for (int d = 0; d < COLS; d++)
                for (int r = 0; r < ROWS; r++)
                    score[r] += q[(size_t)(row + r) * HEAD + lane * COLS + d] * keys[t][lane * COLS + d];
            for (int r = 0; r < ROWS; r++) {
                float next = fmaxf(best[r], score[r] * scale), old = __expf(best[r] - next), now = __expf(score[r] * scale - next);
                best[r] = next;
                sum[r] = sum[r] * old + now;
                for (int c = 0; c < COLS; c++)
                    acc[r][c] = acc[r][c] * old + now * values[t][lane * COLS + c];
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            out[(size_t)(row + r) * HEAD + lane * COLS + c] = acc[r][c] / sum[r];
}

#define ATTENTION(name, rows, cols, head, tile, bounds)                                                                 \
    extern "C" __global__ void bounds name(const float *q, const float *k, const float *v, float *out, int length, float scale) \
    {                                                                                                                  \
        attend<rows, cols, head, tile>(q, k, v, out, length, scale);                                                   \
    }
ATTENTION(attention16x8, 16, 8, 64, 32, )
ATTENTION(attention8x8, 8, 8, 64, 32, )
ATTENTION(attention4x8, 4, 8, 64, 32, )
ATTENTION(attention16x8of256, 16, 8, 64, 32, __launch_bounds__(256))
ATTENTION(attention16x8two, 16, 8, 64, 32, __launch_bounds__(256, 2))

// A row of the query, scaled, and of the output in each thread.
template <int HEAD, int TILE>
__global__ void attentionRow(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
                             float *__restrict__ out, int length, float scale)
{
    __shared__ float keys[TILE][HEAD], values[TILE][HEAD];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float query[HEAD], acc[HEAD], best = -INFINITY, sum = 0;
#pragma unroll
    for (int d = 0; d < HEAD; d++) {
        query[d] = q[(size_t)row * HEAD + d] * scale;
        acc[d] = 0;
    }
    for (int base = 0; base < length; base += TILE) {
        for (int i = threadIdx.x; i < TILE * HEAD; i += blockDim.x) {
            keys[i / HEAD][i % HEAD] = k[(size_t)base * HEAD + i];
            values[i / HEAD][i % HEAD] = v[(size_t)base * HEAD + i];
        }
        __syncthreads();
        for (int t = 0; t < TILE; t++) {
            float score = 0;
#pragma unroll
            for (int d = 0; d < HEAD; d++)
                score += query[d] * keys[t][d];
            float next = fmaxf(best, score), old = __expf(best - next), now = __expf(score - next);
            best = next;
            sum = sum * old + now;
#pragma unroll
            for (int d = 0; d < HEAD; d++)
                acc[d] = acc[d] * old + now * values[t][d];
        }
        __syncthreads();
    }
#pragma unroll
    for (int d = 0; d < HEAD; d++)
        out[(size_t)row * HEAD + d] = acc[d] / sum;
}
template __global__ void attentionRow<32, 32>(const float *, const float *, const float *, float *, int, float);
template __global__ void attentionRow<64, 32>(const float *, const float *, const float *, float *, int, float);
template __global__ void attentionRow<96, 32>(const float *, const float *, const float *, float *, int, float);
