/* Calls of the interpreter: through registers and tables, with parameters in registers, by value and of open size;
 * stack from alloca; the device runtime (vprintf, __assertfail, malloc, free); and the proof about parameters in
 * registers. Expected results are worked out one thread at a time, printed text by the C library. */
#include "kernel.h"
#include "ptx_file.h"

#include "hwmodel/count/count.h"
#include <math.h>
#include <stdarg.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define ENTRY                                                                                                  \
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 "   \
    "%r<32>;\n.reg .b64 %rd<32>;\nld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;\n" \
    "mad.wide.u32 %rd2, %r0, 4, %rd1;\n"

static uint32_t out[512];
static unsigned char in[4096];
static char printed[4096];
static size_t printed_size;

static void take_text(void *context, const char *text, size_t size)
{
    assert_null(context);
    assert_true(printed_size + size < sizeof printed);
    memcpy(printed + printed_size, text, size);
    printed_size += size;
    printed[printed_size] = 0;
}

static kernel_run run_text(const char *text)
{
    memset(out, 0, sizeof out);
    printed[0] = 0, printed_size = 0;
    kernel_run run = {
        .text = text, .in = in, .in_bytes = sizeof in, .out = out, .out_bytes = sizeof out, .options.print = take_text};
    run_kernel(&run);
    return run;
}

static void expect_done(const kernel_run *run)
{
    if (run->status != HD_EXEC_DONE)
        fail_msg("%s", run->message);
}

static void expect_fault(const kernel_run *run, const char *part)
{
    assert_int_equal(run->status, HD_EXEC_FAULT);
    assert_string_equal(run->slug, "kernel-fault");
    if (!strstr(run->message, part))
        fail_msg("'%s' does not hold '%s'", run->message, part);
}

/* ---- through registers ------------------------------------------------------------------------------------------- */

#define BINARY(name, instruction)                                                                                 \
    ".func (.param .b32 r) " name "(.param .b32 a, .param .b32 b)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [a];\n" \
    "ld.param.u32 %r2, [b];\n" instruction " %r3, %r1, %r2;\nst.param.b32 [r], %r3;\nret;\n}\n"
#define TABLE                                                                                                       \
    HEAD ".func (.param .b32 r) plus(.param .b32 a, .param .b32 b);\n.func (.param .b32 r) times(.param .b32 a, "   \
         ".param .b32 b);\n.func (.param .b32 r) minus(.param .b32 a, .param .b32 b);\n.func lone(.param .b64 a)\n" \
         "{\nret;\n}\n.global .u64 table[5] = {plus, times, minus, lone, 0};\n" BINARY("plus", "add.u32")           \
             BINARY("times", "mul.lo.u32") BINARY("minus", "sub.u32")
#define PICK "mov.u64 %rd3, table;\nmad.wide.u32 %rd3, %r1, 8, %rd3;\nld.global.u64 %rd4, [%rd3];\n"
#define CALL_PICKED                                                                                     \
    "{\n.param .b32 a;\n.param .b32 b;\n.param .b32 r;\nst.param.b32 [a], %r0;\nst.param.b32 [b], 7;\n" \
    "P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\ncall (r), %rd4, (a, b), P;\n" \
    "ld.param.b32 %r2, [r];\n}\n"

/* Lanes of a warp call three functions, and are together again after the call. */
static void lanes_call_different_functions(void **state)
{
    (void)state;
    kernel_run run =
        run_text(TABLE ENTRY "rem.u32 %r1, %r0, 3;\n" PICK CALL_PICKED "activemask.b32 %r3;\nxor.b32 %r3, %r3, -1;\n"
                             "add.u32 %r2, %r2, %r3;\nst.global.u32 [%rd2], %r2;\nret;\n}\n");
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i % 3 == 0 ? i + 7 : i % 3 == 1 ? i * 7 : i - 7);
    run = run_text(ptx_file("exec_call-lanes_call_different_functions"));
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i > 8 ? 77 : i % 3 == 0 ? i + 7 : i % 3 == 1 ? i * 7 : i - 7);
}

