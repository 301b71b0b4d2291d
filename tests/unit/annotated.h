/* Annotated modules, from text to text, for the tests of annotation readers and writers. */
#ifndef HD_TESTS_UNIT_ANNOTATED_H
#define HD_TESTS_UNIT_ANNOTATED_H

#include "tests/unit/unit.h"

#include "emitters/ir/ptx.h"
#include "ir/annotations.h"
#include "parser/parse.h"

typedef struct annotated {
    hd_source source;
    hd_diagnostics diagnostics;
    hd_module *module;
    hd_function *f; /* the first with a body, or NULL */
} annotated;

static inline annotated *read_with(const char *text, hd_parse_options options)
{
    annotated *a = calloc(1, sizeof *a);
    hd_source_from_memory(&a->source, "t.ptx", text, strlen(text));
    hd_diagnostics_init(&a->diagnostics);
    a->module = hd_parse_ptx(&a->source, &options, &a->diagnostics);
    for (uint32_t i = 0; i < a->module->functions.count && !a->f; i++)
        a->f = a->module->functions.items[i]->has_body ? a->module->functions.items[i] : NULL;
    return a;
}

static inline annotated *read_text(const char *text) { return read_with(text, (hd_parse_options){0}); }

static inline void annotated_free(annotated *a)
{
    hd_module_free(a->module);
    hd_diagnostics_free(&a->diagnostics);
    free(a);
}

/* Slugs of all diagnostics in order, separated by blanks; "" for none. Overwritten by the next call. */
static inline const char *slugs(const annotated *a)
{
    static char text[1024];
    text[0] = '\0';
    for (const hd_diagnostic *d = a->diagnostics.first; d; d = d->next)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? " " : "",
                 hd_diagnostic_slug(d->kind));
    return text;
}

/* As above for a text. */
static inline const char *slugs_of(const char *text)
{
    annotated *a = read_text(text);
    const char *found = slugs(a);
    annotated_free(a);
    return found;
}

/* Reads a text that must be accepted without diagnostics. */
static inline annotated *read_good(const char *text)
{
    annotated *a = read_text(text);
    for (const hd_diagnostic *d = a->diagnostics.first; d; d = d->next)
        print_error("%u: %s\n", hd_source_position(&a->source, d->span.begin).line, d->message);
    assert_string_equal(slugs(a), "");
    return a;
}

/* The module's text; freed by the caller. */
static inline char *written(const annotated *a, hd_emit_options options)
{
    hd_writer writer;
    hd_writer_to_memory(&writer);
    assert_true(hd_emit_ptx(&writer, a->module, &options));
    hd_write_char(&writer, '\0');
    char *text = strdup(writer.buffer.items);
    hd_writer_free(&writer);
    return text;
}

/* Reads `text` and writes it with other options; freed by the caller. */
static inline char *rewritten(const char *text, hd_emit_options options)
{
    annotated *a = read_good(text);
    char *result = written(a, options);
    annotated_free(a);
    return result;
}

static inline char *stripped(const char *text)
{
    annotated *a = read_with(text, (hd_parse_options){.locate_annotations = true});
    char *result = written(a, (hd_emit_options){.no_annotations = true});
    annotated_free(a);
    return result;
}

/* From `.section` on to its closing brace; freed by the caller. */
static inline char *section_of(const char *text)
{
    const char *begin = strstr(text, ".section .heddle");
    assert_non_null(begin);
    return strndup(begin, (size_t)(strchr(begin, '}') + 1 - begin));
}

static inline void assert_same_annotations(const hd_function *x, const hd_function *y)
{
    assert_int_equal(x->annotations.count, y->annotations.count);
    for (uint32_t i = 0; i < x->annotations.count; i++) {
        const hd_annotation *a = &x->annotations.items[i], *b = &y->annotations.items[i];
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->slot, b->slot);
        assert_int_equal(a->instruction, b->instruction);
        if (!hd_annotation_is_list(hd_annotation_find(a->kind))) {
            assert_int_equal(a->value, b->value);
            continue;
        }
        assert_int_equal(a->count, b->count);
        for (uint32_t w = 0; w < a->count; w++)
            assert_int_equal(x->annotation_words.items[a->value + w], y->annotation_words.items[b->value + w]);
    }
}

/* A module around a body. */
#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define KERNEL(body) HEAD ".visible .entry k()\n{" body "\n}\n"

/* Nested and vector registers, several statements on a line, comments, and an instruction with two destinations. */
static const char *const RICH =
    HEAD "// a comment of the author's\n"
         ".visible .entry k(.param .u64 p)\n{\n"
         "\t.reg .b32 %r<9>;\n\t.reg .v2 .b32 %v;\n\t.reg .b64 %rd1;\n\t.reg .pred %p1;\n"
         "\tld.param.u64 %rd1, [p];\n"
         "L1:\n"
         "\tld.global.v2.u32 {%r1, %r2}, [%rd1]; // two\n"
         "\tadd.s32 %r3, %r1, %r2; mul.lo.s32 %r4, %r3, %r3;   \n"
         "\tsetp.lt.s32 %p1, %r4, 100;\n"
         "\t{\n\t.reg .b32 %r1;\n\tmov.u32 %r1, %r4;\n\tst.global.u32 [%rd1+4], %r1; /* inner */\n\t}\n"
         "\tmov.u32 %v.y, %r4;\n"
         "\t@%p1 bra L1;\n"
         "\tret;\n}\n";
enum {
    RICH_LOAD_PARAMETER,
    RICH_LOAD,
    RICH_ADD,
    RICH_MUL,
    RICH_SETP,
    RICH_INNER,
    RICH_STORE,
    RICH_VECTOR,
    RICH_BRANCH,
    RICH_RET
};

/* Every private kind, every value type, at several anchors of RICH. */
static inline void annotate_everything(hd_function *f)
{
    uint32_t some[] = {0, 2, 5}, last = f->registers.count - 1, numbers[] = {0, 1, 300, 4294967295u};
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_BOW_WINDOW, 0, HD_NONE, 3, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_BOW, 0, RICH_LOAD, 2, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_BOW, 1, RICH_LOAD, 1, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_BOW, 0, RICH_ADD, 0, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_BOW, 0, RICH_MUL, 2, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_BOW, 0, RICH_VECTOR, 1, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_X_FLAG, 0, RICH_MUL, 0, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_X_FLAG, 0, RICH_RET, 0, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_X_NUMBER, 0, RICH_LOAD_PARAMETER, 4294967295u, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_X_NUMBER, 0, RICH_BRANCH, 0, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_X_CHOICE, 0, RICH_SETP, 2, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_X_BITS, 0, RICH_STORE, 0x80000005u, 0});
    hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_X_REGISTERS, .instruction = RICH_INNER}, some, 3);
    hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_X_REGISTERS, .instruction = RICH_MUL}, NULL, 0);
    hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_X_NUMBERS, .instruction = RICH_RET}, numbers, 4);
    hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_X_FUNCTION, .instruction = HD_NONE}, &last, 1);
    hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_X_BLOCK, .instruction = RICH_LOAD}, numbers, 2);
    hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_X_SLOTS, .slot = 1, .instruction = RICH_LOAD}, some, 2);
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_X_SOURCES, 1, RICH_STORE, 77, 0});
    hd_annotate(f, (hd_annotation){HD_ANNOTATION_X_MARKS, 1, RICH_MUL, 0, 0});
    hd_annotations_sort(f);
}

#endif
