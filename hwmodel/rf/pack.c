/* Slices of entries and the free map: see pack.h. */
#include "hwmodel/rf/pack.h"

enum { RIGHT_ROOM = -1, LEFT_ROOM = 2, ANY_ROOM = 5, EMPTY_ROOM = 9 }; /* + width where that is below 4; see ROOMS */

static uint32_t room_for(uint32_t width, hd_pack_side side)
{
    if (width == HD_PACK_SLICES)
        return EMPTY_ROOM;
    return (uint32_t)(side == HD_PACK_LEFT ? LEFT_ROOM : side == HD_PACK_RIGHT ? RIGHT_ROOM : ANY_ROOM) + width;
}

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

/* Kinds of room by mask of free slices: for 1 to 3 at the right, at the left, anywhere, and for all. */
#define AT(free, run, bit) ((((free) & (run)) == (run)) << (bit))
#define ANYWHERE(free) (((free) != 0) << 6 | (((free) & (free) >> 1) != 0) << 7 | (((free) & (free) >> 1 & (free) >> 2) != 0) << 8)
#define ROOMS(free) \
    (AT(free, 1, 0) | AT(free, 3, 1) | AT(free, 7, 2) | AT(free, 8, 3) | AT(free, 12, 4) | AT(free, 14, 5) | ANYWHERE(free) | AT(free, 15, 9))
static const uint16_t rooms_of_free[HD_PACK_WHOLE + 1] = {
    ROOMS(0), ROOMS(1), ROOMS(2),  ROOMS(3),  ROOMS(4),  ROOMS(5),  ROOMS(6),  ROOMS(7),
    ROOMS(8), ROOMS(9), ROOMS(10), ROOMS(11), ROOMS(12), ROOMS(13), ROOMS(14), ROOMS(15),
};

static uint32_t rooms_of(const hd_pack_entry *e)
{
    return rooms_of_free[e->reserved ? 0 : HD_PACK_WHOLE & ~(uint32_t)e->taken];
}

static void flip_rooms(hd_pack_pool *pool, uint32_t entry, uint32_t changed, uint32_t now)
{
    for (; changed; changed &= changed - 1) {
        uint32_t room = (uint32_t)__builtin_ctz(changed);
        pool->words.items[entry / 64].with[room] ^= 1ull << entry % 64;
        if (now >> room & 1 && entry / 64 < pool->first[room])
            pool->first[room] = entry / 64;
    }
}

static void set_entry(hd_pack_pool *pool, uint32_t entry, uint8_t taken, bool reserved)
{
    hd_pack_entry *e = &pool->entries.items[entry];
    uint32_t before = rooms_of(e);
    pool->used += (taken != 0) - (e->taken != 0);
    e->taken = taken;
    e->reserved = reserved;
    uint32_t now = rooms_of(e);
    flip_rooms(pool, entry, before ^ now, now);
}

static void add_entry(hd_pack_pool *pool)
{
    uint32_t entry = pool->entries.count;
    if (entry % 64 == 0)
        memset(hd_array_extend(&pool->words, 1), 0, sizeof(hd_pack_word));
    memset(hd_array_extend(&pool->entries, 1), 0, sizeof(hd_pack_entry));
    flip_rooms(pool, entry, (1u << HD_PACK_ROOMS) - 1, (1u << HD_PACK_ROOMS) - 1);
}

static uint32_t lowest_with(hd_pack_pool *pool, uint32_t room)
{
    for (uint32_t *w = &pool->first[room]; *w < pool->words.count; ++*w)
        if (pool->words.items[*w].with[room])
            return *w * 64 + (uint32_t)__builtin_ctzll(pool->words.items[*w].with[room]);
    add_entry(pool);
    return pool->entries.count - 1;
}

