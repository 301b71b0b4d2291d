/* Counts that do not fit: sums of squares are exact or marked, never wrapped, and JSON keeps all digits. */
#include "unit.h"

#include "emitters/json.h"
#include "hwmodel/rf/counters.h"
#include "hwmodel/rf/models/physical.h"

static uint64_t squares_of(uint64_t first, uint64_t second)
{
    hd_physical_file file = {0};
    hd_physical_start(&file, 2, 1, 1);
    file.banks[0].registers.items[0].accesses = first;
    file.banks[0].registers.items[1].accesses = second;
    uint64_t squares = hd_physical_squares(&file);
    hd_physical_free(&file);
    return squares;
}

static void squares_are_exact_or_marked(void **state)
{
    (void)state;
    assert_int_equal(squares_of(3000000000, 1), 9000000000000000001);
    assert_true(squares_of(4294967295, 0) == 18446744065119617025u);
    assert_true(squares_of(4294967295, 92681) == 18446744065119617025u + 8589767761u);
    assert_true(squares_of(4294967296, 0) == HD_UNCOUNTED);
    assert_true(squares_of(4294967295, 4294967295) == HD_UNCOUNTED);
    assert_true(squares_of(UINT64_MAX, UINT64_MAX) == HD_UNCOUNTED);
}

static void sums_of_counters_stay_marked(void **state)
{
    uint64_t counters[HD_COUNTER_COUNT] = {0}, more[HD_COUNTER_COUNT] = {0};
    (void)state;
    hd_counter_add(counters, HD_COUNTER_ACCESS_SQUARES, 1ull << 63, 1);
    hd_counter_add(counters, HD_COUNTER_ACCESS_SQUARES, 5, 7);
    assert_true(counters[HD_COUNTER_ACCESS_SQUARES] == (1ull << 63) + 35);
    hd_counter_add(counters, HD_COUNTER_ACCESS_SQUARES, 1ull << 62, 2);
    assert_true(counters[HD_COUNTER_ACCESS_SQUARES] == HD_UNCOUNTED);
    more[HD_COUNTER_ACCESS_SQUARES] = 10;
    hd_counters_join(counters, more);
    assert_true(counters[HD_COUNTER_ACCESS_SQUARES] == HD_UNCOUNTED);
    hd_counter_add(more, HD_COUNTER_ACCESS_SQUARES, 1ull << 40, 1ull << 40);
    assert_true(more[HD_COUNTER_ACCESS_SQUARES] == HD_UNCOUNTED);
}

static void expect_json(uint64_t number, const char *expected)
{
    hd_writer writer;
    hd_writer_to_memory(&writer);
    hd_json json = {.out = &writer};
    hd_json_compact_array(&json, NULL);
    hd_json_number(&json, NULL, number);
    hd_json_count(&json, NULL, number);
    hd_json_end(&json);
    hd_write_char(&writer, '\0');
    assert_string_equal(writer.buffer.items, expected);
    hd_writer_free(&writer);
}

static void json_keeps_all_digits(void **state)
{
    (void)state;
    expect_json(0, "[0, 0]\n");
    expect_json(1ull << 53, "[9007199254740992, 9007199254740992]\n");
    expect_json((1ull << 53) + 1, "[\"9007199254740993\", \"9007199254740993\"]\n");
    expect_json(1ull << 63, "[\"9223372036854775808\", \"9223372036854775808\"]\n");
    expect_json(HD_UNCOUNTED - 1, "[\"18446744073709551614\", \"18446744073709551614\"]\n");
    expect_json(HD_UNCOUNTED, "[\"18446744073709551615\", null]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(squares_are_exact_or_marked),
                                       cmocka_unit_test(sums_of_counters_stay_marked),
                                       cmocka_unit_test(json_keeps_all_digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
