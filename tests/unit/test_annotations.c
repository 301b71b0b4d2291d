/* Annotations as text: where comments are and what they may say, both spellings and back, taking them away,
 * conflicts, stale ones. */
#include "annotated.h"

#include "ir/form.h"
#include "ir/opcode_text.h"
#include "ir/words/section.h"
#include "ir/techniques.h"

static const hd_emit_options PORTABLE = {0}, EXTENDED = {.spelling = HD_SPELLING_EXTENDED},
                             NO_SECTION = {.no_section = true};

/* The single value of a kind at an instruction, slot 0; -1: none. */
static long value_at(const annotated *a, uint16_t kind, uint32_t instruction, uint32_t slot)
{
    const hd_annotation *found = hd_annotation_at(a->f, kind, instruction, slot);
    return found ? (long)found->value : -1;
}

static void tables_are_consistent(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < hd_annotation_info_count; i++) {
        const hd_annotation_info *info = &hd_annotation_infos[i];
        assert_true(info->number >= HD_RECORD_FIRST_ANNOTATION);
        assert_true(i == 0 || info->number > hd_annotation_infos[i - 1].number);
        assert_ptr_equal(hd_annotation_find(info->number), info);
        assert_ptr_equal(hd_annotation_find_name(info->name, strlen(info->name)), info);
        assert_true(!*info->technique || hd_technique_find(info->technique, strlen(info->technique)) >= 0);
        assert_true((info->value == HD_VALUE_CHOICE) == (*info->words != '\0'));
        for (uint32_t w = 0; w < hd_annotation_word_count(info); w++) {
            size_t length;
            const char *word = hd_annotation_word(info, w, &length);
            assert_null(memchr(word, '_', length));
            assert_int_equal(hd_annotation_word_find(info, word, length), w);
            assert_false(length == 4 && memcmp(word, "none", 4) == 0);
        }
        for (int m = HD_MOD_NONE + 1; m < HD_MODIFIER_COUNT; m++)
            assert_string_not_equal(hd_modifier_spelling((hd_modifier)m), info->name);
        assert_int_equal(hd_type_from_spelling(info->name, strlen(info->name)), HD_TYPE_NONE);
    }
}

static void sorts_and_finds(void **state)
{
    (void)state;
    annotated *a = read_good(RICH);
    for (uint32_t i = 0; i < 1000; i++) /* in an order that is no order; the last of equals stays */
        hd_annotate(a->f, (hd_annotation){HD_ANNOTATION_X_NUMBER, 0, i * 7919 % 500, i, 0});
    hd_annotate(a->f, (hd_annotation){HD_ANNOTATION_BOW, 0, 3, 1, 0});
    hd_annotate(a->f, (hd_annotation){HD_ANNOTATION_BOW_WINDOW, 0, HD_NONE, 9, 0});
    hd_annotations_sort(a->f);
    assert_int_equal(a->f->annotations.count, 502);
    assert_int_equal(hd_array_last(&a->f->annotations).kind, HD_ANNOTATION_BOW_WINDOW);
    for (uint32_t i = 500; i < 1000; i++)
        assert_int_equal(value_at(a, HD_ANNOTATION_X_NUMBER, i * 7919 % 500, 0), (long)i);
    assert_null(hd_annotation_at(a->f, HD_ANNOTATION_X_NUMBER, 500, 0));
    hd_annotations_remove(a->f, "bow");
    assert_int_equal(a->f->annotations.count, 500);
    hd_annotations_remove(a->f, NULL);
    assert_int_equal(a->f->annotations.count, 0);
    annotated_free(a);
}

static void slots_count_file_registers(void **state)
{
    (void)state;
    annotated *a = read_good(KERNEL(".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>;\n"
                                    "setp.lt.s32 %p1|%p2, %r1, %r2;\n"
                                    "ld.global.v4.u32 {%r1,_,%r2,%r3}, [%rd1];\n"
                                    "add.cc.u32 %r4, %r5, %r6;\n"
                                    "@%p1 st.global.u32 [%rd1], %r4;"));
    const hd_instruction *i = a->f->instructions.items;
    uint32_t destinations[] = {0, 3, 1, 0}, sources[] = {2, 1, 2, 2};
    for (int n = 0; n < 4; n++) {
        assert_int_equal(hd_insn_destination_count(a->f, &i[n]), destinations[n]);
        assert_int_equal(hd_insn_source_count(a->f, &i[n]), sources[n]);
    }
    uint32_t operand = hd_insn_destination_slot(a->f, &i[1], 2);
    char name[16];
    hd_register_spell(a->f, a->f->operands.items[operand].value, name, sizeof name);
    assert_string_equal(name, "%r3");
    assert_int_equal(hd_insn_destination_slot(a->f, &i[1], 3), HD_NONE);
    assert_int_equal(hd_insn_source_slot(a->f, &i[0], 2), HD_NONE);
    annotated_free(a);
}

