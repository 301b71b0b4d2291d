/* Memory of the device, and memory of the host that the device sees.
 *
 * Device memory has bytes somewhere else on the host: a program that follows a device pointer on the host is stopped by
 * the system, as it is with a GPU. Managed and page-locked memory is mapped at its device address. Registered host
 * memory keeps its own. */
#include "cudart/runtime.h"
#include "cudart/recording.h"
#include <stdio.h>
#include <sys/mman.h>

static size_t page_round(uint64_t bytes) { return (size_t)(hd_pages_of(bytes ? bytes : 1) * HD_PAGE_BYTES); }

bool hd_cu_block_map(hd_runtime *r, uint32_t index)
{
    hd_allocation *a = &r->memory.allocations.items[index];
    uint64_t first = a->base / HD_PAGE_BYTES * HD_PAGE_BYTES;
    void *pages = (void *)(uintptr_t)first;
    if (mprotect(pages, page_round(a->base + a->size - first), PROT_READ | PROT_WRITE) != 0)
        return false;
    unsigned char *at = (unsigned char *)(uintptr_t)a->base;
    memcpy(at, a->bytes, a->size);
    free(a->bytes);
    a->bytes = at;
    a->borrowed = true;
    return true;
}

bool hd_is_device_address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer - HD_RUNTIME_BASE < HD_RUNTIME_RANGE;
}

hd_cu_block *hd_cu_block_of(hd_runtime *r, uint32_t index)
{
    while (r->blocks.count <= index)
        hd_array_push(&r->blocks, (hd_cu_block){0});
    return &r->blocks.items[index];
}

/* Pages at the next device address, for both sides. */
static uint32_t new_mapped(hd_runtime *r, const char *name, uint64_t bytes, size_t *mapped)
{
    enum { PAGE_ALIGN = 65536 };
    uint64_t base = hd_memory_next_address(&r->memory, bytes, PAGE_ALIGN);
    *mapped = page_round(bytes);
    if (!base || base + *mapped > r->memory.const_window)
        return HD_NONE;
    void *at = (void *)(uintptr_t)base;
    if (mprotect(at, *mapped, PROT_READ | PROT_WRITE) != 0)
        return HD_NONE;
    uint32_t index = hd_memory_place(&r->memory, name, base, bytes, at);
    r->memory.next_global = base + *mapped + HD_GUARD_BYTES;
    return index;
}

uint32_t hd_cu_block_new(hd_runtime *r, hd_cu_block_kind kind, const char *name, uint64_t bytes, uint32_t flags)
{
    size_t mapped = 0;
    uint32_t index = HD_NONE;
    char unique[64];
    if (bytes > HD_DEVICE_BYTES - r->device_bytes)
        return HD_NONE;
    snprintf(unique, sizeof unique, "%s%u", name, r->named++);
    if (kind == HD_BLOCK_MANAGED || kind == HD_BLOCK_HOST)
        index = new_mapped(r, unique, bytes, &mapped);
    else
        index = hd_memory_allocate(&r->memory, unique, HD_SPACE_GLOBAL, bytes, 0, false);
    if (index == HD_NONE)
        return HD_NONE;
    *hd_cu_block_of(r, index) = (hd_cu_block){.kind = (uint8_t)kind, .flags = flags, .mapped_bytes = mapped};
    if (kind != HD_BLOCK_HOST)
        r->device_bytes += bytes;
    hd_cu_record_allocated(r, index, mapped != 0);
    return index;
}

uint32_t hd_cu_block_register(hd_runtime *r, void *pointer, size_t bytes, uint32_t flags)
{
    char unique[64];
    snprintf(unique, sizeof unique, "registered%u", r->named++);
    uint32_t index = hd_memory_place(&r->memory, unique, (uint64_t)(uintptr_t)pointer, bytes, pointer);
    if (index == HD_NONE)
        return HD_NONE;
    *hd_cu_block_of(r, index) = (hd_cu_block){.kind = HD_BLOCK_REGISTERED, .flags = flags};
    hd_cu_record_allocated(r, index, true);
    return index;
}

void hd_cu_block_free(hd_runtime *r, uint32_t index)
{
    hd_cu_block *b = hd_cu_block_of(r, index);
    const hd_allocation *a = &r->memory.allocations.items[index];
    hd_cu_record_freed(r, index);
    for (uint32_t i = 0; i < r->textures.count; i++)
        if (r->textures.items[i].buffer == index)
            r->textures.items[i].handle = 0;
    if (b->kind != HD_BLOCK_HOST && b->kind != HD_BLOCK_REGISTERED)
        r->device_bytes -= a->size;
    void *pages = b->mapped_bytes ? a->bytes : NULL;
    hd_memory_release(&r->memory, index);
    if (pages)
        mmap(pages, b->mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    *b = (hd_cu_block){0};
}

const hd_allocation *hd_cu_block_find(hd_runtime *r, const void *pointer, size_t bytes)
{
    return hd_memory_find(&r->memory, (uint64_t)(uintptr_t)pointer, bytes);
}

uint32_t hd_cu_block_at(hd_runtime *r, const void *pointer)
{
    const hd_allocation *a = hd_cu_block_find(r, pointer, 0);
    bool starts = a && a->base == (uint64_t)(uintptr_t)pointer && hd_cu_block_of(r, a->index)->kind != HD_BLOCK_NONE;
    return starts ? a->index : HD_NONE;
}

unsigned char *hd_bytes_of(hd_runtime *r, const void *pointer, size_t bytes, bool writes)
{
    const hd_allocation *a = hd_cu_block_find(r, pointer, bytes);
    if (!a)
        return hd_is_device_address(pointer) ? NULL : (unsigned char *)(uintptr_t)pointer;
    if (writes)
        hd_cu_record_written(r, a->index);
    return a->bytes + ((uint64_t)(uintptr_t)pointer - a->base);
}
