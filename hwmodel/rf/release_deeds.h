/* What warps do with a renamed register file that all of them share (release.c): deeds, see `share` in memo.h, and
 * how they are arranged where they will be done again and again.
 *
 * As long as a bank gets back only what was taken from it in the same deeds, each register that is taken is the first
 * one that would have been before them, or the second one, and so on (hd_physical_coming), its rank, which follows from
 * the deeds alone: many short lives are few ranks, or, where registers are taken in turns, at least one deed each. What
 * a bank does up to where it gets another one back is told by ranks, too, for when all of these are known to have
 * power: then power does not change in between, and it does not matter when they are done.
 *
 * O(banks x deeds + deeds x ranks).
 */
#ifndef HD_HWMODEL_RF_RELEASE_DEEDS_H
#define HD_HWMODEL_RF_RELEASE_DEEDS_H

#include "hwmodel/rf/technique.h"

enum { HD_RELEASE_RANKS = 64 /* of all banks, at most */ };

typedef enum hd_release_deed_kind {
    /* `also` instructions begin; then a physical register for the word `index` of its frame, and n accesses of it */
    HD_RELEASE_TAKE = HD_SHARED_NONE + 1,
    HD_RELEASE_GIVE,  /* likewise; then the one of `index`, away, n accesses later */
    HD_RELEASE_ISSUE, /* n instructions begin */
    /* before these three: n of all that follow begin; over them, the sum of registers taken since here is `index` */
    HD_RELEASE_TELL,
    HD_RELEASE_MOST,   /* behind it: ... and the most of them, where n is not 0 */
    HD_RELEASE_ACCESS, /* of the physical register of `index`, which has had it since before all these, n times */
    HD_RELEASE_FETCH,  /* `index`: a pir word is wanted (1 + its address), from the n-th entry of the flag cache */
    HD_RELEASE_NAME,
    HD_RELEASE_UNNAME, /* n words of a frame that begins, or ends */
    /* the next n deeds are in place of all behind them, if the first of these, as many as `index`, can be done:
     * ranks */
    HD_RELEASE_PLAN,
    HD_RELEASE_BANK, /* n ranks follow, of the bank of the register `index` */
    HD_RELEASE_RANK, /* n accesses of it; `also`: then it is the one of `index` */
} hd_release_deed_kind;

/* Those of a warp; banks: of the file; robin: its registers are taken in turns. */
void hd_release_arrange(hd_shared_ops *deeds, uint32_t banks, bool robin);

#endif
