/* Finds CTAs that run for ever: a lane that spins on a lock which a lane of its own warp holds, a wait for a later CTA.
 *
 * The interpreter is deterministic. If all ready warps of a CTA come back to a state in which they all have been
 * (registers, stacks, local memory) and no shared or global memory was written in between, they will do so again and
 * again. States are compared by their hash at the end of rounds in which every ready warp used its whole turn; the
 * state kept for comparison is renewed after 1, 2, 4, 8 .. rounds (Brent), so that any period is found. What reads a
 * clock never comes back to the same state. One hash a turn. */
#include "base/hash.h"
#include "hwmodel/exec/program.h"

static void add_warp(hd_hasher *hasher, const hd_warp *w)
{
    const hd_frame *top = hd_top_frame(w);
    for (uint32_t i = 0; i < w->frame_count; i++) {
        const hd_frame *f = &w->frames.items[i];
        hd_hasher_add(hasher, &f->call, sizeof f->call);
        hd_hasher_add(hasher, f->registers, f->code->register_bytes);
    }
    const uint32_t lanes[] = {w->parked, w->passed, w->cluster_arrived, w->cluster_open,
                              w->yields % HD_YIELDS_OF_SIDE};
    hd_hasher_add(hasher, lanes, sizeof lanes);
    hd_hasher_add(hasher, w->stack.items, w->stack.count * sizeof *w->stack.items);
    hd_hasher_add(hasher, w->local, (size_t)top->local_end * LANES);
}

static uint64_t state_of(const hd_cta *cta)
{
    hd_hasher *hasher = hd_hasher_new();
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (cta->warps[i].state == HD_WARP_READY)
            add_warp(hasher, &cta->warps[i]);
    uint64_t value = hd_hasher_value(hasher);
    hd_hasher_free(hasher);
    return value;
}

bool hd_livelock_check(hd_cta *cta, bool all_spun)
{
    hd_livelock *l = &cta->livelock;
    if (!all_spun || cta->writes != l->writes) {
        *l = (hd_livelock){.writes = cta->writes};
        return false;
    }
    uint64_t state = state_of(cta);
    if (l->rounds && state == l->state)
        return true;
    l->rounds++;
    if (!(l->rounds & (l->rounds - 1)))
        l->state = state;
    return false;
}
