/* The model of RFV (release.c), for the model that extends it: GPU-Shrink (shrink.c). Its hooks are those of
 * hd_rf_release_ops. */
#ifndef HD_HWMODEL_RF_RELEASE_H
#define HD_HWMODEL_RF_RELEASE_H

#include "hwmodel/rf/models/release_hints.h"
#include "hwmodel/rf/models/release_shared.h"
#include "hwmodel/rf/technique.h"

typedef struct hd_release_warp {
    HD_ARRAY(bool) mapped; /* by register index in the warp: it has a physical register, or is spilled */
    hd_u32_array names;    /* by frame */
    uint32_t flags;        /* 1 + address of the pir word that it has */
} hd_release_warp;

typedef struct hd_release {
    hd_rf_model model;
    hd_release_hints hints;
    HD_ARRAY(hd_release_warp *) warps; /* by slot */
    hd_rf_file values;                 /* what physical registers hold, by warp and register index */
    hd_release_shared shared;
    uint32_t table_bytes, banks; /* banks: HD_NONE: as many as the machine has */
    uint32_t missing;            /* percent of the GPU's register file that this one lacks */
    bool all_static, early;
    bool late;                 /* words that are not renamed are mapped at their first write, too; parameters are not */
    uint32_t kernel_registers; /* of a thread, of the launch */
    hd_rf_wrong wrong;         /* with what warps share */
    uint32_t wrong_word;
    bool fits; /* the registers of all resident thread blocks, in this launch: no warp ever waits */
    const hd_rf_module *code;
} hd_release;

extern const hd_rf_ops hd_rf_release_ops;

/* Opens a zeroed structure. NULL, or why the model does not apply; hd_release_close in any case. */
const char *hd_release_open(hd_release *r, const hd_rf_module *code, const char *options);
void hd_release_close(hd_release *r);

static inline hd_release_warp *hd_release_warp_of(hd_release *r, const hd_rf_warp *warp)
{
    return r->warps.items[warp->slot];
}

/* An operation on what warps share. A failure is reported by the instruction in progress, or by the next one. */
void hd_release_do(hd_release *r, hd_rf_warp *warp, hd_release_operation what, uint32_t index, uint32_t n);
/* Maps the word at the index in the warp to a physical register; spilled: its value is in memory, and it has none. */
void hd_release_map(hd_release *r, hd_rf_warp *warp, uint32_t index, bool spilled);
/* Physical registers that the instruction would map. */
uint32_t hd_release_wanted(hd_release *r, const hd_rf_step *step);

#endif
