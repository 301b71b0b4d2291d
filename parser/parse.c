/* hd_parse_ptx: text to module. Runs the grammar once, then the checks that need the whole text. */
#include "parser/builder.h"
#include "parser/memory_operand.h"
#include "ir/origins.h"
#include "parser/recognize.h"
#include "parser/sass.h"

static hd_span whole(const hd_source *source) { return (hd_span){0, source->length ? 1 : 0}; }

/* Checks the head of the module. A text without .target is accepted if it declares something: such texts are parts of
 * others.
 */
static void check_head(hd_builder *b)
{
    hd_module *m = b->module;
    bool is_empty = !b->saw_version && !b->saw_target && !b->saw_other && !m->statements.count;
    if (m->diagnostics->error_count)
        return;
    if (is_empty)
        hd_builder_error(b, EMPTY_INPUT, whole(m->source), "no PTX in this file");
    else if (!b->saw_version)
        hd_builder_error(b, MISSING_VERSION, whole(m->source), "a module starts with .version");
    else if (!b->saw_target && !b->saw_other)
        hd_builder_error(b, BAD_TARGET, whole(m->source), "a module has a .target after its .version");
    else if (b->wants_debug && !b->saw_debug)
        hd_builder_error(b, BAD_TARGET, whole(m->source), ".target debug without a .section of debug information");
    else if (!b->saw_target)
        hd_builder_error(b, MISSING_TARGET, whole(m->source), "no .target after .version");
}

hd_module *hd_parse_ptx(hd_source *source, const hd_parse_options *options, hd_diagnostics *diagnostics)
{
    hd_module *module = hd_module_new(source, diagnostics);
    module->strict = options->strict;
    module->one_of_several = options->one_of_several;
    module->low_memory = options->low_memory;
    uint32_t errors = diagnostics->error_count;
    if (options->takes_listings && hd_is_sass(source)) {
        module->given_registers = options->registers;
        hd_parse_sass(module);
        hd_module_index(module);
        hd_module_set_origins(module);
        if (!options->ignore_annotations && diagnostics->error_count == errors)
            hd_read_annotations(module, options);
        return module;
    }
    bool foreign = hd_refuse_foreign(source, diagnostics);
    if (options->registers && !foreign)
        hd_report(diagnostics, HD_DIAG_NOT_LISTING, source, (hd_span){0, 0},
                  "--registers is for machine code, and this is PTX: --max-registers limits what is allocated");
    bool expanded = !foreign && hd_expand_memory_operands(source, diagnostics);
    hd_builder builder;
    hd_builder_init(&builder, module, options);
    if (expanded)
        hd_ptx_parse(&builder);
    hd_builder_end(&builder);
    if (!foreign)
        check_head(&builder);
    hd_builder_free(&builder);
    hd_module_index(module);
    hd_module_set_origins(module);
    if (!options->ignore_annotations && diagnostics->error_count == errors)
        hd_read_annotations(module, options);
    return module;
}
