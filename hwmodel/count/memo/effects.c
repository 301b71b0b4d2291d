/* What models did with a stretch: see effects.h. */
#include "hwmodel/count/memo/effects.h"

void hd_rf_outcomes_start(hd_rf_outcomes *o, hd_rf_feeder *feeder)
{
    o->feeder = feeder;
    o->runs = hd_calloc(feeder->members.count, sizeof *o->runs);
}

void hd_rf_outcomes_free(hd_rf_outcomes *o)
{
    hd_array_free(&o->effects);
    hd_array_free(&o->tellings);
    hd_array_free(&o->told);
    hd_array_free(&o->lapses);
    hd_array_free(&o->deeds);
    for (uint32_t m = 0; m < o->feeder->members.count; m++)
        hd_array_free(&o->runs[m]);
    free(o->runs);
    hd_array_free(&o->before);
    hd_array_free(&o->held);
}

uint64_t hd_rf_outcomes_bytes(const hd_rf_outcomes *o)
{
    return o->effects.count * sizeof(hd_rf_effect) + o->tellings.count * sizeof(hd_rf_telling) +
           o->told.count * sizeof(hd_rf_told) + o->lapses.count * sizeof(hd_rf_member_delta) +
           o->deeds.count * sizeof(hd_shared_op);
}

/* NULL: the model has none. */
static hd_run_length *meters_of(const hd_rf_outcomes *o, uint32_t member, const hd_rf_living *living)
{
    return hd_memo_lengths(o->feeder->members.items[member].model, &living->warp);
}

void hd_rf_outcomes_put_aside(hd_rf_outcomes *o)
{
    hd_array_clear(&o->before);
    hd_array_clear(&o->held);
    uint64_t *before = hd_array_extend(&o->before, o->feeder->members.count * HD_COUNTER_COUNT),
             *held = hd_array_extend(&o->held, o->feeder->members.count);
    for (uint32_t m = 0; m < o->feeder->members.count; m++) {
        hd_rf_model *model = o->feeder->members.items[m].model;
        memcpy(before + (size_t)m * HD_COUNTER_COUNT, model->counters, sizeof model->counters);
        memset(model->counters, 0, sizeof model->counters);
        held[m] = model->held;
    }
}

void hd_rf_outcomes_take_back(hd_rf_outcomes *o)
{
    for (uint32_t m = 0; m < o->feeder->members.count; m++) {
        hd_rf_model *model = o->feeder->members.items[m].model;
        memcpy(model->counters, o->before.items + (size_t)m * HD_COUNTER_COUNT, sizeof model->counters);
        model->held = o->held.items[m];
        hd_shared_ops_drop(&model->memo);
    }
}

void hd_rf_outcomes_count(hd_rf_outcomes *o, const hd_rf_outcome *t, uint64_t times)
{
    for (const hd_rf_effect *e = o->effects.items + t->effects, *end = e + t->effect_count; e < end; e++)
        hd_counter_add(o->feeder->members.items[e->member].model->counters, (hd_counter)e->counter, e->n, times);
}

/* ---- again ------------------------------------------------------------------------------------------------------- */

static void tell_each(hd_rf_model *model, const hd_rf_told *told, uint32_t count)
{
    for (const hd_rf_told *end = told + count; told < end; told++)
        hd_rf_tell_times(model, model->held + (uint64_t)(int64_t)told->more, told->times);
}

static void tell_again(hd_rf_outcomes *o, const hd_rf_outcome *t)
{
    for (const hd_rf_telling *what = o->tellings.items + t->tellings, *end = what + t->telling_count; what < end;
         what++) {
        hd_rf_model *model = o->feeder->members.items[what->member].model;
        uint64_t sum = model->held * what->times + (uint64_t)what->sum,
                 most = model->held + (uint64_t)(int64_t)what->most;
        if (what->times && !hd_rf_tell_sum(model, sum, what->times, most))
            tell_each(model, o->told.items + what->told, what->told_count);
        model->held += (uint64_t)(int64_t)what->then;
    }
}

