/* Register allocation: places, names and marks, vectors, copies, predicates, spilling, what is refused, and frames. */
#include "kernel.h"
#include "ptx_file.h"

#include "emitters/ir/ptx.h"
#include "ir/storage.h"
#include "passes/analysis/liveness.h"
#include "passes/regalloc/regalloc.h"
#include "passes/analysis/analyses.h"

typedef struct subject {
    hd_source source;
    hd_diagnostics diagnostics;
    hd_module *module;
    hd_function *kernel;
    hd_regalloc_result result;
    bool fine;
} subject;

static void open_subject(subject *s, const char *text)
{
    hd_diagnostics_init(&s->diagnostics);
    hd_source_from_memory(&s->source, "k.ptx", text, strlen(text));
    s->module = hd_parse_ptx(&s->source, &(hd_parse_options){0}, &s->diagnostics);
    if (s->diagnostics.error_count)
        fail_msg("%s", s->diagnostics.first->message);
    s->kernel = hd_module_find_function(s->module, "k");
    assert_non_null(s->kernel);
}

static void allocate(subject *s, hd_function *f, uint32_t max, uint32_t banks)
{
    hd_pass_context context;
    hd_regalloc_options options = {.max = max, .banks = banks};
    hd_pass_context_init(&context, f, &s->diagnostics);
    context.verify = true;
    s->fine = hd_regalloc_run(&context, &options, &s->result);
    hd_pass_context_free(&context);
    if (s->fine)
        assert_true(hd_ir_validate(s->module));
}

static void open_allocated(subject *s, const char *text, uint32_t max, uint32_t banks)
{
    open_subject(s, text);
    allocate(s, s->kernel, max, banks);
    if (!s->fine)
        fail_msg("%s", s->diagnostics.first ? s->diagnostics.first->message : "not allocated");
}

static void close_subject(subject *s)
{
    hd_module_free(s->module);
    hd_diagnostics_free(&s->diagnostics);
}

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
#define REGISTERS \
    ".reg .pred p<12>; .reg .b16 h<4>; .reg .b32 x<99>; .reg .f32 f<9>; .reg .b64 y<40>; .reg .f64 d<4>;\n"
#define KERNEL(body) HEAD ".visible .entry k(.param .u64 in, .param .u64 out) {\n" REGISTERS body "ret;\n}\n"

/* The text of the allocated instruction `ordinal`. */
static const char *text_of(const subject *s, uint32_t ordinal)
{
    static char text[256];
    hd_writer out;
    hd_writer_to_memory(&out);
    hd_emit_instruction(&out, s->kernel, &s->kernel->instructions.items[ordinal]);
    snprintf(text, sizeof text, "%.*s", (int)out.buffer.count, out.buffer.items);
    hd_writer_free(&out);
    return text;
}

static uint32_t count_identities(const subject *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->kernel->instructions.count; i++)
        count += hd_insn_is_identity(s->kernel, &s->kernel->instructions.items[i]);
    return count;
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

/* Straight-line code: `words` 32-bit and `pairs` 64-bit values, each replaced again and again. */
static char *straight(uint64_t seed, uint32_t words, uint32_t pairs)
{
    static char text[1 << 17];
    uint32_t x[64], y[64], next_x = 0, next_y = 1;
    char *at = text, *end = text + sizeof text;
    at += snprintf(at, (size_t)(end - at),
                   HEAD ".visible .entry k(.param .u64 out) {\n.reg .b32 x<4000>; .reg .b64 y<4000>;\n"
                        "ld.param.u64 y0, [out];\n");
    for (uint32_t i = 0; i < words; i++)
        at += snprintf(at, (size_t)(end - at), "ld.global.u32 x%u, [y0+%u];\n", x[i] = next_x++, 4 * i);
    for (uint32_t i = 0; i < pairs; i++)
        at += snprintf(at, (size_t)(end - at), "ld.global.u64 y%u, [y0+%u];\n", y[i] = next_y++, 8 * i);
    for (uint32_t i = 0; i < 400; i++) {
        bool wide = draw(&seed, words + pairs) >= words;
        uint32_t *v = wide ? y : x, n = wide ? pairs : words, to = draw(&seed, n), *next = wide ? &next_y : &next_x;
        at += snprintf(at, (size_t)(end - at), "add.s%u %c%u, %c%u, %c%u;\n", wide ? 64 : 32, "xy"[wide], *next,
                       "xy"[wide], v[draw(&seed, n)], "xy"[wide], v[draw(&seed, n)]);
        v[to] = (*next)++;
    }
    for (uint32_t i = 0; i < words; i++)
        at += snprintf(at, (size_t)(end - at), "st.global.u32 [y0+%u], x%u;\n", 4 * i, x[i]);
    for (uint32_t i = 0; i < pairs; i++)
        at += snprintf(at, (size_t)(end - at), "st.global.u64 [y0+%u], y%u;\n", 8 * i, y[i]);
    snprintf(at, (size_t)(end - at), "ret;\n}\n");
    return text;
}

