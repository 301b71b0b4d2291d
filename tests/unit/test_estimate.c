/* The register estimate: what must hold of it whatever its coefficients are. How near it comes to ptxas is measured by
 * bench/estimate. */
#include "parsed.h"

#include "passes/estimate/estimate.h"
#include "passes/manager/manager.h"

enum { TEXT_BYTES = 1 << 18 };

typedef struct text {
    char *at;
    size_t length;
} text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    t->length += (size_t)vsnprintf(t->at + t->length, TEXT_BYTES - t->length, format, arguments);
    va_end(arguments);
    assert_true(t->length < TEXT_BYTES);
}

static text begin(const char *directives)
{
    text t = {calloc(1, TEXT_BYTES), 0};
    assert_non_null(t.at);
    add(&t, HEAD ".extern .func other;\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) %s {\n",
        directives);
    add(&t, ".reg .pred %%p<9>; .reg .b32 %%r<400>; .reg .f32 %%f<400>; .reg .b64 %%rd<400>;\n");
    add(&t, "ld.param.u64 %%rd1, [a]; ld.param.u64 %%rd2, [b]; ld.param.u32 %%r1, [n];\n");
    return t;
}

typedef struct measured {
    hd_estimate_features x;
    uint32_t estimate, room;
} measured;

/* Cleans up and measures kernel k; takes the text. */
static measured measure(text *t)
{
    add(t, "ret;\n}\n");
    parsed *p = parse_good(t->at);
    hd_function *f = hd_module_find_function(p->module, "k");
    hd_pipeline *select = hd_pipeline_parse("select", &p->diagnostics);
    hd_gpu *gpu = hd_gpu_load("sm_90", &p->diagnostics);
    hd_pass_context context;
    measured m;
    memset(&m, 0, sizeof m);
    assert_true(hd_pipeline_run_function(select, f, NULL, NULL, &p->diagnostics));
    hd_pass_context_init(&context, f, &p->diagnostics);
    hd_estimate_measure(&context, &m.x);
    m.estimate = hd_estimate_registers(&context, &gpu->limits);
    m.room = hd_estimate_room(f, &m.x, &gpu->limits, 20);
    assert_int_equal(m.estimate, hd_estimate_model(f, &m.x, &gpu->limits));
    hd_pass_context_free(&context);
    hd_gpu_free(gpu);
    hd_pipeline_free(select);
    parsed_free(p);
    free(t->at);
    return m;
}

static void assert_ordered(const hd_estimate_features *x)
{
    assert_true(x->needed[0] <= x->written);
    assert_true(x->written <= x->wanted[0] && x->written <= x->late);
    for (uint32_t kind = 0; kind < HD_ESTIMATE_KINDS; kind++)
        assert_true(x->needed[kind] <= x->wanted[kind]);
    assert_true(x->needed[1] <= x->needed[0]);
}

/* ---- straight code ----------------------------------------------------------------------------------------------- */

/* `count` loads, then as many stores; none may be moved. */
static measured held_at_once(uint32_t count, const char *directives)
{
    text t = begin(directives);
    for (uint32_t i = 0; i < count; i++)
        add(&t, "ld.volatile.global.u32 %%r%u, [%%rd1+%u];\n", 10 + i, 4 * i);
    add(&t, "bar.sync 0;\n");
    for (uint32_t i = 0; i < count; i++)
        add(&t, "st.volatile.global.u32 [%%rd2+%u], %%r%u;\n", 4 * i, 10 + i);
    return measure(&t);
}

static void holds_what_liveness_forces(void **state)
{
    (void)state;
    uint32_t last = 0;
    for (uint32_t count = 1; count <= 240; count += count < 40 ? 1 : 20) {
        measured m = held_at_once(count, "");
        assert_ordered(&m.x);
        assert_true(m.x.needed[0] >= count);
        assert_true(m.estimate >= count);
        assert_true(m.estimate >= last);
        assert_true(m.estimate <= 255);
        last = m.estimate;
    }
}

