/* Where a warp may wait for another one: instructions that wait (ir/waits.def), and instructions that load a value for
 * which a loop may poll. Analyses find the polling loops (passes/analysis/polling.h, passes/check/polling.h).
 */
#ifndef HD_IR_WAITS_H
#define HD_IR_WAITS_H

#include "ir/form.h"

/* Whether the instruction is in ir/waits.def, or of machine code and waits by ir/sass/sass.def. */
bool hd_insn_waits_for_others(const hd_function *function, const hd_instruction *insn);
/* The same, and barriers, and instructions of HD_BEHAVE_YIELD that involve more than the lanes of the warp. */
bool hd_insn_waits(const hd_function *function, const hd_instruction *insn);
/* Whether the instruction loads a value that other threads may write while the kernel runs: with any cache operator,
 * from any space but constants, parameters and local memory; no non-coherent load (ld.global.nc, textures), for which
 * such a value is undefined. */
bool hd_insn_loads_shared_value(const hd_function *function, const hd_instruction *insn);
/* Whether it loads from local memory, which only its own thread writes; whether it may write there, also through a
 * generic address. Calls are not meant. */
bool hd_insn_loads_local(const hd_function *function, const hd_instruction *insn);
bool hd_insn_may_store_local(const hd_function *function, const hd_instruction *insn);
/* The same for atomics and for volatile, ordered or uncached (.cv) loads, which exist to observe the writes of
 * others. */
bool hd_insn_observes_other_warps(const hd_function *function, const hd_instruction *insn);

#endif
