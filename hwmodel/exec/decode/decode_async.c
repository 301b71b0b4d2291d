/* Decodes barriers, cp.async and mbarrier instructions. */
#include "hwmodel/exec/control/async.h"
#include "hwmodel/exec/decode/decoder.h"

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

static uint8_t barrier_kind(const hd_decoder *d)
{
    switch (hd_decode_modifier(d, HD_GROUP_BARRIER)) {
    case HD_MOD_BARRIER_SYNC: return HD_BARRIER_SYNC;
    case HD_MOD_BARRIER_ARRIVE: return HD_BARRIER_ARRIVE;
    default: break;
    }
    uint16_t operation = hd_decode_modifier(d, HD_GROUP_OP);
    return operation == HD_MOD_OP_POPC ? HD_BARRIER_POPC : operation == HD_MOD_OP_AND ? HD_BARRIER_AND : HD_BARRIER_OR;
}

bool hd_decode_barrier(hd_decoder *d)
{
    hd_op *op = d->op;
    uint32_t at = 0, last = d->operand_count;
    op->run = hd_run_barrier;
    op->boolean = barrier_kind(d);
    op->b = op->c = HD_NO_REF;
    if (!HD_DECODE_ONLY(d, HD_GROUP_BARRIER, HD_GROUP_OP))
        return hd_decode_unsupported(d, NULL);
    if (op->boolean >= HD_BARRIER_POPC) {
        op->d = hd_decode_destination(d, d->operands[at++]);
        op->c = hd_decode_predicate(d, d->operands[--last], HD_OP_NOT_C);
    }
    op->a = hd_decode_source(d, d->operands[at++], HD_TYPE_U32);
    if (at < last)
        op->b = hd_decode_source(d, d->operands[at], HD_TYPE_U32);
    bool aligned = d->form->opcode == HD_OP_BAR || hd_decode_modifier(d, HD_GROUP_ALIGNED);
    op->flags |= aligned ? HD_OP_ALIGNED : 0;
    op->flags |= HD_OP_RETRY; /* also for .aligned: lanes of a warp may arrive separately */
    return true;
}

bool hd_decode_warp_sync(hd_decoder *d)
{
    d->op->run = hd_run_warp_sync;
    d->op->flags |= HD_OP_RETRY | HD_OP_NAMES_LANES;
    d->op->f = hd_decode_source(d, d->operands[0], HD_TYPE_U32);
    return true;
}

bool hd_decode_cluster_barrier(hd_decoder *d)
{
    bool wait = hd_decode_modifier(d, HD_GROUP_BARRIER) == HD_MOD_BARRIER_WAIT;
    d->op->run = wait ? hd_run_cluster_wait : hd_run_cluster_arrive;
    d->op->flags |= (uint32_t)(hd_decode_modifier(d, HD_GROUP_ALIGNED) ? HD_OP_ALIGNED : 0) | HD_OP_RETRY;
    return true;
}

/* ---- cp.async ---------------------------------------------------------------------------------------------------- */

static uint64_t literal_of(const hd_decoder *d, const hd_operand *o)
{
    return d->module->literals.items[o->value].bits;
}

static bool is_predicate(const hd_decoder *d, const hd_operand *o)
{
    return o->flags & HD_OPERAND_NOT ||
           (o->kind == HD_OPERAND_REGISTER && !hd_register_lane_bytes(d->function, o->value));
}

/* The number of bytes to read, or a predicate that disables reading: the operand between the size and the cache
 * policy. */
static void set_source_size(hd_decoder *d, hd_async_detail *detail)
{
    uint32_t last = d->operand_count - (hd_decode_modifier(d, HD_GROUP_HINT) ? 1 : 0);
    const hd_operand *o = last > 3 ? d->operands[3] : NULL;
    if (o && is_predicate(d, o)) {
        detail->ignore = hd_decode_source(d, o, HD_TYPE_PRED);
        detail->ignore_not = o->flags & HD_OPERAND_NOT;
    } else if (o) {
        detail->size = hd_decode_source(d, o, HD_TYPE_U32);
    }
}

bool hd_decode_async_copy(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_async_detail *detail = HD_ARENA_NEW(&d->program->arena, hd_async_detail);
    hd_decoded_address to, from;
    *detail = (hd_async_detail){.to = *op, .size = HD_NO_REF, .ignore = HD_NO_REF};
    op->use.detail = detail;
    op->run = hd_run_async_copy;
    op->flags |= HD_OP_COPY;
    op->item_bytes = (uint8_t)literal_of(d, d->operands[2]);
    op->space = HD_SPACE_GLOBAL;
    detail->to.space = HD_SPACE_SHARED;
    if (!hd_decode_address(d, d->operands[0], &to) || !hd_decode_address(d, d->operands[1], &from))
        return false;
    set_source_size(d, detail);
    d->op = &detail->to;
    bool good = hd_decode_set_address(d, &to);
    d->op = op;
    return good && hd_decode_set_address(d, &from);
}