/* ---- comments ---------------------------------------------------------------------------------------------------- */

#define BODY(text) KERNEL("\n\t.reg .b32 %r<9>;\n" text)

static void reads_comments_in_place(void **state)
{
    (void)state;
    annotated *a = read_good(
        KERNEL(" //@bow_window 0x5\n\t.reg .b32 %r<9>;\n"
               "\tmov.u32 %r1, 1; //@bow rf\n"
               "\tmov.u32 %r2, 1;  \t /*@bow both*/ /*@ x_number  12 ; x_bits 9*/ mov.u32 %r3, 3;/*@bow boc*/// c\n"
               "\tmov.u32 %r4, 1; // @bow rf\n\tmov.u32 %r5, 1; /* a */ //@x_flag\n"));
    assert_int_equal(value_at(a, HD_ANNOTATION_BOW_WINDOW, HD_NONE, 0), 5);
    assert_int_equal(value_at(a, HD_ANNOTATION_BOW, 0, 0), 1);
    assert_int_equal(value_at(a, HD_ANNOTATION_BOW, 1, 0), 0);
    assert_int_equal(value_at(a, HD_ANNOTATION_X_NUMBER, 1, 0), 12);
    assert_int_equal(value_at(a, HD_ANNOTATION_X_BITS, 1, 0), 9);
    assert_int_equal(value_at(a, HD_ANNOTATION_BOW, 2, 0), 2);
    assert_int_equal(value_at(a, HD_ANNOTATION_BOW, 3, 0), -1);
    assert_int_equal(value_at(a, HD_ANNOTATION_X_FLAG, 4, 0), 0);
    assert_int_equal(a->f->annotations.count, 7);
    annotated_free(a);
}

static void warns_of_misplaced_and_unknown(void **state)
{
    (void)state;
    assert_string_equal(slugs_of(BODY("\t//@bow rf\n\tmov.u32 %r1, 1;\n")), "misplaced-annotation");
    assert_string_equal(slugs_of(BODY("\tmov.u32 %r1, 1;\n\t//@bow rf\n")), "misplaced-annotation");
    assert_string_equal(slugs_of(BODY("L: //@bow rf\n\tmov.u32 %r1, 1;\n")), "misplaced-annotation");
    assert_string_equal(slugs_of(BODY("\tmov.u32 %r1, 1; /*@bow\n rf*/\n")), "misplaced-annotation");
    assert_string_equal(slugs_of(BODY("\t{ mov.u32 %r1, 1; } //@bow rf\n")), "misplaced-annotation");
    assert_string_equal(slugs_of(BODY("\tmov.u32 %r1, 1; //@frob 3\n")), "unknown-annotation");
    assert_string_equal(slugs_of(BODY("\tmov.u32 %r1, 1; //@\n")), "");
    assert_string_equal(slugs_of(BODY("\t//@frob\n\tmov.u32 %r1, 1;\n# 1 \"//@bow rf\"\n")), "");
}

