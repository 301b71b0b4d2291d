/* ifconvert(limit=N): if-conversion of short branches.
 *
 *      @p bra L;                          @p bra E;  T..  bra J;
 *      T..            becomes  T guarded by !p          E:  E..  becomes  T guarded by !p, E guarded by p
 *  L:                                 J:
 *
 * Conditions: the sides are entered only by this branch, are in this order, and have at most N instructions together
 * (default 4), all of which compute, load or store: no atomics, barriers, calls, warp exchange, volatile, textures,
 * carries, guards; none writes p.
 *
 * A guarded definition does not kill (thread-level liveness), so a register used only in one side would seem live from
 * the kernel's start. Therefore a definition is guarded only if the other path needs the old value: registers live into
 * the other side (for T), into the join (for E). Otherwise the instruction executes in all lanes, if it only computes;
 * a load of such a register, which might fault, prevents the conversion. Hence no live range above the branch grows.
 *
 * Inner branches are converted first; repeated while something changes, at most HD_IFCONVERT_ROUNDS times. Linear per
 * round. Not handled: sides of several blocks, or in another order.
 */
#include "passes/analysis/liveness.h"
#include "passes/rewrite.h"

enum { HD_IFCONVERT_ROUNDS = 4 };

typedef struct ifconvert {
    hd_function *function;
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    hd_edit edit;
    uint32_t limit;
    uint64_t branches, guarded, always;
} ifconvert;

typedef struct shape {
    uint32_t block;                /* the block that ends with the branch */
    uint32_t then_first, then_end; /* the fall-through side, without its final jump */
    uint32_t else_first, else_end; /* empty if there is one side */
    uint32_t jump;                 /* that of the first side; HD_NONE: it falls through */
    uint32_t other, join;          /* blocks: the branch's target; the reconvergence point */
} shape;

/* ---- shape ------------------------------------------------------------------------------------------------------- */

static bool ends_with_jump(const hd_function *f, const hd_block *block)
{
    return hd_insn_flow(f, &f->instructions.items[block->end - 1]) != HD_FLOW_NEXT;
}

/* Whether `from` is its only predecessor and it has one successor, `*to`. */
static bool is_side(const ifconvert *p, uint32_t b, uint32_t from, uint32_t *to)
{
    const hd_block *block = &p->cfg->blocks[b];
    if (block->pred_count != 1 || hd_block_predecessors(p->cfg, b)[0] != from || block->succ_count != 1)
        return false;
    *to = hd_block_successors(p->cfg, b)[0];
    return *to != p->cfg->block_count;
}

static bool is_plain_jump(const hd_function *f, uint32_t ordinal)
{
    const hd_instruction *insn = &f->instructions.items[ordinal];
    return hd_insn_form(f, insn)->opcode == HD_OP_BRA && !(insn->flags & HD_INSN_OPAQUE);
}

static bool find_shape(const ifconvert *p, uint32_t b, shape *s)
{
    const hd_function *f = p->function;
    const hd_block *blocks = p->cfg->blocks, *block = &blocks[b];
    uint32_t then = b + 1, to;
    if (!block->reachable || block->succ_count != 2 || !is_plain_jump(f, block->end - 1) ||
        f->instructions.items[block->end - 1].guard == HD_NONE || then >= p->cfg->block_count ||
        !is_side(p, then, b, &s->join))
        return false;
    const uint32_t *next = hd_block_successors(p->cfg, b);
    s->block = b;
    s->other = next[0] == then ? next[1] : next[0];
    if (s->other == p->cfg->block_count)
        return false;
    bool jumps = ends_with_jump(f, &blocks[then]);
    if (jumps && !is_plain_jump(f, blocks[then].end - 1))
        return false;
    s->jump = jumps ? blocks[then].end - 1 : HD_NONE;
    s->then_first = blocks[then].first;
    s->then_end = blocks[then].end - jumps;
    s->else_first = s->else_end = blocks[then].end;
    if (s->other == s->join)
        return s->join == then + 1;
    if (s->other != then + 1 || !is_side(p, s->other, b, &to) || to != s->join || s->join != s->other + 1 ||
        ends_with_jump(f, &blocks[s->other]))
        return false;
    s->else_end = blocks[s->other].end;
    return true;
}

