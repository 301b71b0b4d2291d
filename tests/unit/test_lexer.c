/* lexer/: what is a token and what is none. */
#include "tests/unit/unit.h"

#include "lexer/lexer.h"

typedef struct fixture {
    hd_source source;
    hd_names names;
    hd_diagnostics diagnostics;
    hd_lexer lexer;
} fixture;

static void start(fixture *f, const char *text, size_t length)
{
    hd_source_from_memory(&f->source, "t.ptx", text, length);
    hd_names_init(&f->names);
    hd_diagnostics_init(&f->diagnostics);
    hd_lexer_init(&f->lexer, &f->source, (hd_span){0, f->source.length}, &f->names, &f->diagnostics);
}

static void stop(fixture *f)
{
    hd_source_free(&f->source);
    hd_names_free(&f->names);
    hd_diagnostics_free(&f->diagnostics);
}

/* The spellings of all tokens, joined by single blanks. */
static void spell(fixture *f, char *out, size_t size)
{
    hd_token token;
    size_t length = 0;
    out[0] = 0;
    while (hd_lexer_next(&f->lexer, &token) != HD_TOKEN_END) {
        const char *text = hd_names_text(&f->names, hd_token_spelling(&f->lexer, &token));
        length += (size_t)snprintf(out + length, size - length, "%s%s", length ? " " : "", text);
        assert_true(length < size);
    }
    assert_int_equal(token.begin, f->source.length);
}

static void expect(const char *text, const char *tokens, bool fine)
{
    fixture f;
    char out[1024];
    start(&f, text, strlen(text));
    f.lexer.fine = fine;
    spell(&f, out, sizeof out);
    assert_string_equal(out, tokens);
    assert_int_equal(f.diagnostics.error_count, 0);
    stop(&f);
}

/* The kind of the first mistake in a text, and how many there are. */
static int mistake(const char *text, size_t length, uint32_t count)
{
    fixture f;
    hd_token token;
    start(&f, text, length);
    for (uint32_t tokens = 0; hd_lexer_next(&f.lexer, &token) != HD_TOKEN_END; tokens++)
        assert_true(tokens <= length);
    assert_int_equal(f.diagnostics.error_count, count);
    int kind = f.diagnostics.first ? (int)f.diagnostics.first->kind : -1;
    stop(&f);
    return kind;
}
#define MISTAKE(text) mistake((text), sizeof(text) - 1, 1)

static void opcodes_are_whole(void **state)
{
    (void)state;
    expect("add.s32 %r1,%r2,4;", "add.s32 %r1 , %r2 , 4 ;", false);
    expect("add.s32 %r1,%r2,4;", "add .s32 %r1 , %r2 , 4 ;", true);
    expect("mov .b32 x ,%tid.x;", "mov .b32 x , %tid.x ;", false);
    expect("mov/**/.b32 x,v.y;", "mov .b32 x , v .y ;", true);
    expect("ld.global.L2::128B.v4.f32", "ld.global.L2::128B.v4.f32", false);
    expect("ld.global.L2::128B.v4.f32", "ld .global .L2::128B .v4 .f32", true);
    expect("ld.const[1].u32 x,[c]", "ld.const[1].u32 x , [ c ]", false);
    expect("tex.1d.v4.f32.s32 tcgen05.cp.128x256b", "tex.1d.v4.f32.s32 tcgen05.cp.128x256b", false);
    expect("tcgen05.fence::after_thread_sync", "tcgen05.fence::after_thread_sync", false);
    expect(".reg.b32 a;.const[2] .b8 c;", ".reg .b32 a ; .const [ 2 ] .b8 c ;", false);
}

static void names(void **state)
{
    (void)state;
    expect("_a $b %c a$b_1 %1 $$ __ _1 a%b", "_a $b %c a$b_1 %1 $$ __ _1 a %b", false);
    expect("7%3 7 %3 7% 3", "7 %3 7 %3 7 % 3", false);
    expect("_|%p1", "_ | %p1", false);
    expect("{fma.rn.f16x2 x;}", "{ fma.rn.f16x2 x ; }", false);
    expect("add: @!%p1 bra add;", "add : @ ! %p1 bra add ;", false);
}

