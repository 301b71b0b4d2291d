/* Where a warp may wait for another one (ir/waits.def, polling loops): RegMutex holds no set there, LTRF begins an
 * interval, and the checkers, which find such places themselves, refute what does otherwise. */
#include "rf_bench.h"
#include "unit.h"

#include "ir/architected.h"
#include "passes/technique/regmutex_work.h"

typedef struct waiting {
    const char *body; /* after "mov.u32 %r9, 0;"; the place in question is the instruction at label W */
    enum { GOES_ON, WAITS, MAY_WAIT } waits; /* MAY_WAIT: no set is held there, but no interval begins */
} waiting;

#define LOOP(load) "L: W: " load ";\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n"
#define COUNTS(load) "L: W: " load ";\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p0, %r9, 9;\n@%p0 bra L;\n"

static const waiting cases[] = {
    {"W: setmaxnreg.inc.sync.aligned.u32 128;\n", WAITS},
    {"W: setmaxnreg.dec.sync.aligned.u32 64;\n", GOES_ON},
    {"W: griddepcontrol.wait;\n", WAITS},
    {"W: griddepcontrol.launch_dependents;\n", GOES_ON},
    {"W: brkpt;\n", WAITS},
    {"W: mbarrier.test_wait.parity.shared::cta.b64 %p0, [%r8], %r9;\n", WAITS},
    {"L: W: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r8], %r9;\n@!%p0 bra L;\n", WAITS},
    {"W: bar.sync 0;\n", WAITS},
    {"W: cp.async.wait_all;\n", GOES_ON},
    {LOOP("ld.global.u32 %r0, [%d0]"), WAITS},
    {LOOP("ld.global.ca.u32 %r0, [%d0]"), WAITS},
    {LOOP("ld.global.cg.u32 %r0, [%d0]"), WAITS},
    {LOOP("ld.global.cs.u32 %r0, [%d0]"), WAITS},
    {LOOP("ld.global.lu.u32 %r0, [%d0]"), WAITS},
    {LOOP("ld.global.cv.u32 %r0, [%d0]"), WAITS},
    {LOOP("ld.u32 %r0, [%d0]"), WAITS},
    {LOOP("ld.shared.u32 %r0, [%r8]"), WAITS},
    {LOOP("ld.volatile.global.u32 %r0, [%d0]"), WAITS},
    {LOOP("ld.relaxed.gpu.global.u32 %r0, [%d0]"), WAITS},
    {LOOP("ld.acquire.gpu.global.u32 %r0, [%d0]"), WAITS},
    /* what is ordered or volatile looks for others, even where nothing depends on it; `weak` is no order */
    {COUNTS("ld.relaxed.gpu.global.u32 %r0, [%d0]"), MAY_WAIT},
    {COUNTS("ld.acquire.gpu.global.u32 %r0, [%d0]"), MAY_WAIT},
    {COUNTS("ld.volatile.global.u32 %r0, [%d0]"), MAY_WAIT},
    {COUNTS("ld.global.cv.u32 %r0, [%d0]"), MAY_WAIT},
    {COUNTS("atom.global.add.u32 %r0, [%d0], 1"), MAY_WAIT},
    {COUNTS("red.global.add.u32 [%d0], 1"), GOES_ON},
    {COUNTS("ld.weak.global.u32 %r0, [%d0]"), GOES_ON},
    {LOOP("atom.global.add.u32 %r0, [%d0], 0"), WAITS},
    {LOOP("ld.global.nc.u32 %r0, [%d0]"), GOES_ON},
    {LOOP("ld.const.u32 %r0, [table]"), GOES_ON},
    {LOOP("add.u32 %r0, %r9, 1"), GOES_ON},
    /* outside of a loop, or in one that counts */
    {"W: ld.global.u32 %r0, [%d0];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\nadd.u32 %r9, %r9, 1;\nL: add.u32 %r9, %r9, "
     "2;\n",
     GOES_ON},
    {"L: W: ld.global.u32 %r0, [%d0];\nadd.u32 %r7, %r7, %r0;\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p0, %r9, 9;\n@%p0 "
     "bra L;\n",
     GOES_ON},
    {"W: ld.global.u32 %r0, [%d0];\nL: add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p0, %r9, %r0;\n@%p0 bra L;\n", GOES_ON},
    /* a branch inside the loop, on which nothing else depends */
    {"L: W: ld.global.u32 %r0, [%d0];\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra M;\nadd.u32 %r7, %r7, 1;\n"
     "M: add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p0, %r9, 9;\n@%p0 bra L;\n",
     GOES_ON},
    /* one whose side counts, too: it does not come to itself before its sides join */
    {"L: W: ld.global.u32 %r0, [%d0];\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra M;\nmov.u32 %r1, 0;\n"
     "K: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 9;\n@%p2 bra K;\n"
     "M: add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p0, %r9, 9;\n@%p0 bra L;\n",
     GOES_ON},
    /* by a detour: a copy, a selection, a guard, what a branch decides */
    {"L: W: ld.global.u32 %r0, [%d0];\nmov.u32 %r1, %r0;\nand.b32 %r2, %r1, 1;\nsetp.ne.u32 %p0, %r2, 0;\n@%p0 bra "
     "L;\n",
     WAITS},
    {"L: W: ld.global.u32 %r0, [%d0];\nsetp.ne.u32 %p1, %r0, 0;\nselp.u32 %r1, 1, 0, %p1;\nsetp.ne.u32 %p0, %r1, "
     "0;\n@%p0 bra L;\n",
     WAITS},
    {"mov.u32 %r1, 1;\nL: W: ld.global.u32 %r0, [%d0];\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 mov.u32 %r1, 0;\nsetp.ne.u32 "
     "%p0, %r1, 0;\n@%p0 bra L;\n",
     WAITS},
    {"mov.u32 %r1, 1;\nL: W: ld.global.u32 %r0, [%d0];\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra M;\nmov.u32 %r1, 0;\n"
     "M: setp.ne.u32 %p0, %r1, 0;\n@%p0 bra L;\n",
     WAITS},
    {"L: add.u32 %r9, %r9, 1;\nsetp.gt.u32 %p0, %r0, 7;\n@%p0 exit;\nW: ld.global.u32 %r0, [%d0];\nbra L;\n", WAITS},
    /* it says from where another load takes what decides, which is another place; or whether that runs */
    {"L: W: ld.global.u64 %d1, [%d0];\nld.global.u32 %r0, [%d1];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n", GOES_ON},
    {"L: ld.global.u64 %d1, [%d0];\nW: ld.global.u32 %r0, [%d1];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n", WAITS},
    {"L: W: ld.global.u32 %r1, [%d0];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 ld.global.u32 %r0, [%d0+4];\nsetp.ne.u32 %p0, "
     "%r0, 0;\n@%p0 bra L;\n",
     WAITS},
    {"L: W: ld.global.u32 %r1, [%d0];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\nld.global.u32 %r0, [%d0+4];\nM: "
     "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n",
     WAITS},
    /* it says whether the branch runs that leaves the loop */
    {"setp.eq.u32 %p1, %r8, 0;\nL: W: ld.global.u32 %r0, [%d0];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n@%p1 bra "
     "M;\nbra L;\nM:\n",
     WAITS},
    {"setp.eq.u32 %p1, %r8, 0;\nL: W: ld.global.u32 %r0, [%d0];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra A;\nsetp.ne.u32 "
     "%p2, %r0, 5;\n@%p2 bra L;\n"
     "A: @%p1 bra M;\nbra L;\nM:\n",
     WAITS},
    /* an inner loop's bound, which the outer one loads */
    {"L: W: ld.global.u32 %r0, [%d0];\nmov.u32 %r1, 0;\nM: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r0;\n@%p1 bra "
     "M;\n"
     "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p0, %r9, 9;\n@%p0 bra L;\n",
     GOES_ON},
    /* an inner loop that counts, in an outer one that polls */
    {"L: W: ld.global.u32 %r0, [%d0];\nmov.u32 %r9, 0;\nM: add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, 9;\n@%p1 bra "
     "M;\n"
     "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n",
     WAITS},
    {"L: mov.u32 %r9, 0;\nM: W: ld.global.u32 %r0, [%d0];\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, 9;\n@%p1 bra "
     "M;\n"
     "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n",
     WAITS},
    /* the register has another value where the branch reads it */
    {"L: W: ld.global.u32 %r0, [%d0];\nadd.u32 %r7, %r7, %r0;\nadd.u32 %r9, %r9, 1;\nmov.u32 %r0, %r9;\nsetp.lt.u32 "
     "%p0, %r0, 9;\n@%p0 bra L;\n",
     GOES_ON},
};
enum { CASES = sizeof cases / sizeof *cases };

