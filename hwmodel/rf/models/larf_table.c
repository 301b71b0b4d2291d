/* The address mapping table: see larf_table.h. */
#include "hwmodel/rf/models/larf_table.h"
#include "hwmodel/rf/technique.h"

#include "base/bits.h"

enum { LARF_BUCKETS = 4096, WORD_BYTES = 4, MOST_FOUND = 128 };

static uint64_t address_of(const hd_larf_pattern *p, uint32_t lane) { return p->base + (uint64_t)p->stride * lane; }

static uint32_t first_lane(uint32_t lanes) { return (uint32_t)__builtin_ctz(lanes); }
static uint32_t last_lane(uint32_t lanes) { return 31 - (uint32_t)__builtin_clz(lanes); }

static uint32_t *bucket_of(const hd_larf_table *t, uint64_t base, uint32_t stride)
{
    uint64_t hash = (base / WORD_BYTES ^ (uint64_t)stride << 32) * 0x9e3779b97f4a7c15u;
    return &t->buckets.items[hash >> 52];
}

/* ---- entries come and go ----------------------------------------------------------------------------------------- */

void hd_larf_start(hd_larf_table *t, uint32_t entries, uint32_t physical)
{
    hd_array_clear(&t->entries);
    hd_array_clear(&t->buckets);
    hd_array_clear(&t->by_physical);
    memset(hd_array_extend(&t->entries, entries), 0, entries * sizeof *t->entries.items);
    memset(hd_array_extend(&t->buckets, LARF_BUCKETS), 0, LARF_BUCKETS * sizeof *t->buckets.items);
    memset(hd_array_extend(&t->by_physical, physical + 1), 0, (physical + 1) * sizeof *t->by_physical.items);
    t->used = t->oldest = t->youngest = 0;
    t->free = entries ? 1 : 0;
    for (uint32_t e = 0; e + 1 < entries; e++)
        t->entries.items[e].younger = e + 2;
}

void hd_larf_free(hd_larf_table *t)
{
    hd_array_free(&t->entries);
    hd_array_free(&t->buckets);
    hd_array_free(&t->by_physical);
}

static hd_larf_entry *at(const hd_larf_table *t, uint32_t number) { return &t->entries.items[number - 1]; }

static void unlink_age(hd_larf_table *t, hd_larf_entry *e)
{
    if (e->older)
        at(t, e->older)->younger = e->younger;
    else
        t->oldest = e->younger;
    if (e->younger)
        at(t, e->younger)->older = e->older;
    else
        t->youngest = e->older;
}

static void remove_entry(hd_larf_table *t, uint32_t number)
{
    hd_larf_entry *e = at(t, number);
    uint32_t *link = bucket_of(t, e->where.base, e->where.stride);
    while (*link != number)
        link = &at(t, *link)->chain;
    *link = e->chain;
    unlink_age(t, e);
    t->by_physical.items[e->physical] = 0;
    e->where.lanes = 0;
    e->younger = t->free;
    t->free = number;
    t->used--;
}

bool hd_larf_forget(hd_larf_table *t, uint32_t physical)
{
    uint32_t number = t->by_physical.items[physical];
    if (number)
        remove_entry(t, number);
    return number != 0;
}

uint32_t hd_larf_clear(hd_larf_table *t)
{
    uint32_t removed = t->used;
    while (t->oldest)
        remove_entry(t, t->oldest);
    return removed;
}

