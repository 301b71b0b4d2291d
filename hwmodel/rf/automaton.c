/* Transitions of models: see automaton.h. */
#include "hwmodel/rf/automaton.h"
#include "hwmodel/rf/states.h"

enum {
    BEGIN, CAME, /* states of a warp before its first instruction; it has come to take turns */
    CREDIT = 64, PRICE = 2, REST = 64, /* see `credit` */
};

/* What a transition is made by: the number of a stretch's text, the instructions of it, [from, end), and the number of how its masks split
 * the state's classes; or one of these. */
typedef uint64_t cause;
enum { ENDS = 1, LEAVES, COMES }; /* no stretch has an end of 0 */

typedef struct effect { /* of a model: what it counted */
    uint16_t member, counter;
    uint32_t n;
} effect;

typedef struct telling { /* of a model: registers held, against the number when the stretch began; times 0: from then on */
    uint32_t member;
    int32_t more;
    uint32_t times;
} telling;

typedef struct lapse { /* of a model's meter */
    uint32_t member, meter;
    hd_rf_lapse what;
} lapse;

typedef struct transition {
    cause by;
    uint32_t from, to;          /* to: HD_NONE: it ended */
    uint32_t follow;            /* the transition that was taken behind it last */
    uint32_t classes, united;   /* of lanes: how many there are behind it; in `united`, which parts of those before it each of them unites */
    uint64_t times;             /* since the counters were brought up to date */
    uint32_t effects, effect_count, tellings, telling_count, lapses, lapse_count, deeds, deed_count;
} transition;

typedef struct follower { /* a warp */
    bool alive, with_models, met; /* with_models: they know it as it is now; met: they have known it since it began */
    uint32_t number, cta, function; /* function: of the kernel */
    hd_rf_living *living;
    uint32_t state;          /* HD_NONE: not known */
    uint32_t latest;         /* the transition that it took last; HD_NONE */
    hd_rf_classes classes;   /* of the state */
} follower;

struct hd_rf_automaton {
    hd_rf_feeder *feeder;
    uint32_t members; /* its models */
    bool forgets;     /* one of them does */
    HD_ARRAY(follower) warps;
    hd_rf_states states;
    hd_rf_splits splits;
    hd_rf_classes parts;        /* of the classes of the warp that does something: what that makes of them */
    HD_ARRAY(transition) transitions;
    hd_index transition_numbers; /* by state and stretch */
    HD_ARRAY(effect) effects;
    HD_ARRAY(telling) tellings;
    HD_ARRAY(lapse) lapses;
    HD_ARRAY(hd_rf_deed) deeds;
    hd_u32_array united; /* sets of parts: see transition.united */
    HD_ARRAY(hd_rf_meter) meters; /* by warp, member and meter: as its state has them */
    uint8_t by_number[256];       /* warps by the end of their number: to be looked at first */
    hd_u32_array taken;    /* transitions with times */
    hd_rf_runs *runs;          /* by member */
    HD_ARRAY(uint64_t) before; /* by member and counter */
    HD_ARRAY(uint64_t) held;   /* by member */
    uint32_t credit;       /* a stretch that is not new earns 1, a new one costs PRICE; where there is none left, nothing is written down */
    uint32_t rest;         /* ... for so many stretches */
};

bool hd_rf_automaton_takes(const hd_rf_model *model)
{
    return model->info->ops->carry && !model->shares && !model->fault;
}

hd_rf_automaton *hd_rf_automaton_new(hd_rf_feeder *feeder)
{
    hd_rf_automaton *a = hd_calloc(1, sizeof *a);
    a->feeder = feeder;
    feeder->defers = true;
    a->states.feeder = feeder;
    hd_sequences_number(&a->states.numbers, NULL, 0, 1); /* BEGIN, and CAME: shorter than any other */
    hd_sequences_number(&a->states.numbers, (const uint32_t[]){CAME}, 1, 2);
    a->credit = CREDIT;
    a->runs = hd_calloc(feeder->members.count, sizeof *a->runs);
    a->members = feeder->members.count;
    for (uint32_t m = 0; m < a->members; m++)
        a->forgets = a->forgets || feeder->members.items[m].model->forgets;
    return a;
}

