/* Value numbers: static single assignment numbering over code that is not in SSA form.
 *
 * Every definition creates a value with a new number, including guarded and partial ones (which include the old value);
 * so does a join of paths with different values of a register. Two reads of a register with the same number, at points
 * where one dominates the other, read the same bits. So "the register still holds that value" is a comparison of two
 * numbers.
 *
 * The walk visits dominators first. At any instruction, hd_value_of gives the value number of a register; a pass may
 * change what the instruction reads, or replace it by one with the same destinations, and then calls hd_value_define.
 * Value 0 means "unknown": for registers declared at module scope (calls may change them), registers of asynchronous
 * instructions (ir/asynchronous.def), and registers with too many joins.
 */
#ifndef HD_PASSES_ANALYSIS_VALUES_H
#define HD_PASSES_ANALYSIS_VALUES_H

#include "base/bitset.h"
#include "passes/pass.h"

typedef struct hd_value_change {
    uint32_t reg, before;
} hd_value_change;

typedef struct hd_value_walk {
    hd_function *function;
    const hd_cfg *cfg;
    uint32_t *current;     /* by register */
    uint32_t count;        /* numbers assigned so far; the first ones are the values at the entry: reg + 1 */
    uint32_t block, end;   /* the current block; its instructions end before `end` */
    const hd_bitset *wild; /* by register: its value is always 0 */
    uint32_t next;         /* in `order` */
    const uint32_t *order; /* reachable blocks, dominators first */
    const uint32_t *meet_first, *meets; /* registers with a join at the start of a block */
    HD_ARRAY(hd_value_change) changes;  /* undo log for the blocks of the path */
    HD_ARRAY(hd_value_change) path;     /* dominating blocks: reg = block, before = length of the undo log before it */
} hd_value_walk;

void hd_value_walk_start(hd_value_walk *walk, hd_function *function, hd_arena *arena);
void hd_value_walk_end(hd_value_walk *walk);
/* Enters the next block and returns its first instruction; HD_NONE: all blocks were visited. */
uint32_t hd_value_walk_block(hd_value_walk *walk);
/* Numbers the values that the instruction defines; call it after all queries about its reads. */
void hd_value_define(hd_value_walk *walk, uint32_t ordinal);
/* The same for one register, defined there by an instruction that an edit will insert. */
void hd_value_define_register(hd_value_walk *walk, uint32_t reg);

static inline uint32_t hd_value_of(const hd_value_walk *walk, uint32_t reg) { return walk->current[reg]; }

#endif
