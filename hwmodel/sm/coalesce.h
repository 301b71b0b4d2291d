/* How the lanes of a memory instruction share accesses: lines of memory, passes over the banks of shared memory. */
#ifndef HD_HWMODEL_SM_COALESCE_H
#define HD_HWMODEL_SM_COALESCE_H

#include <stdint.h>

typedef struct hd_line_access {
    uint64_t address; /* of the line, in bytes */
    uint32_t sectors; /* of it, from the lowest address up */
    uint32_t lanes;   /* of atomics: most lanes that access one address, which are served one by one; else 1 */
} hd_line_access;
enum { HD_LINE_ACCESSES = 64 /* a lane's access crosses at most one line */ };

/* The lines that the lanes access, `bytes` each, in the order of the first lane that needs each; their number. */
uint32_t hd_coalesce(const uint64_t addresses[32], uint32_t lanes, uint32_t bytes, uint32_t line_bytes,
                     uint32_t sector_bytes, hd_line_access lines[HD_LINE_ACCESSES]);
/* Called after that for an atomic: sets `lanes` of each line. */
void hd_coalesce_lanes(const uint64_t addresses[32], uint32_t lanes, uint32_t line_bytes, hd_line_access *lines,
                       uint32_t count);
/* As hd_coalesce, with the bytes of each lane, at most a line; a lane with none accesses nothing. */
uint32_t hd_coalesce_sizes(const uint64_t addresses[32], uint32_t lanes, const uint64_t bytes[32], uint32_t line_bytes,
                           uint32_t sector_bytes, hd_line_access lines[HD_LINE_ACCESSES]);

/* Passes over shared memory: the most different words that one bank has to serve. Lanes that access the same word share
 * it. Accesses of 8 bytes are served for 16 lanes at a time, of 16 bytes for 8. */
uint32_t hd_shared_passes(const uint64_t addresses[32], uint32_t lanes, uint32_t bytes, uint32_t banks);
/* What that would be without bank conflicts: one pass for each group of lanes that is served together. */
uint32_t hd_shared_least_passes(uint32_t lanes, uint32_t bytes);
/* The most lanes of an atomic that one bank has to serve, one at a time. */
uint32_t hd_shared_atomic_passes(const uint64_t addresses[32], uint32_t lanes, uint32_t banks);

#endif
