/* See series.h. */
#include "hwmodel/rf/series.h"

#include "base/minmax.h"

static void join_neighbours(hd_rf_series *s)
{
    for (uint32_t b = 0; b < HD_RF_BUCKETS / 2; b++)
        s->sums[b] = s->sums[2 * b] + s->sums[2 * b + 1];
    for (uint32_t b = HD_RF_BUCKETS / 2; b < HD_RF_BUCKETS; b++)
        s->sums[b] = 0;
    s->width *= 2;
}

/* Samples until the open bucket is full, at least one. */
static uint64_t room(hd_rf_series *s)
{
    if (!s->width)
        s->width = 1;
    if (s->samples == s->width * HD_RF_BUCKETS)
        join_neighbours(s);
    return s->width - (s->samples & (s->width - 1)); /* widths are powers of two */
}

void hd_rf_series_spread(hd_rf_series *s, uint64_t value, uint64_t times)
{
    if (times && value > s->peak)
        s->peak = value;
    while (times) {
        uint64_t free = room(s), now = hd_min(times, free);
        s->fills = (uint32_t)(s->samples >> __builtin_ctzll(s->width));
        s->sums[s->fills] += value * now;
        s->samples += now;
        s->left = free - now;
        times -= now;
    }
}

void hd_rf_series_join(hd_rf_series *s, const hd_rf_series *later)
{
    uint64_t peak = hd_max(later->peak, s->peak);
    for (uint32_t b = 0; b < hd_rf_series_buckets(later); b++) {
        uint64_t begin = b * later->width, end = hd_min(begin + later->width, later->samples);
        uint64_t count = end - begin, value = later->sums[b] / count, rest = later->sums[b] % count;
        hd_rf_series_add(s, value + 1, rest); /* so that the sum, and with it the mean, stays exact */
        hd_rf_series_add(s, value, count - rest);
    }
    s->peak = peak;
}

double hd_rf_series_mean(const hd_rf_series *s)
{
    double sum = 0;
    for (uint32_t b = 0; b < HD_RF_BUCKETS; b++)
        sum += (double)s->sums[b];
    return s->samples ? sum / (double)s->samples : 0;
}

uint32_t hd_rf_series_buckets(const hd_rf_series *s)
{
    return s->width ? (uint32_t)((s->samples + s->width - 1) / s->width) : 0;
}

double hd_rf_series_bucket(const hd_rf_series *s, uint32_t bucket)
{
    uint64_t begin = bucket * s->width, end = hd_min(begin + s->width, s->samples);
    return (double)s->sums[bucket] / (double)(end - begin);
}
