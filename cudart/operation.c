/* Operations, and graphs of them. A graph runs its nodes one after another, each as soon as all nodes before it have
 * run, the first in the order of creation. */
#include "cudart/operation.h"
#include <time.h>

/* ---- operations -------------------------------------------------------------------------------------------------- */

hd_cu_operation hd_cu_operation_copy(const hd_cu_operation *o)
{
    hd_cu_operation copy = *o;
    if (o->kind == HD_OPERATION_KERNEL)
        copy.of.kernel.parameters = hd_launch_copy_parameters(&o->of.kernel);
    else if (o->kind == HD_OPERATION_GRAPH)
        copy.of.graph = hd_cu_graph_copy(o->of.graph);
    return copy;
}

void hd_cu_operation_drop(hd_cu_operation *o)
{
    if (o->kind == HD_OPERATION_KERNEL)
        free((void *)(uintptr_t)o->of.kernel.parameters);
    else if (o->kind == HD_OPERATION_GRAPH)
        hd_cu_graph_free(o->of.graph);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static int run_host(const hd_cu_operation *o)
{
    if (o->stream_callback)
        o->stream_callback(o->stream, HD_CUDA_SUCCESS, o->of.host.data);
    else
        o->of.host.function(o->of.host.data);
    return HD_CUDA_SUCCESS;
}

int hd_cu_operation_run(hd_runtime *r, const hd_cu_operation *o)
{
    switch ((hd_cu_operation_kind)o->kind) {
    case HD_OPERATION_KERNEL: return hd_launch_run(r, &o->of.kernel);
    case HD_OPERATION_COPY:
        return o->of.copy.is_box ? hd_cu_copy_box(r, &o->of.copy.box)
                                 : hd_cu_copy(r, o->of.copy.to, o->of.copy.from, o->of.copy.bytes, o->of.copy.kind);
    case HD_OPERATION_FILL: {
        const hd_memset_node *f = &o->of.fill;
        return hd_fill(r, f->to, f->pitch, f->value, f->element_bytes, f->width, f->height);
    }
    case HD_OPERATION_HOST: return run_host(o);
    case HD_OPERATION_GRAPH: return hd_cu_graph_run(r, o->of.graph);
    case HD_OPERATION_RECORD:
        o->of.event->recorded = true;
        o->of.event->time_ns = now_ns();
        return HD_CUDA_SUCCESS;
    case HD_OPERATION_EMPTY:
    case HD_OPERATION_WAIT: break;
    }
    return HD_CUDA_SUCCESS;
}

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

hd_cu_graph *hd_cu_graph_new(hd_runtime *r)
{
    hd_cu_graph *g = hd_calloc(1, sizeof *g);
    hd_array_push(&r->graphs, g);
    return g;
}

bool hd_cu_graph_is(hd_runtime *r, const void *handle, bool executable)
{
    for (uint32_t i = 0; i < r->graphs.count; i++)
        if (r->graphs.items[i] == handle)
            return r->graphs.items[i]->is_executable == executable;
    return false;
}

hd_cu_node *hd_cu_graph_add(hd_cu_graph *g, const hd_cu_operation *operation, const uint32_t *before, uint32_t count)
{
    hd_cu_node *n = hd_calloc(1, sizeof *n);
    *n = (hd_cu_node){.operation = *operation, .graph = g, .index = g->nodes.count};
    for (uint32_t i = 0; i < count; i++)
        hd_array_push(&n->before, before[i]);
    hd_array_push(&g->nodes, n);
    return n;
}

hd_cu_graph *hd_cu_graph_copy(const hd_cu_graph *g)
{
    hd_cu_graph *copy = hd_calloc(1, sizeof *copy);
    for (uint32_t i = 0; i < g->nodes.count; i++) {
        const hd_cu_node *n = g->nodes.items[i];
        hd_cu_operation o = hd_cu_operation_copy(&n->operation);
        hd_cu_graph_add(copy, &o, n->before.items, n->before.count);
    }
    return copy;
}

void hd_cu_graph_free(hd_cu_graph *g)
{
    for (uint32_t i = 0; i < g->nodes.count; i++) {
        hd_cu_node *n = g->nodes.items[i];
        hd_cu_operation_drop(&n->operation);
        hd_array_free(&n->before);
        free(n);
    }
    hd_array_free(&g->nodes);
    free(g);
}

static bool is_ready(const hd_cu_node *n, const bool *done)
{
    for (uint32_t i = 0; i < n->before.count; i++)
        if (!done[n->before.items[i]])
            return false;
    return true;
}

int hd_cu_graph_run(hd_runtime *r, const hd_cu_graph *g)
{
    bool *done = hd_calloc((size_t)g->nodes.count + 1, sizeof *done), again = true;
    int error = HD_CUDA_SUCCESS;
    while (again && !error) {
        again = false;
        for (uint32_t i = 0; i < g->nodes.count && !error; i++) {
            hd_cu_node *n = g->nodes.items[i];
            if (done[i] || !is_ready(n, done))
                continue;
            error = hd_cu_operation_run(r, &n->operation);
            done[i] = again = true;
        }
    }
    free(done);
    return error;
}
