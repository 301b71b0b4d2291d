/* base/search.h: binary search against a linear one, over every boundary of short ranges and numbers that repeat; rows
 * by name. */
#include "unit.h"

#include "base/search.h"

static uint32_t linear(const uint32_t *numbers, uint32_t low, uint32_t high, uint32_t least)
{
    while (low < high && numbers[low] < least)
        low++;
    return low;
}

static void every_range(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {0, 2, 2, 2, 3, 7, 7, 9, UINT32_MAX};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    for (uint32_t low = 0; low <= COUNT; low++)
        for (uint32_t high = low; high <= COUNT; high++)
            for (uint32_t least = 0; least < 12; least++)
                assert_int_equal(hd_search_u32(numbers, low, high, least), linear(numbers, low, high, least));
    assert_int_equal(hd_search_u32(numbers, 0, COUNT, UINT32_MAX), COUNT - 1);
    assert_int_equal(hd_search_u32(NULL, 0, 0, 1), 0);
}

/* Each index is asked about at most once, and as few as a binary search needs. */
static void of_an_expression(void **state)
{
    (void)state;
    for (uint32_t first = 0; first <= 1000; first++) {
        uint32_t low = 0, high = 1000, asked = 0;
        HD_SEARCH(low, high, at, (asked++, at < first));
        assert_int_equal(low, first);
        assert_true(asked <= 10);
    }
    uint32_t low = UINT32_MAX - 3, high = UINT32_MAX; /* the middle does not overflow */
    HD_SEARCH(low, high, at, at < UINT32_MAX - 1);
    assert_int_equal(low, UINT32_MAX - 1);
}

static void rows_by_name(void **state)
{
    (void)state;
    static const struct {
        int number;
        const char *name;
    } rows[] = {{1, "one"}, {2, "on"}, {3, ""}, {4, "on"}};
    static const char *const names[] = {"a", "ab"};
    assert_int_equal(HD_FIND_ROW(rows, 4, name, "one", 3), 0);
    assert_int_equal(HD_FIND_ROW(rows, 4, name, "one", 2), 1); /* a text without a NUL */
    assert_int_equal(HD_FIND_ROW(rows, 4, name, "one", 0), 2);
    assert_int_equal(HD_FIND_ROW(rows, 4, name, "ones", 4), 4);
    assert_int_equal(HD_FIND_ROW(rows, 0, name, "one", 3), 0);
    assert_int_equal(hd_find_row(names, sizeof *names, 2, "abc", 2), 1);
    assert_true(hd_is_name("abc", 2, "ab"));
    assert_false(hd_is_name("abc", 3, "ab"));
    assert_false(hd_is_name("abc", 1, "ab"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_range),
        cmocka_unit_test(of_an_expression),
        cmocka_unit_test(rows_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
