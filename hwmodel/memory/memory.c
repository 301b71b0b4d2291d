/* Device memory. Allocations of a space have ascending addresses, so each list is sorted. */
#include "hwmodel/memory/memory.h"
#include "base/search.h"
#include "hwmodel/memory/heap.h"
#include <stdio.h>

/* Windows of 16 MiB (constants: 64 MiB) at the top of the address space. */
void hd_memory_init(hd_memory *memory, uint32_t address_bits)
{
    *memory = (hd_memory){0};
    hd_arena_init(&memory->arena);
    uint64_t top = address_bits == 32 ? 0xf0000000ull : 0x7fffc0000000ull;
    memory->next_global = address_bits == 32 ? 0x10000000ull : HD_MEMORY_BASE;
    memory->const_window = top;
    memory->next_const = top;
    memory->param_window = top + 0x4000000ull;
    memory->shared_window = top + 0x5000000ull;
    memory->local_window = top + 0x6000000ull;
    memory->code_window = top + 0x7000000ull;
    memory->limit = top + 0x8000000ull;
}

bool hd_memory_base_fits(uint64_t base)
{
    uint32_t low = (uint32_t)base, margin = 1u << 24;
    return base >= 0x700000000000ull && base <= 0x7fff00000000ull && base % HD_LARGE_ALIGN == 0 && low >= margin &&
           low <= 0u - margin;
}

void hd_memory_move(hd_memory *memory, uint64_t base)
{
    if (memory->limit >> 32)
        memory->next_global = base;
}

void hd_memory_free(hd_memory *memory)
{
    for (uint32_t i = 0; i < memory->allocations.count; i++)
        free(memory->allocations.items[i].bytes);
    hd_heap_free(memory->heap);
    hd_array_free(&memory->allocations);
    hd_array_free(&memory->globals);
    hd_array_free(&memory->constants);
    hd_arena_free(&memory->arena);
}

static uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

uint32_t hd_memory_allocate(hd_memory *memory, const char *name, hd_space space, uint64_t size, uint32_t align,
                            bool read_only)
{
    bool constant = space == HD_SPACE_CONST;
    uint64_t *next = constant ? &memory->next_const : &memory->next_global;
    uint64_t end_of_space = constant ? memory->param_window : memory->const_window;
    uint32_t least = constant ? 1 : size < HD_LARGE_BYTES ? HD_ALLOCATION_ALIGN : HD_LARGE_ALIGN;
    if (align < least)
        align = least;
    uint64_t base = round_up(*next, align);
    if (size > end_of_space || base > end_of_space - size || hd_pages_of(size) > HD_NONE - memory->pages)
        return HD_NONE;
    /* Constants are contiguous, as in a constant bank; globals are separated by gaps. */
    *next = base + size + (constant ? 0 : HD_GUARD_BYTES);
    hd_u32_array *list = constant ? &memory->constants : &memory->globals;
    uint32_t at = memory->allocations.count;
    hd_array_push(list, at);
    hd_array_push(&memory->allocations, (hd_allocation){hd_arena_string(&memory->arena, name, strlen(name)), base, size,
                                                        hd_calloc((size_t)size + 16, 1), (uint8_t)space, read_only,
                                                        false, at, memory->pages});
    memory->pages += (uint32_t)hd_pages_of(size);
    return at;
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
    const hd_u32_array *list = address >= memory->const_window ? &memory->constants : &memory->globals;
    uint32_t low = 0, high = list->count;
    /* the last one whose base is at most the address */
    /* the last one whose base is at most the address */
    HD_SEARCH(low, high, at, memory->allocations.items[list->items[at]].base <= address);
    if (!low)
        return NULL;
    const hd_allocation *a = &memory->allocations.items[list->items[low - 1]];
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
    if (address < memory->const_window || address >= memory->limit)
        return HD_SPACE_GLOBAL;
    if (address < memory->param_window)
        return HD_SPACE_CONST;
    if (address < memory->shared_window)
        return HD_SPACE_PARAM;
    if (address < memory->local_window)
        return HD_SPACE_SHARED;
    return address < memory->code_window ? HD_SPACE_LOCAL : HD_SPACE_NONE;
}

/* Bytes between an address and an allocation; 0 inside. */
static uint64_t distance(const hd_allocation *a, uint64_t address)
{
    if (address < a->base)
        return a->base - address;
    return address < a->base + a->size ? 0 : address - (a->base + a->size);
}

enum { NULL_PAGE = 65536 }; /* addresses in it come from a null pointer */

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
