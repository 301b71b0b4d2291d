/* Stretches of warps: see stretch.h. */
#include "hwmodel/rf/stretch.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/sequences.h"

enum {
    WIDTHS = 512, /* of a stretch at most, but for those of its last instruction */
    KEY = 5,      /* words before the lanes: see key_of */
    TOLD = 1, GUARDED = 2, /* in the third of them: widths and effective lanes follow */
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
    /* the one that is open */
    hd_rf_passage open;
    const hd_rf_code *of;
    uint32_t first, count, active, next;
    bool at_barrier, guarded, told;
    uint32_t effective[HD_RF_STRETCH];
    HD_ARRAY(hd_width) widths;
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
    hd_array_free(&s->widths);
    hd_array_free(&s->key);
    hd_array_free(&s->masks);
    hd_arena_free(&s->arena);
    hd_index_free(&s->numbers);
    hd_sequences_free(&s->texts);
    free(s);
}

/* ---- the open one ---------------------------------------------------------------------------------------------------- */

bool hd_rf_stretches_goes_on(const hd_rf_stretches *s, const hd_event *e)
{
    return s->count && e->instruction == s->next && e->active == s->active && e->warp == s->open.warp && e->frame == s->open.frame &&
           e->function == s->open.function && s->count < HD_RF_STRETCH && !s->at_barrier && s->widths.count < WIDTHS;
}

void hd_rf_stretches_add(hd_rf_stretches *s, const hd_event *e)
{
    if (!s->count) {
        s->open = (hd_rf_passage){.kind = HD_EVENT_ISSUE, .cta = e->cta, .warp = e->warp, .frame = e->frame, .function = e->function};
        s->first = e->instruction;
        s->active = e->active;
        s->guarded = s->told = false;
        s->of = s->code->functions[e->function];
        hd_array_clear(&s->widths);
    }
    s->effective[s->count++] = e->effective;
    s->guarded = s->guarded || e->effective != e->active;
    s->next = e->instruction + 1;
    s->at_barrier = s->of->traits[e->instruction] & HD_RF_BARRIER;
    if (!e->widths)
        return;
    memcpy(hd_array_extend(&s->widths, e->width_words), e->widths, e->width_words * sizeof *e->widths);
    s->told = true;
}

/* ---- those that ended -------------------------------------------------------------------------------------------------- */

static void add_widths(hd_rf_stretches *s)
{
    uint32_t count = (s->widths.count * (uint32_t)sizeof(hd_width) + 3) / 4;
    if (!count)
        return;
    uint32_t *words = hd_array_extend(&s->key, count);
    words[count - 1] = 0;
    memcpy(words, s->widths.items, s->widths.count * sizeof *s->widths.items);
}

static void key_of(hd_rf_stretches *s)
{
    const uint32_t head[KEY] = {s->open.function, s->first, s->count << 2 | (s->guarded ? GUARDED : 0) | (s->told ? TOLD : 0), s->active, s->widths.count};
    hd_array_clear(&s->key);
    memcpy(hd_array_extend(&s->key, KEY), head, sizeof head);
    if (s->guarded)
        memcpy(hd_array_extend(&s->key, s->count), s->effective, s->count * sizeof *s->effective);
    add_widths(s);
}

/* ---- texts --------------------------------------------------------------------------------------------------------------- */

static void collect_masks(hd_rf_stretches *s)
{
    hd_array_clear(&s->masks);
    hd_array_push(&s->masks, s->active);
    for (uint32_t i = 0; i < s->count && s->guarded; i++) {
        uint32_t k = 0;
        while (k < s->masks.count && s->masks.items[k] != s->effective[i])
            k++;
        if (k == s->masks.count && s->effective[i])
            hd_array_push(&s->masks, s->effective[i]);
    }
}

/* 0: none. */
static uint32_t place_of(const hd_rf_stretches *s, uint32_t mask)
{
    uint32_t place = 1;
    while (mask && s->masks.items[place - 1] != mask)
        place++;
    return mask ? place : 0;
}

/* The open one's. */
static uint32_t number_of_text(hd_rf_stretches *s, bool told)
{
    const uint32_t head[] = {s->open.function, s->first, s->count << 2 | (s->guarded ? GUARDED : 0) | (told ? TOLD : 0)};
    hd_array_clear(&s->key);
    memcpy(hd_array_extend(&s->key, 3), head, sizeof head);
    for (uint32_t i = 0; i < s->count && s->guarded; i++)
        hd_array_push(&s->key, place_of(s, s->effective[i]));
    if (told)
        add_widths(s);
    return hd_sequences_number(&s->texts, s->key.items, s->key.count, HD_NONE);
}

