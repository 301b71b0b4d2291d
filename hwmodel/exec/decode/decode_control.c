/* Decodes branches and exchange between lanes of a warp. */
#include "hwmodel/exec/decode/decoder.h"
#include "hwmodel/exec/ops/scalar.h"
#include "ir/cfg.h"

/* The reconvergence point of the branch at the current instruction: an op, or HD_NONE for the end. */
static uint32_t join_of(hd_decoder *d)
{
    const hd_cfg *cfg = hd_function_cfg(d->module->functions.items[d->code->index]);
    uint32_t ordinal = (uint32_t)(d->insn - d->function->instructions.items);
    uint32_t block = cfg->blocks[cfg->block_of[ordinal]].post_dominator;
    return block >= cfg->block_count ? HD_NONE : cfg->blocks[block].first;
}

bool hd_decode_branch(hd_decoder *d)
{
    const hd_operand *o = d->operands[0];
    if (o->kind != HD_OPERAND_LABEL)
        return hd_decode_unsupported(d, "a target of this kind");
    d->op->run = hd_run_branch;
    d->op->flags |= HD_OP_CONTROL;
    d->op->target = d->function->labels.items[o->value].instruction;
    d->op->join = join_of(d);
    return true;
}

bool hd_decode_branch_table(hd_decoder *d)
{
    hd_op *op = d->op;
    const hd_operand *o = d->operands[1];
    if (o->kind != HD_OPERAND_TABLE)
        return hd_decode_unsupported(d, "a target of this kind");
    const hd_table *t = &d->function->tables.items[o->value];
    op->run = hd_run_branch_table;
    op->flags |= HD_OP_CONTROL;
    op->a = hd_decode_source(d, d->operands[0], HD_TYPE_U32);
    op->first = d->code->refs.count;
    op->count = t->count;
    for (uint32_t i = 0; i < t->count; i++)
        hd_decode_push(d, d->function->labels.items[d->function->table_entries.items[t->first + i]].instruction, 4);
    op->join = join_of(d);
    return true;
}

bool hd_decode_leave(hd_decoder *d)
{
    d->op->flags |= HD_OP_CONTROL;
    d->op->run = d->form->opcode == HD_OP_RET    ? hd_run_return
                 : d->form->opcode == HD_OP_EXIT ? hd_run_exit
                                                 : hd_run_trap;
    d->op->boolean = d->form->opcode == HD_OP_BRKPT;
    return true;
}

/* ---- exchange ---------------------------------------------------------------------------------------------------- */

/* With .sync, sides may arrive one after the other. */
static void meets(hd_op *op)
{
    if (op->f != HD_NO_REF)
        op->flags |= HD_OP_MEETS | HD_OP_NAMES_LANES | HD_OP_RETRY;
}

bool hd_decode_shuffle(hd_decoder *d)
{
    hd_op *op = d->op;
    const hd_operand *to = d->operands[0];
    bool pair = to->kind == HD_OPERAND_PAIR;
    op->run = hd_run_shuffle;
    op->boolean = (uint8_t)(hd_decode_modifier(d, HD_GROUP_SHUFFLE) - HD_MOD_SHUFFLE_UP);
    op->d = hd_decode_destination(d, pair ? to + 1 : to);
    op->e = pair ? hd_decode_destination(d, to + 2) : HD_NO_REF;
    op->a = hd_decode_source(d, d->operands[1], HD_TYPE_B32);
    op->b = hd_decode_source(d, d->operands[2], HD_TYPE_B32);
    op->c = hd_decode_source(d, d->operands[3], HD_TYPE_B32);
    op->f = d->operand_count > 4 ? hd_decode_source(d, d->operands[4], HD_TYPE_B32) : HD_NO_REF;
    meets(op);
    return op->d != HD_NO_REF || hd_decode_unsupported(d, "no destination");
}

