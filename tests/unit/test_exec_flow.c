/* Control flow of the interpreter: divergence, loops, tables, early exits, calls, barriers, exchange between lanes,
 * events, and the faults of each. Expected results are worked out one thread at a time. */
#include "kernel.h"
#include "ptx_file.h"

static uint32_t out[1024];

/* On `threads` threads of one CTA. */
static kernel_run run_text(const char *text, uint32_t threads)
{
    memset(out, 0xee, sizeof out);
    kernel_run run = {.text = text, .in = out, .in_bytes = 16, .out = out, .out_bytes = sizeof out, .block = threads};
    run_kernel(&run);
    return run;
}

/* The body stores out[i] of its thread at [%rd3]. */
static kernel_run run_body(const char *body, uint32_t threads)
{
    static char text[8192], whole[8192];
    snprintf(whole, sizeof whole, "mad.wide.u32 %%rd3, %%r0, 4, %%rd1;\n%s", body);
    return run_text(kernel_text(text, sizeof text, whole), threads);
}

static void expect_done(const kernel_run *run)
{
    if (run->status != HD_EXEC_DONE)
        fail_msg("%s", run->message);
}

static void expect_fault(const kernel_run *run, uint32_t line, const char *part)
{
    assert_int_equal(run->status, HD_EXEC_FAULT);
    assert_string_equal(run->slug, "kernel-fault");
    if (!strstr(run->message, part))
        fail_msg("'%s' does not hold '%s'", run->message, part);
    assert_int_equal(run->line, line);
}
enum { FIRST_LINE = 16 }; /* of the body in run_body's text, after the line that sets %rd3 */

static void if_else_joins(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-if_else_joins"), 32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i & 1 ? (i * 3) ^ 0xaaaaaaaa : (i + 100) ^ 0x55555555);
    assert_int_equal(run.statistics.divergent_branches, 1);
}

static uint32_t nested_reference(uint32_t t)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < t; i++) {
        if (i == 20)
            break;
        if ((i & 3) == (t & 3))
            continue;
        for (uint32_t j = 0; j <= i % 5; j++)
            sum += i * j + 1;
    }
    return sum;
}

static void nested_loops_break_continue(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-nested_loops_break_continue"), 64);
    expect_done(&run);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], nested_reference(i));
}

static void switch_table(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-switch_table"), 32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], (i & 3) == 1 ? 25 : (i & 3) == 2 ? 5 : 10);
    run = run_text(ptx_file("exec_flow-switch_table_2"), 32);
    expect_done(&run); /* lanes whose guard is false go on after the table branch */
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i >= 9 ? 2 : i & 1 ? 11 : 13);
    run = run_body("T: .branchtargets A, A;\nbrx.idx %r0, T;\nA: ", 32);
    expect_fault(&run, FIRST_LINE + 1, "brx.idx with index 2 of 2 targets");
}

/* Sides are targets: lanes that go to one label are together, whatever index, or guard, took them there. */
static void table_names_a_target_twice(void **state)
{
    (void)state;
    kernel_run run =
        run_body("and.b32 %r1, %r0, 3;\nmin.u32 %r1, %r1, 2;\nmov.u32 %r2, 0;\nT: .branchtargets A, J, A;\n"
                 "brx.idx %r1, T;\nA: activemask.b32 %r2;\nJ: st.global.u32 [%rd3], %r2;",
                 32);
    expect_done(&run); /* J is where they meet */
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], (i & 3) == 1 ? 0 : 0xdddddddd);
    assert_int_equal(run.statistics.divergent_branches, 1);
    run = run_body("and.b32 %r1, %r0, 1;\nT: .branchtargets A, A;\nbrx.idx %r1, T;\ntrap;\nA: activemask.b32 %r2;\n"
                   "st.global.u32 [%rd3], %r2;",
                   32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], 0xffffffff);
    assert_int_equal(run.statistics.divergent_branches, 0);
    run = run_text(ptx_file("exec_flow-table_names_a_target_twice"), 32);
    expect_done(&run); /* A is next: it has those whose guard is false, too */
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 8 || !(i & 1) ? 0x555555ff : 0xaaaaaa01);
    run = run_text(ptx_file("exec_flow-table_names_a_target_twice_2"), 32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], 0xffffffff);
    assert_int_equal(run.statistics.divergent_branches, 0);
}

