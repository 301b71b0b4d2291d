/* Declarations: .reg, variables, and the parts shared with parameters. A declaration's qualifiers are collected in
 * b->declaration; each declarator then creates a register declaration or a symbol. */
#include "base/search.h"
#include "parser/builder.h"

#include <stdio.h>

enum { HD_RANGE_VARIABLES_LIMIT = 65536 };

uint32_t hd_build_u32(hd_builder *b, const hd_node *number)
{
    hd_constant c;
    if (!hd_constant_of(b, number, &c) || c.bits > UINT32_MAX) {
        hd_builder_error(b, BAD_LITERAL, hd_node_span(number), "a number below 2^32 is needed here");
        return 0;
    }
    return (uint32_t)c.bits;
}

static hd_space space_of(const hd_builder *b, const hd_token *t)
{
    const char *text = hd_builder_source(b)->text + t->begin;
    size_t length = t->end - t->begin;
    for (int i = HD_SPACE_NONE + 1; i < HD_SPACE_COUNT; i++)
        if (hd_is_name(text, length, hd_space_spellings[i]))
            return (hd_space)i;
    return HD_SPACE_NONE;
}

static bool version_is_at_least(const hd_builder *b, uint32_t major, uint32_t minor)
{
    const hd_module *m = b->module;
    return m->version_major > major || (m->version_major == major && m->version_minor >= minor);
}

void hd_build_declaration(hd_builder *b, const hd_node *space)
{
    memset(&b->declaration, 0, sizeof b->declaration);
    bool in_header = b->header != NULL;
    b->declaration.begin = !in_header && b->header_begin != HD_NONE && space->token.kind != HD_TOKEN_REG
                               ? b->header_begin
                               : space->token.begin;
    b->declaration.space = (uint8_t)space_of(b, &space->token);
    b->declaration.vector = 1;
    b->constants.count = 0;
    b->pairs.count = 0;
    b->has_initializer = false;
    if (b->declaration.space == HD_SPACE_TEX && version_is_at_least(b, 1, 5))
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(space),
                         "the space .tex ended with PTX 1.5; declare a .global .texref");
    if (b->function || in_header)
        return;
    b->saw_other = true;
    if ((b->declaration.space == HD_SPACE_LOCAL || b->declaration.space == HD_SPACE_REG) &&
        version_is_at_least(b, 3, 0))
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(space),
                         "from PTX 3.0 on, %s is declared inside functions only",
                         b->declaration.space == HD_SPACE_REG ? ".reg" : ".local");
    else if (b->declaration.space == HD_SPACE_PARAM)
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(space), ".param is declared inside functions only");
}

void hd_build_bank(hd_builder *b, const hd_node *space, const hd_node *close)
{
    if (version_is_at_least(b, 2, 2))
        hd_builder_error(b, BAD_DECLARATION, ((hd_span){space->token.begin, close->token.end}),
                         "banks of .const ended with PTX 2.2");
}

void hd_build_align(hd_builder *b, const hd_node *number)
{
    uint32_t align = hd_build_u32(b, number);
    if (!align || (align & (align - 1)))
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(number), "an alignment is a power of two");
    else if (b->declaration.is_pointer)
        return; /* alignment of the pointer's target */
    else
        b->declaration.align = align;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static hd_type type_of(hd_builder *b, const hd_token *word)
{
    hd_use *use = hd_use_of(b, word->name);
    if (!use->meaning) {
        const char *text = hd_names_text(&b->module->names, word->name);
        use->meaning =
            (uint32_t)hd_type_from_spelling(text + 1, hd_names_length(&b->module->names, word->name) - 1) + 1;
    }
    return (hd_type)(use->meaning - 1);
}

/* 2 or 4 (8 is a form of ld and st only), or 0. */
static uint8_t vector_of(const hd_builder *b, const hd_token *word)
{
    const char *text = hd_names_text(&b->module->names, word->name);
    return strcmp(text, ".v2") == 0 ? 2 : strcmp(text, ".v4") == 0 ? 4 : 0;
}

