/* How much of a job is done, for whoever shows it: threads of the job add to it, and another one may read it at any
 * time. Nothing else may depend on it. A NULL meter takes everything and keeps nothing. */
#ifndef HD_BASE_METER_H
#define HD_BASE_METER_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct hd_meter {
    atomic_ullong total, done; /* total: as expected; 0: not known yet */
    atomic_uint item, items;   /* "launch 3 of 8": 0: no items */
    struct hd_meter *whole;    /* to which it adds; NULL: none */
    uint32_t weight;           /* of one of its units, in those of `whole` */
} hd_meter;

void hd_meter_expect(hd_meter *meter, uint64_t more); /* adds to the total */
void hd_meter_step(hd_meter *meter, uint64_t units);
void hd_meter_next_item(hd_meter *meter);
/* A part of a job: what it expects and does counts in `whole`, which may be NULL, too. */
void hd_meter_open(hd_meter *meter, hd_meter *whole, uint32_t weight, uint64_t total);
/* Nothing follows: what was expected and not done counts as done. */
void hd_meter_close(hd_meter *meter);
/* 0 to 1; 0 where the total is not known yet. */
double hd_meter_fraction(hd_meter *meter);

#endif
