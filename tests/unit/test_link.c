/* Linking PTX modules by name (parser/link.h): what the linked text holds, and that it is a module. */
#include "parser/link.h"
#include "ptx_file.h"
#include "tests/unit/parsed.h"

typedef struct linked {
    hd_link_result result;
    hd_diagnostics diagnostics;
    parsed *p;
    char *text;
    bool good;
} linked;

static void link_texts(linked *l, const char *const *texts, const uint32_t *spaces, uint32_t count)
{
    hd_source sources[4];
    *l = (linked){0};
    hd_diagnostics_init(&l->diagnostics);
    for (uint32_t i = 0; i < count; i++)
        hd_source_from_memory(&sources[i], "m.ptx", texts[i], strlen(texts[i]));
    l->good = hd_link_ptx(sources, spaces, count, &l->result, &l->diagnostics);
    for (uint32_t i = 0; i < count; i++)
        hd_source_free(&sources[i]);
    hd_write_char(&l->result.text, '\0');
    l->text = l->result.text.buffer.items;
    if (l->good)
        l->p = parse_good(l->text);
}

static void drop(linked *l)
{
    if (l->p)
        parsed_free(l->p);
    hd_link_free(&l->result);
    hd_diagnostics_free(&l->diagnostics);
}

static uint32_t occurrences(const char *text, const char *word)
{
    uint32_t n = 0;
    while ((text = strstr(text, word)) && ++n)
        text += strlen(word);
    return n;
}

#define CALLS                                                                                                          \
    ".extern .func (.param .b32 r) twice (.param .b32 a);\n.extern .global .align 4 .u32 seen;\n"                      \
    ".global .align 1 .b8 text[2] = {72, 0};\n.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n" \
    ".visible .entry k()\n{\n.reg .b32 x<3>;\n.reg .b64 y;\nmov.u64 y, text;\n"                                        \
    "{ .param .b32 a; .param .b32 r; st.param.b32 [a], 3; call.uni (r), twice, (a); ld.param.b32 x1, [r]; }\n"         \
    "st.global.u32 [seen], x1; // text stays\nret;\n}\n"
#define DEFINES                                                                                                  \
    ".visible .global .align 4 .u32 seen;\n.global .align 1 .b8 text[3] = {72, 73, 0};\n"                        \
    ".weak .func (.param .b32 r) same (.param .b32 a)\n{\nret;\n}\n"                                             \
    ".visible .func (.param .b32 r) twice (.param .b32 a)\n{\n.reg .b32 x<3>;\n.reg .b64 y;\nmov.u64 y, text;\n" \
    "ld.param.b32 x1, [a];\nadd.u32 x2, x1, x1;\nst.param.b32 [r], x2;\nret;\n}\n"

static void objects_of_a_device_link_share_names(void **state)
{
    const char *const texts[] = {HEAD CALLS, ".version 8.0\n.target sm_80\n.address_size 64\n" DEFINES,
                                 HEAD ".weak .func (.param .b32 r) same (.param .b32 a)\n{\nret;\n}\n"};
    linked l;
    (void)state;
    link_texts(&l, texts, (const uint32_t[]){0, 0, 0}, 3);
    assert_true(l.good);
    const hd_function *twice = hd_module_find_function(l.p->module, "twice");
    assert_true(twice && twice->has_body);
    assert_int_equal(occurrences(l.text, ".func (.param .b32 r) same"), 1);
    assert_int_equal(occurrences(l.text, ".global .align 4 .u32 seen"), 1);
    assert_int_equal(occurrences(l.text, "vprintf"), 1);
    assert_int_equal(occurrences(l.text, ".version 9.0"), 1);
    assert_int_equal(occurrences(l.text, ".target sm_80"), 1); /* what all of them run on */
    assert_int_equal(occurrences(l.text, "sm_90"), 0);
    /* each module keeps its own `text`, by another name in the second; comments stay */
    assert_int_equal(occurrences(l.text, "mov.u64 y, text;"), 1);
    assert_int_equal(occurrences(l.text, "mov.u64 y, text$2;"), 1);
    assert_int_equal(occurrences(l.text, "// text stays"), 1);
    assert_string_equal(hd_link_find(&l.result, 0, "seen"), "seen");
    drop(&l);
}

static void programs_of_their_own_share_none(void **state)
{
    const char *one = ptx_file("link-programs_of_their_own_share_none");
    linked l;
    (void)state;
    link_texts(&l, (const char *const[]){one, one}, (const uint32_t[]){4, 7}, 2);
    assert_true(l.good);
    assert_string_equal(hd_link_find(&l.result, 4, "k"), "k");
    assert_string_equal(hd_link_find(&l.result, 7, "k"), "k$2");
    assert_string_equal(hd_link_find(&l.result, 7, "v"), "v$2");
    assert_int_equal(occurrences(l.text, "ld.global.u32 x, [v$2]"), 1);
    assert_int_equal(occurrences(l.text, "st.shared.u32 [s$2]"), 1);
    drop(&l);
}

static void the_target_is_the_highest_of_programs(void **state)
{
    const char *const texts[] = {HEAD ".visible .entry a()\n{\nret;\n}\n",
                                 ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry b()\n{\nret;\n}\n"};
    linked l;
    (void)state;
    link_texts(&l, texts, (const uint32_t[]){0, 1}, 2);
    assert_true(l.good);
    assert_int_equal(occurrences(l.text, ".target sm_90"), 1);
    drop(&l);
}

static void two_definitions_are_an_error(void **state)
{
    const char *const one = HEAD ".visible .func f()\n{\nret;\n}\n";
    linked l;
    (void)state;
    link_texts(&l, (const char *const[]){one, one}, (const uint32_t[]){0, 0}, 2);
    assert_false(l.good);
    assert_string_equal(l.diagnostics.first->message, "'f' is defined in two of the modules that are linked");
    drop(&l);
}

static void files_of_lines_are_numbered_anew(void **state)
{
    const char *const one = HEAD ".visible .entry a()\n{\n.loc 1 5 3\nret;\n}\n.file 1 \"a.cu\"\n",
                      *const two = HEAD
                      ".visible .entry b()\n{\n.loc 2 7 1, function_name $L__info_string0, inlined_at 1 9 1\nret;\n}\n"
                      ".file 1 \"b.cu\"\n.file 2 \"c.cu\"\n.section .debug_str\n{\n$L__info_string0:\n.b8 97,0\n}\n";
    linked l;
    (void)state;
    link_texts(&l, (const char *const[]){one, two}, (const uint32_t[]){0, 0}, 2);
    assert_true(l.good);
    assert_int_equal(occurrences(l.text, ".loc 1 5 3"), 1);
    assert_int_equal(occurrences(l.text, ".loc 3 7 1, function_name $L__info_string0$2, inlined_at 2 9 1"), 1);
    assert_int_equal(occurrences(l.text, ".file 3 \"c.cu\""), 1);
    drop(&l);
}

static void one_module_remains(void **state)
{
    const char *const one = HEAD "// nothing\n";
    linked l;
    (void)state;
    link_texts(&l, &one, (const uint32_t[]){0}, 1);
    assert_string_equal(l.text, one);
    drop(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_of_a_device_link_share_names),  cmocka_unit_test(programs_of_their_own_share_none),
        cmocka_unit_test(the_target_is_the_highest_of_programs), cmocka_unit_test(two_definitions_are_an_error),
        cmocka_unit_test(files_of_lines_are_numbered_anew),      cmocka_unit_test(one_module_remains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
