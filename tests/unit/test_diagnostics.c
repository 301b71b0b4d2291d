/* base/diagnostics and their rendering. */
#include "tests/unit/unit.h"

#include "base/version.h"
#include "emitters/diagnostics.h"
#include <jansson.h>

typedef struct fixture {
    hd_diagnostics diagnostics;
    hd_source source;
    hd_writer writer;
} fixture;

static const char kernel[] = ".version 8.5\n.target sm_80\n\t.reg .b32 %r<3>;\n\tadd.s32\t%r1, %r9, 1;\nend\xc3\x01!";

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    hd_diagnostics_init(&f->diagnostics);
    hd_source_from_memory(&f->source, "k.ptx", kernel, sizeof kernel - 1);
    hd_writer_to_memory(&f->writer);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    hd_diagnostics_free(&f->diagnostics);
    hd_source_free(&f->source);
    hd_writer_free(&f->writer);
    free(f);
    return 0;
}

static const char *render(fixture *f, hd_diagnostics_format format, bool colour)
{
    f->writer.buffer.count = 0;
    hd_emit_diagnostics(&f->writer, &f->diagnostics, format, colour, NULL);
    hd_write_char(&f->writer, 0);
    return f->writer.buffer.items;
}

/* The place of the first occurrence of `text`. */
static hd_span span_of(const fixture *f, const char *text)
{
    const char *at = memmem(f->source.text, f->source.length, text, strlen(text));
    assert_non_null(at);
    uint32_t begin = (uint32_t)(at - f->source.text);
    return (hd_span){begin, begin + (uint32_t)strlen(text)};
}

static void report_two(fixture *f)
{
    hd_diagnostic *d = hd_report(&f->diagnostics, HD_DIAG_UNDECLARED_REGISTER, &f->source, span_of(f, "%r9"),
                                 "register %s is not declared", "%r9");
    hd_note_add(&f->diagnostics, d, &f->source, span_of(f, "%r<3>"), "this declares %%r0 to %%r%d", 2);
    hd_note_add(&f->diagnostics, d, NULL, (hd_span){0, 0}, "a note without a place");
    hd_report(&f->diagnostics, HD_DIAG_UNKNOWN_OPCODE, &f->source, span_of(f, "add.s32"), "unknown opcode");
}

static void every_kind_has_a_slug_of_its_own(void **state)
{
    (void)state;
    for (int kind = 0; kind < HD_DIAGNOSTIC_COUNT; kind++) {
        const char *slug = hd_diagnostic_slug((hd_diagnostic_kind)kind);
        assert_int_equal(hd_diagnostic_from_slug(slug), kind);
        assert_int_equal(strspn(slug, "abcdefghijklmnopqrstuvwxyz-"), strlen(slug));
        assert_true(strncmp(slug, "no-", 3) != 0 && strcmp(slug, "error") != 0); /* they would read as other options */
        assert_true(strlen(hd_diagnostic_summary((hd_diagnostic_kind)kind)) > 10);
    }
    assert_int_equal(hd_diagnostic_from_slug("no such slug"), -1);
}

static void text_shows_line_and_caret(void **state)
{
    fixture *f = *state;
    assert_string_equal(render(f, HD_DIAGNOSTICS_TEXT, false), "");
    report_two(f);
    hd_report(&f->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "x.ptx: No such file or directory");
    assert_string_equal(render(f, HD_DIAGNOSTICS_TEXT, false),
                        "k.ptx:4:15: error: register %r9 is not declared [undeclared-register]\n"
                        "    4 |         add.s32 %r1, %r9, 1;\n"
                        "      |                      ^~~\n"
                        "k.ptx:3:12: note: this declares %r0 to %r2\n"
                        "    3 |         .reg .b32 %r<3>;\n"
                        "      |                   ^~~~~\n"
                        "heddle: note: a note without a place\n"
                        "k.ptx:4:2: warning: unknown opcode [unknown-opcode]\n"
                        "    4 |         add.s32 %r1, %r9, 1;\n"
                        "      |         ^~~~~~~\n"
                        "heddle: error: x.ptx: No such file or directory [unreadable]\n");
    assert_int_equal(f->diagnostics.error_count, 2);
    assert_int_equal(f->diagnostics.warning_count, 1);
}

