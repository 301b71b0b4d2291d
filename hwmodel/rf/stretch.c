/* Stretches of warps: see stretch.h. */
#include "hwmodel/rf/stretch.h"
#include "base/hash.h"
#include "base/index.h"

enum {
    WIDTHS = 512, /* of a stretch at most, but for those of its last instruction */
    KEY = 5,      /* words before the lanes: see key_of */
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
    uint32_t first, count, active, next;
    bool at_barrier, guarded, told;
    uint32_t effective[HD_RF_STRETCH];
    HD_ARRAY(hd_rf_width) widths;
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

bool hd_rf_stretches_is_open(const hd_rf_stretches *s)
{
    return s->count != 0;
}

bool hd_rf_stretches_goes_on(const hd_rf_stretches *s, const hd_event *e)
{
    return s->count && e->instruction == s->next && e->active == s->active && e->warp == s->open.warp && e->frame == s->open.frame &&
           e->function == s->open.function && s->count < HD_RF_STRETCH && !s->at_barrier && s->widths.count < WIDTHS;
}

void hd_rf_stretches_add(hd_rf_stretches *s, const hd_event *e)
{
    const hd_rf_code *code = s->code->functions[e->function];
    if (!s->count) {
        s->open = (hd_rf_passage){HD_EVENT_ISSUE, e->cta, e->warp, e->frame, e->function, NULL};
        s->first = e->instruction;
        s->active = e->active;
        s->guarded = s->told = false;
        hd_array_clear(&s->widths);
    }
    s->effective[s->count++] = e->effective;
    s->guarded = s->guarded || e->effective != e->active;
    s->next = e->instruction + 1;
    s->at_barrier = code->traits[e->instruction] & HD_RF_BARRIER;
    if (!e->reach)
        return;
    uint32_t count = code->destination_first[e->instruction + 1] - code->destination_first[e->instruction];
    memcpy(hd_array_extend(&s->widths, count), e->reach, count * sizeof *e->reach);
    s->told = true;
}

/* ---- those that ended -------------------------------------------------------------------------------------------------- */

static void key_of(hd_rf_stretches *s)
{
    const uint32_t head[KEY] = {s->open.function, s->first, s->count << 2 | (uint32_t)s->guarded << 1 | (uint32_t)s->told, s->active, s->widths.count};
    uint32_t widths = (s->widths.count * (uint32_t)sizeof(hd_rf_width) + 3) / 4;
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

static kept *keep_open_one(hd_rf_stretches *s, uint64_t hash)
{
    size_t bytes = sizeof(kept) + s->key.count * sizeof(uint32_t);
    bool room = s->all.count < HD_RF_STRETCHES && s->arena.reserved_bytes + bytes <= HD_RF_STRETCH_BYTES;
    kept *k = room ? hd_arena_alloc(&s->arena, bytes) : hd_malloc(bytes);
    const uint32_t *lanes = k->key + KEY, *widths = lanes + (s->guarded ? s->count : 0);
    k->words = s->key.count;
    k->follow = 0;
    memcpy(k->key, s->key.items, k->words * sizeof *k->key);
    k->stretch = (hd_rf_stretch){.number = room ? s->all.count : HD_NONE, .function = s->open.function, .first = s->first, .count = s->count,
                                 .active = s->active, .effective = s->guarded ? lanes : NULL, .widths = s->told ? (const hd_rf_width *)widths : NULL};
    if (!room) {
        hd_array_push(&s->loose, k);
        return k;
    }
    hd_index_add(&s->numbers, hash, s->all.count);
    hd_array_push(&s->all, k);
    return k;
}

static kept *find_open_one(hd_rf_stretches *s)
{
    if (s->latest && is_open_one(s, s->all.items[s->latest->follow]))
        return s->all.items[s->latest->follow];
    uint64_t hash = hd_hash(s->key.items, s->key.count * sizeof *s->key.items);
    for (uint32_t at = hd_index_first(&s->numbers, hash); at != (uint32_t)HD_INDEX_END; at = hd_index_next(&s->numbers, hash, at))
        if (is_open_one(s, s->all.items[s->numbers.slots[at].number]))
            return s->all.items[s->numbers.slots[at].number];
    return keep_open_one(s, hash);
}

bool hd_rf_stretches_end(hd_rf_stretches *s, hd_rf_passage *passage)
{
    if (!s->count)
        return false;
    key_of(s);
    kept *k = find_open_one(s);
    if (k->stretch.number != HD_NONE) {
        if (s->latest)
            s->latest->follow = k->stretch.number;
        s->latest = k;
    }
    s->count = 0;
    *passage = s->open;
    passage->stretch = &k->stretch;
    return true;
}
