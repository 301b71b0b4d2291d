/* Registers needed by lanes that wait at an instruction while others of their warp run: at a barrier, or another
 * instruction of HD_BEHAVE_YIELD or _MEET.
 *
 * Lanes of several sides meet at an instruction of HD_BEHAVE_MEET, and read their operands only then.
 *
 * Other lanes can run if the instruction has a guard, which lets them pass, and in a side of a branch that may diverge
 * and has two or more sides (waiting at a reconvergence point keeps no side from running). So a word that is live after
 * such an instruction is needed everywhere, or in all blocks of such sides; so is a word kept there for lanes that wait
 * at a branch within such a side. Linear in the edges, except for sorting the sides; the first query about a word
 * examines each such instruction.
 */
#ifndef HD_PASSES_CHECK_WAITS_H
#define HD_PASSES_CHECK_WAITS_H

#include "passes/check/kept.h"

typedef struct hd_waits {
    const hd_facts *facts;
    bool *two_sided; /* by block: it is in such a side; in the facts' arena */
    hd_u32_array at; /* instructions */
    hd_kept kept;    /* for branches in such sides */
    uint8_t *needed; /* by word: where; 0: not computed yet */
} hd_waits;

void hd_waits_find(hd_waits *waits, hd_facts *facts);
void hd_waits_free(hd_waits *waits);
/* Whether lanes that wait at an instruction need the word while others are in the block. */
bool hd_waits_need(hd_waits *waits, uint32_t word, uint32_t block);

/* Whether lanes of several sides meet at the instruction. */
bool hd_waits_meet(const hd_waits *waits, uint32_t instruction);

#endif
