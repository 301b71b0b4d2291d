/* Facts about a function for checkers, computed one register and one branch at a time.
 *
 *   accesses       by register: the instructions that read or write it, in text order
 *   live blocks    by register: the blocks into which it is live (thread level): backwards from each upward-exposed
 *                  read up to blocks that overwrite it
 *   flights        by register: where asynchronous instructions have it in flight (flights.h). There it is live before
 *                  each instruction, and a write of it does not certainly overwrite it
 *   words          all three also by word of the register file (ir/storage.h), whatever its names; identities access
 *                  nothing
 *   divergence     of registers and branches, by these rules: divergent sources, operands and guards; registers written
 *                  between a divergent branch and its reconvergence point and live into that point
 *   cut edges      out-edges of divergent branches, and edges into their reconvergence points from them and from blocks
 *                  that they reach before: after such an edge the warp may execute other code first
 *
 * Complexity: live blocks O(size of the live ranges), divergence linear, except for unsuccessful searches: if a uniform
 * register is live into the join of a divergent branch, and is written in a loop around both, or failing code follows
 * one.
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
    HD_ACCESS_WEAK = 4, /* written conditionally or in part */
    HD_ACCESS_HELD = 8, /* in flight: live before the instruction even if it does not name it */
};
typedef struct hd_access {
    uint32_t ordinal;
    uint8_t kinds; /* of all operands of the instruction that name the register; reads precede writes */
} hd_access;

typedef struct hd_lives { /* of registers or of words; an `item` is one of them */
    const hd_function *function;
    const hd_cfg *cfg;
    const hd_storage *storage; /* for words; NULL: registers */
    uint32_t count;
    uint32_t *access_first; /* by item, plus one */
    hd_access *accesses;
    uint32_t *live_first;  /* by item, plus one */
    hd_u32_array live;     /* ascending blocks */
    hd_bitset leaving;     /* by item: see hd_lives_leaves_with */
    hd_bitset module_wide; /* by item: declared at module scope, so any function may access it */
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
    uint32_t *by_join, split_count; /* blocks in `splits`, grouped by reconvergence point */
    hd_bitset cut;                  /* by index in cfg->successors */
} hd_facts;

void hd_facts_build(hd_facts *facts, hd_function *function);
void hd_facts_free(hd_facts *facts);

/* First access of an item at or after an ordinal: index in accesses; access_first[item + 1] if there is none. */
uint32_t hd_lives_access_from(const hd_lives *lives, uint32_t item, uint32_t ordinal);
bool hd_lives_live_into(const hd_lives *lives, uint32_t item, uint32_t block); /* not for X: see leaves_with */
/* Live after instruction `ordinal`. */
bool hd_lives_live_after(const hd_lives *lives, uint32_t item, uint32_t ordinal);
/* Whether the caller reads it after the return: a register result, or a module-scope register. */
static inline bool hd_lives_leaves_with(const hd_lives *lives, uint32_t item)
{
    return hd_bitset_has(&lives->leaving, item);
}

#endif
