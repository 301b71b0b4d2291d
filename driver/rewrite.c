/* The job "rewrite": read, run the passes, write. */
#include "driver/rewrite.h"
#include "ir/machine.h"

/* Records of unknown kinds refer to instructions by ordinal: after changes they would refer to wrong ones. */
static void drop_foreign(hd_module *module)
{
    for (uint32_t i = 0; i < module->functions.count; i++) {
        hd_function *f = module->functions.items[i];
        if (!f->changed || !f->foreign_annotations.count)
            continue;
        hd_report(module->diagnostics, HD_DIAG_UNKNOWN_ANNOTATION, module->source, f->header_span,
                  "annotations of unknown kinds dropped: the instructions of '%s' changed",
                  hd_names_text(&module->names, f->name));
        hd_array_clear(&f->foreign_annotations);
    }
}

bool hd_rewrite_module(hd_module *module, const hd_rewrite_options *options, hd_diagnostics *diagnostics)
{
    hd_pipeline_options run = options->pipeline;
    run.print_function = hd_emit_function;
    run.brings = true;
    bool good = options->passes ? hd_pipeline_run(options->passes, module, &run, diagnostics)
                                : hd_module_check_selection(module, run.kernel, diagnostics);
    if (good)
        drop_foreign(module);
    return good;
}

/* Machine code has no canonical spelling, and a graph no lines for statements of annotations; nor has a listing that
 * begins with instructions a place for those of the function. */
bool hd_rewrite_can_print(const hd_module *module, const hd_emit_options *emit)
{
    const char *option = emit->canonical ? "--canonical" : NULL;
    if (!module->is_machine)
        return true;
    for (uint32_t i = 0; i < module->functions.count && emit->spelling == HD_SPELLING_EXTENDED; i++)
        if (module->functions.items[i]->machine->comments_only)
            option = "--emit=extended";
    if (option)
        hd_report(module->diagnostics, HD_DIAG_MACHINE_CODE, module->source, (hd_span){0, 0}, "%s does not go with %s",
                  option,
                  emit->canonical ? "machine code"
                                  : "a graph of machine code, or code without the line that names its function");
    return !option;
}

hd_module *hd_rewrite(hd_source *source, const hd_rewrite_options *options, hd_writer *out, hd_diagnostics *diagnostics)
{
    hd_module *module = hd_parse_ptx(source, &options->parse, diagnostics);
    for (uint32_t i = 0; i < module->functions.count && module->given_registers; i++)
        if (hd_function_selected(module->functions.items[i], options->pipeline.kernel))
            hd_machine_check_given(module->functions.items[i]);
    if (diagnostics->error_count == 0 && hd_rewrite_can_print(module, &options->emit) &&
        hd_rewrite_module(module, options, diagnostics))
        hd_emit_ptx(out, module, &options->emit);
    return module;
}
