/* Pairs of 16-bit registers that one register of 32 bits holds. */
#ifndef HD_PASSES_ANALYSIS_PACKED_H
#define HD_PASSES_ANALYSIS_PACKED_H

#include "base/arena.h"
#include "ir/ir.h"

/* By register: the other half of its pair, or HD_NONE. The halves are adjacent in the vector that one instruction
 * unpacks or loads (mov.b32 {a,b}; ld.v2.b16), the first at an even index, and have no other definition: machine code
 * leaves them in place, and instructions read halves. The pair occupies one register while either half is live. */
uint32_t *hd_packed_halves(const hd_function *function, hd_arena *arena);

#endif
