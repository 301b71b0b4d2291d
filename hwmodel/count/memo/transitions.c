/* Transitions of models: see memo/transitions.h. */
#include "hwmodel/count/memo/transitions.h"
#include "hwmodel/rf/memo.h"
#include "hwmodel/count/memo/effects.h"
#include "hwmodel/count/memo/states.h"

enum {
    BEGIN,
    CAME, /* states of a warp before its first instruction; it has come to take turns */
};

/* What is worth while, in words carried (memo.h), of which about WALK take the time that a model takes for an
 * instruction; KEEP: for what a model did. */
enum { WALK = 8, KEEP = 32, CREDIT = 1 << 19, SHARE = 4, LEAST_SHARE = 64 };

/* New states may cost a credit, and what is earned: all work that is not done because the warp has been there. Where
 * nothing is left, they rest until a part of the work that is done instead makes up for a quarter of the credit: one
 * SHARE of it, and half as much each time that more was spent than earned. So what is written down in vain takes no
 * more than a part of what would have been walked anyway. */
typedef struct account {
    int64_t credit;
    int64_t earned, spent; /* since they last rested */
    uint32_t share;
    bool rests;
} account;

/* What a transition is made by: the number of a stretch's text, its frame, of those that do not rest (as many as there
 * are: a new one), the instructions of it, [from, end), and the number of how its masks split the state's classes; or
 * one of these, which tells in place of the text where it returns to: the frame, or the number of the part that does
 * not rest any more. No stretch has an end of 0. */
typedef uint64_t cause;
/* their lowest bits; LEFT: whether the warp leaves behind it */
enum { FRAME = 28, FROM = 32, END = 40, LEFT = 47, SPLIT = 48 };
enum { ENDS = 1, LEAVES, COMES, RETURNS, RESUMES, WHERE = 3 /* lowest bit of the latter */ };
_Static_assert(2 * HD_RF_STRETCHES <= 1 << FRAME && HD_RF_TRANSITIONS <= 1 << (FRAME - WHERE) &&
                   HD_SNAPSHOT_FRAMES <= 1 << (FROM - FRAME) && HD_RF_STRETCH < 1 << (LEFT - END),
               "a cause has room");

typedef struct transition {
    cause by;
    uint32_t from, to; /* to: HD_NONE: it ended */
    uint32_t follow;   /* the transition that was taken behind it last */
    /* of lanes: how many there are behind it; in `united`, which parts of those before it each of them unites */
    uint32_t classes, united;
    uint32_t rests, frames; /* number of the part that rests from then on, and frames of it; HD_NONE: none */
    uint32_t rest_classes, rest_united; /* likewise */
    uint64_t times;                     /* since the counters were brought up to date */
    hd_rf_outcome outcome;
} transition;

typedef struct follower {         /* a warp */
    bool alive, with_models, met; /* with_models: they know it as it is now; met: they have known it since it began */
    uint32_t number, cta;
    hd_rf_living *living;
    hd_rf_known known;
    uint32_t latest; /* the transition that it took last; HD_NONE */
} follower;

typedef struct hd_rf_automaton {
    hd_rf_feeder *feeder;
    uint32_t members; /* its models */
    bool forgets;     /* one of them does */
    HD_ARRAY(follower) warps;
    hd_rf_states states;
    hd_rf_splits splits;
    hd_rf_classes parts; /* of the classes of the warp that does something: what that makes of them */
    HD_ARRAY(transition) transitions;
    hd_index transition_numbers; /* by state and stretch */
    hd_rf_outcomes outcomes;
    hd_u32_array united;            /* sets of parts: see transition.united */
    HD_ARRAY(hd_run_length) meters; /* by warp, member and meter: as its state has them */
    uint8_t by_number[256];         /* warps by the end of their number: to be looked at first */
    hd_u32_array taken;             /* transitions with times */
    account account;
} hd_rf_automaton;

static bool takes(const hd_rf_model *model)
{
    return model->info->ops->memo && model->info->ops->memo->snapshot && !model->shares && !model->fault;
}