static void bad_targets(void **state)
{
    (void)state;
    kernel_run run = run_text(TABLE ENTRY "mov.u32 %r1, 4;\n" PICK CALL_PICKED "ret;\n}\n");
    expect_fault(&run, "call of address 0x0, where no function is");
    run = run_text(TABLE ENTRY "mov.u32 %r1, 3;\n" PICK CALL_PICKED "ret;\n}\n");
    expect_fault(&run, "call of function lone, which does not fit");
    run = run_text(TABLE ENTRY "rem.u32 %r1, %r0, 3;\n" PICK
                               "T: .calltargets plus, minus;\ncall (%r2), %rd4, (%r0, 7), T;\nret;\n}\n");
    expect_fault(&run, "call of function times, which does not fit");
    assert_non_null(strstr(run.message, "thread (1,0,0)"));
}

/* Some lanes leave the kernel inside of one of the functions; those that are to call another are served all the same.
 */
static void exits_between_targets(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_call-exits_between_targets"));
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i & 1 ? 2 : i < 10 ? 0 : 0xfffffeaa);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void parameters_in_registers(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_call-parameters_in_registers"));
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i == 4 ? 9 : i * 4 + 100 + (i & 1 ? 0 : 1000));
    run = run_text(ptx_file("exec_call-parameters_in_registers_2"));
    expect_done(&run);
    assert_int_equal(out[3], 21);
}

static void parameters_of_both_kinds(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_call-parameters_of_both_kinds"));
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], (((i + 1) * 100 + 7 + 10000) + 1000000) ^ ((i * 100 + i) << 16));
}

static void values_of_other_sizes(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_call-values_of_other_sizes"));
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(out[i], i * 1000000 + 44 * 1000 + 50);
        assert_int_equal(out[32 + i], i + 5);
    }
}

static void a_noreturn_function_returns(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_call-a_noreturn_function_returns"));
    expect_fault(&run, "called as .noreturn returns");
    assert_non_null(strstr(run.message, "thread (4,0,0)"));
    run = run_text(HEAD ENTRY "setp.gt.u32 %p1, %r0, 3;\n@%p1 brkpt;\nret;\n}\n");
    expect_fault(&run, "breakpoint (brkpt); kernel k, block (0,0,0), thread (4,0,0)");
}

/* ---- alloca ------------------------------------------------------------------------------------------------------ */

/* Every lane takes a block of another size, fills it, calls a function that takes one too, and gives it back. */
static void stack_by_lane(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_call-stack_by_lane"));
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], (i & 7) * ((i & 7) + 1) / 2);
    run = run_text(ptx_file("exec_call-stack_by_lane_2"));
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i);
    run = run_text(HEAD ENTRY "L: alloca.u64 %rd3, 4096;\nbra L;\n}\n");
    expect_fault(&run, "stack overflow: alloca of 4096 bytes");
    run = run_text(HEAD ENTRY "alloca.u64 %rd3, 16;\nst.local.u32 [%rd3+16], %r0;\nret;\n}\n");
    expect_fault(&run, "out-of-bounds access of 4 bytes at local address");
    static const char *const others[] = {"mov.u64 %rd4, 4;", "add.u64 %rd4, %rd5, 16;", "mov.u64 %rd4, 0x100000000;"};
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "%sstacksave.u64 %%rd5;\n%s\nalloca.u64 %%rd3, 8;\nstackrestore.u64 %%rd4;\nret;\n}\n",
                 HEAD ENTRY ".local .align 8 .b8 own[16];\n", others[i]);
        run = run_text(text);
        expect_fault(&run, "which stacksave did not give");
    }
}

static void alignments_of_the_stack(void **state)
{
    (void)state;
    for (uint32_t align = 0; align <= 1u << 18; align = align < 20 ? align + 1 : align * 2) {
        char text[1024];
        snprintf(text, sizeof text,
                 "%salloca.u64 %%rd3, 4, %u;\nand.b64 %%rd4, %%rd3, %u;\nsetp.ne.u64 %%p1, %%rd4, 0;\n@%%p1 "
                 "trap;\nret;\n}\n",
                 HEAD ENTRY, align, align - 1);
        bool good = align && align <= 65536 && !(align & (align - 1));
        kernel_run run = run_text(text);
        if (run.status != (good ? HD_EXEC_DONE : HD_EXEC_UNSUPPORTED))
            fail_msg("%u: %s", align, run.message);
    }
}

