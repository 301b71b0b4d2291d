/* Barriers in shared memory (mbarrier objects): eight bytes, whose layout is this model's own.
 *
 *   bits 0..19   pending arrivals of the current phase
 *   bits 20..39  arrivals that the next phase will expect
 *   bits 40..60  pending transactions (bytes) of the current phase, two's complement
 *   bit 61       set: an initialized object
 *   bits 62..63  number of the current phase modulo 4; its lowest bit is the phase's parity
 *
 * A phase ends when neither arrivals nor transactions are pending; the next one begins at once. The state that an
 * arrival returns is the object's previous value. */
#ifndef HD_HWMODEL_EXEC_CONTROL_MBARRIER_H
#define HD_HWMODEL_EXEC_CONTROL_MBARRIER_H

#include "hwmodel/exec/state/state.h"

enum { HD_MBARRIER_MOST = (1 << 20) - 1 }; /* maximum arrivals and transactions of a phase */

static inline uint32_t hd_mbarrier_pending(uint64_t v) { return (uint32_t)v & HD_MBARRIER_MOST; }
static inline uint32_t hd_mbarrier_expected(uint64_t v) { return (uint32_t)(v >> 20) & HD_MBARRIER_MOST; }
static inline int32_t hd_mbarrier_transactions(uint64_t v) { return (int32_t)((int64_t)(v << 3) >> 43); }
static inline uint32_t hd_mbarrier_phase(uint64_t v) { return (uint32_t)(v >> 62); }
static inline bool hd_mbarrier_valid(uint64_t v) { return v >> 61 & 1; }
static inline uint64_t hd_mbarrier_make(uint32_t pending, uint32_t expected, int32_t transactions, uint32_t phase)
{
    return (uint64_t)pending | (uint64_t)expected << 20 | ((uint64_t)transactions & 0x1fffff) << 40 | 1ull << 61 |
           (uint64_t)phase << 62;
}

/* The object with these numbers, in its next phase if nothing is pending. */
uint64_t hd_mbarrier_settle(uint32_t pending, uint32_t expected, int32_t transactions, uint32_t phase);
/* Applies `count` arrivals; NULL, or why that is invalid. */
const char *hd_mbarrier_arrive(uint64_t *object, uint32_t count);
/* Reads the object at an offset of shared memory, which must be in bounds. */
uint64_t hd_mbarrier_read(const hd_cta *cta, uint32_t offset);
void hd_mbarrier_write(hd_cta *cta, uint32_t offset, uint64_t object);
/* Writes a valid object that was `before`, and reports the end of its phase. */
void hd_mbarrier_change(hd_cta *cta, uint32_t offset, uint64_t before, uint64_t object);

/* Sets cta->addresses to the offsets in shared memory that the op's lanes address; faults if an object is out of
 * bounds, misaligned, or (`valid`) not initialized. */
hd_step hd_mbarrier_find(const hd_op *op, hd_warp *w, uint32_t mask, bool valid);

#endif
