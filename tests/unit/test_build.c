/* Functions made in memory and edited, and the validator's view of broken ones. */
#include "tests/unit/ptx_file.h"
#include "tests/unit/unit.h"

#include "emitters/ir/ptx.h"
#include "ir/build.h"
#include "parser/parse.h"
#include "passes/manager/manager.h"

typedef struct subject {
    hd_diagnostics diagnostics;
    hd_source source;
    hd_module *module;
    hd_function *function;
} subject;

static void open_module(subject *s, const char *text)
{
    hd_diagnostics_init(&s->diagnostics);
    hd_source_from_memory(&s->source, "case.ptx", text, strlen(text));
    s->module = hd_parse_ptx(&s->source, &(hd_parse_options){0}, &s->diagnostics);
    if (s->diagnostics.first)
        fail_msg("%s", s->diagnostics.first->message);
    s->function = s->module->functions.count ? s->module->functions.items[0] : NULL;
}

static void done(subject *s)
{
    hd_module_free(s->module);
    hd_diagnostics_free(&s->diagnostics);
}

static void expect_module(const subject *s, bool canonical, const char *expected)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    assert_true(hd_ir_validate(s->module));
    assert_true(hd_emit_ptx(&text, s->module, &(hd_emit_options){.canonical = canonical}));
    hd_write_char(&text, '\0');
    assert_string_equal(text.buffer.items, expected);
    hd_writer_free(&text);
}

static hd_operand reg(const subject *s, const char *name)
{
    for (uint32_t r = 0; r < s->function->registers.count; r++) {
        char spelled[32];
        hd_register_spell(s->function, r, spelled, sizeof spelled);
        if (strcmp(spelled, name) == 0)
            return hd_make_register_operand(r);
    }
    fail_msg("no register %s", name);
    return (hd_operand){0};
}

static hd_instruction move(const subject *s, const char *to, uint64_t value)
{
    hd_operand operands[] = {reg(s, to), hd_make_literal_operand(s->module, value, HD_LITERAL_SIGNED)};
    return hd_make_instruction(s->function, "mov.u32", HD_NONE, false, operands, 2, NULL);
}

/* ---- edits ------------------------------------------------------------------------------------------------------- */

static void edits_keep_what_they_do_not_touch(void **state)
{
    subject s;
    hd_edit edit;
    (void)state;
    open_module(&s, ptx_file("build-module"));
    hd_function_cfg(s.function);
    hd_annotate(s.function, (hd_annotation){.kind = 17, .instruction = 2, .value = 1});
    hd_annotate(s.function, (hd_annotation){.kind = 17, .instruction = 1, .value = 1});
    hd_annotations_sort(s.function);
    hd_edit_begin(&edit, s.function);
    hd_edit_before(&edit, 1, move(&s, "%r1", 11)); /* after the label */
    hd_edit_after(&edit, 0, move(&s, "%r1", 10));  /* in front of it */
    hd_edit_before(&edit, 1, move(&s, "%r1", 12));
    hd_edit_remove(&edit, 1);
    hd_edit_replace(&edit, 0, move(&s, "%r1", 5));
    assert_true(hd_edit_end(&edit));
    assert_null(s.function->cfg);
    assert_int_equal(s.function->instructions.count, 7);
    const hd_instruction *insns = s.function->instructions.items;
    assert_int_equal(insns[0].id, 0); /* the replaced one's */
    assert_int_equal(insns[0].origin, 0);
    assert_true(insns[0].flags & HD_INSN_DIRTY && !(insns[0].flags & HD_INSN_FRESH));
    assert_true(insns[1].flags & HD_INSN_FRESH);
    assert_int_equal(insns[4].id, 2);
    assert_int_equal(s.function->labels.items[0].instruction, 2);
    assert_int_equal(s.function->annotations.count, 1); /* the removed one's went with it */
    assert_int_equal(s.function->annotations.items[0].instruction, 4);
    hd_annotations_remove(s.function, NULL);
    assert_true(hd_ir_validate(s.module));
    const hd_cfg *cfg = hd_function_cfg(s.function);
    assert_int_equal(cfg->block_count, 3);
    assert_int_equal(cfg->blocks[1].first, 2);
    done(&s);
}

