/* What each instruction of a module reads from and writes to the register file, decoded once for all models.
 *
 * Unit: the warp register, 32 lanes of 32 bits. A 64-bit operand is two of them, a predicate none. In a function of
 * architected form it is the physical register, under any name (ir/storage.h): a value keeps its claims where an
 * identity gives it another name, and a 16-bit register is the whole word. A register that an instruction names
 * twice as a source is one read: the collector fetches it once and fills both slots. Identities are no instructions:
 * they read and write nothing, and the interpreter's events leave them out. A return reads the function's results in
 * registers.
 */
#ifndef HD_HWMODEL_RF_CODE_H
#define HD_HWMODEL_RF_CODE_H

#include "ir/annotations.h"
#include "ir/storage.h"

typedef struct hd_rf_destination {
    uint32_t word; /* of the frame */
    uint32_t slot; /* hd_insn_destination_slot of the operand it belongs to */
} hd_rf_destination;

enum {                    /* traits of an instruction */
       HD_RF_BARRIER = 1, /* the CTA's warps wait for each other */
       HD_RF_LONG = 2,    /* its result takes hundreds of cycles */
};

typedef struct hd_rf_code {
    const hd_function *function;
    hd_storage storage; /* frame: warp registers of a frame */
    uint32_t instruction_count;
    uint32_t *source_first;          /* by instruction, and one more: in `sources` */
    uint32_t *destination_first;     /* by instruction, and one more: in `destinations` */
    uint32_t *sources;               /* words, each once an instruction, in operand order */
    hd_rf_destination *destinations; /* in operand order */
    uint8_t *traits;                 /* by instruction */
    uint32_t number;                 /* of the function */
    /* of a thread that runs it: the most of all functions that it reaches by calls */
    uint32_t registers;
    bool calls;        /* some function, or anything */
    uint64_t *touches; /* by instruction: hd_rf_touch of all words that it reads or writes */
} hd_rf_code;

/* Sets of words, as a hash: two sets that share a word intersect; others may. */
static inline uint64_t hd_rf_touch(uint32_t word) { return (uint64_t)1 << (word & 63); }

typedef struct hd_rf_module {
    hd_arena arena;
    const hd_module *module;
    hd_rf_code **functions; /* by function of the module; NULL without a body */
    bool calls;             /* some function does */
} hd_rf_module;

void hd_rf_code_find_registers(hd_rf_module *code); /* for hd_rf_module_new (code_calls.c) */
hd_rf_module *hd_rf_module_new(const hd_module *module);
void hd_rf_module_free(hd_rf_module *code);

#endif
