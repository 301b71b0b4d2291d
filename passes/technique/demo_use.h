/* The registers that a function needs, without those that only hold memory operands in the text
 * (ir/operand_loads.h). */
#ifndef HD_PASSES_TECHNIQUE_DEMO_USE_H
#define HD_PASSES_TECHNIQUE_DEMO_USE_H

#include "ir/ir.h"

typedef struct hd_operand_use {
    uint32_t registers; /* named by instructions, predicates included */
    uint32_t pressure;  /* maximum register pressure */
} hd_operand_use;

/* Costs about as much as a liveness analysis. */
hd_operand_use hd_operand_use_of(hd_function *function);

#endif