static void edits_are_printed(void **state)
{
    subject s;
    hd_edit edit;
    (void)state;
    open_module(&s, ptx_file("build-module"));
    hd_edit_begin(&edit, s.function);
    hd_edit_after(&edit, 0, move(&s, "%r1", 10));
    hd_edit_before(&edit, 1, move(&s, "%r1", 11));
    hd_edit_replace(&edit, 2,
                    hd_make_instruction(s.function, "setp.gt.u32", HD_NONE, false,
                                        (hd_operand[]){reg(&s, "%p1"), reg(&s, "%r1"),
                                                       hd_make_literal_operand(s.module, 3, HD_LITERAL_SIGNED)},
                                        3, NULL));
    hd_edit_before(&edit, 5, move(&s, "%r1", 12)); /* at the end */
    hd_edit_end(&edit);
    hd_writer text;
    hd_writer_to_memory(&text);
    assert_true(hd_emit_ptx(&text, s.module, &(hd_emit_options){.no_annotations = true}));
    hd_write_char(&text, '\0');
    static const char *const order[] = {
        "mov.u32 %r1, 1; // one",   "mov.u32 %r1, 10;", "L:",   "mov.u32 %r1, 11;", "add.u32 %r1, %r1, 2;",
        "setp.gt.u32 %p1, %r1, 3;", "@%p1 bra L;",      "ret;", "mov.u32 %r1, 12;", "}"};
    const char *at = text.buffer.items;
    for (uint32_t i = 0; i < sizeof order / sizeof *order; i++) {
        const char *next = strstr(at, order[i]);
        if (!next)
            fail_msg("no \"%s\" where it should be in:\n%s", order[i], text.buffer.items);
        at = next + strlen(order[i]);
    }
    subject again; /* and it is PTX */
    open_module(&again, text.buffer.items);
    assert_int_equal(again.function->instructions.count, 8);
    done(&again);
    hd_writer_free(&text);
    done(&s);
}

static void an_edit_without_steps_changes_nothing(void **state)
{
    subject s;
    hd_edit edit;
    (void)state;
    open_module(&s, ptx_file("build-module"));
    hd_function_cfg(s.function);
    hd_edit_begin(&edit, s.function);
    assert_false(hd_edit_end(&edit));
    assert_non_null(s.function->cfg);
    assert_false(s.function->changed);
    expect_module(&s, false, ptx_file("build-module"));
    done(&s);
}

/* ---- from nothing ------------------------------------------------------------------------------------------------ */

