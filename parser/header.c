/* Function headers, and the beginning and end of bodies. Results and parameters are read before the function's scope
 * opens, so that its own name is bound outside; hd_build_body binds them. */
#include "parser/builder.h"

void hd_build_header(hd_builder *b, const hd_node *word, bool is_entry)
{
    hd_function *f = hd_function_new(b->module, HD_NO_NAME);
    b->saw_other = true;
    b->header = f;
    f->is_entry = is_entry;
    f->linkage = (uint8_t)b->linkage;
    if (b->header_begin == HD_NONE)
        b->header_begin = word->token.begin;
    f->header_span.begin = b->header_begin;
    f->result_first = f->parameter_first = b->module->symbols.count;
    b->parameter_names.count = 0;
    b->in_results = false;
    b->has_max_threads = b->has_required_threads = b->has_cluster = false;
}

/* A definition, or a declaration before or after it. */
static void bind_function(hd_builder *b, const hd_node *name, uint32_t symbol)
{
    const hd_use *use = hd_use_of(b, b->header->name);
    b->before = NULL;
    bool again = use->kind == HD_BIND_SYMBOL && use->depth == 0 &&
                 b->module->symbols.items[use->value].kind == HD_SYMBOL_FUNCTION;
    if (!again) {
        hd_declare(b, &name->token, HD_BIND_SYMBOL, symbol);
        return;
    }
    const hd_function *before = b->module->functions.items[b->module->symbols.items[use->value].function];
    b->before = before;
    if (!before->has_body)
        hd_rebind(b, b->header->name, HD_BIND_SYMBOL, symbol);
}

void hd_build_function_name(hd_builder *b, const hd_node *name)
{
    hd_function *f = b->header;
    memset(&b->declaration, 0, sizeof b->declaration);
    b->declaration.vector = 1;
    f->name = hd_full_name(b, &name->token);
    f->result_count = b->module->symbols.count - f->result_first;
    hd_symbol *s = hd_symbol_new(b, name, HD_SYMBOL_FUNCTION);
    s->linkage = f->linkage;
    s->function = b->module->functions.count - 1;
    f->symbol = b->symbol;
    f->parameter_first = b->module->symbols.count;
    bind_function(b, name, f->symbol);
    f->header_span.end = name->token.end;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static bool is_vector_word(const hd_builder *b, const hd_node *word)
{
    const char *text = hd_names_text(&b->module->names, word->token.name);
    return text[1] == 'v' && text[2] >= '0' && text[2] <= '9';
}

/* .ptr .texref and its like: a pointer to a texture, sampler or surface, which is a variable in .global. */
static bool takes_object(hd_builder *b, const hd_node *word)
{
    const char *text = hd_names_text(&b->module->names, word->token.name);
    hd_type type = hd_type_from_spelling(text + 1, strlen(text + 1));
    if (hd_types[type].class != HD_CLASS_OPAQUE || b->declaration.pointer_space != HD_SPACE_NONE)
        return false;
    b->declaration.pointer_space = HD_SPACE_GLOBAL;
    return true;
}

void hd_build_parameter_word(hd_builder *b, const hd_node *word)
{
    if (is_vector_word(b, word)) {
        if (b->declaration.space == HD_SPACE_PARAM ||
            strcmp(hd_names_text(&b->module->names, word->token.name), ".v2") != 0)
            b->declaration.vector = 4;
        else
            b->declaration.vector = 2;
        return;
    }
    if (b->declaration.is_pointer && takes_object(b, word))
        return;
    if (b->declaration.type != HD_TYPE_NONE) {
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(word), "a parameter has one type");
        return;
    }
    uint8_t vector = b->declaration.vector;
    hd_build_type(b, NULL, word);
    b->declaration.vector = vector;
    if (vector > 1 && b->declaration.type == HD_TYPE_PRED && !b->declaration.failed)
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(word), ".pred is a type of scalar registers only");
}

void hd_build_pointer(hd_builder *b, const hd_node *word)
{
    (void)word;
    b->declaration.is_pointer = true;
}

