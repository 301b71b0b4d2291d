/* Machine code of PTX, by ptxas, through the cache (store.h).
 *
 * An entry of the cache is a cubin. Its name is a hash of ptxas' version, its options with the architecture, and the
 * text of the PTX. */
#ifndef HD_DRIVER_BUILD_ASSEMBLE_H
#define HD_DRIVER_BUILD_ASSEMBLE_H

#include "driver/build/store.h"
#include "target/gpu.h"

enum { HD_ASSEMBLE_OLDEST = 75 }; /* the oldest architecture that ptxas 13 makes code for */

typedef struct hd_assembled {
    uint32_t sm;   /* whose code it is */
    char tool[48]; /* "ptxas 13.0.88" */
} hd_assembled;

/* The architecture whose code runs on a GPU: its own. Papers' machines older than sm_75, whose code ptxas no longer
 * makes, run that of sm_75, or of `target`, the number of the PTX's own architecture, where that is newer. */
uint32_t hd_assemble_architecture(const hd_gpu *gpu, uint32_t target);
/* The number of `.target sm_80` in PTX; 0: there is none. */
uint32_t hd_assemble_target(const char *text, size_t length);

/* Replaces PTX by the cubin that ptxas makes of it for sm_`sm`, under the same name. PTX of `.target sm_90a` is
 * assembled for sm_90a where sm is 90. false (reported): there is no ptxas (missing-tool), or it refuses the text
 * (unsupported). */
bool hd_assemble(hd_source *source, uint32_t sm, const hd_store *cache, hd_assembled *made,
                 hd_diagnostics *diagnostics);

#endif
