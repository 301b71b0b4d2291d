/* What the front end says to each kind of mistake: every tests/diagnostics/NAME.ptx is parsed, and the rendered text is
 * held against NAME.txt. BLESS=1 (make bless) writes the texts anew. */
#include "tests/unit/unit.h"

#include "emitters/diagnostics.h"
#include "parser/parse.h"
#include <glob.h>

static const char *top(void)
{
    const char *folder = getenv("TOP");
    return folder ? folder : ".";
}

/* The rendered diagnostics of a file, with a last line about the module that was read. */
static void parse_and_render(const char *path, hd_writer *writer)
{
    hd_source source;
    hd_diagnostics diagnostics;
    hd_parse_options options = {0};
    assert_true(hd_source_read(&source, path));
    free((void *)(uintptr_t)source.name);
    source.name = strdup(strrchr(path, '/') + 1);
    hd_diagnostics_init(&diagnostics);
    hd_module *module = hd_parse_ptx(&source, &options, &diagnostics);
    hd_emit_diagnostics(writer, &diagnostics, HD_DIAGNOSTICS_TEXT, false, NULL);
    hd_write_format(writer, "-- %u errors, %u warnings\n", diagnostics.error_count, diagnostics.warning_count);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
}

static void bless(const char *path, const hd_writer *got)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(got->buffer.items, 1, got->buffer.count, file), got->buffer.count);
    assert_int_equal(fclose(file), 0);
}

static void check(const char *path, const hd_writer *got)
{
    hd_source expected;
    if (!hd_source_read(&expected, path))
        fail_msg("%s is missing; make bless writes it", path);
    bool same = expected.length == got->buffer.count && memcmp(expected.text, got->buffer.items, expected.length) == 0;
    if (!same)
        print_message("# expected:\n%s# got:\n%.*s", expected.text, (int)got->buffer.count, got->buffer.items);
    hd_source_free(&expected);
    assert_true(same);
}

static void golden(void **state)
{
    const char *path = *state;
    char text[4096];
    hd_writer writer;
    hd_writer_to_memory(&writer);
    parse_and_render(path, &writer);
    snprintf(text, sizeof text, "%.*s.txt", (int)strlen(path) - 4, path);
    if (getenv("BLESS"))
        bless(text, &writer);
    else
        check(text, &writer);
    hd_writer_free(&writer);
}

int main(void)
{
    char pattern[4096];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/tests/diagnostics/*.ptx", top());
    if (glob(pattern, 0, NULL, &files) != 0)
        return 1;
    struct CMUnitTest *tests = calloc(files.gl_pathc, sizeof *tests);
    for (size_t i = 0; i < files.gl_pathc; i++)
        tests[i] = (struct CMUnitTest){strrchr(files.gl_pathv[i], '/') + 1, golden, NULL, NULL, files.gl_pathv[i]};
    int failed = _cmocka_run_group_tests("diagnostics", tests, files.gl_pathc, NULL, NULL);
    free(tests);
    globfree(&files);
    return failed;
}