static void a_loop_from_nothing(void **state)
{
    subject s;
    hd_edit edit;
    bool ok;
    (void)state;
    open_module(&s, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f ()\n{\nagain:\nret;\n}\n");
    hd_function *f = s.function;
    uint32_t words = hd_make_registers(f, "%r", HD_TYPE_U32, 3), wide = hd_make_registers(f, "%a", HD_TYPE_B64, 1);
    uint32_t test = hd_make_registers(f, "%test", HD_TYPE_PRED, 1);
    hd_operand halves[] = {hd_make_register_operand(wide), hd_make_aggregate(HD_OPERAND_VECTOR, 2),
                           hd_make_register_operand(words), hd_make_register_operand(words + 1)};
    hd_operand loaded[] = {hd_make_register_operand(words + 2), hd_make_aggregate(HD_OPERAND_ADDRESS, 1),
                           hd_make_register_operand(wide), hd_make_literal_operand(s.module, 8, HD_LITERAL_SIGNED)};
    loaded[2].flags |= HD_OPERAND_OFFSET;
    loaded[2].count = 1;
    hd_operand target = hd_make_operand(HD_OPERAND_LABEL, 0);
    hd_edit_begin(&edit, f);
    hd_edit_before(&edit, 0, hd_make_instruction(f, "mov.b64", HD_NONE, false, halves, 4, &ok));
    assert_true(ok);
    hd_edit_before(&edit, 0, hd_make_instruction(f, "ld.global.u32", test, true, loaded, 4, &ok));
    assert_true(ok);
    hd_edit_before(&edit, 0, hd_make_instruction(f, "bra", test, false, &target, 1, &ok));
    assert_true(ok);
    assert_true(hd_edit_end(&edit));
    assert_true(hd_ir_validate(s.module));
    const hd_operand *o = hd_insn_operands(f, &f->instructions.items[0]);
    assert_int_equal(o[0].flags, HD_OPERAND_DEF);
    assert_int_equal(o[2].flags, HD_OPERAND_USE);
    assert_int_equal(hd_function_cfg(f)->block_count, 2);
    hd_make_instruction(f, "add.u32", HD_NONE, false, (hd_operand[]){hd_make_register_operand(words)}, 1, &ok);
    assert_false(ok); /* operands are missing */
    assert_int_equal(s.diagnostics.error_count, 1);
    done(&s);
}

/* ---- the validator ----------------------------------------------------------------------------------------------- */

static void break_operand_register(hd_function *f) { f->operands.items[0].value = 1000; }
static void break_operand_role(hd_function *f) { f->operands.items[0].flags = 0; }
static void break_operand_kind(hd_function *f) { f->operands.items[0].kind = 77; }
static void break_operand_range(hd_function *f) { f->instructions.items[1].operand_first = 100; }
static void break_elements(hd_function *f) { f->operands.items[1].count = 1; } /* the last of its instruction */
static void break_plain(hd_function *f) { f->operands.items[1].count = 9; }
static void break_literal(hd_function *f) { f->operands.items[1].value = 1000; }
static void break_label(hd_function *f) { f->labels.items[0].instruction = 3; }
static void break_label_range(hd_function *f) { f->labels.items[0].instruction = 6; }
static void break_guard(hd_function *f) { f->instructions.items[0].guard = f->operands.items[0].value; }
static void break_id(hd_function *f) { f->instructions.items[1].id = 0; }
static void break_id_range(hd_function *f) { f->next_instruction_id = 3; }
static void break_form(hd_function *f) { f->instructions.items[0].form = 1000; }
static void break_order(hd_function *f) { hd_array_last(&f->statements).index = 0; }
static void break_count(hd_function *f) { f->statements.count--; }
static void break_register_type(hd_function *f) { f->registers.items[0].type = HD_TYPE_NONE; }
static void break_location(hd_function *f) { f->instructions.items[0].location = 5; }
static void break_annotations(hd_function *f)
{
    hd_array_push(&f->annotations, (hd_annotation){.kind = 17, .instruction = 1});
    hd_array_push(&f->annotations, (hd_annotation){.kind = 17, .instruction = 0});
}
static void break_annotation_anchor(hd_function *f)
{
    hd_array_push(&f->annotations, (hd_annotation){.kind = 17, .instruction = 5});
}
static void break_edge(hd_function *f) { hd_function_cfg(f)->successors[0] = 0; }
static void break_block(hd_function *f) { hd_function_cfg(f)->blocks[1].first = 0; }
static void break_block_of(hd_function *f) { hd_function_cfg(f)->block_of[2] = 0; }
static void stale_cfg(hd_function *f)
{
    hd_function_cfg(f);
    f->instructions.count--;
    f->statements.count--;
}

static void the_validator_finds_what_is_broken(void **state)
{
    static const struct {
        void (*harm)(hd_function *);
        const char *says;
    } cases[] = {
        {break_operand_register, "operand names register"},
        {break_operand_role, "neither read nor written"},
        {break_operand_kind, "no known kind"},
        {break_operand_range, "operands reach beyond"},
        {break_elements, "elements reach beyond"},
        {break_plain, "plain operand has"},
        {break_literal, "names literal"},
        {break_label, "is before instruction"},
        {break_label_range, "after the last instruction"},
        {break_guard, "guard is no predicate"},
        {break_id, "two instructions have id"},
        {break_id_range, "is not below"},
        {break_form, "names form"},
        {break_order, "is where"},
        {break_count, "are in the body"},
        {break_register_type, "has no type"},
        {break_location, "names no location"},
        {break_annotations, "out of order"},
        {break_annotation_anchor, "is at no instruction"},
        {break_edge, "disagree"},
        {break_block, "does not follow"},
        {break_block_of, "is not of block"},
        {stale_cfg, "do not end where"},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        subject s;
        open_module(&s, ptx_file("build-module"));
        assert_true(hd_ir_validate(s.module));
        cases[i].harm(s.function);
        if (hd_ir_validate(s.module))
            fail_msg("not found: %s", cases[i].says);
        if (!strstr(s.diagnostics.first->message, cases[i].says))
            fail_msg("\"%s\" where \"%s\" was expected", s.diagnostics.first->message, cases[i].says);
        assert_int_equal(s.diagnostics.first->kind, HD_DIAG_INVALID_IR);
        done(&s);
    }
}

static void what_a_pass_did_is_taken_back(void **state)
{
    subject s;
    open_module(&s, ptx_file("build-module"));
    hd_function *before = hd_function_copy(s.function);
    hd_pipeline *passes = hd_pipeline_parse("select,regalloc", &s.diagnostics);
    assert_true(hd_pipeline_run_function(passes, s.function, NULL, NULL, &s.diagnostics));
    assert_true(s.function->changed);
    assert_true(hd_ir_validate_function(before, &s.diagnostics));
    hd_function_restore(s.function, before);
    assert_false(s.function->changed);
    expect_module(&s, false, ptx_file("build-module"));
    before = hd_function_copy(s.function);
    assert_true(hd_pipeline_run_function(passes, s.function, NULL, NULL, &s.diagnostics));
    assert_true(hd_ir_validate(s.module));
    assert_int_equal(s.diagnostics.error_count, 0);
    hd_function_restore(s.function, before);
    hd_pipeline *warns = hd_pipeline_parse("regmutex", &s.diagnostics);
    assert_true(hd_pipeline_run_function(warns, s.function, NULL, NULL, &s.diagnostics));
    assert_non_null(s.diagnostics.first);
    assert_int_equal(s.diagnostics.first->kind, HD_DIAG_NOT_ALLOCATED);
    hd_pipeline_free(warns);
    hd_pipeline_free(passes);
    done(&s);
    (void)state;
}

static void run_passes_in(subject *s, hd_module *module, const char *list, hd_pass_contexts *contexts)
{
    hd_pipeline *passes = hd_pipeline_parse(list, &s->diagnostics);
    assert_true(hd_pipeline_run(passes, module, &(hd_pipeline_options){.contexts = contexts}, &s->diagnostics));
    assert_int_equal(s->diagnostics.error_count, 0);
    hd_pipeline_free(passes);
}
static void run_passes(subject *s, hd_module *module, const char *list) { run_passes_in(s, module, list, NULL); }

/* It has a register of module scope, a call, a variable with an initializer, annotations. */

/* Passes do with a copy what they do with the module itself, and neither sees what becomes of the other. */
static void a_copy_of_a_module_is_another_one(void **state)
{
    static const char passes[] = "select,regalloc,demo,ltrf";
    subject s, copy, copy_of_copy;
    open_module(&s, ptx_file("build-copied"));
    copy = copy_of_copy = s;
    copy.module = hd_module_copy(s.module, &s.diagnostics);
    run_passes(&s, copy.module, passes);
    expect_module(&s, false, ptx_file("build-copied"));
    copy_of_copy.module = hd_module_copy(s.module, &s.diagnostics);
    run_passes(&s, s.module, passes);
    expect_module(&copy_of_copy, false, ptx_file("build-copied"));
    hd_writer text;
    hd_writer_to_memory(&text);
    assert_true(hd_emit_ptx(&text, s.module, &(hd_emit_options){0}));
    hd_write_char(&text, '\0');
    assert_string_not_equal(text.buffer.items, ptx_file("build-copied"));
    expect_module(&copy, false, text.buffer.items);
    hd_writer_free(&text);
    hd_module_free(copy_of_copy.module);
    hd_module_free(copy.module);
    done(&s);
    (void)state;
}

/* Analyses are kept from pipeline to pipeline until a pass changes the code, and then are those of the new code. */
static void contexts_outlive_pipelines(void **state)
{
    static const char *const lists[] = {"bow", "release", "clean", "ltrf", "corf", "regalloc", "bow,ltrf", "release"};
    subject s, other;
    open_module(&s, ptx_file("build-copied"));
    open_module(&other, ptx_file("build-copied"));
    hd_pass_contexts contexts;
    hd_pass_contexts_open(&contexts, s.module, &s.diagnostics);
    const void *uniformity = NULL;
    for (uint32_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        run_passes_in(&s, s.module, lists[i], &contexts);
        run_passes(&other, other.module, lists[i]);
        assert_true(i != 1 || contexts.items[1].analyses[HD_ANALYSIS_UNIFORMITY] == uniformity);
        assert_true(i != 5 || !contexts.items[1].analyses[HD_ANALYSIS_UNIFORMITY]);
        uniformity = contexts.items[1].analyses[HD_ANALYSIS_UNIFORMITY];
    }
    hd_pass_contexts_close(&contexts);
    hd_writer text;
    hd_writer_to_memory(&text);
    assert_true(hd_emit_ptx(&text, other.module, &(hd_emit_options){0}));
    hd_write_char(&text, '\0');
    expect_module(&s, false, text.buffer.items);
    hd_writer_free(&text);
    done(&s);
    done(&other);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_outlive_pipelines),
        cmocka_unit_test(a_copy_of_a_module_is_another_one),
        cmocka_unit_test(edits_keep_what_they_do_not_touch),
        cmocka_unit_test(edits_are_printed),
        cmocka_unit_test(an_edit_without_steps_changes_nothing),
        cmocka_unit_test(a_loop_from_nothing),
        cmocka_unit_test(the_validator_finds_what_is_broken),
        cmocka_unit_test(what_a_pass_did_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
