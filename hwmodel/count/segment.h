/* Stretches: what a warp does one after another in a frame (stream.h tells how long they are).
 *
 * They come from the interpreter (hd_stretch), or are put together here from single events. The contents of a stretch
 * are its parts, how many instructions it has, the active and the effective lanes, and the widths of what is written
 * where they are told. Stretches with the same contents are one, with a number.
 *
 * So that what models make of a stretch can be looked up for any lanes (memo/lanes.h), it also has a text: its
 * contents but for which lanes its masks are. Texts have numbers, too. There are few of them, and the one that follows
 * another is often the one that did the last time.
 *
 * Memory: a text is kept once, and the masks of each stretch: HD_RF_STRETCHES and HD_RF_STRETCH_BYTES at most. What
 * finds no room has no number, is loose, and lives as long as its owner wants (hd_rf_stretches_hand_over). Cost: O(1) a
 * single event, and O(its length) a stretch.
 */
#ifndef HD_HWMODEL_COUNT_SEGMENT_H
#define HD_HWMODEL_COUNT_SEGMENT_H

#include "hwmodel/rf/code.h"
#include "hwmodel/stream.h"

enum { HD_RF_STRETCH = HD_STRETCH_MOST, HD_RF_STRETCHES = 1 << 18, HD_RF_STRETCH_BYTES = 64 << 20 };

typedef struct hd_rf_stretch {
    uint32_t number;      /* HD_NONE: there was no room */
    uint32_t text, shape; /* numbers of its text, and of its text without widths; HD_NONE where it has no number */
    uint32_t function, count, part_count;
    bool barrier;     /* it ends at one */
    uint64_t loads;   /* its long-latency loads with an effective lane: a bit an instruction */
    uint64_t touches; /* of its instructions: code.h */
    const hd_stretch_part *parts;
    const uint32_t *masks; /* the active and effective ones that are not 0, each once */
    uint32_t mask_count;
    const uint8_t *effective; /* by instruction, as in parts: 0, or 1 + place among the masks */
    const hd_width *widths;   /* of all destinations of its instructions that write, in order; NULL: not told */
} hd_rf_stretch;

/* Of its function. */
static inline uint32_t hd_rf_stretch_instruction(const hd_rf_stretch *s, uint32_t i)
{
    const hd_stretch_part *part = hd_stretch_part_at(s->parts, s->part_count, i);
    return part->first + (i - part->at);
}

/* At a place that `parts` or `effective` name. */
static inline uint32_t hd_rf_stretch_mask(const hd_rf_stretch *s, uint32_t place)
{
    return place ? s->masks[place - 1] : 0;
}

/* What a warp does next: a stretch, or a part of one (kind ISSUE), or another event. */
typedef struct hd_rf_passage {
    uint8_t kind, from, end; /* of the stretch, the instructions [from, end) */
    bool leaves;             /* behind them it stops taking turns, which is for automata alone */
    uint32_t cta, warp, frame, function;
    const hd_rf_stretch *stretch;
} hd_rf_passage;
/* The ISSUE event of the passage's instruction i; *widths: those of the instruction, and then of the next one. */
hd_event hd_rf_passage_event(const hd_rf_passage *passage, uint32_t i);
/* from instruction i on */
const hd_width *hd_rf_stretch_widths(const hd_rf_stretch *stretch, const hd_rf_module *code, uint32_t i);
/* On the heap; adds the bytes that it takes. */
hd_rf_stretch *hd_rf_stretch_copy(const hd_rf_stretch *stretch, size_t *bytes);

typedef struct hd_rf_stretches hd_rf_stretches;
hd_rf_stretches *hd_rf_stretches_new(const hd_rf_module *code);
void hd_rf_stretches_free(hd_rf_stretches *s);

HD_ARRAY_TYPE(hd_rf_loose, hd_rf_stretch *);
/* The loose ones since the last time, to an owner that has none. */
void hd_rf_stretches_hand_over(hd_rf_stretches *s, hd_rf_loose *to);
void hd_rf_loose_forget(hd_rf_loose *loose); /* all of them */

hd_rf_passage hd_rf_stretches_find(hd_rf_stretches *s, const hd_stretch *stretch);
/* Of single events. Does the ISSUE belong to the stretch that is open? */
bool hd_rf_stretches_goes_on(const hd_rf_stretches *s, const hd_event *event);
/* It does, or none is open. */
void hd_rf_stretches_add(hd_rf_stretches *s, const hd_event *event);
/* Ends the stretch that is open. false: none is. */
bool hd_rf_stretches_end(hd_rf_stretches *s, hd_rf_passage *passage);

#endif