void hd_rf_automaton_free(hd_rf_automaton *a)
{
    if (!a)
        return;
    hd_array_free(&a->warps);
    hd_rf_states_free(&a->states);
    hd_rf_splits_free(&a->splits);
    hd_array_free(&a->united);
    hd_array_free(&a->transitions);
    hd_array_free(&a->effects);
    hd_array_free(&a->tellings);
    hd_array_free(&a->lapses);
    hd_array_free(&a->deeds);
    hd_array_free(&a->meters);
    hd_array_free(&a->taken);
    for (uint32_t m = 0; m < a->members; m++)
        hd_array_free(&a->runs[m]);
    free(a->runs);
    hd_array_free(&a->before);
    hd_array_free(&a->held);
    hd_index_free(&a->transition_numbers);
    free(a);
}

/* ---- states ---------------------------------------------------------------------------------------------------------- */

static bool has_room(const hd_rf_automaton *a)
{
    uint64_t bytes = hd_sequences_bytes(&a->states.numbers) + hd_sequences_bytes(&a->splits.numbers) + a->united.count * sizeof *a->united.items +
                     a->effects.count * sizeof(effect) + a->tellings.count * sizeof(telling) + a->lapses.count * sizeof(lapse) +
                     a->deeds.count * sizeof(hd_rf_deed);
    return a->transitions.count < HD_RF_TRANSITIONS && a->states.numbers.ends.count < HD_RF_TRANSITIONS && bytes < HD_RF_STATE_BYTES;
}

/* NULL: the model has none. */
static hd_rf_meter *meters_of(const hd_rf_automaton *a, uint32_t member, const hd_rf_living *living)
{
    return hd_rf_meters(a->feeder->members.items[member].model, &living->warp);
}

static hd_rf_meter *kept_meters(hd_rf_automaton *a, const follower *w, uint32_t member)
{
    return a->meters.items + ((size_t)(w - a->warps.items) * a->members + member) * HD_RF_METERS;
}

/* What the models know of the warp; HD_NONE where that cannot be written down, or is new and has no room. */
static uint32_t write_down(hd_rf_automaton *a, follower *w)
{
    return hd_rf_states_write(&a->states, w->living, kept_meters(a, w, 0), &w->classes, has_room(a));
}

/* ---- what models count meanwhile ----------------------------------------------------------------------------------------- */

/* Counters begin at 0; what models hold stays. */
static void put_aside(hd_rf_automaton *a)
{
    hd_array_clear(&a->before);
    hd_array_clear(&a->held);
    uint64_t *before = hd_array_extend(&a->before, a->members * HD_COUNTER_COUNT), *held = hd_array_extend(&a->held, a->members);
    for (uint32_t m = 0; m < a->members; m++) {
        hd_rf_model *model = a->feeder->members.items[m].model;
        memcpy(before + (size_t)m * HD_COUNTER_COUNT, model->counters, sizeof model->counters);
        memset(model->counters, 0, sizeof model->counters);
        held[m] = model->held;
    }
}

/* What was counted since is left out. */
static void take_back(hd_rf_automaton *a)
{
    for (uint32_t m = 0; m < a->members; m++) {
        hd_rf_model *model = a->feeder->members.items[m].model;
        memcpy(model->counters, a->before.items + (size_t)m * HD_COUNTER_COUNT, sizeof model->counters);
        model->held = a->held.items[m];
        hd_rf_deeds_drop(model);
    }
}

static void add_effects(hd_rf_automaton *a, const transition *t, uint64_t times)
{
    for (const effect *e = a->effects.items + t->effects, *end = e + t->effect_count; e < end; e++)
        hd_counter_add(a->feeder->members.items[e->member].model->counters, (hd_counter)e->counter, e->n, times);
}

/* What was counted is what the transition has kept. */
static void add_back(hd_rf_automaton *a, const transition *t)
{
    for (uint32_t m = 0; m < a->members; m++)
        memcpy(a->feeder->members.items[m].model->counters, a->before.items + (size_t)m * HD_COUNTER_COUNT, HD_COUNTER_COUNT * sizeof(uint64_t));
    add_effects(a, t, 1);
}

static hd_event event_of(const hd_rf_passage *p, hd_event_kind kind)
{
    return (hd_event){.kind = (uint8_t)kind, .cta = p->cta, .warp = p->warp, .frame = p->frame, .function = p->function};
}

