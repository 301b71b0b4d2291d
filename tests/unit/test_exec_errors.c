/* Kernel faults: every kind with its place, thread, address and nearest allocation; source lines with what they were
 * inlined into; and kernels that run for ever, also where they count or write what is there already. */
#include "kernel.h"
#include "ptx_file.h"

#include <stdlib.h>

static uint32_t out[1024];

enum { FIRST_LINE = 16 }; /* of the body, after the line that sets %rd3 */

static kernel_run run_text(const char *text, uint32_t threads)
{
    memset(out, 0xee, sizeof out);
    kernel_run run = {.text = text,
                      .in = out,
                      .in_bytes = 64,
                      .out = out,
                      .out_bytes = sizeof out,
                      .block = threads,
                      .options.instruction_limit = 200000000};
    run_kernel(&run);
    return run;
}

static kernel_run run_body(const char *body, uint32_t threads)
{
    static char text[8192], whole[8192];
    snprintf(whole, sizeof whole, "mad.wide.u32 %%rd3, %%r0, 4, %%rd1;\n%s", body);
    return run_text(kernel_text(text, sizeof text, whole), threads);
}

static void expect_fault(const kernel_run *run, uint32_t line, const char *part, const char *note)
{
    assert_string_equal(run->slug, "kernel-fault");
    assert_int_equal(run->status, HD_EXEC_FAULT);
    if (!strstr(run->message, part))
        fail_msg("'%s' does not hold '%s'", run->message, part);
    if (!strstr(run->notes, note))
        fail_msg("'%s': '%s' does not hold '%s'", run->message, run->notes, note);
    assert_int_equal(run->line, line);
}

static void accesses(void **state)
{
    (void)state;
    kernel_run run = run_body("st.global.u32 [%rd1+4096], %r0;", 32);
    expect_fault(&run, FIRST_LINE, "out-of-bounds access of 4 bytes at global address 0x",
                 "0: 0 bytes after the end of 'out' (4096 bytes at 0x");
    assert_non_null(strstr(run.message, "; kernel k, block (0,0,0), thread (0,0,0)"));
    run = run_body("add.u64 %rd5, %rd3, 1;\nst.global.u8 [%rd5], 1;\nld.global.u16 %h1, [%rd5];", 32);
    expect_fault(&run, FIRST_LINE + 2, "misaligned access of 2 bytes at global address", "byte 1 of 'out'");
    run = run_body("setp.eq.u32 %p1, %r0, 20;\nmul.wide.u32 %rd5, %r0, 300;\nadd.u64 %rd5, %rd5, %rd1;\n"
                   "@%p1 ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd5+-8192];",
                   32);
    expect_fault(&run, FIRST_LINE + 3, "out-of-bounds access of 16 bytes", "bytes b");
    assert_non_null(strstr(run.message, "thread (20,0,0)"));
    run = run_body(".const .align 4 .b32 c = 5;\nmov.u64 %rd5, c;\ncvta.const.u64 %rd5, %rd5;\nst.u32 [%rd5], 1;", 32);
    expect_fault(&run, FIRST_LINE + 3, "read-only memory: forbidden access of 4 bytes", "byte 0 of 'c'");
    /* the constant space by its own addresses, and by generic ones */
    run = run_body(".const .align 4 .b32 c[4];\nmov.u64 %rd5, c;\nmad.wide.u32 %rd5, %r0, 4, %rd5;\n"
                   "ld.const.u32 %r1, [%rd5];",
                   32);
    expect_fault(&run, FIRST_LINE + 3, "out-of-bounds access of 4 bytes at constant address 0x",
                 "0: 0 bytes after the end of 'c' (16 bytes at 0x");
    assert_non_null(strstr(run.message, "thread (4,0,0)"));
    run = run_body(".const .align 4 .b32 c[4];\nmov.u64 %rd5, c;\ncvta.const.u64 %rd5, %rd5;\n"
                   "mad.wide.u32 %rd5, %r0, 8, %rd5;\nld.u32 %r1, [%rd5+8];",
                   32);
    expect_fault(&run, FIRST_LINE + 4, "out-of-bounds access of 4 bytes at generic address 0x",
                 "0: 0 bytes after the end of 'c' (16 bytes at 0x");
    assert_non_null(strstr(run.message, "thread (1,0,0)"));
    run = run_body(".shared .align 4 .b32 s[4];\nmov.u32 %r1, s;\nmad.lo.u32 %r1, %r0, 4, %r1;\nld.shared.u32 %r2, "
                   "[%r1];",
                   32);
    expect_fault(&run, FIRST_LINE + 3, "out-of-bounds access of 4 bytes at shared address 0x10",
                 "has 16 bytes; this is byte 16, 0 bytes after the end of 's' (16 bytes)");
    assert_non_null(strstr(run.message, "thread (4,0,0)"));
    run = run_body(".local .align 4 .b32 l[4];\nmov.u64 %rd5, l;\nld.local.u32 %r2, [%rd5+16];", 32);
    expect_fault(&run, FIRST_LINE + 2, "out-of-bounds access of 4 bytes at local address",
                 "has 16 bytes; this is byte 16, 0 bytes after the end of 'l' (16 bytes)");
    run = run_body(
        ".local .align 4 .b32 l[4];\nmov.u64 %rd5, 0x8000000000000000;\nst.local.u32 [%rd5], 1;\nmov.u64 %rd5, l;\n"
        "ld.local.u32 %r2, [%rd5];",
        32);
    expect_fault(
        &run, FIRST_LINE + 2, "out-of-bounds access of 4 bytes at local address 0x8000000000000000",
        "has 16 bytes; this is byte 9223372036854775808, 9223372036854775792 bytes after the end of 'l' (16 bytes)");
    run = run_body("mov.u64 %rd5, 0;\nld.u32 %r1, [%rd5];", 32);
    expect_fault(&run, FIRST_LINE + 1, "generic address 0x0", "0: a null pointer, or 0 bytes after one\n");
    run = run_body("atom.global.add.u32 %r1, [%rd1+4096], 1;", 32);
    expect_fault(&run, FIRST_LINE, "out-of-bounds access of 4 bytes", "'out'");
}

