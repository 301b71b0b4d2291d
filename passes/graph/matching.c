/* Maximum-weight matching in general graphs by the primal-dual method of J. Edmonds ("Maximum matching and a polyhedron
 * with 0,1-vertices", 1965), in the form surveyed by Z. Galil ("Efficient algorithms for finding maximum matching in
 * graphs", Computing Surveys 1986).
 *
 * Each vertex has a dual variable, and so has each blossom (an odd set of vertices, possibly nested) of two or more.
 * The slack of an edge is the sum of its ends' duals minus twice its weight; it is never negative, and zero on matched
 * edges and inside blossoms. A stage grows alternating trees of tight edges from all unmatched vertices: blossoms at
 * even distance are OUTER, at odd distance INNER. A tight edge between two OUTER blossoms of one tree forms a new
 * blossom from the cycle that it closes; between two trees it augments the matching, which ends the stage. If no edge
 * is tight, the duals change by the largest step that keeps all slacks non-negative: until an edge becomes tight, the
 * dual of an INNER blossom becomes zero (it is expanded), or that of a vertex does (the matching is optimal).
 *
 * A half-edge is an edge in one direction: 2 e leads from its first end to its second, 2 e + 1 back.
 *
 * Complexity: O(vertices) stages of O(vertices) steps, each of O(vertices) plus the edges scanned: O(n (n + m) n) in
 * the worst case, near O(n (n + m)) on affinity graphs; the budget bounds it. All values are integers.
 */
#include "passes/graph/matching.h"

typedef enum distance { FREE, OUTER, INNER } distance; /* label in an alternating tree, or none */

/* of a blossom: its parts in order, starting with the base; link k leads from part k to the next */
typedef struct circle {
    hd_u32_array parts, links;
} circle;

typedef struct matcher {
    uint32_t n, count;
    const hd_affinity_edge *edges;
    uint32_t *first, *half; /* by vertex, plus one: half-edges that leave it */
    uint32_t *mate;         /* by vertex: the matched half-edge that leaves it, or HD_NONE */
    uint32_t *top;          /* by vertex: its outermost blossom; the vertex itself if it is in none */
    /* by OUTER vertex: the half-edge of least slack to another OUTER one; by other vertices: from an OUTER one */
    uint32_t *best;
    int64_t *value; /* by blossom: dual variable; ids below n are vertices */
    /* by outermost blossom; by vertex in an INNER blossom: INNER if a tight half-edge leads there */
    uint8_t *label;
    uint32_t *entry;         /* by blossom: the half-edge that labelled it, HD_NONE at a root */
    uint32_t *parent, *base; /* by blossom */
    circle *circles;         /* by blossom */
    bool *marked;            /* by blossom: for the search of the lowest common ancestor */
    hd_u32_array spare;      /* unused blossom ids */
    hd_u32_array queue;      /* OUTER vertices to scan */
    hd_u32_array leaves, stack;
    uint64_t *budget;
    bool out;
    hd_arena arena;
} matcher;

static uint32_t tail_of(const matcher *m, uint32_t half)
{
    return half & 1 ? m->edges[half / 2].b : m->edges[half / 2].a;
}
static uint32_t head_of(const matcher *m, uint32_t half)
{
    return half & 1 ? m->edges[half / 2].a : m->edges[half / 2].b;
}

static int64_t slack_of(const matcher *m, uint32_t half)
{
    const hd_affinity_edge *e = &m->edges[half / 2];
    return m->value[e->a] + m->value[e->b] - 2 * (int64_t)e->weight;
}

static void spend(matcher *m, uint64_t steps)
{
    m->out = m->out || *m->budget < steps;
    *m->budget -= m->out ? *m->budget : steps;
}

/* Collects the vertices of a blossom in m->leaves. */
static void find_leaves(matcher *m, uint32_t blossom)
{
    hd_array_clear(&m->leaves);
    hd_array_clear(&m->stack);
    hd_array_push(&m->stack, blossom);
    while (m->stack.count) {
        uint32_t b = hd_array_pop(&m->stack);
        if (b < m->n)
            hd_array_push(&m->leaves, b);
        for (uint32_t i = 0; b >= m->n && i < m->circles[b].parts.count; i++)
            hd_array_push(&m->stack, m->circles[b].parts.items[i]);
    }
}

/* ---- alternating trees ------------------------------------------------------------------------------------------- */

