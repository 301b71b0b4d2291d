// Products of matrices C = A * B on tensor cores, with f16, bf16, tf32, s8 and f64 factors, by wmma and by ldmatrix and
// mma.sync. A is M x K by rows, B K x N, C M x N; M and N are multiples of 32. A block of four warps makes 32 x 32
// elements of C, a warp 16 x 16 of them (bf16: 8 x 32; f64: four times 8 x 8).
//
// Inputs are small whole numbers in bytes, or doubles. They are widened while they are staged in shared memory, as weights
// of a quantized network are. So every sum of the f16, bf16 and tf32 products is exact, whatever the order and the
// internal precision of a machine's tensor cores; doubles are chains of fused multiply-adds in the order of k.
// Before sm_80, where there are no bf16, tf32 and f64 tensor cores, the same sums are made one by one.
// Evaluated by: CUDA SDK (cudaTensorCoreGemm, bf16TensorCoreGemm, tf32TensorCoreGemm, immaTensorCoreGemm,
// dmmaTensorCoreGemm)
// Memory: coalesced byte reads widened into padded tiles in shared memory, which warps read as fragments; s8 and f64 read
// their fragments from global memory

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

#define TILE 32
#define STEP 16
#define PAD 8

// 32 rows of STEP elements of a row-major matrix, widened, to shared memory.
template <typename T, typename Widen>
__device__ void stage_rows(T (*to)[STEP + PAD], const int8_t *from, int stride, Widen widen)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += blockDim.x)
        to[i / STEP][i % STEP] = widen(from[i / STEP * stride + i % STEP]);
}

// STEP rows of 32 elements.
template <typename T, typename Widen>
__device__ void stage_columns(T (*to)[TILE + PAD], const int8_t *from, int stride, Widen widen)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += blockDim.x)
        to[i / TILE][i % TILE] = widen(from[i / TILE * stride + i % TILE]);
}

// f16 with f32 sums; the epilogue works on the elements of the fragment: c = max(0, scale * sum).
extern "C" __global__ void gemm_f16(const int8_t *a, const int8_t *b, float *c, int n, int depth, float scale)
{
    __shared__ __align__(32) half tile_a[TILE][STEP + PAD];
    __shared__ __align__(32) half tile_b[STEP][TILE + PAD];
    int row = threadIdx.x / 64 * 16, column = threadIdx.x / 32 % 2 * 16;
    auto widen = [](int8_t v) { return __float2half_rn((float)v * 0.125f); };
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < depth; k += STEP) {
        stage_rows(tile_a, a + blockIdx.y * TILE * depth + k, depth, widen);
        stage_columns(tile_b, b + k * n + blockIdx.x * TILE, n, widen);
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
        wmma::load_matrix_sync(left, &tile_a[row][0], STEP + PAD);
        wmma::load_matrix_sync(right, &tile_b[0][column], TILE + PAD);
        wmma::mma_sync(sum, left, right, sum);
        __syncthreads();
    }
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = fmaxf(sum.x[i] * scale, 0.0f);
    wmma::store_matrix_sync(c + (blockIdx.y * TILE + row) * n + blockIdx.x * TILE + column, sum, n,
                            wmma::mem_row_major);
}