/* The nearest of several variables is named: `a` is byte 0, `b` bytes 16 to 23, `c` bytes 32 to 35. */
static void the_nearest_variable_is_named(void **state)
{
    static const struct {
        const char *access, *note;
    } cases[] = {
        {"ld.shared.u32 %r1, [a+2];", "1 bytes after the end of 'a' (1 bytes)"},
        {"ld.shared.u32 %r1, [a+7];", "6 bytes after the end of 'a' (1 bytes)"},
        {"ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [a+8];", "7 bytes after the end of 'a' (1 bytes)"},
        {"ld.shared.u32 %r1, [a+9];", "7 bytes before 'b' (8 bytes)"},
        {"ld.shared.u32 %r1, [a+15];", "1 bytes before 'b' (8 bytes)"},
        {"ld.shared.u64 %rd5, [a+17];", "byte 1 of 'b' (8 bytes)"},
        {"ld.shared.u64 %rd5, [a+23];", "byte 7 of 'b' (8 bytes)"},
        {"ld.shared.u32 %r1, [a+25];", "1 bytes after the end of 'b' (8 bytes)"},
        {"ld.shared.u64 %rd5, [a+28];", "4 bytes before 'c' (4 bytes)"},
        {"ld.shared.u16 %h1, [a+33];", "byte 1 of 'c' (4 bytes)"},
        {"ld.shared.u32 %r1, [a+36];", "0 bytes after the end of 'c' (4 bytes)"},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 ".shared .align 16 .b8 a[1];\n.shared .align 16 .b8 b[8];\n.shared .align 16 .b8 c[4];\n"
                 "st.shared.u8 [a], %%r0;\nst.shared.u8 [b], %%r0;\nst.shared.u8 [c], %%r0;\n%s",
                 cases[i].access);
        kernel_run run = run_body(body, 1);
        expect_fault(&run, FIRST_LINE + 6, "at shared", cases[i].note);
    }
}