/* Makes the models know the warp as its state has it. */
static void wake(hd_rf_automaton *a, follower *w)
{
    if (w->with_models)
        return;
    w->with_models = w->met = true;
    if (w->state == BEGIN)
        return;
    put_aside(a);
    if (w->state == CAME) {
        hd_rf_feeder_switch(a->feeder, w->number, false);
    } else {
        hd_rf_feeder_peek(a->feeder, &(hd_event){.warp = w->number, .function = w->function}); /* begins the kernel's frame, where it is not there */
        hd_rf_states_take_up(&a->states, w->state, w->living, kept_meters(a, w, 0), &w->classes);
    }
    take_back(a);
}

/* ---- transitions ------------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(uint32_t from, cause by)
{
    uint64_t mixed = (by ^ (uint64_t)from * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;
    return mixed ^ mixed >> 32;
}

/* HD_NONE: it was never taken. */
static uint32_t find_transition(hd_rf_automaton *a, const follower *w, cause by)
{
    if (w->latest != HD_NONE) {
        uint32_t follow = a->transitions.items[w->latest].follow;
        if (follow != HD_NONE && a->transitions.items[follow].by == by)
            return follow; /* from the state that both share */
    }
    uint64_t hash = hash_of(w->state, by);
    for (uint32_t at = hd_index_first(&a->transition_numbers, hash); at != HD_INDEX_END; at = hd_index_next(&a->transition_numbers, hash, at)) {
        const transition *t = &a->transitions.items[a->transition_numbers.slots[at].number];
        if (t->from == w->state && t->by == by)
            return a->transition_numbers.slots[at].number;
    }
    return HD_NONE;
}

static void step_to(hd_rf_automaton *a, follower *w, uint32_t at)
{
    if (w->latest != HD_NONE)
        a->transitions.items[w->latest].follow = at;
    w->latest = at;
    w->state = a->transitions.items[at].to;
}

static void tell_again(hd_rf_automaton *a, const transition *t)
{
    const telling *telling_of = a->tellings.items + t->tellings;
    uint64_t held = 0;
    for (uint32_t i = 0; i < t->telling_count; i++) {
        hd_rf_model *model = a->feeder->members.items[telling_of[i].member].model;
        if (!i || telling_of[i].member != telling_of[i - 1].member)
            held = model->held;
        uint64_t now = held + (uint64_t)(int64_t)telling_of[i].more;
        if (telling_of[i].times)
            hd_rf_tell_times(model, now, telling_of[i].times);
        else
            model->held = now;
    }
}

static bool do_again(hd_rf_automaton *a, const follower *w, const hd_rf_passage *p, const transition *t)
{
    const hd_rf_deed *deeds = a->deeds.items + t->deeds;
    bool good = true;
    for (uint32_t i = 0, end; i < t->deed_count; i = end) {
        for (end = i + 1; end < t->deed_count && deeds[end].member == deeds[i].member; end++)
            ;
        good &= hd_rf_feeder_do(a->feeder, deeds[i].member, w->living, p, deeds + i, end - i);
    }
    return good;
}

/* false: see hd_rf_feeder_do. */
static bool take_again(hd_rf_automaton *a, follower *w, const hd_rf_passage *p, uint32_t at)
{
    transition *t = &a->transitions.items[at];
    if (!t->times++)
        hd_array_push(&a->taken, at);
    tell_again(a, t);
    for (const lapse *l = a->lapses.items + t->lapses, *end = l + t->lapse_count; l < end; l++)
        hd_rf_meter_again(a->feeder->members.items[l->member].model, &kept_meters(a, w, l->member)[l->meter], &l->what);
    hd_rf_classes_unite(&w->classes, &a->parts, a->united.items + t->united, t->classes);
    w->with_models = false;
    step_to(a, w, at);
    return do_again(a, w, p, t);
}

static void keep_effects(hd_rf_automaton *a, transition *t)
{
    t->effects = a->effects.count;
    for (uint32_t m = 0; m < a->members; m++)
        for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++) {
            uint64_t n = a->feeder->members.items[m].model->counters[c];
            if (n)
                hd_array_push(&a->effects, (effect){(uint16_t)m, (uint16_t)c, (uint32_t)n});
        }
    t->effect_count = a->effects.count - t->effects;
}

