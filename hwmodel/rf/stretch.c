/* Stretches of warps: see stretch.h. */
#include "hwmodel/rf/stretch.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/sequences.h"

enum {
    KEY = 3, PART = sizeof(hd_stretch_part) / sizeof(uint32_t), /* words before the parts, and of each of these: see contents_of */
    TOLD = 1, GUARDED = 2, /* in the second of them: widths and effective lanes follow */
};

typedef struct kept {
    hd_rf_stretch stretch; /* first */
    uint32_t words, follow; /* of the key; the number of the stretch that ended behind it last */
    uint32_t key[];         /* behind it the masks */
} kept;

struct hd_rf_stretches {
    const hd_rf_module *code;
    hd_arena arena;
    HD_ARRAY(kept *) all;
    HD_ARRAY(kept *) loose; /* without a number */
    hd_index numbers;
    hd_sequences texts;
    kept *latest;           /* that ended, and has a number */
    hd_stretch open;        /* of single events; without a part: none */
    hd_u32_array key, masks;
};

hd_rf_stretches *hd_rf_stretches_new(const hd_rf_module *code)
{
    hd_rf_stretches *s = hd_calloc(1, sizeof *s);
    s->code = code;
    return s;
}

void hd_rf_stretches_forget(hd_rf_stretches *s)
{
    for (uint32_t i = 0; i < s->loose.count; i++)
        free(s->loose.items[i]);
    hd_array_clear(&s->loose);
}

void hd_rf_stretches_free(hd_rf_stretches *s)
{
    if (!s)
        return;
    hd_rf_stretches_forget(s);
    hd_array_free(&s->loose);
    hd_array_free(&s->all);
    hd_array_free(&s->key);
    hd_array_free(&s->masks);
    hd_arena_free(&s->arena);
    hd_index_free(&s->numbers);
    hd_sequences_free(&s->texts);
    free(s);
}

/* ---- single events --------------------------------------------------------------------------------------------------- */

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

/* ---- contents ---------------------------------------------------------------------------------------------------------- */

/* A key is this head, the parts, the lanes where they are guarded, and the widths. */
typedef struct contents {
    const hd_stretch *what;
    uint32_t head[KEY];
} contents;

static uint32_t flags_of(const hd_stretch *o, bool told)
{
    return o->part_count << 16 | o->count << 2 | (o->guarded ? GUARDED : 0) | (told ? TOLD : 0);
}

static contents contents_of(const hd_stretch *o)
{
    return (contents){o, {o->function, flags_of(o, o->width_words), o->width_words}};
}

static bool is_same(const kept *k, const contents *c)
{
    const hd_stretch *o = c->what;
    const uint32_t *lanes = k->key + KEY + o->part_count * PART, *widths = lanes + (o->guarded ? o->count : 0);
    return !memcmp(k->key, c->head, sizeof c->head) && !memcmp(k->key + KEY, o->parts, o->part_count * sizeof *o->parts) &&
           (!o->guarded || !memcmp(lanes, o->effective, o->count * sizeof *lanes)) &&
           (!o->width_words || !memcmp(widths, o->widths, o->width_words * sizeof *o->widths));
}

static void add_widths(hd_rf_stretches *s, const hd_stretch *o)
{
    uint32_t count = (o->width_words * (uint32_t)sizeof(hd_width) + 3) / 4;
    if (!count)
        return;
    uint32_t *words = hd_array_extend(&s->key, count);
    words[count - 1] = 0;
    memcpy(words, o->widths, o->width_words * sizeof *o->widths);
}

static void key_of(hd_rf_stretches *s, const contents *c)
{
    const hd_stretch *o = c->what;
    hd_array_clear(&s->key);
    memcpy(hd_array_extend(&s->key, KEY), c->head, sizeof c->head);
    memcpy(hd_array_extend(&s->key, o->part_count * PART), o->parts, o->part_count * sizeof *o->parts);
    if (o->guarded)
        memcpy(hd_array_extend(&s->key, o->count), o->effective, o->count * sizeof *o->effective);
    add_widths(s, o);
}

