// Tensor cores, half and bf16, asynchronous copies, mbarriers, cooperative groups, warp primitives, inline assembly.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace cg = cooperative_groups;

extern "C" __global__ void halves(__half2 *h, __nv_bfloat162 *b, __half *s)
{
    int i = threadIdx.x;
    h[i] = __hfma2(h[i], h[i + 1], __float2half2_rn(1.5f));
    s[i] = __hmul(s[i], hsqrt(s[i + 1]));
    if (__hgt(s[i], __float2half(2.0f)))
        s[i] = __hneg(s[i]);
#if __CUDA_ARCH__ >= 800
    b[i] = __hadd2(b[i], __hmax2(b[i + 1], b[i + 2]));
#endif
}

extern "C" __global__ void tensor(const half *a, const half *b, float *c)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.0f);
    for (int k = 0; k < 64; k += 16) {
        load_matrix_sync(fa, a + k, 64);
        load_matrix_sync(fb, b + k, 64);
        mma_sync(fc, fa, fb, fc);
    }
    store_matrix_sync(c, fc, 16, mem_row_major);
}

extern "C" __global__ void groups(int *data)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int v = data[block.thread_rank()];
    v += tile.shfl_down(v, 4);
    v += tile.shfl_xor(v, 2);
    cg::coalesced_group active = cg::coalesced_threads();
    if (tile.any(v > 3))
        v = active.shfl(v, 0);
    block.sync();
    data[block.thread_rank()] = v + (int)tile.ballot(v & 1);
}

extern "C" __global__ void assembly(unsigned *data, float *f)
{
    unsigned a = data[threadIdx.x], r, q;
    asm("{.reg .pred %%p; setp.ne.u32 %%p, %1, 0; // zero stays zero\n\t @%%p add.u32 %0, %1, 5; @!%%p mov.u32 %0, 0;}"
        : "=r"(r) : "r"(a));
    asm volatile("{\n\t.reg .b32 t<2>;\n\tmul.lo.u32 t0,%1,%1;\n\tadd.u32 t1 , t0 , 0x10 ;\n\tmov.b32 %0, t1;\n\t}"
                 : "=r"(q) : "r"(a) : "memory");
    asm volatile("/* a comment of the author */ red.global.add.u32 [%0], %1;" ::"l"(data), "r"(q) : "memory");
    asm("prmt.b32 %0, %1, %2, 0x3210;" : "=r"(r) : "r"(r), "r"(q));
    float g;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(g) : "f"(f[threadIdx.x]));
    f[threadIdx.x] = g;
    data[threadIdx.x] = r + __dp4a(q, r, a) + __byte_perm(q, r, 0x1234) + __funnelshift_l(q, r, 7);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void async_copy(const float4 *in, float4 *out)
{
    __shared__ float4 buffer[2][64];
    __shared__ unsigned long long barrier;
    unsigned to = (unsigned)__cvta_generic_to_shared(&buffer[0][threadIdx.x]);
    unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bar), "r"(64));
    __syncthreads();
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(bar) : "memory");
    unsigned done = 0;
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done) : "r"(bar), "l"(state) : "memory");
    out[threadIdx.x] = buffer[0][threadIdx.x ^ 1];
}
#endif

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster(float *data)
{
    __shared__ float mine[32];
    cg::cluster_group g = cg::this_cluster();
    mine[threadIdx.x] = data[threadIdx.x];
    g.sync();
    float *theirs = g.map_shared_rank(mine, g.block_rank() ^ 1);
    data[threadIdx.x + g.block_rank() * 32] = theirs[threadIdx.x];
    g.sync();
}
#endif

extern "C" __global__ void __launch_bounds__(128, 4) bounded(double *d, long long *l)
{
    int i = threadIdx.x;
    d[i] = fma(d[i], d[i + 1], __dsqrt_rn(d[i + 2])) / d[i + 3];
    l[i] = l[i] / l[i + 1] + l[i + 2] % 10 + __mul64hi(l[i], l[i + 3]);
    l[i + 4] = __double_as_longlong(d[i]) ^ __ffsll(l[i]) ^ clock64();
}
