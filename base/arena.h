/* Arena: memory that is freed all at once.
 *
 * An arena belongs to one owner (a module, a function, a pass run). Nothing in it is freed individually. Allocation
 * never fails: when the system is out of memory, the process ends in hd_out_of_memory(), the only function of the
 * library that may end it.
 */
#ifndef HD_BASE_ARENA_H
#define HD_BASE_ARENA_H

#include "base/minmax.h"
#include <stddef.h>
#include <stdint.h>

typedef struct hd_arena_chunk hd_arena_chunk;

typedef struct hd_arena {
    hd_arena_chunk *chunks; /* newest first; owned */
    char *next, *end;       /* free room of the current chunk */
    size_t reserved_bytes;  /* memory obtained from the system so far */
#ifdef HD_ARENA_GUARDS
    struct hd_arena_guard *guards; /* newest first */
#endif
} hd_arena;

void hd_arena_init(hd_arena *arena); /* a zeroed arena is valid too */
void hd_arena_free(hd_arena *arena); /* frees all memory; the arena is then empty and usable */
/* Aligned to 16; never NULL. The attribute lets the compiler and its sanitizers see accesses past the end. */
#define HD_SIZED(...) __attribute__((alloc_size(__VA_ARGS__)))
static inline HD_SIZED(2) void *hd_arena_alloc(hd_arena *arena, size_t bytes); /* not cleared */
HD_SIZED(2) void *hd_arena_calloc(hd_arena *arena, size_t bytes);              /* zeroed */
HD_SIZED(3) void *hd_arena_copy(hd_arena *arena, const void *from, size_t bytes);
char *hd_arena_string(hd_arena *arena, const char *text, size_t length); /* a copy, NUL-terminated */
char *hd_arena_printf(hd_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* With the address sanitizer, a poisoned gap follows each allocation to detect overruns. HD_ARENA_GUARDS is the cheap
 * form of it: a pattern after each allocation, which hd_arena_free() checks, and in memory that is not cleared. */
#if defined(HD_ARENA_GUARDS)
#define HD_ARENA_GAPS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HD_ARENA_GAPS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HD_ARENA_GAPS 1
#endif

void *hd_arena_alloc_slow(hd_arena *arena, size_t bytes);
static inline void *hd_arena_alloc(hd_arena *arena, size_t bytes)
{
#ifndef HD_ARENA_GAPS
    if (bytes && bytes <= (size_t)(arena->end - arena->next)) { /* `bytes` and the free room are both multiples of 16 */
        void *piece = arena->next;
        arena->next += (bytes + 15) & ~(size_t)15;
        return piece;
    }
#endif
    return hd_arena_alloc_slow(arena, bytes);
}

#define HD_ARENA_NEW(arena, type) ((type *)hd_arena_calloc((arena), sizeof(type)))
#define HD_ARENA_ARRAY(arena, type, count) ((type *)hd_arena_calloc((arena), sizeof(type) * (size_t)(count)))

/* The malloc family; never returns NULL. */
HD_SIZED(1) void *hd_malloc(size_t bytes);
HD_SIZED(1, 2) void *hd_calloc(size_t count, size_t bytes);
enum { HD_HUGE_PAGE_BYTES = 2 << 20 };
/* HD_HUGE_PAGE_BYTES, to be freed with free(); a single page fault where the system has huge pages. */
void *hd_malloc_huge_page(void);
HD_SIZED(2) void *hd_realloc(void *old, size_t bytes);
enum { HD_OUT_OF_MEMORY_STATUS = 7 };          /* as HD_STATUS_MEMORY */
_Noreturn void hd_out_of_memory(size_t bytes); /* bytes: 0 if unknown */
/* Sets a function that runs before the process ends there, on any thread. Call it before other threads start. */
void hd_at_out_of_memory(void (*clean_up)(void));

#endif
