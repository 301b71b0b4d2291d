/* Ops that compute lane by lane: what stands around the rows of exec.def (masks, rounding, flushing, saturation), and
 * the instructions that are written by hand: moves, selections, comparisons, predicates, extended precision. */
#include "hwmodel/exec/alu.h"
#include "hwmodel/exec/scalar.h"
#include <fenv.h>

/* ---- rows of exec.def ---------------------------------------------------------------------------------------- */

hd_step hd_run_lanes(const hd_op *op, hd_warp *w, uint32_t mask)
{
    void *d = hd_row_of_frame(w, op->d);
    void *to = mask == HD_ALL_LANES ? d : w->cta->scratch[0];
    op->use.lanes(to, hd_row(w, op->a), hd_row(w, op->b), hd_row(w, op->c));
    if (mask != HD_ALL_LANES)
        hd_merge(d, to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

static int host_rounding(uint32_t rounding)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    return modes[rounding];
}

static const void *flushed(const hd_op *op, hd_warp *w, hd_ref ref, uint32_t slot)
{
    hd_flush_row(w->cta->scratch[slot], hd_row(w, ref), op->float_bytes);
    return w->cta->scratch[slot];
}

/* Floating point with .ftz, .sat or another rounding than to nearest. The rounding mode is the host's; it is set only
 * around the call, and the function behind the pointer holds no constants that could have been rounded before. */
hd_step hd_run_float(const hd_op *op, hd_warp *w, uint32_t mask)
{
    bool ftz = op->flags & HD_OP_FTZ;
    void *to = w->cta->scratch[0];
    const void *a = ftz ? flushed(op, w, op->a, 1) : hd_row(w, op->a);
    const void *b = ftz && op->count > 1 ? flushed(op, w, op->b, 2) : hd_row(w, op->b);
    const void *c = ftz && op->count > 2 ? flushed(op, w, op->c, 3) : hd_row(w, op->c);
    if (op->rounding)
        fesetround(host_rounding(op->rounding));
    op->use.lanes(to, a, b, c);
    if (op->rounding)
        fesetround(FE_TONEAREST);
    if (ftz)
        hd_flush_row(to, to, op->float_bytes);
    if (op->flags & HD_OP_SAT)
        hd_saturate_row(to, to, op->float_bytes);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* ---- moves --------------------------------------------------------------------------------------------------- */

hd_step hd_run_move(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_merge(hd_row_of_frame(w, op->d), hd_row(w, op->a), mask, op->d_bytes);
    return HD_STEP_NEXT;
}

hd_step hd_run_move_pred(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t value = hd_word(w, op->a);
    hd_set_word(w, op->d, op->flags & HD_OP_NOT_A ? ~value : value, mask);
    return HD_STEP_NEXT;
}

hd_step hd_run_move_time(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_special_refresh(w->cta->program, w);
    return hd_run_move(op, w, mask);
}

hd_step hd_run_nothing(const hd_op *op, hd_warp *w, uint32_t mask)
{
    (void)op, (void)w, (void)mask;
    return HD_STEP_NEXT;
}

static uint64_t element(const void *row, uint32_t bytes, uint32_t lane)
{
    uint64_t value = 0;
    memcpy(&value, (const unsigned char *)row + (size_t)lane * bytes, bytes);
    return value;
}
static void set_element(void *row, uint32_t bytes, uint32_t lane, uint64_t value)
{
    memcpy((unsigned char *)row + (size_t)lane * bytes, &value, bytes);
}

/* mov.b64 d, {a, b, ..}: elements from low to high bits. A 128-bit row is two 64-bit rows. */
hd_step hd_run_pack(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t bytes = op->a_bytes;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint64_t parts[2] = {0, 0};
        for (uint32_t k = 0; k < op->count; k++) {
            uint32_t at = k * bytes;
            parts[at / 8] |= element(hd_row(w, code->refs.items[op->first + k]), bytes, lane) << (at % 8 * 8);
        }
        if (!(mask >> lane & 1))
            continue;
        unsigned char *d = hd_row_of_frame(w, op->d);
        set_element(d, op->d_bytes > 8 ? 8 : op->d_bytes, lane, parts[0]);
        if (op->d_bytes > 8)
            set_element(d + 8 * LANES, 8, lane, parts[1]);
    }
    return HD_STEP_NEXT;
}

hd_step hd_run_unpack(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t bytes = op->a_bytes;
    uint64_t low[LANES], high[LANES]; /* the source may be one of the destinations */
    const unsigned char *a = hd_row(w, op->a);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        low[lane] = element(a, op->item_bytes > 8 ? 8 : op->item_bytes, lane);
        high[lane] = op->item_bytes > 8 ? element(a + 8 * LANES, 8, lane) : 0;
    }
    for (uint32_t k = 0; k < op->count; k++) {
        hd_ref ref = code->refs.items[op->first + k];
        for (uint32_t lane = 0; ref != HD_NO_REF && lane < LANES; lane++) {
            uint32_t at = k * bytes;
            if (mask >> lane & 1)
                set_element(hd_row_of_frame(w, ref), bytes, lane, (at / 8 ? high : low)[lane] >> (at % 8 * 8));
        }
    }
    return HD_STEP_NEXT;
}

