/* Fuzz target of files of machine code: any bytes are listed or refused, within the sanitizers' rules and in memory in
 * proportion; what is listed is read as a listing. Objects, archives and fat binaries go through their containers, all
 * other bytes count as a cubin. */
#include "base/writer.h"
#include "parser/binary.h"
#include "parser/parse.h"
#include "parser/recognize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool list(hd_source *file, hd_writer *listing, hd_diagnostics *diagnostics)
{
    uint32_t generation;
    if (hd_binary_of(file) == HD_BINARY_OTHER) {
        hd_binary_outcome outcome = hd_binary_list(file, HD_LISTING_HEX, listing, &generation, diagnostics);
        return outcome == HD_BINARY_LISTED || outcome == HD_BINARY_IN_PART;
    }
    hd_cubin_outcome outcome = hd_cubin_list(file, HD_LISTING_PLAIN, listing, &generation, diagnostics);
    if (listing->buffer.count > 260 * (size_t)file->length + 262144) /* parser/cubin.c, and one name */
        __builtin_trap();
    return outcome == HD_CUBIN_LISTED || outcome == HD_CUBIN_IN_PART;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hd_source file, text;
    hd_diagnostics diagnostics;
    hd_writer listing;
    hd_source_from_memory(&file, "fuzz.cubin", (const char *)data, size);
    hd_diagnostics_init(&diagnostics);
    hd_writer_to_memory(&listing);
    if (list(&file, &listing, &diagnostics) && listing.buffer.count < 1 << 24) {
        hd_source_from_memory(&text, "fuzz.sass", listing.buffer.items, listing.buffer.count);
        hd_parse_options options = {.takes_listings = true};
        hd_module_free(hd_parse_ptx(&text, &options, &diagnostics));
    }
    hd_writer_free(&listing);
    hd_diagnostics_free(&diagnostics);
    hd_source_free(&file);
    return 0;
}
