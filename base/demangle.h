/* Demangled names of kernels. */
#ifndef HD_BASE_DEMANGLE_H
#define HD_BASE_DEMANGLE_H

#include "base/arena.h"

/* The C++ name for a mangled one (Itanium ABI, as in nvcc, clang and libiberty), in the arena; the name itself if it is
 * not mangled. */
const char *hd_demangle(hd_arena *arena, const char *name);

#endif