static void declaration_error(hd_builder *b, const hd_node *at, const char *why)
{
    if (!b->declaration.failed)
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(at), "%s", why);
    b->declaration.failed = true;
}

static void set_type(hd_builder *b, const hd_node *word)
{
    hd_type type = type_of(b, &word->token);
    const char *text = hd_names_text(&b->module->names, word->token.name);
    if (type == HD_TYPE_NONE) {
        if (!b->declaration.failed)
            hd_builder_error(b, BAD_DECLARATION, hd_node_span(word), "there is no type %s", text);
        b->declaration.failed = true;
        type = HD_TYPE_B32;
    } else if (!hd_types[type].declarable) {
        if (!b->declaration.failed)
            hd_builder_error(b, BAD_DECLARATION, hd_node_span(word),
                             "%s is a type of instructions only; declare a .b type", text);
        b->declaration.failed = true;
    }
    b->declaration.type = (uint8_t)type;
}

void hd_build_type(hd_builder *b, const hd_node *vector, const hd_node *type)
{
    if (vector) {
        b->declaration.vector = vector_of(b, &vector->token);
        if (!b->declaration.vector) {
            declaration_error(b, vector, "only .v2 or .v4 may precede the type");
            b->declaration.vector = 1;
        }
    }
    set_type(b, type);
    uint8_t t = b->declaration.type, space = b->declaration.space;
    if (t == HD_TYPE_PRED && (space != HD_SPACE_REG || b->declaration.vector > 1))
        declaration_error(b, type, ".pred is a type of scalar registers only");
    if (hd_types[t].class == HD_CLASS_OPAQUE && space == HD_SPACE_REG)
        declaration_error(b, type, "a texture, sampler or surface is no register");
    if (t == HD_TYPE_SAMPLERREF && !b->samplers_apart)
        declaration_error(b, type, "a .samplerref needs .target texmode_independent");
    b->declaration.qualifiers_end = type->token.end;
    b->declaration.first =
        space == HD_SPACE_REG ? (b->function ? b->function->declarations.count : 0) : b->module->symbols.count;
    b->declaration.count = 0;
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

static hd_function *register_owner(hd_builder *b) { return b->function ? b->function : hd_module_globals(b->module); }

static uint32_t push_declaration(hd_builder *b, const hd_node *name, uint32_t count, hd_tokens count_tokens,
                                 uint32_t end)
{
    hd_function *f = register_owner(b);
    hd_declaration d = {hd_full_name(b, &name->token), count,        b->declaration.type,     b->declaration.vector,
                        (uint16_t)b->scopes.count,     count_tokens, {name->token.begin, end}};
    hd_array_push(&f->declarations, d);
    b->declaration.count++;
    return f->declarations.count - 1;
}

void hd_build_register(hd_builder *b, const hd_node *name)
{
    uint32_t declaration = push_declaration(b, name, HD_NONE, (hd_tokens){0, 0}, name->token.end);
    hd_declare(b, &name->token, b->function ? HD_BIND_DECLARED : HD_BIND_GLOBAL, declaration);
}

void hd_build_register_range(hd_builder *b, const hd_node *name, const hd_node *count, const hd_node *close)
{
    hd_constant c;
    if (!hd_constant_of(b, count, &c))
        c.bits = 0;
    if (c.bits >= 1ull << 31) {
        hd_builder_error(b, REGISTER_RANGE, hd_node_span(count), "a register range has fewer than 2^31 members");
        c.bits = (1ull << 31) - 1;
    }
    hd_tokens tokens = hd_build_tokens(b, count->token.begin, count->token.end);
    uint32_t declaration = push_declaration(b, name, (uint32_t)c.bits, tokens, close->token.end);
    hd_declare_range(b, &name->token, declaration, (uint32_t)c.bits, !b->function);
}

void hd_build_registers(hd_builder *b, const hd_node *end)
{
    hd_function *f = register_owner(b);
    hd_tokens qualifiers = hd_build_tokens(b, b->declaration.begin, b->declaration.qualifiers_end);
    hd_group group = {qualifiers, f->declarations.count - b->declaration.count, b->declaration.count};
    hd_array_push(&f->register_groups, group);
    hd_build_statement(b, HD_STATEMENT_REGISTERS, f->register_groups.count - 1, b->declaration.begin, end->token.end);
}

/* ---- variables --------------------------------------------------------------------------------------------------- */

static uint32_t natural_align(const hd_builder *b)
{
    uint32_t bytes = hd_types[b->declaration.type].bits / 8u * b->declaration.vector;
    return bytes ? bytes : 1;
}

hd_symbol *hd_symbol_new(hd_builder *b, const hd_node *name, hd_symbol_kind kind)
{
    hd_symbol symbol = {
        .name = hd_full_name(b, &name->token),
        .kind = (uint8_t)kind,
        .space = b->declaration.space,
        .type = b->declaration.type,
        .vector = b->declaration.vector,
        .align = b->declaration.align ? b->declaration.align : natural_align(b),
        .function = HD_NONE,
        .dimension_first = b->module->dimensions.count,
        .initializer_first = b->module->initializers.count,
        .span = hd_node_span(name),
    };
    b->symbol = b->module->symbols.count;
    b->declarator = *name;
    hd_array_push(&b->module->symbols, symbol);
    return &hd_array_last(&b->module->symbols);
}

/* The function being read is the newest one. */
static uint32_t current_function(const hd_builder *b) { return b->function ? b->module->functions.count - 1 : HD_NONE; }

/* Whether a variable may repeat an existing one: one of them is .extern and both agree. */
static bool may_repeat(const hd_symbol *a, const hd_symbol *s)
{
    bool both_extern_or_one = a->linkage == HD_LINKAGE_EXTERN || s->linkage == HD_LINKAGE_EXTERN;
    return a->kind == HD_SYMBOL_VARIABLE && both_extern_or_one && a->space == s->space && a->type == s->type &&
           a->vector == s->vector;
}

static void declare_variable(hd_builder *b, const hd_node *name, uint32_t symbol)
{
    const hd_symbol *s = &b->module->symbols.items[symbol];
    const hd_use *use = hd_use_of(b, s->name);
    if (!b->function && use->kind == HD_BIND_SYMBOL && use->depth == 0 &&
        may_repeat(&b->module->symbols.items[use->value], s)) {
        if (s->linkage != HD_LINKAGE_EXTERN)
            hd_rebind(b, s->name, HD_BIND_SYMBOL, symbol);
        return;
    }
    hd_declare(b, &name->token, HD_BIND_SYMBOL, symbol);
}

void hd_build_declarator(hd_builder *b, const hd_node *name)
{
    hd_symbol *s = hd_symbol_new(b, name, HD_SYMBOL_VARIABLE);
    s->linkage = (uint8_t)b->linkage;
    s->function = current_function(b);
    b->has_initializer = false;
    b->declaration.count++;
    b->declaration.type_end = name->token.end;
    if (!b->function && b->linkage == HD_LINKAGE_COMMON && s->space != HD_SPACE_GLOBAL)
        declaration_error(b, name, ".common variables are in .global only");
    if (b->function && b->linkage != HD_LINKAGE_NONE)
        declaration_error(b, name, "no linkage inside a function");
    declare_variable(b, name, b->symbol);
}

void hd_build_dimension(hd_builder *b, const hd_node *count, const hd_node *close)
{
    hd_constant c = {0};
    if (b->symbol == HD_NONE) /* a parameter of a prototype, or a register */
        return;
    hd_symbol *s = &b->module->symbols.items[b->symbol];
    if (count && hd_constant_of(b, count, &c) && c.bits == 0) {
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(count), "an array has 1 to 2^64 - 1 elements");
        c.bits = 1;
    }
    if (!count && s->dimension_count)
        declaration_error(b, close, "only the first dimension may be left open");
    if (!count)
        s->is_unsized = true;
    hd_array_push(&b->module->dimensions, c.bits);
    s->dimension_count++;
    b->declaration.type_end = close->token.end;
}