/* ---- texts --------------------------------------------------------------------------------------------------------------- */

static void collect_mask(hd_rf_stretches *s, uint32_t mask)
{
    uint32_t k = 0;
    while (k < s->masks.count && s->masks.items[k] != mask)
        k++;
    if (k == s->masks.count && mask)
        hd_array_push(&s->masks, mask);
}

static void collect_masks(hd_rf_stretches *s, const hd_stretch *o)
{
    hd_array_clear(&s->masks);
    for (uint32_t k = 0; k < o->part_count; k++)
        collect_mask(s, o->parts[k].active);
    for (uint32_t i = 0; i < o->count && o->guarded; i++)
        collect_mask(s, o->effective[i]);
}

/* 0: none. */
static uint32_t place_of(const hd_rf_stretches *s, uint32_t mask)
{
    uint32_t place = 1;
    while (mask && s->masks.items[place - 1] != mask)
        place++;
    return mask ? place : 0;
}

static uint32_t number_of_text(hd_rf_stretches *s, const hd_stretch *o, bool told)
{
    const uint32_t head[] = {o->function, flags_of(o, told)};
    hd_array_clear(&s->key);
    memcpy(hd_array_extend(&s->key, 2), head, sizeof head);
    for (uint32_t k = 0; k < o->part_count; k++) {
        const uint32_t part[] = {o->parts[k].at, o->parts[k].first, place_of(s, o->parts[k].active)};
        memcpy(hd_array_extend(&s->key, 3), part, sizeof part);
    }
    for (uint32_t i = 0; i < o->count && o->guarded; i++)
        hd_array_push(&s->key, place_of(s, o->effective[i]));
    if (told)
        add_widths(s, o);
    return hd_sequences_number(&s->texts, s->key.items, s->key.count, HD_NONE);
}