static void straight_line_code_needs_what_is_live(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        subject s;
        uint32_t words = 2 + (uint32_t)seed % 40, pairs = 1 + (uint32_t)seed % 15;
        open_allocated(&s, straight(seed, words, 0), 0, 0);
        assert_true(s.result.peak >= 3);
        assert_in_range(s.result.numbers.registers, s.result.peak, s.result.peak + s.result.peak % 2);
        close_subject(&s);
        open_allocated(&s, straight(seed, words, pairs), 0, 0);
        assert_in_range(s.result.numbers.registers, s.result.peak, s.result.peak + 1);
        close_subject(&s);
        open_allocated(&s, straight(seed, words, pairs), 14, 2);
        assert_true(s.result.numbers.registers <= 14);
        close_subject(&s);
    }
}

/* Sources of one instruction in the same bank. */
static uint32_t count_conflicts(const subject *s, uint32_t banks)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->kernel->instructions.count; i++) {
        uint32_t seen[16] = {0};
        HD_INSN_REGISTERS (s->kernel, &s->kernel->instructions.items[i], o)
            if (o->flags & HD_OPERAND_USE)
                count += seen[hd_register_physical(s->kernel, o->value).number % banks]++ != 0;
    }
    return count;
}

static void banks_keep_sources_apart(void **state)
{
    uint32_t with = 0, without = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (uint32_t banks = 0; banks <= 4; banks += 4) {
            subject s;
            open_allocated(&s, straight(seed, 24, 0), 0, banks);
            *(banks ? &with : &without) += count_conflicts(&s, 4);
            assert_in_range(s.result.numbers.registers, s.result.peak, s.result.peak + 1);
            close_subject(&s);
        }
    assert_true(with < without * 3 / 4);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void packing_is_an_identity(void **state)
{
    subject s;
    (void)state;
    open_allocated(&s,
                   KERNEL("ld.param.u64 y0, [in];\nld.global.u32 x0, [y0];\nld.global.u32 x1, [y0+4];\n"
                          "mov.b64 y1, {x0, x1};\nadd.s64 y2, y1, y1;\nmov.b64 {x2, x3}, y2;\nadd.s32 x4, x2, x3;\n"
                          "cvt.u32.u64 x5, y2;\nst.global.u32 [y0], x4;\nst.global.u64 [y0], y2;\n"
                          "mov.u32 x6, 7;\nmov.u32 x7, x6;\nst.global.u32 [y0], x7;\nst.global.u32 [y0], x5;\n"),
                   0, 0);
    assert_int_equal(count_identities(&s), 2);
    assert_string_equal(text_of(&s, 3), "mov.b64 %RD2, {%R2, %R3};");
    assert_true(hd_insn_is_identity(s.kernel, &s.kernel->instructions.items[3]));
    assert_false(hd_insn_is_identity(s.kernel, &s.kernel->instructions.items[5])); /* y2 lives on */
    assert_true(hd_insn_is_identity(s.kernel, &s.kernel->instructions.items[11]));
    close_subject(&s);
}

static void parts_of_words_are_no_identities(void **state)
{
    subject s;
    (void)state;
    open_allocated(&s, ptx_file("regalloc-parts_of_words_are_no_identities"), 0, 0);
    assert_int_equal(count_identities(&s), 1);
    assert_true(hd_insn_is_identity(s.kernel, &s.kernel->instructions.items[4]));
    assert_string_equal(text_of(&s, 4), "cvt.u16.u32 %RH2, %R2;");
    close_subject(&s);
}

static void elements_of_vectors_lie_side_by_side(void **state)
{
    subject s;
    (void)state;
    open_allocated(&s,
                   KERNEL("ld.param.u64 y0, [in];\nld.global.v4.u32 {x0, x1, x2, x3}, [y0];\n"
                          "st.global.v4.u32 [y0], {x3, x2, x1, x0};\nld.global.v2.f64 {d0, d1}, [y0];\n"
                          "st.global.v2.f64 [y0], {d0, d0};\nst.global.v2.f64 [y0], {d0, d1};\n"
                          "@p0 ld.global.v2.u32 {x4, x3}, [y0];\nst.global.v2.u32 [y0], {x4, 5};\n"
                          "ld.global.v4.u32 {x6, _, x7, x8}, [y0];\nst.global.v2.u32 [y0], {x7, x8};\n"
                          "st.global.u32 [y0], x6;\n"),
                   0, 0);
    for (uint32_t i = 0; i < s.kernel->instructions.count; i++) {
        const hd_instruction *insn = &s.kernel->instructions.items[i];
        const hd_operand *o = hd_insn_operands(s.kernel, insn);
        for (uint32_t v = 0; v < insn->operand_count; v++) {
            uint32_t first = HD_NONE, words = 1;
            for (uint32_t e = 0; o[v].kind == HD_OPERAND_VECTOR && e < o[v].count; e++) {
                if (o[v + 1 + e].kind != HD_OPERAND_REGISTER)
                    continue;
                hd_physical at = hd_register_physical(s.kernel, o[v + 1 + e].value);
                words = at.words;
                first = first == HD_NONE ? at.number - e * words : first;
                assert_int_equal(at.number, first + e * words);
            }
            assert_true(first == HD_NONE || first % (o[v].count * words) == 0);
        }
    }
    assert_true(s.result.moves > 0);
    close_subject(&s);
}

/* One register in all elements: copies serve the stores that follow, until it is written again. */
static void copies_for_vectors_serve_again(void **state)
{
    subject s;
    (void)state;
    open_allocated(&s,
                   KERNEL("ld.param.u64 y0, [out];\nld.global.u32 x0, [y0];\nst.global.v4.u32 [y0], {x0, x0, x0, x0};\n"
                          "st.global.v4.u32 [y0+16], {x0, x0, x0, x0};\nst.global.v4.u32 [y0+32], {x0, x0, x0, x0};\n"
                          "add.u32 x0, x0, 1;\nst.global.v4.u32 [y0+48], {x0, x0, x0, x0};\n"),
                   0, 0);
    assert_int_equal(s.result.moves, 8);
    close_subject(&s);
}

static void taken_names_get_a_prefix(void **state)
{
    subject s;
    (void)state;
    open_allocated(&s, KERNEL(".local .b32 %R1[4];\nld.local.u32 x0, [%R1];\nst.local.u32 [%R1+4], x0;\n"), 0, 0);
    assert_string_equal(text_of(&s, 0), "ld.local.u32 %hd_R0, [%R1];");
    assert_int_equal(
        hd_register_physical(s.kernel, s.kernel->operands.items[s.kernel->instructions.items[0].operand_first].value)
            .number,
        0);
    close_subject(&s);
    open_allocated(&s, KERNEL(".local .b32 %R[4];\nld.local.u32 x0, [%R];\n"), 0,
                   0); /* no digits, and yet a range's name */
    assert_string_equal(text_of(&s, 0), "ld.local.u32 %hd_R0, [%R];");
    close_subject(&s);
    static const char *const before[] = {".global .b32 %R1;\n", ".func f(.param .b32 %R1);\n.global .b32 g;\n"};
    static const char *const names[] = {"%R1", "g"}, *const loads[] = {"ld.global.u32 %hd_R0, [%R1];",
                                                                       "ld.global.u32 %R0, [g];"};
    /* a variable of the module; a parameter of another function, which takes nothing */
    for (uint32_t i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 HEAD "%s.visible .entry k() {\n.reg .b32 %%x<2>;\nld.global.u32 %%x0, [%s];\nst.global.u32 [%s], "
                      "%%x0;\nret;\n}\n",
                 before[i], names[i], names[i]);
        open_allocated(&s, text, 0, 0);
        assert_string_equal(text_of(&s, 0), loads[i]);
        close_subject(&s);
    }
}

