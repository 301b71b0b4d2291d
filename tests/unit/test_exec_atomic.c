/* Atomics and reductions of every operation, type, width and space, against a reference that does one lane after
 * another in plain C; and the faults. */
#include "kernel.h"

#include <math.h>

typedef unsigned __int128 wide;

enum { CELLS = 1024, OLD = 1024, INDEX = 2048 }; /* byte places in `out` and `in` */
static unsigned char in[4096], out[4096], expected[4096];

static uint64_t random_state = 88172645463325252ull;
static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* ---- reference --------------------------------------------------------------------------------------------------- */

/* A format's exponent bits and fraction bits; value = decode(bits) exactly in long double. */
typedef struct format {
    int exponent_bits, fraction_bits;
} format;

static long double decode(uint64_t v, format f)
{
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    uint64_t fraction = v & ((1ull << f.fraction_bits) - 1), e = v >> f.fraction_bits & ((1ull << f.exponent_bits) - 1);
    long double sign = v >> (f.exponent_bits + f.fraction_bits) & 1 ? -1.0L : 1.0L;
    if (e == (1ull << f.exponent_bits) - 1)
        return fraction ? nanl("") : sign * (long double)INFINITY;
    if (!e)
        return sign * ldexpl((long double)fraction, 1 - bias - f.fraction_bits);
    return sign * ldexpl((long double)(fraction | 1ull << f.fraction_bits), (int)e - bias - f.fraction_bits);
}

static uint64_t encode(long double v, format f, uint64_t nan_bits)
{
    int bias = (1 << (f.exponent_bits - 1)) - 1, e;
    uint64_t sign = (uint64_t)(signbit(v) != 0) << (f.exponent_bits + f.fraction_bits);
    uint64_t infinity = ((1ull << f.exponent_bits) - 1) << f.fraction_bits;
    if (isnan(v))
        return nan_bits;
    if (isinf(v))
        return sign | infinity;
    if (v == 0)
        return sign;
    e = ilogbl(v) < 1 - bias ? 1 - bias : ilogbl(v);
    uint64_t n = (uint64_t)rintl(fabsl(ldexpl(v, f.fraction_bits - e))); /* units of the last place */
    uint64_t bits = n + ((uint64_t)(e + bias - 1) << f.fraction_bits);
    return sign | (bits > infinity ? infinity : bits);
}

