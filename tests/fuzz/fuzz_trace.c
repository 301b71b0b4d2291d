/* Fuzz target of the reader of traces: any bytes are read or reported. Of what is read,
 * the IR validator finds nothing wrong in the code, its graph can be built, and events name instructions of it. */
#include "hwmodel/trace/accel_sim.h"
#include "ir/cfg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static bool take(void *traced, const hd_event *e)
{
    const hd_traced *t = traced;
    demand(e->instruction < t->code.count);
    return true;
}

static void replay(hd_traced *t)
{
    hd_module *module = hd_traced_module(t);
    demand(hd_ir_validate(module));
    hd_function_cfg(module->functions.items[0]);
    hd_sink sink = {.take = take, .context = t, .columns = HD_COLUMN_ADDRESSES | HD_COLUMN_BARRIERS};
    hd_traced_statistics statistics = {0};
    demand(hd_traced_play(t, &sink, 1, &statistics, (hd_ordering){HD_ORDERING_LINEAR, 0}, NULL, NULL));
    module->source = NULL;
    hd_module_free(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hd_source source;
    hd_diagnostics diagnostics;
    hd_source_from_memory(&source, "fuzz.traceg", (const char *)data, size);
    hd_diagnostics_init(&diagnostics);
    hd_traced *traced = hd_traced_read(&source, &(hd_traced_options){.partial = true}, &diagnostics);
    demand(!traced == (diagnostics.error_count != 0));
    if (traced)
        replay(traced);
    hd_traced_free(traced);
    hd_source_free(&source);
    hd_diagnostics_free(&diagnostics);
    return 0;
}