/* It is in no declaration, and the last register of the function as it was before. */
static void the_carry_stays_a_register(void **state)
{
    subject s;
    (void)state;
    open_allocated(&s,
                   KERNEL("ld.param.u64 y0, [in];\nld.global.v2.u32 {x0, x1}, [y0];\nadd.cc.u32 x0, x0, x1;\n"
                          "addc.u32 x1, x1, 0;\nst.global.v2.u32 [y0], {x0, x1};\n"),
                   0, 0);
    uint32_t carry = s.kernel->carry_register;
    assert_int_equal(carry, s.kernel->registers.count - 1);
    assert_int_equal(s.kernel->registers.items[carry].declaration, HD_NONE);
    assert_int_equal(hd_register_physical(s.kernel, carry).class, HD_PHYSICAL_NONE);
    close_subject(&s);
}

/* The text reads back as architected, and allocates again to the same numbers. */
static void text_reads_back(void **state)
{
    subject s, again;
    hd_architected numbers;
    hd_writer text;
    (void)state;
    open_allocated(&s, straight(3, 12, 6), 10, 0);
    hd_writer_to_memory(&text);
    assert_true(hd_emit_ptx(&text, s.module, &(hd_emit_options){0}));
    hd_write_char(&text, '\0');
    open_subject(&again, text.buffer.items);
    assert_true(hd_architected_of(again.kernel, &numbers));
    assert_memory_equal(&numbers, &s.result.numbers, sizeof numbers);
    assert_true(numbers.spill_bytes > 0);
    for (uint32_t r = 0; r < again.kernel->registers.count; r++)
        assert_int_not_equal(hd_register_physical(again.kernel, r).class, HD_PHYSICAL_NONE);
    allocate(&again, again.kernel, 10, 0);
    assert_true(again.fine);
    assert_true(again.result.numbers.registers <= 10);
    close_subject(&again);
    hd_writer_free(&text);
    close_subject(&s);
}

