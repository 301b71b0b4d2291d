/* heddle replay: see replay.h. */
#include "driver/replay/replay_work.h"
#include "hwmodel/count/memo/transitions.h"
#include "ir/architected.h"
#include "ir/sregs.h"
#include "ir/techniques.h"
#include "passes/analysis/liveness.h"
#include "passes/clean/offsets.h"
#include "passes/manager/manager.h"
#include "target/gpu.h"
#include "target/occupancy.h"
#include <errno.h>
#include <stdio.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool read_module(replay_part *p, replay_file *f)
{
    replay_await_turn(p, f->launch->module_path);
    if (!hd_source_read(&f->source, f->launch->module_path)) {
        hd_report(&f->said, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "%s: %s", f->launch->module_path,
                  hd_source_why(errno));
        return false;
    }
    f->module = hd_parse_ptx(&f->source, &p->plan->options->parse, &f->said);
    if (f->said.error_count == 0)
        hd_module_lower_offsets(f->module);
    return f->said.error_count == 0;
}

static bool brings_annotations(const hd_module *module)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.items[i]->annotations.count || module->functions.items[i]->foreign_annotations.count)
            return true;
    return false;
}

bool replay_run_passes(const replay_part *p, replay_file *f, const char *passes, hd_diagnostics *diagnostics)
{
    hd_pipeline *pipeline = hd_pipeline_parse(passes, diagnostics);
    if (!pipeline)
        return false;
    hd_pipeline_options options = {
        .threads = p->threads, .gpu = p->plan->gpu, .contexts = f->contexts.items ? &f->contexts : NULL};
    bool good = hd_pipeline_run(pipeline, f->module, &options, diagnostics);
    hd_pipeline_free(pipeline);
    return good;
}

/* What comes without annotations is made what an assembler would make of it. */
static bool is_to_be_allocated(const replay_part *p, const replay_file *f)
{
    return !p->plan->options->keep_virtual && p->plan->model_count && !brings_annotations(f->module);
}

static bool allocate_registers(const replay_part *p, replay_file *f, hd_diagnostics *diagnostics)
{
    char passes[64] = "clean,regalloc";
    if (p->plan->options->max_registers)
        snprintf(passes, sizeof passes, "clean,regalloc(max=%u)", p->plan->options->max_registers);
    return replay_run_passes(p, f, passes, diagnostics);
}

static bool make_module(replay_part *p, replay_file *f)
{
    hd_diagnostics_init_part(&f->said, &p->diagnostics);
    bool good = read_module(p, f);
    f->allocates = good && is_to_be_allocated(p, f);
    if (f->allocates && !p->plan->options->no_compare)
        f->original = hd_module_copy(f->module, &f->said);
    else if (good && !p->plan->options->no_compare && brings_annotations(f->module))
        replay_open_original(f);
    memcpy(p->diagnostics.severity, f->said.severity, sizeof p->diagnostics.severity); /* --strict has raised some */
    hd_diagnostics_join(&p->diagnostics, &f->said);
    return good;
}

