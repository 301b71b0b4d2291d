/* The integer, bit, comparison and selection instructions in every type that they have, against 128-bit arithmetic. */
#include "instruction.h"

/* ---- types ------------------------------------------------------------------------------------------------------- */

typedef __int128 wide;
typedef unsigned __int128 uwide;

static uint64_t low_bits(uwide v, uint32_t bits) { return (uint64_t)(bits == 64 ? v : v & (((uwide)1 << bits) - 1)); }

/* A reference for one type: a, b, c are its values in 128 bits; BITS its width, out that of the result. */
#define ONE(name, suffix, T, W, width, out, expression) \
    static uint64_t name##_##suffix(values v)           \
    {                                                   \
        const uint32_t BITS = width;                    \
        W a = (T)v.a, b = (T)v.b, c = (T)v.c;           \
        (void)a, (void)b, (void)c, (void)BITS;          \
        return low_bits((uwide)(expression), out);      \
    }
#define SIGNED(name, out, expression)                  \
    ONE(name, s16, int16_t, wide, 16, out, expression) \
    ONE(name, s32, int32_t, wide, 32, out, expression) \
    ONE(name, s64, int64_t, wide, 64, out, expression)
#define UNSIGNED(name, out, expression)                  \
    ONE(name, u16, uint16_t, uwide, 16, out, expression) \
    ONE(name, u32, uint32_t, uwide, 32, out, expression) \
    ONE(name, u64, uint64_t, uwide, 64, out, expression)
#define ALL(name, out, expression) SIGNED(name, out, expression) UNSIGNED(name, out, expression)

#define ROW2(text, name, suffix, k)                                 \
    {                                                               \
        text "." #suffix " D, A, B;", k, k, k, '-', name##_##suffix \
    }
#define ROW3(text, name, suffix, k)                                  \
    {                                                                \
        text "." #suffix " D, A, B, C;", k, k, k, k, name##_##suffix \
    }
#define ROWS2(text, name)                                                                                           \
    ROW2(text, name, u16, 'h'), ROW2(text, name, s16, 'h'), ROW2(text, name, u32, 'r'), ROW2(text, name, s32, 'r'), \
        ROW2(text, name, u64, 'x'), ROW2(text, name, s64, 'x')
#define ROWS3(text, name)                                                                                           \
    ROW3(text, name, u16, 'h'), ROW3(text, name, s16, 'h'), ROW3(text, name, u32, 'r'), ROW3(text, name, s32, 'r'), \
        ROW3(text, name, u64, 'x'), ROW3(text, name, s64, 'x')

static void check_rows(const row *rows, size_t size)
{
    for (uint32_t i = 0; i < size / sizeof *rows; i++)
        check_row(&rows[i]);
}

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