/* Around every estimate, and never beyond the cap; its ends grow with it but where the class changes. */
static void has_an_interval(void **state)
{
    (void)state;
    for (uint32_t cap = 16; cap <= 255; cap += 239)
        for (uint32_t estimate = 4; estimate <= cap; estimate++) {
            hd_estimate_interval around = hd_estimate_around(estimate, cap);
            assert_true(around.low >= 4 && around.low <= estimate && estimate <= around.high && around.high <= cap);
        }
    hd_estimate_interval low = hd_estimate_around(20, 255), middle = hd_estimate_around(50, 255),
                         high = hd_estimate_around(100, 255);
    assert_true(low.low == 16 && low.high == 26 && middle.low == 39 && middle.high == 67 && high.low == 29 &&
                high.high == 160);
    assert_true(low.coverage_percent == 96 && middle.coverage_percent == 88 && high.coverage_percent == 84);
    assert_true(hd_estimate_around(100, 128).high == 128);
}

static void stays_below_limits(void **state)
{
    (void)state;
    assert_true(held_at_once(100, "").estimate > 64);
    assert_true(held_at_once(100, ".maxnreg 40").estimate <= 40);
    assert_true(held_at_once(100, ".maxntid 256, 1, 1 .minnctapersm 4").estimate <= 64);
    assert_int_equal(held_at_once(4, ".maxntid 256, 1, 1").room, 32);
    assert_int_equal(held_at_once(4, ".maxntid 16, 16, 1").room, 32);
    assert_int_equal(held_at_once(4, ".maxntid 32, 1, 1").room, 64); /* CTAs are the limit */
    assert_int_equal(held_at_once(4, ".maxntid 256, 1, 1 .minnctapersm 2").room, 128);
}

/* Pairs of 16-bit values that one load brings, held until they are stored: together, or each alone. */
static measured halves_at_once(uint32_t count, bool together)
{
    text t = begin("");
    add(&t, ".reg .b16 %%h<400>;\n");
    for (uint32_t i = 0; i < count; i++)
        if (together)
            add(&t, "ld.volatile.global.v2.u16 {%%h%u, %%h%u}, [%%rd1+%u];\n", 2 * i, 2 * i + 1, 4 * i);
        else
            add(&t, "ld.volatile.global.u16 %%h%u, [%%rd1+%u];\nld.volatile.global.u16 %%h%u, [%%rd1+%u];\n", 2 * i,
                4 * i, 2 * i + 1, 4 * i + 2);
    add(&t, "bar.sync 0;\n");
    for (uint32_t i = 0; i < count; i++)
        add(&t, "st.volatile.global.v2.u16 [%%rd2+%u], {%%h%u, %%h%u};\n", 4 * i, 2 * i, 2 * i + 1);
    return measure(&t);
}

/* Loads that may be hoisted, as pairs of halves or as words, each stored at once. */
static measured halves_in_a_row(uint32_t count, bool halves)
{
    text t = begin("");
    add(&t, ".reg .b16 %%h<400>;\n");
    for (uint32_t i = 0; i < count; i++)
        if (halves)
            add(&t, "ld.global.nc.v2.u16 {%%h%u, %%h%u}, [%%rd1+%u];\nst.global.v2.u16 [%%rd2+%u], {%%h%u, %%h%u};\n",
                2 * i, 2 * i + 1, 4 * i, 4 * i, 2 * i, 2 * i + 1);
        else
            add(&t, "ld.global.nc.u32 %%r%u, [%%rd1+%u];\nst.global.u32 [%%rd2+%u], %%r%u;\n", 10 + i, 4 * i, 4 * i,
                10 + i);
    return measure(&t);
}

static void pairs_of_halves_are_one_register(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 90; count += count < 12 ? 1 : 13) {
        measured words = halves_in_a_row(count, false), pairs = halves_in_a_row(count, true);
        assert_memory_equal(&words, &pairs, sizeof words);
    }
    for (uint32_t count = 4; count <= 90; count += count < 12 ? 1 : 13) {
        measured words = held_at_once(count, ""), pairs = halves_at_once(count, true),
                 alone = halves_at_once(count, false);
        for (uint32_t kind = 0; kind < HD_ESTIMATE_KINDS; kind++)
            assert_int_equal(pairs.x.needed[kind], words.x.needed[kind]);
        assert_int_equal(pairs.x.written, words.x.written);
        assert_int_equal(pairs.estimate, words.estimate);
        assert_true(alone.x.needed[0] >= 2 * count);
    }
}

static void is_the_same_each_time(void **state)
{
    (void)state;
    measured a = held_at_once(37, ""), b = held_at_once(37, "");
    assert_memory_equal(&a, &b, sizeof a);
}

