/* Runs what an op of machine code does beyond the interpreter's: the steps before it, the halves of its result, and the
 * operations that PTX has not. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC optimize("O3")
#endif
#endif
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/ops/scalar.h"
#include "hwmodel/exec/ops/special.h"
#include "hwmodel/exec/state/fault.h"
#include "hwmodel/machine/decoder.h"

/* ---- steps ------------------------------------------------------------------------------------------------------- */

HD_CLONES static void negate(u32 *d, const u32 *a) { HD_LANE_LOOP d[i] = 0 - a[i]; }
HD_CLONES static void complement(u32 *d, const u32 *a) { HD_LANE_LOOP d[i] = ~a[i]; }
HD_CLONES static void sign(u32 *d, const u32 *a, u32 flip, u32 clear) { HD_LANE_LOOP d[i] = (a[i] & ~clear) ^ flip; }
HD_CLONES static void pair(u64 *d, const u32 *low, const u32 *high) { HD_LANE_LOOP d[i] = (u64)high[i] << 32 | low[i]; }
HD_CLONES static void product(u32 *d, const u32 *a, const u32 *b) { HD_LANE_LOOP d[i] = a[i] * b[i]; }
HD_CLONES static void add(u32 *d, const u32 *a, const u32 *b) { HD_LANE_LOOP d[i] = a[i] + b[i]; }
HD_CLONES static void shift(u32 *d, const u32 *a, u32 n) { HD_LANE_LOOP d[i] = a[i] << n; }
HD_CLONES static void shift_high(u32 *d, const u32 *a, const u32 *b, u32 n)
{
    HD_LANE_LOOP d[i] = (u32)(((u64)b[i] << 32 | a[i]) << n >> 32);
}
HD_CLONES static void sign_high(u32 *d, const u32 *a, u32 n)
{
    HD_LANE_LOOP d[i] = (u32)((u64)(s64)(s32)a[i] << n >> 32);
}
HD_CLONES static void scale(u32 *d, const u32 *a, const u32 *b, u32 by) { HD_LANE_LOOP d[i] = a[i] * by + b[i]; }

static void make_address(hd_warp *w, const hd_machine_step *s)
{
    const void *a = hd_row(w, s->a), *b = hd_row(w, s->b);
    u64 *to = hd_row_of_frame(w, s->to);
    if (!s->wide_a && !s->wide_b) {
        scale((u32 *)(void *)to, a, b, (u32)s->value);
        return;
    }
    for (int i = 0; i < LANES; i++) {
        u64 x = s->wide_a ? ((const u64 *)a)[i] : ((const u32 *)a)[i];
        u64 y = s->wide_b ? ((const u64 *)b)[i] : ((const u32 *)b)[i];
        to[i] = x * s->value + y;
    }
}

/* A wide row from two, or from one that is wide already (a constant). */
static const u64 *wide(hd_warp *w, const hd_machine_step *s, u64 *to)
{
    if (s->b == HD_NO_REF)
        return hd_row(w, s->a);
    pair(to, hd_row(w, s->a), hd_row(w, s->b));
    return to;
}

static void sign_pair(hd_warp *w, const hd_machine_step *s, bool negates)
{
    u64 *to = hd_row_of_frame(w, s->to);
    const u64 *from = wide(w, s, to);
    for (int i = 0; i < LANES; i++)
        to[i] = negates ? 0 - from[i] : (from[i] & ~s->mask) ^ s->value;
}

static void run_step(hd_warp *w, const hd_machine_step *s, uint32_t mask)
{
    u32 *to = hd_row_of_frame(w, s->to);
    const u32 *a = hd_row(w, s->a);
    u32 value;
    switch ((hd_machine_step_kind)s->kind) {
    case HD_STEP_NEGATE: negate(to, a); break;
    case HD_STEP_COMPLEMENT: complement(to, a); break;
    case HD_STEP_SIGN: sign(to, a, (u32)s->value, (u32)s->mask); break;
    case HD_STEP_PAIR: wide(w, s, (u64 *)(void *)to); break;
    case HD_STEP_PAIRS:
        for (uint32_t i = 0; i < s->value; i++)
            pair((u64 *)(void *)to + (size_t)i * LANES, a + (size_t)2 * i * LANES, a + (size_t)(2 * i + 1) * LANES);
        break;
    case HD_STEP_NEGATE_PAIR: sign_pair(w, s, true); break;
    case HD_STEP_SIGN_PAIR: sign_pair(w, s, false); break;
    case HD_STEP_ADDRESS: make_address(w, s); break;
    case HD_STEP_PRODUCT: product(to, a, hd_row(w, s->b)); break;
    case HD_STEP_ADD: add(to, a, hd_row(w, s->b)); break;
    case HD_STEP_ADD_HALVES: hd_machine_ADD_U16X2(to, a, hd_row(w, s->b), NULL); break;
    case HD_STEP_SHIFT: shift(to, a, (u32)s->value); break;
    case HD_STEP_SHIFT_HIGH: shift_high(to, a, hd_row(w, s->b), (u32)s->value); break;
    case HD_STEP_SIGN_HIGH: sign_high(to, a, (u32)s->value); break;
    case HD_STEP_HALVES:
        for (int i = 0; i < LANES; i++)
            to[i] = s->value ? (a[i] >> 16) * 0x10001u : (a[i] & 0xffff) * 0x10001u;
        break;
    case HD_STEP_FIRST:
        value = a[__builtin_ctz(mask)];
        hd_spread(to, &value, 4);
        break;
    case HD_STEP_LANES: hd_spread(to, &mask, 4); break;
    case HD_STEP_FIELD:
        for (int i = 0; i < LANES; i++)
            to[i] = (u32)extend_s32(a[i] >> s->value, (u32)s->mask);
        break;
    }
}

