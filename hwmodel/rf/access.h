/* Accesses: each use of a structure that holds register data, or names of registers, by an instruction.
 *
 * A model emits the accesses of an instruction into a sink, in order; the driver of the model (technique.h) counts or
 * times them. Counters of accesses are derived from them by one table (access.def), and energy from the counters.
 *
 *   uint16_t read = hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE, .kind = HD_RF_READ, .lanes = lanes});
 *   hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_CACHE, .kind = HD_RF_FILL, .after = read, .lanes = lanes});
 *
 * is a copy from the file to a cache: the FILL must wait for the READ.
 *
 * A SPILL to MEMORY, and a FILL from it, are of a whole warp register, in memory that is reserved for that: `bank` is
 * the number of its line, of the SM. A cycle-level SM writes and reads these lines in its memory system.
 */
#ifndef HD_HWMODEL_RF_ACCESS_H
#define HD_HWMODEL_RF_ACCESS_H

#include "base/array.h"
#include "hwmodel/rf/counters.h"
#include <assert.h>

typedef enum hd_structure {
#define HD_RF_STRUCTURE(id, name) HD_STRUCTURE_##id,
#include "hwmodel/rf/structures.def"
#undef HD_RF_STRUCTURE
    HD_STRUCTURE_COUNT
} hd_structure;
extern const char *const hd_structure_names[HD_STRUCTURE_COUNT]; /* "the register file" */

typedef enum hd_access_kind {
    HD_RF_READ,  /* an operand is read, or a copy to elsewhere */
    HD_RF_WRITE, /* a result is written, or a copy from elsewhere */
    HD_RF_FILL,  /* a copy comes in from the file */
    HD_RF_SPILL, /* a copy is read out, to be written to the file */
    HD_RF_LOOKUP,
    HD_RF_KINDS
} hd_access_kind;

typedef enum hd_access_cause { /* distinguishes accesses of one structure and kind */
                               HD_CAUSE_NONE,
                               HD_CAUSE_PREFETCH,     /* an interval's registers */
                               HD_CAUSE_REACTIVATION, /* of a warp that takes turns again */
                               HD_CAUSE_WRITE_BACK,
                               HD_CAUSE_RELOCATION,   /* lanes that are not written move with those that are */
                               HD_CAUSE_EXTENDED_SET, /* of the register file */
                               HD_CAUSE_STT,          /* the register file is of STT-RAM */
                               HD_CAUSE_GATED,        /* part of the structure has power gates */
                               HD_CAUSE_COUNT,
                               HD_CAUSE_ANY = HD_CAUSE_COUNT /* of rows of access.def */
} hd_access_cause;

enum { HD_RF_NO_BANK = UINT16_MAX };

/* Zero means: no operand, after no other access, bank 0, the usual time of the structure. */
typedef struct hd_rf_access {
    uint8_t structure, kind, cause;
    uint8_t home;     /* 1 + slot of the warp whose banks are meant; 0: those of the instruction's warp */
    uint16_t cycles;  /* for which it occupies the port of the bank; 0: as the driver is configured */
    uint16_t operand; /* that it serves: hd_access_source, hd_access_result */
    uint16_t after;   /* 1 + the access of the same sink that must be complete first */
    uint16_t bank;    /* of the structure, modulo the number of its banks; HD_RF_NO_BANK: it occupies none */
    uint32_t lanes;
    uint32_t awaits; /* number of an instruction whose results must be there first (hd_access_sink.number); 0: none */
} hd_rf_access;

enum { HD_ACCESS_RESULT = 1 << 15 };
static inline uint16_t hd_access_source(uint32_t source) { return (uint16_t)(source + 1); }
static inline uint16_t hd_access_result(uint32_t destination)
{
    return (uint16_t)(HD_ACCESS_RESULT | (destination + 1));
}

typedef enum hd_rf_wrong {
    HD_RF_PROVED,
    HD_RF_STALE,      /* a structure holds an older value */
    HD_RF_FOREIGN,    /* a structure holds another register */
    HD_RF_UNMOVED,    /* a structure never got these lanes of the register */
    HD_RF_MISSING,    /* no structure delivers it */
    HD_RF_SHARED,     /* the storage of a register was given to another one */
    HD_RF_FULL,       /* the register file has no free register, and the warp cannot wait for one */
    HD_RF_OVERFLOW,   /* a warp wrote more often than serials can count */
    HD_RF_UNVERIFIED, /* the instruction needs a result that is to be verified first */
} hd_rf_wrong;

