/* Launch files: steps and their repetitions, values that are put in when a session opens, expectations, textures; every
 * mistake with its line and column. */
#include "ptx_file.h"
#include "unit.h"

#include "hwmodel/launch/launch.h"
#include "parser/parse.h"

#include <unistd.h>

static char folder[] = "/tmp/heddle-steps-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

static hd_launch_file *read_text(const char *text, hd_diagnostics *diagnostics)
{
    char path[128];
    hd_diagnostics_init(diagnostics);
    write_file("t.yaml", text);
    snprintf(path, sizeof path, "%s/t.yaml", folder);
    return hd_launch_read(path, 0, diagnostics);
}

/* add(p, n): p[0] += n, in every thread; put(p, v ...): 32 bytes of parameters to p; first: *g++ of a device variable.
 */

typedef struct opened {
    hd_diagnostics diagnostics;
    hd_launch_file *file;
    hd_source source;
    hd_module *module;
    hd_session *session;
    bool unsupported;
} opened;

static void open_session(opened *o, const char *yaml)
{
    *o = (opened){0};
    o->file = read_text(yaml, &o->diagnostics);
    if (!o->file->valid)
        fail_msg("%s", o->diagnostics.first->message);
    const char *ptx = ptx_file("launch_steps-kernels");
    hd_source_from_memory(&o->source, "k.ptx", ptx, strlen(ptx));
    o->module = hd_parse_ptx(&o->source, &(hd_parse_options){0}, &o->diagnostics);
    if (o->diagnostics.error_count)
        fail_msg("%s", o->diagnostics.first->message);
    o->session = hd_session_open(o->file, o->module, &o->diagnostics, &o->unsupported);
}

static void close_session(opened *o)
{
    hd_session_close(o->session);
    hd_module_free(o->module);
    hd_launch_free(o->file);
    hd_diagnostics_free(&o->diagnostics);
}

typedef struct seen {
    uint32_t count, launches[64];
    uint64_t threads[64];
} seen;

static void watch_run(void *context, uint32_t launch, hd_exec_status status, const hd_exec_statistics *statistics)
{
    seen *s = context;
    assert_int_equal(status, HD_EXEC_DONE);
    s->threads[s->count] = statistics->ctas;
    s->launches[s->count++] = launch;
}

