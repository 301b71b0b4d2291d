/* Trace segments: see segment.h. */
#include "hwmodel/record/segment.h"
#include "base/sequences.h"

/* The key of a segment: head, parts, effective lanes; their number and the widths; masks. All of them begin with a
 * word. The first three are the key of its shape, and all but the masks that of its wide shape. */
enum { HEAD_FUNCTION, HEAD_COUNTS, HEAD, PART = sizeof(hd_segment_part) / sizeof(uint32_t) };

typedef struct kept {
    hd_segment segment; /* first; points into the key */
    uint32_t key[];
} kept;

struct hd_segments {
    const hd_rf_module *code;
    hd_arena arena;
    hd_sequences keys, shapes;
    HD_ARRAY(const hd_segment *) all; /* by the number of the key */
    hd_loose_segments loose;          /* not handed over yet */
    hd_segment_event open, single;    /* without a part: none */
    hd_u32_array key;
};

hd_segments *hd_segments_new(const hd_rf_module *code)
{
    hd_segments *s = hd_calloc(1, sizeof *s);
    s->code = code;
    return s;
}

void hd_loose_segments_clear(hd_loose_segments *loose)
{
    for (uint32_t i = 0; i < loose->count; i++)
        free(loose->items[i]);
    hd_array_clear(loose);
}

void hd_segments_hand_over(hd_segments *s, hd_loose_segments *to)
{
    hd_loose_segments empty = *to;
    *to = s->loose;
    s->loose = empty;
}