/* ---- predicates and comparisons ------------------------------------------------------------------------------ */

static uint32_t source_word(const hd_op *op, const hd_warp *w, hd_ref ref, uint32_t inverted)
{
    uint32_t value = hd_word(w, ref);
    return op->flags & inverted ? ~value : value;
}

static uint32_t combine_words(uint32_t boolean, uint32_t a, uint32_t b)
{
    switch (boolean) {
    case 1:
        return a & b;
    case 2:
        return a | b;
    case 3:
        return a ^ b;
    default:
        return a;
    }
}

/* and, or, xor, not of predicates. The second one's inversion is that of c. */
hd_step hd_run_pred_logic(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t a = source_word(op, w, op->a, HD_OP_NOT_A);
    uint32_t b = op->boolean ? source_word(op, w, op->b, HD_OP_NOT_C) : 0;
    hd_set_word(w, op->d, op->boolean ? combine_words(op->boolean, a, b) : ~a, mask);
    return HD_STEP_NEXT;
}

static uint32_t compare(const hd_op *op, hd_warp *w)
{
    if (op->flags & HD_OP_FTZ)
        return op->use.compare(flushed(op, w, op->a, 1), flushed(op, w, op->b, 2));
    return op->use.compare(hd_row(w, op->a), hd_row(w, op->b));
}

hd_step hd_run_setp(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t truth = compare(op, w), other = op->boolean ? source_word(op, w, op->c, HD_OP_NOT_C) : 0;
    if (op->d != HD_NO_REF)
        hd_set_word(w, op->d, combine_words(op->boolean, truth, other), mask);
    if (op->e != HD_NO_REF)
        hd_set_word(w, op->e, combine_words(op->boolean, ~truth, other), mask);
    return HD_STEP_NEXT;
}

hd_step hd_run_set(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t other = op->boolean ? source_word(op, w, op->c, HD_OP_NOT_C) : 0;
    uint32_t truth = combine_words(op->boolean, compare(op, w), other),
             one = op->flags & HD_OP_SIGNED ? 0xffffffffu : 0x3f800000u;
    uint32_t *to = (uint32_t *)(void *)w->cta->scratch[0];
    for (uint32_t i = 0; i < LANES; i++)
        to[i] = truth >> i & 1 ? one : 0;
    hd_merge(hd_row_of_frame(w, op->d), to, mask, 4);
    return HD_STEP_NEXT;
}

