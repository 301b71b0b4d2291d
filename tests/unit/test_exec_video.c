/* Video instructions: every operation with all types, saturation, second operations, selectors and masks against a
 * reference that works on arrays of parts; on edges and random values. */
#include "kernel.h"

enum { COUNT = 512 };
typedef struct inputs {
    uint32_t a, b, c;
} inputs;
static inputs in[COUNT];
static uint32_t out[COUNT];

typedef struct instruction {
    const char *name; /* without the digit of the SIMD forms */
    uint32_t count;   /* parts: 1, 2, 4 */
    bool d, a, b;     /* signed */
    bool sat, wrap;
    char second; /* 0, 'a' add, 'm' min, 'M' max */
    const char *compare;
    char d_select[8], a_select[8], b_select[8]; /* ".b0" ...; "" the default */
    const char *a_sign, *b_sign, *c_sign;       /* vmad: "-" or "" */
    bool plus_one;
    uint32_t scale;
} instruction;

static bool is(const instruction *i, const char *name) { return !strcmp(i->name, name); }

/* ---- the reference ----------------------------------------------------------------------------------------------- */

/* Values up to 2^65 in size: sign and magnitude do not matter here, only that nothing is lost. */
typedef __int128 whole;

/* Part k, of `bits` bits, of the eight bytes of a and b. */
static whole part(const uint8_t *bytes, uint32_t k, uint32_t bits, bool is_signed)
{
    whole v = 0;
    for (uint32_t n = bits / 8; n-- > 0;)
        v = v * 256 + bytes[k * (bits / 8) + n];
    return is_signed && bytes[(k + 1) * (bits / 8) - 1] >= 128 ? v - ((whole)1 << bits) : v;
}

static whole limit(whole v, uint32_t bits, bool is_signed)
{
    whole low = is_signed ? -((whole)1 << (bits - 1)) : 0, high = ((whole)1 << (is_signed ? bits - 1 : bits)) - 1;
    return v < low ? low : v > high ? high : v;
}

static whole apply(const instruction *i, whole x, whole y)
{
    if (is(i, "vadd"))
        return x + y;
    if (is(i, "vsub"))
        return x - y;
    if (is(i, "vabsdiff"))
        return x < y ? y - x : x - y;
    if (is(i, "vavrg")) { /* the half of an odd sum goes away from zero */
        whole sum = x + y, half = sum / 2;
        return sum % 2 > 0 ? half + 1 : sum % 2 < 0 ? half - 1 : half;
    }
    if (is(i, "vmin"))
        return x < y ? x : y;
    if (is(i, "vmax"))
        return x > y ? x : y;
    if (is(i, "vset")) {
        const char *c = i->compare;
        return (c[0] == 'e' && x == y) || (c[0] == 'n' && x != y) || (c[0] == 'l' && x < y) || (c[0] == 'g' && x > y) ||
               (c[1] == 'e' && c[0] != 'n' && x == y);
    }
    whole amount = i->wrap ? y % 32 : y > 32 ? 32 : y;
    for (; amount > 0; amount--)
        x = is(i, "vshl") ? x * 2 : (x - (x % 2 != 0 && x < 0 ? 1 : 0)) / 2;
    return x;
}

/* The bits and the number of the part that a scalar selector names. */
static uint32_t selected(const char *selector, uint32_t *number)
{
    *number = selector[0] ? (uint32_t)(selector[2] - '0') : 0;
    return !selector[0] ? 32 : selector[1] == 'b' ? 8 : 16;
}

static uint32_t scalar(const instruction *i, const inputs *v)
{
    uint32_t ka, kb, kd, a_bits = selected(i->a_select, &ka), b_bits = selected(i->b_select, &kb);
    uint32_t d_bits = selected(i->d_select, &kd), result;
    whole x = apply(i, part((const uint8_t *)&v->a, ka, a_bits, i->a), part((const uint8_t *)&v->b, kb, b_bits, i->b));
    if (i->sat)
        x = limit(x, d_bits, i->d);
    if (i->second) { /* on 33 bits */
        whole c = i->d ? (whole)(int32_t)v->c : (whole)v->c, turn = (whole)1 << 33;
        x = ((x % turn) + turn) % turn;
        x = x >= turn / 2 ? x - turn : x;
        x = i->second == 'a' ? x + c : i->second == 'm' ? (x < c ? x : c) : x > c ? x : c;
        return (uint32_t)x;
    }
    if (d_bits == 32)
        return (uint32_t)x;
    result = v->c;
    for (uint32_t n = 0; n < d_bits / 8; n++)
        ((uint8_t *)&result)[kd * (d_bits / 8) + n] = (uint8_t)(x >> (8 * n));
    return result;
}