static void other_names_are_no_places(void **state)
{
    static const char *const names[] = {"%R255", "%RD1", "%RD254", "%RQ2", "%RQ252", "%R01",
                                        "%P7",   "%Rx",  "%RH",    "R1",   "%r1"};
    static const char *const types[] = {"b32", "b64", "b64", "b128", "b128", "b32", "pred", "b32", "b16", "b32", "b32"};
    (void)state;
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[512];
        subject s;
        bool predicate = strcmp(types[i], "pred") == 0;
        snprintf(text, sizeof text, HEAD ".visible .entry k() {\n.reg .%s %s;\nmov.%s %s, %s;\nret;\n}\n", types[i],
                 names[i], types[i], names[i], predicate ? "1" : names[i]);
        open_subject(&s, text);
        assert_int_equal(hd_register_physical(s.kernel, 0).class, HD_PHYSICAL_NONE);
        close_subject(&s);
    }
}

/* ---- spilling ---------------------------------------------------------------------------------------------------- */

static void run_with(const char *body, const char *passes, const uint32_t *in, uint32_t *out)
{
    static char text[1 << 16];
    snprintf(text, sizeof text, KERNEL("%s"), body);
    kernel_run run = {
        .text = text, .passes = passes, .in = in, .in_bytes = 1024, .out = out, .out_bytes = 1024, .block = 1};
    memset(out, 0, 1024);
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: line %u: %s", passes, run.line, run.message);
}

static void expect_the_same(const char *body, const char *const *passes, uint32_t count)
{
    uint32_t in[256], want[256], got[256];
    for (uint32_t i = 0; i < 256; i++)
        in[i] = 2654435761u * (i + 1);
    run_with(body, NULL, in, want);
    for (uint32_t i = 0; i < count; i++) {
        run_with(body, passes[i], in, got);
        assert_memory_equal(got, want, sizeof got);
    }
}

static const char *const limits[] = {"regalloc", "regalloc(max=32)", "regalloc(max=12)", "regalloc(max=8)"};

static void sixty_four_live_fit_into_few(void **state)
{
    static char body[1 << 14];
    char *at = body;
    subject s;
    (void)state;
    at += sprintf(at, "ld.param.u64 y0, [in];\nld.param.u64 y1, [out];\n");
    for (uint32_t i = 0; i < 64; i++)
        at += sprintf(at, "ld.global.u32 x%u, [y0+%u];\n", i, 4 * i);
    for (uint32_t i = 0; i < 64; i++)
        at += sprintf(at, "xor.b32 x%u, x%u, x%u;\n", 63 - i, 63 - i, (i * 7 + 5) % 64);
    for (uint32_t i = 0; i < 64; i++)
        at += sprintf(at, "st.global.u32 [y1+%u], x%u;\n", 4 * i, i);
    expect_the_same(body, limits, 4);
    static char text[1 << 15];
    snprintf(text, sizeof text, KERNEL("%s"), body);
    open_allocated(&s, text, 32, 0);
    assert_true(s.result.peak >= 64);
    assert_true(s.result.numbers.registers <= 32);
    assert_in_range(s.result.numbers.spill_bytes, 4 * 30, 4 * 44);
    close_subject(&s);
}