/* No instruction of the warp runs after one that faults, in this frame or another. */
static void nothing_runs_behind_a_fault(void **state)
{
    static const char *const faults[] = {
        "ld.global.u32 %r1, [%rd1+4096];",
        "ldu.global.u32 %r1, [%rd1+4096];",
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+4092];",
        "ld.u64 %rd5, [%rd9];",
        "ld.shared.u32 %r1, [%r0+4096];",
        "ld.local.u32 %r1, [%rd1];",
        "ld.const.u32 %r1, [%rd1];",
        "st.global.u32 [%rd1+4096], %r1;",
        "st.global.u16 [%rd1+1], %h1;",
        "st.global.v2.u64 [%rd1+4088], {%rd5, %rd6};",
        "st.shared.u8 [%r0+4096], %r1;",
        "st.local.u32 [%rd1], %r1;",
        "st.u32 [%rd9], %r1;",
        "atom.global.add.u32 %r1, [%rd1+4096], 1;",
        "atom.global.cas.b64 %rd5, [%rd1+4], %rd5, %rd6;",
        "atom.shared.exch.b32 %r1, [%r0+4096], 1;",
        "red.global.max.s32 [%rd1+4096], 1;",
        "cp.async.ca.shared.global [%r0+4096], [%rd1], 4;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r9+4096];",
        "wmma.load.c.sync.aligned.row.m16n16k16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%rd1+4096];",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1+4096], {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};",
        "mbarrier.init.shared.b64 [%r9+4096], 1;",
        "setp.lt.u32 %p1, %r0, 4;\n@%p1 ld.global.u32 %r1, [%rd1+4096];",
        "setp.lt.u32 %p1, %r0, 4;\n@%p1 bra A;\nbra B;\nA: st.global.u32 [%rd1+4096], %r1;\nB:",
        "barrier.sync 1, 7;",
        "trap;",
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char body[1024];
        snprintf(body, sizeof body, "mov.u32 %%r9, 0;\nmov.u64 %%rd9, 0;\n%s\nst.global.u32 [%%rd1], 7;", faults[i]);
        kernel_run run = run_body(body, 32);
        if (run.status != HD_EXEC_FAULT || run.diagnostics != 1 || out[0] != 0xeeeeeeee ||
            strstr(run.notes, "cooperative")) /* nothing here waits for other blocks */
            fail_msg("%s: status %d, %u diagnostics, 0x%x: %s; %s", faults[i], run.status, run.diagnostics, out[0],
                     run.message, run.notes);
    }
}

static void blocks_of_the_heap(void **state)
{
    (void)state;
    static const char head[] = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b64 r) "
                               "malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
                               ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %rd<9>;\n";
    char text[1024];
    snprintf(text, sizeof text, "%scall (%%rd4), malloc, (20);\ncall free, (%%rd4);\nst.u32 [%%rd4+16], 1;\nret;\n}\n",
             head);
    kernel_run run = {.text = text, .out = out, .out_bytes = 4, .grid = 2, .block = 1};
    run_kernel(&run);
    expect_fault(&run, 11, "use after free: access of 4 bytes", "0: byte 16 of a block of malloc of 20 bytes at 0x");
    assert_non_null(strstr(run.notes, "9: allocated here by block (0,0,0), thread (0,0,0)"));
    assert_non_null(strstr(run.notes, "10: freed here by block (0,0,0), thread (0,0,0)"));
    snprintf(text, sizeof text, "%scall (%%rd4), malloc, (20);\nst.u32 [%%rd4+24], 1;\nret;\n}\n", head);
    run_kernel(&run);
    expect_fault(&run, 10, "out-of-bounds access", "4 bytes after the end of a block of malloc of 20 bytes");
    assert_null(strstr(run.notes, "freed"));
}

/* The ISA leaves the result of an integer division by zero open; it is no fault. Floats have IEEE's. */
static void divisions_by_zero(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_errors-divisions_by_zero"), 32);
    assert_int_equal(run.status, HD_EXEC_DONE);
    assert_int_equal(out[0], 0x7f800000);
}

