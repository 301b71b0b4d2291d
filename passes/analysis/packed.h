/* Pairs of 16-bit registers that one register of 32 bits holds. */
#ifndef HD_PASSES_ANALYSIS_PACKED_H
#define HD_PASSES_ANALYSIS_PACKED_H

#include "base/arena.h"
#include "ir/ir.h"

/* By register: the other half of its pair, or HD_NONE. The halves are neighbours in the vector that one instruction
 * unpacks or loads (mov.b32 {a,b}; ld.v2.b16), the first at an even place, and nothing else defines them: then machine
 * code leaves them where they arrive, and instructions read halves. They fill one register while one of them lives. */
uint32_t *hd_packed_halves(const hd_function *function, hd_arena *arena);

#endif
