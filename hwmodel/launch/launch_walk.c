/* Walks the steps of a launch file with their repetitions and grids. An `iota` counts the repetitions of the innermost
 * enclosing `repeat`, `until` or `for`; expressions see the variables of all enclosing `for`. */
#include "hwmodel/launch/launch_reader.h"
#include <inttypes.h>

/* ---- grids and blocks -------------------------------------------------------------------------------------------- */

/* START + STEP * k, or an expression; false (reported) if it is not between 1 and `limit`. */
static bool side_at(const hd_yaml_node *varying, const hd_iteration *at, uint32_t limit, uint32_t *side,
                    hd_diagnostics *diagnostics)
{
    unsigned char bytes[8];
    int64_t value;
    if (varying->kind == HD_YAML_SCALAR) {
        if (!hd_expression_whole(varying, at, 1, limit, diagnostics, &value))
            return false;
        *side = (uint32_t)value;
        return true;
    }
    const hd_yaml_node *iota = hd_yaml_get(varying, "iota");
    if (!hd_value_iota(iota, HD_TYPE_S64, at->k, bytes, diagnostics))
        return false;
    memcpy(&value, bytes, 8);
    if (value < 1 || value > limit) {
        hd_yaml_report(diagnostics, iota, HD_DIAG_BAD_VALUE,
                       "%" PRId64 " in repetition %" PRIu64 " is not from 1 to %" PRIu32, value, at->k, limit);
        return false;
    }
    *side = (uint32_t)value;
    return true;
}

