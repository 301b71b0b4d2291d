/* Where a warp may wait for another one: instructions that do (ir/waits.def), and what may bring a value for which a
 * loop polls. Which loops poll is for analyses to find (passes/analysis/polling.h, passes/check/polling.h).
 */
#ifndef HD_IR_WAITS_H
#define HD_IR_WAITS_H

#include "ir/form.h"

/* The rows of ir/waits.def. */
bool hd_insn_waits_for_others(const hd_function *function, const hd_instruction *insn);
/* These, barriers, and instructions of HD_BEHAVE_YIELD that are not for the lanes of the warp alone. */
bool hd_insn_waits(const hd_function *function, const hd_instruction *insn);
/* Brings a value from memory that other warps may write: with any cache operator, of any space but constants and
 * parameters; non-coherent loads do not. */
bool hd_insn_brings_shared(const hd_function *function, const hd_instruction *insn);
/* The same of atomics and of loads that are volatile, ordered, or not cached (.cv): they are there to see what others
 * write. */
bool hd_insn_looks_for_others(const hd_function *function, const hd_instruction *insn);

#endif