/* ---- printf and assert ------------------------------------------------------------------------------------------- */

#define PRINTF ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"

/* Lane 0 prints the format at the start of `in` with the arguments at byte 1024; returns what vprintf returned. */
static uint32_t print(const char *format)
{
    snprintf((char *)in, 1024, "%s", format);
    kernel_run run = run_text(ptx_file("exec_call-print"));
    expect_done(&run);
    return out[0];
}

/* Lays one argument after the others. */
static void lay(size_t *at, const void *value, size_t size)
{
    *at = (*at + size - 1) / size * size;
    memcpy(in + *at, value, size);
    *at += size;
}

/* kinds: i int, l long long, d double */
static void expect_printed(const char *format, const char *kinds, ...)
{
    char expected[1024];
    size_t at = 1024;
    va_list arguments, again;
    va_start(arguments, kinds);
    va_copy(again, arguments);
    memset(in, 0, sizeof in);
    for (const char *k = kinds; *k; k++) {
        int i = 0;
        long long l = 0;
        double d = 0;
        if (*k == 'i')
            i = va_arg(arguments, int), lay(&at, &i, sizeof i);
        else if (*k == 'l')
            l = va_arg(arguments, long long), lay(&at, &l, sizeof l);
        else
            d = va_arg(arguments, double), lay(&at, &d, sizeof d);
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int size = vsnprintf(expected, sizeof expected, format, again);
#pragma GCC diagnostic pop
    va_end(arguments);
    va_end(again);
    assert_int_equal(print(format), strlen(kinds));
    assert_int_equal(printed_size, size);
    assert_memory_equal(printed, expected, (size_t)size);
}

static void prints_every_character(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++)
        expect_printed("%c|%4c|%-3c|%d", "iiii", c, c, c + 256, 7);
}

static void prints_as_c_does(void **state)
{
    (void)state;
    expect_printed("plain, 100%%\n", "");
    expect_printed("%d %i %u %x %X %o|", "iiiiii", -5, 7, -1, 48879, 48879, 8);
    expect_printed("[%8d|%-8d|%08d|%+d|% d|%.3d|%-+8.3d]", "iiiiiii", 42, 42, 42, 42, 42, 4, 4);
    expect_printed("[%#x|%#o|%#X|%8.4x]", "iiii", 255, 8, 0, 77);
    expect_printed("%hd %hhd %hu %hhu", "iiii", 70000, 300, 70000, 300);
    expect_printed("%lld %llx %ld %lu %zu %jd", "llllll", -1234567890123ll, 0xfedcba9876543210ull, -1ll, 5ll, 6ll, 7ll);
    expect_printed("%d %lld %d %f", "ilid", 1, 2ll, 3, 4.5);
    expect_printed("%f|%10.3f|%-10.2e|%G|%g|%+.0f|%#.0f", "ddddddd", 1.5, -2.25, 12345.678, 1e-10, 1e20, 2.5, 3.0);
    expect_printed("%a %A %f %F %e", "ddddd", 1.0, 0.1, INFINITY, -INFINITY, 0.0);
    expect_printed("%c%c%5c|%-5c|", "iiii", 'a', 'b', 'c', 'd');
    expect_printed("%*d|%-*d|%.*f|%*.*f", "iiiiidiid", 6, 42, 6, 42, 2, 3.14159, 9, 3, 2.71828);
    expect_printed("%*d|", "ii", -6, 42);
}

