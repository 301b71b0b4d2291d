// Search for keys and for ranges of keys in a B+ tree. One CTA takes a query, one thread a key of a node; on every
// level the thread whose key interval holds the query tells the CTA the child.
//   makeLeaves, makeLevel   lay out the tree of sorted records, one node a CTA (Rodinia does this on the host)
//   findK                   the value of one key, or -1
//   findRange               the index of the first record of a range of keys, and how many there are
// A node uses FANOUT of its ORDER slots, as after splits; keys[0] is the least key of its subtree (that of the
// leftmost node on each level is the least integer), and unused slots hold the greatest integer.
//
// Evaluated by: Rodinia (b+tree).
// Memory: coalesced reads of a node by its CTA, shared words by which one thread tells the others.

#include <limits.h>

#define ORDER 64
#define FANOUT 40

struct Node {
    int keys[ORDER + 1];
    int children[ORDER + 1];
    int used;
    int leaf;
};

struct Record {
    int value;
};

// Records first to last - 1 of the sorted keys belong to this leaf.
extern "C" __global__ void makeLeaves(const int *__restrict__ sorted, struct Node *nodes, int records)
{
    struct Node *node = &nodes[blockIdx.x];
    int first = blockIdx.x * FANOUT;
    for (int slot = threadIdx.x; slot <= ORDER; slot += blockDim.x) {
        bool used = slot < FANOUT && first + slot < records;
        node->keys[slot] = used ? sorted[first + slot] : INT_MAX;
        node->children[slot] = used ? first + slot : -1;
    }
    if (threadIdx.x == 0) {
        node->used = min(FANOUT, records - first);
        node->leaf = 1;
    }
}

// The node's children are nodes from `below` on, of which there are `count`; this level starts at `level`.
extern "C" __global__ void makeLevel(struct Node *nodes, int level, int below, int count)
{
    struct Node *node = &nodes[level + blockIdx.x];
    int first = blockIdx.x * FANOUT;
    for (int slot = threadIdx.x; slot <= ORDER; slot += blockDim.x) {
        bool used = slot < FANOUT && first + slot < count;
        bool leftmost = blockIdx.x == 0 && slot == 0;
        node->keys[slot] = leftmost ? INT_MIN : used ? nodes[below + first + slot].keys[0] : INT_MAX;
        node->children[slot] = used ? below + first + slot : -1;
    }
    if (threadIdx.x == 0) {
        node->used = min(FANOUT, count - first);
        node->leaf = 0;
    }
}

extern "C" __global__ void __launch_bounds__(ORDER)
    findK(const struct Node *__restrict__ nodes, const struct Record *__restrict__ records,
          const int *__restrict__ queries, int *__restrict__ answers, int root, int height)
{
    __shared__ int current;
    __shared__ int found;

    int t = threadIdx.x;
    int key = queries[blockIdx.x];
    if (t == 0) {
        current = root;
        found = -1;
    }
    __syncthreads();
    for (int level = 0; level < height; level++) {
        const struct Node *node = &nodes[current];
        bool here = node->keys[t] <= key && key < node->keys[t + 1];
        int child = here ? node->children[t] : 0;
        __syncthreads();
        if (here)
            current = child;
        __syncthreads();
    }
    if (nodes[current].keys[t] == key)
        found = records[nodes[current].children[t]].value;
    __syncthreads();
    if (t == 0)
        answers[blockIdx.x] = found;
}

// Both ends go down the tree together. A query is an interval of keys with both ends included.
extern "C" __global__ void __launch_bounds__(ORDER)
    findRange(const struct Node *__restrict__ nodes, const int *__restrict__ lows, const int *__restrict__ highs,
              int *__restrict__ first, int *__restrict__ length, int root, int height)
{
    __shared__ int node_low, node_high;
    __shared__ int record_low, record_high;

    int t = threadIdx.x;
    int low = lows[blockIdx.x], high = highs[blockIdx.x];
    if (t == 0) {
        node_low = node_high = root;
        record_low = record_high = -1;
    }
    __syncthreads();
    for (int level = 0; level < height; level++) {
        const struct Node *a = &nodes[node_low];
        const struct Node *b = &nodes[node_high];
        bool low_here = a->keys[t] <= low && low < a->keys[t + 1];
        bool high_here = b->keys[t] <= high && high < b->keys[t + 1];
        int low_child = low_here ? a->children[t] : 0;
        int high_child = high_here ? b->children[t] : 0;
        __syncthreads();
        if (low_here)
            node_low = low_child;
        if (high_here)
            node_high = high_child;
        __syncthreads();
    }
    // The last record whose key is below the range, and the last whose key is not above it.
    const struct Node *a = &nodes[node_low];
    const struct Node *b = &nodes[node_high];
    if (t < a->used && a->keys[t] < low && (t + 1 == a->used || a->keys[t + 1] >= low))
        record_low = a->children[t];
    if (t == 0 && a->keys[0] >= low)
        record_low = a->children[0] - 1;
    if (t < b->used && b->keys[t] <= high && (t + 1 == b->used || b->keys[t + 1] > high))
        record_high = b->children[t];
    __syncthreads();
    if (t == 0) {
        first[blockIdx.x] = record_low + 1;
        length[blockIdx.x] = record_high - record_low;
    }
}