/* d = c ? a : b */
hd_step hd_run_selp(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t choice = source_word(op, w, op->c, HD_OP_NOT_C);
    void *to = w->cta->scratch[0];
    memcpy(to, hd_row(w, op->b), (size_t)op->d_bytes * LANES);
    hd_merge(to, hd_row(w, op->a), choice, op->d_bytes);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* d = c >= 0 ? a : b; a NaN chooses b, -0 chooses a. */
hd_step hd_run_slct(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t choice = 0;
    const uint32_t *c = hd_row(w, op->c);
    for (uint32_t i = 0; i < LANES; i++) {
        f32 v;
        memcpy(&v, &c[i], 4);
        choice |=
            (uint32_t)(op->flags & HD_OP_SIGNED ? (s32)c[i] >= 0 : v >= 0 || (op->flags & HD_OP_FTZ && v > -0x1p-126f))
            << i;
    }
    void *to = w->cta->scratch[0];
    memcpy(to, hd_row(w, op->b), (size_t)op->d_bytes * LANES);
    hd_merge(to, hd_row(w, op->a), choice, op->d_bytes);
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* ---- by hand, a lane at a time ------------------------------------------------------------------------------- */

hd_step hd_run_lop3(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *a = hd_row(w, op->a), *b = hd_row(w, op->b), *c = hd_row(w, op->c);
    uint32_t *to = (uint32_t *)(void *)w->cta->scratch[0], table = (uint32_t)op->offset, not_zero = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t out = 0;
        for (uint32_t k = 0; k < 8; k++)
            out |= table >> k & 1 ? (k & 4 ? a[i] : ~a[i]) & (k & 2 ? b[i] : ~b[i]) & (k & 1 ? c[i] : ~c[i]) : 0;
        to[i] = out;
        not_zero |= (uint32_t)(out != 0) << i;
    }
    if (op->boolean)
        hd_set_word(w, op->e, combine_words(op->boolean, not_zero, source_word(op, w, op->f, HD_OP_NOT_C)), mask);
    if (op->d != HD_NO_REF)
        hd_merge(hd_row_of_frame(w, op->d), to, mask, 4);
    return HD_STEP_NEXT;
}

hd_step hd_run_bfi(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const void *a = hd_row(w, op->a), *b = hd_row(w, op->b);
    const uint32_t *c = hd_row(w, op->c), *f = hd_row(w, op->f);
    void *to = w->cta->scratch[0];
    for (uint32_t i = 0; i < LANES; i++)
        set_element(to, op->d_bytes, i,
                    insert_bits(element(a, op->d_bytes, i), element(b, op->d_bytes, i), c[i], f[i], op->d_bytes * 8u));
    hd_merge(hd_row_of_frame(w, op->d), to, mask, op->d_bytes);
    return HD_STEP_NEXT;
}

/* dp4a, dp2a: parts of a (item_bytes each) times the bytes of b, plus c. b starts at byte op->offset. */
hd_step hd_run_dot(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const uint32_t *a = hd_row(w, op->a), *b = hd_row(w, op->b), *c = hd_row(w, op->c);
    uint32_t *to = (uint32_t *)(void *)w->cta->scratch[0], width = op->item_bytes * 8u;
    for (uint32_t i = 0; i < LANES; i++) {
        s64 sum = 0;
        for (uint32_t k = 0; k < 32 / width; k++) {
            uint32_t x = a[i] >> (k * width) << (32 - width), y = b[i] >> (8 * (k + (uint32_t)op->offset)) << 24;
            s64 of_a = op->flags & HD_OP_SIGNED ? (s32)x >> (32 - width) : (s64)(x >> (32 - width));
            s64 of_b = op->flags & HD_OP_NOT_A ? (s32)y >> 24 : (s64)(y >> 24);
            sum += of_a * of_b;
        }
        to[i] = c[i] + (uint32_t)sum;
    }
    hd_merge(hd_row_of_frame(w, op->d), to, mask, 4);
    return HD_STEP_NEXT;
}

/* op->boolean: the index of the modifier in the group TEST, from 0. */
hd_step hd_run_testp(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t truth = 0;
    const void *a = hd_row(w, op->a);
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t bits = element(a, op->float_bytes, i);
        uint32_t exponent = (uint32_t)(op->float_bytes == 4 ? bits >> 23 & 0xff : bits >> 52 & 0x7ff);
        uint32_t most = op->float_bytes == 4 ? 0xff : 0x7ff;
        bool fraction = op->float_bytes == 4 ? bits & 0x7fffff : bits & 0xfffffffffffffull;
        const bool answers[] = {exponent != most,
                                exponent == most && !fraction,
                                !(exponent == most && fraction),
                                exponent == most && fraction,
                                exponent && exponent != most,
                                !exponent && fraction};
        truth |= (uint32_t)answers[op->boolean] << i;
    }
    hd_set_word(w, op->d, truth, mask);
    return HD_STEP_NEXT;
}

