/* Stretches of warps: see segment.h. */
#include "hwmodel/count/segment.h"
#include "base/index.h"
#include "base/sequences.h"

enum {
    /* words before the parts, and of each of these: see key_of */
    HEAD = 3,
    PART = sizeof(hd_stretch_part) / sizeof(uint32_t),
    TOLD = 1, /* in the second of them: widths follow */
};

typedef struct kept kept;

typedef struct text {
    hd_rf_stretch stretch; /* what those that have it are, but for number and masks */
    uint32_t key[];
} text;

typedef struct seen { /* of a text: what changes, while other threads read the text */
    text *text;       /* NULL: no stretch has it */
    kept *latest;     /* that ended */
    uint32_t follow;  /* of the stretch that ended behind one that has it, the last time; HD_NONE */
} seen;

struct kept {
    hd_rf_stretch stretch; /* first */
    uint32_t words;        /* of its own text behind the masks; 0: it is elsewhere */
    uint32_t masks[];
};

struct hd_rf_stretches {
    const hd_rf_module *code;
    hd_arena arena;
    HD_ARRAY(kept *) all;
    hd_rf_loose loose; /* not handed over yet */
    hd_index numbers;  /* by text and masks */
    hd_sequences text_numbers;
    HD_ARRAY(seen) texts; /* by number */
    uint32_t latest;      /* of the stretch that ended; HD_NONE */
    hd_stretch open;      /* of single events; without a part: none */
    hd_u32_array key;
};

hd_rf_stretches *hd_rf_stretches_new(const hd_rf_module *code)
{
    hd_rf_stretches *s = hd_calloc(1, sizeof *s);
    s->code = code;
    s->latest = HD_NONE;
    return s;
}

void hd_rf_loose_forget(hd_rf_loose *loose)
{
    for (uint32_t i = 0; i < loose->count; i++)
        free(loose->items[i]);
    hd_array_clear(loose);
}

void hd_rf_stretches_hand_over(hd_rf_stretches *s, hd_rf_loose *to)
{
    hd_rf_loose empty = *to;
    *to = s->loose;
    s->loose = empty;
}

void hd_rf_stretches_free(hd_rf_stretches *s)
{
    if (!s)
        return;
    hd_rf_loose_forget(&s->loose);
    hd_array_free(&s->loose);
    hd_array_free(&s->all);
    hd_array_free(&s->texts);
    hd_array_free(&s->key);
    hd_arena_free(&s->arena);
    hd_index_free(&s->numbers);
    hd_sequences_free(&s->text_numbers);
    free(s);
}

/* ---- single events ----------------------------------------------------------------------------------------------- */

static bool is_straight(const hd_stretch *o, const hd_event *e)
{
    return e->instruction == o->next && e->active == o->active;
}

bool hd_rf_stretches_goes_on(const hd_rf_stretches *s, const hd_event *e)
{
    const hd_stretch *o = &s->open;
    return o->part_count && e->warp == o->going && e->frame == o->frame && e->function == o->function &&
           (is_straight(o, e) || hd_stretch_turns(o, e->instruction));
}

void hd_rf_stretches_add(hd_rf_stretches *s, const hd_event *e)
{
    hd_stretch *o = &s->open;
    if (!o->part_count)
        hd_stretch_begin(o, e);
    if (!is_straight(o, e))
        hd_stretch_turn(o, e->instruction, e->active);
    if (e->widths) {
        memcpy(o->widths + o->width_words, e->widths, e->width_words * sizeof *e->widths);
        o->width_words += e->width_words;
    }
    hd_stretch_add(o, e->effective, s->code->functions[e->function]->traits[e->instruction] & HD_RF_BARRIER);
}

