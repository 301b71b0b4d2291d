/* strip undoes every annotation: random programs and odd texts, in many layouts, through every pass that only
 * annotates, come back byte by byte. */
#include "tests/unit/unit.h"

#include "driver/rewrite.h"
#include "program.h"

enum { TEXT_BYTES = 1 << 19, PROGRAMS = 15 };

static const char *const passes[] = {"bow",  "bow(iw=2)",       "corf",    "corf++",
                                     "ltrf", "ltrf(n=12,dead)", "release", "bow,release,ltrf"};

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

typedef struct layout {
    const char *name, *from, *to; /* `from` is replaced by `to` everywhere after the head */
    bool no_end;                  /* the last line has no end */
} layout;

static const layout layouts[] = {
    {"as printed", "", "", false},
    {"no end of the last line", "", "", true},
    {"CR LF", "\n", "\r\n", false},
    {"CR LF, no end of the last line", "\n", "\r\n", true},
    {"one line", "\n", " ", false},
    {"one line, no end", "\n", "", true},
    {"blank lines", "\n", "\n\n \n", false},
    {"a comment after each comma", ", ", ", /* it's \"x\"; */ ", false},
    {"a comment after each instruction", ";", "; /* ; */", false},
    {"a line comment after each instruction", ";", "; // ;\n", false},
    {"a blank before each semicolon", ";", " ;", false},
    {"operands on lines of their own", ", ", ",\n\t\t", false},
    {"braces on lines of their own", "{", "\n{\n", false},
    {"a line for each semicolon", ";", "\n;", false},
    {"tabs", " ", "\t", false},
};

static void lay_out(const char *text, const layout *l, char *out, size_t size)
{
    const char *body = strstr(text, ".entry"), *at = body ? body : text;
    size_t n = (size_t)(at - text), length = strlen(l->from);
    memcpy(out, text, n);
    while (*at) {
        assert_true(n + 64 < size);
        if (length && strncmp(at, l->from, length) == 0) {
            memcpy(out + n, l->to, strlen(l->to));
            n += strlen(l->to);
            at += length;
        } else {
            out[n++] = *at++;
        }
    }
    while (l->no_end && n && (out[n - 1] == '\n' || out[n - 1] == '\r' || out[n - 1] == ' '))
        n--;
    out[n] = 0;
}

/* ---- there and back ---------------------------------------------------------------------------------------------- */

static char *rewrite(const char *text, size_t length, const hd_rewrite_options *options)
{
    hd_source source;
    hd_diagnostics diagnostics;
    hd_writer out;
    hd_source_from_memory(&source, "t.ptx", text, length);
    hd_diagnostics_init(&diagnostics);
    hd_writer_to_memory(&out);
    hd_module *module = hd_rewrite(&source, options, &out, &diagnostics);
    if (diagnostics.error_count)
        print_message("# %s\n", diagnostics.first->message);
    assert_int_equal(diagnostics.error_count, 0);
    hd_write_char(&out, '\0');
    char *result = hd_malloc(out.buffer.count);
    memcpy(result, out.buffer.items, out.buffer.count);
    hd_writer_free(&out);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    return result;
}

static bool comes_back(const char *text, const char *list, hd_emit_options emit)
{
    hd_diagnostics none;
    hd_diagnostics_init(&none);
    hd_pipeline *pipeline = hd_pipeline_parse(list, &none);
    hd_rewrite_options there = {.passes = pipeline, .pipeline = {.block = 64}, .emit = emit};
    hd_rewrite_options back = {.parse = {.locate_annotations = true}, .emit = {.no_annotations = true}};
    char *annotated = rewrite(text, strlen(text), &there), *stripped = rewrite(annotated, strlen(annotated), &back);
    bool same = strcmp(stripped, text) == 0 && strcmp(annotated, text) != 0;
    if (!same)
        print_message("# before:\n%s\n# annotated:\n%s\n# stripped:\n%s\n", text, annotated, stripped);
    free(annotated);
    free(stripped);
    hd_pipeline_free(pipeline);
    hd_diagnostics_free(&none);
    return same;
}

static void expect_back(const char *text)
{
    static const hd_emit_options spellings[] = {{0}, {.no_section = true}, {.spelling = HD_SPELLING_EXTENDED}};
    char *laid = hd_malloc(TEXT_BYTES);
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        lay_out(text, &layouts[l], laid, TEXT_BYTES);
        for (size_t p = 0; p < sizeof passes / sizeof *passes; p++)
            for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++)
                if (!comes_back(laid, passes[p], spellings[s]))
                    fail_msg("layout '%s', passes '%s', spelling %zu", layouts[l].name, passes[p], s);
    }
    free(laid);
}

#define KERNEL(body)                                                                                          \
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %a, %b;\n" \
    ".reg .b32 %r<9>, temp;\n.reg .pred %q;\nld.param.u64 %a, [p];\nmov.u32 temp, %tid.x;\n" body "ret;\n}\n"

static void odd_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        KERNEL("add.u32 %r1, temp, 2; mul.lo.u32 %r2, %r1, %r1; st.global.u32 [%a], %r2;\n"),
        KERNEL("setp.eq.u32 %q, temp, 3;\n@%q bra L;\nst.global.u32 [%a], temp;\nL: L2: add.u32 %r1, temp, 1;\n"
               "st.global.v4.b32 [%a + 16], {%r1, temp, %r1, temp};\n"),
        KERNEL("{ .reg .b32 temp; mov.b32 temp, 7; st.global.u32 [%a], temp; } st.global.u32 [%a + 4], temp;\n"),
        KERNEL("add.u32 %r1, temp + 1, 2;\nmov.u32 %r2, temp+1;\nst.global.u32 [%a], %r2 + 3;\n"
               "mad.lo.u32 %r3, %r1 + 1, %r2 + -2, temp;\nst.global.u32 [%a+8], %r3;\n"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_back(texts[i]);
}

static void random_programs(void **state)
{
    static const hd_emit_options spellings[] = {{0}, {.no_section = true}, {.spelling = HD_SPELLING_EXTENDED}};
    static program p;
    char *text = hd_malloc(TEXT_BYTES), *laid = hd_malloc(TEXT_BYTES);
    (void)state;
    for (uint64_t seed = 1; seed <= UNIT_CASES(PROGRAMS); seed++) {
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES / 4);
        const layout *l = &layouts[seed % (sizeof layouts / sizeof *layouts)];
        lay_out(text, l, laid, TEXT_BYTES);
        for (size_t k = 0; k < sizeof passes / sizeof *passes; k++)
            if (!comes_back(laid, passes[k], spellings[(seed + k) % 3]))
                fail_msg("seed %llu, layout '%s', passes '%s'", (unsigned long long)seed, l->name, passes[k]);
    }
    free(laid);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(odd_texts), cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
