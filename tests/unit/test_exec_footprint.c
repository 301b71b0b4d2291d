/* The marks by which launches are found that depend on the order of their CTAs: random epochs of three host threads,
 * one after another here, against sets of bytes. Two epochs conflict that are not in order and share a byte that one
 * of them writes; whatever was written is restored. */
#include "unit.h"

#include "hwmodel/exec/workers/footprint.h"

enum {
    THREADS = 3,
    RANGE = 4 /* CTAs that a thread takes at a time */,
    BYTES = 3 * HD_PAGE_BYTES + 640,
    BUFFERS = 2,
    EPOCHS = 12,
    LAUNCHES = 1500,
    WARP = 32
};

typedef struct epoch {
    uint32_t thread;
    uint64_t first, begun, ended; /* ended 0: open */
    uint8_t read[BUFFERS][BYTES], written[BUFFERS][BYTES];
} epoch;

typedef struct launch {
    hd_memory memory;
    hd_overlaps overlaps;
    bool exact[BUFFERS];
    epoch epochs[EPOCHS];
    uint32_t count, open[THREADS]; /* open: HD_NONE or an epoch */
    uint64_t time, next;           /* next: CTA that nobody has taken */
    uint64_t random;
} launch;

static uint32_t below(launch *l, uint32_t n) { return (uint32_t)(unit_random(&l->random) % n); }