typedef struct type {
    const char *name;
    int bytes, lanes; /* lanes: values in it */
    format f;         /* of floats */
    bool is_signed, is_float;
} type;
static const type types[] = {
    {"b16", 2, 1, {0, 0}, false, false},   {"b32", 4, 1, {0, 0}, false, false},  {"b64", 8, 1, {0, 0}, false, false},
    {"b128", 16, 1, {0, 0}, false, false}, {"u32", 4, 1, {0, 0}, false, false},  {"s32", 4, 1, {0, 0}, true, false},
    {"u64", 8, 1, {0, 0}, false, false},   {"s64", 8, 1, {0, 0}, true, false},   {"f16", 2, 1, {5, 10}, false, true},
    {"f16x2", 4, 2, {5, 10}, false, true}, {"bf16", 2, 1, {8, 7}, false, true},  {"bf16x2", 4, 2, {8, 7}, false, true},
    {"f32", 4, 1, {8, 23}, false, true},   {"f64", 8, 1, {11, 52}, false, true},
};
static const type *type_of(const char *name)
{
    for (uint32_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    fail_msg("%s", name);
    return NULL;
}

static uint64_t flush_f32(uint64_t v) { return v & 0x7f800000 ? v : v & 0x80000000; }

static uint64_t float_one(const char *op, const type *t, uint64_t old, uint64_t b, bool flush)
{
    uint64_t nan_bits = t->bytes == 8 ? 0x7ff8000000000000ull : t->f.fraction_bits == 23 ? 0x7fffffff : 0x7fff;
    if (flush)
        old = flush_f32(old), b = flush_f32(b);
    long double x = decode(old, t->f), y = decode(b, t->f), r;
    if (!strcmp(op, "add")) {
        volatile double narrow_sum = (double)x + (double)y; /* long double would round twice */
        r = t->bytes == 8 ? (long double)narrow_sum : x + y;
        uint64_t bits = encode(r, t->f, nan_bits);
        return flush ? flush_f32(bits) : bits;
    }
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? nan_bits : isnan(x) ? b : old;
    bool less = x < y || (x == y && signbit(x) && !signbit(y));
    return less == !strcmp(op, "min") ? old : b;
}

static wide integer_one(const char *op, const type *t, wide old, wide b, wide c)
{
    wide mask = t->bytes == 16 ? ~(wide)0 : ((wide)1 << 8 * t->bytes) - 1;
    int shift = 128 - 8 * t->bytes;
    __int128 so = (__int128)(old << shift) >> shift, sb = (__int128)(b << shift) >> shift;
    bool less = t->is_signed ? so < sb : old < b;
    wide r = 0;
    if (!strcmp(op, "and"))
        r = old & b;
    else if (!strcmp(op, "or"))
        r = old | b;
    else if (!strcmp(op, "xor"))
        r = old ^ b;
    else if (!strcmp(op, "exch"))
        r = b;
    else if (!strcmp(op, "cas"))
        r = old == b ? c : old;
    else if (!strcmp(op, "add"))
        r = old + b;
    else if (!strcmp(op, "inc"))
        r = old >= b ? 0 : old + 1;
    else if (!strcmp(op, "dec"))
        r = !old || old > b ? b : old - 1;
    else if (!strcmp(op, "min"))
        r = less ? old : b;
    else if (!strcmp(op, "max"))
        r = less ? b : old;
    else
        fail_msg("%s", op);
    return r & mask;
}

static wide combine(const char *op, const type *t, wide old, wide b, wide c, bool flush)
{
    if (!t->is_float)
        return integer_one(op, t, old, b, c);
    uint64_t r = 0;
    for (int k = 0, bits = 8 * t->bytes / t->lanes; k < t->lanes; k++) {
        uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
        r |= float_one(op, t, (uint64_t)(old >> bits * k) & mask, (uint64_t)(b >> bits * k) & mask, flush) << bits * k;
    }
    return r;
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static wide some_value(const type *t)
{
    static const uint16_t narrow[] = {0,      0x8000, 1,      0x8001, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7bff, 0x7f80,
                                      0xff80, 0x7f7f, 0x7fff, 0xffff, 0x3f80, 0x03ff, 0x0400, 0x0080, 0x007f, 0x7e01};
    static const uint64_t edges[] = {0,          1,          2,          ~0ull,      0x80000000, 0x7fffffff,
                                     1ull << 63, ~0ull >> 1, 0x00800000, 0x807fffff, 0x00000001, 0x3f800000,
                                     0x7f7fffff, 0x7f800000, 0xff800000, 31};
    uint64_t a = random_bits(), b = random_bits();
    if (t->is_float && t->bytes == 4 && t->lanes == 1 && random_bits() % 3 == 0)
        a = edges[8 + random_bits() % 7];
    else if (t->is_float && t->bytes == 8 && random_bits() % 3)
        a = (a & 0x800fffffffffffffull) | (1000 + random_bits() % 48) << 52; /* sums that matter; no NaN payloads */
    else if (t->is_float && t->bytes == 8)
        a = 0x3ff0000000000000ull;
    else if (t->f.exponent_bits && t->f.fraction_bits < 12 && random_bits() % 2)
        a = narrow[random_bits() % 20] | (uint64_t)narrow[random_bits() % 20] << 16;
    else if (!t->is_float && random_bits() % 2)
        a = edges[random_bits() % 16];
    if (random_bits() % 2)
        b = a;
    wide v = a | (wide)b << 64;
    return t->bytes == 16 ? v : v & (((wide)1 << 8 * t->bytes) - 1);
}

static wide get(const unsigned char *from, int bytes)
{
    wide v = 0;
    memcpy(&v, from, (size_t)bytes);
    return v;
}

/* Lane l: b at 64 l, c (or more elements of b) after it; its cell's number at INDEX + 4 l. */
static void fill(const type *t, int count, int cells)
{
    int stride = t->bytes * count;
    memset(out, 0xee, sizeof out);
    for (int l = 0; l < 32; l++) {
        uint32_t index = (uint32_t)(random_bits() % (uint32_t)cells);
        memcpy(in + INDEX + 4 * l, &index, 4);
        for (int k = 0; k < 4 * 16 / t->bytes; k++) {
            wide v = some_value(t);
            memcpy(in + 64 * l + t->bytes * k, &v, (size_t)t->bytes);
        }
    }
    for (int at = 0; at < CELLS; at += t->bytes) {
        wide v = some_value(t);
        memcpy(out + at, &v, (size_t)t->bytes);
    }
    for (int l = 0; l < 32; l += 3) { /* let many a cas find what it wants */
        uint32_t index;
        memcpy(&index, in + INDEX + 4 * l, 4);
        memcpy(in + 64 * l, out + (int)index * stride, (size_t)t->bytes);
    }
    memcpy(expected, out, sizeof out);
}

static void run_reference(const char *op, const type *t, int count, bool red, bool shared)
{
    bool flush = t->is_float && t->bytes == 4 && t->lanes == 1 && !shared;
    for (int l = 0; l < 32; l++) {
        uint32_t index;
        memcpy(&index, in + INDEX + 4 * l, 4);
        for (int k = 0; k < count; k++) {
            unsigned char *cell = expected + (int)index * t->bytes * count + t->bytes * k;
            wide old = get(cell, t->bytes), c = get(in + 64 * l + 32, t->bytes);
            wide v = combine(op, t, old, get(in + 64 * l + t->bytes * k, t->bytes), c, flush);
            memcpy(cell, &v, (size_t)t->bytes);
            if (!red)
                memcpy(expected + OLD + 64 * l + t->bytes * k, &old, (size_t)t->bytes);
        }
    }
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static const char *register_of(const type *t)
{
    return t->bytes == 2 ? "%h" : t->bytes == 4 ? "%r" : t->bytes == 8 ? "%rd" : "%q";
}

/* "{%r20,%r21}" or "%r20" */
static void list(char *to, size_t size, const type *t, int first, int count)
{
    size_t n = (size_t)snprintf(to, size, "%s", count > 1 ? "{" : "");
    for (int k = 0; k < count; k++)
        n += (size_t)snprintf(to + n, size - n, "%s%s%d", k ? "," : "", register_of(t), first + k);
    snprintf(to + n, size - n, "%s", count > 1 ? "}" : "");
}

enum { GLOBAL, SHARED, GENERIC_GLOBAL, GENERIC_SHARED, SPACES };

static void write_body(char *text, size_t size, const char *op, const type *t, int count, bool red, int space,
                       const char *modifiers)
{
    static const char *const space_word[] = {".global", ".shared", "", ""};
    bool shared = space == SHARED || space == GENERIC_SHARED, cas = !strcmp(op, "cas");
    char b[128], c[32], old[128], vector[16] = "", loads[512] = "", stores[512] = "";
    int first_old = t->bytes == 16 ? 2 : 10, first_b = t->bytes == 16 ? 0 : 20;
    list(b, sizeof b, t, first_b, count);
    list(old, sizeof old, t, first_old, count);
    snprintf(c, sizeof c, "%s%s%d", cas ? ", " : "", cas ? register_of(t) : "", 1 + first_b);
    if (!cas)
        c[0] = 0;
    if (count > 1)
        snprintf(vector, sizeof vector, ".v%d", count);
    for (int k = 0; k < count; k++) {
        snprintf(loads + strlen(loads), sizeof loads - strlen(loads), "ld.global.b%d %s%d, [%%rd3+%d];\n", 8 * t->bytes,
                 register_of(t), first_b + k, t->bytes * k);
        snprintf(stores + strlen(stores), sizeof stores - strlen(stores), "st.global.b%d [%%rd4+%d], %s%d;\n",
                 8 * t->bytes, OLD + t->bytes * k, register_of(t), first_old + k);
    }
    if (cas)
        snprintf(loads + strlen(loads), sizeof loads - strlen(loads), "ld.global.b%d %s%d, [%%rd3+32];\n", 8 * t->bytes,
                 register_of(t), first_b + 1);
    const char *address = space == SHARED ? "mov.u32 %r3, s;\nmad.lo.u32 %r4, %r1, %r2, %r3;\n"
                          : shared        ? "mov.u64 %rd6, s;\ncvta.shared.u64 %rd6, %rd6;\nmad.wide.u32 %rd5, %r1, "
                                            "%r2, %rd6;\n"
                                          : "mad.wide.u32 %rd5, %r1, %r2, %rd1;\n";
    char instruction[512];
    snprintf(instruction, sizeof instruction, "%s%s%s.%s%s%s.%s %s%s[%s], %s%s;", red ? "red" : "atom", modifiers,
             space_word[space], op, t->is_float && t->f.fraction_bits < 12 ? ".noftz" : "", vector, t->name,
             red ? "" : old, red ? "" : ", ", space == SHARED ? "%r4" : "%rd5", b, c);
    snprintf(text, size,
             ".shared .align 16 .b8 s[1024];\n"
             "mad.wide.u32 %%rd3, %%r0, 64, %%rd0;\nmad.wide.u32 %%rd4, %%r0, 64, %%rd1;\n"
             "mad.wide.u32 %%rd7, %%r0, 4, %%rd0;\nld.global.u32 %%r1, [%%rd7+%d];\nmov.u32 %%r2, %d;\n"
             "mad.wide.u32 %%rd8, %%r0, 32, %%rd1;\nshl.b32 %%r5, %%r0, 5;\nmov.u32 %%r6, s;\nadd.u32 %%r6, %%r6, "
             "%%r5;\n"
             "ld.global.v2.b64 {%%rd9,%%rd10}, [%%rd8];\nst.shared.v2.b64 [%%r6], {%%rd9,%%rd10};\n"
             "ld.global.v2.b64 {%%rd9,%%rd10}, [%%rd8+16];\nst.shared.v2.b64 [%%r6+16], {%%rd9,%%rd10};\n"
             "bar.sync 0;\n%s%s%s\nbar.sync 0;\n%s%s",
             INDEX, t->bytes * count, loads, address, instruction, red ? "" : stores,
             shared ? "ld.shared.v2.b64 {%rd9,%rd10}, [%r6];\nst.global.v2.b64 [%rd8], {%rd9,%rd10};\n"
                      "ld.shared.v2.b64 {%rd9,%rd10}, [%r6+16];\nst.global.v2.b64 [%rd8+16], {%rd9,%rd10};\n"
                    : "");
}

static void check(const char *op, const char *type_name, int count, bool red, int space, const char *modifiers)
{
    static char body[8192], text[16384];
    const type *t = type_of(type_name);
    write_body(body, sizeof body, op, t, count, red, space, modifiers);
    for (int round = 0; round < 3; round++) {
        fill(t, count, round ? CELLS / (t->bytes * count) / (round * 8) : 1);
        run_reference(op, t, count, red, space == SHARED || space == GENERIC_SHARED);
        kernel_run run = {.text = kernel_text_for(text, sizeof text, "8.5", "sm_90", body),
                          .in = in,
                          .in_bytes = sizeof in,
                          .out = out,
                          .out_bytes = sizeof out};
        run_kernel(&run);
        if (run.status != HD_EXEC_DONE)
            fail_msg("%s.%s: %s", op, type_name, run.message);
        for (uint32_t i = 0; i < sizeof out; i++)
            if (out[i] != expected[i])
                fail_msg("%s %s.%s x%d, space %d, round %d: byte %u is %02x, not %02x", red ? "red" : "atom", op,
                         type_name, count, space, round, i, out[i], expected[i]);
    }
}

static void check_all(const char *op, const char *type_name, bool has_red)
{
    for (int space = 0; space < SPACES; space++) {
        check(op, type_name, 1, false, space, "");
        if (has_red)
            check(op, type_name, 1, true, space, "");
    }
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void integers(void **state)
{
    static const char *const bits[] = {"and", "or", "xor"}, *const order[] = {"min", "max"};
    static const char *const ordered[] = {"u32", "s32", "u64", "s64"}, *const added[] = {"u32", "s32", "u64"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        check_all(bits[i], "b32", true);
        check_all(bits[i], "b64", true);
        check_all("add", added[i], true);
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++)
            check_all(order[i], ordered[k], true);
    check_all("inc", "u32", true);
    check_all("dec", "u32", true);
}

static void exchanges(void **state)
{
    (void)state;
    check_all("exch", "b32", false);
    check_all("exch", "b64", false);
    check_all("exch", "b128", false);
    check_all("cas", "b16", false);
    check_all("cas", "b32", false);
    check_all("cas", "b64", false);
    check_all("cas", "b128", false);
}

static void floats(void **state)
{
    static const char *const names[] = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"};
    (void)state;
    for (int i = 0; i < 6; i++)
        check_all("add", names[i], true);
}

static void vectors(void **state)
{
    static const char *const names[] = {"f16", "bf16", "f16x2", "bf16x2"}, *const ops[] = {"add", "min", "max"};
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int o = 0; o < 3; o++)
            for (int count = 2; count * type_of(names[i])->bytes <= 16; count *= 2) {
                check(ops[o], names[i], count, false, GLOBAL, "");
                check(ops[o], names[i], count, true, GENERIC_GLOBAL, "");
            }
    for (int count = 2; count <= 4; count *= 2) {
        check("add", "f32", count, false, GLOBAL, "");
        check("add", "f32", count, true, GLOBAL, "");
    }
}

static kernel_run run_body(const char *body)
{
    static char text[8192];
    kernel_run run = {.text = kernel_text_for(text, sizeof text, "8.5", "sm_90", body),
                      .in = in,
                      .in_bytes = sizeof in,
                      .out = out,
                      .out_bytes = sizeof out};
    memset(out, 0, sizeof out);
    run_kernel(&run);
    return run;
}

/* Memory orders, scopes and cache policies are taken and change nothing. */
static void modifiers(void **state)
{
    (void)state;
    kernel_run run = run_body("createpolicy.fractional.L2::evict_last.b64 %rd2, 0.5;\n"
                              "atom.acquire.cta.global.add.u32 %r1, [%rd1], 1;\n"
                              "atom.release.gpu.global.add.L2::cache_hint.u32 %r1, [%rd1], 1, %rd2;\n"
                              "atom.acq_rel.sys.global.add.u32 _, [%rd1], 1;\n"
                              "atom.relaxed.cluster.global.add.noftz.L2::cache_hint.v2.f16x2 {%r3,_}, [%rd1+8], "
                              "{%r0,%r0}, %rd2;\n"
                              "red.relaxed.gpu.global.add.L2::cache_hint.u32 [%rd1], 1, %rd2;\n"
                              "red.release.sys.global.add.L2::cache_hint.v2.f32 [%rd1+16], {1.0, 2.0}, %rd2;");
    uint32_t sum;
    float floats_of[2];
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s", run.message);
    memcpy(&sum, out, 4);
    memcpy(floats_of, out + 16, 8);
    assert_int_equal(sum, 4 * 32);
    assert_true(floats_of[0] == 32 && floats_of[1] == 64);
}

/* Each CTA's atomics on global memory are seen by the next. */
static void between_ctas(void **state)
{
    static char text[8192];
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        kernel_run run = {.text = kernel_text(text, sizeof text,
                                              "mov.u32 %r1, %ctaid.x;\nadd.u32 %r2, %r1, 1;\n"
                                              "atom.global.cas.b32 %r3, [%rd1], %r1, %r2;\n"
                                              "red.global.add.u32 [%rd1+4], 1;"),
                          .out = out,
                          .out_bytes = sizeof out,
                          .grid = 50,
                          .options.threads = threads};
        uint32_t words[2];
        memset(out, 0, sizeof out);
        run_kernel(&run);
        memcpy(words, out, sizeof words);
        assert_int_equal(words[0], 50);
        assert_int_equal(words[1], 50 * 32);
    }
}

static void faults(void **state)
{
    static const struct {
        const char *body, *message;
    } cases[] = {
        {"atom.global.add.u32 %r1, [%rd1+2], 1;", "misaligned access of 4 bytes"},
        {"add.u64 %rd2, %rd1, 8;\natom.global.cas.b128 %q0, [%rd2], %q1, %q2;", "misaligned access of 16 bytes"},
        {"red.global.add.v4.f32 [%rd1+8], {0f00000000,0f00000000,0f00000000,0f00000000};",
         "misaligned access of 16 bytes"},
        {"red.global.add.u64 [%rd1+4096], 1;", "out-of-bounds access of 8 bytes"},
        {"atom.global.exch.b32 %r1, [%rd1+-4], 1;", "out-of-bounds access of 4 bytes"},
        {"mov.u32 %r1, 4;\nred.shared.add.u32 [%r1], 1;", "out-of-bounds access of 4 bytes at shared address 0x4"},
        {".local .align 8 .b8 l[8];\nmov.u64 %rd2, l;\ncvta.local.u64 %rd2, %rd2;\natom.add.u32 %r1, [%rd2], 1;",
         "atomic access to local memory"},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kernel_run run = run_body(cases[i].body);
        assert_int_equal(run.status, HD_EXEC_FAULT);
        if (!strstr(run.message, cases[i].message))
            fail_msg("'%s' does not hold '%s'", run.message, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers), cmocka_unit_test(exchanges), cmocka_unit_test(floats),
        cmocka_unit_test(vectors),  cmocka_unit_test(modifiers), cmocka_unit_test(between_ctas),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