static void split_pair(u32 *low, u32 *high, const u64 *from, uint32_t mask)
{
    for (u32 rest = mask; rest; rest &= rest - 1) {
        u32 i = (u32)__builtin_ctz(rest);
        low[i] = (u32)from[i];
        high[i] = (u32)(from[i] >> 32);
    }
}

static void split_pairs(const hd_machine_op *m, hd_warp *w, uint32_t mask)
{
    const u64 *from = hd_row(w, m->op.d);
    u32 *low = hd_row_of_frame(w, m->low), *high = hd_row_of_frame(w, m->high);
    for (uint32_t i = 0; i < m->split; i++)
        split_pair(low + (size_t)2 * i * LANES, high + (size_t)2 * i * LANES, from + (size_t)i * LANES, mask);
}

hd_step hd_machine_run(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = op->use.detail;
    const uint32_t lanes = m->uniform ? HD_ALL_LANES : mask;
    for (uint32_t i = 0; i < m->step_count; i++)
        run_step(w, &m->steps[i], mask);
    hd_step step = m->op.run(&m->op, w, lanes);
    if (m->split && step == HD_STEP_NEXT)
        split_pairs(m, w, lanes);
    if (m->broadcast) {
        u32 *row = hd_row_of_frame(w, m->op.d), value = row[__builtin_ctz(mask)];
        hd_spread(row, &value, 4);
    }
    return step;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* d = a + b + c + ones + carries in; p and q: one and two carries out. */
hd_step hd_machine_run_sum(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    const u32 *a = hd_row(w, op->a), *b = hd_row(w, op->b), *c = hd_row(w, op->c);
    u32 *to = (u32 *)(void *)w->cta->scratch[0], first = 0, second = 0;
    u32 x = m->in_count > 0 ? hd_machine_truth(w, m->in[0]) : 0,
        y = m->in_count > 1 ? hd_machine_truth(w, m->in[1]) : 0;
    for (u32 i = 0; i < LANES; i++) {
        u64 sum = (u64)a[i] + b[i] + c[i] + m->ones + (x >> i & 1) + (y >> i & 1);
        to[i] = (u32)sum;
        first |= (u32)(sum >> 32 != 0) << i;
        second |= (u32)(sum >> 33 != 0) << i;
    }
    hd_merge(hd_row_of_frame(w, op->d), to, mask, 4);
    if (m->out_count > 0 && m->out[0] != HD_NO_REF)
        hd_set_warp_word(w, m->out[0], first, mask);
    if (m->out_count > 1 && m->out[1] != HD_NO_REF)
        hd_set_warp_word(w, m->out[1], second, mask);
    return HD_STEP_NEXT;
}

/* The pair d = a * b + c + a carry in; out[0]: the carry beyond 64 bits. Row e receives the product. */
hd_step hd_machine_run_wide_sum(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    u64 *product = hd_row_of_frame(w, op->e), *to = (u64 *)(void *)w->cta->scratch[0];
    const u64 *c = hd_row(w, op->c);
    u32 in = m->in_count ? hd_machine_truth(w, m->in[0]) : 0, out = 0;
    op->use.lanes(product, hd_row(w, op->a), hd_row(w, op->b), hd_row(w, hd_machine_zero()));
    for (u32 i = 0; i < LANES; i++) {
        unsigned __int128 sum = (unsigned __int128)product[i] + c[i] + (in >> i & 1);
        to[i] = (u64)sum;
        out |= (u32)(sum >> 64) << i;
    }
    hd_merge(hd_row_of_frame(w, op->d), to, mask, 8);
    if (m->out_count && m->out[0] != HD_NO_REF)
        hd_set_warp_word(w, m->out[0], out, mask);
    return HD_STEP_NEXT;
}

/* ---- predicates -------------------------------------------------------------------------------------------------- */

static u32 logic(u32 a, u32 b, u32 c, u32 table)
{
    u32 out = 0;
    for (u32 k = 0; k < 8; k++)
        if (table >> k & 1)
            out |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return out;
}

hd_step hd_machine_run_predicates(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    u32 a = hd_machine_truth(w, m->in[0]), b = hd_machine_truth(w, m->in[1]), c = hd_machine_truth(w, m->in[2]);
    for (u32 i = 0; i < 2; i++)
        if (m->out[i] != HD_NO_REF)
            hd_set_warp_word(w, m->out[i], logic(a, b, c, m->table[i]), mask);
    return HD_STEP_NEXT;
}

/* d = a, with the predicates of the mask in its bits. */
hd_step hd_machine_run_p2r(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    const u32 *a = hd_row(w, op->a), *words = hd_row(w, op->b);
    u32 *to = (u32 *)(void *)w->cta->scratch[0], chosen = m->table[0] << m->table[1];
    for (u32 i = 0; i < LANES; i++) {
        u32 bits = 0;
        for (u32 p = 0; p < 7; p++)
            bits |= (words[p] >> i & 1) << p;
        to[i] = (bits << m->table[1] & chosen) | (a[i] & ~chosen);
    }
    hd_merge(hd_row_of_frame(w, op->d), to, mask, 4);
    return HD_STEP_NEXT;
}

hd_step hd_machine_run_r2p(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    const u32 *a = hd_row(w, op->a);
    for (u32 p = 0; p < 7; p++) {
        u32 word = 0;
        for (u32 i = 0; i < LANES; i++)
            word |= (a[i] >> (p + m->table[1]) & 1) << i;
        if (m->table[0] >> p & 1)
            hd_set_warp_word(w, op->b + 4 * p, word, mask);
    }
    return HD_STEP_NEXT;
}

static u32 combine_words(u32 boolean, u32 a, u32 b) { return boolean == 1 ? a & b : boolean == 2 ? a | b : a ^ b; }

/* The upper words of two pairs, whose lower words compare as in[1] says: equality needs both to be equal, an order
 * that of the upper words where these differ. */
hd_step hd_machine_run_compare_high(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    const u32 *a = hd_row(w, op->a), *b = hd_row(w, op->b);
    u32 low = hd_machine_truth(w, m->in[1]), truth = op->use.compare(a, b), equal = 0;
    u32 other = hd_machine_truth(w, m->in[0]);
    for (u32 i = 0; i < LANES; i++)
        equal |= (u32)(a[i] == b[i]) << i;
    truth = (equal & low) | (~equal & truth);
    if (m->out[0] != HD_NO_REF)
        hd_set_warp_word(w, m->out[0], combine_words(op->boolean, truth, other), mask);
    if (m->out[1] != HD_NO_REF)
        hd_set_warp_word(w, m->out[1], combine_words(op->boolean, ~truth, other), mask);
    return HD_STEP_NEXT;
}

/* ---- floats ------------------------------------------------------------------------------------------------------ */

/* A minimum where in[0] holds, else a maximum. */
hd_step hd_machine_run_extreme(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    void *to = w->cta->scratch[0], *most = w->cta->scratch[1];
    u32 least = hd_machine_truth(w, m->in[0]);
    m->lanes[0](to, hd_row(w, op->a), hd_row(w, op->b), hd_row(w, op->c));
    m->lanes[1](most, hd_row(w, op->a), hd_row(w, op->b), hd_row(w, op->c));
    hd_merge(to, most, ~least, op->d_bytes);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* FCHK: whether a / b needs the slow path, because a step of the quick one could overflow or lose bits. Which operands
 * do was found by execution: with any wider condition quotients are the same, with a narrower one some are wrong. */
static bool needs_slow_division(u32 a, u32 b)
{
    s32 x = a >> 23 & 255, y = b >> 23 & 255;
    return x == 0 || x == 255 || y == 0 || y == 255 || x <= 24 || y >= 253 || x - y <= -125 || x - y >= 127;
}

hd_step hd_machine_run_check_division(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    const u32 *a = hd_row(w, op->a), *b = hd_row(w, op->b);
    u32 truth = 0;
    for (u32 i = 0; i < LANES; i++)
        truth |= (u32)needs_slow_division(a[i], b[i]) << i;
    if (m->out[0] != HD_NO_REF)
        hd_set_warp_word(w, m->out[0], truth, mask);
    return HD_STEP_NEXT;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

/* op->count rows of code->refs from op->first on receive as many that follow. */
hd_step hd_machine_run_rows(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_ref *refs = hd_top_frame(w)->code->refs.items + op->first;
    if (op->boolean) /* a clock */
        hd_special_refresh(w->cta->program, w);
    for (uint32_t k = 0; k < op->count; k++)
        if (refs[k] != HD_NO_REF && refs[k] >> HD_REF_SHIFT == HD_REF_FRAME)
            hd_merge(hd_row_of_frame(w, refs[k]), hd_row(w, refs[op->count + k]), mask, 4);
    return HD_STEP_NEXT;
}

/* d = bank op->target at a + b + offset, by lane. */
hd_step hd_machine_run_bank(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_ref *refs = hd_top_frame(w)->code->refs.items + op->first;
    const u32 *a = hd_row(w, op->a), *b = hd_row(w, op->b);
    for (u32 rest = mask; rest; rest &= rest - 1) {
        u32 i = (u32)__builtin_ctz(rest), at = a[i] + b[i] + (u32)op->offset, bytes = op->item_bytes;
        if (at % (bytes * op->count))
            return hd_fault_is(w, HD_FAULT_MISALIGNED,
                               hd_fault(op, w, 1u << i, "misaligned read of %u bytes of constant bank %u at 0x%x",
                                        bytes * op->count, op->target, at));
        if (!hd_machine_bank_has(w->cta->program->machine, op->target, (s32)at, bytes * op->count))
            return hd_fault_is(w, HD_FAULT_ADDRESS,
                               hd_fault(op, w, 1u << i, "out-of-bounds read of %u bytes of constant bank %u at 0x%x",
                                        bytes * op->count, op->target, at));
        for (u32 k = 0; k < op->count; k++) {
            u32 value = 0;
            hd_machine_read_bank(w->cta, op->target, at + k * bytes, &value, bytes);
            if (op->flags & HD_OP_SIGNED)
                value = extend_s32(value, 8 * bytes);
            if (refs[k] != HD_NO_REF)
                ((u32 *)hd_row_of_frame(w, refs[k]))[i] = value;
        }
    }
    return HD_STEP_NEXT;
}

/* ---- atomics ----------------------------------------------------------------------------------------------------- */

/* CAST compares, swaps, and says whether it did: one, or zero. */
hd_step hd_machine_run_swap(const hd_op *op, hd_warp *w, uint32_t mask)
{
    unsigned char expected[LANES * 8];
    const uint32_t bytes = op->d_bytes;
    memcpy(expected, hd_row(w, op->b), (size_t)LANES * bytes);
    hd_step step = hd_run_atomic(op, w, mask);
    unsigned char *row = op->d == HD_NO_REF ? NULL : hd_row_of_frame(w, op->d);
    for (u32 rest = row ? mask : 0; rest && step == HD_STEP_NEXT; rest &= rest - 1) {
        size_t at = (size_t)__builtin_ctz(rest) * bytes;
        u64 swapped = memcmp(row + at, expected + at, bytes) == 0;
        memcpy(row + at, &swapped, bytes);
    }
    return step;
}

/* Row d in all lanes receives a of the first lane; out[0] says of each whether its own differs, or with table[0]
 * whether it did before. */
hd_step hd_machine_run_first(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    const u32 *a = hd_row(w, op->a);
    u32 value = a[__builtin_ctz(mask)], differs = 0;
    for (u32 i = 0; i < LANES; i++)
        differs |= (u32)(a[i] != value) << i;
    if (m->out_count && m->out[0] != HD_NO_REF)
        hd_set_warp_word(w, m->out[0], differs | (m->table[0] ? hd_warp_word(w, m->out[0]) : 0), mask);
    hd_spread(hd_row_of_frame(w, op->d), &value, 4);
    return HD_STEP_NEXT;
}

/* What a barrier left: the number in row a, the predicate in word b. */
hd_step hd_machine_run_barrier_result(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    hd_merge(hd_row_of_frame(w, op->d), hd_row(w, op->a), mask, 4);
    if (m->out_count && m->out[0] != HD_NO_REF)
        hd_set_warp_word(w, m->out[0], hd_warp_word(w, op->b), mask);
    return HD_STEP_NEXT;
}

/* ---- votes ------------------------------------------------------------------------------------------------------- */

/* table[0]: the results are the warp's, in all lanes. */
hd_step hd_machine_run_vote(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_op *m = hd_machine_op_of(op);
    u32 yes = hd_machine_truth(w, m->in[0]) & mask, row[LANES], to = m->table[0] ? HD_ALL_LANES : mask;
    bool answer = op->boolean == HD_VOTE_ALL   ? yes == mask
                  : op->boolean == HD_VOTE_ANY ? yes != 0
                                               : yes == mask || !yes;
    hd_spread(row, &yes, 4);
    if (op->d != HD_NO_REF)
        hd_merge(hd_row_of_frame(w, op->d), row, to, 4);
    if (m->out[0] != HD_NO_REF)
        hd_set_warp_word(w, m->out[0], answer ? HD_ALL_LANES : 0, to);
    return HD_STEP_NEXT;
}