static void open_case(rf_bench *b, const waiting *w)
{
    char text[2048];
    int length = snprintf(
        text, sizeof text,
        ".version 8.6\n.target sm_90a\n.address_size 64\n.const .align 4 .u32 table[2] = {1, 2};\n"
        ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %%r<12>; .reg .b64 %%d<4>; .reg .pred %%p<4>;\n"
        "ld.param.u64 %%d0, [out]; mov.u32 %%r8, 0; mov.u32 %%r9, 0; mov.u32 %%r7, 0; mov.u32 %%r0, 0;\n"
        "%sst.global.u32 [%%d0], %%r7; st.global.u32 [%%d0+4], %%r9; st.global.u32 [%%d0+8], %%r8;\nexit;\n}\n",
        w->body);
    rf_bench_open(b, text, (size_t)length);
}

static uint32_t place_of(const rf_bench *b)
{
    const hd_function *f = b->kernel;
    for (uint32_t l = 0; l < f->labels.count; l++)
        if (!strcmp(hd_names_text(&f->module->names, f->labels.items[l].name), "W"))
            return f->labels.items[l].instruction;
    fail_msg("no label W");
    return 0;
}

static void the_pass_knows_where_a_warp_waits(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CASES; i++) {
        rf_bench b;
        hd_arena arena = {0};
        open_case(&b, &cases[i]);
        if (hd_regmutex_waits(b.kernel, &arena)[place_of(&b)] != (cases[i].waits != GOES_ON))
            fail_msg("%s:\n%s", cases[i].waits ? "not found" : "found", cases[i].body);
        hd_arena_free(&arena);
        rf_bench_close(&b);
    }
}

