/* CUDA streams and events. */
#include "cudart/operation.h"
#include "cudart/api.h"

/* ---- streams ----------------------------------------------------------------------------------------------------- */

enum { LEGACY = 1, PER_THREAD = 2 };

static hd_cu_stream *new_stream(hd_runtime *r, uint32_t flags, int priority)
{
    hd_cu_stream *s = hd_calloc(1, sizeof *s);
    *s = (hd_cu_stream){.flags = flags, .priority = priority, .id = r->streams.count};
    hd_array_push(&r->streams, s);
    return s;
}

hd_cu_stream *hd_cu_stream_of(hd_runtime *r, void *handle)
{
    if (!r->streams.count)
        new_stream(r, 0, 0);
    if ((uintptr_t)handle <= PER_THREAD)
        return r->streams.items[0];
    for (uint32_t i = 1; i < r->streams.count; i++)
        if (r->streams.items[i] == handle)
            return r->streams.items[i];
    return NULL;
}

static void set_last(hd_cu_stream *s, uint32_t node)
{
    hd_array_clear(&s->last);
    hd_array_push(&s->last, node);
}

static int capture(hd_runtime *r, hd_cu_stream *s, const hd_cu_operation *o)
{
    if (s->graph->is_invalid)
        return HD_CUDA_STREAM_CAPTURE_INVALIDATED;
    if (o->kind == HD_OPERATION_KERNEL) {
        int error = hd_launch_check(r, &o->of.kernel);
        if (error)
            return error;
    }
    hd_cu_operation node = hd_cu_operation_copy(o); /* it outlives the call */
    set_last(s, hd_cu_graph_add(s->graph, &node, s->last.items, s->last.count)->index);
    return HD_CUDA_SUCCESS;
}

int hd_cu_stream_do(hd_runtime *r, void *handle, const hd_cu_operation *o)
{
    hd_cu_stream *s = hd_cu_stream_of(r, handle);
    if (!s)
        return HD_CUDA_INVALID_RESOURCE_HANDLE;
    return s->graph ? capture(r, s, o) : hd_cu_operation_run(r, o);
}

void hd_cu_streams_forget(hd_runtime *r, const hd_cu_graph *graph)
{
    for (uint32_t i = 0; i < r->streams.count; i++)
        if (r->streams.items[i]->graph == graph) {
            r->streams.items[i]->graph = NULL;
            hd_array_clear(&r->streams.items[i]->last);
        }
}

int hd_cu_streams_forbid(hd_runtime *r, bool if_relaxed)
{
    enum { RELAXED = 2 };
    int error = HD_CUDA_SUCCESS;
    for (uint32_t i = 0; i < r->streams.count; i++) {
        hd_cu_graph *graph = r->streams.items[i]->graph;
        if (!graph || (graph->mode == RELAXED && !if_relaxed))
            continue;
        graph->is_invalid = true;
        error = HD_CUDA_STREAM_CAPTURE_UNSUPPORTED;
    }
    return error;
}

static int create(void **stream, uint32_t flags, int priority)
{
    hd_runtime *r = hd_runtime_enter();
    if (!stream || flags > 1)
        return hd_runtime_leave(r, HD_CUDA_INVALID_VALUE);
    hd_cu_stream_of(r, NULL);
    *stream = new_stream(r, flags, priority);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaStreamCreate(void **stream) { return create(stream, 0, 0); }
int hd_cudaStreamCreateWithFlags(void **stream, unsigned flags) { return create(stream, flags, 0); }
int hd_cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    return create(stream, flags, priority);
}

int hd_cudaStreamDestroy(void *stream)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_stream *s = hd_cu_stream_of(r, stream);
    if (!s || s == r->streams.items[0])
        return hd_runtime_leave(r, HD_CUDA_INVALID_RESOURCE_HANDLE);
    for (uint32_t i = 1; i < r->streams.count; i++)
        if (r->streams.items[i] == s)
            r->streams.items[i] = r->streams.items[--r->streams.count];
    hd_array_free(&s->last);
    free(s);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

