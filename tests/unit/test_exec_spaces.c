/* Loads and stores of every type, vector length and register width in every space, directly and by generic address, and
 * loads of parameters, against bytes moved here; cvta and isspacep between all spaces; hints and orders that change
 * nothing. */
#include "kernel.h"

enum { PER_LANE = 32, THREADS = 32 };
static unsigned char in[4096], out[8192], expected[8192];

typedef struct type {
    const char *name;
    uint32_t bytes;
    bool is_signed;
    const char *registers; /* by width: h r d, f F (float), q */
} type;
static const type types[] = {
    {"b8", 1, false, "hrd"},  {"u8", 1, false, "hrd"}, {"s8", 1, true, "hrd"},   {"b16", 2, false, "hrd"},
    {"u16", 2, false, "hrd"}, {"s16", 2, true, "hrd"}, {"b32", 4, false, "rdf"}, {"u32", 4, false, "rd"},
    {"s32", 4, true, "rd"},   {"f32", 4, false, "f"},  {"b64", 8, false, "dF"},  {"u64", 8, false, "d"},
    {"s64", 8, true, "d"},    {"f64", 8, false, "F"},  {"b128", 16, false, "q"},
};
enum { TYPES = sizeof types / sizeof *types };

static uint32_t width_of(char reg) { return reg == 'h' ? 2 : reg == 'r' || reg == 'f' ? 4 : reg == 'q' ? 16 : 8; }
static const char *name_of(char reg)
{
    return reg == 'h' ? "%h" : reg == 'r' ? "%r" : reg == 'f' ? "%f" : reg == 'q' ? "%q" : reg == 'F' ? "%fd" : "%rd";
}

typedef enum space {
    GLOBAL,
    SHARED,
    LOCAL,
    NAMED_LOCAL,
    GENERIC_GLOBAL,
    GENERIC_SHARED,
    GENERIC_LOCAL,
    PARAM,
    SPACES
} space;
static const char *const space_words[] = {".global", ".shared", ".local", ".local", "", "", "", ".param"};
/* 32 bytes of each lane, of a parameter the same 16 of all: where they are, and how they are addressed */
static const char *const addresses[] = {"[%rd20]", "[%r20]",  "[%rd22]", "[l]",
                                        "[%rd20]", "[%rd21]", "[%rd23]", "[values+16]"};

static const char prologue[] =
    ".shared .align 32 .b8 s[1024];\n.local .align 32 .b8 l[32];\nmad.wide.u32 %rd20, %r0, 32, %rd0;\n"
    "mov.u32 %r21, s;\nmad.lo.u32 %r20, %r0, 32, %r21;\ncvt.u64.u32 %rd21, %r20;\ncvta.shared.u64 %rd21, %rd21;\n"
    "mov.u64 %rd22, l;\ncvta.local.u64 %rd23, %rd22;\n"
    "ld.global.v4.b32 {%r30,%r31,%r32,%r33}, [%rd20];\nld.global.v4.b32 {%r34,%r35,%r36,%r37}, [%rd20+16];\n"
    "st.shared.v4.b32 [%r20], {%r30,%r31,%r32,%r33};\nst.shared.v4.b32 [%r20+16], {%r34,%r35,%r36,%r37};\n"
    "st.local.v4.b32 [%rd22], {%r30,%r31,%r32,%r33};\nst.local.v4.b32 [%rd22+16], {%r34,%r35,%r36,%r37};\n"
    "mad.wide.u32 %rd24, %r0, 64, %rd1;\n";

static void list(char *to, size_t size, char reg, uint32_t count)
{
    size_t n = (size_t)snprintf(to, size, "%s", count > 1 ? "{" : "");
    for (uint32_t k = 0; k < count; k++)
        n += (size_t)snprintf(to + n, size - n, "%s%s%u", k ? "," : "", name_of(reg), k);
    snprintf(to + n, size - n, "%s", count > 1 ? "}" : "");
}

static void run_text(const char *body)
{
    static char whole[16384];
    kernel_run run = {.text = kernel_text_for(whole, sizeof whole, "8.8", "sm_100", body),
                      .in = in,
                      .in_bytes = sizeof in,
                      .out = out,
                      .out_bytes = sizeof out,
                      .values = in};
    memset(out, 0xcc, sizeof out);
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: %s", body + strlen(prologue), run.message);
}

static void expect_same(const char *what, const char *body)
{
    for (uint32_t i = 0; i < sizeof out; i++)
        if (out[i] != expected[i])
            fail_msg("%s: byte %u is %02x, not %02x, of\n%s", what, i, out[i], expected[i], body + strlen(prologue));
}

/* Copies of the pointers that no loaded register overwrites. */
static const char shift_pointers[] = "mov.u64 %rd41, %rd20;\nmov.u64 %rd42, %rd24;\n";

