/* The API of graphs: building, changing and running them. An executable graph is a copy of a graph. */
#include "cudart/operation.h"
#include "cudart/api.h"

/* ---- building ---------------------------------------------------------------------------------------------------- */

int hd_cudaGraphCreate(void **graph, unsigned flags)
{
    hd_runtime *r = hd_runtime_enter();
    if (!graph || flags)
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    *graph = hd_cu_graph_new(r);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

static int destroy(void *graph, bool executable)
{
    hd_runtime *r = hd_runtime_enter();
    if (!hd_cu_graph_is(r, graph, executable))
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    for (uint32_t i = 0; i < r->graphs.count; i++)
        if (r->graphs.items[i] == graph)
            r->graphs.items[i] = r->graphs.items[--r->graphs.count];
    hd_cu_streams_forget(r, graph);
    hd_cu_graph_free(graph);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}
int hd_cudaGraphDestroy(void *graph) { return destroy(graph, false); }
int hd_cudaGraphExecDestroy(void *executable) { return destroy(executable, true); }

static hd_cu_graph *new_copy(hd_runtime *r, const hd_cu_graph *g, bool executable)
{
    hd_cu_graph *copy = hd_cu_graph_copy(g);
    copy->is_executable = executable;
    hd_array_push(&r->graphs, copy);
    return copy;
}

int hd_cudaGraphClone(void **clone, void *graph)
{
    hd_runtime *r = hd_runtime_enter();
    if (!clone || !hd_cu_graph_is(r, graph, false))
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    *clone = new_copy(r, graph, false);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

typedef struct addition { /* the arguments that all functions that add a node have */
    void **node;
    void *graph;
    void *const *dependencies;
    size_t count;
} addition;

/* Takes the operation. */
static int add(hd_runtime *r, const addition *a, hd_cu_operation *o)
{
    hd_u32_array before = {0};
    bool good = hd_cu_graph_is(r, a->graph, false) && a->node && (!a->count || a->dependencies);
    for (size_t i = 0; good && i < a->count; i++) {
        const hd_cu_node *n = a->dependencies[i];
        good = n && n->graph == a->graph;
        hd_array_push(&before, good ? n->index : 0);
    }
    if (good)
        *a->node = hd_cu_graph_add(a->graph, o, before.items, before.count);
    else
        hd_cu_operation_drop(o);
    hd_array_free(&before);
    return good ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE;
}

static int kernel_operation(hd_runtime *r, const hd_kernel_node *p, hd_cu_operation *o)
{
    hd_cu_kernel *k;
    int error = p ? hd_kernel_of(r, p->function, &k) : HD_CUDA_INVALID_VALUE;
    if (error)
        return error;
    *o = (hd_cu_operation){
        .kind = HD_OPERATION_KERNEL,
        .of.kernel = {.kernel = k, .grid = p->grid, .block = p->block, .shared_bytes = p->shared_bytes}};
    error = hd_launch_check(r, &o->of.kernel);
    if (!error)
        o->of.kernel.parameters = p->arguments ? hd_launch_parameters(k, p->arguments) : hd_launch_extra(k, p->extra);
    return error || o->of.kernel.parameters ? error : HD_CUDA_LAUNCH_OUT_OF_RESOURCES;
}

int hd_cudaGraphAddKernelNode(void **node, void *graph, void *const *dependencies, size_t count,
                              const hd_kernel_node *parameters)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_operation o;
    int error = kernel_operation(r, parameters, &o);
    return hd_runtime_leave(r, error ? error : add(r, &(addition){node, graph, dependencies, count}, &o));
}

static int add_simple(void **node, void *graph, void *const *dependencies, size_t count, hd_cu_operation o)
{
    hd_runtime *r = hd_runtime_enter();
    return hd_runtime_leave(r, add(r, &(addition){node, graph, dependencies, count}, &o));
}

int hd_cudaGraphAddMemcpyNode(void **node, void *graph, void *const *dependencies, size_t count,
                              const hd_cu_copy3 *copy)
{
    return add_simple(node, graph, dependencies, count,
                      (hd_cu_operation){.kind = HD_OPERATION_COPY, .of.copy = {.is_box = true, .box = *copy}});
}

static hd_cu_operation plain_copy(void *to, const void *from, size_t bytes, int kind)
{
    return (hd_cu_operation){.kind = HD_OPERATION_COPY,
                             .of.copy = {.to = to, .from = from, .bytes = bytes, .kind = kind}};
}

int hd_cudaGraphAddMemcpyNode1D(void **node, void *graph, void *const *dependencies, size_t count, void *to,
                                const void *from, size_t bytes, int kind)
{
    return add_simple(node, graph, dependencies, count, plain_copy(to, from, bytes, kind));
}

int hd_cudaGraphAddMemcpyNodeToSymbol(void **node, void *graph, void *const *dependencies, size_t count,
                                      const void *symbol, const void *from, size_t bytes, size_t offset, int kind)
{
    void *to;
    int error = hd_cudaGetSymbolAddress(&to, symbol);
    return error
               ? error
               : hd_cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, (char *)to + offset, from, bytes, kind);
}