// bf16: 8 x 32 elements a warp; C by columns.
extern "C" __global__ void gemm_bf16(const int8_t *a, const int8_t *b, float *c, int m, int n, int depth)
{
    int warp = threadIdx.x / 32;
#if __CUDA_ARCH__ >= 800
    __shared__ __align__(32) __nv_bfloat16 tile_a[TILE][STEP + PAD];
    __shared__ __align__(32) __nv_bfloat16 tile_b[STEP][TILE + PAD];
    auto widen = [](int8_t v) { return __float2bfloat16_rn((float)v); };
    wmma::fragment<wmma::accumulator, 8, 32, 16, float> sum;
    wmma::fill_fragment(sum, 0.5f);
    for (int k = 0; k < depth; k += STEP) {
        stage_rows(tile_a, a + blockIdx.y * TILE * depth + k, depth, widen);
        stage_columns(tile_b, b + k * n + blockIdx.x * TILE, n, widen);
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 8, 32, 16, __nv_bfloat16, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 8, 32, 16, __nv_bfloat16, wmma::row_major> right;
        wmma::load_matrix_sync(left, &tile_a[warp * 8][0], STEP + PAD);
        wmma::load_matrix_sync(right, &tile_b[0][0], TILE + PAD);
        wmma::mma_sync(sum, left, right, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(c + blockIdx.x * TILE * m + blockIdx.y * TILE + warp * 8, sum, m, wmma::mem_col_major);
#else
    for (int i = threadIdx.x % 32; i < 8 * 32; i += 32) {
        int row = blockIdx.y * TILE + warp * 8 + i / 32, column = blockIdx.x * TILE + i % 32;
        float sum = 0.5f;
        for (int k = 0; k < depth; k++)
            sum += (float)a[row * depth + k] * (float)b[k * n + column];
        c[column * m + row] = sum;
    }
#endif
}

// tf32, two steps of k = 8 a tile; the sums start from what C holds.
extern "C" __global__ void gemm_tf32(const int8_t *a, const int8_t *b, float *c, int n, int depth)
{
    int row = threadIdx.x / 64 * 16, column = threadIdx.x / 32 % 2 * 16;
    float *place = c + (blockIdx.y * TILE + row) * n + blockIdx.x * TILE + column;
#if __CUDA_ARCH__ >= 800
    __shared__ __align__(32) float tile_a[TILE][STEP + PAD];
    __shared__ __align__(32) float tile_b[STEP][TILE + PAD];
    auto widen = [](int8_t v) { return wmma::__float_to_tf32((float)v); };
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::load_matrix_sync(sum, place, n, wmma::mem_row_major);
    for (int k = 0; k < depth; k += STEP) {
        stage_rows(tile_a, a + blockIdx.y * TILE * depth + k, depth, widen);
        stage_columns(tile_b, b + k * n + blockIdx.x * TILE, n, widen);
        __syncthreads();
        for (int half_step = 0; half_step < STEP; half_step += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
            wmma::load_matrix_sync(left, &tile_a[row][half_step], STEP + PAD);
            wmma::load_matrix_sync(right, &tile_b[half_step][column], TILE + PAD);
            wmma::mma_sync(sum, left, right, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(place, sum, n, wmma::mem_row_major);
#else
    for (int i = threadIdx.x % 32; i < 16 * 16; i += 32) {
        const int8_t *left = a + (blockIdx.y * TILE + row + i / 16) * depth;
        const int8_t *right = b + blockIdx.x * TILE + column + i % 16;
        float sum = place[i / 16 * n + i % 16];
        for (int k = 0; k < depth; k++)
            sum += (float)left[k] * (float)right[k * n];
        place[i / 16 * n + i % 16] = sum;
    }
#endif
}

// s8, straight from global memory; B by columns.
extern "C" __global__ void gemm_s8(const int8_t *a, const int8_t *b, int *c, int n, int depth)
{
    int row = blockIdx.y * TILE + threadIdx.x / 64 * 16, column = blockIdx.x * TILE + threadIdx.x / 32 % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int k = 0; k < depth; k += STEP) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right;
        wmma::load_matrix_sync(left, (const signed char *)a + row * depth + k, depth);
        wmma::load_matrix_sync(right, (const signed char *)b + column * depth + k, depth);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

// f64: a warp makes four tiles of 8 x 8.
extern "C" __global__ void gemm_f64(const double *a, const double *b, double *c, int n, int depth)
{
    int row = blockIdx.y * TILE + threadIdx.x / 64 * 16, column = blockIdx.x * TILE + threadIdx.x / 32 % 2 * 16;
    for (int tile = 0; tile < 4; tile++) {
        int top = row + tile / 2 * 8, left_edge = column + tile % 2 * 8;
#if __CUDA_ARCH__ >= 800
        wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
        wmma::fill_fragment(sum, 0.0);
        for (int k = 0; k < depth; k += 4) {
            wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> left;
            wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> right;
            wmma::load_matrix_sync(left, a + top * depth + k, depth);
            wmma::load_matrix_sync(right, b + k * n + left_edge, n);
            wmma::mma_sync(sum, left, right, sum);
        }
        wmma::store_matrix_sync(c + top * n + left_edge, sum, n, wmma::mem_row_major);
#else
        for (int i = threadIdx.x % 32; i < 64; i += 32) {
            double sum = 0.0;
            for (int k = 0; k < depth; k++)
                sum = fma(a[(top + i / 8) * depth + k], b[k * n + left_edge + i % 8], sum);
            c[(top + i / 8) * n + left_edge + i % 8] = sum;
        }
#endif
    }
}

// ---- the same f16 product with ldmatrix and mma.sync -----------------------------------------------------------------

__device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// 16 x 16 elements of A: the fragment of mma.m16n8k16.
__device__ void load_left(uint32_t left[4], const half *tile, int stride)
{
    int lane = threadIdx.x % 32;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(left[0]), "=r"(left[1]), "=r"(left[2]), "=r"(left[3])
                 : "r"(shared_address(tile + lane % 16 * stride + lane / 16 * 8))
                 : "memory");
}

// 16 x 8 elements of B, which lies by rows.
__device__ void load_right(uint32_t right[2], const half *tile, int stride)
{
    int lane = threadIdx.x % 16;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(right[0]), "=r"(right[1])
                 : "r"(shared_address(tile + lane * stride))
                 : "memory");
}

__device__ void multiply(float sum[4], const uint32_t left[4], const uint32_t right[2])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
#else
    for (int half_step = 0; half_step < 2; half_step++)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(left[2 * half_step]), "r"(left[2 * half_step + 1]), "r"(right[half_step]));
#endif
}

extern "C" __global__ void gemm_mma(const int8_t *a, const int8_t *b, float *c, int n, int depth)
{
    __shared__ __align__(32) half tile_a[TILE][STEP + PAD];
    __shared__ __align__(32) half tile_b[STEP][TILE + PAD];
    int row = threadIdx.x / 64 * 16, column = threadIdx.x / 32 % 2 * 16;
    auto widen = [](int8_t v) { return __float2half_rn((float)v); };
    float sum[2][4] = {};
    for (int k = 0; k < depth; k += STEP) {
        stage_rows(tile_a, a + blockIdx.y * TILE * depth + k, depth, widen);
        stage_columns(tile_b, b + k * n + blockIdx.x * TILE, n, widen);
        __syncthreads();
        uint32_t left[4], right[2];
        load_left(left, &tile_a[row][0], STEP + PAD);
        for (int side = 0; side < 2; side++) {
            load_right(right, &tile_b[0][column + side * 8], TILE + PAD);
            multiply(sum[side], left, right);
        }
        __syncthreads();
    }
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 8; i++) {
        int y = blockIdx.y * TILE + row + lane / 4 + i % 4 / 2 * 8;
        int x = blockIdx.x * TILE + column + i / 4 * 8 + lane % 4 * 2 + i % 2;
        c[y * n + x] = sum[i / 4][i % 4];
    }
}