static void text_is_safe_for_terminals(void **state)
{
    fixture *f = *state;
    hd_span end = span_of(f, "\x01");
    hd_report(&f->diagnostics, HD_DIAG_NON_ASCII, &f->source, (hd_span){end.begin - 1, end.end}, "no ASCII");
    hd_report(&f->diagnostics, HD_DIAG_SYNTAX, &f->source, (hd_span){f->source.length, f->source.length},
              "end of text");
    assert_string_equal(render(f, HD_DIAGNOSTICS_TEXT, false), "k.ptx:5:4: error: no ASCII [non-ascii]\n"
                                                               "    5 | end<C3><01>!\n"
                                                               "      |    ^~~~~~~~\n"
                                                               "k.ptx:5:7: error: end of text [syntax]\n"
                                                               "    5 | end<C3><01>!\n"
                                                               "      |             ^\n");
}

static void a_span_over_lines_is_marked_to_the_line_end(void **state)
{
    fixture *f = *state;
    hd_report(&f->diagnostics, HD_DIAG_UNTERMINATED_SCOPE, &f->source, (hd_span){9, 60}, "open");
    hd_report(&f->diagnostics, HD_DIAG_SYNTAX, &f->source, (hd_span){12, 13}, "at the line end");
    assert_string_equal(render(f, HD_DIAGNOSTICS_TEXT, false), "k.ptx:1:10: error: open [unterminated-scope]\n"
                                                               "    1 | .version 8.5\n"
                                                               "      |          ^~~\n"
                                                               "k.ptx:1:13: error: at the line end [syntax]\n"
                                                               "    1 | .version 8.5\n"
                                                               "      |             ^\n");
}

/* A line of 500 KB: only the part around the caret is shown. */
static void long_lines_are_cut(void **state)
{
    fixture *f = *state;
    enum { LENGTH = 500000 };
    char *text = malloc(LENGTH);
    for (unsigned i = 0; i < LENGTH; i++)
        text[i] = (char)('0' + i % 10);
    memcpy(text + 250000, "HERE", 4);
    hd_source_free(&f->source);
    hd_source_from_memory(&f->source, "k.ptx", text, LENGTH);
    free(text);
    static const uint32_t places[] = {250000, 0, LENGTH - 4, LENGTH};
    for (unsigned i = 0; i < 4; i++)
        hd_report(&f->diagnostics, HD_DIAG_SYNTAX, &f->source, (hd_span){places[i], places[i] + 4}, "m");
    hd_report(&f->diagnostics, HD_DIAG_SYNTAX, &f->source, (hd_span){0, LENGTH}, "all of it");
    char *rendered = strdup(render(f, HD_DIAGNOSTICS_TEXT, false));
    assert_non_null(strstr(rendered, "| ...0123456789"));
    assert_true(strlen(rendered) < 2000);
    char *line = strtok(rendered, "\n");
    for (unsigned i = 0; i < 5; i++) {
        assert_memory_equal(line, "k.ptx:1:", 8);
        char *excerpt = strtok(NULL, "\n"), *marks = strtok(NULL, "\n");
        char shown = excerpt[strcspn(marks, "^")];
        assert_int_equal(shown, i == 0 ? 'H' : i == 2 ? '6' : i == 3 ? 0 : '0');
        assert_true(strlen(excerpt) < 130 && strlen(marks) < 130);
        line = strtok(NULL, "\n");
    }
    free(rendered);
}

static void colour_only_adds_escapes(void **state)
{
    fixture *f = *state;
    report_two(f);
    char *without = strdup(render(f, HD_DIAGNOSTICS_TEXT, false));
    char *with = strdup(render(f, HD_DIAGNOSTICS_TEXT, true)), *to = with;
    assert_non_null(strchr(with, '\33'));
    for (const char *from = with; *from;) {
        if (*from == '\33')
            from = strchr(from, 'm') + 1;
        else
            *to++ = *from++;
    }
    *to = 0;
    assert_string_equal(with, without);
    free(with);
    free(without);
}

