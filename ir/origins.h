/* Where the instructions of a module come from, by their .loc, kept with its text (base/origins.h). */
#ifndef HD_IR_ORIGINS_H
#define HD_IR_ORIGINS_H

#include "base/origins.h"
#include "ir/ir.h"

/* After parsing, once: fills module->source->origins where the module has any .loc. An instruction comes from its own
 * position; a function's header from the line of its first instruction that was not inlined. */
void hd_module_set_origins(hd_module *module);

#endif
