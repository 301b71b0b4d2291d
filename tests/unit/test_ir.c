/* The module handle of the public C API (include/heddle/ir.h), used as an embedding program would. What the structures
 * hold is compared with the dumps by tests/library; here is what a program can do wrong, and what a failure leaves. */
#include "unit.h"

#include "heddle/ir.h"

static const char kernel[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry _Z1kPf(.param .u64 p)\n{\n"
                             "\t.reg .b64 %r<3>;\n"
                             "\t.reg .f32 %f<3>;\n"
                             "\t.reg .pred %p<2>;\n"
                             "\tld.param.u64 %r1, [p];\n"
                             "\tsetp.eq.s64 %p1, %r1, 0;\n"
                             "@!%p1\tld.global.f32 %f1, [%r1+4];\n"
                             "\tadd.rn.f32 %f2, %f1, 0f3F800000;\n"
                             "\tst.global.f32 [%r1], %f2;\n"
                             "\tret;\n}\n";

static hd_ir_module *open_text(hd_context *context, const char *text)
{
    const hd_input input = {"k.ptx", text, strlen(text)};
    hd_ir_module *module;
    assert_int_equal(hd_ir_open(context, &input, NULL, &module), HD_STATUS_DONE);
    return module;
}

static void what_is_in_it(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    hd_ir_module *module = open_text(context, kernel);
    hd_ir_summary summary = {.size = sizeof summary};
    hd_ir_function f = {.size = sizeof f};
    hd_ir_instruction insn = {.size = sizeof insn};
    hd_ir_operand o = {.size = sizeof o};
    hd_ir_register r = {.size = sizeof r};
    assert_true(hd_ir_get_summary(module, &summary));
    assert_string_equal(summary.target, "sm_80");
    assert_string_equal(summary.name, "k.ptx");
    assert_int_equal(summary.function_count, 1);
    assert_int_equal(hd_ir_find_function(module, "_Z1kPf"), 0);
    assert_int_equal(hd_ir_find_function(module, "other"), HD_IR_NONE);
    assert_true(hd_ir_get_function(module, 0, &f));
    assert_string_equal(f.demangled, "k(float*)");
    assert_int_equal(f.instruction_count, 6);
    assert_int_equal(f.place.line, 4);

    assert_true(hd_ir_get_instruction(module, 0, 2, &insn));
    assert_string_equal(insn.text, "@!%p1 ld.global.f32 %f1, [%r1+4];");
    assert_string_equal(insn.opcode, "ld");
    assert_string_equal(insn.modifiers, "global.f32");
    assert_true(insn.predicate_negated);
    assert_int_equal(insn.behaviour, HD_IR_LOAD);
    assert_int_equal(insn.place.line, 11);
    assert_int_equal(insn.place.column, 1);
    assert_memory_equal(kernel + insn.place.begin, "@!%p1", 5);
    assert_int_equal(insn.read_count, 2);
    assert_int_equal(insn.reads[0], insn.predicate);
    assert_true(hd_ir_get_register(module, 0, insn.predicate, &r));
    assert_string_equal(r.name, "%p1");
    assert_string_equal(r.type, "pred");
    assert_int_equal(r.words, 0);
    assert_int_equal(insn.live_count, 3); /* %r1, %p1, and %f1, which the guard may leave as it was */
    assert_int_equal(insn.live_words, 3);
    assert_false(insn.control.known);

    assert_true(hd_ir_get_operand(module, 0, 2, 1, &o));
    assert_int_equal(o.kind, HD_IR_ADDRESS);
    assert_string_equal(o.text, "[%r1+4]");
    assert_true(hd_ir_get_operand(module, 0, 2, 3, &o));
    assert_int_equal(o.kind, HD_IR_IMMEDIATE);
    assert_int_equal(o.value, 4);
    assert_false(o.is_float);
    assert_true(hd_ir_get_operand(module, 0, 3, 2, &o));
    assert_true(o.is_float);
    assert_int_equal(o.bits, 32);
    assert_int_equal(o.value, 0x3F800000);
    hd_ir_close(module);
    hd_context_free(context);
}

static void wrong_indices(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    hd_ir_module *module = open_text(context, kernel);
    hd_ir_function f = {.size = sizeof f, .name = "as before"};
    hd_ir_block b = {.size = sizeof b};
    hd_ir_instruction insn = {.size = sizeof insn};
    hd_ir_operand o = {.size = sizeof o};
    hd_ir_register r = {.size = sizeof r};
    hd_ir_annotation a = {.size = sizeof a};
    assert_false(hd_ir_get_function(module, 1, &f));
    assert_string_equal(f.name, "as before");
    assert_false(hd_ir_get_block(module, 0, 1, &b));
    assert_false(hd_ir_get_block(module, 1, 0, &b));
    assert_false(hd_ir_get_instruction(module, 0, 6, &insn));
    assert_false(hd_ir_get_instruction(module, HD_IR_NONE, HD_IR_NONE, &insn));
    assert_false(hd_ir_get_operand(module, 0, 2, 4, &o));
    assert_false(hd_ir_get_register(module, 0, HD_IR_NONE, &r));
    assert_false(hd_ir_get_annotation(module, 0, 0, &a));
    hd_ir_close(module);
    hd_ir_close(NULL);
    hd_context_free(context);
}

/* Structures of other versions. */
static void sizes(void **state)
{
    (void)state;
    struct later {
        hd_ir_register known;
        uint64_t unknown;
    } later = {.known = {.size = sizeof later}, .unknown = 7};
    struct earlier {
        size_t size;
        const char *name;
    };
    struct {
        struct earlier known;
        uint64_t after;
    } shorter = {.known = {.size = sizeof shorter.known}, .after = 7};
    hd_context *context = hd_context_new();
    hd_ir_module *module = open_text(context, kernel);
    hd_ir_register none = {0};
    assert_true(hd_ir_get_register(module, 0, 0, &later.known));
    assert_int_equal(later.known.size, sizeof(hd_ir_register));
    assert_int_equal(later.unknown, 7);
    assert_true(hd_ir_get_register(module, 0, 0, (hd_ir_register *)(void *)&shorter));
    assert_string_equal(shorter.known.name, "%r1");
    assert_int_equal(shorter.known.size, sizeof shorter.known);
    assert_int_equal(shorter.after, 7);
    assert_false(hd_ir_get_register(module, 0, 0, &none));
    const hd_ir_print_settings no_size = {.canonical = true};
    hd_text text;
    assert_int_equal(hd_ir_print(module, &no_size, &text), HD_STATUS_USAGE);
    assert_null(text.bytes);
    hd_ir_close(module);
    hd_context_free(context);
}

static char *printed(hd_ir_module *module)
{
    hd_text text;
    assert_int_equal(hd_ir_print(module, NULL, &text), HD_STATUS_DONE);
    return text.bytes;
}

/* A failed pipeline leaves the module as it was, whatever ran before. */
static void failures(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    hd_ir_module *module = open_text(context, kernel);
    hd_rewrite_settings settings = {.size = sizeof settings, .kernel = "other*"};
    assert_int_equal(hd_ir_run(module, "nosuch", NULL), HD_STATUS_USAGE);
    assert_string_equal(hd_context_message(context, 0).slug, "bad-pass");
    assert_int_equal(hd_ir_run(module, "bow", &settings), HD_STATUS_REJECTED);
    assert_string_equal(hd_context_message(context, 0).slug, "unknown-kernel");
    settings = (hd_rewrite_settings){.size = sizeof settings, .gpu = "nosuch"};
    assert_int_equal(hd_ir_run(module, "bow", &settings), HD_STATUS_USAGE);
    char *before = printed(module);
    assert_string_equal(before, kernel);
    free(before);
    assert_int_equal(hd_ir_run(module, "bow(iw=3)", NULL), HD_STATUS_DONE);
    before = printed(module);
    assert_non_null(strstr(before, "//@bow_window 3"));
    assert_int_equal(hd_ir_run(module, "regalloc(max=1)", NULL), HD_STATUS_REJECTED);
    char *after = printed(module);
    assert_string_equal(after, before);
    uint64_t annotations;
    assert_int_equal(hd_ir_check(module, NULL, &annotations), HD_STATUS_DONE);
    assert_true(annotations > 0);
    free(before);
    free(after);
    hd_ir_close(module);

    const hd_input broken = {"k.ptx", ".version 8.0\n.target sm_80\n.entry k() { nosuch }", 47};
    assert_int_equal(hd_ir_open(context, &broken, NULL, &module), HD_STATUS_REJECTED);
    assert_null(module);
    const hd_input missing = {.name = "/no/such.ptx"};
    assert_int_equal(hd_ir_open(context, &missing, NULL, &module), HD_STATUS_REJECTED);
    assert_string_equal(hd_context_message(context, 0).slug, "unreadable");
    hd_context_free(context);
}

/* What was seen before a pipeline is not what is there after it. */
static void changes(void **state)
{
    (void)state;
    hd_context *context = hd_context_new();
    hd_ir_module *module = open_text(context, kernel);
    hd_ir_function f = {.size = sizeof f};
    hd_ir_instruction insn = {.size = sizeof insn};
    assert_true(hd_ir_get_instruction(module, 0, 0, &insn));
    assert_int_equal(hd_ir_run(module, "select,regalloc", NULL), HD_STATUS_DONE);
    assert_true(hd_ir_get_function(module, 0, &f));
    for (uint32_t i = 0; i < f.instruction_count; i++) {
        assert_true(hd_ir_get_instruction(module, 0, i, &insn));
        for (uint32_t k = 0; k < insn.read_count; k++)
            assert_true(insn.reads[k] < f.register_count);
        for (uint32_t k = 0; k < insn.live_count; k++)
            assert_true(insn.live[k] < f.register_count);
    }
    const hd_report_module *report;
    assert_int_equal(hd_ir_report_results(module, NULL, &report), HD_STATUS_DONE);
    assert_non_null(report);
    hd_ir_close(module);
    hd_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_in_it), cmocka_unit_test(wrong_indices),
                                       cmocka_unit_test(sizes), cmocka_unit_test(failures), cmocka_unit_test(changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
