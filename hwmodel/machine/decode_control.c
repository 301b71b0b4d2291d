/* Completes branches, barriers and exchanges between lanes. */
#include "hwmodel/machine/decoder.h"

#include "ir/cfg.h"

#include <stdio.h>

/* ---- targets ----------------------------------------------------------------------------------------------------- */

/* The first label that the instruction names; HD_NONE. */
static uint32_t label_of(const hd_machine_decoder *d)
{
    const hd_function *f = d->function;
    const hd_operand *o = hd_insn_operands(f, d->insn), *end = o + d->insn->operand_count;
    for (; o < end; o++)
        if (o->kind == HD_OPERAND_LABEL && f->labels.items[o->value].instruction <= f->instructions.count)
            return f->labels.items[o->value].instruction;
    return HD_NONE;
}

/* Where lanes meet that the instruction sends apart: the table that passes use. */
static uint32_t join_of(const hd_machine_decoder *d)
{
    const hd_cfg *cfg = hd_function_cfg(d->function);
    uint32_t block = cfg->blocks[cfg->block_of[d->ordinal]].post_dominator;
    return block == cfg->block_count ? HD_NONE : cfg->blocks[block].first;
}

static bool set_target(hd_machine_decoder *d)
{
    d->m.op.target = label_of(d);
    d->m.op.join = join_of(d);
    d->m.op.flags |= HD_OP_CONTROL;
    return d->m.op.target != HD_NONE || hd_machine_unsupported(d, "the target is in no code of this function");
}

/* The predicate of the operands is a second guard. */
bool hd_machine_decode_branch(hd_machine_decoder *d)
{
    d->m.op.boolean = d->m.in_count != 0;
    d->m.op.count = hd_machine_has(d, "ANY");
    return set_target(d);
}

/* BRA.DIV mask, L: to L unless the lanes of the mask are here together; BRA.CONV: if they are. ~URZ, or none: all. */
bool hd_machine_decode_diverged(hd_machine_decoder *d)
{
    const hd_machine_operand *o = &d->operands.items[0];
    bool masked = d->operands.count > 1 && o->kind == HD_MACHINE_OPERAND_REGISTER &&
                  (o->class == HD_SASS_UNIFORM || o->class == HD_SASS_GENERAL);
    d->m.op.a = masked ? hd_machine_source(d, o, 'i') : hd_machine_constant(d, UINT32_MAX, 4);
    d->m.op.boolean = hd_machine_has(d, "CONV");
    return set_target(d);
}

/* The address of the function that a call names: of the code, or of the device runtime. false: it names none. */
static bool named_code(hd_machine_decoder *d, const hd_machine_operand *o, uint64_t *address)
{
    hd_machine_address a;
    char name[64];
    const hd_machine_layout *layout = hd_machine_layout_of(d->function);
    if (!layout || !hd_machine_address_of(layout->image, o->text, o->length, &a))
        return false;
    if (a.symbol != HD_NONE && hd_machine_symbol_address(d->program->image, layout->image, a.symbol, address)) {
        *address += (uint64_t)a.addend;
        return true;
    }
    snprintf(name, sizeof name, "%.*s", (int)a.length, a.name);
    *address = hd_machine_builtin_address(name);
    d->m.op.flags |= HD_OP_ORDERED;
    return *address && (!hd_machine_needs_heap(name) || hd_memory_need_heap(d->program->image->memory));
}

/* LEPC d: the address of this instruction; LEPC d, L: of that at the label. */
bool hd_machine_decode_code_address(hd_machine_decoder *d)
{
    uint32_t at = d->ordinal;
    if (d->next < d->operands.count) {
        at = label_of(d);
        d->next++;
    }
    if (at >= d->function->instructions.count || d->next != d->operands.count)
        return hd_machine_unsupported(d, "the target is in no code of this function");
    d->m.op.a =
        hd_machine_constant(d, hd_machine_code_address(d->function) + d->function->machine->lines[at].address, 8);
    return true;
}

/* RET.ABS R4: to an address. RET.REL R4 `(f): to an offset from the function's start. BRX R4 -0x10: what R4 has counts
 * from there, too, since the offset in the text undoes the address of the next instruction, to which it is relative. */