static void places_in_the_source(void **state)
{
    (void)state;
    const char *text = ptx_file("exec_errors-places_in_the_source");
    kernel_run run = {.text = text, .out = out, .out_bytes = 4};
    run_kernel(&run);
    expect_fault(&run, 13, "kernel k, block", "");
    assert_string_equal(run.origin, "lib.h:9");
    assert_non_null(strstr(run.notes, "19, main.cu:40: called from here\n"));
}

/* What waits, or never ends, has its source line too, and so has each place of a note. */
static void waits_in_the_source(void **state)
{
    (void)state;
    static const struct {
        const char *body, *origin, *message, *note;
    } rows[] = {
        {".loc 1 3 1\n@%p1 bra L;\n.loc 1 4 1\nbar.sync 0;\n.loc 1 9 1\nL: mov.u32 %r1, 0;\n", "main.cu:4",
         "31 of 32 lanes reach it; kernel k, block", ", main.cu:9: lanes 0x00000001 are here\n"},
        {".loc 1 5 1\nbarrier.sync 1, 64;\n", "main.cu:5", "cannot open; kernel k",
         ", main.cu:5: warp 0 waits here at barrier 1: 32 threads arrived, 64 are needed\n"},
        {".loc 1 6 1\nL: bra L;\n", "main.cu:6", "(1 of 1 warps); kernel k", "in circles here\n"},
        {".loc 1 7 1\n@!%p1 bra L;\n.loc 1 8 1\nM: bra M;\n.loc 1 9 1\nL: ret;\n", "main.cu:8",
         "(1 of 1 warps); kernel k", ", main.cu:8: lanes 0x00000001 of warp 0 go in circles here\n"},
        {".loc 1 11 1\nL: mov.u64 %rd1, %clock64;\nbra L;\n", "main.cu:11", "block (0,0,0) is running", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static char text[1024];
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"main.cu\"\n"
                 ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %%p<2>;\n.reg .b32 %%r<2>;\n"
                 ".reg .b64 %%rd<2>;\nmov.u32 %%r1, %%tid.x;\nsetp.eq.u32 %%p1, %%r1, 0;\n%sret;\n}\n",
                 rows[i].body);
        kernel_run run = {.text = text, .out = out, .out_bytes = 4, .block = 32, .options.instruction_limit = 100000};
        run_kernel(&run);
        if (strcmp(run.origin, rows[i].origin) != 0 || !strstr(run.message, rows[i].message) ||
            !strstr(run.notes, rows[i].note))
            fail_msg("%zu: %s: '%s' '%s'", i, run.origin, run.message, run.notes);
    }
}

/* ---- for ever ---------------------------------------------------------------------------------------------------- */

/* Each lane is named once: those that go in circles, and those that wait for them. */
static void expect_all_lanes(const kernel_run *run, uint32_t lanes)
{
    uint32_t named = 0;
    for (const char *at = run->notes; (at = strstr(at, ": lanes 0x")); at++) {
        uint32_t mask = (uint32_t)strtoul(at + strlen(": lanes "), NULL, 16);
        if (!mask || mask & named)
            fail_msg("lanes 0x%x are named twice: %s", mask & named, run->notes);
        named |= mask;
    }
    if (named != lanes)
        fail_msg("lanes 0x%x instead of 0x%x: %s", named, lanes, run->notes);
}

static void expect_livelock(const char *body, uint32_t threads, hd_exec_status status, const char *note)
{
    kernel_run run = run_body(body, threads);
    if (run.status != status || !strstr(run.message, "livelock: block (0,0,0) runs for ever"))
        fail_msg("%s: %s", body, run.message);
    if (!strstr(run.notes, note))
        fail_msg("'%s' does not hold '%s'", run.notes, note);
    expect_all_lanes(&run, 0xffffffff);
}