/* Lane l's registers land at 64 l; what the load widened is as wide as the register, up to 64 bytes. */
static void check_load(const type *t, uint32_t count, char reg, space where)
{
    static char body[8192];
    char registers[256], stores[1024] = "";
    uint32_t width = width_of(reg);
    list(registers, sizeof registers, reg, count);
    for (uint32_t k = 0; k < count; k++)
        snprintf(stores + strlen(stores), sizeof stores - strlen(stores), "st.global.b%u [%%rd42+%u], %s%u;\n",
                 8 * width, k * width, name_of(reg), k);
    char vector[16] = "";
    if (count > 1)
        snprintf(vector, sizeof vector, ".v%u", count);
    snprintf(body, sizeof body, "%s%sld%s%s.%s %s, %s;\n%s", prologue, shift_pointers, space_words[where], vector,
             t->name, registers, addresses[where], stores);
    memset(expected, 0xcc, sizeof expected);
    for (uint32_t l = 0; l < THREADS; l++)
        for (uint32_t k = 0; k < count; k++) {
            const unsigned char *from = in + (where == PARAM ? 16 : l * PER_LANE) + k * t->bytes;
            unsigned char *to = expected + 64 * l + k * width;
            memset(to, t->is_signed && from[t->bytes - 1] & 0x80 ? 0xff : 0, width);
            memcpy(to, from, t->bytes);
        }
    run_text(body);
    expect_same("load", body);
}

/* Registers hold 8 or 16 bytes of the input each; their low parts are stored side by side, then copied to `out`. */
static void check_store(const type *t, uint32_t count, char reg, space where)
{
    static char body[8192];
    char registers[256], loads[1024] = "";
    uint32_t width = width_of(reg);
    list(registers, sizeof registers, reg, count);
    for (uint32_t k = 0; k < count; k++)
        snprintf(loads + strlen(loads), sizeof loads - strlen(loads), "ld.global.b%u %s%u, [%%rd43+%u];\n", 8 * width,
                 name_of(reg), k, k * width);
    char vector[16] = "";
    if (count > 1)
        snprintf(vector, sizeof vector, ".v%u", count);
    snprintf(body, sizeof body,
             "%s%smad.wide.u32 %%rd43, %%r0, 64, %%rd0;\nadd.u64 %%rd20, %%rd24, 2048;\n"
             "st.global.v4.b32 [%%rd20], {%%r30,%%r31,%%r32,%%r33};\nst.global.v4.b32 [%%rd20+16], "
             "{%%r34,%%r35,%%r36,%%r37};\n%sst%s%s.%s %s, %s;\n"
             "ld%s.v4.b32 {%%r30,%%r31,%%r32,%%r33}, %s;\nst.global.v4.b32 [%%rd42], {%%r30,%%r31,%%r32,%%r33};\n"
             "ld%s.v4.b32 {%%r30,%%r31,%%r32,%%r33}, [%.*s+16];\nst.global.v4.b32 [%%rd42+16], "
             "{%%r30,%%r31,%%r32,%%r33};\n",
             prologue, shift_pointers, loads, space_words[where], vector, t->name, addresses[where], registers,
             space_words[where], addresses[where], space_words[where], (int)strlen(addresses[where]) - 2,
             addresses[where] + 1);
    memset(expected, 0xcc, sizeof expected);
    for (uint32_t l = 0; l < THREADS; l++) {
        memcpy(expected + 64 * l, in + PER_LANE * l, PER_LANE);
        memcpy(expected + 2048 + 64 * l, in + PER_LANE * l, PER_LANE);
        for (uint32_t k = 0; k < count; k++)
            memcpy(expected + 64 * l + k * t->bytes, in + 64 * l + k * width, t->bytes);
        if (where == GLOBAL || where == GENERIC_GLOBAL)
            memcpy(expected + 2048 + 64 * l, expected + 64 * l, PER_LANE);
    }
    run_text(body);
    expect_same("store", body);
}

static void each(void (*check)(const type *, uint32_t, char, space), space end, uint32_t *cases)
{
    for (uint32_t t = 0; t < TYPES; t++)
        for (const char *reg = types[t].registers; *reg; reg++)
            for (uint32_t count = 1; count <= 8; count *= 2)
                for (space s = 0; s < end; s++) {
                    uint32_t bytes = types[t].bytes * count;
                    bool wide = bytes == 32 && types[t].bytes >= 4 && types[t].bytes <= 8 && s == GLOBAL;
                    if ((bytes > 16 && !wide) || (count == 8 && !wide) || (types[t].bytes == 16 && count > 1))
                        continue;
                    check(&types[t], count, *reg, s);
                    ++*cases;
                }
}

