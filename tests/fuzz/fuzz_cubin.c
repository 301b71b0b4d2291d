/* Fuzz target of cubins: any bytes are listed or refused, within the sanitizers' rules and in memory in proportion;
 * what is listed is read as a listing. */
#include "base/writer.h"
#include "parser/cubin.h"
#include "parser/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hd_source cubin, text;
    hd_diagnostics diagnostics;
    hd_writer listing;
    uint32_t generation;
    hd_source_from_memory(&cubin, "fuzz.cubin", (const char *)data, size);
    hd_diagnostics_init(&diagnostics);
    hd_writer_to_memory(&listing);
    hd_cubin_outcome outcome = hd_cubin_list(&cubin, &listing, &generation, &diagnostics);
    if (listing.buffer.count > 260 * size + 262144) /* parser/cubin.c, and one name */
        __builtin_trap();
    if (outcome == HD_CUBIN_LISTED || outcome == HD_CUBIN_IN_PART) {
        hd_source_from_memory(&text, "fuzz.sass", listing.buffer.items, listing.buffer.count);
        hd_parse_options options = {.takes_listings = true};
        hd_module_free(hd_parse_ptx(&text, &options, &diagnostics));
    }
    hd_writer_free(&listing);
    hd_diagnostics_free(&diagnostics);
    hd_source_free(&cubin);
    return 0;
}
