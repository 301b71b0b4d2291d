/* The tables of replay models, their options and counters, and what models share. */
#include "hwmodel/rf/memo.h"
#include "hwmodel/rf/technique.h"
#include "target/gpu.h"

#define HD_RF_FAMILY(name, model)
#define HD_RF_STANDARD(title, model)
#define HD_RF_MODEL(name, technique, ops, pass, options, headline, summary) extern const hd_rf_ops ops;
#include "hwmodel/rf/models.def"
#undef HD_RF_MODEL

enum {
    HEADLINE_NONE,
#define HD_HEADLINE(id, kind, part, whole, title, meaning, needs, otherwise) HEADLINE_##id,
#include "hwmodel/rf/headlines.def"
#undef HD_HEADLINE
};
static const hd_rf_headline_info headlines[] = {
    {0},
#define HD_HEADLINE(id, kind, part, whole, title, meaning, needs, otherwise) \
    {title, meaning, otherwise, HD_HEADLINE_##kind, HD_COUNTER_##part, HD_COUNTER_##whole, HD_COUNTER_##needs},
#include "hwmodel/rf/headlines.def"
#undef HD_HEADLINE
};

const hd_rf_model_info hd_rf_models[] = {
#define HD_RF_MODEL(name, technique, ops, pass, options, headline, summary) \
    {name, technique, &(ops), pass, options, summary, HEADLINE_##headline ? &headlines[HEADLINE_##headline] : NULL},
#include "hwmodel/rf/models.def"
#undef HD_RF_MODEL
#undef HD_RF_FAMILY
#undef HD_RF_STANDARD
};
const uint32_t hd_rf_model_count = sizeof hd_rf_models / sizeof *hd_rf_models;

const hd_rf_option_info hd_rf_options[] = {
#define HD_RF_OPTION(ops, name, least, most, pass, summary) {&(ops), name, summary, pass, least, most},
#include "hwmodel/rf/options.def"
#undef HD_RF_OPTION
};
const uint32_t hd_rf_option_count = sizeof hd_rf_options / sizeof *hd_rf_options;

#define HD_RF_MODEL(name, technique, ops, pass, options, headline, summary)
const hd_rf_family_info hd_rf_families[] = {
#define HD_RF_FAMILY(name, model) {name, model},
#define HD_RF_STANDARD(title, model)
#include "hwmodel/rf/models.def"
#undef HD_RF_FAMILY
#undef HD_RF_STANDARD
};
const uint32_t hd_rf_family_count = sizeof hd_rf_families / sizeof *hd_rf_families;

static const hd_rf_family_info standards[] = {
#define HD_RF_FAMILY(name, model)
#define HD_RF_STANDARD(title, model) {title, model},
#include "hwmodel/rf/models.def"
#undef HD_RF_FAMILY
#undef HD_RF_STANDARD
};
#undef HD_RF_MODEL
enum { STANDARDS = sizeof standards / sizeof *standards };

const hd_counter_info hd_counters[HD_COUNTER_COUNT] = {
#define HD_COUNTER(id, group, key, energy, title) {key, title, HD_COUNTS_##group, HD_ENERGY_##energy},
#include "hwmodel/rf/counters.def"
#undef HD_COUNTER
};

void hd_counter_add(uint64_t counters[HD_COUNTER_COUNT], hd_counter c, uint64_t n, uint64_t times)
{
    switch ((hd_counter_group)hd_counters[c].group) {
    case HD_COUNTS_LEAST: counters[c] = n && (!counters[c] || n < counters[c]) ? n : counters[c]; break;
    case HD_COUNTS_MOST: counters[c] = n > counters[c] ? n : counters[c]; break;
    case HD_COUNTS_FILE:
    case HD_COUNTS_NEAR:
    case HD_COUNTS_PART:
    case HD_COUNTS_CLASS: counters[c] += n * times; break;
    }
}

void hd_counters_join(uint64_t into[HD_COUNTER_COUNT], const uint64_t from[HD_COUNTER_COUNT])
{
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
        hd_counter_add(into, (hd_counter)c, from[c], 1);
}

const hd_rf_model_info *hd_rf_model_find(const char *name, size_t length)
{
    for (uint32_t i = 0; i < hd_rf_model_count; i++)
        if (strlen(hd_rf_models[i].name) == length && !memcmp(hd_rf_models[i].name, name, length))
            return &hd_rf_models[i];
    return NULL;
}

static const char *title_of(const char *model)
{
    for (uint32_t i = 0; i < STANDARDS; i++)
        if (!strcmp(standards[i].model, model))
            return standards[i].name;
    return NULL;
}

const char *hd_rf_standard_title(const hd_rf_model_info *model)
{
    const char *title = title_of(model->name);
    const hd_rf_model_info *first = NULL;
    for (uint32_t i = 0; i < hd_rf_model_count && !title; i++) {
        if (strcmp(hd_rf_models[i].technique, model->technique))
            continue;
        if (title_of(hd_rf_models[i].name))
            return NULL;
        first = first ? first : &hd_rf_models[i];
    }
    return title ? title : first && !strcmp(first->name, model->name) ? first->name : NULL;
}

hd_rf_model *hd_rf_model_new(const hd_rf_model_info *info, const hd_rf_module *code, const char **refusal)
{
    hd_rf_model *model = info->ops->create(code, info->options, refusal);
    if (model)
        model->info = info;
    return model;
}

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

bool hd_rf_dynamic_energy(const uint64_t counters[HD_COUNTER_COUNT], const hd_gpu *gpu, double *energy_pj)
{
    double sum = 0;
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++) {
        uint8_t kind = hd_counters[c].energy;
        if (kind == HD_ENERGY_NONE || !counters[c])
            continue;
        if (!gpu->energies[kind].known)
            return false;
        sum += gpu->energies[kind].dynamic_pj * (double)counters[c];
    }
    *energy_pj = sum;
    return true;
}
