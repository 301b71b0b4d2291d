/* Completes copies to shared memory that run beside the code. */
#include "hwmodel/exec/control/async.h"
#include "hwmodel/machine/decoder.h"

/* LDGSTS [to], [from][, p]: where p is false nothing is read and zeros are written. With .ZFILL the last bits of the
 * source's address are the number of bytes at the end that are not read. */
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
    if (hd_machine_has(d, "ZFILL")) {
        op->e = op->a;
        op->a = hd_machine_temporary(d);
        detail->size = hd_machine_temporary(d);
        op->run = hd_machine_run_copy_part;
    }
    if (d->next < d->operands.count) {
        hd_machine_predicate p = hd_machine_predicate_of(d, hd_machine_next(d));
        detail->ignore = p.word;
        detail->ignore_not = !p.negated;
    }
    return d->next == d->operands.count || hd_machine_unsupported(d, "these operands");
}

hd_step hd_machine_run_copy_part(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_async_detail *detail = op->use.detail;
    const uint64_t *from = hd_row(w, op->e);
    uint64_t *aligned = hd_row_of_frame(w, op->a);
    uint32_t *bytes = hd_row_of_frame(w, detail->size);
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t left = (uint32_t)(from[i] + (uint64_t)op->offset) & (op->item_bytes - 1u);
        aligned[i] = from[i] - left;
        bytes[i] = op->item_bytes - left;
    }
    return hd_run_async_copy(op, w, mask);
}

/* DEPBAR.LE SB, n[, {..}] waits until at most n groups of copies are left, and for loads, which are complete here. */
bool hd_machine_decode_wait(hd_machine_decoder *d)
{
    d->m.op.offset = d->operands.count > 1 ? (int64_t)d->operands.items[1].bits : -1;
    return true;
}
