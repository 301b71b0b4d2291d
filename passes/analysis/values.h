/* Which value each register holds: numbers of static single assignment form, over code that is not in that form.
 *
 * Every definition makes a value with a number of its own, also a guarded or partial one (the old value is part of it);
 * where paths meet that define a register differently, a value begins too. Two readings of a register with the same
 * number, at places where one dominates the other, read the same bits. So "the register still holds what it held there"
 * is a comparison of two numbers.
 *
 * The walk visits blocks in an order in which dominators come first. At any instruction, hd_value_of gives the number
 * of what a register holds there; a pass may change what the instruction reads, or replace it by one with the same
 * destinations, and then calls hd_value_define. Value 0 means "nothing is known": of registers declared at module scope
 * (calls may change them), of those that asynchronous instructions read or write (ir/asynchronous.def) and of those
 * with too many places where paths meet.
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
    uint32_t count;        /* numbers given so far; the first ones are what registers hold at the entry: reg + 1 */
    uint32_t block, end;   /* being walked: its instructions end before `end` */
    const hd_bitset *wild; /* by register: always value 0 */
    uint32_t next;         /* in `order` */
    const uint32_t *order; /* reachable blocks, dominators first */
    const uint32_t *meet_first, *meets; /* registers whose values meet at the start of a block */
    HD_ARRAY(hd_value_change) changes;  /* to undo, in the blocks of the path */
    HD_ARRAY(hd_value_change) path;     /* dominating blocks: reg = block, before = changes before it */
} hd_value_walk;

void hd_value_walk_start(hd_value_walk *walk, hd_function *function, hd_arena *arena);
void hd_value_walk_end(hd_value_walk *walk);
/* The next block: its first instruction; HD_NONE where all were walked. */
uint32_t hd_value_walk_block(hd_value_walk *walk);
/* Numbers what the instruction defines: after all readings of it. */
void hd_value_define(hd_value_walk *walk, uint32_t ordinal);
/* The same for one register, which an instruction defines there that an edit is still to insert. */
void hd_value_define_register(hd_value_walk *walk, uint32_t reg);

static inline uint32_t hd_value_of(const hd_value_walk *walk, uint32_t reg) { return walk->current[reg]; }

#endif