static uint32_t simd(const instruction *i, const inputs *v)
{
    uint32_t bits = 32 / i->count, result = v->c;
    uint8_t both[8];
    memcpy(both, &v->a, 4);
    memcpy(both + 4, &v->b, 4);
    for (uint32_t k = 0; k < i->count; k++) {
        uint32_t from_a = i->a_select[0] ? (uint32_t)(i->a_select[1 + i->count - k] - '0') : k;
        uint32_t from_b = i->b_select[0] ? (uint32_t)(i->b_select[1 + i->count - k] - '0') : k + i->count;
        if (i->d_select[0] && !strchr(i->d_select + 2, (char)('0' + k)))
            continue;
        whole x = apply(i, part(both, from_a, bits, i->a), part(both, from_b, bits, i->b));
        if (i->sat)
            x = limit(x, bits, i->d);
        if (i->second)
            result += (uint32_t)x;
        else
            for (uint32_t n = 0; n < bits / 8; n++)
                ((uint8_t *)&result)[k * bits / 8 + n] = (uint8_t)(x >> (8 * n));
    }
    return result;
}

static uint32_t multiply(const instruction *i, const inputs *v)
{
    uint32_t ka, kb, a_bits = selected(i->a_select, &ka), b_bits = selected(i->b_select, &kb);
    bool minus = (i->a_sign[0] != 0) != (i->b_sign[0] != 0), minus_c = i->c_sign[0];
    bool is_signed = i->a || i->b || minus || minus_c;
    whole x = part((const uint8_t *)&v->a, ka, a_bits, i->a) * part((const uint8_t *)&v->b, kb, b_bits, i->b);
    /* a negated c is its complement, taken as signed, and one more */
    whole c = minus_c ? (whole)(int32_t)~v->c + 1 : is_signed ? (whole)(int32_t)v->c : (whole)v->c;
    x = (minus ? -x : x) + c + (i->plus_one ? 1 : 0);
    for (uint32_t n = 0; n < i->scale; n++)
        x = (x - (x % 2 != 0 && x < 0 ? 1 : 0)) / 2;
    return (uint32_t)(i->sat ? limit(x, 32, is_signed) : x);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void fill(uint64_t seed)
{
    static const uint32_t edges[] = {0,          1,          0xffffffff, 0x7fffffff, 0x80000000, 0x7f80ff01,
                                     0x80808080, 0x7f7f7f7f, 0x00ff7f80, 0x80007fff, 0xffff0000, 0x20212223};
    uint32_t count = sizeof edges / sizeof *edges;
    for (uint32_t k = 0; k < COUNT; k++) {
        uint64_t x = unit_random(&seed), y = unit_random(&seed);
        in[k] = (inputs){k < 144 ? edges[k % count] : (uint32_t)x, k < 144 ? edges[k / count] : (uint32_t)(x >> 32),
                         k % 3 ? (uint32_t)y : edges[k / 3 % count]};
        if (k >= 400)
            in[k].b &= 63; /* shift amounts near the limits */
    }
}

static const char *type(bool is_signed) { return is_signed ? ".s32" : ".u32"; }

/* Order of the modifiers: as the ISA spells them. */
static void spell(const instruction *i, char *text, size_t size)
{
    bool set = is(i, "vset"), shift = is(i, "vshl") || is(i, "vshr"), mad = is(i, "vmad");
    const char *second = i->second == 'a' ? ".add" : i->second == 'm' ? ".min" : i->second ? ".max" : "";
    char digit[2] = {i->count > 1 ? (char)('0' + i->count) : 0, 0};
    bool with_c = i->count > 1 || i->second || i->d_select[0] || mad;
    snprintf(text, size, "%s%s%s%s%s%s%s%s%s%s%s%s %%r4%s, %s%%r5%s, %s%%r6%s%s%s%s;", i->name, digit,
             set ? "" : type(i->d), type(i->a), shift ? ".u32" : type(i->b), i->plus_one ? ".po" : "",
             i->sat ? ".sat" : "", shift ? (i->wrap ? ".wrap" : ".clamp") : "", set ? "." : "", set ? i->compare : "",
             second,
             i->scale == 7 ? ".shr7"
             : i->scale    ? ".shr15"
                           : "",
             i->d_select, mad ? i->a_sign : "", i->a_select, mad ? i->b_sign : "", i->b_select, with_c ? ", " : "",
             with_c && mad ? i->c_sign : "", with_c ? "%r7" : "");
}

static kernel_run run(const char *instruction_text)
{
    static char body[1024], text[2048];
    snprintf(body, sizeof body,
             "mad.wide.u32 %%rd2, %%r0, 12, %%rd0;\nmad.wide.u32 %%rd3, %%r0, 4, %%rd1;\nld.global.u32 %%r5, [%%rd2];\n"
             "ld.global.u32 %%r6, [%%rd2+4];\nld.global.u32 %%r7, [%%rd2+8];\n%s\nst.global.u32 [%%rd3], %%r4;",
             instruction_text);
    memset(out, 0, sizeof out);
    kernel_run r = {.text = kernel_text(text, sizeof text, body),
                    .in = in,
                    .in_bytes = sizeof in,
                    .out = out,
                    .out_bytes = sizeof out,
                    .block = COUNT};
    run_kernel(&r);
    return r;
}

static void check(const instruction *i)
{
    char text[160];
    spell(i, text, sizeof text);
    kernel_run r = run(text);
    if (r.status != HD_EXEC_DONE)
        fail_msg("%s: %s", text, r.message);
    for (uint32_t k = 0; k < COUNT; k++) {
        uint32_t expected = is(i, "vmad") ? multiply(i, &in[k]) : i->count > 1 ? simd(i, &in[k]) : scalar(i, &in[k]);
        if (out[k] != expected)
            fail_msg("%s of %x, %x, %x gives %x, expected %x", text, in[k].a, in[k].b, in[k].c, out[k], expected);
    }
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static const char *const parts[] = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};

static instruction plain(const char *name, uint32_t count, uint32_t types)
{
    return (instruction){.name = name,
                         .count = count,
                         .d = types & 1,
                         .a = types & 2,
                         .b = types & 4,
                         .compare = "eq",
                         .a_sign = "",
                         .b_sign = "",
                         .c_sign = ""};
}

static void random_parts(instruction *i, uint64_t *state)
{
    strcpy(i->a_select, parts[unit_random(state) % 7]);
    strcpy(i->b_select, parts[unit_random(state) % 7]);
}

/* Whole registers and random parts, with what may follow: nothing, a second operation, a part to merge into. */
static void check_scalar(instruction i, uint64_t *state)
{
    for (uint32_t n = 0; n < 12; n++) {
        i.a_select[0] = i.b_select[0] = i.d_select[0] = i.second = 0;
        if (n > 4)
            random_parts(&i, state);
        if (n % 5 < 4)
            i.second = "\0amM"[n % 5];
        else
            strcpy(i.d_select, parts[1 + unit_random(state) % 6]);
        fill(unit_random(state));
        check(&i);
    }
}

static void scalars(void **state)
{
    (void)state;
    static const char *const names[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax"};
    uint64_t seed = 1;
    for (uint32_t n = 0; n < 5; n++)
        for (uint32_t types = 0; types < 8; types++)
            for (uint32_t sat = 0; sat < 2; sat++) {
                instruction i = plain(names[n], 1, types);
                i.sat = sat;
                check_scalar(i, &seed);
            }
}

static void shifts(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (uint32_t k = 0; k < 32; k++) {
        instruction i = plain(k & 1 ? "vshl" : "vshr", 1, k >> 1 & 3);
        i.wrap = k & 8;
        i.sat = k & 16;
        check_scalar(i, &seed);
    }
}

static void scalar_comparisons(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (uint32_t c = 0; c < 6; c++)
        for (uint32_t types = 0; types < 4; types++) {
            instruction i = plain("vset", 1, types << 1);
            i.compare = comparisons[c];
            check_scalar(i, &seed);
        }
}

static void random_selectors(instruction *i, uint64_t *state)
{
    char letter = i->count == 2 ? 'h' : 'b';
    char *selectors[] = {i->a_select, i->b_select};
    for (uint32_t s = 0; s < 2; s++) {
        uint64_t bits = unit_random(state);
        memset(selectors[s], 0, 8);
        if (bits & 1 << 20)
            continue;
        selectors[s][0] = '.';
        selectors[s][1] = letter;
        for (uint32_t k = 0; k < i->count; k++)
            selectors[s][2 + k] = (char)('0' + (bits >> (4 * k)) % (2 * i->count));
    }
    uint64_t mask = unit_random(state) % (1u << i->count);
    uint32_t at = 2;
    memset(i->d_select, 0, 8);
    if (!mask)
        return;
    i->d_select[0] = '.';
    i->d_select[1] = letter;
    for (uint32_t k = i->count; k-- > 0;)
        if (mask >> k & 1)
            i->d_select[at++] = (char)('0' + k);
}

static void check_simd(instruction i, uint64_t *state)
{
    for (uint32_t n = 0; n < 6; n++) {
        i.second = n & 1 && !i.sat ? 'a' : 0;
        if (n > 1)
            random_selectors(&i, state);
        fill(unit_random(state));
        check(&i);
    }
}

static void side_by_side(void **state)
{
    (void)state;
    static const char *const names[] = {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"};
    uint64_t seed = 4;
    for (uint32_t n = 0; n < 6; n++)
        for (uint32_t types = 0; types < 8; types++)
            for (uint32_t k = 0; k < 4; k++) {
                instruction i = plain(names[n], k & 1 ? 4 : 2, types);
                i.sat = k & 2;
                check_simd(i, &seed);
            }
    for (uint32_t c = 0; c < 6; c++)
        for (uint32_t types = 0; types < 4; types++)
            for (uint32_t k = 0; k < 2; k++) {
                instruction i = plain("vset", k ? 4 : 2, types << 1);
                i.compare = comparisons[c];
                check_simd(i, &seed);
            }
}

static void products(void **state)
{
    (void)state;
    uint64_t seed = 5;
    static const uint32_t scales[] = {0, 7, 15};
    for (uint32_t k = 0; k < 4 * 2 * 3 * 6; k++) {
        instruction i = plain("vmad", 1, (k & 3) << 1);
        uint32_t signs = k / 24;
        i.sat = k & 4;
        i.scale = scales[k / 8 % 3];
        i.plus_one = signs == 5;
        i.a_sign = signs == 1 || signs == 3 ? "-" : "";
        i.b_sign = signs == 2 || signs == 3 ? "-" : "";
        i.c_sign = signs == 4 ? "-" : "";
        i.d = i.a || i.b || signs % 5;
        for (uint32_t n = 0; n < 3; n++) {
            i.a_select[0] = i.b_select[0] = 0;
            if (n)
                random_parts(&i, &seed);
            fill(unit_random(&seed));
            check(&i);
        }
    }
}

/* Constants as sources, and lanes whose guard does not hold. */
static void others(void **state)
{
    (void)state;
    fill(6);
    kernel_run r = run("vadd.s32.s32.s32.sat %r4, %r5.h1, -5;");
    assert_int_equal(r.status, HD_EXEC_DONE);
    for (uint32_t k = 0; k < COUNT; k++)
        assert_int_equal((int32_t)out[k], (int16_t)(in[k].a >> 16) - 5);
    r = run("mov.u32 %r4, 9;\nand.b32 %r9, %r0, 1;\nsetp.eq.u32 %p1, %r9, 1;\n@%p1 vmax4.u32.u32.u32 %r4.b0, %r5, %r6, "
            "%r7;");
    assert_int_equal(r.status, HD_EXEC_DONE);
    for (uint32_t k = 0; k < COUNT; k++) {
        uint32_t a = in[k].a & 255, b = in[k].b & 255;
        assert_int_equal(out[k], k & 1 ? (in[k].c & ~255u) | (a > b ? a : b) : 9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars),      cmocka_unit_test(shifts),   cmocka_unit_test(scalar_comparisons),
        cmocka_unit_test(side_by_side), cmocka_unit_test(products), cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
