/* The device heap, used by malloc and free of kernels. One block of global memory (8 MiB, as in a new CUDA context),
 * allocated when a program that calls them is decoded; its contents persist between launches.
 *
 * Only bytes of allocated blocks may be accessed: blocks are separated by 16 unused bytes, and freed memory is not
 * reused until the allocator has reached the end of the heap, so that out-of-bounds accesses and uses after free are
 * detected.
 *
 *   allocate   next fit: upward from the last allocation, then once more from the start
 *   find       binary search
 *
 * Blocks are sorted by address. Thread-safe: every function takes the heap's lock.
 */
#ifndef HD_HWMODEL_MEMORY_HEAP_H
#define HD_HWMODEL_MEMORY_HEAP_H

#include "base/array.h"
#include "base/source.h"
#include <pthread.h>
#include <stdbool.h>

enum { HD_HEAP_BYTES = 8 << 20, HD_HEAP_ALIGN = 16, HD_HEAP_GAP = 16 };

/* The call of malloc or free. */
typedef struct hd_heap_call {
    hd_span span; /* of the call, in the module's text */
    uint32_t block[3], thread[3];
} hd_heap_call;

typedef struct hd_heap_block {
    uint64_t base, size;
    bool freed;
    hd_heap_call allocated_at, freed_at;
} hd_heap_block;

typedef struct hd_heap {
    uint64_t base, size;
    HD_ARRAY(hd_heap_block) blocks;
    uint64_t next; /* no block at or after it precedes blocks[index] */
    uint32_t index;
    pthread_mutex_t lock;
} hd_heap;

hd_heap *hd_heap_new(uint64_t base, uint64_t size);
void hd_heap_free(hd_heap *heap);

/* Address of a new block; 0 for size 0, or if there is no room. */
uint64_t hd_heap_allocate(hd_heap *heap, uint64_t size, const hd_heap_call *call);

typedef enum hd_heap_result { HD_HEAP_DONE, HD_HEAP_FREED_BEFORE, HD_HEAP_NO_BLOCK } hd_heap_result;
/* *block: for a double free, the block freed before; else the nearest one below the address (size 0: none). */
hd_heap_result hd_heap_release(hd_heap *heap, uint64_t address, const hd_heap_call *call, hd_heap_block *block);

/* The last block that starts at or below the address; false: none. */
bool hd_heap_find(hd_heap *heap, uint64_t address, hd_heap_block *block);

#endif