void hd_build_pointer_space(hd_builder *b, const hd_node *word)
{
    if (!b->declaration.is_pointer || b->declaration.pointer_space != HD_SPACE_NONE) {
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(word),
                         "a second space; that of a pointer's target follows .ptr");
        return;
    }
    switch (word->token.kind) {
    case HD_TOKEN_GLOBAL: b->declaration.pointer_space = HD_SPACE_GLOBAL; break;
    case HD_TOKEN_SHARED: b->declaration.pointer_space = HD_SPACE_SHARED; break;
    case HD_TOKEN_LOCAL: b->declaration.pointer_space = HD_SPACE_LOCAL; break;
    case HD_TOKEN_CONST: b->declaration.pointer_space = HD_SPACE_CONST; break;
    default: hd_builder_error(b, BAD_DECLARATION, hd_node_span(word), "no space that a pointer leads to"); break;
    }
}

static bool in_prototype(const hd_builder *b) { return b->header == NULL; }

static void register_parameter(hd_builder *b, const hd_node *name)
{
    hd_function *f = b->header;
    hd_declaration d = {hd_full_name(b, &name->token),
                        HD_NONE,
                        b->declaration.type,
                        b->declaration.vector,
                        1,
                        {0, 0},
                        hd_node_span(name)};
    if (f->is_entry)
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(name), "a kernel's parameters are in .param");
    hd_array_push(&f->declarations, d);
    uint32_t id = f->registers.count;
    for (uint8_t c = 0; c < d.vector; c++) {
        hd_register r = {d.name, HD_NONE, f->declarations.count - 1, d.type, c, d.vector, 0};
        hd_array_push(&f->registers, r);
        hd_array_push(b->in_results ? &f->register_results : &f->register_parameters, id + c);
        if (!b->in_results)
            hd_array_push(&f->variables_before, b->module->symbols.count - f->parameter_first);
    }
    b->symbol = HD_NONE;
}

void hd_build_parameter(hd_builder *b, const hd_node *name)
{
    b->is_register_parameter = b->declaration.space == HD_SPACE_REG;
    if (b->declaration.type == HD_TYPE_NONE) {
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(name), "a parameter without a type");
        b->declaration.type = HD_TYPE_B32;
    }
    if (in_prototype(b)) {
        b->symbol = HD_NONE;
        b->prototype_counts[b->in_results ? 0 : 1]++;
        return;
    }
    if (name->token.kind == HD_TOKEN_SINK)
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(name), "_ names a parameter only in .callprototype");
    if (b->header->is_entry && b->declaration.vector > 1)
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(name), "a kernel's parameter is no vector");
    hd_node entry = *name;
    entry.flags = b->declaration.space; /* bound when the body opens */
    if (b->is_register_parameter) {
        entry.constant = b->header->registers.count;
        register_parameter(b, name);
    } else {
        hd_symbol *s = hd_symbol_new(b, name, b->in_results ? HD_SYMBOL_RESULT : HD_SYMBOL_PARAMETER);
        s->function = b->module->functions.count - 1;
        s->is_pointer = b->declaration.is_pointer;
        s->pointer_space = b->declaration.pointer_space;
        entry.constant = b->symbol;
    }
    hd_array_push(&b->parameter_names, entry);
}

void hd_build_parameter_end(hd_builder *b)
{
    if (b->symbol == HD_NONE)
        return;
    hd_symbol *s = &b->module->symbols.items[b->symbol];
    hd_symbol_measure(b, s);
    if (s->is_unsized && b->header && b->header->is_entry)
        hd_builder_error(b, BAD_DECLARATION, s->span, "a kernel's parameter has a size");
}

/* ---- performance directives -------------------------------------------------------------------------------------- */

void hd_build_integer(hd_builder *b, const hd_node *number) { hd_array_push(&b->integers, hd_build_u32(b, number)); }

static void triple(hd_builder *b, const hd_node *word, uint32_t to[3])
{
    if (b->integers.count > 3)
        hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(word), "at most three sizes");
    for (uint32_t i = 0; i < 3; i++)
        to[i] = i < b->integers.count ? b->integers.items[i] : 1;
}