void hd_rf_outcomes_again(hd_rf_outcomes *o, const hd_rf_outcome *t, hd_run_length *kept)
{
    tell_again(o, t);
    for (const hd_rf_member_delta *l = o->lapses.items + t->lapses, *end = l + t->lapse_count; l < end; l++)
        hd_run_length_replay(o->feeder->members.items[l->member].model->counters, &kept[l->meter], &l->what);
}

static bool do_shared(hd_rf_outcomes *o, uint32_t m, hd_rf_living *w, const hd_rf_passage *p, const hd_shared_op *ops,
                      uint32_t count)
{
    hd_rf_member *member = &o->feeder->members.items[m];
    uint32_t word;
    hd_shared_result result = member->failure.wrong
                                  ? HD_SHARED_GOOD
                                  : member->model->info->ops->memo->share(member->model, &w->warp, ops, count, &word);
    if (result == HD_SHARED_GOOD)
        return true;
    member->failure =
        (hd_rf_failure){.wrong = result == HD_SHARED_FULL ? HD_RF_FULL : HD_RF_SHARED,
                        .warp = w->number,
                        .cta = w->warp.cta,
                        .function = p->function,
                        .instruction = p->stretch ? hd_rf_stretch_instruction(p->stretch, p->end - 1u) : 0,
                        .word = word};
    o->feeder->failed++;
    return false;
}

bool hd_rf_outcomes_share(hd_rf_outcomes *o, hd_rf_living *w, const hd_rf_passage *p)
{
    bool good = true;
    for (uint32_t m = 0; m < o->feeder->members.count; m++) {
        hd_memo_notes *notes = &o->feeder->members.items[m].model->memo;
        if (!notes->shared.count)
            continue;
        good &= do_shared(o, m, w, p, notes->shared.items, notes->shared.count);
        hd_shared_ops_drop(notes);
    }
    return good;
}

bool hd_rf_outcomes_do_again(hd_rf_outcomes *o, const hd_rf_outcome *t, hd_rf_living *living, const hd_rf_passage *p)
{
    const hd_shared_op *deeds = o->deeds.items + t->deeds;
    bool good = true;
    for (const hd_shared_op *end = deeds + t->deed_count; deeds < end; deeds += 1 + deeds->n)
        good &= do_shared(o, deeds->also, living, p, deeds + 1, deeds->n);
    return good;
}

/* ---- noting ------------------------------------------------------------------------------------------------------ */

/* What the models tell from here on is noted, too. */
static void note_tellings(hd_rf_outcomes *o)
{
    for (uint32_t m = 0; m < o->feeder->members.count; m++) {
        hd_rf_model *model = o->feeder->members.items[m].model;
        hd_rf_tell_rest(model);
        hd_array_clear(&o->runs[m]);
        model->memo.runs = &o->runs[m];
    }
}

static void start_meters(hd_rf_outcomes *o, const hd_rf_living *living, hd_run_length *kept)
{
    for (uint32_t m = 0; m < o->feeder->members.count; m++) {
        hd_run_length *meters = meters_of(o, m, living);
        for (uint32_t k = 0; meters && k < HD_RUN_LENGTHS; k++) {
            kept[m * HD_RUN_LENGTHS + k] = meters[k];
            meters[k].noting = true;
        }
    }
}

void hd_rf_outcomes_note(hd_rf_outcomes *o, const hd_rf_living *living, hd_run_length *kept)
{
    note_tellings(o);
    start_meters(o, living, kept);
    hd_rf_outcomes_put_aside(o);
}

static void keep_effects(hd_rf_outcomes *o, hd_rf_outcome *t)
{
    t->effects = o->effects.count;
    for (uint32_t m = 0; m < o->feeder->members.count; m++)
        for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++) {
            uint64_t n = o->feeder->members.items[m].model->counters[c];
            if (n)
                hd_array_push(&o->effects, (hd_rf_effect){(uint16_t)m, (uint16_t)c, (uint32_t)n});
        }
    t->effect_count = o->effects.count - t->effects;
}

