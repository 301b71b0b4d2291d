/* States of warps: see states.h. */
#include "hwmodel/rf/states.h"
#include "hwmodel/rf/carry.h"

void hd_rf_states_free(hd_rf_states *s)
{
    hd_sequences_free(&s->numbers);
    hd_array_free(&s->words);
    hd_array_free(&s->places);
}

/* Lanes that were written at all. */
static void carry_identity(hd_rf_carrier *c, hd_identity_warp *identity)
{
    for (uint32_t i = 0; i < identity->registers.count; i++) {
        hd_identity_register *r = &identity->registers.items[i];
        uint32_t ever = hd_rf_carried_lanes(c, r->ever);
        if (!c->out)
            *r = (hd_identity_register){.current = ever ? identity->serial : 0, .newest = ever, .ever = ever};
    }
}

/* Of lengths, whether they are 0; how long they are is kept beside. */
static void carry_model(hd_rf_carrier *c, hd_rf_model *model, hd_rf_living *living, hd_rf_meter *kept)
{
    hd_rf_meter *meters = hd_rf_meters(model, &living->warp);
    model->info->ops->carry(model, &living->warp, c);
    for (uint32_t k = 0; meters && k < HD_RF_METERS; k++) {
        (void)hd_rf_carried(c, meters[k].length != 0);
        *(c->out ? &kept[k] : &meters[k]) = c->out ? meters[k] : kept[k];
    }
}

/* A model that failed sees no events, and takes nothing up. */
static void carry_models(hd_rf_states *s, hd_rf_carrier *c, hd_rf_living *living, hd_rf_meter *kept)
{
    for (uint32_t m = 0; m < s->feeder->members.count; m++) {
        uint32_t place = c->words->count, count = hd_rf_carried(c, 0);
        if (s->feeder->members.items[m].failure.wrong)
            c->at += count;
        else
            carry_model(c, s->feeder->members.items[m].model, living, kept + (size_t)m * HD_RF_METERS);
        if (c->out)
            c->words->items[place] = c->words->count - place - 1;
    }
}

uint32_t hd_rf_states_write(hd_rf_states *s, hd_rf_living *living, hd_rf_meter *meters, hd_rf_classes *classes, bool add)
{
    hd_rf_carrier carrier = {.out = true, .words = &s->words, .places = &s->places, .identity = &living->warp.identity};
    if (living->warp.identity.frames.count != 1)
        return HD_NONE;
    hd_array_clear(&s->words);
    hd_array_clear(&s->places);
    hd_array_push(&s->words, 0); /* how many classes there are */
    carry_identity(&carrier, &living->warp.identity);
    carry_models(s, &carrier, living, meters);
    if (carrier.unfit)
        return HD_NONE;
    hd_rf_classes_write(classes, s->words.items, s->places.items, s->places.count);
    s->words.items[0] = classes->count;
    return hd_sequences_number(&s->numbers, s->words.items, s->words.count, add ? HD_NONE : 0);
}

void hd_rf_states_take_up(hd_rf_states *s, uint32_t state, hd_rf_living *living, hd_rf_meter *meters, const hd_rf_classes *classes)
{
    hd_rf_carrier carrier = {.words = &s->words, .at = 1, .classes = classes, .identity = &living->warp.identity};
    uint32_t count;
    const uint32_t *words = hd_sequences_words(&s->numbers, state, &count);
    hd_array_clear(&s->words);
    memcpy(hd_array_extend(&s->words, count), words, count * sizeof *words);
    living->warp.identity.serial = 1;
    hd_array_clear(&living->warp.identity.history);
    carry_identity(&carrier, &living->warp.identity);
    carry_models(s, &carrier, living, meters);
}
