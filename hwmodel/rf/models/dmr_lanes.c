/* Lanes of Warped-DMR: see dmr_lanes.h. O(lanes of a warp) each. */
#include "hwmodel/rf/models/dmr_lanes.h"

#include "base/bits.h"

enum { LANES = 32 };

uint32_t hd_dmr_lane(const hd_dmr_lanes *lanes, uint32_t thread)
{
    uint32_t clusters = LANES / lanes->cluster;
    return lanes->cross ? thread % clusters * lanes->cluster + thread / clusters : thread;
}

uint32_t hd_dmr_thread(const hd_dmr_lanes *lanes, uint32_t lane)
{
    uint32_t clusters = LANES / lanes->cluster;
    return lanes->cross ? lane % lanes->cluster * clusters + lane / lanes->cluster : lane;
}

/* The k-th priority of a multiplexer in table 4.1 is its own number xor k; so it goes on for larger clusters. */
uint32_t hd_dmr_partner(const hd_dmr_lanes *lanes, uint32_t active, uint32_t lane)
{
    for (uint32_t k = 0; k < lanes->cluster; k++)
        if (active >> (lane ^ k) & 1)
            return lane ^ k;
    return lane;
}

uint32_t hd_dmr_unshuffled(const hd_dmr_lanes *lanes, uint32_t lane)
{
    uint32_t first = lane / lanes->cluster * lanes->cluster;
    return first + (lane + lanes->cluster - 1) % lanes->cluster;
}

static uint32_t lanes_of(const hd_dmr_lanes *lanes, uint32_t threads)
{
    uint32_t active = 0;
    HD_EACH_BIT (lane, threads)
        active |= 1u << hd_dmr_lane(lanes, lane);
    return active;
}

uint32_t hd_dmr_repeated(const hd_dmr_lanes *lanes, uint32_t threads, uint32_t lane)
{
    uint32_t partner = hd_dmr_partner(lanes, lanes_of(lanes, threads), lane);
    return partner == lane ? 0 : 1u << hd_dmr_thread(lanes, partner);
}

uint32_t hd_dmr_paired(const hd_dmr_lanes *lanes, uint32_t threads, uint32_t *repeats)
{
    uint32_t active = lanes_of(lanes, threads), paired = 0;
    *repeats = 0;
    HD_EACH_BIT (lane, ~active) {
        uint32_t partner = hd_dmr_partner(lanes, active, lane);
        if (partner == lane)
            continue;
        paired |= 1u << hd_dmr_thread(lanes, partner);
        ++*repeats;
    }
    return paired;
}
