/* States and transitions of one model: see memo.h. */
#include "hwmodel/count/memo/memo.h"
#include "base/sequences.h"
#include "hwmodel/count/memo/classes.h"
#include "hwmodel/count/memo/effects.h"
#include <assert.h>

enum { STATE_BEGUN, STATE_ACTIVE /* a warp without frames; that has come to take turns, too */ };
enum { SPLIT_NOTHING, SPLITS = 1 << 16 };

typedef struct transition {
    uint64_t by;
    uint32_t from, to; /* states */
    uint32_t effects, effect_count;
    uint32_t unions, class_count; /* the classes of `to`: the parts that each consists of, in memo.unions */
} transition;

typedef struct known_warp {  /* by slot */
    uint32_t state;          /* HD_NONE: it is not known */
    bool current;            /* the model knows the warp as it is now */
    hd_lane_classes classes; /* of the state */
} known_warp;

typedef struct memo {
    hd_walk *walk;
    hd_effect_recorder recorder;
    HD_ARRAY(known_warp) warps;
    hd_sequences states;
    hd_u32_array words, masks; /* of the snapshot in progress */
    hd_sequences splits;       /* how masks to come split classes */
    hd_u32_array split, unions;
    HD_ARRAY(transition) transitions;
    hd_index numbers; /* of transitions, by `from` and `by` */
    hd_effects effects;
} memo;

static bool applies(const hd_rf_model *model)
{
    const hd_rf_ops *ops = model->info->ops;
    bool repeats = !(ops->columns & ~(uint32_t)HD_COLUMN_WIDTHS) && !ops->rank_warp && !ops->idle_slot;
    return ops->memo && ops->memo->snapshot && repeats && !model->memo.unusable && !model->fault;
}

static void *create(hd_walk *walk)
{
    memo *m = hd_calloc(1, sizeof *m);
    m->walk = walk;
    m->recorder.model = walk->model;
    hd_sequences_number(&m->states, NULL, 0, 1); /* shorter than all others */
    hd_sequences_number(&m->states, (const uint32_t[]){0}, 1, 2);
    hd_sequences_number(&m->splits, (const uint32_t[]){1, 1}, 2, 1); /* one class and mask: SPLIT_NOTHING */
    return m;
}

static void destroy(void *context)
{
    memo *m = context;
    hd_array_free(&m->recorder.log);
    hd_array_free(&m->warps);
    hd_sequences_free(&m->states);
    hd_array_free(&m->words);
    hd_array_free(&m->masks);
    hd_sequences_free(&m->splits);
    hd_array_free(&m->split);
    hd_array_free(&m->unions);
    hd_array_free(&m->transitions);
    hd_index_free(&m->numbers);
    hd_array_free(&m->effects);
    free(m);
}

static void begin_warp(void *context, hd_walk_warp *slot)
{
    memo *m = context;
    while (m->warps.count <= slot->warp.slot)
        hd_array_push(&m->warps, (known_warp){0});
    m->warps.items[slot->warp.slot] = (known_warp){STATE_BEGUN, true, hd_lane_classes_whole()};
}

static bool has_room(const memo *m)
{
    return m->transitions.count < HD_MEMO_TRANSITIONS && m->states.ends.count < HD_MEMO_TRANSITIONS &&
           hd_sequences_bytes(&m->states) + hd_sequences_bytes(&m->splits) + m->effects.count * sizeof(hd_effect) +
                   m->unions.count * sizeof(uint32_t) <
               HD_MEMO_BYTES;
}

/* ---- snapshots --------------------------------------------------------------------------------------------------- */

/* Lanes that were written at all. */
static void pass_identity(hd_snapshot *c, hd_identity_warp *identity)
{
    for (uint32_t i = 0; i < c->end; i++) {
        hd_identity_register *r = &identity->registers.items[i];
        uint32_t ever = hd_snapshot_lanes(c, r->ever);
        if (!c->out)
            *r = (hd_identity_register){.current = ever ? identity->serial : 0, .newest = ever, .ever = ever};
    }
}

static void pass_warp(memo *m, hd_walk_warp *w, hd_snapshot *c)
{
    hd_rf_model *model = m->walk->model;
    hd_run_length *lengths = hd_memo_lengths(model, &w->warp);
    for (uint32_t f = 0; f < w->functions.count; f++)
        hd_snapshot_word(c, w->functions.items[f]);
    pass_identity(c, &w->warp.identity);
    for (uint32_t k = 0; lengths && k < HD_RUN_LENGTHS; k++)
        hd_snapshot_word(c, lengths[k].length != 0);
    model->info->ops->memo->snapshot(model, &w->warp, c);
}

