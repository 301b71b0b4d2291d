/* Tags of bow on registers of asynchronous instructions, for the checker. */
#ifndef HD_PASSES_CHECK_BOW_FLIGHT_H
#define HD_PASSES_CHECK_BOW_FLIGHT_H

#include "passes/check/facts.h"

/* Returns why a destination must not be written to a window of `iw` instructions, exclusively or not; NULL: it may.
 * *at: the instruction that shows it.
 *
 * An asynchronous instruction accesses the register file at an unknown time. Hence its own results must go there, and a
 * value written to the window must have left it, written back or not, before an asynchronous instruction puts its
 * register in flight. Paths are followed for the window's length after the last access. */
const char *hd_check_bow_flight(const hd_facts *facts, uint32_t iw, uint32_t definition, uint32_t reg, uint32_t *at);

#endif