static uint32_t single(hd_builder *b, const hd_node *word)
{
    if (b->integers.count != 1)
        hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(word), "one number is needed here");
    return b->integers.items[0];
}

static bool fits_function(hd_builder *b, const hd_node *word)
{
    uint32_t kind = word->token.kind;
    bool for_func = kind == HD_TOKEN_NORETURN || kind == HD_TOKEN_ABI_PRESERVE || kind == HD_TOKEN_ABI_PRESERVE_CONTROL;
    if (for_func == !b->header->is_entry)
        return true;
    hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(word), "%s follows .%s only", hd_token_text((hd_token_kind)kind),
                     for_func ? "func" : "entry");
    return false;
}

void hd_build_performance(hd_builder *b, const hd_node *word)
{
    hd_function *f = b->header;
    if (!fits_function(b, word))
        return;
    switch (word->token.kind) {
    case HD_TOKEN_MAXNTID:
        triple(b, word, f->max_threads);
        b->has_max_threads = true;
        break;
    case HD_TOKEN_REQNTID:
        triple(b, word, f->required_threads);
        b->has_required_threads = true;
        break;
    case HD_TOKEN_REQNCTAPERCLUSTER:
        triple(b, word, f->cluster_ctas);
        b->has_cluster = true;
        break;
    case HD_TOKEN_MINNCTAPERSM: f->min_ctas = single(b, word); break;
    case HD_TOKEN_MAXNREG: f->max_registers = single(b, word); break;
    case HD_TOKEN_MAXCLUSTERRANK:
    case HD_TOKEN_MINPERCTAMEMORY:
    case HD_TOKEN_ABI_PRESERVE:
    case HD_TOKEN_ABI_PRESERVE_CONTROL: single(b, word); break;
    case HD_TOKEN_NORETURN: f->no_return = true; break;
    case HD_TOKEN_MAXNCTAPERSM:
        single(b, word);
        if (b->module->version_major > 2 || (b->module->version_major == 2 && b->module->version_minor >= 1))
            hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(word),
                             ".maxnctapersm ended with PTX 2.1; .minnctapersm took its place");
        break;
    case HD_TOKEN_BLOCKSARECLUSTERS: b->blocks_are_clusters = *word; break;
    default: break;
    }
    if (b->has_max_threads && b->has_required_threads &&
        (word->token.kind == HD_TOKEN_MAXNTID || word->token.kind == HD_TOKEN_REQNTID))
        hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(word), ".maxntid and .reqntid exclude each other");
}

/* ---- declared before --------------------------------------------------------------------------------------------- */

static bool same_symbols(const hd_module *m, uint32_t a, uint32_t other, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const hd_symbol *s = &m->symbols.items[a + i], *t = &m->symbols.items[other + i];
        if (!s->is_unsized && !t->is_unsized && s->size_bytes != t->size_bytes)
            return false;
    }
    return true;
}

static bool same_registers(const hd_function *f, const hd_u32_array *a, const hd_function *g, const hd_u32_array *other)
{
    for (uint32_t i = 0; i < a->count && i < other->count; i++)
        if (hd_types[f->registers.items[a->items[i]].type].bits !=
            hd_types[g->registers.items[other->items[i]].type].bits)
            return false;
    return a->count == other->count;
}

static bool same_order(const hd_function *f, const hd_function *g)
{
    hd_formals walk = {.function = f}, other = {.function = g};
    hd_formal a, b;
    while (hd_formals_next(&walk, &a) && hd_formals_next(&other, &b))
        if ((a.symbol == HD_NONE) != (b.symbol == HD_NONE) || a.components != b.components)
            return false;
    return true;
}

