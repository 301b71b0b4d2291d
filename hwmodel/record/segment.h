/* Trace segments: instructions that a warp executed one after another in one frame (event.h says how many).
 *
 * They come from the interpreter (hd_segment_event), or are put together here from single events. Segments with the
 * same instructions, active and effective lanes, and widths of results where these are recorded, are one object.
 * Segments with the same instructions, of which the same ones have the same lanes, have the same `shape`; with the same
 * widths too, the same `wide_shape`.
 *
 * Memory: HD_SEGMENTS objects, as many shapes, and HD_SEGMENT_BYTES of each at most. A segment that finds no room is
 * loose, and lives as long as its owner wants (hd_segments_hand_over). Cost: O(length) a segment.
 */
#ifndef HD_HWMODEL_RECORD_SEGMENT_H
#define HD_HWMODEL_RECORD_SEGMENT_H

#include "hwmodel/rf/code.h"
#include "hwmodel/record/event.h"

enum { HD_SEGMENTS = 1 << 16, HD_SEGMENT_BYTES = 16 << 20 };

typedef struct hd_segment {
    uint32_t shape, wide_shape; /* HD_NONE: there was no room */
    bool loose, full;           /* full: each of its masks is 0 or of all lanes */
    uint32_t function, count, part_count, mask_count, key_words;
    bool barrier;     /* it ends at one */
    uint64_t loads;   /* its long-latency loads with an effective lane: a bit an instruction */
    uint64_t touches; /* of its instructions: code.h */
    const hd_segment_part *parts;
    const uint32_t *masks;     /* that `parts` and `effective` name */
    const uint8_t *effective;  /* by instruction: index in masks */
    const hd_width *widths;    /* of all results of instructions with an effective lane, in order; NULL: not recorded */
    const uint64_t *addresses; /* likewise, of a segment of one instruction */
    const uint32_t *results;   /* likewise */
    uint32_t result_words;
    const hd_lane_effect *effect; /* likewise; NULL: none */
} hd_segment;

/* Index in its function. */
static inline uint32_t hd_segment_instruction(const hd_segment *s, uint32_t i)
{
    const hd_segment_part *part = hd_segment_part_at(s->parts, s->part_count, i);
    return part->first + (i - part->at);
}

/* What a warp does next. */
typedef enum hd_warp_event_kind {
    HD_WARP_BEGINS,
    HD_WARP_ISSUES,
    HD_WARP_RETURNS, /* to the frame */
    HD_WARP_ENDS,
    HD_WARP_ACTIVE,   /* it joins the active set of the two-level scheduler */
    HD_WARP_INACTIVE, /* it leaves them */
    HD_CTA_ENDS,
} hd_warp_event_kind;
typedef struct hd_warp_event {
    uint8_t kind, from, end; /* of the segment, the instructions [from, end) */
    uint32_t cta, warp, frame;
    const hd_segment *segment;
} hd_warp_event;

typedef struct hd_segments hd_segments;
hd_segments *hd_segments_new(const hd_rf_module *code);
void hd_segments_free(hd_segments *s);

HD_ARRAY_TYPE(hd_loose_segments, hd_segment *);
/* The loose ones since the last time, to an owner that has none. */
void hd_segments_hand_over(hd_segments *s, hd_loose_segments *to);
void hd_loose_segments_clear(hd_loose_segments *loose);
/* On the heap; adds the bytes that it takes. */
hd_segment *hd_segment_copy(const hd_segment *segment, size_t *bytes);

hd_warp_event hd_segments_find(hd_segments *s, const hd_segment_event *segment);
/* Single events. Does the ISSUE belong to the open segment? */
bool hd_segments_continue(const hd_segments *s, const hd_event *event);
/* Is a segment open that ends at a barrier? */
bool hd_segments_at_barrier(const hd_segments *s);
/* It does, or no segment is open. */
void hd_segments_add(hd_segments *s, const hd_event *event);
/* Ends the open segment. false: there is none. */
bool hd_segments_end(hd_segments *s, hd_warp_event *event);
/* The ISSUE as a loose segment of its own; its columns but widths are borrowed. */
hd_warp_event hd_segments_single(hd_segments *s, const hd_event *event);

#endif
