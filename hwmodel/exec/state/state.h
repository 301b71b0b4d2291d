/* Run-time state: warps, their call frames, and their CTA. Private to hwmodel/exec. */
#ifndef HD_HWMODEL_EXEC_STATE_STATE_H
#define HD_HWMODEL_EXEC_STATE_STATE_H

#include "base/bits.h"
#include "hwmodel/exec/workers/workers.h"
#include "hwmodel/exec/state/program.h"

typedef struct hd_checks hd_checks;

typedef struct hd_entry {
    uint32_t pc, join, mask; /* join: HD_NONE is the end of the function */
} hd_entry;

typedef struct hd_split {      /* lanes of machine code that meet at an instruction: control/groups.h */
    uint32_t pc, lanes, frame; /* frame: frame_count where they are */
} hd_split;

typedef struct hd_frame {
    const hd_code *code;
    unsigned char *registers; /* owned by the warp; reused by the next call frame of this depth */
    uint32_t register_capacity;
    uint32_t serial;
    uint32_t local_base, local_end; /* of this call frame in the warp's local memory, bytes per lane */
    uint32_t bottom;                /* first entry in the warp's stack */
    const hd_op *call;              /* in the caller: the call that created this call frame */
    const hd_callee *callee;        /* the target of the call */
    uint32_t lanes;                 /* the lanes that called */
    uint32_t rest;                  /* lanes that the same call sends to other targets afterwards */
    bool has_tops;
    unsigned char *shadow; /* uninitialized.c: undefined bits, and by register their origin; owned */
    uint32_t shadow_capacity;
    uint32_t *writers; /* columns.c; owned, reused like the registers */
    uint32_t writer_words;
    uint32_t *tops; /* with has_tops (alloca): the end of each lane's stack; owned, reused like the registers */
} hd_frame;

typedef enum hd_warp_state { HD_WARP_READY, HD_WARP_WAITING, HD_WARP_DONE } hd_warp_state;

typedef struct hd_lane_async { /* one lane's copy to shared memory, or arrival at an mbarrier there */
    uint32_t to, group;        /* offset in shared memory; the lane's group; of an arrival: number of its instruction */
    uint8_t lane, bytes;       /* bytes 0: an arrival */
    bool done;
    unsigned char data[16];
} hd_lane_async;

struct hd_warp {
    const unsigned char *bases[4]; /* by HD_REF_*, of the current call frame */
    hd_cta *cta;
    HD_ARRAY(hd_entry) stack;
    HD_ARRAY(hd_split) splits; /* of machine code; inner ones last */
    HD_ARRAY(hd_frame) frames;
    uint32_t frame_count; /* frames.count includes the reusable ones */
    uint32_t next_serial;
    unsigned char *local;        /* local memory: word w of lane l is at (w * 32 + l) * 4 */
    unsigned char *shadow_local; /* its undefined bits, with checks */
    uint32_t local_capacity;     /* bytes per lane */
    unsigned char *special;
    bool special_filled;    /* with values that do not vary between CTAs */
    uint32_t index, id;     /* in the CTA; in the launch */
    uint32_t lanes;         /* that exist and have not exited */
    uint8_t state, barrier; /* WAITING: at this barrier */
    const hd_op *waiting;   /* the barrier instruction */
    uint64_t issued;
    /* groups.c: turns of one group since another ran, the last ones without writes, whether it lets the others go first
     * at its next branch, branches that are still looked at in this turn, and what they are compared with */
    uint32_t turns, quiet;
    bool passes;
    uint32_t spin_checks;
    uint64_t spin_state, spin_writes;
    /* park.h, barrier.c */
    uint32_t yields; /* number of yields */
    /* lanes that stay at an instruction; of these, lanes that may continue when it executes again */
    uint32_t parked, passed;
    uint32_t reported; /* lanes whose instruction executes again and was reported before */
    uint64_t park_keys[LANES];
    uint32_t met_row[LANES], met_word; /* meet.c: results of released lanes that they have not written yet */
    uint32_t ayes, ayes_of_barrier, noes_of_barrier; /* votes of parked lanes; results of the opened barrier */
    uint32_t cluster_arrived, cluster_open;
    /* async.c: pending copies and arrivals, in order of issue */
    HD_ARRAY(hd_lane_async) async;
    uint32_t async_groups[LANES]; /* committed so far, by lane */
    uint32_t async_arrives;       /* cp.async.mbarrier.arrive instructions so far */
};

typedef struct hd_barrier {
    uint32_t waiting;    /* warps */
    uint32_t arrived;    /* threads, including those of arrive */
    uint32_t expected;   /* threads; 0: all live ones */
    uint32_t kind;       /* HD_BARRIER_* of the last arrival */
    uint32_t ayes, noes; /* threads, of bar.red */
} hd_barrier;
enum { HD_BARRIERS = 16, HD_CLUSTER_BARRIER = 16, HD_NO_BARRIER = 255 };
enum { HD_RESERVED_SHARED_BYTES = 1024 }; /* after the CTA's own shared memory, if a kernel uses it */
enum { HD_YIELDS_OF_SIDE = 16 };          /* number of yields after which another side of the warp's branch runs */

typedef struct hd_livelock {
    uint64_t state, writes, rounds; /* livelock.c; rounds: number of rounds without a write */
    uint64_t issued;                /* instructions at the last comparison of states */
    uint64_t spun;                  /* number of rounds in which every ready warp used its turn */
    bool careful;                   /* stores of equal bytes do not count as writes */
} hd_livelock;