static void constants_are_computed_again(void **state)
{
    static char body[1 << 13];
    char *at = body;
    subject s;
    (void)state;
    at += sprintf(at, "ld.param.u64 y1, [out];\nmov.u32 x0, %%tid.x;\nmov.u32 x1, 1;\n");
    for (uint32_t i = 2; i < 22; i++)
        at += sprintf(at, "mov.u32 x%u, %u;\n", i, i * 3);
    for (uint32_t i = 2; i < 22; i++)
        at += sprintf(at, "mad.lo.u32 x1, x1, x%u, x0;\n", i);
    for (uint32_t i = 2; i < 22; i++)
        at += sprintf(at, "mad.lo.u32 x1, x1, x%u, x%u;\n", 23 - i, i);
    at += sprintf(at, "st.global.u32 [y1], x1;\n");
    static char text[1 << 14];
    snprintf(text, sizeof text, KERNEL("%s"), body);
    open_allocated(&s, text, 8, 0);
    assert_true(s.result.rematerialized >= 15);
    assert_int_equal(s.result.numbers.spill_bytes, 0);
    assert_int_equal(s.result.loads + s.result.stores, 0);
    close_subject(&s);
    expect_the_same(body, limits, 4);
}

static void predicates_go_to_general_registers(void **state)
{
    static char body[1 << 13];
    char *at = body;
    subject s;
    (void)state;
    at += sprintf(at, "ld.param.u64 y0, [in];\nld.param.u64 y1, [out];\n");
    for (uint32_t i = 0; i < 12; i++)
        at += sprintf(at, "ld.global.u32 x0, [y0+%u];\nsetp.gt.u32 p%u, x0, 0x80000000;\n", 4 * i, i);
    at += sprintf(at, "not.pred p3, p7;\n@p2 setp.eq.u32 p9, x0, 17;\n@!p1 mov.pred p0, p11;\n");
    for (uint32_t i = 0; i < 12; i++)
        at += sprintf(at, "selp.u32 x1, %u, %u, p%u;\nst.global.u32 [y1+%u], x1;\n", i + 100, i, i, 4 * i);
    expect_the_same(body, limits, 3);
    static char text[1 << 14];
    snprintf(text, sizeof text, KERNEL("%s"), body);
    open_allocated(&s, text, 0, 0);
    assert_int_equal(s.result.predicate_peak, 12);
    assert_int_equal(s.result.numbers.predicates, 7);
    assert_true(s.result.predicate_moves >= 10);
    assert_int_equal(s.result.numbers.spill_bytes, 0);
    close_subject(&s);
}

/* Carries, guarded writes, halves, video selectors, loops: each with too few registers. */
static void all_kinds_of_writes_survive_spilling(void **state)
{
    static const char *const bodies[] = {
        "ld.param.u64 y0, [in];\nld.param.u64 y1, [out];\nld.global.v4.u32 {x0,x1,x2,x3}, [y0];\n"
        "ld.global.v4.u32 {x4,x5,x6,x7}, [y0+16];\nadd.cc.u32 x8, x0, x4;\naddc.cc.u32 x9, x1, x5;\n"
        "addc.cc.u32 x10, x2, x6;\naddc.u32 x11, x3, x7;\nst.global.v4.u32 [y1], {x8,x9,x10,x11};\n"
        "st.global.v4.u32 [y1+16], {x0,x1,x2,x3};\nst.global.v4.u32 [y1+32], {x4,x5,x6,x7};\n",
        "ld.param.u64 y0, [in];\nld.param.u64 y1, [out];\nld.global.u32 x0, [y0];\nmov.b32 {h0, h1}, x0;\n"
        "ld.global.v2.u64 {y2,y3}, [y0];\nld.global.v2.u64 {y4,y5}, [y0+16];\nld.global.v2.u64 {y6,y7}, [y0+32];\n"
        "setp.gt.u32 p0, x0, 5;\n@p0 add.u64 y2, y3, y4;\n@!p0 mov.u64 y5, y6;\nadd.u16 h2, h0, h1;\n"
        "mov.b32 x1, {h2, h0};\nvadd.u32.u32.u32 x2.b1, x0.b0, x1.b2, x0;\n@p0 setp.lt.u32 p0, x1, 9;\n"
        "selp.u32 x3, 1, 2, p0;\nst.global.v2.u32 [y1], {x1, x2};\nst.global.v2.u64 [y1+16], {y2, y3};\n"
        "st.global.v2.u64 [y1+32], {y4, y5};\nst.global.v2.u64 [y1+48], {y6, y7};\nst.global.u32 [y1+8], x3;\n",
        "ld.param.u64 y0, [in];\nld.param.u64 y1, [out];\nmov.u32 x0, 0;\nmov.u32 x1, 1;\nmov.u32 x2, 2;\nmov.u32 x3, "
        "3;\n"
        "mov.u32 x4, 4;\nmov.u32 x5, 5;\nmov.u32 x6, 6;\nmov.u32 x7, 7;\nL:\nadd.u32 x1, x1, x2;\nadd.u32 x2, x2, x3;\n"
        "add.u32 x3, x3, x4;\nadd.u32 x4, x4, x5;\nadd.u32 x5, x5, x6;\nxor.b32 x6, x6, x7;\nadd.u32 x7, x7, x1;\n"
        "add.u32 x0, x0, 1;\nsetp.lt.u32 p0, x0, 20;\n@p0 bra L;\nst.global.v4.u32 [y1], {x1, x2, x3, x4};\n"
        "st.global.v4.u32 [y1+16], {x5, x6, x7, x0};\n",
    };
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        expect_the_same(bodies[i], limits, 4);
}

