/* Names and scopes: declaration, lookup, and undo at the end of a scope. See the head of parser/builder.h.
 *
 * Depth 0 is the module, 1 a function's parameters and body, deeper levels its blocks. A name that a range covers
 * counts as declared in the range's scope. Of two meanings the deeper one is used. A lookup takes a few loads; the
 * first mention of a member of a range creates a register. */
#include "parser/builder.h"
#include "base/scan.h"
#include "ir/sregs.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

void hd_uses_grow(hd_builder *b, hd_name name)
{
    uint32_t count = b->use_count ? b->use_count : 512;
    while (count <= name)
        count *= 2;
    b->uses = hd_realloc(b->uses, (size_t)count * sizeof *b->uses);
    memset(b->uses + b->use_count, 0, (size_t)(count - b->use_count) * sizeof *b->uses);
    b->use_count = count;
}

hd_name hd_full_name(hd_builder *b, const hd_token *token)
{
    if (token->index == HD_NO_INDEX)
        return token->name;
    return hd_token_spelling(&b->lexer, token);
}

void hd_scope_open(hd_builder *b, uint32_t begin)
{
    hd_array_push(&b->scopes, (hd_scope){b->undo.count, b->references.count, b->ranges.count, begin, b->node_mark});
}

/* Module-scope registers get ids in each function that mentions them: forget those of this function. */
static void end_function_names(hd_builder *b)
{
    for (uint32_t i = 1; i < b->ranges.count; i++) {
        b->ranges.items[i].root = 0;
        b->ranges.items[i].local = HD_NONE;
    }
    for (uint32_t i = 0; i < b->imported.count; i++)
        hd_rebind(b, b->imported.items[i].name, HD_BIND_GLOBAL, b->imported.items[i].value);
    b->imported.count = 0;
    b->radix.count = 1;
    b->shadowed_sregs = 0;
}