/* What the function's caller does is not looked at: others might help. Notes are about the function's lanes. */
static void expect_livelock_in_function(void)
{
    const char *text = ptx_file("exec_errors-expect_livelock_in_function");
    kernel_run run = {.text = text, .in = out, .in_bytes = 4, .out = out, .out_bytes = 4, .block = 32};
    run_kernel(&run);
    if (run.status != HD_EXEC_UNSUPPORTED || !strstr(run.message, "livelock") ||
        !strstr(run.notes, "with independent thread scheduling"))
        fail_msg("status %d: %s: %s", run.status, run.message, run.notes);
    expect_all_lanes(&run, 0xfffffffe);
}

static void spinning_lanes(void **state)
{
    (void)state;
    /* the lane that has the lock waits where the others would join it */
    expect_livelock(".shared .align 4 .b32 lock;\nL: atom.shared.cas.b32 %r1, [lock], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
                    "@%p1 bra L;\nst.shared.u32 [lock], 0;",
                    32, HD_EXEC_UNSUPPORTED, "lanes 0xfffffffe of warp 0 go in circles here");
    /* it counts its tries, and stores what is there already */
    expect_livelock(".shared .align 4 .b32 lock;\nmov.u32 %r5, 0;\nL: atom.shared.cas.b32 %r1, [lock], 0, 1;\n"
                    "add.u32 %r5, %r5, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nst.shared.u32 [lock], 0;\n"
                    "st.global.u32 [%rd3], %r5;",
                    32, HD_EXEC_UNSUPPORTED, "lanes 0xfffffffe of warp 0 go in circles here");
    expect_livelock("mov.u64 %rd5, 0;\nL: add.u64 %rd5, %rd5, 1;\nst.global.u32 [%rd3], 5;\nbra L;", 64, HD_EXEC_FAULT,
                    "lanes 0xffffffff of warp 0 go in circles here");
    expect_livelock("mov.u32 %r5, 0;\nmov.u64 %rd6, 1;\nL: ld.volatile.global.u32 %r1, [%rd3];\nadd.u32 %r5, %r5, 3;\n"
                    "xor.b32 %r6, %r5, %r1;\nmad.lo.u64 %rd6, %rd6, 5, 7;\nsetp.eq.u32 %p1, %r1, 9;\n@!%p1 bra L;\n"
                    "st.global.u32 [%rd3], %r6;",
                    64, HD_EXEC_FAULT, "lanes 0xffffffff of warp 0 go in circles here");
    /* the loop reads what a lane that waits would write; in a function that is called it might */
    expect_livelock("setp.ne.u32 %p1, %r0, 0;\n@%p1 bra L;\nst.global.u32 [%rd1], 1;\nbra E;\n"
                    "L: ld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p2, %r1, 1;\n@%p2 bra L;\nE:",
                    32, HD_EXEC_UNSUPPORTED, "lanes 0xfffffffe of warp 0 go in circles here");
    expect_livelock("setp.eq.u32 %p1, %r0, 0;\n@%p1 bra E;\nM: setp.ne.u32 %p2, %r0, 77;\nL: ld.param.u64 %rd5, [in];\n"
                    "@%p2 bra L;\n@!%p2 bra M;\nE: st.global.u32 [%rd3], %r1;",
                    32, HD_EXEC_FAULT, "lanes 0xfffffffe of warp 0 go in circles here");
    expect_livelock_in_function();
    /* the host may write what it waits for */
    static char text[2048];
    out[0] = 0;
    kernel_run run = {.text = kernel_text(text, sizeof text,
                                          "L: ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, "
                                          "%r1, 0;\n@%p1 bra L;"),
                      .out = out,
                      .out_bytes = 4,
                      .options = {.others_write = true}};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_UNSUPPORTED);
    assert_non_null(strstr(run.notes, "what the host or another CUDA stream writes"));
    /* others of its warp wait, but nothing that they do could end it */
    expect_livelock("setp.lt.u32 %p1, %r0, 3;\n@!%p1 bra E;\nL: setp.ne.u32 %p2, %r0, 77;\n@%p2 bra L;\n"
                    "E: st.global.u32 [%rd3], %r1;",
                    32, HD_EXEC_FAULT, "lanes 0x00000007 of warp 0 go in circles here");
}

