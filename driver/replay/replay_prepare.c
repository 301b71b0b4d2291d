/* The second phase of a part: from the module to the runs, each a code with the models that see it, and to the rows.
 *
 * The first run is of the module as the input has it, or, if that has no annotations, simplified and allocated; its
 * models get the annotations of their passes from a run of these on the module, which is then restored. The original
 * runs without models. For passes that change instructions there is a run of a copy of the module, rewritten by them;
 * if they leave the copy as it is, their models see the first run. Models that ask for the values of accesses have a
 * run of a copy, whether it is changed or not, so that they slow down no other model.
 */
#include "driver/replay/replay_work.h"

#include "base/demangle.h"
#include "hwmodel/count/memo/memo.h"
#include "ir/annotations.h"
#include "ir/architected.h"
#include "ir/asynchronous.h"
#include "ir/techniques.h"
#include "passes/analysis/liveness.h"
#include "target/occupancy.h"
#include <inttypes.h>

enum { BASELINE = 0 /* among the chosen models */ };

enum { BATCH = 8192 }; /* events per batch: a millisecond of work, so that synchronization costs little */

/* What a CTA takes with one more model, and in one timing, of the time that it takes in the interpreter alone, roughly:
 * for the time that is left, as it is shown. */
enum { MODEL_COST = 3, TIMING_COST = 50 };

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* contexts: of the module, if its analyses are kept between calls; NULL: they are not. */
static bool run_passes(replay_part *p, hd_module *module, const hd_pipeline *passes, hd_pass_contexts *contexts)
{
    hd_pipeline_options options = {.threads = p->threads, .gpu = p->plan->gpu, .contexts = contexts};
    return hd_pipeline_run(passes, module, &options, &p->diagnostics);
}

static bool has_annotations(const hd_module *module, const char *technique)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (hd_annotations_count(module->functions.items[i], technique))
            return true;
    return false;
}

/* Whether the module has annotations of the technique of one of the passes. */
static bool has_annotations_of(const hd_module *module, const hd_pipeline *passes)
{
    for (uint32_t t = 0; t < hd_technique_count; t++)
        if (hd_pipeline_has(passes, hd_techniques[t].pass) && has_annotations(module, hd_techniques[t].spelling))
            return true;
    return false;
}

static void open_run(replay_part *p, replay_kind kind, hd_module *module)
{
    replay_run *run = &p->runs[p->run_count++];
    run->part = p;
    run->kind = kind;
    run->code.module = module;
    hd_diagnostics_init_part(&run->own, &p->diagnostics);
    run->report = kind == REPLAY_FIRST ? &p->diagnostics : &run->own;
    if (kind != REPLAY_FIRST)
        module->diagnostics = run->report;
}

/* A model that asks for values has a run of its own, but not where a lane is faulty, for the fault is in the first
 * run. */
static bool is_apart(const replay_part *p, uint32_t m)
{
    return !p->plan->faulty && hd_rf_asks_for_values(p->plan->models[m].info);
}

/* Whether the model sees a copy of the code: its passes change instructions and the module is not annotated yet, or it
 * has a run of its own. */
static bool needs_copy(const replay_part *p, uint32_t m)
{
    const replay_model *model = &p->plan->models[m];
    if (p->in.traced)
        return false;
    bool rewritten = model->passes && !hd_pipeline_only_annotates(model->passes) &&
                     !has_annotations(p->in.module, model->info->technique);
    return rewritten || is_apart(p, m);
}

/* Whether the text of some function differs. */
static bool differ(const hd_module *a, const hd_module *b)
{
    for (uint32_t i = 0; i < a->functions.count; i++)
        if (a->functions.items[i]->instructions.count != b->functions.items[i]->instructions.count ||
            hd_function_hash(a->functions.items[i]) != hd_function_hash(b->functions.items[i]))
            return true;
    return false;
}

