/* The first run, of the replayed code with its models, and the run of its original, without models. */
#include "driver/replay/replay_work.h"

#include "base/demangle.h"
#include "ir/architected.h"
#include "ir/techniques.h"
#include "target/occupancy.h"
#include <inttypes.h>
#include <stdio.h>

/* ---- models ------------------------------------------------------------------------------------------------------ */

static void remove_annotations(hd_module *module, const char *technique)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        hd_annotations_remove(module->functions.items[i], technique);
}

bool replay_brings_annotations_of(const hd_module *module, const hd_pipeline *passes)
{
    for (uint32_t t = 0; t < HD_TECHNIQUE_COUNT; t++)
        if (hd_pipeline_has(passes, hd_techniques[t].pass) && replay_has_annotations(module, hd_techniques[t].spelling))
            return true;
    return false;
}

/* Models with the same passes are created together, from the annotations of these; then the module is restored. */
static bool add_models_of(replay_part *p, replay_file *f, uint32_t first, bool *done)
{
    const hd_pipeline *passes = p->plan->models[first].passes;
    bool as_written = !passes || replay_brings_annotations_of(f->module, passes);
    if (passes)
        f->annotated = f->annotated || as_written;
    if (!as_written && !replay_run_passes(p, f, passes, &p->diagnostics))
        return false;
    for (uint32_t m = first; m < p->plan->model_count; m++)
        if (!done[m] && p->plan->models[m].passes == passes) {
            replay_add_model(p, f, m);
            done[m] = true;
        }
    for (uint32_t t = 0; t < HD_TECHNIQUE_COUNT && !as_written; t++)
        if (hd_pipeline_has(passes, hd_techniques[t].pass))
            remove_annotations(f->module, hd_techniques[t].spelling);
    return true;
}

static bool add_models(replay_part *p, replay_file *f)
{
    bool *done = HD_ARENA_ARRAY(&p->arena, bool, p->plan->model_count);
    if (!replay_open_changed(p, f))
        return false;
    replay_open_count(p, f, &p->arena, &p->diagnostics);
    hd_pass_contexts_open(&f->contexts, f->module, &p->diagnostics);
    for (uint32_t m = 0; m < p->plan->model_count; m++)
        done[m] = replay_sees_changed(p, f, m); /* in a run of its own */
    for (uint32_t m = 0; m < p->plan->model_count; m++) {
        f->refusals[m] = replay_refusal(p, f, m);
        done[m] = done[m] || f->refusals[m];
    }
    for (uint32_t m = 0; m < p->plan->model_count; m++)
        if (!done[m] && !add_models_of(p, f, m, done))
            return false;
    return true;
}

/* ---- before the run ---------------------------------------------------------------------------------------------- */

/* Functions that the allocation leaves unchanged stay virtual. */
static void set_registers(const replay_file *f, hd_replay_kernel *k)
{
    const hd_function *kernel = hd_module_find_function(f->module, k->name);
    hd_architected numbers;
    if (!kernel || !hd_architected_of(kernel, &numbers))
        return;
    k->registers = f->allocates ? HD_REPLAY_ALLOCATED : HD_REPLAY_ARCHITECTED;
    k->general = replay_kernel_registers(f, k->name);
    k->predicates = numbers.predicates;
}

/* A row for each launch in the text, in order. */
static void open_rows(replay_part *p, const replay_file *f, const char *const *orders)
{
    p->tallies = replay_open_tallies(p, f, &p->arena);
    for (uint32_t i = 0; i < f->launch->launches.count; i++) {
        const hd_launch *launch = &f->launch->launches.items[i];
        hd_replay_kernel k = {.file = f->path, .launch = i, .annotated = f->annotated};
        k.name = hd_arena_string(&p->arena, launch->kernel, strlen(launch->kernel));
        k.demangled = p->plan->options->no_demangle ? k.name : hd_demangle(&p->arena, k.name);
        if (!f->traced)
            k.memory_base = f->launch->memory_base ? f->launch->memory_base : HD_MEMORY_BASE;
        set_registers(f, &k);
        k.order_dependent = orders[i];
        memcpy(k.grid, launch->grid, sizeof k.grid);
        memcpy(k.block, launch->block, sizeof k.block);
        hd_array_push(&p->rows, k);
    }
}

