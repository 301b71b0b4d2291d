/* address32: what it makes of small kernels, what it must leave, and random 64-bit arithmetic, in which values reach
 * addresses, truncations, and uses that need them whole. ADDRESS32_COUNT=N programs (default 300), ADDRESS32_SEED=N
 * starts there. */
#include "kernel.h"
#include "parsed.h"

#include "passes/manager/manager.h"

/* ---- small kernels ----------------------------------------------------------------------------------------------- */

#define FRESH ".reg .b32 %address32_<9>;\n"

static parsed *parse_low(const char *fresh, const char *body, bool low)
{
    static char text[2][4096];
    char *at = text[*fresh != 0];
    hd_parse_options options = {.ignore_annotations = true, .low_memory = low};
    parsed *p = calloc(1, sizeof *p);
    assert_non_null(p);
    snprintf(at, sizeof *text,
             HEAD ".global .u32 g[64];\n.func callee(.param .u64 q);\n.entry k(.param .u64 a, .param .u64 b) {\n"
                  ".shared .align 16 .b8 s[64];\n" REGISTERS "%s%s\n}\n",
             fresh, body);
    hd_source_from_memory(&p->source, "t.ptx", at, strlen(at));
    hd_diagnostics_init(&p->diagnostics);
    p->module = hd_parse_ptx(&p->source, &options, &p->diagnostics);
    if (p->diagnostics.first)
        fail_msg("%s: %s", body, p->diagnostics.first->message);
    return p;
}

static bool run_pass(parsed *p)
{
    hd_pipeline *pipeline = hd_pipeline_parse("address32", &p->diagnostics);
    assert_non_null(pipeline);
    bool good = hd_pipeline_run(pipeline, p->module, &(hd_pipeline_options){.validate = true}, &p->diagnostics);
    hd_pipeline_free(pipeline);
    assert_true(hd_ir_validate(p->module));
    return good;
}

static void describe_all(const parsed *p, char *out, size_t size)
{
    const hd_function *f = function_of(p, "k");
    out[0] = 0;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        char one[512];
        describe(f, i, one, sizeof one);
        snprintf(out + strlen(out), size - strlen(out), "%s\n", one);
    }
}

/* In `after`, N stands for %address32_N. */
static void expect(const char *before, const char *after)
{
    char got[4096], want[4096], named[2048];
    size_t used = 0;
    for (const char *c = after; *c; c++)
        used += (size_t)snprintf(named + used, sizeof named - used, *c == '$' ? "%%address32_" : "%c", *c);
    parsed *p = parse_low("", before, true), *q = parse_low(FRESH, named, true);
    assert_true(run_pass(p));
    describe_all(p, got, sizeof got);
    describe_all(q, want, sizeof want);
    assert_string_equal(got, want);
    parsed_free(p);
    parsed_free(q);
}

static void expect_same(const char *body) { expect(body, body); }

static void chains_that_end_in_addresses(void **state)
{
    (void)state;
    expect("ld.param.u64 y0, [a]; mul.wide.s32 y1, x0, 4; add.s64 y2, y0, y1; ld.global.u32 x1, [y2+16]; ret;",
           "ld.param.u32 $0, [a]; mul.lo.u32 $1, x0, 4; add.u32 $2, $0, $1; ld.global.u32 x1, [$2+16]; ret;");
    expect("cvt.s64.s32 y0, x0; shl.b64 y1, y0, 2; mad.wide.u32 y2, x1, -8, y1; st.global.v2.u32 [y2], {x0, x1}; ret;",
           "mov.b32 $0, x0; shl.b32 $1, $0, 2; mad.lo.u32 $2, x1, -8, $1; st.global.v2.u32 [$2], {x0, x1}; ret;");
    expect("cvt.u64.u16 y0, h0; mad.lo.s64 y1, y0, 12, y0; not.b64 y2, y1; neg.s64 y3, y2; red.global.add.u32 [y3], 1; "
           "ret;",
           "cvt.u32.u16 $0, h0; mad.lo.u32 $1, $0, 12, $0; not.b32 $2, $1; neg.s32 $3, $2; red.global.add.u32 [$3], 1; "
           "ret;");
    expect("mov.u64 y0, g; selp.b64 y1, y0, 4294967312, !p0; @p1 sub.s64 y1, y1, 4; atom.global.add.u32 x0, [y1], 1; "
           "ret;",
           "mov.u32 $0, g; selp.b32 $1, $0, 16, !p0; @p1 sub.u32 $1, $1, 4; atom.global.add.u32 x0, [$1], 1; ret;");
    expect("ld.param.u64 y0, [a]; cvta.to.global.u64 y1, y0; ld.global.nc.u64 y2, [y1+8]; ld.u32 x0, [y2]; ret;",
           "ld.param.u32 $0, [a]; cvta.to.global.u32 $1, $0; ld.global.nc.u32 $2, [$1+8]; ld.u32 x0, [$2]; ret;");
    expect("add.s64 y1, y0, 1; cvt.u32.u64 x0, y1; cvt.u16.u64 h0, y1; st.global.u32 [y2], x0; ret;",
           "add.u32 $0, $1, 1; mov.b32 x0, $0; cvt.u16.u32 h0, $0; st.global.u32 [$2], x0; ret;");
}

