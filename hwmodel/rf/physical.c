/* Physical registers that are taken and given away: see physical.h. */
#include "hwmodel/rf/physical.h"

/* ---- bit maps -------------------------------------------------------------------------------------------------------- */

static void extend(hd_bit_map *map, uint32_t bits)
{
    while (map->count * 64 < bits)
        hd_array_push(map, 0);
}

static inline void set_bit(hd_bit_map *map, uint32_t bit)
{
    map->items[bit / 64] |= 1ull << bit % 64;
}

static inline void clear_bit(hd_bit_map *map, uint32_t bit)
{
    map->items[bit / 64] &= ~(1ull << bit % 64);
}

/* The first bit of [from, end) that is set, or HD_NONE. */
static uint32_t find_bit(const hd_bit_map *map, uint32_t from, uint32_t end)
{
    for (uint32_t w = from / 64; w < map->count && w * 64 < end; w++) {
        uint64_t bits = map->items[w];
        if (w == from / 64)
            bits &= ~0ull << from % 64;
        if (!bits)
            continue;
        uint32_t bit = w * 64 + (uint32_t)__builtin_ctzll(bits);
        return bit < end ? bit : HD_NONE;
    }
    return HD_NONE;
}

/* ---- the file -------------------------------------------------------------------------------------------------------- */

static void clear_bank(hd_physical_bank *bank)
{
    hd_array_clear(&bank->free);
    hd_array_clear(&bank->roomy);
    hd_array_clear(&bank->dark);
    hd_array_clear(&bank->used);
    bank->next = 0;
}

/* Another sub-array for each bank. */
static void grow(hd_physical_file *file)
{
    uint32_t first = file->subarrays * file->rows;
    for (uint32_t b = 0; b < file->bank_count; b++) {
        hd_physical_bank *bank = &file->banks[b];
        extend(&bank->free, first + file->rows);
        extend(&bank->dark, file->subarrays + 1);
        extend(&bank->roomy, file->subarrays + 1);
        for (uint32_t place = first; place < first + file->rows; place++)
            set_bit(&bank->free, place);
        set_bit(&bank->dark, file->subarrays);
        hd_array_push(&bank->used, 0);
    }
    uint32_t more = file->rows * file->bank_count;
    hd_physical_register *fresh = hd_array_extend(&file->registers, more);
    for (uint32_t i = 0; i < more; i++)
        fresh[i] = (hd_physical_register){0};
    file->subarrays++;
}

void hd_physical_start(hd_physical_file *file, uint32_t registers, uint32_t banks, uint32_t subarrays)
{
    if (!file->banks)
        file->banks = hd_calloc(banks, sizeof *file->banks);
    file->bank_count = banks;
    file->rows = (registers + banks * subarrays - 1) / (banks * subarrays);
    file->subarrays = file->taken = file->lit = file->woken = file->touched = 0;
    hd_array_clear(&file->registers);
    for (uint32_t b = 0; b < banks; b++)
        clear_bank(&file->banks[b]);
    while (file->subarrays < subarrays)
        grow(file);
}

void hd_physical_free(hd_physical_file *file)
{
    for (uint32_t b = 0; file->banks && b < file->bank_count; b++) {
        hd_array_free(&file->banks[b].free);
        hd_array_free(&file->banks[b].roomy);
        hd_array_free(&file->banks[b].dark);
        hd_array_free(&file->banks[b].used);
    }
    free(file->banks);
    hd_array_free(&file->registers);
}

static uint32_t find_place(hd_physical_file *file, hd_physical_bank *bank)
{
    uint32_t places = file->subarrays * file->rows;
    if (file->robin) {
        uint32_t behind = find_bit(&bank->free, bank->next, places);
        return behind != HD_NONE ? behind : find_bit(&bank->free, 0, places);
    }
    uint32_t subarray = find_bit(&bank->roomy, 0, file->subarrays);
    if (subarray == HD_NONE)
        subarray = find_bit(&bank->dark, 0, file->subarrays);
    return subarray == HD_NONE ? HD_NONE : find_bit(&bank->free, subarray * file->rows, (subarray + 1) * file->rows);
}

static inline void fill(hd_physical_file *file, hd_physical_bank *bank, uint32_t subarray)
{
    uint32_t used = bank->used.items[subarray]++;
    if (!used) {
        file->woken++;
        file->lit++;
        clear_bit(&bank->dark, subarray);
        set_bit(&bank->roomy, subarray);
    }
    if (used + 1 == file->rows)
        clear_bit(&bank->roomy, subarray);
}

static inline void empty(hd_physical_file *file, hd_physical_bank *bank, uint32_t subarray)
{
    uint32_t used = bank->used.items[subarray]--;
    if (used == file->rows)
        set_bit(&bank->roomy, subarray);
    if (used == 1) {
        file->lit--;
        set_bit(&bank->dark, subarray);
        clear_bit(&bank->roomy, subarray);
    }
}

uint32_t hd_physical_take(hd_physical_file *file, uint32_t b)
{
    hd_physical_bank *bank = &file->banks[b];
    uint32_t place = find_place(file, bank);
    if (place == HD_NONE) {
        grow(file);
        place = find_place(file, bank);
    }
    uint32_t number = place * file->bank_count + b;
    hd_physical_register *r = &file->registers.items[number];
    file->touched += !r->touched;
    r->touched = 1;
    if (file->unmarked)
        return number;
    clear_bit(&bank->free, place);
    fill(file, bank, place / file->rows);
    bank->next = place + 1;
    file->taken++;
    return number;
}

void hd_physical_give(hd_physical_file *file, uint32_t number)
{
    uint32_t place = number / file->bank_count;
    hd_physical_bank *bank = &file->banks[number % file->bank_count];
    if (file->unmarked)
        return;
    set_bit(&bank->free, place);
    empty(file, bank, place / file->rows);
    file->taken--;
}