static void end_tellings(hd_rf_outcomes *o)
{
    for (uint32_t m = 0; m < o->feeder->members.count; m++) {
        hd_rf_model *model = o->feeder->members.items[m].model;
        hd_rf_tell_rest(model);
        model->memo.runs = NULL;
    }
}

static hd_rf_telling keep_told(hd_rf_outcomes *o, uint32_t m)
{
    hd_rf_telling what = {.member = m, .told = o->told.count, .told_count = o->runs[m].count, .most = INT32_MIN};
    for (uint32_t r = 0; r < o->runs[m].count; r++) {
        hd_rf_told told = {(int32_t)(o->runs[m].items[r].held - o->held.items[m]), (uint32_t)o->runs[m].items[r].times};
        what.times += told.times;
        what.most = told.more > what.most ? told.more : what.most;
        what.sum += (int64_t)told.more * told.times;
        hd_array_push(&o->told, told);
    }
    what.then = (int32_t)(o->feeder->members.items[m].model->held - o->held.items[m]);
    return what;
}

static void keep_tellings(hd_rf_outcomes *o, hd_rf_outcome *t)
{
    t->tellings = o->tellings.count;
    for (uint32_t m = 0; m < o->feeder->members.count; m++) {
        hd_rf_telling what = keep_told(o, m);
        if (what.times || what.then)
            hd_array_push(&o->tellings, what);
    }
    t->telling_count = o->tellings.count - t->tellings;
}

static void keep_deeds(hd_rf_outcomes *o, hd_rf_outcome *t)
{
    t->deeds = o->deeds.count;
    for (uint32_t m = 0; m < o->feeder->members.count; m++) {
        hd_rf_model *model = o->feeder->members.items[m].model;
        uint32_t head = o->deeds.count;
        if (model->memo.shared.count && model->info->ops->memo->arrange)
            model->info->ops->memo->arrange(model);
        for (uint32_t i = 0; i < model->memo.shared.count; i++) {
            if (model->memo.shared.items[i].what == HD_SHARED_NONE)
                continue;
            if (o->deeds.count == head)
                hd_array_push(&o->deeds, (hd_shared_op){HD_SHARED_NONE, (uint16_t)m, 0, 0});
            hd_array_push(&o->deeds, model->memo.shared.items[i]);
            o->deeds.items[head].n++;
        }
    }
    t->deed_count = o->deeds.count - t->deeds;
}

/* What was counted is what is kept. */
static void add_back(hd_rf_outcomes *o, const hd_rf_outcome *t)
{
    for (uint32_t m = 0; m < o->feeder->members.count; m++)
        memcpy(o->feeder->members.items[m].model->counters, o->before.items + (size_t)m * HD_COUNTER_COUNT,
               HD_COUNTER_COUNT * sizeof(uint64_t));
    hd_rf_outcomes_count(o, t, 1);
}

/* The first lengths that ended are counted here: they are no part of what the models counted. */
static void keep_lapses(hd_rf_outcomes *o, const hd_rf_living *living, hd_run_length *kept, hd_rf_outcome *t)
{
    t->lapses = o->lapses.count;
    for (uint32_t m = 0; m < o->feeder->members.count; m++) {
        hd_run_length *meters = meters_of(o, m, living);
        for (uint32_t k = 0; meters && k < HD_RUN_LENGTHS; k++) {
            uint32_t meter = m * HD_RUN_LENGTHS + k;
            hd_run_length *length = &kept[meter];
            hd_array_push(&o->lapses,
                          (hd_rf_member_delta){m, meter, hd_run_length_recorded(&meters[k], length->length)});
            hd_run_length_replay(o->feeder->members.items[m].model->counters, length, &hd_array_last(&o->lapses).what);
        }
    }
    t->lapse_count = o->lapses.count - t->lapses;
}

void hd_rf_outcomes_keep(hd_rf_outcomes *o, const hd_rf_living *living, hd_run_length *kept, hd_rf_outcome *t)
{
    end_tellings(o);
    keep_effects(o, t);
    keep_tellings(o, t);
    keep_deeds(o, t);
    add_back(o, t);
    keep_lapses(o, living, kept, t);
}