/* Independent loads, each with its use and a store right after it: short lives as written, but worth hoisting. */
static measured loads_in_a_row(uint32_t count, const char *between)
{
    text t = begin("");
    for (uint32_t i = 0; i < count; i++) {
        add(&t, "%s", between);
        add(&t, "ld.global.nc.f32 %%f%u, [%%rd1+%u];\n", 10 + i, 4 * i);
        add(&t, "mul.f32 %%f%u, %%f%u, %%f%u;\n", 150 + i, 10 + i, 10 + i);
        add(&t, "st.global.f32 [%%rd2+%u], %%f%u;\n", 4 * i, 150 + i);
    }
    return measure(&t);
}

static void hoists_loads_within_the_room(void **state)
{
    (void)state;
    uint32_t last = 0;
    for (uint32_t count = 1; count <= 120; count += 7) {
        measured m = loads_in_a_row(count, "");
        assert_ordered(&m.x);
        assert_true(m.x.needed[0] <= 6);
        assert_true(m.x.wanted[0] >= count);
        assert_true(m.estimate >= last && m.estimate <= 32);
        last = m.estimate;
    }
    assert_true(last >= 30);
}

/* What is only read passes barriers; calls are passed by nothing in memory. */
static void hoists_loads_past_barriers_and_not_past_calls(void **state)
{
    (void)state;
    assert_true(loads_in_a_row(40, "bar.sync 0;\n").x.wanted[0] >= 40);
    assert_true(loads_in_a_row(40, "call other;\n").x.wanted[0] < 20);
}

/* With .minnctapersm there is room for as many CTAs as it says, and what both orders want is taken. */
static void speed_decides_where_ctas_are_asked_for(void **state)
{
    (void)state;
    text t = begin(".maxntid 256, 1, 1 .minnctapersm 2");
    for (uint32_t i = 0; i < 60; i++)
        add(&t, "ld.global.nc.f32 %%f%u, [%%rd1+%u];\n", 10 + i, 4 * i);
    for (uint32_t i = 1; i < 60; i++)
        add(&t, "fma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", 10 + i, 9 + i, 10 + i, 9 + i);
    add(&t, "st.global.f32 [%%rd2], %%f69;\n");
    measured m = measure(&t);
    uint32_t least = m.x.wanted[0] < m.x.late ? m.x.wanted[0] : m.x.late;
    assert_true(least >= 50);
    assert_in_range(m.estimate, least, least + 10);
}

/* ---- what needs no register of its own --------------------------------------------------------------------------- */

static void addresses_of_one_base_are_one(void **state)
{
    (void)state;
    text t = begin("");
    add(&t, "mov.u32 %%r2, %%tid.x; mul.wide.u32 %%rd3, %%r2, 4; add.s64 %%rd4, %%rd1, %%rd3;\n");
    for (uint32_t i = 0; i < 20; i++)
        add(&t, "add.s64 %%rd%u, %%rd4, %u;\n", 10 + i, 65536 * (i + 1));
    add(&t, "mov.u32 %%r3, 0;\nL:\n");
    for (uint32_t i = 0; i < 20; i++)
        add(&t,
            "mul.wide.u32 %%rd40, %%r3, 4; add.s64 %%rd50, %%rd%u, %%rd40; ld.volatile.global.u32 %%r9, [%%rd50];\n"
            "st.volatile.global.u32 [%%rd50], %%r9;\n",
            10 + i);
    add(&t, "add.s32 %%r3, %%r3, %%r2; setp.lt.u32 %%p1, %%r3, %%r1; @%%p1 bra L;\n");
    measured m = measure(&t);
    assert_ordered(&m.x);
    assert_true(m.x.needed[0] <= 12);
}

static void parameters_are_operands(void **state)
{
    (void)state;
    text t = begin("");
    add(&t, "mov.u32 %%r2, %%tid.x; mul.wide.u32 %%rd3, %%r2, 4; add.s64 %%rd4, %%rd1, %%rd3;\n");
    add(&t, "st.global.u32 [%%rd4], %%r2;\n");
    measured m = measure(&t);
    assert_int_equal(m.x.needed[0], 3); /* the address and the value, not the parameter beside its index */
}