void hd_symbol_measure(hd_builder *b, hd_symbol *s)
{
    uint64_t size = hd_types[s->type].bits / 8u * (uint64_t)s->vector;
    for (uint32_t i = 0; i < s->dimension_count; i++) {
        uint64_t count = b->module->dimensions.items[s->dimension_first + i];
        size = count && size > HD_SIZE_LIMIT / count ? HD_SIZE_LIMIT : size * count;
    }
    s->size_bytes = size;
}

void hd_build_declarator_end(hd_builder *b)
{
    if (b->has_initializer)
        hd_initializer_end(b);
    hd_symbol *s = &b->module->symbols.items[b->symbol];
    uint32_t end = b->has_initializer ? b->initial_end : b->declaration.type_end;
    s->declarator = hd_build_tokens(b, s->span.begin, end);
    hd_symbol_measure(b, s);
    bool open_allowed = s->linkage == HD_LINKAGE_EXTERN || b->has_initializer;
    if (s->is_unsized && !open_allowed)
        hd_builder_error(b, BAD_DECLARATION, s->span, "an array without a size, an initializer or .extern");
}

/* .global .b32 g<4>; declares g0 to g3. g0 represents the declarator; the others follow after the group. */
void hd_build_declarator_range(hd_builder *b, const hd_node *name, const hd_node *count, const hd_node *close)
{
    uint32_t members = hd_build_u32(b, count);
    if (!members || members > HD_RANGE_VARIABLES_LIMIT) {
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(count), "a range of variables has 1 to %d members",
                         HD_RANGE_VARIABLES_LIMIT);
        members = 1;
    }
    hd_symbol *s = hd_symbol_new(b, name, HD_SYMBOL_VARIABLE);
    s->linkage = (uint8_t)b->linkage;
    s->function = current_function(b);
    s->declarator = hd_build_tokens(b, name->token.begin, close->token.end);
    hd_symbol_measure(b, s);
    hd_array_push(&b->variable_ranges, (hd_variable_range){*name, b->symbol, members});
}

