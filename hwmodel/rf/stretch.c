/* Stretches of warps: see stretch.h. */
#include "hwmodel/rf/stretch.h"
#include "base/hash.h"
#include "base/index.h"

enum {
    WIDTHS = 512, /* of a stretch at most, but for those of its last instruction */
    KEY = 5,      /* words before the lanes: see key_of */
    TOLD = 1, GUARDED = 2, /* in the third of them: widths and effective lanes follow */
};

typedef struct kept {
    hd_rf_stretch stretch; /* first */
    uint32_t words, follow; /* of the key; the number of the stretch that ended behind it last */
    uint32_t key[];
} kept;

struct hd_rf_stretches {
    const hd_rf_module *code;
    hd_arena arena;
    HD_ARRAY(kept *) all;
    HD_ARRAY(kept *) loose; /* without a number */
    hd_index numbers;
    kept *latest;           /* that ended, and has a number */
    /* the one that is open */
    hd_rf_passage open;
    const hd_rf_code *of;
    uint32_t first, count, active, next;
    bool at_barrier, guarded, told;
    uint32_t effective[HD_RF_STRETCH];
    HD_ARRAY(hd_width) widths;
    hd_u32_array key;
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
    hd_arena_free(&s->arena);
    hd_index_free(&s->numbers);
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

static void key_of(hd_rf_stretches *s)
{
    const uint32_t head[KEY] = {s->open.function, s->first, s->count << 2 | (s->guarded ? GUARDED : 0) | (s->told ? TOLD : 0), s->active, s->widths.count};
    uint32_t widths = (s->widths.count * (uint32_t)sizeof(hd_width) + 3) / 4;
    hd_array_clear(&s->key);
    memcpy(hd_array_extend(&s->key, KEY), head, sizeof head);
    if (s->guarded)
        memcpy(hd_array_extend(&s->key, s->count), s->effective, s->count * sizeof *s->effective);
    if (!widths)
        return;
    uint32_t *words = hd_array_extend(&s->key, widths);
    words[widths - 1] = 0;
    memcpy(words, s->widths.items, s->widths.count * sizeof *s->widths.items);
}

static bool is_open_one(const hd_rf_stretches *s, const kept *k)
{
    return k->words == s->key.count && !memcmp(k->key, s->key.items, k->words * sizeof *k->key);
}

static bool has_room(const hd_rf_stretches *s, size_t bytes)
{
    return s->all.count < HD_RF_STRETCHES && s->arena.reserved_bytes + bytes <= HD_RF_STRETCH_BYTES;
}

static void point_into_key(kept *k)
{
    const uint32_t *lanes = k->key + KEY;
    bool guarded = k->key[2] & GUARDED;
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

static kept *keep_open_one(hd_rf_stretches *s, uint64_t hash, uint32_t shape)
{
    size_t bytes = sizeof(kept) + s->key.count * sizeof(uint32_t);
    bool room = has_room(s, bytes);
    kept *k = room ? hd_arena_alloc(&s->arena, bytes) : hd_malloc(bytes);
    k->words = s->key.count;
    k->follow = 0;
    memcpy(k->key, s->key.items, k->words * sizeof *k->key);
    k->stretch = (hd_rf_stretch){.number = room ? s->all.count : HD_NONE, .shape = s->told ? shape : room ? s->all.count : HD_NONE,
                                 .function = s->open.function, .first = s->first, .count = s->count, .active = s->active};
    add_facts(s, &k->stretch);
    point_into_key(k);
    if (!room) {
        hd_array_push(&s->loose, k);
        return k;
    }
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

/* Of the open one without its widths. */
static uint32_t number_of_shape(hd_rf_stretches *s)
{
    uint32_t count = s->widths.count;
    s->told = false;
    s->widths.count = 0;
    key_of(s);
    uint64_t hash = hash_of_key(s);
    const kept *k = find_open_one(s, hash);
    if (!k && has_room(s, sizeof(kept) + s->key.count * sizeof(uint32_t)))
        k = keep_open_one(s, hash, HD_NONE);
    s->told = true;
    s->widths.count = count;
    key_of(s);
    return k ? k->stretch.number : HD_NONE;
}

static kept *open_one(hd_rf_stretches *s)
{
    if (s->latest && is_open_one(s, s->all.items[s->latest->follow]))
        return s->all.items[s->latest->follow];
    uint64_t hash = hash_of_key(s);
    kept *known = find_open_one(s, hash);
    return known ? known : keep_open_one(s, hash, s->told ? number_of_shape(s) : HD_NONE);
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
    size_t size = sizeof *from + from->words * sizeof *from->key;
    kept *copy = hd_malloc(size);
    memcpy(copy, from, size);
    point_into_key(copy);
    *bytes += size;
    return &copy->stretch;
}
