/* Launch files: what is accepted and what it means, to the bit; every mistake with its line and column; whole runs of
 * the examples. */
#include "ptx_file.h"
#include "unit.h"

#include "base/hash.h"
#include "hwmodel/launch/launch.h"
#include "hwmodel/memory/narrow.h"
#include "parser/parse.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

static char folder[] = "/tmp/heddle-launch-XXXXXX";

static const char *write_file(const char *name, const void *bytes, size_t size)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
    return path;
}

typedef struct fixture {
    hd_diagnostics diagnostics;
    hd_launch_file *file;
} fixture;

static void read_text(fixture *f, const char *text)
{
    hd_diagnostics_init(&f->diagnostics);
    f->file = hd_launch_read(write_file("t.yaml", text, strlen(text)), 0, &f->diagnostics);
}
static void done(fixture *f)
{
    hd_launch_free(f->file);
    hd_diagnostics_free(&f->diagnostics);
}

#define LAUNCH "launches: [{kernel: k, grid: 1, block: 32}]\n"

/* ---- reading
 * --------------------------------------------------------------------------------------------------------- */

static void a_whole_file(void **state)
{
    (void)state;
    fixture f;
    read_text(
        &f,
        "module: a.ptx\nbuffers:\n  A: {type: f32, count: 4}\n  B: {type: s16, fill: {values: [1, -2, 3]}}\nsymbols:\n "
        " K: {type: u32, values: [1, 2]}\n"
        "launches:\n  - kernel: k\n    grid: [2, 3]\n    block: [8, 4, 2]\n    shared: 64\n    params: [A, {buffer: B, "
        "offset: 2}, {s32: -1}, {bytes: [1, 2, 255]}, {f64: 0.5}]\n"
        "    repeat: 3\n  - {kernel: j, grid: 1, block: 1, until: {buffer: B, equals: -2, index: 1, at_most: 9}}\n");
    assert_true(f.file->valid);
    assert_int_equal(f.diagnostics.error_count, 0);
    char expected[128];
    snprintf(expected, sizeof expected, "%s/a.ptx", folder);
    assert_string_equal(f.file->module_paths[0], expected);
    assert_int_equal(f.file->buffers.items[0].size_bytes, 16);
    assert_null(f.file->buffers.items[0].initial);
    assert_int_equal(f.file->buffers.items[1].count, 3);
    assert_memory_equal(f.file->buffers.items[1].initial, "\1\0\xfe\xff\3\0", 6);
    assert_int_equal(f.file->symbol_first, 2);
    assert_true(f.file->buffers.items[2].is_symbol && f.file->buffers.items[2].size_bytes == 8);
    const hd_launch *l = f.file->launches.items;
    assert_true(l->grid[0] == 2 && l->grid[1] == 3 && l->grid[2] == 1 && l->block[2] == 2 && l->shared_bytes == 64 &&
                f.file->steps[0].repetition.most == 3);
    assert_int_equal(l->argument_count, 5);
    assert_true(l->arguments[1].buffer == 1 && l->arguments[1].offset == 2);
    assert_memory_equal(l->arguments[2].bytes, "\xff\xff\xff\xff", 4);
    assert_int_equal(l->arguments[3].size_bytes, 3);
    const hd_repetition *until = &f.file->steps[1].repetition;
    assert_true(until->buffer == 1 && until->index == 1 && until->most == 9 && !until->unequal);
    assert_memory_equal(until->equals, "\xfe\xff", 2);
    done(&f);
}

typedef struct mistake {
    const char *text;
    hd_diagnostic_kind kind;
    uint32_t line, column;
    const char *part;
} mistake;

