/* The source positions of a module's instructions, from their .loc, stored with its text (base/origins.h). */
#ifndef HD_IR_ORIGINS_H
#define HD_IR_ORIGINS_H

#include "base/origins.h"
#include "ir/ir.h"

/* Call once after parsing: fills module->source->origins if the module has any .loc. The origin of an instruction is
 * its own position; that of a function's header is the line of its first instruction that was not inlined. */
void hd_module_set_origins(hd_module *module);
/* What the .loc of an instruction of the text names; files are NULL where that is unknown. Lives as long as the
 * source. */
const hd_origin_place *hd_instruction_place(const hd_module *module, const hd_instruction *insn);

#endif