/* What the models tell from here on is noted, too. */
static void note_tellings(hd_rf_automaton *a)
{
    for (uint32_t m = 0; m < a->members; m++) {
        hd_rf_model *model = a->feeder->members.items[m].model;
        hd_rf_tell_rest(model);
        hd_array_clear(&a->runs[m]);
        model->runs = &a->runs[m];
    }
}

static void end_tellings(hd_rf_automaton *a)
{
    for (uint32_t m = 0; m < a->members; m++) {
        hd_rf_model *model = a->feeder->members.items[m].model;
        hd_rf_tell_rest(model);
        model->runs = NULL;
    }
}

static void keep_tellings(hd_rf_automaton *a, transition *t)
{
    t->tellings = a->tellings.count;
    for (uint32_t m = 0; m < a->members; m++) {
        uint64_t before = a->held.items[m], now = a->feeder->members.items[m].model->held;
        for (uint32_t r = 0; r < a->runs[m].count; r++)
            hd_array_push(&a->tellings, (telling){m, (int32_t)(a->runs[m].items[r].held - before), (uint32_t)a->runs[m].items[r].times});
        if (now != before)
            hd_array_push(&a->tellings, (telling){m, (int32_t)(now - before), 0});
    }
    t->telling_count = a->tellings.count - t->tellings;
}

static void keep_deeds(hd_rf_automaton *a, transition *t)
{
    t->deeds = a->deeds.count;
    for (uint32_t m = 0; m < a->members; m++) {
        const hd_rf_model *model = a->feeder->members.items[m].model;
        for (uint32_t i = 0; i < model->deeds.count; i++) {
            if (model->deeds.items[i].what == HD_RF_NO_DEED)
                continue;
            hd_array_push(&a->deeds, model->deeds.items[i]);
            hd_array_last(&a->deeds).member = (uint16_t)m;
        }
    }
    t->deed_count = a->deeds.count - t->deeds;
}

/* ---- taking ------------------------------------------------------------------------------------------------------------ */

static void start_meters(hd_rf_automaton *a, const follower *w)
{
    const hd_rf_living *living = w->living;
    for (uint32_t m = 0; m < a->members; m++) {
        hd_rf_meter *meters = meters_of(a, m, living), *kept = kept_meters(a, w, m);
        for (uint32_t k = 0; meters && k < HD_RF_METERS; k++) {
            kept[k] = meters[k];
            meters[k].noting = true;
        }
    }
}

/* The first lengths that ended are counted here: they are no part of what the models counted. */
static void keep_lapses(hd_rf_automaton *a, const follower *w, const hd_rf_living *living, transition *t)
{
    t->lapses = a->lapses.count;
    for (uint32_t m = 0; m < a->members; m++) {
        hd_rf_meter *meters = meters_of(a, m, living), *kept = kept_meters(a, w, m);
        for (uint32_t k = 0; meters && k < HD_RF_METERS; k++) {
            hd_array_push(&a->lapses, (lapse){m, k, hd_rf_meter_noted(&meters[k], kept[k].length)});
            hd_rf_meter_again(a->feeder->members.items[m].model, &kept[k], &hd_array_last(&a->lapses).what);
        }
    }
    t->lapse_count = a->lapses.count - t->lapses;
}

/* With the models. */
static bool walk(hd_rf_automaton *a, const follower *w, const hd_rf_passage *p, cause by, uint32_t *at)
{
    if (by == LEAVES || by == COMES) {
        hd_rf_feeder_switch(a->feeder, w->number, by == LEAVES);
    } else if (by == ENDS) {
        hd_event event = event_of(p, HD_EVENT_WARP_END);
        hd_rf_feeder_take(a->feeder, &event);
    } else {
        return hd_rf_feeder_pass(a->feeder, p, at);
    }
    return true;
}

/* The models forget the warp, whose end has been counted before. */
static void bury(hd_rf_automaton *a, const follower *w)
{
    if (!w->living || !w->living->alive)
        return;
    if (!w->met) {
        w->living->alive = false;
        return;
    }
    put_aside(a);
    hd_rf_feeder_take(a->feeder, &(hd_event){.kind = HD_EVENT_WARP_END, .cta = w->cta, .warp = w->number});
    take_back(a);
}

