/* Constant folding: each form that fold computes on all pairs of edge values against 128-bit arithmetic, the forms that
 * it leaves, and which sums, products, extensions and addresses it folds in random chains (tests/numbers/folds.txt). */
#include "golden_kernels.h"
#include "kernel.h"
#include "parsed.h"
#include "passes/clean/fold.h"

#include <math.h>

typedef __int128 wide;
typedef unsigned __int128 wide_bits;

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static uint64_t low_bits(uint64_t v, uint32_t bits) { return bits < 64 ? v & ((1ull << bits) - 1) : v; }

static wide number_of(uint64_t v, uint32_t bits, bool sign)
{
    wide n = (wide)low_bits(v, bits);
    return sign && v >> (bits - 1) & 1 ? n - ((wide)1 << bits) : n;
}

typedef struct operation {
    char name[12], half[8];
    bool sign, is_float;
    uint32_t bits, source_bits; /* of the instruction's type; of a cvt's source */
    bool source_sign;
} operation;

/* "mul.hi.s16", "cvt.s64.u32" */
static operation operation_of(const char *text)
{
    operation o = {.name = "", .half = ""};
    char part[32];
    uint32_t types = 0;
    for (; *text; text += *text == '.') {
        size_t length = strcspn(text, ".");
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        text += length;
        if (!o.name[0])
            snprintf(o.name, sizeof o.name, "%.11s", part);
        else if (part[0] == 'h' || part[0] == 'l' || part[0] == 'w')
            snprintf(o.half, sizeof o.half, "%.7s", part);
        else if (strchr("subf", part[0]) && part[1] >= '0' && part[1] <= '9') {
            uint32_t bits = (uint32_t)strtoul(part + 1, NULL, 10);
            o.bits = types ? o.bits : bits;
            o.sign = types ? o.sign : part[0] == 's';
            o.source_bits = bits;
            o.source_sign = part[0] == 's';
            o.is_float = part[0] == 'f';
            types++;
        }
    }
    return o;
}

static uint64_t bit_count(uint64_t v)
{
    uint64_t n = 0;
    for (; v; v >>= 1)
        n += v & 1;
    return n;
}

static bool divided(wide a, wide b, bool sign, bool rest, wide *r)
{
    if (b == 0 || (sign && b == -1))
        return false;
    *r = rest ? a % b : a / b;
    return true;
}

/* false: the result is open. */
static bool expect_integer(const operation *o, const uint64_t *s, wide *r)
{
    uint32_t w = o->bits;
    wide a = number_of(s[0], w, o->sign), b = number_of(s[1], w, o->sign);
    wide_bits product = (wide_bits)a * (wide_bits)b;
    uint32_t count = (uint32_t)s[1];
    const char *n = o->name;
    if (strcmp(n, "add") == 0)
        return *r = a + b, true;
    if (strcmp(n, "sub") == 0)
        return *r = a - b, true;
    if (strcmp(n, "mul") == 0)
        return *r = (wide)(o->half[0] == 'h' ? product >> w : product), true;
    if (strcmp(n, "mad") == 0)
        return *r = (wide)(product + s[2]), true;
    if (strcmp(n, "div") == 0 || strcmp(n, "rem") == 0)
        return divided(a, b, o->sign, n[0] == 'r', r);
    if (strcmp(n, "neg") == 0 || strcmp(n, "abs") == 0)
        return *r = n[0] == 'n' || a < 0 ? -a : a, true;
    if (strcmp(n, "min") == 0)
        return *r = a < b ? a : b, true;
    if (strcmp(n, "max") == 0)
        return *r = a < b ? b : a, true;
    if (strcmp(n, "and") == 0 || strcmp(n, "or") == 0 || strcmp(n, "xor") == 0)
        return *r = n[0] == 'a' ? a & b : n[0] == 'o' ? a | b : a ^ b, true;
    if (strcmp(n, "not") == 0)
        return *r = ~a, true;
    if (strcmp(n, "shl") == 0)
        return *r = count < w ? (wide)((wide_bits)a << count) : 0, true;
    if (strcmp(n, "shr") == 0)
        return *r = a >> (count < 127 ? count : 127), true;
    if (strcmp(n, "cvt") == 0)
        return *r = number_of(s[0], o->source_bits, o->source_sign), true;
    uint64_t bits = low_bits(s[0], w), mirrored = 0;
    if (strcmp(n, "popc") == 0)
        return *r = (wide)bit_count(bits), true;
    for (uint32_t i = 0; i < w; i++)
        mirrored = mirrored << 1 | (bits >> i & 1);
    if (strcmp(n, "brev") == 0)
        return *r = (wide)mirrored, true;
    assert_string_equal(n, "clz");
    for (*r = w; bits; bits >>= 1)
        --*r;
    return true;
}

