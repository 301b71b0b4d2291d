/* Replays of rewritten code: for each pass that changes instructions, another run, of a copy of the module rewritten by
 * the pass. Its operands are verified as in any replay, and its memory must be identical to that of the run without the
 * pass. If the pass changes no instruction, even if it annotates, its models use the existing run. Models that ask
 * for the values of accesses have a run of a copy, whether it is changed or not. If the first run
 * stops early, or has a race, or one of these runs fails, later ones are not reported, even if they have started
 * (replay_runs.c).
 */
#include "driver/replay/replay_work.h"
#include "ir/annotations.h"
#include "passes/check/restore.h"

/* A model that asks for values has a run of its own, so that no other one is slowed down by it; but not where a lane is
 * faulty, for the fault is in the first run. */
static bool is_apart(const replay_part *p, uint32_t m)
{
    return !p->plan->faulty && hd_rf_asks_for_values(p->plan->models[m].info);
}

/* Whether the model gets a copy of the code: its passes change instructions and the module is not annotated yet, or
 * the model has a run of its own. */
static bool needs_copy(const replay_part *p, const replay_file *f, uint32_t m)
{
    const replay_model *model = &p->plan->models[m];
    if (f->traced)
        return false;
    bool rewritten = model->passes && !hd_pipeline_only_annotates(model->passes) &&
                     !replay_has_annotations(f->module, model->info->technique);
    return rewritten || is_apart(p, m);
}

static const replay_file *changed_for(const replay_part *p, const replay_file *f, uint32_t m)
{
    bool copied = needs_copy(p, f, m);
    for (uint32_t i = 0; i < f->changed.count && copied; i++)
        if (f->changed.items[i]->rewriting == p->plan->models[m].passes && f->changed.items[i]->apart == is_apart(p, m))
            return f->changed.items[i];
    return NULL;
}

bool replay_sees_changed(const replay_part *p, const replay_file *f, uint32_t m)
{
    const replay_file *changed = changed_for(p, f, m);
    return changed && !changed->untouched;
}

/* ---- rewriting --------------------------------------------------------------------------------------------------- */

/* Whether the text of some function differs. */
static bool differ(const hd_module *a, const hd_module *b)
{
    for (uint32_t i = 0; i < a->functions.count; i++)
        if (a->functions.items[i]->instructions.count != b->functions.items[i]->instructions.count ||
            hd_function_hash(a->functions.items[i]) != hd_function_hash(b->functions.items[i]))
            return true;
    return false;
}

void replay_open_original(replay_file *f)
{
    bool moved = false;
    f->original = hd_module_copy(f->module, &f->said);
    for (uint32_t i = 0; i < f->original->functions.count; i++) {
        hd_function *function = f->original->functions.items[i];
        moved = (function->has_body && hd_restore_operand_loads(function)) || moved;
        hd_annotations_remove(function, "*");
    }
    if (moved)
        return;
    hd_module_free(f->original);
    f->original = NULL;
    f->is_original = true;
}

static bool open_one(replay_part *p, replay_file *unchanged, uint32_t m)
{
    replay_file *f = HD_ARENA_NEW(&p->arena, replay_file);
    f->path = unchanged->path;
    f->is_copy = true;
    f->rewriting = p->plan->models[m].passes;
    f->apart = is_apart(p, m);
    hd_array_push(&p->files, f);
    hd_array_push(&unchanged->changed, f);
    f->launch = unchanged->launch;
    f->module = hd_module_copy(unchanged->module, &p->diagnostics);
    hd_diagnostics_join(&p->diagnostics, &unchanged->said);
    bool as_written = f->apart && (!f->rewriting || replay_brings_annotations_of(f->module, f->rewriting));
    if (!as_written && !replay_run_passes(p, f, f->rewriting, &p->diagnostics))
        return false;
    f->untouched = !f->apart && !differ(unchanged->module, f->module);
    return true;
}

uint32_t replay_most_changed(const replay_part *p, const replay_file *f)
{
    uint32_t most = 0;
    for (uint32_t m = 0; m < p->plan->model_count; m++)
        most += needs_copy(p, f, m);
    return most;
}

bool replay_open_changed(replay_part *p, replay_file *f)
{
    for (uint32_t m = 0; m < p->plan->model_count; m++)
        if (needs_copy(p, f, m) && !changed_for(p, f, m) && !open_one(p, f, m))
            return false;
    return true;
}

uint32_t replay_count_changed_models(const replay_part *p, const replay_run *run)
{
    uint32_t count = 0;
    for (uint32_t m = 0; m < p->plan->model_count; m++)
        count += changed_for(p, p->files.items[0], m) == run->file;
    return count;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Adds the models for the rewritten code. */
static void add_changed_models(replay_run *run)
{
    replay_part *p = run->part;
    replay_open_count(p, run->file, &run->arena, run->diagnostics);
    for (uint32_t m = 0; m < p->plan->model_count; m++)
        if (changed_for(p, p->files.items[0], m) == run->file)
            replay_add_model(p, run->file, m);
}

/* Runs the rewritten code and verifies its operands. */
void replay_go_changed(replay_run *run)
{
    add_changed_models(run);
    replay_expect_uniform_branches(run->file, run->diagnostics);
    if (!replay_open_session(run, run->file->module))
        return;
    run->tallies = replay_open_tallies(run->part, run->file, &run->arena);
    replay_run_watched(run);
}

/* Adds the results of its models to the part. */
static void join_tallies(replay_part *p, const replay_run *run)
{
    uint32_t models = p->plan->model_count;
    for (uint32_t k = 0; k < p->rows.count && run->tallies; k++)
        for (uint32_t m = 0; m < models; m++)
            if (run->file->model_index[m] != HD_NONE || run->file->refusals[m])
                p->tallies[k * models + m] = run->tallies[k * models + m];
}

/* The rewritten code left different memory: a failed check of each of its models. */
static void mark_not_identical(const replay_run *run)
{
    for (uint32_t i = 0; i < run->part->rows.count * run->part->plan->model_count; i++)
        if (run->tallies[i].check == HD_CHECK_PASS)
            run->tallies[i].check = HD_CHECK_IDENTICAL;
}

/* Compares the memory after both runs. */
void replay_join_changed(replay_part *p, replay_run *run)
{
    if (run->status == HD_STATUS_DONE && !replay_reads_time(run->file->module) &&
        !hd_session_compare(p->runs->session, run->session, run->diagnostics)) {
        run->status = HD_STATUS_WRONG;
        mark_not_identical(run);
    }
    join_tallies(p, run);
    p->status = hd_status_worse(p->status, run->status);
    if (run->status != HD_STATUS_DONE)
        replay_stop_runs(p, (uint32_t)(run - p->runs) + 1);
}
