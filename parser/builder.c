/* Creation of the builder, and statements of a body: instructions, labels, blocks. An instruction's operands are pushed
 * while it is parsed; at its semicolon the record is created, and hd_insn_resolve assigns every operand its role. */
#include "parser/builder.h"
#include "ir/opcode_text.h"

void hd_builder_init(hd_builder *b, hd_module *module, const hd_parse_options *options)
{
    *b = (hd_builder){.module = module, .options = options, .guard = HD_NONE, .location = HD_NONE, .form = HD_NONE};
    hd_lexer_init(&b->lexer, module->source, (hd_span){0, module->source->length}, &module->names, module->diagnostics);
    hd_array_push(&b->ranges, (hd_range){0});
    hd_array_push(&b->radix, 0);
}

void hd_builder_free(hd_builder *b)
{
    free(b->uses);
#define FREE(field) hd_array_free(&b->spare.field);
    HD_BODY_ARRAYS(FREE)
#undef FREE
    hd_array_free(&b->ranges);
    hd_array_free(&b->radix);
    hd_array_free(&b->undo);
    hd_array_free(&b->imported);
    hd_array_free(&b->scopes);
    hd_array_free(&b->references);
    hd_array_free(&b->constants);
    hd_array_free(&b->nodes);
    hd_array_free(&b->pairs);
    hd_array_free(&b->spelling);
    hd_array_free(&b->aggregates);
    hd_array_free(&b->aggregate_counts);
    hd_array_free(&b->integers);
    hd_array_free(&b->initial_counts);
    hd_array_free(&b->variable_ranges);
    hd_array_free(&b->parameter_names);
}

hd_tokens hd_build_tokens(hd_builder *b, uint32_t begin, uint32_t end)
{
    hd_lexer lexer;
    hd_token token;
    hd_tokens tokens = {b->module->tokens.count, 0};
    hd_lexer_init(&lexer, hd_builder_source(b), (hd_span){begin, end}, &b->module->names, NULL);
    lexer.fine = true;
    while (hd_lexer_next(&lexer, &token) != HD_TOKEN_END)
        hd_array_push(&b->module->tokens, hd_token_spelling(&lexer, &token));
    tokens.count = b->module->tokens.count - tokens.first;
    return tokens;
}

void hd_build_statement(hd_builder *b, hd_statement_kind kind, uint32_t index, uint32_t begin, uint32_t end)
{
    hd_statement statement = {kind, index, {begin, end}};
    if (b->function)
        hd_array_push(&b->function->statements, statement);
    else
        hd_array_push(&b->module->statements, statement);
}

/* ---- opcode ------------------------------------------------------------------------------------------------------ */

void hd_build_opcode(hd_builder *b, const hd_node *name)
{
    b->opcode = *name;
    b->opcode_name = hd_full_name(b, &name->token);
    b->operand_first = b->function->operands.count;
    b->form = HD_NONE;
    b->in_operands = true;
    b->elements = 0;
    b->broken = false;
    b->constants.count = 0;
    b->pairs.count = 0;
    b->aggregates.count = 0;
    b->aggregate_counts.count = 0;
}

static void append(hd_builder *b, const char *text, uint32_t length)
{
    memcpy(hd_array_extend(&b->spelling, length), text, length);
}

static hd_name appended_name(hd_builder *b)
{
    return hd_names_add(&b->module->names, b->spelling.items, b->spelling.count);
}

/* A modifier separated from its opcode by blanks. */
void hd_build_modifier(hd_builder *b, const hd_node *word)
{
    hd_names *names = &b->module->names;
    b->spelling.count = 0;
    append(b, hd_names_text(names, b->opcode_name), hd_names_length(names, b->opcode_name));
    append(b, hd_builder_source(b)->text + word->token.begin, word->token.end - word->token.begin);
    b->opcode_name = appended_name(b);
    b->opcode.token.end = word->token.end;
}

