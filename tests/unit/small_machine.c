/* Machines of tests: see small_machine.h. */
#include "small_machine.h"

#include "unit.h"

hd_machine small_machine(void)
{
    hd_machine m = {.known = true,
                    .clocks = {1000, 1000},
                    .core = {.kind = HD_CORE_COLLECTOR,
                             .policy = HD_POLICY_LRR,
                             .schedulers = 1,
                             .issue_width = 1,
                             .collectors = 4,
                             .banks = 4,
                             .bank_latency = 1,
                             .bank_interval = 1,
                             .bank_groups = 1},
                    .fetch = {2, 1, 2, 1, 8, 0, 128, 1, 0},
                    .shared = {32, 20},
                    .constant = {0, 64, 1, 9},
                    .texture = {0, 128, 1, 25},
                    .l1 = {16384, 128, 128, 4, 30, 16, 1},
                    .interconnect = {7, 32},
                    .l2 = {2, 262144, 128, 32, 8, 50},
                    .dram = {2, 8, 2048, 32, 11, 13, 12, 28, 16, 60},
                    .units = {[HD_MACHINE_UNIT_SP] = 1, [HD_MACHINE_UNIT_SFU] = 1, [HD_MACHINE_UNIT_MEMORY] = 1}};
    for (uint32_t c = 0; c < HD_MACHINE_CLASSES; c++)
        m.classes[c] = (hd_machine_class_timing){HD_MACHINE_UNIT_SP, 4, 1};
    m.classes[HD_MACHINE_CLASS_MOVE].latency = 1;
    m.classes[HD_MACHINE_CLASS_INT_MUL].latency = 6;
    m.classes[HD_MACHINE_CLASS_INT_MAD].latency = 5;
    m.classes[HD_MACHINE_CLASS_SFU] = (hd_machine_class_timing){HD_MACHINE_UNIT_SFU, 20, 8};
    m.classes[HD_MACHINE_CLASS_MEMORY] = (hd_machine_class_timing){HD_MACHINE_UNIT_MEMORY, 1, 1};
    return m;
}

static uint32_t pick(uint64_t *seed, const uint32_t *from, uint32_t count) { return from[unit_random(seed) % count]; }

hd_machine small_subcore_machine(void)
{
    hd_machine m = small_machine();
    m.core.kind = HD_CORE_SUBCORE;
    m.core.collectors = 0;
    m.core.read_cycles = 3;
    m.core.queue = 2;
    m.core.banks = 2;
    return m;
}

static void make_subcores(hd_machine *m)
{
    m->core.kind = HD_CORE_SUBCORE;
    m->core.queue = m->core.collectors;
    m->core.read_cycles = 1 + m->core.queue % 3;
    m->core.collectors = m->core.collector_ports = 0;
    m->core.issue_width = m->core.bank_latency = m->core.bank_interval = 1;
    m->core.banks = m->core.banks / m->core.bank_groups * m->core.schedulers;
    m->core.bank_groups = m->core.schedulers;
    if (m->core.banks > 4)
        m->units[HD_MACHINE_UNIT_SP] = m->units[HD_MACHINE_UNIT_MEMORY] = m->core.schedulers;
}

hd_machine random_machine(uint64_t *seed)
{
    static const uint32_t few[] = {1, 2, 4}, cycles[] = {1, 3, 17}, sectors[] = {32, 128};
    hd_machine m = small_machine();
    m.core.policy = (hd_scheduler_policy)(unit_random(seed) % 4);
    m.core.schedulers = pick(seed, few, 3);
    m.core.issue_width = pick(seed, few, 2);
    m.core.active_warps = pick(seed, few, 3);
    m.core.collectors = pick(seed, few, 3);
    m.core.collector_ports = (uint32_t)(unit_random(seed) % 3);
    m.core.bank_groups = pick(seed, few, 2);
    m.core.banks = m.core.bank_groups * pick(seed, few, 3);
    m.l1.global = unit_random(seed) % 2;
    m.l1.bytes = unit_random(seed) % 3 ? 16384 : 0;
    m.l1.sector_bytes = pick(seed, sectors, 2);
    m.l1.mshrs = pick(seed, few, 3);
    m.interconnect.latency = pick(seed, cycles, 3);
    m.dram.queue = pick(seed, few, 3);
    m.fetch.buffer = pick(seed, few, 3);
    m.fetch.width = pick(seed, few, 3);
    m.fetch.ports = pick(seed, few, 3);
    m.fetch.latency = pick(seed, cycles, 3);
    m.fetch.bytes = unit_random(seed) % 2 ? 512 : 0;
    m.constant.bytes = unit_random(seed) % 2 ? 256 : 0;
    m.texture.bytes = unit_random(seed) % 2 ? 256 : 0;
    m.fetch.prefetch = unit_random(seed) % 3;
    for (uint32_t c = 0; c < HD_MACHINE_CLASSES; c++) {
        m.classes[c].latency = pick(seed, cycles, 3);
        m.classes[c].interval = pick(seed, cycles, 3);
    }
    m.core.bank_latency = pick(seed, cycles, 3);
    m.core.bank_interval = pick(seed, cycles, 3);
    if (unit_random(seed) % 2)
        make_subcores(&m);
    return m;
}
