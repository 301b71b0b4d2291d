/* Builds code in memory and applies edits (ir/build.h). An edit is linear in the size of the function: its steps are
 * sorted by position; instructions and statements are copied into new arrays, and a map from old to new ordinals
 * updates labels and annotations. A statement without text gets an empty span at the end of the statement before it. */
#include "ir/build.h"

#include <stdio.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

static uint32_t body_begin(const hd_function *f)
{
    return f->body.begin == f->body.end ? f->body.begin : f->body.begin + 1;
}

static uint32_t text_end(const hd_function *f)
{
    return f->statements.count ? hd_array_last(&f->statements).span.end : body_begin(f);
}

static hd_tokens make_tokens(hd_module *module, const char *const *spellings, uint32_t count)
{
    hd_tokens tokens = {module->tokens.count, count};
    for (uint32_t i = 0; i < count; i++)
        hd_array_push(&module->tokens, hd_names_add_string(&module->names, spellings[i]));
    return tokens;
}

static void put_first(hd_function *f, hd_statement statement)
{
    (void)hd_array_extend(&f->statements, 1);
    memmove(f->statements.items + 1, f->statements.items, (f->statements.count - 1u) * sizeof statement);
    f->statements.items[0] = statement;
}

uint32_t hd_make_registers(hd_function *f, const char *stem, hd_type type, uint32_t count)
{
    hd_module *module = f->module;
    char type_word[32] = ".", count_word[16];
    strncat(type_word, hd_types[type].spelling, sizeof type_word - 2);
    snprintf(count_word, sizeof count_word, "%u", count);
    uint32_t at = body_begin(f), first = f->registers.count;
    hd_span span = {at, at};
    hd_declaration declaration = {.name = hd_names_add_string(&module->names, stem),
                                  .count = count,
                                  .type = (uint8_t)type,
                                  .vector = 1,
                                  .depth = 1,
                                  .span = span,
                                  .count_tokens = make_tokens(module, (const char *const[]){count_word}, 1)};
    hd_array_push(&f->declarations, declaration);
    hd_group group = {make_tokens(module, (const char *const[]){".reg", type_word}, 2), f->declarations.count - 1, 1};
    hd_array_push(&f->register_groups, group);
    hd_statement statement = {HD_STATEMENT_REGISTERS, f->register_groups.count - 1, span};
    put_first(f, statement);
    for (uint32_t i = 0; i < count; i++)
        hd_array_push(&f->registers,
                      (hd_register){declaration.name, i, f->declarations.count - 1, (uint8_t)type, 0, 1, 0});
    f->changed = true;
    return first;
}

static hd_name free_name(hd_module *module, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "%s", name);
    for (uint32_t i = 2; hd_names_find(&module->names, text, strlen(text)) != HD_NO_NAME; i++)
        snprintf(text, sizeof text, "%s%u", name, i);
    return hd_names_add_string(&module->names, text);
}

uint32_t hd_make_local(hd_function *f, const char *name, uint32_t align)
{
    hd_module *module = f->module;
    char align_word[16];
    snprintf(align_word, sizeof align_word, "%u", align);
    uint32_t symbol = module->symbols.count, at = body_begin(f);
    hd_symbol s = {.name = free_name(module, name),
                   .kind = HD_SYMBOL_VARIABLE,
                   .space = HD_SPACE_LOCAL,
                   .type = HD_TYPE_B8,
                   .vector = 1,
                   .align = align,
                   .function = f->symbol == HD_NONE ? HD_NONE : module->symbols.items[f->symbol].function,
                   .dimension_first = module->dimensions.count,
                   .dimension_count = 1,
                   .initializer_first = module->initializers.count,
                   .span = {at, at}};
    hd_array_push(&module->dimensions, 0);
    hd_array_push(&module->symbols, s);
    hd_group group = {make_tokens(module, (const char *const[]){".local", ".align", align_word, ".b8"}, 4), symbol, 1};
    hd_array_push(&module->variable_groups, group);
    hd_statement statement = {HD_STATEMENT_VARIABLES, module->variable_groups.count - 1, {at, at}};
    put_first(f, statement);
    f->changed = true;
    return symbol;
}