ALL(add, BITS, a + b)
ALL(sub, BITS, a - b)
ALL(mul_lo, BITS, (uwide)a *(uwide)b)
SIGNED(mul_hi, BITS, a *b >> BITS)
UNSIGNED(mul_hi, BITS, a *b >> BITS)
ALL(mad_lo, BITS, (uwide)a *(uwide)b + (uwide)c)
SIGNED(mad_hi, BITS, (a * b >> BITS) + c)
UNSIGNED(mad_hi, BITS, (a * b >> BITS) + c)
ALL(sad, BITS, (a < b ? b - a : a - b) + c)
ALL(quotient, BITS, b ? (uwide)(a / b) : (uwide)-1)
ALL(rest, BITS, b ? a % b : ~b)
ALL(least, BITS, a < b ? a : b)
ALL(most, BITS, a > b ? a : b)
SIGNED(magnitude, BITS, a < 0 ? -a : a)
SIGNED(negative, BITS, -a)
ONE(product, u16, uint16_t, uwide, 16, 32, a *b)
ONE(product, s16, int16_t, wide, 16, 32, a *b)
ONE(product, u32, uint32_t, uwide, 32, 64, a *b)
ONE(product, s32, int32_t, wide, 32, 64, a *b)
ONE(sum, u16, uint16_t, uwide, 16, 32, a *b + (uint32_t)v.c)
ONE(sum, s16, int16_t, wide, 16, 32, a *b + (int32_t)v.c)
ONE(sum, u32, uint32_t, uwide, 32, 64, a *b + (uwide)v.c)
ONE(sum, s32, int32_t, wide, 32, 64, a *b + (wide)(int64_t)v.c)
static uwide low24(uint64_t x) { return x & 0xffffff; }
static wide low24s(uint64_t x) { return (wide)(int32_t)((uint32_t)x << 8) / 256; }
ONE(mul24_lo, u32, uint32_t, uwide, 32, 32, low24(v.a) * low24(v.b))
ONE(mul24_lo, s32, int32_t, wide, 32, 32, low24s(v.a) * low24s(v.b))
ONE(mul24_hi, u32, uint32_t, uwide, 32, 32, low24(v.a) * low24(v.b) >> 16)
ONE(mul24_hi, s32, int32_t, wide, 32, 32, low24s(v.a) * low24s(v.b) >> 16)
ONE(mad24_lo, u32, uint32_t, uwide, 32, 32, low24(v.a) * low24(v.b) + c)
ONE(mad24_lo, s32, int32_t, wide, 32, 32, low24s(v.a) * low24s(v.b) + c)
ONE(mad24_hi, u32, uint32_t, uwide, 32, 32, (low24(v.a) * low24(v.b) >> 16) + c)
ONE(mad24_hi, s32, int32_t, wide, 32, 32, (low24s(v.a) * low24s(v.b) >> 16) + c)
static wide clamp(wide x) { return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x; }
ONE(mad24_sat, s32, int32_t, wide, 32, 32, clamp((int32_t)(low24s(v.a) * low24s(v.b) >> 16) + c))
ONE(least_relu, s32, int32_t, wide, 32, 32, a < b ? (a < 0 ? 0 : a) : b < 0 ? 0 : b)
ONE(most_relu, s32, int32_t, wide, 32, 32, a > b ? (a < 0 ? 0 : a) : b < 0 ? 0 : b)

static const row arithmetic_rows[] = {
    ROWS2("add", add),
    ROWS2("sub", sub),
    ROWS2("mul.lo", mul_lo),
    ROWS2("mul.hi", mul_hi),
    ROWS3("mad.lo", mad_lo),
    ROWS3("mad.hi", mad_hi),
    ROWS3("sad", sad),
    ROWS2("div", quotient),
    ROWS2("rem", rest),
    ROWS2("min", least),
    ROWS2("max", most),
    {"abs.s16 D, A;", 'h', 'h', '-', '-', magnitude_s16},
    {"abs.s32 D, A;", 'r', 'r', '-', '-', magnitude_s32},
    {"abs.s64 D, A;", 'x', 'x', '-', '-', magnitude_s64},
    {"neg.s16 D, A;", 'h', 'h', '-', '-', negative_s16},
    {"neg.s32 D, A;", 'r', 'r', '-', '-', negative_s32},
    {"neg.s64 D, A;", 'x', 'x', '-', '-', negative_s64},
    {"mul.wide.u16 D, A, B;", 'r', 'h', 'h', '-', product_u16},
    {"mul.wide.s16 D, A, B;", 'r', 'h', 'h', '-', product_s16},
    {"mul.wide.u32 D, A, B;", 'x', 'r', 'r', '-', product_u32},
    {"mul.wide.s32 D, A, B;", 'x', 'r', 'r', '-', product_s32},
    {"mad.wide.u16 D, A, B, C;", 'r', 'h', 'h', 'r', sum_u16},
    {"mad.wide.s16 D, A, B, C;", 'r', 'h', 'h', 'r', sum_s16},
    {"mad.wide.u32 D, A, B, C;", 'x', 'r', 'r', 'x', sum_u32},
    {"mad.wide.s32 D, A, B, C;", 'x', 'r', 'r', 'x', sum_s32},
    ROW2("mul24.lo", mul24_lo, u32, 'r'),
    ROW2("mul24.lo", mul24_lo, s32, 'r'),
    ROW2("mul24.hi", mul24_hi, u32, 'r'),
    ROW2("mul24.hi", mul24_hi, s32, 'r'),
    ROW3("mad24.lo", mad24_lo, u32, 'r'),
    ROW3("mad24.lo", mad24_lo, s32, 'r'),
    ROW3("mad24.hi", mad24_hi, u32, 'r'),
    ROW3("mad24.hi", mad24_hi, s32, 'r'),
    ROW3("mad24.hi.sat", mad24_sat, s32, 'r'),
    ROW2("min.relu", least_relu, s32, 'r'),
    ROW2("max.relu", most_relu, s32, 'r'),
};