uint32_t replay_kernel_registers(const replay_file *f, const char *kernel)
{
    const hd_function *function = hd_module_find_function(f->module, kernel);
    for (uint32_t i = 0; i < f->module->functions.count; i++)
        if (f->module->functions.items[i] == function && f->code->functions[i])
            return f->code->functions[i]->registers;
    return 0;
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* Can a block of some launch need more registers than the register file has? */
static bool is_crowded(const replay_part *p, const replay_file *f)
{
    for (uint32_t i = 0; i < f->launch->launches.count; i++) {
        const hd_launch *launch = &f->launch->launches.items[i];
        uint64_t warps = ((uint64_t)launch->block[0] * launch->block[1] * launch->block[2] + 31) / 32;
        if (warps * replay_kernel_registers(f, launch->kernel) > p->plan->gpu->limits.registers_per_sm / 32)
            return true;
    }
    return false;
}

void replay_open_count(replay_part *p, replay_file *f, hd_arena *arena, hd_diagnostics *diagnostics)
{
    f->refusals = HD_ARENA_ARRAY(arena, const char *, p->plan->model_count);
    f->model_place = HD_ARENA_ARRAY(arena, uint32_t, p->plan->model_count);
    for (uint32_t m = 0; m < p->plan->model_count; m++)
        f->model_place[m] = HD_NONE;
    f->code = hd_rf_module_new(f->module);
    f->count = hd_count_new(f->code, diagnostics);
    hd_count_batches(f->count, HD_REPLAY_BATCH, p->threads);
    hd_count_share(f->count, &p->budget);
    if (!p->plan->options->no_memo)
        hd_count_use_memo(f->count, &hd_rf_automaton_memo);
    f->crowded = is_crowded(p, f);
}

void replay_add_model(const replay_part *p, replay_file *f, uint32_t m)
{
    hd_rf_model *model = hd_rf_model_new(p->plan->models[m], f->code, &f->refusals[m]);
    if (!model)
        return;
    if (f->crowded)
        hd_rf_model_crowd(model);
    f->model_place[m] = hd_count_models(f->count);
    hd_count_add(f->count, model);
}

static void remove_annotations(hd_module *module, const char *technique)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        hd_annotations_remove(module->functions.items[i], technique);
}

/* Does the technique's pass stand in the list? */
static bool takes_part(const char *passes, const hd_technique_info *technique)
{
    size_t length = strlen(technique->pass);
    for (const char *at = passes; *at; at += strcspn(at, ","), at += *at == ',')
        if (length && !strncmp(at, technique->pass, length) && strchr("(,", at[length]))
            return true;
    return false;
}

static bool brings_annotations_of(const hd_module *module, const char *passes)
{
    for (uint32_t t = 0; t < HD_TECHNIQUE_COUNT; t++)
        if (takes_part(passes, &hd_techniques[t]) && replay_has_annotations(module, hd_techniques[t].spelling))
            return true;
    return false;
}

/* Models that share passes are made together, from what these write; then the module is as it was. */
static bool add_models_of(replay_part *p, replay_file *f, uint32_t first, bool *done)
{
    const char *passes = p->plan->models[first]->pass;
    bool as_written = !*passes || brings_annotations_of(f->module, passes);
    if (*passes)
        f->annotated = f->annotated || as_written;
    if (!as_written && !replay_run_passes(p, f, passes, &p->diagnostics))
        return false;
    for (uint32_t m = first; m < p->plan->model_count; m++)
        if (!done[m] && !strcmp(p->plan->models[m]->pass, passes)) {
            replay_add_model(p, f, m);
            done[m] = true;
        }
    for (uint32_t t = 0; t < HD_TECHNIQUE_COUNT && !as_written; t++)
        if (takes_part(passes, &hd_techniques[t]))
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
    for (uint32_t m = 0; m < p->plan->model_count; m++)
        if (!done[m] && !add_models_of(p, f, m, done))
            return false;
    return true;
}

/* What the passes take for uniform, the run must confirm. */
static void expect_uniform_branches(replay_file *f, uint32_t function)
{
    const hd_uniformity *u = hd_analysis_get(&f->contexts.items[function], HD_ANALYSIS_UNIFORMITY);
    const hd_cfg *cfg = hd_function_cfg(f->module->functions.items[function]);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].reachable && cfg->blocks[b].conditional && !hd_bitset_has(&u->divergent_branches, b))
            hd_count_expect_uniform(f->count, function, cfg->blocks[b].end - 1);
}