bool hd_launch_shape(const hd_launch *l, const hd_iteration *at, uint32_t grid[3], uint32_t block[3],
                     uint32_t *shared_bytes, hd_diagnostics *diagnostics)
{
    int64_t shared = l->shared_bytes;
    static const uint32_t grid_limits[3] = {0x7fffffff, 65535, 65535}, block_limits[3] = {1024, 1024, 64};
    for (uint32_t i = 0; i < 3; i++) {
        grid[i] = l->grid[i];
        block[i] = l->block[i];
        if ((l->grid_varies[i] && !side_at(l->grid_varies[i], at, grid_limits[i], &grid[i], diagnostics)) ||
            (l->block_varies[i] && !side_at(l->block_varies[i], at, block_limits[i], &block[i], diagnostics)))
            return false;
    }
    if (l->shared_varies &&
        !hd_expression_whole(l->shared_varies, at, 0, HD_LARGEST_SHARED_BYTES, diagnostics, &shared))
        return false;
    *shared_bytes = (uint32_t)shared;
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
    bool varies = l->shared_varies != NULL;
    for (uint32_t i = 0; i < 3; i++)
        varies = varies || l->grid_varies[i] || l->block_varies[i];
    for (uint32_t i = 0; i < l->argument_count; i++)
        varies = varies || l->arguments[i].varying || l->arguments[i].kind == HD_ARGUMENT_STRUCT;
    return varies;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

typedef struct walk {
    const hd_launch_file *file;
    const hd_launch_walker *walker;
} walk;

/* 1: continue repeating, 0: done, -1: it cannot be read. */
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

int hd_launch_loop_step(const hd_launch_loop *loop, uint64_t k, hd_variable *v, hd_diagnostics *diagnostics)
{
    const hd_iteration outside = {k, v->outer}, inside = {k, v};
    hd_expression_value goes_on = {.whole = 1};
    int64_t value = (int64_t)k, count = 0;
    if (loop->count) {
        if (!hd_expression_whole(loop->count, &outside, INT64_MIN, INT64_MAX, diagnostics, &count))
            return -1;
        goes_on.whole = value < count;
    } else if (loop->values) {
        goes_on.whole = k < loop->values->count;
        if (goes_on.whole &&
            !hd_expression_whole(loop->values->items[k], &outside, INT64_MIN, INT64_MAX, diagnostics, &value))
            return -1;
    } else if (!hd_expression_whole(k ? loop->next : loop->from, k ? &inside : &outside, INT64_MIN, INT64_MAX,
                                    diagnostics, &value)) {
        return -1;
    }
    v->value = value;
    if (loop->condition && !hd_expression_evaluate(loop->condition, &inside, diagnostics, &goes_on))
        return -1;
    return goes_on.is_real ? goes_on.real != 0 : goes_on.whole != 0;
}

static hd_walk_end run_steps(const walk *w, const hd_launch_step *steps, uint32_t count, const hd_iteration *at);

static hd_walk_end run_once(const walk *w, const hd_launch_step *s, const hd_iteration *at)
{
    bool more = false;
    switch ((hd_launch_step_kind)s->kind) {
    case HD_DO_LAUNCH: more = w->walker->launch(w->walker->context, s->launch, at); break;
    case HD_DO_SET: more = w->walker->set(w->walker->context, s, at); break;
    case HD_DO_COPY: more = w->walker->copy(w->walker->context, s, at); break;
    case HD_DO_GROUP: return run_steps(w, s->steps, s->step_count, at);
    }
    return more ? HD_WALK_DONE : HD_WALK_STOPPED;
}

/* 0 where an expression is wrong, which the walk reports. */
static uint64_t iterations_of(const hd_repetition *r, const hd_variable *outer, hd_variable *first)
{
    uint64_t times = 0;
    hd_diagnostics ignored;
    hd_diagnostics_init(&ignored);
    hd_variable v = {r->loop->name, 0, outer};
    while (times < r->most && hd_launch_loop_step(r->loop, times, &v, &ignored) > 0)
        if (!times++)
            *first = v;
    hd_diagnostics_free(&ignored);
    return times;
}

static hd_walk_end run_loop(const walk *w, const hd_launch_step *s, const hd_iteration *at)
{
    const hd_repetition *r = &s->repetition;
    hd_variable v = {r->loop->name, 0, at->variables};
    /* asked before the first of a million launches, which take minutes */
    bool ends = iterations_of(r, at->variables, &v) < r->most;
    for (uint32_t i = 0; ends; i++) {
        int more = hd_launch_loop_step(r->loop, i, &v, w->walker->diagnostics);
        if (more <= 0)
            return more == 0 ? HD_WALK_DONE : HD_WALK_WRONG;
        hd_walk_end end = run_once(w, s, &(hd_iteration){i, &v});
        if (end != HD_WALK_DONE)
            return end;
    }
    hd_yaml_report(w->walker->diagnostics, r->node, HD_DIAG_BAD_VALUE, "the loop has more than %" PRIu32 " iterations",
                   r->most);
    return HD_WALK_WRONG;
}

static hd_walk_end run_step(const walk *w, const hd_launch_step *s, const hd_iteration *at)
{
    const hd_repetition *r = &s->repetition;
    if (!r->given)
        return run_once(w, s, at);
    if (r->loop)
        return run_loop(w, s, at);
    for (uint32_t i = 0; i < r->most; i++) {
        hd_walk_end end = run_once(w, s, &(hd_iteration){i, at->variables});
        if (end != HD_WALK_DONE)
            return end;
        int more = wants_more(w, r);
        if (more <= 0)
            return more == 0 ? HD_WALK_DONE : HD_WALK_STOPPED;
    }
    if (r->buffer == HD_NONE)
        return HD_WALK_DONE;
    hd_yaml_report(w->walker->diagnostics, r->node, HD_DIAG_KERNEL_FAULT, "'%s' did not take %s value within %u %s",
                   w->file->buffers.items[r->buffer].name, r->unequal ? "another" : "the", r->most,
                   s->kind == HD_DO_LAUNCH ? "launches" : "repetitions");
    return HD_WALK_UNMET;
}

static hd_walk_end run_steps(const walk *w, const hd_launch_step *steps, uint32_t count, const hd_iteration *at)
{
    hd_walk_end end = HD_WALK_DONE;
    for (uint32_t i = 0; i < count && end == HD_WALK_DONE; i++)
        end = run_step(w, &steps[i], at);
    return end;
}

hd_walk_end hd_launch_walk(const hd_launch_file *file, const hd_launch_walker *walker)
{
    walk w = {file, walker};
    return run_steps(&w, file->steps, file->step_count, &(hd_iteration){0, NULL});
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

bool hd_launch_set_bytes(const hd_launch_file *file, const hd_launch_step *step, const hd_iteration *at,
                         hd_diagnostics *diagnostics, unsigned char *to)
{
    const hd_launch_buffer *b = &file->buffers.items[step->buffer];
    uint32_t size = hd_value_bytes(b->type);
    if (!step->value) {
        if (step->bytes)
            memcpy(to, step->bytes, b->size_bytes);
        else
            memset(to, 0, b->size_bytes);
        return true;
    }
    unsigned char element[8];
    if (!hd_expression_store(step->value, at, b->type, diagnostics, element))
        return false;
    for (uint64_t i = 0; i < b->count; i++)
        memcpy(to + i * size, element, size);
    return true;
}

static bool number_at(const hd_yaml_node *node, const hd_iteration *at, uint64_t most, hd_diagnostics *diagnostics,
                      uint64_t *value)
{
    int64_t number = (int64_t)*value;
    bool good = !node || hd_expression_whole(node, at, 0, (int64_t)most, diagnostics, &number);
    *value = (uint64_t)number;
    return good;
}

bool hd_launch_copy_range(const hd_launch_file *file, const hd_launch_step *step, const hd_iteration *at,
                          hd_diagnostics *diagnostics, hd_launch_copy *range)
{
    uint64_t from = file->buffers.items[step->buffer].size_bytes, to = file->buffers.items[step->to].size_bytes;
    *range = (hd_launch_copy){0};
    if (!number_at(step->from_offset, at, from, diagnostics, &range->from) ||
        !number_at(step->to_offset, at, to, diagnostics, &range->to))
        return false;
    from -= range->from;
    to -= range->to;
    range->bytes = hd_min(from, to);
    return number_at(step->byte_count, at, range->bytes, diagnostics, &range->bytes);
}

/* ---- how much there is ------------------------------------------------------------------------------------------- */

static hd_launch_amount amount_of(const hd_launch_file *file, const hd_launch_step *steps, uint32_t count,
                                  const hd_variable *outer)
{
    hd_launch_amount all = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        const hd_launch_step *step = &steps[i];
        hd_launch_amount once = {0, 0};
        hd_variable first = {"", 0, outer};
        uint64_t times = step->repetition.given ? step->repetition.most : 1;
        if (step->repetition.loop)
            times = iterations_of(&step->repetition, outer, &first);
        if (step->kind == HD_DO_GROUP && times)
            once = amount_of(file, step->steps, step->step_count, step->repetition.loop ? &first : outer);
        if (step->kind == HD_DO_LAUNCH) {
            const uint32_t *grid = file->launches.items[step->launch].grid;
            once = (hd_launch_amount){1, (uint64_t)grid[0] * grid[1] * grid[2]};
        }
        all.runs += once.runs * times;
        all.ctas += once.ctas * times;
    }
    return all;
}

hd_launch_amount hd_launch_amount_of(const hd_launch_file *file)
{
    return amount_of(file, file->steps, file->step_count, NULL);
}
