// Particles as structs: forces by tiles of cooperative groups, a struct by value, float4 loads, and the total by a warp's reduction.
#include "check.h"
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>
namespace cg = cooperative_groups;

struct alignas(16) Particle {
    float x, y, z, mass;
};
struct Settings {
    float softening, step;
    int count;
    double scale;
};

__constant__ float bounds[2];

__global__ void accelerate(const Particle *all, float3 *speed, Settings s)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / tile.size();
    if (i >= s.count)
        return;
    float4 own = reinterpret_cast<const float4 *>(all)[i];
    float3 sum = {0, 0, 0};
    for (int j = tile.thread_rank(); j < s.count; j += tile.size()) {
        float4 other = reinterpret_cast<const float4 *>(all)[j];
        float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
        float near = rsqrtf(dx * dx + dy * dy + dz * dz + s.softening), force = other.w * near * near * near;
        sum.x += dx * force, sum.y += dy * force, sum.z += dz * force;
    }
    sum.x = cg::reduce(tile, sum.x, cg::plus<float>());
    sum.y = cg::reduce(tile, sum.y, cg::plus<float>());
    sum.z = cg::reduce(tile, sum.z, cg::plus<float>());
    if (tile.thread_rank() == 0)
        speed[i] = {fminf(fmaxf(sum.x * s.step, bounds[0]), bounds[1]), sum.y * s.step, sum.z * s.step};
}

__global__ void momentum(const Particle *all, const float3 *speed, Settings s, double *total)
{
    double own = 0;
    for (int i = threadIdx.x; i < s.count; i += blockDim.x)
        own += s.scale * all[i].mass * speed[i].y;
    for (int offset = 16; offset; offset /= 2)
        own += __shfl_down_sync(~0u, own, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, own);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 120;
    std::vector<Particle> all(n);
    std::vector<float3> speed(n);
    for (int i = 0; i < n; i++)
        all[i] = {i % 7 * 0.5f, i % 11 * 0.25f, i % 13 * 0.125f, 1 + i % 3 * 0.5f};
    Settings s = {0.25f, 0.001f, n, 1000};
    float limits[2] = {-0.05f, 0.05f};
    Particle *d_all;
    float3 *d_speed;
    double *d_total, total = 0, expected = 0;
    CHECK(cudaMalloc(&d_all, n * sizeof(Particle)));
    CHECK(cudaMalloc(&d_speed, n * sizeof(float3)));
    CHECK(cudaMallocManaged(&d_total, sizeof(double)));
    *d_total = 0;
    CHECK(cudaMemcpyToSymbol(bounds, limits, sizeof limits));
    CHECK(cudaMemcpy(d_all, all.data(), n * sizeof(Particle), cudaMemcpyHostToDevice));
    accelerate<<<(8 * n + 127) / 128, 128>>>(d_all, d_speed, s);
    momentum<<<1, 64>>>(d_all, d_speed, s, d_total);
    CHECK(cudaDeviceSynchronize());
    total = *d_total;
    CHECK(cudaMemcpy(speed.data(), d_speed, n * sizeof(float3), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        double sum[3] = {0, 0, 0};
        for (int j = 0; j < n; j++) {
            double dx = all[j].x - all[i].x, dy = all[j].y - all[i].y, dz = all[j].z - all[i].z;
            double force = all[j].mass / pow(dx * dx + dy * dy + dz * dz + s.softening, 1.5);
            sum[0] += dx * force, sum[1] += dy * force, sum[2] += dz * force;
        }
        EXPECT(fabs(fmin(fmax(sum[0] * s.step, limits[0]), limits[1]) - speed[i].x) < 1e-5);
        EXPECT(fabs(sum[1] * s.step - speed[i].y) < 1e-5 && fabs(sum[2] * s.step - speed[i].z) < 1e-5);
        expected += s.scale * all[i].mass * speed[i].y;
    }
    EXPECT(fabs(total - expected) < 1e-9 * n * n);
    return verdict("particles");
}
