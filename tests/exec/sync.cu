#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

/* Every block sums its part in rounds: all threads meet at a cuda::barrier of block scope. */
extern "C" __global__ void with_barrier(const int *in, int *out)
{
    __shared__ int part[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    unsigned t = threadIdx.x, at = blockIdx.x * blockDim.x + t;
    if (t == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    part[t] = in[at];
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        bar.arrive_and_wait();
        if (t < half)
            part[t] += part[t + half];
    }
    auto token = bar.arrive();
    bar.wait(std::move(token));
    out[at] = part[0] + (int)t;
}

/* Two stages of copies ahead of their use. */
extern "C" __global__ void with_pipeline(const int *in, int *out, int steps)
{
    __shared__ int stage[2][64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int ahead = 0, use = 0; use < steps; use++) {
        for (; ahead < steps && ahead < use + 2; ahead++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[ahead % 2], in + ahead * 64, sizeof(int) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += stage[use % 2][(threadIdx.x * 5 + use) % 64];
        pipe.consumer_release();
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

/* The first warp produces, the second consumes. */
extern "C" __global__ void with_roles(const int *in, int *out, int steps)
{
    __shared__ int stage[2][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    int lane = threadIdx.x % 32, sum = 0;
    for (int s = 0; s < steps; s++)
        if (role == cuda::pipeline_role::producer) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[s % 2][lane], in + s * 32 + lane, sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum = sum * 3 + stage[s % 2][31 - lane];
            pipe.consumer_release();
        }
    if (threadIdx.x >= 32)
        out[lane] = sum;
}

/* Groups: tiles, coalesced threads, asynchronous copies of a group, reductions. */
extern "C" __global__ void with_groups(const int *in, int *out)
{
    extern __shared__ int room[];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    unsigned t = block.thread_rank();
    cg::memcpy_async(block, room, in, sizeof(int) * block.size());
    cg::wait(block);
    int v = room[(t + 1) % block.size()];
    int sum = cg::reduce(tile, v, cg::plus<int>());
    if (v % 3 == 0) {
        auto some = cg::coalesced_threads();
        sum += 1000 * (int)some.size();
        sum += some.shfl(v, 0);
    }
    int some = __syncthreads_count(v & 1);
    int every = __syncthreads_and(v >= 0), any = __syncthreads_or(v == 5);
    out[t] = sum + some * 7 + every * 100000 + any * 200000;
}

/* Divergent lanes that meet their warp again, and warps with named barriers. */
extern "C" __global__ void with_warps(const int *in, int *out)
{
    __shared__ volatile int room[64];
    unsigned t = threadIdx.x;
    int v = in[t];
    if (t & 1) {
        room[t] = v * 2;
        __syncwarp();
        v += room[t ^ 1];
    } else {
        room[t] = v * 3;
        __syncwarp();
        v += room[t ^ 1];
    }
    __syncthreads();
    out[t] = v;
    atomicAdd(&out[64], v);
    atomicMax(&out[65], v);
    atomicCAS((unsigned short *)&out[66], (unsigned short)0, (unsigned short)5);
}

/* A tile of two warps, which meet in the shared memory that the system reserves. */
extern "C" __global__ void with_wide_tiles(const int *in, int *out)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<64>(block);
    unsigned t = block.thread_rank();
    int v = in[t], sum = cg::reduce(tile, v, cg::plus<int>());
    tile.sync();
    out[t] = sum * 10 + tile.any(v == 13) + 2 * tile.all(v >= 0) + tile.shfl(v, 40);
}

/* A prefix sum over the whole grid in rounds of doubling distance: every round, all blocks meet. */
extern "C" __global__ void with_grid(const int *in, int *out, int *other)
{
    cg::grid_group grid = cg::this_grid();
    unsigned i = (unsigned)grid.thread_rank(), n = (unsigned)grid.size();
    int *from = out, *to = other;
    from[i] = in[i];
    grid.sync();
    for (unsigned d = 1; d < n; d *= 2) {
        to[i] = from[i] + (i >= d ? from[i - d] : 0);
        grid.sync();
        int *swap = from;
        from = to;
        to = swap;
    }
    int total = from[n - 1];
    grid.sync();
    if (grid.is_valid())
        out[i] = from[i] * 2 + total;
}

/* Assertions where the warp has split, in front of barriers of the whole block: nobody waits for lanes that fail. */
extern "C" __global__ void with_asserts(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t < 7) {
        assert(in[t] < 5000);
        s[t] += 5;
        if (in[t] > 6000)
            __trap();
    }
    __syncthreads();
    int v = s[(t + 1) % 64];
    __syncthreads();
    if (t & 1) {
        if (in[t] > 7000)
            __trap();
        s[t] = v * 3;
        __syncwarp(0xaaaaaaaa);
        v += s[t ^ 2];
    } else {
        assert(in[t] >= 0);
        s[t] = v * 5;
        __syncwarp(0x55555555);
        v += s[t ^ 4];
    }
    __syncthreads();
    out[t] = v + s[63 - t];
}