/* x1 is written under a guard only, and read under the same in other blocks and in the next turn of a loop. */
static void what_only_some_lanes_have_is_kept(void **state)
{
    static const char body[] =
        "ld.param.u64 y0, [in];\nld.param.u64 y1, [out];\nld.global.u32 x0, [y0];\nmov.u32 x9, 0;\nmov.u32 x8, 0;\n"
        "setp.ne.u32 p1, x0, 0;\nL:\nsetp.gt.u32 p0, x9, 2;\n@p0 add.u32 x8, x8, x1;\nadd.u32 x2, x9, 5;\n"
        "add.u32 x3, x2, x9;\n@p1 mul.lo.u32 x1, x3, 17;\n@p0 bra M;\nadd.u32 x10, x2, 1;\nadd.u32 x11, x2, "
        "2;\nadd.u32 x12, x2, 3;\nadd.u32 x13, x2, 4;\n"
        "add.u32 x14, x2, 5;\nmad.lo.u32 x10, x10, x11, x12;\nmad.lo.u32 x10, x10, x13, x14;\nadd.u32 x8, x8, x10;\n"
        "add.u32 x4, x2, x3;\nadd.u32 x8, x8, x4;\nM:\n"
        "add.u32 x5, x9, x2;\nadd.u32 x8, x8, x5;\n@p1 add.u32 x8, x8, x1;\nadd.u32 x9, x9, 1;\nsetp.lt.u32 p2, x9, "
        "9;\n"
        "@p2 bra L;\nadd.u32 x6, x8, x9;\n@p1 add.u32 x6, x6, x1;\nst.global.v2.u32 [y1], {x6, x8};\n";
    (void)state;
    expect_the_same(body, limits, 4);
    expect_the_same(body, (const char *const[]){"regalloc(max=7)"}, 1);
}

/* The time is none, and neither is what a guard decides. */
static void only_constants_are_computed_again(void **state)
{
    subject s;
    char body[4096], *at = body, text[8192];
    (void)state;
    at += sprintf(
        at, "mov.u32 x0, %%clock;\nmov.u32 x1, 1;\n@p0 mov.u32 x1, 2;\nmov.u32 x2, %%smid;\nld.param.u64 y1, [out];\n");
    for (uint32_t i = 3; i < 20; i++)
        at += sprintf(at, "ld.volatile.global.u32 x%u, [y1+%u];\n", i, 4 * i);
    for (uint32_t i = 0; i < 20; i++)
        at += sprintf(at, "st.global.u32 [y1+%u], x%u;\n", 4 * i, i);
    snprintf(text, sizeof text, KERNEL("%s"), body);
    open_allocated(&s, text, 6, 0);
    assert_true(s.result.rematerialized <= 1); /* y1 */
    assert_true(s.result.spilled >= 15);
    close_subject(&s);
}

