/* Occupancy: see occupancy.h. Each resource limits the number of blocks that are resident on an SM; the smallest limit
 * counts.
 *
 *   warps      warps of the SM / warps of a block
 *   registers  registers are allocated to a warp in units, within one sub-core: (units of a sub-core / units of a warp)
 *              * sub-cores warps fit. As the hardware checks it, a launch fails if the block's warps, rounded up to the
 *              sub-cores, take more registers than a block may have.
 *   shared     bytes of a block, plus what the driver reserves, in allocation units; the SM's maximum of shared memory
 *              is available, as if no other split with the L1 cache were requested
 *   barriers   barriers of the SM / of a block, if the description gives them
 *
 * Clusters, partitioned global caching (5.x and 6.x) and other splits of shared memory and cache are not modelled.
 * Constant time; a cliff is found by binary search, because the number of blocks never grows with the number of
 * registers.
 */
#include "target/occupancy.h"
#include "base/search.h"

enum { WARP_THREADS = 32 };

const char *const hd_limiter_names[HD_LIMITER_COUNT] = {
    [HD_LIMITER_WARPS] = "warps",   [HD_LIMITER_CTAS] = "ctas",         [HD_LIMITER_REGISTERS] = "registers",
    [HD_LIMITER_SHARED] = "shared", [HD_LIMITER_BARRIERS] = "barriers", [HD_LIMITER_IMPOSSIBLE] = "impossible",
};

static uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

static uint32_t warps_of(const hd_occupancy_use *use)
{
    return (uint32_t)(((uint64_t)use->threads + WARP_THREADS - 1) / WARP_THREADS);
}

/* Keeps the first reason. */
static uint32_t no_ctas(const char **why, const char *reason)
{
    *why = *why ? *why : reason;
    return 0;
}

static uint32_t by_warps(const hd_gpu_limits *limits, const hd_occupancy_use *use, const char **why)
{
    if (!use->threads)
        return no_ctas(why, "a CTA without threads");
    if (use->threads > limits->threads_per_cta)
        return no_ctas(why, "more threads than a CTA may have");
    uint32_t ctas = limits->warps_per_sm / warps_of(use);
    return ctas ? ctas : no_ctas(why, "more warps than an SM has");
}

static uint64_t warp_registers_of(const hd_gpu_limits *limits, const hd_occupancy_use *use)
{
    return round_up((uint64_t)use->registers * WARP_THREADS, limits->register_unit);
}

/* What a launch is checked to take. */
static uint64_t checked_registers(const hd_gpu_limits *limits, const hd_occupancy_use *use)
{
    uint32_t checked = limits->launch_partitions ? limits->launch_partitions : limits->partitions;
    return warp_registers_of(limits, use) * round_up(warps_of(use), checked);
}

static uint32_t by_registers(const hd_gpu_limits *limits, const hd_occupancy_use *use, const char **why)
{
    uint64_t warp_registers = warp_registers_of(limits, use);
    if (!warp_registers || !use->threads)
        return UINT32_MAX;
    if (use->registers > limits->registers_per_thread)
        return no_ctas(why, "more registers than a thread may have");
    if (checked_registers(limits, use) > limits->registers_per_cta)
        return no_ctas(why, "more registers than a CTA may have");
    uint64_t partition_warps = limits->registers_per_sm / limits->partitions / warp_registers;
    uint32_t ctas = (uint32_t)(partition_warps * limits->partitions / warps_of(use));
    return ctas ? ctas : no_ctas(why, "more registers than an SM has");
}

static uint32_t by_shared(const hd_gpu_limits *limits, const hd_occupancy_use *use, const char **why)
{
    if (use->shared_bytes > limits->shared_bytes_per_cta)
        return no_ctas(why, "more shared memory than a CTA may have");
    uint64_t bytes = round_up(use->shared_bytes + limits->shared_reserved_bytes_per_cta, limits->shared_unit_bytes);
    if (!bytes)
        return UINT32_MAX;
    uint32_t ctas = (uint32_t)(limits->shared_bytes_per_sm / bytes);
    return ctas ? ctas : no_ctas(why, "more shared memory than an SM has");
}

