/* Where the cycles of warps, the issue slots, the memory traffic and the bank conflicts of a launch come from, by
 * instruction. A listener (listener.h) of all SMs.
 *
 * Each cycle of a resident warp belongs to one instruction: to that which the warp issues, or waits to issue, as in a
 * profiler that samples warps in every cycle. So the cycles of all instructions add up to those of the launch's warps.
 * Each issue slot belongs to the instruction that it issues, or to that which the scheduler would have issued first;
 * slots of a scheduler without a warp, and what a warp without instructions waits for, belong to none. Executions of a
 * launch are added. O(1) an event; memory: the instructions of the functions that a launch executes.
 */
#ifndef HD_HWMODEL_SM_PROFILE_H
#define HD_HWMODEL_SM_PROFILE_H

#include "hwmodel/sm/sm.h"

typedef struct hd_profile_counts {
    uint64_t cycles[HD_SM_STATES];    /* of warps: in which they issue it, or wait to issue it, by what they wait for */
    uint64_t slots[HD_SM_SLOTS_ALL];  /* issue slots: ISSUED, and lost ones by reason */
    uint64_t warps, active, executed; /* executions by warps; their lanes, and those of these whose guard holds */
    uint64_t requests, sectors, least_sectors;             /* to the memory system: see hd_sm_access_event */
    uint64_t l1_reads, l1_hits;                            /* lines; those of which no sector is missing */
    uint64_t l2_sectors, l2_hits;                          /* that reads ask the L2 cache for; those that it has */
    uint64_t shared_accesses, shared_passes, least_passes; /* least_passes: without bank conflicts */
} hd_profile_counts;

typedef struct hd_profile hd_profile;

hd_profile *hd_profile_new(const hd_module *module); /* borrows it */
void hd_profile_free(hd_profile *profile);
hd_sm_listener hd_profile_listener(hd_profile *profile); /* borrows it */
/* By instruction; NULL: the launch executed nothing of the function. Belongs to the profile. */
const hd_profile_counts *hd_profile_of(const hd_profile *profile, uint32_t launch, uint32_t function);
/* What belongs to no instruction; NULL: the launch did not begin. */
const hd_profile_counts *hd_profile_rest(const hd_profile *profile, uint32_t launch);

#endif