static void rejects_wrong_values(void **state)
{
    (void)state;
    static const char *const wrong[] = {"bow",
                                        "bow rt",
                                        "bow rf,rf",
                                        "bow rf both",
                                        "bow rf,",
                                        "bow rf; bow both",
                                        "bow_window 3",
                                        "x_number",
                                        "x_number 4294967296",
                                        "x_number 0x",
                                        "x_number 1,2",
                                        "x_number -1",
                                        "x_bits 12a",
                                        "x_flag 1",
                                        "x_choice",
                                        "x_choice lowest",
                                        "x_registers",
                                        "x_registers (%r1",
                                        "x_registers (%r99)",
                                        "x_registers (%r1,)",
                                        "x_registers (%r1:7)",
                                        "x_registers %r1",
                                        "x_numbers (1 2)",
                                        "x_numbers ()1",
                                        "x_marks yes",
                                        "x_marks set",
                                        "x_slots rf",
                                        "x_sources 1",
                                        "bow none,none"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s\tmov.u32 %%r1, 1; //@%s\n}\n",
                 HEAD ".visible .entry k()\n{\n\t.reg .b32 %r<9>;\n", wrong[i]);
        const char *found = slugs_of(text);
        if (strcmp(found, "bad-annotation") != 0)
            print_error("'%s' gives '%s'\n", wrong[i], found);
        assert_string_equal(found, "bad-annotation");
    }
}

static void chooses_the_comment_that_fits(void **state)
{
    (void)state;
    annotated *a = read_good(
        BODY("\tmov.u32 %r1, 1;\n\tmov.u32 %r2, 1;  \t\n\tmov.u32 %r3, 1; // c\n\tmov.u32 %r4, 1; {mov.u32 %r5, 1;}"));
    for (uint32_t i = 0; i < 5; i++)
        hd_annotate(a->f, (hd_annotation){HD_ANNOTATION_BOW, 0, i, 1, 0});
    hd_annotate(a->f, (hd_annotation){HD_ANNOTATION_BOW_WINDOW, 0, HD_NONE, 3, 0});
    hd_annotations_sort(a->f);
    char *text = written(a, NO_SECTION);
    assert_string_equal(text,
                        HEAD ".visible .entry k()\n{ //@bow_window 3\n\t.reg .b32 %r<9>;\n\tmov.u32 %r1, 1; //@bow rf\n"
                             "\tmov.u32 %r2, 1; //@bow rf  \t\n\tmov.u32 %r3, 1; /*@bow rf*/ // c\n"
                             "\tmov.u32 %r4, 1; /*@bow rf*/ {mov.u32 %r5, 1; /*@bow rf*/}\n}\n");
    free(text);
    annotated_free(a);
}

static void keeps_unknown_comments(void **state)
{
    (void)state;
    const char *input = BODY("\tmov.u32 %r1, 1; //@frob 3\n\tmov.u32 %r2, 1; //@bow rf; frob (1)\n");
    annotated *a = read_text(input);
    assert_string_equal(slugs(a), "unknown-annotation unknown-annotation");
    char *text = written(a, PORTABLE);
    assert_string_equal(text, input);
    free(text);
    hd_annotate(a->f, (hd_annotation){HD_ANNOTATION_BOW, 0, 0, 2, 0});
    hd_annotations_sort(a->f);
    text = written(a, NO_SECTION);
    assert_string_equal(text,
                        BODY("\tmov.u32 %r1, 1; /*@bow boc*/ //@frob 3\n\tmov.u32 %r2, 1; //@bow rf; frob (1)\n"));
    char *plain = stripped(text);
    assert_string_equal(plain, BODY("\tmov.u32 %r1, 1; //@frob 3\n\tmov.u32 %r2, 1;\n"));
    free(plain);
    free(text);
    annotated_free(a);
}

/* ---- all value types, both spellings ----------------------------------------------------------------------------- */

static void spellings_read_back(void **state)
{
    (void)state;
    annotated *a = read_good(RICH);
    annotate_everything(a->f);
    const hd_emit_options options[] = {
        PORTABLE, EXTENDED, NO_SECTION, {.canonical = true}, {.canonical = true, .spelling = HD_SPELLING_EXTENDED}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char *text = written(a, options[i]);
        annotated *b = read_good(text);
        assert_same_annotations(a->f, b->f);
        assert_int_equal(hd_function_hash(a->f), hd_function_hash(b->f));
        char *again = written(b, PORTABLE);
        if (options[i].spelling == HD_SPELLING_PORTABLE)
            assert_string_equal(again, text); /* nothing changed, so nothing is written anew */
        if (!options[i].canonical) {
            char *plain = stripped(text);
            assert_string_equal(plain, RICH);
            free(plain);
        }
        free(again);
        free(text);
        annotated_free(b);
    }
    annotated_free(a);
}

