/* What registers a function needs beside those that its operands in memory name in the text (ir/operand_loads.h). */
#ifndef HD_PASSES_DEMO_USE_H
#define HD_PASSES_DEMO_USE_H

#include "ir/ir.h"

typedef struct hd_operand_use {
    uint32_t registers; /* that instructions name, predicates among them */
    uint32_t pressure;  /* the most words of the register file that are live at one place */
} hd_operand_use;

/* About as much work as a liveness analysis. */
hd_operand_use hd_operand_use_of(hd_function *function);

#endif
