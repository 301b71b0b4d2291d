// Levels of a graph from its first node: the host launches until a flag, which it copies back, remains unset.
#include "check.h"
#include <vector>

__global__ void visit(const int *first, const int *neighbours, int *level, int now, int nodes, int *more)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= nodes || level[n] != now)
        return;
    for (int i = first[n]; i < first[n + 1]; i++)
        if (level[neighbours[i]] < 0) {
            level[neighbours[i]] = now + 1;
            *more = 1;
        }
}

int main(int argc, char **argv)
{
    const int nodes = argc > 1 ? atoi(argv[1]) : 1500;
    std::vector<int> first(1), neighbours, level(nodes, -1), expected(nodes, -1), now(1, 0);
    unsigned seed = 1;
    for (int n = 0; n < nodes; n++) {
        for (int i = n % 5; i >= 0; i--)
            neighbours.push_back((seed = seed * 1664525u + 1013904223u) >> 8 % 20 ? (n + (seed >> 20) % 90) % nodes : n);
        first.push_back((int)neighbours.size());
    }
    level[0] = expected[0] = 0;
    for (int depth = 1; !now.empty(); depth++) {
        std::vector<int> next;
        for (int n : now)
            for (int i = first[n]; i < first[n + 1]; i++)
                if (expected[neighbours[i]] < 0) {
                    expected[neighbours[i]] = depth;
                    next.push_back(neighbours[i]);
                }
        now = next;
    }
    int *d_first, *d_neighbours, *d_level, *d_more, more = 1, depth = 0;
    CHECK(cudaMalloc(&d_first, first.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_neighbours, neighbours.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_level, nodes * sizeof(int)));
    CHECK(cudaMalloc(&d_more, sizeof(int)));
    CHECK(cudaMemcpy(d_first, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_neighbours, neighbours.data(), neighbours.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_level, level.data(), nodes * sizeof(int), cudaMemcpyHostToDevice));
    for (; more; depth++) {
        CHECK(cudaMemset(d_more, 0, sizeof(int)));
        visit<<<(nodes + 127) / 128, 128>>>(d_first, d_neighbours, d_level, depth, nodes, d_more);
        CHECK(cudaMemcpy(&more, d_more, sizeof(int), cudaMemcpyDeviceToHost));
    }
    CHECK(cudaMemcpy(level.data(), d_level, nodes * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(level == expected);
    EXPECT(depth > 5);
    return verdict("levels");
}
