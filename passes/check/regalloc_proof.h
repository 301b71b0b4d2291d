/* Shared declarations of the allocation's verification. Private to passes/check/regalloc*.c. */
#ifndef HD_PASSES_CHECK_REGALLOC_PROOF_H
#define HD_PASSES_CHECK_REGALLOC_PROOF_H

#include "base/bitset.h"
#include "ir/architected.h"
#include "ir/cfg.h"
#include "ir/constant_bank.h"

typedef enum hd_proof_effect_kind {
    HD_PROOF_READ,  /* requires `value` in `location` */
    HD_PROOF_WRITE, /* a new `value` in `location` */
    HD_PROOF_MERGE, /* a new `value` in some lanes or bits of `location`, which must hold the old value */
    HD_PROOF_COPY,  /* `location` gets the contents of `from`, if the value has at most `bits` bits */
    HD_PROOF_MAKE,  /* `value`, a constant, is computed again in `location` */
    HD_PROOF_SAME,  /* after MAKE: `value` is another register of that constant */
    HD_PROOF_GONE,  /* the instruction that wrote `value`, a constant, was removed */
} hd_proof_effect_kind;

typedef struct hd_proof_effect {
    uint8_t kind;
    uint8_t bits;
    uint32_t location, value, from;
} hd_proof_effect;

typedef struct hd_slot {
    uint32_t offset, bytes;
} hd_slot;

typedef struct hd_proof {
    hd_function *original, *allocated;
    hd_diagnostics *diagnostics;
    hd_arena arena;
    const hd_cfg *cfg;      /* of the allocated function */
    uint32_t *effect_first; /* by ordinal, plus one */
    HD_ARRAY(hd_proof_effect) effects;
    HD_ARRAY(hd_slot) slots;
    uint32_t names, locations; /* names come before slots */
    uint32_t name_at[HD_PHYSICAL_CLASSES]
                    [HD_GENERAL_REGISTERS + 1]; /* register of the allocated function, or HD_NONE */
    uint32_t slot_symbol;
    const bool *bank;      /* by register of the allocated function: a bank operand; NULL: none */
    uint32_t *definitions; /* by original register: number of operands that define it */
    uint32_t *ordinal_of;  /* by allocated ordinal and the end: the next original ordinal */
    uint32_t **in;         /* by block: by location, the value that it holds or HD_NONE; NULL: not reached yet */
    const bool *collected; /* by register of the allocated function: it names a memory operand; NULL: none */
    hd_bitset doubtful;    /* original registers that the first dataflow did not prove at some read */
    bool failed;
} hd_proof;

void hd_proof_fail(hd_proof *p, const hd_instruction *insn, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Matches the instructions by id and records their effects on locations (passes/check/regalloc_match.c). */
void hd_proof_match(hd_proof *p);
/* Checks that nothing accesses registers in flight (passes/check/regalloc_flight.c). */
void hd_proof_flights(hd_proof *p);

/* The class of a name of the allocated function. A memory operand has no physical register and may have any type. */
static inline hd_physical_class hd_proof_class_at(const hd_proof *p, uint32_t location)
{
    if (p->collected && p->collected[location])
        return hd_physical_class_of((hd_type)p->allocated->registers.items[location].type);
    return (hd_physical_class)hd_register_physical(p->allocated, location).class;
}

/* Whether the location is a bank operand: a register without a physical name, which nothing overlaps, of the value's
 * width. */
static inline bool hd_proof_is_bank(const hd_proof *p, uint32_t location, uint32_t value)
{
    return p->bank && p->bank[location] &&
           hd_types[p->allocated->registers.items[location].type].bits ==
               hd_types[p->original->registers.items[value].type].bits;
}

static inline hd_physical_class hd_proof_class_of(const hd_proof *p, uint32_t value)
{
    return hd_physical_class_of((hd_type)p->original->registers.items[value].type);
}

#endif
