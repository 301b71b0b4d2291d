/* Functions for all models: failures, options, run lengths, the main register file. */
#include "hwmodel/rf/technique.h"

#include "base/option_list.h"

const char *const hd_stall_texts[HD_STALL_COUNT] = {
#define HD_STALL(id, key, text) [HD_STALL_##id] = text,
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

__attribute__((noinline)) void hd_rf_fail_delivery(hd_access_sink *sink, const hd_rf_step *step, uint32_t source,
                                                   hd_structure structure, uint32_t lanes, hd_owner owner,
                                                   hd_claim claim)
{
    hd_owner asked = hd_rf_owner(step, step->sources[source]);
    bool foreign = owner.warp != asked.warp || owner.frame != asked.frame || owner.index != asked.index;
    uint32_t unmoved = lanes & ~claim.lanes;
    hd_rf_wrong wrong = foreign ? HD_RF_FOREIGN : unmoved ? HD_RF_UNMOVED : HD_RF_STALE;
    hd_rf_fail(&sink->failure, step,
               (hd_rf_failure){.wrong = wrong,
                               .structure = structure,
                               .word = step->sources[source],
                               .lanes = wrong == HD_RF_UNMOVED ? unmoved : lanes});
}

static bool is_earlier(const hd_rf_detected *a, const hd_rf_detected *b) { return a->at < b->at; }

void hd_rf_difference(hd_rf_detection *d, const hd_rf_detected *what)
{
    if (!d->differences++ || is_earlier(what, &d->first))
        d->first = *what;
}

void hd_rf_detection_join(hd_rf_detection *into, const hd_rf_detection *from)
{
    if (from->differences && (!into->differences || is_earlier(&from->first, &into->first)))
        into->first = from->first;
    into->wrong += from->wrong;
    into->caught += from->caught;
    into->differences += from->differences;
}

void hd_run_length_end(hd_rf_model *model, hd_run_length *lengths, uint32_t k, bool cut)
{
    hd_run_length *run = &lengths[k];
    if (model->memo.silent)
        return;
    if (model->memo.effects)
        hd_array_push(model->memo.effects,
                      (hd_effect){HD_EFFECT_LENGTH_END, (uint16_t)k, cut, (uint32_t)(run->length - run->recorded)});
    hd_counter_add(model->counters, (hd_counter)run->longest, run->length, 1);
    if (!cut)
        hd_counter_add(model->counters, (hd_counter)run->shortest, run->length, 1);
    run->length = run->recorded = 0;
}

hd_rf_wrong hd_rf_share(hd_rf_model *model, hd_rf_warp *warp, hd_effect operation)
{
    if (model->memo.silent)
        return HD_RF_PROVED;
    operation.kind = HD_EFFECT_SHARED;
    if (model->memo.effects)
        hd_array_push(model->memo.effects, operation);
    return model->info->ops->memo->share(model, warp, &operation);
}

void hd_rf_record_rest(hd_rf_model *model)
{
    if (!model->recorded_times)
        return;
    hd_rf_series_add(&model->allocation, model->recorded, model->recorded_times);
    model->recorded_times = 0;
}

void hd_rf_model_free(hd_rf_model *model)
{
    if (!model)
        return;
    model->info->ops->destroy(model);
}

uint32_t hd_rf_option(const char *options, const char *name, uint32_t otherwise)
{
    const char *value = hd_option_find(options, name);
    return value && *value == '=' ? (uint32_t)strtoul(value + 1, NULL, 10) : otherwise;
}

bool hd_rf_flag(const char *options, const char *name) { return hd_option_find(options, name) != NULL; }

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
    for (uint32_t i = 0; i < c->end; i++) /* the file may still have registers of ended frames */
        registers->items[i] = hd_snapshot_claim(c, i, registers->items[i]);
}

/* Tags are numbers of registers, so a place may keep lanes of an ended frame: it claims nothing of them. */
void hd_rf_place_take(hd_rf_model *model, hd_rf_place *place, const hd_rf_step *step, uint32_t word, uint32_t lanes,
                      hd_claim from)
{
    hd_owner owner = hd_rf_owner(step, word);
    bool same = place->lanes && place->owner.index == owner.index,
         claims = same && place->owner.frame == owner.frame && place->owner.warp == owner.warp;
    if (hd_rf_loses(model))
        return;
    lanes &= step->effective;
    place->claim =
        hd_identity_copy(&step->warp->identity, owner.index, claims ? place->claim : (hd_claim){0, 0}, from, lanes);
    place->lanes = same ? place->lanes | lanes : lanes;
    place->owner = owner;
}

void hd_rf_place_snapshot(hd_rf_place *place, hd_snapshot *c)
{
    if (!hd_snapshot_word(c, place->lanes != 0)) {
        place->lanes = 0;
        return;
    }
    place->owner = hd_snapshot_owner(c, place->owner);
    place->lanes = hd_snapshot_lanes(c, place->lanes);
    place->claim = hd_snapshot_claim(c, place->owner.index, place->claim);
}

void hd_rf_file_free(hd_rf_file *file)
{
    for (uint32_t i = 0; i < file->warps.count; i++)
        hd_array_free(&file->warps.items[i]);
    hd_array_free(&file->warps);
}
