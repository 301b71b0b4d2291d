/* A quantity over time, in a bounded number of buckets, however long the run lasts.
 *
 * Samples fill buckets of equal width, one after another; when all are full, neighbours are merged and the width
 * doubles. Mean and peak are exact. O(1) a sample; the same samples give the same buckets.
 */
#ifndef HD_HWMODEL_RF_SERIES_H
#define HD_HWMODEL_RF_SERIES_H

#include <stdbool.h>
#include <stdint.h>

enum { HD_RF_BUCKETS = 64 };

typedef struct hd_rf_series {
    uint64_t sums[HD_RF_BUCKETS]; /* of the samples in a bucket: `width` of them, fewer in the last */
    uint64_t samples, width;      /* all; of a bucket (0: none yet) */
    uint64_t peak;
    uint64_t left;  /* samples until the open bucket is full; 0: not computed, or none */
    uint32_t fills; /* the open bucket */
} hd_rf_series;

/* The next `times` samples, all of this value. */
static inline void hd_rf_series_add(hd_rf_series *series, uint64_t value, uint64_t times);
/* The next `times` samples, one or more, by their sum and maximum. false: they would fill a bucket, and nothing was
 * done. */
static inline bool hd_rf_series_add_sum(hd_rf_series *series, uint64_t sum, uint64_t times, uint64_t greatest);
/* Appends another series; its buckets count as samples of their mean. */
void hd_rf_series_join(hd_rf_series *series, const hd_rf_series *later);
double hd_rf_series_mean(const hd_rf_series *series); /* 0 without samples */
uint32_t hd_rf_series_buckets(const hd_rf_series *series);
double hd_rf_series_bucket(const hd_rf_series *series, uint32_t bucket); /* its mean */

/* ---- the hot path ------------------------------------------------------------------------------------------------ */

/* over the open bucket, and the next ones */
void hd_rf_series_spread(hd_rf_series *series, uint64_t value, uint64_t times);

static inline bool hd_rf_series_add_sum(hd_rf_series *series, uint64_t sum, uint64_t times, uint64_t greatest)
{
    if (times >= series->left)
        return false;
    if (greatest > series->peak)
        series->peak = greatest;
    series->sums[series->fills] += sum;
    series->samples += times;
    series->left -= times;
    return true;
}

static inline void hd_rf_series_add(hd_rf_series *series, uint64_t value, uint64_t times)
{
    if (times && !hd_rf_series_add_sum(series, value * times, times, value))
        hd_rf_series_spread(series, value, times);
}

#endif