static void limit_keeps_the_first(void **state)
{
    fixture *f = *state;
    f->diagnostics.error_limit = 3;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(hd_diagnostics_full(&f->diagnostics), i >= 3);
        hd_diagnostic *d = hd_report(&f->diagnostics, HD_DIAG_SYNTAX, NULL, (hd_span){0, 0}, "e%d", i);
        assert_int_equal(d != NULL, i < 3);
        hd_note_add(&f->diagnostics, d, NULL, (hd_span){0, 0}, "n");
    }
    for (int i = 0; i < 4; i++)
        hd_report(&f->diagnostics, HD_DIAG_UNKNOWN_OPCODE, NULL, (hd_span){0, 0}, "w%d", i);
    assert_int_equal(f->diagnostics.error_count, 10);
    assert_int_equal(f->diagnostics.warning_count, 4);
    const char *text = render(f, HD_DIAGNOSTICS_TEXT, false);
    assert_non_null(strstr(text, "error: e2 [syntax]"));
    assert_null(strstr(text, "error: e3"));
    assert_non_null(strstr(text, "warning: w2"));
    assert_null(strstr(text, "warning: w3"));
    assert_non_null(strstr(text, "heddle: 7 more errors not shown\nheddle: 1 more warning not shown\n"));
    f->diagnostics.error_limit = 0;
    assert_non_null(hd_report(&f->diagnostics, HD_DIAG_SYNTAX, NULL, (hd_span){0, 0}, "all"));
    assert_false(hd_diagnostics_full(&f->diagnostics));
}

/* Errors, warnings that are errors by an option, silent ones, warnings, each with a note: of one part of the work. */
static void report_part(hd_diagnostics *d, int part)
{
    for (int i = 0; i < 4 + part; i++) {
        hd_note_add(d, hd_report(d, HD_DIAG_SYNTAX, NULL, (hd_span){0, 0}, "e%d", i), NULL, (hd_span){0, 0}, "p%d",
                    part);
        hd_note_add(d, hd_report(d, HD_DIAG_UNKNOWN_OPCODE, NULL, (hd_span){0, 0}, "o%d", i), NULL, (hd_span){0, 0},
                    "p%d", part);
        hd_report(d, HD_DIAG_WIDE_INSTRUCTION, NULL, (hd_span){0, 0}, "n%d", i);
        hd_report(d, HD_DIAG_NOT_ALLOCATED, NULL, (hd_span){0, 0}, "a%d", i);
    }
}

static void parts_join_to_what_one_would_say(void **state)
{
    fixture *f = *state;
    for (uint32_t limit = 0; limit < 30; limit += limit < 12 ? 1 : 6) {
        hd_diagnostics *whole = &f->diagnostics, one;
        hd_diagnostics_free(whole);
        whole->error_limit = limit;
        assert_true(hd_diagnostics_option(whole, "error=unknown-opcode") &&
                    hd_diagnostics_option(whole, "no-wide-instruction"));
        hd_diagnostics_init_part(&one, whole);
        for (int part = 0; part < 3; part++) {
            hd_diagnostics own;
            hd_diagnostics_init_part(&own, whole);
            report_part(&own, part);
            report_part(&one, part);
            hd_diagnostics_join(whole, &own);
            hd_diagnostics_free(&own);
        }
        char *joined = strdup(render(f, HD_DIAGNOSTICS_JSON, false));
        assert_int_equal(whole->error_count, one.error_count);
        assert_int_equal(whole->warning_count, one.warning_count);
        hd_diagnostics_free(whole);
        *whole = one;
        assert_string_equal(joined, render(f, HD_DIAGNOSTICS_JSON, false));
        free(joined);
    }
}