/* For tests: the models know nothing of the warp any more but its state. */
static void forget(hd_rf_automaton *a, follower *w)
{
    bury(a, w);
    put_aside(a);
    hd_rf_feeder_start(a->feeder, w->living, w->cta, w->number);
    take_back(a);
    w->with_models = false;
}

/* What the models have noted, behind a walk that was good, or not. false: *at is where one failed. */
static bool do_noted(hd_rf_automaton *a, const follower *w, const hd_rf_passage *p, bool walked, uint32_t *at)
{
    if (!w->living || hd_rf_feeder_do_noted(a->feeder, w->living, p))
        return walked;
    *at = walked && p->end ? p->end - 1u : *at;
    return false;
}

static bool walk_only(hd_rf_automaton *a, follower *w, const hd_rf_passage *p, cause by, uint32_t *at)
{
    if (w->state != HD_NONE)
        wake(a, w);
    w->state = w->latest = HD_NONE;
    if (a->rest && !--a->rest)
        a->credit = CREDIT / 4;
    bool good = walk(a, w, p, by, at);
    return do_noted(a, w, p, good, at);
}

static void pay(hd_rf_automaton *a)
{
    a->credit -= a->forgets ? 0 : PRICE < a->credit ? PRICE : a->credit;
    if (!a->credit)
        a->rest = REST;
}

/* Walks, and keeps what came of it. */
static bool learn(hd_rf_automaton *a, follower *w, const hd_rf_passage *p, cause by, uint32_t *at)
{
    transition t = {.by = by, .from = w->state, .to = HD_NONE, .follow = HD_NONE};
    wake(a, w);
    const hd_rf_living *living = w->living; /* its place stays as it is where the warp ends */
    note_tellings(a);
    start_meters(a, w);
    put_aside(a);
    bool good = walk(a, w, p, by, at);
    end_tellings(a);
    keep_effects(a, &t);
    keep_tellings(a, &t);
    keep_deeds(a, &t);
    add_back(a, &t);
    keep_lapses(a, w, living, &t);
    if (good && by != ENDS)
        t.to = t.from == BEGIN && by == COMES ? CAME : write_down(a, w);
    if (t.to != HD_NONE) {
        t.classes = w->classes.count;
        t.united = a->united.count;
        hd_rf_classes_unions(&w->classes, &a->parts, hd_array_extend(&a->united, t.classes));
    }
    good = do_noted(a, w, p, good, at);
    if (good && (t.to != HD_NONE || by == ENDS)) {
        hd_index_add(&a->transition_numbers, hash_of(t.from, t.by), a->transitions.count);
        hd_array_push(&a->transitions, t);
        step_to(a, w, a->transitions.count - 1);
    } else {
        w->state = w->latest = HD_NONE;
    }
    if (a->forgets && w->state != HD_NONE)
        forget(a, w);
    pay(a);
    return good;
}

/* How the stretch splits the warp's classes: of what it is the cause. 0: there is no number for it. */
static cause split(hd_rf_automaton *a, const follower *w, const hd_rf_passage *p, cause by)
{
    uint32_t number = hd_rf_split(&a->splits, &w->classes, p->stretch ? p->stretch->masks : NULL, p->stretch ? p->stretch->mask_count : 0, &a->parts);
    return number < HD_RF_SPLITS ? by | (cause)number << 48 : 0;
}

static bool take(hd_rf_automaton *a, follower *w, const hd_rf_passage *p, cause by, uint32_t *at)
{
    if (p->frame || !by || a->feeder->failed)
        return walk_only(a, w, p, by, at);
    if (w->state == HD_NONE && a->credit) {
        w->state = write_down(a, w);
        if (w->state == HD_NONE)
            pay(a);
    }
    if (w->state != HD_NONE)
        by = split(a, w, p, by);
    if (w->state == HD_NONE || !by)
        return walk_only(a, w, p, by, at);
    uint32_t known = a->forgets ? HD_NONE : find_transition(a, w, by);
    if (known == HD_NONE)
        return a->credit && has_room(a) ? learn(a, w, p, by, at) : walk_only(a, w, p, by, at);
    a->credit += a->credit && a->credit < CREDIT;
    *at = p->end ? p->end - 1u : 0;
    return take_again(a, w, p, known);
}