static double float_result(const char *name, const double *x)
{
    return name[0] == 'a'   ? x[0] + x[1]
           : name[0] == 's' ? x[0] - x[1]
           : name[0] == 'm' ? x[0] * x[1]
                            : fma(x[0], x[1], x[2]);
}

static bool expect_float(const operation *o, const uint64_t *s, wide *r)
{
    double x[3] = {0}, y;
    uint64_t bits;
    float f;
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t word = (uint32_t)s[k];
        memcpy(&f, &word, sizeof f);
        memcpy(&x[k], &s[k], sizeof s[k]);
        x[k] = o->bits == 32 ? (double)f : x[k];
        if (isnan(x[k]))
            return false;
    }
    y = float_result(o->name, x);
    if (o->bits ==
        32) { /* a double holds a product of floats; a sum is rounded to it, then to a float, which is the same */
        uint32_t word;
        f = o->name[0] == 'f' ? fmaf((float)x[0], (float)x[1], (float)x[2]) : (float)y;
        memcpy(&word, &f, sizeof word);
        bits = word;
    } else {
        memcpy(&bits, &y, sizeof bits);
    }
    *r = (wide)bits;
    return !isnan(y);
}

/* Opcode, and the widths of the destination and the sources in units of 16 bits. */
static const char *const folded[][2] = {
    {"add.s16", "111"},       {"add.u32", "222"},       {"add.s64", "444"},       {"sub.u16", "111"},
    {"sub.s32", "222"},       {"sub.u64", "444"},       {"mul.lo.s16", "111"},    {"mul.lo.u32", "222"},
    {"mul.lo.s64", "444"},    {"mul.hi.s16", "111"},    {"mul.hi.u16", "111"},    {"mul.hi.s32", "222"},
    {"mul.hi.u32", "222"},    {"mul.hi.s64", "444"},    {"mul.hi.u64", "444"},    {"mul.wide.s16", "211"},
    {"mul.wide.u16", "211"},  {"mul.wide.s32", "422"},  {"mul.wide.u32", "422"},  {"mad.lo.s16", "1111"},
    {"mad.lo.u32", "2222"},   {"mad.lo.s64", "4444"},   {"mad.wide.s16", "2112"}, {"mad.wide.u16", "2112"},
    {"mad.wide.s32", "4224"}, {"mad.wide.u32", "4224"}, {"div.s16", "111"},       {"div.u16", "111"},
    {"div.s32", "222"},       {"div.u32", "222"},       {"div.s64", "444"},       {"div.u64", "444"},
    {"rem.s16", "111"},       {"rem.u16", "111"},       {"rem.s32", "222"},       {"rem.u32", "222"},
    {"rem.s64", "444"},       {"rem.u64", "444"},       {"neg.s16", "11"},        {"neg.s32", "22"},
    {"neg.s64", "44"},        {"abs.s16", "11"},        {"abs.s32", "22"},        {"abs.s64", "44"},
    {"min.s16", "111"},       {"min.u16", "111"},       {"min.s32", "222"},       {"min.u32", "222"},
    {"min.s64", "444"},       {"min.u64", "444"},       {"max.s16", "111"},       {"max.u16", "111"},
    {"max.s32", "222"},       {"max.u32", "222"},       {"max.s64", "444"},       {"max.u64", "444"},
    {"and.b16", "111"},       {"and.b32", "222"},       {"and.b64", "444"},       {"or.b16", "111"},
    {"or.b32", "222"},        {"or.b64", "444"},        {"xor.b16", "111"},       {"xor.b32", "222"},
    {"xor.b64", "444"},       {"not.b16", "11"},        {"not.b32", "22"},        {"not.b64", "44"},
    {"shl.b16", "112"},       {"shl.b32", "222"},       {"shl.b64", "442"},       {"shr.u16", "112"},
    {"shr.s16", "112"},       {"shr.b16", "112"},       {"shr.u32", "222"},       {"shr.s32", "222"},
    {"shr.b32", "222"},       {"shr.u64", "442"},       {"shr.s64", "442"},       {"shr.b64", "442"},
    {"popc.b32", "22"},       {"popc.b64", "24"},       {"clz.b32", "22"},        {"clz.b64", "24"},
    {"brev.b32", "22"},       {"brev.b64", "44"},       {"cvt.u32.u16", "21"},    {"cvt.s32.s16", "21"},
    {"cvt.u32.s16", "21"},    {"cvt.s64.s32", "42"},    {"cvt.u64.s32", "42"},    {"cvt.s64.u32", "42"},
    {"cvt.u16.u32", "12"},    {"cvt.s16.s64", "14"},    {"cvt.u32.u64", "24"},    {"cvt.s64.s16", "41"},
    {"cvt.s32.u32", "22"},    {"cvt.u64.u16", "41"},    {"add.f32", "222"},       {"add.rn.f32", "222"},
    {"sub.f32", "222"},       {"sub.rn.f32", "222"},    {"mul.f32", "222"},       {"mul.rn.f32", "222"},
    {"fma.rn.f32", "2222"},   {"add.f64", "444"},       {"add.rn.f64", "444"},    {"sub.f64", "444"},
    {"mul.f64", "444"},       {"mul.rn.f64", "444"},    {"fma.rn.f64", "4444"},
};