/* Whatever way a diagnostic gets from one list to another. */
static void copies_keep_every_field(void **state)
{
    fixture *f = *state;
    void (*const ways[])(hd_diagnostics *, const hd_diagnostics *) = {hd_diagnostics_merge, hd_diagnostics_join,
                                                                      hd_diagnostics_join_input};
    hd_source *source = hd_diagnostics_source(&f->diagnostics, "text", "text");
    hd_diagnostics part;
    hd_diagnostics_init(&part);
    hd_diagnostic *d = hd_report(&part, HD_DIAG_KERNEL_FAULT, source, (hd_span){1, 2}, "message");
    d->detail = 7;
    d->about_file = true;
    hd_note_add(&part, d, source, (hd_span){2, 3}, "note");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        ways[i](&f->diagnostics, &part);
        const hd_diagnostic *copy = f->diagnostics.last;
        assert_int_equal(copy->kind, d->kind);
        assert_int_equal(copy->severity, d->severity);
        assert_int_equal(copy->detail, 7);
        assert_true(copy->about_file);
        assert_ptr_equal(copy->source, source);
        assert_int_equal(copy->span.begin, 1);
        assert_int_equal(copy->notes->span.begin, 2);
        assert_string_equal(copy->notes->message, "note");
        assert_string_equal(copy->message, "message");
    }
    hd_diagnostics_free(&part);
}

/* The severity that a warning gets after the options, -1 where it is silent. */
static int severity_after(const char *const *options, size_t count, hd_diagnostic_kind kind)
{
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    for (size_t i = 0; i < count; i++)
        assert_true(hd_diagnostics_option(&diagnostics, options[i]));
    hd_diagnostic *d = hd_report(&diagnostics, kind, NULL, (hd_span){0, 0}, "m");
    int severity = d ? (int)d->severity : -1;
    assert_int_equal(diagnostics.error_count, severity == HD_ERROR);
    assert_int_equal(diagnostics.warning_count, severity == HD_WARNING);
    hd_diagnostics_free(&diagnostics);
    return severity;
}

#define AFTER(kind, ...) \
    severity_after((const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), kind)

static void options_set_severities(void **state)
{
    (void)state;
    hd_diagnostic_kind kind = HD_DIAG_UNKNOWN_OPCODE;
    assert_int_equal(severity_after(NULL, 0, kind), HD_WARNING);
    assert_int_equal(AFTER(kind, "error"), HD_ERROR);
    assert_int_equal(AFTER(kind, "error", "no-error"), HD_WARNING);
    assert_int_equal(AFTER(kind, "error=unknown-opcode"), HD_ERROR);
    assert_int_equal(AFTER(kind, "error=unknown-modifier"), HD_WARNING);
    assert_int_equal(AFTER(kind, "error", "no-error=unknown-opcode"), HD_WARNING);
    assert_int_equal(AFTER(kind, "no-error=unknown-opcode", "error"), HD_WARNING);
    assert_int_equal(AFTER(kind, "no-unknown-opcode"), -1);
    assert_int_equal(AFTER(kind, "error", "no-unknown-opcode"), -1);
    assert_int_equal(AFTER(kind, "no-unknown-opcode", "unknown-opcode"), HD_WARNING);
    assert_int_equal(AFTER(HD_DIAG_SYNTAX, "syntax", "error=syntax"), HD_ERROR);
}

