/* Biconnected components with odd cycles: see oddparts.h. The search is that of Hopcroft and Tarjan ("Efficient
 * algorithms for graph manipulation", CACM 1973), without recursion. */
#include "passes/graph/oddparts.h"

#include "base/compare.h"

void hd_odd_parts_push(hd_odd_parts *parts, const uint32_t *edges, uint32_t count)
{
    hd_array_push(&parts->first, parts->edges.count);
    memcpy(hd_array_extend(&parts->edges, count), edges, count * sizeof *edges);
}

void hd_odd_parts_free(hd_odd_parts *parts)
{
    hd_array_free(&parts->edges);
    hd_array_free(&parts->first);
}

void hd_odd_part_init(hd_odd_part *part, const hd_affinity *graph, hd_arena *arena)
{
    *part = (hd_odd_part){.graph = graph};
    part->vertex = HD_ARENA_ARRAY(arena, uint32_t, graph->words);
    part->stamp = HD_ARENA_ARRAY(arena, uint32_t, graph->words);
}

void hd_odd_part_free(hd_odd_part *part)
{
    hd_array_free(&part->word);
    hd_array_free(&part->edge);
    hd_array_free(&part->ends);
    hd_array_free(&part->first);
    hd_array_free(&part->half);
}

static uint32_t vertex_of(hd_odd_part *part, uint32_t word)
{
    if (part->stamp[word] != part->stamps) {
        part->stamp[word] = part->stamps;
        part->vertex[word] = part->word.count;
        hd_array_push(&part->word, word);
    }
    return part->vertex[word];
}

void hd_odd_part_make(hd_odd_part *part, const uint32_t *edges, uint32_t count)
{
    part->stamps++;
    part->count = count;
    hd_array_clear(&part->word);
    hd_array_clear(&part->edge);
    hd_array_clear(&part->ends);
    for (uint32_t e = 0; e < count; e++) {
        hd_array_push(&part->edge, edges[e]);
        hd_array_push(&part->ends, vertex_of(part, part->graph->edges[edges[e]].a));
        hd_array_push(&part->ends, vertex_of(part, part->graph->edges[edges[e]].b));
    }
    part->vertices = part->word.count;
    hd_array_clear(&part->first);
    hd_array_clear(&part->half);
    memset(hd_array_extend(&part->first, part->vertices + 2), 0, ((size_t)part->vertices + 2) * sizeof(uint32_t));
    (void)hd_array_extend(&part->half, 2 * count);
    /* first[v] is the start of v's range while filling, and its end afterwards */
    uint32_t *first = part->first.items + 1;
    for (uint32_t h = 0; h < 2 * count; h++)
        first[part->ends.items[h] + 1]++;
    for (uint32_t v = 0; v < part->vertices; v++)
        first[v + 1] += first[v];
    for (uint32_t h = 0; h < 2 * count; h++)
        part->half.items[first[part->ends.items[h]]++] = h;
}

/* ---- biconnected components -------------------------------------------------------------------------------------- */

typedef struct frame {
    uint32_t vertex, next, in; /* next half-edge to follow; the half-edge to it, HD_NONE at a root */
} frame;

typedef struct search {
    const hd_odd_part *part;
    uint32_t *number, *low; /* by vertex, 1-based */
    uint32_t *color;        /* by vertex: parity of its depth in the tree */
    uint32_t count;
    HD_ARRAY(frame) frames;
    hd_u32_array open; /* edges not yet assigned to a component */
    hd_u32_array found;
    hd_odd_parts *odd;
} search;

/* Whether an edge of the component, the last ones in `open`, connects two vertices of equal colour. */
static bool is_odd(search *s, uint32_t from)
{
    const uint32_t *ends = s->part->ends.items;
    for (uint32_t i = from; i < s->open.count; i++)
        if (s->color[ends[2 * s->open.items[i]]] == s->color[ends[2 * s->open.items[i] + 1]])
            return true;
    return false;
}

/* The component is complete: all edges from `edge` on. */
static void take_component(search *s, uint32_t edge)
{
    uint32_t from = s->open.count;
    while (s->open.items[from - 1] != edge)
        from--;
    from--;
    if (is_odd(s, from)) {
        hd_array_clear(&s->found);
        for (uint32_t i = from; i < s->open.count; i++)
            hd_array_push(&s->found, s->part->edge.items[s->open.items[i]]);
        qsort(s->found.items, s->found.count, sizeof *s->found.items, hd_compare_u32);
        hd_odd_parts_push(s->odd, s->found.items, s->found.count);
    }
    s->open.count = from;
}

static void enter(search *s, uint32_t vertex, uint32_t in, uint32_t color)
{
    s->number[vertex] = s->low[vertex] = ++s->count;
    s->color[vertex] = color;
    hd_array_push(&s->frames, (frame){vertex, s->part->first.items[vertex], in});
}

static void leave(search *s)
{
    frame done = hd_array_pop(&s->frames);
    if (!s->frames.count)
        return;
    uint32_t parent = hd_array_last(&s->frames).vertex;
    if (s->low[done.vertex] < s->low[parent])
        s->low[parent] = s->low[done.vertex];
    if (s->low[done.vertex] >= s->number[parent])
        take_component(s, done.in / 2);
}

/* Colours alternate down the tree, so a component has an odd cycle if and only if one of its edges connects vertices of
 * equal colour. */
static void search_from(search *s, uint32_t root)
{
    const hd_odd_part *part = s->part;
    enter(s, root, HD_NONE, 0);
    while (s->frames.count) {
        frame *f = &hd_array_last(&s->frames);
        if (f->next == part->first.items[f->vertex + 1]) {
            leave(s);
            continue;
        }
        uint32_t half = part->half.items[f->next++], to = hd_odd_part_other(part, half), from = f->vertex;
        if (f->in != HD_NONE && half / 2 == f->in / 2)
            continue;
        if (!s->number[to]) {
            hd_array_push(&s->open, half / 2);
            enter(s, to, half, !s->color[from]);
        } else if (s->number[to] < s->number[from]) {
            hd_array_push(&s->open, half / 2);
            s->low[from] = hd_min(s->low[from], s->number[to]);
        }
    }
}

void hd_odd_part_split(hd_odd_part *part, const uint32_t *edges, uint32_t count, hd_odd_parts *odd)
{
    hd_odd_part_make(part, edges, count);
    search s = {.part = part, .odd = odd};
    s.number = hd_calloc((size_t)part->vertices * 3 + 1, sizeof(uint32_t));
    s.low = s.number + part->vertices;
    s.color = s.low + part->vertices;
    for (uint32_t v = 0; v < part->vertices; v++)
        if (!s.number[v])
            search_from(&s, v);
    free(s.number);
    hd_array_free(&s.frames);
    hd_array_free(&s.open);
    hd_array_free(&s.found);
}
