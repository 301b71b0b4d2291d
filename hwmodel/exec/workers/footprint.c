/* Page marks and their comparison: see footprint.h. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/workers/footprint.h"
#include "base/bits.h"
#include <sched.h>

enum { LANES = 32, GROUP = 8, FIRST_ROOM_BYTES = 64 * HD_PAGE_BYTES };

/* A page is not written yet, being saved, or saved. */
typedef enum hd_page_state { UNTOUCHED, SAVING, SAVED } hd_page_state;

/* ---- a launch ---------------------------------------------------------------------------------------------------- */

void hd_overlaps_init(hd_overlaps *o, const hd_memory *memory, uint32_t threads, bool *byte_precise)
{
    *o = (hd_overlaps){.count = threads,
                       .pages = memory->pages,
                       .allocations = memory->allocations.count,
                       .byte_precise = byte_precise};
    o->texels = hd_calloc((size_t)o->allocations + 1, sizeof *o->texels);
    o->closed = hd_calloc((size_t)o->pages + 1, sizeof *o->closed);
    o->saved = hd_calloc((size_t)o->pages + 1, sizeof *o->saved);
    o->footprints = hd_calloc(threads, sizeof *o->footprints);
    for (uint32_t i = 0; i < threads; i++) {
        hd_footprint *f = &o->footprints[i];
        f->at = hd_calloc((size_t)o->pages + 1, sizeof *f->at);
        f->byte_precise = byte_precise;
        f->read = hd_calloc((size_t)o->allocations + 1, sizeof *f->read);
        f->wrote = hd_calloc((size_t)o->allocations + 1, sizeof *f->wrote);
        f->overlaps = o;
    }
}

void hd_overlaps_texels(hd_overlaps *o, const hd_memory *memory, const unsigned char *bytes)
{
    for (uint32_t i = 0; i < memory->allocations.count; i++) {
        const hd_allocation *a = &memory->allocations.items[i];
        o->texels[i] = o->texels[i] || (uintptr_t)bytes - (uintptr_t)a->bytes < a->size;
    }
}

/* Whether, of an allocation that the thread wrote, reads were not recorded by byte. */
static void check_written(hd_overlaps *o, const hd_footprint *by)
{
    for (uint32_t i = 0; i < by->written.count; i++) {
        uint32_t a = by->written.items[i];
        if (o->texels[a])
            hd_overlaps_found(o);
        for (uint32_t k = 0; k < o->count; k++)
            if (atomic_load_explicit(&o->footprints[k].read[a], memory_order_relaxed))
                o->imprecise = true;
    }
}

void hd_overlaps_finish(hd_overlaps *o)
{
    for (uint32_t i = 0; i < o->count; i++)
        check_written(o, &o->footprints[i]);
    for (uint32_t i = 0; i < o->count; i++)
        for (uint32_t k = 0; k < o->footprints[i].written.count; k++)
            o->byte_precise[o->footprints[i].written.items[k]] =
                o->byte_precise[o->footprints[i].written.items[k]] || o->imprecise;
}

void hd_overlaps_restore(hd_overlaps *o)
{
    for (uint32_t i = 0; i < o->count; i++)
        for (uint32_t k = 0; k < o->footprints[i].saved.count; k++) {
            const hd_saved_page *page = &o->footprints[i].saved.items[k];
            if (page->copy)
                memcpy(page->bytes, page->copy, page->size);
            else
                memset(page->bytes, 0, page->size);
        }
}

static void free_marks(hd_page_marks *marks)
{
    for (hd_page_marks *next; marks; marks = next) {
        next = marks->next;
        free(marks);
    }
}

static void free_epoch(hd_epoch *s)
{
    hd_array_free(&s->pages);
    free(s);
}

void hd_overlaps_free(hd_overlaps *o)
{
    for (uint32_t i = 0; i < o->count; i++) {
        free_marks(o->footprints[i].free);
        free(o->footprints[i].at);
        free(o->footprints[i].read);
        free(o->footprints[i].wrote);
        hd_array_free(&o->footprints[i].written);
        hd_array_free(&o->footprints[i].saved);
        for (uint32_t k = 0; k < o->footprints[i].rooms.count; k++)
            free(o->footprints[i].rooms.items[k]);
        hd_array_free(&o->footprints[i].rooms);
    }
    for (hd_epoch *s = o->epochs, *next; s; s = next) {
        next = s->next;
        for (uint32_t i = 0; i < s->pages.count; i++)
            free(s->pages.items[i]);
        free_epoch(s);
    }
    free(o->footprints);
    free(o->closed);
    free(o->saved);
    free(o->texels);
}

/* ---- epochs ------------------------------------------------------------------------------------------------------ */

static bool share_bits(const uint64_t *a, const uint64_t *b)
{
    uint64_t both = 0;
    for (uint32_t i = 0; i < HD_MARK_WORDS; i++)
        both |= a[i] & b[i];
    return both != 0;
}