static void options_that_do_not_exist(void **state)
{
    fixture *f = *state;
    static const char *const wrong[] = {"",
                                        "no-",
                                        "error=",
                                        "nonsense",
                                        "no-nonsense",
                                        "error=nonsense",
                                        "no-syntax",
                                        "no-error=syntax",
                                        "unknown-opcode ",
                                        "Error"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(hd_diagnostics_option(&f->diagnostics, wrong[i]));
    assert_int_equal(hd_report(&f->diagnostics, HD_DIAG_SYNTAX, NULL, (hd_span){0, 0}, "m")->severity, HD_ERROR);
}

static json_t *rendered_json(fixture *f, hd_diagnostics_format format)
{
    json_error_t error;
    json_t *root = json_loads(render(f, format, false), JSON_REJECT_DUPLICATES, &error);
    assert_non_null(root);
    return root;
}

static void json_holds_everything(void **state)
{
    fixture *f = *state;
    report_two(f);
    hd_report(&f->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "\xff\"quoted\"\n");
    json_t *root = rendered_json(f, HD_DIAGNOSTICS_JSON);
    const char *version, *slug, *severity, *message, *file, *third;
    int schema, errors, warnings, line, column, end_line, end_column, begin, end, note_line;
    assert_int_equal(json_unpack(root,
                                 "{s:s, s:i, s:i, s:i, s:[{s:s, s:s, s:s, s:{s:s, s:i, s:i, s:i, s:i, s:i, s:i},"
                                 " s:[{s:{s:i}}, {s:n}]}, {}, {s:s, s:n}]}",
                                 "heddle", &version, "schema", &schema, "errors", &errors, "warnings", &warnings,
                                 "diagnostics", "slug", &slug, "severity", &severity, "message", &message, "place",
                                 "file", &file, "line", &line, "column", &column, "end_line", &end_line, "end_column",
                                 &end_column, "begin", &begin, "end", &end, "notes", "place", "line", &note_line,
                                 "place", "message", &third, "place"),
                     0);
    assert_string_equal(version, HD_VERSION);
    assert_string_equal(slug, "undeclared-register");
    assert_string_equal(severity, "error");
    assert_string_equal(message, "register %r9 is not declared");
    assert_string_equal(file, "k.ptx");
    assert_string_equal(third, "\xef\xbf\xbd\"quoted\"\n");
    assert_int_equal(schema, 1);
    assert_int_equal(errors, 2);
    assert_int_equal(warnings, 1);
    assert_int_equal(line, 4);
    assert_int_equal(column, 15);
    assert_int_equal(end_line, 4);
    assert_int_equal(end_column, 18);
    assert_memory_equal(f->source.text + begin, "%r9", (size_t)(end - begin));
    assert_int_equal(note_line, 3);
    json_decref(root);
}

static void sarif_has_rules_and_results(void **state)
{
    fixture *f = *state;
    free((void *)(uintptr_t)f->source.name);
    f->source.name = strdup("my kernels/k#1.ptx");
    report_two(f);
    hd_report(&f->diagnostics, HD_DIAG_UNDECLARED_REGISTER, NULL, (hd_span){0, 0}, "again");
    json_t *root = rendered_json(f, HD_DIAGNOSTICS_SARIF);
    const char *version, *name, *rule, *result_rule, *level, *uri, *second_level;
    int line, index, third_index;
    json_t *rules, *related;
    assert_int_equal(json_unpack(root,
                                 "{s:s, s:[{s:{s:{s:s, s:o}}, s:[{s:s, s:i, s:s, s:[{s:{s:{s:s}, s:{s:i}}}], s:o},"
                                 " {s:s}, {s:i}]}]}",
                                 "version", &version, "runs", "tool", "driver", "name", &name, "rules", &rules,
                                 "results", "ruleId", &result_rule, "ruleIndex", &index, "level", &level, "locations",
                                 "physicalLocation", "artifactLocation", "uri", &uri, "region", "startLine", &line,
                                 "relatedLocations", &related, "level", &second_level, "ruleIndex", &third_index),
                     0);
    assert_string_equal(version, "2.1.0");
    assert_string_equal(name, "heddle");
    assert_int_equal(json_array_size(rules), 2);
    assert_int_equal(json_unpack(json_array_get(rules, 0), "{s:s}", "id", &rule), 0);
    assert_string_equal(rule, "undeclared-register");
    assert_string_equal(result_rule, rule);
    assert_int_equal(index, 0);
    assert_int_equal(third_index, 0);
    assert_string_equal(level, "error");
    assert_string_equal(second_level, "warning");
    assert_string_equal(uri, "my%20kernels/k%231.ptx");
    assert_int_equal(line, 4);
    assert_int_equal(json_array_size(related), 2);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_slug_of_its_own),
        cmocka_unit_test_setup_teardown(text_shows_line_and_caret, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_is_safe_for_terminals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_span_over_lines_is_marked_to_the_line_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_lines_are_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(colour_only_adds_escapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limit_keeps_the_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_join_to_what_one_would_say, set_up, tear_down),
        cmocka_unit_test_setup_teardown(copies_keep_every_field, set_up, tear_down),
        cmocka_unit_test(options_set_severities),
        cmocka_unit_test_setup_teardown(options_that_do_not_exist, set_up, tear_down),
        cmocka_unit_test_setup_teardown(json_holds_everything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sarif_has_rules_and_results, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("diagnostics", tests, NULL, NULL);
}
