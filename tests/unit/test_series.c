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
    assert_true(hd_rf_series_buckets(s) <= HD_RF_BUCKETS && (count < HD_RF_BUCKETS || hd_rf_series_buckets(s) > HD_RF_BUCKETS / 2));
    assert_true(fabs(hd_rf_series_mean(s) - mean_of(samples, 0, count)) < 1e-9);
    for (uint32_t b = 0; b < hd_rf_series_buckets(s); b++) {
        uint32_t from = b * (uint32_t)s->width, end = from + (uint32_t)s->width < count ? from + (uint32_t)s->width : count;
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples_in_buckets), cmocka_unit_test(joined_runs_keep_mean_and_peak)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