/* ---- extended precision -------------------------------------------------------------------------------------- */

/* d, carry = a + b + carry in; a subtraction adds ~b and carries "no borrow" inside: %CC holds the borrow. */
hd_step hd_run_carry(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const void *a = hd_row(w, op->a), *b = hd_row(w, op->b);
    uint32_t carry_in = op->flags & HD_OP_CARRY_IN ? hd_word(w, op->f) : 0, carry = 0, bytes = op->d_bytes;
    uint64_t all = bytes == 8 ? ~0ull : 0xffffffffull;
    bool subtract = op->boolean == HD_CARRY_SUBTRACT;
    void *to = w->cta->scratch[0];
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t x = element(a, bytes, i), y = element(b, bytes, i), in = carry_in >> i & 1;
        unsigned __int128 sum = subtract ? (unsigned __int128)x + (~y & all) + (in ^ 1) : (unsigned __int128)x + y + in;
        uint32_t out = (uint32_t)(sum >> (bytes * 8)) & 1;
        carry |= (subtract ? out ^ 1 : out) << i;
        set_element(to, bytes, i, (uint64_t)sum);
    }
    hd_merge(hd_row_of_frame(w, op->d), to, mask, bytes);
    if (op->flags & HD_OP_CARRY_OUT)
        hd_set_word(w, op->e, carry, mask);
    return HD_STEP_NEXT;
}

static uint64_t product_half(uint64_t x, uint64_t y, uint32_t bytes, bool is_signed, bool high)
{
    if (bytes == 4) {
        uint64_t product = is_signed ? (uint64_t)((s64)(s32)x * (s32)y) : (uint64_t)(u32)x * (u32)y;
        return high ? product >> 32 : product & 0xffffffffu;
    }
    return !high ? x * y : is_signed ? (uint64_t)high_s64((s64)x, (s64)y) : high_u64(x, y);
}

/* mad.cc and madc: half of a * b, plus c, plus the carry. */
hd_step hd_run_carry_mad(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const void *a = hd_row(w, op->a), *b = hd_row(w, op->b), *c = hd_row(w, op->c);
    uint32_t carry_in = op->flags & HD_OP_CARRY_IN ? hd_word(w, op->f) : 0, carry = 0, bytes = op->d_bytes;
    void *to = w->cta->scratch[0];
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t half = product_half(element(a, bytes, i), element(b, bytes, i), bytes, op->flags & HD_OP_SIGNED,
                                     op->boolean == HD_CARRY_MAD_HIGH);
        unsigned __int128 sum = (unsigned __int128)half + element(c, bytes, i) + (carry_in >> i & 1);
        carry |= ((uint32_t)(sum >> (bytes * 8)) & 1) << i;
        set_element(to, bytes, i, (uint64_t)sum);
    }
    hd_merge(hd_row_of_frame(w, op->d), to, mask, bytes);
    if (op->flags & HD_OP_CARRY_OUT)
        hd_set_word(w, op->e, carry, mask);
    return HD_STEP_NEXT;
}
