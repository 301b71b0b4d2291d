/* Random kernels, run as they are and after passes: the same is stored, and what is left of the code is summed up for a
 * golden file (golden.h). */
#ifndef HD_TESTS_GOLDEN_KERNELS_H
#define HD_TESTS_GOLDEN_KERNELS_H

#include "tests/unit/golden.h"

enum { GOLDEN_KERNEL_BYTES = 1 << 14 /* of a body */, GOLDEN_KERNEL_THREADS = 16 };

typedef struct golden_kernels {
    void (*make)(char *lines, uint64_t seed); /* the body, of GOLDEN_KERNEL_BYTES at most */
    void (*sum)(golden_sums *sums, const hd_function *left);
    const char *const *passes; /* a list for each kernel, in turns */
    uint32_t lists;
    uint64_t count;
    size_t out_bytes;
} golden_kernels;

/* Writes an entry for each list, in memory; the caller frees it. */
void golden_kernels_run(const golden_kernels *kernels, hd_writer *writer);

#endif
