/* Operand slots of machine code, and the reuse cache that keeps what was read in them.
 *
 * The sources of an instruction that are no predicates are those of slots A, B and C, in the order of the text. A slot
 * holds general registers, or something that needs no register bank.
 *
 * Reuse cache (sm_50 and later): `.reuse` keeps a register in its slot until the warp's next instruction that reads a
 * register in that slot; since Volta, from the same bank (Gray, maxas; Huerta et al., MICRO 2025; measured on an H200,
 * docs/gpu-measurements.md), and pairs of registers (slots of 8 bytes: Jia et al., arXiv 1804.06826). An instruction
 * with the yield hint loses what is kept, and assemblers never give both.
 */
#ifndef HD_IR_MACHINE_SLOTS_H
#define HD_IR_MACHINE_SLOTS_H

#include "ir/ir.h"

enum { HD_MACHINE_SLOTS = 3, HD_MACHINE_VOLTA = 70 };

typedef struct hd_machine_slot {
    uint8_t words; /* general registers; 0: none */
    uint8_t number;
    bool flagged; /* .reuse */
} hd_machine_slot;

typedef struct hd_machine_slots { /* of an instruction */
    hd_machine_slot at[HD_MACHINE_SLOTS];
} hd_machine_slots;

/* All empty for an instruction whose operands are not known. From the text, or hd_machine_function.slots. */
hd_machine_slots hd_machine_slots_of(const hd_function *function, uint32_t ordinal);

typedef struct hd_reuse_cache {
    uint16_t kept[HD_MACHINE_SLOTS][2]; /* by slot and bank: register + 1; 0: nothing */
} hd_reuse_cache;

static inline uint32_t hd_reuse_bank(uint32_t generation, uint32_t number)
{
    return generation >= HD_MACHINE_VOLTA ? number % 2 : 0;
}

static inline bool hd_reuse_cache_has(const hd_reuse_cache *cache, uint32_t slot, uint32_t generation, uint32_t number)
{
    return cache->kept[slot][hd_reuse_bank(generation, number)] == number + 1;
}

/* An instruction reads its operands: returns a bit for each slot that the cache serves, and keeps what is flagged. */
uint32_t hd_reuse_cache_read(hd_reuse_cache *cache, uint32_t generation, const hd_machine_slots *slots);
/* A register is written. */
void hd_reuse_cache_forget(hd_reuse_cache *cache, uint32_t generation, uint32_t number);

#endif
