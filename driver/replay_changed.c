/* Replays of rewritten code: for each pass that changes instructions, one more run, of what the pass makes of the module, read afresh. Its
 * operands are proved as in any replay, and the memory it leaves must be that of the run without the pass. Where the pass finds nothing to
 * change, its models see the run that there is. A run that stops early, or in which two threads raced, is not followed by one of these.
 */
#include "base/hash.h"
#include "driver/replay_work.h"
#include "ir/annotations.h"
#include "passes/pass.h"

bool replay_has_annotations(const hd_module *module, const char *technique)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (hd_annotations_count(module->functions.items[i], technique))
            return true;
    return false;
}

/* Whether a pass list as models name it changes instructions. */
static bool changes_code(const char *passes)
{
    size_t length = strcspn(passes, "(,");
    for (uint32_t i = 0; i < hd_pass_count; i++)
        if (strlen(hd_passes[i].name) == length && !memcmp(hd_passes[i].name, passes, length))
            return hd_passes[i].keeps != HD_KEEPS_ALL;
    return false;
}

/* The pass that must change the code before the model sees it; NULL where none does, or the text came with its annotations. */
static const char *rewriting_of(const hd_replay *r, const replay_file *f, uint32_t m)
{
    const hd_rf_model_info *info = r->models[m];
    return changes_code(info->pass) && !replay_has_annotations(f->module, info->technique) ? info->pass : NULL;
}

static const replay_file *changed_for(const hd_replay *r, const replay_file *f, uint32_t m)
{
    const char *rewriting = rewriting_of(r, f, m);
    for (uint32_t i = 0; i < f->changed.count && rewriting; i++)
        if (!strcmp(f->changed.items[i]->rewriting, rewriting))
            return f->changed.items[i];
    return NULL;
}

bool replay_sees_changed(const hd_replay *r, const replay_file *f, uint32_t m)
{
    const replay_file *changed = changed_for(r, f, m);
    return changed && !changed->untouched;
}

/* ---- reading --------------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const hd_module *module)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        uint64_t parts[2] = {hash, hd_function_hash(module->functions.items[i])};
        hash = hd_hash(parts, sizeof parts);
    }
    return hash;
}

static bool open_one(hd_replay *r, replay_file *unchanged, uint32_t m)
{
    replay_file *f = HD_ARENA_NEW(&r->arena, replay_file);
    f->path = unchanged->path;
    f->rewriting = r->models[m]->pass;
    hd_array_push(&r->files, f);
    hd_array_push(&unchanged->changed, f);
    f->launch = hd_launch_read(f->path, r->diagnostics);
    if (!f->launch->valid || !replay_read_module(r, f) || !replay_allocate_registers(r, f))
        return false;
    uint64_t before = hash_of(f->module);
    if (!replay_run_passes(r, f, f->rewriting))
        return false;
    f->untouched = hash_of(f->module) == before && !replay_has_annotations(f->module, r->models[m]->technique);
    return true;
}

bool replay_open_changed(hd_replay *r, replay_file *f)
{
    for (uint32_t m = 0; m < r->model_count; m++)
        if (rewriting_of(r, f, m) && !changed_for(r, f, m) && !open_one(r, f, m))
            return false;
    return true;
}

/* ---- running --------------------------------------------------------------------------------------------------------- */

static void one_ran_changed(void *context, uint32_t launch, hd_exec_status status, const hd_exec_statistics *statistics)
{
    replay_run *run = context;
    hd_count_flush(run->file->count); /* as one_ran does */
    hd_replay_kernel *k = replay_row_of(run->replay, run->first_row, launch);
    (void)statistics;
    if (k)
        replay_add_results(run->replay, run->file, status == HD_EXEC_DONE, k);
    hd_count_reset(run->file->count);
}

/* The models that work on what the pass made of the code. */
static void add_changed_models(hd_replay *r, const replay_file *unchanged, replay_file *f)
{
    replay_open_count(r, f);
    for (uint32_t m = 0; m < r->model_count; m++)
        if (changed_for(r, unchanged, m) == f)
            replay_add_model(r, f, m);
}

static void open_results(hd_replay *r, const replay_file *f, uint32_t first)
{
    for (uint32_t k = first; k < r->report.kernels.count; k++)
        for (uint32_t m = 0; m < r->model_count; m++) {
            hd_replay_result *result = &r->report.kernels.items[k].results[m];
            bool there = f->model_place[m] != HD_NONE;
            if (there || f->refusals[m])
                *result = (hd_replay_result){.model = r->models[m], .refusal = f->refusals[m], .energy_known = there, .proved = there};
        }
}

/* Proves the operands of the changed code, and compares the memory that both leave. */
static hd_status run_changed(hd_replay *r, const replay_file *unchanged, replay_file *f, uint32_t first)
{
    hd_status status;
    add_changed_models(r, unchanged, f);
    replay_expect_uniform_branches(r, f);
    f->session = replay_open_session(r, f, f->module, &status);
    if (!f->session)
        return status;
    open_results(r, f, first);
    replay_run run = {r, f, first};
    hd_sink sink = hd_count_sink(f->count);
    hd_session_watch watch = {&sink, 1, one_ran_changed, &run, replay_one_starts};
    hd_exec_statistics statistics = {0};
    status = replay_status_of(hd_session_run(f->session, &watch, &statistics), f->count);
    if (status != HD_STATUS_DONE || replay_reads_time(f->module))
        return status;
    return hd_session_compare(unchanged->session, f->session, r->diagnostics) ? HD_STATUS_DONE : HD_STATUS_WRONG;
}

hd_status replay_changed(hd_replay *r, const replay_file *f, uint32_t first)
{
    hd_status status = HD_STATUS_DONE;
    for (uint32_t i = 0; i < f->changed.count && status == HD_STATUS_DONE; i++)
        if (!f->changed.items[i]->untouched)
            status = run_changed(r, f, f->changed.items[i], first);
    return status;
}