/* Results of calls are other ones later, and names of variables of inner scopes mean something else outside. */
static void results_and_inner_variables_are_stored(void **state)
{
    static char text[1 << 13];
    char *at = text;
    subject s;
    (void)state;
    at +=
        sprintf(at, HEAD ".shared .b32 v;\n.func (.param .b32 r) f(.param .b32 a) { .reg .b32 t; ld.param.b32 t, [a]; "
                         "st.param.b32 [r], t; ret; }\n"
                         ".visible .entry k(.param .u64 in, .param .u64 out) {\n" REGISTERS
                         ".param .b32 a; .param .b32 r;\nld.param.u64 y1, [out];\n");
    for (uint32_t i = 0; i < 12; i++)
        at += sprintf(at, "st.param.b32 [a], %u;\ncall (r), f, (a);\nld.param.b32 x%u, [r];\n", i, i);
    for (uint32_t i = 12; i < 16; i++)
        at += sprintf(at, "{ .shared .b32 v; mov.u32 x%u, v; }\nmov.u32 x%u, v;\n", i, i + 4);
    for (uint32_t i = 0; i < 20; i++)
        at += sprintf(at, "st.global.u32 [y1+%u], x%u;\n", 4 * i, i);
    sprintf(at, "ret;\n}\n");
    open_allocated(&s, text, 8, 0);
    assert_true(s.result.rematerialized <= 1); /* y1 */
    assert_true(s.result.spilled >= 14);
    close_subject(&s);
}

/* A loaded value keeps its register while that leaves the room that it must: with less of it more is loaded again, with
 * more of it more is spilled. */
static void what_is_loaded_stays_where_there_is_room(void **state)
{
    subject s;
    (void)state;
    open_allocated(&s, straight(1, 9, 3), 10, 0);
    assert_in_range(s.result.spilled, 1, 80);
    assert_in_range(s.result.loads, 1, 205);
    close_subject(&s);
}

