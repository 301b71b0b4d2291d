/* See fatbin.h. A container is {magic, version, header size, bytes}, then entries, each with a header and a payload
 * that may be compressed with zstd or LZ4. Of the entries with PTX, the one for the highest architecture that the GPU
 * can take counts; if there is only PTX for later ones, the lowest of these, because the model has no generation of its
 * own. Every size is checked: a container may be damaged. */
#include "parser/fatbin.h"
#include <lz4.h>
#include <zstd.h>

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
} fatbin_header;

typedef struct entry_header {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t payload_bytes;
    uint32_t compressed_bytes, options_at;
    uint16_t minor, major;
    uint32_t architecture, name_at, name_bytes;
    uint64_t flags, zero, plain_bytes;
} entry_header;
_Static_assert(sizeof(entry_header) == 64, "an entry's header has 64 bytes");

#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define MOST_BYTES (1ull << 30)                   /* of an entry */
enum { MOST_RATIO = 4096, FREE_BYTES = 1 << 20 }; /* of contents to their compressed bytes, beyond the free bytes */

/* ---- entries ----------------------------------------------------------------------------------------------------- */

bool hd_fatbin_open(hd_fatbin *f, const void *container, size_t size, size_t *bytes)
{
    fatbin_header header;
    if (size < sizeof header)
        return false;
    memcpy(&header, container, sizeof header);
    if (header.magic != (uint32_t)HD_FATBIN_MAGIC || header.header_bytes < sizeof header || header.header_bytes > size)
        return false;
    f->at = (const unsigned char *)container + header.header_bytes;
    f->left = size - header.header_bytes;
    f->left = header.bytes < f->left ? (size_t)header.bytes : f->left;
    if (bytes)
        *bytes = header.header_bytes + f->left;
    return true;
}

bool hd_fatbin_next(hd_fatbin *f, hd_fatbin_entry *e)
{
    entry_header header;
    if (f->left < sizeof header)
        return false;
    memcpy(&header, f->at, sizeof header);
    if (header.header_bytes < sizeof header || header.header_bytes > f->left ||
        header.payload_bytes > f->left - header.header_bytes)
        return false;
    *e = (hd_fatbin_entry){.kind = header.kind,
                           .architecture = header.architecture,
                           .flags = header.flags,
                           .payload = f->at + header.header_bytes,
                           .payload_bytes = header.payload_bytes,
                           .packed_bytes = header.compressed_bytes,
                           .plain_bytes = header.plain_bytes};
    size_t bytes = (size_t)header.payload_bytes + header.header_bytes;
    f->at += bytes;
    f->left -= bytes;
    return true;
}

bool hd_fatbin_unpack(const hd_fatbin_entry *e, hd_writer *contents)
{
    if (!(e->flags & (FLAG_LZ4 | FLAG_ZSTD))) {
        if (e->payload_bytes > MOST_BYTES)
            return false;
        hd_write(contents, (const char *)e->payload, (size_t)e->payload_bytes);
        return true;
    }
    if (e->plain_bytes > MOST_BYTES || e->packed_bytes > e->payload_bytes || e->packed_bytes > MOST_BYTES ||
        e->plain_bytes > FREE_BYTES + MOST_RATIO * e->packed_bytes)
        return false;
    char *plain = hd_malloc((size_t)e->plain_bytes + 1);
    size_t got;
    if (e->flags & FLAG_ZSTD) {
        got = ZSTD_decompress(plain, (size_t)e->plain_bytes, e->payload, (size_t)e->packed_bytes);
    } else {
        int bytes = LZ4_decompress_safe((const char *)e->payload, plain, (int)e->packed_bytes, (int)e->plain_bytes);
        got = bytes < 0 ? (size_t)-1 : (size_t)bytes;
    }
    bool good = got == e->plain_bytes;
    if (good)
        hd_write(contents, plain, got);
    free(plain);
    return good;
}

/* ---- the PTX that fits best -------------------------------------------------------------------------------------- */

/* Whether entry a fits the GPU better than b. */
static bool is_better(const hd_fatbin_entry *a, const hd_fatbin_entry *b, uint32_t capability)
{
    bool fits = a->architecture <= capability, other_fits = b->architecture <= capability;
    if (fits != other_fits)
        return fits;
    return fits ? a->architecture > b->architecture : a->architecture < b->architecture;
}

