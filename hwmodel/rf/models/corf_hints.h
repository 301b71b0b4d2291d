/* The compiler's annotations for CORF and CORF++, by word and by instruction: pairs, sides, and the words that register
 * virtualization releases. */
#ifndef HD_HWMODEL_RF_CORF_HINTS_H
#define HD_HWMODEL_RF_CORF_HINTS_H

#include "hwmodel/rf/code.h"
#include "hwmodel/rf/models/pack.h"

typedef enum hd_corf_policy { HD_CORF_FIRST, HD_CORF_PAIRS, HD_CORF_SIDES } hd_corf_policy; /* corf.c */

typedef struct hd_corf_function {
    uint32_t *partners; /* by word; HD_NONE: none */
    uint8_t *sides;     /* by word: hd_pack_side; ANY is don't care */
    bool *is_float;     /* by instruction */
    /* by instruction, and one more: index in `released` of the words released before (0) or after (1) it; NULL: none */
    uint32_t *released_at[2];
    hd_u32_array released[2]; /* words */
} hd_corf_function;

typedef struct hd_corf_hints {
    hd_arena arena;
    hd_corf_function *functions; /* by function of the module; without a body: empty */
    uint32_t function_count;
    uint32_t most_sources; /* of an instruction */
} hd_corf_hints;

/* Into an empty one; pairs and sides only if the policy uses them. false: they name a word twice, or one that does not
 * exist. */
bool hd_corf_hints_read(hd_corf_hints *hints, const hd_rf_module *code, hd_corf_policy policy, bool releases);
void hd_corf_hints_free(hd_corf_hints *hints);

#endif
