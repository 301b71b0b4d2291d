/* What the pipeline must know of each instruction, decoded once for all SMs.
 *
 * Dependences are those of registers: by their words (hwmodel/rf/code.h), then the predicates of the function. An
 * instruction depends on what it reads, what it writes, and its guard.
 */
#ifndef HD_HWMODEL_SM_OPS_H
#define HD_HWMODEL_SM_OPS_H

#include "hwmodel/rf/code.h"
#include "ir/machine_slots.h"
#include "target/machine.h"

enum {                      /* traits */
       HD_SM_LOAD = 1 << 0, /* brings a value from memory */
       HD_SM_STORE = 1 << 1,
       HD_SM_ATOMIC = 1 << 2,
       HD_SM_BARRIER = 1 << 3, /* arrives at one, also in memory */
       HD_SM_CONTROL = 1 << 4, /* what follows is known when it has executed */
       HD_SM_BYPASS_L1 = 1 << 5,
       HD_SM_READ_ONLY = 1 << 6, /* ld.global.nc */
       HD_SM_FENCE = 1 << 7,     /* waits for the accesses of its warp */
       HD_SM_TEXTURE = 1 << 8,
       HD_SM_COPY = 1 << 9,           /* cp.async: reads global memory, and later writes shared memory */
       HD_SM_COMMIT = 1 << 10,        /* the copies since the last one are a group */
       HD_SM_WAIT_COPIES = 1 << 11,   /* waits for copies of its warp */
       HD_SM_ARRIVE_COPIES = 1 << 12, /* arrives at an mbarrier when the copies of its warp have landed */
       HD_SM_ACCESS = HD_SM_LOAD | HD_SM_STORE | HD_SM_ATOMIC,
};

enum { HD_SM_ALL_COPIES = UINT32_MAX };

/* The control code of a machine instruction (ir/machine.h), for codes.c. */
enum { HD_SM_COUNTERS = 6, HD_SM_NO_COUNTER = 7 };

typedef struct hd_sm_control {
    uint8_t gap_cycles;                  /* until the next instruction of its warp may issue, at least 1 */
    uint8_t write_counter, read_counter; /* HD_SM_NO_COUNTER: none */
    uint8_t wait_mask;
    /* of DEPBAR.LE: it waits until the counter is at most `most`; HD_SM_NO_COUNTER: for none */
    uint8_t counter, most;
    uint8_t early, late; /* cycles: machine_opcodes.def */
} hd_sm_control;

typedef struct hd_sm_op {
    uint8_t class; /* hd_machine_class */
    uint8_t space; /* hd_space; NONE: generic */
    uint8_t unit;  /* hd_unit */
    uint16_t traits;
    uint16_t bytes; /* of a lane's access */
    /* of WAIT_COPIES: how many of the youngest groups it does not wait for; ALL_COPIES: waits for every copy */
    uint32_t groups;
    /* In the function's `registers`: first what it reads, then what it writes. */
    uint32_t register_first;
    uint16_t reads, writes;
    hd_sm_control control; /* with hd_sm_code.has_codes */
} hd_sm_op;

typedef struct hd_sm_function {
    uint32_t register_count; /* words of its frame, and predicates */
    hd_sm_op *ops;           /* by instruction */
    const uint32_t *issued;  /* by instruction, and one more: number of issued instructions before it in the text */
    uint32_t length;         /* issued instructions */
    uint32_t *registers;
    /* With hd_sm_code.has_codes, for the reuse cache: operands, by instruction; by word of the frame: 1 + the number of
     * the general register, 0: it is none. */
    hd_machine_slots *slots;
    uint16_t *numbers;
    uint32_t frame; /* words */
} hd_sm_function;

typedef struct hd_sm_code {
    hd_arena arena;
    const hd_rf_module *code;  /* borrowed */
    hd_sm_function *functions; /* by function of the module; without a body: all 0 */
    uint32_t register_count;   /* the most of all functions */
    bool has_codes;            /* all of it is machine code since Volta, with the control codes of all instructions */
} hd_sm_code;

/* ops_machine.c, for machine code: the class; bytes of a lane's access; traits besides those by behaviour. Copies from
 * global to shared memory are loads that no register waits for. */
struct hd_machine_form;
/* Without flags where the yield hint loses what they keep. */
hd_machine_slots hd_sm_machine_slots(const hd_function *function, uint32_t instruction);
/* false: the listing does not say it, or the code is older than Volta. */
bool hd_sm_machine_control(const hd_function *function, uint32_t instruction, hd_sm_control *control);
uint8_t hd_sm_machine_class(const struct hd_machine_form *form);
uint16_t hd_sm_machine_bytes(const struct hd_machine_form *form);
uint16_t hd_sm_machine_traits(const struct hd_machine_form *form);

hd_sm_code *hd_sm_code_new(const hd_rf_module *code);
void hd_sm_code_free(hd_sm_code *code);

#endif