static void fill(void)
{
    uint32_t x = 2463534242u;
    for (uint32_t i = 0; i < sizeof in; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        in[i] = (unsigned char)(x >> 11);
    }
}

static void loads(void **state)
{
    uint32_t cases = 0;
    (void)state;
    fill();
    each(check_load, SPACES, &cases);
    assert_true(cases > 300);
}

static void stores(void **state)
{
    uint32_t cases = 0;
    (void)state;
    fill();
    each(check_store, PARAM, &cases);
    assert_true(cases > 300);
}

typedef struct addresses_told {
    uint64_t of[4][THREADS];
    uint32_t count;
} addresses_told;

static bool take(void *context, const hd_event *e)
{
    addresses_told *told = context;
    if (e->addresses && told->count < 4)
        memcpy(told->of[told->count++], e->addresses, sizeof told->of[0]);
    return true;
}

/* Every lane's address of a parameter is its offset among them. */
static void addresses_of_parameters(void **state)
{
    static const uint64_t offsets[] = {0, 8, 16 + 6, 16 + 24};
    static const char loads_of_two[] = "ld.param.s16 %r1, [values+6];\nld.param.v2.b32 {_, %r2}, [values+24];\nadd.u64 "
                                       "%rd2, %rd0, 4;\nadd.u64 %rd3, %rd1, 4;";
    char text[2048];
    addresses_told told = {.count = 0};
    hd_sink sink = {take, &told, HD_COLUMN_ADDRESSES, NULL};
    kernel_run run = {.text = kernel_text(text, sizeof text, loads_of_two), .sink = &sink};
    (void)state;
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    assert_int_equal(told.count, 4);
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t l = 0; l < THREADS; l++)
            assert_int_equal(told.of[k][l], offsets[k]);
}

/* Every modifier that orders or hints, each with the value that a plain access gives. */
static void hints(void **state)
{
    static const char *const accesses[] = {
        "ld.weak.global.u32 %r1, [%rd20]",
        "ld.volatile.global.u32 %r1, [%rd20]",
        "ld.relaxed.gpu.global.u32 %r1, [%rd20]",
        "ld.acquire.sys.global.u32 %r1, [%rd20]",
        "ld.mmio.relaxed.sys.global.u32 %r1, [%rd20]",
        "ld.global.ca.u32 %r1, [%rd20]",
        "ld.global.cv.u32 %r1, [%rd20]",
        "ld.global.nc.u32 %r1, [%rd20]",
        "ld.global.nc.L1::no_allocate.L2::256B.v2.u32 {%r1,_}, [%rd20]",
        "ld.global.L1::evict_last.u32 %r1, [%rd20]",
        "ld.global.L2::cache_hint.u32 %r1, [%rd20], %rd9",
        "ld.global.L1::evict_normal.L2::cache_hint.L2::128B.v2.u32 {%r1,%r2}, [%rd20], %rd9",
        "ld.global.L2::evict_first.v8.b32 {%r1,_,%r3,_,%r5,%r6,%r7,_}, [%rd20]",
        "ld.global.u32 %r1, [%rd20].unified",
        "ldu.global.u32 %r1, [%rd20]",
        "ldu.v4.u32 {%r1,%r2,%r3,%r4}, [%rd20]",
        "st.weak.global.u32 [%rd24], %r30;\nld.global.u32 %r1, [%rd24]",
        "st.volatile.global.u32 [%rd24], %r30;\nld.global.u32 %r1, [%rd24]",
        "st.release.gpu.global.u32 [%rd24], %r30;\nld.global.u32 %r1, [%rd24]",
        "st.mmio.relaxed.sys.global.u32 [%rd24], %r30;\nld.global.u32 %r1, [%rd24]",
        "st.global.wt.u32 [%rd24], %r30;\nld.global.u32 %r1, [%rd24]",
        "st.global.L1::no_allocate.L2::cache_hint.v2.u32 [%rd24], {%r30,%r31}, %rd9;\nld.global.u32 %r1, [%rd24]",
        "st.shared::cta.u32 [%r20], %r30;\nld.shared::cluster.u32 %r1, [%r20]",
        "discard.global.L2 [%rd0], 128;\nld.global.u32 %r1, [%rd20]",
    };
    char body[4096];
    (void)state;
    fill();
    for (uint32_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        snprintf(body, sizeof body,
                 "%screatepolicy.fractional.L2::evict_last.b64 %%rd8, 0.5;\ncreatepolicy.cvt.L2.b64 %%rd9, %%rd8;\n"
                 "setp.ne.u64 %%p1, %%rd8, %%rd9;\n@%%p1 trap;\ncreatepolicy.range.L2::evict_last.b64 %%rd9, [%%rd0], "
                 "4096, 8192;\n%s;\nst.global.u32 [%%rd24], %%r1;",
                 prologue, accesses[i]);
        run_text(body);
        for (uint32_t l = 0; l < THREADS; l++)
            if (memcmp(out + 64 * l, in + 32 * l, 4))
                fail_msg("%s", accesses[i]);
    }
}

