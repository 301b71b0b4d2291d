/* Operations, which run at once or become nodes of a graph; graphs of them; CUDA streams, which run operations or are
 * captured to a graph; and events. operation.c has operations and graphs, stream.c CUDA streams and events.
 *
 * CUDA streams, events and graphs are objects of the program. A handle that names none gets
 * cudaErrorInvalidResourceHandle. */
#ifndef HD_CUDART_OPERATION_H
#define HD_CUDART_OPERATION_H

#include "cudart/runtime.h"

typedef enum hd_cu_operation_kind { /* the numbers of cudaGraphNodeType */
                                    HD_OPERATION_KERNEL,
                                    HD_OPERATION_COPY,
                                    HD_OPERATION_FILL,
                                    HD_OPERATION_HOST,
                                    HD_OPERATION_GRAPH,
                                    HD_OPERATION_EMPTY,
                                    HD_OPERATION_WAIT,
                                    HD_OPERATION_RECORD,
} hd_cu_operation_kind;

typedef struct hd_cu_graph hd_cu_graph;
typedef struct hd_cu_event hd_cu_event;

typedef struct hd_cu_operation {
    uint8_t kind;
    union {
        hd_cu_launch kernel;
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
        hd_cu_graph *graph; /* a child */
        hd_cu_event *event;
    } of;
    void (*stream_callback)(void *, int, void *); /* HOST, of cudaStreamAddCallback: gets the CUDA stream */
    void *stream;
} hd_cu_operation;

int hd_cu_operation_run(hd_runtime *runtime, const hd_cu_operation *operation);
/* A copy has parameters, or a child graph, of its own, which hd_cu_operation_drop() frees. */
hd_cu_operation hd_cu_operation_copy(const hd_cu_operation *operation);
void hd_cu_operation_drop(hd_cu_operation *operation);

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

typedef struct hd_cu_node {
    hd_cu_operation operation;
    hd_cu_graph *graph;
    uint32_t index;
    HD_ARRAY(uint32_t) before; /* indices of the nodes on which it depends */
} hd_cu_node;

struct hd_cu_graph {
    HD_ARRAY(hd_cu_node *) nodes;
    bool is_executable;
    bool is_invalid; /* a call was made that its capture forbids */
    int mode;        /* cudaStreamCaptureMode of its capture */
    uint64_t flags;
};

/* The runtime owns it. */
hd_cu_graph *hd_cu_graph_new(hd_runtime *runtime);
/* The node owns the operation from here on. */
hd_cu_node *hd_cu_graph_add(hd_cu_graph *graph, const hd_cu_operation *operation, const uint32_t *before,
                            uint32_t count);
/* The caller owns the copy. */
hd_cu_graph *hd_cu_graph_copy(const hd_cu_graph *graph);
void hd_cu_graph_free(hd_cu_graph *graph);
int hd_cu_graph_run(hd_runtime *runtime, const hd_cu_graph *graph);
bool hd_cu_graph_is(hd_runtime *runtime, const void *handle, bool executable);

/* ---- CUDA streams and events ------------------------------------------------------------------------------------- */

struct hd_cu_stream {
    uint32_t flags;
    int priority;
    uint64_t id;
    hd_cu_graph *graph;      /* the one to which it is captured, or NULL */
    bool origin;             /* the capture began here */
    HD_ARRAY(uint32_t) last; /* the nodes on which its next one depends */
};

struct hd_cu_event {
    uint32_t flags;
    bool recorded;
    uint64_t time_ns;
    hd_cu_graph *graph; /* the one in whose capture it was recorded, after the nodes in `last`; or NULL */
    HD_ARRAY(uint32_t) last;
};

/* The CUDA stream of a handle; NULL: there is none. All default streams are one. */
hd_cu_stream *hd_cu_stream_of(hd_runtime *runtime, void *handle);
/* Runs the operation, or captures a copy of it. */
int hd_cu_stream_do(hd_runtime *runtime, void *stream, const hd_cu_operation *operation);
/* Precedes calls that are not allowed during a capture, or (if_relaxed is false) only during one in relaxed mode.
 * Invalidates the captures that forbid the call, and returns its error. */
int hd_cu_streams_forbid(hd_runtime *runtime, bool if_relaxed);
/* Ends the captures to a graph. */
void hd_cu_streams_forget(hd_runtime *runtime, const hd_cu_graph *graph);

#endif