static const mistake mistakes[] = {
    {"module: a\nbuffers: {A: {type: s8, count: 2, fill: {constant: -129}}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 52,
     "-129 does not fit .s8"},
    {"module: a\nbuffers: {A: {type: b16, count: 1, fill: {values: [65536]}}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 52,
     "65536 does not fit .b16"},
    {"- 1\n", HD_DIAG_BAD_VALUE, 1, 1, "a mapping"},
    {"modul: a.ptx\n" LAUNCH, HD_DIAG_BAD_KEY, 1, 1, "unknown key 'modul'"},
    {LAUNCH, HD_DIAG_BAD_KEY, 1, 1, "'module' is missing"},
    {"module: a\n", HD_DIAG_BAD_KEY, 1, 1, "'launches' is missing"},
    {"module: a\nlaunches: []\n", HD_DIAG_BAD_VALUE, 2, 11, "at least one step"},
    {"module: a\nbuffers: {A: {type: f31, count: 1}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 21, "'f31' is not one of: f32"},
    {"module: a\nbuffers: {A: {type: f32}}\n" LAUNCH, HD_DIAG_BAD_KEY, 2, 14, "'count' is missing"},
    {"module: a\nbuffers: {A: {type: f32, count: -1}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 33,
     "'-1' is not a whole number"},
    {"module: a\nbuffers: {A: {type: f32, count: 1, fil: zero}}\n" LAUNCH, HD_DIAG_BAD_KEY, 2, 36, "unknown key 'fil'"},
    {"module: a\nbuffers: {A: {type: f32, count: 1, fill: one}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 42,
     "a fill is zero or"},
    {"module: a\nblock_order: sideways\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 14, "an order is linear"},
    {"module: a\nbuffer_order: random:x\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 15, "not 'random:x'"},
    {"module: a\nseed: 0\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 7, "1"},
    {"module: a\nbuffers: {A: {type: f32, count: 1, fill: {iota: [0, 1], seed: 2}}}\n" LAUNCH, HD_DIAG_BAD_KEY, 2, 57,
     "unknown key 'seed'"},
    {"module: a\nbuffers: {A: {type: f32, count: 1, fill: {uniform: [0]}}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 52,
     "two numbers"},
    {"module: a\nbuffers: {A: {type: u8, count: 3, fill: {iota: [254, 1]}}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 48,
     "element 2 does not fit .u8"},
    {"module: a\nbuffers: {A: {type: s8, count: 2, fill: {uniform: [0, 1000]}}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 51,
     "does not fit .s8"},
    {"module: a\nbuffers: {A: {type: u32, count: 2, fill: {constant: -1}}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 53,
     "-1 does not fit .u32"},
    {"module: a\nbuffers: {A: {type: u32, count: 2, fill: {values: [1]}}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 51,
     "1 values are listed where 2"},
    {"module: a\nbuffers: {A: {type: u32, count: 2, fill: {file: no}}}\n" LAUNCH, HD_DIAG_UNREADABLE, 2, 49,
     "cannot read"},
    {"module: a\nbuffers: {A: {type: u32, count: 2, fill: {file: t.yaml}}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 49,
     "does not have the buffer's size"},
    {"module: a\nbuffers: {A: {type: u32, count: 1, expect: {values: [1], rel: 0.1}}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2,
     63, "fits only float"},
    {"module: a\nbuffers: {A: {type: f32, count: 1, expect: {values: [1], abs: -1}}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2,
     63, "not negative"},
    {"module: a\nbuffers: {A: {type: f32, count: 1, expect: {xxh3: 12}}}\n" LAUNCH, HD_DIAG_BAD_VALUE, 2, 51,
     "16 hexadecimal digits"},
    {"module: a\nbuffers: {A: {type: f32, count: 1, expect: {rel: 1}}}\n" LAUNCH, HD_DIAG_BAD_KEY, 2, 44,
     "one of file, text, values, fill, xxh3, buffer"},
    {"module: a\nlaunches: [{kernel: k, grid: 0, block: 32}]\n", HD_DIAG_BAD_VALUE, 2, 30,
     "'0' is not a whole number from 1"},
    {"module: a\nlaunches: [{kernel: k, grid: 1, block: [64, 64]}]\n", HD_DIAG_BAD_VALUE, 2, 40,
     "at most 1024 threads"},
    {"module: a\nlaunches: [{kernel: k, grid: 1, block: 1, params: [A]}]\n", HD_DIAG_BAD_VALUE, 2, 52,
     "there is no buffer 'A'"},
    {"module: a\nlaunches: [{kernel: k, grid: 1, block: 1, params: [{s31: 1}]}]\n", HD_DIAG_BAD_VALUE, 2, 53,
     "'s31' is not one of"},
    {"module: a\nlaunches: [{kernel: k, grid: 1, block: 1, params: [{s8: 128}]}]\n", HD_DIAG_BAD_VALUE, 2, 57,
     "128 does not fit .s8"},
    {"module: a\nlaunches: [{kernel: k, grid: 1, block: 1, shared: 1000000}]\n", HD_DIAG_BAD_VALUE, 2, 51,
     "from 0 to 232448"},
    {"module: a\nlaunches: [{grid: 1, block: 1}]\n", HD_DIAG_BAD_KEY, 2, 12, "'kernel' is missing"},
    {"module: a\nbuffers: {A: {type: u8, count: 1}}\nlaunches: [{kernel: k, grid: 1, block: 1, repeat: 2, until: "
     "{buffer: A, equals: 1, at_most: 2}}]\n",
     HD_DIAG_BAD_KEY, 3, 61, "exclude each other"},
    {"module: a\nbuffers: {A: {type: u8, count: 1}}\nlaunches: [{kernel: k, grid: 1, block: 1, until: {buffer: A, "
     "equals: 1}}]\n",
     HD_DIAG_BAD_KEY, 3, 50, "'at_most' is missing"},
};

static void every_mistake_has_its_place(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const mistake *m = &mistakes[i];
        fixture f;
        read_text(&f, m->text);
        const hd_diagnostic *d = f.diagnostics.first;
        assert_false(f.file->valid);
        assert_non_null(d);
        hd_position at = hd_source_position(d->source, d->span.begin);
        if (d->kind != m->kind || at.line != m->line || at.column != m->column || !strstr(d->message, m->part))
            fail_msg("%s gives %u:%u: %s", m->text, at.line, at.column, d->message);
        done(&f);
    }
}

/* ---- fills
 * ----------------------------------------------------------------------------------------------------------- */

static double element(const hd_launch_buffer *b, uint32_t i)
{
    double d;
    memcpy(&d, b->initial + 8 * i, 8);
    return d;
}

/* The table of docs/launch-fills.md. */
static void fills_to_the_bit(void **state)
{
    (void)state;
    static const double iota[] = {-0.29999999999999999, -0.19999999999999998, -0.099999999999999978,
                                  5.5511151231257827e-17};
    static const double uniform[] = {-0.22034050321745702, -0.96642341094368778, 0.80152136121376683,
                                     0.16586058605615617};
    static const double normal[] = {1.3649922974572282, -0.39652397525381783, 0.0044985261598320912,
                                    -0.580613055262029};
    fixture f;
    read_text(&f, "module: a\nbuffers:\n  I: {type: f64, count: 4, fill: {iota: [-0.3, 0.1]}}\n  U: {type: f64, count: "
                  "4, fill: {uniform: [-1, 1], seed: 7}}\n"
                  "  N: {type: f64, count: 4, fill: {normal: [0, 1], seed: 7}}\n  B: {type: b32, count: 2, fill: "
                  "{constant: 0x7fc00001}}\n"
                  "  W: {type: u64, count: 2, fill: {iota: [18446744073709551614, 1]}}\n  T: {type: s8, count: 3, "
                  "fill: {iota: [-1.5, 0.75]}}\n"
                  "  H: {type: f16, fill: {values: [1, -0.5, 65504, 1e9, 5.9604644775390625e-08]}}\n" LAUNCH);
    assert_true(f.file->valid);
    const hd_launch_buffer *b = f.file->buffers.items;
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(element(&b[0], i) == iota[i]);
        assert_true(element(&b[1], i) == uniform[i]);
        assert_true(fabs(element(&b[2], i) - normal[i]) < 1e-15);
    }
    assert_memory_equal(b[3].initial, "\1\0\xc0\x7f\1\0\xc0\x7f", 8);
    assert_memory_equal(b[4].initial, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
    assert_memory_equal(b[5].initial, "\xff\0\0", 3);
    assert_memory_equal(b[6].initial, "\x00\x3c\x00\xb8\xff\x7b\x00\x7c\x01\x00", 10);
    done(&f);
}

/* Every f16 there and back, and the values between two of them. */
static void half_precision(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x7c00; h++) {
        double v = hd_f16_to_double((uint16_t)h), next = hd_f16_to_double((uint16_t)(h + 1));
        assert_int_equal(hd_f16_from_double(v), h);
        assert_int_equal(hd_f16_from_double(-v), h | 0x8000);
        if (h == 0x7bff)
            next = 65536;
        double middle = (v + next) / 2;
        assert_int_equal(hd_f16_from_double(middle), h + (h & 1));
        assert_int_equal(hd_f16_from_double(nextafter(middle, 0)), h);
        assert_int_equal(hd_f16_from_double(nextafter(middle, 1e9)), h + 1);
    }
    assert_int_equal(hd_f16_from_double((double)NAN), 0x7fff);
    assert_int_equal(hd_bf16_from_double(1.00390625), 0x3f80);
    assert_int_equal(hd_bf16_from_double(1.01171875), 0x3f82);
    assert_int_equal(hd_bf16_from_double(-INFINITY), 0xff80);
}

/* ---- sessions
 * -------------------------------------------------------------------------------------------------------- */

static const char *kernel(void) { return ptx_file("launch-kernel"); }

typedef struct opened {
    fixture f;
    hd_source source;
    hd_module *module;
    hd_session *session;
    bool unsupported;
} opened;

static void open_session(opened *o, const char *yaml, const char *ptx)
{
    *o = (opened){0};
    read_text(&o->f, yaml);
    if (!o->f.file->valid)
        fail_msg("%s", o->f.diagnostics.first->message);
    hd_source_from_memory(&o->source, "k.ptx", ptx, strlen(ptx));
    o->module = hd_parse_ptx(&o->source, &(hd_parse_options){0}, &o->f.diagnostics);
    assert_int_equal(o->f.diagnostics.error_count, 0);
    o->session = hd_session_open(o->f.file, o->module, &o->f.diagnostics, &o->unsupported);
}
static void close_session(opened *o)
{
    hd_session_close(o->session);
    hd_module_free(o->module);
    done(&o->f);
}

static void runs_and_checks(void **state)
{
    (void)state;
    opened o;
    open_session(&o,
                 "module: a\nbuffers:\n  A: {type: u32, count: 32, fill: {iota: [0, 1]}, expect: {values: [60, 61, 62, "
                 "63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, "
                 "75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91]}}\n  B: {type: u32, count: 32, "
                 "fill: zero, expect: {xxh3: 0000000000000000}}\n"
                 "symbols: {factor: {type: u32, values: [7, 10]}}\nlaunches:\n  - {kernel: k, grid: 1, block: 32, "
                 "params: [A, {u32: 2}, {f32: 0}], repeat: 3}\n",
                 kernel());
    assert_non_null(o.session);
    hd_exec_statistics statistics = {0};
    assert_int_equal(hd_session_run(o.session, NULL, &statistics), HD_EXEC_DONE);
    assert_int_equal(statistics.ctas, 3);
    assert_false(hd_session_check(o.session)); /* the hash of B is wrong, A is right */
    assert_int_equal(o.f.diagnostics.error_count, 1);
    assert_non_null(strstr(o.f.diagnostics.last->message, "'B' has XXH3"));
    assert_int_equal(o.f.diagnostics.last->kind, HD_DIAG_WRONG_OUTPUT);
    close_session(&o);
}

static void until_a_value(void **state)
{
    (void)state;
    static const char yaml[] = "module: a\nbuffers: {A: {type: u32, count: 32, fill: {iota: [0, 1]}}}\nsymbols: "
                               "{factor: {type: u32, values: [7, 1]}}\n"
                               "launches: [{kernel: k, grid: 1, block: 32, params: [A, {u32: 2}, {f32: 0}], until: "
                               "{buffer: A, index: 3, equals: %u, at_most: 50}}]\n";
    for (uint32_t k = 0; k < 2; k++) {
        char text[512];
        snprintf(text, sizeof text, yaml, k ? 12 : 13);
        opened o;
        open_session(&o, text, kernel());
        hd_exec_statistics statistics = {0};
        assert_int_equal(hd_session_run(o.session, NULL, &statistics), k ? HD_EXEC_FAULT : HD_EXEC_DONE);
        assert_int_equal(statistics.ctas, k ? 50 : 5);
        close_session(&o);
    }
}

typedef struct misfit {
    const char *launch, *part;
    uint32_t column;
} misfit;

static void what_does_not_fit_the_kernel(void **state)
{
    (void)state;
    static const misfit misfits[] = {
        {"{kernel: j, grid: 1, block: 1}", "the module has no kernel 'j'", 21},
        {"{kernel: k, grid: 1, block: 1, params: [A]}", "takes 3 parameters; 1 are given", 51},
        {"{kernel: k, grid: 1, block: 1, params: [A, A, {f32: 1}]}", "parameter 2 ('n') is no pointer", 55},
        {"{kernel: k, grid: 1, block: 1, params: [A, {u64: 1}, {f32: 1}]}",
         "parameter 2 ('n') is .u32 of 4 bytes; this is .u64 of 8", 55},
        {"{kernel: k, grid: 1, block: 1, params: [A, {u32: 1}, {s32: 1}]}", "parameter 3 ('x') is .f32", 65},
        {"{kernel: k, grid: 1, block: 65, params: [A, {u32: 1}, {f32: 1}]}", "at most 64 threads (.maxntid)", 40},
    };
    for (uint32_t i = 0; i < sizeof misfits / sizeof *misfits; i++) {
        char text[512];
        snprintf(text, sizeof text, "module: a\nbuffers: {A: {type: u32, count: 32}}\nlaunches: [%s]\n",
                 misfits[i].launch);
        opened o;
        open_session(&o, text, kernel());
        assert_null(o.session);
        assert_false(o.unsupported);
        const hd_diagnostic *d = o.f.diagnostics.first;
        hd_position at = hd_source_position(d->source, d->span.begin);
        if (!strstr(d->message, misfits[i].part) || at.line != 3 || at.column != misfits[i].column)
            fail_msg("%s gives %u:%u: %s", misfits[i].launch, at.line, at.column, d->message);
        close_session(&o);
    }
}

static void unsupported_is_told_apart(void **state)
{
    (void)state;
    const char *ptx = ptx_file("launch-unsupported_is_told_apart");
    opened o;
    open_session(&o, "module: a\n" LAUNCH, ptx);
    assert_null(o.session);
    assert_true(o.unsupported);
    assert_int_equal(o.f.diagnostics.first->kind, HD_DIAG_UNSUPPORTED);
    close_session(&o);
}

static void tolerances_and_comparison_of_sessions(void **state)
{
    (void)state;
    const char *ptx = ptx_file("launch-tolerances_and_comparison_of_sessions");
    static const char same[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\nret;\n}\n";
    static const char *const expects[] = {
        "{values: [1], rel: 1e-6}", "{values: [1], abs: 1.2e-7}",  "{values: [1]}",
        "{values: [1], rel: 1e-8}", "{values: [.inf], rel: 1e-6}", "{values: [.nan], rel: 1, abs: 1}"};
    for (uint32_t i = 0; i < 6; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "module: a\nbuffers: {A: {type: f32, count: 1, expect: %s}}\nlaunches: [{kernel: k, grid: 1, block: "
                 "1, params: [A]}]\n",
                 expects[i]);
        opened o, other;
        open_session(&o, text, ptx);
        open_session(&other, text, same);
        hd_exec_statistics statistics = {0};
        assert_true(hd_session_compare(o.session, other.session, &o.f.diagnostics));
        assert_int_equal(hd_session_run(o.session, NULL, &statistics), HD_EXEC_DONE);
        assert_int_equal(hd_session_check(o.session), i < 2);
        assert_false(hd_session_compare(o.session, other.session, &o.f.diagnostics));
        assert_non_null(
            strstr(o.f.diagnostics.last->message, "'A' differs from what the original kernel leaves, first at byte 0"));
        close_session(&o);
        close_session(&other);
    }
}

/* Parameters of several sizes are naturally aligned. */
static void parameters_are_aligned(void **state)
{
    (void)state;
    const char *ptx = ptx_file("launch-parameters_are_aligned");
    opened o;
    open_session(
        &o,
        "module: a\nbuffers: {A: {type: s32, count: 4, expect: {values: [200, 50000, 67305985, -3]}}}\n"
        "launches: [{kernel: k, grid: 1, block: 1, params: [{u8: 200}, A, {u16: 50000}, {bytes: [9, 9, 9, 9, 9, 9, 9, "
        "9, 1, 2, 3, 4]}, {s8: -3}]}]\n",
        ptx);
    assert_non_null(o.session);
    hd_exec_statistics statistics = {0};
    assert_int_equal(hd_session_run(o.session, NULL, &statistics), HD_EXEC_DONE);
    assert_true(hd_session_check(o.session));
    close_session(&o);
}

/* The examples, with the outputs that a program of their own worked out. */
static void examples_give_what_they_should(void **state)
{
    (void)state;
    static const char *const names[] = {"vectorAdd", "matrixMul", "reduction"};
    static const uint64_t warp_instructions[] = {31305, 772160, 83856};
    for (uint32_t k = 0; k < 3; k++) {
        char path[256];
        snprintf(path, sizeof path, "%s/examples/%s/%s.yaml", getenv("TOP") ? getenv("TOP") : ".", names[k], names[k]);
        opened o = {0};
        hd_diagnostics_init(&o.f.diagnostics);
        o.f.file = hd_launch_read(path, 0, &o.f.diagnostics);
        assert_true(o.f.file->valid);
        assert_true(hd_source_read(&o.source, o.f.file->module_paths[0]));
        o.module = hd_parse_ptx(&o.source, &(hd_parse_options){0}, &o.f.diagnostics);
        o.session = hd_session_open(o.f.file, o.module, &o.f.diagnostics, NULL);
        assert_non_null(o.session);
        hd_exec_statistics statistics = {0};
        assert_false(hd_session_check(o.session)); /* before the run the outputs are wrong: the check can fail */
        assert_int_equal(hd_session_run(o.session, NULL, &statistics), HD_EXEC_DONE);
        assert_true(hd_session_check(o.session));
        assert_int_equal(statistics.warp_instructions, warp_instructions[k]);
        close_session(&o);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}
static int remove_folder(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/t.yaml", folder);
    return unlink(path) || rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file),
        cmocka_unit_test(every_mistake_has_its_place),
        cmocka_unit_test(fills_to_the_bit),
        cmocka_unit_test(half_precision),
        cmocka_unit_test(runs_and_checks),
        cmocka_unit_test(until_a_value),
        cmocka_unit_test(what_does_not_fit_the_kernel),
        cmocka_unit_test(unsupported_is_told_apart),
        cmocka_unit_test(tolerances_and_comparison_of_sessions),
        cmocka_unit_test(parameters_are_aligned),
        cmocka_unit_test(examples_give_what_they_should),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