/* A variable of each space: its generic address is of that space and no other, and leads back. */
static void spaces(void **state)
{
    static const char *const names[] = {"global", "shared", "local", "const", "param"};
    static const char *const variables[] = {"g", "s", "l", "c", "in"};
    char body[4096], tests[2048];
    (void)state;
    for (uint32_t v = 0; v < 5; v++) {
        tests[0] = 0;
        for (uint32_t s = 0; s < 5; s++)
            snprintf(tests + strlen(tests), sizeof tests - strlen(tests),
                     "isspacep.%s%s %%p1, %%rd5;\nselp.u32 %%r2, %u, 0, %%p1;\nor.b32 %%r1, %%r1, %%r2;\n", names[s],
                     s == 1   ? "::cluster"
                     : s == 4 ? "::entry"
                              : "",
                     1u << s);
        snprintf(
            body, sizeof body,
            ".shared .align 8 .b32 s[4];\n.local .align 8 .b32 l[4];\nst.shared.u32 [s+4], 77;\nst.local.u32 [l+4], "
            "77;\nst.global.u32 [g+4], 77;\nmov.u32 %%r1, 0;\ncvta.%s.u64 %%rd5, %s;\n%s"
            "cvta.to.%s.u64 %%rd6, %%rd5;\nmov.u64 %%rd7, %s;\nsetp.ne.u64 %%p2, %%rd6, %%rd7;\n@%%p2 trap;\n"
            "ld.u32 %%r3, [%%rd5+4];\nld.%s.u32 %%r4, [%%rd6+4];\nst.global.v2.u32 [%%rd1], {%%r1,%%r3};\n"
            "st.global.u32 [%%rd1+8], %%r4;",
            names[v], variables[v], tests, names[v], variables[v], names[v]);
        char text[8192];
        kernel_text_for(text, sizeof text, "8.8", "sm_90", body);
        char whole[9000], *entry = strstr(text, ".visible");
        assert_non_null(entry);
        snprintf(whole, sizeof whole, "%.*s.const .align 8 .b32 c[4] = {1, 77, 3};\n.global .align 8 .b32 g[4];\n%s",
                 (int)(entry - text), text, entry);
        kernel_run run = {.text = whole, .in = in, .in_bytes = 64, .out = out, .out_bytes = sizeof out};
        uint32_t words[3];
        run_kernel(&run);
        if (run.status != HD_EXEC_DONE)
            fail_msg("%s: %s", names[v], run.message);
        memcpy(words, out, sizeof words);
        assert_int_equal(words[0], 1u << v);
        assert_int_equal(words[1], words[2]);
        if (v < 4)
            assert_int_equal(words[1], 77);
    }
}

static void misaligned(void **state)
{
    static const struct {
        const char *access, *message;
    } cases[] = {
        {"ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd0+16];", "misaligned access of 32 bytes"},
        {"st.global.v4.b64 [%rd0+8], {%rd2,%rd2,%rd2,%rd2};", "misaligned access of 32 bytes"},
        {"ld.global.b128 %q0, [%rd0+8];", "misaligned access of 16 bytes"},
        {"ld.shared.v4.u8 {%r1,%r2,%r3,%r4}, [%r20+2];", "misaligned access of 4 bytes"},
        {"ld.local.b128 %q0, [%rd22+24];", "misaligned access of 16 bytes"},
        {"st.u64 [%rd23+4], %rd1;", "misaligned access of 8 bytes"},
        {"ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd0+4096];", "out-of-bounds access of 32 bytes"},
        {"st.local.u32 [%rd22+65536], %r1;", "out-of-bounds access of 4 bytes"},
        {"mov.u64 %rd5, in;\ncvta.param.u64 %rd5, %rd5;\nst.u32 [%rd5], %r1;", "read-only memory"},
    };
    static char body[4096], whole[8192];
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(body, sizeof body, "%s%s", prologue, cases[i].access);
        kernel_run run = {.text = kernel_text_for(whole, sizeof whole, "8.8", "sm_100", body),
                          .in = in,
                          .in_bytes = sizeof in,
                          .out = out,
                          .out_bytes = sizeof out};
        run_kernel(&run);
        if (run.status != HD_EXEC_FAULT || !strstr(run.message, cases[i].message))
            fail_msg("'%s' does not hold '%s'", run.message, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads), cmocka_unit_test(stores), cmocka_unit_test(addresses_of_parameters),
        cmocka_unit_test(hints), cmocka_unit_test(spaces), cmocka_unit_test(misaligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
