/* The proof of allocations (passes/check/regalloc.h) on allocated random programs that are then spoiled: another
 * register in an operand, another slot, an inserted instruction left out or two swapped. What the proof accepts all the
 * same must compute what the program does; most of it must be refused. PROGRAM_COUNT=N spoils N programs. */
#include "kernel.h"
#include "program.h"
#include "ptx_file.h"

#include "emitters/ir/ptx.h"
#include "ir/build.h"
#include "passes/check/regalloc.h"
#include "passes/regalloc/regalloc.h"
#include "passes/analysis/analyses.h"

enum { TEXT_BYTES = 1 << 19 };

typedef struct allocated {
    hd_source source;
    hd_diagnostics diagnostics;
    hd_module *module;
    hd_function *kernel, *before;
} allocated;

static void open_allocated(allocated *a, const char *text, uint32_t max)
{
    hd_regalloc_options options = {.max = max};
    hd_regalloc_result result;
    hd_pass_context context;
    hd_diagnostics_init(&a->diagnostics);
    hd_source_from_memory(&a->source, "k.ptx", text, strlen(text));
    a->module = hd_parse_ptx(&a->source, &(hd_parse_options){0}, &a->diagnostics);
    a->kernel = hd_module_find_function(a->module, "k");
    a->before = hd_function_copy(a->kernel);
    hd_pass_context_init(&context, a->kernel, &a->diagnostics);
    assert_true(hd_regalloc_run(&context, &options, &result));
    hd_pass_context_free(&context);
    assert_int_equal(a->diagnostics.error_count, 0);
}

static void close_allocated(allocated *a)
{
    hd_function_copy_free(a->before);
    hd_module_free(a->module);
    hd_diagnostics_free(&a->diagnostics);
}

static bool accepted(allocated *a)
{
    hd_diagnostics quiet;
    hd_diagnostics_init(&quiet);
    bool good = hd_check_allocation(a->before, a->kernel, &quiet);
    assert_int_equal(good, quiet.error_count == 0);
    hd_diagnostics_free(&quiet);
    return good;
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

static bool is_inserted(const allocated *a, const hd_instruction *insn)
{
    return insn->id >= a->before->next_instruction_id;
}

/* Another register of the same class in an operand. */
static bool spoil_operand(allocated *a, uint64_t *random)
{
    hd_function *f = a->kernel;
    hd_instruction *insn = &f->instructions.items[draw(random, f->instructions.count)];
    hd_operand *o =
        &f->operands.items[insn->operand_first + (insn->operand_count ? draw(random, insn->operand_count) : 0)];
    if (!insn->operand_count || o->kind != HD_OPERAND_REGISTER || o->value == f->carry_register)
        return false;
    hd_physical at = hd_register_physical(f, o->value);
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t other = draw(random, f->registers.count);
        hd_physical there = hd_register_physical(f, other);
        if (other == o->value || there.class != at.class)
            continue;
        o->value = other;
        return true;
    }
    return false;
}

static bool spoil_guard(allocated *a, uint64_t *random)
{
    hd_function *f = a->kernel;
    hd_instruction *insn = &f->instructions.items[draw(random, f->instructions.count)];
    uint32_t other = draw(random, f->registers.count);
    if (insn->guard == HD_NONE || other == insn->guard || hd_register_physical(f, other).class != HD_PHYSICAL_PREDICATE)
        return false;
    insn->guard = other;
    return true;
}

static bool spoil_slot(allocated *a, uint64_t *random)
{
    hd_function *f = a->kernel;
    hd_instruction *insn = &f->instructions.items[draw(random, f->instructions.count)];
    for (uint32_t i = 0; is_inserted(a, insn) && i < insn->operand_count; i++) {
        hd_operand *o = &f->operands.items[insn->operand_first + i];
        if (o->kind != HD_OPERAND_SYMBOL || !o->count)
            continue;
        uint64_t bits = a->module->literals.items[o[1].value].bits;
        o[1] = hd_make_literal_operand(a->module, bits >= 16 ? bits - 16 : bits + 16, HD_LITERAL_SIGNED);
        return true;
    }
    return false;
}

static bool spoil_by_removal(allocated *a, uint64_t *random)
{
    hd_function *f = a->kernel;
    uint32_t at = draw(random, f->instructions.count);
    if (!is_inserted(a, &f->instructions.items[at]))
        return false;
    hd_edit edit;
    hd_edit_begin(&edit, f);
    hd_edit_remove(&edit, at);
    return hd_edit_end(&edit);
}

/* Whether there is nothing, such as a label or a brace, between an instruction and the next. */
static bool is_next(const hd_function *f, uint32_t at)
{
    for (uint32_t i = 0; i + 1 < f->statements.count; i++)
        if (f->statements.items[i].kind == HD_STATEMENT_INSTRUCTION && f->statements.items[i].index == at)
            return f->statements.items[i + 1].kind == HD_STATEMENT_INSTRUCTION;
    return false;
}

