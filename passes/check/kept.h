/* Where a word must be kept for lanes that wait at a branch, for checkers: in the blocks of a side (reachable from a
 * target without passing the branch's reconvergence point r), if the word is live into r or into another target. The
 * waiting lanes run when the side has ended.
 *
 * For one word at a time, the sides in which it must be kept are flooded in the order of hd_join_rank; later floods
 * skip blocks visited by earlier ones.
 *
 * Complexity per word: the blocks in which it is live, the branches that these are targets or r of, and the blocks that
 * keep it.
 */
#ifndef HD_PASSES_CHECK_KEPT_H
#define HD_PASSES_CHECK_KEPT_H

#include "passes/check/facts.h"

typedef struct hd_keeper { /* a side in which a word is kept */
    uint32_t block, join, rank;
} hd_keeper;

typedef struct hd_kept {
    const hd_facts *facts;
    /* by block and X: branches that may diverge and have it as reconvergence point or target */
    uint32_t *branch_first, *branches;
    const bool *only; /* by block: whether its branch counts; NULL: all do */
    HD_ARRAY(hd_keeper) keepers;
    uint32_t *kept;  /* by block: 1 + the last word kept there */
    uint32_t *asked; /* by block: 1 + the last word for which its branch was examined */
    hd_u32_array blocks;
} hd_kept;

void hd_kept_init(hd_kept *kept, hd_facts *facts); /* in the facts' arena, except what hd_kept_free frees */
void hd_kept_free(hd_kept *kept);
void hd_kept_find(hd_kept *kept, uint32_t word); /* words in any order, each at most once */
/* Refers to the word of the last hd_kept_find. */
static inline bool hd_kept_in(const hd_kept *kept, uint32_t word, uint32_t block)
{
    return kept->kept[block] == word + 1;
}

#endif
