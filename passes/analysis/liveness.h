/* Uniformity, thread-level and warp-level liveness, warp-order graph: analyses that the pass manager builds.
 *
 * A warp runs on a SIMT stack that joins lanes again at the branch's immediate post-dominator; the order of a divergent
 * branch's sides is unknown to every pass. So there are two levels. Thread level (TL) is what one lane needs: enough
 * for naming registers, since writes are masked by lane. Warp level (WL) is what a warp-wide register must hold: it
 * also keeps what lanes need that wait at another side or at the join; whatever frees, moves or shares such registers
 * uses it. State of the warp as a whole (what is held, allocated, cached) follows the warp order, not the edges of the
 * CFG. The rules are at the heads of passes/analysis/uniformity.c, liveness.c, warp_liveness.c and warp_order.c.
 *
 * All are near-linear in the function's size: sets are sparse (sorted register lists per block), never dense over all
 * registers and blocks. Inside a block a walker steps backwards from the block's live-out.
 */
#ifndef HD_PASSES_ANALYSIS_LIVENESS_H
#define HD_PASSES_ANALYSIS_LIVENESS_H

#include "base/bitset.h"
#include "ir/storage.h"
#include "passes/analysis/async_spans.h"
#include "passes/pass.h"

/* A list of register ids, ascending, without repetition. */
typedef struct hd_register_set {
    const uint32_t *items;
    uint32_t count;
} hd_register_set;
bool hd_register_set_has(hd_register_set set, uint32_t reg); /* O(log n) */

/* Union of sets, in linear time per step; a zeroed one is empty. The result shares the memory of the set that it
 * equals. */
typedef struct hd_set_union {
    hd_register_set sole;       /* the union so far, where `items` is empty */
    hd_u32_array items, merged; /* the union so far; room for the next step */
} hd_set_union;
void hd_set_union_add(hd_set_union *u, hd_register_set set);
hd_register_set hd_set_union_take(hd_set_union *u, hd_arena *arena); /* and empties it */
void hd_set_union_free(hd_set_union *u);

typedef struct hd_uniformity {
    hd_bitset divergent_registers; /* by register */
    hd_bitset divergent_branches;  /* by block: its terminator may split the warp (needs > 1 successor) */
} hd_uniformity;

typedef struct hd_liveness {                   /* thread level (TL) */
    const hd_register_set *live_in, *live_out; /* by block; live_in also of X */
    hd_register_set module_wide;               /* registers declared at module scope: calls read them */
    hd_register_set module_wide_registers;     /* the same as registers, also where items are words */
    const hd_storage *storage;                 /* items are its words; NULL: they are registers */
    const hd_async_spans *spans;               /* registers in flight are live; NULL: none ever is */
    uint32_t items;                            /* how many there are */
} hd_liveness;

/* The same of the words of the register file, where an identity is no instruction. Keeps `storage`. */
hd_liveness *hd_liveness_of_words(hd_function *function, const hd_storage *storage, hd_arena *arena);

/* a REGISTER of which it names a part only */
bool hd_operand_is_part(const hd_function *function, const hd_operand *o);
/* Does operand `o` (a REGISTER) of `insn` end the life of the value before: an unguarded definition of the whole
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

/* Edges of the warp's dynamic order, over blocks, X and hubs; CFG edges included, and first. A hub is no place of the
 * code: each block that leads to it, at once or over others, may be followed by each one that it leads to. */
typedef struct hd_warp_order {
    /* blocks, X, and hubs, each after those that lead to it; all that leads to hubs is reached from the entry */
    uint32_t nodes;
    uint32_t *successor_first, *successors; /* CSR: successors of b = [successor_first[b], successor_first[b + 1]) */
    uint32_t *predecessor_first, *predecessors;
} hd_warp_order;

hd_uniformity *hd_uniformity_build(hd_pass_context *context, hd_arena *arena);
hd_liveness *hd_liveness_build(hd_pass_context *context, hd_arena *arena);
hd_warp_liveness *hd_warp_liveness_build(hd_pass_context *context, hd_arena *arena);
/* Over `thread`, of registers or words; of the uniformity analysis it asks only which branches may diverge. */
hd_warp_liveness *hd_warp_liveness_over(hd_pass_context *context, const hd_liveness *thread, hd_arena *arena);
hd_warp_order *hd_warp_order_build(hd_pass_context *context, hd_arena *arena);
hd_storage *hd_storage_build(hd_pass_context *context, hd_arena *arena);     /* hd_storage_of */
hd_liveness *hd_live_words_build(hd_pass_context *context, hd_arena *arena); /* hd_liveness_of_words */

/* Walks a block backwards: after hd_live_start the live set is the block's live-out; each hd_live_step moves before one
 * more instruction (the last first). hd_live_has is O(1); members are kept dense for iteration. One walker serves a
 * whole function. With `pend` the live set is that of the warp: what is pending in the block never leaves it. */
typedef struct hd_live_walk {
    const hd_function *function;
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    uint32_t block, ordinal;             /* live set is that before instruction `ordinal` */
    uint32_t *members, *position, count; /* sparse set over items: registers, or words */
    const hd_register_set *pend;         /* by block; NULL: thread level */
    uint32_t *pinned;                    /* by item: the last block + 1 in which it was pending; NULL: no pend */
} hd_live_walk;
void hd_live_walk_init(hd_live_walk *walk, hd_arena *arena, hd_function *function, const hd_liveness *liveness);
void hd_live_walk_warp(hd_live_walk *walk, hd_arena *arena, hd_function *function, const hd_warp_liveness *warp);
void hd_live_start(hd_live_walk *walk, uint32_t block);
void hd_live_step(hd_live_walk *walk);
/* As hd_live_has, of warp-level liveness: at the walk's place. The walk goes over warp->thread. */
bool hd_warp_live_has(const hd_warp_liveness *warp, const hd_live_walk *walk, uint32_t reg);
static inline bool hd_live_has(const hd_live_walk *w, uint32_t item)
{
    uint32_t p = w->position[item];
    return p < w->count && w->members[p] == item;
}

#endif