static void arithmetic(void **state)
{
    (void)state;
    check_rows(arithmetic_rows, sizeof arithmetic_rows);
}

/* ---- packed integers --------------------------------------------------------------------------------------------- */

typedef uint64_t half_operation(values v);
static uint64_t both_halves(values v, half_operation *operation)
{
    values low = {v.a & 0xffff, v.b & 0xffff, 0}, high = {v.a >> 16, v.b >> 16, 0};
    return operation(low) | operation(high) << 16;
}
static uint64_t relu16(uint64_t v) { return v & 0x8000 ? 0 : v; }
static uint64_t least_relu_s16(values v) { return relu16(least_s16(v)); }
static uint64_t most_relu_s16(values v) { return relu16(most_s16(v)); }
#define PACKED(name) \
    static uint64_t name##x2(values v) { return both_halves(v, name); }
PACKED(add_u16)
PACKED(least_u16)
PACKED(least_s16)
PACKED(most_u16)
PACKED(most_s16)
PACKED(least_relu_s16)
PACKED(most_relu_s16)

static uint64_t most_if_odd(values v) { return v.a & 1 ? most_s16x2(v) : v.b; }

static const row packed_rows[] = {
    {"add.u16x2 D, A, B;", 'r', 'r', 'r', '-', add_u16x2},
    {"add.s16x2 D, A, B;", 'r', 'r', 'r', '-', add_u16x2},
    {"min.u16x2 D, A, B;", 'r', 'r', 'r', '-', least_u16x2},
    {"min.s16x2 D, A, B;", 'r', 'r', 'r', '-', least_s16x2},
    {"max.u16x2 D, A, B;", 'r', 'r', 'r', '-', most_u16x2},
    {"max.s16x2 D, A, B;", 'r', 'r', 'r', '-', most_s16x2},
    {"min.relu.s16x2 D, A, B;", 'r', 'r', 'r', '-', least_relu_s16x2},
    {"max.relu.s16x2 D, A, B;", 'r', 'r', 'r', '-', most_relu_s16x2},
    {"and.b32 %r20, A, 1; setp.ne.u32 %p1, %r20, 0; mov.u32 D, B; @%p1 max.s16x2 D, A, B;", 'r', 'r', 'r', '-',
     most_if_odd},
};

static void packed(void **state)
{
    (void)state;
    check_rows(packed_rows, sizeof packed_rows);
}

/* ---- bits -------------------------------------------------------------------------------------------------------- */

static uint64_t bit(uint64_t v, uint64_t k) { return k < 64 ? v >> k & 1 : 0; }
static uint64_t reversed(values v)
{
    uint64_t out = 0;
    for (uint32_t k = 0; k < 64; k++)
        out |= bit(v.a, k) << (63 - k);
    return out;
}
/* The highest bit that is not the sign, counted from the lowest bit, or from the highest. */
static uint64_t find(uint64_t v, uint32_t bits, bool is_signed, bool shift)
{
    uint64_t sign = is_signed ? bit(v, bits - 1) : 0;
    for (uint32_t k = bits; k-- > 0;)
        if (bit(v, k) != sign)
            return shift ? bits - 1 - k : k;
    return 0xffffffff;
}
#define FIND(name, bits, is_signed, shift) \
    static uint64_t name(values v) { return find(v.a, bits, is_signed, shift); }
FIND(find_u32, 32, false, false)
FIND(find_s32, 32, true, false)
FIND(find_u64, 64, false, false)
FIND(find_s64, 64, true, false)
FIND(shift_u32, 32, false, true)
FIND(shift_s32, 32, true, true)
FIND(shift_u64, 64, false, true)
FIND(shift_s64, 64, true, true)