/* Takes the key's place. */
static void number_texts(hd_rf_stretches *s, hd_rf_stretch *stretch)
{
    stretch->text = stretch->shape = number_of_text(s, false);
    if (s->told)
        stretch->text = number_of_text(s, true);
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------- */

static bool is_open_one(const hd_rf_stretches *s, const kept *k)
{
    return k->words == s->key.count && !memcmp(k->key, s->key.items, k->words * sizeof *k->key);
}

static bool has_room(const hd_rf_stretches *s, size_t bytes)
{
    return s->all.count < HD_RF_STRETCHES && s->arena.reserved_bytes + hd_sequences_bytes(&s->texts) + bytes <= HD_RF_STRETCH_BYTES;
}

static void point_into_key(kept *k)
{
    const uint32_t *lanes = k->key + KEY;
    bool guarded = k->key[2] & GUARDED;
    k->stretch.masks = k->key + k->words;
    k->stretch.effective = guarded ? lanes : NULL;
    k->stretch.widths = k->key[2] & TOLD ? (const hd_width *)(lanes + (guarded ? k->stretch.count : 0)) : NULL;
}

/* What follows from the contents. */
static void add_facts(const hd_rf_stretches *s, hd_rf_stretch *stretch)
{
    stretch->barrier = s->at_barrier;
    for (uint32_t i = 0; i < s->count; i++) {
        bool long_load = s->effective[i] && s->of->traits[s->first + i] & HD_RF_LONG;
        stretch->loads |= (uint32_t)long_load << i;
        stretch->touches |= s->of->touches[s->first + i];
    }
}

static size_t bytes_of(uint32_t words, uint32_t masks)
{
    return sizeof(kept) + ((size_t)words + masks) * sizeof(uint32_t);
}

static kept *keep_open_one(hd_rf_stretches *s, uint64_t hash)
{
    collect_masks(s);
    size_t bytes = bytes_of(s->key.count, s->masks.count);
    bool room = has_room(s, bytes);
    kept *k = room ? hd_arena_alloc(&s->arena, bytes) : hd_malloc(bytes);
    k->words = s->key.count;
    k->follow = 0;
    memcpy(k->key, s->key.items, k->words * sizeof *k->key);
    memcpy(k->key + k->words, s->masks.items, s->masks.count * sizeof *k->key);
    k->stretch = (hd_rf_stretch){.number = room ? s->all.count : HD_NONE, .text = HD_NONE, .shape = HD_NONE, .function = s->open.function, .first = s->first,
                                 .count = s->count, .active = s->active, .mask_count = s->masks.count};
    add_facts(s, &k->stretch);
    point_into_key(k);
    if (!room) {
        hd_array_push(&s->loose, k);
        return k;
    }
    number_texts(s, &k->stretch);
    hd_index_add(&s->numbers, hash, s->all.count);
    hd_array_push(&s->all, k);
    return k;
}

static uint64_t hash_of_key(const hd_rf_stretches *s)
{
    return hd_hash(s->key.items, s->key.count * sizeof *s->key.items);
}

/* NULL: not known yet. */
static kept *find_open_one(const hd_rf_stretches *s, uint64_t hash)
{
    for (uint32_t at = hd_index_first(&s->numbers, hash); at != HD_INDEX_END; at = hd_index_next(&s->numbers, hash, at))
        if (is_open_one(s, s->all.items[s->numbers.slots[at].number]))
            return s->all.items[s->numbers.slots[at].number];
    return NULL;
}

static kept *open_one(hd_rf_stretches *s)
{
    if (s->latest && is_open_one(s, s->all.items[s->latest->follow]))
        return s->all.items[s->latest->follow];
    uint64_t hash = hash_of_key(s);
    kept *known = find_open_one(s, hash);
    return known ? known : keep_open_one(s, hash);
}

bool hd_rf_stretches_end(hd_rf_stretches *s, hd_rf_passage *passage)
{
    if (!s->count)
        return false;
    key_of(s);
    kept *k = open_one(s);
    if (k->stretch.number != HD_NONE) {
        if (s->latest)
            s->latest->follow = k->stretch.number;
        s->latest = k;
    }
    s->count = 0;
    *passage = s->open;
    passage->stretch = &k->stretch;
    passage->end = (uint8_t)k->stretch.count;
    return true;
}

/* ---- what is in one ------------------------------------------------------------------------------------------------------ */

hd_event hd_rf_passage_event(const hd_rf_passage *p, uint32_t i)
{
    const hd_rf_stretch *s = p->stretch;
    return (hd_event){.kind = HD_EVENT_ISSUE, .cta = p->cta, .warp = p->warp, .frame = p->frame, .function = s->function,
                      .instruction = s->first + i, .active = s->active, .effective = s->effective ? s->effective[i] : s->active};
}

const hd_width *hd_rf_stretch_widths(const hd_rf_stretch *s, const hd_rf_module *code, uint32_t i)
{
    const uint32_t *first = code->functions[s->function]->destination_first + s->first;
    const hd_width *widths = s->widths;
    for (uint32_t k = 0; widths && k < i; k++)
        if (s->effective ? s->effective[k] : s->active)
            widths += first[k + 1] - first[k];
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
