/* What a stream does: an operation runs at once, or becomes a node of the graph that the stream is captured to.
 *
 * Streams, events and graphs are objects of the program; a handle that is none is cudaErrorInvalidResourceHandle. */
#ifndef HD_CUDART_OPERATION_H
#define HD_CUDART_OPERATION_H

#include "cudart/runtime.h"

typedef enum hd_operation_kind { /* numbers of cudaGraphNodeType */
                                 HD_OPERATION_KERNEL,
                                 HD_OPERATION_COPY,
                                 HD_OPERATION_FILL,
                                 HD_OPERATION_HOST,
                                 HD_OPERATION_GRAPH,
                                 HD_OPERATION_EMPTY,
                                 HD_OPERATION_WAIT,
                                 HD_OPERATION_RECORD,
                                 HD_OPERATION_ALLOCATE = 10,
                                 HD_OPERATION_FREE
} hd_operation_kind;

typedef struct hd_cu_graph hd_cu_graph;
typedef struct hd_event_object hd_event_object;

typedef struct hd_operation {
    uint8_t kind;
    union {
        hd_launch_request kernel; /* a node owns its parameters */
        struct {
            bool is_box;
            hd_cu_copy3 box;
            void *to;
            const void *from;
            size_t bytes;
            int kind;
        } copy;
        hd_memset_node fill;
        hd_host_node host;
        hd_cu_graph *graph; /* a child, which the node owns */
        hd_event_object *event;
        void *pointer; /* FREE */
    } of;
    void (*stream_callback)(void *, int, void *); /* HOST: of cudaStreamAddCallback, with the stream */
    void *stream;
} hd_operation;

int hd_operation_run(hd_runtime *runtime, const hd_operation *operation);

/* ---- streams and events ------------------------------------------------------------------------------------------ */

struct hd_stream {
    uint32_t flags;
    int priority;
    uint64_t id;
    hd_cu_graph *graph;      /* that it is captured to, or NULL */
    bool origin;             /* the capture began here */
    HD_ARRAY(uint32_t) last; /* the nodes that its next one depends on */
};

struct hd_event_object {
    uint32_t flags;
    bool recorded;
    uint64_t time_ns;
    hd_cu_graph *graph; /* recorded in a capture: the nodes before it */
    HD_ARRAY(uint32_t) last;
};

/* The stream of a handle; NULL: there is none. The default streams are one. */
hd_stream *hd_stream_of(hd_runtime *runtime, void *handle);
/* Runs the operation, or captures it. The operation's pointers are copied. */
int hd_stream_do(hd_runtime *runtime, void *stream, const hd_operation *operation);
/* What streams must not do while one of them is captured, or unless it is in the relaxed mode: the captures are
 * invalid, and the call gets the error. */
int hd_streams_forbid(hd_runtime *runtime, bool if_relaxed);
/* Ends captures to a graph that is destroyed. */
void hd_streams_forget(hd_runtime *runtime, const hd_cu_graph *graph);

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

typedef struct hd_cu_node {
    hd_operation operation;
    hd_cu_graph *graph;
    uint32_t index, original; /* original: the index in the graph that it is a copy of */
    bool disabled;
    HD_ARRAY(uint32_t) before; /* nodes that it depends on */
} hd_cu_node;

struct hd_cu_graph {
    HD_ARRAY(hd_cu_node *) nodes; /* NULL: destroyed */
    bool is_executable;
    bool is_invalid; /* what must not be done while a stream is captured was done */
    int mode;        /* cudaStreamCaptureMode of the capture that makes it */
    uint64_t flags;
};

hd_cu_graph *hd_cu_graph_new(hd_runtime *runtime);
/* Takes the operation's parameters. */
hd_cu_node *hd_cu_graph_add(hd_cu_graph *graph, const hd_operation *operation, const uint32_t *before, uint32_t count);
hd_cu_graph *hd_cu_graph_copy(const hd_cu_graph *graph);
void hd_cu_graph_free(hd_cu_graph *graph);
int hd_cu_graph_run(hd_runtime *runtime, const hd_cu_graph *graph);
bool hd_cu_graph_is(hd_runtime *runtime, const void *handle, bool executable);

#endif
