/* base/source: reading and line tables. */
#include "tests/unit/unit.h"

#include "base/source.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void lines_end_in_every_way(void **state)
{
    (void)state;
    static const char text[] = "ab\ncd\r\nef\rgh\r\r\n\n\nend";
    static const struct {
        uint32_t offset, line, column;
    } places[] = {{0, 1, 1},  {2, 1, 3},  {3, 2, 1},  {5, 2, 3},  {6, 2, 4},  {7, 3, 1},  {9, 3, 3},  {10, 4, 1},
                  {12, 4, 3}, {13, 5, 1}, {14, 5, 2}, {15, 6, 1}, {16, 7, 1}, {17, 8, 1}, {20, 8, 4}, {99, 8, 4}};
    static const char *const lines[] = {"ab", "cd", "ef", "gh", "", "", "", "end"};
    hd_source source;
    hd_source_from_memory(&source, "t", text, sizeof text - 1);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        hd_position p = hd_source_position(&source, places[i].offset);
        assert_int_equal(p.line, places[i].line);
        assert_int_equal(p.column, places[i].column);
    }
    for (uint32_t i = 0; i < 8; i++) {
        hd_span line = hd_source_line(&source, i + 1);
        assert_int_equal(line.end - line.begin, strlen(lines[i]));
        assert_memory_equal(source.text + line.begin, lines[i], strlen(lines[i]));
    }
    hd_span none = hd_source_line(&source, 9);
    assert_int_equal(none.begin, source.length);
    assert_int_equal(none.end, source.length);
    hd_source_free(&source);
}

/* Against counting from the start, over random texts of few distinct bytes. */
static void positions_agree_with_counting(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (unsigned round = 0; round < 200; round++) {
        char text[60];
        size_t length = unit_random(&seed) % sizeof text;
        for (size_t i = 0; i < length; i++)
            text[i] = "\r\n\ta "[unit_random(&seed) % 5];
        hd_source source;
        hd_source_from_memory(&source, "t", text, length);
        uint32_t line = 1, column = 1;
        for (uint32_t i = 0; i <= length; i++) {
            hd_position p = hd_source_position(&source, i);
            assert_int_equal(p.line, line);
            assert_int_equal(p.column, column);
            bool ends =
                i < length && (text[i] == '\n' || (text[i] == '\r' && (i + 1 == length || text[i + 1] != '\n')));
            line += ends;
            column = ends ? 1 : column + 1;
        }
        hd_source_free(&source);
    }
}

static void texts_are_padded(void **state)
{
    (void)state;
    hd_source source;
    hd_source_from_memory(&source, "name", "xyz", 3);
    assert_string_equal(source.name, "name");
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(source.text[3 + i], 0);
    hd_source_free(&source);
    hd_source_from_memory(&source, "empty", NULL, 0);
    hd_position p = hd_source_position(&source, 0);
    assert_int_equal(p.line, 1);
    assert_int_equal(p.column, 1);
    hd_source_free(&source);
}

/* A file of the given size is read whole and padded. */
static void read_file_of(size_t length)
{
    char path[] = "/tmp/heddle-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    char *text = malloc(length + 1);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)('a' + i % 23);
    assert_int_equal(write(file, text, length), length);
    close(file);
    hd_source source;
    assert_true(hd_source_read(&source, path));
    unlink(path);
    assert_string_equal(source.name, path);
    assert_int_equal(source.length, length);
    assert_memory_equal(source.text, text, length);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(source.text[length + i], 0);
    hd_source_free(&source);
    free(text);
}

static void files_are_read(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 3000000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        read_file_of(lengths[i]);
}

/* Standard input is a pipe whose length nobody knows beforehand. */
static void standard_input_is_read(void **state)
{
    (void)state;
    enum { LENGTH = 200000 };
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        char block[1000];
        memset(block, 'q', sizeof block);
        for (unsigned i = 0; i < LENGTH / sizeof block; i++)
            if (write(ends[1], block, sizeof block) < 0)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    hd_source source;
    bool read = hd_source_read(&source, "-");
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    assert_true(read);
    assert_string_equal(source.name, "<stdin>");
    assert_int_equal(source.length, LENGTH);
    assert_int_equal(source.text[LENGTH - 1], 'q');
    hd_source_free(&source);
}

static void what_cannot_be_read(void **state)
{
    (void)state;
    hd_source source;
    assert_false(hd_source_read(&source, "/nonexistent/heddle.ptx"));
    assert_int_equal(errno, ENOENT);
    assert_false(hd_source_read(&source, "/"));
    assert_int_equal(errno, EISDIR);
    char path[] = "/tmp/heddle-test-XXXXXX";
    int file = mkstemp(path);
    if (ftruncate(file, 5ll << 30) == 0) { /* sparse */
        assert_false(hd_source_read(&source, path));
        assert_int_equal(errno, EFBIG);
    }
    close(file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_in_every_way), cmocka_unit_test(positions_agree_with_counting),
        cmocka_unit_test(texts_are_padded),       cmocka_unit_test(files_are_read),
        cmocka_unit_test(standard_input_is_read), cmocka_unit_test(what_cannot_be_read),
    };
    return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
