/* Physical registers of an SM that are given away and taken while it runs: which are free, by bank and sub-array.
 *
 * A physical register has a bank and a place in it; a bank has sub-arrays of equal size, whose power is off while
 * nothing is in them. Free ones are found in
 *
 *   first  a sub-array that has power, the lowest place; only if none of those has room, the lowest without power is
 *          woken
 *   robin  the next free place behind the one taken last: registers wear evenly
 *
 * A file that is full has no register to take: who takes one waits before. Where only the bank is full, the next one
 * that is not has one.
 *
 * O(1) to give away; to take, the words of a bit map of the bank (64 registers or 64 sub-arrays each).
 */
#ifndef HD_HWMODEL_RF_PHYSICAL_H
#define HD_HWMODEL_RF_PHYSICAL_H

#include "hwmodel/rf/technique.h"

typedef struct hd_physical_register {
    uint64_t accesses;
    uint32_t owners; /* registers of warps that have it, as who takes and gives counts them: 1 at most */
    bool touched;    /* since the launch began */
} hd_physical_register;

typedef HD_ARRAY(uint64_t) hd_bit_map;
typedef struct hd_physical_bank {
    hd_bit_map free;                          /* by place */
    hd_bit_map roomy;                         /* by sub-array: has power and room */
    hd_bit_map dark;                          /* by sub-array: without power */
    hd_u32_array used;                        /* by sub-array */
    HD_ARRAY(hd_physical_register) registers; /* by place */
    uint32_t open;                            /* the first place of the lowest sub-array in `roomy`; HD_NONE: none */
    uint32_t next;                            /* robin: the place to look at first */
} hd_physical_bank;

typedef struct hd_physical_file {
    hd_u32_array subarray_of; /* by place: no division each time */
    hd_physical_bank *banks;
    uint32_t bank_count, subarrays, rows; /* sub-arrays of a bank, places of a sub-array */
    uint32_t capacity;                    /* registers; the last places may be more than there are */
    /* registers in use; sub-arrays with power; of these, how often one was woken */
    uint32_t taken, lit, woken;
    /* who takes and gives tells the time; what sub-arrays with power and without had of it until `since` */
    uint64_t time, on, off, since;
    bool robin;
    bool unmarked; /* for tests: what is taken stays free in the map */
} hd_physical_file;

/* Empty, with so many registers, as many in each bank and sub-array. */
void hd_physical_start(hd_physical_file *file, uint32_t registers, uint32_t banks, uint32_t subarrays);
void hd_physical_free(hd_physical_file *file);
/* its place; HD_NONE: the bank, or the file, is full */
static inline uint32_t hd_physical_take(hd_physical_file *file, uint32_t bank);
static inline uint32_t hd_physical_free_count(const hd_physical_file *file) { return file->capacity - file->taken; }
static inline void hd_physical_give(hd_physical_file *file, uint32_t bank, uint32_t place);
static inline hd_physical_register *hd_physical_at(const hd_physical_file *file, uint32_t bank, uint32_t place)
{
    return &file->banks[bank].registers.items[place];
}
static inline uint32_t hd_physical_count(const hd_physical_file *file)
{
    return file->bank_count * file->subarrays * file->rows;
}
uint32_t hd_physical_touched(const hd_physical_file *file); /* registers that were taken since the launch began */
uint64_t hd_physical_squares(const hd_physical_file *file); /* sum of the squares of their accesses */
/* Brings `on` and `off` up to date. */
static inline void hd_physical_finalize(hd_physical_file *file)
{
    uint64_t more = file->time - file->since;
    file->on += more * file->lit;
    file->off += more * (file->subarrays * file->bank_count - file->lit);
    file->since = file->time;
}

/* ---- the hot path: a sub-array that stays roomy ------------------------------------------------------------------ */

/* the place to take, where it is none of these two; HD_NONE: none */
uint32_t hd_physical_find(hd_physical_file *file, uint32_t bank);
/* by its first or last register */
void hd_physical_filled(hd_physical_file *file, hd_physical_bank *bank, uint32_t subarray);
/* of its last one, or one that was full */
void hd_physical_emptied(hd_physical_file *file, hd_physical_bank *bank, uint32_t subarray);

/* The lowest free place from bank->open on; there is one. */
static inline uint32_t hd_physical_open(const hd_physical_bank *bank)
{
    uint32_t word = bank->open / 64;
    uint64_t bits = bank->free.items[word] & ~0ull << bank->open % 64;
    while (!bits)
        bits = bank->free.items[++word];
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* robin: the next free place, if it is not far; HD_NONE: hd_physical_find finds it. */
static inline uint32_t hd_physical_next(hd_physical_bank *bank, bool stays)
{
    uint32_t word = bank->next / 64;
    uint64_t bits = word < bank->free.count ? bank->free.items[word] & ~0ull << bank->next % 64 : 0;
    if (!bits)
        return HD_NONE;
    uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
    bank->next = place + !stays;
    return place;
}

/* Not free any more. */
static inline void hd_physical_mark(hd_physical_file *file, uint32_t b, uint32_t place)
{
    hd_physical_bank *bank = &file->banks[b];
    bank->free.items[place / 64] &= ~(1ull << place % 64);
    file->taken++;
    uint32_t subarray = file->subarray_of.items[place], used = ++bank->used.items[subarray];
    if (used == 1 || used == file->rows)
        hd_physical_filled(file, bank, subarray);
}

static inline uint32_t hd_physical_take(hd_physical_file *file, uint32_t b)
{
    hd_physical_bank *bank = &file->banks[b];
    if (!hd_physical_free_count(file))
        return HD_NONE;
    uint32_t place = file->robin             ? hd_physical_next(bank, file->unmarked)
                     : bank->open != HD_NONE ? hd_physical_open(bank)
                                             : HD_NONE;
    if (place == HD_NONE)
        place = hd_physical_find(file, b);
    if (place == HD_NONE)
        return HD_NONE;
    bank->registers.items[place].touched = true;
    if (!file->unmarked)
        hd_physical_mark(file, b, place);
    return place;
}

static inline void hd_physical_give(hd_physical_file *file, uint32_t b, uint32_t place)
{
    hd_physical_bank *bank = &file->banks[b];
    if (file->unmarked)
        return;
    bank->free.items[place / 64] |= 1ull << place % 64;
    file->taken--;
    uint32_t subarray = file->subarray_of.items[place], used = --bank->used.items[subarray];
    if (used == 0 || used + 1 == file->rows)
        hd_physical_emptied(file, bank, subarray);
}

#endif
