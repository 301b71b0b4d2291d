/* Classes of lanes: the atoms of the masks, numbered independently of which lanes they have, and of how many. */
#include "unit.h"

#include "hwmodel/count/memo/classes.h"
#include <stdbool.h>

enum { MASKS = 6 };

static hd_lane_classes classes_of(const uint32_t *masks, uint32_t count)
{
    hd_lane_classes classes = hd_lane_classes_whole();
    for (uint32_t m = 0; m < count; m++)
        hd_lane_classes_split(&classes, masks[m]);
    return classes;
}

/* A mask in other lanes: lane i of it is lane from[i]. */
static uint32_t permuted(uint32_t mask, const uint8_t *from)
{
    uint32_t to = 0;
    for (uint32_t i = 0; i < 32; i++)
        to |= (mask >> from[i] & 1) << i;
    return to;
}

static void shuffle(uint8_t *lanes, uint64_t *seed)
{
    for (uint32_t i = 0; i < 32; i++)
        lanes[i] = (uint8_t)i;
    for (uint32_t i = 31; i > 0; i--) {
        uint32_t k = (uint32_t)(unit_random(seed) % (i + 1));
        uint8_t lane = lanes[i];
        lanes[i] = lanes[k];
        lanes[k] = lane;
    }
}

/* Lanes are in one class if and only if all masks have the same bit for both. */
static void expect_atoms(const hd_lane_classes *c, const uint32_t *masks, uint32_t count)
{
    uint32_t of[32], all = 0;
    for (uint32_t k = 0; k < c->count; k++) {
        assert_true(c->lanes[k] && !(all & c->lanes[k]));
        all |= c->lanes[k];
        for (uint32_t left = c->lanes[k]; left; left &= left - 1)
            of[__builtin_ctz(left)] = k;
    }
    assert_int_equal(all, UINT32_MAX);
    for (uint32_t i = 0; i < 32; i++)
        for (uint32_t j = 0; j < i; j++) {
            bool same = true;
            for (uint32_t m = 0; m < count; m++)
                same = same && (masks[m] >> i & 1) == (masks[m] >> j & 1);
            assert_int_equal(of[i] == of[j], same);
        }
}

static void classes_are_atoms_in_an_order_without_lanes(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t masks[MASKS], others[MASKS], count = (uint32_t)(unit_random(&seed) % (MASKS + 1));
        uint8_t from[32];
        shuffle(from, &seed);
        for (uint32_t m = 0; m < count; m++) {
            masks[m] = (uint32_t)unit_random(&seed) & (round % 2 ? (uint32_t)unit_random(&seed) : UINT32_MAX);
            masks[m] = unit_random(&seed) % 8 ? masks[m] : UINT32_MAX * (uint32_t)(unit_random(&seed) % 2);
            others[m] = permuted(masks[m], from);
        }
        hd_lane_classes c = classes_of(masks, count), other = classes_of(others, count);
        expect_atoms(&c, masks, count);
        assert_int_equal(c.count, other.count);
        for (uint32_t m = 0; m < count; m++) {
            uint32_t set = hd_lane_classes_set(&c, masks[m]);
            assert_int_equal(set, hd_lane_classes_set(&other, others[m]));
            assert_int_equal(hd_lane_classes_mask(&c, set), masks[m]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_atoms_in_an_order_without_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
