/* The tables of replay models, their options and counters, and what models share. */
#include "hwmodel/rf/carry.h"
#include "hwmodel/rf/technique.h"
#include "target/gpu.h"

#define HD_RF_MODEL(name, technique, ops, pass, options, summary) extern const hd_rf_ops ops;
#define HD_RF_FAMILY(name, model)
#include "hwmodel/rf/models.def"
#undef HD_RF_MODEL

const hd_rf_model_info hd_rf_models[] = {
#define HD_RF_MODEL(name, technique, ops, pass, options, summary) {name, technique, &(ops), pass, options, summary},
#include "hwmodel/rf/models.def"
#undef HD_RF_MODEL
#undef HD_RF_FAMILY
};
const uint32_t hd_rf_model_count = sizeof hd_rf_models / sizeof *hd_rf_models;

const hd_rf_option_info hd_rf_options[] = {
#define HD_RF_OPTION(ops, name, least, most, pass, summary) {&(ops), name, summary, pass, least, most},
#include "hwmodel/rf/options.def"
#undef HD_RF_OPTION
};
const uint32_t hd_rf_option_count = sizeof hd_rf_options / sizeof *hd_rf_options;

const hd_rf_family_info hd_rf_families[] = {
#define HD_RF_MODEL(name, technique, ops, pass, options, summary)
#define HD_RF_FAMILY(name, model) {name, model},
#include "hwmodel/rf/models.def"
#undef HD_RF_MODEL
#undef HD_RF_FAMILY
};
const uint32_t hd_rf_family_count = sizeof hd_rf_families / sizeof *hd_rf_families;

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

hd_rf_model *hd_rf_model_new(const hd_rf_model_info *info, const hd_rf_module *code, const char **refusal)
{
    hd_rf_model *model = info->ops->create(code, info->options, refusal);
    if (model)
        model->info = info;
    return model;
}

__attribute__((noinline)) bool hd_rf_fail(hd_rf_failure *failure, const hd_rf_step *step, hd_rf_failure what)
{
    what.warp = step->warp->identity.warp;
    what.cta = step->warp->cta;
    what.function = step->function;
    what.instruction = step->instruction;
    *failure = what;
    return false;
}

hd_rf_lapse hd_rf_meter_noted(hd_rf_meter *meter, uint64_t before)
{
    bool ended = meter->noted;
    meter->noting = meter->noted = false;
    return (hd_rf_lapse){.ended = ended, .cut = meter->cut, .shortest = meter->shortest, .longest = meter->longest,
                         .head = ended ? (uint32_t)(meter->head - before) : 0, .rest = (uint32_t)(ended ? meter->length : meter->length - before)};
}

void hd_rf_tell_rest(hd_rf_model *model)
{
    if (!model->told_times)
        return;
    if (model->runs)
        hd_array_push(model->runs, (hd_rf_run){model->told, model->told_times});
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
    hd_array_free(&model->deeds);
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

bool hd_rf_flag(const char *options, const char *name)
{
    return find_option(options, name) != NULL;
}

void hd_rf_file_frame_start(hd_rf_file *file, const hd_rf_warp *warp)
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

void hd_rf_file_carry(hd_rf_file *file, const hd_rf_warp *warp, hd_rf_carrier *c)
{
    hd_rf_warp_file *registers = &file->warps.items[warp->slot];
    for (uint32_t i = c->first; i < c->end; i++) /* the file may still have those of frames that ended */
        registers->items[i] = hd_rf_carried_claim(c, i, registers->items[i]);
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
