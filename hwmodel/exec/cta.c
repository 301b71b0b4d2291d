/* What a thread of the host needs to run CTAs: see cta.h. */
#include "hwmodel/exec/cta.h"
#include "hwmodel/exec/checks.h"

static void open_cta(hd_cta *cta)
{
    const hd_program *p = cta->program;
    cta->warp_count = hd_grid_warps_per_cta(cta->grid);
    cta->shared_bytes = p->static_shared_bytes;
    if (cta->grid->dynamic_shared_bytes)
        cta->shared_bytes = p->dynamic_shared_at + cta->grid->dynamic_shared_bytes;
    cta->reserved_at = cta->shared_bytes;
    if (p->reserves_shared) {
        cta->reserved_at = (cta->shared_bytes + 127) / 128 * 128;
        cta->shared_bytes = cta->reserved_at + HD_RESERVED_SHARED_BYTES;
    }
    cta->shared = hd_calloc((size_t)cta->shared_bytes + 16, 1);
    hd_checks_open(cta);
    cta->places = hd_calloc((size_t)p->places + 1, sizeof(const hd_allocation *));
    cta->warps = hd_calloc(cta->warp_count, sizeof *cta->warps);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        cta->warps[i].cta = cta;
        cta->warps[i].special = hd_calloc((size_t)p->special_bytes + 64, 1);
    }
}

/* Of a warp with all it has grown to. */
static uint64_t warp_bytes(const hd_warp *w)
{
    uint64_t bytes = sizeof *w + (uint64_t)w->local_capacity * LANES + w->cta->program->special_bytes +
                     w->stack.capacity * sizeof *w->stack.items + w->frames.capacity * sizeof *w->frames.items +
                     w->async.capacity * sizeof *w->async.items;
    for (uint32_t k = 0; k < w->frames.count; k++)
        bytes += w->frames.items[k].register_capacity;
    return bytes;
}

static void close_cta(hd_cta *cta)
{
    uint64_t bytes = sizeof *cta;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        bytes += warp_bytes(&cta->warps[i]);
    if (bytes > cta->statistics->cta_bytes)
        cta->statistics->cta_bytes = bytes;
    hd_checks_close(cta);
    hd_livelock_free(cta);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        hd_warp *w = &cta->warps[i];
        for (uint32_t k = 0; k < w->frames.count; k++) {
            free(w->frames.items[k].registers);
            free(w->frames.items[k].tops);
            free(w->frames.items[k].writers);
        }
        hd_array_free(&w->frames);
        hd_array_free(&w->stack);
        free(w->local);
        free(w->special);
        hd_array_free(&w->async);
    }
    free(cta->warps);
    free(cta->shared);
    free(cta->places);
}

hd_cta *hd_cta_new(const hd_grid_job *job, hd_exec_statistics *statistics)
{
    hd_cta *cta = aligned_alloc(64, (sizeof *cta + 63) / 64 * 64);
    if (!cta)
        hd_out_of_memory(sizeof *cta);
    memset(cta, 0, sizeof *cta);
    cta->program = job->program;
    cta->grid = job->grid;
    cta->options = job->options;
    cta->memory = job->program->image->memory;
    cta->sinks = job->sinks;
    cta->sink_count = job->sink_count;
    cta->stretch = job->stretch;
    cta->gathering = job->gathering;
    cta->crew = job->crew;
    cta->statistics = statistics;
    cta->issued_before = statistics->warp_instructions;
    cta->diagnostics = job->diagnostics;
    for (uint32_t i = 0; i < job->sink_count; i++)
        cta->columns |= job->sinks[i].columns;
    open_cta(cta);
    return cta;
}

void hd_cta_delete(hd_cta *cta)
{
    close_cta(cta);
    free(cta);
}
