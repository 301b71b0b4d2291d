/* Uniformity, thread-level and warp-level liveness, warp-order graph: analyses built by the pass manager.
 *
 * A warp executes on a SIMT stack that reconverges lanes at a branch's immediate post-dominator; passes must not assume
 * an order of the sides of a divergent branch. Hence there are two levels of liveness. Thread level (TL): the values
 * that one lane needs. It suffices for renaming and allocation of registers, because writes are masked by lane. Warp
 * level (WL): the values that a warp-wide register must hold. It includes values of lanes that wait on another side or
 * at the reconvergence point; passes that free, move or share warp-wide registers use it. State of the warp as a whole
 * (held, allocated, cached registers) follows the warp order, not the edges of the CFG. The rules are in the heads of
 * passes/analysis/uniformity.c, liveness.c, warp_liveness.c and warp_order.c.
 *
 * All are near-linear in the function's size: sets are sparse (sorted register lists per block), never dense over
 * registers and blocks. Within a block, a walker steps backwards from the block's live-out.
 */
#ifndef HD_PASSES_ANALYSIS_LIVENESS_H
#define HD_PASSES_ANALYSIS_LIVENESS_H

#include "base/bitset.h"
#include "ir/storage.h"
#include "passes/analysis/async_spans.h"
#include "passes/pass.h"

/* Register ids, ascending, without duplicates. */
typedef struct hd_register_set {
    const uint32_t *items;
    uint32_t count;
} hd_register_set;
bool hd_register_set_has(hd_register_set set, uint32_t reg); /* O(log n) */

/* Union of sets, in linear time per step; a zeroed one is empty. If the result equals one of the sets, it shares that
 * set's memory. */
typedef struct hd_set_union {
    hd_register_set sole;       /* the union so far, if `items` is empty */
    hd_u32_array items, merged; /* the union so far; scratch space */
} hd_set_union;
void hd_set_union_add(hd_set_union *u, hd_register_set set);
hd_register_set hd_set_union_take(hd_set_union *u, hd_arena *arena); /* resets the union to empty */
void hd_set_union_free(hd_set_union *u);

typedef struct hd_uniformity {
    hd_bitset divergent_registers; /* by register */
    hd_bitset divergent_branches;  /* by block: its terminator may split the warp (it has > 1 successors) */
} hd_uniformity;

typedef struct hd_liveness {                   /* thread level (TL) */
    const hd_register_set *live_in, *live_out; /* by block; live_in also of X */
    hd_register_set module_wide;               /* registers declared at module scope: calls read them */
    hd_register_set module_wide_registers;     /* the same as register ids, even if items are words */
    const hd_storage *storage;                 /* items are its words; NULL: items are registers */
    const hd_async_spans *spans;               /* registers in flight are live; NULL: there are none */
    uint32_t items;                            /* number of items */
} hd_liveness;

/* The same for words of the register file, where an identity is no instruction. Keeps a pointer to `storage`. */
hd_liveness *hd_liveness_of_words(hd_function *function, const hd_storage *storage, hd_arena *arena);

/* a REGISTER operand that names only a part of its register */
bool hd_operand_is_part(const hd_function *function, const hd_operand *o);
/* Whether operand `o` (a REGISTER) of `insn` kills the previous value: an unguarded definition of the whole
 * register. */
static inline bool hd_definition_kills(const hd_function *function, const hd_instruction *insn, const hd_operand *o)
{
    return o->flags & HD_OPERAND_DEF && insn->guard == HD_NONE && !(insn->flags & HD_INSN_OPAQUE) &&
           !hd_operand_is_part(function, o);
}

typedef struct hd_warp_liveness { /* WL(p) = TL(p) union pend(block(p)) */
    const hd_liveness *thread;
    const hd_register_set *pend; /* by block */
    hd_liveness_rule rule;
} hd_warp_liveness;

/* Edges of the warp's dynamic order, over blocks, X and hubs. CFG edges are included, and come first. A hub is an
 * auxiliary node: each block with a path to it over hubs may be followed by each block that it reaches over hubs. */
typedef struct hd_warp_order {
    /* blocks, X, and hubs, each after its predecessors; all predecessors of hubs are reachable from the entry */
    uint32_t nodes;
    uint32_t *successor_first, *successors; /* CSR: successors of b = [successor_first[b], successor_first[b + 1]) */
    uint32_t *predecessor_first, *predecessors;
} hd_warp_order;

hd_uniformity *hd_uniformity_build(hd_pass_context *context, hd_arena *arena);
hd_liveness *hd_liveness_build(hd_pass_context *context, hd_arena *arena);
hd_warp_liveness *hd_warp_liveness_build(hd_pass_context *context, hd_arena *arena);
/* Warp-level liveness over `thread`, of registers or words; of the uniformity analysis only the divergent branches are
 * used. */
hd_warp_liveness *hd_warp_liveness_over(hd_pass_context *context, const hd_liveness *thread, hd_arena *arena);
hd_warp_order *hd_warp_order_build(hd_pass_context *context, hd_arena *arena);
hd_storage *hd_storage_build(hd_pass_context *context, hd_arena *arena);     /* hd_storage_of */
hd_liveness *hd_live_words_build(hd_pass_context *context, hd_arena *arena); /* hd_liveness_of_words */

/* Walks a block backwards. After hd_live_start the live set is the block's live-out; each hd_live_step moves to before
 * the preceding instruction, starting with the last. hd_live_has is O(1); members are dense for iteration. One walker
 * serves a whole function. With `pend` the live set is that of the warp: items pending in the block stay in it. */
typedef struct hd_live_walk {
    const hd_function *function;
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    uint32_t block, ordinal;             /* the live set is that before instruction `ordinal` */
    uint32_t *members, *position, count; /* sparse set over items: registers, or words */
    const hd_register_set *pend;         /* by block; NULL: thread level */
    uint32_t *pinned;                    /* by item: last block + 1 in which it is pending; NULL: no pend */
} hd_live_walk;
void hd_live_walk_init(hd_live_walk *walk, hd_arena *arena, hd_function *function, const hd_liveness *liveness);
void hd_live_walk_warp(hd_live_walk *walk, hd_arena *arena, hd_function *function, const hd_warp_liveness *warp);
void hd_live_start(hd_live_walk *walk, uint32_t block);
void hd_live_step(hd_live_walk *walk);
static inline bool hd_live_has(const hd_live_walk *w, uint32_t item)
{
    uint32_t p = w->position[item];
    return p < w->count && w->members[p] == item;
}

/* The live items before each instruction of one block, as a walk finds them. Zeroed: of none. */
typedef struct hd_live_lists {
    hd_u32_array members, ends; /* `ends`, by instruction from the last: where its list ends in `members` */
    uint32_t end;               /* of the block: ordinal */
} hd_live_lists;
void hd_live_lists_fill(hd_live_lists *lists, hd_live_walk *walk, uint32_t block);
hd_register_set hd_live_lists_before(const hd_live_lists *lists, uint32_t ordinal); /* of the block */
void hd_live_lists_free(hd_live_lists *lists);

#endif