static void queue_outer(matcher *m, uint32_t blossom)
{
    find_leaves(m, blossom);
    for (uint32_t i = 0; i < m->leaves.count; i++) {
        m->best[m->leaves.items[i]] = HD_NONE;
        hd_array_push(&m->queue, m->leaves.items[i]);
    }
}

static void make_outer(matcher *m, uint32_t vertex, uint32_t entry)
{
    uint32_t b = m->top[vertex];
    m->label[b] = m->label[vertex] = OUTER;
    m->entry[b] = m->entry[vertex] = entry;
    queue_outer(m, b);
}

/* Labels the target blossom of the half-edge INNER, and the blossom matched with its base OUTER. */
static void make_inner(matcher *m, uint32_t half)
{
    uint32_t vertex = head_of(m, half), b = m->top[vertex];
    m->label[b] = m->label[vertex] = INNER;
    m->entry[b] = m->entry[vertex] = half;
    uint32_t mate = m->mate[m->base[b]];
    make_outer(m, head_of(m, mate), mate);
}

/* The next OUTER blossom towards the root; HD_NONE at the root. */
static uint32_t above(const matcher *m, uint32_t outer)
{
    if (m->entry[outer] == HD_NONE)
        return HD_NONE;
    uint32_t inner = m->top[tail_of(m, m->entry[outer])];
    return m->top[tail_of(m, m->entry[inner])];
}

/* The lowest common ancestor of both ends of a half-edge between OUTER blossoms; HD_NONE: two trees. */
static uint32_t common_of(matcher *m, uint32_t half)
{
    uint32_t at[2] = {m->top[tail_of(m, half)], m->top[head_of(m, half)]}, found = HD_NONE;
    hd_array_clear(&m->stack);
    for (uint32_t i = 0; found == HD_NONE && (at[0] != HD_NONE || at[1] != HD_NONE); i ^= 1) {
        if (at[i] == HD_NONE)
            continue;
        if (m->marked[at[i]])
            found = at[i];
        m->marked[at[i]] = true;
        hd_array_push(&m->stack, at[i]);
        at[i] = above(m, at[i]);
    }
    for (uint32_t i = 0; i < m->stack.count; i++)
        m->marked[m->stack.items[i]] = false;
    return found;
}

/* ---- blossoms ---------------------------------------------------------------------------------------------------- */

/* The parts of the path from an end up to `top_part`, exclusive, and the half-edges that lead down to each. */
static void climb(const matcher *m, uint32_t vertex, uint32_t top_part, circle *path)
{
    for (uint32_t b = m->top[vertex]; b != top_part; b = m->top[tail_of(m, m->entry[b])]) {
        hd_array_push(&path->parts, b);
        hd_array_push(&path->links, m->entry[b]);
    }
}

static void make_circle(matcher *m, circle *c, uint32_t common, uint32_t half)
{
    circle left = {{0}, {0}}, right = {{0}, {0}};
    climb(m, tail_of(m, half), common, &left);
    climb(m, head_of(m, half), common, &right);
    hd_array_clear(&c->parts);
    hd_array_clear(&c->links);
    hd_array_push(&c->parts, common);
    for (uint32_t i = left.parts.count; i-- > 0;) {
        hd_array_push(&c->links, left.links.items[i]);
        hd_array_push(&c->parts, left.parts.items[i]);
    }
    hd_array_push(&c->links, half);
    for (uint32_t i = 0; i < right.parts.count; i++) {
        hd_array_push(&c->parts, right.parts.items[i]);
        hd_array_push(&c->links, right.links.items[i] ^ 1);
    }
    hd_array_free(&left.parts);
    hd_array_free(&left.links);
    hd_array_free(&right.parts);
    hd_array_free(&right.links);
}

static void shrink(matcher *m, uint32_t common, uint32_t half)
{
    uint32_t b = hd_array_pop(&m->spare);
    circle *c = &m->circles[b];
    make_circle(m, c, common, half);
    m->base[b] = m->base[common];
    m->label[b] = OUTER;
    m->entry[b] = m->entry[common];
    m->parent[b] = HD_NONE;
    m->value[b] = 0;
    for (uint32_t i = 0; i < c->parts.count; i++) {
        uint32_t part = c->parts.items[i];
        m->parent[part] = b;
        if (m->label[part] == INNER)
            queue_outer(m, part);
    }
    find_leaves(m, b);
    for (uint32_t i = 0; i < m->leaves.count; i++)
        m->top[m->leaves.items[i]] = b;
    spend(m, m->leaves.count);
}

