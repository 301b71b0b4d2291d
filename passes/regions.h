/* Facts that hold in the regions of divergent branches. Private to passes/.
 *
 * R(b, s) = blocks reachable from target s of branch b without entering the reconvergence point r(b). What an analysis
 * attaches to it is a fact (r, key): seeded at s, carried forward along edges, dropped on entering r. Branches that
 * share r and key share the fact, so that there are at most as many facts in a block as the analysis has keys for each
 * of the block's post-dominators.
 */
#ifndef HD_PASSES_REGIONS_H
#define HD_PASSES_REGIONS_H

#include "ir/cfg.h"

typedef struct hd_region_seed {
    uint32_t join, key, block;
} hd_region_seed;
typedef HD_ARRAY(hd_region_seed) hd_region_seeds;

typedef struct hd_region_fact {
    uint32_t join, key;
    uint32_t first, count; /* blocks where it holds, in hd_region_facts.blocks */
} hd_region_fact;

typedef struct hd_region_facts {
    HD_ARRAY(hd_region_fact) items; /* by (join, key) */
    hd_u32_array blocks;
} hd_region_facts;

/* Sorts the seeds and carries each fact through its region. O(seeds log seeds + edges seen by each fact). */
void hd_region_facts_make(hd_region_facts *facts, const hd_cfg *cfg, hd_region_seeds *seeds);
void hd_region_facts_free(hd_region_facts *facts);

#endif
