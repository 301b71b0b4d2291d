/* Files of traces: their names, and their text, which may be compressed (see accel_sim.h).
 *
 * A few bytes of .xz may stand for gigabytes. The text is limited in proportion to its compressed form: traces of
 * regular kernels reach a ratio of 300, and the format allows 7,000. */
#include "hwmodel/trace/accel_sim.h"

#include "base/path.h"

#include <errno.h>
#include <lzma.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && memcmp(text + length - n, end, n) == 0;
}

bool hd_traced_is_name(const char *path)
{
    size_t length = strlen(path);
    length -= ends_with(path, length, ".xz") ? 3 : 0;
    return ends_with(path, length, ".traceg") || ends_with(path, length, ".trace");
}

bool hd_traced_is_list(const char *path)
{
    return strncmp(hd_path_name(path), "kernelslist", strlen("kernelslist")) == 0;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

enum {
    CHUNK = 1 << 20,
    DECODER_BYTES = 1 << 28,    /* of its dictionary; the format allows 4 GiB */
    LARGEST_RATIO = 1024,       /* of the text and its compressed form */
    ALWAYS_ALLOWED = 16 * CHUNK /* whatever the ratio */
};
HD_ARRAY_TYPE(decompressed, char);

/* Appends what `stream` makes of its input. NULL: done, or the text has no header, which its reader reports; else why
 * not. */
static const char *decompress(lzma_stream *stream, uint64_t most, decompressed *text)
{
    for (;;) {
        if (text->count >= CHUNK && !memmem(text->items, CHUNK, HD_TRACED_HEADER_END, strlen(HD_TRACED_HEADER_END)))
            return NULL;
        if (text->count > UINT32_MAX - 2 * CHUNK)
            return "its text has more than 4 GiB";
        if (text->count > most)
            return "its text has more than 16 MiB and is more than 1024 times as long; xz -d writes it as a file, "
                   "which has no such limit";
        stream->next_out = (uint8_t *)hd_array_extend(text, CHUNK);
        stream->avail_out = CHUNK;
        lzma_ret result = lzma_code(stream, LZMA_FINISH);
        text->count -= (uint32_t)stream->avail_out;
        if (result == LZMA_STREAM_END)
            return NULL;
        if (result == LZMA_MEM_ERROR || result == LZMA_MEMLIMIT_ERROR)
            return "it takes too much memory";
        if (result != LZMA_OK)
            return "it is corrupt, or not whole";
    }
}

static bool replace_by_text(hd_source *source, const char *path, hd_diagnostics *diagnostics)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    decompressed text = {0};
    stream.next_in = (const uint8_t *)source->text;
    stream.avail_in = source->length;
    uint64_t ratio = (uint64_t)source->length * LARGEST_RATIO, most = hd_max(ratio, ALWAYS_ALLOWED);
    const char *wrong = "it takes too much memory";
    if (lzma_stream_decoder(&stream, DECODER_BYTES, LZMA_CONCATENATED) == LZMA_OK)
        wrong = decompress(&stream, most, &text);
    lzma_end(&stream);
    if (wrong) {
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot decompress %s: %s", path, wrong);
        hd_array_free(&text);
        return false;
    }
    hd_source_free(source);
    hd_source_from_array(source, path, text.items, text.count);
    return true;
}

bool hd_traced_load(const char *path, const hd_given_files *given, hd_source *source, hd_diagnostics *diagnostics)
{
    static const char magic[] = "\xfd"
                                "7zXZ";
    if (!hd_given_read(given, path, source)) {
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot read %s: %s", path,
                  hd_source_why(errno));
        return false;
    }
    bool compressed = source->length > strlen(magic) && memcmp(source->text, magic, strlen(magic)) == 0;
    return !compressed || replace_by_text(source, path, diagnostics);
}
