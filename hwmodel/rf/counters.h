/* What models count: the list, and how numbers of several launches come together. */
#ifndef HD_HWMODEL_RF_COUNTERS_H
#define HD_HWMODEL_RF_COUNTERS_H

#include "base/rows.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum hd_counter {
#define HD_COUNTER(id, group, key, energy, title) HD_COUNTER_##id,
#include "hwmodel/rf/counters.def"
#undef HD_COUNTER
    HD_COUNTER_BUILT_IN, /* then those of plug-ins */
    HD_COUNTER_COUNT = HD_COUNTER_BUILT_IN + HD_PLUGIN_ROWS
} hd_counter;

typedef enum hd_counter_group {
    HD_COUNTS_FILE,
    HD_COUNTS_NEAR,
    HD_COUNTS_PART,
    HD_COUNTS_CLASS,
    HD_COUNTS_LEAST,
    HD_COUNTS_MOST
} hd_counter_group;
typedef struct hd_counter_info {
    const char *key, *title;
    uint8_t group, energy; /* hd_counter_group; hd_energy of target/gpu.h */
    double pj;             /* of a plug-in's: the energy of one such event, on every GPU; 0: as `energy` has it */
} hd_counter_info;
extern const hd_counter_info *const hd_counters;
extern uint32_t hd_counter_count;                    /* the rows there are, of HD_COUNTER_COUNT */
bool hd_counter_add_row(const hd_counter_info *row); /* of a plug-in; false: there is no room */
/* The value of a counter that does not fit. Sums with it stay so. */
#define HD_UNCOUNTED UINT64_MAX
/* Takes what another launch counted into the counters of those before. */
void hd_counters_join(uint64_t into[HD_COUNTER_COUNT], const uint64_t from[HD_COUNTER_COUNT]);
/* What was counted `times` times. */
void hd_counter_add(uint64_t counters[HD_COUNTER_COUNT], hd_counter counter, uint64_t n, uint64_t times);

struct hd_gpu;
typedef struct hd_rf_energy {
    bool known;   /* false: the GPU's description lacks a figure that is needed */
    bool derived; /* a figure that is needed is not published for the GPU, but derived (hd_energy_figure) */
    double dynamic_pj;
} hd_rf_energy;
typedef struct hd_rf_sizes {         /* capacities from which the energy of accesses is derived */
    uint32_t table_bytes;            /* of the renaming table; 0: as the GPU's description has it */
    uint32_t file_reduction_percent; /* percent of the GPU's register file that is missing */
} hd_rf_sizes;
hd_rf_energy hd_rf_dynamic_energy(const uint64_t counters[HD_COUNTER_COUNT], hd_rf_sizes sizes,
                                  const struct hd_gpu *gpu);

typedef struct hd_rf_leakage { /* what leaks, in cycles of the GPU's `timing` */
    uint64_t powered;          /* warp registers of the register file with power, summed over cycles and SMs */
    uint64_t storage_bits;     /* that the technique adds to an SM, */
    uint8_t storage;           /* in structures of this hd_energy, scaled by capacity, */
    uint64_t cycles;           /* for so long, summed over SMs */
    uint8_t file;              /* hd_energy of the register file; 0: REGISTER_BANK */
    uint64_t gated_bits;       /* of the storage, behind power gates, */
    uint64_t gated_on;         /* of which so many have power, summed over cycles and SMs, */
    uint8_t gates;             /* and leak as this hd_energy without */
} hd_rf_leakage;
/* In pJ; NAN if the GPU's description lacks the leakage of a structure that there is. */
double hd_rf_static_energy(const hd_rf_leakage *leakage, const struct hd_gpu *gpu);

#endif
