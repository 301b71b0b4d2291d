/* Events: what a producer (the interpreter, a trace of another tool) reports of execution, one for each warp
 * instruction and for each change of a warp's state; and trace segments, of many instructions each, where no sink
 * requests columns of single ones.
 *
 * A producer runs once; its events drive the baseline and every technique's model. Events of one warp are in program
 * order; warps interleave in a deterministic order that the producer documents (exec/exec.h). Identities of architected
 * functions (ir/architected.h) are not instructions, and no events. Event data is valid during the call only: a sink
 * copies what it needs.
 */
#ifndef HD_HWMODEL_RECORD_EVENT_H
#define HD_HWMODEL_RECORD_EVENT_H

#include "hwmodel/columns.h"
#include "ir/ir.h"

typedef enum hd_event_kind {
    HD_EVENT_LAUNCH, /* a kernel launch begins */
    HD_EVENT_CTA_START,
    HD_EVENT_WARP_START,
    HD_EVENT_ISSUE,  /* a warp instruction, before its result is written */
    HD_EVENT_CALL,   /* after the ISSUE of the call: the callee's frame begins */
    HD_EVENT_RETURN, /* all lanes have returned: the caller's frame continues */
    HD_EVENT_WARP_END,
    HD_EVENT_CTA_END,
    HD_EVENT_LAUNCH_END,
    /* with HD_COLUMN_BARRIERS, whose sinks do not stop the run at these: */
    HD_EVENT_ARRIVE, /* the warp arrives at `barrier` */
    HD_EVENT_OPEN,   /* of the CTA: `barrier` opens for those that have arrived since it opened last */
    HD_EVENT_PASS,   /* the warp, which has waited for that, goes on */
} hd_event_kind;

enum {
    HD_EVENT_BARRIERS = 17,                /* numbers of barriers: 0 to 15 of the CTA, 16 of its cluster */
    HD_EVENT_MBARRIER = HD_EVENT_BARRIERS, /* an mbarrier: `object` says which */
};

enum { HD_EVENT_SECTOR_BYTES = 32, HD_EVENT_SECTORS = 32 * 16 * 2 /* of an instruction, at most */ };

typedef struct hd_event {
    uint8_t kind;
    uint8_t barrier; /* of ARRIVE, OPEN, PASS */
    bool reported;   /* of ARRIVE: its ISSUE has been; else it comes when the instruction has its result */
    uint8_t parity;  /* of OPEN, PASS at an mbarrier: of the phase that has ended */
    uint32_t object; /* of ARRIVE, OPEN, PASS at an mbarrier: its offset in shared memory */
    /* of ARRIVE at an mbarrier: the arrival follows the copies before the warp's cp.async.mbarrier.arrive of this
     * number, counted from 1 over those that some lane executes; 0: it is the warp's own */
    uint32_t after_copies;
    uint32_t cta;         /* linear index in the grid */
    uint32_t warp;        /* launch-wide: cta * warps per CTA + index in the CTA */
    uint32_t frame;       /* serial of the warp's call frame; 0 = the kernel's */
    uint32_t function;    /* index in module->functions of the code that runs */
    uint32_t instruction; /* ordinal in it */
    uint32_t active;      /* lanes on top of the SIMT stack */
    uint32_t effective;   /* of these, the lanes whose guard is true */
    const uint64_t *addresses;
    /* with addresses, of cp.async: by lane, the offset in shared memory that it copies to, and the bytes that it reads,
     * the rest of the copy being zero */
    const uint64_t *copied_to, *copied_bytes;
    /* with addresses, of textures and surfaces: numbers of the sectors of HD_EVENT_SECTOR_BYTES of global memory that
     * the lanes access, in the order of the lanes; some may be there more than once */
    const uint64_t *sectors;
    uint32_t sector_count;
    uint32_t width_words;
    const hd_width *widths; /* widths[word]; NULL: nothing is written */
    uint32_t result_words;
    /* results[word * 32 + lane]; NULL: none, or a call, whose results come with its return */
    const uint32_t *results;
    const hd_lane_effect *effect; /* NULL: a faulty lane does nothing to it */
} hd_event;

/* A trace segment: consecutive ISSUE events of one warp in one frame; a barrier ends it. It consists of parts: the
 * instructions of a part are consecutive in the text, under one active mask. Once a segment has HD_SEGMENT_LONG
 * instructions, no backward jump continues it, so that loop iterations fall into few different segments. Masks are
 * stored as indices into the segment's list of masks, so that segments that differ only in their masks are otherwise
 * equal. */
