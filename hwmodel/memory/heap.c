/* The device heap: see heap.h. */
#include "hwmodel/memory/heap.h"
#include "base/search.h"

hd_heap *hd_heap_new(uint64_t base, uint64_t size)
{
    hd_heap *heap = hd_calloc(1, sizeof *heap);
    heap->base = heap->next = base;
    heap->size = size;
    pthread_mutex_init(&heap->lock, NULL);
    return heap;
}

void hd_heap_free(hd_heap *heap)
{
    if (!heap)
        return;
    hd_array_free(&heap->blocks);
    pthread_mutex_destroy(&heap->lock);
    free(heap);
}

/* Restarts the search: freed bytes may be reused. */
static void start_over(hd_heap *heap)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < heap->blocks.count; i++)
        if (!heap->blocks.items[i].freed)
            heap->blocks.items[kept++] = heap->blocks.items[i];
    heap->blocks.count = kept;
    heap->index = 0;
    heap->next = heap->base;
}

/* Advances to a gap of `room` bytes; false at the end of the heap. */
static bool seek(hd_heap *heap, uint64_t room)
{
    for (;; heap->index++) {
        bool last = heap->index == heap->blocks.count;
        uint64_t end = last ? heap->base + heap->size : heap->blocks.items[heap->index].base;
        if (heap->next <= end && end - heap->next >= room)
            return true;
        if (last)
            return false;
        const hd_heap_block *b = &heap->blocks.items[heap->index];
        heap->next = b->base + (b->size + HD_HEAP_ALIGN - 1) / HD_HEAP_ALIGN * HD_HEAP_ALIGN + HD_HEAP_GAP;
    }
}

static uint64_t place_block(hd_heap *heap, uint64_t size, uint64_t room, const hd_heap_call *call)
{
    hd_heap_block block = {.base = heap->next, .size = size, .allocated_at = *call};
    uint32_t following = heap->blocks.count - heap->index;
    hd_array_push(&heap->blocks, block);
    hd_heap_block *at = &heap->blocks.items[heap->index];
    memmove(at + 1, at, following * sizeof *at);
    *at = block;
    heap->index++;
    heap->next += room;
    return block.base;
}

uint64_t hd_heap_allocate(hd_heap *heap, uint64_t size, const hd_heap_call *call)
{
    uint64_t room = (size + HD_HEAP_ALIGN - 1) / HD_HEAP_ALIGN * HD_HEAP_ALIGN + HD_HEAP_GAP, address = 0;
    if (!size || size > heap->size)
        return 0;
    pthread_mutex_lock(&heap->lock);
    bool found = seek(heap, room);
    if (!found) {
        start_over(heap);
        found = seek(heap, room);
    }
    if (found)
        address = place_block(heap, size, room, call);
    pthread_mutex_unlock(&heap->lock);
    return address;
}

static hd_heap_block *last_below(hd_heap *heap, uint64_t address)
{
    uint32_t low = 0, high = heap->blocks.count;
    HD_SEARCH(low, high, at, heap->blocks.items[at].base <= address);
    return low ? &heap->blocks.items[low - 1] : NULL;
}

hd_heap_result hd_heap_release(hd_heap *heap, uint64_t address, const hd_heap_call *call, hd_heap_block *block)
{
    pthread_mutex_lock(&heap->lock);
    hd_heap_block *b = last_below(heap, address);
    hd_heap_result result = !b || b->base != address ? HD_HEAP_NO_BLOCK
                            : b->freed               ? HD_HEAP_FREED_BEFORE
                                                     : HD_HEAP_DONE;
    *block = b ? *b : (hd_heap_block){0};
    if (result == HD_HEAP_DONE) {
        b->freed = true;
        b->freed_at = *call;
    }
    pthread_mutex_unlock(&heap->lock);
    return result;
}

bool hd_heap_find(hd_heap *heap, uint64_t address, hd_heap_block *block)
{
    pthread_mutex_lock(&heap->lock);
    const hd_heap_block *b = last_below(heap, address);
    if (b)
        *block = *b;
    pthread_mutex_unlock(&heap->lock);
    return b != NULL;
}