static hd_snapshot snapshot_of(memo *m, hd_walk_warp *w, bool out)
{
    hd_array_clear(&m->words);
    hd_array_clear(&m->masks);
    return (hd_snapshot){.out = out,
                         .end = w->warp.identity.registers.count,
                         .words = &m->words,
                         .masks = &m->masks,
                         .identity = &w->warp.identity};
}

/* The masks of the snapshot become sets of their classes. */
static hd_lane_classes classify_masks(memo *m)
{
    hd_lane_classes classes = hd_lane_classes_whole();
    for (uint32_t i = 0; i < m->masks.count; i++)
        hd_lane_classes_split(&classes, m->words.items[m->masks.items[i]]);
    for (uint32_t i = 0; i < m->masks.count; i++) {
        uint32_t *word = &m->words.items[m->masks.items[i]];
        *word = hd_lane_classes_set(&classes, *word);
    }
    return classes;
}

/* The state that the warp is in; HD_NONE: there is no snapshot of it. */
static void take_snapshot(memo *m, hd_walk_warp *w, known_warp *known)
{
    uint32_t frames = w->functions.count;
    known->state = HD_NONE;
    known->current = true;
    if (!frames || frames > HD_SNAPSHOT_FRAMES || w->warp.identity.registers.count >> HD_SNAPSHOT_INDEX_BITS)
        return;
    hd_snapshot c = snapshot_of(m, w, true);
    hd_snapshot_word(&c, frames);
    pass_warp(m, w, &c);
    known->classes = classify_masks(m);
    if (!c.unfit)
        known->state = hd_sequences_number(&m->states, m->words.items, m->words.count, HD_NONE);
}

/* The model knows the warp as its state has it. */
static void restore_state(memo *m, hd_walk_warp *w, known_warp *known)
{
    hd_identity_warp *identity = &w->warp.identity;
    if (known->current)
        return;
    known->current = true;
    hd_effects_silence(&m->recorder);
    if (known->state == STATE_ACTIVE) {
        uint32_t at;
        hd_walk_through(m->walk, w, &(hd_warp_event){.kind = HD_WARP_ACTIVE, .warp = w->number}, &at);
    } else if (known->state != STATE_BEGUN) {
        uint32_t count;
        const uint32_t *words = hd_sequences_words(&m->states, known->state, &count);
        hd_snapshot c = snapshot_of(m, w, false);
        memcpy(hd_array_extend(&m->words, count), words, count * sizeof *words);
        c.at = 1;
        c.class_lanes = known->classes.lanes;
        identity->serial = 1;
        hd_array_clear(&identity->history);
        for (uint32_t f = 0; f < identity->frames.count; f++)
            identity->frames.items[f].history_count = 0;
        pass_warp(m, w, &c);
    }
    hd_effects_resume(&m->recorder);
}

/* For tests: the model knows nothing of the warp any more but its state. */
static void forget_state(memo *m, hd_walk_warp *w, known_warp *known)
{
    hd_run_length *lengths = hd_memo_lengths(m->walk->model, &w->warp), kept[HD_RUN_LENGTHS];
    if (lengths)
        memcpy(kept, lengths, sizeof kept);
    hd_effects_silence(&m->recorder);
    hd_walk_restart(m->walk, w);
    hd_effects_resume(&m->recorder);
    if (lengths)
        memcpy(lengths, kept, sizeof kept);
    known->current = false;
}

/* ---- transitions ------------------------------------------------------------------------------------------------- */

/* The indices of the masks that the event's instructions have, which are not 0: [*first, *end) at most. */
static void find_masks(const hd_warp_event *e, uint32_t *first, uint32_t *end)
{
    const hd_segment *s = e->segment;
    bool whole = !e->from && e->end == s->count;
    *first = whole ? 1 : s->mask_count;
    *end = whole ? s->mask_count : 0;
    const hd_segment_part *part = hd_segment_part_at(s->parts, s->part_count, e->from),
                          *last = s->parts + s->part_count;
    for (; !whole && part < last && part->at < e->end; part++) {
        *first = part->active < *first ? part->active : *first;
        *end = part->active >= *end ? part->active + 1 : *end;
    }
    for (uint32_t i = e->from; !whole && i < e->end; i++) {
        *first = s->effective[i] && s->effective[i] < *first ? s->effective[i] : *first;
        *end = s->effective[i] >= *end ? s->effective[i] + 1u : *end;
    }
}