void replay_expect_uniform_branches(replay_file *f, hd_diagnostics *diagnostics)
{
    if (!f->contexts.items)
        hd_pass_contexts_open(&f->contexts, f->module, diagnostics);
    for (uint32_t i = 0; i < f->module->functions.count; i++)
        if (f->module->functions.items[i]->has_body)
            expect_uniform_branches(f, i);
    hd_pass_contexts_close(&f->contexts);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Functions that the allocation leaves as they are stay virtual. */
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

/* A row for each launch of the text, in its order. */
static void open_rows(replay_part *p, const replay_file *f)
{
    p->tallies = replay_open_tallies(p, f, &p->arena);
    for (uint32_t i = 0; i < f->launch->launches.count; i++) {
        const hd_launch *launch = &f->launch->launches.items[i];
        hd_replay_kernel k = {.file = f->path, .launch = i, .annotated = f->annotated};
        k.name = hd_arena_string(&p->arena, launch->kernel, strlen(launch->kernel));
        set_registers(f, &k);
        memcpy(k.grid, launch->grid, sizeof k.grid);
        memcpy(k.block, launch->block, sizeof k.block);
        hd_array_push(&p->rows, k);
    }
}

/* Rows of launches that never ran are dropped; nothing was verified of them. */
static void drop_idle_rows(replay_part *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->rows.count; i++)
        if (p->rows.items[i].runs)
            p->rows.items[kept++] = p->rows.items[i];
    p->rows.count = kept;
}

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
    bool right = hd_session_check(run->session);
    for (uint32_t k = 0; k < p->rows.count; k++)
        p->rows.items[k].outputs = right ? HD_OUTPUTS_RIGHT : HD_OUTPUTS_WRONG;
    return right ? HD_STATUS_DONE : HD_STATUS_WRONG;
}

bool replay_reads_time(const hd_module *module)
{
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const hd_function *f = module->functions.items[i];
        for (uint32_t o = 0; o < f->operands.count; o++)
            if (f->operands.items[o].kind == HD_OPERAND_SREG &&
                hd_sregs[f->operands.items[o].value].varies == HD_VARIES_TIME)
                return true;
    }
    return false;
}

/* A machine starts no kernel of which no block fits in the register file. PTX's own registers are no machine's. */
static bool fits(replay_part *p, const replay_file *f, const hd_replay_kernel *k)
{
    const hd_gpu_limits *limits = &p->plan->gpu->limits;
    hd_occupancy_use use = {.threads = k->block[0] * k->block[1] * k->block[2]};
    bool fits_without = hd_occupancy_of(limits, &use).ctas;
    const hd_function *kernel = hd_module_find_function(f->module, k->name);
    use.registers = hd_function_resident_registers(kernel, k->general);
    if (k->registers == HD_REPLAY_VIRTUAL || !p->plan->model_count || !fits_without ||
        hd_occupancy_of(limits, &use).ctas)
        return true;
    uint32_t needed = use.registers, fewer = needed;
    for (use.registers = fewer; use.registers && !hd_occupancy_of(limits, &use).ctas; use.registers--)
        fewer--;
    hd_diagnostic *d =
        hd_report(&p->diagnostics, HD_DIAG_UNSUPPORTED, NULL, (hd_span){0, 0},
                  "%s: a block of '%s' does not fit in the register file of %s: %u threads with %u registers, "
                  "and there are %u registers",
                  f->path, k->name, p->plan->gpu->name, use.threads, needed, limits->registers_per_sm);
    if (fewer)
        hd_note_add(&p->diagnostics, d, NULL, (hd_span){0, 0}, "with --max-registers=%u it would", fewer);
    return false;
}

hd_status replay_prepare(replay_part *p, replay_file *f)
{
    if ((f->allocates && !allocate_registers(p, f, &p->diagnostics)) || !add_models(p, f))
        return HD_STATUS_REJECTED;
    replay_expect_uniform_branches(f, &p->diagnostics);
    open_rows(p, f);
    for (uint32_t i = 0; i < p->rows.count; i++)
        if (!fits(p, f, &p->rows.items[i]))
            return HD_STATUS_UNDECIDED;
    return HD_STATUS_DONE;
}