int hd_cudaGraphAddMemcpyNodeFromSymbol(void **node, void *graph, void *const *dependencies, size_t count, void *to,
                                        const void *symbol, size_t bytes, size_t offset, int kind)
{
    void *from;
    int error = hd_cudaGetSymbolAddress(&from, symbol);
    return error
               ? error
               : hd_cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, (char *)from + offset, bytes, kind);
}

int hd_cudaGraphAddMemsetNode(void **node, void *graph, void *const *dependencies, size_t count,
                              const hd_memset_node *parameters)
{
    return add_simple(node, graph, dependencies, count,
                      (hd_cu_operation){.kind = HD_OPERATION_FILL, .of.fill = *parameters});
}

int hd_cudaGraphAddHostNode(void **node, void *graph, void *const *dependencies, size_t count,
                            const hd_host_node *parameters)
{
    return add_simple(node, graph, dependencies, count,
                      (hd_cu_operation){.kind = HD_OPERATION_HOST, .of.host = *parameters});
}

int hd_cudaGraphAddChildGraphNode(void **node, void *graph, void *const *dependencies, size_t count, void *child)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_operation o = {.kind = HD_OPERATION_GRAPH};
    if (!hd_cu_graph_is(r, child, false))
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    o.of.graph = hd_cu_graph_copy(child);
    return hd_runtime_leave(r, add(r, &(addition){node, graph, dependencies, count}, &o));
}

int hd_cudaGraphAddEmptyNode(void **node, void *graph, void *const *dependencies, size_t count)
{
    return add_simple(node, graph, dependencies, count, (hd_cu_operation){.kind = HD_OPERATION_EMPTY});
}

int hd_cudaGraphAddEventRecordNode(void **node, void *graph, void *const *dependencies, size_t count, void *event)
{
    return add_simple(node, graph, dependencies, count,
                      (hd_cu_operation){.kind = HD_OPERATION_RECORD, .of.event = event});
}

int hd_cudaGraphAddEventWaitNode(void **node, void *graph, void *const *dependencies, size_t count, void *event)
{
    return add_simple(node, graph, dependencies, count,
                      (hd_cu_operation){.kind = HD_OPERATION_WAIT, .of.event = event});
}

int hd_cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, const void *edges, size_t count)
{
    (void)edges;
    return hd_cudaGraphAddDependencies_12(graph, from, to, count);
}

