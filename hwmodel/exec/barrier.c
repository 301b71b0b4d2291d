/* CTA barriers. A barrier counts threads: a warp that arrives counts for 32, as on the machine. Without a count it
 * opens when every warp that has not ended is there; with one, when as many threads have arrived. */
#include "hwmodel/exec/alu.h"
#include <stdio.h>

uint32_t hd_live_threads(const hd_cta *cta) { return cta->live_warps * LANES; }

static void open_barrier(hd_cta *cta, hd_barrier *b)
{
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (b->waiting >> i & 1)
            cta->warps[i].state = HD_WARP_READY;
    *b = (hd_barrier){0};
    cta->statistics->barriers++;
}

void hd_barriers_check(hd_cta *cta)
{
    for (uint32_t i = 0; i < HD_BARRIERS; i++) {
        hd_barrier *b = &cta->barriers[i];
        if (b->arrived && b->arrived >= (b->expected ? b->expected : hd_live_threads(cta)))
            open_barrier(cta, b);
    }
}

static bool equal_in(const uint32_t *row, uint32_t mask)
{
    uint32_t first = row[__builtin_ctz(mask)];
    for (uint32_t i = 0; i < LANES; i++)
        if (mask >> i & 1 && row[i] != first)
            return false;
    return true;
}

hd_step hd_run_barrier(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *numbers = hd_row(w, op->a), *counts = op->b == HD_NO_REF ? NULL : hd_row(w, op->b);
    uint32_t number = numbers[__builtin_ctz(mask)], count = counts ? counts[__builtin_ctz(mask)] : 0;
    if (mask != w->lanes) {
        char note[128];
        snprintf(note, sizeof note, "the lanes 0x%08x of the warp have not ended and are elsewhere", w->lanes & ~mask);
        return hd_fault_note(op, w, mask, note, "divergent barrier: only %d of %d lanes reach it",
                             __builtin_popcount(mask), __builtin_popcount(w->lanes));
    }
    if (!equal_in(numbers, mask) || (counts && !equal_in(counts, mask)))
        return hd_fault(op, w, mask, "divergent barrier: its operands differ between lanes");
    if (number >= HD_BARRIERS || count % LANES)
        return hd_fault(op, w, mask, "barrier %u with %u threads: there are 16, for multiples of 32 threads", number,
                        count);
    hd_barrier *b = &w->cta->barriers[number];
    if (b->arrived && b->expected != count)
        return hd_fault(op, w, mask, "barrier %u expects %u threads here and %u elsewhere", number, count, b->expected);
    b->expected = count;
    b->arrived += LANES;
    if (op->boolean == HD_BARRIER_ARRIVE) {
        hd_barriers_check(w->cta);
        return HD_STEP_NEXT;
    }
    b->waiting |= 1u << w->index;
    w->state = HD_WARP_WAITING;
    w->barrier = (uint8_t)number;
    w->waiting = op;
    hd_barriers_check(w->cta);
    return w->state == HD_WARP_WAITING ? HD_STEP_WAIT : HD_STEP_NEXT;
}