/* Saturation, flushing, other roundings, packed and narrow types, comparisons, carries. */
static const char *const left[][2] = {
    {"add.sat.s32", "222"},    {"sub.sat.s32", "222"},   {"add.rz.f32", "222"},     {"mul.rp.f64", "444"},
    {"add.ftz.f32", "222"},    {"mul.sat.f32", "222"},   {"sub.rm.f64", "444"},     {"fma.rn.ftz.f32", "2222"},
    {"fma.rz.f64", "4444"},    {"neg.f32", "22"},        {"abs.f64", "44"},         {"min.f32", "222"},
    {"max.f64", "444"},        {"div.rn.f32", "222"},    {"add.u16x2", "222"},      {"min.s16x2", "222"},
    {"mad.hi.s32", "2222"},    {"mad.hi.u64", "4444"},   {"cvt.u32.u8", "22"},      {"cvt.s8.s32", "22"},
    {"cvt.sat.s16.s32", "12"}, {"cvt.rn.f32.s32", "22"}, {"cvt.rzi.s32.f32", "22"}, {"cvt.f64.f32", "42"},
    {"add.cc.u32", "222"},     {"addc.u32", "222"},      {"mul24.lo.u32", "222"},   {"bfind.u32", "22"},
    {"sad.u32", "2222"},       {"mov.b32", "22"},        {"add.f16", "111"},        {"mul.f16", "111"},
    {"fma.rn.f16", "1111"},    {"cnot.b32", "22"},
};

static char register_class(const char *name, char width)
{
    const char *type = strrchr(name, '.');
    bool is_float = type[1] == 'f' && strcmp(type, ".f16") != 0;
    return width == '1' ? 'h' : width == '2' ? is_float ? 'f' : 'x' : is_float ? 'd' : 'y';
}

