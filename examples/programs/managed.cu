// Managed memory: a linked list that the host builds and the device sums, and managed variables.
#include "check.h"

struct node {
    int value;
    node *next;
};

__managed__ int total = 5;
__managed__ node *head;
__device__ __managed__ double table[3] = {1.5, 2.5, 3.5};

__global__ void sum()
{
    for (const node *n = head; n; n = n->next)
        total += n->value;
    table[1] *= 2;
}

__global__ void scale(node *nodes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        nodes[i].value *= 3;
}

int main()
{
    const int n = 100;
    node *nodes;
    CHECK(cudaMallocManaged(&nodes, n * sizeof *nodes));
    for (int i = 0; i < n; i++)
        nodes[i] = {i, i + 1 < n ? &nodes[i + 1] : nullptr};
    head = nodes;
    EXPECT(total == 5 && table[2] == 3.5);
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPrefetchAsync(nodes, n * sizeof *nodes, device, 0, 0));
    CHECK(cudaMemAdvise(nodes, n * sizeof *nodes, cudaMemAdviseSetReadMostly, device));
    sum<<<1, 1>>>();
    scale<<<4, 32>>>(nodes, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(total == 5 + n * (n - 1) / 2);
    EXPECT(table[1] == 5.0);
    EXPECT(nodes[7].value == 21);
    total = 0;
    nodes[0].value = 1000;
    sum<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    EXPECT(total == 1000 + 3 * n * (n - 1) / 2);
    cudaPointerAttributes is;
    CHECK(cudaPointerGetAttributes(&is, &nodes[3]));
    EXPECT(is.type == cudaMemoryTypeManaged && is.devicePointer == &nodes[3] && is.hostPointer == &nodes[3]);
    CHECK(cudaFree(nodes));
    return verdict("managed");
}
