/* Interface between facts.c and divergence.c. */
#ifndef HD_PASSES_CHECK_FACTS_PRIVATE_H
#define HD_PASSES_CHECK_FACTS_PRIVATE_H

#include "passes/check/facts.h"

void hd_facts_find_divergence(hd_facts *facts, hd_arena *scratch); /* requires accesses and live blocks */

#endif
