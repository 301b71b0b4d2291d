/* Allocation and release of physical registers: see physical.h. */
#include "hwmodel/rf/models/physical.h"

/* ---- bit maps ---------------------------------------------------------------------------------------------------- */

static void extend(hd_bit_map *map, uint32_t bits)
{
    while (map->count * 64 < bits)
        hd_array_push(map, 0);
}

static inline void set_bit(hd_bit_map *map, uint32_t bit) { map->items[bit / 64] |= 1ull << bit % 64; }

static inline void clear_bit(hd_bit_map *map, uint32_t bit) { map->items[bit / 64] &= ~(1ull << bit % 64); }

/* The first bit from `from` on that is set; HD_NONE: there is none. */
static inline uint32_t first_bit(const hd_bit_map *map, uint32_t from)
{
    uint64_t seen = (1ull << from % 64) - 1;
    for (uint32_t w = from / 64; w < map->count; w++, seen = 0)
        if (map->items[w] & ~seen)
            return w * 64 + (uint32_t)__builtin_ctzll(map->items[w] & ~seen);
    return HD_NONE;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void clear_bank(hd_physical_bank *bank)
{
    hd_array_clear(&bank->free);
    hd_array_clear(&bank->roomy);
    hd_array_clear(&bank->gated);
    hd_array_clear(&bank->used);
    hd_array_clear(&bank->awake);
    hd_array_clear(&bank->registers);
    bank->next = 0;
    bank->open = HD_NONE;
}

/* Adds a sub-array to each bank. */
static void add_subarrays(hd_physical_file *file)
{
    uint32_t first = file->subarrays * file->rows;
    for (uint32_t b = 0; b < file->bank_count; b++) {
        hd_physical_bank *bank = &file->banks[b];
        extend(&bank->free, first + file->rows);
        extend(&bank->gated, file->subarrays + 1);
        extend(&bank->roomy, file->subarrays + 1);
        for (uint32_t row = first; row < first + file->rows; row++)
            set_bit(&bank->free, row);
        set_bit(&bank->gated, file->subarrays);
        hd_array_push(&bank->used, 0);
        hd_array_push(&bank->awake, 0);
        memset(hd_array_extend(&bank->registers, file->rows), 0, file->rows * sizeof *bank->registers.items);
    }
    for (uint32_t i = 0; i < file->rows; i++)
        hd_array_push(&file->subarray_of, file->subarrays);
    file->subarrays++;
}

void hd_physical_start(hd_physical_file *file, uint32_t registers, uint32_t banks, uint32_t subarrays)
{
    if (!file->banks)
        file->banks = hd_calloc(banks, sizeof *file->banks);
    file->bank_count = banks;
    file->rows = (registers + banks * subarrays - 1) / (banks * subarrays);
    file->capacity = registers;
    file->subarrays = file->taken = file->powered = file->wakeups = 0;
    file->time = file->on = file->off = file->since = 0;
    hd_array_clear(&file->subarray_of);
    for (uint32_t b = 0; b < banks; b++)
        clear_bank(&file->banks[b]);
    while (file->subarrays < subarrays)
        add_subarrays(file);
}

void hd_physical_free(hd_physical_file *file)
{
    for (uint32_t b = 0; file->banks && b < file->bank_count; b++) {
        hd_array_free(&file->banks[b].free);
        hd_array_free(&file->banks[b].roomy);
        hd_array_free(&file->banks[b].gated);
        hd_array_free(&file->banks[b].used);
        hd_array_free(&file->banks[b].awake);
        hd_array_free(&file->banks[b].registers);
    }
    free(file->banks);
    hd_array_free(&file->subarray_of);
}

uint32_t hd_physical_touched(const hd_physical_file *file)
{
    uint32_t touched = 0;
    for (uint32_t b = 0; b < file->bank_count; b++)
        for (uint32_t row = 0; row < file->banks[b].registers.count; row++)
            touched += file->banks[b].registers.items[row].touched;
    return touched;
}

uint64_t hd_physical_squares(const hd_physical_file *file)
{
    unsigned __int128 squares = 0;
    for (uint32_t b = 0; b < file->bank_count; b++)
        for (uint32_t row = 0; row < file->banks[b].registers.count; row++)
            squares += (unsigned __int128)file->banks[b].registers.items[row].accesses *
                       file->banks[b].registers.items[row].accesses;
    return squares < HD_UNCOUNTED ? (uint64_t)squares : HD_UNCOUNTED;
}

/* The bit maps of sub-arrays say whether one has a free row. */
static uint32_t find_row(const hd_physical_file *file, const hd_physical_bank *bank)
{
    if (file->robin) {
        uint32_t after = first_bit(&bank->free, bank->next);
        return after != HD_NONE ? after : first_bit(&bank->free, 0);
    }
    if (bank->open != HD_NONE)
        return hd_physical_open(bank);
    uint32_t subarray = first_bit(&bank->gated, 0);
    return subarray == HD_NONE ? HD_NONE : first_bit(&bank->free, subarray * file->rows);
}

uint32_t hd_physical_find(hd_physical_file *file, uint32_t b)
{
    uint32_t row = find_row(file, &file->banks[b]);
    if (row != HD_NONE)
        file->banks[b].next = row + !HD_PLANTED(file->unmarked);
    return row;
}

static void find_open(const hd_physical_file *file, hd_physical_bank *bank)
{
    uint32_t subarray = first_bit(&bank->roomy, 0);
    bank->open = subarray == HD_NONE ? HD_NONE : subarray * file->rows;
}

void hd_physical_filled(hd_physical_file *file, hd_physical_bank *bank, uint32_t subarray)
{
    if (bank->used.items[subarray] == 1) {
        hd_physical_finalize(file);
        file->wakeups++;
        file->powered++;
        clear_bit(&bank->gated, subarray);
        set_bit(&bank->roomy, subarray);
    }
    if (bank->used.items[subarray] == file->rows)
        clear_bit(&bank->roomy, subarray);
    find_open(file, bank);
}

void hd_physical_emptied(hd_physical_file *file, hd_physical_bank *bank, uint32_t subarray)
{
    set_bit(&bank->roomy, subarray);
    if (!bank->used.items[subarray]) {
        hd_physical_finalize(file);
        file->powered--;
        set_bit(&bank->gated, subarray);
        clear_bit(&bank->roomy, subarray);
    }
    find_open(file, bank);
}
