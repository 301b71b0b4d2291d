/* YAML reader: places, typed getters, and what they report. */
#include "tests/unit/unit.h"

#include "base/yaml.h"
#include <math.h>

typedef struct fixture {
    hd_diagnostics diagnostics;
    hd_yaml *yaml;
} fixture;

#define WITH(text)                                                              \
    fixture f;                                                                  \
    hd_diagnostics_init(&f.diagnostics);                                        \
    f.yaml = hd_yaml_from_memory("t.yaml", text, strlen(text), &f.diagnostics); \
    const hd_yaml_node *root = f.yaml->root;                                    \
    (void)root
#define DONE() (hd_yaml_free(f.yaml), hd_diagnostics_free(&f.diagnostics))

/* The last diagnostic is of this kind, at this place, and says this. */
static void expect_last(fixture *f, hd_diagnostic_kind kind, uint32_t line, uint32_t column, const char *part)
{
    const hd_diagnostic *d = f->diagnostics.last;
    assert_non_null(d);
    hd_position at = hd_source_position(d->source, d->span.begin);
    assert_string_equal(hd_diagnostic_slug(d->kind), hd_diagnostic_slug(kind));
    assert_int_equal(at.line, line);
    assert_int_equal(at.column, column);
    if (!strstr(d->message, part))
        fail_msg("'%s' does not hold '%s'", d->message, part);
}

static void reads_a_tree(void **state)
{
    (void)state;
    WITH("a: 1\nb: [x, 'y z', {c: 2.5}]\n\"d\": !!str 7\n");
    assert_non_null(root);
    assert_int_equal(root->count, 3);
    const hd_yaml_node *b = hd_yaml_get(root, "b");
    assert_true(hd_yaml_sequence(b));
    assert_int_equal(b->count, 3);
    assert_string_equal(b->items[1]->text, "y z");
    assert_false(b->items[1]->plain);
    double v = 0;
    assert_true(hd_yaml_double(hd_yaml_get(b->items[2], "c"), &v));
    assert_true(v == 2.5);
    hd_position at = hd_source_position(&f.yaml->source, b->items[2]->span.begin);
    assert_int_equal(at.line, 2);
    assert_int_equal(at.column, 15);
    assert_null(hd_yaml_get(root, "e"));
    assert_null(hd_yaml_get(NULL, "e"));
    assert_int_equal(f.diagnostics.error_count, 0);
    DONE();
}

/* Nodes that were read before a change stay as they were. */
static void changes(void **state)
{
    (void)state;
    WITH("a: 1\nb: {c: 2, d: [3, 4]}\n");
    uint32_t value = 0;
    assert_true(hd_yaml_set(f.yaml, "--set", "b.c=5") && hd_yaml_set(f.yaml, "--set", "b.d=[6]") &&
                hd_yaml_set(f.yaml, "--set", "b.e=7") && hd_yaml_set(f.yaml, "--set", "a={x: 8}") &&
                hd_yaml_set(f.yaml, "--set", "a.x=9"));
    const hd_yaml_node *b = hd_yaml_get(f.yaml->root, "b");
    assert_int_equal(b->count, 3);
    assert_true(hd_yaml_u32(hd_yaml_get(b, "c"), 0, 9, &value) && value == 5);
    assert_true(hd_yaml_u32(hd_yaml_get(b, "e"), 0, 9, &value) && value == 7);
    assert_int_equal(hd_yaml_get(b, "d")->count, 1);
    assert_true(hd_yaml_u32(hd_yaml_get(hd_yaml_get(f.yaml->root, "a"), "x"), 0, 9, &value) && value == 9);
    assert_true(hd_yaml_u32(hd_yaml_get(root, "a"), 0, 9, &value) && value == 1);
    assert_true(hd_yaml_u32(hd_yaml_get(hd_yaml_get(root, "b"), "c"), 0, 9, &value) && value == 2);
    assert_false(hd_yaml_u32(hd_yaml_get(b, "c"), 6, 9, &value));
    expect_last(&f, HD_DIAG_BAD_VALUE, 1, 6, "'5' is not a whole number from 6 to 9");
    assert_false(hd_yaml_set(f.yaml, "--set", "b.c.d=1"));
    expect_last(&f, HD_DIAG_BAD_KEY, 1, 1, "there are no keys");
    assert_false(hd_yaml_set(f.yaml, "--set", "n.c=1"));
    expect_last(&f, HD_DIAG_BAD_KEY, 1, 1, "there is no section 'n'");
    for (uint32_t i = 0; i < 4; i++) {
        assert_false(hd_yaml_set(f.yaml, "--set", (const char *const[]){"b", "=1", "", "x=1\ny: 2"}[i]));
        assert_true(f.yaml->root && hd_yaml_get(f.yaml->root, "b") == b);
    }
    DONE();
}

