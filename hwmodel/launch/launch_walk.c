/* Walks the steps of a launch file with their repetitions and grids. An `iota` counts the repetitions of the innermost
 * enclosing `repeat` or `until`. */
#include "hwmodel/launch/launch.h"
#include <inttypes.h>

/* ---- grids and blocks -------------------------------------------------------------------------------------------- */

/* START + STEP * k; false (reported) if it is not between 1 and `limit`. */
static bool side_at(const hd_yaml_node *iota, uint64_t k, uint32_t limit, uint32_t *side, hd_diagnostics *diagnostics)
{
    unsigned char bytes[8];
    int64_t value;
    if (!hd_value_iota(iota, HD_TYPE_S64, k, bytes, diagnostics))
        return false;
    memcpy(&value, bytes, 8);
    if (value < 1 || value > limit) {
        hd_yaml_report(diagnostics, iota, HD_DIAG_BAD_VALUE,
                       "%" PRId64 " in repetition %" PRIu64 " is not from 1 to %" PRIu32, value, k, limit);
        return false;
    }
    *side = (uint32_t)value;
    return true;
}

bool hd_launch_shape(const hd_launch *l, uint64_t k, uint32_t grid[3], uint32_t block[3], hd_diagnostics *diagnostics)
{
    static const uint32_t grid_limits[3] = {0x7fffffff, 65535, 65535}, block_limits[3] = {1024, 1024, 64};
    for (uint32_t i = 0; i < 3; i++) {
        grid[i] = l->grid[i];
        block[i] = l->block[i];
        if ((l->grid_iota[i] && !side_at(l->grid_iota[i], k, grid_limits[i], &grid[i], diagnostics)) ||
            (l->block_iota[i] && !side_at(l->block_iota[i], k, block_limits[i], &block[i], diagnostics)))
            return false;
    }
    if (block[0] * block[1] * block[2] > 1024) {
        hd_yaml_report(diagnostics, hd_yaml_get(l->node, "block"), HD_DIAG_BAD_VALUE,
                       "a block has at most 1024 threads");
        return false;
    }
    if ((uint64_t)grid[0] * grid[1] > UINT32_MAX / 32 || (uint64_t)grid[0] * grid[1] * grid[2] > UINT32_MAX / 32) {
        hd_yaml_report(diagnostics, hd_yaml_get(l->node, "grid"), HD_DIAG_BAD_VALUE,
                       "a grid has at most %" PRIu32 " blocks here", UINT32_MAX / 32);
        return false;
    }
    return true;
}

bool hd_launch_varies(const hd_launch *l)
{
    for (uint32_t i = 0; i < 3; i++)
        if (l->grid_iota[i] || l->block_iota[i])
            return true;
    for (uint32_t i = 0; i < l->argument_count; i++)
        if (l->arguments[i].kind == HD_ARGUMENT_IOTA || l->arguments[i].kind == HD_ARGUMENT_STRUCT)
            return true;
    return false;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

typedef struct walk {
    const hd_launch_file *file;
    const hd_launch_walker *walker;
} walk;

/* 1: continue repeating, 0: done, -1: stop the walk. */
static int wants_more(const walk *w, const hd_repetition *r)
{
    if (r->buffer == HD_NONE)
        return 1;
    const unsigned char *bytes = w->walker->read(w->walker->context, r->buffer);
    if (!bytes)
        return -1;
    uint32_t size = hd_value_bytes(w->file->buffers.items[r->buffer].type);
    bool equal = !memcmp(bytes + r->index * size, r->equals, size);
    return equal == r->unequal;
}

static bool run_steps(const walk *w, const hd_launch_step *steps, uint32_t count, uint64_t k);

static bool run_once(const walk *w, const hd_launch_step *s, uint64_t k)
{
    switch ((hd_launch_step_kind)s->kind) {
    case HD_DO_LAUNCH: return w->walker->launch(w->walker->context, s->launch, k);
    case HD_DO_SET: return w->walker->set(w->walker->context, s);
    case HD_DO_COPY: return w->walker->copy(w->walker->context, s);
    case HD_DO_GROUP: return run_steps(w, s->steps, s->step_count, k);
    }
    return false;
}

static bool run_step(const walk *w, const hd_launch_step *s, uint64_t k)
{
    const hd_repetition *r = &s->repetition;
    if (!r->given)
        return run_once(w, s, k);
    for (uint32_t i = 0; i < r->most; i++) {
        if (!run_once(w, s, i))
            return false;
        int more = wants_more(w, r);
        if (more <= 0)
            return more == 0;
    }
    if (r->buffer == HD_NONE)
        return true;
    hd_yaml_report(w->walker->diagnostics, r->node, HD_DIAG_KERNEL_FAULT, "'%s' did not take %s value within %u %s",
                   w->file->buffers.items[r->buffer].name, r->unequal ? "another" : "the", r->most,
                   s->kind == HD_DO_LAUNCH ? "launches" : "repetitions");
    return false;
}

static bool run_steps(const walk *w, const hd_launch_step *steps, uint32_t count, uint64_t k)
{
    for (uint32_t i = 0; i < count; i++)
        if (!run_step(w, &steps[i], k))
            return false;
    return true;
}

bool hd_launch_walk(const hd_launch_file *file, const hd_launch_walker *walker)
{
    walk w = {file, walker};
    return run_steps(&w, file->steps, file->step_count, 0);
}

/* ---- how much there is ------------------------------------------------------------------------------------------- */

static hd_launch_amount amount_of(const hd_launch_file *file, const hd_launch_step *steps, uint32_t count)
{
    hd_launch_amount all = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        const hd_launch_step *step = &steps[i];
        hd_launch_amount once = {0, 0};
        if (step->kind == HD_DO_GROUP)
            once = amount_of(file, step->steps, step->step_count);
        if (step->kind == HD_DO_LAUNCH) {
            const uint32_t *grid = file->launches.items[step->launch].grid;
            once = (hd_launch_amount){1, (uint64_t)grid[0] * grid[1] * grid[2]};
        }
        uint64_t times = step->repetition.given ? step->repetition.most : 1;
        all.runs += once.runs * times;
        all.ctas += once.ctas * times;
    }
    return all;
}

hd_launch_amount hd_launch_amount_of(const hd_launch_file *file)
{
    return amount_of(file, file->steps, file->step_count);
}
