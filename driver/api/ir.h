/* The handle of include/heddle/ir.h; private to driver/api/. */
#ifndef HD_DRIVER_API_IR_H
#define HD_DRIVER_API_IR_H

#include "driver/api/context.h"
#include "heddle/ir.h"
#include "passes/analysis/liveness.h"

/* What is computed of one function, and of one block of it. */
typedef struct hd_ir_live {
    const hd_function *function; /* NULL: of none */
    hd_pass_context context;
    hd_arena arena;
    hd_live_walk walk;
    const hd_liveness *liveness;
    uint32_t block; /* of the lists; HD_NONE: of none */
    hd_live_lists lists;
} hd_ir_live;

struct hd_ir_module {
    hd_context *context;
    hd_source source;
    HD_ARRAY(hd_module *) versions; /* the last one is the module; what it shares belongs to those before it */
    hd_diagnostics unseen;          /* of analyses, which report nothing */
    hd_ir_live live;
    /* What the structures point to that were filled last. */
    hd_writer names, spelling, words, operands;
    hd_arena demangled;
    hd_u32_array reads, writes;
};

static inline hd_module *hd_ir_now(const hd_ir_module *m) { return m->versions.items[m->versions.count - 1]; }

/* Forgets what was computed, because the module changes. */
void hd_ir_forget(hd_ir_module *m);

#endif
