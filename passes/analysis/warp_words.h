/* Warp-level liveness by words of the register file (ir/storage.h): for passes that free, move or prefetch warp-wide
 * registers.
 *
 * The rules are those of passes/analysis/liveness.c and warp_liveness.c, under the rule of the context
 * (liveness=ours|paper|its). Items are words instead of registers: overlapping architected names share words,
 * identities are no instructions, predicates have no words. Sets are sparse; near-linear in instructions and set sizes.
 */
#ifndef HD_PASSES_ANALYSIS_WARP_WORDS_H
#define HD_PASSES_ANALYSIS_WARP_WORDS_H

#include "passes/analysis/liveness.h"

typedef struct hd_warp_words {
    hd_storage storage;
    const hd_liveness *thread;    /* TL of words: live_in (also of X), live_out, module_wide */
    const hd_warp_liveness *warp; /* of words: pend, by block */
    const hd_register_set *in;    /* WL at the start of each block, and of X */
    const hd_register_set *out;   /* WL at the end of each block */
} hd_warp_words;

/* For the current code; a pass that has rewritten the function builds another one. Needs the uniformity analysis, of
 * which only the divergent branches (by block) must still be valid. Valid until instructions or registers change. */
const hd_warp_words *hd_warp_words_build(hd_pass_context *context, hd_arena *arena);
/* The analysis: the same, with the context's storage and live words. */
hd_warp_words *hd_warp_words_of(hd_pass_context *context, hd_arena *arena);

/* Afterwards hd_live_start(walk, block) sets the live set to `out[block]`, and each hd_live_step moves to before the
 * preceding instruction of the text (an identity changes nothing): hd_live_has(walk, word), walk->members, walk->count
 * give WL. */
void hd_warp_words_walk(hd_live_walk *walk, hd_arena *arena, const hd_warp_words *words);

#endif