/* One conversion after another: flags, width and precision, given or by *, and each kind and size. */
static void prints_any_conversion_as_c_does(void **state)
{
    static const char *const sizes[] = {"", "h", "hh", "l", "ll"};
    uint64_t random = 3;
    (void)state;
    for (uint32_t i = 0; i < 400; i++) {
        char format[64] = "<%";
        uint64_t chance = unit_random(&random);
        int width = (int)(chance >> 8 & 31) - 8, precision = (int)(chance >> 16 & 15) - 2;
        for (uint32_t f = 0; f < 5; f++)
            if (chance >> (24 + f) & 1)
                strncat(format, &"-+ #0"[f], 1);
        uint32_t kind = (uint32_t)(chance >> 32) % 15, size = kind < 6 ? (uint32_t)(chance >> 36) % 5 : 0;
        bool star = chance >> 40 & 1;
        if (star)
            strcat(format, "*.*");
        else
            sprintf(format + strlen(format), chance >> 41 & 1 ? "%d.%d" : "%d", width < 0 ? -width : width,
                    precision < 0 ? 0 : precision);
        sprintf(format + strlen(format), "%s%c>%%d", sizes[size], "diuoxXfFeEgGaAc"[kind]);
        double real = ldexp((double)(int64_t)unit_random(&random), (int)(chance >> 42 & 127) - 100);
        long long whole = (long long)unit_random(&random) >> (chance >> 50 & 63);
        if (kind == 14)
            star ? expect_printed("<%*c>%d", "iii", width, 'x', 7) : expect_printed("<%-3c>%d", "ii", 'x', 7);
        else if (kind > 5)
            star ? expect_printed(format, "iidi", width, precision, real, 7) : expect_printed(format, "di", real, 7);
        else if (size > 2)
            star ? expect_printed(format, "iili", width, precision, whole, 7) : expect_printed(format, "li", whole, 7);
        else
            star ? expect_printed(format, "iiii", width, precision, (int)whole, 7)
                 : expect_printed(format, "ii", (int)whole, 7);
    }
}

/* A precision says how much of a string is read: no more, and of 0 nothing. */
static void strings_are_read_to_their_precision(void **state)
{
    static const char format[] = "%.3s|%.0s|%5.2s|%-4.1s|%.*s";
    uint64_t arguments[6] = {0, 12345};
    (void)state;
    memset(in, 0, sizeof in);
    memcpy(in, format, sizeof format);
    memcpy(in + 4093, "abc", 3);
    int three = 3;
    memcpy(in + 1024, arguments, sizeof arguments);
    memcpy(in + 1024 + 32, &three, 4);
    kernel_run run = run_text(ptx_file("exec_call-strings_are_read_to_their_precision"));
    expect_done(&run);
    assert_string_equal(printed, "abc||   ab|a   |abc");
    assert_int_equal(out[0], 6);
}

/* What C leaves open, or the host does not have at these addresses. */
static void prints_pointers_strings_and_others(void **state)
{
    (void)state;
    uint64_t pointer = 0x1234abcd;
    size_t at = 1024;
    memset(in, 0, sizeof in);
    lay(&at, &pointer, 8);
    assert_int_equal(print("%p|"), 1);
    assert_string_equal(printed, "0x1234abcd|");
    memset(in + 1024, 0, 8);
    assert_int_equal(print("%s|%d"), 2);
    assert_string_equal(printed, "(null)|0");
    assert_int_equal(print("50%"), 0);
    assert_string_equal(printed, "50%");
    assert_int_equal(print("%y %d%"), 1);
    assert_string_equal(printed, "%y 0%");
    kernel_run run = run_text(ptx_file("exec_call-prints_pointers_strings_and_others"));
    expect_done(&run);
    assert_string_equal(printed, "hello he 0\nhello he 1\nhello he 2\n");
    assert_int_equal(out[2], 3 - 1);
    run = run_text(HEAD PRINTF ENTRY "call (%r2), vprintf, (12345, 0);\nret;\n}\n");
    expect_fault(&run, "printf reads at address 0x3039, where nothing is");
}

/* Blocks on several threads of the host print in their order, and malloc gives the same addresses. */
static void order_of_blocks(void **state)
{
    (void)state;
    const char *text = ptx_file("exec_call-order_of_blocks");
    static char alone[sizeof printed];
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        printed[0] = 0, printed_size = 0;
        kernel_run run = {.text = text, .grid = 100, .block = 1, .options = {.print = take_text, .threads = threads}};
        run_kernel(&run);
        expect_done(&run);
        if (threads == 1)
            memcpy(alone, printed, sizeof alone);
    }
    assert_string_equal(printed, alone);
    unsigned block = 0;
    for (const char *line = printed; *line; line = strchr(line, '\n') + 1)
        assert_int_equal(strtoul(line, NULL, 10), block++);
    assert_int_equal(block, 100);
}

