/* Series: mean, peak and buckets against the samples themselves. */
#include "unit.h"

#include <math.h>

#include "hwmodel/rf/series.h"

enum { MOST = 5000 };

static double mean_of(const uint64_t *samples, uint32_t from, uint32_t end)
{
    double sum = 0;
    for (uint32_t i = from; i < end; i++)
        sum += (double)samples[i];
    return sum / (end - from);
}

static void expect_series(const hd_rf_series *s, const uint64_t *samples, uint32_t count)
{
    uint64_t peak = 0;
    for (uint32_t i = 0; i < count; i++)
        peak = samples[i] > peak ? samples[i] : peak;
    assert_int_equal(s->samples, count);
    assert_int_equal(s->peak, peak);
    assert_true(hd_rf_series_buckets(s) <= HD_RF_BUCKETS &&
                (count < HD_RF_BUCKETS || hd_rf_series_buckets(s) > HD_RF_BUCKETS / 2));
    assert_true(fabs(hd_rf_series_mean(s) - mean_of(samples, 0, count)) < 1e-9);
    for (uint32_t b = 0; b < hd_rf_series_buckets(s); b++) {
        uint32_t from = b * (uint32_t)s->width,
                 end = from + (uint32_t)s->width < count ? from + (uint32_t)s->width : count;
        assert_true(fabs(hd_rf_series_bucket(s, b) - mean_of(samples, from, end)) < 1e-9);
    }
}

static void samples_in_buckets(void **state)
{
    static uint64_t samples[MOST];
    hd_rf_series s = {.width = 0};
    uint32_t count = 0, random = 1;
    (void)state;
    assert_int_equal(hd_rf_series_buckets(&s), 0);
    assert_true(hd_rf_series_mean(&s) == 0);
    while (count < MOST) {
        random = random * 1664525 + 1013904223;
        uint32_t times = 1 + (random >> 8) % 90;
        uint64_t value = random >> 20;
        times = times < MOST - count ? times : MOST - count;
        hd_rf_series_add(&s, value, times);
        for (uint32_t i = 0; i < times; i++)
            samples[count++] = value;
        expect_series(&s, samples, count);
    }
}

/* Samples by their sum, where they do not fill a bucket, against each of them. */
static void sums_are_as_good_as_samples(void **state)
{
    hd_rf_series each = {.width = 0}, sums = {.width = 0};
    uint64_t seed = 3;
    uint32_t taken = 0, refused = 0;
    (void)state;
    for (uint32_t i = 0; i < MOST; i++) {
        uint64_t values[3], sum = 0, greatest = 0;
        for (uint32_t k = 0; k < 3; k++) {
            values[k] = unit_random(&seed) % 1000;
            hd_rf_series_add(&each, values[k], k + 1);
            sum += values[k] * (k + 1);
            greatest = values[k] > greatest ? values[k] : greatest;
        }
        bool together = hd_rf_series_add_sum(&sums, sum, 6, greatest);
        taken += together;
        refused += !together;
        for (uint32_t k = 0; k < 3 && !together; k++)
            hd_rf_series_add(&sums, values[k], k + 1);
        assert_memory_equal(each.sums, sums.sums, sizeof sums.sums);
        assert_true(each.samples == sums.samples && each.width == sums.width && each.peak == sums.peak);
    }
    assert_true(taken > refused && refused > HD_RF_BUCKETS);
}

static void joined_runs_keep_mean_and_peak(void **state)
{
    hd_rf_series one = {.width = 0}, two = {.width = 0}, empty = {.width = 0};
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        hd_rf_series_add(&one, i % 7, 1);
        hd_rf_series_add(&two, 100 + i % 13, 2);
    }
    double mean = (hd_rf_series_mean(&one) * 1000 + hd_rf_series_mean(&two) * 2000) / 3000;
    hd_rf_series_join(&one, &two);
    hd_rf_series_join(&one, &empty);
    assert_int_equal(one.samples, 3000);
    assert_int_equal(one.peak, 112);
    assert_true(fabs(hd_rf_series_mean(&one) - mean) < 1e-9);
    assert_true(hd_rf_series_bucket(&one, hd_rf_series_buckets(&one) - 1) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_in_buckets),
        cmocka_unit_test(sums_are_as_good_as_samples),
        cmocka_unit_test(joined_runs_keep_mean_and_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