/* false: there is no PTX. `has`, if not NULL: the architectures of the cubins, in words. */
static bool choose(const void *data, size_t size, uint32_t capability, hd_fatbin_entry *best, hd_arena *arena,
                   const char **has)
{
    hd_fatbin fatbin;
    bool found = false;
    if (!hd_fatbin_open(&fatbin, data, size, NULL))
        return false;
    for (hd_fatbin_entry e; hd_fatbin_next(&fatbin, &e);) {
        if (e.kind == HD_FATBIN_PTX && (!found || is_better(&e, best, capability))) {
            *best = e;
            found = true;
        }
        if (e.kind == HD_FATBIN_CUBIN && has)
            *has = hd_arena_printf(arena, "%s%ssm_%u", *has ? *has : "", *has ? ", " : "", e.architecture);
    }
    return found;
}

uint32_t hd_fatbin_architecture(const void *data, size_t size, uint32_t capability)
{
    hd_fatbin_entry e;
    return choose(data, size, capability, &e, NULL, NULL) ? e.architecture : 0;
}

bool hd_fatbin_read(const void *data, size_t size, uint32_t capability, hd_arena *arena, hd_sources *sources,
                    const char **has)
{
    hd_fatbin_entry e;
    hd_writer text;
    hd_writer_to_memory(&text);
    bool good = choose(data, size, capability, &e, arena, has) && hd_fatbin_unpack(&e, &text);
    if (good) {
        /* a text ends at its first NUL: uncompressed payloads are padded */
        size_t length = strnlen(text.buffer.items, text.buffer.count);
        hd_source source;
        hd_source_from_memory(&source, "PTX of the program", text.buffer.items, length);
        hd_array_push(sources, source);
    }
    hd_writer_free(&text);
    return good;
}

/* ---- the cubin that fits best ------------------------------------------------------------------------------------ */

bool hd_fatbin_read_cubin(const void *data, size_t size, uint32_t capability, uint32_t oldest, hd_writer *cubin,
                          uint32_t *architecture)
{
    enum { MAJOR = 10 };
    hd_fatbin fatbin;
    hd_fatbin_entry best = {0};
    bool found = false, old = capability < oldest;
    if (!hd_fatbin_open(&fatbin, data, size, NULL))
        return false;
    for (hd_fatbin_entry e; hd_fatbin_next(&fatbin, &e);) {
        bool fits = e.kind == HD_FATBIN_CUBIN && e.architecture >= oldest &&
                    (old || capability == UINT32_MAX ||
                     (e.architecture <= capability && e.architecture / MAJOR == capability / MAJOR));
        if (fits && (!found || (e.architecture > best.architecture) != old)) {
            best = e;
            found = true;
        }
    }
    *architecture = best.architecture;
    return found && hd_fatbin_unpack(&best, cubin);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

void hd_fatbin_write_cubin(hd_writer *writer, const hd_source *cubin, uint32_t architecture)
{
    enum { VERSION = 1, ENTRY_VERSION = 0x101, MAJOR = 8, FLAGS = 0x11, ALIGNMENT = 8 };
    static const char zeros[ALIGNMENT];
    uint32_t padding = (ALIGNMENT - cubin->length % ALIGNMENT) % ALIGNMENT;
    const entry_header entry = {.kind = HD_FATBIN_CUBIN,
                                .version = ENTRY_VERSION,
                                .header_bytes = sizeof entry,
                                .payload_bytes = (uint64_t)cubin->length + padding,
                                .major = MAJOR,
                                .architecture = architecture,
                                .flags = FLAGS};
    const fatbin_header header = {.magic = (uint32_t)HD_FATBIN_MAGIC,
                                  .version = VERSION,
                                  .header_bytes = sizeof header,
                                  .bytes = sizeof entry + entry.payload_bytes};
    hd_write(writer, (const char *)&header, sizeof header);
    hd_write(writer, (const char *)&entry, sizeof entry);
    hd_write(writer, cubin->text, cubin->length);
    hd_write(writer, zeros, padding);
}