/* Takes the key's place. */
static void number_texts(hd_rf_stretches *s, const hd_stretch *o, hd_rf_stretch *stretch)
{
    stretch->text = stretch->shape = number_of_text(s, o, false);
    if (o->width_words)
        stretch->text = number_of_text(s, o, true);
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------- */

static bool has_room(const hd_rf_stretches *s, size_t bytes)
{
    return s->all.count < HD_RF_STRETCHES && s->arena.reserved_bytes + hd_sequences_bytes(&s->texts) + bytes <= HD_RF_STRETCH_BYTES;
}

static void point_into_key(kept *k)
{
    const uint32_t *lanes = k->key + KEY + k->stretch.part_count * PART;
    bool guarded = k->key[1] & GUARDED;
    k->stretch.parts = (const hd_stretch_part *)(const void *)(k->key + KEY);
    k->stretch.masks = k->key + k->words;
    k->stretch.effective = guarded ? lanes : NULL;
    k->stretch.widths = k->key[1] & TOLD ? (const hd_width *)(lanes + (guarded ? k->stretch.count : 0)) : NULL;
}

/* What follows from the contents. */
static void add_facts(const hd_rf_stretches *s, const hd_stretch *o, hd_rf_stretch *stretch)
{
    const hd_rf_code *code = s->code->functions[o->function];
    stretch->barrier = o->barrier;
    for (uint32_t i = 0; i < o->count; i++) {
        const hd_stretch_part *part = hd_stretch_part_at(o->parts, o->part_count, i);
        uint32_t instruction = part->first + (i - part->at);
        bool long_load = (!o->guarded || o->effective[i]) && code->traits[instruction] & HD_RF_LONG;
        stretch->loads |= (uint64_t)long_load << i;
        stretch->touches |= code->touches[instruction];
    }
}

static size_t bytes_of(uint32_t words, uint32_t masks)
{
    return sizeof(kept) + ((size_t)words + masks) * sizeof(uint32_t);
}

/* Its key is s->key. */
static kept *keep(hd_rf_stretches *s, const hd_stretch *o, uint64_t hash)
{
    collect_masks(s, o);
    size_t bytes = bytes_of(s->key.count, s->masks.count);
    bool room = has_room(s, bytes);
    kept *k = room ? hd_arena_alloc(&s->arena, bytes) : hd_malloc(bytes);
    k->words = s->key.count;
    k->follow = 0;
    memcpy(k->key, s->key.items, k->words * sizeof *k->key);
    memcpy(k->key + k->words, s->masks.items, s->masks.count * sizeof *k->key);
    k->stretch = (hd_rf_stretch){.number = room ? s->all.count : HD_NONE, .text = HD_NONE, .shape = HD_NONE, .function = o->function,
                                 .count = o->count, .part_count = o->part_count, .mask_count = s->masks.count};
    add_facts(s, o, &k->stretch);
    point_into_key(k);
    if (!room) {
        hd_array_push(&s->loose, k);
        return k;
    }
    number_texts(s, o, &k->stretch);
    hd_index_add(&s->numbers, hash, s->all.count);
    hd_array_push(&s->all, k);
    return k;
}

/* NULL: not known yet. */
static kept *find_known(const hd_rf_stretches *s, const contents *c, uint64_t hash)
{
    for (uint32_t at = hd_index_first(&s->numbers, hash); at != HD_INDEX_END; at = hd_index_next(&s->numbers, hash, at))
        if (is_same(s->all.items[s->numbers.slots[at].number], c))
            return s->all.items[s->numbers.slots[at].number];
    return NULL;
}

static kept *find_kept(hd_rf_stretches *s, const hd_stretch *o)
{
    const contents c = contents_of(o);
    if (s->latest && is_same(s->all.items[s->latest->follow], &c))
        return s->all.items[s->latest->follow];
    key_of(s, &c);
    uint64_t hash = hd_hash(s->key.items, s->key.count * sizeof *s->key.items);
    kept *known = find_known(s, &c, hash);
    return known ? known : keep(s, o, hash);
}

hd_rf_passage hd_rf_stretches_find(hd_rf_stretches *s, const hd_stretch *o)
{
    kept *k = find_kept(s, o);
    if (k->stretch.number != HD_NONE) {
        if (s->latest)
            s->latest->follow = k->stretch.number;
        s->latest = k;
    }
    return (hd_rf_passage){.kind = HD_EVENT_ISSUE, .end = (uint8_t)o->count, .cta = o->cta, .warp = o->warp, .frame = o->frame,
                           .function = o->function, .stretch = &k->stretch};
}

/* ---- what is in one ------------------------------------------------------------------------------------------------------ */

hd_event hd_rf_passage_event(const hd_rf_passage *p, uint32_t i)
{
    const hd_rf_stretch *s = p->stretch;
    const hd_stretch_part *part = hd_stretch_part_at(s->parts, s->part_count, i);
    return (hd_event){.kind = HD_EVENT_ISSUE, .cta = p->cta, .warp = p->warp, .frame = p->frame, .function = s->function,
                      .instruction = part->first + (i - part->at), .active = part->active, .effective = s->effective ? s->effective[i] : part->active};
}

const hd_width *hd_rf_stretch_widths(const hd_rf_stretch *s, const hd_rf_module *code, uint32_t i)
{
    const uint32_t *first = code->functions[s->function]->destination_first;
    const hd_width *widths = s->widths;
    for (uint32_t k = 0; widths && k < i; k++)
        if (!s->effective || s->effective[k])
            widths += first[hd_rf_stretch_instruction(s, k) + 1] - first[hd_rf_stretch_instruction(s, k)];
    return widths;
}

hd_rf_stretch *hd_rf_stretch_copy(const hd_rf_stretch *stretch, size_t *bytes)
{
    const kept *from = (const kept *)(const void *)stretch;
    size_t size = bytes_of(from->words, from->stretch.mask_count);
    kept *copy = hd_malloc(size);
    memcpy(copy, from, size);
    point_into_key(copy);
    *bytes += size;
    return &copy->stretch;
}
