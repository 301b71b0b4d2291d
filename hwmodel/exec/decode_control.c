/* Decodes branches, calls, barriers and what lanes of a warp do together. */
#include "hwmodel/exec/decode.h"
#include "ir/cfg.h"

/* Where the sides of a branch at the current instruction meet: an op, or HD_NONE for the end. */
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
    return true;
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

/* One argument (or result): a .param variable of this frame, or a row. */
static bool add_copy(hd_decoder *d, const hd_operand *o, uint32_t formal, bool result)
{
    const hd_symbol *s = &d->module->symbols.items[formal];
    uint32_t there = d->symbol_offset[formal];
    hd_copy c = {.row = HD_NO_REF, .bytes = (uint32_t)s->size_bytes};
    if (o->kind == HD_OPERAND_SYMBOL) {
        uint32_t here = hd_decode_frame_offset(d, o->value);
        if (here == HD_NONE)
            return hd_decode_unsupported(d, "an argument of this kind");
        uint64_t size = d->module->symbols.items[o->value].size_bytes;
        c.bytes = size < c.bytes ? (uint32_t)size : c.bytes;
        c.from = result ? there : here;
        c.to = result ? here : there;
    } else {
        c.row = result ? hd_decode_destination(d, o) : hd_decode_source(d, o, (hd_type)s->type);
        c.from = c.to = there;
        if (c.row == HD_NO_REF || hd_decode_lane_bytes(d, o, (hd_type)s->type) != c.bytes)
            return hd_decode_unsupported(d, "an argument of this kind");
    }
    hd_array_push(&d->code->copies, c);
    return true;
}

static bool add_copies(hd_decoder *d, const hd_operand *list, uint32_t first, uint32_t count, bool result)
{
    const hd_operand *o = list ? list + 1 : NULL;
    uint32_t given = list ? list->count : 0;
    if (given != count)
        return hd_decode_unsupported(d, "another number of arguments than the function takes");
    for (uint32_t i = 0; i < given; i++, o += hd_operand_extent(o))
        if (!add_copy(d, o, first + i, result))
            return false;
    return true;
}

static uint32_t code_of(const hd_decoder *d, uint32_t symbol)
{
    const hd_symbol *s = &d->module->symbols.items[symbol];
    for (uint32_t i = 0; i < d->program->codes.count; i++)
        if (d->program->codes.items[i]->function->name == s->name)
            return i;
    return HD_NONE;
}

bool hd_decode_call(hd_decoder *d)
{
    hd_op *op = d->op;
    uint32_t k = d->operands[0]->kind == HD_OPERAND_LIST;
    const hd_operand *results = k ? d->operands[0] : NULL, *callee = d->operands[k];
    const hd_operand *arguments =
        k + 1 < d->operand_count && d->operands[k + 1]->kind == HD_OPERAND_LIST ? d->operands[k + 1] : NULL;
    if (callee->kind != HD_OPERAND_SYMBOL)
        return hd_decode_unsupported(d, "a callee that is not known before the run");
    op->target = code_of(d, callee->value);
    if (op->target == HD_NONE)
        return hd_decode_unsupported(d, hd_names_text(&d->module->names, d->module->symbols.items[callee->value].name));
    const hd_function *f = d->program->codes.items[op->target]->function;
    if (f->register_parameters.count || f->register_results.count)
        return hd_decode_unsupported(d, "parameters in registers");
    op->run = hd_run_call;
    op->flags |= HD_OP_CONTROL;
    op->first = d->code->copies.count;
    if (!add_copies(d, arguments, f->parameter_first, f->parameter_count, false))
        return false;
    op->count = d->code->copies.count - op->first;
    if (!add_copies(d, results, f->result_first, f->result_count, true))
        return false;
    op->written_count = d->code->copies.count - op->first - op->count;
    return true;
}

/* ---- barriers and exchange ----------------------------------------------------------------------------------- */

bool hd_decode_barrier(hd_decoder *d)
{
    hd_op *op = d->op;
    uint16_t kind = hd_decode_modifier(d, HD_GROUP_BARRIER);
    if (kind != HD_MOD_BARRIER_SYNC && kind != HD_MOD_BARRIER_ARRIVE)
        return hd_decode_unsupported(d, NULL);
    op->run = hd_run_barrier;
    op->boolean = kind == HD_MOD_BARRIER_ARRIVE ? HD_BARRIER_ARRIVE : HD_BARRIER_SYNC;
    op->a = hd_decode_source(d, d->operands[0], HD_TYPE_U32);
    op->b = d->operand_count > 1 ? hd_decode_source(d, d->operands[1], HD_TYPE_U32) : HD_NO_REF;
    return true;
}

bool hd_decode_warp_sync(hd_decoder *d)
{
    d->op->run = hd_run_warp_sync;
    d->op->a = hd_decode_source(d, d->operands[0], HD_TYPE_U32);
    return true;
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
    return op->d != HD_NO_REF || hd_decode_unsupported(d, "no destination");
}

bool hd_decode_vote(hd_decoder *d)
{
    hd_op *op = d->op;
    op->run = hd_run_vote;
    op->boolean = (uint8_t)(hd_decode_modifier(d, HD_GROUP_VOTE) - HD_MOD_VOTE_ALL);
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_predicate(d, d->operands[1], HD_OP_NOT_A);
    op->f = d->operand_count > 2 ? hd_decode_source(d, d->operands[2], HD_TYPE_U32) : HD_NO_REF;
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
    return true;
}

bool hd_decode_redux(hd_decoder *d)
{
    hd_op *op = d->op;
    op->use.combine = hd_combine_find(hd_decode_modifier(d, HD_GROUP_OP), hd_decode_type(d, 0));
    if (!op->use.combine || hd_decode_type(d, 0) == HD_TYPE_F32)
        return hd_decode_unsupported(d, NULL);
    op->run = hd_run_redux;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->a = hd_decode_source(d, d->operands[1], HD_TYPE_B32);
    op->f = hd_decode_source(d, d->operands[2], HD_TYPE_U32);
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
    return true;
}
