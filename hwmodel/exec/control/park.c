/* Lanes that wait within a warp.
 *
 * On a SIMT stack only the top entry executes. If its lanes wait for others of their warp, any other side (an entry
 * without entries above it that contain its lanes) may execute instead: it becomes the top. An entry must only be above
 * the one that waits at its join, so a side can be removed from the stack and pushed on top. Waiting lanes stay at the
 * instruction and execute it again when they are on top, with the released ones in `passed`. Such an instruction counts
 * once, when it completes.
 *
 * Only sides of the running function can be moved to the top: those of a caller are below its call frame. */
#include "hwmodel/exec/control/park.h"

#include "hwmodel/exec/control/groups.h"
#include "hwmodel/exec/control/control.h"
#include "hwmodel/exec/control/meet.h"

/* Lanes of the top that do not execute the op continue after it, and meet the others there. */
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
    if (w->cta->program->independent)
        return hd_groups_choose(w);
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

/* Whether only unconditional branches are between an op and the kernel's end. */
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

/* A GPU ends lanes at the branch to the return; here they wait for the other lanes, which may wait for them elsewhere,
 * also in a called function. This is not an event, because warp-wide storage may be released at the return when the
 * whole warp has arrived. */
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
