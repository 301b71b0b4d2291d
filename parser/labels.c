/* Labels. A label is visible in its block and nested blocks, before and after its definition. Therefore a reference
 * stays open until its function ends, chained by name: a definition takes all references made since its block began,
 * whether still unbound or bound to a label of an outer block. A jump into a block stays unbound and is reported at the
 * function's end. Linear in references, unless a label is defined again and again in nested blocks. */
#include "parser/builder.h"

static void bind(hd_builder *b, const hd_reference *r, uint32_t label)
{
    hd_function *f = b->function;
    if (r->operand & HD_REFERENCE_TABLE) {
        f->table_entries.items[r->operand & ~HD_REFERENCE_TABLE] = label;
    } else {
        f->operands.items[r->operand].kind = HD_OPERAND_LABEL;
        f->operands.items[r->operand].value = label;
    }
}

void hd_label_refer(hd_builder *b, hd_name name, hd_span span, uint32_t where, bool maybe)
{
    hd_use *use = hd_use_of(b, name);
    hd_reference r = {name,     where,          span.begin,
                      span.end, use->reference, maybe ? HD_REFERENCE_MAYBE : HD_REFERENCE_OPEN};
    if (use->kind == HD_BIND_LABEL) {
        bind(b, &r, use->value);
        if (use->depth == b->scopes.count)
            return;
        r.state = HD_REFERENCE_OUTER;
    }
    hd_array_push(&b->references, r);
    hd_use_of(b, name)->reference = b->references.count;
}

void hd_build_label(hd_builder *b, const hd_node *name, const hd_node *colon)
{
    hd_function *f = b->function;
    uint32_t label = f->labels.count;
    hd_name full = hd_full_name(b, &name->token);
    hd_array_push(&f->labels, (hd_label){full, f->instructions.count, hd_node_span(name)});
    hd_build_statement(b, HD_STATEMENT_LABEL, label, name->token.begin, colon->token.end);
    if (!hd_declare(b, &name->token, HD_BIND_LABEL, label))
        return;
    uint32_t mark = hd_array_last(&b->scopes).reference_mark;
    uint32_t next = hd_use_of(b, full)->reference;
    while (next > mark) {
        const hd_reference *r = &b->references.items[next - 1];
        bind(b, r, label);
        b->references.items[next - 1].name = HD_NO_NAME; /* resolved */
        next = r->next;
    }
    hd_use_of(b, full)->reference = next;
}

void hd_labels_drop(hd_builder *b, uint32_t operand)
{
    while (b->references.count) {
        const hd_reference *r = &hd_array_last(&b->references);
        if (r->name == HD_NO_NAME || r->operand & HD_REFERENCE_TABLE || r->operand < operand)
            break;
        hd_use_of(b, r->name)->reference = r->next;
        b->references.count--;
    }
}

static void report_undefined(hd_builder *b, const hd_reference *r)
{
    const char *text = hd_names_text(&b->module->names, r->name);
    hd_diagnostic *d =
        hd_builder_error(b, UNDEFINED_LABEL, ((hd_span){r->begin, r->end}), "there is no label '%s' here", text);
    if (!d)
        return;
    for (uint32_t i = 0; i < b->function->labels.count; i++) {
        const hd_label *label = &b->function->labels.items[i];
        if (label->name == r->name) {
            hd_builder_note(b, d, label->span, "this one is inside a block that does not contain the reference");
            return;
        }
    }
}

void hd_labels_resolve(hd_builder *b)
{
    for (uint32_t i = 0; i < b->references.count; i++) {
        const hd_reference *r = &b->references.items[i];
        if (r->name == HD_NO_NAME)
            continue;
        hd_use_of(b, r->name)->reference = 0;
        if (r->state == HD_REFERENCE_OPEN)
            report_undefined(b, r);
    }
    b->references.count = 0;
}