/* The parts into which the event's masks split the classes, and the number of how they do; HD_NONE: there are no more
 * numbers. */
static uint32_t split_classes(memo *m, const hd_warp_event *e, const hd_lane_classes *classes, hd_lane_classes *parts)
{
    uint32_t first, end, firsts = 0;
    hd_lane_classes_copy(parts, classes);
    if (e->segment->full && classes->count == 1)
        return SPLIT_NOTHING;
    find_masks(e, &first, &end);
    const uint32_t *masks = e->segment->masks;
    for (uint32_t k = first; k < end; k++)
        hd_lane_classes_split(parts, masks[k]);
    for (uint32_t k = 0, of = 0; of < classes->count; k++)
        if (parts->lanes[k] & classes->lanes[of]) {
            firsts |= 1u << k; /* the first part of its class */
            of++;
        }
    hd_array_clear(&m->split);
    hd_array_push(&m->split, firsts);
    for (uint32_t k = first; k < end; k++)
        hd_array_push(&m->split, hd_lane_classes_set(parts, masks[k]));
    return hd_sequences_number(&m->splits, m->split.items, m->split.count, SPLITS);
}

/* What a transition is made by, in 64 bits; 0: the event is not looked up. */
static uint64_t cause_of(memo *m, const hd_walk_warp *w, const known_warp *known, const hd_warp_event *e,
                         hd_lane_classes *parts)
{
    enum { DEPTH = 3, FROM = 8, END = 16, SEGMENT = 24, SPLIT = 44 };
    const hd_identity_warp *identity = &w->warp.identity;
    uint64_t cause = 1 + e->kind, depth = 0;
    if (identity->frames.count > HD_SNAPSHOT_FRAMES)
        return 0;
    if (e->kind == HD_WARP_ISSUES || e->kind == HD_WARP_RETURNS)
        while (depth < identity->frames.count && identity->frames.items[depth].frame != e->frame)
            depth++;
    cause |= depth << DEPTH;
    if (e->kind != HD_WARP_ISSUES) {
        hd_lane_classes_copy(parts, &known->classes);
        return cause;
    }
    bool widths = m->walk->model->info->ops->columns & HD_COLUMN_WIDTHS;
    uint32_t number = widths ? e->segment->wide_shape : e->segment->shape;
    uint32_t split = number == HD_NONE ? HD_NONE : split_classes(m, e, &known->classes, parts);
    return split == HD_NONE ? 0
                            : cause | (uint64_t)e->from << FROM | (uint64_t)e->end << END |
                                  (uint64_t)number << SEGMENT | (uint64_t)split << SPLIT;
}

