/* Device memory: allocations in one 64-bit generic address space, which also contains the windows of the other spaces.
 *
 *   space      address in the space       generic address
 *   .global    the generic address        itself (allocations, with unmapped gaps between them)
 *   .const     offset from 0              const_window + offset   (module variables; read-only)
 *   .param     offset from 0              param_window + offset   (parameters of the running kernel; read-only)
 *   .shared    offset from 0              shared_window + offset  (one per CTA; owned by the interpreter)
 *   .local     offset from 0              local_window + offset   (one per thread; owned by the interpreter)
 *
 * Addresses resemble those of the driver of a 64-bit GPU, so that both halves have realistic widths: allocations from
 * HD_MEMORY_BASE upward, large ones (HD_LARGE_BYTES) at multiples of 2 MiB, others at multiples of 512; windows after
 * them. Modules of address size 32 have everything below 2^32. Addresses do not depend on the host: the same module and
 * launch file get the same addresses in every run. Gaps of at least HD_GUARD_BYTES around every allocation detect
 * out-of-bounds accesses.
 *
 * A runtime that stands in for a driver (cudart/) also places allocations at addresses of its own, with bytes that the
 * host uses under the same address, and releases allocations between launches.
 *
 * Threads: allocations are made before a launch and do not change while it runs. Accesses of CTAs are recorded by pages
 * of HD_PAGE_BYTES from an allocation's base (hwmodel/exec/workers/footprint.h).
 */
#ifndef HD_HWMODEL_MEMORY_MEMORY_H
#define HD_HWMODEL_MEMORY_MEMORY_H

#include "ir/ir.h"

enum {
    HD_GUARD_BYTES = 4096,
    HD_ALLOCATION_ALIGN = 512,
    HD_LARGE_BYTES = 1 << 20,
    HD_LARGE_ALIGN = 2 << 20,
    HD_PAGE_BYTES = 4096
};
#define HD_MEMORY_BASE 0x7f5c4a000000ull
#define HD_MEMORY_RANGE (1ull << 40) /* from a moved base to the windows */
#define HD_WINDOW_BYTES 0x8000000ull /* all windows together */

typedef struct hd_allocation {
    const char *name;     /* of the buffer or variable; in the memory's arena */
    uint64_t base, size;  /* generic addresses [base, base + size) */
    unsigned char *bytes; /* the content on the host */
    bool borrowed;        /* `bytes` belong to the caller of hd_memory_place */
    uint8_t space;        /* HD_SPACE_GLOBAL or HD_SPACE_CONST */
    bool read_only;
    bool accessed;       /* by a kernel; set atomically, by several threads */
    bool is_heap;        /* only bytes of allocated blocks of memory->heap may be accessed */
    uint32_t index;      /* in the memory's list */
    uint32_t first_page; /* pages of HD_PAGE_BYTES from its base on, numbered through all allocations */
    uint32_t pages;
} hd_allocation;

struct hd_heap;

typedef struct hd_memory {
    hd_arena arena;
    HD_ARRAY(hd_allocation) allocations; /* in order of allocation, but for released ones, which are used again */
    hd_u32_array globals, constants;     /* indices, ascending addresses */
    hd_u32_array released;               /* indices of allocations without bytes */
    uint64_t next_global, next_const;    /* generic */
    uint64_t const_window, param_window, shared_window, local_window, code_window;
    uint64_t limit;       /* end of the generic address space */
    uint32_t pages;       /* of all allocations */
    struct hd_heap *heap; /* the heap for malloc of kernels (hwmodel/memory/heap.h), or NULL */
} hd_memory;

/* Copies from or to bytes of an allocation that other host threads may access at the same time. Such a race is
 * detected, and its results discarded (hwmodel/exec/workers/footprint.h): any value will do, so this is a plain copy,
 * except under the thread sanitizer. */
static inline void hd_memory_copy(void *to, const void *from, size_t bytes)
{
#ifdef __SANITIZE_THREAD__
    for (size_t i = 0; i < bytes; i++)
        __atomic_store_n((unsigned char *)to + i, __atomic_load_n((const unsigned char *)from + i, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
#else
    memcpy(to, from, bytes);
#endif
}

static inline uint64_t hd_pages_of(uint64_t bytes) { return (bytes + HD_PAGE_BYTES - 1) / HD_PAGE_BYTES; }

void hd_memory_init(hd_memory *memory, uint32_t address_bits); /* 32 or 64 */
void hd_memory_free(hd_memory *memory);
/* Whether a base resembles a driver's: from 0x700000000000 to 0x7fff00000000, a multiple of HD_LARGE_ALIGN, whose lower
 * half needs four bytes as a signed number, also within 8 MiB of it (1 in 64 bases has a narrower one). */
bool hd_memory_base_fits(uint64_t base);
/* Moves the window of shared memory after all others, to a multiple of 4 GiB: machine code makes generic addresses from
 * the upper word of the window and the address in it. Before any launch. */
void hd_memory_align_shared(hd_memory *memory);
/* Sets the address of the first allocation, before there is any; hd_memory_base_fits(base) must hold. The windows lie
 * HD_MEMORY_RANGE after it, or where they are by default, if that is less. No effect for modules of address size
 * 32. */
void hd_memory_move(hd_memory *memory, uint64_t base);

/* A zeroed allocation in HD_SPACE_GLOBAL or HD_SPACE_CONST; returns its index, or HD_NONE if the address space is full.
 * size may be 0. */
uint32_t hd_memory_allocate(hd_memory *memory, const char *name, hd_space space, uint64_t size, uint32_t align,
                            bool read_only);

/* An allocation in HD_SPACE_GLOBAL at that address, with the caller's bytes, or zeroed ones if `bytes` is NULL. HD_NONE
 * if the range is not free. hd_memory_allocate skips what was placed. */
uint32_t hd_memory_place(hd_memory *memory, const char *name, uint64_t base, uint64_t size, unsigned char *bytes);
/* The address that hd_memory_allocate would take in HD_SPACE_GLOBAL; 0 if the address space is full. */
uint64_t hd_memory_next_address(const hd_memory *memory, uint64_t size, uint32_t align);
/* Ends an allocation of HD_SPACE_GLOBAL. Its addresses are not used again, its index may be. No program may run. */
void hd_memory_release(hd_memory *memory, uint32_t index);

/* Creates the device heap if it does not exist. false: no room. */
bool hd_memory_need_heap(hd_memory *memory);

/* The allocation that contains all of [address, address + size), or NULL. O(log n). */
const hd_allocation *hd_memory_find(const hd_memory *memory, uint64_t address, uint64_t size);
const hd_allocation *hd_memory_find_name(const hd_memory *memory, const char *name);

/* The space of a generic address (GLOBAL if it is in no window). */
hd_space hd_memory_space_of(const hd_memory *memory, uint64_t address);

/* "16 bytes after the end of buffer A (200000 bytes at 0x...)": the nearest allocation of that space, for messages. */
void hd_memory_describe(const hd_memory *memory, hd_space space, uint64_t address, char *text, size_t size);

#endif