bool hd_machine_decode_jump(hd_machine_decoder *d)
{
    enum { WORD_BYTES = 16 };
    const hd_machine_operand *o = hd_machine_next(d);
    bool indexed = strcmp(d->row->opcode, "BRX") == 0;
    if (o->kind != HD_MACHINE_OPERAND_REGISTER || (strcmp(d->row->opcode, "JMX") == 0 && o->offset))
        return hd_machine_unsupported(d, "these operands");
    if (indexed || hd_machine_has(d, "REL"))
        d->m.op.offset = (int64_t)hd_machine_code_address(d->function);
    if (indexed)
        d->m.op.offset += d->function->machine->lines[d->ordinal].address + WORD_BYTES + o->offset;
    d->m.op.a = hd_machine_source(d, o, 'I');
    d->m.op.boolean = strcmp(d->row->opcode, "RET") == 0 ? HD_MACHINE_RETURN : HD_MACHINE_JUMP;
    d->m.op.count = d->m.in_count != 0;
    d->m.op.join = join_of(d);
    d->m.op.flags |= HD_OP_CONTROL;
    return true;
}

/* CALL.REL `(f), of code of this function: a branch. CALL.REL R4 `(kernel): as RET, of code whose offset a table of
 * functions has. CALL.ABS R4, CALL.ABS `(f): other functions, and those of the device runtime, whose output is in the
 * order of thread blocks. */
bool hd_machine_decode_call(hd_machine_decoder *d)
{
    const hd_machine_operand *o = &d->operands.items[d->next];
    bool by_register = d->next < d->operands.count && o->kind == HD_MACHINE_OPERAND_REGISTER;
    uint64_t address;
    if (!by_register && label_of(d) != HD_NONE)
        return ((d->m.op.run = hd_machine_run_branch), hd_machine_decode_branch(d));
    if (d->m.in_count)
        return hd_machine_unsupported(d, "these operands");
    if (by_register && !hd_machine_decode_jump(d))
        return false;
    if (!by_register && !named_code(d, o, &address))
        return hd_machine_unsupported(d, "a call of another function");
    if (!by_register)
        d->m.op.a = hd_machine_constant(d, address, 8);
    if (hd_machine_has(d, "ABS") && by_register)
        d->m.op.flags |= HD_OP_ORDERED;
    d->m.op.run = hd_machine_run_jump;
    d->m.op.boolean = HD_MACHINE_CALL;
    d->m.op.cache_slot = d->program->cache_slots++;
    d->m.op.join = d->ordinal + 1;
    d->m.op.flags |= HD_OP_CONTROL;
    return true;
}

bool hd_machine_decode_exit(hd_machine_decoder *d)
{
    d->m.op.boolean = d->m.in_count != 0;
    d->m.op.flags |= HD_OP_CONTROL;
    return true;
}

/* ---- convergence barriers ---------------------------------------------------------------------------------------- */

static bool take_barrier(hd_machine_decoder *d, const hd_machine_operand *o)
{
    if (o->kind != HD_MACHINE_OPERAND_REGISTER || o->class != HD_SASS_BARRIER)
        return hd_machine_unsupported(d, "these operands");
    d->m.op.d = hd_machine_register_row(d, HD_SASS_BARRIER, o->number);
    d->m.op.target = o->number;
    d->m.op.d_bytes = 4;
    return true;
}

/* BSSY B, L: L follows the BSYNC, and lanes need not know it. */
bool hd_machine_decode_push(hd_machine_decoder *d) { return take_barrier(d, &d->operands.items[0]); }

bool hd_machine_decode_meet(hd_machine_decoder *d)
{
    d->m.op.flags |= HD_OP_CONTROL;
    return take_barrier(d, &d->operands.items[d->operands.count ? d->operands.count - 1 : 0]);
}

bool hd_machine_decode_break(hd_machine_decoder *d)
{
    d->m.op.boolean = d->m.in_count != 0;
    d->m.op.flags |= HD_OP_CONTROL;
    return take_barrier(d, hd_machine_next(d));
}

