/* Executes warps of a small PTX kernel and reports to a sink, for the tests of replay models: registers of 16 to 64
 * bits in 32 lanes, a SIMT stack with the IR's reconvergence table, and only the opcodes that rf_random_kernel prints.
 * Independent of hwmodel/exec. */
#ifndef HD_TESTS_RF_WALK_H
#define HD_TESTS_RF_WALK_H

#include "base/writer.h"
#include "hwmodel/record/event.h"
#include "ir/cfg.h"

#include <stdbool.h>

/* Text of a module with one kernel "k" of random control flow: loops, divergence, guards, unstructured and irreducible
 * edges. */
void rf_random_kernel(hd_writer *writer, uint64_t seed);

/* Parses a text; fails the test on errors. Afterwards the module owns the source. */
hd_module *rf_parse(hd_source *source, const char *text, size_t length, hd_diagnostics *diagnostics);

/* Walks `warps` warps of the kernel, at most `limit` instructions each; false if the sink stopped it. */
bool rf_walk(hd_function *kernel, uint32_t warps, uint32_t limit, const hd_sink *sink);
/* The same with a random order of the sides of divergent branches, from a seed; 0: as rf_walk, taken sides first. */
bool rf_walk_sides(hd_function *kernel, uint32_t warps, uint32_t limit, uint64_t order, const hd_sink *sink);

#endif