/* 0: it has no number. */
static cause cause_of(const hd_rf_automaton *a, const hd_rf_passage *p)
{
    uint32_t number = a->feeder->columns & HD_COLUMN_WIDTHS ? p->stretch->text : p->stretch->shape;
    return number == HD_NONE ? 0 : number | (cause)p->from << 32 | (cause)p->end << 40;
}

static follower *find_warp(hd_rf_automaton *a, uint32_t number)
{
    uint32_t hint = a->by_number[number & 255];
    if (hint < a->warps.count && a->warps.items[hint].alive && a->warps.items[hint].number == number)
        return &a->warps.items[hint];
    for (uint32_t i = 0; i < a->warps.count; i++)
        if (a->warps.items[i].alive && a->warps.items[i].number == number) {
            a->by_number[number & 255] = (uint8_t)i;
            return &a->warps.items[i];
        }
    return NULL;
}

static void start_warp(hd_rf_automaton *a, const hd_rf_passage *p)
{
    uint32_t at = 0;
    while (at < a->warps.count && a->warps.items[at].alive)
        at++;
    if (at == a->warps.count) {
        hd_array_push(&a->warps, (follower){0});
        (void)hd_array_extend(&a->meters, a->members * HD_RF_METERS);
    }
    follower *w = &a->warps.items[at];
    *w = (follower){.alive = true, .number = p->warp, .cta = p->cta, .state = BEGIN, .latest = HD_NONE};
    hd_rf_classes_whole(&w->classes);
    memset(kept_meters(a, w, 0), 0, a->members * HD_RF_METERS * sizeof(hd_rf_meter));
    hd_rf_feeder_take(a->feeder, &(hd_event){.kind = HD_EVENT_WARP_START, .cta = p->cta, .warp = p->warp});
    w->living = hd_rf_feeder_warp(a->feeder, p->warp);
}

bool hd_rf_automaton_take(hd_rf_automaton *a, const hd_rf_passage *p, uint32_t *at)
{
    follower *w = NULL;
    hd_event event = event_of(p, (hd_event_kind)p->kind);
    *at = 0;
    switch ((hd_event_kind)p->kind) {
    case HD_EVENT_LAUNCH:
        for (uint32_t i = 0; i < a->warps.count; i++)
            a->warps.items[i].alive = false;
        return hd_rf_feeder_take(a->feeder, &event);
    case HD_EVENT_WARP_START:
        start_warp(a, p);
        return true;
    case HD_EVENT_ISSUE:
        w = find_warp(a, p->warp);
        if (!w)
            return true; /* begun before this was attached */
        if (!p->frame)
            w->function = p->function;
        return take(a, w, p, cause_of(a, p), at);
    case HD_EVENT_RETURN: /* the models have walked what it returns from */
        w = find_warp(a, p->warp);
        return !w || !w->with_models || do_noted(a, w, p, hd_rf_feeder_take(a->feeder, &event), at);
    case HD_EVENT_WARP_END:
        w = find_warp(a, p->warp);
        if (!w)
            return true;
        w->alive = false;
        take(a, w, p, ENDS, at);
        bury(a, w);
        return true;
    case HD_EVENT_CALL:
    case HD_EVENT_CTA_START:
    case HD_EVENT_CTA_END:
    case HD_EVENT_LAUNCH_END:
        return hd_rf_feeder_take(a->feeder, &event);
    }
    return true;
}

void hd_rf_automaton_switch(hd_rf_automaton *a, uint32_t warp, bool leaves)
{
    follower *w = find_warp(a, warp);
    uint32_t at = 0;
    if (!w)
        return;
    hd_rf_passage passage = {.cta = w->cta, .warp = warp};
    take(a, w, &passage, leaves ? LEAVES : COMES, &at);
}

void hd_rf_automaton_settle(hd_rf_automaton *a)
{
    for (uint32_t i = 0; i < a->taken.count; i++) {
        transition *t = &a->transitions.items[a->taken.items[i]];
        add_effects(a, t, t->times);
        t->times = 0;
    }
    hd_array_clear(&a->taken);
}
