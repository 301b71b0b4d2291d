/* Odd cycles of a part of the affinity graph: counts them per edge, and breaks all of them where there are too many to
 * count.
 *
 * Counting. Each cycle is enumerated once, from its lowest-numbered vertex, in the direction in which the second vertex
 * is lower than the last. Their number may be exponential: each step of the search, and each edge of an odd cycle, is
 * charged to the budget.
 *
 * Approximation. Only triangles are counted. Repeatedly the edge with the least weight per triangle is removed, with
 * its triangles, until there is none (the paper's rule, if triangles were the only odd cycles). Then the remaining
 * edges are added from the heaviest down, and an edge that closes an odd cycle with those added is removed (the rule,
 * if each edge were on one odd cycle: it is the lightest one). With more than TRIANGLES per edge, only the second phase
 * runs.
 *
 * Complexity of the approximation: O((edges + triangles) log edges), with a bounded number of triangles.
 */
#include "passes/graph/oddparts.h"

enum { TRIANGLES = 128, TRIANGLE_STEPS = 512 };

/* ---- counting ---------------------------------------------------------------------------------------------------- */

typedef struct walk {
    const hd_odd_part *part;
    uint64_t *cycles;
    uint32_t *path, *next; /* by depth: the half-edge to it; the next half-edge to follow from it */
    bool *on_path;         /* by vertex */
    uint32_t depth, vertex, root;
} walk;

static void go_back(walk *w)
{
    w->on_path[w->vertex] = false;
    w->depth--;
    w->vertex = w->part->ends.items[w->path[w->depth]];
}

/* Counts the cycle of the path and the half-edge `last` back to the root. */
static uint64_t note_cycle(walk *w, uint32_t last)
{
    uint32_t edges = w->depth + 1;
    if (edges % 2 == 0 || hd_odd_part_other(w->part, w->path[0]) > w->vertex)
        return 0;
    for (uint32_t d = 0; d < w->depth; d++)
        w->cycles[w->path[d] / 2]++;
    w->cycles[last / 2]++;
    return edges;
}

static bool walk_from(walk *w, uint32_t root, uint64_t *budget)
{
    const hd_odd_part *part = w->part;
    w->root = w->vertex = root;
    w->depth = 0;
    w->next[0] = part->first.items[root];
    for (;;) {
        uint64_t steps = 1;
        if (w->next[w->depth] == part->first.items[w->vertex + 1]) {
            if (!w->depth)
                return true;
            go_back(w);
        } else {
            uint32_t half = part->half.items[w->next[w->depth]++], to = hd_odd_part_other(part, half);
            if (to == root && w->depth > 1) {
                steps += note_cycle(w, half);
            } else if (to > root && !w->on_path[to]) {
                w->path[w->depth++] = half;
                w->on_path[to] = true;
                w->vertex = to;
                w->next[w->depth] = part->first.items[to];
            }
        }
        if (*budget < steps) {
            *budget = 0;
            return false;
        }
        *budget -= steps;
    }
}

