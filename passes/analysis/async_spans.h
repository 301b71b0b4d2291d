/* Spans in which registers are in flight: accessed by an asynchronous instruction (ir/asynchronous.def) that has issued
 * and is not yet waited for.
 *
 * In its span, from the instruction to the wait that covers it on every path (else to the function's end), a data
 * register counts as used and defined at every point: it is live, and no definition ends its live range. Both levels of
 * liveness get this as additional uses: at the covering wait, at the first instruction of each block in a span, at the
 * last instruction of a block that ends the function, and at each definition in a span.
 *
 * A lane in a span has executed the instruction together with all lanes of its warp, as these instructions require
 * (.sync.aligned), so spans follow the CFG's edges.
 */
#ifndef HD_PASSES_ANALYSIS_ASYNC_SPANS_H
#define HD_PASSES_ANALYSIS_ASYNC_SPANS_H

#include "base/bitset.h"
#include "ir/cfg.h"
#include "ir/storage.h"

typedef struct hd_async_spans {
    uint32_t *use_first, *uses; /* registers that count as read at instruction i: [use_first[i], use_first[i + 1]) */
    hd_bitset named;            /* registers that are in flight anywhere */
    bool leaves;                /* something may be in flight when the function returns */
} hd_async_spans;

/* NULL: the function has no asynchronous instruction. In the arena. */
const hd_async_spans *hd_async_spans_of(hd_function *function, hd_arena *arena);

/* for (uint32_t reg that counts as read at the instruction) */
#define HD_ASYNC_USES(spans, ordinal, reg)                                          \
    for (uint32_t reg##_at = (spans) ? (spans)->use_first[ordinal] : 0,             \
                  reg##_end = (spans) ? (spans)->use_first[(ordinal) + 1] : 0, reg; \
         reg##_at < reg##_end && (reg = (spans)->uses[reg##_at], true); reg##_at++)

/* The set of register-file words that hold data of any asynchronous instruction; NULL: none. In the arena. */
const hd_bitset *hd_async_words(const hd_function *function, const hd_storage *storage, hd_arena *arena);

#endif