static parsed *parse_form(const char *const *form)
{
    char text[1024], operands[64] = "";
    bool converts = strncmp(form[0], "cvt", 3) == 0;
    for (uint32_t k = 0; form[1][k]; k++) {
        char class = register_class(form[0], form[1][k]);
        const char *to =
            form[0] + (strncmp(form[0] + 4, "sat", 3) == 0 || form[0][4] == 'r' ? strcspn(form[0] + 4, ".") + 4 : 3);
        if (converts && k == 0) /* of its first type */
            class = to[1] == 'f'        ? form[1][0] == '2' ? 'f' : 'd'
                    : form[1][0] == '1' ? 'h'
                    : form[1][0] == '2' ? 'x'
                                        : 'y';
        snprintf(operands + strlen(operands), sizeof operands - strlen(operands), "%s%c%u", k ? ", " : "", class, k);
    }
    snprintf(text, sizeof text, HEAD ".entry k()\n{\n" REGISTERS "%s %s;\nret;\n}\n", form[0], operands);
    return parse_good(text);
}

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 3,
                                 15,
                                 16,
                                 31,
                                 32,
                                 33,
                                 63,
                                 64,
                                 65,
                                 0x7f,
                                 0x80,
                                 0x7fff,
                                 0x8000,
                                 0xfffe,
                                 0xffff,
                                 0x10000,
                                 0x12345678,
                                 0x7fffffff,
                                 0x80000000,
                                 0x80000001,
                                 0xfffffffe,
                                 0xffffffff,
                                 0x100000000,
                                 0x3f800000,
                                 0x7f7fffff,
                                 0x7f800000,
                                 0x7fc00000,
                                 0xff800000,
                                 0x00800000,
                                 0x123456789abcdef0,
                                 0x3ff0000000000000,
                                 0x400921fb54442d18,
                                 0x7ff0000000000000,
                                 0x7ff8000000000000,
                                 0xfff0000000000000,
                                 0x000fffffffffffff,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xffffffffffffffff,
                                 0xfffffffffffffffe};
enum { EDGES = sizeof edges / sizeof *edges };

static void check_numbers(const char *name, const hd_form *form, const char *widths, const uint64_t *raw)
{
    operation o = operation_of(name);
    uint32_t count = (uint32_t)strlen(widths) - 1, width = 16u * (uint32_t)(widths[0] - '0');
    uint64_t s[HD_FOLD_SOURCES] = {0}, got = 0;
    wide want = 0;
    for (uint32_t k = 0; k < count; k++)
        s[k] = low_bits(raw[k], 16u * (uint32_t)(widths[k + 1] - '0'));
    bool known = o.is_float && strncmp(name, "cvt", 3) != 0 ? expect_float(&o, s, &want) : expect_integer(&o, s, &want);
    if (hd_fold_number(form, s, count, &got) != known)
        fail_msg("%s 0x%llx, 0x%llx, 0x%llx: %s", name, (unsigned long long)s[0], (unsigned long long)s[1],
                 (unsigned long long)s[2], known ? "not folded" : "folded");
    if (known && got != low_bits((uint64_t)want, width))
        fail_msg("%s 0x%llx, 0x%llx, 0x%llx: 0x%llx instead of 0x%llx", name, (unsigned long long)s[0],
                 (unsigned long long)s[1], (unsigned long long)s[2], (unsigned long long)got,
                 (unsigned long long)low_bits((uint64_t)want, width));
}

static void each_form_on_edges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof folded / sizeof *folded; i++) {
        parsed *p = parse_form(folded[i]);
        const hd_function *f = function_of(p, "k");
        const hd_form *form = hd_insn_form(f, &f->instructions.items[0]);
        const char *widths = folded[i][1];
        assert_int_equal(hd_fold_result_width(form), 16 * (widths[0] - '0'));
        for (uint32_t k = 0; widths[k + 1]; k++)
            if (hd_fold_width(form, k) != 16u * (uint32_t)(widths[k + 1] - '0'))
                fail_msg("%s: source %u has %u bits", folded[i][0], k, hd_fold_width(form, k));
        for (uint32_t a = 0; a < EDGES; a++)
            for (uint32_t b = 0; b < (widths[2] ? EDGES : 1); b++)
                for (uint32_t c = 0; c < (widths[2] && widths[3] ? EDGES : 1); c += 1 + (a + b) % 7)
                    check_numbers(folded[i][0], form, widths, (const uint64_t[]){edges[a], edges[b], edges[c]});
        parsed_free(p);
    }
}