/* Checks that all declarations of a function have the same results and parameters. */
static void check_prototypes(hd_builder *b)
{
    const hd_function *f = b->header, *g = b->before;
    const hd_module *m = b->module;
    bool is_complete = g && g->header_span.end; /* otherwise its header had a syntax error */
    if (!is_complete)
        return;
    bool same = f->is_entry == g->is_entry && f->result_count == g->result_count &&
                f->parameter_count == g->parameter_count &&
                same_symbols(m, f->result_first, g->result_first, f->result_count) &&
                same_symbols(m, f->parameter_first, g->parameter_first, f->parameter_count) &&
                same_registers(f, &f->register_results, g, &g->register_results) &&
                same_registers(f, &f->register_parameters, g, &g->register_parameters) && same_order(f, g);
    if (same)
        return;
    hd_diagnostic *d = hd_builder_error(b, BAD_DECLARATION, m->symbols.items[f->symbol].span,
                                        "'%s' was declared with other parameters", hd_names_text(&m->names, f->name));
    hd_builder_note(b, d, m->symbols.items[g->symbol].span, "declared before here");
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

/* The header is complete: `end` is its { or ;. Opens the function's scope with its parameters. */
static void finish_header(hd_builder *b, const hd_node *end)
{
    hd_function *f = b->header;
    f->parameter_count = b->module->symbols.count - f->parameter_first;
    if (f->result_count && f->result_count + f->register_results.count > 1)
        hd_builder_error(b, BAD_DECLARATION, b->module->symbols.items[f->result_first].span,
                         "a result in .param is the only one; several are in .reg");
    check_prototypes(b);
    f->header = hd_build_tokens(b, b->header_begin, end->token.begin);
    f->header_span = (hd_span){b->header_begin, b->previous_end};
    if (b->blocks_are_clusters.token.kind && !(b->has_required_threads && b->has_cluster))
        hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(&b->blocks_are_clusters),
                         ".blocksareclusters needs .reqntid and .reqnctapercluster");
    b->blocks_are_clusters = (hd_node){0};
    b->function = f;
    hd_scope_open(b, end->token.begin);
    for (uint32_t i = 0; i < b->parameter_names.count; i++) {
        const hd_node *n = &b->parameter_names.items[i];
        bool is_register = n->flags == HD_SPACE_REG;
        if (n->token.kind == HD_TOKEN_NAME)
            hd_declare(b, &n->token, is_register ? HD_BIND_REGISTER : HD_BIND_SYMBOL, n->constant);
    }
}

static void push_function_statement(hd_builder *b, uint32_t end)
{
    uint32_t begin = b->header->header_span.begin;
    b->function = NULL;
    b->header = NULL;
    b->header_begin = HD_NONE;
    hd_build_statement(b, HD_STATEMENT_FUNCTION, b->module->functions.count - 1, begin, end);
}

void hd_build_prototype(hd_builder *b, const hd_node *end)
{
    finish_header(b, end);
    hd_scope_close(b);
    push_function_statement(b, end->token.end);
}

/* The parser has already read one token after the header. */
void hd_build_open_prototype(hd_builder *b)
{
    uint32_t end = b->previous_end;
    hd_node next = {{b->last_begin, b->last_end, b->last_kind, HD_NO_NAME, HD_NO_INDEX}, HD_NONE, 0};
    b->header->is_open_prototype = true;
    finish_header(b, &next);
    hd_scope_close(b);
    push_function_statement(b, end);
}

enum { LONG_ARRAY_BYTES = 1 << 20 };

static void lend_arrays(hd_builder *b, hd_function *f)
{
#define LEND(field)                                                         \
    {                                                                       \
        hd_function own = *f; /* operands and such created by the header */ \
        f->field = b->spare.field;                                          \
        for (uint32_t i = 0; i < own.field.count; i++)                      \
            hd_array_push(&f->field, own.field.items[i]);                   \
        hd_array_free(&own.field);                                          \
        memset(&b->spare.field, 0, sizeof b->spare.field);                  \
    }
    HD_BODY_ARRAYS(LEND)
#undef LEND
}

static void keep_arrays(hd_builder *b, hd_function *f)
{
#define KEEP(field)                                                                                          \
    if ((size_t)f->field.count * sizeof *f->field.items > LONG_ARRAY_BYTES) {                                \
        hd_array_fit(&f->field);                                                                             \
    } else {                                                                                                 \
        b->spare.field = f->field;                                                                           \
        b->spare.field.count = 0;                                                                            \
        f->field.capacity = f->field.count;                                                                  \
        f->field.items = f->field.count ? hd_malloc((size_t)f->field.count * sizeof *f->field.items) : NULL; \
        if (f->field.count)                                                                                  \
            memcpy(f->field.items, b->spare.field.items, (size_t)f->field.count * sizeof *f->field.items);   \
    }
    HD_BODY_ARRAYS(KEEP)
#undef KEEP
    hd_array_reserve(&f->operands, 1); /* not NULL even if no instruction has an operand */
}

