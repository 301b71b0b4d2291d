/* Where a word is kept for lanes that wait at a branch, for checkers: in the blocks of a side of it (what a target
 * reaches without entering the branch's reconvergence point r), if the word is live into r or into another target. They
 * run when this side is done.
 *
 * For one word after the other the sides in which it must be kept are flooded, in the order of hd_join_rank: what one
 * flood has come to the others leave alone.
 *
 * Complexity, for a word: the blocks in which it is live, the branches that these are targets or r of, and the blocks
 * that keep it.
 */
#ifndef HD_PASSES_CHECK_KEPT_H
#define HD_PASSES_CHECK_KEPT_H

#include "passes/check/facts.h"

typedef struct hd_keeper { /* a side in which a word is kept */
    uint32_t block, join, rank;
} hd_keeper;

typedef struct hd_kept {
    const hd_facts *facts;
    /* by block and X: branches that may diverge and join there, or have it as a target */
    uint32_t *branch_first, *branches;
    const bool *only; /* by block: whether the branch at its end counts; NULL: all do */
    HD_ARRAY(hd_keeper) keepers;
    uint32_t *kept;  /* by block: 1 + the last word that is kept there */
    uint32_t *asked; /* by block: 1 + the last word for which the branch at its end was asked */
    hd_u32_array blocks;
} hd_kept;

void hd_kept_init(hd_kept *kept, hd_facts *facts); /* in the facts' arena, but for what hd_kept_free frees */
void hd_kept_free(hd_kept *kept);
void hd_kept_find(hd_kept *kept, uint32_t word); /* words in any order, but each once */
/* Of the word that was found last. */
static inline bool hd_kept_in(const hd_kept *kept, uint32_t word, uint32_t block)
{
    return kept->kept[block] == word + 1;
}

#endif