/* Sides run in the order of their first places in the table, and last what follows the branch. */
static void order_of_table_sides(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-order_of_table_sides"), 32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t sides[] = {0, 14, 0, 21}, base = out[4], got = out[i] - base;
        if (i < 4)
            assert_int_equal(got, 28 + i);
        else
            assert_true(got >= sides[i & 3] && got < sides[i & 3] + (i & 1 ? 7 : 14));
    }
}

static void early_exits_and_partial_warps(void **state)
{
    (void)state;
    kernel_run run = run_body(
        "st.global.u32 [%rd3], %r0;\nsetp.gt.u32 %p1, %r0, 35;\n@%p1 exit;\nsetp.lt.u32 %p2, %r0, 3;\n@%p2 ret;\n"
        "bar.sync 0;\nst.global.u32 [%rd3], 7;",
        70);
    expect_done(&run);
    for (uint32_t i = 0; i < 71; i++)
        assert_int_equal(out[i], i == 70 ? 0xeeeeeeee : i > 35 || i < 3 ? i : 7);
    assert_int_equal(run.statistics.warps, 3);
    assert_int_equal(run.statistics.barriers, 1);
}

/* A loop that some lanes leave by exit: its branch joins only at the end, so lanes arrive at OUT one by one. */
static void exit_inside_divergence(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-exit_inside_divergence"), 32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 10 ? 1u << i : 0xeeeeeeee);
}

static void calls(void **state)
{
    (void)state;
    const char *text = ptx_file("exec_flow-calls");
    static const uint32_t fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13};
    memset(out, 0, sizeof out);
    kernel_run run = {.text = text, .in = out, .in_bytes = 4, .out = out, .out_bytes = sizeof out};
    run_kernel(&run);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(out[i], i == 5 ? 77 : fibonacci[i & 7]);
        assert_int_equal(out[32 + i], 1000 + i);
    }
}

static void exit_inside_a_call(void **state)
{
    (void)state;
    const char *text = ptx_file("exec_flow-exit_inside_a_call");
    memset(out, 0, sizeof out);
    kernel_run run = {.text = text, .in = out, .in_bytes = 4, .out = out, .out_bytes = sizeof out};
    run_kernel(&run);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 4 ? 0 : 0xfffffff0);
}

/* A result in a register reaches only the lanes that were called. */
static void guarded_call_with_register_result(void **state)
{
    (void)state;
    const char *text = ptx_file("exec_flow-guarded_call_with_register_result");
    kernel_run run = {.text = text, .in = out, .in_bytes = 4, .out = out, .out_bytes = sizeof out};
    run_kernel(&run);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 7 ? 2 * i : 77);
}

static void endless_recursion(void **state)
{
    (void)state;
    const char *text = ptx_file("exec_flow-endless_recursion");
    kernel_run run = {.text = text, .in = out, .in_bytes = 4, .out = out, .out_bytes = 4};
    run_kernel(&run);
    expect_fault(&run, 6, "stack overflow");
}

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

static void barriers_order_warps(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-barriers_order_warps"), 256);
    expect_done(&run);
    for (uint32_t i = 0; i < 256; i++)
        assert_int_equal(out[i], 255);
    assert_int_equal(run.statistics.barriers, 3);
}

/* Warp 0 consumes what warp 1 produces: one arrives, the other waits. */
static void arrive_and_sync(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-arrive_and_sync"), 64);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], 532 + i);
}

static void barrier_faults(void **state)
{
    (void)state;
    kernel_run run = run_body("setp.lt.u32 %p1, %r0, 8;\n@%p1 bar.sync 0;", 32);
    expect_fault(&run, FIRST_LINE + 1, "divergent barrier: only 8 of 32 lanes");
    run = run_body("bar.sync %r0;", 32);
    expect_fault(&run, FIRST_LINE, "differ between lanes");
    run = run_body("bar.sync 16;", 32);
    expect_fault(&run, FIRST_LINE, "barrier 16");
    run = run_body("setp.lt.u32 %p1, %r0, 32;\n@%p1 bra.uni A;\nbar.sync 1;\nbra B;\nA: bar.sync 0;\nB: ", 64);
    expect_fault(&run, FIRST_LINE + 4, "deadlock: every warp of block (0,0,0)");
    run = run_body("setp.lt.u32 %p1, %r0, 32;\n@%p1 bar.sync 1, 96;\nbar.sync 1, 64;", 64);
    expect_fault(&run, FIRST_LINE + 2, "barrier 1 expects 64 threads here and 96 elsewhere");
    run = run_body("trap;", 32);
    expect_fault(&run, FIRST_LINE, "trap; kernel k, block (0,0,0), thread (0,0,0)");
}

