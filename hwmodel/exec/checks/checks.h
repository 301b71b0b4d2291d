/* The optional checks of a run: uses of uninitialized values, and races in shared memory. Private to hwmodel/exec.
 *
 * hd_cta.checks is NULL if neither is enabled, and then none of this is called: warp.c steps warps through the observed
 * path, which tests for it, only with sinks or checks. */
#ifndef HD_HWMODEL_EXEC_CHECKS_CHECKS_H
#define HD_HWMODEL_EXEC_CHECKS_CHECKS_H

#include "hwmodel/exec/state/state.h"

typedef struct hd_races hd_races;

struct hd_checks {
    bool uninitialized;
    unsigned char *zeros;  /* rows of defined bits, as large as any function's constants and the special registers */
    unsigned char *shared; /* a bit for each bit of shared memory: 1: undefined */
    hd_races *races;       /* NULL: not enabled */
    uint32_t absent;       /* for the last shfl: lanes whose source lane does not take part */
    _Alignas(64) unsigned char rows[4][LANES * 16];
};

void hd_checks_open(hd_cta *cta); /* creates cta->checks if the options enable any check */
void hd_checks_close(hd_cta *cta);
void hd_checks_start(hd_cta *cta);             /* resets for a new CTA */
void hd_checks_frame(hd_warp *w, hd_frame *f); /* a new frame: all of it is undefined */
/* Machine code: registers of a new call frame are as defined as those of the caller's, whose values they have; these
 * lanes of a register's row are defined. */
void hd_checks_enter(hd_warp *w, const hd_frame *caller);
void hd_checks_define(hd_warp *w, hd_ref row, uint32_t lanes);
void hd_checks_grow(hd_warp *w, uint32_t capacity); /* local memory grows to this size, in bytes per lane */
uint32_t hd_checks_races(const hd_cta *cta);        /* number of races found so far */
/* Executes the op with all checks. `active`: lanes on top of the stack; `mask`: those whose guard holds. */
hd_step hd_checks_step(const hd_op *op, hd_warp *w, uint32_t active, uint32_t mask);

/* Updates the checks after an op that also completed for lanes that had arrived before. */
hd_step hd_checks_done(const hd_op *op, hd_warp *w, uint32_t lanes);

/* uninitialized.c */
/* before the op executes; computes the shadows of results that depend on registers only */
hd_step hd_uninitialized_before(const hd_op *op, hd_warp *w, uint32_t active, uint32_t mask);
void hd_uninitialized_meet(const hd_op *op, hd_warp *w, uint32_t lanes);    /* the same for ops at which lanes meet */
hd_step hd_uninitialized_after(const hd_op *op, hd_warp *w, uint32_t mask); /* for memory accesses and calls */
/* Marks bytes [at, at + bytes) of a lane's local memory as (un)defined. */
void hd_uninitialized_local(hd_warp *w, uint32_t lane, uint32_t at, uint32_t bytes, bool undefined);

/* The same for shared memory; does nothing if the check is disabled. */
void hd_uninitialized_shared(hd_cta *cta, uint32_t at, uint32_t bytes, bool undefined);

/* races.c */
hd_races *hd_races_new(const hd_cta *cta);
void hd_races_free(hd_races *races);
void hd_races_start(hd_cta *cta);
void hd_races_access(const hd_op *op, hd_warp *w, uint32_t mask);
/* Machine code: these lanes execute the next instruction together. */
void hd_races_together(hd_warp *w, uint32_t lanes);
void hd_races_arrive(hd_warp *w, uint32_t barrier);                        /* at a barrier of the CTA */
void hd_races_open(hd_cta *cta, uint32_t barrier, uint32_t waiting_warps); /* the barrier opens */
/* A lane issues a cp.async; its thread has waited for it. */
void hd_races_copy(const hd_op *op, hd_warp *w, const hd_lane_async *a);
void hd_races_copied(hd_warp *w, const hd_lane_async *a);
uint32_t hd_races_found(const hd_races *races);

#endif