static void note(epoch *s, uint32_t buffer, uint64_t at, uint64_t bytes, bool write)
{
    memset((write ? s->written : s->read)[buffer] + at, 1, bytes);
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

/* Writes change bytes after they were marked. */
static void change(launch *l, const hd_allocation *a, uint64_t at, uint64_t bytes)
{
    memset(a->bytes + at, (int)below(l, 256), bytes);
}

static void access_range(launch *l, epoch *s, hd_footprint *f, uint32_t buffer, bool write)
{
    const hd_allocation *a = &l->memory.allocations.items[buffer];
    bool many = below(l, 8) == 0;
    uint64_t bytes = 1 + below(l, many ? 2 * HD_PAGE_BYTES : 24);
    uint64_t at = many ? below(l, (uint32_t)(BYTES - bytes)) : HD_PAGE_BYTES - 150 + below(l, 300);
    hd_footprint_mark_range(f, a, a->base + at, bytes, write);
    note(s, buffer, at, bytes, write);
    if (write)
        change(l, a, at, bytes);
}

/* Rows of the whole warp or of eight lanes, one address for all, or any. */
static void access_lanes(launch *l, epoch *s, hd_footprint *f, uint32_t buffer, bool write)
{
    const hd_allocation *a = &l->memory.allocations.items[buffer];
    uint32_t bytes = 1u << below(l, 6), mask = below(l, 2) ? UINT32_MAX : (uint32_t)unit_random(&l->random);
    uint32_t group = (uint32_t[]){1, 8, 32, 32}[below(l, 4)], stride = below(l, 4) ? bytes : 0, start = 0;
    uint64_t addresses[WARP];
    for (uint32_t i = 0; i < WARP; i++) {
        if (i % group == 0)
            start = below(l, (BYTES - WARP * bytes) / bytes) * bytes;
        addresses[i] = a->base + start + i % group * stride;
    }
    hd_footprint_mark_lanes(f, a, addresses, mask, bytes, write);
    for (uint32_t i = 0; i < WARP; i++)
        if (mask >> i & 1) {
            note(s, buffer, addresses[i] - a->base, bytes, write);
            if (write)
                change(l, a, addresses[i] - a->base, bytes);
        }
}

/* ---- epochs ------------------------------------------------------------------------------------------------------ */

static void open_epoch(launch *l, uint32_t thread, uint64_t first)
{
    epoch *s = &l->epochs[l->count];
    memset(s, 0, sizeof *s);
    *s = (epoch){.thread = thread, .first = first, .begun = ++l->time};
    hd_footprint_open(&l->overlaps.footprints[thread], first, false);
    l->open[thread] = l->count++;
}

/* The thread takes other CTAs next, or at once goes on with one of those that it has. */
static void close_epoch(launch *l, uint32_t thread)
{
    epoch *s = &l->epochs[l->open[thread]];
    uint64_t left = RANGE - 1 - s->first % RANGE;
    s->ended = ++l->time;
    hd_footprint_close(&l->overlaps.footprints[thread]);
    l->open[thread] = HD_NONE;
    if (l->count < EPOCHS && below(l, 2))
        open_epoch(l, thread, s->first + below(l, (uint32_t)left + 1));
}

static void step(launch *l)
{
    uint32_t thread = below(l, THREADS);
    hd_footprint *f = &l->overlaps.footprints[thread];
    if (l->open[thread] == HD_NONE) {
        if (l->count == EPOCHS)
            return;
        open_epoch(l, thread, l->next);
        l->next += RANGE;
        return;
    }
    epoch *s = &l->epochs[l->open[thread]];
    for (uint32_t i = below(l, 2); i < 2; i++)
        (below(l, 2) ? access_range : access_lanes)(l, s, f, below(l, BUFFERS), below(l, 3) == 0);
    if (below(l, 2))
        close_epoch(l, thread);
}

static bool in_order(const epoch *a, const epoch *b) { return a->first <= b->first && a->ended <= b->begun; }

static bool conflict(const epoch *a, const epoch *b)
{
    for (uint32_t buffer = 0; buffer < BUFFERS; buffer++)
        for (uint32_t i = 0; i < BYTES; i++)
            if ((a->written[buffer][i] && (b->written[buffer][i] || b->read[buffer][i])) ||
                (a->read[buffer][i] && b->written[buffer][i]))
                return !in_order(a, b) && !in_order(b, a);
    return false;
}

static bool any_conflict(const launch *l)
{
    for (uint32_t a = 0; a < l->count; a++)
        for (uint32_t b = 0; b < a; b++)
            if (conflict(&l->epochs[a], &l->epochs[b]))
                return true;
    return false;
}

/* Pages of zeros, which are saved as such, and what is nearly that. */
static void fill(launch *l, unsigned char *bytes)
{
    for (uint32_t page = 0; page < BYTES; page += HD_PAGE_BYTES) {
        uint32_t size = BYTES - page < HD_PAGE_BYTES ? BYTES - page : HD_PAGE_BYTES, kind = below(l, 6),
                 only = kind == 1   ? 0
                        : kind == 2 ? size - 1
                                    : below(l, size);
        for (uint32_t k = 0; k < size; k++)
            bytes[page + k] = kind == 0   ? 0
                              : kind <= 3 ? k == only
                              : kind == 4 ? (unsigned char)(k % 2 * 7)
                                          : (unsigned char)below(l, 256);
    }
}

/* Does it have a conflict? */
static bool expect_launch(launch *l, uint64_t seed)
{
    static unsigned char before[BUFFERS][BYTES];
    l->random = seed;
    l->count = 0;
    l->time = l->next = 0;
    hd_memory_init(&l->memory, 64);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        const uint32_t index = hd_memory_allocate(&l->memory, "buffer", HD_SPACE_GLOBAL, BYTES, 0, false);
        assert_int_equal(index, i);
        l->exact[i] = true;
        fill(l, l->memory.allocations.items[i].bytes);
        memcpy(before[i], l->memory.allocations.items[i].bytes, BYTES);
    }
    hd_overlaps_init(&l->overlaps, &l->memory, THREADS, l->exact);
    for (uint32_t t = 0; t < THREADS; t++)
        l->open[t] = HD_NONE;
    for (uint32_t most = below(l, 20); most; most--)
        step(l);
    for (uint32_t t = 0; t < THREADS; t++)
        if (l->open[t] != HD_NONE) {
            l->epochs[l->open[t]].ended = ++l->time;
            hd_footprint_close(&l->overlaps.footprints[t]);
        }
    hd_overlaps_finish(&l->overlaps);
    bool found = hd_overlaps_any(&l->overlaps);
    assert_false(l->overlaps.imprecise);
    if (found != any_conflict(l))
        fail_msg("launch %llu: a conflict is %sfound", (unsigned long long)seed, found ? "" : "not ");
    hd_overlaps_restore(&l->overlaps);
    for (uint32_t i = 0; i < BUFFERS; i++)
        assert_memory_equal(before[i], l->memory.allocations.items[i].bytes, BYTES);
    hd_overlaps_free(&l->overlaps);
    hd_memory_free(&l->memory);
    return found;
}

static void conflicts_of_epochs(void **state)
{
    static launch l;
    uint32_t found = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= LAUNCHES; seed++)
        found += expect_launch(&l, seed);
    assert_true(found > LAUNCHES / 5 && found < LAUNCHES * 4 / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(conflicts_of_epochs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
