/* Data exchange between lanes of a warp: shfl, vote, match, redux, elect, activemask. (bar.warp.sync: barrier.c)
 *
 * With .sync, the lanes that the member mask names take part, except those that have ended (meet.h). A lane outside the
 * mask that executes is a fault. */
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/control/control.h"
#include "hwmodel/exec/control/meet.h"
#include "hwmodel/exec/ops/rows.h"

enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX };

static uint32_t source_lane(uint32_t mode, uint32_t lane, uint32_t b, uint32_t c, bool *valid)
{
    uint32_t segment = c >> 8 & 31, clamp = c & 31, offset = b & 31;
    uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment, j = 0;
    switch (mode) {
    case SHUFFLE_UP:
        j = lane - offset;
        *valid = (int32_t)j >= (int32_t)most;
        break;
    case SHUFFLE_DOWN:
        j = lane + offset;
        *valid = j <= most;
        break;
    case SHUFFLE_BUTTERFLY:
        j = lane ^ offset;
        *valid = j <= most;
        break;
    default: j = least | (offset & ~segment); *valid = j <= most;
    }
    return *valid ? j : lane;
}

/* The ISA leaves the value from a lane that does not take part undefined: here it is the lane's own value, as beyond
 * the segment. */
hd_step hd_run_shuffle(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *a = hd_row(w, op->a), *b = hd_row(w, op->b), *c = hd_row(w, op->c);
    uint32_t *to = (uint32_t *)(void *)w->cta->scratch[0], in_range = 0, absent = 0, with = mask;
    if (op->f != HD_NO_REF) {
        hd_step step = hd_meet(op, w, mask, op->f, "shfl.sync", &with);
        if (step != HD_STEP_NEXT)
            return step;
    }
    for (uint32_t i = 0; i < LANES; i++) {
        bool valid;
        uint32_t j = source_lane(op->boolean, i, b[i], c[i], &valid);
        to[i] = a[with >> j & 1 ? j : i];
        in_range |= (uint32_t)valid << i;
        absent |= (uint32_t) !(with >> j & 1) << i;
    }
    if (w->cta->checks)
        w->cta->checks->absent = absent;
    hd_give_row(w, op->d, to, mask, with);
    if (op->e != HD_NO_REF)
        hd_give_word(w, op->e, in_range, mask, with);
    return hd_met(op, w, mask, with);
}

/* Over the executing lanes, or the named lanes if there is a member mask. */
hd_step hd_run_vote(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t word = hd_warp_word(w, op->a), truth, with = mask;
    if (op->flags & HD_OP_NOT_A)
        word = ~word;
    if (op->f != HD_NO_REF) {
        hd_step step = hd_meet(op, w, mask, op->f, "vote.sync", &with);
        if (step != HD_STEP_NEXT)
            return step;
    }
    uint32_t members[LANES];
    const uint32_t *named = op->f == HD_NO_REF ? NULL : hd_row(w, op->f);
    truth = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t m = named ? named[i] & with : with, yes = word & m;
        members[i] = yes;
        bool answer = op->boolean == HD_VOTE_ALL ? yes == m : op->boolean == HD_VOTE_ANY ? yes != 0 : yes == m || !yes;
        truth |= (uint32_t)answer << i;
    }
    if (op->boolean == HD_VOTE_BALLOT)
        hd_give_row(w, op->d, members, mask, with);
    else
        hd_give_word(w, op->d, truth, mask, with);
    return hd_met(op, w, mask, with);
}

hd_step hd_run_active_mask(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t row[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        row[i] = mask;
    hd_merge(hd_row_of_frame(w, op->d), row, mask, 4);
    return HD_STEP_NEXT;
}

/* By lane: the lanes with the same value. */
static void equal_lanes(const void *a, uint32_t bytes, uint32_t equal[LANES])
{
    uint64_t values[LANES] = {0};
    for (uint32_t i = 0; i < LANES; i++)
        memcpy(&values[i], (const unsigned char *)a + (size_t)i * bytes, bytes == 4 ? 4 : 8);
    for (uint32_t rest = UINT32_MAX; rest;) {
        uint64_t value = values[__builtin_ctz(rest)];
        uint32_t same = 0;
        for (uint32_t j = 0; j < LANES; j++)
            same |= (uint32_t)(values[j] == value) << j;
        rest &= ~same;
        HD_EACH_BIT (lane, same)
            equal[lane] = same;
    }
}

/* match.any: the named lanes with the same value; match.all: all named lanes if they agree, else none. */
hd_step hd_run_match(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *named = hd_row(w, op->f);
    uint32_t row[LANES], agree = 0, with = mask;
    hd_step step = hd_meet(op, w, mask, op->f, "match.sync", &with);
    if (step != HD_STEP_NEXT)
        return step;
    equal_lanes(hd_row(w, op->a), op->a_bytes, row);
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t members = named[i] & with;
        row[i] &= members;
        if (op->boolean == HD_VOTE_ALL && row[i] != members)
            row[i] = 0;
        agree |= (uint32_t)(row[i] == members) << i;
    }
    if (op->d != HD_NO_REF)
        hd_give_row(w, op->d, row, mask, with);
    if (op->e != HD_NO_REF)
        hd_give_word(w, op->e, agree, mask, with);
    return hd_met(op, w, mask, with);
}

/* redux.sync: combines the named lanes' values in ascending order. */
hd_step hd_run_redux(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *named = hd_row(w, op->f), *a = hd_row(w, op->a);
    uint32_t row[LANES] = {0}, absolute[LANES], with = mask;
    hd_step step = hd_meet(op, w, mask, op->f, "redux.sync", &with);
    for (uint32_t i = 0; i < LANES && op->boolean; i++)
        absolute[i] = a[i] & 0x7fffffffu;
    a = op->boolean ? absolute : a;
    if (step != HD_STEP_NEXT)
        return step;
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t members = named[i] & with;
        if (!members)
            continue;
        if (i && members == (named[i - 1] & with)) { /* the common case */
            row[i] = row[i - 1];
            continue;
        }
        row[i] = a[__builtin_ctz(members)];
        HD_EACH_BIT (lane, members & (members - 1))
            row[i] = (uint32_t)op->use.combine(row[i], a[lane], 0);
    }
    hd_give_row(w, op->d, row, mask, with);
    return hd_met(op, w, mask, with);
}

/* elect.sync: the lowest named lane. */
hd_step hd_run_elect(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *named = hd_row(w, op->f);
    uint32_t row[LANES], leader = 0, with = mask;
    hd_step step = hd_meet(op, w, mask, op->f, "elect.sync", &with);
    if (step != HD_STEP_NEXT)
        return step;
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t members = named[i] & with;
        row[i] = members ? (uint32_t)__builtin_ctz(members) : 0;
        leader |= (uint32_t)(members && row[i] == i) << i;
    }
    if (op->d != HD_NO_REF)
        hd_give_row(w, op->d, row, mask, with);
    hd_give_word(w, op->e, leader, mask, with);
    return hd_met(op, w, mask, with);
}
