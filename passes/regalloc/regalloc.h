/* Register allocation: results, and frames of functions that call each other. */
#ifndef HD_PASSES_REGALLOC_REGALLOC_H
#define HD_PASSES_REGALLOC_REGALLOC_H

#include "ir/architected.h"
#include "passes/pass.h"

typedef struct hd_regalloc_options {
    uint32_t max;  /* general registers, at most HD_GENERAL_REGISTERS; 0: as many as there are, or what .maxnreg says */
    bool optional; /* a function that does not fit stays virtual, with a warning; else that is an error */
    uint32_t banks; /* 2 or 4: prefer different banks for the sources of an instruction; 0: no such preference */
} hd_regalloc_options;

typedef struct hd_regalloc_result {
    hd_architected numbers; /* what is in the annotation */
    uint32_t peak;          /* general registers live at once at most, before any spill: no allocation needs fewer */
    uint32_t predicate_peak;
    uint32_t spilled, rematerialized;               /* registers */
    uint32_t loads, stores, moves, predicate_moves; /* instructions inserted */
    uint64_t spill_load_bytes, spill_store_bytes;   /* of all accesses to spill slots in the result, each once */
    /* not supported, or not fitting (a warning says what); nothing changed */
    bool left_virtual;
} hd_regalloc_result;

/* Allocates one function. false (reported) where its registers do not fit; the function is not usable then. A function
 * that does not fit because of what asynchronous instructions have in flight stays virtual, as with `optional`. */
bool hd_regalloc_run(hd_pass_context *context, const hd_regalloc_options *options, hd_regalloc_result *result);

/* Registers of a function with its callees' frames above what it holds during calls, for all functions of a module,
 * after allocation; see the head of regalloc_frames.c. */
typedef struct hd_frame {
    uint32_t base;        /* first register of the frame: above what any caller holds; 0 for kernels */
    uint32_t own;         /* general registers of the function alone */
    uint32_t total;       /* with callees: what a launch of it needs; relative to the base */
    uint32_t callees;     /* the same, its own registers aside: 0 where it calls nothing */
    uint32_t saved_bytes; /* local memory for registers that are saved around recursive and indirect calls */
    bool recursive;       /* in a cycle of calls, or between two */
    bool indirect;        /* calls through a register */
} hd_frame;
/* By function of the module, in the arena. Functions that are not architected count with all their words. */
hd_frame *hd_regalloc_frames(const hd_module *module, hd_arena *arena);

#endif
