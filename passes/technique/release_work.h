/* Parts of the pass release. Private to passes/. */
#ifndef HD_PASSES_TECHNIQUE_RELEASE_WORK_H
#define HD_PASSES_TECHNIQUE_RELEASE_WORK_H

#include "passes/analysis/warp_words.h"

/* A word as a candidate for renaming. */
typedef struct release_life {
    uint64_t held;      /* points between issued instructions at which a warp holds it */
    uint32_t instances; /* values defined in it */
    bool named;         /* an instruction names it; registers of the module are never candidates */
} release_life;

/* The number of words that a table of so many bytes can rename. */
uint32_t release_capacity(hd_pass_context *context);
release_life *release_lives(hd_function *function, const hd_warp_words *words, hd_arena *scratch);
/* The best `most` of the candidates, by number. */
hd_register_set release_choose(const release_life *lives, uint32_t words, uint32_t most, hd_arena *scratch);

#endif
