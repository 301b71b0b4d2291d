/* GPU descriptions: limits, register file, energies. target/gpus/ holds the descriptions that are built into the
 * program; others can be read from files of the same format. Every figure names its source. */
#ifndef HD_TARGET_GPU_H
#define HD_TARGET_GPU_H

#include "target/machine.h"

typedef enum hd_energy {
    HD_ENERGY_NONE,
#define HD_ENERGY(id, key, summary) HD_ENERGY_##id,
#include "target/energies.def"
#undef HD_ENERGY
    HD_ENERGY_COUNT
} hd_energy;

typedef struct hd_energy_figure {
    bool known;
    double dynamic_pj, leakage_mw; /* leakage: 0 if not given */
    uint32_t leakage_bytes;        /* capacity of the structure that leaks so much; 0: leakage is not given */
    const char *derived;           /* the rule by which it follows from published figures; NULL: it is published */
    const char *source;
} hd_energy_figure;
extern const char *const hd_energy_keys[HD_ENERGY_COUNT];

enum { HD_GPU_CARVEOUTS = 16, HD_GPU_DESIGNS = 16 };
/* An alternative register file of the GPU; numbers are relative to the actual one. */
typedef struct hd_register_file_design {
    const char *cell, *network; /* technology of the cells; interconnect between banks and collectors */
    double banks, bank_size, capacity, area, power, latency;
} hd_register_file_design;
typedef struct hd_gpu_limits {
    uint32_t sms; /* 0: not given */
    uint32_t warps_per_sm, ctas_per_sm;
    uint32_t barriers_per_sm; /* 0: not given, so barriers do not limit occupancy */
    uint32_t threads_per_cta;
    uint32_t registers_per_sm, registers_per_cta, registers_per_thread;
    uint32_t register_unit; /* allocation granularity: registers allocated to a warp at a time */
    uint32_t partitions;    /* sub-cores; each has an equal part of the registers */
    /* number of partitions that the launch check of a block's registers assumes; 0: not given, use `partitions` */
    uint32_t launch_partitions;
    uint32_t shared_bytes_per_sm, shared_bytes_per_cta, shared_reserved_bytes_per_cta, shared_unit_bytes;
    uint32_t carveout_bytes[HD_GPU_CARVEOUTS], carveout_count; /* ascending; none if shared memory has a fixed size */
} hd_gpu_limits;

typedef struct hd_gpu {
    const char *name, *summary;
    uint32_t compute_major, compute_minor;
    uint32_t address_bits; /* 32: all memory lies below 4 GB; 64 */
    hd_gpu_limits limits;
    uint32_t register_banks;                         /* 0: not given */
    hd_register_file_design designs[HD_GPU_DESIGNS]; /* in the order of the description file */
    uint32_t design_count;
    hd_energy_figure energies[HD_ENERGY_COUNT];
    hd_machine machine; /* what the cycle-level model needs */
    hd_yaml *yaml;      /* owns all strings; NULL: no GPU has the name */
    bool valid;         /* false: errors were reported */
} hd_gpu;

/* Loads a built-in description ("sm_80", "pascal-titan-x"; compute capabilities also as sm_90a, compute_90, 90, 9.0) or
 * a file: a name that ends in .yaml or .yml or contains a slash. Never NULL: check `valid`. Free it after the
 * diagnostics were printed, because they refer to it. */
hd_gpu *hd_gpu_load(const char *name, hd_diagnostics *diagnostics);
/* The same, of which the file may be a given one. */
hd_gpu *hd_gpu_load_given(const char *name, const hd_given_files *given, hd_diagnostics *diagnostics);
/* Changes values of a valid description: "timing.core.collectors=8" each, a path of keys and a YAML value. false:
 * errors were reported, and the description is no longer valid. */
bool hd_gpu_set(hd_gpu *gpu, const char *const *settings, uint32_t count);
void hd_gpu_free(hd_gpu *gpu);

/* The name of the built-in description of sm_`target`, or of the next higher one, which also runs its code, or of the
 * newest one if the target is newer; *found is its number. */
const char *hd_gpu_name_for(uint32_t target, uint32_t *found);

/* Names of built-in descriptions with a section `timing`: "a, b". */
char *hd_gpu_names_with_timing(hd_arena *arena);

/* A built-in description. */
typedef struct hd_gpu_file {
    const char *name, *text;
    uint32_t length;
} hd_gpu_file;
extern const hd_gpu_file hd_gpu_files[];
extern const uint32_t hd_gpu_file_count;

#define HD_GPU_DEFAULT "pascal-titan-x"

#endif