/* A flag that a later warp sets: warps take turns, so the wait ends. */
static void warps_take_turns(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-warps_take_turns"), 64);
    expect_done(&run);
    assert_int_equal(out[31], 1);
}

/* A lock between the lanes of a warp: the one that holds it never runs again. And plain endless loops of several
 * periods. */
static void livelocks(void **state)
{
    (void)state;
    kernel_run run =
        run_body(".shared .align 4 .b32 lock;\nAGAIN: atom.shared.exch.b32 %r1, [lock], 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
                 "@%p1 bra AGAIN;\nst.shared.u32 [lock], 0;\nst.global.u32 [%rd3], 1;",
                 32);
    /* the lane that has the lock would go on with independent thread scheduling */
    assert_int_equal(run.status, HD_EXEC_UNSUPPORTED);
    assert_non_null(strstr(run.message, "livelock: block (0,0,0) runs for ever"));
    static const char *const endless[] = {
        "L: bra L;",
        "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nrem.u32 %r1, %r1, 1001;\nbra L;",
        ".local .align 4 .b32 l;\nL: ld.local.u32 %r1, [l];\nadd.u32 %r1, %r1, 1;\nand.b32 %r1, %r1, 7;\nst.local.u32 "
        "[l], "
        "%r1;\nbra L;",
    };
    for (uint32_t i = 0; i < 3; i++) {
        run = run_body(endless[i], 64);
        assert_int_equal(run.status, HD_EXEC_FAULT);
        assert_non_null(strstr(run.message, "(2 of 2 warps)"));
    }
    /* long, but not for ever */
    run = run_text(ptx_file("exec_flow-livelocks"), 64);
    expect_done(&run);
    assert_int_equal(out[63], 100000);
}

/* A counter that never comes round is no livelock; only the limit ends it, and the grid's own count is what counts. */
static void instruction_limit(void **state)
{
    (void)state;
    char text[2048];
    uint32_t result[64] = {0};
    const char *body = "L: add.u64 %rd2, %rd2, 1;\nst.global.u64 [%rd1], %rd2;\nbra L;";
    kernel_run run = {.text = kernel_text(text, sizeof text, body),
                      .out = result,
                      .out_bytes = sizeof result,
                      .options.instruction_limit = 20000};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_LIMIT);
    assert_string_equal(run.slug, "instruction-limit");
    assert_non_null(strstr(run.message, "not done after 20000 warp instructions, block (0,0,0) is running"));
    assert_in_range(run.statistics.warp_instructions, 20001, 20000 + HD_EXEC_QUANTUM);
    run.text = kernel_text(text, sizeof text, "add.u64 %rd2, %rd2, 1;");
    run_kernel(&run);
    expect_done(&run);
    run.options.instruction_limit = run.statistics.warp_instructions;
    run_kernel(&run);
    expect_done(&run);
    run.options.instruction_limit--;
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_LIMIT);
}

/* ---- lanes among each other
 * ------------------------------------------------------------------------------------------ */

static void shuffles(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-shuffles"), 32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(out[i], i + 4 < 32 ? 1000 + (i + 4) * 10 : i * 10);
        assert_int_equal(out[32 + i], i >= 3 ? 1000 + (i - 3) * 10 : i * 10);
        assert_int_equal(out[64 + i], (i ^ 5) * 10);
        assert_int_equal(out[96 + i], ((i & 24) + 2) * 10);
    }
}

static void votes(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-votes"), 32);
    expect_done(&run);
    assert_int_equal(out[0], 0x1f + 256);
    run = run_body("setp.lt.u32 %p1, %r0, 5;\n@%p1 vote.sync.ballot.b32 %r1, %p1, -1;", 32);
    assert_int_equal(run.status, HD_EXEC_UNSUPPORTED);
    assert_int_equal(run.line, FIRST_LINE + 1);
    assert_non_null(strstr(run.message, "vote.sync waits for lanes 0xffffffe0"));
}

/* Two groups of lanes that take turns: the even and the odd ones, but for two lanes that are side by side in one. */
static void groups_match_for_themselves(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-groups_match_for_themselves"), 32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t named = i & 1 || i == 8 ? 0xaaaaabaa : 0x55555455, same = 0, sum = 0;
        for (uint32_t j = 0; j < 32; j++) {
            same |= (uint32_t)(i % 3 == j % 3) << j;
            sum += named >> j & 1 ? j : 0;
        }
        assert_int_equal(out[i], same & named);
        assert_int_equal(out[32 + i], named);
        assert_int_equal(out[64 + i], sum);
    }
}