void hd_segments_free(hd_segments *s)
{
    if (!s)
        return;
    hd_loose_segments_clear(&s->loose);
    hd_array_free(&s->loose);
    hd_array_free(&s->all);
    hd_array_free(&s->key);
    hd_sequences_free(&s->keys);
    hd_sequences_free(&s->shapes);
    hd_arena_free(&s->arena);
    free(s);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static uint32_t words_for(size_t bytes) { return (uint32_t)((bytes + 3) / 4); }

static void add_bytes(hd_u32_array *key, const void *from, size_t bytes)
{
    if (!bytes)
        return;
    uint32_t *words = hd_array_extend(key, words_for(bytes));
    words[words_for(bytes) - 1] = 0;
    memcpy(words, from, bytes);
}

static uint32_t shape_words(const hd_segment_event *o)
{
    return HEAD + o->part_count * PART + words_for(o->count * sizeof *o->effective);
}
static uint32_t wide_shape_words(const hd_segment_event *o)
{
    return shape_words(o) + 1 + words_for(o->width_words * sizeof *o->widths);
}

static void make_key(hd_segments *s, const hd_segment_event *o)
{
    const uint32_t head[HEAD] = {o->function, o->part_count << 16 | o->count << 8 | o->mask_count};
    hd_array_clear(&s->key);
    add_bytes(&s->key, head, sizeof head);
    add_bytes(&s->key, o->parts, o->part_count * sizeof *o->parts);
    add_bytes(&s->key, o->effective, o->count * sizeof *o->effective);
    hd_array_push(&s->key, o->width_words);
    add_bytes(&s->key, o->widths, o->width_words * sizeof *o->widths);
    add_bytes(&s->key, o->masks, o->mask_count * sizeof *o->masks);
}

static uint32_t number_shape(hd_segments *s, uint32_t words)
{
    bool room = hd_sequences_bytes(&s->shapes) + words * sizeof(uint32_t) < HD_SEGMENT_BYTES;
    return hd_sequences_number(&s->shapes, s->key.items, words, room ? HD_SEGMENTS : 0);
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static void point_into_key(kept *k)
{
    hd_segment *s = &k->segment;
    const uint32_t *parts = k->key + HEAD, *effective = parts + s->part_count * PART,
                   *widths = effective + words_for(s->count) + 1;
    s->parts = (const hd_segment_part *)(const void *)parts;
    s->effective = (const uint8_t *)effective;
    s->widths = widths[-1] ? (const hd_width *)widths : NULL;
    s->masks = widths + words_for(widths[-1] * sizeof *s->widths);
}

static size_t size_of(uint32_t key_words) { return sizeof(kept) + key_words * sizeof(uint32_t); }

/* The segment whose key is s->key. */
static void fill_segment(const hd_segments *s, kept *k, const hd_segment_event *o)
{
    const hd_rf_code *code = s->code->functions[o->function];
    memcpy(k->key, s->key.items, s->key.count * sizeof *k->key);
    k->segment = (hd_segment){.shape = HD_NONE,
                              .wide_shape = HD_NONE,
                              .function = o->function,
                              .count = o->count,
                              .part_count = o->part_count,
                              .full = o->mask_count == 2 && o->masks[1] == UINT32_MAX,
                              .mask_count = o->mask_count,
                              .key_words = s->key.count,
                              .barrier = o->barrier};
    point_into_key(k);
    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t instruction = hd_segment_instruction(&k->segment, i);
        bool long_load = o->masks[o->effective[i]] && code->traits[instruction] & HD_RF_LONG;
        k->segment.loads |= (uint64_t)long_load << i;
        k->segment.touches |= code->touches[instruction];
    }
}

hd_segment *hd_segment_copy(const hd_segment *segment, size_t *bytes)
{
    size_t size = (size_of(segment->key_words) + 7) / 8 * 8, addresses = segment->addresses ? 32 * sizeof(uint64_t) : 0,
           results = segment->results ? segment->result_words * 32 * sizeof(uint32_t) : 0,
           effect = segment->effect ? sizeof *segment->effect : 0;
    char *memory = hd_malloc(size + addresses + results + effect);
    kept *copy = (kept *)(void *)memory;
    memcpy(copy, segment, size_of(segment->key_words));
    point_into_key(copy);
    if (addresses)
        copy->segment.addresses = memcpy(memory + size, segment->addresses, addresses);
    if (results)
        copy->segment.results = memcpy(memory + size + addresses, segment->results, results);
    if (effect)
        copy->segment.effect = memcpy(memory + size + addresses + results, segment->effect, effect);
    *bytes += size + addresses + results + effect;
    return &copy->segment;
}

/* The segment whose key is s->key. */
static hd_segment *make_loose(hd_segments *s, const hd_segment_event *o)
{
    kept *k = hd_malloc(size_of(s->key.count));
    fill_segment(s, k, o);
    k->segment.loose = true;
    hd_array_push(&s->loose, &k->segment);
    return &k->segment;
}

static hd_segment *make_kept(hd_segments *s, const hd_segment_event *o)
{
    kept *k = hd_arena_alloc(&s->arena, size_of(s->key.count));
    fill_segment(s, k, o);
    hd_array_push(&s->all, &k->segment);
    return &k->segment;
}

static const hd_segment *find_or_make(hd_segments *s, const hd_segment_event *o)
{
    make_key(s, o);
    bool room = s->arena.reserved_bytes + hd_sequences_bytes(&s->keys) + 2 * size_of(s->key.count) < HD_SEGMENT_BYTES;
    uint32_t number = hd_sequences_number(&s->keys, s->key.items, s->key.count, room ? HD_SEGMENTS : 0);
    if (number < s->all.count)
        return s->all.items[number];
    hd_segment *segment = number == HD_NONE ? make_loose(s, o) : make_kept(s, o);
    segment->shape = number_shape(s, shape_words(o));
    segment->wide_shape = o->width_words ? number_shape(s, wide_shape_words(o)) : segment->shape;
    return segment;
}

static hd_warp_event event_of(const hd_segment_event *o, const hd_segment *segment)
{
    return (hd_warp_event){.kind = HD_WARP_ISSUES,
                           .end = (uint8_t)o->count,
                           .cta = o->cta,
                           .warp = o->warp,
                           .frame = o->frame,
                           .segment = segment};
}

hd_warp_event hd_segments_find(hd_segments *s, const hd_segment_event *o) { return event_of(o, find_or_make(s, o)); }

/* ---- single events ----------------------------------------------------------------------------------------------- */

static bool is_straight(const hd_segment_event *o, const hd_event *e)
{
    return e->instruction == o->next && e->active == o->active;
}

bool hd_segments_continue(const hd_segments *s, const hd_event *e)
{
    const hd_segment_event *o = &s->open;
    return o->part_count && e->warp == o->open_warp && e->frame == o->frame && e->function == o->function &&
           (is_straight(o, e) || hd_segment_accepts_part(o, e->instruction));
}

bool hd_segments_at_barrier(const hd_segments *s) { return s->open.part_count && s->open.barrier; }

static void append_event(const hd_segments *s, hd_segment_event *o, const hd_event *e)
{
    if (!o->part_count)
        hd_segment_begin(o, e);
    if (!is_straight(o, e))
        hd_segment_begin_part(o, e->instruction, e->active);
    if (e->widths) {
        memcpy(o->widths + o->width_words, e->widths, e->width_words * sizeof *e->widths);
        o->width_words += e->width_words;
    }
    hd_segment_append(o, e->effective, s->code->functions[e->function]->traits[e->instruction] & HD_RF_BARRIER);
    o->count = hd_segment_length(o);
}

void hd_segments_add(hd_segments *s, const hd_event *e) { append_event(s, &s->open, e); }

bool hd_segments_end(hd_segments *s, hd_warp_event *event)
{
    if (!s->open.part_count)
        return false;
    *event = hd_segments_find(s, &s->open);
    s->open.part_count = 0;
    return true;
}

hd_warp_event hd_segments_single(hd_segments *s, const hd_event *e)
{
    s->single.part_count = 0;
    append_event(s, &s->single, e);
    make_key(s, &s->single);
    hd_segment *segment = make_loose(s, &s->single);
    segment->addresses = e->addresses;
    segment->results = e->results;
    segment->effect = e->effect;
    segment->result_words = e->results ? e->result_words : 0;
    return event_of(&s->single, segment);
}
