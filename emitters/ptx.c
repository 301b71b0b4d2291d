/* Entry points of the PTX printers. Writing is linear in the text. */
#include "emitters/print.h"

/* What the source's first line ends with. */
static const char *line_end_of(const hd_source *source)
{
    for (uint32_t i = 0; i < source->length; i++) {
        if (source->text[i] == '\n')
            return "\n";
        if (source->text[i] == '\r')
            return source->text[i + 1] == '\n' ? "\r\n" : "\r";
    }
    return "\n";
}

static void start(hd_printer *p, hd_writer *writer, const hd_module *module, const hd_emit_options *options)
{
    /* .section came with PTX 2.0; older modules have their annotations in comments only. */
    *p = (hd_printer){.out = writer, .module = module, .no_section = options->no_section || module->version_major < 2};
    p->mode = options->no_annotations                     ? HD_PRINT_PLAIN
              : options->spelling == HD_SPELLING_EXTENDED ? HD_PRINT_EXTENDED
                                                          : HD_PRINT_PORTABLE;
    p->text = module->source->text;
    p->line_end = line_end_of(module->source);
    hd_writer_to_memory(&p->modifiers);
}

bool hd_emit_ptx(hd_writer *writer, const hd_module *module, const hd_emit_options *options)
{
    hd_printer printer;
    start(&printer, writer, module, options);
    bool ok = options->canonical ? hd_print_canonical(&printer) : hd_print_lossless(&printer);
    hd_writer_free(&printer.modifiers);
    return ok && writer->error == 0;
}

void hd_emit_function(hd_writer *writer, const hd_function *function)
{
    hd_printer printer;
    start(&printer, writer, function->module, &(hd_emit_options){.no_section = true});
    hd_print_canonical_function(&printer, function);
    hd_write_char(writer, '\n');
    hd_writer_free(&printer.modifiers);
}

void hd_emit_instruction(hd_writer *writer, const hd_function *function, const hd_instruction *insn)
{
    hd_speller speller = {writer, function->module, function, false};
    hd_spell_instruction(&speller, insn, "", 0);
}