bool hd_rf_stretches_end(hd_rf_stretches *s, hd_rf_passage *passage)
{
    if (!s->open.part_count)
        return false;
    s->open.count = hd_stretch_length(&s->open);
    *passage = hd_rf_stretches_find(s, &s->open);
    s->open.part_count = 0;
    return true;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static uint32_t flags_of(const hd_stretch *o)
{
    return o->part_count << 16 | o->count << 2 | (o->width_words ? TOLD : 0);
}

static uint32_t words_of(size_t bytes) { return (uint32_t)((bytes + 3) / 4); }

static bool is_text(const text *t, const hd_stretch *o)
{
    const hd_rf_stretch *s = &t->stretch;
    return t->key[0] == o->function && t->key[1] == flags_of(o) && t->key[2] == o->width_words &&
           !memcmp(s->effective, o->effective, o->count * sizeof *o->effective) &&
           !memcmp(s->parts, o->parts, o->part_count * sizeof *o->parts) &&
           (!o->width_words || !memcmp(s->widths, o->widths, o->width_words * sizeof *o->widths));
}

static void add_bytes(hd_u32_array *key, const void *from, size_t bytes)
{
    if (!bytes)
        return;
    uint32_t *words = hd_array_extend(key, words_of(bytes));
    words[words_of(bytes) - 1] = 0;
    memcpy(words, from, bytes);
}

/* Head, parts, effective lanes and widths: all of them begin with a word. */
static void key_of(hd_rf_stretches *s, const hd_stretch *o)
{
    const uint32_t head[HEAD] = {o->function, flags_of(o), o->width_words};
    hd_array_clear(&s->key);
    add_bytes(&s->key, head, sizeof head);
    add_bytes(&s->key, o->parts, o->part_count * sizeof *o->parts);
    add_bytes(&s->key, o->effective, o->count * sizeof *o->effective);
    add_bytes(&s->key, o->widths, o->width_words * sizeof *o->widths);
}

static bool has_room(const hd_rf_stretches *s, size_t bytes)
{
    return s->all.count < HD_RF_STRETCHES &&
           s->arena.reserved_bytes + hd_sequences_bytes(&s->text_numbers) + bytes <= HD_RF_STRETCH_BYTES;
}

static void point_into_key(hd_rf_stretch *stretch, const uint32_t *key)
{
    const uint32_t *effective = key + HEAD + stretch->part_count * PART;
    stretch->parts = (const hd_stretch_part *)(const void *)(key + HEAD);
    stretch->effective = (const uint8_t *)effective;
    stretch->widths = key[1] & TOLD ? (const hd_width *)(effective + words_of(stretch->count)) : NULL;
}

/* Of a stretch whose key is `key`, without numbers and masks. */
static hd_rf_stretch facts_of(const hd_rf_stretches *s, const hd_stretch *o, const uint32_t *key)
{
    const hd_rf_code *code = s->code->functions[o->function];
    hd_rf_stretch stretch = {.number = HD_NONE,
                             .text = HD_NONE,
                             .shape = HD_NONE,
                             .function = o->function,
                             .count = o->count,
                             .part_count = o->part_count,
                             .barrier = o->barrier};
    for (uint32_t i = 0; i < o->count; i++) {
        const hd_stretch_part *part = hd_stretch_part_at(o->parts, o->part_count, i);
        uint32_t instruction = part->first + (i - part->at);
        bool long_load = o->effective[i] && code->traits[instruction] & HD_RF_LONG;
        stretch.loads |= (uint64_t)long_load << i;
        stretch.touches |= code->touches[instruction];
    }
    point_into_key(&stretch, key);
    return stretch;
}

/* Of the same without widths; changes the key. */
static uint32_t shape_of(hd_rf_stretches *s, const hd_stretch *o)
{
    s->key.items[1] &= ~(uint32_t)TOLD;
    s->key.items[2] = 0;
    return hd_sequences_number(&s->text_numbers, s->key.items, HEAD + o->part_count * PART + words_of(o->count),
                               2 * HD_RF_STRETCHES);
}

/* Its key is s->key. */
static void add_text(hd_rf_stretches *s, const hd_stretch *o, uint32_t number)
{
    text *t = hd_arena_alloc(&s->arena, sizeof *t + s->key.count * sizeof *t->key);
    memcpy(t->key, s->key.items, s->key.count * sizeof *t->key);
    t->stretch = facts_of(s, o, t->key);
    t->stretch.text = t->stretch.shape = number;
    if (o->width_words)
        t->stretch.shape = shape_of(s, o);
    for (uint32_t k = s->texts.count; k < s->text_numbers.ends.count; k++)
        hd_array_push(&s->texts, (seen){.follow = HD_NONE});
    s->texts.items[number].text = t;
}

/* HD_NONE: it is not known, and there is no room. Sets the key, unless it is the text that is expected. */
static uint32_t find_text(hd_rf_stretches *s, const hd_stretch *o)
{
    uint32_t follow = s->latest == HD_NONE ? HD_NONE : s->texts.items[s->latest].follow;
    if (follow != HD_NONE && is_text(s->texts.items[follow].text, o))
        return follow;
    key_of(s, o);
    bool room = has_room(s, sizeof(text) + sizeof(kept) + 3 * s->key.count * sizeof *s->key.items);
    uint32_t number = hd_sequences_number(&s->text_numbers, s->key.items, s->key.count, room ? 2 * HD_RF_STRETCHES : 0);
    if (number != HD_NONE && !(number < s->texts.count && s->texts.items[number].text))
        add_text(s, o, number);
    return number;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static bool has_masks(const kept *k, const hd_stretch *o)
{
    uint32_t other = (k->stretch.mask_count + 1) ^ o->mask_count;
    for (uint32_t i = 1; i < o->mask_count && !other; i++)
        other = k->masks[i - 1] ^ o->masks[i];
    return !other;
}

static uint64_t hash_of(const text *t, const hd_stretch *o)
{
    uint64_t hash = t->stretch.text;
    for (uint32_t i = 1; i < o->mask_count; i++) {
        hash = (hash ^ o->masks[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

/* NULL: not known yet. */
static kept *find_known(const hd_rf_stretches *s, const text *t, const hd_stretch *o, uint64_t hash)
{
    for (uint32_t at = hd_index_first(&s->numbers, hash); at != HD_INDEX_END;
         at = hd_index_next(&s->numbers, hash, at)) {
        kept *k = s->all.items[s->numbers.slots[at].number];
        if (k->stretch.text == t->stretch.text && has_masks(k, o))
            return k;
    }
    return NULL;
}

static size_t bytes_of(uint32_t masks, uint32_t words)
{
    return sizeof(kept) + ((size_t)masks + words) * sizeof(uint32_t);
}

static void put_masks(kept *k, const hd_stretch *o)
{
    k->stretch.masks = k->masks;
    k->stretch.mask_count = o->mask_count - 1;
    memcpy(k->masks, o->masks + 1, k->stretch.mask_count * sizeof *k->masks);
}

static kept *keep(hd_rf_stretches *s, text *t, const hd_stretch *o, uint64_t hash)
{
    kept *k = hd_arena_alloc(&s->arena, bytes_of(o->mask_count - 1, 0));
    k->stretch = t->stretch;
    k->stretch.number = s->all.count;
    k->words = 0;
    put_masks(k, o);
    hd_index_add(&s->numbers, hash, s->all.count);
    hd_array_push(&s->all, k);
    return k;
}

/* With all that it is. */
static kept *keep_loose(hd_rf_stretches *s, const hd_stretch *o)
{
    key_of(s, o);
    kept *k = hd_malloc(bytes_of(o->mask_count - 1, s->key.count));
    k->words = s->key.count;
    memcpy(k->masks + o->mask_count - 1, s->key.items, k->words * sizeof *k->masks);
    k->stretch = facts_of(s, o, k->masks + o->mask_count - 1);
    put_masks(k, o);
    hd_array_push(&s->loose, &k->stretch);
    return k;
}

static kept *find_kept(hd_rf_stretches *s, const hd_stretch *o)
{
    uint32_t number = find_text(s, o);
    if (number == HD_NONE)
        return keep_loose(s, o);
    if (s->latest != HD_NONE)
        s->texts.items[s->latest].follow = number;
    s->latest = number;
    seen *of = &s->texts.items[number];
    if (of->latest && has_masks(of->latest, o))
        return of->latest;
    uint64_t hash = hash_of(of->text, o);
    kept *k = find_known(s, of->text, o, hash);
    if (!k && !has_room(s, bytes_of(o->mask_count, 0)))
        return keep_loose(s, o);
    return of->latest = k ? k : keep(s, of->text, o, hash);
}

hd_rf_passage hd_rf_stretches_find(hd_rf_stretches *s, const hd_stretch *o)
{
    const kept *k = find_kept(s, o);
    return (hd_rf_passage){.kind = HD_EVENT_ISSUE,
                           .end = (uint8_t)o->count,
                           .cta = o->cta,
                           .warp = o->warp,
                           .frame = o->frame,
                           .function = o->function,
                           .stretch = &k->stretch};
}

/* ---- what is in one ---------------------------------------------------------------------------------------------- */

hd_event hd_rf_passage_event(const hd_rf_passage *p, uint32_t i)
{
    const hd_rf_stretch *s = p->stretch;
    const hd_stretch_part *part = hd_stretch_part_at(s->parts, s->part_count, i);
    return (hd_event){.kind = HD_EVENT_ISSUE,
                      .cta = p->cta,
                      .warp = p->warp,
                      .frame = p->frame,
                      .function = s->function,
                      .instruction = part->first + (i - part->at),
                      .active = hd_rf_stretch_mask(s, part->active),
                      .effective = hd_rf_stretch_mask(s, s->effective[i])};
}

const hd_width *hd_rf_stretch_widths(const hd_rf_stretch *s, const hd_rf_module *code, uint32_t i)
{
    const uint32_t *first = code->functions[s->function]->destination_first;
    const hd_width *widths = s->widths;
    for (uint32_t k = 0; widths && k < i; k++)
        if (s->effective[k])
            widths += first[hd_rf_stretch_instruction(s, k) + 1] - first[hd_rf_stretch_instruction(s, k)];
    return widths;
}

hd_rf_stretch *hd_rf_stretch_copy(const hd_rf_stretch *stretch, size_t *bytes)
{
    const kept *from = (const kept *)(const void *)stretch;
    size_t size = bytes_of(stretch->mask_count, from->words);
    kept *copy = hd_malloc(size);
    memcpy(copy, from, size);
    copy->stretch.masks = copy->masks;
    if (from->words)
        point_into_key(&copy->stretch, copy->masks + stretch->mask_count);
    *bytes += size;
    return &copy->stretch;
}