/* An inserted instruction and the one after it, in the other order. */
static bool spoil_order(allocated *a, uint64_t *random)
{
    hd_function *f = a->kernel;
    uint32_t at = draw(random, f->instructions.count - 1);
    hd_instruction *insn = &f->instructions.items[at];
    if (!is_inserted(a, insn) || !is_next(f, at) || hd_insn_flow(f, insn + 1) != HD_FLOW_NEXT)
        return false;
    hd_instruction first = insn[0];
    hd_span spans[2] = {insn[0].span, insn[1].span};
    insn[0] = insn[1];
    insn[1] = first;
    insn[0].span = spans[0];
    insn[1].span = spans[1];
    insn[0].flags |= HD_INSN_DIRTY;
    insn[1].flags |= HD_INSN_DIRTY;
    return true;
}

static bool (*const spoilers[])(allocated *, uint64_t *) = {spoil_operand, spoil_guard, spoil_slot, spoil_by_removal,
                                                            spoil_order};
enum { SPOILERS = sizeof spoilers / sizeof *spoilers };

/* Runs the code as it is now. */
static bool computes_the_same(const program *p, const allocated *a)
{
    static uint32_t got[96 * RESULT_WORDS], want[96 * RESULT_WORDS];
    hd_writer text;
    hd_writer_to_memory(&text);
    assert_true(hd_emit_ptx(&text, a->module, &(hd_emit_options){.canonical = true, .no_annotations = true}));
    hd_write_char(&text, '\0');
    memset(got, 0, sizeof got);
    kernel_run run = {.text = text.buffer.items,
                      .in = p->inputs,
                      .in_bytes = sizeof p->inputs,
                      .out = got,
                      .out_bytes = sizeof *got * RESULT_WORDS * p->threads,
                      .block = p->threads,
                      .options.instruction_limit = 20000000};
    run_kernel(&run);
    hd_writer_free(&text);
    program_plain(p, got);
    program_evaluate(p, want);
    return run.status == HD_EXEC_DONE && memcmp(got, want, sizeof *got * RESULT_WORDS * p->threads) == 0;
}

static void spoiled_allocations_are_refused(void **state)
{
    static program p;
    const char *wanted = getenv("PROGRAM_COUNT");
    uint64_t count = wanted ? strtoull(wanted, NULL, 10) : 60, random = 1;
    uint32_t spoiled[SPOILERS] = {0}, refused[SPOILERS] = {0};
    char *text = malloc(TEXT_BYTES);
    (void)state;
    assert_non_null(text);
    for (uint64_t seed = 1; seed <= count * SPOILERS; seed++) {
        uint32_t how = seed % SPOILERS, tries = 0;
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        allocated a;
        open_allocated(&a, text, 20);
        assert_true(accepted(&a));
        while (!spoilers[how](&a, &random) && tries < 5000)
            tries++;
        if (tries < 5000) {
            hd_function_drop_cfg(a.kernel);
            spoiled[how]++;
            if (!accepted(&a))
                refused[how]++;
            else if (!computes_the_same(&p, &a))
                fail_msg("seed %llu: a wrong allocation is accepted (%u)", (unsigned long long)seed, how);
        }
        close_allocated(&a);
    }
    for (uint32_t how = 0; how < SPOILERS; how++) {
        print_message("spoiled %u times, refused %u\n", spoiled[how], refused[how]);
        assert_true(spoiled[how] > count / 2);
        assert_true(refused[how] > spoiled[how] / 3);
    }
    free(text);
}

/* Constants that are computed again where they are read: any other number is refused. */
static void repeated_constants_keep_their_numbers(void **state)
{
    enum { CONSTANTS = 24 };
    hd_writer text;
    allocated a;
    uint32_t spoiled = 0;
    (void)state;
    hd_writer_to_memory(&text);
    hd_write_format(&text,
                    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 out)\n{\n"
                    ".reg .b32 %%c<%u>;\n.reg .b32 %%s;\n.reg .b64 %%d;\nld.param.u64 %%d, [out];\nmov.u32 %%s, 0;\n",
                    CONSTANTS);
    for (uint32_t i = 0; i < CONSTANTS; i++)
        hd_write_format(&text, "mov.u32 %%c%u, %u;\n", i, 1000 + i);
    for (uint32_t i = 0; i < 2 * CONSTANTS; i++)
        hd_write_format(&text, "xor.b32 %%s, %%s, %%c%u;\nst.global.u32 [%%d+%u], %%s;\n", i % CONSTANTS, 4 * i);
    hd_write_string(&text, "ret;\n}\n");
    hd_write_char(&text, '\0');
    open_allocated(&a, text.buffer.items, 10);
    assert_true(accepted(&a));
    hd_function *f = a.kernel;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        hd_operand *o = &f->operands.items[insn->operand_first + 1];
        if (!is_inserted(&a, insn) || insn->operand_count != 2 || o->kind != HD_OPERAND_LITERAL)
            continue;
        hd_operand right = *o;
        *o = hd_make_literal_operand(a.module, a.module->literals.items[o->value].bits + 1, HD_LITERAL_SIGNED);
        assert_false(accepted(&a));
        *o = right;
        spoiled++;
    }
    assert_true(accepted(&a));
    assert_true(spoiled >= CONSTANTS / 2);
    close_allocated(&a);
    hd_writer_free(&text);
}

