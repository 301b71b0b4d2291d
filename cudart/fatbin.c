/* Reads containers of device code: {magic, version, header size, bytes}, then entries, each with a header and a payload
 * that may be compressed with zstd or LZ4. Of the entries with PTX, the one for the highest architecture that the GPU
 * can take counts; if there is only PTX for later ones, the lowest of these, because the model has no generation of its
 * own. Every size is checked: a container may be damaged. */
#include "cudart/runtime.h"
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
#define MOST_BYTES (1ull << 31) /* of a text */

static bool unpack(const fatbin_entry *e, const unsigned char *payload, hd_writer *text)
{
    if (!(e->flags & (FLAG_LZ4 | FLAG_ZSTD))) {
        hd_write(text, (const char *)payload, (size_t)e->payload_bytes);
        return true;
    }
    if (e->plain_bytes > MOST_BYTES || e->compressed_bytes > e->payload_bytes)
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

static const fatbin_entry *choose(const fatbin_header *container, uint32_t capability, hd_arena *arena,
                                  const char **has)
{
    const unsigned char *at = (const unsigned char *)container + container->header_bytes, *end = at + container->bytes;
    const fatbin_entry *best = NULL;
    while ((size_t)(end - at) >= sizeof(fatbin_entry)) {
        const fatbin_entry *e = (const fatbin_entry *)at;
        if (e->header_bytes < sizeof *e || e->header_bytes > (size_t)(end - at) ||
            e->payload_bytes > (size_t)(end - at) - e->header_bytes)
            break;
        if (e->kind == KIND_PTX && (!best || is_better(e, best, capability)))
            best = e;
        if (e->kind == KIND_CUBIN)
            *has = hd_arena_printf(arena, "%s%ssm_%u", *has ? *has : "", *has ? ", " : "", e->architecture);
        at += e->header_bytes + e->payload_bytes;
    }
    return best;
}

bool hd_fatbin_read(const void *data, uint32_t capability, hd_arena *arena, hd_sources *sources, const char **has)
{
    const fatbin_header *container = data;
    if (!container || container->magic != (uint32_t)HD_FATBIN_CONTAINER || container->header_bytes < sizeof *container)
        return false;
    const fatbin_entry *e = choose(container, capability, arena, has);
    hd_writer text;
    hd_writer_to_memory(&text);
    if (!e || !unpack(e, (const unsigned char *)e + e->header_bytes, &text)) {
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
