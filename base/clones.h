/* HD_CLONES: compiles a function for several CPUs; the version is selected when the program is loaded. Expands to
 * nothing where the compiler has no support. */
#ifndef HD_BASE_CLONES_H
#define HD_BASE_CLONES_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && defined(__linux__)
#define HD_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define HD_CLONES
#endif

#endif