static void *attach(hd_rf_feeder *feeder)
{
    hd_rf_automaton *a = hd_calloc(1, sizeof *a);
    a->feeder = feeder;
    a->states.feeder = feeder;
    hd_sequences_number(&a->states.numbers, NULL, 0, 1); /* BEGIN, and CAME: shorter than any other */
    hd_sequences_number(&a->states.numbers, (const uint32_t[]){CAME}, 1, 2);
    a->account = (account){.credit = CREDIT, .share = SHARE};
    hd_rf_outcomes_start(&a->outcomes, feeder);
    a->members = feeder->members.count;
    for (uint32_t m = 0; m < a->members; m++) {
        hd_memo_notes *notes = &feeder->members.items[m].model->memo;
        a->forgets = a->forgets || notes->forgets;
        notes->defers = true;
    }
    return a;
}

static void detach(void *memo)
{
    hd_rf_automaton *a = memo;
    for (uint32_t w = 0; w < a->warps.count; w++)
        hd_rf_known_free(&a->warps.items[w].known);
    hd_array_free(&a->warps);
    hd_rf_states_free(&a->states);
    hd_rf_splits_free(&a->splits);
    hd_array_free(&a->united);
    hd_array_free(&a->transitions);
    hd_rf_outcomes_free(&a->outcomes);
    hd_array_free(&a->meters);
    hd_array_free(&a->taken);
    hd_index_free(&a->transition_numbers);
    free(a);
}

/* ---- what is worth while ----------------------------------------------------------------------------------------- */

/* Of the models that walk the passage. */
static int64_t work_of(const hd_rf_automaton *a, const hd_rf_passage *p)
{
    return (int64_t)WALK * a->members * (1u + p->end - p->from);
}

static void add_credit(account *c, int64_t work) { c->credit = c->credit + work < CREDIT ? c->credit + work : CREDIT; }

/* Work that is not done. */
static void earn(account *c, int64_t work)
{
    if (c->rests)
        return;
    c->earned += work;
    add_credit(c, work);
}

/* Work that is done, and nothing written down. */
static void make_up(account *c, int64_t work)
{
    add_credit(c, work / c->share);
    c->rests = c->rests && c->credit < CREDIT / 4;
}

/* For what was carried since. */
static void pay(hd_rf_automaton *a, uint64_t carried)
{
    account *c = &a->account;
    int64_t work = (int64_t)(a->states.carried - carried) + (int64_t)KEEP * a->members;
    c->spent += work;
    c->credit -= work;
    if (c->credit > 0 || a->forgets)
        return;
    c->share = c->earned >= c->spent ? SHARE : c->share < LEAST_SHARE ? 2 * c->share : LEAST_SHARE;
    c->earned = c->spent = 0;
    c->rests = true;
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

static bool has_room(const hd_rf_automaton *a)
{
    uint64_t bytes = hd_sequences_bytes(&a->states.numbers) + hd_sequences_bytes(&a->splits.numbers) +
                     a->united.count * sizeof *a->united.items + hd_rf_outcomes_bytes(&a->outcomes);
    return a->transitions.count < HD_RF_TRANSITIONS && a->states.numbers.ends.count < HD_RF_TRANSITIONS &&
           bytes < HD_RF_STATE_BYTES;
}

static hd_run_length *kept_meters(hd_rf_automaton *a, const follower *w)
{
    return a->meters.items + (size_t)(w - a->warps.items) * a->members * HD_RUN_LENGTHS;
}

static void lose(follower *w)
{
    w->known.state = w->latest = HD_NONE;
    hd_array_clear(&w->known.resting);
}

/* What the models know of the warp; it is not known where that cannot be written down, or is new and has no room. */
static void write_down(hd_rf_automaton *a, follower *w)
{
    if (!hd_rf_states_write(&a->states, w->living, &w->known, kept_meters(a, w), has_room(a)))
        lose(w);
}

static bool tell(hd_rf_automaton *a, const hd_rf_passage *p)
{
    return hd_rf_feeder_take(
        a->feeder,
        &(hd_event){.kind = p->kind, .cta = p->cta, .warp = p->warp, .frame = p->frame, .function = p->function});
}

/* Makes the models know the warp as its state has it. */
static void wake(hd_rf_automaton *a, follower *w)
{
    if (w->with_models)
        return;
    w->with_models = w->met = true;
    if (w->known.state == BEGIN)
        return;
    hd_rf_outcomes_put_aside(&a->outcomes);
    if (w->known.state == CAME)
        hd_rf_feeder_walk_switch(a->feeder, w->number, false);
    else
        hd_rf_states_take_up(&a->states, &w->known, w->living, kept_meters(a, w));
    hd_rf_outcomes_take_back(&a->outcomes);
}

/* ---- transitions ------------------------------------------------------------------------------------------------- */

static bool resumes(cause by) { return !(by >> END & 255) && (by & ((1 << WHERE) - 1)) == RESUMES; }

/* Says where they are in `united`. */
static uint32_t keep_unions(hd_rf_automaton *a, const hd_rf_classes *classes)
{
    uint32_t first = a->united.count;
    hd_rf_classes_unions(classes, &a->parts, hd_array_extend(&a->united, classes->count));
    return first;
}

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
    uint64_t hash = hash_of(w->known.state, by);
    for (uint32_t at = hd_index_first(&a->transition_numbers, hash); at != HD_INDEX_END;
         at = hd_index_next(&a->transition_numbers, hash, at)) {
        const transition *t = &a->transitions.items[a->transition_numbers.slots[at].number];
        if (t->from == w->known.state && t->by == by)
            return a->transition_numbers.slots[at].number;
    }
    return HD_NONE;
}

