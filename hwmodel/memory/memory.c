/* Device memory. Allocations of a space have ascending addresses, so each list is sorted. */
#include "hwmodel/memory/memory.h"
#include "base/search.h"
#include "hwmodel/memory/heap.h"
#include <stdio.h>

enum { SMALL_WINDOW_BYTES = 0x1000000 };

/* Windows of 16 MiB (constants: 64 MiB) from `top` on. */
static void set_windows(hd_memory *memory, uint64_t top)
{
    memory->const_window = top;
    memory->next_const = top;
    memory->param_window = top + 0x4000000ull;
    memory->shared_window = top + 0x5000000ull;
    memory->local_window = top + 0x6000000ull;
    memory->code_window = top + 0x7000000ull;
    memory->limit = top + HD_WINDOW_BYTES;
}

#define DEFAULT_TOP 0x7fffc0000000ull

void hd_memory_init(hd_memory *memory, uint32_t address_bits)
{
    *memory = (hd_memory){0};
    hd_arena_init(&memory->arena);
    memory->next_global = address_bits == 32 ? 0x10000000ull : HD_MEMORY_BASE;
    set_windows(memory, address_bits == 32 ? 0xf0000000ull : DEFAULT_TOP);
}

bool hd_memory_base_fits(uint64_t base)
{
    uint32_t low = (uint32_t)base, margin = 1u << 24;
    return base >= 0x700000000000ull && base <= 0x7fff00000000ull && base % HD_LARGE_ALIGN == 0 && low >= margin &&
           low <= 0u - margin;
}

void hd_memory_move(hd_memory *memory, uint64_t base)
{
    if (!(memory->limit >> 32))
        return;
    memory->next_global = base;
    set_windows(memory, hd_min(base + HD_MEMORY_RANGE, DEFAULT_TOP));
}

void hd_memory_free(hd_memory *memory)
{
    for (uint32_t i = 0; i < memory->allocations.count; i++)
        if (!memory->allocations.items[i].borrowed)
            free(memory->allocations.items[i].bytes);
    hd_heap_free(memory->heap);
    hd_array_free(&memory->allocations);
    hd_array_free(&memory->released);
    hd_array_free(&memory->globals);
    hd_array_free(&memory->constants);
    hd_arena_free(&memory->arena);
}

static uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

void hd_memory_align_shared(hd_memory *memory)
{
    if (memory->limit >> 32)
        memory->shared_window = round_up(memory->limit, 1ull << 32);
}

enum { NULL_PAGE = 65536 }; /* addresses in it come from a null pointer */

/* Position in a sorted list of the first allocation above the address. */
static uint32_t position_of(const hd_memory *memory, const hd_u32_array *list, uint64_t address)
{
    uint32_t low = 0, high = list->count;
    HD_SEARCH(low, high, at, memory->allocations.items[list->items[at]].base <= address);
    return low;
}

/* The first address from `base` on, a multiple of `align`, with `size` bytes and their gaps free. */
static uint64_t first_free(const hd_memory *memory, uint64_t base, uint64_t size, uint32_t align)
{
    const hd_u32_array *list = &memory->globals;
    base = round_up(base, align);
    for (uint32_t i = position_of(memory, list, base); i <= list->count; i++) {
        const hd_allocation *before = i ? &memory->allocations.items[list->items[i - 1]] : NULL;
        const hd_allocation *after = i < list->count ? &memory->allocations.items[list->items[i]] : NULL;
        if (before && before->base + before->size + HD_GUARD_BYTES > base)
            base = round_up(before->base + before->size + HD_GUARD_BYTES, align);
        if (!after || (base < after->base && size + HD_GUARD_BYTES <= after->base - base))
            break;
    }
    return base;
}