static uint32_t part_with(const matcher *m, uint32_t blossom, uint32_t vertex)
{
    uint32_t b = vertex;
    while (m->parent[b] != blossom)
        b = m->parent[b];
    return b;
}

static uint32_t index_in_circle(const circle *c, uint32_t part)
{
    uint32_t i = 0;
    while (c->parts.items[i] != part)
        i++;
    return i;
}

static void rotate(hd_u32_array *list, uint32_t by)
{
    hd_u32_array turned = {0};
    for (uint32_t i = 0; i < list->count; i++)
        hd_array_push(&turned, list->items[(i + by) % list->count]);
    hd_array_free(list);
    *list = turned;
}

/* Makes a vertex of the blossom its base and changes the matching inside accordingly. */
static void rebase(matcher *m, uint32_t blossom, uint32_t vertex)
{
    if (blossom < m->n)
        return;
    circle *c = &m->circles[blossom];
    uint32_t part = part_with(m, blossom, vertex), at = index_in_circle(c, part), count = c->parts.count;
    rebase(m, part, vertex);
    /* Between the old base's part and the new one's, parts are rematched in pairs along the links. */
    uint32_t from = at % 2 ? at + 1 : 0, end = at % 2 ? count : at;
    for (uint32_t i = from; i < end; i += 2) {
        uint32_t link = c->links.items[i], tail = tail_of(m, link), head = head_of(m, link);
        rebase(m, c->parts.items[i], tail);
        rebase(m, c->parts.items[(i + 1) % count], head);
        m->mate[tail] = link;
        m->mate[head] = link ^ 1;
    }
    rotate(&c->parts, at);
    rotate(&c->links, at);
    m->base[blossom] = m->base[part];
    spend(m, count);
}

/* Labels the parts of an INNER blossom when it is expanded: the path from the tree's entry to the base stays in the
 * tree. */
static void relabel_parts(matcher *m, uint32_t blossom)
{
    const circle *c = &m->circles[blossom];
    uint32_t entry = m->entry[blossom], count = c->parts.count;
    uint32_t at = index_in_circle(c, m->top[head_of(m, entry)]), on_path = at;
    bool forward = at % 2;
    while (at % count) {
        make_inner(m, entry); /* also labels its mate, the next part, OUTER */
        entry = forward ? c->links.items[at + 1] : c->links.items[at - 2] ^ 1;
        at = forward ? at + 2 : at - 2;
        if (at == count)
            at = 0;
    }
    uint32_t last = head_of(m, entry), top = m->top[last];
    m->label[top] = m->label[last] = INNER;
    m->entry[top] = m->entry[last] = entry;
    for (uint32_t i = forward ? 1 : on_path + 1; i < (forward ? on_path : count); i++) {
        uint32_t reached = HD_NONE;
        if (m->label[c->parts.items[i]] == OUTER) /* labelled through its mate */
            continue;
        find_leaves(m, c->parts.items[i]);
        for (uint32_t k = 0; k < m->leaves.count && reached == HD_NONE; k++)
            reached = m->label[m->leaves.items[k]] == INNER ? m->leaves.items[k] : HD_NONE;
        m->label[c->parts.items[i]] = FREE;
        if (reached != HD_NONE)
            make_inner(m, m->entry[reached]);
    }
}

static void fall_apart(matcher *m, uint32_t blossom, bool stage_ends)
{
    circle *c = &m->circles[blossom];
    for (uint32_t i = 0; i < c->parts.count; i++) {
        uint32_t part = c->parts.items[i];
        m->parent[part] = HD_NONE;
        find_leaves(m, part);
        for (uint32_t k = 0; k < m->leaves.count; k++)
            m->top[m->leaves.items[k]] = part;
        spend(m, m->leaves.count);
        if (stage_ends && part >= m->n && m->value[part] == 0)
            fall_apart(m, part, true);
    }
    if (!stage_ends)
        relabel_parts(m, blossom);
    m->base[blossom] = HD_NONE;
    hd_array_clear(&c->parts);
    hd_array_clear(&c->links);
    hd_array_push(&m->spare, blossom);
}

/* ---- a stage ----------------------------------------------------------------------------------------------------- */

