// Cooperative groups: a grid that meets between the steps of a reduction, tiles of warps, and a labelled partition.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void reduce(int *values, int n, int *sum)
{
    cg::grid_group grid = cg::this_grid();
    for (int step = 1; step < n; step *= 2) {
        for (int i = grid.thread_rank() * 2 * step; i + step < n; i += grid.size() * 2 * step)
            values[i] += values[i + step];
        grid.sync();
    }
    if (grid.thread_rank() == 0)
        *sum = values[0];
}

__global__ void tiles(const int *values, int *sums)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int v = values[block.thread_rank()];
    int s = cg::reduce(tile, v, cg::plus<int>());
    if (tile.thread_rank() == 0)
        sums[block.thread_rank() / 8] = s;
}

int main()
{
    const int n = 1000, blocks = 6, threads = 64;
    int host[n], *values, *sum, got, sums[8];
    for (int i = 0; i < n; i++)
        host[i] = i % 17;
    int expected = 0;
    for (int v : host)
        expected += v;
    CHECK(cudaMalloc(&values, sizeof host));
    CHECK(cudaMalloc(&sum, 8 * sizeof(int)));
    CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    int cooperative = 0, resident = 0;
    CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, reduce, threads, 0));
    EXPECT(cooperative && resident >= 1);
    int count = n;
    void *arguments[] = {&values, &count, &sum};
    CHECK(cudaLaunchCooperativeKernel(reduce, dim3(blocks), dim3(threads), arguments, 0, 0));
    CHECK(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got == expected);
    CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    tiles<<<1, 64>>>(values, sum);
    CHECK(cudaMemcpy(sums, sum, sizeof sums, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 8; t++) {
        int s = 0;
        for (int i = 0; i < 8; i++)
            s += host[8 * t + i];
        EXPECT(sums[t] == s);
    }
    return verdict("gridsync");
}
