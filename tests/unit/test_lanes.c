/* Classes of lanes: two warps are alike exactly where the same columns of bits occur among their lanes. */
#include "unit.h"

#include "hwmodel/count/memo/lanes.h"

enum { KNOWN = 2, COMING = 2, MASKS = KNOWN + COMING };

typedef struct warp { /* masks that are known of it, and of what it does then */
    uint32_t masks[MASKS];
} warp;

static uint32_t column_of(const warp *w, uint32_t lane, uint32_t masks)
{
    uint32_t column = 0;
    for (uint32_t m = 0; m < masks; m++)
        column |= (w->masks[m] >> lane & 1) << m;
    return column;
}

/* The set of columns among its lanes: a bit each. */
static uint32_t columns_of(const warp *w)
{
    uint32_t columns = 0;
    for (uint32_t l = 0; l < 32; l++)
        columns |= 1u << column_of(w, l, MASKS);
    return columns;
}

/* Few different columns, so that warps are alike now and then. */
static warp random_warp(uint64_t *seed)
{
    warp w = {{0}};
    uint32_t kinds = 1 + (uint32_t)(unit_random(seed) % 4), columns[4];
    for (uint32_t k = 0; k < 4; k++)
        columns[k] = (uint32_t)(unit_random(seed) % (1u << MASKS));
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t column = columns[unit_random(seed) % kinds];
        for (uint32_t m = 0; m < MASKS; m++)
            w.masks[m] |= (column >> m & 1) << l;
    }
    return w;
}

/* The same columns in other lanes, as often as it falls. */
static warp shuffled(const warp *w, uint64_t *seed)
{
    warp s = {{0}};
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t column = column_of(w, (uint32_t)(unit_random(seed) % 32), MASKS);
        for (uint32_t m = 0; m < MASKS; m++)
            s.masks[m] |= (column >> m & 1) << l;
    }
    return s;
}

typedef struct written {
    uint32_t words[KNOWN], number;
    hd_rf_classes classes, parts;
} written;

static written write(hd_rf_splits *splits, const warp *w)
{
    static const uint32_t places[KNOWN] = {0, 1};
    written to;
    memcpy(to.words, w->masks, sizeof to.words);
    hd_rf_classes_write(&to.classes, to.words, places, KNOWN);
    to.number = hd_rf_split(splits, &to.classes, w->masks + KNOWN, COMING, &to.parts);
    return to;
}

static void check_written(const warp *w, const written *to)
{
    uint32_t all = 0;
    for (uint32_t m = 0; m < KNOWN; m++)
        assert_int_equal(hd_rf_classes_mask(&to->classes, to->words[m]), w->masks[m]);
    for (uint32_t k = 0; k < to->parts.count; k++) {
        uint32_t first = (uint32_t)__builtin_ctz(to->parts.lanes[k]);
        for (uint32_t l = 0; l < 32; l++)
            assert_int_equal(to->parts.lanes[k] >> l & 1, column_of(w, l, MASKS) == column_of(w, first, MASKS));
        assert_int_equal(to->parts.lanes[k] & all, 0);
        all |= to->parts.lanes[k];
    }
    assert_int_equal(all, UINT32_MAX);
}

static void warps_with_the_same_columns_are_alike(void **state)
{
    (void)state;
    uint64_t seed = 1;
    uint32_t same = 0;
    hd_rf_splits splits = {0};
    for (uint32_t i = 0; i < 40000; i++) {
        warp a = random_warp(&seed), b = i % 2 ? shuffled(&a, &seed) : random_warp(&seed);
        written to[2] = {write(&splits, &a), write(&splits, &b)};
        check_written(&a, &to[0]);
        bool alike = to[0].number == to[1].number && !memcmp(to[0].words, to[1].words, sizeof to[0].words);
        assert_int_equal(alike, columns_of(&a) == columns_of(&b));
        for (uint32_t k = 0; alike && k < to[0].parts.count; k++) /* in the same order */
            assert_int_equal(column_of(&a, (uint32_t)__builtin_ctz(to[0].parts.lanes[k]), MASKS),
                             column_of(&b, (uint32_t)__builtin_ctz(to[1].parts.lanes[k]), MASKS));
        same += alike && i % 2 == 0;
    }
    assert_true(same > 100);
    hd_rf_splits_free(&splits);
}

static void classes_unite_parts(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (uint32_t i = 0; i < 1000; i++) {
        hd_rf_classes few, many, again;
        uint32_t sets[32],
            masks[3] = {(uint32_t)unit_random(&seed), (uint32_t)unit_random(&seed), (uint32_t)unit_random(&seed)};
        hd_rf_classes_whole(&few);
        hd_rf_classes_split(&few, masks[0] | masks[1]);
        hd_rf_classes_whole(&many);
        for (uint32_t m = 0; m < 3; m++)
            hd_rf_classes_split(&many, masks[m]);
        hd_rf_classes_unions(&few, &many, sets);
        hd_rf_classes_unite(&again, &many, sets, few.count);
        assert_int_equal(again.count, few.count);
        assert_memory_equal(again.lanes, few.lanes, few.count * sizeof *few.lanes);
    }
}

static void numbers_of_splits_end(void **state)
{
    (void)state;
    hd_rf_splits splits = {0};
    hd_rf_classes whole, parts;
    uint32_t numbers = 0, masks[20];
    hd_rf_classes_whole(&whole);
    for (uint32_t i = 0; i < 100000; i++) {
        for (uint32_t m = 0; m < 20; m++)
            masks[m] = i >> m & 1 ? UINT32_MAX : 0;
        uint32_t number = hd_rf_split(&splits, &whole, masks, 20, &parts);
        assert_int_equal(number, i < HD_RF_SPLITS - 1 ? i + 1 : HD_RF_SPLITS);
        numbers += number < HD_RF_SPLITS;
    }
    assert_int_equal(numbers, HD_RF_SPLITS - 1);
    hd_rf_splits_free(&splits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_with_the_same_columns_are_alike),
        cmocka_unit_test(classes_unite_parts),
        cmocka_unit_test(numbers_of_splits_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
