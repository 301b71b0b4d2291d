/* Traces of Accel-Sim (hwmodel/trace/accel_sim.h): the trace takes the place of launch file, module and interpreter. It
 * has no values, so nothing is compared at the end; operands are verified as in any replay. */
#include "driver/replay/replay_work.h"
#include "ir/asynchronous.h"

/* A launch of the trace's shape, for rows and amounts. */
static hd_launch_file *make_launch(const hd_traced *t, const char *path)
{
    hd_launch_file *file = hd_calloc(1, sizeof *file);
    hd_arena_init(&file->arena);
    file->path = path;
    file->valid = true;
    file->address_bits = 64;
    hd_launch launch = {.kernel = hd_arena_string(&file->arena, t->kernel, strlen(t->kernel)),
                        .shared_bytes = t->shared_bytes};
    memcpy(launch.grid, t->grid, sizeof launch.grid);
    memcpy(launch.block, t->block, sizeof launch.block);
    hd_array_push(&file->launches, launch);
    hd_launch_step *step = HD_ARENA_NEW(&file->arena, hd_launch_step);
    step->kind = HD_DO_LAUNCH;
    step->repetition.most = 1;
    file->steps = step;
    file->step_count = 1;
    return file;
}

/* Options that ask about values or memory. */
static bool has_conflict(const replay_part *p, replay_file *f)
{
    const hd_replay_options *options = p->plan->options;
    const char *option = p->plan->faulty                ? "--lane-fault"
                         : options->check_uninitialized ? "--uninitialized"
                         : options->check_races         ? "--race"
                                                        : NULL;
    if (option)
        hd_report(&f->said, HD_DIAG_UNSUPPORTED, NULL, (hd_span){0, 0},
                  "%s: a trace has no values, and no memory, for %s", f->path, option);
    return option;
}

bool replay_read_trace(replay_part *p, replay_file *f)
{
    if (has_conflict(p, f) || !hd_traced_load(f->path, &f->source, &f->said))
        return false;
    const hd_traced_options options = {.listing = p->plan->options->listing, .partial = p->plan->options->partial};
    f->traced = hd_traced_read(&f->source, &options, &f->said);
    if (!f->traced)
        return false;
    f->launch = make_launch(f->traced, f->path);
    f->module = hd_traced_module(f->traced);
    return true;
}

static const char *trace_refusal(const replay_model *model, const replay_file *f)
{
    const hd_rf_model_info *info = model->info;
    if (info->ops->needs_flags && !f->traced->has_listing)
        return "a trace has no .reuse: give the listing of its code, --sass";
    if (info->ops->columns & HD_COLUMN_WIDTHS)
        return "a trace has no values, and so not how many bytes they need";
    if (info->ops->columns & (HD_COLUMN_RESULTS | HD_COLUMN_LOADED))
        return "a trace has no values";
    if (model->passes && f->traced->several_entries)
        return "warps begin at different instructions: the trace is not whole";
    return model->passes && hd_function_has_async(f->module->functions.items[0])
               ? "an instruction uses registers after it has been issued"
               : NULL;
}

const char *replay_refusal(const replay_part *p, const replay_file *f, uint32_t m)
{
    const replay_model *model = &p->plan->models[m];
    if (f->traced)
        return trace_refusal(model, f);
    return model->info->ops->needs_flags ? "PTX has no .reuse flags, as machine code has" : NULL;
}

const hd_memory *replay_trace_spaces(replay_run *run)
{
    hd_memory *spaces = HD_ARENA_NEW(&run->arena, hd_memory);
    *spaces = (hd_memory){.const_window = HD_TRACED_SHARED,
                          .param_window = HD_TRACED_SHARED,
                          .shared_window = HD_TRACED_SHARED,
                          .local_window = HD_TRACED_LOCAL,
                          .code_window = HD_TRACED_LIMIT,
                          .limit = HD_TRACED_LIMIT};
    return spaces;
}

hd_exec_status replay_play_trace(replay_run *run, const hd_session_watch *watch, hd_exec_statistics *statistics)
{
    const hd_traced *t = run->file->traced;
    hd_grid grid = {.dynamic_shared_bytes = t->shared_bytes};
    hd_traced_statistics played = {0};
    memcpy(grid.grid, t->grid, sizeof grid.grid);
    memcpy(grid.block, t->block, sizeof grid.block);
    if (watch->starts)
        watch->starts(watch->context, 0, &grid);
    bool good = hd_traced_play(t, watch->sinks, watch->sink_count, &played, &run->meter);
    statistics->warp_instructions += played.warp_instructions;
    statistics->thread_instructions += played.thread_instructions;
    hd_exec_status status = good ? HD_EXEC_DONE : HD_EXEC_STOPPED;
    watch->ran(watch->context, 0, status, statistics);
    return status;
}
