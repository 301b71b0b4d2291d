/* Tags of bow and asynchronous instructions, for its checker. */
#ifndef HD_PASSES_CHECK_BOW_FLIGHT_H
#define HD_PASSES_CHECK_BOW_FLIGHT_H

#include "passes/check/facts.h"

/* Why a destination may not go to a window of `iw` instructions, alone or not; NULL: it may. *at: where that is seen.
 *
 * An asynchronous instruction reads and writes the register file when it is its turn. So its own results go there; and
 * a value that goes to a window must be out of it, written back or not, before an asynchronous instruction has its
 * register in flight. Paths are followed for the window's length after the last access. */
const char *hd_check_bow_flight(const hd_facts *facts, uint32_t iw, uint32_t definition, uint32_t reg, uint32_t *at);

#endif
