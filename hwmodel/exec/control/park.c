/* Lanes that wait inside of a warp.
 *
 * On a SIMT stack only the top runs. Where the lanes of the top wait for others of their warp, any other side (an entry
 * above which there is none with lanes of its own) may run instead: it becomes the top. An entry only needs to stand
 * above the one that waits at its join, so a side can be taken out of the stack and put on top. What waits keeps its
 * place at the instruction and runs it again when it comes to the top, then with its lanes among `passed` if they were
 * let go. Such an instruction counts once, when it is done.
 *
 * Only sides of the running function can be brought up: those of a caller stand below its frame. */
#include "hwmodel/exec/control/park.h"
#include "hwmodel/exec/control/control.h"
#include "hwmodel/exec/control/meet.h"

/* Lanes of the top that do not execute the op go on behind it, and meet the others where both are done. */
static void split_top(hd_warp *w, uint32_t mask)
{
    hd_entry top = *hd_top(w);
    if (!(top.mask & ~mask))
        return;
    hd_top(w)->mask = mask;
    hd_array_push(&w->stack, (hd_entry){top.pc + 1, top.join, top.mask & ~mask});
}

void hd_park(hd_warp *w, uint32_t mask, hd_park_key key)
{
    w->parked |= mask;
    for (uint32_t i = 0; i < LANES; i++)
        if (mask >> i & 1)
            w->park_keys[i] = key;
    split_top(w, mask);
}

uint32_t hd_parked_at(const hd_warp *w, hd_park_key key)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < LANES; i++)
        lanes |= (uint32_t)(w->park_keys[i] == key) << i;
    return lanes & w->parked & w->lanes;
}

void hd_unpark(hd_warp *w, uint32_t lanes)
{
    w->passed |= lanes & w->parked;
    w->parked &= ~lanes;
}

bool hd_take_pass(hd_warp *w, uint32_t mask)
{
    if (mask & ~w->passed)
        return false;
    w->passed &= ~mask;
    return true;
}

static bool is_side(const hd_warp *w, uint32_t at)
{
    for (uint32_t i = at + 1; i < w->stack.count; i++)
        if (w->stack.items[i].mask & w->stack.items[at].mask)
            return false;
    return w->stack.items[at].mask != 0;
}

bool hd_switch_side(hd_warp *w)
{
    for (uint32_t at = hd_top_frame(w)->bottom; at + 1 < w->stack.count; at++) {
        hd_entry e = w->stack.items[at];
        if (!is_side(w, at) || !(e.mask & ~w->parked) || e.pc == e.join)
            continue;
        memmove(&w->stack.items[at], &w->stack.items[at + 1], (w->stack.count - 1 - at) * sizeof e);
        *hd_top(w) = e;
        return true;
    }
    return false;
}

/* Is there nothing but branches without a choice between an op and the kernel's end? */
static bool leads_to_end(const hd_code *code, uint32_t pc)
{
    enum { MOST_BRANCHES = 8 };
    for (uint32_t n = 0; n < MOST_BRANCHES; n++) {
        const hd_op *op = &code->ops[pc];
        if (op->guard != HD_NO_REF || op->run != hd_run_branch)
            return op->guard == HD_NO_REF && (op->run == hd_run_return || op->run == hd_run_exit);
        pc = op->target;
    }
    return false;
}

/* A GPU ends lanes at the branch to the return; here they wait at it for the others, who may wait for them elsewhere,
 * in a function that they have called, too. It is no event, because warp-wide storage may be given up there when the
 * whole warp has come. */
bool hd_end_waiting(hd_warp *w)
{
    uint32_t above = hd_top(w)->mask, ended = 0,
             kernel_end = w->frame_count > 1 ? w->frames.items[1].bottom : w->stack.count;
    for (uint32_t at = w->stack.count - 1; at-- > 0;) {
        const hd_entry *e = &w->stack.items[at];
        uint32_t own = e->mask & ~above & ~w->parked;
        above |= e->mask;
        if (own && at < kernel_end && leads_to_end(w->frames.items[0].code, e->pc))
            ended |= own;
    }
    for (uint32_t i = 0; i < w->stack.count; i++)
        w->stack.items[i].mask &= ~ended;
    w->lanes &= ~ended;
    return ended != 0;
}