void replay_go_first(replay_run *run)
{
    replay_part *p = run->part;
    replay_file *f = run->file;
    run->tallies = p->tallies;
    if (!replay_open_session(run, f->module))
        return;
    hd_exec_options *options = &run->session->options;
    options->check_uninitialized = p->plan->options->check_uninitialized && (!f->allocates || !f->original);
    options->check_races = p->plan->options->check_races;
    options->print = p->plan->options->print ? replay_print : NULL;
    options->print_context = p;
    replay_run_watched(run);
    if (run->ended)
        run->status = check_outputs(run);
}

/* What is the same code leaves the same memory. */
static void mark_identical(replay_part *p)
{
    for (uint32_t k = 0; k < p->rows.count; k++)
        p->rows.items[k].identical = HD_OUTPUTS_RIGHT;
}

/* Behind a run that stops early nothing else is told, behind one in which two threads raced nothing of changed code. */
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

void replay_go_original(replay_run *run)
{
    if (!replay_open_session(run, run->file->original))
        return;
    run->session->options.check_uninitialized = run->part->plan->options->check_uninitialized && run->file->allocates;
    replay_run_steps(run);
}

/* It must leave the memory that the changed or annotated code has left. */
void replay_join_original(replay_part *p, replay_run *run)
{
    if (run->status == HD_STATUS_DONE && !replay_reads_time(run->file->original)) {
        bool same = hd_session_compare(run->session, p->runs->session, run->diagnostics);
        for (uint32_t k = 0; k < p->rows.count; k++)
            p->rows.items[k].identical = same ? HD_OUTPUTS_RIGHT : HD_OUTPUTS_WRONG;
        run->status = same ? HD_STATUS_DONE : HD_STATUS_WRONG;
    }
    if (run->status != HD_STATUS_DONE && !p->runs->races)
        p->status = run->status;
}

static hd_status run_file(replay_part *p, replay_file *f)
{
    replay_await_turn(p, f->path);
    f->launch = hd_launch_read(f->path, &p->diagnostics);
    f->launch->memory_base = p->plan->options->memory_base;
    f->launch->gpu = p->plan->options->gpu ? p->plan->gpu->name : NULL;
    f->launch->gpu_shared_bytes = p->plan->gpu->limits.shared_bytes_per_cta;
    if (!f->launch->valid || !make_module(p, f))
        return HD_STATUS_REJECTED;
    replay_runs(p, f);
    drop_idle_rows(p);
    replay_fill_results(p);
    return p->status;
}

/* ---- closing ----------------------------------------------------------------------------------------------------- */

/* Texts stay, because diagnostics point into them. */
static void close_module(hd_module *module)
{
    if (module)
        module->source = NULL;
    hd_module_free(module);
}

static void close_file(replay_file *f)
{
    hd_pass_contexts_close(&f->contexts);
    hd_count_free(f->count);
    hd_rf_module_free(f->code);
    hd_module_free(f->original);
    close_module(f->module);
    if (f->launch && !f->rewriting) {
        f->yaml = f->launch->yaml;
        f->launch->yaml = NULL;
        hd_launch_free(f->launch);
    }
    hd_array_free(&f->changed);
}

void replay_drop_texts(replay_part *p)
{
    for (uint32_t i = 0; i < p->files.count; i++) {
        replay_file *f = p->files.items[i];
        hd_source_free(&f->source);
        hd_yaml_free(f->yaml);
        hd_diagnostics_free(&f->said);
    }
    hd_array_free(&p->files);
    hd_diagnostics_free(&p->diagnostics);
}

void replay_run_part(replay_part *p)
{
    replay_file *f = HD_ARENA_NEW(&p->arena, replay_file);
    f->path = p->path;
    hd_array_push(&p->files, f);
    p->status = run_file(p, f);
    for (uint32_t i = p->files.count; i-- > 0;) /* the launches of all are those of the first one */
        close_file(p->files.items[i]);
    if (!p->diagnostics.first)
        replay_drop_texts(p);
}