typedef struct hd_rf_failure {
    hd_rf_wrong wrong;
    uint8_t structure;  /* hd_structure, of a STALE, FOREIGN or UNMOVED value */
    uint32_t warp, cta; /* of the launch */
    uint32_t function, instruction, word;
    uint32_t lanes; /* 0: the whole register, such as one whose storage is shared */
} hd_rf_failure;

typedef struct hd_rf_repeat { /* an instruction that is executed again, to compare its results */
    uint32_t function, instruction;
} hd_rf_repeat;

/* What a model does for one instruction, one switch of warps, or one idle slot. */
typedef struct hd_access_sink {
    uint64_t now;    /* the driver's clock: instructions issued before this one, or cycles */
    uint32_t number; /* of the instruction, from 1 on, for `awaits`; 0 where results are there at once */
    HD_ARRAY(hd_rf_access) accesses;
    hd_u32_array delivered;                       /* by source: lanes */
    uint32_t left_out_operands, left_out_results; /* that the model leaves out of all counts */
    HD_ARRAY(hd_rf_repeat) repeats;               /* of idle_slot: each occupies its unit as the original did */
    uint8_t slots;         /* issue slots that instructions of the technique take; for drivers with cycles */
    uint8_t slots_reason;  /* why other instructions do not issue in them: hd_stall */
    bool skips_unit;       /* the results need no work of the unit, such as a memory access; for drivers with cycles */
    bool holds_warp;       /* the instruction, and the next one of its warp, wait for all accesses but those of results;
                              for drivers with cycles */
    hd_rf_failure failure; /* the first one */
} hd_access_sink;

void hd_access_sink_free(hd_access_sink *sink);
static inline void hd_access_sink_begin(hd_access_sink *sink, uint32_t sources)
{
    hd_array_clear(&sink->accesses);
    hd_array_clear(&sink->repeats);
    hd_array_reserve(&sink->delivered, sources);
    sink->delivered.count = sources;
    for (uint32_t s = 0; s < sources; s++)
        sink->delivered.items[s] = 0;
    sink->left_out_operands = sink->left_out_results = 0;
    sink->slots = sink->slots_reason = 0;
    sink->skips_unit = sink->holds_warp = false;
    sink->failure.wrong = HD_RF_PROVED;
}

/* 1 + the access, as `after` has it. */
static inline uint16_t hd_emit(hd_access_sink *sink, hd_rf_access access)
{
    hd_array_push(&sink->accesses, access);
    return (uint16_t)sink->accesses.count;
}

/* 1 + the counter that such an access counts in; 0: none. */
extern const uint8_t hd_access_counters[HD_STRUCTURE_COUNT][HD_RF_KINDS][HD_CAUSE_ANY + 1];

/* Counts the accesses of the sink, and the operands and results of its instruction. Operands that no read of the
 * register file serves are bypassed. */
static inline void hd_access_count(const hd_access_sink *sink, uint32_t operands, uint32_t results,
                                   uint64_t counters[HD_COUNTER_COUNT])
{
    uint32_t from_file = 0;
    for (const hd_rf_access *a = sink->accesses.items, *end = hd_array_at(&sink->accesses, sink->accesses.count);
         a < end; a++) {
        const uint8_t *counted = hd_access_counters[a->structure][a->kind];
        assert(counted[HD_CAUSE_ANY]);
        counters[counted[HD_CAUSE_ANY] - 1]++;
        if (a->cause && counted[a->cause])
            counters[counted[a->cause] - 1]++;
        from_file += a->structure == HD_STRUCTURE_FILE && a->kind == HD_RF_READ &&
                     (uint16_t)(a->operand - 1) < HD_ACCESS_RESULT - 1;
    }
    operands -= sink->left_out_operands;
    counters[HD_COUNTER_OPERANDS] += operands;
    counters[HD_COUNTER_BYPASSED] += operands - from_file;
    counters[HD_COUNTER_RESULTS] += results - sink->left_out_results;
}

/* Is it derived from accesses, or from the operands of instructions? Else it is an event, which the model counts. */
static inline bool hd_counter_derives(hd_counter counter)
{
    return counter == HD_COUNTER_OPERANDS || counter == HD_COUNTER_RESULTS || counter == HD_COUNTER_BYPASSED
#define HD_ACCESS_COUNTER(structure, kind, cause, counted) || counter == HD_COUNTER_##counted
#include "hwmodel/rf/access.def"
#undef HD_ACCESS_COUNTER
        ;
}

#endif