void hd_scope_close(hd_builder *b)
{
    hd_scope scope = hd_array_pop(&b->scopes);
    while (b->undo.count > scope.undo_mark) {
        hd_undo undo = hd_array_pop(&b->undo);
        hd_use *use = hd_use_of(b, undo.name);
        if (undo.is_range) {
            hd_range *range = &b->ranges.items[use->range];
            const char *text = hd_names_text(&b->module->names, undo.name);
            b->digit_stems -= is_digit(text[hd_names_length(&b->module->names, undo.name) - 1]);
            use->range = range->outer;
        } else {
            use->kind = undo.kind;
            use->value = undo.value;
            use->depth = undo.depth;
        }
    }
    b->ranges.count = scope.range_mark;
    b->node_mark = scope.node_mark;
    if (!b->scopes.count)
        end_function_names(b);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static uint32_t new_radix_node(hd_builder *b, uint32_t words)
{
    uint32_t node = b->radix.count;
    memset(hd_array_extend(&b->radix, words), 0, (size_t)words * sizeof(uint32_t));
    return node;
}

/* Imports a module-scope declaration into the function that mentions it. */
static uint32_t import_declaration(hd_builder *b, uint32_t declaration)
{
    hd_array_push(&b->function->declarations, b->module->globals->declarations.items[declaration]);
    return b->function->declarations.count - 1;
}

static uint32_t new_register(hd_builder *b, uint32_t declaration, uint32_t index)
{
    hd_function *f = b->function;
    const hd_declaration *d = &f->declarations.items[declaration];
    uint32_t id = f->registers.count;
    for (uint8_t component = 0; component < d->vector; component++) {
        hd_register r = {d->name, index, declaration, d->type, component, d->vector, 0};
        hd_array_push(&f->registers, r);
    }
    return id;
}

/* The radix-tree entry for an index of a range. */
static uint32_t *range_slot(hd_builder *b, hd_range *range, uint32_t index)
{
    enum { MASK = (1 << HD_RANGE_FANOUT_BITS) - 1 };
    uint32_t shift = (range->levels - 1u) * HD_RANGE_FANOUT_BITS;
    if (!range->root)
        range->root = new_radix_node(b, ((range->count - 1) >> shift) + 1);
    uint32_t at = range->root + (index >> shift);
    while (shift) {
        shift -= HD_RANGE_FANOUT_BITS;
        uint32_t node = b->radix.items[at];
        if (!node) {
            node = new_radix_node(b, MASK + 1);
            b->radix.items[at] = node;
        }
        at = node + (index >> shift & MASK);
    }
    return &b->radix.items[at];
}

hd_binding hd_range_member(hd_builder *b, uint32_t range, uint32_t index)
{
    if (!b->function)
        return (hd_binding){HD_BIND_NONE, 0};
    hd_range *r = &b->ranges.items[range];
    if (r->is_global && r->local == HD_NONE)
        r->local = import_declaration(b, r->declaration);
    uint32_t *slot = range_slot(b, r, index);
    if (!*slot) {
        uint32_t id = new_register(b, r->is_global ? r->local : r->declaration, index);
        *slot = id + 1;
    }
    return (hd_binding){HD_BIND_REGISTER, *slot - 1};
}

/* The innermost range with this stem that contains the member; 0: none. */
static uint32_t covering_range(hd_builder *b, hd_name stem, uint32_t index)
{
    uint32_t range = stem ? hd_use_of(b, stem)->range : 0;
    while (range && b->ranges.items[range].count <= index)
        range = b->ranges.items[range].outer;
    return range;
}

/* The same over all splits of the name into stem and digits, including leading zeros; the deepest one. */
static uint32_t any_covering_range(hd_builder *b, const hd_token *token, uint32_t *member)
{
    const char *text = hd_builder_source(b)->text;
    uint32_t best = 0;
    uint64_t index = 0, weight = 1;
    for (uint32_t at = token->end; at - 1 > token->begin && is_digit(text[at - 1]); at--) {
        index += weight * (uint64_t)(text[at - 1] - '0');
        weight = weight > UINT32_MAX ? weight : weight * 10;
        if (index > UINT32_MAX)
            break;
        hd_name stem = hd_names_find(&b->module->names, text + token->begin, at - 1 - token->begin);
        uint32_t range = covering_range(b, stem, (uint32_t)index);
        if (range && (!best || b->ranges.items[range].depth > b->ranges.items[best].depth)) {
            best = range;
            *member = (uint32_t)index;
        }
    }
    return best;
}

/* ---- looking up -------------------------------------------------------------------------------------------------- */

static hd_binding bind_sreg(hd_builder *b, hd_name name, const hd_token *token)
{
    int sreg = hd_sreg_from_spelling(hd_builder_source(b)->text + token->begin, token->end - token->begin);
    if (sreg < 0)
        return (hd_binding){HD_BIND_NONE, 0};
    hd_use *use = hd_use_of(b, name);
    use->kind = HD_BIND_SREG;
    use->value = (uint32_t)sreg;
    use->depth = 0;
    return (hd_binding){HD_BIND_SREG, (uint32_t)sreg};
}

static hd_binding plain_binding(hd_builder *b, hd_name name, const hd_token *token)
{
    hd_use *use = hd_use_of(b, name);
    switch ((hd_binding_kind)use->kind) {
    case HD_BIND_NONE:
        return hd_builder_source(b)->text[token->begin] == '%' ? bind_sreg(b, name, token)
                                                               : (hd_binding){HD_BIND_NONE, 0};
    case HD_BIND_GLOBAL:
        if (!b->function)
            return (hd_binding){HD_BIND_NONE, 0};
        hd_array_push(&b->imported, (hd_undo){name, use->value, 0, HD_BIND_GLOBAL, false});
        use->value = import_declaration(b, use->value);
        use->kind = HD_BIND_DECLARED;
        return plain_binding(b, name, token);
    case HD_BIND_DECLARED:
        use->value = new_register(b, use->value, HD_NONE);
        use->kind = HD_BIND_REGISTER;
        break;
    case HD_BIND_REGISTER:
    case HD_BIND_SYMBOL:
    case HD_BIND_LABEL:
    case HD_BIND_TABLE:
    case HD_BIND_SREG: break;
    }
    return (hd_binding){use->kind, use->value};
}

hd_binding hd_lookup_slow(hd_builder *b, const hd_token *token)
{
    uint32_t member = token->index, range = 0;
    if (token->index == HD_NO_INDEX) {
        if (is_digit(hd_builder_source(b)->text[token->end - 1]))
            range = any_covering_range(b, token, &member);
    } else if (b->digit_stems) {
        range = any_covering_range(b, token, &member);
    } else {
        range = covering_range(b, token->name, token->index);
    }
    hd_name name = hd_full_name(b, token);
    const hd_use *use = hd_use_of(b, name);
    if (range && (use->kind == HD_BIND_NONE || use->kind == HD_BIND_SREG || use->depth < b->ranges.items[range].depth))
        return hd_range_member(b, range, member);
    return plain_binding(b, name, token);
}

/* ---- declaring --------------------------------------------------------------------------------------------------- */

static hd_span binding_span(const hd_builder *b, hd_binding_kind kind, uint32_t value)
{
    const hd_function *f = b->function ? b->function : b->module->globals;
    switch (kind) {
    case HD_BIND_DECLARED: return f->declarations.items[value].span;
    case HD_BIND_REGISTER: return f->declarations.items[f->registers.items[value].declaration].span;
    case HD_BIND_GLOBAL: return b->module->globals->declarations.items[value].span;
    case HD_BIND_SYMBOL: return b->module->symbols.items[value].span;
    case HD_BIND_LABEL: return f->labels.items[value].span;
    case HD_BIND_TABLE: return f->tables.items[value].span;
    case HD_BIND_NONE:
    case HD_BIND_SREG: break;
    }
    return (hd_span){0, 0};
}

static void report_taken(hd_builder *b, const hd_token *token, hd_binding_kind kind, uint32_t value)
{
    hd_span span = {token->begin, token->end};
    const char *text = hd_builder_source(b)->text + token->begin;
    hd_diagnostic *d = hd_builder_error(b, REDECLARED, span, "'%.*s' is declared twice in one scope",
                                        (int)(span.end - span.begin), text);
    hd_span before = binding_span(b, kind, value);
    if (before.end)
        hd_builder_note(b, d, before, "declared before here");
}

static bool names_sreg(hd_builder *b, const hd_token *token)
{
    const char *text = hd_builder_source(b)->text + token->begin;
    return text[0] == '%' && hd_sreg_from_spelling(text, token->end - token->begin) >= 0;
}

/* Marks the stem, so that lookups of range members with this stem also check plain names. */
static void mark_stem(hd_builder *b, const hd_token *token)
{
    if (token->index != HD_NO_INDEX)
        hd_use_of(b, token->name)->flags |= HD_USE_MEMBERS;
}

static void bind(hd_builder *b, hd_name name, hd_binding_kind kind, uint32_t value)
{
    hd_use *use = hd_use_of(b, name);
    if (b->scopes.count)
        hd_array_push(&b->undo, (hd_undo){name, use->value, use->depth, use->kind, false});
    use->kind = (uint8_t)kind;
    use->value = value;
    use->depth = (uint16_t)b->scopes.count;
}

bool hd_declare(hd_builder *b, const hd_token *token, hd_binding_kind kind, uint32_t value)
{
    uint16_t depth = (uint16_t)b->scopes.count;
    uint32_t member, range = 0;
    hd_name name = hd_full_name(b, token);
    hd_use *use = hd_use_of(b, name);
    if (use->kind != HD_BIND_NONE && use->kind != HD_BIND_SREG && use->depth == depth) {
        report_taken(b, token, (hd_binding_kind)use->kind, use->value);
        return false;
    }
    if (is_digit(hd_builder_source(b)->text[token->end - 1]))
        range = any_covering_range(b, token, &member);
    if (range && kind != HD_BIND_LABEL && b->ranges.items[range].depth == depth &&
        !b->ranges.items[range].is_global == (depth > 0)) {
        report_taken(b, token, depth ? HD_BIND_DECLARED : HD_BIND_GLOBAL, b->ranges.items[range].declaration);
        return false;
    }
    if (names_sreg(b, token)) {
        if (kind == HD_BIND_SYMBOL && !depth) {
            hd_builder_error(b, REDECLARED, ((hd_span){token->begin, token->end}),
                             "the name of a special register cannot be declared here");
            return false;
        }
        b->shadowed_sregs++;
    }
    bind(b, name, kind, value);
    mark_stem(b, token);
    return true;
}

bool hd_declare_name(hd_builder *b, const hd_token *token, hd_name name, hd_binding_kind kind, uint32_t value)
{
    const hd_use *use = hd_use_of(b, name);
    if (use->kind != HD_BIND_NONE && use->kind != HD_BIND_SREG && use->depth == b->scopes.count) {
        report_taken(b, token, (hd_binding_kind)use->kind, use->value);
        return false;
    }
    bind(b, name, kind, value);
    return true;
}

void hd_rebind(hd_builder *b, hd_name name, hd_binding_kind kind, uint32_t value)
{
    hd_use *use = hd_use_of(b, name);
    use->kind = (uint8_t)kind;
    use->value = value;
}

/* A plain name of this scope that the new range would cover, or HD_NO_NAME. Searches the smaller of scope and range. */
static hd_name covered_name(hd_builder *b, const hd_token *stem, uint32_t count)
{
    const char *text = hd_builder_source(b)->text + stem->begin;
    uint32_t length = stem->end - stem->begin, mark = b->scopes.count ? hd_array_last(&b->scopes).undo_mark : 0;
    for (uint32_t i = mark; i < b->undo.count; i++) {
        hd_name name = b->undo.items[i].name;
        const char *candidate = hd_names_text(&b->module->names, name);
        uint32_t n = hd_names_length(&b->module->names, name);
        if (b->undo.items[i].is_range || n <= length || n - length > 9 || memcmp(candidate, text, length) != 0)
            continue;
        const char *digits = candidate + length;
        uint64_t index;
        if (hd_take_number(&digits, candidate + n, 10, UINT32_MAX, &index) && digits == candidate + n &&
            index < count && (n - length == 1 || candidate[length] != '0') &&
            hd_use_of(b, name)->depth == b->scopes.count)
            return name;
    }
    return HD_NO_NAME;
}

static uint8_t levels_for(uint32_t count)
{
    uint8_t levels = 1;
    for (uint64_t reach = 1u << HD_RANGE_FANOUT_BITS; reach < count; reach <<= HD_RANGE_FANOUT_BITS)
        levels++;
    return levels;
}

bool hd_declare_range(hd_builder *b, const hd_token *token, uint32_t declaration, uint32_t count, bool is_global)
{
    uint16_t depth = (uint16_t)b->scopes.count;
    hd_name stem = hd_full_name(b, token);
    hd_use *use = hd_use_of(b, stem);
    if (use->range && b->ranges.items[use->range].depth == depth &&
        !b->ranges.items[use->range].is_global == (depth > 0)) {
        report_taken(b, token, is_global ? HD_BIND_GLOBAL : HD_BIND_DECLARED, b->ranges.items[use->range].declaration);
        return false;
    }
    hd_name covered = use->flags & HD_USE_MEMBERS ? covered_name(b, token, count) : HD_NO_NAME;
    if (covered) {
        const hd_use *other = hd_use_of(b, covered);
        report_taken(b, token, (hd_binding_kind)other->kind, other->value);
        return false;
    }
    hd_range range = {declaration, HD_NONE, count, 0, use->range, depth, levels_for(count), is_global};
    use->range = b->ranges.count;
    hd_array_push(&b->ranges, range);
    b->digit_stems += is_digit(hd_builder_source(b)->text[token->end - 1]);
    if (depth)
        hd_array_push(&b->undo, (hd_undo){stem, 0, 0, 0, true});
    return true;
}