bool hd_odd_part_count_odd_cycles(const hd_odd_part *part, uint64_t *budget, uint64_t *cycles)
{
    uint64_t independent = (uint64_t)part->count + 1 - part->vertices;
    memset(cycles, 0, part->count * sizeof *cycles);
    if (independent * independent / 2 > *budget) /* a lower bound on the number of cycles */
        return false;
    walk w = {.part = part, .cycles = cycles};
    w.path = hd_malloc(((size_t)part->vertices + 1) * sizeof *w.path);
    w.next = hd_malloc(((size_t)part->vertices + 1) * sizeof *w.next);
    w.on_path = hd_calloc((size_t)part->vertices + 1, sizeof *w.on_path);
    bool good = true;
    for (uint32_t root = 0; root < part->vertices && good; root++)
        good = walk_from(&w, root, budget);
    free(w.path);
    free(w.next);
    free(w.on_path);
    return good;
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

typedef struct triangle {
    uint32_t edges[3];
} triangle;

typedef struct candidate { /* an edge, with its number of remaining triangles when it was put in the heap */
    uint64_t weight;
    uint32_t key_count, edge;
} candidate;

typedef struct breaking {
    const hd_odd_part *part;
    bool *gone;
    HD_ARRAY(triangle) triangles;
    uint32_t *of_first, *of; /* by edge, plus one: its triangles */
    uint32_t *left;          /* by edge: number of remaining triangles */
    bool *broken;            /* by triangle */
    candidate *heap;         /* the next edge to remove on top */
    uint32_t heap_count;
} breaking;

/* Edges are directed from the vertex with fewer neighbours to the one with more, which bounds the out-degree. */
static bool leads_out(const hd_odd_part *part, uint32_t from, uint32_t to)
{
    const uint32_t *first = part->first.items;
    uint32_t a = first[from + 1] - first[from], b = first[to + 1] - first[to];
    return a < b || (a == b && from < to);
}

/* Triangles whose lowest vertex in that order is `v`: pairs of its edges whose other ends are adjacent. `joint` holds,
 * by vertex, 1 + the edge from v. */
static bool find_at(breaking *x, uint32_t v, uint32_t *joint, uint64_t *steps)
{
    const hd_odd_part *part = x->part;
    const uint32_t *first = part->first.items, *half = part->half.items;
    for (uint32_t i = first[v]; i < first[v + 1]; i++)
        if (leads_out(part, v, hd_odd_part_other(part, half[i])))
            joint[hd_odd_part_other(part, half[i])] = half[i] / 2 + 1;
    for (uint32_t i = first[v]; i < first[v + 1]; i++) {
        uint32_t middle = hd_odd_part_other(part, half[i]);
        if (!leads_out(part, v, middle))
            continue;
        for (uint32_t k = first[middle]; k < first[middle + 1]; k++) {
            uint32_t end = hd_odd_part_other(part, half[k]);
            if (joint[end] && leads_out(part, middle, end))
                hd_array_push(&x->triangles, (triangle){{half[i] / 2, half[k] / 2, joint[end] - 1}});
        }
        *steps += first[middle + 1] - first[middle];
    }
    for (uint32_t i = first[v]; i < first[v + 1]; i++)
        joint[hd_odd_part_other(part, half[i])] = 0;
    return *steps <= (uint64_t)TRIANGLE_STEPS * part->count && x->triangles.count <= (uint64_t)TRIANGLES * part->count;
}

static bool find_triangles(breaking *x)
{
    uint32_t *joint = hd_calloc((size_t)x->part->vertices + 1, sizeof *joint);
    uint64_t steps = 0;
    bool good = true;
    for (uint32_t v = 0; v < x->part->vertices && good; v++)
        good = find_at(x, v, joint, &steps);
    free(joint);
    return good;
}

static void list_triangles(breaking *x)
{
    uint32_t edges = x->part->count;
    x->of_first = hd_calloc((size_t)edges + 2, sizeof *x->of_first);
    x->of = hd_malloc(((size_t)x->triangles.count * 3 + 1) * sizeof *x->of);
    x->left = hd_calloc((size_t)edges + 1, sizeof *x->left);
    x->broken = hd_calloc((size_t)x->triangles.count + 1, sizeof *x->broken);
    uint32_t *fill = x->of_first + 1;
    for (uint32_t t = 0; t < x->triangles.count; t++)
        for (uint32_t k = 0; k < 3; k++)
            x->left[x->triangles.items[t].edges[k]]++;
    for (uint32_t e = 0; e < edges; e++)
        fill[e + 1] = fill[e] + x->left[e];
    for (uint32_t t = 0; t < x->triangles.count; t++)
        for (uint32_t k = 0; k < 3; k++)
            x->of[fill[x->triangles.items[t].edges[k]]++] = t;
}

/* Whether edge a is removed before edge b: less weight per triangle. */
static bool goes_first(const candidate *a, const candidate *b)
{
    uint64_t left = a->weight * b->key_count, right = b->weight * a->key_count; /* below 2^36 * 2^27 */
    return left < right || (left == right && a->edge > b->edge);
}

static void sink(breaking *x, uint32_t at)
{
    candidate *heap = x->heap, moved = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < x->heap_count && goes_first(&heap[child + 1], &heap[child]))
            child++;
        if (child >= x->heap_count || !goes_first(&heap[child], &moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void drop_edge(breaking *x, uint32_t edge)
{
    x->gone[edge] = true;
    for (uint32_t i = x->of_first[edge]; i < x->of_first[edge + 1]; i++) {
        if (x->broken[x->of[i]])
            continue;
        x->broken[x->of[i]] = true;
        for (uint32_t k = 0; k < 3; k++)
            x->left[x->triangles.items[x->of[i]].edges[k]]--;
    }
}

/* An outdated edge on top sinks: weights per triangle only grow. */
static void break_triangles(breaking *x)
{
    x->heap = hd_malloc(((size_t)x->part->count + 1) * sizeof *x->heap);
    for (uint32_t e = 0; e < x->part->count; e++)
        if (x->left[e])
            x->heap[x->heap_count++] = (candidate){hd_odd_part_weight(x->part, e), x->left[e], e};
    for (uint32_t i = x->heap_count / 2; i-- > 0;)
        sink(x, i);
    while (x->heap_count) {
        candidate *top = x->heap;
        if (top->key_count == x->left[top->edge])
            drop_edge(x, top->edge);
        top->key_count = x->left[top->edge];
        if (!top->key_count)
            *top = x->heap[--x->heap_count];
        sink(x, 0);
    }
    free(x->heap);
}

/* ---- longer odd cycles ------------------------------------------------------------------------------------------- */

/* Union-find with parity: the representative of a vertex; *side: whether they are on different sides. */
static uint32_t find_side(uint32_t *link, bool *parity, uint32_t vertex, bool *side)
{
    uint32_t root = vertex;
    bool to_root = false;
    while (link[root] != root) {
        to_root ^= parity[root];
        root = link[root];
    }
    *side = to_root;
    while (link[vertex] != root && vertex != root) {
        uint32_t next = link[vertex];
        bool step = parity[vertex];
        link[vertex] = root;
        parity[vertex] = to_root;
        to_root ^= step;
        vertex = next;
    }
    return root;
}

static void break_longer(breaking *x)
{
    const hd_odd_part *part = x->part;
    hd_arena arena = {0};
    uint32_t *link = HD_ARENA_ARRAY(&arena, uint32_t, part->vertices);
    bool *parity = HD_ARENA_ARRAY(&arena, bool, part->vertices);
    hd_affinity_edge *edges = HD_ARENA_ARRAY(&arena, hd_affinity_edge, part->count);
    for (uint32_t v = 0; v < part->vertices; v++)
        link[v] = v;
    for (uint32_t e = 0; e < part->count; e++)
        edges[e] = part->graph->edges[part->edge.items[e]];
    uint32_t *order = hd_affinity_by_weight(edges, part->count, &arena);
    for (uint32_t i = part->count; i-- > 0;) {
        uint32_t e = order[i];
        bool a_side = false, b_side = false;
        if (x->gone[e])
            continue;
        uint32_t a = find_side(link, parity, part->ends.items[2 * e], &a_side),
                 b = find_side(link, parity, part->ends.items[2 * e + 1], &b_side);
        if (a == b) {
            x->gone[e] = a_side == b_side;
            continue;
        }
        link[b] = a;
        parity[b] = a_side == b_side;
    }
    hd_arena_free(&arena);
}

void hd_odd_part_break_odd_cycles(const hd_odd_part *part, bool *gone)
{
    breaking x = {.part = part, .gone = gone};
    memset(gone, 0, part->count * sizeof *gone);
    if (find_triangles(&x)) {
        list_triangles(&x);
        break_triangles(&x);
        free(x.of_first);
        free(x.of);
        free(x.left);
        free(x.broken);
    }
    hd_array_free(&x.triangles);
    break_longer(&x);
}

/* ---- a bound ----------------------------------------------------------------------------------------------------- */

uint64_t hd_odd_part_least_loss(const hd_odd_part *part)
{
    breaking x = {.part = part};
    uint64_t loss = 0, *left = hd_malloc(((size_t)part->count + 1) * sizeof *left);
    for (uint32_t e = 0; e < part->count; e++)
        left[e] = hd_odd_part_weight(part, e);
    find_triangles(&x); /* possibly only some of them */
    for (uint32_t t = 0; t < x.triangles.count; t++) {
        const uint32_t *edges = x.triangles.items[t].edges;
        uint64_t least = hd_min(left[edges[0]], left[edges[1]]);
        least = hd_min(least, left[edges[2]]);
        for (uint32_t k = 0; k < 3; k++)
            left[edges[k]] -= least;
        loss += least;
    }
    hd_array_free(&x.triangles);
    free(left);
    return loss;
}
