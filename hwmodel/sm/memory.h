/* The memory system that all SMs share: interconnect, slices of the L2 cache, channels of device memory.
 *
 * An SM sends requests for sectors of one L2 line. A request takes its turn at the SM's port and at the slice's, each
 * `interconnect.bytes` wide, and the latency of one way; the slice takes one request a cycle, answers a hit after
 * `l2.latency`, and asks its channel for the sectors that it misses. Requests for sectors that are on their way wait
 * for these. Writes and atomics are done in the slice: a write needs no sector of device memory, and is written back
 * when its line leaves; an atomic reads, and occupies the slice for as many cycles as lanes meet at one address. All
 * are answered where the SM wants it, writes without data.
 *
 * Times are cycles of the SMs' clock. Events are handled in the order of their time, and of their making where that is
 * the same, so that a run depends on nothing but its requests.
 */
#ifndef HD_HWMODEL_SM_MEMORY_H
#define HD_HWMODEL_SM_MEMORY_H

#include "hwmodel/sm/cache.h"
#include "hwmodel/sm/dram.h"

typedef enum hd_memory_kind { HD_MEMORY_READ, HD_MEMORY_WRITE, HD_MEMORY_ATOMIC } hd_memory_kind;

typedef struct hd_memory_request {
    uint64_t address; /* of the L2 line, in bytes */
    uint32_t sectors; /* of it */
    uint8_t kind;     /* hd_memory_kind */
    bool answers;     /* the SM wants to know when it is done */
    uint16_t sm;
    uint16_t cycles; /* of an atomic: that it occupies the slice */
    uint32_t token;  /* the SM's own */
} hd_memory_request;

typedef struct hd_memory_answer { /* to a request */
    uint64_t now;
    uint32_t sectors, hits; /* hits: of an atomic or a read, those that the L2 cache had when the request came */
    uint32_t token;
    uint16_t sm;
} hd_memory_answer;

typedef struct hd_memory_counts {
    uint64_t l2_reads, l2_read_hits, l2_writes, l2_atomics; /* requests */
    uint64_t dram_reads, dram_writes, dram_row_hits;        /* requests */
    uint64_t dram_bytes, interconnect_bytes;
} hd_memory_counts;

typedef struct hd_memory_system hd_memory_system;

/* `answer` is called in hd_memory_advance, at the time that it is about. */
hd_memory_system *hd_memory_system_new(const hd_machine *machine, uint32_t sms,
                                       void (*answer)(void *context, const hd_memory_answer *answer), void *context);
void hd_memory_system_free(hd_memory_system *memory);
/* `now` never goes back. */
void hd_memory_send(hd_memory_system *memory, uint64_t now, const hd_memory_request *request);
/* Cycle in which the SM's port takes the next request. */
uint64_t hd_memory_port_free(const hd_memory_system *memory, uint16_t sm);
/* The time of the next event; UINT64_MAX: nothing is on its way. */
uint64_t hd_memory_next(const hd_memory_system *memory);
/* Handles all events up to and including `now`. */
void hd_memory_advance(hd_memory_system *memory, uint64_t now);
/* Nothing is on its way or waits, and all bytes that SMs have asked for, or sent to be answered, are answered. */
bool hd_memory_is_idle(const hd_memory_system *memory);
hd_memory_counts hd_memory_count(const hd_memory_system *memory);

#endif
