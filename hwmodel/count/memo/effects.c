/* Effects of models: see effects.h. */
#include "hwmodel/count/memo/effects.h"

hd_run_length *hd_memo_lengths(hd_rf_model *model, const hd_rf_warp *warp)
{
    const hd_memo_ops *memo = model->info->ops->memo;
    return memo->lengths ? memo->lengths(model, warp) : NULL;
}

void hd_effects_begin(hd_effect_recorder *r, const hd_rf_warp *warp)
{
    hd_rf_model *model = r->model;
    hd_run_length *lengths = hd_memo_lengths(model, warp);
    for (uint32_t k = 0; lengths && k < HD_RUN_LENGTHS; k++)
        lengths[k].recorded = lengths[k].length;
    memcpy(r->counters, model->counters, sizeof r->counters);
    hd_array_clear(&r->log);
    model->memo.held = model->held;
    model->memo.effects = &r->log;
}

/* Counters of other kinds follow from lengths, and at the end. */
static bool adds_up(uint32_t counter)
{
    return hd_counters[counter].group != HD_COUNTS_LEAST && hd_counters[counter].group != HD_COUNTS_MOST;
}

/* As many instructions as find the same registers held are one effect. */
static void append_effect(hd_effects *kept, uint32_t first, hd_effect e)
{
    hd_effect *last = kept->count > first ? &hd_array_last(kept) : NULL;
    if (last && e.kind == HD_EFFECT_HELD && last->kind == HD_EFFECT_HELD && last->index == e.index)
        last->n += e.n;
    else
        hd_array_push(kept, e);
}

void hd_effects_end(hd_effect_recorder *r, const hd_rf_warp *warp, hd_effects *kept)
{
    hd_rf_model *model = r->model;
    hd_run_length *lengths = hd_memo_lengths(model, warp);
    uint32_t first = kept->count;
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
        if (model->counters[c] != r->counters[c] && adds_up(c))
            append_effect(
                kept, first,
                (hd_effect){HD_EFFECT_COUNT, (uint16_t)c, 0, (uint32_t)(model->counters[c] - r->counters[c])});
    for (uint32_t i = 0; i < r->log.count; i++)
        append_effect(kept, first, r->log.items[i]);
    append_effect(kept, first, (hd_effect){HD_EFFECT_HELD, 0, (uint32_t)(model->held - model->memo.held), 0});
    for (uint32_t k = 0; lengths && k < HD_RUN_LENGTHS; k++)
        if (lengths[k].length != lengths[k].recorded)
            append_effect(
                kept, first,
                (hd_effect){HD_EFFECT_LENGTH, (uint16_t)k, 0, (uint32_t)(lengths[k].length - lengths[k].recorded)});
    model->memo.effects = NULL;
}

hd_rf_wrong hd_effects_replay(hd_rf_model *model, hd_rf_warp *warp, const hd_effect *e, uint32_t count, uint32_t *word)
{
    const hd_memo_ops *memo = model->info->ops->memo;
    uint64_t held = model->held;
    for (; count; e++, count--) {
        switch ((hd_effect_kind)e->kind) {
        case HD_EFFECT_COUNT: model->counters[e->what] += e->n; break;
        case HD_EFFECT_HELD:
            model->held = held + (uint64_t)(int32_t)e->index;
            if (e->n)
                hd_rf_record_held_times(model, model->held, e->n);
            break;
        case HD_EFFECT_LENGTH: memo->lengths(model, warp)[e->what].length += e->n; break;
        case HD_EFFECT_LENGTH_END: {
            hd_run_length *lengths = memo->lengths(model, warp);
            lengths[e->what].length += e->n;
            hd_run_length_end(model, lengths, e->what, e->index);
            break;
        }
        case HD_EFFECT_SHARED: {
            hd_rf_wrong wrong = memo->share(model, warp, e);
            *word = e->index;
            if (wrong)
                return wrong;
            break;
        }
        }
    }
    return HD_RF_PROVED;
}

void hd_effects_silence(hd_effect_recorder *r)
{
    memcpy(r->counters, r->model->counters, sizeof r->counters);
    r->held = r->model->held;
    r->model->memo.silent = true;
}

void hd_effects_resume(hd_effect_recorder *r)
{
    memcpy(r->model->counters, r->counters, sizeof r->counters);
    r->model->held = r->held;
    r->model->memo.silent = false;
}
