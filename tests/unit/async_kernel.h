/* Random kernels whose asynchronous instructions have registers in flight, and a machine that runs one path through
 * them. The interpreter does not run these instructions; the machine does, and as badly as it may: they read their
 * registers when they issue or when a wait covers them, results are garbage until then, and what annotations give away,
 * leave in a window only or call dead is garbage at once. It shares no code with passes or checkers: it counts groups
 * as they come.
 *
 * Data registers are accessed only behind waits for everything, so that the kernels are legal: all runs must store the
 * same.
 */
#ifndef HD_TESTS_ASYNC_KERNEL_H
#define HD_TESTS_ASYNC_KERNEL_H

#include "ir/storage.h"

enum { ASYNC_STORES = 256, ASYNC_WORDS = 2048 };

/* PTX text of kernel "k"; its length. Even seeds: wgmma; odd ones: tcgen05. */
uint32_t async_kernel_print(uint64_t seed, char *text, uint32_t size);

typedef struct async_run {
    bool late;      /* asynchronous instructions read when they are waited for, not when they issue */
    bool done;      /* came to the end, not to the limit of steps */
    uint32_t count; /* of stores to global memory */
    uint32_t stores[ASYNC_STORES];
    const char *fault; /* an annotation touches what is in flight; NULL: none does */
} async_run;
/* The same path for the same seed, as long as the function computes the same. */
void async_kernel_run(hd_function *function, async_run *run);

#endif
