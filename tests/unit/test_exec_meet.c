/* Lanes that meet at shfl, vote, match, redux, elect and bar.warp.sync: those that have ended are waited for by nobody,
 * sides of a return come one after the other, and what a SIMT stack cannot run is a limit of the model, not a fault of
 * the kernel. */
#include "kernel.h"
#include "ptx_file.h"

enum { THREADS = 64, ENDED = 11 }; /* threads 11 .. 63 end early, so of the first warp lanes 11 .. 31 */

static uint32_t out[2 * THREADS];

static kernel_run run_text(const char *text, hd_exec_options options, const hd_sink *sink)
{
    memset(out, 0, sizeof out);
    kernel_run run = {.text = text,
                      .in = out,
                      .in_bytes = 16,
                      .out = out,
                      .out_bytes = sizeof out,
                      .block = THREADS,
                      .options = options,
                      .sink = sink};
    run_kernel(&run);
    return run;
}

static kernel_run run_body(const char *body, hd_exec_options options, const hd_sink *sink)
{
    static char text[8192], whole[8192];
    snprintf(whole, sizeof whole, "mad.wide.u32 %%rd3, %%r0, 4, %%rd1;\nmov.u32 %%r40, 0;\n%s", body);
    return run_text(kernel_text_for(text, sizeof text, "8.5", "sm_90", whole), options, sink);
}

static void expect_done(const kernel_run *run, const char *body)
{
    if (run->status != HD_EXEC_DONE)
        fail_msg("%s\n%s", body, run->message);
}

/* ---- early returns ----------------------------------------------------------------------------------------------- */

/* Each instruction gives %r1, with what it says of the eleven lanes that are left. */
typedef struct exchange {
    const char *text;
    uint32_t (*expected)(uint32_t lane);
} exchange;

static uint32_t of_ballot(uint32_t lane)
{
    (void)lane;
    return 0x555 & ((1u << ENDED) - 1);
}
static uint32_t of_all(uint32_t lane)
{
    (void)lane;
    return 1;
}
static uint32_t of_down(uint32_t lane)
{
    return lane + 4 < ENDED ? lane + 4 : lane;
} /* from an ended lane: its own value */
static uint32_t of_match(uint32_t lane) { return 0x11111111u << lane % 4 & ((1u << ENDED) - 1); }
static uint32_t of_sum(uint32_t lane)
{
    (void)lane;
    return ENDED * (ENDED - 1) / 2;
}
static uint32_t of_elect(uint32_t lane)
{
    (void)lane;
    return 0;
}
static uint32_t of_nothing(uint32_t lane) { return lane; }

static const exchange exchanges[] = {
    {"and.b32 %r2, %r0, 1;\nsetp.eq.u32 %p2, %r2, 0;\nvote.sync.ballot.b32 %r1, %p2, -1;\n", of_ballot},
    {"setp.lt.u32 %p2, %r0, 11;\nvote.sync.all.pred %p3, %p2, -1;\nselp.u32 %r1, 1, 0, %p3;\n", of_all},
    {"shfl.sync.down.b32 %r1|%p2, %r0, 4, 31, -1;\n", of_down},
    {"and.b32 %r2, %r0, 3;\nmatch.any.sync.b32 %r1, %r2, -1;\n", of_match},
    {"redux.sync.add.s32 %r1, %r0, -1;\n", of_sum},
    {"elect.sync %r1|%p2, -1;\n", of_elect},
    {"mov.u32 %r1, %r0;\nbar.warp.sync -1;\n", of_nothing},
};

/* How the lanes from 11 on end before it. */
static const char *const ways_to_end[] = {
    "setp.ge.u32 %p1, %r0, 11;\n@%p1 bra E;\n%s\nst.global.u32 [%rd3], %r1;\nE:",
    "setp.ge.u32 %p1, %r0, 11;\n@%p1 ret;\n%s\nst.global.u32 [%rd3], %r1;",
    "setp.lt.u32 %p1, %r0, 11;\n@%p1 bra G;\nexit;\nG: %s\nst.global.u32 [%rd3], %r1;",
    "setp.lt.u32 %p1, %r0, 11;\n@%p1 bra G;\nadd.u32 %r40, %r40, 100;\nst.global.u32 [%rd3], %r40;\nret;\nG: "
    "%s\nst.global.u32 [%rd3], %r1;",
    /* in the order in which the stack runs the lanes first that stay */
    "setp.lt.u32 %p1, %r0, 11;\n@%p1 bra G;\nadd.u32 %r40, %r40, 100;\nst.global.u32 [%rd3], %r40;\nbra E;\nG: "
    "%s\nst.global.u32 [%rd3], %r1;\nE:",
    "setp.ge.u32 %p1, %r0, 11;\n@%p1 bra S;\n%s\nst.global.u32 [%rd3], %r1;\nret;\nS: add.u32 %r40, %r40, "
    "100;\nst.global.u32 [%rd3], %r40;",
    /* a return within one side: both sides come to one instruction */
    "and.b32 %r40, %r0, 1;\nsetp.eq.u32 %p1, %r40, 0;\n@!%p1 bra G;\nsetp.ge.u32 %p2, %r0, 11;\n@%p2 bra E;\nmov.u32 "
    "%r40, 0;\n"
    "G: setp.ge.u32 %p2, %r0, 11;\n@%p2 ret;\n%s\nst.global.u32 [%rd3], %r1;\nE:",
    "and.b32 %r40, %r0, 1;\nsetp.eq.u32 %p1, %r40, 0;\n@%p1 bra G;\nsetp.ge.u32 %p2, %r0, 11;\n@%p2 ret;\nmov.u32 "
    "%r40, 0;\nbra V;\n"
    "G: setp.ge.u32 %p2, %r0, 11;\n@%p2 ret;\nmov.u32 %r40, 5;\nV: %s\nst.global.u32 [%rd3], %r1;",
};