static uint64_t hash_of(uint32_t from, uint64_t by)
{
    uint64_t mixed = (by ^ (uint64_t)from * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;
    return mixed ^ mixed >> 32;
}

static const transition *find_transition(const memo *m, uint32_t from, uint64_t by)
{
    uint64_t hash = hash_of(from, by);
    for (uint32_t at = hd_index_first(&m->numbers, hash); at != HD_INDEX_END;
         at = hd_index_next(&m->numbers, hash, at)) {
        const transition *t = &m->transitions.items[m->numbers.slots[at].number];
        if (t->from == from && t->by == by)
            return t;
    }
    return NULL;
}

static bool walk_only(memo *m, hd_walk_warp *w, known_warp *known, const hd_warp_event *e, uint32_t *at)
{
    if (known->state != HD_NONE)
        restore_state(m, w, known);
    known->state = HD_NONE;
    return hd_walk_through(m->walk, w, e, at);
}

/* The classes of the warp's new state, each of which consists of some of the parts. */
static void add_unions(memo *m, transition *t, const hd_lane_classes *parts, const hd_lane_classes *classes)
{
    t->unions = m->unions.count;
    t->class_count = classes->count;
    for (uint32_t k = 0; k < classes->count; k++) {
        hd_array_push(&m->unions, hd_lane_classes_set(parts, classes->lanes[k]));
        assert(hd_lane_classes_mask(parts, hd_array_last(&m->unions)) == classes->lanes[k]);
    }
}

static void unite_parts(const memo *m, const transition *t, const hd_lane_classes *parts, hd_lane_classes *classes)
{
    classes->count = t->class_count;
    if (t->class_count == 1)
        classes->lanes[0] = UINT32_MAX;
    for (uint32_t k = 0; t->class_count > 1 && k < t->class_count; k++)
        classes->lanes[k] = hd_lane_classes_mask(parts, m->unions.items[t->unions + k]);
}

/* Walks, and keeps the effects. */
static bool walk_and_record(memo *m, hd_walk_warp *w, known_warp *known, const hd_warp_event *e, uint64_t by,
                            const hd_lane_classes *parts, uint32_t *at)
{
    transition t = {.by = by, .from = known->state, .effects = m->effects.count};
    restore_state(m, w, known);
    hd_effects_begin(&m->recorder, &w->warp);
    bool good = hd_walk_through(m->walk, w, e, at);
    hd_effects_end(&m->recorder, &w->warp, &m->effects);
    if (!good)
        return false;
    bool ends = e->kind == HD_WARP_ENDS, begins = t.from == STATE_BEGUN && e->kind == HD_WARP_ACTIVE;
    t.effect_count = m->effects.count - t.effects;
    if (begins)
        known->state = STATE_ACTIVE;
    else if (ends)
        known->state = HD_NONE;
    else
        take_snapshot(m, w, known);
    t.to = known->state;
    if (t.to == HD_NONE && !ends) {
        m->effects.count = t.effects;
        return true;
    }
    add_unions(m, &t, parts, &known->classes);
    hd_index_add(&m->numbers, hash_of(t.from, t.by), m->transitions.count);
    hd_array_push(&m->transitions, t);
    if (m->walk->model->memo.forgets && !ends)
        forget_state(m, w, known);
    return true;
}

/* The warp's frames begin and end all the same. */
static void follow_frames(memo *m, hd_walk_warp *w, const hd_warp_event *e)
{
    const hd_identity_warp *identity = &w->warp.identity;
    bool issues = e->kind == HD_WARP_ISSUES;
    uint32_t at;
    if (issues ? identity->frames.count && identity->frame == e->frame
               : e->kind != HD_WARP_RETURNS && e->kind != HD_WARP_ENDS)
        return;
    hd_effects_silence(&m->recorder);
    if (issues)
        hd_walk_enter(m->walk, w, e);
    else
        hd_walk_through(m->walk, w, e, &at);
    hd_effects_resume(&m->recorder);
}

static bool replay_transition(memo *m, hd_walk_warp *w, known_warp *known, const hd_warp_event *e, const transition *t,
                              const hd_lane_classes *parts, uint32_t *at)
{
    hd_walk *r = m->walk;
    uint32_t word;
    follow_frames(m, w, e);
    known->state = t->to;
    known->current = false;
    unite_parts(m, t, parts, &known->classes);
    hd_rf_wrong wrong =
        hd_effects_replay(r->model, &w->warp, hd_array_at(&m->effects, t->effects), t->effect_count, &word);
    if (wrong == HD_RF_PROVED)
        return true;
    *at = e->segment ? e->end - 1u : 0;
    r->failure = (hd_rf_failure){.wrong = wrong,
                                 .warp = w->number,
                                 .cta = w->warp.cta,
                                 .function = e->segment ? e->segment->function : w->warp.function,
                                 .instruction = e->segment ? hd_segment_instruction(e->segment, *at) : 0,
                                 .word = word};
    return false;
}

static bool take_event(void *context, hd_walk_warp *w, const hd_warp_event *e, uint32_t *at)
{
    memo *m = context;
    known_warp *known = &m->warps.items[w->warp.slot];
    hd_lane_classes parts;
    if (known->state == HD_NONE && has_room(m))
        take_snapshot(m, w, known);
    uint64_t by = known->state == HD_NONE ? 0 : cause_of(m, w, known, e, &parts);
    if (!by)
        return walk_only(m, w, known, e, at);
    const transition *t = m->walk->model->memo.forgets ? NULL : find_transition(m, known->state, by);
    if (t)
        return replay_transition(m, w, known, e, t, &parts, at);
    return has_room(m) ? walk_and_record(m, w, known, e, by, &parts, at) : walk_only(m, w, known, e, at);
}

const hd_walk_memo hd_memo = {applies, create, destroy, begin_warp, take_event};