static void matches_and_reductions(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-matches_and_reductions"), 32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t same = 0;
        for (uint32_t j = 0; j < 32; j++)
            same |= (uint32_t)(i % 5 == j % 5) << j;
        assert_int_equal(out[i], same);
        assert_int_equal(out[128 + i], same);
        assert_int_equal(out[32 + i], 0);
        assert_int_equal(out[64 + i], i < 8 ? 255 : 0xeeeeeeee);
    }
    assert_int_equal(out[96], 31 * 16 - 320);
    assert_int_equal((int32_t)out[97], -10);
    assert_int_equal((int32_t)out[98], -1);
    assert_int_equal(out[99], 0);
}

/* Lane i has (i - 10) / 4, lane 20 a NaN. */
static void float_reductions(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_flow-float_reductions"), 32);
    expect_done(&run);
    static const uint32_t wanted[] = {0xc0200000, 0x40a80000, 0, 0x7fffffff, 0x40200000}; /* -2.5 5.25 0 NaN 2.5 */
    assert_memory_equal(out, wanted, sizeof wanted);
}

static void special_registers(void **state)
{
    (void)state;
    const char *text = ptx_file("exec_flow-special_registers");
    kernel_run run = {
        .text = text, .in = out, .in_bytes = 4, .out = out, .out_bytes = sizeof out, .grid = 3, .block = 80};
    run_kernel(&run);
    expect_done(&run);
    for (uint32_t i = 0; i < 240; i++)
        assert_int_equal(out[i], 30000 + i % 80 / 32 * 100 + i % 80 % 32 * 2);
}

static void lane_masks(void **state)
{
    static const char *const names[] = {"eq", "lt", "le", "gt", "ge"};
    (void)state;
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "mov.u32 %%r1, %%lanemask_%s;\nmad.wide.u32 %%rd3, %%r0, 4, %%rd1;\nst.global.u32 [%%rd3], %%r1;",
                 names[i]);
        kernel_run run = run_body(body, 32);
        expect_done(&run);
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t other = 0; other < 32; other++) {
                const bool wanted[] = {other == lane, other<lane, other <= lane, other> lane, other >= lane};
                if ((out[lane] >> other & 1) != wanted[i])
                    fail_msg("%%lanemask_%s of lane %u: %08x", names[i], lane, (unsigned)out[lane]);
            }
    }
}

/* ---- events
 * ---------------------------------------------------------------------------------------------------------- */

typedef struct log {
    char text[4096];
    uint32_t stop_after;
} log;

static bool take(void *context, const hd_event *e)
{
    log *l = context;
    size_t used = strlen(l->text);
    switch ((hd_event_kind)e->kind) {
    case HD_EVENT_LAUNCH: snprintf(l->text + used, sizeof l->text - used, "launch "); break;
    case HD_EVENT_CTA_START: snprintf(l->text + used, sizeof l->text - used, "cta%u ", e->cta); break;
    case HD_EVENT_WARP_START: snprintf(l->text + used, sizeof l->text - used, "warp%u:%x ", e->warp, e->active); break;
    case HD_EVENT_ISSUE:
        snprintf(l->text + used, sizeof l->text - used, "%u.%u.%u:%x/%x", e->warp, e->frame, e->instruction, e->active,
                 e->effective);
        used = strlen(l->text);
        if (e->addresses)
            snprintf(l->text + used, sizeof l->text - used, "@%x", (uint32_t)(e->addresses[1] - e->addresses[0]));
        used = strlen(l->text);
        for (uint32_t i = 0; i < e->result_words; i++)
            snprintf(l->text + strlen(l->text), sizeof l->text - strlen(l->text), "=%x", e->results[i * 32 + 1]);
        used = strlen(l->text);
        snprintf(l->text + used, sizeof l->text - used, " ");
        break;
    case HD_EVENT_CALL: snprintf(l->text + used, sizeof l->text - used, "call%u ", e->frame); break;
    case HD_EVENT_RETURN: snprintf(l->text + used, sizeof l->text - used, "return%u ", e->frame); break;
    case HD_EVENT_WARP_END: snprintf(l->text + used, sizeof l->text - used, "end%u ", e->warp); break;
    case HD_EVENT_CTA_END: snprintf(l->text + used, sizeof l->text - used, "done%u ", e->cta); break;
    case HD_EVENT_LAUNCH_END: snprintf(l->text + used, sizeof l->text - used, "finished"); break;
    case HD_EVENT_ARRIVE:
    case HD_EVENT_OPEN:
    case HD_EVENT_PASS: fail_msg("not asked for");
    }
    return !l->stop_after || --l->stop_after;
}

