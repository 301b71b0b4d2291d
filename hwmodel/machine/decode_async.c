/* Completes copies to shared memory that run beside the code. */
#include "hwmodel/exec/control/async.h"
#include "hwmodel/machine/decoder.h"

/* LDGSTS [to], [from][, p]: where p is false nothing is read and zeros are written. */
bool hd_machine_decode_copy(hd_machine_decoder *d)
{
    hd_async_detail *detail = HD_ARENA_NEW(&d->program->arena, hd_async_detail);
    hd_op *op = &d->m.op, plain = *op;
    *detail = (hd_async_detail){.size = HD_NO_REF, .ignore = HD_NO_REF};
    if (!hd_machine_take_address(d, hd_machine_next(d), HD_SPACE_SHARED))
        return false;
    detail->to = *op;
    *op = plain;
    if (!hd_machine_take_address(d, hd_machine_next(d), HD_SPACE_GLOBAL))
        return false;
    op->use.detail = detail;
    op->flags |= HD_OP_COPY;
    op->item_bytes = hd_machine_has(d, "128") ? 16 : hd_machine_has(d, "64") ? 8 : 4;
    op->count = 1;
    if (d->next < d->operands.count) {
        hd_machine_predicate p = hd_machine_predicate_of(d, hd_machine_next(d));
        detail->ignore = p.word;
        detail->ignore_not = !p.negated;
    }
    return d->next == d->operands.count || hd_machine_unsupported(d, "these operands");
}

/* DEPBAR.LE SB, n[, {..}] waits until at most n groups of copies are left, and for loads, which are complete here. */
bool hd_machine_decode_wait(hd_machine_decoder *d)
{
    d->m.op.offset = d->operands.count > 1 ? (int64_t)d->operands.items[1].bits : -1;
    return true;
}

/* ARRIVES.LDGSTSBAR [a]: the barrier in memory is told when all copies of the lane before are complete. It counts on an
 * arrival that the code has announced (SYNCS.ARRIVE before it), as .noinc says. */
bool hd_machine_decode_arrive_copies(hd_machine_decoder *d)
{
    d->m.op.item_bytes = 8;
    return hd_machine_take_address(d, hd_machine_next(d), HD_SPACE_SHARED) &&
           (d->next == d->operands.count || hd_machine_unsupported(d, "these operands"));
}