void hd_pack_clear(hd_pack_pool *pool)
{
    hd_array_clear(&pool->entries);
    hd_array_clear(&pool->words);
    memset(pool->first, 0, sizeof pool->first);
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

hd_pack_place hd_pack_find(hd_pack_pool *pool, uint32_t width, hd_pack_side side)
{
    uint32_t entry = lowest_with(pool, room_for(width, side));
    return (hd_pack_place){entry, hd_pack_run(pool, entry, width, side)};
}

uint32_t hd_pack_empty(hd_pack_pool *pool)
{
    return lowest_with(pool, EMPTY_ROOM);
}

/* Slices of a run that begins at slice `low`, as a word: the first `width` bytes of the value there. */
static uint32_t bytes_of(uint32_t low, uint32_t width)
{
    uint32_t bytes = 0x04030201u + 0x01010101u * (4 * low);
    return (uint32_t)((uint64_t)bytes << 8 * low) & (uint32_t)(((1ull << 8 * width) - 1) << 8 * low);
}

static uint32_t slices_of(uint32_t low, uint32_t width)
{
    return (uint32_t)(((1ull << 8 * width) - 1) << 8 * low);
}

static uint32_t layout_of(const hd_pack_entry *e)
{
    return (uint32_t)e->slices[0] | (uint32_t)e->slices[1] << 8 | (uint32_t)e->slices[2] << 16 | (uint32_t)e->slices[3] << 24;
}

void hd_pack_take(hd_pack_pool *pool, hd_pack_place place)
{
    hd_pack_entry *e = &pool->entries.items[place.entry];
    set_entry(pool, place.entry, e->taken | place.mask, e->reserved);
    for (uint32_t s = 0; s < HD_PACK_SLICES; s++)
        if (place.mask >> s & 1)
            e->slices[s] = 0;
}

void hd_pack_give(hd_pack_pool *pool, hd_pack_place place)
{
    const hd_pack_entry *e = &pool->entries.items[place.entry];
    uint8_t left = e->taken & (uint8_t)~place.mask;
    set_entry(pool, place.entry, left, left && e->reserved);
}

void hd_pack_reserve(hd_pack_pool *pool, uint32_t entry, bool reserved)
{
    set_entry(pool, entry, pool->entries.items[entry].taken, reserved);
}

hd_pack_value hd_pack_read(const hd_pack_pool *pool, hd_pack_place place)
{
    const hd_pack_entry *e = &pool->entries.items[place.entry];
    uint32_t low = (uint32_t)__builtin_ctz(place.mask), width = hd_pack_width(place);
    hd_pack_value value = e->values[low];
    if ((layout_of(e) & slices_of(low, width)) != bytes_of(low, width))
        value.claim.lanes = 0;
    return value;
}

void hd_pack_write(hd_pack_pool *pool, hd_pack_place place, hd_owner owner, hd_claim claim)
{
    hd_pack_entry *e = &pool->entries.items[place.entry];
    uint32_t low = (uint32_t)__builtin_ctz(place.mask), width = hd_pack_width(place);
    e->values[low] = (hd_pack_value){owner, claim};
    for (uint32_t s = low; s < HD_PACK_SLICES; s++) {
        uint8_t byte = (uint8_t)(1 + 4 * low + (s - low));
        if (s - low < width)
            e->slices[s] = byte;
        else if (e->slices[s] == byte)
            e->slices[s] = 0;
    }
}

/* ---- carrying -------------------------------------------------------------------------------------------------------- */

/* Slices that hold something of the frames. What nobody has in its slices is not carried: it is forgotten when they are taken. */
static uint32_t held_slices(const hd_pack_entry *e, const hd_rf_carrier *c)
{
    uint32_t held = 0;
    for (uint32_t s = 0; s < HD_PACK_SLICES && c->out; s++) {
        if (!(e->taken >> s & 1) || !e->slices[s])
            continue;
        uint32_t index = e->values[(e->slices[s] - 1) / 4].owner.index;
        held |= index >= c->first && (index < c->end || !c->rest) ? (uint32_t)e->slices[s] << 8 * s : 0;
    }
    return held;
}

static void carry_values(hd_pack_entry *e, uint32_t held, hd_rf_carrier *c)
{
    uint32_t known = 0;
    for (uint32_t s = 0; s < HD_PACK_SLICES; s++) {
        uint32_t byte = held >> 8 * s & 255, low = (byte - 1) / 4;
        if (!byte)
            continue;
        e->slices[s] = (uint8_t)byte;
        if (known >> low & 1)
            continue;
        known |= 1u << low;
        e->values[low].owner = hd_rf_carried_owner(c, e->values[low].owner);
        e->values[low].claim = hd_rf_carried_claim(c, e->values[low].owner.index, e->values[low].claim);
    }
}

/* The entries that hold something of the frames, each with its number; HD_NONE behind the last. */
static void carry_held(hd_pack_pool *pool, hd_rf_carrier *c)
{
    uint32_t i = 0, held;
    do {
        for (held = 0; c->out && i < pool->entries.count && !(held = held_slices(&pool->entries.items[i], c)); i++)
            ;
        i = hd_rf_carried(c, held ? i : HD_NONE);
        if (i == HD_NONE)
            return;
        while (i >= pool->entries.count)
            add_entry(pool);
        held = hd_rf_carried(c, held);
        carry_values(&pool->entries.items[i++], held, c);
    } while (true);
}

enum { MARK_BITS = HD_PACK_SLICES + 1, MARKS = 6 /* of entries, in a word */ };

/* Which slices are taken, and which entries reserved. */
static void carry_marks(hd_pack_pool *pool, hd_rf_carrier *c)
{
    uint32_t count = pool->entries.count;
    while (count && !pool->entries.items[count - 1].taken && !pool->entries.items[count - 1].reserved)
        count--;
    count = hd_rf_carried(c, count);
    while (pool->entries.count < count)
        add_entry(pool);
    for (uint32_t i = 0, end; i < count; i = end) {
        uint32_t marks = 0;
        end = count - i < MARKS ? count : i + MARKS;
        for (uint32_t k = i; k < end; k++)
            marks |= (pool->entries.items[k].taken | (uint32_t)pool->entries.items[k].reserved << HD_PACK_SLICES) << MARK_BITS * (k - i);
        marks = hd_rf_carried(c, marks);
        for (uint32_t k = i; k < end && !c->out; k++, marks >>= MARK_BITS)
            set_entry(pool, k, marks & HD_PACK_WHOLE, marks >> HD_PACK_SLICES & 1);
    }
}

void hd_pack_carry(hd_pack_pool *pool, hd_rf_carrier *c)
{
    if (!c->out && !c->bottom)
        hd_pack_clear(pool);
    if (!c->rest)
        carry_marks(pool, c);
    carry_held(pool, c);
}
