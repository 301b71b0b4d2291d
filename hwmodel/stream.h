/* What the functional interpreter tells the models: one event per warp instruction and per change of a warp's life.
 *
 * The interpreter runs once; its events feed the baseline and every technique's model at the same time. Events of one
 * warp come in its program order; warps interleave in a deterministic order that hwmodel/exec documents. Identities of
 * architected functions (ir/architected.h) are no instructions, and no events. Nothing here is kept: a sink copies what
 * it needs.
 */
#ifndef HD_HWMODEL_STREAM_H
#define HD_HWMODEL_STREAM_H

#include "ir/ir.h"

typedef enum hd_event_kind {
    HD_EVENT_LAUNCH, /* a kernel launch begins */
    HD_EVENT_CTA_START,
    HD_EVENT_WARP_START,
    HD_EVENT_ISSUE,  /* a warp instruction, before its result is written */
    HD_EVENT_CALL,   /* after the ISSUE of the call: the callee's frame begins */
    HD_EVENT_RETURN, /* all lanes are back: the caller's frame goes on */
    HD_EVENT_WARP_END,
    HD_EVENT_CTA_END,
    HD_EVENT_LAUNCH_END,
} hd_event_kind;

enum {                          /* columns a sink may ask for; those not asked for are NULL */
       HD_COLUMN_ADDRESSES = 1, /* 32 lane addresses of memory instructions */
       /* values that the instruction writes: words[slot][lane], slot as in hd_insn_destination_slot, 32-bit words in
     * order */
       HD_COLUMN_RESULTS = 2,
       HD_COLUMN_WIDTHS = 4, /* of the same words, how many bytes they need: hd_width */
};

/* A word needs as many bytes as its widest lane by sign extension, 1 to 4. Lanes that are not active count, with what
 * was written last into the place in the register file (ir/storage.h) under whatever name; lanes that were never
 * written in this frame do not. Of what a call writes, parameters and results, no values are known: 4 bytes. */
typedef struct hd_width {
    /* bytes that the lanes need which are written; that all lanes need which hold something afterwards */
    uint8_t written, held;
} hd_width;

typedef struct hd_event {
    uint8_t kind;
    uint32_t cta;         /* linear index in the grid */
    uint32_t warp;        /* launch-wide: cta * warps per CTA + index in the CTA */
    uint32_t frame;       /* serial of the warp's call frame; 0 = the kernel's */
    uint32_t function;    /* index in module->functions of the code that runs */
    uint32_t instruction; /* ordinal in it */
    uint32_t active;      /* lanes on top of the SIMT stack */
    uint32_t effective;   /* of these, the lanes whose guard is true */
    const uint64_t *addresses;
    uint32_t width_words;
    const hd_width *widths; /* widths[word]; NULL: nothing is written */
    uint32_t result_words;
    /* results[word * 32 + lane]; NULL: none, or of a call, whose results come with its return */
    const uint32_t *results;
} hd_event;

/* ISSUE events of one warp in one frame that follow each other in the stream; a barrier is the last one. In parts: the
 * instructions of one follow each other in the text, under one active mask. Once a stretch has HD_STRETCH_LONG
 * instructions no jump back continues it, so that the turns of a loop fall into few different ones. Masks stand in it
 * as their places among those that it has, so that it is the same for any lanes but for these. */
