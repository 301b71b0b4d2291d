/* Uniformity, thread-level and warp-level liveness, warp-order graph: the analyses of SOUNDNESS, built by the pass manager.
 *
 * All are near-linear in the function's size: sets are sparse (sorted register lists per block), never dense over all registers
 * and blocks. Inside a block a walker steps backwards from the block's live-out.
 */
#ifndef HD_PASSES_LIVENESS_H
#define HD_PASSES_LIVENESS_H

#include "base/bitset.h"
#include "passes/pass.h"

/* A list of register ids, ascending, without repetition. */
typedef struct hd_register_set { const uint32_t *items; uint32_t count; } hd_register_set;
bool hd_register_set_has(hd_register_set set, uint32_t reg);

typedef struct hd_uniformity {
    hd_bitset divergent_registers;  /* by register */
    hd_bitset divergent_branches;   /* by block: its terminator may split the warp (needs > 1 successor) */
} hd_uniformity;

typedef struct hd_liveness {          /* thread level (TL) */
    const hd_register_set *live_in, *live_out; /* by block */
} hd_liveness;

typedef struct hd_warp_liveness {     /* WL(p) = TL(p) union pend(block(p)) */
    const hd_liveness *thread;
    const hd_register_set *pend;      /* by block */
    hd_liveness_rule rule;
} hd_warp_liveness;

typedef struct hd_warp_order {        /* edges of the warp's dynamic order; CFG edges included */
    uint32_t *successor_first, *successors;     /* CSR: successors of b = [successor_first[b], successor_first[b + 1]) */
    uint32_t *predecessor_first, *predecessors;
} hd_warp_order;

hd_uniformity *hd_uniformity_build(hd_pass_context *context, hd_arena *arena);
hd_liveness *hd_liveness_build(hd_pass_context *context, hd_arena *arena);
hd_warp_liveness *hd_warp_liveness_build(hd_pass_context *context, hd_arena *arena);
hd_warp_order *hd_warp_order_build(hd_pass_context *context, hd_arena *arena);

/* Walks a block backwards: after hd_live_start the live set is the block's live-out; each hd_live_step moves before one
 * more instruction (the last first). hd_live_has is O(1); members are kept dense for iteration. One walker serves a whole function. */
typedef struct hd_live_walk {
    const hd_function *function;
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    uint32_t block, ordinal;  /* live set is that before instruction `ordinal` */
    uint32_t *members, *position, count; /* sparse set over registers */
} hd_live_walk;
void hd_live_walk_init(hd_live_walk *walk, hd_arena *arena, hd_function *function, const hd_liveness *liveness);
void hd_live_start(hd_live_walk *walk, uint32_t block);
void hd_live_step(hd_live_walk *walk);
static inline bool hd_live_has(const hd_live_walk *w, uint32_t reg) { uint32_t p = w->position[reg]; return p < w->count && w->members[p] == reg; }

#endif