static hd_token only(fixture *f, const char *text)
{
    hd_token token, end;
    start(f, text, strlen(text));
    hd_lexer_next(&f->lexer, &token);
    assert_int_equal(hd_lexer_next(&f->lexer, &end), HD_TOKEN_END);
    return token;
}

static void expect_split(const char *text, const char *stem, uint32_t index)
{
    fixture f;
    hd_token token = only(&f, text);
    assert_int_equal(token.kind, HD_TOKEN_NAME);
    assert_string_equal(hd_names_text(&f.names, token.name), stem);
    assert_int_equal(token.index, index);
    assert_string_equal(hd_names_text(&f.names, hd_token_spelling(&f.lexer, &token)), text);
    stop(&f);
}

static void numbers_of_names(void **state)
{
    (void)state;
    expect_split("%r17", "%r", 17);
    expect_split("%r0", "%r", 0);
    expect_split("%1", "%", 1);
    expect_split("$L__BB0_12", "$L__BB0_", 12);
    expect_split("r999999999", "r", 999999999);
    expect_split("r1000000000", "r1000000000", HD_NO_INDEX); /* too long for a number */
    expect_split("r01", "r01", HD_NO_INDEX);                 /* unusual: spelled as it is */
    expect_split("%rd", "%rd", HD_NO_INDEX);
    expect_split("x1y", "x1y", HD_NO_INDEX);
    expect_split("a_very_long_name_of_a_parameter_3", "a_very_long_name_of_a_parameter_", 3);
}

