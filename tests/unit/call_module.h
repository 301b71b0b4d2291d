/* Random modules whose functions call each other: in loops, in some lanes only, by a table so that lanes call different
 * functions, and recursively; with parameters and results in registers (odd seeds) or in memory. */
#ifndef HD_TESTS_CALL_MODULE_H
#define HD_TESTS_CALL_MODULE_H

#include <stdint.h>

/* The text of a module with a kernel "k" of two parameters, the addresses of its input and its output: a word for each
 * thread. Its calls are nested `depth` deep, twice. The caller frees it. */
char *call_module_make(uint64_t seed, uint32_t depth);

#endif
