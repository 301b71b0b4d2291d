/* Names of kernels as their authors wrote them. */
#ifndef HD_DRIVER_DEMANGLE_H
#define HD_DRIVER_DEMANGLE_H

#include "base/arena.h"

/* The C++ name after a mangled one (Itanium ABI, as nvcc, clang and libiberty have it), in the arena; the name itself
 * where it is none. */
const char *hd_demangle(hd_arena *arena, const char *name);

#endif
