/* Which bytes of global memory CTAs touch while others run on other host threads: finds launches whose result could
 * depend on how many threads there are, and keeps what memory was before.
 *
 * What a host thread runs is cut into segments. A segment is of CTAs that follow each other in the order of their
 * index, from the first one on, and lasts from one reading of the crew's clock (`begun`) to another (`ended`). For each
 * page that it touched it has marks: which bytes were read, which were written (atomics write).
 *
 * Two segments a and b, a's first CTA not behind b's, are in order if a ended before b began: then all of a happened
 * before all of b, as it does on one thread. Segments of one thread always are. Others conflict if they touch a byte
 * that one of them writes. Where no two conflict, accesses of a byte that is written come in the order of one thread,
 * so each read has the value that it has there, and each byte keeps the same write. A conflict says no more than that
 * the order is not known.
 *
 * A segment is compared when it is closed, with those that were closed before; marks are dropped when all that are open
 * or still to come are in order with them. So memory and time follow what runs at the same time, not the whole launch.
 *
 * Most of what is read is never written: of an allocation it is only noted that it was read, not which bytes. Where it
 * turns out to be written in the same launch, that is not enough to know: the launch has to run again, with all reads
 * of this allocation noted (`exact`). Of textures no more is ever noted.
 *
 * Before the first write to a page its bytes are saved. */
#ifndef HD_HWMODEL_EXEC_CREW_FOOTPRINT_H
#define HD_HWMODEL_EXEC_CREW_FOOTPRINT_H

#include "hwmodel/memory/memory.h"
#include <stdatomic.h>

enum {
    HD_MARK_WORDS = HD_PAGE_BYTES / 64,
    HD_MOST_MARKS = 1 << 18, /* pages' marks at a time (1 KiB each): with more a launch counts as one with a conflict */
};

typedef struct hd_segment hd_segment;

typedef struct hd_page_marks {
    struct hd_page_marks *next, **link; /* closed ones of this page; `link` points here. Of free ones: next alone */
    const hd_segment *segment;
    uint32_t page;
    bool reads, writes;                                   /* else the words are not cleared */
    uint64_t read[HD_MARK_WORDS], written[HD_MARK_WORDS]; /* a bit a byte */
} hd_page_marks;

struct hd_segment {
    hd_segment *next;
    uint64_t first;        /* CTA */
    uint64_t begun, ended; /* the crew's clock */
    bool alone;            /* when it began all CTAs before its first had ended */
    HD_ARRAY(hd_page_marks *) pages;
};

/* A page as it was. */
typedef struct hd_saved_page {
    unsigned char *bytes;
    const unsigned char *copy; /* NULL: zeros */
    uint32_t size;
} hd_saved_page;

struct hd_overlaps;

/* Of one host thread. */
typedef struct hd_footprint {
    struct hd_overlaps *overlaps;
    hd_page_marks **at;  /* by page: of the open segment, or NULL */
    hd_segment *segment; /* the open one, or NULL */
    hd_page_marks *free;
    const bool *exact;    /* by allocation: of the launch */
    atomic_uchar *read;   /* by allocation: without marks; other threads ask it too */
    bool *wrote;          /* by allocation */
    hd_u32_array written; /* allocations */
    HD_ARRAY(hd_saved_page) saved;
    HD_ARRAY(unsigned char *) rooms; /* for their copies */
    unsigned char *room;             /* the newest: its first bytes are free */
    uint32_t room_bytes;
} hd_footprint;

/* Of one launch. Whoever calls holds the crew's lock, where nothing else is said. */
typedef struct hd_overlaps {
    hd_footprint *footprints;
    uint32_t count, pages, allocations;
    bool *exact, *texels;   /* by allocation; texels: something reads them as such */
    hd_page_marks **closed; /* by page */
    atomic_uchar *saved;    /* by page, without the lock: hd_page_state */
    hd_segment *segments;   /* closed, with marks that are still needed */
    uint64_t clock;
    atomic_uint marks; /* that there are; without the lock */
    atomic_bool found; /* a conflict; may be set and asked without the lock */
    bool vague;        /* something was written of which it was not noted what was read: `exact` has it now */
} hd_overlaps;

/* Not under a lock: before the threads begin, after all have ended. exact: by allocation, to be read and added to. */
void hd_overlaps_init(hd_overlaps *overlaps, const hd_memory *memory, uint32_t threads, bool *exact);
/* the texture's first */
void hd_overlaps_texels(hd_overlaps *overlaps, const hd_memory *memory, const unsigned char *bytes);
void hd_overlaps_finish(hd_overlaps *overlaps);  /* `found` and `vague` are final */
void hd_overlaps_restore(hd_overlaps *overlaps); /* memory is as it was */
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

/* By the thread of the footprint alone, without the lock; before bytes are written, while the segment is open. Nothing
 * that is not in the allocation is touched. */
bool hd_footprint_mark_lanes(hd_footprint *footprint, const hd_allocation *allocation, const uint64_t *addresses,
                             uint32_t mask, uint32_t bytes, bool write);
void hd_footprint_mark_range(hd_footprint *footprint, const hd_allocation *allocation, uint64_t address, uint64_t bytes,
                             bool write);

/* Is it enough to note that the allocation was read? */
static inline bool hd_footprint_reads(hd_footprint *f, const hd_allocation *a)
{
    if (f->exact[a->index])
        return false;
    atomic_store_explicit(&f->read[a->index], 1, memory_order_relaxed);
    return true;
}

/* bytes: a power of two up to 32 that divides the addresses. true: those of all lanes are known to lie side by side */
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