/* A register's name in a message, as far as it is shown. */
static void long_names_are_cut(void **state)
{
    enum { SHOWN = 63 };
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 in)\n{\n.reg .b32 %%%s, %%b;\n"
        ".reg .b64 %%p;\nld.param.u64 %%p, [in];\nld.global.u32 %%%s, [%%p];\nld.global.u32 %%b, [%%p+4];\n"
        "st.global.u32 [%%p+8], %%%s;\nst.global.u32 [%%p+12], %%b;\nret;\n}\n";
    (void)state;
    for (uint32_t length = SHOWN - 2; length <= SHOWN + 2; length++) {
        char name[SHOWN + 3] = "", long_text[1024], wanted[128];
        allocated a;
        hd_diagnostics told;
        memset(name, 'x', length - 1);
        snprintf(long_text, sizeof long_text, text, name, name, name);
        open_allocated(&a, long_text, 0);
        hd_function *f = a.kernel;
        const hd_instruction *store = &f->instructions.items[3];
        hd_operand *stored = &f->operands.items[store[0].operand_first + store[0].operand_count - 1];
        const hd_operand *other = &f->operands.items[store[1].operand_first + store[1].operand_count - 1];
        assert_int_equal(other->kind, HD_OPERAND_REGISTER);
        stored->value = other->value;
        hd_diagnostics_init(&told);
        assert_false(hd_check_allocation(a.before, f, &told));
        snprintf(wanted, sizeof wanted, " may not hold the value of %%%.*s", SHOWN - 1, name);
        const char *end = strstr(told.first->message, " may");
        assert_non_null(end);
        assert_string_equal(end, wanted);
        hd_diagnostics_free(&told);
        close_allocated(&a);
    }
}

/* What follows the last instruction that is left counts, too. */
static void a_lost_end_is_refused(void **state)
{
    const char *text = ptx_file("regalloc_check-a_lost_end_is_refused");
    (void)state;
    for (uint32_t lost = 0; lost < 3; lost++) {
        allocated a;
        open_allocated(&a, text, 0);
        assert_int_equal(a.kernel->instructions.count, 6);
        a.kernel->instructions.count -= lost;
        hd_function_drop_cfg(a.kernel);
        assert_int_equal(accepted(&a), lost == 0);
        a.kernel->instructions.count += lost;
        close_allocated(&a);
    }
}

static void a_moved_label_is_refused(void **state)
{
    const char *text = ptx_file("regalloc_check-a_moved_label_is_refused");
    allocated a;
    (void)state;
    open_allocated(&a, text, 0);
    assert_true(accepted(&a));
    assert_int_equal(a.kernel->labels.count, 2);
    for (uint32_t l = 0; l < 2; l++)
        for (uint32_t step = 0; step < 2; step++) {
            uint32_t *at = &a.kernel->labels.items[l].instruction, right = *at;
            *at = step ? right + 1 : right - 1;
            hd_function_drop_cfg(a.kernel);
            assert_false(accepted(&a));
            *at = right;
        }
    hd_function_drop_cfg(a.kernel);
    assert_true(accepted(&a));
    close_allocated(&a);
}