/* Augments along the tree from the tail of a half-edge, which will be matched, to the root. */
static void match_up(matcher *m, uint32_t half)
{
    for (;;) {
        uint32_t vertex = tail_of(m, half), outer = m->top[vertex];
        rebase(m, outer, vertex);
        m->mate[vertex] = half;
        if (m->entry[outer] == HD_NONE)
            return;
        uint32_t inner = m->top[tail_of(m, m->entry[outer])], entry = m->entry[inner], entered = head_of(m, entry);
        rebase(m, inner, entered);
        m->mate[entered] = entry ^ 1;
        half = entry;
    }
}

static void keep_best(matcher *m, uint32_t vertex, uint32_t half)
{
    if (m->best[vertex] == HD_NONE || slack_of(m, half) < slack_of(m, m->best[vertex]))
        m->best[vertex] = half;
}

/* Scans all edges of an OUTER vertex; true if the matching was augmented. */
static bool scan(matcher *m, uint32_t vertex)
{
    spend(m, 1 + m->first[vertex + 1] - m->first[vertex]);
    for (uint32_t i = m->first[vertex]; i < m->first[vertex + 1]; i++) {
        uint32_t half = m->half[i], to = head_of(m, half), top = m->top[to];
        if (top == m->top[vertex])
            continue;
        if (slack_of(m, half) > 0) {
            if (m->label[top] == OUTER)
                keep_best(m, vertex, half);
            else if (m->label[to] == FREE)
                keep_best(m, to, half);
        } else if (m->label[top] == FREE) {
            make_inner(m, half);
        } else if (m->label[top] == OUTER) {
            uint32_t common = common_of(m, half);
            if (common == HD_NONE) {
                match_up(m, half);
                match_up(m, half ^ 1);
                return true;
            }
            shrink(m, common, half);
        } else if (m->label[to] == FREE) {
            m->label[to] = INNER;
            m->entry[to] = half;
        }
    }
    return false;
}

/* What bounds the next change of the dual variables. */
typedef enum event { VERTEX_ZERO, TIGHT, BLOSSOM_ZERO } event;
typedef struct change {
    event event;
    int64_t step;
    uint32_t what; /* the half-edge, or the blossom */
} change;

/* Recomputes the least slack of an OUTER vertex, ignoring edges inside its own blossom. */
static void refresh_best(matcher *m, uint32_t vertex)
{
    if (m->best[vertex] == HD_NONE || m->top[head_of(m, m->best[vertex])] != m->top[vertex])
        return;
    m->best[vertex] = HD_NONE;
    for (uint32_t i = m->first[vertex]; i < m->first[vertex + 1]; i++) {
        uint32_t top = m->top[head_of(m, m->half[i])];
        if (top != m->top[vertex] && m->label[top] == OUTER)
            keep_best(m, vertex, m->half[i]);
    }
    spend(m, m->first[vertex + 1] - m->first[vertex]);
}

static change next_change(matcher *m)
{
    change c = {VERTEX_ZERO, INT64_MAX, HD_NONE};
    for (uint32_t v = 0; v < m->n; v++)
        c.step = hd_min(c.step, m->value[v]);
    for (uint32_t v = 0; v < m->n; v++) {
        uint8_t label = m->label[m->top[v]];
        if (label == INNER)
            continue;
        if (label == OUTER)
            refresh_best(m, v);
        if (m->best[v] == HD_NONE)
            continue;
        int64_t step = label == OUTER ? slack_of(m, m->best[v]) / 2 : slack_of(m, m->best[v]);
        if (step < c.step)
            c = (change){TIGHT, step, m->best[v]};
    }
    for (uint32_t b = m->n; b < 2 * m->n; b++)
        if (m->base[b] != HD_NONE && m->parent[b] == HD_NONE && m->label[b] == INNER && m->value[b] < c.step)
            c = (change){BLOSSOM_ZERO, m->value[b], b};
    return c;
}

static void apply_change(matcher *m, change c)
{
    for (uint32_t v = 0; v < m->n; v++) {
        uint8_t label = m->label[m->top[v]];
        m->value[v] += label == OUTER ? -c.step : label == INNER ? c.step : 0;
    }
    for (uint32_t b = m->n; b < 2 * m->n; b++)
        if (m->base[b] != HD_NONE && m->parent[b] == HD_NONE)
            m->value[b] += m->label[b] == OUTER ? c.step : m->label[b] == INNER ? -c.step : 0;
    spend(m, 4ull * m->n);
    if (c.event == TIGHT)
        hd_array_push(&m->queue, tail_of(m, c.what));
    else if (c.event == BLOSSOM_ZERO)
        fall_apart(m, c.what, false);
}