static void numbers(void **state)
{
    (void)state;
    WITH("[0, -1, 18446744073709551615, 0xff, 0b101, 0o17, 18446744073709551616, 1.5e3, .inf, -.inf, .nan, '7', 1_0, "
         "-9223372036854775808, "
         "-9223372036854775809, +5, inf, 0x1p3, 5., -.5]");
    uint64_t u = 0;
    double d = 0;
    const hd_yaml_node **n = root->items;
    assert_true(hd_yaml_u64(n[0], 0, 9, &u) && u == 0);
    assert_false(hd_yaml_u64(n[1], 0, UINT64_MAX, &u));
    assert_true(hd_yaml_u64(n[2], 0, UINT64_MAX, &u) && u == UINT64_MAX);
    assert_true(hd_yaml_u64(n[3], 0, 255, &u) && u == 255);
    assert_false(hd_yaml_u64(n[3], 0, 254, &u));
    assert_true(hd_yaml_u64(n[4], 0, 255, &u) && u == 5);
    assert_true(hd_yaml_u64(n[5], 0, 255, &u) && u == 15);
    assert_false(hd_yaml_u64(n[6], 0, UINT64_MAX, &u));
    assert_true(hd_yaml_double(n[6], &d) && d == 18446744073709551616.0);
    assert_true(hd_yaml_double(n[7], &d) && d == 1500);
    assert_true(hd_yaml_double(n[8], &d) && d == HUGE_VAL);
    assert_true(hd_yaml_double(n[9], &d) && d == -HUGE_VAL);
    assert_true(hd_yaml_double(n[10], &d) && isnan(d));
    assert_false(hd_yaml_double(n[11], &d));
    assert_false(hd_yaml_u64(n[12], 0, 100, &u));
    assert_true(hd_yaml_u64(n[15], 0, 100, &u) && u == 5);
    assert_false(hd_yaml_double(n[16], &d));
    assert_false(hd_yaml_double(n[17], &d));
    assert_true(hd_yaml_double(n[18], &d) && d == 5);
    assert_true(hd_yaml_double(n[19], &d) && d == -0.5);
    DONE();
}

static void words_and_kinds(void **state)
{
    (void)state;
    WITH("a: true\nb: maybe\nc: [1]\nd: ''\n");
    static const char *const words[] = {"gto", "lrr"};
    bool flag = false;
    uint32_t index;
    const char *text;
    assert_true(hd_yaml_bool(hd_yaml_get(root, "a"), &flag) && flag);
    assert_false(hd_yaml_bool(hd_yaml_get(root, "b"), &flag));
    expect_last(&f, HD_DIAG_BAD_VALUE, 2, 4, "'maybe' is not true or false");
    assert_false(hd_yaml_choice(hd_yaml_get(root, "b"), words, 2, &index));
    expect_last(&f, HD_DIAG_BAD_VALUE, 2, 4, "one of: gto, lrr");
    assert_false(hd_yaml_scalar(hd_yaml_get(root, "c")));
    expect_last(&f, HD_DIAG_BAD_VALUE, 3, 4, "single value");
    assert_false(hd_yaml_string(hd_yaml_get(root, "d"), &text));
    expect_last(&f, HD_DIAG_BAD_VALUE, 4, 4, "not a text");
    assert_false(hd_yaml_mapping(hd_yaml_get(root, "c")));
    assert_false(hd_yaml_bool(NULL, &flag));
    DONE();
}