/* Loaded from fixed addresses, read after a branch. */
static void constants_are_operands(void **state)
{
    (void)state;
    text t = {calloc(1, TEXT_BYTES), 0};
    assert_non_null(t.at);
    add(&t, HEAD ".const .b32 c[16];\n.visible .entry k() {\n.reg .pred %%p; .reg .b32 %%r<30>; .shared .b32 s[32];\n");
    for (uint32_t i = 0; i < 16; i++)
        add(&t, "ld.const.u32 %%r%u, [c+%u];\n", 10 + i, 4 * i);
    add(&t, "mov.u32 %%r1, %%tid.x; setp.lt.u32 %%p, %%r1, 9; @%%p bra E; bar.sync 0;\n");
    for (uint32_t i = 0; i < 16; i++)
        add(&t, "add.u32 %%r1, %%r1, %%r%u;\n", 10 + i);
    add(&t, "st.shared.u32 [s], %%r1;\nE:\n");
    assert_true(measure(&t).x.needed[0] <= 2);
}

static void counts_shared_memory(void **state)
{
    (void)state;
    text t = begin("");
    add(&t, ".shared .b32 s[100]; .shared .b64 u[9]; .shared .b32 idle;\n");
    add(&t, "ld.shared.u32 %%r2, [s]; st.shared.u32 [s+4], %%r2; st.shared.u32 [u], %%r2;\n");
    assert_int_equal(measure(&t).x.shared_bytes, 472);
}

/* Integers that live on, extended and not. */
static measured extended(uint32_t count, const char *type)
{
    text t = begin("");
    for (uint32_t i = 0; i < count; i++) {
        add(&t, "ld.volatile.global.u32 %%r%u, [%%rd1+%u];\n", 10 + i, 4 * i);
        add(&t, "cvt.%s %%rd%u, %%r%u;\n", type, 10 + i, 10 + i);
    }
    add(&t, "bar.sync 0;\n");
    for (uint32_t i = 0; i < count; i++) {
        add(&t, "st.volatile.global.u32 [%%rd2+%u], %%r%u;\n", 4 * i, 10 + i);
        add(&t, "st.volatile.global.u64 [%%rd2+%u], %%rd%u;\n", 8 * i, 10 + i);
    }
    return measure(&t);
}

static void extended_integers_are_one_register(void **state)
{
    (void)state;
    assert_int_equal(extended(20, "s64.s32").x.needed[0], extended(20, "u64.u32").x.needed[0]);
    assert_true(extended(20, "s64.s32").x.needed[0] < 30);
    assert_true(extended(20, "rn.f64.u32").x.needed[0] >= 60);
    assert_true(extended(20, "s64.s16").x.needed[0] >= 60); /* a word for the integer and two for what is made of it */
}

/* What must fit grows with what speed wants, and beyond a step of occupancy there is room for all of it. */
static void want_makes_need(void **state)
{
    (void)state;
    hd_estimate_features little = {.needed = {30, 29}, .wanted = {30, 30}, .late = 30, .instructions = 200},
                         much = little;
    much.wanted[0] = much.wanted[1] = much.late = 90;
    text t = begin(".maxntid 256, 1, 1");
    add(&t, "ret;\n}\n");
    parsed *p = parse_good(t.at);
    hd_function *f = hd_module_find_function(p->module, "k");
    hd_gpu *gpu = hd_gpu_load("sm_90", &p->diagnostics);
    assert_int_equal(hd_estimate_room(f, &little, &gpu->limits, 30), 32);
    assert_true(hd_estimate_model(f, &little, &gpu->limits) <= 32);
    assert_in_range(hd_estimate_model(f, &much, &gpu->limits), 36, 48);
    hd_gpu_free(gpu);
    parsed_free(p);
    free(t.at);
}

/* ---- loops, branches, calls -------------------------------------------------------------------------------------- */

static measured loop(const char *pragma, const char *step, const char *inside)
{
    text t = begin("");
    add(&t, "mov.u32 %%r2, %%tid.x; mul.wide.u32 %%rd3, %%r2, 4; add.s64 %%rd4, %%rd1, %%rd3; mov.u32 %%r3, %%r2; "
            "mov.f32 %%f1, 0f00000000;\n");
    add(&t,
        "L:\n%s\nld.global.nc.f32 %%f2, [%%rd4]; fma.rn.f32 %%f1, %%f2, %%f2, %%f1; add.s64 %%rd4, %%rd4, 512;\n%s\n",
        pragma, inside);
    add(&t, "add.s32 %%r3, %%r3, %s; setp.lt.u32 %%p1, %%r3, %%r1; @%%p1 bra L;\n", step);
    add(&t, "add.s64 %%rd5, %%rd2, %%rd3; st.global.f32 [%%rd5], %%f1;\n");
    return measure(&t);
}