/* BMOV d, B; BMOV B, a; .CLEAR empties the barrier that is read. */
bool hd_machine_decode_move_barrier(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    const hd_machine_operand *to = hd_machine_next(d), *from = hd_machine_next(d);
    bool clear = hd_machine_has(d, "CLEAR");
    if (to->kind != HD_MACHINE_OPERAND_REGISTER || from->kind != HD_MACHINE_OPERAND_REGISTER)
        return hd_machine_unsupported(d, "these operands");
    hd_ref source = hd_machine_register_row(d, from->class, from->number);
    op->count = 1 + clear;
    op->first = hd_machine_push(
        d, to->number == HD_SASS_NO_NUMBER ? HD_NO_REF : hd_machine_register_row(d, to->class, to->number), 4);
    if (clear)
        hd_machine_push(d, source, 4);
    hd_machine_push(d, source, 4);
    if (clear)
        hd_machine_push(d, hd_machine_zero(), 4);
    return true;
}

bool hd_machine_decode_warp_sync(hd_machine_decoder *d)
{
    if (hd_machine_has(d, "ALL") || !d->sources)
        d->m.op.a = hd_machine_constant(d, UINT32_MAX, 4);
    d->m.op.d = hd_machine_register_row(d, HD_SASS_BARRIER, 16); /* what each lane waits for */
    d->m.op.target = 16;
    d->m.op.d_bytes = 4;
    d->m.op.flags |= HD_OP_CONTROL;
    return true;
}

bool hd_machine_decode_yield(hd_machine_decoder *d) { return (void)d, true; }

/* ---- barriers of the thread block -------------------------------------------------------------------------------- */

/* Where a barrier leaves what it has found: a row of numbers, or a word of predicates. */
static uint32_t reduction_at(const hd_machine_decoder *d, bool is_number)
{
    return d->reduction + (is_number ? 0 : 4 * LANES);
}

/* B2R.RESULT d[, p]. */
bool hd_machine_decode_barrier_result(hd_machine_decoder *d)
{
    d->m.op.a = HD_REF(HD_REF_FRAME, reduction_at(d, true));
    d->m.op.b = HD_REF(HD_REF_FRAME, reduction_at(d, false));
    d->m.ones = 1; /* the op needs its hd_machine_op */
    return true;
}

/* BAR.SYNC number[, threads]; BAR.RED.POPC number[, threads], p. */
bool hd_machine_decode_barrier(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    bool reduces = hd_machine_has(d, "RED"), counts = hd_machine_has(d, "POPC");
    if (!reduces && !hd_machine_has(d, "SYNC") && !hd_machine_has(d, "ARV"))
        return hd_machine_unsupported(d, "a barrier of this kind");
    op->boolean = hd_machine_has(d, "ARV") ? HD_BARRIER_ARRIVE : HD_BARRIER_SYNC;
    if (reduces) {
        op->boolean = counts ? HD_BARRIER_POPC : hd_machine_has(d, "AND") ? HD_BARRIER_AND : HD_BARRIER_OR;
        op->d = HD_REF(HD_REF_FRAME, reduction_at(d, counts));
        op->d_bytes = 4;
    }
    op->a = hd_machine_source(d, hd_machine_next(d), 'i');
    op->b = op->c = HD_NO_REF;
    if (d->next + reduces < d->operands.count)
        op->b = hd_machine_source(d, hd_machine_next(d), 'i');
    if (reduces) {
        hd_machine_predicate p = hd_machine_predicate_of(d, hd_machine_next(d));
        op->c = p.word;
        op->flags |= p.negated ? HD_OP_NOT_C : 0;
    }
    op->flags |= HD_OP_RETRY | HD_OP_LAST_OF_SEGMENT;
    return d->next == d->operands.count || hd_machine_unsupported(d, "these operands");
}

/* ---- exchanges --------------------------------------------------------------------------------------------------- */

/* SHFL p, d, a, lane, clamp: among the lanes that execute it. */
bool hd_machine_decode_shuffle(hd_machine_decoder *d)
{
    static const char *const modes[] = {"UP", "DOWN", "BFLY", "IDX"}; /* exchange.c */
    hd_op *op = &d->m.op;
    for (op->boolean = 0; !hd_machine_has(d, modes[op->boolean]); op->boolean++)
        if (op->boolean == 3)
            return hd_machine_unsupported(d, "this mode");
    op->e = d->m.out[0];
    d->m.out_count = 0;
    op->f = HD_NO_REF;
    return true;
}

