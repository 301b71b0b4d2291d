/* The checker of an allocated function's numbers (passes/check/architected.c): each, one too low, is refuted; a higher
 * one is sound. */
#include "call_module.h"
#include "rf_bench.h"
#include "tests/unit/unit.h"

#include "ir/architected.h"
#include "parser/parse.h"
#include "passes/check/check.h"
#include "passes/check/frames.h"
#include "passes/regalloc/regalloc.h"

static const char *const TEXT =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".func (.param .b32 y) f(.param .b32 x)\n"
    "{\n\t.reg .b32 %%R<1>;\n\tld.param.b32 %%R0, [x];\n\tst.param.b32 [y], %%R0;\n\tret;\n}\n"
    ".entry k(.param .u64 out)\n"
    "{ //@architected (%u,%u,0,%u)\n"
    "\t.reg .b32 %%R<6>;\n\t.reg .b64 %%RD<8>;\n\t.reg .pred %%P<3>;\n"
    "\tld.param.u64 %%RD6, [out];\n"
    "\tmov.u32 %%R2, %%tid.x;\n"
    "\tmov.u32 %%R5, 7;\n"
    "\t{\n\t.param .b32 a;\n\t.param .b32 r;\n\tst.param.b32 [a], %%R5;\n\tcall.uni (r), f, (a);\n"
    "\tld.param.b32 %%R5, [r];\n\t}\n"
    "\tsetp.eq.u32 %%P2, %%R5, 0;\n"
    "\t@%%P2 bra DONE;\n"
    "\tst.global.u32 [%%RD6], %s;\n"
    "DONE:\n\tret;\n}\n";

/* "": sound. */
static void expect_of(const char *text, const char *message)
{
    hd_source source;
    hd_diagnostics diagnostics;
    uint64_t count = 0;
    hd_source_from_memory(&source, "k.ptx", text, strlen(text));
    hd_diagnostics_init(&diagnostics);
    hd_module *module = hd_parse_ptx(&source, &(hd_parse_options){0}, &diagnostics);
    assert_null(diagnostics.first);
    bool good = true;
    for (uint32_t i = 0; i < module->functions.count; i++)
        good = hd_check_architected(module->functions.items[i], &diagnostics, &count) && good;
    assert_int_equal(count, 1);
    assert_int_equal(good, !*message);
    assert_string_equal(good ? "" : diagnostics.first->message, message);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
}

static void expect(uint32_t registers, uint32_t predicates, uint32_t held, const char *stored, const char *message)
{
    char text[2048];
    snprintf(text, sizeof text, TEXT, registers, predicates, held, stored);
    expect_of(text, message);
}

static void enough_is_sound(void **state)
{
    (void)state;
    expect(8, 3, 8, "%R2", "");
    expect(9, 4, 8, "%R2", "");
}

static void every_place_that_is_named_is_there(void **state)
{
    (void)state;
    expect(7, 3, 7, "%R2", "architected: general registers: it says 7, and 8 are needed"); /* the pair R6:R7 */
    expect(8, 2, 8, "%R2", "architected: predicates: it says 2, and 3 are needed");
}

/* Registers without a place need none of either kind. */
static void names_that_are_no_places_need_none(void **state)
{
    (void)state;
    static const char *const names[] = {"x", "%r1", "%R01", "%RD1", "%P7"};
    static const char *const types[] = {"b32", "b32", "b32", "b64", "pred"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{ //@architected (0,0,0,0)\n\t.reg .%s %s;\n"
            "\tmov.%s %s, 1;\n\tret;\n}\n",
            types[i], names[i], types[i], names[i]);
        expect_of(text, "");
    }
}

/* The pointer lasts; what is passed and overwritten after the call does not. */
static void what_is_read_behind_a_call_is_held(void **state)
{
    (void)state;
    expect(8, 3, 7, "%R2", "architected: registers held during calls: it says 7, and 8 are needed");
    expect(8, 3, 0, "%R5", "architected: registers held during calls: it says 0, and 8 are needed");
}

/* A loop that calls g with R1, guarded by P0, and has `code` before the call and `after` after it. */
static void expect_loop(uint32_t held, const char *code, const char *after, const char *message)
{
    char text[1024];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_80\n.address_size 64\n.func (.reg .b32 y) g(.reg .b32 x)\n{\n\tmov.b32 y, "
             "x;\n\tret;\n}\n"
             ".entry k()\n{ //@architected (3,1,0,%u)\n\t.reg .b32 %%R<3>;\n\t.reg .pred %%P<1>;\n\tmov.u32 %%R1, 1;\n"
             "LOOP:\n\t%s\n\t@%%P0 call (%%R0), g, (%%R1);\n\t%s\n}\n",
             held, code, after);
    expect_of(text, message);
}

static void what_has_no_value_is_not_held(void **state)
{
    (void)state;
    const char *const three = "architected: registers held during calls: it says 2, and 3 are needed";
    const char *const use = "st.local.u32 [0], %R2;\n\tbra LOOP;";
    const char *const late = "st.local.u32 [0], %R2;\n\tmov.u32 %R2, 2;\n\tret;";
    expect_loop(2, "", use, "");  /* nothing writes it */
    expect_loop(2, "", late, ""); /* not before the call */
    expect_loop(2, "mov.u32 %R2, 2;", late, three);
    expect_loop(2, "@%P0 mov.u32 %R2, 2;", late, three);
    expect_loop(2, "", "st.local.u32 [0], %R2;\n\tmov.u32 %R2, 2;\n\tbra LOOP;", three); /* by the round before */
}