static void step_to(hd_rf_automaton *a, follower *w, uint32_t at)
{
    if (w->latest != HD_NONE)
        a->transitions.items[w->latest].follow = at;
    w->latest = at;
    w->known.state = a->transitions.items[at].to;
}

/* What becomes of the warp's frames and lanes. */
static void move_frames(hd_rf_automaton *a, follower *w, const hd_rf_passage *p, const transition *t)
{
    hd_rf_known *k = &w->known;
    if (resumes(t->by))
        (void)hd_array_pop(&k->resting);
    if (t->rests != HD_NONE) {
        hd_rf_resting part = {
            .number = t->rests, .top = hd_rf_resting_frames(k) + t->frames, .registers = hd_rf_resting_registers(k)};
        for (uint32_t f = part.top - t->frames; f < part.top; f++)
            part.registers += a->feeder->code->functions[k->frames.items[f].function]->storage.frame;
        hd_rf_classes_unite(&part.classes, &a->parts, a->united.items + t->rest_united, t->rest_classes);
        hd_array_push(&k->resting, part);
    }
    hd_rf_classes_unite(&k->classes, &a->parts, a->united.items + t->united, t->classes);
    hd_rf_known_follow(k, p);
}

/* false: see hd_rf_outcomes_share. */
static bool take_again(hd_rf_automaton *a, follower *w, const hd_rf_passage *p, uint32_t at)
{
    transition *t = &a->transitions.items[at];
    if (!t->times++)
        hd_array_push(&a->taken, at);
    hd_rf_outcomes_again(&a->outcomes, &t->outcome, kept_meters(a, w));
    move_frames(a, w, p, t);
    w->with_models = false;
    step_to(a, w, at);
    return !t->outcome.deed_count || hd_rf_outcomes_do_again(&a->outcomes, &t->outcome, w->living, p);
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* With the models. */
static bool walk(hd_rf_automaton *a, follower *w, const hd_rf_passage *p, cause by, uint32_t *at)
{
    hd_rf_known_follow(&w->known, p);
    if (by == LEAVES || by == COMES) {
        hd_rf_feeder_walk_switch(a->feeder, w->number, by == LEAVES);
    } else if (p->kind != HD_EVENT_ISSUE) {
        tell(a, p);
    } else if (!hd_rf_feeder_pass(a->feeder, p, at)) {
        return false;
    } else if (p->leaves) {
        hd_rf_feeder_walk_switch(a->feeder, w->number, true);
    }
    return true;
}

/* The last instruction, or, where the warp has left behind it, what is behind that. */
static uint32_t last_of(const hd_rf_passage *p) { return p->end ? p->end - !p->leaves : 0; }

/* The models forget the warp, whose end has been counted before. */
static void bury(hd_rf_automaton *a, const follower *w)
{
    if (!w->living || !w->living->alive)
        return;
    if (!w->met) {
        w->living->alive = false;
        return;
    }
    hd_rf_outcomes_put_aside(&a->outcomes);
    hd_rf_feeder_take(a->feeder, &(hd_event){.kind = HD_EVENT_WARP_END, .cta = w->cta, .warp = w->number});
    hd_rf_outcomes_take_back(&a->outcomes);
}

/* For tests: the models know nothing of the warp any more but its state. */
static void forget(hd_rf_automaton *a, follower *w)
{
    bury(a, w);
    hd_rf_outcomes_put_aside(&a->outcomes);
    hd_rf_feeder_start(a->feeder, w->living, w->cta, w->number);
    hd_rf_outcomes_take_back(&a->outcomes);
    w->with_models = false;
}

/* What the models have noted, behind a walk that was good, or not. false: *at is where one failed. */
static bool do_noted(hd_rf_automaton *a, const follower *w, const hd_rf_passage *p, bool walked, uint32_t *at)
{
    if (!w->living || hd_rf_outcomes_share(&a->outcomes, w->living, p))
        return walked;
    *at = walked ? last_of(p) : *at;
    return false;
}

static bool walk_only(hd_rf_automaton *a, follower *w, const hd_rf_passage *p, cause by, uint32_t *at)
{
    if (w->known.state != HD_NONE)
        wake(a, w);
    lose(w);
    make_up(&a->account, work_of(a, p));
    bool good = walk(a, w, p, by, at);
    return do_noted(a, w, p, good, at);
}

/* The state that it leads to, and what rests from then on. */
static void keep_end(hd_rf_automaton *a, follower *w, transition *t)
{
    if (t->from == BEGIN && t->by == COMES) {
        w->known.state = CAME;
    } else {
        if (resumes(t->by))
            (void)hd_array_pop(&w->known.resting);
        uint32_t parts = w->known.resting.count, frames = hd_rf_resting_frames(&w->known);
        write_down(a, w);
        if (w->known.resting.count > parts) {
            const hd_rf_resting *part = &hd_array_last(&w->known.resting);
            t->rests = part->number;
            t->frames = part->top - frames;
            t->rest_united = keep_unions(a, &part->classes);
            t->rest_classes = part->classes.count;
        }
    }
    t->to = w->known.state;
    if (t->to == HD_NONE)
        return;
    t->classes = w->known.classes.count;
    t->united = keep_unions(a, &w->known.classes);
}

/* Walks, and keeps what came of it. */
static bool learn(hd_rf_automaton *a, follower *w, const hd_rf_passage *p, cause by, uint32_t *at)
{
    uint64_t carried = a->states.carried;
    transition t = {.by = by, .from = w->known.state, .to = HD_NONE, .follow = HD_NONE, .rests = HD_NONE};
    wake(a, w);
    const hd_rf_living *living = w->living; /* its place stays as it is where the warp ends */
    hd_rf_outcomes_note(&a->outcomes, w->living, kept_meters(a, w));
    bool good = walk(a, w, p, by, at);
    hd_rf_outcomes_keep(&a->outcomes, living, kept_meters(a, w), &t.outcome);
    if (good && by != ENDS)
        keep_end(a, w, &t);
    good = do_noted(a, w, p, good, at);
    if (good && (t.to != HD_NONE || by == ENDS)) {
        hd_index_add(&a->transition_numbers, hash_of(t.from, t.by), a->transitions.count);
        hd_array_push(&a->transitions, t);
        step_to(a, w, a->transitions.count - 1);
    } else {
        lose(w);
    }
    if (a->forgets && w->known.state != HD_NONE)
        forget(a, w);
    pay(a, carried);
    return good;
}

/* How the stretch, or what does not rest any more, splits the warp's classes: of what it is the cause. 0: there is no
 * number for it. */
static cause split(hd_rf_automaton *a, const follower *w, const hd_rf_passage *p, cause by)
{
    const uint32_t *masks = p->stretch ? p->stretch->masks : NULL;
    uint32_t count = p->stretch ? p->stretch->mask_count : 0;
    if (resumes(by)) {
        masks = hd_array_last(&w->known.resting).classes.lanes;
        count = hd_array_last(&w->known.resting).classes.count;
    }
    uint32_t number = hd_rf_split(&a->splits, &w->known.classes, masks, count, &a->parts);
    return number < HD_RF_SPLITS ? by | (cause)number << SPLIT : 0;
}

/* ... with where it happens. 0: it is nothing that is looked up. */
static cause place_cause(const follower *w, const hd_rf_passage *p, cause by)
{
    uint32_t resting = hd_rf_resting_frames(&w->known), depth;
    if (by == ENDS)
        return resting ? 0 : by; /* what rests ends, too */
    if (by == LEAVES || by == COMES)
        return by;
    depth = hd_rf_known_tops(&w->known, p->frame) ? w->known.frames.count - 1 : hd_rf_known_depth(&w->known, p->frame);
    if (depth >= resting && depth - resting < HD_SNAPSHOT_FRAMES)
        return by | (cause)(depth - resting) << (by == RETURNS ? WHERE : FRAME);
    return by == RETURNS && depth + 1 == resting ? RESUMES | (cause)hd_array_last(&w->known.resting).number << WHERE
                                                 : 0;
}

static bool take(hd_rf_automaton *a, follower *w, const hd_rf_passage *p, cause by, uint32_t *at)
{
    cause where = by;
    if (!by || w->known.frames.count > HD_RF_FRAMES || a->feeder->failed)
        return walk_only(a, w, p, by, at);
    if (w->known.state == HD_NONE && !a->account.rests) {
        uint64_t carried = a->states.carried;
        write_down(a, w);
        pay(a, carried);
    }
    if (w->known.state != HD_NONE) {
        where = place_cause(w, p, by);
        where = where ? split(a, w, p, where) : 0;
    }
    if (w->known.state == HD_NONE || !where)
        return walk_only(a, w, p, by, at);
    by = where;
    uint32_t known = a->forgets ? HD_NONE : find_transition(a, w, by);
    if (known == HD_NONE)
        return !a->account.rests && has_room(a) ? learn(a, w, p, by, at) : walk_only(a, w, p, by, at);
    earn(&a->account, work_of(a, p));
    *at = last_of(p);
    return take_again(a, w, p, known);
}

/* 0: it has no number. */
static cause cause_of(const hd_rf_automaton *a, const hd_rf_passage *p)
{
    uint32_t number = a->feeder->columns & HD_COLUMN_WIDTHS ? p->stretch->text : p->stretch->shape;
    return number == HD_NONE ? 0 : number | (cause)p->from << FROM | (cause)p->end << END | (cause)p->leaves << LEFT;
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
        (void)hd_array_extend(&a->meters, a->members * HD_RUN_LENGTHS);
    }
    follower *w = &a->warps.items[at];
    lose(w);
    hd_array_clear(&w->known.frames);
    *w = (follower){.alive = true, .number = p->warp, .cta = p->cta, .known = w->known, .latest = HD_NONE};
    w->known.state = BEGIN;
    hd_rf_classes_whole(&w->known.classes);
    memset(kept_meters(a, w), 0, a->members * HD_RUN_LENGTHS * sizeof(hd_run_length));
    hd_rf_feeder_take(a->feeder, &(hd_event){.kind = HD_EVENT_WARP_START, .cta = p->cta, .warp = p->warp});
    w->living = hd_rf_feeder_warp(a->feeder, p->warp);
}