/* A counter in a function that is called; and loops that end, though they count and write nothing for long. */
static void counters_that_matter(void **state)
{
    (void)state;
    kernel_run run = run_body("mov.u32 %r5, 0;\nL: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 3000000;\n@%p1 bra L;\n"
                              "st.global.u32 [%rd3], %r5;",
                              32);
    assert_int_equal(run.status, HD_EXEC_DONE);
    assert_int_equal(out[31], 3000000);
    /* the counter decides by way of another register, an address, and a guard */
    run = run_text(ptx_file("exec_errors-counters_that_matter"), 32);
    assert_int_equal(run.status, HD_EXEC_DONE);
    assert_int_equal(out[31], 2 << 20);
    /* registers are the same after each turn (8 instructions before the loop, 8 in it), memory is not */
    run = run_text(ptx_file("exec_errors-counters_that_matter_2"), 32);
    assert_int_equal(run.status, HD_EXEC_DONE);
    assert_int_equal(out[31], 100000);
}

/* A loop of LOOP instructions after as many, so that each turn of the warp (4096 instructions) ends before the loop,
 * where all registers are 0: only memory, to which `write` puts the counter, differs from one turn to the next. */
enum { LOOP = 32, TURNS = 2500 };

static uint32_t instructions_in(const char *text)
{
    uint32_t count = 0;
    for (; *text; text++)
        count += *text == ';' && text[1] == '\n';
    return count;
}

static void pad(char *text, size_t size, uint32_t count)
{
    for (size_t used = strlen(text); count--; used = strlen(text))
        snprintf(text + used, size - used, "mov.u32 %%r1, 0;\n");
}

static kernel_run count_in_memory(const char *read, const char *write, const char *other)
{
    enum { BEFORE = 3, DECLARATIONS = 1 }; /* of kernel_text_for, of the head */
    static char text[16384], head[2048], loop[2048], whole[8192];
    snprintf(head, sizeof head,
             ".shared .align 16 .b32 s[4];\nst.shared.u32 [s], 0;\nmov.u32 %%r2, 0;\n"
             "mov.u32 %%r3, 0;\nmov.u64 %%rd4, 0;\nmov.u64 %%rd5, 0;\nmov.u64 %%rd6, 0;\n"
             "mov.b128 %%q0, {%%rd6, %%rd6};\nmov.b128 %%q1, %%q0;\nmov.b128 %%q2, %%q0;\n"
             "mov.b128 %%q3, %%q0;\nmov.b16 %%h1, 0;\nmov.f32 %%f1, 0f00000000;\n"
             "mov.f32 %%f2, 0f00000000;\nmov.f32 %%f3, 0f00000000;\n"
             "mov.u64 %%rd8, 0;\nsetp.eq.u32 %%p1, %%r0, 0;\n");
    pad(head, sizeof head, LOOP - BEFORE - (instructions_in(head) - DECLARATIONS));
    snprintf(loop, sizeof loop,
             "%sadd.u32 %%r2, %%r1, 1;\nsetp.lt.u32 %%p1, %%r2, %d;\ncvt.u64.u32 %%rd4, %%r1;\n"
             "cvt.u64.u32 %%rd5, %%r2;\nmov.b128 %%q0, {%%rd4, %%rd6};\n"
             "mov.b128 %%q1, {%%rd5, %%rd6};\ncvt.u16.u32 %%h1, %%r2;\n%s%smov.u32 %%r2, 0;\n"
             "mov.u32 %%r3, 0;\nmov.u64 %%rd4, 0;\nmov.u64 %%rd5, 0;\n"
             "mov.b128 %%q0, {%%rd6, %%rd6};\nmov.b128 %%q1, %%q0;\nmov.b128 %%q2, %%q0;\n"
             "mov.b128 %%q3, %%q0;\nmov.b16 %%h1, 0;\nmov.f32 %%f1, 0f00000000;\n"
             "mov.f32 %%f2, 0f00000000;\nmov.f32 %%f3, 0f00000000;\nmov.u64 %%rd8, 0;\n",
             read, TURNS, write, other);
    assert_true(instructions_in(loop) < LOOP - 1);
    pad(loop, sizeof loop, LOOP - 1 - instructions_in(loop));
    snprintf(whole, sizeof whole, "%sL: %s@%%p1 bra L;\n%sst.global.u32 [%%rd1], %%r1;", head, loop, read);
    memset(out, 0, sizeof out);
    kernel_run run = {.text = kernel_text_for(text, sizeof text, "8.3", "sm_90", whole),
                      .out = out,
                      .out_bytes = sizeof out,
                      .block = 1,
                      .options.instruction_limit = 4 * LOOP * TURNS};
    run_kernel(&run);
    return run;
}