/* Lanes whose guard is false keep what they have without it. */
static void the_result_of_a_guarded_call_is_not_held(void **state)
{
    (void)state;
    expect_loop(0, "mov.u32 %R0, 1;", "st.local.u32 [0], %R0;\n\tret;", "");
    expect_loop(0, "mov.u32 %R0, 1;", "st.local.u32 [0], %R1;\n\tret;",
                "architected: registers held during calls: it says 0, and 2 are needed");
}

static bool all_are_architected(const hd_module *module)
{
    hd_architected numbers;
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.items[i]->has_body && !hd_architected_of(module->functions.items[i], &numbers))
            return false;
    return true;
}

/* Modules have recursion, indirect calls and calls in loops; the allocator counts frames with code of its own. */
static void frames_of_callees_are_those_of_the_allocator(void **state)
{
    uint32_t with_callees = 0, recursive = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        rf_bench b;
        hd_arena arena;
        char *text = call_module_make(seed, 1 + (uint32_t)seed % 4);
        rf_bench_open(&b, text, strlen(text));
        rf_bench_pass(&b, seed % 2 ? "regalloc" : "select,regalloc");
        hd_arena_init(&arena);
        const hd_ra_frame *frames = hd_regalloc_frames(b.module, &arena);
        for (uint32_t i = 0; i < b.module->functions.count; i++) {
            recursive += frames[i].recursive;
            if (b.module->functions.items[i] != b.kernel)
                continue;
            uint32_t callees = hd_check_callees(b.kernel);
            with_callees += callees > 0 && callees != HD_NONE;
            if (callees != frames[i].callees && (callees != HD_NONE || all_are_architected(b.module)))
                fail_msg("module %llu: %u, not %u", (unsigned long long)seed, callees, frames[i].callees);
        }
        hd_arena_free(&arena);
        rf_bench_close(&b);
        free(text);
    }
    assert_true(with_callees > 50 && recursive > 50);
}

static uint32_t below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % n;
}

/* Functions that only call: by name, by a table, or by a register, with as many registers as their annotation says. */
static void write_callers(hd_writer *w, uint64_t seed)
{
    uint64_t state = seed;
    uint32_t count = 1 + below(&state, 6);
    hd_write_format(w, ".version 8.0\n.target sm_80\n.address_size 64\n");
    for (uint32_t f = 0; f < count; f++)
        hd_write_format(w, ".func f%u();\n", f);
    if (below(&state, 3) == 0)
        hd_write_format(w, ".global .u64 taken = f%u;\n", below(&state, count));
    for (uint32_t f = 0; f <= count; f++) {
        uint32_t registers = 4 + below(&state, 30), held = below(&state, registers + 1);
        if (f < count)
            hd_write_format(w, ".func f%u()", f);
        else
            hd_write_format(w, ".entry k()");
        hd_write_format(w, "\n{ //@architected (%u,0,0,%u)\n.reg .b64 %%RD<3>;\n", registers, held);
        hd_write_format(w, "P: .callprototype _ ();\nT: .calltargets f%u, f%u;\n", below(&state, count),
                        below(&state, count));
        for (uint32_t calls = below(&state, 4); calls--;)
            switch (below(&state, 12)) {
            case 0: hd_write_format(w, "call %%RD2, (), P;\n"); break;
            case 1: hd_write_format(w, "call %%RD2, (), T;\n"); break;
            case 2: hd_write_format(w, "mov.u64 %%RD2, f%u;\n", below(&state, count)); break;
            default: hd_write_format(w, "call f%u;\n", below(&state, count));
            }
        hd_write_format(w, "ret;\n}\n");
    }
}

static void any_calls_need_what_the_allocator_counts(void **state)
{
    uint32_t with_callees = 0, recursive = 0, indirect = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        rf_bench b;
        hd_arena arena;
        hd_writer text;
        hd_writer_to_memory(&text);
        write_callers(&text, seed);
        rf_bench_open(&b, text.buffer.items, text.buffer.count);
        hd_arena_init(&arena);
        const hd_ra_frame *frames = hd_regalloc_frames(b.module, &arena);
        for (uint32_t i = 0; i < b.module->functions.count; i++) {
            recursive += frames[i].recursive;
            indirect += frames[i].indirect;
            if (b.module->functions.items[i] != b.kernel)
                continue;
            uint32_t callees = hd_check_callees(b.kernel);
            with_callees += callees > 0;
            if (callees != frames[i].callees)
                fail_msg("module %llu: %u, not %u:\n%.*s", (unsigned long long)seed, callees, frames[i].callees,
                         (int)text.buffer.count, text.buffer.items);
        }
        hd_arena_free(&arena);
        rf_bench_close(&b);
        hd_writer_free(&text);
    }
    assert_true(with_callees > 1000 && recursive > 500 && indirect > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_is_sound),
        cmocka_unit_test(every_place_that_is_named_is_there),
        cmocka_unit_test(names_that_are_no_places_need_none),
        cmocka_unit_test(what_is_read_behind_a_call_is_held),
        cmocka_unit_test(what_has_no_value_is_not_held),
        cmocka_unit_test(the_result_of_a_guarded_call_is_not_held),
        cmocka_unit_test(frames_of_callees_are_those_of_the_allocator),
        cmocka_unit_test(any_calls_need_what_the_allocator_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
