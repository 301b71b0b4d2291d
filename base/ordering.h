/* The order in which a number of things is taken: as they are, from the last to the first, or at random, where the same
 * seed gives the same order. Nothing is stored: each place is computed, in O(1). */
#ifndef HD_BASE_ORDERING_H
#define HD_BASE_ORDERING_H

#include <stdbool.h>
#include <stdint.h>

typedef enum hd_ordering_kind { HD_ORDERING_LINEAR, HD_ORDERING_REVERSE, HD_ORDERING_RANDOM } hd_ordering_kind;

typedef struct hd_ordering { /* all zero: linear */
    hd_ordering_kind kind;
    uint32_t seed; /* of RANDOM */
} hd_ordering;

#define HD_ORDERING_FORM "linear, reverse, random or random:SEED with a seed up to 4294967295"
/* As HD_ORDERING_FORM says; random alone has the seed 0. NULL: linear. false: another text. */
bool hd_ordering_read(const char *text, hd_ordering *order);
/* Which of `count` things is at that place, which is less than `count`. Each is at one place. */
uint32_t hd_ordering_at(hd_ordering order, uint32_t count, uint32_t place);

#endif
