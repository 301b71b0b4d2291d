/* Classes of lanes: see lanes.h. */
#include "hwmodel/count/memo/lanes.h"
#include <assert.h>

void hd_rf_classes_split(hd_rf_classes *c, uint32_t mask)
{
    uint32_t from = c->count, to = from;
    for (uint32_t k = 0; k < from; k++)
        to += (c->lanes[k] & mask) && (c->lanes[k] & ~mask);
    if (to == from)
        return;
    c->count = to;
    while (from-- > 0) { /* parts never reach a class that was not looked at */
        uint32_t in = c->lanes[from] & mask, out = c->lanes[from] & ~mask;
        if (in)
            c->lanes[--to] = in;
        if (out)
            c->lanes[--to] = out;
    }
}

void hd_rf_classes_write(hd_rf_classes *c, uint32_t *words, const uint32_t *places, uint32_t count)
{
    uint32_t mask = 0, set = 0; /* the last ones: masks that follow each other are often the same */
    hd_rf_classes_whole(c);
    for (uint32_t i = 0; i < count; i++)
        if (words[places[i]] != mask)
            hd_rf_classes_split(c, mask = words[places[i]]);
    mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (words[places[i]] != mask)
            set = hd_rf_classes_set(c, mask = words[places[i]]);
        words[places[i]] = set;
    }
}

void hd_rf_classes_unions(const hd_rf_classes *c, const hd_rf_classes *parts, uint32_t *sets)
{
    for (uint32_t k = 0; k < c->count; k++) {
        sets[k] = hd_rf_classes_set(parts, c->lanes[k]);
        assert(hd_rf_classes_mask(parts, sets[k]) == c->lanes[k]); /* else a model told lanes apart that nothing does */
    }
}

/* Which parts are the first of their classes, and for each mask which parts are in it. */
static uint32_t split(hd_rf_splits *s, const hd_rf_classes *classes, const uint32_t *masks, uint32_t count,
                      hd_rf_classes *parts)
{
    uint32_t firsts = 0, of = 0;
    hd_rf_classes_copy(parts, classes);
    for (uint32_t i = 0; i < count; i++)
        hd_rf_classes_split(parts, masks[i]);
    for (uint32_t k = 0; k < parts->count && of < classes->count; k++)
        if (parts->lanes[k] & classes->lanes[of]) {
            firsts |= 1u << k;
            of++;
        }
    hd_array_clear(&s->words);
    hd_array_push(&s->words, firsts);
    for (uint32_t i = 0; i < count; i++)
        hd_array_push(&s->words, hd_rf_classes_set(parts, masks[i]));
    uint32_t number = hd_sequences_number(&s->numbers, s->words.items, s->words.count, HD_RF_SPLITS - 1);
    return number == HD_SEQUENCES_NONE ? HD_RF_SPLITS : number + 1;
}

static bool is_same(const hd_rf_recent_split *r, const hd_rf_classes *classes, const uint32_t *masks, uint32_t count)
{
    uint32_t other = (r->count ^ count) | (r->classes.count ^ classes->count);
    for (uint32_t i = 0; i < count && !other; i++)
        other = r->masks[i] ^ masks[i];
    for (uint32_t k = 0; k < classes->count && !other; k++)
        other = r->classes.lanes[k] ^ classes->lanes[k];
    return !other;
}

uint32_t hd_rf_split_slow(hd_rf_splits *s, const hd_rf_classes *classes, const uint32_t *masks, uint32_t count,
                          hd_rf_classes *parts)
{
    uint32_t mixed = (masks[0] * 0x9e3779b1u ^ masks[count / 2]) * 0x27d4eb2fu ^ masks[count - 1] * 0x85ebca77u ^
                     classes->lanes[classes->count - 1] * 0xc2b2ae3du;
    if (count > HD_RF_RECENT_MASKS)
        return split(s, classes, masks, count, parts);
    if (!s->recent)
        s->recent = hd_calloc(HD_RF_RECENT, sizeof *s->recent); /* of no masks */
    hd_rf_recent_split *r = &s->recent[(mixed >> 15) % HD_RF_RECENT];
    if (!is_same(r, classes, masks, count)) {
        r->number = split(s, classes, masks, count, &r->parts);
        r->count = count;
        memcpy(r->masks, masks, count * sizeof *masks);
        hd_rf_classes_copy(&r->classes, classes);
    }
    hd_rf_classes_copy(parts, &r->parts);
    return r->number;
}

void hd_rf_splits_free(hd_rf_splits *s)
{
    free(s->recent);
    hd_sequences_free(&s->numbers);
    hd_array_free(&s->words);
}