static uint32_t by_barriers(const hd_gpu_limits *limits, const hd_occupancy_use *use, const char **why)
{
    if (!limits->barriers_per_sm || !use->barriers)
        return UINT32_MAX;
    uint32_t ctas = limits->barriers_per_sm / use->barriers;
    return ctas ? ctas : no_ctas(why, "more barriers than an SM has");
}

hd_occupancy hd_occupancy_of(const hd_gpu_limits *limits, const hd_occupancy_use *use)
{
    hd_occupancy o = {.limiter = HD_LIMITER_WARPS};
    o.by[HD_LIMITER_WARPS] = by_warps(limits, use, &o.impossible);
    o.by[HD_LIMITER_CTAS] = limits->ctas_per_sm;
    o.by[HD_LIMITER_REGISTERS] = by_registers(limits, use, &o.impossible);
    o.by[HD_LIMITER_SHARED] = by_shared(limits, use, &o.impossible);
    o.by[HD_LIMITER_BARRIERS] = by_barriers(limits, use, &o.impossible);
    o.by[HD_LIMITER_IMPOSSIBLE] = o.impossible ? 0 : UINT32_MAX;
    for (uint32_t l = 1; l < HD_LIMITER_IMPOSSIBLE; l++)
        if (o.by[l] < o.by[o.limiter])
            o.limiter = (hd_limiter)l;
    if (o.impossible)
        o.limiter = HD_LIMITER_IMPOSSIBLE;
    o.ctas = o.by[o.limiter];
    o.warps = o.ctas ? o.ctas * warps_of(use) : 0;
    o.fraction = (double)o.warps / limits->warps_per_sm;
    return o;
}

uint64_t hd_occupancy_block_registers(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t *most)
{
    uint64_t checked = checked_registers(limits, use);
    bool too_many = checked > limits->registers_per_cta;
    *most = too_many ? limits->registers_per_cta : limits->registers_per_sm;
    return too_many ? checked : warp_registers_of(limits, use) * round_up(warps_of(use), limits->partitions);
}

static hd_occupancy with_registers(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t registers)
{
    hd_occupancy_use other = *use;
    other.registers = registers;
    return hd_occupancy_of(limits, &other);
}

static hd_occupancy_cliff cliff_at(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t registers)
{
    return (hd_occupancy_cliff){true, registers, with_registers(limits, use, registers)};
}

/* The largest number in [low, high] with which at least `ctas` blocks are resident; `low` is one. */
static uint32_t last_with(const hd_gpu_limits *limits, const hd_occupancy_use *use, uint32_t low, uint32_t high,
                          uint32_t ctas)
{
    uint32_t end = high + 1;
    HD_SEARCH(low, end, at, with_registers(limits, use, at).ctas >= ctas);
    return low - 1;
}

hd_occupancy_cliff hd_occupancy_gain(const hd_gpu_limits *limits, const hd_occupancy_use *use)
{
    uint32_t now = hd_occupancy_of(limits, use).ctas;
    if (use->registers < 2 || with_registers(limits, use, 1).ctas <= now)
        return (hd_occupancy_cliff){0};
    return cliff_at(limits, use, last_with(limits, use, 1, use->registers - 1, now + 1));
}

hd_occupancy_cliff hd_occupancy_loss(const hd_gpu_limits *limits, const hd_occupancy_use *use)
{
    uint32_t now = hd_occupancy_of(limits, use).ctas;
    if (!now)
        return (hd_occupancy_cliff){0};
    return cliff_at(limits, use, last_with(limits, use, use->registers, limits->registers_per_thread, now) + 1);
}

uint32_t hd_occupancy_sweep(const hd_gpu_limits *limits, const hd_occupancy_use *use, hd_occupancy *rows, uint32_t most)
{
    uint32_t count = 0;
    hd_occupancy_use other = *use;
    for (other.threads = WARP_THREADS; other.threads <= limits->threads_per_cta && count < most;
         other.threads += WARP_THREADS)
        rows[count++] = hd_occupancy_of(limits, &other);
    return count;
}