static void other_forms_are_left(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        parsed *p = parse_form(left[i]);
        const hd_function *f = function_of(p, "k");
        const hd_form *form = hd_insn_form(f, &f->instructions.items[0]);
        uint64_t result;
        if (hd_fold_result_width(form) || hd_fold_width(form, 0) || hd_fold_width(form, 1) ||
            hd_fold_number(form, (const uint64_t[]){1, 2, 3}, (uint32_t)strlen(left[i][1]) - 1, &result))
            fail_msg("%s is folded", left[i][0]);
        parsed_free(p);
    }
}

/* ---- chains ------------------------------------------------------------------------------------------------------ */

enum { LINES = 28, REGISTERS_EACH = 4, OUT_BYTES = 4096, TEXT_BYTES = 1 << 14 };

static uint32_t below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % n;
}

static const char *number_text(uint64_t *state)
{
    static const char *const some[] = {"0",  "1",  "2",  "3",  "4",  "7",   "8",
                                       "16", "31", "-1", "-2", "-8", "256", "0x7fff"};
    return some[below(state, sizeof some / sizeof *some)];
}

/* Few registers of each width, so that values are overwritten and read again; addresses stay within the output. */
static void chain_line(char *line, size_t size, uint64_t *state)
{
    uint32_t a = 10 + below(state, REGISTERS_EACH), b = 10 + below(state, REGISTERS_EACH),
             c = 10 + below(state, REGISTERS_EACH), step = 8 * below(state, 8);
    const char *n = number_text(state), *guard = below(state, 8) ? "" : below(state, 2) ? "@%p1 " : "@!%p2 ";
    bool narrow = below(state, 6) == 0;
    switch (below(state, 24)) {
    case 0: snprintf(line, size, "%smov.u16 %%h%u, %s;\n", guard, a, n); break;
    case 1: snprintf(line, size, "%smov.u32 %%r%u, %s;\n", guard, a, n); break;
    case 2: snprintf(line, size, "%smov.u64 %%rd%u, %s;\n", guard, a, n); break;
    case 3: snprintf(line, size, "%sadd.s32 %%r%u, %%r%u, %s;\n", guard, a, b, n); break;
    case 4: snprintf(line, size, "%sadd.s32 %%r%u, %%r%u, %%r%u;\n", guard, a, b, c); break;
    case 5: snprintf(line, size, "%ssub.s64 %%rd%u, %%rd%u, %s;\n", guard, a, b, n); break;
    case 6: snprintf(line, size, "%sadd.s64 %%rd%u, %%rd%u, %%rd%u;\n", guard, a, b, c); break;
    case 7: snprintf(line, size, "%smul.lo.s32 %%r%u, %%r%u, %%r%u;\n", guard, a, b, c); break;
    case 8: snprintf(line, size, "%smul.lo.s32 %%r%u, %%r%u, %s;\n", guard, a, b, n); break;
    case 9: snprintf(line, size, "%smul.wide.%c32 %%rd%u, %%r%u, %%r%u;\n", guard, narrow ? 'u' : 's', a, b, c); break;
    case 10: snprintf(line, size, "%smul.lo.s64 %%rd%u, %%rd%u, %s;\n", guard, a, b, n); break;
    case 11: snprintf(line, size, "%sshl.b32 %%r%u, %%r%u, %u;\n", guard, a, b, below(state, 34)); break;
    case 12: snprintf(line, size, "%sshl.b64 %%rd%u, %%rd%u, %u;\n", guard, a, b, below(state, 66)); break;
    case 13:
    case 14:
        snprintf(line, size, "%scvt.%c64.%c32 %%rd%u, %%r%u;\n", guard, narrow ? 's' : 'u', below(state, 2) ? 's' : 'u',
                 a, b);
        break;
    case 15: snprintf(line, size, "%scvt.u32.u64 %%r%u, %%rd%u;\n", guard, a, b); break;
    case 16:
        snprintf(line, size, "%s%s.u32 %%r%u, %%r%u, %u;\n", guard, narrow ? "rem" : "div", a, b,
                 1u << below(state, 32));
        break;
    case 17:
        snprintf(line, size, "%s%s.u16 %%h%u, %%h%u, %u;\n", guard, narrow ? "rem" : "div", a, b,
                 1u << below(state, 16));
        break;
    case 18: snprintf(line, size, "%s%s.b64 %%rd%u, %%rd%u, %s;\n", guard, narrow ? "and" : "xor", a, b, n); break;
    case 19: snprintf(line, size, "%sadd.s16 %%h%u, %%h%u, %s;\n", guard, a, b, n); break;
    case 20:
    case 21: snprintf(line, size, "%sadd.s64 %%rd%u, %%rd%u, %u;\n", guard, 20 + a, 20 + b, step); break;
    case 22: snprintf(line, size, "%sst.global.u32 [%%rd%u+%u], %%r%u;\n", guard, 20 + a, step, b); break;
    default: snprintf(line, size, "%sld.global.u32 %%r%u, [%%rd%u+%u];\n", guard, a, 20 + b, step);
    }
}

