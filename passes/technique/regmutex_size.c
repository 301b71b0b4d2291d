/* The number of registers in the extended set of RegMutex. Khorasani et al., "RegMutex: Inter-Warp GPU Register
 * Time-Sharing", ISCA 2018; section 4.3.1 of the dissertation.
 *
 * Candidates are the even numbers among floor(registers * {0.10, 0.15, 0.20, 0.25, 0.30, 0.35}). Of those whose base
 * set allows the most resident warps: the smallest with sections for more than half of them, else the one with most
 * sections. (The paper's sentence has "the largest"; its example, where 6 of {4, 6, 8} is chosen with 26 sections
 * although 8 has 32, implies the smallest.) Where no candidate allows more resident warps than the whole register set,
 * there is no extended set.
 *
 * Sections are the registers that the base sets of resident warps leave free, divided by the extended set. Where not
 * even one section is left, one thread block fewer is resident, so that no acquire waits forever.
 *
 * Paired warps (section 4.3.3): two warps have 2|Bs| + |Es| registers, so one section per pair; the last warp of a
 * thread block with an odd number of warps has a pair of its own. */
#include "passes/technique/regmutex.h"

enum { WARP_LANES = 32 };

static uint32_t warps_of(const hd_occupancy_use *use) { return (use->threads + WARP_LANES - 1) / WARP_LANES; }

static uint32_t ctas_of(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t registers)
{
    hd_occupancy_use with = *use;
    with.registers = registers;
    return hd_occupancy_of(limits, &with).ctas;
}

static hd_regmutex_sizes sizes_of_pairs(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t base,
                                        uint32_t extended)
{
    uint32_t warps = warps_of(use), pairs = (warps + 1) / 2, all = pairs * (2 * base + extended);
    hd_regmutex_sizes sizes = {.base = base, .extended = extended};
    sizes.ctas = warps ? ctas_of(limits, use, (all + warps - 1) / warps) : 0;
    sizes.warps = sizes.ctas * warps;
    sizes.sections = sizes.ctas * pairs;
    return sizes;
}

hd_regmutex_sizes hd_regmutex_sizes_of(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t base,
                                       uint32_t extended, bool paired)
{
    if (paired)
        return sizes_of_pairs(limits, use, base, extended);
    uint32_t file = limits->registers_per_sm / WARP_LANES, warps = warps_of(use);
    hd_regmutex_sizes sizes = {.base = base, .extended = extended, .ctas = ctas_of(limits, use, base)};
    for (; sizes.ctas; sizes.ctas--) {
        uint32_t used = sizes.ctas * warps * base;
        sizes.sections = used < file && extended ? (file - used) / extended : 0;
        if (sizes.sections)
            break;
    }
    sizes.warps = sizes.ctas * warps;
    sizes.sections = hd_min(sizes.sections, sizes.warps);
    return sizes;
}

uint32_t hd_regmutex_candidates(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t registers,
                                bool paired, hd_regmutex_sizes candidates[HD_REGMUTEX_CANDIDATES])
{
    uint32_t count = 0;
    for (uint32_t twentieths = 2; twentieths <= 7; twentieths++) {
        uint32_t extended = registers * twentieths / 20;
        bool known = count && candidates[count - 1].extended == extended;
        if (extended && extended % 2 == 0 && extended < registers && !known)
            candidates[count++] = hd_regmutex_sizes_of(limits, use, registers - extended, extended, paired);
    }
    return count;
}

/* Is `a` better than `b`? Both have as many resident warps; `a` has the larger extended set. */
static bool is_better(const hd_regmutex_sizes *a, const hd_regmutex_sizes *b)
{
    return b->sections * 2 <= b->warps && a->sections > b->sections;
}

const hd_regmutex_sizes *hd_regmutex_choose(const hd_gpu_limits *limits, const hd_occupancy_use *use,
                                            uint32_t registers, const hd_regmutex_sizes *candidates, uint32_t count)
{
    const hd_regmutex_sizes *best = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!best || candidates[i].warps > best->warps ||
            (candidates[i].warps == best->warps && is_better(&candidates[i], best)))
            best = &candidates[i];
    return best && best->ctas > ctas_of(limits, use, registers) ? best : NULL;
}