static void unrolls_as_ptxas_does(void **state)
{
    (void)state;
    measured four = loop("", "128", ""), kept = loop(".pragma \"nounroll\";", "128", ""), stride = loop("", "%r2", "");
    assert_int_equal(four.x.unrolled, 1);
    assert_int_equal(kept.x.unrolled, 0);
    assert_int_equal(stride.x.unrolled, 0);
    assert_int_equal(loop("", "128", "bar.sync 0;").x.unrolled, 0);
    /* a division of integers is 20 instructions, one of floats 8: five of those are within the limit */
    static const char floats[] = "div.full.f32 %f2, %f2, %f1; div.full.f32 %f2, %f2, %f1; div.full.f32 %f2, %f2, %f1; "
                                 "div.full.f32 %f2, %f2, %f1; div.full.f32 %f2, %f2, %f1; add.f32 %f1, %f1, %f2;";
    static const char integers[] = "div.u32 %r4, %r3, %r1; div.u32 %r4, %r4, %r1; div.u32 %r4, %r4, %r1; "
                                   "div.u32 %r4, %r4, %r1; div.u32 %r4, %r4, %r1; cvt.rn.f32.u32 %f3, %r4; "
                                   "add.f32 %f1, %f1, %f3;";
    assert_int_equal(loop("", "128", floats).x.unrolled, 1);
    assert_int_equal(loop("", "128", integers).x.unrolled, 0);
    assert_true(four.x.wanted[0] > kept.x.wanted[0]);
    assert_true(four.estimate > kept.estimate);
    assert_int_equal(kept.x.needed[0], four.x.needed[0]);
}

/* The most sums with which a loop with such divisions is still unrolled. */
static uint32_t most_sums(uint32_t divisions, const char *division)
{
    for (uint32_t sums = 0; sums < 128; sums++) {
        char body[4096] = "";
        size_t used = 0;
        for (uint32_t i = 0; i < divisions + sums + 1; i++)
            used += (size_t)snprintf(body + used, sizeof body - used, "%s ",
                                     i < divisions ? division : "add.f32 %f1, %f1, %f2;");
        used +=
            (size_t)snprintf(body + used, sizeof body - used, "cvt.rn.f32.u32 %%f3, %%r4; add.f32 %%f1, %%f1, %%f3;");
        assert_true(used < sizeof body);
        if (!loop("", "128", body).x.unrolled)
            return sums;
    }
    return 0;
}

static void divisions_count_as_many(void **state)
{
    (void)state;
    uint32_t without = most_sums(0, "");
    assert_true(without > 60);
    assert_int_equal(without - most_sums(3, "div.u32 %r4, %r4, %r1;"), 60);
    assert_int_equal(without - most_sums(3, "rem.s32 %r4, %r4, %r1;"), 60);
    assert_int_equal(without - most_sums(3, "div.full.f32 %f2, %f2, %f1;"), 24);
}

/* A loop that counts from a number to a number; as many copies of its body as turns, however it counts. */
static uint32_t wanted_of_count(const char *from, const char *step, const char *test)
{
    text t = begin("");
    add(&t, "mov.u32 %%r3, %s; mov.u64 %%rd4, %%rd1; mov.f32 %%f1, 0f00000000;\n", from);
    add(&t, "L:\nld.global.nc.f32 %%f2, [%%rd4]; fma.rn.f32 %%f1, %%f2, %%f2, %%f1; add.s64 %%rd4, %%rd4, 512;\n");
    add(&t, "%s; setp.%s; @%%p1 bra L;\nst.global.f32 [%%rd2], %%f1;\n", step, test);
    return measure(&t).x.wanted[0];
}

static void counts_turns_up_and_down(void **state)
{
    (void)state;
    uint32_t two = wanted_of_count("0", "add.s32 %r3, %r3, 1", "lt.s32 %p1, %r3, 2");
    uint32_t any = wanted_of_count("0", "add.s32 %r3, %r3, 1", "lt.s32 %p1, %r3, %r1");
    assert_true(two < any);
    assert_int_equal(wanted_of_count("2", "sub.s32 %r3, %r3, 1", "gt.s32 %p1, %r3, 0"), two);
    assert_int_equal(wanted_of_count("2", "add.s32 %r3, %r3, -1", "gt.s32 %p1, %r3, 0"), two);
    assert_int_equal(wanted_of_count("0", "sub.s32 %r3, %r3, -1", "lt.s32 %p1, %r3, 2"), two);
    assert_int_equal(wanted_of_count("0", "sub.s32 %r3, %r3, 1", "lt.s32 %p1, %r3, 2"), any); /* away from its end */
}

