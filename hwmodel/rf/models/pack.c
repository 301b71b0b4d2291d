/* Slices of entries and the free map: see pack.h. */
#include "hwmodel/rf/models/pack.h"

#include "base/bits.h"

static uint8_t run_at(uint32_t free, uint32_t width, uint32_t from)
{
    uint32_t run = ((1u << width) - 1) << from;
    return (uint8_t)((free & run) == run ? run : 0);
}

static uint8_t run_in(uint32_t free, uint32_t width, hd_pack_side side)
{
    uint32_t last = HD_PACK_SLICES - width;
    if (side != HD_PACK_ANY)
        return run_at(free, width, side == HD_PACK_LEFT ? last : 0);
    for (uint32_t from = 0; from <= last; from++)
        if (run_at(free, width, from))
            return run_at(free, width, from);
    return 0;
}

/* The slices of an entry that a search finds free. */
static uint32_t found_free(const hd_pack_entry *e) { return e->reserved ? 0 : HD_PACK_WHOLE & ~(uint32_t)e->taken; }

static void set_entry(hd_pack_pool *pool, uint32_t entry, uint8_t taken, bool reserved)
{
    hd_pack_entry *e = &pool->entries.items[entry];
    uint64_t *with = pool->words.items[entry / 64].with, bit = 1ull << entry % 64;
    with[found_free(e)] ^= bit;
    pool->used += (taken != 0) - (e->taken != 0);
    e->taken = taken;
    e->reserved = reserved;
    with[found_free(e)] ^= bit;
}

static void add_entry(hd_pack_pool *pool)
{
    uint32_t entry = pool->entries.count;
    if (entry % 64 == 0)
        memset(hd_array_extend(&pool->words, 1), 0, sizeof(hd_pack_word));
    memset(hd_array_extend(&pool->entries, 1), 0, sizeof(hd_pack_entry));
    pool->words.items[entry / 64].with[HD_PACK_WHOLE] |= 1ull << entry % 64;
}

/* Masks of free slices that have room for so many (less one) at a side, as a set of bits. */
static const uint16_t masks_with_room[3][HD_PACK_SLICES] = {
    [HD_PACK_ANY] = {0xfffe, 0xf8c8, 0xc080, 0x8000},
    [HD_PACK_LEFT] = {0xff00, 0xf000, 0xc000, 0x8000},
    [HD_PACK_RIGHT] = {0xaaaa, 0x8888, 0x8080, 0x8000},
};

static uint64_t entries_with(const hd_pack_word *w, uint32_t masks)
{
    uint64_t with = 0;
    HD_EACH_BIT (mask, masks)
        with |= w->with[mask];
    return with;
}

/* The lowest entry whose free slices are one of the masks. */
static uint32_t lowest_with(hd_pack_pool *pool, uint32_t masks)
{
    for (uint32_t w = 0; w < pool->words.count; w++) {
        uint64_t with = entries_with(&pool->words.items[w], masks);
        if (with)
            return w * 64 + (uint32_t)__builtin_ctzll(with);
    }
    add_entry(pool);
    return pool->entries.count - 1;
}

void hd_pack_clear(hd_pack_pool *pool)
{
    hd_array_clear(&pool->entries);
    hd_array_clear(&pool->words);
    pool->used = 0;
}

void hd_pack_free(hd_pack_pool *pool)
{
    hd_array_free(&pool->entries);
    hd_array_free(&pool->words);
}

uint8_t hd_pack_run(const hd_pack_pool *pool, uint32_t entry, uint32_t width, hd_pack_side side)
{
    return run_in(HD_PACK_WHOLE & ~(uint32_t)pool->entries.items[entry].taken, width, side);
}

hd_pack_slices hd_pack_find(hd_pack_pool *pool, uint32_t width, hd_pack_side side)
{
    uint32_t entry = lowest_with(pool, masks_with_room[side][width - 1]);
    return (hd_pack_slices){entry, hd_pack_run(pool, entry, width, side)};
}

uint32_t hd_pack_empty(hd_pack_pool *pool) { return lowest_with(pool, 1u << HD_PACK_WHOLE); }