static void check_definition(hd_builder *b)
{
    const hd_use *use = hd_use_of(b, b->header->name);
    const hd_symbol *bound = use->kind == HD_BIND_SYMBOL ? &b->module->symbols.items[use->value] : NULL;
    if (!bound || use->value == b->header->symbol || bound->kind != HD_SYMBOL_FUNCTION)
        return;
    hd_symbol *own = &b->module->symbols.items[b->header->symbol];
    if (b->module->functions.items[bound->function]->has_body) {
        hd_diagnostic *d = hd_builder_error(b, REDECLARED, own->span, "'%s' is defined twice",
                                            hd_names_text(&b->module->names, own->name));
        hd_builder_note(b, d, bound->span, "defined before here");
    }
}

/* Checks that the parameters of a kernel fit the space that ptxas has for them. */
static void check_parameter_space(hd_builder *b)
{
    enum {
        SMALL_BYTES = 4352,
        LARGE_BYTES = 32764,
        LARGE_SINCE_VERSION = 81,
        LARGE_SINCE_TARGET = 70,
        KNOWN_VERSION = 94
    };
    const hd_function *f = b->header;
    const hd_module *m = b->module;
    uint32_t version = m->version_major * 10 + m->version_minor;
    bool large = version >= LARGE_SINCE_VERSION && (!m->target_number || m->target_number >= LARGE_SINCE_TARGET);
    uint64_t bytes = 0, limit = large ? LARGE_BYTES : SMALL_BYTES;
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const hd_symbol *s = &m->symbols.items[f->parameter_first + i];
        bytes = (bytes + s->align - 1) / s->align * s->align + s->size_bytes;
    }
    if (!f->is_entry || bytes <= limit || version > KNOWN_VERSION)
        return;
    hd_diagnostic *d = hd_builder_error(b, BAD_DECLARATION, m->symbols.items[f->symbol].span,
                                        "the parameters of '%s' take %llu bytes; a kernel has at most %u",
                                        hd_names_text(&m->names, f->name), (unsigned long long)bytes, (uint32_t)limit);
    if (!large && bytes <= LARGE_BYTES)
        hd_builder_note(b, d, m->symbols.items[f->symbol].span, "32,764 bytes need PTX 8.1 and sm_70");
}

void hd_build_body(hd_builder *b, const hd_node *brace)
{
    hd_function *f = b->header;
    check_definition(b);
    finish_header(b, brace);
    check_parameter_space(b);
    f->has_body = true;
    lend_arrays(b, f);
    hd_array_reserve(&f->operands, 16);
    f->body = (hd_span){brace->token.begin, brace->token.end};
    b->header = NULL; /* later declarations belong to the body */
    b->location = HD_NONE;
    b->opcode_name = HD_NO_NAME;
    if (f->linkage == HD_LINKAGE_EXTERN)
        hd_builder_error(b, BAD_DECLARATION, hd_node_span(brace), "an .extern function has no body");
}

void hd_build_body_end(hd_builder *b, const hd_node *brace)
{
    hd_function *f = b->function;
    f->body.end = brace->token.end;
    hd_labels_resolve(b);
    while (b->scopes.count)
        hd_scope_close(b);
    keep_arrays(b, f);
    b->header = f;
    b->header_begin = f->header_span.begin;
    push_function_statement(b, brace->token.end);
}

void hd_builder_end(hd_builder *b)
{
    if (!b->function)
        return;
    hd_node end = {{b->last_begin, b->last_end, HD_TOKEN_END, 0, HD_NO_INDEX}, 0, 0};
    if (b->stopped) /* labels may be missing because parsing stopped early */
        for (uint32_t i = 0; i < b->references.count; i++)
            b->references.items[i].state = HD_REFERENCE_MAYBE;
    hd_build_body_end(b, &end);
}
