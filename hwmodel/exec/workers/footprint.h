/* Records the bytes of global memory that CTAs access while others run on other host threads: detects launches whose
 * result could depend on the number of threads, and saves the original memory.
 *
 * The execution of a host thread is divided into epochs. An epoch covers consecutive CTAs in index order, from the
 * first, and lasts from one reading of the pool's clock (`begun`) to another (`ended`). For each page it has marks:
 * which bytes were read, and which were written (atomics write).
 *
 * Two epochs a and b, where a's first CTA is not after b's, are in order if a ended before b began: then all of a
 * happened before all of b, as in serial execution. Epochs of one thread always are. Others conflict if both access a
 * byte that one of them writes. Without conflicts, accesses of a written byte are in serial order, so each read returns
 * the serial value, and the last write of each byte is the same. A conflict means only that the order is unknown.
 *
 * An epoch is compared, when it is closed, with those closed before; marks are dropped when all open and future
 * epochs are in order with them. So memory and time depend on what runs concurrently, not on the size of the launch.
 *
 * Most data read is never written: for reads only the allocation is recorded, not the bytes. If the allocation is then
 * written in the same launch, that is insufficient: the launch runs again, with all reads of this allocation recorded
 * (`byte_precise`). For textures no more is ever recorded.
 *
 * Before the first write to a page its bytes are saved. */
#ifndef HD_HWMODEL_EXEC_WORKERS_FOOTPRINT_H
#define HD_HWMODEL_EXEC_WORKERS_FOOTPRINT_H

#include "hwmodel/memory/memory.h"
#include <stdatomic.h>

enum {
    HD_MARK_WORDS = HD_PAGE_BYTES / 64,
    HD_MOST_MARKS = 1 << 18, /* maximum number of page marks at a time (1 KiB each); more count as a conflict */
};

typedef struct hd_epoch hd_epoch;

typedef struct hd_page_marks {
    /* closed marks of this page; `link` points to this one. Free ones use only next */
    struct hd_page_marks *next, **link;
    const hd_epoch *epoch;
    uint32_t page;
    bool reads, writes;                                   /* otherwise the words are not initialized */
    uint64_t read[HD_MARK_WORDS], written[HD_MARK_WORDS]; /* one bit per byte */
} hd_page_marks;

struct hd_epoch {
    hd_epoch *next;
    uint64_t first;        /* CTA */
    uint64_t begun, ended; /* the pool's clock */
    bool alone;            /* all CTAs before its first had ended when it began */
    HD_ARRAY(hd_page_marks *) pages;
};

/* The original contents of a page. */
typedef struct hd_saved_page {
    unsigned char *bytes;
    const unsigned char *copy; /* NULL: zeros */
    uint32_t size;
} hd_saved_page;

struct hd_overlaps;

/* What one host thread reads and writes. */
typedef struct hd_footprint {
    struct hd_overlaps *overlaps;
    hd_page_marks **at; /* by page: of the open epoch, or NULL */
    hd_epoch *epoch;    /* the open one, or NULL */
    hd_page_marks *free;
    const bool *byte_precise; /* by allocation: of the launch */
    atomic_uchar *read;       /* by allocation: read without marks; queried by other threads */
    bool *wrote;              /* by allocation */
    hd_u32_array written;     /* indices of written allocations */
    HD_ARRAY(hd_saved_page) saved;
    HD_ARRAY(unsigned char *) rooms; /* memory for saved pages */
    unsigned char *room;             /* the newest; bytes from its start are free */
    uint32_t room_bytes;
} hd_footprint;

/* For one launch. Callers hold the pool's lock unless stated otherwise. */
typedef struct hd_overlaps {
    hd_footprint *footprints;
    uint32_t count, pages, allocations;
    bool *byte_precise, *texels; /* by allocation; texels: read through a texture */
    hd_page_marks **closed;      /* by page */
    atomic_uchar *saved;         /* by page, without the lock: hd_page_state */
    hd_epoch *epochs;            /* closed, with marks that are still needed */
    uint64_t clock;
    atomic_uint marks; /* their number; without the lock */
    atomic_bool found; /* a conflict; may be set and read without the lock */
    bool imprecise;    /* something was written whose reads were not recorded by byte: `byte_precise` includes it now */
} hd_overlaps;

/* Without lock: before the threads start, and after all have ended. byte_precise: by allocation; input and output. */
void hd_overlaps_init(hd_overlaps *overlaps, const hd_memory *memory, uint32_t threads, bool *byte_precise);
/* the first byte of the texture */
void hd_overlaps_texels(hd_overlaps *overlaps, const hd_memory *memory, const unsigned char *bytes);
void hd_overlaps_finish(hd_overlaps *overlaps);  /* `found` and `imprecise` are final */
void hd_overlaps_restore(hd_overlaps *overlaps); /* restores memory */
void hd_overlaps_free(hd_overlaps *overlaps);

static inline void hd_overlaps_found(hd_overlaps *overlaps)
{
    atomic_store_explicit(&overlaps->found, true, memory_order_relaxed);
}
static inline bool hd_overlaps_any(const hd_overlaps *overlaps)
{
    return atomic_load_explicit(&overlaps->found, memory_order_relaxed);
}

void hd_footprint_open(hd_footprint *footprint, uint64_t first, bool alone);
void hd_footprint_close(hd_footprint *footprint); /* may find conflicts */

/* Only by the thread of the footprint, without the lock; before bytes are written, while the epoch is open. Only
 * marks bytes of the allocation. */
bool hd_footprint_mark_lanes(hd_footprint *footprint, const hd_allocation *allocation, const uint64_t *addresses,
                             uint32_t mask, uint32_t bytes, bool write);
void hd_footprint_mark_range(hd_footprint *footprint, const hd_allocation *allocation, uint64_t address, uint64_t bytes,
                             bool write);

/* Whether it suffices to record that the allocation was read. */
static inline bool hd_footprint_reads(hd_footprint *f, const hd_allocation *a)
{
    if (f->byte_precise[a->index])
        return false;
    atomic_store_explicit(&f->read[a->index], 1, memory_order_relaxed);
    return true;
}

/* bytes: a power of two up to 32 that divides the addresses. true: the bytes of all lanes are known to be contiguous */
static inline bool hd_footprint_lanes(hd_footprint *f, const hd_allocation *a, const uint64_t *addresses, uint32_t mask,
                                      uint32_t bytes, bool write)
{
    return (write || !hd_footprint_reads(f, a)) && hd_footprint_mark_lanes(f, a, addresses, mask, bytes, write);
}
static inline void hd_footprint_range(hd_footprint *f, const hd_allocation *a, uint64_t address, uint64_t bytes,
                                      bool write)
{
    if (write || !hd_footprint_reads(f, a))
        hd_footprint_mark_range(f, a, address, bytes, write);
}

#endif