static kernel_run run_assertion(const char *message, const char *file, const char *function)
{
    memset(in, 0, sizeof in);
    strcpy((char *)in, message);
    strcpy((char *)in + 512, file);
    strcpy((char *)in + 1024, function);
    return run_text(ptx_file("exec_call-run_assertion"));
}

static void assertions(void **state)
{
    (void)state;
    kernel_run run = run_assertion("i < n", "some file.cu", "void kernel()");
    expect_fault(&run, "assertion 'i < n' failed; kernel k, block (0,0,0), thread (30,0,0)");
    assert_string_equal(printed,
                        "some file.cu:17: void kernel(): block: [0,0,0], thread: [30,0,0] Assertion `i < n` failed.\n"
                        "some file.cu:17: void kernel(): block: [0,0,0], thread: [31,0,0] Assertion `i < n` failed.\n");
    assert_int_equal(out[0], 0);
    char name[400], expected[1024];
    snprintf(name, sizeof name, "%0399d", 7);
    snprintf(expected, sizeof expected, "file.cu:17: %s: block: [0,0,0], thread: [31,0,0] Assertion `true` failed.\n",
             name);
    run = run_assertion("true", "file.cu", name);
    assert_non_null(strstr(printed, expected));
    expect_fault(&run, "assertion 'true' failed; kernel k, block (0,0,0), thread (30,0,0)");
}

/* ---- malloc and free --------------------------------------------------------------------------------------------- */

#define MALLOC HEAD ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n" ENTRY

static void blocks_of_the_heap(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_call-blocks_of_the_heap"));
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i);
    /* 8 MiB: seven lanes get a MiB, then there is none left; what one gives back another takes */
    run = run_text(ptx_file("exec_call-blocks_of_the_heap_2"));
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(out[i], i < 7);
        assert_int_equal(out[32 + i], i == 0);
    }
}

static void misuse_of_the_heap(void **state)
{
    (void)state;
    kernel_run run = run_text(MALLOC "call (%rd4), malloc, (20);\nst.u32 [%rd4+20], 1;\nret;\n}\n");
    expect_fault(&run, "out-of-bounds access of 4 bytes at generic address");
    run = run_text(MALLOC "call (%rd4), malloc, (20);\ncall free, (%rd4);\nld.u32 %r1, [%rd4+16];\nret;\n}\n");
    expect_fault(&run, "use after free: access of 4 bytes at generic address");
    run = run_text(MALLOC "call (%rd4), malloc, (20);\ncall free, (%rd4);\ncall free, (%rd4);\nret;\n}\n");
    expect_fault(&run, "which was freed before");
    run = run_text(MALLOC "call (%rd4), malloc, (20);\nadd.u64 %rd4, %rd4, 4;\ncall free, (%rd4);\nret;\n}\n");
    expect_fault(&run, "which malloc did not give");
    run = run_text(MALLOC "call free, (%rd1);\nret;\n}\n");
    expect_fault(&run, "which malloc did not give");
}

/* A body of the module's own goes before the runtime's function of that name. */
static void own_functions_of_such_names(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_call-own_functions_of_such_names"));
    expect_done(&run);
    assert_int_equal(out[0], 42);
    run = run_text(HEAD ".extern .func unknown_to_all();\n" ENTRY "call unknown_to_all;\nret;\n}\n");
    assert_int_equal(run.status, HD_EXEC_UNSUPPORTED);
    assert_non_null(strstr(run.message, "unknown_to_all"));
}

/* ---- events for models ------------------------------------------------------------------------------------------- */

#define CALLEE_FIRST                                                                \
    HEAD ".func (.reg .b32 r) f(.reg .b32 a)\n{\nadd.u32 r, a, a;\nret;\n}\n" ENTRY \
         "call (%r2), f, (%r0);\nst.global.u32 [%rd2], %r2;\nret;\n}\n"

static hd_rf_model *new_model(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)code, (void)options, (void)refusal;
    return hd_calloc(1, sizeof(hd_rf_model));
}
static void delete_model(hd_rf_model *model) { free(model); }

/* Knows nothing of the parameter that the callee (function 0) reads first: that is proved only as long as it counts as
 * never written. */