static const char *body_of(uint32_t way, const char *text)
{
    static char body[2048];
    const char *hole = strstr(ways_to_end[way], "%s");
    snprintf(body, sizeof body, "%.*s%s%s", (int)(hole - ways_to_end[way]), ways_to_end[way], text, hole + 2);
    return body;
}

static bool take(void *context, const hd_event *e)
{
    uint32_t *lanes = context;
    if (e->kind == HD_EVENT_ISSUE)
        *lanes += (uint32_t)__builtin_popcount(e->effective);
    return true;
}

static void nobody_waits_for_lanes_that_have_ended(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < sizeof ways_to_end / sizeof *ways_to_end; way++)
        for (uint32_t k = 0; k < sizeof exchanges / sizeof *exchanges; k++)
            for (uint32_t mode = 0; mode < 3; mode++) {
                const char *body = body_of(way, exchanges[k].text);
                uint32_t lanes = 0;
                hd_sink sink = {take, &lanes, 0, NULL};
                kernel_run run = run_body(body, (hd_exec_options){.check_races = mode == 2}, mode == 1 ? &sink : NULL);
                expect_done(&run, body);
                for (uint32_t i = 0; i < ENDED; i++)
                    if (out[i] != exchanges[k].expected(i))
                        fail_msg("%s: lane %u has 0x%x, expected 0x%x", body, i, out[i], exchanges[k].expected(i));
                if (mode == 1)
                    assert_int_equal(lanes, run.statistics.effective_instructions);
            }
}

/* A lane that is ended where it waits for the return issues nothing more, not even the return. Loads of parameters at
 * their own addresses count as operands, not as instructions. */
static void ended_lanes_issue_nothing(void **state)
{
    (void)state;
    const char *body = body_of(0, exchanges[1].text);
    kernel_run run = run_body(body, (hd_exec_options){0}, NULL);
    expect_done(&run, body);
    uint32_t all = 4 * 32, branch = 32 - ENDED, rest = 5 * ENDED, second_warp = 4 * 32 + 32 + 32;
    assert_int_equal(run.statistics.effective_instructions, all + branch + rest + second_warp);
    assert_int_equal(run.statistics.warp_instructions, 5 + 5 + 5 + 1);
}

/* In a function that is called; lanes of the kernel wait at its end. */
static void in_a_function(void **state)
{
    (void)state;
    const char *text = ptx_file("exec_meet-in_a_function");
    memset(out, 0, sizeof out);
    kernel_run run = {.text = text, .in = out, .in_bytes = 4, .out = out, .out_bytes = sizeof out};
    run_kernel(&run);
    expect_done(&run, text);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < ENDED ? 55 : 0);
}

/* What a lane that has ended would give has no value: it is a fault to store what comes of it. */
static void an_ended_lane_gives_nothing(void **state)
{
    (void)state;
    hd_exec_options checks = {.check_uninitialized = true};
    const char *sum =
        "setp.ge.u32 %p1, %r0, 11;\n@%p1 ret;\nshfl.sync.down.b32 %r1|%p2, %r0, 4, 31, -1;\nadd.u32 %r1, %r1, %r0;\n"
        "st.global.u32 [%rd3], %r1;";
    kernel_run run = run_body(sum, checks, NULL);
    assert_int_equal(run.status, HD_EXEC_FAULT);
    assert_non_null(strstr(run.message, "thread (7,0,0)"));
    for (uint32_t way = 0; way < sizeof ways_to_end / sizeof *ways_to_end; way++) {
        const char *body = body_of(way, "shfl.sync.down.b32 %r1|%p2, %r0, 4, 31, -1;\nadd.u32 %r1, %r1, "
                                        "%r0;\nsetp.lt.u32 %p2, %r0, 7;\n@!%p2 ret;\n");
        run = run_body(body, checks, NULL);
        expect_done(&run, body);
        for (uint32_t i = 0; i < 7; i++)
            assert_int_equal(out[i], 2 * i + 4);
    }
}

