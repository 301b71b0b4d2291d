/* Printing changed code into the source's text: what comes out holds the same tokens as the canonical form of the
 * changed IR, reads back with the same annotations, and keeps every comment of the author's that stands beside code
 * that stays. */
#include "annotated.h"

#include "ir/build.h"

static const hd_emit_options PORTABLE = {0}, EXTENDED = {.spelling = HD_SPELLING_EXTENDED};

static hd_instruction make_move(hd_function *f, uint32_t reg, uint64_t value)
{
    hd_operand operands[] = {hd_make_register_operand(reg),
                             hd_make_literal_operand(f->module, value, HD_LITERAL_SIGNED)};
    bool ok;
    hd_instruction insn = hd_make_instruction(f, "mov.u32", HD_NONE, false, operands, 2, &ok);
    assert_true(ok);
    return insn;
}

static char *read_back(const char *text, hd_emit_options options)
{
    annotated *a = read_text(text);
    if (a->diagnostics.error_count)
        print_error("%s\n%s\n", a->diagnostics.first->message, text);
    assert_int_equal(a->diagnostics.error_count, 0);
    char *result = written(a, options);
    annotated_free(a);
    return result;
}

/* The module as it is now, printed all ways, is one module. */
static void assert_prints_alike(const annotated *a)
{
    const hd_emit_options canonical = {.canonical = true};
    char *expected = written(a, canonical);
    const hd_emit_options ways[] = {PORTABLE, EXTENDED};
    for (int w = 0; w < 2; w++) {
        char *text = written(a, ways[w]), *again = read_back(text, canonical);
        if (strcmp(again, expected) != 0)
            print_error("%s\n", text);
        assert_string_equal(again, expected);
        free(text);
        free(again);
    }
    free(expected);
}

static void edits_keep_their_surroundings(void **state)
{
    (void)state;
    annotated *a = read_good(KERNEL("\n\t.reg .b32 %r<9>;\n"
                                    "\tmov.u32 %r1, 1; // one\n\n"
                                    "\t// about two\n\tmov.u32 %r2, 2; /* two */\n"
                                    "L:\tmov.u32 %r3, 3; mov.u32 %r4, 4; mov.u32 %r5, 5;   // five\n"
                                    "\tmov.u32 %r6, 6;\n\tret;"));
    hd_edit edit;
    hd_edit_begin(&edit, a->f);
    hd_edit_after(&edit, 0, make_move(a->f, 0, 11));
    hd_edit_remove(&edit, 1);
    hd_edit_replace(&edit, 2, make_move(a->f, 0, 33));
    hd_edit_remove(&edit, 3);
    hd_edit_before(&edit, 5, make_move(a->f, 0, 66));
    assert_true(hd_edit_end(&edit));
    char *text = written(a, PORTABLE);
    assert_string_equal(text, HEAD ".visible .entry k()\n{\n\t.reg .b32 %r<9>;\n"
                                   "\tmov.u32 %r1, 1; // one\n\tmov.u32 %r1, 11;\n\t/* two */\n"
                                   "L:\tmov.u32 %r1, 33; mov.u32 %r5, 5;   // five\n\tmov.u32 %r1, 66;\n"
                                   "\tmov.u32 %r6, 6;\n\tret;\n}\n");
    free(text);
    assert_prints_alike(a);
    annotated_free(a);
}

/* What follows a line comment does not become part of it where the text between both is removed. */
static void code_behind_removed_code_is_no_comment(void **state)
{
    (void)state;
    annotated *a = read_good(KERNEL("\n\t.reg .b32 %r<9>;\n"
                                    "\tmov.u32 %r1, 1; // one\n"
                                    "\tmov.u32 %r2, 2;mov.u32 %r3, 3;\n"
                                    "\t{\n\tmov.u32 %r4, 4; /* four */\n\tmov.u32 %r5, 5;}\n\tret;"));
    hd_edit edit;
    hd_edit_begin(&edit, a->f);
    hd_edit_remove(&edit, 1);
    hd_edit_remove(&edit, 4);
    assert_true(hd_edit_end(&edit));
    char *text = written(a, PORTABLE);
    assert_string_equal(text, HEAD ".visible .entry k()\n{\n\t.reg .b32 %r<9>;\n"
                                   "\tmov.u32 %r1, 1; // one\n\tmov.u32 %r3, 3;\n"
                                   "\t{\n\tmov.u32 %r4, 4; /* four */\n\t}\n\tret;\n}\n");
    free(text);
    assert_prints_alike(a);
    annotated_free(a);
}