static bool touch_alike(const hd_page_marks *a, const hd_page_marks *b)
{
    return (a->writes && b->writes && share_bits(a->written, b->written)) ||
           (a->writes && b->reads && share_bits(a->written, b->read)) ||
           (a->reads && b->writes && share_bits(a->read, b->written));
}

/* b is being closed, a was closed before. */
static bool in_order(const hd_epoch *a, const hd_epoch *b) { return a->first <= b->first && a->ended <= b->begun; }

static bool conflicts(const hd_overlaps *o, const hd_page_marks *marks)
{
    for (const hd_page_marks *m = o->closed[marks->page]; m; m = m->next)
        if (!in_order(m->epoch, marks->epoch) && touch_alike(m, marks))
            return true;
    return false;
}

static void add_closed(hd_overlaps *o, hd_page_marks *m)
{
    hd_page_marks **head = &o->closed[m->page];
    m->next = *head;
    m->link = head;
    if (m->next)
        m->next->link = &m->next;
    *head = m;
}

static void drop(hd_epoch *s, hd_footprint *to)
{
    for (uint32_t i = 0; i < s->pages.count; i++) {
        hd_page_marks *m = s->pages.items[i];
        *m->link = m->next;
        if (m->next)
            m->next->link = m->link;
        m->next = to->free;
        to->free = m;
    }
    free_epoch(s);
}

/* Called when an epoch has been opened, not when one is closed: a thread that closes an epoch may go on with an
 * earlier CTA than others have reached. Epochs that are opened later are then of threads with an open epoch, in the
 * order of their CTAs, or of CTAs that nobody has reached. */
static void drop_settled(hd_overlaps *o, hd_footprint *to)
{
    uint64_t first = UINT64_MAX, begun = UINT64_MAX;
    for (uint32_t i = 0; i < o->count; i++) {
        const hd_epoch *s = o->footprints[i].epoch;
        first = s && s->first < first ? s->first : first;
        begun = s && s->begun < begun ? s->begun : begun;
    }
    for (hd_epoch **at = &o->epochs; *at;) {
        hd_epoch *s = *at;
        if (s->first > first || s->ended > begun) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        drop(s, to);
    }
}

void hd_footprint_open(hd_footprint *f, uint64_t first, bool alone)
{
    f->epoch = hd_calloc(1, sizeof *f->epoch);
    f->epoch->first = first;
    f->epoch->alone = alone;
    f->epoch->begun = ++f->overlaps->clock;
    drop_settled(f->overlaps, f);
}

void hd_footprint_close(hd_footprint *f)
{
    hd_overlaps *o = f->overlaps;
    hd_epoch *s = f->epoch;
    bool found = hd_overlaps_any(o);
    if (!s)
        return;
    s->ended = ++o->clock;
    for (uint32_t i = 0; i < s->pages.count; i++) {
        hd_page_marks *m = s->pages.items[i];
        found = found || conflicts(o, m);
        f->at[m->page] = NULL;
        add_closed(o, m);
    }
    if (found)
        hd_overlaps_found(o);
    check_written(o, f);
    s->next = o->epochs;
    o->epochs = s;
    f->epoch = NULL;
}

/* ---- marks ------------------------------------------------------------------------------------------------------- */

static hd_page_marks *new_marks(hd_footprint *f, uint32_t page)
{
    hd_page_marks *m = f->free;
    if (m)
        f->free = m->next;
    else {
        m = hd_malloc(sizeof *m);
        if (atomic_fetch_add_explicit(&f->overlaps->marks, 1, memory_order_relaxed) >= HD_MOST_MARKS)
            hd_overlaps_found(f->overlaps);
    }
    m->page = page;
    m->epoch = f->epoch;
    m->reads = m->writes = false;
    hd_array_push(&f->epoch->pages, m);
    return f->at[page] = m;
}

/* Room grows with the number of marks: small launches need little. */
static void *room_for(hd_footprint *f, uint32_t bytes)
{
    if (f->room_bytes < bytes) {
        bool first = !f->rooms.count;
        f->room = first ? hd_malloc(FIRST_ROOM_BYTES) : hd_malloc_huge_page();
        f->room_bytes = first ? FIRST_ROOM_BYTES : HD_HUGE_PAGE_BYTES;
        hd_array_push(&f->rooms, f->room);
    }
    f->room_bytes -= bytes;
    return f->room + f->room_bytes;
}

/* Saves a page; other threads that want to write it wait. */
static void save(hd_footprint *f, const hd_allocation *a, uint32_t page)
{
    uint64_t at = (uint64_t)(page - a->first_page) * HD_PAGE_BYTES, left = a->size - at;
    uint32_t size = left < HD_PAGE_BYTES ? (uint32_t)left : HD_PAGE_BYTES;
    bool zero = !a->bytes[at] && !memcmp(a->bytes + at, a->bytes + at + 1, size - 1);
    void *copy = zero ? NULL : memcpy(room_for(f, size), a->bytes + at, size);
    hd_array_push(&f->saved, (hd_saved_page){a->bytes + at, copy, size});
}