bool hd_decode_async_group(hd_decoder *d)
{
    hd_op *op = d->op;
    bool group = d->form->opcode == HD_OP_CP_ASYNC_WAIT_GROUP;
    op->run = d->form->opcode == HD_OP_CP_ASYNC_COMMIT_GROUP ? hd_run_async_commit : hd_run_async_wait;
    op->offset = group ? (int64_t)literal_of(d, d->operands[0]) : -1;
    return true;
}

/* The mbarrier's address. */
static bool set_object(hd_decoder *d, const hd_operand *o)
{
    hd_decoded_address address;
    d->op->space = d->form->space;
    return hd_decode_address(d, o, &address) && hd_decode_set_address(d, &address);
}

bool hd_decode_async_arrive(hd_decoder *d)
{
    d->op->run = hd_run_async_arrive;
    d->op->boolean = !hd_decode_modifier(d, HD_GROUP_NOINC);
    return set_object(d, d->operands[0]);
}

/* ---- mbarrier ---------------------------------------------------------------------------------------------------- */

bool hd_decode_mbarrier(hd_decoder *d)
{
    hd_op *op = d->op;
    uint32_t opcode = d->form->opcode;
    op->run = hd_run_mbarrier;
    op->boolean = opcode == HD_OP_MBARRIER_INIT        ? HD_MBARRIER_INIT
                  : opcode == HD_OP_MBARRIER_INVAL     ? HD_MBARRIER_INVAL
                  : opcode == HD_OP_MBARRIER_EXPECT_TX ? HD_MBARRIER_EXPECT
                                                       : HD_MBARRIER_COMPLETE;
    op->b = d->operand_count > 1 ? hd_decode_source(d, d->operands[1], HD_TYPE_U32) : HD_NO_REF;
    if (hd_decode_modifier(d, HD_GROUP_BARRIERLAYOUT))
        return hd_decode_unsupported(d, NULL);
    return set_object(d, d->operands[0]);
}

bool hd_decode_mbarrier_arrive(hd_decoder *d)
{
    hd_op *op = d->op;
    op->run = hd_run_mbarrier_arrive;
    op->boolean = (uint8_t)((d->form->opcode == HD_OP_MBARRIER_ARRIVE_DROP ? HD_ARRIVE_DROP : 0) |
                            (hd_decode_modifier(d, HD_GROUP_EXPECTTX) ? HD_ARRIVE_EXPECT : 0) |
                            (hd_decode_modifier(d, HD_GROUP_NOCOMPLETE) ? HD_ARRIVE_STAYS : 0));
    if (!HD_DECODE_ONLY(d, HD_GROUP_SPACE, HD_GROUP_EXPECTTX, HD_GROUP_NOCOMPLETE))
        return hd_decode_unsupported(d, NULL);
    op->d = hd_decode_destination(d, d->operands[0]);
    op->b = d->operand_count > 2 ? hd_decode_source(d, d->operands[2], HD_TYPE_U32) : HD_NO_REF;
    return set_object(d, d->operands[1]);
}

/* A time limit after the state has no effect: an incomplete wait returns immediately. */
bool hd_decode_mbarrier_wait(hd_decoder *d)
{
    hd_op *op = d->op;
    bool parity = hd_decode_modifier(d, HD_GROUP_PARITY);
    op->run = hd_run_mbarrier_wait;
    op->d = hd_decode_destination(d, d->operands[0]);
    op->b = hd_decode_source(d, d->operands[2], parity ? HD_TYPE_U32 : HD_TYPE_U64);
    op->a_bytes = parity ? 4 : 8;
    if (!HD_DECODE_ONLY(d, HD_GROUP_SPACE, HD_GROUP_PARITY))
        return hd_decode_unsupported(d, NULL);
    return set_object(d, d->operands[1]);
}

bool hd_decode_mbarrier_pending(hd_decoder *d)
{
    if (hd_decode_modifier(d, HD_GROUP_BARRIERLAYOUT))
        return hd_decode_unsupported(d, NULL);
    d->op->run = hd_run_mbarrier_pending;
    d->op->d = hd_decode_destination(d, d->operands[0]);
    d->op->a = hd_decode_source(d, d->operands[1], HD_TYPE_U64);
    return d->op->d != HD_NO_REF || hd_decode_unsupported(d, "no destination");
}
