/* Paths that are walked once: see paths.h. Linear in the bytes of the streams, and in the instructions of those that are new. */
#include "hwmodel/rf/paths.h"
#include "base/hash.h"
#include "base/pool.h"

typedef struct path {
    uint64_t hash, times; /* times: warps since the counters were brought up to date */
    uint8_t *bytes;
    uint32_t length;
    uint64_t *counts;     /* by model, in the order of the followers, and counter: of one warp */
} path;

typedef struct stop { /* of a model */
    uint32_t wrong;    /* index in `fresh` of the first warp that was not proved; HD_NONE */
    uint64_t wrong_at; /* bytes of its path before what was wrong */
} stop;

typedef struct follower {
    hd_rf_feeder *feeder;
    uint32_t first; /* index among all models of its first one */
} follower;

typedef struct walker { /* a warp that must be walked */
    const hd_rf_cta *cta;
    uint32_t warp;  /* in the CTA */
    uint32_t known; /* index of its path; HD_NONE: no room */
} walker;

struct hd_rf_paths {
    HD_ARRAY(follower) followers;
    HD_ARRAY(stop) stops;     /* by model */
    HD_ARRAY(uint64_t) before; /* by model and counter: before a walk */
    HD_ARRAY(path) known;
    uint32_t *table;   /* 1 + index in `known`, by hash; 2 * HD_RF_PATHS places */
    uint64_t bytes;    /* of known paths */
    HD_ARRAY(walker) fresh;
    bool ends;
};

hd_rf_paths *hd_rf_paths_new(void)
{
    hd_rf_paths *p = hd_calloc(1, sizeof *p);
    p->table = hd_calloc(2 * HD_RF_PATHS, sizeof *p->table);
    return p;
}

void hd_rf_paths_free(hd_rf_paths *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->known.count; i++) {
        free(p->known.items[i].bytes);
        free(p->known.items[i].counts);
    }
    hd_array_free(&p->known);
    hd_array_free(&p->followers);
    hd_array_free(&p->stops);
    hd_array_free(&p->before);
    hd_array_free(&p->fresh);
    free(p->table);
    free(p);
}

void hd_rf_paths_add(hd_rf_paths *p, hd_rf_feeder *feeder)
{
    hd_array_push(&p->followers, (follower){feeder, p->stops.count});
    for (uint32_t m = 0; m < feeder->members.count; m++) {
        hd_array_push(&p->stops, (stop){HD_NONE, 0});
        memset(hd_array_extend(&p->before, HD_COUNTER_COUNT), 0, HD_COUNTER_COUNT * sizeof *p->before.items);
    }
}

/* ---- which paths are new -------------------------------------------------------------------------------------------- */

/* The place in the table of this path, or the free one where it belongs. */
static uint32_t *find(hd_rf_paths *p, const hd_rf_stream *s, uint64_t hash)
{
    for (uint32_t at = (uint32_t)hash;; at++) {
        uint32_t *place = &p->table[at % (2 * HD_RF_PATHS)];
        const path *known = *place ? &p->known.items[*place - 1] : NULL;
        if (!known || (known->hash == hash && known->length == s->bytes.count && !memcmp(known->bytes, s->bytes.items, known->length)))
            return place;
    }
}

/* Its index; HD_NONE where there is no room. */
static uint32_t remember(hd_rf_paths *p, const hd_rf_stream *s, uint64_t hash, uint32_t *place)
{
    if (p->known.count == HD_RF_PATHS || p->bytes + s->bytes.count > HD_RF_PATH_BYTES)
        return HD_NONE;
    path fresh = {.hash = hash, .times = 1, .length = s->bytes.count};
    fresh.bytes = hd_calloc(s->bytes.count + 1, 1);
    memcpy(fresh.bytes, s->bytes.items, s->bytes.count);
    fresh.counts = hd_calloc((size_t)p->stops.count * HD_COUNTER_COUNT, sizeof *fresh.counts);
    p->bytes += s->bytes.count;
    hd_array_push(&p->known, fresh);
    *place = p->known.count;
    return p->known.count - 1;
}

static void sort_out(hd_rf_paths *p, const hd_rf_cta *cta)
{
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        const hd_rf_stream *s = &cta->warps[w];
        uint64_t hash = hd_hash(s->bytes.items, s->bytes.count);
        uint32_t *place = find(p, s, hash);
        if (*place)
            p->known.items[*place - 1].times++;
        else
            hd_array_push(&p->fresh, (walker){cta, w, remember(p, s, hash, place)});
    }
}

/* ---- walking -------------------------------------------------------------------------------------------------------- */

static bool tell(const follower *f, hd_event_kind kind, uint32_t cta, uint32_t warp)
{
    return hd_rf_feeder_take(f->feeder, &(hd_event){.kind = (uint8_t)kind, .cta = cta, .warp = warp});
}

static void note_stops(hd_rf_paths *p, const follower *f, uint32_t wrong, uint64_t at)
{
    for (uint32_t m = 0; m < f->feeder->members.count; m++)
        if (f->feeder->members.items[m].failure.wrong && p->stops.items[f->first + m].wrong == HD_NONE)
            p->stops.items[f->first + m] = (stop){wrong, at};
}