/* Nothing is ever under way, but a captured stream must not be waited for: that ends the capture without a graph. */
static int wait_for(void *stream)
{
    hd_runtime *r = hd_runtime_enter();
    const hd_cu_stream *s = hd_cu_stream_of(r, stream);
    if (s && s->graph)
        s->graph->is_invalid = true;
    int error = !s ? HD_CUDA_INVALID_RESOURCE_HANDLE : s->graph ? HD_CUDA_STREAM_CAPTURE_UNSUPPORTED : HD_CUDA_SUCCESS;
    return hd_runtime_leave(r, error);
}
int hd_cudaStreamSynchronize(void *stream) { return wait_for(stream); }
int hd_cudaStreamQuery(void *stream) { return wait_for(stream); }

int hd_cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_stream *s = hd_cu_stream_of(r, stream);
    const hd_cu_event *e = event;
    (void)flags;
    if (!s || !e)
        return hd_runtime_leave(r, HD_CUDA_INVALID_RESOURCE_HANDLE);
    if (e->graph && s->graph && s->graph != e->graph)
        return hd_runtime_leave(r, HD_CUDA_STREAM_CAPTURE_MERGE);
    if (e->graph) { /* the stream joins the capture */
        s->graph = e->graph;
        for (uint32_t i = 0; i < e->last.count; i++)
            hd_array_push(&s->last, e->last.items[i]);
    }
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaStreamAddCallback(void *stream, void (*callback)(void *, int, void *), void *data, unsigned flags)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_operation o = {
        .kind = HD_OPERATION_HOST, .of.host = {NULL, data}, .stream_callback = callback, .stream = stream};
    return hd_runtime_leave(r, flags || !callback ? HD_CUDA_INVALID_VALUE : hd_cu_stream_do(r, stream, &o));
}

int hd_cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_operation o = {.kind = HD_OPERATION_HOST, .of.host = {function, data}};
    return hd_runtime_leave(r, function ? hd_cu_stream_do(r, stream, &o) : HD_CUDA_INVALID_VALUE);
}

/* Calls `give` with the stream, if there is one. */
#define STREAM_QUERY(handle, ...)                       \
    hd_runtime *r = hd_runtime_enter();                 \
    const hd_cu_stream *s = hd_cu_stream_of(r, handle); \
    if (s) {                                            \
        __VA_ARGS__;                                    \
    }                                                   \
    return hd_runtime_leave(r, s ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_RESOURCE_HANDLE)

int hd_cudaStreamGetFlags(void *stream, unsigned *flags) { STREAM_QUERY(stream, *flags = s->flags); }
int hd_cudaStreamGetPriority(void *stream, int *priority) { STREAM_QUERY(stream, *priority = s->priority); }
int hd_cudaStreamGetId(void *stream, unsigned long long *id) { STREAM_QUERY(stream, *id = s->id); }
int hd_cudaStreamGetDevice(void *stream, int *device) { STREAM_QUERY(stream, *device = 0); }

/* ---- capture ----------------------------------------------------------------------------------------------------- */

int hd_cudaStreamBeginCapture(void *stream, int mode)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_stream *s = hd_cu_stream_of(r, stream);
    if (!s)
        return hd_runtime_leave(r, HD_CUDA_INVALID_RESOURCE_HANDLE);
    if (s == r->streams.items[0])
        return hd_runtime_leave(r, HD_CUDA_STREAM_CAPTURE_UNSUPPORTED);
    if (s->graph)
        return hd_runtime_leave(r, HD_CUDA_ILLEGAL_STATE);
    s->graph = hd_cu_graph_new(r);
    s->graph->mode = mode;
    s->origin = true;
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

int hd_cudaStreamEndCapture(void *stream, void **graph)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_stream *s = hd_cu_stream_of(r, stream);
    if (!s || !graph)
        return hd_runtime_leave(r, s ? HD_CUDA_INVALID_VALUE : HD_CUDA_INVALID_RESOURCE_HANDLE);
    if (!s->graph)
        return hd_runtime_leave(r, HD_CUDA_ILLEGAL_STATE);
    if (!s->origin)
        return hd_runtime_leave(r, HD_CUDA_STREAM_CAPTURE_UNMATCHED);
    bool good = !s->graph->is_invalid;
    *graph = good ? s->graph : NULL;
    s->origin = false;
    hd_cu_streams_forget(r, s->graph);
    return hd_runtime_leave(r, good ? HD_CUDA_SUCCESS : HD_CUDA_STREAM_CAPTURE_INVALIDATED);
}

/* cudaStreamCaptureStatus */
static int status_of(const hd_cu_stream *s) { return !s->graph ? 0 : s->graph->is_invalid ? 2 : 1; }

int hd_cudaStreamIsCapturing(void *stream, int *status) { STREAM_QUERY(stream, *status = status_of(s)); }