/* An allocation's entry: one that was released and had as many pages, or a new one. */
static uint32_t new_entry(hd_memory *memory, uint64_t size)
{
    uint32_t pages = (uint32_t)hd_pages_of(size), at;
    for (uint32_t i = 0; i < memory->released.count; i++) {
        at = memory->released.items[i];
        if (memory->allocations.items[at].pages != pages)
            continue;
        memory->released.items[i] = memory->released.items[--memory->released.count];
        return at;
    }
    at = memory->allocations.count;
    hd_array_push(&memory->allocations, (hd_allocation){.first_page = memory->pages, .pages = pages});
    memory->pages += pages;
    return at;
}

static void insert(hd_u32_array *list, uint32_t position, uint32_t index)
{
    hd_array_push(list, index);
    for (uint32_t i = list->count - 1; i > position; i--)
        list->items[i] = list->items[i - 1];
    list->items[position] = index;
}

static uint32_t add(hd_memory *memory, const char *name, hd_space space, uint64_t base, uint64_t size,
                    unsigned char *bytes)
{
    hd_u32_array *list = space == HD_SPACE_CONST ? &memory->constants : &memory->globals;
    uint32_t at = new_entry(memory, size);
    hd_allocation *a = &memory->allocations.items[at];
    *a = (hd_allocation){.name = hd_arena_string(&memory->arena, name, strlen(name)),
                         .base = base,
                         .size = size,
                         .bytes = bytes ? bytes : hd_calloc((size_t)size + 16, 1),
                         .borrowed = bytes != NULL,
                         .space = (uint8_t)space,
                         .index = at,
                         .first_page = a->first_page,
                         .pages = a->pages};
    insert(list, position_of(memory, list, base), at);
    return at;
}

static bool has_pages(const hd_memory *memory, uint64_t size) { return hd_pages_of(size) <= HD_NONE - memory->pages; }

uint64_t hd_memory_next_address(const hd_memory *memory, uint64_t size, uint32_t align)
{
    uint32_t least = size < HD_LARGE_BYTES ? HD_ALLOCATION_ALIGN : HD_LARGE_ALIGN;
    uint64_t end = memory->const_window;
    uint64_t base = first_free(memory, memory->next_global, size, hd_max(align, least));
    return size > end || base > end - size || !has_pages(memory, size) ? 0 : base;
}

/* Constants are contiguous, as in a constant bank; globals are separated by gaps. */
static uint64_t next_constant(const hd_memory *memory, uint64_t size, uint32_t align)
{
    uint64_t base = round_up(memory->next_const, align ? align : 1), end = memory->param_window;
    return size > end || base > end - size || !has_pages(memory, size) ? 0 : base;
}

uint32_t hd_memory_allocate(hd_memory *memory, const char *name, hd_space space, uint64_t size, uint32_t align,
                            bool read_only)
{
    bool constant = space == HD_SPACE_CONST;
    uint64_t base = constant ? next_constant(memory, size, align) : hd_memory_next_address(memory, size, align);
    if (!base)
        return HD_NONE;
    *(constant ? &memory->next_const : &memory->next_global) = base + size + (constant ? 0 : HD_GUARD_BYTES);
    uint32_t at = add(memory, name, space, base, size, NULL);
    memory->allocations.items[at].read_only = read_only;
    return at;
}

uint32_t hd_memory_place(hd_memory *memory, const char *name, uint64_t base, uint64_t size, unsigned char *bytes)
{
    uint32_t position = position_of(memory, &memory->globals, base);
    const hd_allocation *items = memory->allocations.items;
    const hd_allocation *before = position ? &items[memory->globals.items[position - 1]] : NULL;
    const hd_allocation *after = position < memory->globals.count ? &items[memory->globals.items[position]] : NULL;
    bool in_windows = base < memory->limit && base + size > memory->const_window;
    if (base < NULL_PAGE || base + size < base || in_windows || !has_pages(memory, size) ||
        (before && base - before->base < before->size) || (after && after->base - base < size))
        return HD_NONE;
    return add(memory, name, HD_SPACE_GLOBAL, base, size, bytes);
}

