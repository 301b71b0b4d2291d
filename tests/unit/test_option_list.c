/* base/option_list: the pieces that readers of lists with options share. */
#include "tests/unit/unit.h"

#include "base/option_list.h"

static void lists(void **state)
{
    (void)state;
    hd_source source;
    hd_arena arena = {0};
    hd_source_from_memory(&source, "-p", " corf++ ( iw = 3,\tshared,) x", 28);
    hd_option_cursor c = {&source, source.text};
    const char *begin;
    assert_string_equal(hd_option_word(&c, &arena, &begin), "corf++");
    assert_int_equal(hd_option_span(&c, begin).begin, 1);
    assert_int_equal(hd_option_span(&c, begin).end, 7);
    assert_false(hd_option_take(&c, ','));
    assert_true(hd_option_take(&c, '('));
    hd_option_item item = hd_option_read(&c, &arena);
    assert_string_equal(item.name, "iw");
    assert_string_equal(item.value, "3");
    assert_int_equal(item.begin - source.text, 10);
    assert_true(hd_option_take(&c, ','));
    item = hd_option_read(&c, &arena);
    assert_string_equal(item.name, "shared");
    assert_null(item.value);
    assert_true(hd_option_take(&c, ','));
    item = hd_option_read(&c, &arena);
    assert_string_equal(item.name, "");
    assert_true(hd_option_take(&c, ')'));
    assert_string_equal(hd_option_word(&c, &arena, &begin), "x");
    assert_string_equal(hd_option_word(&c, &arena, &begin), "");
    assert_int_equal(hd_option_span(&c, begin).begin, 28); /* the end is a byte, too */
    assert_int_equal(hd_option_span(&c, begin).end, 29);
    hd_arena_free(&arena);
    hd_source_free(&source);
}

static void keys(void **state)
{
    (void)state;
    static const char row[] = "iw=3,shared,entries=1..64,iw=4";
    assert_string_equal(hd_option_find(row, "iw"), "=4");
    assert_string_equal(hd_option_find(row, "shared"), ",entries=1..64,iw=4");
    assert_string_equal(hd_option_find(row, "entries"), "=1..64,iw=4");
    assert_string_equal(hd_option_find("a,shared", "shared"), "");
    assert_null(hd_option_find(row, "share"));
    assert_null(hd_option_find(row, "w"));
    assert_null(hd_option_find("", "iw"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