static void spellings_convert(void **state)
{
    (void)state;
    annotated *a = read_good(RICH);
    annotate_everything(a->f);
    char *portable = written(a, PORTABLE), *extended = rewritten(portable, EXTENDED),
         *back = rewritten(extended, PORTABLE);
    assert_string_equal(back, portable);
    assert_null(strstr(extended, "//@"));
    assert_null(strstr(extended, ".section"));
    assert_non_null(strstr(extended, "\tld.global.v2.u32.bow::boc_rf {%r1, %r2}, [%rd1]; // two\n"));
    assert_non_null(strstr(extended, "{\n\t.heddle bow_window 3;\n\t.heddle x_function (%v.y:1);\n"));
    assert_non_null(
        strstr(portable, "mul.lo.s32 %r4, %r3, %r3; //@bow boc; x_flag; x_registers (); x_marks none,set   \n"));
    free(back);
    free(extended);
    free(portable);
    annotated_free(a);
}

static void line_ends_are_kept(void **state)
{
    (void)state;
    static const char *const ends[] = {"\n", "\r\n"};
    for (int e = 0; e < 2; e++)
        for (int tail = 0; tail < 4; tail++) {
            char text[4096], *end = text;
            for (const char *c = RICH; *c; c++)
                end = *c == '\n' ? stpcpy(end, ends[e]) : (*end = *c, end + 1);
            *end = '\0';
            if (tail & 1)
                text[strlen(text) - strlen(ends[e])] = '\0';
            if (tail & 2)
                strcat(text, "\x1a");
            annotated *a = read_good(text);
            annotate_everything(a->f);
            char *portable = written(a, PORTABLE), *extended = written(a, EXTENDED);
            char *plain = stripped(portable), *other = stripped(extended);
            assert_string_equal(plain, text);
            assert_string_equal(other, text);
            annotated_free(read_good(portable));
            free(portable);
            free(extended);
            free(plain);
            free(other);
            annotated_free(a);
        }
}

static void extended_mistakes(void **state)
{
    (void)state;
    assert_string_equal(slugs_of(BODY("\tmov.u32.bow::rt %r1, 1;\n")), "bad-annotation");
    assert_string_equal(slugs_of(BODY("\tmov.u32.bow::rf_rf %r1, 1;\n")), "bad-annotation");
    assert_string_equal(slugs_of(BODY("\tmov.u32.bow_window::3 %r1, 1;\n")), "bad-annotation");
    assert_string_equal(slugs_of(BODY("\tmov.u32.x_numbers::3 %r1, 1;\n")), "bad-annotation");
    assert_string_equal(slugs_of(BODY("\t.heddle frob 3;\n\tmov.u32 %r1, 1;\n")), "bad-annotation");
    assert_string_equal(slugs_of(BODY("\tmov.u32 %r1, 1;\n\t.heddle x_number 3;\n")), "bad-annotation");
    assert_string_equal(slugs_of(BODY("\t.heddle x_number 3;\n\tmov.u32.x_number::3 %r1, 1;\n")), "bad-annotation");
    assert_string_equal(slugs_of(BODY("\tmov.u32.bow::rf %r1, 1; //@bow rf\n")), "");
    assert_string_equal(slugs_of(BODY("\tmov.u32.bow::rf %r1, 1; //@bow boc\n")), "annotation-conflict");
}

static void walks_opcodes(void **state)
{
    (void)state;
    static const char text[] = "@ /*c*/ ! %p1 // x\n ld /*.no*/ .global.bow::rf_boc.L2::128B .const[3].u32 "
                               "[a];\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    static const char *const modifiers[] = {".global", ".bow::rf_boc", ".L2::128B", ".const[3]", ".u32"};
    hd_opcode_text walk;
    hd_span m;
    hd_opcode_text_start(&walk, text, (hd_span){0, (uint32_t)strlen(text)});
    for (int i = 0; i < 5; i++) {
        assert_true(hd_opcode_text_next(&walk, &m));
        assert_int_equal(m.end - m.begin, strlen(modifiers[i]));
        assert_memory_equal(text + m.begin, modifiers[i], m.end - m.begin);
    }
    assert_false(hd_opcode_text_next(&walk, &m));
    assert_memory_equal(text + walk.opcode_end, " [a]", 4);
    char rest[32];
    assert_int_equal(hd_annotation_modifiers_cut("add.bow::rf.s32.x_flag", 22, rest), 7);
    assert_memory_equal(rest, "add.s32", 7);
}

