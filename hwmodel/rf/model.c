/* What all models share: failures, options, run lengths, the main register file. */
#include "hwmodel/rf/technique.h"

const char *const hd_stall_texts[HD_STALL_COUNT] = {
#define HD_STALL(id, text) [HD_STALL_##id] = text,
#include "hwmodel/rf/stalls.def"
#undef HD_STALL
};

__attribute__((noinline)) void hd_rf_fail(hd_rf_failure *failure, const hd_rf_step *step, hd_rf_failure what)
{
    if (failure->wrong)
        return;
    what.warp = step->warp->identity.warp;
    what.cta = step->warp->cta;
    what.function = step->function;
    what.instruction = step->instruction;
    *failure = what;
}

static void count_length(uint64_t counters[HD_COUNTER_COUNT], const hd_run_length *run, uint64_t length, bool cut)
{
    hd_counter_add(counters, (hd_counter)run->longest, length, 1);
    if (!cut)
        hd_counter_add(counters, (hd_counter)run->shortest, length, 1);
}

void hd_run_length_end(uint64_t counters[HD_COUNTER_COUNT], hd_run_length *run, bool cut)
{
    if (run->noting && !run->noted) {
        run->noted = true;
        run->head = run->length;
        run->cut = cut;
    } else {
        count_length(counters, run, run->length, cut);
    }
    run->length = 0;
}

void hd_run_length_replay(uint64_t counters[HD_COUNTER_COUNT], hd_run_length *run, const hd_run_delta *delta)
{
    run->shortest = delta->shortest; /* not known yet where the warp begins */
    run->longest = delta->longest;
    if (delta->ended)
        count_length(counters, run, run->length + delta->head, delta->cut);
    run->length = delta->ended ? delta->rest : run->length + delta->rest;
}

hd_run_delta hd_run_length_recorded(hd_run_length *meter, uint64_t before)
{
    bool ended = meter->noted;
    meter->noting = meter->noted = false;
    return (hd_run_delta){.ended = ended,
                          .cut = meter->cut,
                          .shortest = meter->shortest,
                          .longest = meter->longest,
                          .head = ended ? (uint32_t)(meter->head - before) : 0,
                          .rest = (uint32_t)(ended ? meter->length : meter->length - before)};
}

void hd_rf_tell_rest(hd_rf_model *model)
{
    if (!model->told_times)
        return;
    if (model->memo.runs)
        hd_array_push(model->memo.runs, (hd_memo_held_run){model->told, model->told_times});
    hd_rf_series_add(&model->allocation, model->told, model->told_times);
    model->told_times = 0;
}

void hd_rf_model_crowd(hd_rf_model *model)
{
    if (!model->info->ops->on_demand)
        return;
    model->follows = false;
    model->shares = true;
}

void hd_rf_model_free(hd_rf_model *model)
{
    if (!model)
        return;
    hd_array_free(&model->memo.shared);
    model->info->ops->destroy(model);
}

/* The last item `name` of a comma-separated list, behind it, or NULL. */
static const char *find_option(const char *options, const char *name)
{
    size_t length = strlen(name);
    const char *found = NULL;
    for (const char *at = options; *at; at += strcspn(at, ","), at += *at == ',')
        if (!strncmp(at, name, length) && strchr("=,", at[length]))
            found = at + length;
    return found;
}

uint32_t hd_rf_option(const char *options, const char *name, uint32_t otherwise)
{
    const char *value = find_option(options, name);
    return value && *value == '=' ? (uint32_t)strtoul(value + 1, NULL, 10) : otherwise;
}

bool hd_rf_flag(const char *options, const char *name) { return find_option(options, name) != NULL; }

void hd_rf_file_frame_begin(hd_rf_file *file, const hd_rf_warp *warp)
{
    while (file->warps.count <= warp->slot)
        hd_array_push(&file->warps, (hd_rf_warp_file){0});
    hd_rf_warp_file *registers = &file->warps.items[warp->slot];
    uint32_t base = warp->identity.base, count = warp->identity.registers.count;
    hd_array_reserve(registers, count);
    registers->count = count;
    if (count > base)
        memset(registers->items + base, 0, (size_t)(count - base) * sizeof *registers->items);
    for (uint32_t i = base; i < count; i++) { /* the call has written parameters in registers here */
        const hd_identity_register *r = &warp->identity.registers.items[i];
        if (r->ever)
            registers->items[i] = (hd_claim){r->current, r->ever};
    }
}

void hd_rf_file_snapshot(hd_rf_file *file, const hd_rf_warp *warp, hd_snapshot *c)
{
    hd_rf_warp_file *registers = &file->warps.items[warp->slot];
    for (uint32_t i = c->first; i < c->end; i++) /* the file may still have those of frames that ended */
        registers->items[i] = hd_snapshot_claim(c, i, registers->items[i]);
}

void hd_rf_file_free(hd_rf_file *file)
{
    for (uint32_t i = 0; i < file->warps.count; i++)
        hd_array_free(&file->warps.items[i]);
    hd_array_free(&file->warps);
}
