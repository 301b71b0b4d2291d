/* Physical registers of an SM that are given away and taken while it runs: which are free, by bank and sub-array.
 *
 * A physical register has a bank and a place in it; a bank has sub-arrays of equal size, whose power is off while nothing is in them. Free ones are
 * found in
 *
 *   first  a sub-array that has power, the lowest place; only if none of those has room, the lowest without power is woken
 *   robin  the next free place behind the one taken last: registers wear evenly
 *
 * A bank that is full grows by a sub-array, all banks with it: what a file of that size could not hold shows in the number of registers.
 *
 * O(1) to give away; to take, the words of a bit map of the bank (64 registers or 64 sub-arrays each).
 */
#ifndef HD_HWMODEL_RF_PHYSICAL_H
#define HD_HWMODEL_RF_PHYSICAL_H

#include "hwmodel/rf/technique.h"

typedef struct hd_physical_register {
    uint64_t accesses;
    uint32_t owners;  /* registers of warps that have it, as who takes and gives counts them: 1 at most */
    uint32_t touched; /* since the launch began */
    uint32_t bank, place, subarray; /* where it is: no division each time */
} hd_physical_register;

typedef HD_ARRAY(uint64_t) hd_bit_map;
typedef struct hd_physical_bank {
    hd_bit_map free;  /* by place */
    hd_bit_map roomy; /* by sub-array: has power and room */
    hd_bit_map dark;  /* by sub-array: without power */
    hd_u32_array used; /* by sub-array */
    uint32_t open;    /* the lowest sub-array in `roomy`; HD_NONE: none */
    uint32_t next;    /* robin: the place to look at first */
} hd_physical_bank;

typedef struct hd_physical_file {
    HD_ARRAY(hd_physical_register) registers; /* number = place * banks + bank */
    hd_physical_bank *banks;
    uint32_t bank_count, subarrays, rows; /* sub-arrays of a bank, places of a sub-array */
    uint32_t taken, lit, woken, touched;  /* registers in use; sub-arrays with power; of these, how often one was woken; registers used at all */
    bool robin;
    bool unmarked; /* for tests: what is taken stays free in the map */
} hd_physical_file;

/* Empty, with at least `registers`, as many in each bank and sub-array. */
void hd_physical_start(hd_physical_file *file, uint32_t registers, uint32_t banks, uint32_t subarrays);
void hd_physical_free(hd_physical_file *file);
static inline uint32_t hd_physical_take(hd_physical_file *file, uint32_t bank);
static inline void hd_physical_give(hd_physical_file *file, uint32_t number);

/* ---- the hot path: a sub-array that stays roomy ---- */

uint32_t hd_physical_find(hd_physical_file *file, uint32_t bank); /* the place to take; there is one */
void hd_physical_filled(hd_physical_file *file, hd_physical_bank *bank, uint32_t subarray);  /* by its first or last register */
void hd_physical_emptied(hd_physical_file *file, hd_physical_bank *bank, uint32_t subarray); /* of its last one, or one that was full */

static inline uint32_t hd_physical_take(hd_physical_file *file, uint32_t b)
{
    hd_physical_bank *bank = &file->banks[b];
    uint32_t place = hd_physical_find(file, b), number = place * file->bank_count + b;
    hd_physical_register *r = &file->registers.items[number];
    file->touched += !r->touched;
    r->touched = 1;
    if (file->unmarked)
        return number;
    bank->free.items[place / 64] &= ~(1ull << place % 64);
    bank->next = place + 1;
    file->taken++;
    uint32_t used = ++bank->used.items[r->subarray];
    if (used == 1 || used == file->rows)
        hd_physical_filled(file, bank, r->subarray);
    return number;
}

static inline void hd_physical_give(hd_physical_file *file, uint32_t number)
{
    const hd_physical_register *r = &file->registers.items[number];
    hd_physical_bank *bank = &file->banks[r->bank];
    if (file->unmarked)
        return;
    bank->free.items[r->place / 64] |= 1ull << r->place % 64;
    file->taken--;
    uint32_t used = --bank->used.items[r->subarray];
    if (used == 0 || used + 1 == file->rows)
        hd_physical_emptied(file, bank, r->subarray);
}

#endif
