// The longest match of every place of many queries with a text, by a suffix tree.
//   plant        one thread inserts the text's suffixes, the longest first (the suites do this on the host)
//   makeQueries  pieces of the text with some letters changed
//   match        one thread a place of a query goes down the tree until a letter differs: how far it came, and where
//                the text has the same letters first
// An edge to a node stands for the letters start to end - 1 of the text. Node 0 is the root; child 0 means none.
//
// Evaluated by: GPGPU-Sim's suite and Rodinia (MUM, mummergpu).
// Memory: pointers followed through the tree, bytes gathered from the text; nothing coalesced.

#define THREADS 128

struct Node {
    int start, end;
    int child[4];
};

static __device__ int new_leaf(struct Node *nodes, int &used, int start, int length)
{
    struct Node leaf = {start, length, {0, 0, 0, 0}};
    nodes[used] = leaf;
    return used++;
}

// Splits the edge to `node` after `letters` letters; the new node in the middle takes its place.
static __device__ int split_edge(struct Node *nodes, int &used, const unsigned char *text, int node, int letters)
{
    int middle = used++;
    struct Node upper = {nodes[node].start, nodes[node].start + letters, {0, 0, 0, 0}};
    upper.child[text[upper.end]] = node;
    nodes[node].start = upper.end;
    nodes[middle] = upper;
    return middle;
}

extern "C" __global__ void plant(const unsigned char *__restrict__ text, struct Node *nodes, int *node_count,
                                 int length)
{
    struct Node root = {0, 0, {0, 0, 0, 0}};
    int used = 1;
    nodes[0] = root;
    for (int suffix = 0; suffix < length; suffix++) {
        int parent = 0, at = suffix;
        while (at < length) {
            int branch = text[at];
            int node = nodes[parent].child[branch];
            if (node == 0) {
                nodes[parent].child[branch] = new_leaf(nodes, used, at, length);
                break;
            }
            int start = nodes[node].start, letters = nodes[node].end - start, same = 1;
            while (same < letters && at + same < length && text[start + same] == text[at + same])
                same++;
            at += same;
            if (same < letters && at < length) {
                node = split_edge(nodes, used, text, node, same);
                nodes[parent].child[branch] = node;
            }
            if (same < letters && at >= length)
                break;
            parent = node;
        }
    }
    *node_count = used;
}

// A query is LENGTH letters from its place in the text; one letter in 16, as the noise says, is another one.
extern "C" __global__ void __launch_bounds__(THREADS)
    makeQueries(const unsigned char *__restrict__ text, const int *__restrict__ places,
                const unsigned char *__restrict__ noise, unsigned char *__restrict__ queries, int length, int letters)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < letters) {
        int letter = text[places[i / length] + i % length];
        queries[i] = noise[i] < 16 ? (letter + 1) % 4 : letter;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    match(const unsigned char *__restrict__ text, const struct Node *__restrict__ nodes,
          const unsigned char *__restrict__ queries, unsigned char *__restrict__ lengths, int *__restrict__ found,
          int length, int letters)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= letters)
        return;
    int at = i, end = i - i % length + length;
    int node = 0, edge = 0, edge_end = 0;
    while (at < end) {
        if (edge == edge_end) {
            int next = nodes[node].child[queries[at]];
            if (next == 0)
                break;
            node = next;
            edge = nodes[node].start;
            edge_end = nodes[node].end;
        } else if (text[edge] != queries[at]) {
            break;
        }
        edge++;
        at++;
    }
    lengths[i] = at - i;
    found[i] = edge - (at - i);
}