void hd_local_resize(hd_module *module, uint32_t symbol, uint32_t bytes)
{
    hd_symbol *s = &module->symbols.items[symbol];
    char bytes_word[16];
    snprintf(bytes_word, sizeof bytes_word, "%u", bytes);
    s->size_bytes = bytes;
    module->dimensions.items[s->dimension_first] = bytes;
    const char *name = hd_names_text(&module->names, s->name);
    s->declarator = make_tokens(module, (const char *const[]){name, "[", bytes_word, "]"}, 4);
}

/* ---- operands and instructions ----------------------------------------------------------------------------------- */

hd_operand hd_make_operand(hd_operand_kind kind, uint32_t value)
{
    return (hd_operand){
        .kind = (uint8_t)kind, .begin = HD_NONE, .value = value, .extra = kind == HD_OPERAND_SREG ? HD_NONE : 0};
}

hd_operand hd_make_register_operand(uint32_t reg) { return hd_make_operand(HD_OPERAND_REGISTER, reg); }

hd_operand hd_make_literal_operand(hd_module *module, uint64_t bits, hd_literal_kind kind)
{
    return hd_make_operand(HD_OPERAND_LITERAL, hd_module_literal(module, bits, kind));
}

hd_operand hd_make_aggregate(hd_operand_kind kind, uint32_t count)
{
    hd_operand operand = hd_make_operand(kind, 0);
    operand.count = (uint16_t)count;
    return operand;
}

hd_instruction hd_make_instruction(hd_function *f, const char *spelling, uint32_t guard, bool guard_not,
                                   const hd_operand *operands, uint32_t count, bool *ok)
{
    uint32_t at = text_end(f);
    hd_instruction insn = {
        .id = f->next_instruction_id,
        .origin = f->next_instruction_id,
        .span = {at, at},
        .form = hd_form_of(f->module, hd_names_add_string(&f->module->names, spelling)),
        .operand_first = f->operands.count,
        .operand_count = (uint16_t)count,
        .flags = (uint16_t)(HD_INSN_DIRTY | HD_INSN_FRESH | (guard_not ? HD_INSN_GUARD_NOT : 0)),
        .guard = guard,
        .location = HD_NONE,
    };
    f->next_instruction_id++;
    for (uint32_t i = 0; i < count; i++)
        hd_array_push(&f->operands, operands[i]);
    if (hd_insn_form(f, &insn)->flags & HD_FORM_OPAQUE)
        insn.flags |= HD_INSN_OPAQUE;
    bool fine = hd_insn_resolve(f, &insn);
    if (ok)
        *ok = fine;
    return insn;
}

/* ---- collecting an edit ------------------------------------------------------------------------------------------ */

void hd_edit_begin(hd_edit *edit, hd_function *function) { *edit = (hd_edit){.function = function}; }

static void add_step(hd_edit *edit, uint32_t at, hd_edit_kind kind, const hd_instruction *insn)
{
    hd_edit_step step = {.at = at, .order = edit->steps.count, .kind = (uint8_t)kind};
    if (insn)
        step.insn = *insn;
    hd_array_push(&edit->steps, step);
}

void hd_edit_before(hd_edit *edit, uint32_t at, hd_instruction insn) { add_step(edit, at, HD_EDIT_BEFORE, &insn); }
void hd_edit_after(hd_edit *edit, uint32_t at, hd_instruction insn) { add_step(edit, at, HD_EDIT_AFTER, &insn); }
void hd_edit_replace(hd_edit *edit, uint32_t at, hd_instruction insn) { add_step(edit, at, HD_EDIT_REPLACE, &insn); }
void hd_edit_remove(hd_edit *edit, uint32_t at) { add_step(edit, at, HD_EDIT_REMOVE, NULL); }

/* ---- applying it ------------------------------------------------------------------------------------------------- */

static int compare_steps(const void *left, const void *right)
{
    const hd_edit_step *a = left, *b = right;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    bool a_after = a->kind == HD_EDIT_AFTER, b_after = b->kind == HD_EDIT_AFTER;
    if (a_after != b_after)
        return a_after ? 1 : -1;
    return (a->order > b->order) - (a->order < b->order);
}

typedef struct rebuild {
    hd_function *function;
    const hd_edit_step *step, *steps_end;
    HD_ARRAY(hd_instruction) instructions;
    HD_ARRAY(hd_statement) statements;
    uint32_t *moved; /* by old ordinal: new position of a label that preceded it */
    uint32_t *kept;  /* by old ordinal: new ordinal, or HD_NONE if removed */
    uint32_t text;   /* end of the source text copied so far */
} rebuild;