enum {
    HD_STRETCH_MOST = 64,
    HD_STRETCH_PARTS = 8,
    HD_STRETCH_LONG = 16,
    HD_STRETCH_MASKS = 1 + HD_STRETCH_MOST + HD_STRETCH_PARTS,
    HD_MOST_WRITTEN = 32,   /* words by an instruction that is no call */
    HD_MOST_RETURNED = 256, /* by a call; behind one of a function that runs, no stretch goes on */
};
typedef struct hd_stretch_part {
    /* at: of the stretch's instructions, its first, which is `first` of the function; active: place of the mask */
    uint32_t at, first, active;
} hd_stretch_part;
typedef struct hd_stretch {
    uint32_t cta, warp, frame, function; /* of all of them */
    uint32_t count, part_count;          /* count: of a whole one */
    uint32_t going;                      /* the warp that may go on with it; HD_NONE: none may */
    /* straight on; where it would be too long; the last part's first - at (modulo 2^32) */
    uint32_t next, limit, base;
    uint32_t active;      /* the last part's lanes, */
    uint8_t active_place; /* and where these are among the masks */
    bool barrier;         /* it ends at one */
    uint32_t mask_count;
    uint32_t masks[HD_STRETCH_MASKS]; /* 0, and the others in the order in which they come: each once */
    hd_stretch_part parts[HD_STRETCH_PARTS];
    uint8_t effective[HD_STRETCH_MOST]; /* by instruction: place of the mask */
    uint32_t width_words;
    /* where they are asked for: of all its instructions */
    hd_width widths[(HD_STRETCH_MOST - 1) * HD_MOST_WRITTEN + HD_MOST_RETURNED];
} hd_stretch;

/* Instructions so far. */
static inline uint32_t hd_stretch_length(const hd_stretch *s) { return s->part_count ? s->next - s->base : 0; }

/* Of a mask that comes. */
static inline uint8_t hd_stretch_place(hd_stretch *s, uint32_t mask)
{
    uint32_t place = 0;
    while (place < s->mask_count && s->masks[place] != mask)
        place++;
    if (place == s->mask_count)
        s->masks[s->mask_count++] = mask;
    return (uint8_t)place;
}

/* The next instruction begins a part. */
static inline void hd_stretch_turn(hd_stretch *s, uint32_t instruction, uint32_t active)
{
    uint32_t at = hd_stretch_length(s);
    s->active = active;
    s->active_place = hd_stretch_place(s, active);
    s->parts[s->part_count++] = (hd_stretch_part){at, instruction, s->active_place};
    s->next = instruction;
    s->base = instruction - at;
    s->limit = s->base + HD_STRETCH_MOST;
}

static inline void hd_stretch_begin(hd_stretch *s, const hd_event *e)
{
    s->cta = e->cta;
    s->warp = s->going = e->warp;
    s->frame = e->frame;
    s->function = e->function;
    s->part_count = s->width_words = 0;
    s->barrier = false;
    s->mask_count = 1;
    s->masks[0] = 0;
    hd_stretch_turn(s, e->instruction, e->active);
}

/* Does it go on with an instruction of its warp and frame that does not follow straight on? */
static inline bool hd_stretch_turns(const hd_stretch *s, uint32_t instruction)
{
    return s->going != HD_NONE && s->part_count < HD_STRETCH_PARTS &&
           (instruction >= s->next || hd_stretch_length(s) < HD_STRETCH_LONG);
}

/* Of the parts, that in which the instruction i of the stretch is. */
static inline const hd_stretch_part *hd_stretch_part_at(const hd_stretch_part *parts, uint32_t count, uint32_t i)
{
    while (parts[count - 1].at > i)
        count--;
    return &parts[count - 1];
}

/* The instruction `next`, whose widths are there already. */
static inline void hd_stretch_add(hd_stretch *s, uint32_t effective, bool barrier)
{
    uint32_t at = s->next++ - s->base;
    s->effective[at] = effective == s->active ? s->active_place : hd_stretch_place(s, effective);
    if (barrier || s->next == s->limit) {
        s->barrier = barrier;
        s->going = HD_NONE;
    }
}

typedef struct hd_sink {
    bool (*take)(void *context, const hd_event *event); /* false stops the run (a proof failed; the sink holds why) */
    void *context;
    uint32_t columns; /* HD_COLUMN_* */
    /* NULL: none. Else, if all sinks have one and none asks for columns but WIDTHS, ISSUE events come only here, once
     * it is known that the stretch does not go on, as long as possible; the last one when the run ends, however that
     * is. */
    bool (*take_stretch)(void *context, const hd_stretch *stretch);
} hd_sink;

#endif