/* Opens the run of a copy for the model, unless its passes leave the copy as it is. false: reported. */
static bool open_copy(replay_part *p, uint32_t m, uint32_t *run_of)
{
    const hd_pipeline *passes = p->plan->models[m].passes;
    hd_module *module = hd_module_copy(p->in.module, &p->diagnostics);
    hd_diagnostics_join(&p->diagnostics, &p->in.said);
    bool apart = is_apart(p, m), as_written = apart && (!passes || has_annotations_of(module, passes));
    bool good = as_written || run_passes(p, module, passes, NULL);
    if (!good || (!apart && !differ(p->in.module, module))) {
        hd_module_free(module);
        return good;
    }
    run_of[m] = p->run_count;
    open_run(p, REPLAY_COPY, module);
    return true;
}

/* Opens all runs; run_of: by chosen model, the index of the run that it sees. false: reported. */
static bool open_runs(replay_part *p, uint32_t *run_of)
{
    const replay_model *models = p->plan->models;
    uint32_t count = p->plan->model_count, most = 2;
    bool *copied = HD_ARENA_ARRAY(&p->arena, bool, count);
    for (uint32_t m = 0; m < count; m++)
        most += copied[m] = needs_copy(p, m);
    p->runs = HD_ARENA_ARRAY(&p->arena, replay_run, most);
    open_run(p, REPLAY_FIRST, p->in.module);
    if (p->in.original)
        open_run(p, REPLAY_ORIGINAL, p->in.original);
    for (uint32_t m = 0; m < count; m++) {
        uint32_t like = 0; /* the first model with the same copy */
        while (like < m &&
               !(copied[like] && models[like].passes == models[m].passes && is_apart(p, like) == is_apart(p, m)))
            like++;
        if (copied[m] && like < m)
            run_of[m] = run_of[like];
        else if (copied[m] && !open_copy(p, m, run_of))
            return false;
    }
    return true;
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static void open_count(replay_run *run)
{
    replay_part *p = run->part;
    run->code.model_index = HD_ARENA_ARRAY(&run->arena, uint32_t, p->plan->model_count);
    run->code.views = HD_ARENA_ARRAY(&run->arena, replay_views, p->plan->model_count);
    for (uint32_t m = 0; m < p->plan->model_count; m++)
        run->code.model_index[m] = HD_NONE;
    run->code.rf = hd_rf_module_new(run->code.module);
    run->code.count = hd_count_new(run->code.rf, run->report);
    hd_count_batches(run->code.count, BATCH, p->threads);
    hd_count_share(run->code.count, &p->budget);
    if (!p->plan->options->no_memo)
        hd_count_use_memo(run->code.count, &hd_memo);
    if (p->plan->options->time)
        run->code.timer = hd_timer_new(run->code.rf, &p->plan->gpu->machine, p->plan->sms);
    if (p->plan->faulty && run->kind == REPLAY_FIRST)
        hd_count_faulty_lane(run->code.count);
}

/* Why the model cannot be applied to the input; NULL: it can. */
static const char *refusal_of(const replay_part *p, const replay_model *model)
{
    const hd_rf_ops *ops = model->info->ops;
    const hd_traced *traced = p->in.traced;
    if (!traced)
        return ops->needs_flags ? "PTX has no .reuse flags, as machine code has" : NULL;
    if (ops->needs_flags && !traced->has_listing)
        return "a trace has no .reuse: give the listing of its code, --sass";
    if (ops->columns & HD_COLUMN_WIDTHS)
        return "a trace has no values, and so not how many bytes they need";
    if (ops->columns & (HD_COLUMN_RESULTS | HD_COLUMN_LOADED))
        return "a trace has no values";
    if (model->passes && traced->several_entries)
        return "warps begin at different instructions: the trace is not whole";
    return model->passes && hd_function_has_async(p->in.module->functions.items[0])
               ? "an instruction uses registers after it has been issued"
               : NULL;
}

/* The model's listeners; the timer has it. */
static void add_views(replay_run *run, uint32_t m)
{
    const hd_replay_options *options = run->part->plan->options;
    replay_views *views = &run->code.views[m];
    if (replay_events_are_of(run->part->plan, m))
        views->events = replay_events_new(run->part, run->code.module, m);
    if (views->events && run->code.timer) {
        const hd_sm_listener listener = replay_events_listener(views->events);
        hd_timer_listen(run->code.timer, run->code.model_index[m], &listener);
    }
    if (options->timeline_end) {
        const hd_timeline_range range = {options->timeline_sm, options->timeline_first, options->timeline_end};
        views->timeline = hd_timeline_new(&range);
        const hd_sm_listener listener = hd_timeline_listener(views->timeline);
        hd_timer_listen(run->code.timer, run->code.model_index[m], &listener);
    }
    if (options->profile && m == BASELINE) {
        views->profile = hd_profile_new(run->code.module);
        const hd_sm_listener listener = hd_profile_listener(views->profile);
        hd_timer_listen(run->code.timer, run->code.model_index[m], &listener);
    }
}

/* Adds a model to the count and the timer, unless one of them refuses it. */
static void add_model(replay_run *run, uint32_t m, const char **refusal)
{
    const hd_rf_model_info *info = run->part->plan->models[m].info;
    hd_rf_model *model = hd_rf_model_new(info, run->code.rf, refusal);
    if (!model)
        return;
    if (run->code.timer && !hd_timer_add(run->code.timer, info, refusal)) {
        hd_rf_model_free(model);
        return;
    }
    run->code.model_index[m] = hd_count_models(run->code.count);
    hd_count_add(run->code.count, model);
    add_views(run, m);
}

/* Adds models with the same passes together, with the annotations of these; then the module is restored. Sets their
 * bits in `done`. false: reported. */
static bool add_models_of(replay_run *run, const hd_pipeline *passes, bool *done, const char **refusals,
                          hd_pass_contexts *contexts)
{
    const replay_plan *plan = run->part->plan;
    bool as_written = run->kind == REPLAY_COPY || !passes || has_annotations_of(run->code.module, passes);
    if (!as_written && !run_passes(run->part, run->code.module, passes, contexts))
        return false;
    for (uint32_t m = 0; m < plan->model_count; m++)
        if (!done[m] && plan->models[m].passes == passes) {
            add_model(run, m, &refusals[m]);
            done[m] = true;
        }
    for (uint32_t t = 0; t < hd_technique_count && !as_written; t++)
        for (uint32_t i = 0; i < run->code.module->functions.count && hd_pipeline_has(passes, hd_techniques[t].pass);
             i++)
            hd_annotations_remove(run->code.module->functions.items[i], hd_techniques[t].spelling);
    return true;
}

/* The run must confirm that branches assumed uniform by passes are uniform. */
static void expect_uniform_branches(replay_run *run, hd_pass_contexts *contexts)
{
    for (uint32_t i = 0; i < run->code.module->functions.count; i++) {
        if (!run->code.module->functions.items[i]->has_body)
            continue;
        const hd_uniformity *u = hd_analysis_get(&contexts->items[i], HD_ANALYSIS_UNIFORMITY);
        const hd_cfg *cfg = hd_function_cfg(run->code.module->functions.items[i]);
        for (uint32_t b = 0; b < cfg->block_count; b++)
            if (cfg->blocks[b].reachable && cfg->blocks[b].conditional && !hd_bitset_has(&u->divergent_branches, b))
                hd_count_expect_uniform(run->code.count, i, cfg->blocks[b].end - 1);
    }
}

/* Adds the models that see the run, and opens their tallies. false: reported. */
static bool add_models(replay_run *run, const uint32_t *run_of)
{
    replay_part *p = run->part;
    uint32_t count = p->plan->model_count, index = (uint32_t)(run - p->runs);
    bool *done = HD_ARENA_ARRAY(&run->arena, bool, count), good = true;
    const char **refusals = HD_ARENA_ARRAY(&run->arena, const char *, count);
    hd_pass_contexts contexts = {0};
    open_count(run);
    hd_pass_contexts_open(&contexts, run->code.module, run->report);
    for (uint32_t m = 0; m < count; m++) {
        refusals[m] = run_of[m] == index ? refusal_of(p, &p->plan->models[m]) : NULL;
        done[m] = run_of[m] != index || refusals[m];
    }
    for (uint32_t m = 0; m < count && good; m++)
        if (!done[m])
            good = add_models_of(run, p->plan->models[m].passes, done, refusals, &contexts);
    /* a lane may take another way than the others because of a wrong result; of a trace, no branch splits a warp */
    if (good && !p->plan->faulty && !p->in.traced)
        expect_uniform_branches(run, &contexts);
    hd_pass_contexts_close(&contexts);
    run->out.tallies = HD_ARENA_ARRAY(&run->arena, replay_tally, p->in.launch->launches.count * count);
    for (uint32_t i = 0; i < p->in.launch->launches.count * count; i++)
        run->out.tallies[i] = (replay_tally){.refusal = refusals[i % count],
                                             .energy_known = run->code.model_index[i % count] != HD_NONE,
                                             .check = HD_CHECK_PASS};
    return good;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

uint32_t replay_kernel_registers(const replay_run *run, const char *kernel)
{
    const hd_function *function = hd_module_find_function(run->code.module, kernel);
    for (uint32_t i = 0; i < run->code.module->functions.count; i++)
        if (run->code.module->functions.items[i] == function && run->code.rf->functions[i])
            return run->code.rf->functions[i]->registers;
    return 0;
}

/* Whether models of the first run go by annotations that the input has. */
static bool is_annotated(const replay_part *p, const uint32_t *run_of)
{
    for (uint32_t m = 0; m < p->plan->model_count; m++) {
        const replay_model *model = &p->plan->models[m];
        if (!run_of[m] && model->passes && !refusal_of(p, model) && has_annotations_of(p->in.module, model->passes))
            return true;
    }
    return false;
}

/* Opens a row for each launch in the text, in order. */
static void open_rows(replay_part *p, const replay_dependence *depends, bool annotated)
{
    const replay_input *in = &p->in;
    for (uint32_t i = 0; i < in->launch->launches.count; i++) {
        const hd_launch *launch = &in->launch->launches.items[i];
        hd_replay_kernel k = {.file = p->title,
                              .launch = i,
                              .annotated = annotated,
                              .order_dependent = depends[i].order,
                              .clock_dependent = depends[i].clock};
        k.name = hd_arena_string(&p->arena, launch->kernel, strlen(launch->kernel));
        k.demangled = p->plan->options->no_demangle ? k.name : hd_demangle(&p->arena, k.name);
        if (k.clock_dependent && !p->clocked)
            p->clocked = k.demangled;
        if (!in->traced)
            k.memory_base = in->launch->memory_base ? in->launch->memory_base : HD_MEMORY_BASE;
        k.machine_sm = in->module->is_machine && !in->traced ? in->module->target_number : 0;
        k.assembled_by = in->tool;
        const hd_function *kernel = hd_module_find_function(in->module, k.name);
        hd_architected numbers;
        if (kernel && hd_architected_of(kernel, &numbers)) { /* the allocation may leave a function as it is: virtual */
            k.registers = in->allocates ? HD_REPLAY_ALLOCATED : HD_REPLAY_ARCHITECTED;
            k.general = replay_kernel_registers(p->runs, k.name);
            k.predicates = numbers.predicates;
        }
        memcpy(k.grid, launch->grid, sizeof k.grid);
        memcpy(k.block, launch->block, sizeof k.block);
        hd_array_push(&p->out.rows, k);
    }
}

/* Reports that no block of the kernel fits: what it needs, and what there is. */
static hd_diagnostic *report_too_large(replay_part *p, const hd_replay_kernel *k, const char *needs)
{
    return hd_report(&p->diagnostics, HD_DIAG_UNSUPPORTED, NULL, (hd_span){0, 0},
                     "%s: a block of '%s' does not fit in %s", k->file, k->name, needs);
}

static bool threads_fit(replay_part *p, const hd_replay_kernel *k, uint32_t threads)
{
    const hd_gpu *gpu = p->plan->gpu;
    uint32_t warps = (threads + 31) / 32;
    if (threads > gpu->limits.threads_per_cta)
        report_too_large(p, k,
                         hd_arena_printf(&p->arena, "%s: it has %u threads, and may have %u", gpu->name, threads,
                                         gpu->limits.threads_per_cta));
    else if (warps > gpu->limits.warps_per_sm)
        report_too_large(p, k,
                         hd_arena_printf(&p->arena, "an SM of %s: it has %u warps, and there is room for %u", gpu->name,
                                         warps, gpu->limits.warps_per_sm));
    return threads <= gpu->limits.threads_per_cta && warps <= gpu->limits.warps_per_sm;
}

/* Virtual registers have no limit. */
static bool registers_fit(replay_part *p, const hd_replay_kernel *k, uint32_t threads)
{
    const hd_gpu_limits *limits = &p->plan->gpu->limits;
    const hd_function *kernel = hd_module_find_function(p->in.module, k->name);
    hd_occupancy_use use = {.threads = threads, .registers = hd_function_resident_registers(kernel, k->general)};
    if (k->registers == HD_REPLAY_VIRTUAL || hd_occupancy_of(limits, &use).ctas)
        return true;
    uint32_t needed = use.registers, fewer = needed, most;
    uint64_t taken = hd_occupancy_block_registers(limits, &use, &most);
    for (use.registers = fewer; use.registers && !hd_occupancy_of(limits, &use).ctas; use.registers--)
        fewer--;
    hd_diagnostic *d = report_too_large(
        p, k,
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

/* ---- all of it --------------------------------------------------------------------------------------------------- */

hd_status replay_prepare(replay_part *p)
{
    const replay_plan *plan = p->plan;
    const replay_dependence *depends = replay_find_dependences(p);
    uint32_t *run_of = HD_ARENA_ARRAY(&p->arena, uint32_t, plan->model_count);
    const hd_pipeline *allocation = plan->allocations[p->in.module->low_memory];
    if ((p->in.allocates && !run_passes(p, p->in.module, allocation, NULL)) || !open_runs(p, run_of))
        return HD_STATUS_REJECTED;
    uint64_t ctas = hd_launch_amount_of(p->in.launch).ctas;
    for (uint32_t i = 0; i < p->run_count; i++) {
        replay_run *run = &p->runs[i];
        if (run->kind != REPLAY_ORIGINAL && !add_models(run, run_of))
            return HD_STATUS_REJECTED;
        uint32_t models = run->code.count ? hd_count_models(run->code.count) : 0;
        hd_meter_open(&run->meter, p->meter, 1 + MODEL_COST * models, ctas);
        hd_meter_open(&run->timing_meter, p->meter, TIMING_COST, run->code.timer ? ctas * models : 0);
    }
    open_rows(p, depends, is_annotated(p, run_of));
    /* A kernel of which no block fits on an SM cannot run; hd_session_open looks at shared memory. */
    for (uint32_t i = 0; i < p->out.rows.count && plan->model_count; i++) {
        const hd_replay_kernel *k = &p->out.rows.items[i];
        uint32_t threads = k->block[0] * k->block[1] * k->block[2];
        if (!threads_fit(p, k, threads) || !registers_fit(p, k, threads))
            return HD_STATUS_UNDECIDED;
    }
    return HD_STATUS_DONE;
}
