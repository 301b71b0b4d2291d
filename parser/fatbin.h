/* Containers of device code (fat binaries): entries with PTX or a cubin, which may be compressed. Nothing of a
 * container is trusted, but that as many bytes as are given can be read. */
#ifndef HD_PARSER_FATBIN_H
#define HD_PARSER_FATBIN_H

#include "base/array.h"
#include "base/source.h"
#include "base/writer.h"

enum { HD_FATBIN_MAGIC = (int)0xba55ed50 };

typedef enum hd_fatbin_kind { HD_FATBIN_PTX = 1, HD_FATBIN_CUBIN = 2 } hd_fatbin_kind;

typedef struct hd_fatbin_entry {
    uint32_t kind;         /* hd_fatbin_kind, or another number */
    uint32_t architecture; /* 90 of sm_90 */
    uint64_t flags;
    const unsigned char *payload; /* in the container */
    uint64_t payload_bytes;
    uint64_t packed_bytes,
        plain_bytes; /* where it is compressed; packed_bytes may exceed the payload in a damaged one */
} hd_fatbin_entry;

/* The entries that have not been read. */
typedef struct hd_fatbin {
    const unsigned char *at;
    size_t left;
} hd_fatbin;

/* false: the bytes are no container. *bytes, if not NULL, is the length of the container, at most `size`. */
bool hd_fatbin_open(hd_fatbin *fatbin, const void *container, size_t size, size_t *bytes);
/* The next entry; false: there is none, or it does not fit in the container. */
bool hd_fatbin_next(hd_fatbin *fatbin, hd_fatbin_entry *entry);
/* Writes the entry's contents. false: they are damaged, or larger than their compressed bytes may become; then nothing
 * is written. */
bool hd_fatbin_unpack(const hd_fatbin_entry *entry, hd_writer *contents);

typedef HD_ARRAY(hd_source) hd_sources;
/* Adds the PTX of a container that fits best: the highest architecture up to `capability`, else the lowest. false: it
 * has none (*has: the cubins that it has, in words). */
bool hd_fatbin_read(const void *container, size_t size, uint32_t capability, hd_arena *arena, hd_sources *sources,
                    const char **has);
/* The architecture of that PTX; 0: there is none. */
uint32_t hd_fatbin_architecture(const void *container, size_t size, uint32_t capability);

/* Writes the cubin of a container that runs on a GPU of that capability: of the same major number, and of these the
 * highest that is not above; where `oldest` is above the capability, the lowest from that one on. *architecture is its
 * own. false: there is none, or it is damaged. */
bool hd_fatbin_read_cubin(const void *container, size_t size, uint32_t capability, uint32_t oldest, hd_writer *cubin,
                          uint32_t *architecture);

/* Writes a container with that cubin, uncompressed. */
void hd_fatbin_write_cubin(hd_writer *writer, const hd_source *cubin, uint32_t architecture);

#endif
