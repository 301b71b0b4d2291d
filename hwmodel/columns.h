/* Columns: what is known of an executed instruction besides that it executed. A producer computes and a recorder keeps
 * only those that some reader requests; models request theirs in hd_rf_ops.columns. */
#ifndef HD_HWMODEL_COLUMNS_H
#define HD_HWMODEL_COLUMNS_H

#include <stdint.h>

enum {                          /* columns that a sink may request; others are NULL */
       HD_COLUMN_ADDRESSES = 1, /* 32 lane addresses of memory instructions */
       /* values that the instruction writes: words[slot][lane], slot as in hd_insn_destination_slot, 32-bit words in
        * order */
       HD_COLUMN_RESULTS = 2,
       HD_COLUMN_WIDTHS = 4,   /* the number of bytes that each of these words needs: hd_width */
       HD_COLUMN_BARRIERS = 8, /* ARRIVE, OPEN, PASS */
       HD_COLUMN_LOADED = 16,  /* as RESULTS, of instructions that have addresses */
       HD_COLUMN_LANES = 32,   /* where the run has a faulty lane (lane_fault.h): what it does to an instruction */
};

/* By thread of the warp. The lane executes only one of them, unless it repeats what others do. */
typedef struct hd_lane_effect {
    uint32_t wrong;     /* the thread whose result, or address, it changed; else 0 */
    uint32_t sensitive; /* threads whose result would be wrong if that lane computed it; of a fault that flips, none */
    uint32_t lane;      /* the faulty one */
    uint32_t unused;
} hd_lane_effect;

/* A word needs as many bytes as its widest lane by sign extension, 1 to 4. Inactive lanes count with their last value
 * in that word of the register file (ir/storage.h), under whatever name it was written; lanes never written in this
 * frame do not count. Values written by a call, parameters and results, are unknown: 4 bytes. */
typedef struct hd_width {
    /* bytes needed by the lanes written; bytes needed by all lanes that hold a value afterwards */
    uint8_t written, held;
} hd_width;

#endif