/* What is live into a loop and is not made anew there, nor held elsewhere. */
static uint32_t held(const hd_estimate_loop *l)
{
    return l->words - l->constant_offsets - l->uniform - l->rematerialized;
}

/* `count` values, each the product of a load and a parameter, that a loop reads in each turn. */
static measured scaled(uint32_t count)
{
    text t = begin("");
    add(&t, "ld.param.f32 %%f1, [n]; mov.f32 %%f2, 0f00000000; mov.u32 %%r3, %%tid.x;\n");
    for (uint32_t i = 0; i < count; i++) {
        add(&t, "ld.volatile.global.f32 %%f%u, [%%rd1+%u];\n", 10 + i, 4 * i);
        add(&t, "mul.f32 %%f%u, %%f%u, %%f1;\n", 200 + i, 10 + i);
    }
    add(&t, "L:\n.pragma \"nounroll\";\nbar.sync 0;\n");
    for (uint32_t i = 0; i < count; i++)
        add(&t, "fma.rn.f32 %%f2, %%f2, %%f%u, %%f%u;\n", 200 + i, 200 + (i + 1) % count);
    add(&t, "add.s32 %%r3, %%r3, 1; setp.lt.u32 %%p1, %%r3, 100000; @%%p1 bra L;\nst.global.f32 [%%rd2], %%f2;\n");
    return measure(&t);
}

static void holds_what_is_live_through_loops(void **state)
{
    (void)state;
    for (uint32_t count = 2; count <= 162; count += 40) {
        measured m = scaled(count);
        assert_int_equal(m.x.loop.words, count + 2);
        assert_int_equal(m.x.loop.rematerialized, 0); /* what was loaded is overwritten */
        assert_true(held(&m.x.loop) >= count);
        assert_true(m.estimate > held(&m.x.loop));
    }
}

/* One operand that is at hand, and a parameter: one instruction makes the value anew. */
static void names_what_frees_registers_in_loops(void **state)
{
    (void)state;
    text t = begin("");
    add(&t,
        "mov.u32 %%r3, %%tid.x; mul.lo.s32 %%r10, %%r3, %%r1; add.s32 %%r11, %%r3, %%r1; mov.u32 %%r12, %%ctaid.x;\n"
        "mul.wide.u32 %%rd3, %%r3, 4; add.s64 %%rd4, %%rd2, %%rd3; mov.u32 %%r4, %%r3;\n"
        "ld.volatile.global.u32 %%r13, [%%rd4]; ld.volatile.global.u32 %%r14, [%%rd4+4];\n"
        "mul.lo.s32 %%r15, %%r13, %%r14; cvt.s64.s32 %%rd6, %%r15;\n"
        "L:\n.pragma \"nounroll\";\n"
        "st.volatile.global.u32 [%%rd4], %%r10; st.volatile.global.u32 [%%rd4+12], %%r11; st.volatile.global.u32 "
        "[%%rd4+8], %%r3;\n"
        "st.volatile.global.u32 [%%rd4+16], %%r12; st.volatile.global.u32 [%%rd4+4], %%r15;\n"
        "st.volatile.global.u64 [%%rd4+24], %%rd6;\n"
        "add.s32 %%r4, %%r4, 1; setp.lt.u32 %%p1, %%r4, %%r12; @%%p1 bra L;\n");
    measured m = measure(&t);
    assert_int_equal(m.x.loop.words, 10);
    assert_int_equal(m.x.loop.constant_offsets, 2);
    assert_int_equal(m.x.loop.uniform, 1);
    assert_in_range(m.x.loop.rematerialized, 2, 4); /* two values of %r3, and the address of its product */
    assert_true(m.estimate > held(&m.x.loop));
}