static bool take_any(void *memo, const hd_rf_passage *p, uint32_t *at)
{
    hd_rf_automaton *a = memo;
    follower *w = NULL;
    *at = 0;
    switch ((hd_event_kind)p->kind) {
    case HD_EVENT_LAUNCH:
        for (uint32_t i = 0; i < a->warps.count; i++)
            a->warps.items[i].alive = false;
        return tell(a, p);
    case HD_EVENT_WARP_START: start_warp(a, p); return true;
    case HD_EVENT_ISSUE:
        w = find_warp(a, p->warp);
        if (!w)
            return true; /* begun before this was attached */
        return take(a, w, p, cause_of(a, p), at);
    case HD_EVENT_RETURN:
        w = find_warp(a, p->warp);
        if (!w || hd_rf_known_tops(&w->known, p->frame) ||
            hd_rf_known_depth(&w->known, p->frame) == w->known.frames.count)
            return true; /* what it returns from has not begun */
        return take(a, w, p, RETURNS, at);
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
    case HD_EVENT_LAUNCH_END: return tell(a, p);
    }
    return true;
}

static void warp_switch(void *memo, uint32_t warp, bool leaves)
{
    hd_rf_automaton *a = memo;
    follower *w = find_warp(a, warp);
    uint32_t at = 0;
    if (!w)
        return;
    hd_rf_passage passage = {.cta = w->cta, .warp = warp};
    take(a, w, &passage, leaves ? LEAVES : COMES, &at);
}

static void finalize(void *memo)
{
    hd_rf_automaton *a = memo;
    for (uint32_t i = 0; i < a->taken.count; i++) {
        transition *t = &a->transitions.items[a->taken.items[i]];
        hd_rf_outcomes_count(&a->outcomes, &t->outcome, t->times);
        t->times = 0;
    }
    hd_array_clear(&a->taken);
}

const hd_runner_memo hd_rf_automaton_memo = {takes, attach, detach, take_any, warp_switch, finalize};
