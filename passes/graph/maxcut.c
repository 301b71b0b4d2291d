/* Maximum cut, exact on small parts, by local search on others: see maxcut.h.
 *
 * Exact: branch and bound on the uncut weight. Vertices are assigned to sides one by one, each time the vertex with the
 * greatest weight to assigned ones. Lower bound: each unassigned vertex by itself adds at least the lighter of its two
 * options. A step is a vertex visited.
 */
#include "passes/graph/maxcut.h"

enum { N = HD_MAXCUT_VERTICES };

typedef struct cut_search {
    uint32_t n;
    uint64_t weight[N][N];  /* by position in the assignment order */
    uint64_t pull[N][N][2]; /* by depth, position: weight to each side of the positions before the depth */
    bool side[N], best[N];  /* by position */
    uint64_t least;         /* uncut weight of the best cut */
    uint64_t budget;
    bool out;
} cut_search;

static void branch(cut_search *s, uint32_t depth, uint64_t uncut)
{
    uint64_t bound = uncut;
    for (uint32_t v = depth; v < s->n; v++)
        bound += hd_min(s->pull[depth][v][0], s->pull[depth][v][1]);
    s->out = s->out || s->budget < s->n;
    if (s->out || bound >= s->least)
        return;
    s->budget -= s->n;
    if (depth == s->n) {
        s->least = uncut;
        memcpy(s->best, s->side, sizeof s->best);
        return;
    }
    bool first = s->pull[depth][depth][0] > s->pull[depth][depth][1]; /* the side that leaves less weight uncut */
    for (uint32_t i = 0; i < (depth ? 2u : 1u); i++) {
        bool side = first ^ (i == 1);
        s->side[depth] = side;
        for (uint32_t v = depth + 1; v < s->n && depth + 1 < s->n; v++) {
            s->pull[depth + 1][v][side] = s->pull[depth][v][side] + s->weight[depth][v];
            s->pull[depth + 1][v][!side] = s->pull[depth][v][!side];
        }
        branch(s, depth + 1, uncut + s->pull[depth][depth][side]);
    }
}

/* rank_of: by vertex */
static void order_vertices(const hd_odd_part *part, uint32_t *rank_of)
{
    uint64_t towards[N] = {0}, whole[N] = {0};
    for (uint32_t v = 0; v < part->vertices; v++) {
        rank_of[v] = HD_NONE;
        for (uint32_t i = part->first.items[v]; i < part->first.items[v + 1]; i++)
            whole[v] += hd_odd_part_weight(part, part->half.items[i] / 2);
    }
    for (uint32_t rank = 0; rank < part->vertices; rank++) {
        uint32_t next = HD_NONE;
        for (uint32_t v = 0; v < part->vertices; v++) {
            if (rank_of[v] != HD_NONE)
                continue;
            if (next == HD_NONE || towards[v] > towards[next] ||
                (towards[v] == towards[next] && whole[v] > whole[next]))
                next = v;
        }
        rank_of[next] = rank;
        for (uint32_t i = part->first.items[next]; i < part->first.items[next + 1]; i++)
            towards[hd_odd_part_other(part, part->half.items[i])] += hd_odd_part_weight(part, part->half.items[i] / 2);
    }
}

static uint64_t whole_weight(const hd_odd_part *part)
{
    uint64_t weight = 0;
    for (uint32_t e = 0; e < part->count; e++)
        weight += hd_odd_part_weight(part, e);
    return weight;
}

bool hd_maxcut_exact(const hd_odd_part *part, bool *side, uint64_t *budget)
{
    uint32_t rank_of[N];
    cut_search *s = hd_calloc(1, sizeof *s);
    s->n = part->vertices;
    s->least = whole_weight(part) - hd_maxcut_weight(part, side);
    s->budget = *budget;
    order_vertices(part, rank_of);
    for (uint32_t e = 0; e < part->count; e++) {
        uint32_t a = rank_of[part->ends.items[2 * e]], b = rank_of[part->ends.items[2 * e + 1]];
        s->weight[a][b] = s->weight[b][a] = hd_odd_part_weight(part, e);
    }
    for (uint32_t v = 0; v < part->vertices; v++)
        s->best[rank_of[v]] = side[v];
    branch(s, 0, 0);
    for (uint32_t v = 0; v < part->vertices; v++)
        side[v] = s->best[rank_of[v]];
    bool sure = !s->out;
    *budget = s->budget;
    free(s);
    return sure;
}

uint64_t hd_maxcut_weight(const hd_odd_part *part, const bool *side)
{
    uint64_t weight = 0;
    for (uint32_t e = 0; e < part->count; e++)
        weight += side[part->ends.items[2 * e]] != side[part->ends.items[2 * e + 1]] ? hd_odd_part_weight(part, e) : 0;
    return weight;
}

/* ---- local search ------------------------------------------------------------------------------------------------ */

typedef struct improving {
    const hd_affinity *graph;
    uint32_t *first, *incident; /* by word, plus one: its edges */
    bool *side;
    int64_t *gain; /* by word: increase of the cut if it changes sides */
} improving;

static void change(improving *x, uint32_t word)
{
    x->side[word] = !x->side[word];
    x->gain[word] = -x->gain[word];
    for (uint32_t i = x->first[word]; i < x->first[word + 1]; i++) {
        const hd_affinity_edge *e = &x->graph->edges[x->incident[i]];
        uint32_t other = e->a == word ? e->b : e->a;
        x->gain[other] += (x->side[word] == x->side[other] ? 2 : -2) * (int64_t)e->weight;
    }
}

static bool improve_round(improving *x)
{
    bool better = false;
    for (uint32_t w = 0; w < x->graph->words; w++)
        if (x->gain[w] > 0) {
            change(x, w);
            better = true;
        }
    for (uint32_t i = 0; i < x->graph->count; i++) {
        const hd_affinity_edge *e = &x->graph->edges[i];
        int64_t both = x->side[e->a] == x->side[e->b] ? -2 * (int64_t)e->weight : 2 * (int64_t)e->weight;
        if (x->gain[e->a] + x->gain[e->b] + both <= 0)
            continue;
        change(x, e->a);
        change(x, e->b);
        better = true;
    }
    return better;
}

void hd_maxcut_improve(const hd_affinity *graph, bool *side, hd_arena *arena)
{
    improving x = {.graph = graph, .side = side, .gain = HD_ARENA_ARRAY(arena, int64_t, graph->words)};
    x.first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)graph->words + 2);
    x.incident = HD_ARENA_ARRAY(arena, uint32_t, 2 * (size_t)graph->count);
    uint32_t *fill = x.first + 1;
    for (uint32_t i = 0; i < graph->count; i++) {
        const hd_affinity_edge *e = &graph->edges[i];
        int64_t gain = side[e->a] == side[e->b] ? (int64_t)e->weight : -(int64_t)e->weight;
        x.gain[e->a] += gain;
        x.gain[e->b] += gain;
        fill[e->a + 1]++;
        fill[e->b + 1]++;
    }
    for (uint32_t w = 0; w < graph->words; w++)
        fill[w + 1] += fill[w];
    for (uint32_t i = 0; i < graph->count; i++) {
        x.incident[fill[graph->edges[i].a]++] = i;
        x.incident[fill[graph->edges[i].b]++] = i;
    }
    for (uint32_t round = 0; round < HD_MAXCUT_ROUNDS && improve_round(&x); round++) {
    }
}
