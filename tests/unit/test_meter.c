/* base/meter.h: parts count in the whole by their weight, and a part that ends early leaves nothing open. */
#include "unit.h"

#include "base/meter.h"

static void parts_of_a_whole(void **state)
{
    (void)state;
    hd_meter whole = {0}, part = {0}, other = {0};
    assert_true(hd_meter_fraction(&whole) == 0);
    hd_meter_open(&part, &whole, 3, 10);
    hd_meter_open(&other, &whole, 1, 30);
    hd_meter_step(&part, 5);
    assert_true(hd_meter_fraction(&whole) == 0.25 && hd_meter_fraction(&part) == 0.5);
    hd_meter_step(&other, 30);
    assert_true(hd_meter_fraction(&whole) == 0.75);
    hd_meter_expect(&part, 10);
    assert_true(hd_meter_fraction(&whole) == 0.5);
    hd_meter_close(&part);
    assert_true(hd_meter_fraction(&whole) == 1);
    hd_meter_step(&other, 1000); /* more than was expected */
    assert_true(hd_meter_fraction(&whole) == 1);
    hd_meter_close(&other);
    assert_int_equal(whole.done, 3 * 20 + 1030);
}

static void ends_of_jobs(void **state)
{
    (void)state;
    hd_meter nothing = {0}, part = {0};
    hd_meter_close(&nothing); /* nothing was expected */
    assert_true(hd_meter_fraction(&nothing) == 1);
    hd_meter_open(&part, NULL, 7, 2); /* of no whole */
    hd_meter_step(&part, 1);
    assert_true(hd_meter_fraction(&part) == 0.5);
    hd_meter_expect(NULL, 1);
    hd_meter_step(NULL, 1);
    hd_meter_next_item(NULL);
    hd_meter_close(NULL);
    hd_meter_next_item(&part);
    assert_int_equal(part.item, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_of_a_whole), cmocka_unit_test(ends_of_jobs)};
    return cmocka_run_group_tests_name("meter", tests, NULL, NULL);
}