/* ---- conflicts and stale ones ------------------------------------------------------------------------------------ */

/* RICH with everything in comments and section; freed by the caller. */
static char *rich_text(void)
{
    annotated *a = read_good(RICH);
    annotate_everything(a->f);
    char *text = written(a, PORTABLE);
    annotated_free(a);
    return text;
}

static void replace_first(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
}

static void disagreement_is_an_error(void **state)
{
    (void)state;
    char *text = rich_text();
    replace_first(text, "//@bow boc; x_flag", "//@bow rf ; x_flag");
    assert_string_equal(slugs_of(text), "annotation-conflict");
    free(text);
    text = rich_text();
    replace_first(text, "//@x_choice high", "                ");
    assert_string_equal(slugs_of(text), "annotation-conflict");
    free(text);
}

static void changed_code_is_stale(void **state)
{
    (void)state;
    char *text = rich_text();
    replace_first(text, "add.s32", "sub.s32");
    assert_string_equal(slugs_of(text), "stale-annotation");
    annotated *a = read_with(text, (hd_parse_options){.drop_stale = true});
    assert_string_equal(slugs(a), "stale-dropped");
    assert_int_equal(a->f->annotations.count, 0);
    char *rest = written(a, PORTABLE), *plain = stripped(text);
    assert_string_equal(rest, plain); /* nothing of the annotations is left */
    free(rest);
    free(plain);
    annotated_free(a);
    free(text);
    text = rich_text();
    replace_first(text, "entry k(", "entry j(");
    assert_string_equal(slugs_of(text), "stale-annotation");
    a = read_with(text, (hd_parse_options){.drop_stale = true});
    assert_string_equal(slugs(a), "stale-dropped");
    annotated_free(a);
    free(text);
}

static uint64_t hash_of(const char *text)
{
    annotated *a = read_text(text);
    uint64_t hash = hd_function_hash(a->f);
    assert_int_equal(a->diagnostics.error_count, 0);
    annotated_free(a);
    return hash;
}

static void hash_sees_code_only(void **state)
{
    (void)state;
    const char *plain = BODY("\tadd.s32 %r1, %r2, -3;\n\tret;");
    uint64_t hash = hash_of(plain);
    char *canonical = rewritten(plain, (hd_emit_options){.canonical = true});
    assert_int_equal(hash_of(canonical), hash);
    free(canonical);
    assert_int_equal(hash_of(BODY("// c\n.loc 1 2 3\n add .s32 %r1,/* */%r2,-3; //@bow rf\nret;")), hash);
    assert_int_equal(hash_of(BODY("\tadd.s32.bow::rf %r1, %r2, -3;\n\t.heddle x_number 7;\n\tret;")), hash);
    static const char *const others[] = {
        BODY("\tsub.s32 %r1, %r2, -3;\n\tret;"),   BODY("\tadd.s32 %r1, %r2, 3;\n\tret;"),
        BODY("\tadd.s32 %r1, %r3, -3;\n\tret;"),   BODY("\tadd.s32 %r1, %r2, -3;\n\tL: ret;"),
        BODY("\t{add.s32 %r1, %r2, -3;}\n\tret;"), BODY("\tadd.s32 %r1, %r2, -3;")};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_not_equal(hash_of(others[i]), hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_consistent),
        cmocka_unit_test(sorts_and_finds),
        cmocka_unit_test(slots_count_file_registers),
        cmocka_unit_test(reads_comments_in_place),
        cmocka_unit_test(warns_of_misplaced_and_unknown),
        cmocka_unit_test(rejects_wrong_values),
        cmocka_unit_test(chooses_the_comment_that_fits),
        cmocka_unit_test(keeps_unknown_comments),
        cmocka_unit_test(spellings_read_back),
        cmocka_unit_test(spellings_convert),
        cmocka_unit_test(line_ends_are_kept),
        cmocka_unit_test(extended_mistakes),
        cmocka_unit_test(walks_opcodes),
        cmocka_unit_test(disagreement_is_an_error),
        cmocka_unit_test(changed_code_is_stale),
        cmocka_unit_test(hash_sees_code_only),
    };
    return cmocka_run_group_tests_name("annotations", tests, NULL, NULL);
}
