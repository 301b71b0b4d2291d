/* The optional checks of a run: what was never written, and races in shared memory. Private to hwmodel/exec.
 *
 * hd_cta.checks is NULL where neither is on, and then nothing of this is called: warp.c steps warps through step_told,
 * which asks for it, only where there are sinks or checks. */
#ifndef HD_HWMODEL_EXEC_CHECKS_CHECKS_H
#define HD_HWMODEL_EXEC_CHECKS_CHECKS_H

#include "hwmodel/exec/state/state.h"

typedef struct hd_races hd_races;

struct hd_checks {
    bool uninitialized;
    unsigned char *zeros;  /* rows of defined bits, as large as any function's constants and the special registers */
    unsigned char *shared; /* a bit for each bit of shared memory: 1 is undefined */
    hd_races *races;       /* NULL: not asked for */
    uint32_t absent;       /* of the shfl that ran last: lanes whose source takes no part */
    _Alignas(64) unsigned char rows[4][LANES * 16];
};

void hd_checks_open(hd_cta *cta); /* makes cta->checks where the options ask for any */
void hd_checks_close(hd_cta *cta);
void hd_checks_start(hd_cta *cta);                  /* a new CTA */
void hd_checks_frame(hd_warp *w, hd_frame *f);      /* a new frame: nothing in it is written */
void hd_checks_grow(hd_warp *w, uint32_t capacity); /* local memory will have so many bytes a lane */
uint32_t hd_checks_races(const hd_cta *cta);        /* that were found so far */
/* Runs the op with all checks. `active`: lanes on top of the stack, `mask`: of these, where the guard holds. */
hd_step hd_checks_step(const hd_op *op, hd_warp *w, uint32_t active, uint32_t mask);

/* What follows an op that was done for lanes that came to it before, too. */
hd_step hd_checks_done(const hd_op *op, hd_warp *w, uint32_t lanes);

/* uninitialized.c */
hd_step hd_uninitialized_guard(const hd_op *op, hd_warp *w, uint32_t active);
hd_step hd_uninitialized_before(const hd_op *op, hd_warp *w, uint32_t mask); /* and what only registers decide */
void hd_uninitialized_meet(const hd_op *op, hd_warp *w, uint32_t lanes);     /* the same where lanes meet */
hd_step hd_uninitialized_after(const hd_op *op, hd_warp *w, uint32_t mask);  /* memory, calls */
/* Bytes [at, at + bytes) of a lane's local memory are (un)defined. */
void hd_uninitialized_local(hd_warp *w, uint32_t lane, uint32_t at, uint32_t bytes, bool undefined);

/* The same of shared memory; does nothing where the check is off. */
void hd_uninitialized_shared(hd_cta *cta, uint32_t at, uint32_t bytes, bool undefined);

/* races.c */
hd_races *hd_races_new(const hd_cta *cta);
void hd_races_free(hd_races *races);
void hd_races_start(hd_cta *cta);
void hd_races_access(const hd_op *op, hd_warp *w, uint32_t mask);
void hd_races_arrive(hd_warp *w, uint32_t barrier);                        /* at a barrier of the CTA */
void hd_races_open(hd_cta *cta, uint32_t barrier, uint32_t waiting_warps); /* it opens */
/* A cp.async of a lane is issued; its thread has waited for it. */
void hd_races_copy(const hd_op *op, hd_warp *w, const hd_async *a);
void hd_races_copied(hd_warp *w, const hd_async *a);
uint32_t hd_races_found(const hd_races *races);

#endif