/* Registers that an asynchronous matrix product owns until it is waited for. */
static void accumulators_are_not_spilled(void **state)
{
    const char *text = ptx_file("regalloc-accumulators_are_not_spilled");
    subject s;
    (void)state;
    open_allocated(&s, text, 9, 0);
    assert_true(s.result.spilled > 0);
    for (uint32_t i = 0; i + 1 < s.kernel->instructions.count; i++) {
        const hd_instruction *insn = &s.kernel->instructions.items[i];
        if (hd_insn_form(s.kernel, insn)->opcode == HD_OP_WGMMA_MMA_ASYNC)
            assert_int_equal(hd_insn_form(s.kernel, insn + 1)->opcode, HD_OP_WGMMA_COMMIT_GROUP);
    }
    close_subject(&s);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void too_few_registers_are_an_error(void **state)
{
    subject s;
    (void)state;
    open_subject(
        &s,
        KERNEL(
            "ld.param.u64 y0, [in];\nld.global.v4.u32 {x0,x1,x2,x3}, [y0];\nst.global.v4.u32 [y0], {x0,x1,x2,x3};\n"));
    allocate(&s, s.kernel, 5, 0);
    assert_false(s.fine);
    assert_int_equal(s.diagnostics.first->kind, HD_DIAG_OUT_OF_REGISTERS);
    close_subject(&s);
}

static void registers_of_old_ptx_stay(void **state)
{
    static const char *const texts[] = {
        ".version 2.0\n.target sm_20\n.func (.reg .u32 r) k (.reg .u32 a) {\nadd.u32 r, a, 1;\nret;\n}\n",
        ".version 2.0\n.target sm_20\n.func (.reg .u32 r) k () {\nmov.u32 r, 1;\nret;\n}\n",
        ".version 2.0\n.target sm_20\n.func k (.reg .u32 a) {\nadd.u32 a, a, 1;\nret;\n}\n",
        ".version 1.4\n.target sm_10\n.reg .u32 g;\n.entry k {\nmov.u32 g, 1;\nret;\n}\n",
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        subject s;
        open_subject(&s, texts[i]);
        allocate(&s, s.kernel, 0, 0);
        assert_true(s.fine && s.result.left_virtual && !s.kernel->changed);
        assert_int_equal(s.diagnostics.first->kind, HD_DIAG_NOT_ALLOCATED);
        close_subject(&s);
    }
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static void frames_lie_above_what_callers_hold(void **state)
{
    const char *text = ptx_file("regalloc-frames_lie_above_what_callers_hold");
    subject s;
    hd_arena arena = {0};
    (void)state;
    open_subject(&s, text);
    for (uint32_t i = 0; i < s.module->functions.count; i++)
        if (s.module->functions.items[i]->has_body)
            allocate(&s, s.module->functions.items[i], 0, 0);
    hd_ra_frame *frames = hd_regalloc_frames(s.module, &arena);
    const hd_ra_frame *leaf = NULL, *middle = NULL, *recursive = NULL, *kernel = NULL;
    for (uint32_t i = 0; i < s.module->functions.count; i++) {
        const hd_function *f = s.module->functions.items[i];
        const char *name = hd_names_text(&s.module->names, f->name);
        if (f->has_body)
            *(*name == 'l' ? &leaf : *name == 'm' ? &middle : *name == 'r' ? &recursive : &kernel) = &frames[i];
    }
    hd_architected numbers = {0};
    assert_true(hd_architected_of(s.kernel, &numbers));
    uint32_t held = numbers.held;
    assert_in_range(held, 3, 4); /* y0 and x1 */
    assert_int_equal(leaf->own, 2);
    assert_int_equal(leaf->total, 2);
    assert_int_equal(middle->own, 2);
    assert_int_equal(kernel->base, 0);
    assert_int_equal(middle->base, held);
    hd_architected_of(hd_module_find_function(s.module, "middle"), &numbers);
    assert_int_equal(middle->total, numbers.held + leaf->total);
    assert_int_equal(leaf->base, held + numbers.held);
    assert_true(recursive->recursive && !middle->recursive && kernel->indirect);
    assert_int_equal(recursive->total, recursive->own);
    assert_int_equal(recursive->base, held);
    hd_architected_of(hd_module_find_function(s.module, "r"), &numbers);
    assert_int_equal(recursive->saved_bytes, 4 * numbers.held);
    uint32_t deepest = middle->total > recursive->total ? middle->total : recursive->total;
    assert_int_equal(kernel->total, held + deepest > kernel->own ? held + deepest : kernel->own);
    hd_arena_free(&arena);
    close_subject(&s);
}

/* A frame has the words that the allocation counts: that %RD<5> declares %RD1 and %RD3 makes none. */
static void a_frame_has_no_words_but_those_of_places(void **state)
{
    static const char text[] =
        KERNEL("ld.param.u64 y1, [in]; ld.param.u64 y2, [out]; ld.global.u64 y3, [y1]; ld.global.u64 y4, [y2];\n"
               "add.s64 y5, y3, y4; st.global.u64 [y1], y5; st.global.u64 [y2], y3;\n");
    subject s;
    hd_arena arena = {0};
    (void)state;
    open_subject(&s, text);
    hd_storage before = hd_storage_of(s.kernel, &arena);
    assert_int_equal(before.frame, 10); /* y1 to y5, of 40 and others */
    allocate(&s, s.kernel, 0, 0);
    hd_storage after = hd_storage_of(s.kernel, &arena);
    assert_int_equal(after.frame, 8);
    assert_int_equal(after.frame, s.result.numbers.registers);
    assert_true(after.words > after.frame);
    hd_arena_free(&arena);
    close_subject(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_has_no_words_but_those_of_places),
        cmocka_unit_test(straight_line_code_needs_what_is_live),
        cmocka_unit_test(constants_are_computed_again),
        cmocka_unit_test(what_only_some_lanes_have_is_kept),
        cmocka_unit_test(only_constants_are_computed_again),
        cmocka_unit_test(results_and_inner_variables_are_stored),
        cmocka_unit_test(banks_keep_sources_apart),
        cmocka_unit_test(packing_is_an_identity),
        cmocka_unit_test(parts_of_words_are_no_identities),

        cmocka_unit_test(elements_of_vectors_lie_side_by_side),
        cmocka_unit_test(copies_for_vectors_serve_again),
        cmocka_unit_test(taken_names_get_a_prefix),

        cmocka_unit_test(the_carry_stays_a_register),
        cmocka_unit_test(text_reads_back),
        cmocka_unit_test(other_names_are_no_places),
        cmocka_unit_test(sixty_four_live_fit_into_few),
        cmocka_unit_test(predicates_go_to_general_registers),
        cmocka_unit_test(all_kinds_of_writes_survive_spilling),
        cmocka_unit_test(what_is_loaded_stays_where_there_is_room),
        cmocka_unit_test(accumulators_are_not_spilled),
        cmocka_unit_test(too_few_registers_are_an_error),

        cmocka_unit_test(registers_of_old_ptx_stay),
        cmocka_unit_test(frames_lie_above_what_callers_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