static void chain_lines(char *text, uint64_t seed)
{
    enum { SIZE = GOLDEN_KERNEL_BYTES };
    uint64_t state = seed * 977;
    size_t used = (size_t)snprintf(text, SIZE, "setp.lt.u32 %%p1, %%r0, 5;\nsetp.ne.u32 %%p2, %%r0, 7;\n");
    for (uint32_t k = 0; k < REGISTERS_EACH; k++)
        used += (size_t)snprintf(text + used, SIZE - used,
                                 "xor.b32 %%r%u, %%r0, 0x%x;\ncvt.u16.u32 %%h%u, %%r%u;\nmul.wide.u32 %%rd%u, %%r%u, "
                                 "0x%x;\nmad.wide.u32 %%rd%u, %%r0, 128, %%rd1;\n",
                                 10 + k, below(&state, 1 << 30), 10 + k, 10 + k, 10 + k, 10 + k, below(&state, 1 << 30),
                                 30 + k);
    for (uint32_t k = 0; k < LINES; k++) {
        chain_line(text + used, SIZE - used, &state);
        used += strlen(text + used);
    }
    used += (size_t)snprintf(text + used, SIZE - used, "mad.wide.u32 %%rd40, %%r0, 128, %%rd1;\n");
    for (uint32_t k = 0; k < REGISTERS_EACH; k++)
        used += (size_t)snprintf(text + used, SIZE - used,
                                 "st.global.u32 [%%rd40+%u], %%r%u;\nst.global.u16 [%%rd40+%u], %%h%u;\n"
                                 "st.global.u64 [%%rd40+%u], %%rd%u;\n",
                                 16 * k, 10 + k, 16 * k + 4, 10 + k, 16 * k + 8, 10 + k);
}

/* What is left of each opcode, and the offsets of addresses. */
static void sum_left(golden_sums *s, const hd_function *f)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        golden_add(s, hd_opcodes[hd_insn_form(f, insn)->opcode].name, 1);
        const hd_operand *o = hd_insn_operands(f, insn);
        for (uint32_t k = 0; k < insn->operand_count; k++) {
            golden_add(s, "offsets", o[k].kind == HD_OPERAND_REGISTER && o[k].flags & HD_OPERAND_OFFSET);
            golden_add(s, "numbers", o[k].kind == HD_OPERAND_LITERAL);
        }
    }
}

/* Values by the interpreter; what is left against tests/numbers/folds.txt. */
static void chains_fold_as_they_did(void **state)
{
    static const char *const passes[] = {"fold(fuse)", "fold(fuse),copyprop(all),fold(fuse),dce", "select"};
    const golden_kernels kernels = {.make = chain_lines,
                                    .sum = sum_left,
                                    .passes = passes,
                                    .lists = sizeof passes / sizeof *passes,
                                    .count = 300,
                                    .out_bytes = OUT_BYTES};
    hd_writer writer;
    (void)state;
    golden_kernels_run(&kernels, &writer);
    golden_expect("folds.txt", &writer);
    hd_writer_free(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_on_edges),
        cmocka_unit_test(other_forms_are_left),
        cmocka_unit_test(chains_fold_as_they_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