static void literals(void **state)
{
    static const struct {
        const char *text;
        hd_token_kind kind;
    } rows[] = {
        {"0", HD_TOKEN_INTEGER},
        {"10U", HD_TOKEN_INTEGER},
        {"017", HD_TOKEN_INTEGER},
        {"0x1fU", HD_TOKEN_INTEGER},
        {"0B11", HD_TOKEN_INTEGER},
        {"1.5", HD_TOKEN_FLOAT},
        {".5", HD_TOKEN_FLOAT},
        {"5.", HD_TOKEN_FLOAT},
        {"1e3", HD_TOKEN_FLOAT},
        {".5e-3", HD_TOKEN_FLOAT},
        {"08.5", HD_TOKEN_FLOAT},
        {"0f3F800000", HD_TOKEN_FLOAT},
        {"0D3ff0000000000000", HD_TOKEN_FLOAT},
        {"WARP_SZ", HD_TOKEN_WARP_SZ},
        {"WARP_SZ1", HD_TOKEN_NAME},
        {".1d", HD_TOKEN_WORD},
        {".reg", HD_TOKEN_REG},
        {".reg2", HD_TOKEN_WORD},
        {".param::entry", HD_TOKEN_WORD},
        {"\"a\\b\n\"", HD_TOKEN_STRING},
        {"\"\"", HD_TOKEN_STRING},
        {".heddle bow_window 3;", HD_TOKEN_HEDDLE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        hd_token token = only(&f, rows[i].text);
        assert_int_equal(token.kind, rows[i].kind);
        assert_int_equal(token.end, strlen(rows[i].text));
        stop(&f);
    }
}

static void malformed_literals(void **state)
{
    static const char *const texts[] = {"10u",   "08",   "089", "0b12", "0xG",   "0x",  "0f3f8", "0f3f80000000",
                                        "0d3ff", "1.0f", "1e",  "1a",   "0x1p3", "5.f", "'a'"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(mistake(texts[i], strlen(texts[i]), 1), HD_DIAG_BAD_LITERAL);
}

static void white_space(void **state)
{
    (void)state;
    expect("a\tb\r\nc\rd // e\n f /* g * / // */h", "a b c d f h", false);
    expect("a // b\r c\r\nd", "a d", false); /* a CR alone ends no comment */
    expect("// no line end", "", false);
    expect("a // \\\nb", "a b", false);
    expect("/**/a/***/b/*/*/c", "a b c", false);
    expect("# 12 \"a.cu\"\nb\n #3 \"x\" 1 2 \nc", "b c", false);
    expect("ret;\n\x1a\n", "ret ;", false);
}

static void bad_bytes(void **state)
{
    (void)state;
    assert_int_equal(MISTAKE("a \0 b"), HD_DIAG_BAD_CHARACTER);
    assert_int_equal(MISTAKE("a \0\0\0 b"), HD_DIAG_BAD_CHARACTER);
    assert_int_equal(MISTAKE("// a \0 b\nc"), HD_DIAG_BAD_CHARACTER);
    assert_int_equal(MISTAKE("a \xc3\xa9 b"), HD_DIAG_NON_ASCII);
    assert_int_equal(MISTAKE("\xef\xbb\xbf.version"), HD_DIAG_NON_ASCII);
    assert_int_equal(MISTAKE("// \xc3\xa9\n"), HD_DIAG_NON_ASCII);
    assert_int_equal(MISTAKE("/* \xc3\xa9 */"), HD_DIAG_NON_ASCII);
    assert_int_equal(MISTAKE("\"\xc3\xa9\""), HD_DIAG_NON_ASCII);
    assert_int_equal(MISTAKE("a \f"), HD_DIAG_BAD_CHARACTER);
    assert_int_equal(MISTAKE("a \v"), HD_DIAG_BAD_CHARACTER);
    assert_int_equal(MISTAKE("a \x1a b"), HD_DIAG_BAD_CHARACTER);
    assert_int_equal(MISTAKE("$"), HD_DIAG_BAD_CHARACTER);
    assert_int_equal(MISTAKE("mov. b32"), HD_DIAG_BAD_CHARACTER);
    assert_int_equal(MISTAKE("#define x"), HD_DIAG_BAD_CHARACTER);
    assert_int_equal(MISTAKE("# 5\nx"), HD_DIAG_BAD_CHARACTER);
    assert_int_equal(MISTAKE("{ # 5 \"f\" ret; }"), HD_DIAG_BAD_CHARACTER);
    assert_int_equal(MISTAKE("\"abc"), HD_DIAG_UNTERMINATED_STRING);
    assert_int_equal(MISTAKE("/* abc *"), HD_DIAG_UNTERMINATED_COMMENT);
    assert_int_equal(MISTAKE("/*/"), HD_DIAG_UNTERMINATED_COMMENT);
}

static void many_bad_bytes_end_soon(void **state)
{
    (void)state;
    char text[4096];
    memset(text, '\f', sizeof text);
    assert_int_equal(mistake(text, sizeof text, 20), HD_DIAG_BAD_CHARACTER);
}

/* A lexer over a part looks at nothing after it. */
static void parts(void **state)
{
    static const char text[] = "abc/* */ def\"x\"";
    (void)state;
    for (uint32_t begin = 0; begin < sizeof text - 1; begin++) {
        for (uint32_t end = begin; end < sizeof text - 1; end++) {
            fixture f;
            hd_token token;
            start(&f, text, sizeof text - 1);
            hd_lexer_init(&f.lexer, &f.source, (hd_span){begin, end}, &f.names, NULL);
            for (uint32_t last = begin; hd_lexer_next(&f.lexer, &token) != HD_TOKEN_END; last = token.end) {
                assert_true(token.begin >= last && token.begin < token.end);
                assert_true(token.end <= end);
            }
            stop(&f);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes_are_whole),
        cmocka_unit_test(names),
        cmocka_unit_test(numbers_of_names),
        cmocka_unit_test(literals),
        cmocka_unit_test(malformed_literals),
        cmocka_unit_test(white_space),
        cmocka_unit_test(bad_bytes),
        cmocka_unit_test(many_bad_bytes_end_soon),
        cmocka_unit_test(parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
