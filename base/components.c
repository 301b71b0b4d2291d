/* See components.h. */
#include "base/components.h"

#include "base/arena.h"
#include <stdlib.h>

void hd_components_open(hd_components *c, uint32_t nodes)
{
    c->number = hd_calloc((size_t)nodes + 1, sizeof *c->number);
    c->low = hd_calloc((size_t)nodes + 1, sizeof *c->low);
    c->at = hd_calloc((size_t)nodes + 1, sizeof *c->at);
    c->closed = hd_calloc((size_t)nodes + 1, sizeof *c->closed);
}

void hd_components_free(hd_components *c)
{
    hd_array_free(&c->path);
    hd_array_free(&c->open);
    free(c->number);
    free(c->low);
    free(c->at);
    free(c->closed);
}

static void find_node(hd_components *c, uint32_t node)
{
    c->number[node] = c->low[node] = ++c->numbers;
    c->at[node] = c->first[node];
    hd_array_push(&c->path, node);
    hd_array_push(&c->open, node);
}

static void lower(hd_components *c, uint32_t node, uint32_t to) { c->low[node] = hd_min(c->low[node], to); }

static void follow_edge(hd_components *c, uint32_t from, uint32_t to)
{
    if (c->closed[to])
        return;
    if (c->number[to])
        lower(c, from, c->number[to]);
    else
        find_node(c, to);
}

/* The component of all nodes found since `first`. */
static void close_component(hd_components *c, uint32_t first)
{
    uint32_t begin = c->open.count;
    while (c->open.items[--begin] != first)
        continue;
    c->close(c->context, &c->open.items[begin], c->open.count - begin);
    for (uint32_t i = begin; i < c->open.count; i++)
        c->closed[c->open.items[i]] = true;
    c->open.count = begin;
}

void hd_components_search(hd_components *c, uint32_t root)
{
    if (c->closed[root])
        return;
    find_node(c, root);
    while (c->path.count) {
        uint32_t node = hd_array_last(&c->path);
        if (c->at[node] < c->first[node + 1]) {
            follow_edge(c, node, c->next[c->at[node]++]);
            continue;
        }
        c->path.count--;
        if (c->path.count)
            lower(c, hd_array_last(&c->path), c->low[node]);
        if (c->low[node] == c->number[node])
            close_component(c, node);
    }
}
