/* Breadth-first search on the host with a queue. */
#include "../tools/fills.h"

enum { NODES = 16384, STRIDE = 8, SOURCE = 3 };

int main(void)
{
    int32_t *degree = uniform_ints(NODES, 0, 8, 31);
    int32_t *edges = uniform_ints(NODES * STRIDE, 0, NODES, 32);
    int32_t *cost = allocate(NODES, sizeof *cost), *queue = allocate(NODES, sizeof *queue);
    uint8_t *visited = allocate(NODES, 1);
    for (int i = 0; i < NODES; i++)
        cost[i] = -1;
    int head = 0, tail = 0;
    queue[tail++] = SOURCE;
    cost[SOURCE] = 0;
    visited[SOURCE] = 1;
    while (head < tail) {
        int node = queue[head++];
        for (int i = 0; i < degree[node]; i++) {
            int neighbour = edges[node * STRIDE + i];
            if (visited[neighbour])
                continue;
            visited[neighbour] = 1;
            cost[neighbour] = cost[node] + 1;
            queue[tail++] = neighbour;
        }
    }
    uint32_t again = 0;
    expect("COST", cost, NODES * sizeof *cost);
    expect("VISITED", visited, NODES);
    expect("AGAIN", &again, sizeof again);
    return 0;
}
