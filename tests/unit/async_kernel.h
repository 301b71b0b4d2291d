/* Random kernels with registers of asynchronous instructions in flight, and a machine that executes one path through
 * them. The interpreter does not support these instructions; this machine does, with the worst legal behaviour: they
 * read their registers either at issue or when a wait covers them, results are garbage until then, and registers that
 * annotations release, keep in a window only or declare dead become garbage at once. It shares no code with passes or
 * checkers: it counts groups dynamically.
 *
 * Data registers are accessed only after waits for everything, so that the kernels are legal: all runs must store the
 * same values.
 */
#ifndef HD_TESTS_ASYNC_KERNEL_H
#define HD_TESTS_ASYNC_KERNEL_H

#include "ir/storage.h"

enum { ASYNC_STORES = 256, ASYNC_WORDS = 2048 };

/* PTX text of kernel "k"; its length. Even seeds: wgmma; odd ones: tcgen05. */
uint32_t async_kernel_print(uint64_t seed, char *text, uint32_t size);

typedef struct async_run {
    bool late;      /* asynchronous instructions read at the wait, not at issue */
    bool done;      /* reached the end, not the limit of steps */
    uint32_t count; /* of stores to global memory */
    uint32_t stores[ASYNC_STORES];
    const char *fault; /* an annotation affects a register in flight; NULL: none does */
} async_run;
/* The same seed gives the same path, as long as the function computes the same values. */
void async_kernel_run(hd_function *function, async_run *run);

#endif
