/* Where CORF and CORF++ allocate registers: the policies of corf.c. O(1) for a register and an entry. */
#include "hwmodel/rf/models/corf_work.h"

void hd_corf_take(hd_corf *c, hd_pack_pool *pool, hd_pack_slices slices)
{
    uint32_t before = hd_corf_in_file(c, pool->used);
    hd_pack_take(pool, slices);
    c->model.held += hd_corf_in_file(c, pool->used) - before;
}

static void free_slices_of_warp(hd_corf *c, hd_pack_pool *pool, hd_pack_slices slices)
{
    uint32_t before = hd_corf_in_file(c, pool->used);
    hd_pack_give(pool, slices);
    c->model.held -= before - hd_corf_in_file(c, pool->used);
}

void hd_corf_count_mapped(hd_corf *c, hd_corf_warp *w, bool more)
{
    w->mapped += more ? 1 : UINT32_MAX;
    c->mapped += more ? 1 : UINT32_MAX;
}

static bool is_left(const hd_corf_target *t)
{
    return t->c->policy == HD_CORF_SIDES ? t->function->sides[t->word] == HD_PACK_LEFT : t->reg->left;
}

/* The run of `width` slices with the same end. */
static uint8_t resized(uint8_t run, uint32_t width, bool left)
{
    uint32_t low = (uint32_t)__builtin_ctz(run), end = low + (uint32_t)__builtin_popcount(run);
    if (left ? width > end : low + width > HD_PACK_SLICES)
        return 0;
    return (uint8_t)(((1u << width) - 1) << (left ? end - width : low));
}

/* In the partner's entry, at the other end. */
static bool join_partner(const hd_corf_target *t, uint32_t width, hd_pack_slices *slices)
{
    const hd_corf_register *b = t->partner;
    hd_corf_register *pair = t->reg < t->partner ? t->reg : t->partner;
    hd_pack_side other = b->left ? HD_PACK_RIGHT : HD_PACK_LEFT;
    uint8_t run = hd_pack_run(t->pool, b->slices.entry, width, other);
    hd_rf_event(&t->c->model, HD_COUNTER_PAIR_TRIES, 1);
    hd_rf_event(&t->c->model, HD_COUNTER_PAIRS_MET, !pair->met);
    pair->met = true;
    if (!run)
        run = hd_pack_run(t->pool, b->slices.entry, width, HD_PACK_ANY);
    if (!run)
        return false;
    hd_rf_event(&t->c->model, HD_COUNTER_PAIR_FITS, 1);
    hd_rf_event(&t->c->model, HD_COUNTER_PAIRS_JOINED, !pair->joined);
    pair->joined = true;
    t->reg->left = run >> (HD_PACK_SLICES - 1) && !(run & 1);
    *slices = (hd_pack_slices){b->slices.entry, run};
    return true;
}

/* The location of a register; the slices that it had are free. */
static hd_pack_slices choose_slices(const hd_corf_target *t, hd_pack_slices old, uint32_t width)
{
    hd_pack_slices slices;
    hd_pack_side side = t->c->policy == HD_CORF_SIDES ? (hd_pack_side)t->function->sides[t->word] : HD_PACK_ANY;
    if (t->partner && t->partner->slices.mask && join_partner(t, width, &slices))
        return slices;
    uint8_t grown = old.mask ? resized(old.mask, width, is_left(t)) : 0;
    if (grown && !(t->pool->entries.items[old.entry].taken & grown))
        return (hd_pack_slices){old.entry, grown};
    t->reg->left = false;
    if (t->partner && !t->partner->slices.mask) {
        slices.entry = hd_pack_empty(t->pool);
        slices.mask = hd_pack_run(t->pool, slices.entry, width, HD_PACK_RIGHT);
        return slices;
    }
    return hd_pack_find(t->pool, width, side);
}

/* The entry of the first register of a pair is reserved until the partner is allocated. */
static void reserve(const hd_corf_target *t)
{
    if (!t->partner)
        return;
    if (t->partner->slices.mask)
        hd_pack_reserve(t->pool, t->partner->slices.entry, false);
    hd_pack_reserve(t->pool, t->reg->slices.entry, !t->partner->slices.mask);
}

static void widen(const hd_corf_target *t, uint32_t width)
{
    hd_corf *c = t->c;
    hd_pack_slices old = t->reg->slices;
    if (old.mask) {
        free_slices_of_warp(c, t->pool, (hd_pack_slices){old.entry, t->reg->held});
        hd_rf_event(&c->model, HD_COUNTER_WIDENINGS, 1);
    }
    hd_pack_slices slices = choose_slices(t, old, width);
    hd_corf_take(c, t->pool, slices);
    t->reg->slices = slices;
    t->reg->held = slices.mask;
    hd_corf_access_table(t->sink, HD_RF_WRITE, t->operand);
    if (old.mask)
        hd_rf_event(&c->model, HD_COUNTER_RELOCATIONS, slices.entry != old.entry);
    else
        hd_corf_count_mapped(c, t->warp, true);
    reserve(t);
}

/* In the slices that it has, if they are enough. */
static bool resize(const hd_corf_target *t, uint32_t width)
{
    hd_corf_register *r = t->reg;
    uint8_t run = r->held ? resized(r->slices.mask, width, is_left(t) && r->slices.mask >> (HD_PACK_SLICES - 1)) : 0;
    if (!run || run & ~r->held)
        return false;
    r->slices.mask = run;
    if (!t->c->kept) {
        free_slices_of_warp(t->c, t->pool, (hd_pack_slices){r->slices.entry, r->held & (uint8_t)~run});
        r->held = run;
    }
    hd_corf_access_table(t->sink, HD_RF_WRITE, t->operand);
    return true;
}

void hd_corf_unmap(hd_corf *c, hd_corf_warp *w, hd_corf_register *r)
{
    if (!r->slices.mask)
        return;
    free_slices_of_warp(c, hd_corf_pool_of(c, w), (hd_pack_slices){r->slices.entry, r->held});
    *r = (hd_corf_register){0};
    hd_corf_count_mapped(c, w, false);
}

void hd_corf_fit(const hd_corf_target *t, uint32_t width)
{
    if (!resize(t, width))
        widen(t, width);
}