int hd_cudaGraphAddDependencies_12(void *graph, void *const *from, void *const *to, size_t count)
{
    hd_runtime *r = hd_runtime_enter();
    bool good = hd_cu_graph_is(r, graph, false) && (!count || (from && to));
    for (size_t i = 0; good && i < count; i++) {
        const hd_cu_node *before = from[i];
        hd_cu_node *n = to[i];
        good = before && n && before->graph == graph && n->graph == graph;
        if (good)
            hd_array_push(&n->before, before->index);
    }
    return hd_runtime_leave(r, good ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}

/* cudaGraphNodeParams: a kind, and at byte 16 the parameters of that kind. */
int hd_cudaGraphAddNode_12(void **node, void *graph, void *const *dependencies, size_t count, void *parameters)
{
    enum { AT = 16, COPY_AT = 16 };
    int kind = *(int *)parameters;
    char *of = (char *)parameters + AT;
    switch (kind) {
    case HD_OPERATION_KERNEL:
        return hd_cudaGraphAddKernelNode(node, graph, dependencies, count, (hd_kernel_node *)(void *)of);
    case HD_OPERATION_COPY:
        return hd_cudaGraphAddMemcpyNode(node, graph, dependencies, count, (hd_cu_copy3 *)(void *)(of + COPY_AT));
    case HD_OPERATION_FILL:
        return hd_cudaGraphAddMemsetNode(node, graph, dependencies, count, (hd_memset_node *)(void *)of);
    case HD_OPERATION_HOST:
        return hd_cudaGraphAddHostNode(node, graph, dependencies, count, (hd_host_node *)(void *)of);
    case HD_OPERATION_GRAPH:
        return hd_cudaGraphAddChildGraphNode(node, graph, dependencies, count, *(void **)(void *)of);
    case HD_OPERATION_EMPTY: return hd_cudaGraphAddEmptyNode(node, graph, dependencies, count);
    case HD_OPERATION_WAIT: return hd_cudaGraphAddEventWaitNode(node, graph, dependencies, count, *(void **)(void *)of);
    case HD_OPERATION_RECORD:
        return hd_cudaGraphAddEventRecordNode(node, graph, dependencies, count, *(void **)(void *)of);
    default: return hd_cuda_missing("cudaGraphAddNode of this kind of node");
    }
}

int hd_cudaGraphAddNode(void **node, void *graph, void *const *dependencies, const void *edges, size_t count,
                        void *parameters)
{
    (void)edges;
    return hd_cudaGraphAddNode_12(node, graph, dependencies, count, parameters);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

static int list_nodes(void *graph, void **nodes, size_t *count, bool roots)
{
    hd_runtime *r = hd_runtime_enter();
    const hd_cu_graph *g = graph;
    size_t found = 0;
    if (!count || !hd_cu_graph_is(r, graph, false))
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    for (uint32_t i = 0; i < g->nodes.count; i++)
        if (!roots || !g->nodes.items[i]->before.count) {
            if (nodes && found < *count)
                nodes[found] = g->nodes.items[i];
            found++;
        }
    *count = found;
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}
int hd_cudaGraphGetNodes(void *graph, void **nodes, size_t *count) { return list_nodes(graph, nodes, count, false); }
int hd_cudaGraphGetRootNodes(void *graph, void **nodes, size_t *count) { return list_nodes(graph, nodes, count, true); }

int hd_cudaGraphNodeGetType(void *node, int *type)
{
    hd_runtime *r = hd_runtime_enter();
    *type = ((const hd_cu_node *)node)->operation.kind;
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaGraphKernelNodeGetParams(void *node, hd_kernel_node *parameters)
{
    hd_runtime *r = hd_runtime_enter();
    const hd_cu_node *n = node;
    if (n->operation.kind != HD_OPERATION_KERNEL)
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    const hd_cu_launch *k = &n->operation.of.kernel;
    const hd_function *f = k->kernel->function;
    uint32_t count = hd_kernel_parameters(f);
    void **arguments = HD_ARENA_ARRAY(&r->arena, void *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = (void *)(uintptr_t)(k->parameters + hd_kernel_parameter_offset(k->kernel->unit->module, f, i));
    *parameters = (hd_kernel_node){k->kernel, k->grid, k->block, (uint32_t)k->shared_bytes, arguments, NULL};
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

/* ---- changing and running ---------------------------------------------------------------------------------------- */

static int change(hd_cu_node *n, hd_cu_operation o)
{
    if (n->operation.kind != o.kind) {
        hd_cu_operation_drop(&o);
        return HD_CUDA_INVALID_VALUE;
    }
    hd_cu_operation_drop(&n->operation);
    n->operation = o;
    return HD_CUDA_SUCCESS;
}

int hd_cudaGraphKernelNodeSetParams(void *node, const hd_kernel_node *parameters)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_operation o;
    int error = kernel_operation(r, parameters, &o);
    return hd_runtime_leave(r, error ? error : change(node, o));
}

/* The node of the executable graph that is a copy of this one. */
static hd_cu_node *copy_of(hd_runtime *r, void *executable, void *node)
{
    const hd_cu_graph *g = executable;
    const hd_cu_node *n = node;
    return hd_cu_graph_is(r, executable, true) && n && n->index < g->nodes.count ? g->nodes.items[n->index] : NULL;
}

static int change_copy(void *executable, void *node, hd_cu_operation o)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_node *n = copy_of(r, executable, node);
    return hd_runtime_leave(r, n ? change(n, o) : HD_CUDA_INVALID_VALUE);
}

int hd_cudaGraphExecKernelNodeSetParams(void *executable, void *node, const hd_kernel_node *parameters)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_operation o;
    hd_cu_node *n = copy_of(r, executable, node);
    int error = n ? kernel_operation(r, parameters, &o) : HD_CUDA_INVALID_VALUE;
    return hd_runtime_leave(r, error ? error : change(n, o));
}

int hd_cudaGraphExecMemcpyNodeSetParams1D(void *executable, void *node, void *to, const void *from, size_t bytes,
                                          int kind)
{
    return change_copy(executable, node, plain_copy(to, from, bytes, kind));
}

int hd_cudaGraphExecMemsetNodeSetParams(void *executable, void *node, const hd_memset_node *parameters)
{
    return change_copy(executable, node, (hd_cu_operation){.kind = HD_OPERATION_FILL, .of.fill = *parameters});
}

int hd_cudaGraphExecHostNodeSetParams(void *executable, void *node, const hd_host_node *parameters)
{
    return change_copy(executable, node, (hd_cu_operation){.kind = HD_OPERATION_HOST, .of.host = *parameters});
}

int hd_cudaGraphInstantiate(void **executable, void *graph, unsigned long long flags)
{
    hd_runtime *r = hd_runtime_enter();
    if (!executable || !hd_cu_graph_is(r, graph, false))
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    hd_cu_graph *copy = new_copy(r, graph, true);
    copy->flags = flags;
    *executable = copy;
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaGraphInstantiate_11(void **executable, void *graph, void **node, char *log, size_t log_bytes)
{
    if (node)
        *node = NULL;
    if (log && log_bytes)
        *log = '\0';
    return hd_cudaGraphInstantiate(executable, graph, 0);
}

int hd_cudaGraphInstantiateWithParams(void **executable, void *graph, void *parameters)
{
    struct {
        unsigned long long flags;
        void *stream, *node;
        int result;
    } *p = parameters;
    int error = hd_cudaGraphInstantiate(executable, graph, p->flags);
    p->node = NULL;
    p->result = error ? 1 : 0;
    return error;
}

int hd_cudaGraphExecGetFlags(void *executable, unsigned long long *flags)
{
    hd_runtime *r = hd_runtime_enter();
    bool good = hd_cu_graph_is(r, executable, true);
    if (good)
        *flags = ((const hd_cu_graph *)executable)->flags;
    return hd_runtime_leave(r, good ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}

int hd_cudaGraphUpload(void *executable, void *stream)
{
    hd_runtime *r = hd_runtime_enter();
    bool good = hd_cu_graph_is(r, executable, true) && hd_cu_stream_of(r, stream);
    return hd_runtime_leave(r, good ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}

int hd_cudaGraphLaunch(void *executable, void *stream)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_operation o = {.kind = HD_OPERATION_GRAPH, .of.graph = executable};
    return hd_runtime_leave(r, hd_cu_graph_is(r, executable, true) ? hd_cu_stream_do(r, stream, &o)
                                                                   : HD_CUDA_INVALID_VALUE);
}

/* ---- updating ---------------------------------------------------------------------------------------------------- */

enum { UPDATED, TOPOLOGY_CHANGED = 2, KIND_CHANGED };

static int compare_graphs(const hd_cu_graph *a, const hd_cu_graph *b)
{
    if (a->nodes.count != b->nodes.count)
        return TOPOLOGY_CHANGED;
    for (uint32_t i = 0; i < a->nodes.count; i++) {
        const hd_cu_node *n = a->nodes.items[i], *m = b->nodes.items[i];
        if (n->before.count != m->before.count)
            return TOPOLOGY_CHANGED;
        if (n->operation.kind != m->operation.kind)
            return KIND_CHANGED;
    }
    return UPDATED;
}

int hd_cudaGraphExecUpdate_11(void *executable, void *graph, void **node, int *result)
{
    hd_runtime *r = hd_runtime_enter();
    if (!hd_cu_graph_is(r, executable, true) || !hd_cu_graph_is(r, graph, false))
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    hd_cu_graph *old = executable;
    const hd_cu_graph *now = graph;
    int found = compare_graphs(old, now);
    if (node)
        *node = NULL;
    if (result)
        *result = found;
    for (uint32_t i = 0; found == UPDATED && i < now->nodes.count; i++)
        change(old->nodes.items[i], hd_cu_operation_copy(&now->nodes.items[i]->operation));
    return hd_runtime_leave(r, found == UPDATED ? HD_CUDA_SUCCESS : HD_CUDA_GRAPH_EXEC_UPDATE_FAILURE);
}

int hd_cudaGraphExecUpdate(void *executable, void *graph, void *result)
{
    struct {
        int result;
        void *node, *from;
    } *of = result;
    if (!of)
        return hd_cudaGraphExecUpdate_11(executable, graph, NULL, NULL);
    of->from = NULL;
    return hd_cudaGraphExecUpdate_11(executable, graph, &of->node, &of->result);
}