/* Spills go to a variable that the program uses itself. */
static void slots_in_a_variable_of_the_program_are_refused(void **state)
{
    enum { VALUES = 24 };
    hd_writer text;
    allocated a;
    uint32_t moved = 0;
    (void)state;
    hd_writer_to_memory(&text);
    hd_write_format(&text,
                    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 in)\n{\n"
                    ".local .align 16 .b8 own[4096];\n.reg .b32 %%v<%u>;\n.reg .b64 %%d, %%o;\n"
                    "ld.param.u64 %%d, [in];\nmov.u64 %%o, own;\nst.local.u64 [%%o], %%d;\n",
                    VALUES);
    for (uint32_t i = 0; i < VALUES; i++)
        hd_write_format(&text, "ld.global.u32 %%v%u, [%%d+%u];\n", i, 4 * i);
    for (uint32_t i = 0; i < VALUES; i++)
        hd_write_format(&text, "st.global.u32 [%%d+%u], %%v%u;\n", 4 * i + 256, i);
    hd_write_string(&text, "ret;\n}\n");
    hd_write_char(&text, '\0');
    open_allocated(&a, text.buffer.items, 12);
    assert_true(accepted(&a));
    hd_function *f = a.kernel;
    uint32_t own = HD_NONE;
    for (uint32_t i = 0; i < f->instructions.count; i++)
        for (uint32_t k = 0; k < f->instructions.items[i].operand_count; k++) {
            hd_operand *o = &f->operands.items[f->instructions.items[i].operand_first + k];
            if (o->kind != HD_OPERAND_SYMBOL)
                continue;
            if (!is_inserted(&a, &f->instructions.items[i])) {
                own = hd_insn_form(f, &f->instructions.items[i])->opcode == HD_OP_MOV ? o->value : own;
            } else if (own != HD_NONE) {
                o->value = own;
                moved++;
            }
        }
    assert_true(moved > 2);
    assert_false(accepted(&a));
    close_allocated(&a);
    hd_writer_free(&text);
}

static hd_operand *last_operand(allocated *a, uint32_t ordinal)
{
    const hd_instruction *insn = &a->kernel->instructions.items[ordinal];
    return &a->kernel->operands.items[insn->operand_first + insn->operand_count - 1];
}

/* A value is read from a copy of it: until it is written again. */
static void copies_of_old_values_are_refused(void **state)
{
    const char *text = ptx_file("regalloc_check-copies_of_old_values_are_refused");
    enum { LAST_OF_B = 3, READ = 4, READ_AGAIN = 6 };
    (void)state;
    for (uint32_t again = 0; again < 2; again++) {
        allocated a;
        hd_edit edit;
        open_allocated(&a, text, 0);
        uint32_t b = last_operand(&a, LAST_OF_B)->value, value = last_operand(&a, READ)->value;
        assert_int_not_equal(b, value);
        hd_operand copy[] = {hd_make_register_operand(b), hd_make_register_operand(value)};
        hd_edit_begin(&edit, a.kernel);
        hd_edit_after(&edit, LAST_OF_B, hd_make_instruction(a.kernel, "mov.b32", HD_NONE, false, copy, 2, NULL));
        hd_edit_end(&edit);
        assert_true(accepted(&a));
        last_operand(&a, 1 + (again ? READ_AGAIN : READ))->value = b;
        assert_int_equal(accepted(&a), !again);
        close_allocated(&a);
    }
}

/* wmma.mma, which ptxas expands: its result, which nobody reads, shares registers with the accumulator alone, element
 * by element; each other register of an operand in the result is refused. */
static void results_of_expanded_instructions_are_apart(void **state)
{
    const char *text = ptx_file("regalloc_check-results_of_expanded_instructions_are_apart");
    enum { SOURCES = 16, RESULTS = 8 };
    allocated a;
    uint32_t last = 0, refused = 0, kept = 0;
    (void)state;
    open_allocated(&a, text, 32);
    assert_true(accepted(&a));
    for (uint32_t i = 0; i < a.kernel->instructions.count; i++)
        if (hd_insn_form(a.kernel, &a.kernel->instructions.items[i])->opcode == HD_OP_WMMA_MMA)
            last = i;
    const hd_instruction *insn = &a.kernel->instructions.items[last];
    hd_operand *o = &a.kernel->operands.items[insn->operand_first];
    for (uint32_t d = 0; d < insn->operand_count; d++)
        for (uint32_t u = 0; u < insn->operand_count; u++) {
            if (o[d].kind != HD_OPERAND_REGISTER || !(o[d].flags & HD_OPERAND_DEF) ||
                o[u].kind != HD_OPERAND_REGISTER || !(o[u].flags & HD_OPERAND_USE))
                continue;
            uint32_t right = o[d].value;
            o[d].value = o[u].value;
            *(accepted(&a) ? &kept : &refused) += 1;
            o[d].value = right;
        }
    assert_int_equal(kept, RESULTS);
    assert_int_equal(refused, RESULTS * (SOURCES - 1));
    close_allocated(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spoiled_allocations_are_refused),
                                       cmocka_unit_test(repeated_constants_keep_their_numbers),
                                       cmocka_unit_test(long_names_are_cut),
                                       cmocka_unit_test(a_lost_end_is_refused),
                                       cmocka_unit_test(a_moved_label_is_refused),
                                       cmocka_unit_test(slots_in_a_variable_of_the_program_are_refused),
                                       cmocka_unit_test(copies_of_old_values_are_refused),
                                       cmocka_unit_test(results_of_expanded_instructions_are_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
