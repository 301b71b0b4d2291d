/* One part of a replay, a launch file: reads it and its module, executes all its runs, and closes them. */
#include "driver/replay/replay_work.h"
#include "passes/clean/offsets.h"

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool brings_annotations(const hd_module *module)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.items[i]->annotations.count || module->functions.items[i]->foreign_annotations.count)
            return true;
    return false;
}

static bool read_module(replay_part *p, replay_file *f)
{
    for (uint32_t i = 0; i < f->launch->module_count; i++)
        replay_await_turn(p, f->launch->module_paths[i]);
    if (!hd_launch_read_module(f->launch, &f->source, &f->linked, &f->said))
        return false;
    hd_parse_options parse = p->plan->options->parse;
    parse.low_memory = f->launch->address_bits == 32;
    f->module = hd_parse_ptx(&f->source, &parse, &f->said);
    if (f->said.error_count || !hd_launch_find_kernels(f->launch, f->module, &f->said))
        return false;
    if (!brings_annotations(f->module)) /* they hold for the instructions as they are */
        hd_module_lower_offsets(f->module);
    return true;
}

/* Whether the module is to be simplified and allocated: it has no annotations. */
static bool is_to_be_allocated(const replay_part *p, const replay_file *f)
{
    return !p->plan->options->keep_virtual && p->plan->model_count && !brings_annotations(f->module);
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
    /* --strict may have raised severities */
    memcpy(p->diagnostics.severity, f->said.severity, sizeof p->diagnostics.severity);
    hd_diagnostics_join(&p->diagnostics, &f->said);
    return good;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Drops the rows of launches that never ran; nothing was verified for them. */
static void drop_idle_rows(replay_part *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->rows.count; i++)
        if (p->rows.items[i].runs)
            p->rows.items[kept++] = p->rows.items[i];
    p->rows.count = kept;
}

/* Not where only accesses are counted, on a GPU that nobody named. */
static bool is_for_gpu(const hd_replay_options *options)
{
    return options->gpu || options->time || options->setting_count;
}

/* Of a block: as much as it may have, and as an SM has. */
static uint32_t most_shared_bytes(const hd_gpu_limits *limits)
{
    uint32_t reserved = limits->shared_reserved_bytes_per_cta, unit = limits->shared_unit_bytes;
    uint32_t of_sm = limits->shared_bytes_per_sm / unit * unit;
    of_sm = of_sm > reserved ? of_sm - reserved : 0;
    return limits->shared_bytes_per_cta < of_sm ? limits->shared_bytes_per_cta : of_sm;
}

static hd_status run_all(replay_part *p, replay_file *f)
{
    replay_runs(p, f);
    drop_idle_rows(p);
    replay_fill_results(p);
    return p->status;
}

static hd_status run_trace(replay_part *p, replay_file *f)
{
    hd_diagnostics_init_part(&f->said, &p->diagnostics);
    bool good = replay_read_trace(p, f);
    hd_diagnostics_join(&p->diagnostics, &f->said);
    return good ? run_all(p, f) : HD_STATUS_REJECTED;
}

static hd_status run_file(replay_part *p, replay_file *f)
{
    replay_await_turn(p, f->path);
    if (hd_traced_is_name(f->path))
        return run_trace(p, f);
    f->launch = hd_launch_read(f->path, &p->diagnostics);
    if (p->plan->options->memory_base)
        f->launch->memory_base = p->plan->options->memory_base;
    if (!f->launch->address_bits)
        f->launch->address_bits = p->plan->gpu->address_bits;
    f->launch->gpu = is_for_gpu(p->plan->options) ? p->plan->gpu->name : NULL;
    f->launch->gpu_shared_bytes = most_shared_bytes(&p->plan->gpu->limits);
    if (!f->launch->valid || !replay_saves_fit(p, f) || !make_module(p, f))
        return HD_STATUS_REJECTED;
    return run_all(p, f);
}

/* ---- closing ----------------------------------------------------------------------------------------------------- */

/* Texts stay, because diagnostics refer to them. */
static void close_module(hd_module *module)
{
    if (module)
        module->source = NULL;
    hd_module_free(module);
}

static void close_file(replay_file *f)
{
    hd_pass_contexts_close(&f->contexts);
    hd_timer_free(f->timer);
    hd_count_free(f->count);
    hd_rf_module_free(f->code);
    hd_module_free(f->original);
    close_module(f->module);
    hd_traced_free(f->traced);
    if (f->launch && !f->is_copy) {
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
        hd_link_free(&f->linked);
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
    for (uint32_t i = p->files.count; i-- > 0;) /* all files share the launches of the first one */
        close_file(p->files.items[i]);
    if (!p->diagnostics.first)
        replay_drop_texts(p);
}