/* Two parameters: a machine instruction takes one constant operand. */
static void takes_one_constant_operand(void **state)
{
    (void)state;
    text t = begin("");
    add(&t, "mov.u32 %%r3, %%tid.x; add.s32 %%r4, %%r3, %%r3; ld.param.f32 %%f1, [n]; ld.param.f32 %%f2, [a];\n"
            "mul.f32 %%f3, %%f1, %%f2; add.f32 %%f4, %%f1, 0f3F800000;\n"
            "L:\n.pragma \"nounroll\";\nst.volatile.global.f32 [%%rd1], %%f3; st.volatile.global.f32 [%%rd1], %%f4;\n"
            "add.s32 %%r4, %%r4, 1; setp.lt.u32 %%p1, %%r4, 999; @%%p1 bra L;\n");
    measured m = measure(&t);
    assert_int_equal(m.x.loop.words, 3);
    assert_int_equal(m.x.loop.rematerialized, 1);
}

static void orders_short_sides_with_their_block(void **state)
{
    (void)state;
    const char *side =
        "setp.gt.f32 %p2, %f2, 0f3F800000;\n@%p2 bra J; ld.global.nc.f32 %f3, [%rd4+4]; add.f32 %f1, %f1, %f3;\n"
        "mul.f32 %f1, %f1, %f3; add.f32 %f1, %f1, %f3;\nJ:\n";
    measured m = loop("", "128", side);
    assert_ordered(&m.x);
    assert_int_equal(m.x.unrolled, 1);
}

/* A kernel that calls f, declared and defined by `callee`; `inside` comes before the call. */
static measured call_of(const char *callee, const char *inside)
{
    text t = {calloc(1, TEXT_BYTES), 0};
    assert_non_null(t.at);
    add(&t, HEAD "%s.visible .entry k(.param .u64 a) {\n.reg .b32 %%r<9>; .reg .b64 %%rd<9>;\n", callee);
    add(&t, "ld.param.u64 %%rd1, [a]; ld.global.u32 %%r1, [%%rd1];\n%s\n", inside);
    add(&t, "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %%r1;\n");
    add(&t, "call (q), f, (p); ld.param.b32 %%r2, [q]; }\nst.global.u32 [%%rd1], %%r2;\n");
    return measure(&t);
}

#define CALLEE ".func (.param .b32 out) f(.param .b32 in)"
#define BODY " { .reg .b32 %r<3>; ld.param.b32 %r1, [in]; st.param.b32 [out], %r1; ret; }\n"

static void some_callers_keep_to_the_convention(void **state)
{
    (void)state;
    static const char recursive[] =
        CALLEE " { .reg .b32 %r<3>; ld.param.b32 %r1, [in]; { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1;\n"
               "call (q), f, (p); ld.param.b32 %r2, [q]; } st.param.b32 [out], %r2; ret; }\n";
    struct {
        const char *callee, *inside;
        uint32_t calls;
    } cases[] = {
        {CALLEE BODY, "", 0}, /* inlined */
        {".extern " CALLEE ";\n", "", 1},
        {recursive, "", 1},
        {CALLEE BODY ".global .u64 table[1] = {f};\n", "", 1},
        {CALLEE BODY, "mov.u64 %rd2, f; st.global.u64 [%rd1+8], %rd2;", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        measured m = call_of(cases[i].callee, cases[i].inside);
        assert_int_equal(m.x.calls, cases[i].calls);
        assert_true(cases[i].calls ? m.estimate >= 24 : m.estimate < 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_what_liveness_forces),
        cmocka_unit_test(has_an_interval),
        cmocka_unit_test(stays_below_limits),
        cmocka_unit_test(pairs_of_halves_are_one_register),
        cmocka_unit_test(is_the_same_each_time),
        cmocka_unit_test(hoists_loads_within_the_room),
        cmocka_unit_test(hoists_loads_past_barriers_and_not_past_calls),
        cmocka_unit_test(addresses_of_one_base_are_one),
        cmocka_unit_test(parameters_are_operands),
        cmocka_unit_test(constants_are_operands),
        cmocka_unit_test(counts_shared_memory),
        cmocka_unit_test(unrolls_as_ptxas_does),
        cmocka_unit_test(divisions_count_as_many),
        cmocka_unit_test(counts_turns_up_and_down),
        cmocka_unit_test(orders_short_sides_with_their_block),
        cmocka_unit_test(holds_what_is_live_through_loops),
        cmocka_unit_test(names_what_frees_registers_in_loops),
        cmocka_unit_test(takes_one_constant_operand),
        cmocka_unit_test(some_callers_keep_to_the_convention),
        cmocka_unit_test(extended_integers_are_one_register),
        cmocka_unit_test(speed_decides_where_ctas_are_asked_for),
        cmocka_unit_test(want_makes_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
