/* Paths that are walked once: see paths.h. Linear in the bytes of the streams, and in the instructions of those that are new. */
#include "hwmodel/rf/paths.h"
#include "base/hash.h"
#include "base/pool.h"

typedef struct path {
    uint64_t hash, times; /* times: warps since the counters were brought up to date */
    uint8_t *bytes;
    uint32_t length;
    uint64_t *counts;     /* by model and counter: of one warp */
} path;

typedef struct follower {
    hd_rf_feeder *feeder;
    uint32_t model;
    uint32_t wrong;    /* index in `fresh` of the first warp that was not proved; HD_NONE */
    uint64_t wrong_at; /* bytes of its path before what was wrong */
} follower;

typedef struct walker { /* a warp that must be walked */
    const hd_rf_cta *cta;
    uint32_t warp;  /* in the CTA */
    uint32_t known; /* index of its path; HD_NONE: no room */
} walker;

struct hd_rf_paths {
    HD_ARRAY(follower) followers;
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
    hd_array_free(&p->fresh);
    free(p->table);
    free(p);
}

void hd_rf_paths_add(hd_rf_paths *p, hd_rf_feeder *feeder, uint32_t model)
{
    hd_array_push(&p->followers, (follower){feeder, model, HD_NONE, 0});
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
    fresh.counts = hd_calloc((size_t)p->followers.count * HD_COUNTER_COUNT, sizeof *fresh.counts);
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

static bool walk(const hd_rf_paths *p, follower *f, const walker *w)
{
    hd_rf_record record;
    hd_rf_cursor cursor = hd_rf_cursor_of(w->cta, w->warp);
    uint32_t cta = w->cta->cta, warp = w->cta->warps[w->warp].warp;
    bool good = tell(f, HD_EVENT_WARP_START, cta, warp);
    while (good && hd_rf_cursor_next(&cursor, &record))
        good = hd_rf_feeder_take(f->feeder, &record.event);
    f->wrong_at = cursor.byte;
    return good && (!p->ends || tell(f, HD_EVENT_WARP_END, cta, warp));
}

/* What a known path counts is taken out of the model's counters again: settle() adds it for all its warps. */
static void follow(void *context, uint32_t index, uint32_t worker)
{
    hd_rf_paths *p = context;
    follower *f = &p->followers.items[index];
    uint64_t *counters = f->feeder->model->counters, before[HD_COUNTER_COUNT];
    (void)worker;
    f->wrong = HD_NONE;
    for (uint32_t i = 0; i < p->fresh.count; i++) {
        memcpy(before, counters, sizeof before);
        if (!walk(p, f, &p->fresh.items[i])) {
            f->wrong = i;
            return;
        }
        if (p->fresh.items[i].known == HD_NONE)
            continue;
        uint64_t *counts = p->known.items[p->fresh.items[i].known].counts + (size_t)index * HD_COUNTER_COUNT;
        for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++) {
            counts[c] = counters[c] - before[c];
            counters[c] = before[c];
        }
    }
}

static bool is_before(const follower *a, const follower *b)
{
    return a->wrong != b->wrong ? a->wrong < b->wrong : a->wrong_at < b->wrong_at;
}

static uint32_t follow_all(hd_rf_paths *p, uint32_t threads)
{
    const follower *first = NULL;
    if (!p->fresh.count)
        return HD_NONE;
    hd_parallel(threads, p->followers.count, follow, p);
    hd_array_clear(&p->fresh);
    for (uint32_t i = 0; i < p->followers.count; i++) {
        const follower *f = &p->followers.items[i];
        if (f->wrong != HD_NONE && (!first || is_before(f, first)))
            first = f;
    }
    return first ? first->model : HD_NONE;
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

uint32_t hd_rf_paths_tell(hd_rf_paths *p, const hd_event *event)
{
    for (uint32_t i = 0; i < p->followers.count; i++)
        if (!hd_rf_feeder_take(p->followers.items[i].feeder, event))
            return p->followers.items[i].model;
    return HD_NONE;
}

void hd_rf_paths_settle(hd_rf_paths *p)
{
    for (uint32_t k = 0; k < p->known.count; k++) {
        path *known = &p->known.items[k];
        for (uint32_t f = 0; f < p->followers.count && known->times; f++) {
            uint64_t *counters = p->followers.items[f].feeder->model->counters;
            const uint64_t *counts = known->counts + (size_t)f * HD_COUNTER_COUNT;
            for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
                counters[c] += counts[c] * known->times;
        }
        known->times = 0;
    }
}