/* Reports that no block of the kernel fits: what it needs, and what there is. */
static hd_diagnostic *report_too_large(replay_part *p, const replay_file *f, const hd_replay_kernel *k,
                                       const char *needs)
{
    return hd_report(&p->diagnostics, HD_DIAG_UNSUPPORTED, NULL, (hd_span){0, 0},
                     "%s: a block of '%s' does not fit in %s", f->path, k->name, needs);
}

static bool threads_fit(replay_part *p, const replay_file *f, const hd_replay_kernel *k, uint32_t threads)
{
    const hd_gpu *gpu = p->plan->gpu;
    uint32_t warps = (threads + 31) / 32;
    if (threads > gpu->limits.threads_per_cta)
        report_too_large(p, f, k,
                         hd_arena_printf(&p->arena, "%s: it has %u threads, and may have %u", gpu->name, threads,
                                         gpu->limits.threads_per_cta));
    else if (warps > gpu->limits.warps_per_sm)
        report_too_large(p, f, k,
                         hd_arena_printf(&p->arena, "an SM of %s: it has %u warps, and there is room for %u", gpu->name,
                                         warps, gpu->limits.warps_per_sm));
    return threads <= gpu->limits.threads_per_cta && warps <= gpu->limits.warps_per_sm;
}

/* Virtual registers have no limit. */
static bool registers_fit(replay_part *p, const replay_file *f, const hd_replay_kernel *k, uint32_t threads)
{
    const hd_gpu_limits *limits = &p->plan->gpu->limits;
    const hd_function *kernel = hd_module_find_function(f->module, k->name);
    hd_occupancy_use use = {.threads = threads, .registers = hd_function_resident_registers(kernel, k->general)};
    if (k->registers == HD_REPLAY_VIRTUAL || hd_occupancy_of(limits, &use).ctas)
        return true;
    uint32_t needed = use.registers, fewer = needed, most;
    uint64_t taken = hd_occupancy_block_registers(limits, &use, &most);
    for (use.registers = fewer; use.registers && !hd_occupancy_of(limits, &use).ctas; use.registers--)
        fewer--;
    hd_diagnostic *d = report_too_large(
        p, f, k,
        needed > limits->registers_per_thread
            ? hd_arena_printf(&p->arena, "the register file of %s: a thread needs %u registers, and may have %u",
                              p->plan->gpu->name, needed, limits->registers_per_thread)
            : hd_arena_printf(&p->arena,
                              "the register file of %s: %u threads with %u registers take %" PRIu64
                              " registers, and %s %u",
                              p->plan->gpu->name, threads, needed, taken,
                              most < limits->registers_per_sm ? "a block may have" : "an SM has", most));
    if (fewer)
        hd_note_add(&p->diagnostics, d, NULL, (hd_span){0, 0}, "with --max-registers=%u it would", fewer);
    return false;
}

/* A kernel of which no block fits on an SM cannot run. Shared memory: hd_session_open. */
static bool fits_on_gpu(replay_part *p, const replay_file *f, const hd_replay_kernel *k)
{
    uint32_t threads = k->block[0] * k->block[1] * k->block[2];
    return !p->plan->model_count || (threads_fit(p, f, k, threads) && registers_fit(p, f, k, threads));
}

/* By launch: replay_order_of, where cycles are asked for. */
static const char *const *find_orders(replay_part *p, const replay_file *f)
{
    const char **orders = HD_ARENA_ARRAY(&p->arena, const char *, f->launch->launches.count + 1);
    for (uint32_t i = 0; i < f->launch->launches.count && p->plan->options->time && !f->traced; i++)
        orders[i] = replay_order_of(f->module, f->launch->launches.items[i].kernel);
    return orders;
}

