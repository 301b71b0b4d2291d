/* The replay's proof: does an operand that a technique delivers hold what the baseline would have read?
 *
 * No values are compared. Every write of a 32-bit register has a serial (one counter a warp). The baseline keeps, for
 * each register of each frame of a warp:
 *
 *   current   serial of the last write             ever     lanes written at all
 *   newest    lanes of that write                  last[]   serial of each lane's last write, for lanes outside
 *             `newest`
 *
 * A structure that holds register data keeps a claim with it: "lanes `lanes` are as the register was at serial
 * `serial`", and the owner it belongs to. Then
 *
 *   fresh(claim)             its lanes, if serial >= current; else those whose last write is not younger than serial
 *   merge of a write (w, W)  lanes = fresh or W, serial = w
 *   copy of M from s to d    lanes = (fresh(d) without M) or (fresh(s) and M), serial = the greater
 *   release                  lanes = 0, no owner
 *   read under A             the owner is the register asked for, and (A and ever) lies within fresh
 *
 * A structure that misses a write does nothing: its lanes go stale by comparison. Lanes that were never written are
 * don't-care.
 *
 * Order. Models work on an instruction first (reads, then their merges with the serials that the writes will get), and
 * only then is the write recorded here with hd_identity_write: fresh() must see the state before the write. A claim
 * whose serial is ahead of `current` was made by the instruction in progress, and all its lanes count.
 *
 * Registers are addressed by index: the frame's first index + the word in the frame's function. An index is unique in a
 * warp at any time, but is used again after a return: an owner names the frame's serial too.
 *
 * Cost: O(1) a write and a read while all lanes go together; 32 compares where a warp is divergent. Memory: 16 bytes a
 * register, and 128 for those that were written under different masks.
 */
#ifndef HD_HWMODEL_RF_IDENTITY_H
#define HD_HWMODEL_RF_IDENTITY_H

#include "base/array.h"
#include "base/bits.h"
#include <stdbool.h>

typedef struct hd_claim {
    uint32_t serial, lanes;
} hd_claim;

typedef struct hd_owner {
    uint32_t warp, frame, index; /* launch-wide warp, serial of its frame, index in the warp */
} hd_owner;

typedef struct hd_identity_register {
    uint32_t current, newest, ever;
    /* 1 + number of its block of 32 serials in warp->history; 0: lanes outside `newest` were never written */
    uint32_t history;
} hd_identity_register;

typedef struct hd_identity_frame {
    uint32_t frame, base, words; /* its serial; its registers are [base, base + words) */
    uint32_t history_count;      /* what warp->history goes back to when the frame ends */
} hd_identity_frame;

typedef struct hd_identity_warp {
    uint32_t warp, serial;
    uint32_t frame, base; /* of the frame on top */
    HD_ARRAY(hd_identity_register) registers;
    HD_ARRAY(hd_identity_frame) frames;
    hd_u32_array history;
} hd_identity_warp;

/* A warp begins without a frame; memory of an earlier warp is kept for reuse. */
void hd_identity_start(hd_identity_warp *identity, uint32_t warp);
void hd_identity_free(hd_identity_warp *identity);
void hd_identity_push(hd_identity_warp *identity, uint32_t frame, uint32_t words);
void hd_identity_pop(hd_identity_warp *identity);

/* The serial of the frame that the register is of. */
uint32_t hd_identity_frame_at(const hd_identity_warp *identity, uint32_t index);

/* Records the write with serial identity->serial + 1 under `lanes`, which must not be 0. */
void hd_identity_write(hd_identity_warp *identity, uint32_t index, uint32_t lanes);

uint32_t hd_identity_fresh_slow(const hd_identity_warp *identity, uint32_t index, hd_claim claim);
static inline uint32_t hd_identity_fresh(const hd_identity_warp *identity, uint32_t index, hd_claim claim)
{
    return claim.serial >= identity->registers.items[index].current ? claim.lanes
                                                                    : hd_identity_fresh_slow(identity, index, claim);
}

static inline hd_claim hd_identity_merge(const hd_identity_warp *identity, uint32_t index, hd_claim old,
                                         uint32_t serial, uint32_t lanes)
{
    return (hd_claim){serial, hd_identity_fresh(identity, index, old) | lanes};
}

static inline hd_claim hd_identity_copy(const hd_identity_warp *identity, uint32_t index, hd_claim to, hd_claim from,
                                        uint32_t lanes)
{
    uint32_t kept = hd_identity_fresh(identity, index, to) & ~lanes;
    uint32_t taken = hd_identity_fresh(identity, index, from) & lanes;
    return (hd_claim){hd_max(to.serial, from.serial), kept | taken};
}

/* Lanes of `lanes` for which a claim of this owner does not prove a read of the register `index` of the frame on top; 0
 * = proved. */
static inline uint32_t hd_identity_unproved(const hd_identity_warp *identity, uint32_t index, hd_owner owner,
                                            hd_claim claim, uint32_t lanes)
{
    const hd_identity_register *r = &identity->registers.items[index];
    uint32_t needed = lanes & r->ever;
    if (owner.warp != identity->warp || owner.frame != identity->frame || owner.index != index)
        return needed;
    return needed & ~hd_identity_fresh(identity, index, claim);
}

#endif