/* Runs; the expectations of the file say whether the result is right. */
static void run_right(const char *yaml, seen *s)
{
    opened o;
    hd_exec_statistics statistics = {0};
    hd_session_watch watch = {.ran = watch_run, .context = s};
    open_session(&o, yaml);
    if (!o.session)
        fail_msg("%s", o.diagnostics.first->message);
    assert_false(hd_session_check(o.session)); /* not right before the run */
    hd_exec_status status = hd_session_run(o.session, s ? &watch : NULL, &statistics);
    if (status != HD_EXEC_DONE || !hd_session_check(o.session))
        fail_msg("%s: %s", yaml, o.diagnostics.last ? o.diagnostics.last->message : "");
    close_session(&o);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void groups_count_their_own_repetitions(void **state)
{
    (void)state;
    seen s = {0};
    run_right("module: a\nbuffers: {A: {type: u32, count: 1, expect: {values: [619]}}}\nlaunches:\n"
              "  - steps:\n"
              "      - {kernel: add, grid: {iota: [1, 1]}, block: 1, params: [A, {u32: {iota: [1, 2]}}]}\n" /* 1, 3, 5 x
                                                                                                               CTAs */
              "      - repeat: 2\n"
              "        steps:\n"
              "          - {kernel: add, grid: 1, block: {iota: [2, 1]}, params: [A, {u32: {iota: [10, 10]}}]}\n"
              "          - {kernel: add, grid: 1, block: 1, params: [A, {u32: {iota: [7, -1]}}], repeat: 4}\n"
              "    repeat: 3\n"
              "  - {kernel: add, grid: {iota: [1, -1]}, block: 1, params: [A, {u32: {iota: [225, 9]}}]}\n",
              &s);
    /* 1 * 1 + 2 * 3 + 3 * 5 = 22; 3 * (2 * 10 + 3 * 20) = 240; 6 * (7 + 6 + 5 + 4) = 132; 225: k is 0 outside. */
    assert_int_equal(s.count, 3 + 6 + 24 + 1);
    const uint32_t order[] = {0, 1, 2, 2, 2, 2, 1, 2, 2, 2, 2, 0};
    assert_memory_equal(s.launches, order, sizeof order);
    assert_int_equal(s.threads[11], 2);
}

static void buffers_are_set_and_copied(void **state)
{
    (void)state;
    run_right("module: a\nbuffers:\n"
              "  A: {type: u32, count: 2, fill: {values: [3, 4]}, expect: {values: [3, 4]}}\n"
              "  B: {type: u32, count: 2, expect: {values: [104, 4]}}\n"
              "  C: {type: f32, count: 2, expect: {values: [2.5, 2.5]}}\n"
              "  D: {type: u64, count: 1, fill: {constant: 9}, expect: {fill: zero}}\n"
              "symbols: {counter: {type: u32, values: [70], expect: {values: [71]}}}\n"
              "launches:\n"
              "  - {kernel: add, grid: 1, block: 1, params: [A, {u32: 1}]}\n"
              "  - {copy: A, to: B}\n"
              "  - {kernel: add, grid: 1, block: 1, params: [B, {u32: 100}]}\n"
              "  - {kernel: count, grid: 1, block: 1, repeat: 3}\n"
              "  - {set: A}\n"
              "  - {set: counter}\n"
              "  - {kernel: count, grid: 1, block: 1}\n"
              "  - {set: C, fill: {constant: 2.5}}\n"
              "  - {set: D, fill: zero}\n",
              NULL);
}

static void until_another_value(void **state)
{
    (void)state;
    run_right(
        "module: a\nbuffers: {A: {type: u32, count: 2, fill: {values: [5, 1]}, expect: {values: [8, 1]}}}\n"
        "launches:\n"
        "  - steps: [{kernel: add, grid: 1, block: 1, params: [A, {u32: {iota: [0, 1]}}]}]\n" /* 0 1 2: 5 5+1 .. */
        "    until: {buffer: A, equals: 8, at_most: 10}\n",
        NULL);
    run_right("module: a\nsymbols: {counter: {type: u32, count: 1, expect: {values: [6]}}}\n"
              "launches: [{kernel: count, grid: 1, block: 1, until: {buffer: counter, not: 5, at_most: 10}}]\n",
              NULL);
    opened o;
    hd_exec_statistics statistics = {0};
    open_session(&o,
                 "module: a\nbuffers: {A: {type: u32, count: 2}}\nlaunches: [{steps: [{kernel: add, grid: 1, block: 1, "
                 "params: [A, {u32: 2}]}], until: {buffer: A, equals: 9, at_most: 10}}]\n");
    assert_int_equal(hd_session_run(o.session, NULL, &statistics), HD_EXEC_FAULT);
    assert_int_equal(statistics.ctas, 10);
    assert_int_equal(o.diagnostics.last->kind, HD_DIAG_KERNEL_FAULT);
    assert_string_equal(o.diagnostics.last->message, "'A' did not take the value within 10 repetitions");
    close_session(&o);
}

static void what_counts_out_of_range_later(void **state)
{
    (void)state;
    opened o;
    hd_exec_statistics statistics = {0};
    open_session(
        &o, "module: a\nbuffers: {A: {type: u32, count: 2}}\nlaunches: [{kernel: add, grid: {iota: [2, -1]}, block: 1, "
            "params: [A, {u32: 1}], until: {buffer: A, equals: 99, at_most: 10}}]\n");
    assert_int_equal(hd_session_run(o.session, NULL, &statistics), HD_EXEC_FAULT);
    assert_int_equal(statistics.ctas, 3);
    assert_string_equal(o.diagnostics.last->message, "0 in repetition 2 is not from 1 to 2147483647");
    close_session(&o);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void structs_are_laid_out_as_in_c(void **state)
{
    (void)state;
    run_right("module: a\nbuffers:\n"
              "  A: {type: u8, count: 32, expect: {values: [255, 0, 2, 1, 0, 0, 128, 63, 5, 6, 7, 0, 0, 0, 0, 0, "
              "9, 0, 0, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0]}}\n"
              "launches:\n  - kernel: put\n    grid: 1\n    block: 1\n    params:\n      - A\n"
              "      - {struct: [{s8: -1}, {u16: 258}, {f32: 1}, {struct: [{bytes: [5, 6, 7]}]}, {pad: 1}, {u64: 9}, "
              "{u16: [3, "
              "4]}]}\n",
              NULL);
}

static void addresses_within_data(void **state)
{
    (void)state;
    run_right("module: a\nbuffers:\n"
              "  A: {type: u32, count: 3, fill: {values: [10, 20, 30]}}\n"
              "  L: {type: u64, fill: {values: [{buffer: R, offset: 4}, 1]}}\n"
              "  R: {type: u32, count: 3, expect: {values: [30, 20, 77]}}\n"
              "symbols:\n"
              "  pointers: {type: u64, values: [0, {buffer: A, offset: 8}]}\n"
              "  both: {struct: [{u32: 77}, {buffer: A, offset: 4}, {u64: 0}]}\n"
              "launches: [{kernel: follow, grid: 1, block: 1, params: [R]}]\n",
              NULL);
    opened o;
    open_session(
        &o, "module: a\nbuffers: {L: {type: u64, fill: {values: [{buffer: R, offset: 4}, 1]}}, R: {type: u32, count: "
            "2}}\nlaunches: [{kernel: follow, grid: 1, block: 1, params: [R]}]\n");
    uint64_t address, base = o.session->memory.allocations.items[o.session->buffer_allocations[1]].base;
    memcpy(&address, hd_session_bytes(o.session, 0), 8);
    assert_int_equal(address, base + 4);
    close_session(&o);
}

static void text_files(void **state)
{
    (void)state;
    write_file("in.txt", "# two numbers\n3, 4\n");
    write_file("out.txt", "13;\t4 # the second stays\r\n");
    run_right("module: a\nbuffers: {A: {type: u32, count: 2, fill: {text: in.txt}, expect: {text: out.txt}}}\n"
              "launches: [{kernel: add, grid: 1, block: 1, params: [A, {u32: 10}]}]\n",
              NULL);
}

static bool passes(const char *expect)
{
    char text[512];
    opened o;
    snprintf(text, sizeof text,
             "module: a\nbuffers:\n  A: {type: f32, count: 2, fill: {values: [1.0000001192092896, 2]}, expect: %s}\n  "
             "B: {type: "
             "f32, count: 2, fill: {values: [1, 2]}}\nlaunches: [{set: B}]\n",
             expect);
    open_session(&o, text);
    bool good = hd_session_check(o.session);
    close_session(&o);
    return good;
}

static void expectations(void **state)
{
    (void)state;
    assert_true(passes("{values: [1.0000001192092896, 2]}"));
    assert_false(passes("{values: [1, 2]}"));
    assert_false(passes("{buffer: B}"));
    assert_true(passes("{buffer: B, rel: 1e-6}"));
    assert_true(passes("{buffer: A}"));
    assert_true(passes("{values: [1, 2], ulp: 1}"));
    assert_false(passes("{values: [0.99999994, 2], ulp: 1}"));
    assert_true(passes("{values: [0.99999994, 2], ulp: 2}"));
    assert_false(passes("{values: [1, -2], ulp: 2}"));
    assert_false(passes("{fill: {iota: [1, 1]}}"));
    assert_true(passes("{fill: {iota: [1, 1]}, abs: 1e-6}"));
}

/* Steps of doubles are counted exactly: these patterns have more bits than a double's significand. */
static void steps_of_doubles(void **state)
{
    (void)state;
    static const struct {
        uint64_t got, want;
        double ulps;
        bool match;
    } rows[] = {
        {0x407122de98e71201, 0x407122de98e71200, 2, true},  {0xbb0dcb8a26cfecff, 0xbb0dcb8a26cfed01, 2, true},
        {0xbb0dcb8a26cfecff, 0xbb0dcb8a26cfed01, 1, false}, {0x407122de98e71301, 0x407122de98e71200, 9, false},
        {0x8000000000000001, 0x0000000000000001, 2, true},  {0x8000000000000001, 0x0000000000000001, 1, false},
        {0xffefffffffffffff, 0x7fefffffffffffff, 9, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hd_value_rule rule = {.tolerant = true, .ulps = rows[i].ulps};
        assert_int_equal(hd_value_matches(HD_TYPE_F64, (const unsigned char *)&rows[i].got,
                                          (const unsigned char *)&rows[i].want, &rule),
                         rows[i].match);
    }
}

/* ---- textures ---------------------------------------------------------------------------------------------------- */

static void textures_by_handle_and_by_symbol(void **state)
{
    (void)state;
    run_right("module: a\nbuffers:\n"
              "  A: {type: f32, count: 6, fill: {values: [0, 0, 1, 3, 7, 8]}}\n"
              "  R: {type: f32, count: 2, expect: {values: [6, 8]}}\n" /* 2.25: between 1.5 (3) and 2.5 (7): 3/4 */
              "textures:\n"
              "  one: {type: 1d, format: f32, width: 4, from: A, offset: 8, filter: linear}\n"
              "  two: {type: buffer, format: f32, width: 2, from: A, offset: 16, symbol: T}\n"
              "launches: [{kernel: look, grid: 1, block: 1, params: [R, {texture: one}]}]\n",
              NULL);
}

static void surfaces_stand_in_their_buffer(void **state)
{
    (void)state;
    run_right(
        "module: a\nbuffers: {A: {type: u32, count: 9, fill: {constant: 5}, expect: {values: [0, 5, 5, 5, 1, 5, 5, 5, "
        "2]}}}\n"
        "textures: {S: {type: 2d, format: u32, width: 3, height: 3, from: A, surface: true}}\n"
        "launches: [{kernel: paint, grid: 1, block: 3, params: [{texture: S}]}]\n",
        NULL);
}

static void rows_of_a_pitched_surface(void **state)
{
    (void)state;
    run_right("module: a\nbuffers: {A: {type: u32, count: 11, fill: {constant: 5}, expect: {values: [0, 5, 5, 5, 5, 1, "
              "5, 5, 5, 5, 2]}}}\n"
              "textures: {S: {type: 2d, format: u32, width: 3, height: 3, pitch: 16, from: A, surface: true}}\n"
              "launches: [{kernel: paint, grid: 1, block: 3, params: [{texture: S}]}]\n",
              NULL);
}

/* Module variables come first; an address in a parameter is a number. */
static void memory_lies_where_the_file_says(void **state)
{
    opened o;
    (void)state;
    open_session(&o, "module: a\nmemory_base: 0x7a5c4a000000\nbuffers:\n  A: {type: u32, count: 2}\n"
                     "  B: {type: u32, count: 1, address: 0x7a5c4a100000, expect: {values: [3]}}\n"
                     "launches: [{kernel: add, grid: 1, block: 1, params: [{u64: 0x7a5c4a100000}, {u32: 3}]}]\n");
    assert_non_null(o.session);
    assert_int_equal(o.session->memory.allocations.items[0].base, 0x7a5c4a000000);
    hd_exec_statistics statistics = {0};
    assert_int_equal(hd_session_run(o.session, NULL, &statistics), HD_EXEC_DONE);
    assert_true(hd_session_check(o.session));
    close_session(&o);
    open_session(&o, "module: a\nbuffers: {A: {type: u32, count: 2, address: 0x10000}, B: {type: u32, count: 1, "
                     "address: 0x10004}}\nlaunches: [{kernel: count, grid: 1, block: 1}]\n");
    assert_null(o.session);
    assert_string_equal(o.diagnostics.first->message, "buffer 'B' does not fit at its address");
    close_session(&o);
}

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

static void sessions_do_not_share(void **state)
{
    (void)state;
    static const char yaml[] =
        "module: a\nbuffers: {A: {type: u32, count: 90}, L: {type: u64, fill: {values: [{buffer: A}, 1]}}}\n"
        "symbols: {counter: {type: u32, values: [70]}}\n"
        "textures: {S: {type: 2d, format: u32, width: 9, height: 9, from: A, surface: true}}\n"
        "launches:\n  - steps:\n      - {kernel: paint, grid: 6, block: 9, params: [{texture: S}]}\n"
        "      - {kernel: add, grid: 40, block: {iota: [1, 3]}, params: [A, {u32: {iota: [1, 1]}}]}\n"
        "      - {kernel: count, grid: 1, block: 1}\n    repeat: 4\n";
    opened one, two;
    hd_exec_statistics a = {0}, b = {0};
    open_session(&one, yaml);
    open_session(&two, yaml);
    two.session->options.threads = 3;
    assert_int_equal(hd_session_run(one.session, NULL, &a), HD_EXEC_DONE);
    assert_false(hd_session_compare(one.session, two.session, &one.diagnostics));
    assert_int_equal(hd_session_run(two.session, NULL, &b), HD_EXEC_DONE);
    assert_true(hd_session_compare(one.session, two.session, &one.diagnostics));
    assert_int_equal(a.warp_instructions, b.warp_instructions);
    assert_int_equal(*(const uint32_t *)hd_session_bytes(one.session, 2), 74);
    close_session(&two);
    open_session(&two, yaml);
    two.session->options.instruction_limit = 20;
    assert_int_equal(hd_session_run(two.session, NULL, &b), HD_EXEC_LIMIT);
    close_session(&two);
    close_session(&one);
}

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

typedef struct mistake {
    const char *text; /* after "module: a\nbuffers: {A: {type: u32, count: 4}, F: {type: f32, count: 4}}\n" */
    hd_diagnostic_kind kind;
    uint32_t line, column;
    const char *part;
} mistake;

#define RUN "launches: [{kernel: add, grid: 1, block: 1, params: [A, {u32: 1}]}]\n"
#define LAUNCHES(step) "launches: [" step "]\n"
#define TEXTURE(text) "textures: {T: {" text "}}\n" RUN

static const mistake mistakes[] = {
    {LAUNCHES("{set: B}"), HD_DIAG_BAD_VALUE, 3, 18, "there is no buffer 'B'"},
    {LAUNCHES("{set: A, fil: zero}"), HD_DIAG_BAD_KEY, 3, 21, "unknown key 'fil'"},
    {LAUNCHES("{set: A, fill: {constant: -1}}"), HD_DIAG_BAD_VALUE, 3, 38, "-1 does not fit .u32"},
    {"symbols: {counter: {type: u32, count: 1}}\n" LAUNCHES("{set: counter}"), HD_DIAG_BAD_VALUE, 4, 18,
     "no first content of 'counter'"},
    {LAUNCHES("{copy: A}"), HD_DIAG_BAD_KEY, 3, 12, "'to' is missing"},
    {"symbols: {s: {type: u8, values: [1]}}\n" LAUNCHES("{copy: A, to: s}"), HD_DIAG_BAD_VALUE, 4, 26,
     "'A' has 16 bytes, 's' 1"},
    {LAUNCHES("{steps: []}"), HD_DIAG_BAD_VALUE, 3, 20, "at least one step"},
    {LAUNCHES("{steps: [{set: A}], kernel: k}"), HD_DIAG_BAD_KEY, 3, 32, "unknown key 'kernel'"},
    {LAUNCHES("{steps: [{set: A}], repeat: 0}"), HD_DIAG_BAD_VALUE, 3, 40, "'0' is not a whole number"},
    {LAUNCHES("{steps: [{set: A}], until: {buffer: A, at_most: 2}}"), HD_DIAG_BAD_KEY, 3, 39, "one of equals, not"},
    {LAUNCHES("{steps: [{set: A}], until: {buffer: A, not: 1, index: 4, at_most: 2}}"), HD_DIAG_BAD_VALUE, 3, 66,
     "from 0 to 3"},
    {LAUNCHES("{steps: [[1]]}"), HD_DIAG_BAD_VALUE, 3, 21, "a mapping"},
    {LAUNCHES("{kernel: add, grid: {iota: [1]}, block: 1}"), HD_DIAG_BAD_VALUE, 3, 39, "two numbers"},
    {LAUNCHES("{kernel: add, grid: {iota: [1, 1], seed: 1}, block: 1}"), HD_DIAG_BAD_KEY, 3, 47, "unknown key 'seed'"},
    {LAUNCHES("{kernel: add, grid: 1, block: {iota: [5, -1]}, repeat: 6}"), HD_DIAG_BAD_VALUE, 3, 49,
     "0 in repetition 5 is not from 1 to 1024"},
    {LAUNCHES("{kernel: add, grid: 1, block: [{iota: [1, 1]}, 512], repeat: 3}"), HD_DIAG_BAD_VALUE, 3, 42,
     "at most 1024 threads"},
    {LAUNCHES("{kernel: add, grid: 1, block: 1, params: [{u8: {iota: [250, 1]}}], repeat: 7}"), HD_DIAG_BAD_VALUE, 3,
     66, "the value of repetition 6 does not fit .u8"},
    {LAUNCHES("{kernel: add, grid: 1, block: 1, params: [{struct: []}]}"), HD_DIAG_BAD_VALUE, 3, 63,
     "at least one field"},
    {LAUNCHES("{kernel: add, grid: 1, block: 1, params: [{struct: [{pad: 0}]}]}"), HD_DIAG_BAD_VALUE, 3, 70,
     "from 1 to 4096"},
    {LAUNCHES("{kernel: add, grid: 1, block: 1, params: [{pad: 4}]}"), HD_DIAG_BAD_VALUE, 3, 55, "'pad' is not one of"},
    {LAUNCHES("{kernel: add, grid: 1, block: 1, params: [{texture: X}]}"), HD_DIAG_BAD_VALUE, 3, 64,
     "there is no texture 'X'"},
    {LAUNCHES("{kernel: add, grid: 1, block: 1, params: [{buffer: A, offset: 17}]}"), HD_DIAG_BAD_VALUE, 3, 74,
     "from 0 to 16"},
    {"symbols: {s: {type: u8, values: [{buffer: A}]}}\n" RUN, HD_DIAG_BAD_VALUE, 3, 34, "does not fit .u8"},
    {"symbols: {s: {type: u64, values: [{u64: 1}]}}\n" RUN, HD_DIAG_BAD_VALUE, 3, 35, "an element is a number"},
    {"symbols: {s: {type: u64, values: [1], struct: [A]}}\n" RUN, HD_DIAG_BAD_KEY, 3, 47, "struct excludes type"},
    {"symbols: {s: {type: u32, count: 1, expect: {buffer: F}}}\n" RUN, HD_DIAG_BAD_VALUE, 3, 53, "'F' is 4 x .f32"},
    {"symbols: {s: {type: f32, count: 1, expect: {values: [1], ulp: x}}}\n" RUN, HD_DIAG_BAD_VALUE, 3, 63, "number"},
    {"symbols: {s: {type: u32, count: 1, fill: {text: none.txt}}}\n" RUN, HD_DIAG_UNREADABLE, 3, 49, "cannot read"},
    {"symbols: {s: {type: u32, count: 3, fill: {text: numbers.txt}}}\n" RUN, HD_DIAG_BAD_VALUE, 3, 49,
     "holds 2 numbers where 3 are needed"},
    {"symbols: {s: {type: u8, count: 2, fill: {text: numbers.txt}}}\n" RUN, HD_DIAG_BAD_VALUE, 2, 4,
     "256 does not fit .u8"},
    {LAUNCHES("{kernel: add, grid: 1, block: 1, cooperative: 2, params: [A, {u32: 1}]}"), HD_DIAG_BAD_VALUE, 3, 58,
     "true or false"},
    {TEXTURE("type: 4d"), HD_DIAG_BAD_VALUE, 3, 22, "'4d' is not one of: 1d, 2d"},
    {TEXTURE("type: 1d, width: 1"), HD_DIAG_BAD_KEY, 3, 15, "'format' is missing"},
    {TEXTURE("type: 1d, format: f64, width: 1, from: F"), HD_DIAG_BAD_VALUE, 3, 34, "'f64' is not one of"},
    {TEXTURE("type: 1d, format: f32, channels: 3, width: 1, from: F"), HD_DIAG_BAD_VALUE, 3, 49, "1, 2 or 4 channels"},
    {TEXTURE("type: 1d, format: f32, from: F"), HD_DIAG_BAD_KEY, 3, 15, "'width' is missing"},
    {TEXTURE("type: 1d, format: f32, width: 1, height: 2, from: F"), HD_DIAG_BAD_KEY, 3, 57, "has no height"},
    {TEXTURE("type: 1d, format: f32, width: 1"), HD_DIAG_BAD_KEY, 3, 15, "'from' is missing"},
    {TEXTURE("type: 2d, format: f32, width: 2, height: 3, from: F"), HD_DIAG_BAD_VALUE, 3, 66,
     "buffer 'F' has 16 bytes for the texture, which takes 24"},
    {TEXTURE("type: 1d, format: f32, width: 1, from: F, offset: 2"), HD_DIAG_BAD_VALUE, 3, 66,
     "not a multiple of a texel's 4"},
    {TEXTURE("type: 1d, format: u8, width: 1, from: A, offset: 17"), HD_DIAG_BAD_VALUE, 3, 65, "from 0 to 16"},
    {TEXTURE("type: 1d, format: u8, width: 1, from: A, offset: 16"), HD_DIAG_BAD_VALUE, 3, 54,
     "buffer 'A' has 0 bytes for the texture, which takes 1"},
    {TEXTURE("type: 1d, format: f32, width: 1, from: F, address: wrap"), HD_DIAG_BAD_VALUE, 3, 67,
     "need normalized coordinates"},
    {TEXTURE("type: 1d, format: u8, width: 1, from: A, filter: linear"), HD_DIAG_BAD_VALUE, 3, 65, "read as floats"},
    {TEXTURE("type: 1d, format: f32, width: 1, from: F, read: normalized_float"), HD_DIAG_BAD_VALUE, 3, 64,
     "needs u8, s8, u16 or s16"},
    {TEXTURE("type: buffer, format: f32, width: 1, from: F, filter: linear"), HD_DIAG_BAD_VALUE, 3, 70,
     "read by index"},
    {TEXTURE("type: 2d, format: f32, width: 1, height: 1, from: F, seamless: true"), HD_DIAG_BAD_VALUE, 3, 79,
     "only cubes have seams"},
    {TEXTURE("type: 3d, format: f32, width: 1, height: 1, depth: 1, from: F, compare: less"), HD_DIAG_BAD_VALUE, 3, 88,
     "this type has no depth comparison"},
    {TEXTURE("type: 1d, format: f32, channels: 2, width: 1, from: F, compare: less"), HD_DIAG_BAD_VALUE, 3, 80,
     "depths are one channel"},
    {TEXTURE("type: 1d, format: f32, width: 1, from: F, compare: smaller"), HD_DIAG_BAD_VALUE, 3, 67,
     "'smaller' is not one of: none, never, less"},
    {TEXTURE("type: 2d, format: f32, width: 1, height: 1, from: F, samples: 2"), HD_DIAG_BAD_KEY, 3, 78,
     "has no samples"},
    {TEXTURE("type: 2dms, format: f32, width: 1, height: 1, from: F"), HD_DIAG_BAD_KEY, 3, 15, "'samples' is missing"},
    {TEXTURE("type: 2dms, format: f32, width: 1, height: 1, samples: 3, from: F"), HD_DIAG_BAD_VALUE, 3, 71,
     "1, 2, 4, 8 or 16"},
    {TEXTURE("type: 2dms, format: f32, width: 2, height: 1, samples: 4, from: F"), HD_DIAG_BAD_VALUE, 3, 80,
     "buffer 'F' has 16 bytes for the texture, which takes 32"},
    {TEXTURE("type: 2dms, format: f32, width: 1, height: 1, samples: 1, from: F, normalized: true"), HD_DIAG_BAD_VALUE,
     3, 95, "a texture of type 2dms is read by index"},
    {TEXTURE("type: 2dms, format: f32, width: 1, height: 1, samples: 1, from: F, surface: true"), HD_DIAG_BAD_VALUE, 3,
     92, "a surface is 1d"},
    {TEXTURE("type: 1d, format: f32, width: 1, from: F, surface: true, filter: point"), HD_DIAG_BAD_KEY, 3, 73,
     "unknown key 'filter'"},
    {TEXTURE("type: buffer, format: f32, width: 1, from: F, surface: true"), HD_DIAG_BAD_VALUE, 3, 71,
     "a surface is 1d"},
    {TEXTURE("type: sampler, width: 1"), HD_DIAG_BAD_KEY, 3, 31, "unknown key 'width'"},
};

static void every_mistake_has_its_place(void **state)
{
    (void)state;
    write_file("numbers.txt", "1\n  \t256\n");
    for (uint32_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const mistake *m = &mistakes[i];
        char text[1024];
        hd_diagnostics diagnostics;
        snprintf(text, sizeof text, "module: a\nbuffers: {A: {type: u32, count: 4}, F: {type: f32, count: 4}}\n%s",
                 m->text);
        hd_launch_file *file = read_text(text, &diagnostics);
        const hd_diagnostic *d = diagnostics.first;
        assert_false(file->valid);
        assert_non_null(d);
        hd_position at = hd_source_position(d->source, d->span.begin);
        if (d->kind != m->kind || at.line != m->line || at.column != m->column || !strstr(d->message, m->part))
            fail_msg("%s gives %u:%u: %s", text, at.line, at.column, d->message);
        hd_launch_free(file);
        hd_diagnostics_free(&diagnostics);
    }
}

static const mistake misfits[] = {
    {LAUNCHES("{kernel: count, grid: [4097, 1], block: 1, cooperative: true}"), HD_DIAG_BAD_VALUE, 3, 68,
     "at most 4096 CTAs; this one has 4097"},
    {"launches: [{kernel: put, grid: 1, block: 1, params: [A, {struct: [{u64: 1}, A]}]}]\n", HD_DIAG_BAD_VALUE, 3, 57,
     "parameter 2 ('s') is .b8 of 32 bytes; this is a struct of 16"},
    {"launches: [{kernel: add, grid: 1, block: 1, params: [A, {f32: 1}]}]\n", HD_DIAG_BAD_VALUE, 3, 57,
     "parameter 2 ('n') is .u32 of 4 bytes; this is .f32 of 4"},
    {"launches: [{kernel: add, grid: 1, block: 1, params: [A, {u16: [1, 2, 3]}]}]\n", HD_DIAG_BAD_VALUE, 3, 57,
     "this is a list of 6"},
    {"symbols: {counter: {type: u32, values: [1, 2]}}\n" RUN, HD_DIAG_BAD_VALUE, 3, 11, "has 4 bytes, not 8"},
    {"symbols: {pointers: {type: u32, values: [1, 2, {buffer: A}, 0]}}\n" RUN, HD_DIAG_BAD_VALUE, 3, 48,
     "an address of the module has 8 bytes"},
    {"symbols: {none: {type: u32, values: [1]}}\n" RUN, HD_DIAG_BAD_VALUE, 3, 11,
     "no .global or .const variable 'none'"},
    {TEXTURE("type: 1d, format: f32, width: 1, from: F, symbol: counter"), HD_DIAG_BAD_VALUE, 3, 12,
     "no variable 'counter' of type .texref"},
    {TEXTURE("type: 1d, format: f32, width: 1, from: F, surface: true, symbol: T"), HD_DIAG_BAD_VALUE, 3, 12,
     "no variable 'T' of type .surfref"},
    {"launches: [{kernel: big, grid: 1, block: 1, shared: 200000}]\n", HD_DIAG_BAD_VALUE, 3, 53,
     "needs 240000 bytes of shared memory, 40000 of them its own, and may have 232448 on any GPU"},
};

static void what_does_not_fit_the_module(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof misfits / sizeof *misfits; i++) {
        const mistake *m = &misfits[i];
        char text[1024];
        opened o;
        snprintf(text, sizeof text, "module: a\nbuffers: {A: {type: u32, count: 4}, F: {type: f32, count: 4}}\n%s",
                 m->text);
        open_session(&o, text);
        const hd_diagnostic *d = o.diagnostics.first;
        if (o.session || !d)
            fail_msg("%s is taken", m->text);
        hd_position at = hd_source_position(d->source, d->span.begin);
        if (o.unsupported || d->kind != m->kind || at.line != m->line || at.column != m->column ||
            !strstr(d->message, m->part))
            fail_msg("%s gives %u:%u: %s", m->text, at.line, at.column, d->message);
        if (strstr(m->part, "parameter 2 ('n')")) { /* with its declaration */
            at = hd_source_position(d->notes->source, d->notes->span.begin);
            assert_true(d->notes->source == o.module->source && at.line == 8);
        }
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
    static const char *const names[] = {"t.yaml", "in.txt", "out.txt", "numbers.txt"};
    char path[128];
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_count_their_own_repetitions),
        cmocka_unit_test(buffers_are_set_and_copied),
        cmocka_unit_test(until_another_value),
        cmocka_unit_test(what_counts_out_of_range_later),
        cmocka_unit_test(structs_are_laid_out_as_in_c),
        cmocka_unit_test(addresses_within_data),
        cmocka_unit_test(text_files),
        cmocka_unit_test(expectations),
        cmocka_unit_test(steps_of_doubles),
        cmocka_unit_test(textures_by_handle_and_by_symbol),
        cmocka_unit_test(surfaces_stand_in_their_buffer),
        cmocka_unit_test(rows_of_a_pitched_surface),
        cmocka_unit_test(memory_lies_where_the_file_says),
        cmocka_unit_test(sessions_do_not_share),
        cmocka_unit_test(every_mistake_has_its_place),
        cmocka_unit_test(what_does_not_fit_the_module),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
