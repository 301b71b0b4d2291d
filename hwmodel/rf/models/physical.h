/* The allocator of an SM's physical registers: which are free, by bank and sub-array.
 *
 * A physical register is a row of a bank. A bank has sub-arrays of equal size; a sub-array is power-gated while no
 * register in it is allocated. Policies:
 *
 *   first  the lowest free row of a powered sub-array; if all are full, the lowest gated sub-array is woken up
 *   robin  the next free row after the one allocated last, so that registers wear evenly
 *
 * The caller tries the next bank if a bank is full, and does not allocate if the file is full.
 *
 * O(1) to release; to allocate, the words of a bit map of the bank (64 registers or 64 sub-arrays each).
 */
#ifndef HD_HWMODEL_RF_PHYSICAL_H
#define HD_HWMODEL_RF_PHYSICAL_H

#include "hwmodel/rf/technique.h"

typedef struct hd_physical_register {
    uint64_t accesses;
    uint32_t owners; /* registers of warps that are mapped to it, counted by the caller: 1 at most */
    bool touched;    /* allocated since the launch began */
} hd_physical_register;

typedef HD_ARRAY(uint64_t) hd_bit_map;
typedef struct hd_physical_bank {
    hd_bit_map free;                          /* by row */
    hd_bit_map roomy;                         /* by sub-array: powered, with a free row */
    hd_bit_map gated;                         /* by sub-array: power-gated */
    hd_u32_array used;                        /* by sub-array */
    HD_ARRAY(uint64_t) awake;                 /* by sub-array, for the caller: time from which it has power */
    HD_ARRAY(hd_physical_register) registers; /* by row */
    uint32_t open;                            /* the first row of the lowest sub-array in `roomy`; HD_NONE: none */
    uint32_t next;                            /* robin: the row at which a search begins */
} hd_physical_bank;

typedef struct hd_physical_file {
    hd_u32_array subarray_of; /* by row: saves a division */
    hd_physical_bank *banks;
    uint32_t bank_count, subarrays, rows; /* sub-arrays of a bank, rows of a sub-array */
    uint32_t capacity;                    /* registers; the rows may be a few more */
    /* registers allocated; sub-arrays powered; wake-ups of sub-arrays */
    uint32_t taken, powered, wakeups;
    /* time: set by the caller; sub-array time powered and gated, up to `since` */
    uint64_t time, on, off, since;
    bool robin;
    bool unmarked; /* a planted fault: allocated rows stay free in the map */
} hd_physical_file;

/* Begins with all registers free, spread evenly over banks and sub-arrays. */
void hd_physical_start(hd_physical_file *file, uint32_t registers, uint32_t banks, uint32_t subarrays);
void hd_physical_free(hd_physical_file *file);
/* Its row; HD_NONE: the bank or the file is full. */
static inline uint32_t hd_physical_allocate(hd_physical_file *file, uint32_t bank);
static inline uint32_t hd_physical_free_count(const hd_physical_file *file) { return file->capacity - file->taken; }
static inline void hd_physical_release(hd_physical_file *file, uint32_t bank, uint32_t row);
static inline hd_physical_register *hd_physical_at(const hd_physical_file *file, uint32_t bank, uint32_t row)
{
    return &file->banks[bank].registers.items[row];
}
static inline uint32_t hd_physical_count(const hd_physical_file *file)
{
    return file->bank_count * file->subarrays * file->rows;
}
uint32_t hd_physical_touched(const hd_physical_file *file); /* registers allocated since the launch began */
uint64_t hd_physical_squares(const hd_physical_file *file); /* of their accesses, summed; HD_UNCOUNTED: too many */
/* Brings `on` and `off` up to date. */
static inline void hd_physical_finalize(hd_physical_file *file)
{
    uint64_t more = file->time - file->since;
    file->on += more * file->powered;
    file->off += more * (file->subarrays * file->bank_count - file->powered);
    file->since = file->time;
}

/* ---- the hot path: no sub-array becomes full or empty ------------------------------------------------------------ */

/* The row to allocate, by a full search; HD_NONE: none. */
uint32_t hd_physical_find(hd_physical_file *file, uint32_t bank);
/* Call after the sub-array's first or last row was allocated. */
void hd_physical_filled(hd_physical_file *file, hd_physical_bank *bank, uint32_t subarray);
/* Call after its last register was released, or one of a full sub-array. */
void hd_physical_emptied(hd_physical_file *file, hd_physical_bank *bank, uint32_t subarray);

/* The lowest free row from bank->open on; there is one. */
static inline uint32_t hd_physical_open(const hd_physical_bank *bank)
{
    uint32_t word = bank->open / 64;
    uint64_t bits = bank->free.items[word] & ~0ull << bank->open % 64;
    while (!bits)
        bits = bank->free.items[++word];
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* robin: the next free row, if it is in the same word of the map; HD_NONE: hd_physical_find searches. */
static inline uint32_t hd_physical_next(hd_physical_bank *bank, bool stays)
{
    uint32_t word = bank->next / 64;
    uint64_t bits = word < bank->free.count ? bank->free.items[word] & ~0ull << bank->next % 64 : 0;
    if (!bits)
        return HD_NONE;
    uint32_t row = word * 64 + (uint32_t)__builtin_ctzll(bits);
    bank->next = row + !stays;
    return row;
}

/* Marks the row allocated. */
static inline void hd_physical_mark(hd_physical_file *file, uint32_t b, uint32_t row)
{
    hd_physical_bank *bank = &file->banks[b];
    bank->free.items[row / 64] &= ~(1ull << row % 64);
    file->taken++;
    uint32_t subarray = file->subarray_of.items[row], used = ++bank->used.items[subarray];
    if (used == 1 || used == file->rows)
        hd_physical_filled(file, bank, subarray);
}

static inline uint32_t hd_physical_allocate(hd_physical_file *file, uint32_t b)
{
    hd_physical_bank *bank = &file->banks[b];
    if (!hd_physical_free_count(file))
        return HD_NONE;
    uint32_t row = file->robin             ? hd_physical_next(bank, HD_PLANTED(file->unmarked))
                   : bank->open != HD_NONE ? hd_physical_open(bank)
                                           : HD_NONE;
    if (row == HD_NONE)
        row = hd_physical_find(file, b);
    if (row == HD_NONE)
        return HD_NONE;
    bank->registers.items[row].touched = true;
    if (!HD_PLANTED(file->unmarked))
        hd_physical_mark(file, b, row);
    return row;
}

static inline void hd_physical_release(hd_physical_file *file, uint32_t b, uint32_t row)
{
    hd_physical_bank *bank = &file->banks[b];
    if (HD_PLANTED(file->unmarked))
        return;
    bank->free.items[row / 64] |= 1ull << row % 64;
    file->taken--;
    uint32_t subarray = file->subarray_of.items[row], used = --bank->used.items[subarray];
    if (used == 0 || used + 1 == file->rows)
        hd_physical_emptied(file, bank, subarray);
}

#endif