static void read_forgetfully(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    (void)model;
    hd_claim claim = {step->serial - 1, step->function || step->instruction ? 0xffffffff : 0};
    for (uint32_t s = 0; s < step->source_count && step->effective; s++)
        hd_rf_read(sink, step, s, HD_STRUCTURE_FILE, step->effective, hd_rf_owner(step, step->sources[s]), claim);
}
static const hd_rf_ops forgetful_ops = {.create = new_model, .destroy = delete_model, .execute = read_forgetfully};
static const hd_rf_model_info forgetful = {"forgetful", "", &forgetful_ops, "", "", "", NULL};

/* Runs a text with a model beside it; the number of reads that were not proved stops it. */
static hd_exec_status run_with(const hd_rf_model_info *info, const char *text, char *slug, size_t size)
{
    hd_diagnostics diagnostics;
    hd_source source;
    hd_memory memory;
    hd_image image;
    const char *refusal = NULL;
    hd_exec_statistics statistics = {0};
    hd_exec_options options = {0};
    hd_diagnostics_init(&diagnostics);
    hd_source_from_memory(&source, "k.ptx", text, strlen(text));
    hd_module *module = hd_parse_ptx(&source, &(hd_parse_options){0}, &diagnostics);
    assert_int_equal(diagnostics.error_count, 0);
    hd_memory_init(&memory, 64);
    assert_true(hd_image_load(&image, module, &memory, &diagnostics));
    uint32_t at = hd_memory_allocate(&memory, "out", HD_SPACE_GLOBAL, 4096, 0, false);
    uint64_t parameters[2] = {0, memory.allocations.items[at].base};
    hd_program *program = hd_program_new(module, hd_module_find_function(module, "k"), &image, &diagnostics);
    assert_non_null(program);
    hd_rf_module *code = hd_rf_module_new(module);
    hd_count *count = hd_count_new(code, &diagnostics);
    hd_count_add(count, hd_rf_model_new(info, code, &refusal));
    hd_sink sink = hd_count_sink(count);
    hd_grid grid = {{1, 1, 1}, {32, 1, 1}, .parameters = (const unsigned char *)parameters};
    hd_exec_status status = hd_program_run(program, &grid, &options, &sink, 1, &statistics, &diagnostics);
    snprintf(slug, size, "%s", diagnostics.first ? hd_diagnostic_slug(diagnostics.first->kind) : "");
    hd_count_free(count);
    hd_rf_module_free(code);
    hd_program_free(program);
    hd_image_free(&image);
    hd_memory_free(&memory);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    return status;
}

static void parameters_in_registers_are_proved(void **state)
{
    (void)state;
    char slug[64];
    assert_int_equal(run_with(&hd_rf_models[0], CALLEE_FIRST, slug, sizeof slug), HD_EXEC_DONE);
    assert_int_equal(run_with(&forgetful, CALLEE_FIRST, slug, sizeof slug), HD_EXEC_STOPPED);
    assert_string_equal(slug, "proof-failed");
    const hd_rf_model_info *bow = hd_rf_model_find("bow-iw3", 7);
    assert_non_null(bow);
    assert_int_equal(run_with(bow, CALLEE_FIRST, slug, sizeof slug), HD_EXEC_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_call_different_functions),
        cmocka_unit_test(bad_targets),
        cmocka_unit_test(exits_between_targets),
        cmocka_unit_test(parameters_in_registers),
        cmocka_unit_test(parameters_of_both_kinds),
        cmocka_unit_test(values_of_other_sizes),
        cmocka_unit_test(a_noreturn_function_returns),
        cmocka_unit_test(stack_by_lane),
        cmocka_unit_test(alignments_of_the_stack),
        cmocka_unit_test(prints_every_character),
        cmocka_unit_test(prints_as_c_does),
        cmocka_unit_test(prints_any_conversion_as_c_does),
        cmocka_unit_test(strings_are_read_to_their_precision),
        cmocka_unit_test(prints_pointers_strings_and_others),
        cmocka_unit_test(order_of_blocks),
        cmocka_unit_test(assertions),
        cmocka_unit_test(blocks_of_the_heap),
        cmocka_unit_test(misuse_of_the_heap),
        cmocka_unit_test(own_functions_of_such_names),
        cmocka_unit_test(parameters_in_registers_are_proved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