static const char from_global[] = "ld.global.u32 %r1, [%rd1+64];\n", from_shared[] = "ld.shared.u32 %r1, [s];\n",
                  from_float[] = "ld.global.f32 %f1, [%rd1+64];\ncvt.rzi.u32.f32 %r1, %f1;\n";

/* Each instruction's write is progress, and none undoes another's. */
static void every_write_is_progress(void **state)
{
    (void)state;
    static const struct {
        const char *write, *read;
    } rows[] = {
        {"st.global.u32 [%rd1+64], %r2;\n", from_global},
        {"st.u32 [%rd1+64], %r2;\n", from_global},
        {"st.global.v2.u32 [%rd1+64], {%r2, %r2};\n", from_global},
        {"st.global.u16 [%rd1+64], %h1;\n", from_global},
        {"st.shared.u32 [s], %r2;\n", from_shared},
        {"red.global.max.u32 [%rd1+64], %r2;\n", from_global},
        {"red.global.add.u32 [%rd1+64], 1;\n", from_global},
        {"atom.global.inc.u32 %r3, [%rd1+64], 1000000;\n", from_global},
        {"atom.global.exch.b32 %r3, [%rd1+64], %r2;\n", from_global},
        {"atom.global.cas.b32 %r3, [%rd1+64], %r1, %r2;\n", from_global},
        {"atom.shared.add.u32 %r3, [s], 1;\n", from_shared},
        {"atom.add.u32 %r3, [%rd1+64], 1;\n", from_global},
        {"atom.global.exch.b64 %rd8, [%rd1+64], %rd5;\n", from_global},
        {"atom.global.exch.b128 %q2, [%rd1+64], %q1;\n", from_global},
        {"atom.global.cas.b128 %q2, [%rd1+64], %q0, %q1;\n", from_global},
        {"atom.global.v2.f32.add {%f2, %f3}, [%rd1+64], {0f3f800000, 0f3f800000};\n", from_float},
        {"red.global.v2.f32.add [%rd1+64], {0f3f800000, 0f3f800000};\n", from_float},
    };
    static const char *const others[] = {"", "st.global.u32 [%rd1+256], 1;\n", "red.global.add.u32 [%rd1+260], 1;\n"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            kernel_run run = count_in_memory(rows[i].read, rows[i].write, others[k]);
            if (run.status != HD_EXEC_DONE || out[0] < TURNS)
                fail_msg("%s%s: %u turns: %s", rows[i].write, others[k], out[0], run.message);
        }
    /* what is written is there already */
    kernel_run run = count_in_memory(from_global, "st.global.u32 [%rd1+128], 0;\n", "");
    assert_int_equal(run.status, HD_EXEC_FAULT);
    assert_non_null(strstr(run.message, "livelock"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses),
        cmocka_unit_test(the_nearest_variable_is_named),
        cmocka_unit_test(nothing_runs_behind_a_fault),
        cmocka_unit_test(blocks_of_the_heap),
        cmocka_unit_test(divisions_by_zero),
        cmocka_unit_test(places_in_the_source),
        cmocka_unit_test(waits_in_the_source),
        cmocka_unit_test(spinning_lanes),
        cmocka_unit_test(counters_that_matter),
        cmocka_unit_test(every_write_is_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
