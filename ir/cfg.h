/* Control-flow graph, dominators, post-dominators, loops, and the reconvergence table of a function.
 *
 * Blocks are ranges of function->instructions in text order; block 0 is the entry. The number `block_count` denotes the
 * virtual exit X, the successor of exits, returns and traps (a guarded one is a branch with target X) and of the end of
 * the body. A call, guarded or not, does not end a block unless the callee is .noreturn. Successors are unique and
 * ordered: taken targets first, fall-through last.
 *
 * Reconvergence point: r(b) = the immediate post-dominator of b. For this, a block that cannot reach X has a
 * pseudo-edge to X, and edges into failing blocks (every path ends in a trap or a .noreturn call) count only if they
 * start in failing blocks. Passes, checkers and the interpreter all use this table.
 *
 * Construction is near-linear; irreducible graphs are supported.
 */
#ifndef HD_IR_CFG_H
#define HD_IR_CFG_H

#include "base/bitset.h"
#include "ir/form.h"

typedef struct hd_block {
    uint32_t first, end;             /* instruction ordinals [first, end); never empty except in an empty body */
    uint32_t succ_first, succ_count; /* in cfg->successors; X appears as block_count */
    uint32_t pred_first, pred_count; /* in cfg->predecessors */
    uint32_t dominator;              /* immediate; HD_NONE for the entry and unreachable blocks */
    uint32_t post_dominator;         /* immediate, = reconvergence point r(b); block_count = X */
    uint32_t loop;                   /* innermost loop or HD_NONE */
    bool reachable, conditional;     /* conditional: more than one successor (a branch that may diverge) */
    bool fails;                      /* every path to X ends in a trap or a .noreturn call */
} hd_block;

typedef struct hd_loop {
    uint32_t header; /* for an irreducible region: its first entry in text order */
    uint32_t parent; /* enclosing loop or HD_NONE */
    uint32_t depth;  /* 1 for an outermost loop */
    bool irreducible;
} hd_loop;

struct hd_cfg {
    hd_arena arena;
    hd_block *blocks;
    uint32_t block_count;
    uint32_t *successors, *predecessors;
    uint32_t *exit_predecessors, exit_predecessor_count; /* real edges into X */
    uint32_t *post_order, *reverse_post_order;           /* blocks reachable from the entry; without X */
    uint32_t reachable_count;
    uint32_t *block_of;             /* by instruction ordinal */
    uint32_t *post_dominator_depth; /* by block and X: distance to X in the post-dominator tree */
    hd_loop *loops;                 /* an outer loop precedes its inner loops */
    uint32_t loop_count;
    uint32_t *dominator_enter, *dominator_leave;           /* intervals of the dominator tree, by block and X */
    uint32_t *post_dominator_enter, *post_dominator_leave; /* of the post-dominator tree */
};

/* The effect of an instruction on control flow, ignoring its guard: continue, branch to its labels, or leave the
 * function (return, exit, trap, .noreturn call). Any but NEXT ends its block. */
typedef enum hd_flow { HD_FLOW_NEXT, HD_FLOW_BRANCH, HD_FLOW_LEAVE } hd_flow;
hd_flow hd_insn_flow(const hd_function *function, const hd_instruction *insn);

hd_cfg *hd_function_cfg(hd_function *function);   /* built on demand, kept in function->cfg */
void hd_function_drop_cfg(hd_function *function); /* required after changes of control flow or instruction order */
/* Reflexive; an unreachable block is dominated by itself only. O(1). */
bool hd_block_dominates(const hd_cfg *cfg, uint32_t a, uint32_t b);
bool hd_block_post_dominates(const hd_cfg *cfg, uint32_t a, uint32_t b); /* a may be X */

static inline const uint32_t *hd_block_successors(const hd_cfg *cfg, uint32_t b)
{
    return cfg->successors + cfg->blocks[b].succ_first;
}
static inline const uint32_t *hd_block_predecessors(const hd_cfg *cfg, uint32_t b)
{
    return cfg->predecessors + cfg->blocks[b].pred_first;
}

/* The blocks from which one of those in the list can be reached, these included. Empties the list. Linear. */
hd_bitset hd_cfg_reaching(const hd_cfg *cfg, hd_u32_array *blocks, hd_arena *arena);

/* Rank of a join for flooding the sides of branches, where a flood skips blocks visited by an earlier one: the farthest
 * join first, because all paths to it pass the nearer ones. Joins in failing code come last: no flood to another join
 * visits them. */
static inline uint32_t hd_join_rank(const hd_cfg *cfg, uint32_t join)
{
    bool fails = join != cfg->block_count && cfg->blocks[join].fails;
    return cfg->post_dominator_depth[join] + (fails ? cfg->block_count : 0);
}

/* Checks every invariant of the module's IR (and of CFGs that exist): index ranges, edges in both directions,
 * terminators last, labels, roles, annotations sorted and in range. Reports HD_DIAG_INVALID_IR; true if all hold. */
bool hd_ir_validate(hd_module *module);
bool hd_ir_validate_function(hd_function *function, hd_diagnostics *diagnostics);

#endif