static void put_instruction(rebuild *r, hd_instruction insn)
{
    hd_array_push(&r->statements, (hd_statement){HD_STATEMENT_INSTRUCTION, r->instructions.count, insn.span});
    hd_array_push(&r->instructions, insn);
}

static void put_fresh(rebuild *r, hd_instruction insn)
{
    insn.span = (hd_span){r->text, r->text};
    put_instruction(r, insn);
}

/* Applies the insertions before instruction `at`. */
static void put_before(rebuild *r, uint32_t at)
{
    r->moved[at] = r->instructions.count;
    for (const hd_edit_step *s = r->step; s < r->steps_end && s->at == at; s++)
        if (s->kind == HD_EDIT_BEFORE)
            put_fresh(r, s->insn);
}

static void put_old(rebuild *r, uint32_t at, hd_span span)
{
    hd_instruction old = r->function->instructions.items[at], insn = old;
    bool removed = false;
    put_before(r, at);
    for (const hd_edit_step *s = r->step; s < r->steps_end && s->at == at; s++) {
        removed |= s->kind == HD_EDIT_REMOVE;
        if (s->kind != HD_EDIT_REPLACE)
            continue;
        insn = s->insn;
        insn.id = old.id;
        insn.origin = old.origin;
        insn.location = old.location;
        insn.span = old.span;
        insn.flags = (uint16_t)((insn.flags & ~HD_INSN_FRESH) | HD_INSN_DIRTY | (old.flags & HD_INSN_FRESH));
    }
    r->text = span.end;
    r->kept[at] = removed ? HD_NONE : r->instructions.count;
    if (!removed)
        put_instruction(r, insn);
    for (; r->step < r->steps_end && r->step->at == at; r->step++)
        if (r->step->kind == HD_EDIT_AFTER)
            put_fresh(r, r->step->insn);
}

static void move_annotations(hd_function *f, const uint32_t *kept)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->annotations.count; i++) {
        hd_annotation a = f->annotations.items[i];
        if (a.instruction != HD_NONE) {
            a.instruction = kept[a.instruction];
            if (a.instruction == HD_NONE)
                continue;
        }
        f->annotations.items[count++] = a;
    }
    f->annotations.count = count;
    count = 0;
    for (uint32_t i = 0; i < f->foreign_annotations.count; i++) {
        hd_foreign_annotation a = f->foreign_annotations.items[i];
        if (a.kind == 0 && a.instruction != HD_NONE) {
            a.instruction = kept[a.instruction];
            if (a.instruction == HD_NONE)
                continue;
        }
        f->foreign_annotations.items[count++] = a;
    }
    f->foreign_annotations.count = count;
    f->annotations_changed = true;
}

static void rebuild_body(rebuild *r)
{
    hd_function *f = r->function;
    for (uint32_t i = 0; i < f->statements.count; i++) {
        hd_statement statement = f->statements.items[i];
        if (statement.kind == HD_STATEMENT_INSTRUCTION) {
            put_old(r, statement.index, statement.span);
            continue;
        }
        hd_array_push(&r->statements, statement);
        if (statement.span.end > r->text)
            r->text = statement.span.end;
    }
    put_before(r, f->instructions.count);
}

bool hd_edit_end(hd_edit *edit)
{
    hd_function *f = edit->function;
    bool any = edit->steps.count != 0;
    if (any) {
        qsort(edit->steps.items, edit->steps.count, sizeof *edit->steps.items, compare_steps);
        uint32_t *room = hd_calloc(2 * ((size_t)f->instructions.count + 1), sizeof(uint32_t));
        rebuild r = {.function = f,
                     .step = edit->steps.items,
                     .steps_end = edit->steps.items + edit->steps.count,
                     .moved = room,
                     .kept = room + f->instructions.count + 1,
                     .text = body_begin(f)};
        rebuild_body(&r);
        for (uint32_t i = 0; i < f->labels.count; i++)
            f->labels.items[i].instruction = r.moved[f->labels.items[i].instruction];
        move_annotations(f, r.kept);
        free(room);
        hd_array_free(&f->instructions);
        hd_array_free(&f->statements);
        memcpy(&f->instructions, &r.instructions, sizeof f->instructions);
        memcpy(&f->statements, &r.statements, sizeof f->statements);
        f->changed = true;
        hd_function_drop_cfg(f);
    }
    hd_array_free(&edit->steps);
    return any;
}
