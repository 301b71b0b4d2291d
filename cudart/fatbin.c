/* Reads containers of device code: {magic, version, header size, bytes}, then entries, each with a header and a payload
 * that may be compressed with zstd or LZ4. Of the entries with PTX, the one for the highest architecture that the GPU
 * can take counts; if there is only PTX for later ones, the lowest of these, because the model has no generation of its
 * own. Every size is checked: a container may be damaged. */
#include "cudart/fatbin.h"
#include "cudart/abi.h"
#include <lz4.h>
#include <zstd.h>

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
} fatbin_header;

typedef struct fatbin_entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t payload_bytes;
    uint32_t compressed_bytes, options_at;
    uint16_t minor, major;
    uint32_t architecture, name_at, name_bytes;
    uint64_t flags, zero, plain_bytes;
} fatbin_entry;
_Static_assert(sizeof(fatbin_entry) == 64, "an entry's header has 64 bytes");

enum { KIND_PTX = 1, KIND_CUBIN = 2 };
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define MOST_BYTES (1ull << 30)                   /* of a text */
enum { MOST_RATIO = 4096, FREE_BYTES = 1 << 20 }; /* of a text to what it was compressed to, beyond the free bytes */

static bool unpack(const fatbin_entry *e, const unsigned char *payload, hd_writer *text)
{
    if (!(e->flags & (FLAG_LZ4 | FLAG_ZSTD))) {
        if (e->payload_bytes > MOST_BYTES)
            return false;
        hd_write(text, (const char *)payload, (size_t)e->payload_bytes);
        return true;
    }
    if (e->plain_bytes > MOST_BYTES || e->compressed_bytes > e->payload_bytes || e->compressed_bytes > MOST_BYTES ||
        e->plain_bytes > FREE_BYTES + MOST_RATIO * (uint64_t)e->compressed_bytes)
        return false;
    char *plain = hd_malloc((size_t)e->plain_bytes + 1);
    size_t got;
    if (e->flags & FLAG_ZSTD) {
        got = ZSTD_decompress(plain, (size_t)e->plain_bytes, payload, e->compressed_bytes);
    } else {
        int bytes = LZ4_decompress_safe((const char *)payload, plain, (int)e->compressed_bytes, (int)e->plain_bytes);
        got = bytes < 0 ? (size_t)-1 : (size_t)bytes;
    }
    bool good = got == e->plain_bytes;
    if (good)
        hd_write(text, plain, got);
    free(plain);
    return good;
}

/* Whether entry a fits the GPU better than b. */
static bool is_better(const fatbin_entry *a, const fatbin_entry *b, uint32_t capability)
{
    bool fits = a->architecture <= capability, other_fits = b->architecture <= capability;
    if (fits != other_fits)
        return fits;
    return fits ? a->architecture > b->architecture : a->architecture < b->architecture;
}

/* The container's entries: as many bytes as it says it has, and are there. false: it is none. */
static bool open_container(const unsigned char *data, size_t size, const unsigned char **at, size_t *bytes)
{
    fatbin_header header;
    if (size < sizeof header)
        return false;
    memcpy(&header, data, sizeof header);
    if (header.magic != (uint32_t)HD_FATBIN_CONTAINER || header.header_bytes < sizeof header ||
        header.header_bytes > size)
        return false;
    *at = data + header.header_bytes;
    *bytes = size - header.header_bytes;
    *bytes = header.bytes < *bytes ? (size_t)header.bytes : *bytes;
    return true;
}

/* The entry at the beginning; false: it does not fit. */
static bool read_entry(const unsigned char *at, size_t left, fatbin_entry *e)
{
    if (left < sizeof *e)
        return false;
    memcpy(e, at, sizeof *e);
    return e->header_bytes >= sizeof *e && e->header_bytes <= left && e->payload_bytes <= left - e->header_bytes;
}

/* The payload of the entry that fits best; NULL: there is no PTX. */
static const unsigned char *choose(const unsigned char *at, size_t left, uint32_t capability, fatbin_entry *best,
                                   hd_arena *arena, const char **has)
{
    const unsigned char *payload = NULL;
    for (fatbin_entry e; read_entry(at, left, &e);) {
        size_t bytes = (size_t)e.payload_bytes + e.header_bytes;
        if (e.kind == KIND_PTX && (!payload || is_better(&e, best, capability))) {
            *best = e;
            payload = at + e.header_bytes;
        }
        if (e.kind == KIND_CUBIN && has)
            *has = hd_arena_printf(arena, "%s%ssm_%u", *has ? *has : "", *has ? ", " : "", e.architecture);
        at += bytes;
        left -= bytes;
    }
    return payload;
}

uint32_t hd_fatbin_architecture(const void *data, size_t size, uint32_t capability)
{
    const unsigned char *at;
    fatbin_entry e;
    size_t bytes;
    bool found = open_container(data, size, &at, &bytes) && choose(at, bytes, capability, &e, NULL, NULL);
    return found ? e.architecture : 0;
}

bool hd_fatbin_read(const void *data, size_t size, uint32_t capability, hd_arena *arena, hd_sources *sources,
                    const char **has)
{
    const unsigned char *at;
    fatbin_entry e;
    size_t bytes;
    if (!open_container(data, size, &at, &bytes))
        return false;
    const unsigned char *payload = choose(at, bytes, capability, &e, arena, has);
    hd_writer text;
    hd_writer_to_memory(&text);
    if (!payload || !unpack(&e, payload, &text)) {
        hd_writer_free(&text);
        return false;
    }
    /* a text ends at its first NUL: uncompressed payloads are padded */
    size_t length = strnlen(text.buffer.items, text.buffer.count);
    hd_source source;
    hd_source_from_memory(&source, "program.ptx", text.buffer.items, length);
    hd_array_push(sources, source);
    hd_writer_free(&text);
    return true;
}