/* VOTE.ANY [d,] p, q: p says what the name does of q in the lanes that execute it, d has their bits. */
bool hd_machine_decode_vote(hd_machine_decoder *d)
{
    hd_machine_op *m = &d->m;
    const hd_machine_operand *o = hd_machine_next(d);
    m->op.boolean = hd_machine_has(d, "ALL") ? HD_VOTE_ALL : hd_machine_has(d, "EQ") ? HD_VOTE_UNI : HD_VOTE_ANY;
    m->op.d_bytes = 4;
    bool has_row =
        o->kind == HD_MACHINE_OPERAND_REGISTER && (o->class == HD_SASS_GENERAL || o->class == HD_SASS_UNIFORM);
    if (has_row && o->number != HD_SASS_NO_NUMBER)
        m->op.d = hd_machine_register_row(d, o->class, o->number);
    if (has_row)
        o = hd_machine_next(d);
    if (o->kind != HD_MACHINE_OPERAND_REGISTER || d->operands.count != d->next + 1)
        return hd_machine_unsupported(d, "these operands");
    m->out[m->out_count++] =
        o->number == HD_SASS_NO_NUMBER ? HD_NO_REF : hd_machine_register_row(d, o->class, o->number);
    m->in[m->in_count++] = hd_machine_predicate_of(d, hd_machine_next(d));
    m->table[0] = strcmp(d->row->opcode, "VOTEU") == 0;
    return true;
}

/* MATCH.ANY d, a; MATCH.ALL p, d, a. */
bool hd_machine_decode_match(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    bool wide = hd_machine_has(d, "U64"), all = hd_machine_has(d, "ALL");
    const hd_machine_operand *o = hd_machine_next(d);
    op->boolean = all ? HD_VOTE_ALL : HD_VOTE_ANY;
    if (o->kind == HD_MACHINE_OPERAND_REGISTER && o->class == HD_SASS_PREDICATE) {
        op->e = o->number == HD_SASS_NO_NUMBER ? HD_NO_REF : hd_machine_register_row(d, o->class, o->number);
        o = hd_machine_next(d);
    }
    if (o->kind != HD_MACHINE_OPERAND_REGISTER || d->operands.count != d->next + 1)
        return hd_machine_unsupported(d, "these operands");
    op->d = o->number == HD_SASS_NO_NUMBER ? HD_NO_REF : hd_machine_register_row(d, o->class, o->number);
    op->d_bytes = 4;
    op->a = hd_machine_source(d, hd_machine_next(d), wide ? 'I' : 'i');
    op->a_bytes = wide ? 8 : 4;
    op->f = hd_machine_temporary(d); /* the lanes that execute it */
    hd_machine_add_step(d, (hd_machine_step){.kind = HD_STEP_LANES, .to = op->f});
    return true;
}

bool hd_machine_decode_redux(hd_machine_decoder *d)
{
    static const struct {
        const char *name;
        uint16_t operation;
        bool bits;
    } operations[] = {{"SUM", HD_MOD_OP_ADD, false}, {"MIN", HD_MOD_OP_MIN, false}, {"MAX", HD_MOD_OP_MAX, false},
                      {"AND", HD_MOD_OP_AND, true},  {"OR", HD_MOD_OP_OR, true},    {"XOR", HD_MOD_OP_XOR, true}};
    hd_op *op = &d->m.op;
    hd_type type = hd_machine_has(d, "S32") ? HD_TYPE_S32 : HD_TYPE_U32;
    op->use.combine = hd_combine_find(HD_MOD_OP_AND, HD_TYPE_B32); /* is not named */
    for (uint32_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (hd_machine_has(d, operations[i].name))
            op->use.combine = hd_combine_find(operations[i].operation, operations[i].bits ? HD_TYPE_B32 : type);
    op->boolean = 0;
    op->f = hd_machine_temporary(d);
    hd_machine_add_step(d, (hd_machine_step){.kind = HD_STEP_LANES, .to = op->f});
    d->m.table[0] = d->m.uniform;
    d->m.uniform = false; /* its lanes are those of the warp */
    return !d->m.table[0] || ((d->m.broadcast = true));
}