/* The spelling without annotation modifiers (.bow::boc); the same name if there are none. */
static hd_name without_annotations(hd_builder *b, hd_name spelling)
{
    uint32_t length = hd_names_length(&b->module->names, spelling);
    b->spelling.count = 0;
    hd_array_reserve(&b->spelling, length);
    b->spelling.count =
        (uint32_t)hd_annotation_modifiers_cut(hd_names_text(&b->module->names, spelling), length, b->spelling.items);
    if (b->spelling.count == length)
        return spelling;
    b->module->extended = true;
    return appended_name(b);
}

/* The first occurrence of a spelling. */
static uint32_t new_form(hd_builder *b, hd_name spelling)
{
    hd_module *m = b->module;
    hd_name plain = without_annotations(b, spelling);
    uint32_t form = hd_form_of(m, plain);
    if (plain != spelling) {
        while (m->form_of_name.count <= spelling)
            hd_array_push(&m->form_of_name, 0);
        m->form_of_name.items[spelling] = form + 1;
    }
    return form;
}

void hd_build_form(hd_builder *b)
{
    if (b->form != HD_NONE)
        return;
    hd_name name = b->opcode_name;
    uint32_t known = name < b->module->form_of_name.count ? b->module->form_of_name.items[name] : 0;
    b->form = known ? known - 1 : new_form(b, name);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

void hd_build_guard(hd_builder *b, const hd_node *at, const hd_node *name, bool negated)
{
    hd_binding binding = hd_lookup(b, &name->token);
    const char *text = hd_builder_source(b)->text + name->token.begin;
    int length = (int)hd_min(name->token.end - name->token.begin, 200);
    b->guard_begin = at->token.begin;
    b->guard_flags = negated ? HD_INSN_GUARD_NOT : 0;
    b->guard = HD_NONE;
    if (binding.kind == HD_BIND_NONE)
        hd_builder_error(b, UNDECLARED_REGISTER, hd_node_span(name), "no .reg declares '%.*s'", length, text);
    else if (binding.kind != HD_BIND_REGISTER || b->function->registers.items[binding.value].type != HD_TYPE_PRED)
        hd_builder_error(b, BAD_GUARD, hd_node_span(name), "a guard is a predicate register; '%.*s' is none", length,
                         text);
    else
        b->guard = binding.value;
}

static void finish_instruction(hd_builder *b, uint32_t begin, uint32_t end, uint32_t guard, uint32_t flags)
{
    hd_function *f = b->function;
    hd_build_form(b);
    uint32_t ordinal = f->instructions.count, operands = f->operands.count - b->operand_first;
    const hd_form *form = &b->module->forms.items[b->form];
    if (form->flags & HD_FORM_OPAQUE)
        flags |= HD_INSN_OPAQUE;
    if (operands > UINT16_MAX) {
        hd_builder_error(b, OPERAND_COUNT, ((hd_span){begin, end}), "more than 65,535 operands");
        f->operands.count = b->operand_first;
        operands = 0;
        b->broken = true;
    }
    hd_instruction insn = {f->next_instruction_id, f->next_instruction_id, {begin, end}, b->form,    b->operand_first,
                           (uint16_t)operands,     (uint16_t)flags,        guard,        b->location};
    f->next_instruction_id++;
    hd_array_push(&f->instructions, insn);
    hd_build_statement(b, HD_STATEMENT_INSTRUCTION, ordinal, begin, end);
    if (!b->broken)
        hd_insn_resolve(f, &f->instructions.items[ordinal]);
    b->opcode_name = HD_NO_NAME;
    b->in_operands = false;
}

void hd_build_instruction(hd_builder *b, const hd_node *begin, const hd_node *end)
{
    finish_instruction(b, begin->token.begin, end->token.end, HD_NONE, 0);
}

void hd_build_guarded(hd_builder *b, const hd_node *at, const hd_node *end)
{
    finish_instruction(b, at->token.begin, end->token.end, b->guard, b->guard_flags);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

void hd_build_open(hd_builder *b, const hd_node *brace)
{
    hd_build_statement(b, HD_STATEMENT_SCOPE_OPEN, 0, brace->token.begin, brace->token.end);
    hd_scope_open(b, brace->token.begin);
}

void hd_build_close(hd_builder *b, const hd_node *brace)
{
    hd_scope_close(b);
    hd_build_statement(b, HD_STATEMENT_SCOPE_CLOSE, 0, brace->token.begin, brace->token.end);
}