enum {
    HD_SEGMENT_LENGTH = 64, /* at most */
    HD_SEGMENT_PARTS = 8,
    HD_SEGMENT_LONG = 16,
    HD_SEGMENT_MASKS = 1 + HD_SEGMENT_LENGTH + HD_SEGMENT_PARTS,
    HD_MOST_WRITTEN = 32,   /* words written by an instruction other than a call */
    HD_MOST_RETURNED = 256, /* words written by a call; a call of a function with a body ends the segment */
};
typedef struct hd_segment_part {
    /* at: index in the segment of the part's first instruction, which is `first` in the function; active: index of the
     * mask */
    uint32_t at, first, active;
} hd_segment_part;
typedef struct hd_segment_event {
    uint32_t cta, warp, frame, function; /* of all its instructions */
    uint32_t count, part_count;          /* count: of a complete segment */
    uint32_t open_warp;                  /* the warp that may continue it; HD_NONE: none */
    /* the next sequential instruction; the limit of the length; the last part's first - at (modulo 2^32) */
    uint32_t next, limit, base;
    uint32_t active;     /* the last part's lanes, */
    uint8_t active_mask; /* and their index among the masks */
    bool barrier;        /* it ends at a barrier */
    uint32_t mask_count;
    uint32_t masks[HD_SEGMENT_MASKS]; /* 0, and the others in order of occurrence, unique */
    hd_segment_part parts[HD_SEGMENT_PARTS];
    uint8_t effective[HD_SEGMENT_LENGTH]; /* by instruction: index of the mask */
    uint32_t width_words;
    /* if requested: of all its instructions */
    hd_width widths[(HD_SEGMENT_LENGTH - 1) * HD_MOST_WRITTEN + HD_MOST_RETURNED];
} hd_segment_event;

/* Number of instructions so far. */
static inline uint32_t hd_segment_length(const hd_segment_event *s) { return s->part_count ? s->next - s->base : 0; }

/* The index of a mask; adds it if it is new. */
static inline uint8_t hd_segment_mask(hd_segment_event *s, uint32_t mask)
{
    uint32_t index = 0;
    while (index < s->mask_count && s->masks[index] != mask)
        index++;
    if (index == s->mask_count)
        s->masks[s->mask_count++] = mask;
    return (uint8_t)index;
}

/* Starts a part with the next instruction. */
static inline void hd_segment_begin_part(hd_segment_event *s, uint32_t instruction, uint32_t active)
{
    uint32_t at = hd_segment_length(s);
    s->active = active;
    s->active_mask = hd_segment_mask(s, active);
    s->parts[s->part_count++] = (hd_segment_part){at, instruction, s->active_mask};
    s->next = instruction;
    s->base = instruction - at;
    s->limit = s->base + HD_SEGMENT_LENGTH;
}

static inline void hd_segment_begin(hd_segment_event *s, const hd_event *e)
{
    s->cta = e->cta;
    s->warp = s->open_warp = e->warp;
    s->frame = e->frame;
    s->function = e->function;
    s->part_count = s->width_words = 0;
    s->barrier = false;
    s->mask_count = 1;
    s->masks[0] = 0;
    hd_segment_begin_part(s, e->instruction, e->active);
}

/* Whether it continues with an instruction of its warp and frame that is not the next in sequence. */
static inline bool hd_segment_accepts_part(const hd_segment_event *s, uint32_t instruction)
{
    return s->open_warp != HD_NONE && s->part_count < HD_SEGMENT_PARTS &&
           (instruction >= s->next || hd_segment_length(s) < HD_SEGMENT_LONG);
}

/* The part that contains instruction i of the segment. */
static inline const hd_segment_part *hd_segment_part_at(const hd_segment_part *parts, uint32_t count, uint32_t i)
{
    while (parts[count - 1].at > i)
        count--;
    return &parts[count - 1];
}

/* Adds the instruction `next`, whose widths are already stored. */
static inline void hd_segment_append(hd_segment_event *s, uint32_t effective, bool barrier)
{
    uint32_t at = s->next++ - s->base;
    s->effective[at] = effective == s->active ? s->active_mask : hd_segment_mask(s, effective);
    if (barrier || s->next == s->limit) {
        s->barrier = barrier;
        s->open_warp = HD_NONE;
    }
}

typedef struct hd_sink {
    /* false stops the run (a proof failed; the sink holds the reason) */
    bool (*take)(void *context, const hd_event *event);
    void *context;
    uint32_t columns; /* HD_COLUMN_* */
    /* NULL: none. If all sinks have it and none requests columns other than WIDTHS, ISSUE events are delivered only
     * here, as segments of maximal length; the last one when the run ends, for any reason. */
    bool (*take_segment)(void *context, const hd_segment_event *segment);
} hd_sink;

#endif
