/* The state of LARF's model: registers, the physical registers that they are mapped to, and the table. Private to
 * larf*.c. */
#ifndef HD_HWMODEL_RF_LARF_WORK_H
#define HD_HWMODEL_RF_LARF_WORK_H

#include "hwmodel/rf/models/larf_table.h"
#include "hwmodel/rf/models/physical.h"
#include "hwmodel/rf/models/release_hints.h"
#include "hwmodel/rf/technique.h"

enum {
    LARF_REGISTERS = 1024,  /* where the size of the file is not known */
    LARF_BANKS = 4,         /* the same */
    LARF_FLAG_ENTRIES = 10, /* of the release-flag cache, as in RFV */
    LARF_FLAG_BITS = 54,
    LARF_SLOT_BITS = 2 * 32 * 32, /* of the merging slot: two warp registers */
    LARF_WORD_BYTES = 4,
    LARF_MOST_WORDS = 8, /* of a load */
};

typedef struct larf_mapping { /* of a register */
    uint32_t physical;        /* 1 + its physical register; 0: none */
    uint32_t version;         /* of the value that the mapping was made for */
    uint32_t below;           /* 1 + register of a frame below of the same name, whose value is on the stack; 0: none */
} larf_mapping;

typedef struct larf_warp {
    HD_ARRAY(larf_mapping) mappings; /* by index in the warp */
    hd_u32_array top;                /* by word: 1 + index of the register of that name in the highest frame */
    uint32_t lanes;                  /* that it began with; 0: it has not issued */
    uint32_t flags;                  /* 1 + address of the pir word that it has */
    bool acquired;                   /* its last memory access acquires: entries may have come since that are older */
} larf_warp;

typedef struct larf_physical {
    uint32_t users, version; /* registers that are mapped to it; how often it was written */
    uint32_t load;           /* number of the instruction that wrote it last */
    uint16_t bank;           /* for the warp that mapped it first */
    uint8_t home;            /* 1 + slot of that warp */
} larf_physical;

typedef struct hd_larf {
    hd_rf_model model;
    hd_release_hints hints;
    const hd_rf_module *code;
    HD_ARRAY(larf_warp) warps; /* by slot */
    hd_rf_file claims;         /* of the values that registers were mapped for */
    hd_physical_file file;
    HD_ARRAY(larf_physical) physical;
    hd_larf_table table;
    uint32_t entries, banks, flag_cache[LARF_FLAG_ENTRIES];
    bool las, perfect, instant, direct, deaf, early, full;
    bool fits; /* the registers of all resident thread blocks: no warp ever waits for one */
} hd_larf;

/* ---- larf_places.c ----------------------------------------------------------------------------------------------- */

/* All physical registers are free, and the table is empty. */
void hd_larf_places_start(hd_larf *m, uint32_t registers, uint32_t banks);
/* A free register, in the bank that the word has without renaming or the next one that is not full. HD_NONE: the file
 * is full, which m->full says from then on. */
uint32_t hd_larf_take(hd_larf *m, const hd_rf_warp *warp, uint32_t word);
void hd_larf_unmap(hd_larf *m, larf_mapping *at);
void hd_larf_attach(hd_larf *m, larf_mapping *at, uint32_t physical); /* which counts it as a user already */
/* A register of the frame on top is to be mapped, and is not; it is mapped no more. */
void hd_larf_begin_mapping(hd_larf *m, const hd_rf_warp *warp, uint32_t index);
void hd_larf_end_mapping(hd_larf *m, const hd_rf_warp *warp, uint32_t index);

static inline larf_warp *larf_warp_of(hd_larf *m, const hd_rf_warp *warp) { return &m->warps.items[warp->slot]; }
static inline larf_physical *larf_physical_of(hd_larf *m, const larf_mapping *at)
{
    return &m->physical.items[at->physical - 1];
}

#endif
