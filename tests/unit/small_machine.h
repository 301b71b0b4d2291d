/* A machine for tests of the cycle-level model, small enough that cycles can be derived by hand. */
#ifndef HD_TESTS_SMALL_MACHINE_H
#define HD_TESTS_SMALL_MACHINE_H

#include "target/machine.h"

/* All latencies are different, so that one in place of another shows. */
hd_machine small_machine(void);
/* The same with one sub-core of two banks: reads in 3 cycles, 2 instructions of variable latency wait. */
hd_machine small_subcore_machine(void);
/* With sizes, policies and latencies by chance, some of them as small as they can be. */
hd_machine random_machine(uint64_t *seed);

#endif