/* A value that is needed whole keeps 64 bits, with what it is computed from; an address takes its low half. */
static void values_that_are_needed_whole(void **state)
{
    (void)state;
    expect("ld.param.u64 y0, [a]; add.s64 y1, y0, 4; setp.lt.u64 p0, y1, y0; ld.global.u32 x0, [y1]; ret;",
           "ld.param.u64 y0, [a]; add.s64 y1, y0, 4; setp.lt.u64 p0, y1, y0; ld.global.u32 x0, [y1]; ret;");
    expect("ld.param.u64 y0, [a]; shr.u64 y1, y0, 3; shl.b64 y2, y1, 3; ld.global.u32 x0, [y2]; ret;",
           "ld.param.u64 y0, [a]; shr.u64 y1, y0, 3; cvt.u32.u64 $1, y1; shl.b32 $0, $1, 3; ld.global.u32 x0, [$0]; "
           "ret;");
    expect_same("ld.param.u64 y0, [a]; st.global.u64 [y0], y0; ret;");
    expect_same("ld.param.u64 y0, [a]; mov.b64 {x0, x1}, y0; ld.global.u32 x2, [y0]; ret;");
    expect_same("ld.volatile.global.u64 y0, [g]; ld.global.u32 x2, [y0]; ret;");
    expect_same("ld.global.v2.u64 {y0, y1}, [g]; ld.global.u32 x2, [y0]; ld.global.u32 x3, [y1]; ret;");
    expect_same("add.cc.u64 y1, y1, 4; addc.u64 y2, y2, 0; ld.global.u32 x2, [y1]; ret;");
    expect_same("mul.hi.u64 y1, y1, 4; ld.global.u32 x2, [y1]; ret;");
    expect_same("cvt.rzi.u64.f32 y1, f0; ld.global.u32 x2, [y1]; ret;");
    expect_same("atom.global.exch.b64 y1, [g], 0; ld.global.u32 x2, [y1]; ret;");
    expect_same("{ .param .u64 q; ld.param.u64 y0, [a]; st.param.u64 [q], y0; call callee, (q); } ret;");
}

static void is_for_replay_alone(void **state)
{
    (void)state;
    parsed *p = parse_low("", "ld.param.u64 y0, [a]; ld.global.u32 x1, [y0]; ret;", false);
    assert_false(run_pass(p));
    assert_int_equal(p->diagnostics.first->kind, HD_DIAG_UNSUPPORTED);
    assert_non_null(strstr(p->diagnostics.first->message, "address_bits"));
    parsed_free(p);
}

/* ---- random arithmetic ------------------------------------------------------------------------------------------- */