/* The first load is none: LEA takes the constant. */
static void events(void **state)
{
    (void)state;
    log l = {.text = ""};
    hd_sink sink = {take, &l, 0, NULL};
    kernel_run run = {.text = ptx_file("exec_flow-events"),
                      .in = out,
                      .in_bytes = 4,
                      .out = out,
                      .out_bytes = sizeof out,
                      .block = 3,
                      .sink = &sink};
    run_kernel(&run);
    assert_string_equal(l.text, "launch cta0 warp0:7 0.0.1:7/7 0.0.2:7/7 0.0.3:7/2 0.0.4:5/0 0.0.5:7/7 call1 "
                                "0.1.0:7/7 return0 0.0.6:7/7 "
                                "0.0.7:7/7 end0 done0 finished");
    assert_int_equal(run.statistics.warp_instructions, 8);
    assert_int_equal(run.statistics.thread_instructions, 23);
    assert_int_equal(run.statistics.effective_instructions, 19);
    l = (log){.text = "", .stop_after = 5};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_STOPPED);
    assert_string_equal(l.text, "launch cta0 warp0:7 0.0.1:7/7 0.0.2:7/7 ");
}

static void event_columns(void **state)
{
    (void)state;
    log l = {.text = ""};
    hd_sink sink = {take, &l, HD_COLUMN_ADDRESSES | HD_COLUMN_RESULTS, NULL};
    kernel_run run = {.text = ptx_file("exec_flow-events"),
                      .in = out,
                      .in_bytes = 4,
                      .out = out,
                      .out_bytes = sizeof out,
                      .block = 3,
                      .sink = &sink};
    run_kernel(&run);
    const char *text = strstr(l.text, "0.0.1:");
    assert_non_null(text);
    assert_memory_equal(text, "0.0.1:7/7=1 0.0.2:7/7 0.0.3:7/2 ", 32);
    assert_non_null(strstr(l.text, "0.0.7:7/7@4 end0"));
    text = strstr(l.text, "0.0.6:7/7=");
    assert_non_null(text);
    assert_int_equal(strcspn(text + 10, "= "), strlen("4a001204")); /* the low word of 'out' + 4, then the high one */
}

#define SPARSE                                                                                          \
    "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r1,%r2}, {%r1,%r2}, {%r1,%r2}, " \
    "%r3, 0;\n"

static void refused_before_the_run(void **state)
{
    (void)state;
    kernel_run run = run_body("st.global.u32 [%rd3], 1;\n" SPARSE, 32);
    assert_int_equal(run.status, HD_EXEC_UNSUPPORTED);
    assert_string_equal(run.slug, "unsupported");
    assert_int_equal(run.line, FIRST_LINE + 1);
    assert_non_null(strstr(run.message, "'mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16' (kernel k)"));
    assert_int_equal(out[0], 0xeeeeeeee);
    run = run_body("bra OVER;\n" SPARSE "OVER: st.global.u32 [%rd3], 1;", 32);
    expect_done(&run); /* unreachable code does not matter */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(if_else_joins),
        cmocka_unit_test(nested_loops_break_continue),
        cmocka_unit_test(switch_table),
        cmocka_unit_test(table_names_a_target_twice),
        cmocka_unit_test(order_of_table_sides),
        cmocka_unit_test(early_exits_and_partial_warps),
        cmocka_unit_test(exit_inside_divergence),
        cmocka_unit_test(calls),
        cmocka_unit_test(exit_inside_a_call),
        cmocka_unit_test(guarded_call_with_register_result),
        cmocka_unit_test(endless_recursion),
        cmocka_unit_test(barriers_order_warps),
        cmocka_unit_test(arrive_and_sync),
        cmocka_unit_test(barrier_faults),
        cmocka_unit_test(warps_take_turns),
        cmocka_unit_test(livelocks),
        cmocka_unit_test(instruction_limit),
        cmocka_unit_test(shuffles),
        cmocka_unit_test(votes),
        cmocka_unit_test(matches_and_reductions),
        cmocka_unit_test(groups_match_for_themselves),
        cmocka_unit_test(float_reductions),
        cmocka_unit_test(lane_masks),
        cmocka_unit_test(special_registers),
        cmocka_unit_test(events),
        cmocka_unit_test(event_columns),
        cmocka_unit_test(refused_before_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
