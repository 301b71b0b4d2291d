/* Completes copies to shared memory that run beside the code, and barriers in shared memory. */
#include "hwmodel/exec/control/async.h"
#include "hwmodel/exec/control/mbarrier.h"
#include "hwmodel/exec/state/fault.h"
#include "hwmodel/exec/ops/rows.h"
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

/* ---- barriers in memory, of sm_90 and later: words as in mbarrier.h ---------------------------------------------- */

static bool take_object(hd_machine_decoder *d)
{
    return hd_machine_take_address(d, hd_machine_next(d), HD_SPACE_SHARED);
}

static bool all_taken(hd_machine_decoder *d)
{
    return d->next == d->operands.count || hd_machine_unsupported(d, "these operands");
}

/* SYNCS.EXCH.64 URZ, [to], UR stores the pair, which the code has made of the count. */
bool hd_machine_decode_exchange(hd_machine_decoder *d)
{
    const hd_machine_operand *old = hd_machine_next(d);
    if (old->kind != HD_MACHINE_OPERAND_REGISTER || old->number != HD_SASS_NO_NUMBER)
        return hd_machine_unsupported(d, "the old value");
    return hd_machine_decode_store(d);
}

/* SYNCS.ARRIVE d, [object], R. A1T0: one arrival; ART0: R arrivals; A0TR: R transactions are expected, A0TX: R are
 * complete; none of them: R transactions are expected, then there is one arrival. A0T1 is half of what
 * ARRIVES.LDGSTSBAR.TRANSCNT after it does. */
bool hd_machine_decode_arrive(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    bool change = hd_machine_has(d, "A0TR") || hd_machine_has(d, "A0TX"), drop = hd_machine_has(d, "OPTOUT");
    bool one = hd_machine_has(d, "A1T0"), several = hd_machine_has(d, "ART0");
    hd_machine_set_pair(d, hd_machine_next(d));
    if (!take_object(d))
        return false;
    op->b = hd_machine_source(d, hd_machine_next(d), 'i');
    if (hd_machine_has(d, "A0T1")) {
        op->run = hd_run_nothing;
        op->flags &= ~(uint32_t)HD_OP_MEMORY;
    } else if (change) {
        op->run = hd_run_mbarrier;
        op->boolean = hd_machine_has(d, "A0TR") ? HD_MBARRIER_EXPECT : HD_MBARRIER_COMPLETE;
    } else {
        op->b = one ? HD_NO_REF : op->b;
        op->boolean = (uint8_t)((drop ? HD_ARRIVE_DROP : 0) | (one || several ? 0 : HD_ARRIVE_EXPECT));
    }
    if ((change || hd_machine_has(d, "A0T1")) && (d->m.split || drop))
        return hd_machine_unsupported(d, "a state of this operation");
    return all_taken(d);
}

/* SYNCS.PHASECHK p, [object], R: whether the phase with the parity in R's highest bit has ended. */
bool hd_machine_decode_phase(hd_machine_decoder *d)
{
    hd_op *op = &d->m.op;
    const hd_machine_operand *p = hd_machine_next(d);
    if (p->number != HD_SASS_NO_NUMBER)
        op->d = hd_machine_register_row(d, p->class, p->number);
    if (!take_object(d))
        return false;
    op->b = hd_machine_temporary(d);
    hd_machine_step parity = {.kind = HD_STEP_FIELD, .to = op->b, .value = 31, .mask = 1};
    parity.a = hd_machine_source(d, hd_machine_next(d), 'i');
    hd_machine_add_step(d, parity);
    op->a_bytes = 4;
    return all_taken(d);
}

bool hd_machine_decode_invalidate(hd_machine_decoder *d)
{
    d->m.op.boolean = HD_MBARRIER_INVAL;
    d->m.op.b = HD_NO_REF;
    return take_object(d) && all_taken(d);
}

/* ARRIVES.LDGSTSBAR [object] arrives when the copies before it are complete; with .TRANSCNT one more is expected. */
bool hd_machine_decode_arrive_after_copies(hd_machine_decoder *d)
{
    d->m.op.boolean = hd_machine_has(d, "TRANSCNT");
    if (!hd_machine_has(d, "TRANSCNT") && !hd_machine_has(d, "ARVCNT"))
        d->m.op.run = hd_machine_run_arrive_word_after_copies;
    return take_object(d) && all_taken(d);
}

/* ---- barriers in memory, of sm_80 -------------------------------------------------------------------------------- */

/* Code of sm_80 makes and reads the words with ordinary instructions: the lower one has the arrivals that a phase
 * expects, the upper one those that are pending, both negated, and in bit 31 the parity of the phase. The last arrival
 * carries into it. */
static uint64_t after_arrival(uint64_t object)
{
    uint32_t expected = (uint32_t)object & 0x3fffffff, high = (uint32_t)(object >> 32) + 1;
    if (!(high & 0x7fffffff) && expected)
        high |= 0x40000000 | expected;
    return (uint64_t)high << 32 | (uint32_t)object;
}

/* ATOMS.ARRIVE.64 d, [object] */
bool hd_machine_decode_arrive_word(hd_machine_decoder *d)
{
    hd_machine_set_pair(d, hd_machine_next(d));
    return take_object(d) && all_taken(d);
}

hd_step hd_machine_run_arrive_word(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint64_t states[LANES] = {0};
    hd_step step = hd_mbarrier_find(op, w, mask, false);
    for (uint32_t i = 0; i < LANES && step == HD_STEP_NEXT; i++) {
        uint32_t at = (uint32_t)w->cta->addresses[i];
        if (!(mask >> i & 1))
            continue;
        states[i] = hd_mbarrier_read(w->cta, at);
        if (!(states[i] >> 32 & 0x7fffffff))
            return hd_fault(op, w, 1u << i, "mbarrier at shared address 0x%x: no arrivals are pending", at);
        hd_mbarrier_write(w->cta, at, after_arrival(states[i]));
    }
    if (step == HD_STEP_NEXT && op->d != HD_NO_REF)
        hd_merge(hd_row_of_frame(w, op->d), states, mask, 8);
    return step;
}

/* Nothing but loads asks for the phase, so copies are complete at once. */
hd_step hd_machine_run_arrive_word_after_copies(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_run_async_wait(&(hd_op){.offset = -1}, w, mask);
    return hd_machine_run_arrive_word(op, w, mask);
}
