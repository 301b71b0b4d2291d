/* Shared parts of the optional checks: see checks.h. */
#include "hwmodel/exec/checks/checks.h"

static size_t zero_bytes(const hd_program *p)
{
    size_t most = p->special_bytes;
    for (uint32_t i = 0; i < p->codes.count; i++)
        most = hd_max(most, p->codes.items[i]->constant_bytes);
    return most + 64;
}

void hd_checks_open(hd_cta *cta)
{
    const hd_exec_options *o = cta->options;
    if (!o->check_uninitialized && !o->check_races)
        return;
    hd_checks *c = aligned_alloc(64, (sizeof *c + 63) / 64 * 64);
    if (!c)
        hd_out_of_memory(sizeof *c);
    memset(c, 0, sizeof *c);
    c->uninitialized = o->check_uninitialized;
    cta->checks = c;
    if (c->uninitialized) {
        c->zeros = hd_calloc(zero_bytes(cta->program), 1);
        c->shared = hd_calloc((size_t)cta->shared_bytes + 16, 1);
    }
    if (o->check_races)
        c->races = hd_races_new(cta);
}

void hd_checks_close(hd_cta *cta)
{
    hd_checks *c = cta->checks;
    if (!c)
        return;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        hd_warp *w = &cta->warps[i];
        for (uint32_t k = 0; k < w->frames.count; k++)
            free(w->frames.items[k].shadow);
        free(w->shadow_local);
    }
    hd_races_free(c->races);
    free(c->zeros);
    free(c->shared);
    free(c);
    cta->checks = NULL;
}

void hd_checks_start(hd_cta *cta)
{
    if (cta->checks->uninitialized)
        memset(cta->checks->shared, 0xff, cta->reserved_at);
    if (cta->checks->races)
        hd_races_start(cta);
}

uint32_t hd_checks_races(const hd_cta *cta) { return cta->checks ? hd_races_found(cta->checks->races) : 0; }

hd_step hd_checks_done(const hd_op *op, hd_warp *w, uint32_t lanes)
{
    const hd_checks *c = w->cta->checks;
    if (c->races)
        hd_races_access(op, w, lanes);
    return c->uninitialized ? hd_uninitialized_after(op, w, lanes) : HD_STEP_NEXT;
}

hd_step hd_checks_step(const hd_op *op, hd_warp *w, uint32_t active, uint32_t mask)
{
    const hd_checks *c = w->cta->checks;
    bool synthetic = op->flags & HD_OP_SYNTHETIC;
    if (c->uninitialized && !synthetic && hd_uninitialized_before(op, w, active, mask) == HD_STEP_STOP)
        return HD_STEP_STOP;
    if (c->races && w->cta->program->independent)
        hd_races_together(w, active);
    hd_step step = mask ? op->run(op, w, mask) : HD_STEP_NEXT;
    if (!mask || synthetic || step == HD_STEP_STOP || step == HD_STEP_BLOCKED || step == HD_STEP_JUMPED)
        return step;
    return hd_checks_done(op, w, mask) == HD_STEP_STOP ? HD_STEP_STOP : step;
}