/* true if the matching was augmented. */
static bool run_stage(matcher *m)
{
    memset(m->label, FREE, 2 * (size_t)m->n);
    memset(m->best, 0xff, m->n * sizeof *m->best);
    hd_array_clear(&m->queue);
    for (uint32_t v = 0; v < m->n; v++)
        if (m->mate[v] == HD_NONE)
            make_outer(m, v, HD_NONE);
    while (!m->out) {
        while (m->queue.count && !m->out)
            if (scan(m, hd_array_pop(&m->queue)))
                return true;
        change c = next_change(m);
        if (m->out || c.event == VERTEX_ZERO)
            return false;
        apply_change(m, c);
    }
    return false;
}

static void end_stage(matcher *m)
{
    for (uint32_t b = m->n; b < 2 * m->n; b++)
        if (m->base[b] != HD_NONE && m->parent[b] == HD_NONE && m->label[b] == OUTER && m->value[b] == 0)
            fall_apart(m, b, true);
}

/* ---- the graph --------------------------------------------------------------------------------------------------- */

static void index_edges(matcher *m)
{
    m->first = HD_ARENA_ARRAY(&m->arena, uint32_t, (size_t)m->n + 2);
    m->half = HD_ARENA_ARRAY(&m->arena, uint32_t, 2 * (size_t)m->count);
    uint32_t *fill = m->first + 1;
    for (uint32_t h = 0; h < 2 * m->count; h++)
        fill[tail_of(m, h) + 1]++;
    for (uint32_t v = 0; v < m->n; v++)
        fill[v + 1] += fill[v];
    for (uint32_t h = 0; h < 2 * m->count; h++)
        m->half[fill[tail_of(m, h)]++] = h;
}

static void init_matcher(matcher *m)
{
    uint32_t ids = 2 * m->n;
    int64_t heaviest = 0;
    m->mate = HD_ARENA_ARRAY(&m->arena, uint32_t, m->n);
    m->top = HD_ARENA_ARRAY(&m->arena, uint32_t, m->n);
    m->best = HD_ARENA_ARRAY(&m->arena, uint32_t, m->n);
    m->value = HD_ARENA_ARRAY(&m->arena, int64_t, ids);
    m->label = HD_ARENA_ARRAY(&m->arena, uint8_t, ids);
    m->entry = HD_ARENA_ARRAY(&m->arena, uint32_t, ids);
    m->parent = HD_ARENA_ARRAY(&m->arena, uint32_t, ids);
    m->base = HD_ARENA_ARRAY(&m->arena, uint32_t, ids);
    m->circles = HD_ARENA_ARRAY(&m->arena, circle, ids);
    m->marked = HD_ARENA_ARRAY(&m->arena, bool, ids);
    for (uint32_t e = 0; e < m->count; e++)
        heaviest = hd_max(heaviest, (int64_t)m->edges[e].weight);
    for (uint32_t b = ids; b-- > 0;) {
        m->parent[b] = HD_NONE;
        m->base[b] = b < m->n ? b : HD_NONE;
        if (b >= m->n) {
            hd_array_push(&m->spare, b);
            continue;
        }
        m->mate[b] = HD_NONE;
        m->top[b] = b;
        m->value[b] = heaviest;
    }
    index_edges(m);
}

static void free_matcher(matcher *m)
{
    for (uint32_t b = 0; b < 2 * m->n; b++) {
        hd_array_free(&m->circles[b].parts);
        hd_array_free(&m->circles[b].links);
    }
    hd_array_free(&m->spare);
    hd_array_free(&m->queue);
    hd_array_free(&m->leaves);
    hd_array_free(&m->stack);
    hd_arena_free(&m->arena);
}

bool hd_matching_find(uint32_t vertices, const hd_affinity_edge *edges, uint32_t count, uint64_t *budget, bool *chosen)
{
    matcher m = {.n = vertices, .count = count, .edges = edges, .budget = budget};
    init_matcher(&m);
    while (run_stage(&m))
        end_stage(&m);
    for (uint32_t e = 0; e < count && !m.out; e++)
        chosen[e] = m.mate[edges[e].a] == 2 * e;
    free_matcher(&m);
    return !m.out;
}