/* ---- instructions of the sides ----------------------------------------------------------------------------------- */

static bool may_be_guarded(const hd_function *f, const hd_instruction *insn, uint32_t guard)
{
    const hd_form *form = hd_insn_form(f, insn);
    bool store = form->opcode == HD_OP_ST && !(form->behaviour & HD_BEHAVE_VOLATILE);
    if (insn->guard != HD_NONE || insn->flags & HD_INSN_OPAQUE || form->behaviour & HD_BEHAVE_TEXTURE || form->flags ||
        (!store && !hd_insn_is_removable(f, insn)))
        return false;
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_DEF && o->value == guard)
            return false;
    return true;
}

typedef enum treatment { KEEPS_BRANCH, RUNS_ALWAYS, IS_GUARDED } treatment;

static treatment treat(const ifconvert *p, uint32_t ordinal, uint32_t guard, hd_register_set needed)
{
    const hd_function *f = p->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    uint32_t defined = 0, kept = 0;
    if (!may_be_guarded(f, insn, guard))
        return KEEPS_BRANCH;
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_DEF) {
            defined++;
            kept += hd_register_set_has(needed, o->value);
        }
    if (kept == defined)
        return IS_GUARDED;
    bool computes = !(hd_insn_form(f, insn)->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE));
    return kept == 0 && computes ? RUNS_ALWAYS : KEEPS_BRANCH;
}

static bool side_may_go(const ifconvert *p, uint32_t first, uint32_t end, uint32_t guard, hd_register_set needed)
{
    for (uint32_t i = first; i < end; i++)
        if (treat(p, i, guard, needed) == KEEPS_BRANCH)
            return false;
    return true;
}

static void guard_side(ifconvert *p, uint32_t first, uint32_t end, uint32_t guard, bool inverted,
                       hd_register_set needed)
{
    for (uint32_t i = first; i < end; i++) {
        hd_instruction *insn = &p->function->instructions.items[i];
        if (treat(p, i, guard, needed) == RUNS_ALWAYS) {
            p->always++;
            continue;
        }
        insn->guard = guard;
        insn->flags |= (uint16_t)(HD_INSN_DIRTY | (inverted ? HD_INSN_GUARD_NOT : 0));
        p->guarded++;
    }
}

static void convert(ifconvert *p, const shape *s)
{
    const hd_function *f = p->function;
    uint32_t branch = p->cfg->blocks[s->block].end - 1, guard = f->instructions.items[branch].guard;
    bool inverted = f->instructions.items[branch].flags & HD_INSN_GUARD_NOT;
    hd_register_set into_other = p->liveness->live_in[s->other], into_join = p->liveness->live_in[s->join];
    if (s->then_end - s->then_first + (s->else_end - s->else_first) > p->limit)
        return;
    if (!side_may_go(p, s->then_first, s->then_end, guard, into_other) ||
        !side_may_go(p, s->else_first, s->else_end, guard, into_join))
        return;
    guard_side(p, s->then_first, s->then_end, guard, !inverted, into_other);
    guard_side(p, s->else_first, s->else_end, guard, inverted, into_join);
    hd_edit_remove(&p->edit, branch);
    if (s->jump != HD_NONE)
        hd_edit_remove(&p->edit, s->jump);
    p->branches++;
}

static bool sweep(ifconvert *p, hd_pass_context *context)
{
    hd_arena arena = {0};
    shape s;
    p->cfg = hd_function_cfg(p->function);
    p->liveness = hd_liveness_build(context, &arena);
    hd_edit_begin(&p->edit, p->function);
    for (uint32_t b = 0; b < p->cfg->block_count; b++)
        if (find_shape(p, b, &s))
            convert(p, &s);
    hd_arena_free(&arena);
    return hd_edit_end(&p->edit);
}

bool hd_pass_ifconvert(hd_pass_context *context)
{
    ifconvert p = {.function = context->function, .limit = hd_option_number(context, "limit", 4)};
    bool changed = false;
    for (uint32_t round = 0; round < HD_IFCONVERT_ROUNDS && sweep(&p, context); round++)
        changed = true;
    hd_statistic_add(context, "branches removed", p.branches);
    hd_statistic_add(context, "instructions guarded", p.guarded);
    hd_statistic_add(context, "instructions made unconditional", p.always);
    return changed;
}