static void declare_members(hd_builder *b, const hd_variable_range *range)
{
    hd_names *names = &b->module->names;
    const char *stem = hd_builder_source(b)->text + range->name.token.begin;
    uint32_t length = range->name.token.end - range->name.token.begin;
    for (uint32_t i = 0; i < range->count; i++) {
        b->spelling.count = 0;
        hd_array_reserve(&b->spelling, length + 16u);
        memcpy(b->spelling.items, stem, length);
        int digits = snprintf(b->spelling.items + length, 16, "%u", i);
        hd_symbol symbol = b->module->symbols.items[range->symbol];
        symbol.name = hd_names_add(names, b->spelling.items, length + (uint32_t)digits);
        uint32_t id = range->symbol;
        if (i) {
            id = b->module->symbols.count;
            symbol.declarator.count = 0;
            hd_array_push(&b->module->symbols, symbol);
        } else {
            b->module->symbols.items[id].name = symbol.name;
        }
        hd_declare_name(b, &range->name.token, symbol.name, HD_BIND_SYMBOL, id);
    }
    hd_use_of(b, hd_full_name(b, &range->name.token))->flags |= HD_USE_MEMBERS;
}

void hd_build_variables(hd_builder *b, const hd_node *end)
{
    hd_tokens qualifiers = hd_build_tokens(b, b->declaration.begin, b->declaration.qualifiers_end);
    hd_group group = {qualifiers, b->declaration.first, b->module->symbols.count - b->declaration.first};
    hd_array_push(&b->module->variable_groups, group);
    hd_build_statement(b, HD_STATEMENT_VARIABLES, b->module->variable_groups.count - 1, b->declaration.begin,
                       end->token.end);
    for (uint32_t i = 0; i < b->variable_ranges.count; i++)
        declare_members(b, &b->variable_ranges.items[i]);
    b->variable_ranges.count = 0;
    b->header_begin = HD_NONE;
}