/* false: no model is left. */
static bool walk(hd_rf_paths *p, const follower *f, uint32_t index)
{
    hd_rf_record record;
    const walker *w = &p->fresh.items[index];
    hd_rf_cursor cursor = hd_rf_cursor_of(w->cta, w->warp);
    uint32_t cta = w->cta->cta, warp = w->cta->warps[w->warp].warp, failed = f->feeder->failed;
    bool good = tell(f, HD_EVENT_WARP_START, cta, warp);
    while (good && hd_rf_cursor_next(&cursor, &record)) {
        good = hd_rf_feeder_take(f->feeder, &record.event);
        if (f->feeder->failed != failed)
            note_stops(p, f, index, cursor.byte);
        failed = f->feeder->failed;
    }
    return good && (!p->ends || tell(f, HD_EVENT_WARP_END, cta, warp));
}

/* What a known path counts is taken out of the model's counters again: settle() adds it for all its warps. */
static void take_out(uint64_t *counters, const uint64_t *before, uint64_t *counts)
{
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++) {
        counts[c] = counters[c] - before[c];
        counters[c] = before[c];
    }
}

static void follow(void *context, uint32_t index, uint32_t worker)
{
    hd_rf_paths *p = context;
    const follower *f = &p->followers.items[index];
    uint64_t *before = p->before.items + (size_t)f->first * HD_COUNTER_COUNT;
    uint32_t count = f->feeder->members.count;
    (void)worker;
    for (uint32_t i = 0; i < p->fresh.count; i++) {
        for (uint32_t m = 0; m < count; m++)
            memcpy(before + (size_t)m * HD_COUNTER_COUNT, f->feeder->members.items[m].model->counters, HD_COUNTER_COUNT * sizeof *before);
        if (!walk(p, f, i))
            return;
        for (uint32_t m = 0, known = p->fresh.items[i].known; m < count && known != HD_NONE; m++)
            take_out(f->feeder->members.items[m].model->counters, before + (size_t)m * HD_COUNTER_COUNT,
                     p->known.items[known].counts + (size_t)(f->first + m) * HD_COUNTER_COUNT);
    }
}

static bool is_before(const stop *a, const stop *b)
{
    return a->wrong != b->wrong ? a->wrong < b->wrong : a->wrong_at < b->wrong_at;
}

/* The model that stopped first; of several, the lowest. */
static uint32_t first_wrong(const hd_rf_paths *p)
{
    const stop *first = NULL;
    uint32_t model = HD_NONE;
    for (uint32_t i = 0; i < p->followers.count; i++) {
        const hd_rf_feeder *feeder = p->followers.items[i].feeder;
        for (uint32_t m = 0; m < feeder->members.count && feeder->failed; m++) {
            const stop *s = &p->stops.items[p->followers.items[i].first + m];
            uint32_t number = feeder->members.items[m].number;
            if (s->wrong == HD_NONE || (first && (is_before(first, s) || (!is_before(s, first) && model < number))))
                continue;
            first = s;
            model = number;
        }
    }
    return model;
}

static uint32_t follow_all(hd_rf_paths *p, uint32_t threads)
{
    if (!p->fresh.count)
        return HD_NONE;
    hd_parallel(threads, p->followers.count, follow, p);
    hd_array_clear(&p->fresh);
    return first_wrong(p);
}

uint32_t hd_rf_paths_take(hd_rf_paths *p, hd_rf_cta *const *ctas, uint32_t count, uint32_t threads)
{
    p->ends = true;
    for (uint32_t i = 0; i < count; i++)
        sort_out(p, ctas[i]);
    return follow_all(p, threads);
}

uint32_t hd_rf_paths_begin(hd_rf_paths *p, const hd_rf_cta *cta, uint32_t threads)
{
    p->ends = false;
    for (uint32_t w = 0; w < cta->warp_count; w++)
        hd_array_push(&p->fresh, (walker){cta, w, HD_NONE});
    return follow_all(p, threads);
}

/* The lowest model that failed. */
static uint32_t lowest_failed(const hd_rf_feeder *feeder, uint32_t lowest)
{
    for (uint32_t m = 0; m < feeder->members.count && feeder->failed; m++)
        if (feeder->members.items[m].failure.wrong && feeder->members.items[m].number < lowest)
            lowest = feeder->members.items[m].number;
    return lowest;
}

uint32_t hd_rf_paths_tell(hd_rf_paths *p, const hd_event *event)
{
    uint32_t lowest = HD_NONE;
    for (uint32_t i = 0; i < p->followers.count; i++) {
        hd_rf_feeder_take(p->followers.items[i].feeder, event);
        lowest = lowest_failed(p->followers.items[i].feeder, lowest);
    }
    return lowest;
}

static void settle(const path *known, const follower *f)
{
    for (uint32_t m = 0; m < f->feeder->members.count; m++) {
        uint64_t *counters = f->feeder->members.items[m].model->counters;
        const uint64_t *counts = known->counts + (size_t)(f->first + m) * HD_COUNTER_COUNT;
        for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
            counters[c] += counts[c] * known->times;
    }
}

void hd_rf_paths_settle(hd_rf_paths *p)
{
    for (uint32_t k = 0; k < p->known.count; k++) {
        path *known = &p->known.items[k];
        for (uint32_t f = 0; f < p->followers.count && known->times; f++)
            settle(known, &p->followers.items[f]);
        known->times = 0;
    }
}
