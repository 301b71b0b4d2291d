// Breadth-first search by levels, with masks for the frontier.
//   expand  the nodes of the frontier give their unvisited neighbours the next level's cost;
//   settle  the nodes reached become the next frontier, and tell the host that there is one.
// The two are launched in turn until `again` stays zero. Several threads may write the same value to one place.
// A node's neighbours are edges[start] to edges[start + degree - 1].
//
// Evaluated by: Rodinia (bfs).
// Memory: scattered byte and word accesses that follow the graph, little arithmetic.

struct Node {
    int start;
    int degree;
};

#define THREADS 128

extern "C" __global__ void __launch_bounds__(THREADS)
    start(unsigned char *frontier, unsigned char *visited, int *cost, struct Node *nodes, const int *degree, int stride,
          int source, int n)
{
    int id = blockIdx.x * THREADS + threadIdx.x;
    if (id < n) {
        nodes[id].start = id * stride;
        nodes[id].degree = degree[id];
        frontier[id] = id == source;
        visited[id] = id == source;
        cost[id] = id == source ? 0 : -1;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    expand(const struct Node *__restrict__ nodes, const int *__restrict__ edges, unsigned char *frontier,
           unsigned char *updating, const unsigned char *visited, int *cost, int n)
{
    int id = blockIdx.x * THREADS + threadIdx.x;
    if (id < n && frontier[id]) {
        frontier[id] = 0;
        int end = nodes[id].start + nodes[id].degree;
        for (int i = nodes[id].start; i < end; i++) {
            int neighbour = edges[i];
            if (!visited[neighbour]) {
                cost[neighbour] = cost[id] + 1;
                updating[neighbour] = 1;
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    settle(unsigned char *frontier, unsigned char *updating, unsigned char *visited, unsigned *again, int n)
{
    int id = blockIdx.x * THREADS + threadIdx.x;
    if (id < n && updating[id]) {
        frontier[id] = 1;
        visited[id] = 1;
        *again = 1;
        updating[id] = 0;
    }
}
