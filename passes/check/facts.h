/* What checkers know about a function, worked out one register and one branch at a time.
 *
 *   accesses       by register: the instructions that read or write it, in text order
 *   live blocks    by register: the blocks into which it is live (thread level): backwards from each read that nothing
 *     in its block
 *                  precedes, until a block that overwrites it
 *   flights        by register: where asynchronous instructions have it in flight (flights.h). There it is live before
 *                  each instruction, and a
 *                  write of it is one that is not for sure
 *   words          all three also by word of the register file (ir/storage.h), whatever its names; identities access
 *                  nothing
 *   divergence     registers and branches, by the rules: divergent sources, operands and guards; and what is written
 *                  between a divergent
 *                  branch and its reconvergence point and is live into that point
 *   cut edges      out-edges of divergent branches, and the edges into their reconvergence points from them and what
 *     they reach before:
 *                  after such an edge the warp may run other code first
 *
 * Complexity: live blocks O(size of the live ranges), divergence linear, but for blocks that are searched in vain:
 * where a uniform register is live into the join of a divergent branch, and is written in a loop around both, or code
 * after one fails.
 */
#ifndef HD_PASSES_CHECK_FACTS_H
#define HD_PASSES_CHECK_FACTS_H

#include "base/bitset.h"
#include "ir/annotations.h"
#include "ir/cfg.h"
#include "ir/storage.h"
#include "passes/check/flights.h"
#include "passes/check/sides.h"

enum {
    HD_ACCESS_READ = 1,
    HD_ACCESS_KILL = 2,
    HD_ACCESS_WEAK = 4, /* written, but not for sure or not wholly */
    HD_ACCESS_HELD = 8, /* in flight: live before the instruction, though that may not name it */
};
typedef struct hd_access {
    uint32_t ordinal;
    uint8_t kinds; /* of all operands of the instruction that name the register; reads come before writes */
} hd_access;

typedef struct hd_lives { /* of registers or of words: `item` is one of them */
    const hd_function *function;
    const hd_cfg *cfg;
    const hd_storage *storage; /* of words; NULL: of registers */
    uint32_t count;
    uint32_t *access_first; /* by item, and one more */
    hd_access *accesses;
    uint32_t *live_first;  /* by item, and one more */
    hd_u32_array live;     /* ascending blocks */
    hd_bitset leaving;     /* by item: see hd_lives_leaves_with */
    hd_bitset module_wide; /* by item: declared at module scope, so that any function may access it */
    hd_flights flights;
} hd_lives;

typedef struct hd_facts {
    hd_arena arena;
    hd_function *function;
    const hd_cfg *cfg;
    hd_storage storage;
    hd_lives registers, words;
    hd_bitset divergent; /* by register */
    hd_bitset splits;    /* by block: its branch may diverge */
    hd_sides sides;
    uint32_t *by_join, split_count; /* blocks in `splits`, those with one reconvergence point together */
    hd_bitset cut;                  /* by index in cfg->successors */
} hd_facts;

void hd_facts_build(hd_facts *facts, hd_function *function);
void hd_facts_free(hd_facts *facts);

/* First access of an item at or after an ordinal: index in accesses; access_first[item + 1] where there is none. */
uint32_t hd_lives_access_from(const hd_lives *lives, uint32_t item, uint32_t ordinal);
bool hd_lives_live_into(const hd_lives *lives, uint32_t item, uint32_t block); /* not asked of X: see leaves_with */
/* Live after instruction `ordinal`. */
bool hd_lives_live_after(const hd_lives *lives, uint32_t item, uint32_t ordinal);
/* The caller reads it after the return: a register result, or a register of the module. */
static inline bool hd_lives_leaves_with(const hd_lives *lives, uint32_t item)
{
    return hd_bitset_has(&lives->leaving, item);
}

#endif