/* Each side changes its operands once it is through: what the other one reads is of the time when they met. */
static void sides_exchange_what_they_had(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_meet-sides_exchange_what_they_had"),
                              (hd_exec_options){.check_uninitialized = true}, NULL);
    expect_done(&run, "shfl");
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(out[i], ((i ^ 1) + (i & 1 ? 0 : 100)) ^ 0x55555555);
    assert_int_equal(run.statistics.divergent_branches, 2);
}

/* ---- limits and faults ------------------------------------------------------------------------------------------- */

static void limits_are_no_faults(void **state)
{
    static const struct {
        hd_exec_status status;
        const char *body, *message, *note;
    } cases[] = {
        /* two instructions of one kind */
        {HD_EXEC_UNSUPPORTED,
         "setp.lt.u32 %p1, %r0, 8;\n@%p1 bra A;\nvote.sync.ballot.b32 %r1, %p1, -1;\nbra J;\nA: vote.sync.ballot.b32 "
         "%r1, %p1, -1;\nJ:",
         "vote.sync waits for lanes", "another instruction of the same kind and mask"},
        {HD_EXEC_UNSUPPORTED,
         "setp.lt.u32 %p1, %r0, 8;\n@%p1 bra A;\nshfl.sync.up.b32 %r1, %r0, 1, 0, -1;\nbra J;\nA: shfl.sync.up.b32 "
         "%r1, %r0, 2, 0, -1;\nJ:",
         "shfl.sync waits for lanes", "another instruction of the same kind and mask"},
        /* of two kinds, or masks: they wait for each other for ever */
        {HD_EXEC_FAULT,
         "setp.lt.u32 %p1, %r0, 8;\n@%p1 bra A;\nvote.sync.ballot.b32 %r1, %p1, -1;\nbra J;\nA: vote.sync.any.pred "
         "%p2, %p1, -1;\nJ:",
         "vote.sync waits for lanes", "are here"},
        {HD_EXEC_FAULT,
         "setp.lt.u32 %p1, %r0, 8;\n@%p1 bra A;\nredux.sync.add.s32 %r1, %r0, -1;\nbra J;\nA: bar.warp.sync -1;\nJ:",
         "waits for lanes", ""},
        {HD_EXEC_FAULT,
         "setp.lt.u32 %p1, %r0, 8;\n@%p1 bra A;\nredux.sync.add.s32 %r1, %r0, -1;\nbra J;\nA: redux.sync.add.s32 %r1, "
         "%r0, 0x1ff;\nJ:",
         "redux.sync waits for lanes", ""},
        {HD_EXEC_FAULT,
         "setp.lt.u32 %p1, %r0, 8;\n@%p1 bra A;\nvote.sync.ballot.b32 %r1, %p1, -1;\nbra J;\nA: bar.sync 0;\nJ:",
         "vote.sync waits for lanes", ""},
        /* lanes that could come, or end, if they ran on */
        {HD_EXEC_UNSUPPORTED,
         "setp.lt.u32 %p1, %r0, 8;\n@!%p1 bra J;\nvote.sync.ballot.b32 %r1, %p1, -1;\nJ: st.global.u32 [%rd3], %r1;",
         "vote.sync waits for lanes 0xffffff00", "where the sides of a branch meet"},
        {HD_EXEC_UNSUPPORTED,
         "setp.lt.u32 %p1, %r0, 8;\n@!%p1 bra J;\nbar.warp.sync -1;\nJ: st.global.u32 [%rd3], %r1;",
         "bar.warp.sync waits for lanes 0xffffff00", "where the sides of a branch meet"},
        {HD_EXEC_UNSUPPORTED, "setp.lt.u32 %p1, %r0, 8;\n@%p1 match.any.sync.b32 %r1, %r0, -1;",
         "match.sync waits for lanes", "that the guard leaves out"},
        /* and this is wrong in any order */
        {HD_EXEC_FAULT, "redux.sync.add.s32 %r1, %r0, 0xfffffffe;", "does not name the lane itself", ""},
        {HD_EXEC_FAULT, "setp.lt.u32 %p1, %r0, 8;\n@%p1 bra A;\nvote.sync.ballot.b32 %r1, %p1, 0xff;\nA:",
         "does not name the lane itself", ""},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kernel_run run = run_body(cases[i].body, (hd_exec_options){0}, NULL);
        if (run.status != cases[i].status || !strstr(run.message, cases[i].message) ||
            !strstr(run.notes, cases[i].note))
            fail_msg("%u: status %d, '%s', '%s'", i, run.status, run.message, run.notes);
        bool fault = cases[i].status == HD_EXEC_FAULT;
        assert_string_equal(run.slug, fault ? "kernel-fault" : "unsupported");
        assert_int_equal(!strstr(run.notes, "a limit of the model, no fault of the kernel"), fault);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nobody_waits_for_lanes_that_have_ended),
                                       cmocka_unit_test(ended_lanes_issue_nothing),
                                       cmocka_unit_test(in_a_function),
                                       cmocka_unit_test(an_ended_lane_gives_nothing),
                                       cmocka_unit_test(sides_exchange_what_they_had),
                                       cmocka_unit_test(limits_are_no_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