bool hd_decode_vote(hd_decoder *d)
{
    hd_op *op = d->op;
    op->run = hd_run_vote;
    op->boolean = (uint8_t)(hd_decode_modifier(d, HD_GROUP_VOTE) - HD_MOD_VOTE_ALL);
    if (op->boolean != HD_VOTE_BALLOT)
        op->flags |= HD_OP_PREDICATE;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_predicate(d, d->operands[1], HD_OP_NOT_A);
    op->f = d->operand_count > 2 ? hd_decode_source(d, d->operands[2], HD_TYPE_U32) : HD_NO_REF;
    meets(op);
    return true;
}

bool hd_decode_active_mask(hd_decoder *d)
{
    d->op->run = hd_run_active_mask;
    d->op->d = hd_decode_destination(d, d->operands[0]);
    return true;
}

bool hd_decode_match(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_type type = hd_decode_type(d, 0);
    const hd_operand *to = d->operands[0];
    bool pair = to->kind == HD_OPERAND_PAIR;
    op->run = hd_run_match;
    op->boolean = (uint8_t)(hd_decode_modifier(d, HD_GROUP_VOTE) - HD_MOD_VOTE_ALL);
    op->d = hd_decode_destination(d, pair ? to + 1 : to);
    op->e = pair ? hd_decode_destination(d, to + 2) : HD_NO_REF;
    op->a = hd_decode_source(d, d->operands[1], type);
    op->a_bytes = (uint8_t)(hd_types[type].bits / 8);
    op->f = hd_decode_source(d, d->operands[2], HD_TYPE_U32);
    meets(op);
    return true;
}

/* redux.sync.f32: a NaN is ignored, or with .NaN propagates. */
#define EXTREME(name, pick, nan_wins)                                                           \
    static uint64_t name(uint64_t of_old, uint64_t of_b, uint64_t of_c)                         \
    {                                                                                           \
        f32 old, b;                                                                             \
        (void)of_c;                                                                             \
        memcpy(&old, &of_old, sizeof old);                                                      \
        memcpy(&b, &of_b, sizeof b);                                                            \
        return bits_f32(canonical(nan_wins ? strict_f32(pick(old, b), old, b) : pick(old, b))); \
    }
EXTREME(least, smaller_f32, false)
EXTREME(most, larger_f32, false)
EXTREME(least_or_nan, smaller_f32, true)
EXTREME(most_or_nan, larger_f32, true)
#undef EXTREME

static hd_combine *redux_combine(const hd_decoder *d)
{
    static hd_combine *const extremes[2][2] = {{least, least_or_nan}, {most, most_or_nan}};
    uint16_t operation = hd_decode_modifier(d, HD_GROUP_OP);
    if (hd_decode_type(d, 0) != HD_TYPE_F32)
        return hd_combine_find(operation, hd_decode_type(d, 0));
    return extremes[operation == HD_MOD_OP_MAX][hd_decode_modifier(d, HD_GROUP_NAN) != HD_MOD_NONE];
}

bool hd_decode_redux(hd_decoder *d)
{
    hd_op *op = d->op;
    op->use.combine = redux_combine(d);
    if (!op->use.combine)
        return hd_decode_unsupported(d, NULL);
    op->run = hd_run_redux;
    op->boolean = hd_decode_modifier(d, HD_GROUP_ABS) != HD_MOD_NONE; /* of the absolute values */
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_source(d, d->operands[1], HD_TYPE_B32);
    op->f = hd_decode_source(d, d->operands[2], HD_TYPE_U32);
    meets(op);
    return true;
}

bool hd_decode_elect(hd_decoder *d)
{
    hd_op *op = d->op;
    const hd_operand *to = d->operands[0];
    op->run = hd_run_elect;
    op->d = hd_decode_destination(d, to + 1);
    op->e = hd_decode_destination(d, to + 2);
    op->f = hd_decode_source(d, d->operands[1], HD_TYPE_U32);
    meets(op);
    return true;
}