/* The set is held from the first instruction to the exits. */
static void hold(hd_function *f)
{
    hd_architected numbers = {0};
    assert_true(hd_architected_of(f, &numbers));
    uint32_t sets[2] = {numbers.registers - 2, 2};
    hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_REGMUTEX, .instruction = HD_NONE}, sets, 2);
    hd_annotate(f, (hd_annotation){.kind = HD_ANNOTATION_REGMUTEX_ACQUIRE, .instruction = 0});
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (hd_insn_form(f, &f->instructions.items[i])->behaviour & HD_BEHAVE_EXIT &&
            f->instructions.items[i].guard == HD_NONE)
            hd_annotate(f, (hd_annotation){.kind = HD_ANNOTATION_REGMUTEX_RELEASE, .instruction = i});
    hd_annotations_sort(f);
}

/* Does the checker refute that the set is held at the instruction? */
static bool is_refuted_at(rf_bench *b, uint32_t place)
{
    hd_diagnostics quiet;
    uint64_t count = 0;
    bool found = false;
    hd_diagnostics_init(&quiet);
    hd_check_regmutex(b->kernel, &quiet, &count);
    for (const hd_diagnostic *d = quiet.first; d; d = d->next)
        found =
            found || (d->span.begin == b->kernel->instructions.items[place].span.begin && strstr(d->message, "held"));
    hd_diagnostics_free(&quiet);
    return found;
}

static void a_set_held_there_is_refuted(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CASES; i++) {
        rf_bench b;
        open_case(&b, &cases[i]);
        rf_bench_allocate(&b, 0);
        hold(b.kernel);
        if (is_refuted_at(&b, place_of(&b)) != (cases[i].waits != GOES_ON))
            fail_msg("%s:\n%s", cases[i].waits ? "not refuted" : "refuted", cases[i].body);
        rf_bench_close(&b);
    }
}

static bool begins_interval(const hd_function *f, uint32_t ordinal)
{
    return hd_annotation_at(f, HD_ANNOTATION_LTRF_PREFETCH, ordinal, 0) != NULL;
}

static void drop_interval(hd_function *f, uint32_t ordinal)
{
    uint32_t kept = 0;
    for (uint32_t a = 0; a < f->annotations.count; a++)
        if (f->annotations.items[a].kind != HD_ANNOTATION_LTRF_PREFETCH ||
            f->annotations.items[a].instruction != ordinal)
            f->annotations.items[kept++] = f->annotations.items[a];
    f->annotations.count = kept;
}

static void an_interval_begins_there(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CASES; i++) {
        rf_bench b;
        open_case(&b, &cases[i]);
        uint32_t place = place_of(&b);
        bool barrier = hd_insn_form(b.kernel, &b.kernel->instructions.items[place])->behaviour & HD_BEHAVE_BARRIER;
        if (cases[i].waits != WAITS || barrier) { /* at barriers, only where sides of a branch may wait */
            rf_bench_close(&b);
            continue;
        }
        rf_bench_pass(&b, "ltrf(dead)");
        assert_true(rf_bench_check(&b, hd_check_ltrf));
        assert_true(begins_interval(b.kernel, place));
        assert_true(begins_interval(b.kernel, place + 1));
        drop_interval(b.kernel, place);
        assert_false(rf_bench_check(&b, hd_check_ltrf));
        rf_bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_pass_knows_where_a_warp_waits),
                                       cmocka_unit_test(a_set_held_there_is_refuted),
                                       cmocka_unit_test(an_interval_begins_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