void hd_memory_release(hd_memory *memory, uint32_t index)
{
    hd_allocation *a = &memory->allocations.items[index];
    hd_u32_array *list = &memory->globals;
    uint32_t position = position_of(memory, list, a->base);
    while (list->items[--position] != index) /* more than one where allocations have no bytes */
        ;
    for (uint32_t i = position + 1; i < list->count; i++)
        list->items[i - 1] = list->items[i];
    list->count--;
    if (!a->borrowed)
        free(a->bytes);
    *a = (hd_allocation){.name = "", .index = index, .first_page = a->first_page, .pages = a->pages};
    hd_array_push(&memory->released, index);
}

bool hd_memory_need_heap(hd_memory *memory)
{
    if (memory->heap)
        return true;
    uint32_t at = hd_memory_allocate(memory, "device heap", HD_SPACE_GLOBAL, HD_HEAP_BYTES, 0, false);
    if (at == HD_NONE)
        return false;
    memory->allocations.items[at].is_heap = true;
    memory->heap = hd_heap_new(memory->allocations.items[at].base, HD_HEAP_BYTES);
    return true;
}

const hd_allocation *hd_memory_find(const hd_memory *memory, uint64_t address, uint64_t size)
{
    bool in_window = address - memory->const_window < memory->limit - memory->const_window;
    const hd_u32_array *list = in_window ? &memory->constants : &memory->globals;
    uint32_t above = position_of(memory, list, address);
    if (!above)
        return NULL;
    const hd_allocation *a = &memory->allocations.items[list->items[above - 1]];
    return size <= a->size && address - a->base <= a->size - size ? a : NULL;
}

const hd_allocation *hd_memory_find_name(const hd_memory *memory, const char *name)
{
    uint32_t count = memory->allocations.count;
    uint32_t found = count ? HD_FIND_ROW(memory->allocations.items, count, name, name, strlen(name)) : 0;
    return found < count ? &memory->allocations.items[found] : NULL;
}

hd_space hd_memory_space_of(const hd_memory *memory, uint64_t address)
{
    if (address - memory->shared_window < SMALL_WINDOW_BYTES)
        return HD_SPACE_SHARED;
    if (address < memory->const_window || address >= memory->limit)
        return HD_SPACE_GLOBAL;
    if (address < memory->param_window)
        return HD_SPACE_CONST;
    if (address < memory->local_window)
        return HD_SPACE_PARAM;
    return address < memory->code_window ? HD_SPACE_LOCAL : HD_SPACE_NONE;
}

/* Bytes between an address and an allocation; 0 inside. */
static uint64_t distance(const hd_allocation *a, uint64_t address)
{
    if (address < a->base)
        return a->base - address;
    return address < a->base + a->size ? 0 : address - (a->base + a->size);
}

void hd_memory_describe(const hd_memory *memory, hd_space space, uint64_t address, char *text, size_t size)
{
    const hd_allocation *best = NULL;
    if (address < NULL_PAGE) {
        snprintf(text, size, "a null pointer, or %llu bytes after one", (unsigned long long)address);
        return;
    }
    for (uint32_t i = 0; i < memory->allocations.count; i++) {
        const hd_allocation *a = &memory->allocations.items[i];
        if (a->space == space && (!best || distance(a, address) < distance(best, address)))
            best = a;
    }
    if (!best) {
        snprintf(text, size, "nothing is allocated there");
        return;
    }
    unsigned long long away = distance(best, address), base = best->base, bytes = best->size;
    if (address < best->base)
        snprintf(text, size, "%llu bytes before '%s' (%llu bytes at 0x%llx)", away, best->name, bytes, base);
    else if (address < best->base + best->size)
        snprintf(text, size, "byte %llu of '%s' (%llu bytes at 0x%llx)", (unsigned long long)(address - base),
                 best->name, bytes, base);
    else
        snprintf(text, size, "%llu bytes after the end of '%s' (%llu bytes at 0x%llx)", away, best->name, bytes, base);
}
