/* Barriers in shared memory (mbarrier objects): eight bytes, in the layout of sm_90, with which machine code makes and
 * reads them.
 *
 *   bit 0        set where the next phase expects no arrivals, so that no object is all zeros
 *   bits 1..20   arrivals that the next phase will expect, negated
 *   bits 21..42  pending transactions (bytes) of the current phase, two's complement
 *   bits 43..62  pending arrivals of the current phase, negated
 *   bit 63       parity of the current phase
 *
 * A phase ends when neither arrivals nor transactions are pending; the next one begins at once. The state that an
 * arrival returns is the object's previous value. Programs may ask only for the current phase and the one before, so
 * the parity says which. Bit 0 and the place of the transactions, which no program sees, are this model's own. */
#ifndef HD_HWMODEL_EXEC_CONTROL_MBARRIER_H
#define HD_HWMODEL_EXEC_CONTROL_MBARRIER_H

#include "hwmodel/exec/state/state.h"

enum { HD_MBARRIER_MOST = (1 << 20) - 1 }; /* maximum arrivals and transactions of a phase */

static inline uint32_t hd_mbarrier_pending(uint64_t v) { return -(uint32_t)(v >> 43) & HD_MBARRIER_MOST; }
static inline uint32_t hd_mbarrier_expected(uint64_t v) { return -(uint32_t)(v >> 1) & HD_MBARRIER_MOST; }
static inline int32_t hd_mbarrier_transactions(uint64_t v) { return (int32_t)((int64_t)(v << 21) >> 42); }
static inline uint32_t hd_mbarrier_phase(uint64_t v) { return (uint32_t)(v >> 63); }
static inline bool hd_mbarrier_valid(uint64_t v) { return v & 0x1fffff; }
static inline uint64_t hd_mbarrier_make(uint32_t pending, uint32_t expected, int32_t transactions, uint32_t phase)
{
    return (uint64_t)!expected | (uint64_t)(-expected & HD_MBARRIER_MOST) << 1 |
           ((uint64_t)transactions & 0x3fffff) << 21 | (uint64_t)(-pending & HD_MBARRIER_MOST) << 43 |
           (uint64_t)(phase & 1) << 63;
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
