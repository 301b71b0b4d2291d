/* Orders: each is a permutation, whatever the count; seeds give different ones, and the same one always. */
#include "unit.h"

#include "base/ordering.h"

#include <stdlib.h>

static void assert_permutation(hd_ordering order, uint32_t count)
{
    bool *found = calloc(count + 1, sizeof *found);
    assert_non_null(found);
    for (uint32_t place = 0; place < count; place++) {
        uint32_t at = hd_ordering_at(order, count, place);
        assert_true(at < count && !found[at]);
        found[at] = true;
    }
    free(found);
}

static void permutations(void **state)
{
    (void)state;
    for (uint32_t count = 1; count < 300; count++)
        for (uint32_t seed = 0; seed < 8; seed++)
            assert_permutation((hd_ordering){HD_ORDERING_RANDOM, seed * 0x12345679u}, count);
    assert_permutation((hd_ordering){HD_ORDERING_RANDOM, 5}, 100003);
    assert_permutation((hd_ordering){HD_ORDERING_REVERSE, 0}, 1000);
    assert_int_equal(hd_ordering_at((hd_ordering){HD_ORDERING_REVERSE, 0}, 1000, 0), 999);
    assert_int_equal(hd_ordering_at((hd_ordering){HD_ORDERING_LINEAR, 0}, 1000, 7), 7);
}

/* Neighbours do not stay neighbours, and two seeds have few places in common. */
static void at_random(void **state)
{
    enum { COUNT = 4096 };
    uint32_t neighbours = 0, in_place = 0, common = 0;
    (void)state;
    for (uint32_t place = 0; place < COUNT; place++) {
        uint32_t at = hd_ordering_at((hd_ordering){HD_ORDERING_RANDOM, 0}, COUNT, place);
        in_place += at == place;
        common += at == hd_ordering_at((hd_ordering){HD_ORDERING_RANDOM, 1}, COUNT, place);
        neighbours +=
            place + 1 < COUNT && at + 1 == hd_ordering_at((hd_ordering){HD_ORDERING_RANDOM, 0}, COUNT, place + 1);
    }
    /* each is 1 on average in a random permutation */
    assert_true(neighbours < 10);
    assert_true(in_place < 10);
    assert_true(common < 10);
}

static void texts(void **state)
{
    static const struct {
        const char *text;
        bool good;
        hd_ordering order;
    } cases[] = {
        {NULL, true, {HD_ORDERING_LINEAR, 0}},
        {"linear", true, {HD_ORDERING_LINEAR, 0}},
        {"reverse", true, {HD_ORDERING_REVERSE, 0}},
        {"random", true, {HD_ORDERING_RANDOM, 0}},
        {"random:0", true, {HD_ORDERING_RANDOM, 0}},
        {"random:4294967295", true, {HD_ORDERING_RANDOM, UINT32_MAX}},
        {"random:4294967296", false, {HD_ORDERING_LINEAR, 0}},
        {"random:", false, {HD_ORDERING_LINEAR, 0}},
        {"random:3x", false, {HD_ORDERING_LINEAR, 0}},
        {"random3", false, {HD_ORDERING_LINEAR, 0}},
        {"random:-1", false, {HD_ORDERING_LINEAR, 0}},
        {"Linear", false, {HD_ORDERING_LINEAR, 0}},
        {"", false, {HD_ORDERING_LINEAR, 0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_ordering order;
        assert_int_equal(hd_ordering_read(cases[i].text, &order), cases[i].good);
        assert_int_equal(order.kind, cases[i].order.kind);
        assert_int_equal(order.seed, cases[i].order.seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(permutations), cmocka_unit_test(at_random),
                                       cmocka_unit_test(texts)};
    return cmocka_run_group_tests_name("ordering", tests, NULL, NULL);
}
