/* Entry points of the PTX printers. Writing is linear in the text. */
#include "emitters/ir/print.h"

#include "ir/operand_loads.h"

/* The line end of the source's first line. */
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
    /* .section was introduced by PTX 2.0; older modules have their annotations in comments only. */
    *p = (hd_printer){.out = writer, .module = module, .no_section = options->no_section || module->version_major < 2};
    p->mode = options->no_annotations                     ? HD_PRINT_PLAIN
              : options->spelling == HD_SPELLING_EXTENDED ? HD_PRINT_EXTENDED
                                                          : HD_PRINT_PORTABLE;
    p->text = module->source->text;
    p->line_end = line_end_of(module->source);
    hd_writer_to_memory(&p->modifiers);
}

static bool print(hd_printer *p, bool canonical) { return canonical ? hd_print_canonical(p) : hd_print_lossless(p); }

static bool has_memory_operands(const hd_module *module)
{
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const hd_function *f = module->functions.items[i];
        for (uint32_t a = 0; a < f->annotations.count; a++)
            if (f->annotations.items[a].kind == HD_OPERAND_LOAD)
                return true;
    }
    return false;
}

/* The text is buffered first, because two lines may become one. */
static bool print_with_memory_operands(hd_printer *p, bool canonical)
{
    hd_writer *out = p->out, text;
    hd_writer_to_memory(&text);
    p->out = &text;
    bool ok = print(p, canonical);
    hd_print_memory_operands(out, text.buffer.items, text.buffer.count, p->loads.items, p->loads.count);
    hd_writer_free(&text);
    hd_array_free(&p->loads);
    return ok;
}

bool hd_emit_ptx(hd_writer *writer, const hd_module *module, const hd_emit_options *options)
{
    hd_printer printer;
    start(&printer, writer, module, options);
    bool fuses = printer.mode == HD_PRINT_EXTENDED && has_memory_operands(module);
    bool ok = fuses ? print_with_memory_operands(&printer, options->canonical) : print(&printer, options->canonical);
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