typedef enum hd_watched {
    HD_UNWATCHED,
    HD_WATCHED_IN_SEGMENTS, /* sinks take trace segments, and nothing else observes instructions */
    HD_WATCHED,             /* each instruction: sinks, checks or livelock.c's trace */
} hd_watched;

/* Results written in the open trace segment that are not measured yet (columns.h): by one call frame, each word at most
 * once. */
typedef struct hd_unmeasured {
    const hd_op *op;
    uint32_t lanes;
} hd_unmeasured;
typedef struct hd_gathering {
    const hd_warp *warp;
    uint32_t frame, count; /* frame: of its call frames */
    uint64_t words;        /* hd_op.words of all of them */
    hd_unmeasured items[HD_SEGMENT_LENGTH];
} hd_gathering;

/* State of one host thread for running CTAs. */
struct hd_cta {
    const hd_program *program;
    const hd_grid *grid;
    const hd_exec_options *options;
    const hd_memory *memory;
    const hd_sink *sinks;
    uint32_t sink_count, columns; /* columns: HD_COLUMN_* but BARRIERS */
    bool barrier_events;          /* some sink requests BARRIERS */
    /* the grid's trace segment that sinks have not received yet; NULL if they take single events */
    hd_segment_event *segment;
    hd_gathering *gathering; /* for the trace segment */
    uint8_t watched;         /* hd_watched */
    hd_diagnostics *diagnostics;
    hd_exec_statistics *statistics;
    hd_workers *workers;     /* if other threads run CTAs of the grid too; else NULL */
    hd_workers_share share;  /* the CTAs assigned to this thread */
    hd_footprint *footprint; /* of this thread; NULL without a worker pool */
    uint64_t compare_at;     /* with a worker pool: instruction count at which hd_workers_compare is due */
    bool has_turn;           /* every CTA before this one has ended */
    uint64_t issued_before;  /* in the statistics when the grid started; with a worker pool: when the CTA started */
    hd_exec_status status;
    hd_checks *checks;      /* checks.h, or NULL */
    hd_faulty_lane *faulty; /* ops/faulty_lane.h; NULL: this CTA has no faulty lane */
    hd_lane_effect effect;  /* of the last instruction */
    bool in_faulty_unit, addresses_to_change;
    hd_diagnostic *fault;  /* for the status FAULT, if it was kept */
    uint32_t place;        /* in the order in which CTAs start (block_order) */
    uint32_t index, id[3]; /* linear; x y z */
    hd_warp *warps;
    uint32_t warp_count, live_warps;
    unsigned char *shared;
    uint32_t shared_bytes, reserved_at; /* including the reserved part, which begins there */
    hd_barrier barriers[HD_BARRIERS];
    uint32_t async_arrivals; /* in the queues of the CTA's warps */
    uint64_t writes;         /* number of writes to shared and global memory that may have changed it */
    hd_livelock livelock;
    struct hd_trace *trace;                         /* livelock.c: the set of executed instructions, or NULL */
    const hd_allocation **recent;                   /* by op->cache_slot: the allocation accessed last */
    uint64_t addresses[LANES];                      /* of the last memory op */
    uint64_t copied_to[LANES], copied_bytes[LANES]; /* of the last cp.async: as in hd_event */
    uint64_t sectors[HD_EVENT_SECTORS];             /* of the last texture op, as in hd_event; */
    uint32_t sector_count;                          /* 0 once it is reported */
    uint32_t results[LANES * HD_MOST_RETURNED];
    hd_width widths[HD_MOST_RETURNED];
    _Alignas(64) unsigned char scratch[4][LANES * 16]; /* rows: result, three sources */
};

static inline const void *hd_row(const hd_warp *w, hd_ref ref)
{
    return w->bases[ref >> HD_REF_SHIFT] + (ref & ((1u << HD_REF_SHIFT) - 1));
}
static inline void *hd_row_of_frame(hd_warp *w, hd_ref ref) { return (void *)(w->bases[HD_REF_FRAME] + ref); }
static inline uint32_t hd_warp_word(const hd_warp *w, hd_ref ref) { return *(const uint32_t *)hd_row(w, ref); }
/* A lane's value in a row of values of so many bytes, up to eight. */
static inline uint64_t hd_lane_value(const void *row, uint32_t bytes, uint32_t lane)
{
    uint64_t value = 0;
    memcpy(&value, (const unsigned char *)row + (size_t)lane * bytes, bytes);
    return value;
}
/* Writes the lanes of `mask` of a predicate row. */
static inline void hd_set_warp_word(hd_warp *w, hd_ref ref, uint32_t value, uint32_t mask)
{
    uint32_t *word = hd_row_of_frame(w, ref);
    *word = (*word & ~mask) | (value & mask);
}
static inline hd_frame *hd_top_frame(const hd_warp *w) { return &w->frames.items[w->frame_count - 1]; }
static inline hd_entry *hd_top(const hd_warp *w) { return &hd_array_last(&w->stack); }
static inline uint32_t hd_live_threads(const hd_cta *cta) /* as barriers count them: 32 for each live warp */
{
    return cta->live_warps * LANES;
}
void hd_thread_of(const hd_warp *w, uint32_t lane, uint32_t id[3]); /* threadIdx of a lane */

/* Call before anything that other CTAs could observe in a different order, and before a fault is reported: waits until
 * all CTAs before this one have ended (workers.h). false: one of them has failed, and this one must stop. */
bool hd_await_turn(hd_cta *cta);

#endif
