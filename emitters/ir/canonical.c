/* Canonical text: everything from the IR, one statement per line, the input's tokens in order. Comments and spacing of
 * the input are dropped. Linear in tokens. */
#include "emitters/ir/print.h"

static void line(hd_printer *p, const char *indent)
{
    hd_write_string(p->out, "\n");
    hd_write_string(p->out, indent);
}

/* An instruction with its annotations in the requested spelling. */
void hd_print_instruction(hd_printer *p, const hd_instruction *insn, const hd_annotation_run *run)
{
    hd_speller speller = {p->out, p->module, run->function, false};
    bool extended = p->mode == HD_PRINT_EXTENDED;
    if (extended) {
        p->modifiers.buffer.count = 0;
        hd_emit_modifiers(&p->modifiers, run);
        hd_print_mark_load(p, run);
    }
    hd_spell_instruction(&speller, insn, p->modifiers.buffer.items, extended ? p->modifiers.buffer.count : 0);
}

static void print_body_statement(hd_printer *p, const hd_function *f, const hd_statement *statement,
                                 hd_annotation_walk *walk)
{
    hd_speller speller = {p->out, p->module, f, false};
    bool is_label = statement->kind == HD_STATEMENT_LABEL || statement->kind == HD_STATEMENT_TABLE;
    if (statement->kind != HD_STATEMENT_INSTRUCTION) {
        line(p, is_label ? "" : "\t");
        hd_spell_statement(&speller, statement);
        return;
    }
    hd_annotation_run run = hd_annotation_run_of(walk, statement->index);
    if (p->mode == HD_PRINT_EXTENDED)
        hd_emit_heddle_statements(p->out, &run, "\n");
    line(p, "\t");
    hd_print_instruction(p, &f->instructions.items[statement->index], &run);
    if (p->mode == HD_PRINT_PORTABLE)
        hd_emit_comment(p->out, &run, true);
}

void hd_print_canonical_function(hd_printer *p, const hd_function *f)
{
    hd_speller speller = {p->out, p->module, f, false};
    hd_annotation_walk walk;
    hd_annotation_walk_start(&walk, f);
    hd_annotation_run wide = hd_annotation_run_wide(&walk);
    hd_spell_tokens(&speller, f->header);
    if (!f->has_body) {
        if (!f->is_open_prototype)
            hd_write_char(p->out, ';');
        hd_annotation_walk_end(&walk);
        return;
    }
    hd_write_string(p->out, "\n{");
    if (p->mode == HD_PRINT_PORTABLE)
        hd_emit_comment(p->out, &wide, true);
    else if (p->mode == HD_PRINT_EXTENDED)
        hd_emit_heddle_statements(p->out, &wide, "\n");
    for (uint32_t i = 0; i < f->statements.count; i++)
        if (!hd_statement_is_heddle(p->module, &f->statements.items[i]))
            print_body_statement(p, f, &f->statements.items[i], &walk);
    hd_write_string(p->out, "\n}");
    hd_annotation_walk_end(&walk);
}

bool hd_print_canonical(hd_printer *p)
{
    const hd_module *module = p->module;
    hd_speller speller = {p->out, module, NULL, false};
    for (uint32_t i = 0; i < module->statements.count; i++) {
        const hd_statement *statement = &module->statements.items[i];
        if (hd_statement_is_annotation_section(module, statement))
            continue;
        if (statement->kind == HD_STATEMENT_FUNCTION)
            hd_print_canonical_function(p, module->functions.items[statement->index]);
        else
            hd_spell_statement(&speller, statement);
        hd_write_char(p->out, '\n');
    }
    if (p->mode != HD_PRINT_PORTABLE || p->no_section)
        return true;
    uint64_t before = p->out->written_bytes;
    bool ok = hd_emit_section(p->out, module, "", "\n");
    if (p->out->written_bytes != before)
        hd_write_char(p->out, '\n');
    return ok;
}
