/* Fuzz target of the reader of machine-code listings: any bytes are read or refused, within the sanitizers' rules. Of
 * what is read the IR validator finds nothing, the graph can be built, and printing gives the bytes back. */
#include "emitters/ir/ptx.h"
#include "ir/cfg.h"
#include "parser/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hd_source source;
    hd_diagnostics diagnostics;
    hd_writer writer;
    hd_parse_options options = {.takes_listings = true, .ignore_annotations = true};
    hd_source_from_memory(&source, "fuzz.sass", (const char *)data, size);
    hd_diagnostics_init(&diagnostics);
    hd_module *module = hd_parse_ptx(&source, &options, &diagnostics);
    if (!diagnostics.error_count && module->is_machine) {
        demand(hd_ir_validate(module));
        for (uint32_t i = 0; i < module->functions.count; i++)
            hd_function_cfg(module->functions.items[i]);
        hd_writer_to_memory(&writer);
        hd_emit_ptx(&writer, module, &(hd_emit_options){0});
        demand(writer.buffer.count == size && (!size || !memcmp(writer.buffer.items, data, size)));
        hd_writer_free(&writer);
    }
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    return 0;
}
