/* Text for terminals: what is written visibly, against a list of ranges, and colours. */
#include "tests/unit/unit.h"

#include "base/shown.h"

static char *shown(const char *text, size_t length, bool line)
{
    hd_writer to;
    hd_writer_to_memory(&to);
    if (line)
        hd_write_shown_in_line(&to, text);
    else
        hd_write_shown(&to, text, length);
    hd_write_char(&to, '\0');
    char *copy = strdup(to.buffer.items);
    hd_writer_free(&to);
    return copy;
}

static void is_shown(const char *text, const char *wanted)
{
    char *got = shown(text, strlen(text), false);
    assert_string_equal(got, wanted);
    free(got);
}

static void texts(void **state)
{
    (void)state;
    is_shown("", "");
    is_shown("plain text, \xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82\n\ttoo",
             "plain text, \xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82\n\ttoo");
    is_shown("a\33[31mb\7\r", "a<1B>[31mb<07><0D>");
    is_shown("\xe2\x80\xaegnp.\xe2\x81\xa6", "<U+202E>gnp.<U+2066>");
    is_shown("\xc2\x9b"
             "2J",
             "<U+009B>2J");
    is_shown("\x9b"
             "2J \xc3 \xff \xe2\x80",
             "<9B>2J <C3> <FF> <E2><80>");
    is_shown("\xc0\x9b \xe0\x82\x9b \xed\xa0\x80 \xf4\x90\x80\x80",
             "<C0><9B> <E0><82><9B> <ED><A0><80> <F4><90><80><80>");
    char *got = shown("a\nb\tc", 0, true);
    assert_string_equal(got, "a<0A>b<09>c");
    free(got);
    got = shown("a\0b", 3, false);
    assert_string_equal(got, "a<00>b");
    free(got);
}

/* Every character is visible exactly where it is in the list. */
static void all_characters(void **state)
{
    static const uint32_t ranges[][2] = {{0, 8},           {0xb, 0x1f},      {0x7f, 0x9f},     {0x61c, 0x61c},
                                         {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}, {0xd800, 0xdfff}};
    (void)state;
    for (uint32_t c = 0; c < 0x11000; c++) {
        bool wanted = false;
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
            wanted = wanted || (c >= ranges[r][0] && c <= ranges[r][1]);
        char text[4];
        size_t length = 0;
        if (c < 0x80) {
            text[length++] = (char)c;
        } else if (c < 0x800) {
            text[length++] = (char)(0xc0 | c >> 6);
            text[length++] = (char)(0x80 | (c & 63));
        } else if (c < 0x10000) {
            text[length++] = (char)(0xe0 | c >> 12);
            text[length++] = (char)(0x80 | (c >> 6 & 63));
            text[length++] = (char)(0x80 | (c & 63));
        } else {
            text[length++] = (char)(0xf0 | c >> 18);
            text[length++] = (char)(0x80 | (c >> 12 & 63));
            text[length++] = (char)(0x80 | (c >> 6 & 63));
            text[length++] = (char)(0x80 | (c & 63));
        }
        char *got = shown(text, length, false);
        assert_int_equal(wanted, got[0] == '<' && got[1]);
        free(got);
    }
}

static void emit(hd_writer *to, const void *what, bool colour)
{
    hd_write_format(to, "%s%s%s\n", colour ? "\33[1m" : "", (const char *)what, colour ? "\33[0m" : "");
}

static void colours(void **state)
{
    static const struct {
        const char *name;
        bool colour;
        const char *wanted;
    } cases[] = {{"k", false, "k\n"},
                 {"k", true, "\33[1mk\33[0m\n"},
                 {"k\33[1m", false, "k<1B>[1m\n"},
                 {"k\33[1m", true, "k<1B>[1m\n"},
                 {"k\7", true, "\33[1mk<07>\33[0m\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_writer to;
        hd_writer_to_memory(&to);
        hd_write_shown_by(&to, emit, cases[i].name, cases[i].colour);
        hd_write_char(&to, '\0');
        assert_string_equal(to.buffer.items, cases[i].wanted);
        hd_writer_free(&to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(all_characters),
        cmocka_unit_test(colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
