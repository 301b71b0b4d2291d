/* States of warps: see states.h. */
#include "hwmodel/count/memo/states.h"
#include "hwmodel/rf/memo.h"
#include <assert.h>

void hd_rf_states_free(hd_rf_states *s)
{
    hd_sequences_free(&s->numbers);
    hd_array_free(&s->words);
    hd_array_free(&s->places);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

void hd_rf_known_free(hd_rf_known *k)
{
    hd_array_free(&k->frames);
    hd_array_free(&k->resting);
}

uint32_t hd_rf_known_depth(const hd_rf_known *k, uint32_t frame)
{
    uint32_t depth = k->frames.count;
    while (depth && k->frames.items[depth - 1].frame != frame)
        depth--;
    return depth ? depth - 1 : k->frames.count;
}

void hd_rf_known_follow_slow(hd_rf_known *k, const hd_rf_passage *p)
{
    uint32_t depth = hd_rf_known_depth(k, p->frame);
    if (depth < k->frames.count)
        k->frames.count = depth + 1;
    else if (p->kind == HD_EVENT_ISSUE)
        hd_array_push(&k->frames, (hd_rf_call){p->frame, p->function});
}

/* ---- what is known of some of them ------------------------------------------------------------------------------- */

static uint32_t base_of(const hd_identity_warp *identity, uint32_t depth)
{
    return depth < identity->frames.count ? identity->frames.items[depth].base : identity->registers.count;
}

static hd_snapshot carrier_of(hd_rf_states *s, const hd_identity_warp *identity, uint32_t bottom, uint32_t top)
{
    return (hd_snapshot){.words = &s->words,
                         .places = &s->places,
                         .identity = identity,
                         .rest = top < identity->frames.count,
                         .bottom = bottom,
                         .top = top,
                         .first = base_of(identity, bottom),
                         .end = base_of(identity, top),
                         .pinned = identity->frames.count - 1};
}

/* Lanes that were written at all. */
static void carry_identity(hd_snapshot *c, hd_identity_warp *identity)
{
    for (uint32_t i = c->first; i < c->end; i++) {
        hd_identity_register *r = &identity->registers.items[i];
        uint32_t ever = hd_snapshot_lanes(c, r->ever);
        if (!c->out)
            *r = (hd_identity_register){.current = ever ? identity->serial : 0, .newest = ever, .ever = ever};
    }
}

/* Of lengths, whether they are 0; how long they are is kept beside. */
static void carry_model(hd_snapshot *c, hd_rf_model *model, hd_rf_living *living, hd_run_length *kept)
{
    hd_run_length *meters = c->rest ? NULL : hd_memo_lengths(model, &living->warp);
    model->info->ops->memo->snapshot(model, &living->warp, c);
    for (uint32_t k = 0; meters && k < HD_RUN_LENGTHS; k++) {
        (void)hd_snapshot_word(c, meters[k].length != 0);
        *(c->out ? &kept[k] : &meters[k]) = c->out ? meters[k] : kept[k];
    }
}

/* A model that failed sees no events, and takes nothing up. */
static void carry_models(hd_rf_states *s, hd_snapshot *c, hd_rf_living *living, hd_run_length *kept)
{
    for (uint32_t m = 0; m < s->feeder->members.count; m++) {
        uint32_t place = c->words->count, count = hd_snapshot_word(c, 0);
        if (s->feeder->members.items[m].failure.wrong)
            c->at += count;
        else
            carry_model(c, s->feeder->members.items[m].model, living, kept + (size_t)m * HD_RUN_LENGTHS);
        if (c->out)
            c->words->items[place] = c->words->count - place - 1;
    }
}

/* ---- writing down ------------------------------------------------------------------------------------------------ */

/* The words of the frames [bottom, top). Says which is the lowest of them that cannot rest; HD_NONE: they cannot be
 * written down. */
static uint32_t write_words(hd_rf_states *s, hd_rf_living *living, const hd_rf_known *known, uint32_t bottom,
                            uint32_t top, hd_run_length *meters)
{
    hd_snapshot c = carrier_of(s, &living->warp.identity, bottom, top);
    c.out = true;
    hd_array_clear(&s->words);
    hd_array_clear(&s->places);
    hd_array_push(&s->words, 0); /* how many classes there are */
    hd_array_push(&s->words, top - bottom);
    for (uint32_t f = bottom; f < top; f++)
        hd_array_push(&s->words, known->frames.items[f].function);
    carry_identity(&c, &living->warp.identity);
    carry_models(s, &c, living, meters);
    s->carried += s->words.count;
    return c.unfit ? HD_NONE : c.pinned > bottom ? c.pinned : bottom;
}

static uint32_t number_words(hd_rf_states *s, hd_rf_classes *classes, bool add)
{
    hd_rf_classes_write(classes, s->words.items, s->places.items, s->places.count);
    s->words.items[0] = classes->count;
    return hd_sequences_number(&s->numbers, s->words.items, s->words.count, add ? HD_NONE : 0);
}

/* The frames [bottom, top) rest from now on. false: there is no number for them. */
static bool rest(hd_rf_states *s, hd_rf_living *living, hd_rf_known *known, uint32_t bottom, uint32_t top,
                 hd_run_length *meters, bool add)
{
    if (write_words(s, living, known, bottom, top, meters) == HD_NONE)
        return false;
    hd_rf_resting part = {.top = top, .registers = base_of(&living->warp.identity, top)};
    part.number = number_words(s, &part.classes, add);
    hd_array_push(&known->resting, part);
    return part.number != HD_NONE;
}

bool hd_rf_states_write(hd_rf_states *s, hd_rf_living *living, hd_rf_known *known, hd_run_length *meters, bool add)
{
    uint32_t count = known->frames.count, bottom = hd_rf_resting_frames(known), pinned;
    assert(living->warp.identity.frames.count == count);
    if (!count || count > HD_RF_FRAMES || living->warp.identity.registers.count >> HD_SNAPSHOT_INDEX_BITS)
        return false;
    pinned = write_words(s, living, known, bottom, count, meters);
    if (pinned == HD_NONE || count - pinned > HD_SNAPSHOT_FRAMES)
        return false;
    if (pinned > bottom && (!rest(s, living, known, bottom, pinned, meters, add) ||
                            write_words(s, living, known, pinned, count, meters) == HD_NONE))
        return false;
    known->state = number_words(s, &known->classes, add);
    return known->state != HD_NONE;
}

/* ---- taking up --------------------------------------------------------------------------------------------------- */

/* Those that still are on the way stay, and the others begin. */
static void begin_frames(hd_rf_states *s, const hd_rf_known *known, const hd_rf_living *living)
{
    const hd_identity_warp *identity = &living->warp.identity;
    uint32_t same = 0;
    while (same < known->frames.count && same < identity->frames.count &&
           identity->frames.items[same].frame == known->frames.items[same].frame)
        same++;
    for (uint32_t f = same ? same - 1 : 0; f < known->frames.count; f++) { /* the first one ends those above it */
        const hd_rf_call *call = &known->frames.items[f];
        hd_rf_feeder_peek(s->feeder,
                          &(hd_event){.warp = living->number, .frame = call->frame, .function = call->function});
    }
}

static void take_up(hd_rf_states *s, uint32_t number, hd_rf_living *living, uint32_t bottom, uint32_t top,
                    hd_run_length *meters, const hd_rf_classes *classes)
{
    hd_snapshot c = carrier_of(s, &living->warp.identity, bottom, top);
    uint32_t count;
    const uint32_t *words = hd_sequences_words(&s->numbers, number, &count);
    hd_array_clear(&s->words);
    memcpy(hd_array_extend(&s->words, count), words, count * sizeof *words);
    c.at = 2 + top - bottom;
    s->carried += count;
    c.class_lanes = classes->lanes;
    carry_identity(&c, &living->warp.identity);
    carry_models(s, &c, living, meters);
}

void hd_rf_states_take_up(hd_rf_states *s, const hd_rf_known *known, hd_rf_living *living, hd_run_length *meters)
{
    hd_identity_warp *identity = &living->warp.identity;
    uint32_t bottom = 0;
    begin_frames(s, known, living);
    identity->serial = 1;
    hd_array_clear(&identity->history);
    for (uint32_t f = 0; f < identity->frames.count; f++)
        identity->frames.items[f].history_count = 0;
    for (uint32_t r = 0; r < known->resting.count; bottom = known->resting.items[r++].top)
        take_up(s, known->resting.items[r].number, living, bottom, known->resting.items[r].top, meters,
                &known->resting.items[r].classes);
    take_up(s, known->state, living, bottom, known->frames.count, meters, &known->classes);
}