static void keys(void **state)
{
    (void)state;
    WITH("module: x\n  \ncuont: 3\n");
    static const char *const known[] = {"module", "count"};
    assert_false(hd_yaml_known_keys(root, known, 2));
    expect_last(&f, HD_DIAG_BAD_KEY, 3, 1, "unknown key 'cuont'; known here: module, count");
    assert_null(hd_yaml_need(root, "count"));
    expect_last(&f, HD_DIAG_BAD_KEY, 1, 1, "'count' is missing");
    assert_non_null(hd_yaml_need(root, "module"));
    DONE();
}

static void rejects(const char *text, hd_diagnostic_kind kind, uint32_t line, uint32_t column, const char *part)
{
    WITH(text);
    assert_null(root);
    expect_last(&f, kind, line, column, part);
    DONE();
}

static void what_is_no_yaml(void **state)
{
    (void)state;
    rejects("", HD_DIAG_EMPTY_INPUT, 1, 1, "nothing");
    rejects("# only a comment\n", HD_DIAG_EMPTY_INPUT, 1, 1, "nothing");
    rejects("a: [1, 2\nb: 3\n", HD_DIAG_BAD_YAML, 2, 2, "',' or ']'");
    rejects("a: \"x\n", HD_DIAG_BAD_YAML, 2, 1, "end of stream");
    rejects("a: 1\nb: 2\na: 3\n", HD_DIAG_BAD_KEY, 3, 1, "'a' occurs twice");
    rejects("[x]: 1\n", HD_DIAG_BAD_KEY, 1, 1, "plain word");
    rejects("a: *nowhere\n", HD_DIAG_BAD_YAML, 1, 4, "undefined alias");
    rejects("a: 1\n---\nb: 2\n", HD_DIAG_BAD_YAML, 2, 1, "second document");
    rejects("a: \xff\n", HD_DIAG_BAD_YAML, 1, 4, "invalid");
}

/* A thousand levels are read; of a hundred thousand, which would take minutes, the first one too many is reported. */
static void deep_nesting(void **state)
{
    (void)state;
    enum { LEVELS = 100000 };
    static char text[2 * LEVELS + 1];
    memset(text, '[', 1000);
    memset(text + 1000, ']', 1000);
    WITH(text);
    assert_non_null(root);
    DONE();
    memset(text, '[', LEVELS);
    memset(text + LEVELS, ']', LEVELS);
    rejects(text, HD_DIAG_BAD_YAML, 1, 1001, "more than 1000 lists");
}

static void bytes_not_characters(void **state)
{
    (void)state;
    WITH("'\xc3\xa4\xc3\xb6': {\xe2\x82\xac: maybe}\n");
    bool flag;
    assert_false(hd_yaml_bool(hd_yaml_get(root->items[1], "\xe2\x82\xac"), &flag));
    expect_last(&f, HD_DIAG_BAD_VALUE, 1, 15, "maybe");
    DONE();
}

static void aliases_and_cycles(void **state)
{
    (void)state;
    WITH("a: &x [1, 2]\nb: *x\nc: &y [*y]\n");
    assert_ptr_equal(hd_yaml_get(root, "a"), hd_yaml_get(root, "b"));
    const hd_yaml_node *c = hd_yaml_get(root, "c");
    assert_ptr_equal(c, c->items[0]);
    DONE();
}

static void unreadable(void **state)
{
    (void)state;
    hd_diagnostics d;
    hd_diagnostics_init(&d);
    hd_yaml *y = hd_yaml_read("/nonexistent/x.yaml", &d);
    assert_null(y->root);
    assert_int_equal(d.last->kind, HD_DIAG_UNREADABLE);
    hd_yaml_free(y);
    hd_diagnostics_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_tree),         cmocka_unit_test(numbers),
        cmocka_unit_test(words_and_kinds),      cmocka_unit_test(keys),
        cmocka_unit_test(what_is_no_yaml),      cmocka_unit_test(deep_nesting),
        cmocka_unit_test(bytes_not_characters), cmocka_unit_test(aliases_and_cycles),
        cmocka_unit_test(unreadable),           cmocka_unit_test(changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
