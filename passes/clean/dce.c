/* dce: dead-code elimination.
 *
 * Removes instructions that only compute destinations (including loads that are neither volatile nor ordered) if none
 * of these is read: first those that no instruction with a side effect needs, across blocks and loops, ignoring the
 * order of definitions; then those whose destinations are dead after them by thread-level liveness; repeated while
 * something is removed, at most HD_DCE_ROUNDS times. Also removes moves of a register to itself.
 *
 * Stores, atomics, barriers, warp-wide exchange, calls, fences, volatile and unknown instructions stay, with everything
 * they depend on. Annotations of removed instructions are removed. Linear per round. Unreachable blocks stay.
 */
#include "ir/asynchronous.h"
#include "passes/analysis/liveness.h"
#include "passes/rewrite.h"

enum { HD_DCE_ROUNDS = 8 };

typedef struct dce {
    hd_pass_context *context;
    hd_function *function;
    hd_bitset dead; /* by ordinal */
    uint64_t removed;
} dce;

static bool has_destination(const hd_function *f, const hd_instruction *insn)
{
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_DEF)
            return true;
    return false;
}

static bool moves_to_itself(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    return hd_insn_form(f, insn)->opcode == HD_OP_MOV && insn->operand_count == 2 && !(insn->flags & HD_INSN_OPAQUE) &&
           o[0].kind == HD_OPERAND_REGISTER && o[1].kind == HD_OPERAND_REGISTER && o[0].value == o[1].value &&
           !o[0].extra && !o[1].extra && !(o[1].flags & HD_OPERAND_NOT);
}

static bool may_go(const hd_function *f, const hd_instruction *insn)
{
    return hd_insn_is_removable(f, insn) && has_destination(f, insn);
}

/* ---- needed by an instruction with a side effect ----------------------------------------------------------------- */

typedef struct marking {
    const hd_function *function;
    uint32_t *first, *definers; /* by register: ordinals that define it */
    hd_bitset needed;           /* by ordinal */
    hd_bitset wanted;           /* by register */
    hd_u32_array due;           /* registers */
} marking;

static void want(marking *m, uint32_t reg)
{
    if (hd_bitset_has(&m->wanted, reg))
        return;
    hd_bitset_add(&m->wanted, reg);
    hd_array_push(&m->due, reg);
}

static void need(marking *m, uint32_t ordinal)
{
    const hd_instruction *insn = &m->function->instructions.items[ordinal];
    if (hd_bitset_has(&m->needed, ordinal))
        return;
    hd_bitset_add(&m->needed, ordinal);
    HD_INSN_REGISTERS (m->function, insn, o)
        if (o->flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE)
            want(m, o->value);
    if (insn->guard != HD_NONE)
        want(m, insn->guard);
    if (hd_insn_async(m->function, insn).part == HD_ASYNC_BEGIN) /* registers in flight count as read */
        HD_ASYNC_DATA (m->function, insn, o)
            want(m, o->value);
}

static void list_definers(marking *m, hd_arena *arena)
{
    const hd_function *f = m->function;
    m->first = HD_ARENA_ARRAY(arena, uint32_t, f->registers.count + 1);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            m->first[o->value + 1] += (o->flags & HD_OPERAND_DEF) != 0;
    for (uint32_t r = 0; r < f->registers.count; r++)
        m->first[r + 1] += m->first[r];
    m->definers = HD_ARENA_ARRAY(arena, uint32_t, m->first[f->registers.count]);
    uint32_t *fill = hd_arena_copy(arena, m->first, (f->registers.count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            if (o->flags & HD_OPERAND_DEF)
                m->definers[fill[o->value]++] = i;
}

static void want_what_others_read(marking *m)
{
    const hd_function *f = m->function;
    for (uint32_t i = 0; i < f->register_results.count; i++)
        want(m, f->register_results.items[i]);
    for (uint32_t r = 0; r < f->registers.count; r++) {
        uint32_t declaration = f->registers.items[r].declaration;
        if (declaration < f->declarations.count && f->declarations.items[declaration].depth == 0)
            want(m, r);
    }
}

static void find_unneeded(dce *d, hd_arena *arena)
{
    const hd_function *f = d->function;
    marking m = {.function = f,
                 .needed = hd_bitset_new(arena, f->instructions.count),
                 .wanted = hd_bitset_new(arena, f->registers.count)};
    list_definers(&m, arena);
    want_what_others_read(&m);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (!may_go(f, &f->instructions.items[i]))
            need(&m, i);
    while (m.due.count) {
        uint32_t reg = hd_array_pop(&m.due);
        for (uint32_t i = m.first[reg]; i < m.first[reg + 1]; i++)
            need(&m, m.definers[i]);
    }
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (!hd_bitset_has(&m.needed, i))
            hd_bitset_add(&d->dead, i);
    hd_array_free(&m.due);
}

/* ---- dead by liveness -------------------------------------------------------------------------------------------- */

static bool any_alive(const hd_function *f, const hd_instruction *insn, const hd_live_walk *walk)
{
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_DEF && hd_live_has(walk, o->value))
            return true;
    return false;
}

static void find_dead(dce *d, hd_arena *arena)
{
    const hd_function *f = d->function;
    const hd_cfg *cfg = hd_function_cfg(d->function);
    hd_live_walk walk;
    hd_live_walk_init(&walk, arena, d->function, hd_liveness_build(d->context, arena));
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        if (!cfg->blocks[b].reachable)
            continue;
        for (hd_live_start(&walk, b); walk.ordinal > cfg->blocks[b].first;) {
            uint32_t i = walk.ordinal - 1;
            const hd_instruction *insn = &f->instructions.items[i];
            if (!hd_bitset_has(&d->dead, i) && !moves_to_itself(f, insn) &&
                !(may_go(f, insn) && !any_alive(f, insn, &walk))) {
                hd_live_step(&walk);
                continue;
            }
            hd_bitset_add(&d->dead, i);
            walk.ordinal = i; /* its operands do not become live */
        }
    }
}

static bool sweep(dce *d)
{
    hd_arena arena = {0};
    hd_edit edit;
    d->dead = hd_bitset_new(&arena, d->function->instructions.count);
    find_unneeded(d, &arena);
    find_dead(d, &arena);
    hd_edit_begin(&edit, d->function);
    HD_BITSET_EACH (&d->dead, i) {
        hd_edit_remove(&edit, i);
        d->removed++;
    }
    hd_arena_free(&arena);
    return hd_edit_end(&edit);
}

bool hd_pass_dce(hd_pass_context *context)
{
    dce d = {.context = context, .function = context->function};
    bool any = false;
    for (uint32_t round = 0; round < HD_DCE_ROUNDS && sweep(&d); round++)
        any = true;
    hd_statistic_add(context, "instructions removed", d.removed);
    return any;
}
