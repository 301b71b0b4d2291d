/* How many bytes registers need, which count mode works out once for all models from the interpreter's column of widths.
 *
 * A register needs as many bytes as its widest lane by sign extension, 1 to 4. Lanes that are not active count, with what was written into them
 * last; lanes that were never written do not. Of what a call writes, parameters and results, no values are known: 4 bytes.
 */
#ifndef HD_HWMODEL_RF_WIDTHS_H
#define HD_HWMODEL_RF_WIDTHS_H

#include "hwmodel/rf/code.h"
#include "hwmodel/stream.h"

typedef struct hd_rf_width { /* of a register that is written */
    uint8_t written, held; /* bytes that the lanes need which are written; that all lanes need which hold something afterwards */
} hd_rf_width;

typedef struct hd_rf_widths hd_rf_widths;
hd_rf_widths *hd_rf_widths_new(const hd_rf_module *code);
void hd_rf_widths_free(hd_rf_widths *widths);
/* The next event, of any kind. Of an ISSUE with its column: the widths of its destinations, in their order (code.h), until the next one;
 * NULL of any other, and where it writes nothing. */
const hd_rf_width *hd_rf_widths_take(hd_rf_widths *widths, const hd_event *event);

#endif