static uint64_t extract(values v, uint32_t bits, bool is_signed)
{
    uint64_t kept = bits == 64 ? 0xffffffff : 255, at = v.b & kept, count = v.c & kept, last = at + count - 1;
    uint64_t sign = is_signed && count ? bit(v.a, last < bits ? (uint32_t)last : bits - 1) : 0, out = 0;
    for (uint32_t k = 0; k < bits; k++)
        out |= (k < count && at + k < bits ? bit(v.a, (uint32_t)at + k) : sign) << k;
    return out;
}
static uint64_t extract_u32(values v) { return extract(v, 32, false); }
static uint64_t extract_s32(values v) { return extract(v, 32, true); }
static uint64_t extract_u64(values v) { return extract(v, 64, false); }
static uint64_t extract_s64(values v) { return extract(v, 64, true); }

static uint64_t insert(values v, uint32_t length, uint32_t bits)
{
    uint64_t kept = bits == 64 ? 0xffffffff : 255, at = v.c & kept, count = length & kept, out = v.b;
    for (uint32_t k = 0; k < count && at + k < bits; k++)
        out = (out & ~(1ull << (at + k))) | bit(v.a, k) << (at + k);
    return out;
}
/* c holds the position and, 13 bits up, the length. */
static uint64_t insert_32(values v) { return insert(v, (uint32_t)v.c >> 13, 32); }
static uint64_t insert_64(values v) { return insert(v, (uint32_t)v.c >> 13, 64); }
static uint64_t insert_31_of_32(values v) { return insert(v, 31, 32); }
static uint64_t insert_32_of_32(values v) { return insert(v, 32, 32); }
static uint64_t insert_63_of_64(values v) { return insert(v, 63, 64); }
static uint64_t insert_64_of_64(values v) { return insert(v, 64, 64); }

/* `length` ones from `position`. */
static uint64_t ones(uint64_t position, uint64_t length)
{
    uint64_t out = 0;
    for (uint64_t k = 0; k < 32; k++)
        out |= (uint64_t)(k >= position && k - position < length) << k;
    return out;
}
static uint64_t mask_clamp(values v) { return ones(v.a, v.b); }
static uint64_t mask_wrap(values v) { return ones(v.a & 31, v.b & 31); }

static uint64_t extend(values v, uint64_t bits, bool is_signed)
{
    uint64_t sign = is_signed && bits && bits < 32 ? bit(v.a, bits - 1) : 0, out = 0;
    for (uint64_t k = 0; k < 32; k++)
        out |= (k < bits ? bit(v.a, k) : sign) << k;
    return out;
}
static uint64_t extend_clamp_u(values v) { return extend(v, v.b, false); }
static uint64_t extend_clamp_s(values v) { return extend(v, v.b, true); }
static uint64_t extend_wrap_u(values v) { return extend(v, v.b & 31, false); }
static uint64_t extend_wrap_s(values v) { return extend(v, v.b & 31, true); }

/* The base is b's low five bits; the offset between -20 and 20. */
static uint64_t nth(values v)
{
    int64_t base = v.b & 31, offset = (int64_t)(v.c % 41) - 20, seen = 0, step = offset < 0 ? -1 : 1;
    if (!offset)
        return bit(v.a, (uint64_t)base) ? (uint64_t)base : 0xffffffff;
    for (int64_t k = base; k >= 0 && k < 32; k += step) {
        seen += (int64_t)bit(v.a, (uint64_t)k);
        if (bit(v.a, (uint64_t)k) && seen == offset * step)
            return (uint64_t)k;
    }
    return 0xffffffff;
}

UNSIGNED(logic_and, BITS, a &b)
UNSIGNED(logic_or, BITS, a | b)
UNSIGNED(logic_xor, BITS, a ^ b)
UNSIGNED(logic_not, BITS, ~a)
UNSIGNED(logic_cnot, BITS, a == 0)
UNSIGNED(left, BITS, (uint32_t)v.b < BITS ? (uwide)a << (uint32_t)v.b : 0)
ALL(right, BITS, a >> ((uint32_t)v.b < BITS ? (uint32_t)v.b : BITS))

