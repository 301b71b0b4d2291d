/* NVIDIA's compiler driver with a step of ours inside.
 *
 * nvcc calls its front end (cicc, CUDA C++ to PTX) from the folder that its file nvcc.profile names, and then ptxas and
 * fatbinary, which both read the PTX that cicc wrote. A shadow folder has a link to nvcc and a profile whose CICC_PATH
 * is in the shadow folder; the script `cicc` there runs the step, which calls the real cicc and changes what it wrote.
 * So the step acts on machine code and on embedded PTX alike, and everything else is the real toolkit's.
 */
#ifndef HD_DRIVER_BUILD_TOOLKIT_H
#define HD_DRIVER_BUILD_TOOLKIT_H

#include "base/diagnostics.h"

typedef struct hd_toolkit {
    const char *nvcc;    /* path of the program */
    const char *folder;  /* where it is */
    const char *profile; /* text of its nvcc.profile */
    const char *cicc;    /* path of its front end */
} hd_toolkit;

/* nvcc: its path, or that of a script that calls it; NULL: the one in PATH, in $CUDA_HOME/bin, in /usr/local/cuda/bin
 * or where Debian has it. false, with a `missing-tool` error that says why, where there is none, or not all of it. */
bool hd_toolkit_find(hd_toolkit *toolkit, const char *nvcc, hd_arena *arena, hd_diagnostics *diagnostics);

enum { HD_SHADOW_FILES = 5 };
typedef struct hd_shadow {
    const char *folder, *bin;           /* new, in $TMPDIR or /tmp, and in it */
    const char *files[HD_SHADOW_FILES]; /* in these; nvcc is the first; NULL: not made */
} hd_shadow;

/* `step`: the words that run the step, to which cicc's arguments are added. Strings are in the arena. false with a
 * diagnostic where it cannot be made. */
bool hd_shadow_make(hd_shadow *shadow, const hd_toolkit *toolkit, const char *const *step, uint32_t count,
                    hd_arena *arena, hd_diagnostics *diagnostics);
void hd_shadow_remove(const hd_shadow *shadow);

#endif
