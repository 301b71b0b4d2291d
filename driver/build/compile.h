/* CUDA C++ to PTX by nvcc, for commands that take PTX. */
#ifndef HD_DRIVER_BUILD_COMPILE_H
#define HD_DRIVER_BUILD_COMPILE_H

#include "base/diagnostics.h"

/* Whether the name is that of CUDA C++: it ends in ".cu". */
bool hd_is_cuda_source(const char *path);

typedef struct hd_compilation {
    const char *path;         /* of the source */
    const char *arch;         /* "sm_90"; NULL: nvcc's default. It does not count where `words` name one */
    const char *const *words; /* further words for nvcc: -I, -D ... */
    uint32_t word_count;
} hd_compilation;

/* Runs `nvcc -ptx -lineinfo` and reads what it makes, under the name that nvcc would give it: "a.ptx" of "dir/a.cu".
 * *call: the command, in the arena. Messages of nvcc are reported: as notes of a `not-compiled` error, or of an
 * `nvcc-message` warning where there is PTX. false with an error (also missing-tool) where there is none. */
bool hd_compile(const hd_compilation *c, hd_source *source, const char **call, hd_arena *arena,
                hd_diagnostics *diagnostics);

#endif
