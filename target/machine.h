/* The machine that the cycle-level model simulates: the section `timing` of a GPU description (gpu.h). Its keys, with
 * units and ranges, are in machine.def; heddle-gpu(5) lists them. */
#ifndef HD_TARGET_MACHINE_H
#define HD_TARGET_MACHINE_H

#include "base/yaml.h"

typedef enum hd_machine_unit {
#define HD_MACHINE_UNIT(id, key, fallback, fixed, summary) HD_MACHINE_UNIT_##id,
#include "target/machine.def"
    HD_MACHINE_UNITS
} hd_machine_unit;

typedef enum hd_machine_class {
#define HD_MACHINE_CLASS(id, key, unit, summary) HD_MACHINE_CLASS_##id,
#include "target/machine.def"
    HD_MACHINE_CLASSES
} hd_machine_class;

typedef enum hd_scheduler_policy {
    HD_POLICY_LRR,       /* loose round robin: the next warp after the one that issued last */
    HD_POLICY_GTO,       /* greedy, then oldest: the same warp as long as it can, then the oldest */
    HD_POLICY_TWO_LEVEL, /* round robin among active_warps; a warp that waits for memory makes room for another */
    HD_POLICY_GTY,       /* greedy, then youngest */
} hd_scheduler_policy;

typedef enum hd_core_kind {
    HD_CORE_COLLECTOR, /* operand collectors, which all schedulers of the SM share (Fermi to Pascal) */
    HD_CORE_SUBCORE    /* a partition of units and banks for each scheduler, without collectors (Volta and later) */
} hd_core_kind;

typedef struct hd_machine_class_timing {
    uint8_t unit;      /* hd_machine_unit that executes it here: its own, or the fallback */
    uint32_t latency;  /* cycles from dispatch to the result */
    uint32_t interval; /* cycles until the unit takes the next one */
} hd_machine_class_timing;

typedef struct hd_machine {
    bool known; /* false: the description has no section `timing` */
    struct {
        uint32_t core_mhz, dram_mhz;
    } clocks;
    struct {
        hd_scheduler_policy policy;
        hd_core_kind kind;
        uint32_t schedulers, issue_width, active_warps, collectors, collector_ports, read_cycles, queue, banks,
            bank_latency, bank_interval, bank_groups;
    } core;
    struct {
        uint32_t buffer, ports, width, latency, instruction_bytes, bytes, line_bytes, ways, prefetch;
    } fetch;
    struct {
        uint32_t banks, latency;
    } shared;
    struct {
        uint32_t bytes, line_bytes, ways, latency;
    } constant, texture;
    struct {
        uint32_t bytes, line_bytes, sector_bytes, ways, latency, mshrs, global;
    } l1;
    struct {
        uint32_t latency, bytes;
    } interconnect;
    struct {
        uint32_t slices, bytes, line_bytes, sector_bytes, ways, latency;
    } l2;
    struct {
        uint32_t channels, banks, row_bytes, bytes, cl, rcd, rp, ras, queue, latency;
    } dram;
    uint32_t units[HD_MACHINE_UNITS]; /* of an SM, 32 lanes wide */
    hd_machine_class_timing classes[HD_MACHINE_CLASSES];
    const char *source;
} hd_machine;

/* Is the time of the unit's results known when its instruction issues? It is not where sub-cores share the unit. */
bool hd_machine_unit_is_fixed(const hd_machine *machine, hd_machine_unit unit);

/* Reads the section; an absent one (NULL) leaves `known` false. false: errors were reported. */
bool hd_machine_read(const hd_yaml_node *node, hd_machine *machine);

#endif
