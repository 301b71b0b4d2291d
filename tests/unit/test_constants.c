/* parser/expression.c: values and kinds of literals and constant expressions, and what is none. */
#include "tests/unit/parsed.h"

/* The value of `.global .b64 v = TEXT;`. */
static hd_initializer value_of(const char *text)
{
    char module[512];
    snprintf(module, sizeof module, HEAD ".global .b64 v = %s;\n", text);
    parsed *p = parse_good(module);
    assert_int_equal(p->module->initializers.count, 1);
    hd_initializer value = p->module->initializers.items[0];
    parsed_free(p);
    return value;
}

static void integers(void **state)
{
    static const struct {
        const char *text;
        uint64_t bits;
    } rows[] = {
        {"10", 10},
        {"0", 0},
        {"017", 15},
        {"0x1F", 31},
        {"0XfU", 15},
        {"0b101", 5},
        {"0B11U", 3},
        {"WARP_SZ", 32},
        {"18446744073709551615", UINT64_MAX},
        {"18446744073709551616", 0},
        {"9223372036854775808", 1ull << 63},
        {"-5", (uint64_t)-5},
        {"+5", 5},
        {"~5", ~5ull},
        {"- -4", 4},
        {"-(3+4)*2", (uint64_t)-14},
        {"1+2*3<<1", 14},
        {"(1+2)*3", 9},
        {"1|2^3&4==4<<1+2*3", 3},
        {"1||0&&0", 1},
        {"6&3==3", 0},
        {"(1<<3)|2", 10},
        {"-1<0U", 0},
        {"-1<0", 1},
        {"-1>>1", (uint64_t)-1},
        {"(.u64)-1>>60", 15},
        {"-8/2U", 0x7ffffffffffffffc},
        {"-8/2", (uint64_t)-4},
        {"-7 % 3", (uint64_t)-1},
        {"7/2", 3},
        {"-7/2", (uint64_t)-3},
        {"1<<64", 1},
        {"1<<65", 2},
        {"1<<40", 1ull << 40},
        {"-1>>40 & 0xff", 0xff},
        {"(.u64)-1>>40", 0xffffff},
        {"(1>2)?3:4", 4},
        {"1>0?2:3", 2},
        {"1?2:0?3:4", 2},
        {"0?1:0?3:4", 4},
        {"9223372036854775808 > 1", 1},
        {"(.s64)9223372036854775808 > 1", 0},
        {"1.0<2.0", 1},
        {"7% 3", 1},
        {"!7|2", 2},
        {"(-9223372036854775807-1)/-1", 1ull << 63},
        {"(-9223372036854775807-1) % -1", 0},
        {"5 - 3 - 1", 1},
        {"2 != 2", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hd_initializer v = value_of(rows[i].text);
        if (v.bits != rows[i].bits)
            print_message("# %s gave %llx\n", rows[i].text, (unsigned long long)v.bits);
        assert_true(v.bits == rows[i].bits);
    }
}

static void kinds(void **state)
{
    (void)state;
    assert_int_equal(value_of("1").literal_kind, HD_LITERAL_SIGNED);
    assert_int_equal(value_of("1U").literal_kind, HD_LITERAL_UNSIGNED);
    assert_int_equal(value_of("9223372036854775808").literal_kind, HD_LITERAL_UNSIGNED);
    assert_int_equal(value_of("1+1U").literal_kind, HD_LITERAL_UNSIGNED);
    assert_int_equal(value_of("1U<2").literal_kind, HD_LITERAL_SIGNED);
    assert_int_equal(value_of("1<<1U").literal_kind, HD_LITERAL_SIGNED);
    assert_int_equal(value_of("(.u64)1").literal_kind, HD_LITERAL_UNSIGNED);
    assert_int_equal(value_of("0f3f800000").literal_kind, HD_LITERAL_F32_BITS);
    assert_int_equal(value_of("0D3ff0000000000000").literal_kind, HD_LITERAL_F64_BITS);
    assert_int_equal(value_of("1.0").literal_kind, HD_LITERAL_DECIMAL);
    assert_int_equal(value_of("-1.0").literal_kind, HD_LITERAL_DECIMAL);
}

static double double_of(const char *text)
{
    double value;
    hd_initializer v = value_of(text);
    memcpy(&value, &v.bits, sizeof value);
    return value;
}

static void floats(void **state)
{
    (void)state;
    assert_true(value_of("0f3F800000").bits == 0x3f800000);
    assert_true(value_of("+0f3F800000").bits == 0x3f800000);
    assert_true(value_of("0dBFF0000000000000").bits == 0xbff0000000000000);
    assert_true(double_of("1.5e-3") == 1.5e-3);
    assert_true(double_of("-1.0") == -1.0);
    assert_true(double_of("1.0+2.0*3.0") == 7.0);
    assert_true(double_of("0f3f800000/4.0") == 0.25);
    assert_true(double_of(".5") == 0.5);
    assert_true(double_of("08.5") == 8.5);
}

static void refused(void **state)
{
    static const struct {
        const char *text;
        int kind;
    } rows[] = {
        {"7/0", HD_DIAG_BAD_EXPRESSION},
        {"7 % 0", HD_DIAG_BAD_EXPRESSION},
        {"1.0+2", HD_DIAG_BAD_EXPRESSION},
        {"~1.0", HD_DIAG_BAD_EXPRESSION},
        {"!1.0", HD_DIAG_BAD_EXPRESSION},
        {"1.0%2.0", HD_DIAG_SYNTAX},
        {"(.f32)1", HD_DIAG_BAD_EXPRESSION},
        {"(.u64)1.0", HD_DIAG_BAD_EXPRESSION},
        {"1.0?1:2", HD_DIAG_BAD_EXPRESSION},
        {"-0f3f800000", HD_DIAG_SYNTAX},
        {"7%3", HD_DIAG_SYNTAX},
        {"1+", HD_DIAG_SYNTAX},
        {"(1", HD_DIAG_SYNTAX},
        {"1 2", HD_DIAG_SYNTAX},
        {"18446744073709551617", HD_DIAG_BAD_LITERAL},
        {"0x10000000000000001", HD_DIAG_BAD_LITERAL},
        {"10u", HD_DIAG_BAD_LITERAL},
        {"1||x", HD_DIAG_BAD_EXPRESSION},
        {"1?2", HD_DIAG_SYNTAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char module[256];
        snprintf(module, sizeof module, HEAD ".global .b64 v = %s;\n", rows[i].text);
        int kind = first_error(module);
        if (kind != rows[i].kind)
            print_message("# %s\n", rows[i].text);
        assert_int_equal(kind, rows[i].kind);
    }
}

static void literals_are_shared_and_keep_their_spelling(void **state)
{
    char out[256];
    (void)state;
    parsed *p = parse_good(
        HEAD
        ".entry k { .reg .b32 x<9>; .reg .b64 y; add.s32 x1,x2,-0x10U; add.s32 x3,x2,- 0x10U; add.s32 x4,x2,-0x10U;\n"
        "add.s32 x4,x2,( 1 +2)*3; ret; }");
    const hd_function *f = function_of(p, "k");
    uint32_t literal[4];
    for (uint32_t i = 0; i < 4; i++)
        literal[i] = hd_insn_operands(f, &f->instructions.items[i])[2].value;
    assert_int_equal(literal[0], literal[2]);
    assert_string_equal(join_tokens(p->module, p->module->literals.items[literal[0]].tokens, out, sizeof out),
                        "- 0x10U");
    assert_string_equal(join_tokens(p->module, p->module->literals.items[literal[1]].tokens, out, sizeof out),
                        "- 0x10U");
    assert_string_equal(join_tokens(p->module, p->module->literals.items[literal[3]].tokens, out, sizeof out),
                        "( 1 + 2 ) * 3");
    assert_int_equal(p->module->literals.items[literal[0]].kind, HD_LITERAL_UNSIGNED);
    assert_true(p->module->literals.items[literal[3]].bits == 9);
    parsed_free(p);
}

/* (7) of a call is a list of one number, not a number in parentheses. */
static void parentheses_of_lists(void **state)
{
    char out[64];
    (void)state;
    parsed *p = parse_good(HEAD ".func f(.reg .b32 a) { ret; }\n.entry k { call f, ( 7 ); call f, ((1+2)*3); ret; }");
    const hd_function *f = function_of(p, "k");
    const char *const tokens[] = {"7", "( 1 + 2 ) * 3"};
    for (uint32_t i = 0; i < 2; i++) {
        const hd_operand *o = hd_insn_operands(f, &f->instructions.items[i]) + 2;
        assert_int_equal(o->kind, HD_OPERAND_LITERAL);
        assert_string_equal(join_tokens(p->module, p->module->literals.items[o->value].tokens, out, sizeof out),
                            tokens[i]);
    }
    parsed_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(kinds),
        cmocka_unit_test(floats),
        cmocka_unit_test(refused),
        cmocka_unit_test(literals_are_shared_and_keep_their_spelling),
        cmocka_unit_test(parentheses_of_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
