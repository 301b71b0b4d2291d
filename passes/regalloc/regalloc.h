/* Register allocation: results, and frames of functions that call each other. */
#ifndef HD_PASSES_REGALLOC_REGALLOC_H
#define HD_PASSES_REGALLOC_REGALLOC_H

#include "ir/architected.h"
#include "passes/pass.h"

typedef struct hd_regalloc_options {
    uint32_t max;   /* register limit, at most HD_GENERAL_REGISTERS; 0: that maximum, or .maxnreg */
    bool optional;  /* a function that does not fit stays virtual, with a warning; else that is an error */
    uint32_t banks; /* 2 or 4: prefer different banks for the sources of an instruction; 0: no preference */
} hd_regalloc_options;

typedef struct hd_regalloc_result {
    hd_architected numbers; /* values of the annotation */
    uint32_t peak;          /* maximum register pressure before spilling: a lower bound for any allocation */
    uint32_t predicate_peak;
    uint32_t spilled, rematerialized;               /* numbers of registers */
    uint32_t loads, stores, moves, predicate_moves; /* instructions inserted */
    /* of all accesses to spill slots in the result, each counted once */
    uint64_t spill_load_bytes, spill_store_bytes;
    /* not supported, or does not fit (a warning says which); nothing changed */
    bool left_virtual;
} hd_regalloc_result;

/* Allocates one function. Returns false (reported) if its registers do not fit; the function is then unusable. A
 * function that does not fit because of registers in flight stays virtual, as with `optional`. */
bool hd_regalloc_run(hd_pass_context *context, const hd_regalloc_options *options, hd_regalloc_result *result);

/* Register frames after allocation, for all functions of a module: callees' frames are above the registers that their
 * callers hold during calls; see the head of regalloc_frames.c. */
typedef struct hd_ra_frame {
    uint32_t base;        /* first register of the frame: above those held by any caller; 0 for kernels */
    uint32_t own;         /* general registers of the function itself */
    uint32_t total;       /* including callees: what a launch needs; relative to the base */
    uint32_t callees;     /* the same without its own registers: 0 if it calls nothing */
    uint32_t saved_bytes; /* local memory for registers saved around recursive and indirect calls */
    bool recursive;       /* in a cycle of calls, or between two */
    bool indirect;        /* calls through a register */
} hd_ra_frame;
/* By function of the module, in the arena. Functions that are not architected count with all their words. */
hd_ra_frame *hd_regalloc_frames(const hd_module *module, hd_arena *arena);

#endif
