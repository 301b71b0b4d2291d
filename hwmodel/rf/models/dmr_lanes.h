/* Which lane of Warped-DMR executes what: the mapping of threads to lanes, the pairing of idle lanes with active ones
 * within a SIMT cluster, and lane shuffling. */
#ifndef HD_HWMODEL_RF_DMR_LANES_H
#define HD_HWMODEL_RF_DMR_LANES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hd_dmr_lanes {
    uint32_t cluster; /* lanes of a SIMT cluster: a power of two */
    bool cross;       /* threads are mapped to the clusters in turn; else in order */
} hd_dmr_lanes;

uint32_t hd_dmr_lane(const hd_dmr_lanes *lanes, uint32_t thread);
uint32_t hd_dmr_thread(const hd_dmr_lanes *lanes, uint32_t lane);
/* The lane whose operands the multiplexer of this lane takes, by its priorities (table 4.1): its own if it is active,
 * else the first active one of the cluster. The lane itself if none is active. active: lanes. */
uint32_t hd_dmr_partner(const hd_dmr_lanes *lanes, uint32_t active, uint32_t lane);
/* The lane whose work this lane repeats, in a repetition of the warp: the previous one of the cluster, cyclically. */
uint32_t hd_dmr_unshuffled(const hd_dmr_lanes *lanes, uint32_t lane);
/* The one of these active threads that the lane repeats if it is idle, as a mask; 0: none. */
uint32_t hd_dmr_repeated(const hd_dmr_lanes *lanes, uint32_t threads, uint32_t lane);
/* Those of these active threads that idle lanes repeat. *repeats: what idle lanes execute for it. */
uint32_t hd_dmr_paired(const hd_dmr_lanes *lanes, uint32_t threads, uint32_t *repeats);

#endif