bool hd_larf_enter(hd_larf_table *t, hd_larf_pattern p, uint32_t physical, const uint32_t *values, bool *evicted)
{
    uint64_t first = address_of(&p, first_lane(p.lanes)) >> 32, last = address_of(&p, last_lane(p.lanes)) >> 32;
    *evicted = false;
    (void)hd_larf_forget(t, physical);
    if (!t->used)
        t->region = first;
    if (first != t->region || last != t->region)
        return false;
    *evicted = !t->free;
    if (*evicted)
        remove_entry(t, t->oldest);
    uint32_t number = t->free, *bucket = bucket_of(t, p.base, p.stride);
    hd_larf_entry *e = at(t, number);
    t->free = e->younger;
    *e = (hd_larf_entry){.where = p, .physical = physical, .chain = *bucket, .older = t->youngest};
    memcpy(e->values, values, sizeof e->values);
    *bucket = number;
    if (t->youngest)
        at(t, t->youngest)->younger = number;
    else
        t->oldest = number;
    t->youngest = number;
    t->by_physical.items[physical] = number;
    t->used++;
    return true;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* A single lane has stride 0. */
hd_larf_pattern hd_larf_pattern_of(uint32_t lanes, const uint64_t *addresses)
{
    static const hd_larf_pattern none = {0, 0, 0};
    uint32_t first = first_lane(lanes), rest = lanes & (lanes - 1), next = rest ? first_lane(rest) : first + 1;
    uint64_t step = rest ? addresses[next] - addresses[first] : 0, stride = step / (next - first);
    if (stride > HD_LARF_MOST_STRIDE || stride % WORD_BYTES)
        return none;
    hd_larf_pattern p = {addresses[first] - stride * first, (uint32_t)stride, lanes};
    HD_EACH_BIT (lane, rest)
        if (addresses[lane] != address_of(&p, lane))
            return none;
    return p;
}

const hd_larf_entry *hd_larf_find(const hd_larf_table *t, hd_larf_pattern p)
{
    for (uint32_t number = *bucket_of(t, p.base, p.stride); number; number = at(t, number)->chain) {
        const hd_larf_entry *e = at(t, number);
        if (e->where.base == p.base && e->where.stride == p.stride && !(p.lanes & ~e->where.lanes))
            return e;
    }
    return NULL;
}

static uint32_t shifted(uint32_t lanes, int32_t shift) { return shift < 0 ? lanes << -shift : lanes >> shift; }

/* Entries that have some of the lanes, the nearest first. */
static uint32_t find_some(const hd_larf_table *t, const hd_larf_pattern *p, hd_larf_part found[MOST_FOUND])
{
    uint32_t count = 0;
    for (int32_t k = 0; k < 64; k++) {
        int32_t shift = k % 2 ? (k + 1) / 2 : -k / 2;
        uint64_t base = p->base - (uint64_t)((int64_t)shift * p->stride);
        for (uint32_t n = *bucket_of(t, base, p->stride); n && shift < 32 && count < MOST_FOUND; n = at(t, n)->chain) {
            const hd_larf_entry *e = at(t, n);
            uint32_t lanes =
                e->where.base == base && e->where.stride == p->stride ? shifted(e->where.lanes, shift) & p->lanes : 0;
            if (lanes)
                found[count++] = (hd_larf_part){e, shift, lanes};
        }
    }
    return count;
}

uint32_t hd_larf_find_parts(const hd_larf_table *t, hd_larf_pattern p, hd_larf_part parts[2])
{
    hd_larf_part found[MOST_FOUND];
    uint32_t count = p.stride ? find_some(t, &p, found) : 0;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a; b < count; b++) {
            if ((found[a].lanes | found[b].lanes) != p.lanes)
                continue;
            parts[0] = found[a];
            parts[1] = found[b];
            parts[1].lanes &= ~found[a].lanes;
            return a == b ? 1 : 2;
        }
    return 0;
}

/* ---- stores ------------------------------------------------------------------------------------------------------ */

/* Does a word of the pattern overlap [from, to)? Words of a stride do not wrap around the end of the address space. */
static bool overlaps(const hd_larf_pattern *p, uint64_t from, uint64_t to)
{
    uint32_t first = first_lane(p->lanes), last = last_lane(p->lanes);
    uint64_t low = address_of(p, first);
    if (to <= low || from >= address_of(p, last) + WORD_BYTES)
        return false;
    if (!p->stride)
        return true;
    uint32_t lane = from < low + WORD_BYTES ? first : first + (uint32_t)((from - low - WORD_BYTES) / p->stride) + 1;
    for (; lane <= last && address_of(p, lane) < to; lane++)
        if (p->lanes >> lane & 1)
            return true;
    return false;
}

typedef struct stored {
    uint32_t lanes, bytes;
    const uint64_t *addresses;
    uint64_t low, high;
} stored;

static bool touches(const hd_larf_table *t, const hd_larf_entry *e, const stored *s)
{
    uint32_t first = first_lane(e->where.lanes);
    if (HD_PLANTED(t->bases_only))
        return address_of(&e->where, first) == s->addresses[first_lane(s->lanes)];
    if (address_of(&e->where, first) >= s->high ||
        address_of(&e->where, last_lane(e->where.lanes)) + WORD_BYTES <= s->low)
        return false;
    HD_EACH_BIT (lane, s->lanes) {
        uint64_t from = s->addresses[lane];
        if (overlaps(&e->where, from, from + s->bytes))
            return true;
    }
    return false;
}

uint32_t hd_larf_evict(hd_larf_table *t, uint32_t lanes, const uint64_t *addresses, uint32_t bytes)
{
    stored s = {lanes, bytes, addresses, UINT64_MAX, 0};
    uint32_t removed = 0, next;
    HD_EACH_BIT (lane, lanes) {
        uint64_t from = addresses[lane];
        s.low = hd_min(s.low, from);
        s.high = hd_max(s.high, from + bytes);
    }
    for (uint32_t number = t->oldest; number; number = next) {
        next = at(t, number)->younger;
        if (touches(t, at(t, number), &s)) {
            remove_entry(t, number);
            removed++;
        }
    }
    return removed;
}