/* ---- random edits ------------------------------------------------------------------------------------------------ */

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* The id of a 32-bit scalar register declared for the whole body. */
static uint32_t outer_register(const hd_function *f)
{
    for (uint32_t i = 0; i < f->registers.count; i++)
        if (f->registers.items[i].type == HD_TYPE_B32 && f->registers.items[i].vector == 1 &&
            f->declarations.items[f->registers.items[i].declaration].depth == 1)
            return i;
    fail();
    return 0;
}

static void edit_randomly(hd_function *f, uint32_t *seed)
{
    hd_edit edit;
    uint32_t reg = outer_register(f);
    if (next_random(seed) % 4 == 0)
        reg = hd_make_registers(f, "%fresh", HD_TYPE_B32, 1);
    hd_edit_begin(&edit, f);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        hd_instruction insn = make_move(f, reg, next_random(seed) % 1000);
        switch (next_random(seed) % 8) {
        case 0: hd_edit_remove(&edit, i); break;
        case 1: hd_edit_replace(&edit, i, insn); break;
        case 2: hd_edit_before(&edit, i, insn); break;
        case 3: hd_edit_after(&edit, i, insn); break;
        default: break;
        }
    }
    hd_edit_end(&edit);
}

/* Replacing an instruction keeps its annotations: those for slots that the new one has not are the pass's to remove. */
static void drop_missing_slots(hd_function *f)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->annotations.count; i++) {
        hd_annotation a = f->annotations.items[i];
        const hd_annotation_info *info = hd_annotation_find(a.kind);
        uint32_t slots = 1;
        if (hd_annotation_has_slots(info)) {
            const hd_instruction *insn = &f->instructions.items[a.instruction];
            slots =
                info->anchor == HD_ANCHOR_SOURCE ? hd_insn_source_count(f, insn) : hd_insn_destination_count(f, insn);
        }
        if (a.slot < slots)
            f->annotations.items[kept++] = a;
    }
    f->annotations.count = kept;
}

static void annotate_randomly(hd_function *f, uint32_t *seed)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        if (next_random(seed) % 2)
            hd_annotate(f, (hd_annotation){HD_ANNOTATION_X_NUMBER, 0, i, next_random(seed), 0});
        if (next_random(seed) % 4 == 0)
            hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_X_NUMBERS, .instruction = i}, seed, 1);
        if (next_random(seed) % 3 == 0 && hd_insn_destination_count(f, &f->instructions.items[i]))
            hd_annotate(f, (hd_annotation){HD_ANNOTATION_BOW, 0, i, next_random(seed) % 3, 0});
    }
    hd_annotations_sort(f);
}

/* A text of RICH with other line ends, or with a blank or nothing for a line's end where no comment needs it. */
static char *variant(uint32_t kind)
{
    char *text = malloc(2 * strlen(RICH) + 1), *out = text;
    for (const char *c = RICH; *c; c++) {
        bool behind_statement = *c == '\n' && c > RICH && c[-1] == ';';
        if (*c == '\n' && kind == 1)
            *out++ = '\r';
        if (behind_statement && kind == 3)
            c += strspn(c, "\n\t ") - 1;
        else
            *out++ = behind_statement && kind == 2 ? ' ' : *c;
    }
    *out = '\0';
    return text;
}

static void random_edits_print_alike(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 800; round++) {
        uint32_t seed = round;
        char *text = variant(round / 20 % 4);
        annotated *a = read_good(text);
        if (round % 2)
            annotate_everything(a->f);
        char *annotated_text = written(a, round % 4 < 2 ? PORTABLE : EXTENDED);
        annotated *b = read_good(annotated_text);
        edit_randomly(b->f, &seed);
        drop_missing_slots(b->f);
        if (round % 5)
            annotate_randomly(b->f, &seed);
        if (b->f->instructions.count)
            assert_prints_alike(b);
        annotated_free(b);
        annotated_free(a);
        free(annotated_text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_keep_their_surroundings),
        cmocka_unit_test(code_behind_removed_code_is_no_comment),
        cmocka_unit_test(random_edits_print_alike),
    };
    return cmocka_run_group_tests_name("lossless", tests, NULL, NULL);
}
