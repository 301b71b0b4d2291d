/* Arena, and the malloc family that never fails. Chunk sizes double from 4 KiB to 1 MiB; a large allocation gets its
 * own chunk and does not replace the current one. */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(HD_ARENA_GAPS) && !defined(HD_ARENA_GUARDS)
#include <sanitizer/asan_interface.h>
enum { GAP_BYTES = 32 };
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#ifdef HD_ARENA_GUARDS
enum { GAP_BYTES = 32 };
#else
enum { GAP_BYTES = 0 };
#endif
#endif

enum { FIRST_CHUNK_BYTES = 4096, LAST_CHUNK_BYTES = 1 << 20 };

struct hd_arena_chunk {
    hd_arena_chunk *next;
    size_t bytes; /* room for allocations, after this header */
    _Alignas(16) char room[];
};
_Static_assert(sizeof(hd_arena_chunk) % 16 == 0, "the room after the head is aligned");

static void (*at_out_of_memory)(void);

void hd_at_out_of_memory(void (*clean_up)(void)) { at_out_of_memory = clean_up; }

void hd_out_of_memory(size_t bytes)
{
    char line[64] = "heddle: out of memory\n";
    if (bytes)
        snprintf(line, sizeof line, "heddle: out of memory (%zu bytes)\n", bytes);
    if (at_out_of_memory)
        at_out_of_memory();
    if (write(STDERR_FILENO, line, strlen(line)) < 0)
        _Exit(HD_OUT_OF_MEMORY_STATUS);
    _Exit(HD_OUT_OF_MEMORY_STATUS);
}

void *hd_malloc(size_t bytes)
{
    void *room = malloc(bytes ? bytes : 1);
    if (!room)
        hd_out_of_memory(bytes);
    return room;
}

void *hd_calloc(size_t count, size_t bytes)
{
    void *room = calloc(count ? count : 1, bytes ? bytes : 1);
    if (!room)
        hd_out_of_memory(bytes && count > SIZE_MAX / bytes ? SIZE_MAX : count * bytes);
    return room;
}

void *hd_malloc_huge_page(void)
{
    void *room = aligned_alloc(HD_HUGE_PAGE_BYTES, HD_HUGE_PAGE_BYTES);
    if (!room)
        hd_out_of_memory(HD_HUGE_PAGE_BYTES);
#ifdef MADV_HUGEPAGE
    madvise(room, HD_HUGE_PAGE_BYTES, MADV_HUGEPAGE);
#endif
    return room;
}

void *hd_realloc(void *old, size_t bytes)
{
    void *room = realloc(old, bytes ? bytes : 1);
    if (!room)
        hd_out_of_memory(bytes);
    return room;
}

#ifdef HD_ARENA_GUARDS
enum { GUARD_PATTERN = 0xa5 };

/* Follows a piece's last 16 bytes; the pattern begins where the piece ends. */
struct hd_arena_guard {
    unsigned char pattern[16];
    struct hd_arena_guard *next;
    const unsigned char *piece_end;
};
_Static_assert(sizeof(struct hd_arena_guard) <= GAP_BYTES, "a gap has room for a guard");

static void set_guard(hd_arena *arena, char *piece, size_t bytes)
{
    struct hd_arena_guard *guard = (void *)(piece + ((bytes + 15) & ~(size_t)15));
    memset(piece, GUARD_PATTERN, (size_t)((char *)guard - piece) + sizeof guard->pattern);
    guard->next = arena->guards;
    guard->piece_end = (unsigned char *)piece + bytes;
    arena->guards = guard;
}

static void check_guards(const hd_arena *arena)
{
    for (const struct hd_arena_guard *guard = arena->guards; guard; guard = guard->next)
        for (const unsigned char *byte = guard->piece_end; byte < guard->pattern + sizeof guard->pattern; byte++)
            assert(*byte == GUARD_PATTERN);
}
#else
static void set_guard(hd_arena *arena, char *piece, size_t bytes) { (void)arena, (void)piece, (void)bytes; }
static void check_guards(const hd_arena *arena) { (void)arena; }
#endif

void hd_arena_init(hd_arena *arena) { *arena = (hd_arena){0}; }

void hd_arena_free(hd_arena *arena)
{
    check_guards(arena);
    for (hd_arena_chunk *chunk = arena->chunks; chunk;) {
        hd_arena_chunk *next = chunk->next;
        ASAN_UNPOISON_MEMORY_REGION(chunk->room, chunk->bytes);
        free(chunk);
        chunk = next;
    }
    hd_arena_init(arena);
}

static hd_arena_chunk *add_chunk(hd_arena *arena, size_t bytes)
{
    hd_arena_chunk *chunk = hd_malloc(sizeof *chunk + bytes);
    *chunk = (hd_arena_chunk){arena->chunks, bytes};
    arena->chunks = chunk;
    arena->reserved_bytes += sizeof *chunk + bytes;
    ASAN_POISON_MEMORY_REGION(chunk->room, bytes);
    return chunk;
}

static void next_chunk(hd_arena *arena)
{
    size_t bytes = hd_max(arena->reserved_bytes, FIRST_CHUNK_BYTES);
    if (bytes > LAST_CHUNK_BYTES)
        bytes = LAST_CHUNK_BYTES;
    bytes = (bytes - sizeof(hd_arena_chunk)) & ~(size_t)15;
    arena->next = add_chunk(arena, bytes)->room;
    arena->end = arena->next + bytes;
}

void *hd_arena_alloc_slow(hd_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        hd_out_of_memory(bytes);
    size_t room = ((bytes ? bytes : 1) + GAP_BYTES + 15) & ~(size_t)15;
    char *piece;
    if (room > (size_t)(arena->end - arena->next) && room >= LAST_CHUNK_BYTES / 4) {
        piece = add_chunk(arena, room)->room; /* its own chunk; the current chunk stays in use */
    } else {
        while (room > (size_t)(arena->end - arena->next))
            next_chunk(arena);
        piece = arena->next;
        arena->next += room;
    }
    ASAN_UNPOISON_MEMORY_REGION(piece, bytes);
    set_guard(arena, piece, bytes);
    return piece;
}

void *hd_arena_calloc(hd_arena *arena, size_t bytes)
{
    void *piece = hd_arena_alloc(arena, bytes);
    return memset(piece, 0, bytes);
}

void *hd_arena_copy(hd_arena *arena, const void *from, size_t bytes)
{
    void *piece = hd_arena_alloc(arena, bytes);
    return bytes ? memcpy(piece, from, bytes) : piece;
}

char *hd_arena_string(hd_arena *arena, const char *text, size_t length)
{
    char *copy = hd_arena_alloc(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *hd_arena_printf(hd_arena *arena, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length < 0)
        length = 0;
    char *text = hd_arena_alloc(arena, (size_t)length + 1);
    text[0] = 0;
    va_start(list, format);
    vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}
