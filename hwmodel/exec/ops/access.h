/* Translation of lane addresses to host memory; shared by loads, stores and atomics. */
#ifndef HD_HWMODEL_EXEC_OPS_ACCESS_H
#define HD_HWMODEL_EXEC_OPS_ACCESS_H

#include "hwmodel/exec/state/state.h"

typedef struct hd_region {
    unsigned char *bytes; /* of address `first` */
    uint64_t first, size; /* addresses as the instruction gives them */
    bool read_only;
    bool interleaved;                    /* local memory: the lanes' words are interleaved */
    const hd_allocation *shared_by_ctas; /* the allocation, if a CTA's writes are visible to other CTAs; else NULL */
    uint32_t row_bytes; /* if known: the lanes' accesses are contiguous, with this many bytes each; else 0 */
} hd_region;

/* The region that contains an address of a space (HD_SPACE_NONE: generic); false: none. */
bool hd_region_find(const hd_op *op, hd_warp *w, hd_space space, uint64_t address, hd_region *region);
/* Sets cta->addresses; lanes outside the mask get the address of one inside. */
void hd_lane_addresses(const hd_op *op, hd_warp *w, uint32_t mask);
/* Faults unless every lane may access `bytes` (a power of two) at its address. *single: one region serves all lanes. */
hd_step hd_access_check(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t bytes, bool write, hd_region *region,
                        bool *single);

/* Records the access of a single lane in the CTA's footprint. */
void hd_touch(hd_warp *w, const hd_region *region, uint64_t address, uint32_t bytes, bool write);

/* Reports invalid accesses of lanes, with a description of the addresses. */
hd_step hd_bad_access(const hd_op *op, hd_warp *w, uint32_t lanes, uint32_t bytes, hd_fault_class class,
                      const char *what);

/* Reads bytes at a generic address for one lane; false if they are not all accessible. */
bool hd_read_lane(const hd_op *op, hd_warp *w, uint32_t lane, uint64_t address, void *to, uint32_t bytes);

#endif
