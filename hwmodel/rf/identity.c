/* The serials of register writes: see identity.h. */
#include "hwmodel/rf/identity.h"
#include <assert.h>

void hd_identity_start(hd_identity_warp *identity, uint32_t warp)
{
    identity->warp = warp;
    identity->serial = identity->frame = identity->base = 0;
    hd_array_clear(&identity->registers);
    hd_array_clear(&identity->frames);
    hd_array_clear(&identity->history);
}

void hd_identity_free(hd_identity_warp *identity)
{
    hd_array_free(&identity->registers);
    hd_array_free(&identity->frames);
    hd_array_free(&identity->history);
}

void hd_identity_push(hd_identity_warp *identity, uint32_t frame, uint32_t words)
{
    uint32_t base = identity->registers.count;
    hd_identity_frame entry = {frame, base, words, identity->history.count};
    hd_array_push(&identity->frames, entry);
    hd_identity_register *fresh = hd_array_extend(&identity->registers, words);
    if (words)
        memset(fresh, 0, (size_t)words * sizeof *fresh);
    identity->frame = frame;
    identity->base = base;
}

void hd_identity_pop(hd_identity_warp *identity)
{
    assert(identity->frames.count);
    hd_identity_frame gone = hd_array_pop(&identity->frames);
    identity->registers.count = gone.base;
    identity->history.count = gone.history_count; /* frames below made no block while this one ran */
    bool left = identity->frames.count != 0;
    identity->frame = left ? hd_array_last(&identity->frames).frame : 0;
    identity->base = left ? hd_array_last(&identity->frames).base : 0;
}

uint32_t hd_identity_frame_at(const hd_identity_warp *identity, uint32_t index)
{
    uint32_t depth = identity->frames.count;
    while (index < identity->frames.items[depth - 1].base)
        depth--;
    return identity->frames.items[depth - 1].frame;
}

/* Lanes of the last write that the next one leaves alone keep its serial. */
static void remember(hd_identity_warp *identity, hd_identity_register *r, uint32_t lanes)
{
    if (!r->history) {
        uint32_t *block = hd_array_extend(&identity->history, 32);
        memset(block, 0, 32 * sizeof *block);
        r->history = identity->history.count / 32;
    }
    uint32_t *last = identity->history.items + (size_t)(r->history - 1) * 32;
    HD_EACH_BIT (lane, lanes)
        last[lane] = r->current;
}

void hd_identity_write(hd_identity_warp *identity, uint32_t index, uint32_t lanes)
{
    hd_identity_register *r = &identity->registers.items[index];
    uint32_t left = r->newest & ~lanes;
    if (left)
        remember(identity, r, left);
    r->current = ++identity->serial;
    r->newest = lanes;
    r->ever |= lanes;
}

uint32_t hd_identity_fresh_slow(const hd_identity_warp *identity, uint32_t index, hd_claim claim)
{
    const hd_identity_register *r = &identity->registers.items[index];
    uint32_t lanes = claim.lanes & ~r->newest, fresh = lanes;
    if (!r->history)
        return fresh;
    const uint32_t *last = identity->history.items + (size_t)(r->history - 1) * 32;
    HD_EACH_BIT (lane, lanes)
        if (last[lane] > claim.serial)
            fresh &= ~(1u << lane);
    return fresh;
}
