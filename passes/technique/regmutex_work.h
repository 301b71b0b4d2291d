/* RegMutex: what its files share. Private to passes/technique/regmutex*.c.
 *
 *   regmutex.c          the pass: the sizes to try, statistics
 *   regmutex_size.c     the rule for the sizes
 *   regmutex_webs.c     physical registers as webs, the units of renaming
 *   regmutex_compact.c  slots for the webs: below |Bs| wherever the set is released; moves into low slots
 *   regmutex_state.c    where the set is held, acquires and releases */
#ifndef HD_PASSES_TECHNIQUE_REGMUTEX_WORK_H
#define HD_PASSES_TECHNIQUE_REGMUTEX_WORK_H

#include "passes/regalloc/regalloc_work.h"
#include "passes/analysis/warp_words.h"

/* By instruction: the set must not be held there, because the warp may wait for another one, or other code may follow:
 * barriers, calls, exits, unknown instructions, waiting ones (ir/waits.h), in loops atomics and loads that are
 * volatile, ordered or not cached, and loads that decide the loop's trip count (polling.h). In the arena. */
bool *hd_regmutex_waits(hd_function *function, hd_arena *arena);

/* Gives each web of the general registers a virtual register; the function is not architected then. */
void hd_regmutex_make_webs(hd_pass_context *context);

typedef struct hd_compaction {
    uint32_t base, most; /* |Bs|; registers that may be used in all */
    uint32_t moves;      /* inserted */
} hd_compaction;
/* Makes a function of webs architected again; false: no such slots were found, and the function must be discarded. */
bool hd_regmutex_compact(hd_pass_context *context, const hd_architected *before, hd_compaction *compaction);

typedef struct hd_regmutex_marks {
    uint32_t acquires, releases;
} hd_regmutex_marks;
/* Annotates an architected function without annotations; false, and none added, where the set would be held at a point
 * of `waits`. */
bool hd_regmutex_annotate(hd_pass_context *context, uint32_t base, uint32_t extended, hd_regmutex_marks *marks);

#endif