hd_status replay_prepare(replay_part *p, replay_file *f)
{
    const char *const *orders = find_orders(p, f);
    const hd_pipeline *allocation = f->module->low_memory ? p->plan->allocation32 : p->plan->allocation;
    if ((f->allocates && !replay_run_passes(p, f, allocation, &p->diagnostics)) || !add_models(p, f))
        return HD_STATUS_REJECTED;
    /* a lane may take another way than the others because of a wrong result; of a trace, no branch splits a warp */
    if (!p->plan->faulty && !f->traced)
        replay_expect_uniform_branches(f, &p->diagnostics);
    open_rows(p, f, orders);
    for (uint32_t i = 0; i < p->rows.count; i++)
        if (!fits_on_gpu(p, f, &p->rows.items[i]))
            return HD_STATUS_UNDECIDED;
    return HD_STATUS_DONE;
}

/* ---- the first run ----------------------------------------------------------------------------------------------- */

static bool expects_outputs(const hd_launch_file *launch)
{
    for (uint32_t i = 0; i < launch->buffers.count; i++)
        if (launch->buffers.items[i].expect.given)
            return true;
    return false;
}

static hd_status check_outputs(replay_run *run)
{
    replay_part *p = run->part;
    if (!expects_outputs(run->file->launch))
        return HD_STATUS_DONE;
    bool faulty = p->plan->faulty; /* then other outputs are to be expected */
    bool right = faulty ? replay_outputs_are_right(run->session) : hd_session_check(run->session);
    for (uint32_t k = 0; k < p->rows.count; k++)
        p->rows.items[k].outputs = right ? HD_OUTPUTS_RIGHT : HD_OUTPUTS_WRONG;
    return right || faulty ? HD_STATUS_DONE : HD_STATUS_WRONG;
}

void replay_go_first(replay_run *run)
{
    replay_part *p = run->part;
    replay_file *f = run->file;
    run->tallies = p->tallies;
    if (f->traced) {
        replay_run_watched(run);
        return;
    }
    if (!replay_open_session(run, f->module))
        return;
    hd_exec_options *options = &run->session->options;
    options->check_uninitialized = p->plan->options->check_uninitialized && (!f->allocates || !f->original);
    options->check_races = p->plan->options->check_races;
    options->print = p->plan->options->print ? replay_print : NULL;
    options->print_context = p;
    run->lane = p->plan->lane;
    options->lane_fault = p->plan->faulty ? &run->lane : NULL;
    if (p->plan->faulty)
        hd_count_faulty_lane(f->count);
    replay_run_watched(run);
    if (run->ended) {
        run->status = check_outputs(run);
        if (p->plan->options->saves && !hd_session_save(run->session, &p->saves))
            run->status = hd_status_worse(run->status, HD_STATUS_REJECTED);
    }
}

/* Equal code leaves identical memory. */
static void mark_identical(replay_part *p)
{
    for (uint32_t k = 0; k < p->rows.count; k++)
        p->rows.items[k].identical = HD_OUTPUTS_RIGHT;
}

/* After a run that stops early nothing else is reported; after a race, no run of rewritten code. */
void replay_join_first(replay_part *p, replay_run *run)
{
    p->status = run->races ? HD_STATUS_FAULT : run->status;
    if (run->ended && !run->races && run->file->is_original)
        mark_identical(p);
    if (!run->ended)
        replay_stop_runs(p, 1);
    else if (run->races)
        replay_stop_runs(p, run->file->original ? 2 : 1);
}

/* ---- the original ------------------------------------------------------------------------------------------------ */

void replay_go_original(replay_run *run)
{
    if (!replay_open_session(run, run->file->original))
        return;
    run->session->options.check_uninitialized = run->part->plan->options->check_uninitialized && run->file->allocates;
    replay_run_steps(run);
}

/* Its memory must be identical to that of the rewritten or annotated code. */
void replay_join_original(replay_part *p, replay_run *run)
{
    if (run->status == HD_STATUS_DONE && !replay_reads_time(run->file->original)) {
        bool faulty = p->plan->faulty;
        bool same = faulty ? replay_memory_is_same(run->session, p->runs->session)
                           : hd_session_compare(run->session, p->runs->session, run->diagnostics);
        for (uint32_t k = 0; k < p->rows.count; k++)
            p->rows.items[k].identical = same ? HD_OUTPUTS_RIGHT : HD_OUTPUTS_WRONG;
        run->status = same || faulty ? HD_STATUS_DONE : HD_STATUS_WRONG;
    }
    if (!p->runs->races)
        p->status = hd_status_worse(p->status, run->status);
}
