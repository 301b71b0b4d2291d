/* Classes of lanes: see classes.h. */
#include "hwmodel/count/memo/classes.h"

void hd_lane_classes_split(hd_lane_classes *c, uint32_t mask)
{
    uint32_t from = c->count, to = from;
    for (uint32_t k = 0; k < from; k++)
        to += (c->lanes[k] & mask) && (c->lanes[k] & ~mask);
    if (to == from)
        return;
    c->count = to;
    while (from-- > 0) { /* from the last on: parts never overwrite a class that is still to be split */
        uint32_t in = c->lanes[from] & mask, out = c->lanes[from] & ~mask;
        if (in)
            c->lanes[--to] = in;
        if (out)
            c->lanes[--to] = out;
    }
}

uint32_t hd_lane_classes_set(const hd_lane_classes *c, uint32_t mask)
{
    uint32_t set = 0;
    for (uint32_t k = 0; k < c->count; k++)
        set |= (uint32_t)((c->lanes[k] & mask) != 0) << k;
    return set;
}

uint32_t hd_lane_classes_mask(const hd_lane_classes *c, uint32_t set)
{
    uint32_t mask = 0;
    for (; set; set &= set - 1)
        mask |= c->lanes[__builtin_ctz(set)];
    return mask;
}