void hd_pack_take(hd_pack_pool *pool, hd_pack_slices slices)
{
    hd_pack_entry *e = &pool->entries.items[slices.entry];
    set_entry(pool, slices.entry, (uint8_t)(e->taken | slices.mask), e->reserved);
    e->layout &= ~hd_pack_bytes(slices.mask);
}

void hd_pack_give(hd_pack_pool *pool, hd_pack_slices slices)
{
    const hd_pack_entry *e = &pool->entries.items[slices.entry];
    uint8_t left = (uint8_t)(e->taken & ~slices.mask);
    set_entry(pool, slices.entry, left, left && e->reserved);
}

void hd_pack_reserve(hd_pack_pool *pool, uint32_t entry, bool reserved)
{
    set_entry(pool, entry, pool->entries.items[entry].taken, reserved);
}

/* ---- snapshots --------------------------------------------------------------------------------------------------- */

/* The lowest byte of a layout, and the value whose byte it says. */
static uint32_t lowest_byte(uint32_t layout) { return layout & 0xffu << (__builtin_ctz(layout) & ~7); }
static uint32_t lowest_value(uint32_t layout) { return ((layout >> (__builtin_ctz(layout) & ~7) & 0xff) - 1) / 4; }

/* The layout of allocated slices. Bytes in free slices are left out: they are lost when the slices are allocated. */
static uint32_t held_slices(const hd_pack_entry *e) { return e->layout & hd_pack_bytes(e->taken); }

/* Before a restore, these slices are empty. */
static void pass_values(hd_pack_entry *e, uint32_t held, hd_snapshot *c)
{
    uint32_t known = 0;
    e->layout |= held;
    for (uint32_t left = held; left; left ^= lowest_byte(left)) {
        uint32_t low = lowest_value(left);
        if (known >> low & 1)
            continue;
        known |= 1u << low;
        e->values[low].owner = hd_snapshot_owner(c, e->values[low].owner);
        e->values[low].claim = hd_snapshot_claim(c, e->values[low].owner.index, e->values[low].claim);
    }
}

/* The entries that are not empty, each with its number; HD_NONE after the last. */
static void pass_held(hd_pack_pool *pool, hd_snapshot *c)
{
    uint32_t i = 0, held;
    do {
        for (held = 0; c->out && i < pool->entries.count && !(held = held_slices(&pool->entries.items[i])); i++)
            ;
        i = hd_snapshot_word(c, held ? i : HD_NONE);
        if (i == HD_NONE)
            return;
        while (i >= pool->entries.count)
            add_entry(pool);
        held = hd_snapshot_word(c, held);
        pass_values(&pool->entries.items[i++], held, c);
    } while (true);
}

enum { MARK_BITS = HD_PACK_SLICES + 1, MARKS = 6 /* of entries, in a word */ };

/* Which slices are allocated, and which entries reserved. */
static void pass_marks(hd_pack_pool *pool, hd_snapshot *c)
{
    uint32_t count = pool->entries.count;
    while (count && !pool->entries.items[count - 1].taken && !pool->entries.items[count - 1].reserved)
        count--;
    count = hd_snapshot_word(c, count);
    while (pool->entries.count < count)
        add_entry(pool);
    for (uint32_t i = 0, end; i < count; i = end) {
        uint32_t marks = 0;
        end = count - i < MARKS ? count : i + MARKS;
        for (uint32_t k = i; k < end; k++)
            marks |= (pool->entries.items[k].taken | (uint32_t)pool->entries.items[k].reserved << HD_PACK_SLICES)
                     << MARK_BITS * (k - i);
        marks = hd_snapshot_word(c, marks);
        for (uint32_t k = i; k < end && !c->out; k++, marks >>= MARK_BITS)
            set_entry(pool, k, marks & HD_PACK_WHOLE, marks >> HD_PACK_SLICES & 1);
    }
}

void hd_pack_snapshot(hd_pack_pool *pool, hd_snapshot *c)
{
    if (!c->out)
        hd_pack_clear(pool);
    pass_marks(pool, c);
    pass_held(pool, c);
}