int hd_cudaStreamGetCaptureInfo_12(void *stream, int *status, unsigned long long *id)
{
    return hd_cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL);
}

int hd_cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph,
                                   void ***dependencies, size_t *count)
{
    return hd_cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, NULL, count);
}

/* The nodes that the stream's next one depends on, and the data of these edges: default ones, 8 bytes of 0 each. */
static void give_dependencies(hd_runtime *r, const hd_cu_stream *s, void ***dependencies, void ***edges, size_t *count)
{
    if (dependencies) {
        *dependencies = HD_ARENA_ARRAY(&r->arena, void *, s->last.count + 1);
        for (uint32_t i = 0; i < s->last.count; i++)
            (*dependencies)[i] = s->graph->nodes.items[s->last.items[i]];
    }
    if (edges)
        *edges = hd_arena_calloc(&r->arena, 8 * ((size_t)s->last.count + 1));
    if (count)
        *count = s->last.count;
}

int hd_cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph, void ***dependencies,
                                void ***edges, size_t *count)
{
    STREAM_QUERY(stream, *status = status_of(s); if (id) *id = (uintptr_t)s->graph; if (graph) *graph = s->graph;
                 if (s->graph) give_dependencies(r, s, dependencies, edges, count));
}

int hd_cudaThreadExchangeStreamCaptureMode(int *mode)
{
    hd_runtime *r = hd_runtime_enter();
    uint32_t before = r->capture_mode;
    r->capture_mode = (uint32_t)*mode;
    *mode = (int)before;
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

enum { DISABLE_TIMING = 2 };

int hd_cudaEventCreateWithFlags(void **event, unsigned flags)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_event *e = event ? hd_calloc(1, sizeof *e) : NULL;
    if (e) {
        e->flags = flags;
        *event = e;
    }
    return hd_runtime_leave(r, e ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_VALUE);
}
int hd_cudaEventCreate(void **event) { return hd_cudaEventCreateWithFlags(event, 0); }

int hd_cudaEventDestroy(void *event)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_event *e = event;
    if (e)
        hd_array_free(&e->last);
    free(e);
    return hd_runtime_leave(r, e ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_RESOURCE_HANDLE);
}

int hd_cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    hd_runtime *r = hd_runtime_enter();
    hd_cu_stream *s = hd_cu_stream_of(r, stream);
    hd_cu_event *e = event;
    hd_cu_operation o = {.kind = HD_OPERATION_RECORD, .of.event = e};
    (void)flags;
    if (!s || !e)
        return hd_runtime_leave(r, HD_CUDA_INVALID_RESOURCE_HANDLE);
    e->graph = s->graph;
    hd_array_clear(&e->last);
    if (!s->graph)
        return hd_runtime_leave(r, hd_cu_operation_run(r, &o));
    for (uint32_t i = 0; i < s->last.count; i++)
        hd_array_push(&e->last, s->last.items[i]);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}
int hd_cudaEventRecord(void *event, void *stream) { return hd_cudaEventRecordWithFlags(event, stream, 0); }

static int event_is_done(void *event)
{
    hd_runtime *r = hd_runtime_enter();
    const hd_cu_event *e = event;
    int error = !e ? HD_CUDA_INVALID_RESOURCE_HANDLE : e->graph ? HD_CUDA_CAPTURED_EVENT : HD_CUDA_SUCCESS;
    return hd_runtime_leave(r, error);
}
int hd_cudaEventSynchronize(void *event) { return event_is_done(event); }
int hd_cudaEventQuery(void *event) { return event_is_done(event); }

int hd_cudaEventElapsedTime(float *milliseconds, void *start, void *end)
{
    hd_runtime *r = hd_runtime_enter();
    const hd_cu_event *a = start, *b = end;
    if (!milliseconds || !a || !b)
        return hd_runtime_leave(r, milliseconds ? HD_CUDA_INVALID_RESOURCE_HANDLE : HD_CUDA_INVALID_VALUE);
    if (!a->recorded || !b->recorded || (a->flags | b->flags) & DISABLE_TIMING)
        return hd_runtime_leave(r, HD_CUDA_INVALID_RESOURCE_HANDLE);
    *milliseconds = (float)(((double)b->time_ns - (double)a->time_ns) * 1e-6);
    return hd_runtime_leave(r, HD_CUDA_SUCCESS);
}
