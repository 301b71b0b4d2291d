/* Thread indices of lanes, and the turn of a CTA. */
#include "hwmodel/exec/state/state.h"

void hd_thread_of(const hd_warp *w, uint32_t lane, uint32_t id[3])
{
    const uint32_t *block = w->cta->grid->block;
    uint32_t linear = w->index * LANES + lane;
    id[0] = linear % block[0];
    id[1] = linear / block[0] % block[1];
    id[2] = linear / block[0] / block[1];
}

bool hd_await_turn(hd_cta *cta)
{
    if (!cta->workers || cta->has_turn)
        return true;
    if (hd_workers_report(cta->workers, &cta->share, cta->footprint))
        cta->has_turn = hd_workers_await(cta->workers, cta->place, cta->footprint);
    if (!cta->has_turn)
        cta->status = HD_EXEC_STOPPED;
    return cta->has_turn;
}