enum { VALUES = 12, STEPS = 40, THREADS = 32, OUT_WORDS = 64, IN_BYTES = 4096 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

typedef struct writer {
    char text[1 << 14];
    size_t used;
    uint64_t random;
    uint32_t out; /* the next word of a thread's results */
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    w->used += (size_t)vsnprintf(w->text + w->used, sizeof w->text - w->used, format, list);
    va_end(list);
    assert_true(w->used < sizeof w->text);
}

static unsigned pick(writer *w, unsigned count) { return (unsigned)(next_random(&w->random) % count); }

/* %rd10 + v are the values; %rd2: this thread's results; %r1, %r2: numbers of this thread. */
static void put_value(writer *w)
{
    unsigned d = 10 + pick(w, VALUES), a = 10 + pick(w, VALUES), b = 10 + pick(w, VALUES);
    if (!pick(w, 5))
        put(w, "@%s%%p1 ", pick(w, 2) ? "!" : "");
    switch (pick(w, 16)) {
    case 0: put(w, "add.s64 %%rd%u, %%rd%u, %%rd%u;\n", d, a, b); break;
    case 1: put(w, "sub.s64 %%rd%u, %%rd%u, %%rd%u;\n", d, a, b); break;
    case 2: put(w, "mul.lo.s64 %%rd%u, %%rd%u, %%rd%u;\n", d, a, b); break;
    case 3: put(w, "mad.lo.u64 %%rd%u, %%rd%u, 4294967299, %%rd%u;\n", d, a, b); break;
    case 4: put(w, "shl.b64 %%rd%u, %%rd%u, %u;\n", d, a, pick(w, 70)); break;
    case 5: put(w, "xor.b64 %%rd%u, %%rd%u, %%rd%u;\n", d, a, b); break;
    case 6: put(w, "or.b64 %%rd%u, %%rd%u, %%rd%u;\n", d, a, b); break;
    case 7: put(w, "not.b64 %%rd%u, %%rd%u;\n", d, a); break;
    case 8: put(w, "neg.s64 %%rd%u, %%rd%u;\n", d, a); break;
    case 9: put(w, "selp.b64 %%rd%u, %%rd%u, %%rd%u, %%p1;\n", d, a, b); break;
    case 10: put(w, "mul.wide.s32 %%rd%u, %%r1, %%r2;\n", d); break;
    case 11: put(w, "mad.wide.u32 %%rd%u, %%r1, %%r2, %%rd%u;\n", d, a); break;
    case 12: put(w, "cvt.s64.s32 %%rd%u, %%r1;\n", d); break;
    case 13: put(w, "cvt.u64.s16 %%rd%u, %%h1;\n", d); break;
    case 14: put(w, "shr.u64 %%rd%u, %%rd%u, %u;\n", d, a, pick(w, 40)); break;
    default: put(w, "mov.u64 %%rd%u, %%rd%u;\n", d, a); break;
    }
}

/* A truncation, an address, a comparison, a whole value. */
static void put_use(writer *w)
{
    unsigned a = 10 + pick(w, VALUES), b = 10 + pick(w, VALUES), at = 4 * w->out;
    switch (pick(w, 8)) {
    case 0: put(w, "setp.lt.u64 %%p1, %%rd%u, %%rd%u;\n", a, b); return;
    case 1: put(w, "st.global.u64 [%%rd2+%u], %%rd%u;\n", at, a); break;
    case 2:
    case 3: put(w, "cvt.u32.u64 %%r5, %%rd%u;\nst.global.u32 [%%rd2+%u], %%r5;\n", a, at); break;
    case 4: put(w, "cvt.u16.u64 %%h5, %%rd%u;\nst.global.u16 [%%rd2+%u], %%h5;\n", a, at); break;
    default:
        put(w,
            "and.b64 %%rd3, %%rd%u, %u;\nadd.s64 %%rd4, %%rd0, %%rd3;\nld.global.u32 %%r5, [%%rd4+%u];\n"
            "st.global.u32 [%%rd2+%u], %%r5;\n",
            a, IN_BYTES / 2 - 4, 4 * pick(w, 16), at);
        break;
    }
    w->out = (w->out + 2) % OUT_WORDS;
}

static void make_random(writer *w, uint64_t seed)
{
    *w = (writer){.random = seed * 0x9e3779b97f4a7c15u};
    put(w, "mul.wide.u32 %%rd2, %%r0, %u;\nadd.s64 %%rd2, %%rd1, %%rd2;\nmad.lo.u32 %%r1, %%r0, 2654435761, %u;\n",
        4 * OUT_WORDS, (unsigned)(seed * 77));
    put(w, "xor.b32 %%r2, %%r1, 0x5bd1e995;\ncvt.u16.u32 %%h1, %%r1;\nsetp.gt.u32 %%p1, %%r2, %%r1;\n");
    for (unsigned v = 0; v < VALUES; v++)
        put(w, pick(w, 2) ? "mov.u64 %%rd%u, %u;\n" : "mul.wide.u32 %%rd%u, %%r1, %u;\n", 10 + v, 1 + pick(w, 1 << 30));
    for (unsigned i = 0; i < STEPS; i++)
        if (pick(w, 3))
            put_value(w);
        else
            put_use(w);
}

static void run_random(const char *text, const char *passes, uint32_t *out)
{
    static uint32_t in[IN_BYTES / 4];
    for (uint32_t i = 0; i < IN_BYTES / 4; i++)
        in[i] = i * 2654435761u;
    memset(out, 0, 4u * OUT_WORDS * THREADS);
    kernel_run run = {.text = text,
                      .passes = passes,
                      .low_memory = passes != NULL,
                      .in = in,
                      .in_bytes = sizeof in,
                      .out = out,
                      .out_bytes = 4u * OUT_WORDS * THREADS,
                      .block = THREADS};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: line %u: %s", passes ? passes : "", run.line, run.message);
}

static void random_arithmetic(void **state)
{
    static writer w;
    static char text[1 << 15];
    static uint32_t want[OUT_WORDS * THREADS], got[OUT_WORDS * THREADS];
    const char *count = getenv("ADDRESS32_COUNT"), *first = getenv("ADDRESS32_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1, end = seed + (count ? strtoull(count, NULL, 10) : 300);
    (void)state;
    for (; seed < end; seed++) {
        make_random(&w, seed);
        kernel_text(text, sizeof text, w.text);
        run_random(text, NULL, want);
        static const char *const lists[] = {"address32", "address32,select,regalloc",
                                            "select,address32,regalloc(max=24)"};
        for (uint32_t i = 0; i < sizeof lists / sizeof *lists; i++) {
            run_random(text, lists[i], got);
            if (memcmp(got, want, sizeof got) != 0)
                fail_msg("seed %llu: %s changes results", (unsigned long long)seed, lists[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains_that_end_in_addresses),
                                       cmocka_unit_test(values_that_are_needed_whole),
                                       cmocka_unit_test(is_for_replay_alone), cmocka_unit_test(random_arithmetic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