static uint64_t pick_bytes(values v, const uint8_t from[4])
{
    uint64_t all = v.b << 32 | (uint32_t)v.a, out = 0;
    for (uint32_t k = 0; k < 4; k++)
        out |= (all >> 8 * from[k] & 255) << 8 * k;
    return out;
}
#define PERMUTE(name, ...)                               \
    static uint64_t name(values v)                       \
    {                                                    \
        static const uint8_t from[4][4] = {__VA_ARGS__}; \
        return pick_bytes(v, from[v.c & 3]);             \
    }
PERMUTE(forward, {0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6})
PERMUTE(backward, {0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0})
PERMUTE(byte_copies, {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3})
PERMUTE(edge_left, {0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3})
PERMUTE(edge_right, {0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3})
PERMUTE(half_copies, {0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3})

#define BITS2(text, name)                                                                                           \
    {text ".b16 D, A, B;", 'h', 'h', 'h', '-', name##_u16}, {text ".b32 D, A, B;", 'r', 'r', 'r', '-', name##_u32}, \
    {                                                                                                               \
        text ".b64 D, A, B;", 'x', 'x', 'x', '-', name##_u64                                                        \
    }
#define BITS1(text, name)                                                                                     \
    {text ".b16 D, A;", 'h', 'h', '-', '-', name##_u16}, {text ".b32 D, A;", 'r', 'r', '-', '-', name##_u32}, \
    {                                                                                                         \
        text ".b64 D, A;", 'x', 'x', '-', '-', name##_u64                                                     \
    }
#define SHIFT(text, suffix, name, k)                       \
    {                                                      \
        text "." #suffix " D, A, B;", k, k, 'r', '-', name \
    }

static const row bit_rows[] = {
    BITS2("and", logic_and),
    BITS2("or", logic_or),
    BITS2("xor", logic_xor),
    BITS1("not", logic_not),
    BITS1("cnot", logic_cnot),
    SHIFT("shl", b16, left_u16, 'h'),
    SHIFT("shl", b32, left_u32, 'r'),
    SHIFT("shl", b64, left_u64, 'x'),
    SHIFT("shr", b16, right_u16, 'h'),
    SHIFT("shr", b32, right_u32, 'r'),
    SHIFT("shr", b64, right_u64, 'x'),
    SHIFT("shr", u16, right_u16, 'h'),
    SHIFT("shr", u32, right_u32, 'r'),
    SHIFT("shr", u64, right_u64, 'x'),
    SHIFT("shr", s16, right_s16, 'h'),
    SHIFT("shr", s32, right_s32, 'r'),
    SHIFT("shr", s64, right_s64, 'x'),
    {"brev.b64 D, A;", 'x', 'x', '-', '-', reversed},
    {"bfind.u32 D, A;", 'r', 'r', '-', '-', find_u32},
    {"bfind.s32 D, A;", 'r', 'r', '-', '-', find_s32},
    {"bfind.u64 D, A;", 'r', 'x', '-', '-', find_u64},
    {"bfind.s64 D, A;", 'r', 'x', '-', '-', find_s64},
    {"bfind.shiftamt.u32 D, A;", 'r', 'r', '-', '-', shift_u32},
    {"bfind.shiftamt.s32 D, A;", 'r', 'r', '-', '-', shift_s32},
    {"bfind.shiftamt.u64 D, A;", 'r', 'x', '-', '-', shift_u64},
    {"bfind.shiftamt.s64 D, A;", 'r', 'x', '-', '-', shift_s64},
    {"bfe.u32 D, A, B, C;", 'r', 'r', 'r', 'r', extract_u32},
    {"bfe.s32 D, A, B, C;", 'r', 'r', 'r', 'r', extract_s32},
    {"bfe.u64 D, A, B, C;", 'x', 'x', 'r', 'r', extract_u64},
    {"bfe.s64 D, A, B, C;", 'x', 'x', 'r', 'r', extract_s64},
    {"shr.u32 %r20, C, 13; bfi.b32 D, A, B, C, %r20;", 'r', 'r', 'r', 'r', insert_32},
    {"shr.u32 %r20, C, 13; bfi.b64 D, A, B, C, %r20;", 'x', 'x', 'x', 'r', insert_64},
    {"bfi.b32 D, A, B, C, 31;", 'r', 'r', 'r', 'r', insert_31_of_32},
    {"bfi.b32 D, A, B, C, 32;", 'r', 'r', 'r', 'r', insert_32_of_32},
    {"bfi.b64 D, A, B, C, 63;", 'x', 'x', 'x', 'r', insert_63_of_64},
    {"bfi.b64 D, A, B, C, 64;", 'x', 'x', 'x', 'r', insert_64_of_64},
    {"bmsk.clamp.b32 D, A, B;", 'r', 'r', 'r', '-', mask_clamp},
    {"bmsk.wrap.b32 D, A, B;", 'r', 'r', 'r', '-', mask_wrap},
    {"szext.clamp.u32 D, A, B;", 'r', 'r', 'r', '-', extend_clamp_u},
    {"szext.clamp.s32 D, A, B;", 'r', 'r', 'r', '-', extend_clamp_s},
    {"szext.wrap.u32 D, A, B;", 'r', 'r', 'r', '-', extend_wrap_u},
    {"szext.wrap.s32 D, A, B;", 'r', 'r', 'r', '-', extend_wrap_s},
    {"and.b32 %r20, B, 31; rem.u32 %r21, C, 41; sub.s32 %r21, %r21, 20; fns.b32 D, A, %r20, %r21;", 'r', 'r', 'r', 'r',
     nth},
    {"prmt.b32.f4e D, A, B, C;", 'r', 'r', 'r', 'r', forward},
    {"prmt.b32.b4e D, A, B, C;", 'r', 'r', 'r', 'r', backward},
    {"prmt.b32.rc8 D, A, B, C;", 'r', 'r', 'r', 'r', byte_copies},
    {"prmt.b32.ecl D, A, B, C;", 'r', 'r', 'r', 'r', edge_left},
    {"prmt.b32.ecr D, A, B, C;", 'r', 'r', 'r', 'r', edge_right},
    {"prmt.b32.rc16 D, A, B, C;", 'r', 'r', 'r', 'r', half_copies},
};

static uint64_t any_or(values v) { return ((v.a ^ v.b) & 1) || v.c ? 0xffffffff : 0; }
static uint64_t any_and(values v) { return ((v.a ^ v.b) & 1) && v.c ? 0xffffffff : 0; }

/* In about half of the lanes, no bit of the result is set. */
#define PREDICATE(mods, last, name)                                                                           \
    {                                                                                                         \
        "lop3." mods ".b32 _|%p5, A, B, 1, 0x28, " last "; selp.u32 D, -1, 0, %p5;", 'r', 'r', 'r', 'p', name \
    }
static const row predicate_rows[] = {PREDICATE("or", "C", any_or), PREDICATE("and", "C", any_and)};

static void bits(void **state)
{
    (void)state;
    check_rows(bit_rows, sizeof bit_rows);
    check_rows(predicate_rows, sizeof predicate_rows);
}

/* All 256 tables of lop3 in one kernel, a thread for each table of three values. */
static void tables(void **state)
{
    static char body[256 * 160], text[sizeof body + 1024];
    uint32_t in[32 * 3], out[256 * 32];
    uint64_t seed = 3;
    size_t used = (size_t)snprintf(body, sizeof body,
                                   "mul.wide.u32 %%rd2, %%r0, 12;\nadd.u64 %%rd2, %%rd0, %%rd2;\n"
                                   "mul.wide.u32 %%rd3, %%r0, 4;\nadd.u64 %%rd3, %%rd1, %%rd3;\n"
                                   "ld.global.u32 %%r1, [%%rd2];\nld.global.u32 %%r2, [%%rd2+4];\n"
                                   "ld.global.u32 %%r3, [%%rd2+8];\n");
    (void)state;
    for (uint32_t i = 0; i < 96; i++)
        in[i] = i < 3 ? 0 : i < 6 ? 0xffffffff : (uint32_t)unit_random(&seed);
    for (uint32_t t = 0; t < 256; t++)
        used += (size_t)snprintf(body + used, sizeof body - used,
                                 "lop3.b32 %%r4, %%r1, %%r2, %%r3, %u;\nst.global.u32 [%%rd3+%u], %%r4;\n", t, t * 128);
    kernel_run run = {.text = kernel_text(text, sizeof text, body),
                      .in = in,
                      .in_bytes = sizeof in,
                      .out = out,
                      .out_bytes = sizeof out};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    for (uint32_t t = 0; t < 256; t++)
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t want = 0;
            for (uint32_t k = 0; k < 32; k++) {
                uint32_t at = (in[3 * i] >> k & 1) * 4 + (in[3 * i + 1] >> k & 1) * 2 + (in[3 * i + 2] >> k & 1);
                want |= (t >> at & 1) << k;
            }
            if (out[t * 32 + i] != want)
                fail_msg("lop3 with table 0x%02x gives %08x, expected %08x", t, out[t * 32 + i], want);
        }
}

/* ---- comparison and selection ------------------------------------------------------------------------------------ */

ALL(equal, BITS, a == b)
ALL(differs, BITS, a != b)
ALL(below, BITS, a < b)
ALL(at_most, BITS, a <= b)
ALL(above, BITS, a > b)
ALL(at_least, BITS, a >= b)
ALL(chosen, BITS, (int32_t)v.c >= 0 ? v.a : v.b)
ALL(selected, BITS, v.c ? v.a : v.b)
static uint64_t set_all(values v) { return v.a == v.b ? 0xffffffff : 0; }
static uint64_t set_float(values v) { return (int32_t)v.a < (int32_t)v.b ? 0x3f800000 : 0; }
static uint64_t set_half(values v) { return v.a > v.b ? 0x3c00 : 0; }
static uint64_t set_brain(values v) { return (int64_t)v.a <= (int64_t)v.b ? 0x3f80 : 0; }
static uint64_t set_xor(values v) { return (v.a != v.b) != !v.c ? 0xffffffff : 0; }
static uint64_t pair_and(values v) { return (uint64_t)(v.a < v.b && v.c) | (uint64_t)(v.a >= v.b && v.c) << 1; }
static uint64_t pair_xor(values v) { return (uint64_t)((v.a < v.b) == !v.c) | (uint64_t)((v.a >= v.b) == !v.c) << 1; }

#define COMPARE(mods, name, suffix, k)                                         \
    {                                                                          \
        "setp." #mods "." #suffix " D, A, B;", 'p', k, k, '-', name##_##suffix \
    }
#define COMPARES(mods, name)                                                                     \
    COMPARE(mods, name, u16, 'h'), COMPARE(mods, name, s16, 'h'), COMPARE(mods, name, u32, 'r'), \
        COMPARE(mods, name, s32, 'r'), COMPARE(mods, name, u64, 'x'), COMPARE(mods, name, s64, 'x')
#define COMPARES_U(mods, name) \
    COMPARE(mods, name, u16, 'h'), COMPARE(mods, name, u32, 'r'), COMPARE(mods, name, u64, 'x')
#define CHOICE(suffix, k)                                                 \
    {                                                                     \
        "slct." #suffix ".s32 D, A, B, C;", k, k, k, 'r', chosen_##suffix \
    }
#define SELECT(suffix, k)                                               \
    {                                                                   \
        "selp." #suffix " D, A, B, C;", k, k, k, 'p', selected_##suffix \
    }

static const row choice_rows[] = {
    COMPARES(eq, equal),
    COMPARES(ne, differs),
    COMPARES(lt, below),
    COMPARES(le, at_most),
    COMPARES(gt, above),
    COMPARES(ge, at_least),
    COMPARES_U(lo, below),
    COMPARES_U(ls, at_most),
    COMPARES_U(hi, above),
    COMPARES_U(hs, at_least),
    {"setp.eq.b16 D, A, B;", 'p', 'h', 'h', '-', equal_u16},
    {"setp.ne.b32 D, A, B;", 'p', 'r', 'r', '-', differs_u32},
    {"setp.eq.b64 D, A, B;", 'p', 'x', 'x', '-', equal_u64},
    CHOICE(u16, 'h'),
    CHOICE(s16, 'h'),
    CHOICE(u32, 'r'),
    CHOICE(s32, 'r'),
    CHOICE(u64, 'x'),
    CHOICE(s64, 'x'),
    SELECT(u16, 'h'),
    SELECT(s16, 'h'),
    SELECT(u32, 'r'),
    SELECT(s32, 'r'),
    SELECT(u64, 'x'),
    SELECT(s64, 'x'),
    {"set.eq.u32.b64 D, A, B;", 'r', 'x', 'x', '-', set_all},
    {"set.lt.f32.s32 D, A, B;", 'f', 'r', 'r', '-', set_float},
    {"set.hi.f16.u64 D, A, B;", 'h', 'x', 'x', '-', set_half},
    {"set.le.bf16.s64 D, A, B;", 'h', 'x', 'x', '-', set_brain},
    {"set.ne.xor.s32.u32 D, A, B, ! C;", 'r', 'r', 'r', 'p', set_xor},
    {"setp.lt.and.u32 %p5|%p6, A, B, C; selp.u32 %r20, 1, 0, %p5; selp.u32 %r21, 2, 0, %p6; or.b32 D, %r20, %r21;", 'r',
     'r', 'r', 'p', pair_and},
    {"setp.lt.xor.u64 %p5|%p6, A, B, C; selp.u32 %r20, 1, 0, %p5; selp.u32 %r21, 2, 0, %p6; or.b32 D, %r20, %r21;", 'r',
     'x', 'x', 'p', pair_xor},
};

static void choices(void **state)
{
    (void)state;
    check_rows(choice_rows, sizeof choice_rows);
}

/* ---- extended precision ------------------------------------------------------------------------------------------ */

/* The upper words of sums, differences and products of 128 bits: a, b (or c) in the low word, in the high word b and a.
 */
static uint64_t sum_high(values v) { return (uint64_t)((((uwide)v.b << 64 | v.a) + ((uwide)v.c << 64 | v.b)) >> 64); }
static uint64_t difference_high(values v)
{
    return (uint64_t)((((uwide)v.b << 64 | v.a) - ((uwide)v.c << 64 | v.b)) >> 64);
}
static uint64_t carry_out(values v) { return v.a + v.b < v.a; }
static uint64_t borrow_out(values v) { return (uint64_t) - (v.a < v.b); }
static uint64_t no_borrow(values v) { return v.a >= v.b; }
static uint64_t borrow_of_no_carry(values v) { return v.c - 1 + (v.a + v.b < v.a); }
static uint64_t product_carry(values v) { return (uint64_t)(((uwide)v.a * v.b + v.c) >> 64); }
static uint64_t product_signed(values v) { return (uint64_t)(((wide)(int64_t)v.a * (int64_t)v.b + v.c) >> 64); }

static const row carry_rows[] = {
    {"add.cc.u64 %rd20, A, B; addc.u64 D, B, C;", 'x', 'x', 'x', 'x', sum_high},
    {"sub.cc.s64 %rd20, A, B; subc.cc.s64 D, B, C;", 'x', 'x', 'x', 'x', difference_high},
    {"add.cc.u64 %rd20, A, B; addc.u64 D, 0, 0;", 'x', 'x', 'x', '-', carry_out},
    {"sub.cc.u64 %rd20, A, B; subc.u64 D, 0, 0;", 'x', 'x', 'x', '-', borrow_out},
    {"sub.cc.u64 %rd20, A, B; addc.u64 D, 0, 0;", 'x', 'x', 'x', '-', no_borrow},
    {"sub.cc.u64 %rd20, A, B; subc.cc.u64 %rd20, 0, 0; addc.u64 D, 0, 0;", 'x', 'x', 'x', '-', no_borrow},
    {"add.cc.u64 %rd20, A, B; subc.u64 D, C, 0;", 'x', 'x', 'x', 'x', borrow_of_no_carry},
    {"mad.lo.cc.u64 %rd20, A, B, C; madc.hi.u64 D, A, B, 0;", 'x', 'x', 'x', 'x', product_carry},
    {"mad.lo.cc.s64 %rd20, A, B, C; madc.hi.s64 D, A, B, 0;", 'x', 'x', 'x', 'x', product_signed},
};

static void carries(void **state)
{
    (void)state;
    check_rows(carry_rows, sizeof carry_rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic), cmocka_unit_test(packed),
                                       cmocka_unit_test(bits),       cmocka_unit_test(tables),
                                       cmocka_unit_test(choices),    cmocka_unit_test(carries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
