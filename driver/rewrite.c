/* The job "rewrite": read, run the passes, write. */
#include "driver/rewrite.h"

static bool run_passes(hd_module *module, const hd_rewrite_options *options, hd_diagnostics *diagnostics)
{
    if (!options->passes)
        return true;
    hd_pipeline *pipeline = hd_pipeline_parse(options->passes, diagnostics);
    if (!pipeline)
        return false;
    hd_pipeline_options run = options->pipeline;
    run.print_function = hd_emit_function;
    bool ok = hd_pipeline_run(pipeline, module, &run, diagnostics);
    hd_pipeline_free(pipeline);
    return ok;
}

hd_module *hd_rewrite(hd_source *source, const hd_rewrite_options *options, hd_writer *out, hd_diagnostics *diagnostics)
{
    hd_module *module = hd_parse_ptx(source, &options->parse, diagnostics);
    if (diagnostics->error_count == 0 && run_passes(module, options, diagnostics))
        hd_emit_ptx(out, module, &options->emit);
    return module;
}