static void save_once(hd_footprint *f, const hd_allocation *a, uint32_t page)
{
    atomic_uchar *state = &f->overlaps->saved[page];
    for (unsigned char now; (now = atomic_load_explicit(state, memory_order_acquire)) != SAVED;) {
        if (now == SAVING)
            sched_yield();
        else if (atomic_compare_exchange_strong(state, &now, SAVING)) {
            save(f, a, page);
            atomic_store_explicit(state, SAVED, memory_order_release);
        }
    }
}

static void note_write(hd_footprint *f, const hd_allocation *a, uint32_t page)
{
    if (!f->wrote[a->index])
        hd_array_push(&f->written, a->index);
    f->wrote[a->index] = true;
    save_once(f, a, page);
}

static __attribute__((noinline)) void first_of_page(hd_footprint *f, const hd_allocation *a, uint32_t page, bool write)
{
    hd_page_marks *m = f->at[page] ? f->at[page] : new_marks(f, page);
    if (write)
        note_write(f, a, page);
    *(write ? &m->writes : &m->reads) = true;
    memset(write ? m->written : m->read, 0, sizeof m->read);
}

static inline uint64_t *page_words(hd_footprint *f, const hd_allocation *a, uint32_t page, bool write)
{
    const hd_page_marks *m = f->at[page];
    if (__builtin_expect(!m || !(write ? m->writes : m->reads), 0))
        first_of_page(f, a, page, write);
    return write ? f->at[page]->written : f->at[page]->read;
}

/* Marks bytes [at, at + bytes) of the allocation, which are in one page. */
static inline void mark_in_page(hd_footprint *f, const hd_allocation *a, uint64_t at, uint32_t bytes, bool write)
{
    uint64_t *words = page_words(f, a, a->first_page + (uint32_t)(at / HD_PAGE_BYTES), write);
    uint64_t first = at / 64, last = (at + bytes - 1) / 64, from = ~(uint64_t)0 << at % 64,
             to = ~(uint64_t)0 >> (63 - (at + bytes - 1) % 64);
    if (first == last) {
        words[first % HD_MARK_WORDS] |= from & to;
        return;
    }
    words[first % HD_MARK_WORDS] |= from;
    for (uint64_t i = first + 1; i < last; i++)
        words[i % HD_MARK_WORDS] = ~(uint64_t)0;
    words[last % HD_MARK_WORDS] |= to;
}

void hd_footprint_mark_range(hd_footprint *f, const hd_allocation *a, uint64_t address, uint64_t bytes, bool write)
{
    for (uint64_t at = address - a->base, end = at + bytes; at < end;) {
        uint64_t left = HD_PAGE_BYTES - at % HD_PAGE_BYTES, part = hd_min(left, end - at);
        mark_in_page(f, a, at, (uint32_t)part, write);
        at += part;
    }
}

/* Whether the addresses of `lanes` (a constant) lanes are contiguous. */
static inline bool is_row(const uint64_t *address, uint64_t stride, uint64_t lanes)
{
    uint64_t difference = 0;
    for (uint64_t i = 0; i < lanes; i++)
        difference |= address[i] ^ (address[0] + i * stride);
    return !difference;
}

static void mark_lane_by_lane(hd_footprint *f, const hd_allocation *a, const uint64_t *address, uint32_t mask,
                              uint32_t bytes, bool write)
{
    uint64_t bits = ((uint64_t)1 << bytes) - 1, *words = NULL;
    uint32_t last = HD_NONE;
    HD_EACH_BIT (lane, mask) {
        uint64_t at = address[lane] - a->base;
        uint32_t page = a->first_page + (uint32_t)(at / HD_PAGE_BYTES);
        if (page != last)
            words = page_words(f, a, page, write);
        last = page;
        words[at / 64 % HD_MARK_WORDS] |= bits << at % 64;
    }
}

/* Contiguous accesses of the whole warp, or of eight lanes at a time, are nearly all. */
bool hd_footprint_mark_lanes(hd_footprint *f, const hd_allocation *a, const uint64_t *address, uint32_t mask,
                             uint32_t bytes, bool write)
{
    if (mask == UINT32_MAX && address[1] - address[0] == bytes && is_row(address, bytes, LANES)) {
        uint64_t at = address[0] - a->base, size = LANES * (uint64_t)bytes;
        if (at % HD_PAGE_BYTES + size <= HD_PAGE_BYTES)
            mark_in_page(f, a, at, (uint32_t)size, write);
        else
            hd_footprint_mark_range(f, a, address[0], size, write);
        return true;
    }
    for (uint32_t i = 0; i < LANES; i += GROUP) {
        uint32_t lanes = mask >> i & ((1u << GROUP) - 1);
        if (lanes == (1u << GROUP) - 1 && is_row(address + i, bytes, GROUP))
            hd_footprint_mark_range(f, a, address[i], GROUP * (uint64_t)bytes, write);
        else if (lanes == (1u << GROUP) - 1 && is_row(address + i, 0, GROUP))
            hd_footprint_mark_range(f, a, address[i], bytes, write);
        else
            mark_lane_by_lane(f, a, address, lanes << i, bytes, write);
    }
    return false;
}
