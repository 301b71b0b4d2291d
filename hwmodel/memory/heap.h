/* The device heap: what malloc and free of kernels take from. One block of global memory (8 MiB, as on a new CUDA
 * context), made where a program that calls them is decoded; what is in it stays from launch to launch.
 *
 * Only bytes of a block that is in use may be accessed: blocks have 16 unused bytes between them, and what was freed is
 * not used again before the heap has been gone through, so that accesses next to a block and after free are found.
 *
 *   allocate   next fit: from where the last block was placed, upward, then once more from the start
 *   find       binary search
 *
 * Blocks are kept in order of their addresses. Threads: every function takes the heap's lock.
 */
#ifndef HD_HWMODEL_MEMORY_HEAP_H
#define HD_HWMODEL_MEMORY_HEAP_H

#include "base/array.h"
#include "base/source.h"
#include <pthread.h>
#include <stdbool.h>

enum { HD_HEAP_BYTES = 8 << 20, HD_HEAP_ALIGN = 16, HD_HEAP_GAP = 16 };

/* Who called malloc or free. */
typedef struct hd_heap_place {
    hd_span span;      /* of the call, in the module's text */
    uint32_t location; /* its .loc, in the module's list, or HD_NONE */
    uint32_t block[3], thread[3];
} hd_heap_place;

typedef struct hd_heap_block {
    uint64_t base, size;
    bool freed;
    hd_heap_place allocated_at, freed_at;
} hd_heap_block;

typedef struct hd_heap {
    uint64_t base, size;
    HD_ARRAY(hd_heap_block) blocks;
    uint64_t next; /* no block lies at or after it before blocks[index] */
    uint32_t index;
    pthread_mutex_t lock;
} hd_heap;

hd_heap *hd_heap_new(uint64_t base, uint64_t size);
void hd_heap_free(hd_heap *heap);

/* Address of a new block; 0 for no bytes, or where there is no room. */
uint64_t hd_heap_allocate(hd_heap *heap, uint64_t size, const hd_heap_place *place);

typedef enum hd_heap_result { HD_HEAP_DONE, HD_HEAP_FREED_BEFORE, HD_HEAP_NO_BLOCK } hd_heap_result;
/* *block: the block that was freed before, or the nearest below the address (size 0: none). */
hd_heap_result hd_heap_release(hd_heap *heap, uint64_t address, const hd_heap_place *place, hd_heap_block *block);

/* The last block that starts at or below the address; false where none does. */
bool hd_heap_find(hd_heap *heap, uint64_t address, hd_heap_block *block);

#endif
