/* The compiler's annotations for RFV, by function: which words are renamed, what flags release, and the positions of
 * flag words. */
#ifndef HD_HWMODEL_RF_RELEASE_HINTS_H
#define HD_HWMODEL_RF_RELEASE_HINTS_H

#include "base/bitset.h"
#include "hwmodel/rf/code.h"

typedef struct hd_release_function {
    hd_bitset renamed;
    hd_bitset fixed;                 /* words that are mapped while the frame lives */
    uint32_t names;                  /* words of a frame, of both kinds */
    uint32_t *after_first, *after;   /* by instruction: words that its pir releases */
    uint32_t *before_first, *before; /* by instruction: words of its pbr */
    uint32_t *flags;                 /* by instruction: 1 + address of the pir word that covers it; 0: none */
    uint8_t *lists;                  /* by instruction: pbr words before it */
    hd_bitset starts;                /* instructions directly after a pir word */
} hd_release_function;

typedef struct hd_release_hints {
    hd_arena arena;
    hd_release_function *functions; /* by function of the module; without a body: empty */
} hd_release_hints;

/* Into an empty one; all_static: nothing is renamed. NULL, or why the annotations cannot be read. */
const char *hd_release_hints_read(hd_release_hints *hints, const hd_rf_module *code, bool all_static);
void hd_release_hints_free(hd_release_hints *hints);

#endif
