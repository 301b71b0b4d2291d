/* Operands: interprets the expressions and brackets of an instruction and pushes operands in prefix order.
 *
 * A bare name is, in order of precedence: a register, a symbol, a special register, a label or table. The form decides
 * which opcodes take labels, and which are calls (so that `(a)` is a list). */
#include "parser/builder.h"
#include "ir/sregs.h"

#include <stdio.h>

static hd_operand *push(hd_builder *b, hd_operand_kind kind, uint32_t value, const hd_node *n)
{
    hd_operand o = {(uint8_t)kind, 0, 0, n->token.begin, value, 0};
    hd_array_push(&b->function->operands, o);
    return &hd_array_last(&b->function->operands);
}

static void push_literal(hd_builder *b, uint32_t literal, uint32_t begin)
{
    hd_operand o = {HD_OPERAND_LITERAL, 0, 0, begin, literal, 0};
    hd_array_push(&b->function->operands, o);
}

/* A placeholder for an operand whose error was reported. */
static void push_broken(hd_builder *b, const hd_node *n)
{
    b->broken = true;
    push(b, HD_OPERAND_NAME, HD_NO_NAME, n);
}

static const hd_form *form_of(const hd_builder *b) { return &b->module->forms.items[b->form]; }

static const char *text_of(const hd_builder *b, const hd_token *t) { return hd_builder_source(b)->text + t->begin; }

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool is_canonical(const hd_builder *b, const hd_token *t)
{
    char last = text_of(b, t)[t->end - t->begin - 1];
    return t->index != HD_NO_INDEX ? !b->digit_stems : last < '0' || last > '9';
}

/* The spelling to keep if the text spells a register differently than its name (r01 for r1). */
static hd_name odd_spelling(hd_builder *b, const hd_token *name, uint32_t reg)
{
    if (is_canonical(b, name))
        return HD_NO_NAME;
    const hd_register *r = &b->function->registers.items[reg];
    char digits[16];
    int n = r->index == HD_NONE ? 0 : snprintf(digits, sizeof digits, "%u", r->index);
    uint32_t stem = hd_names_length(&b->module->names, r->name);
    return stem + (uint32_t)n == name->end - name->begin ? HD_NO_NAME : hd_token_spelling(&b->lexer, name);
}

static void push_register(hd_builder *b, const hd_node *n, const hd_token *name, uint32_t reg)
{
    uint32_t vector = hd_register_vector(b, reg);
    hd_name odd = odd_spelling(b, name, reg);
    if (vector > 1) {
        hd_operand *o = push(b, HD_OPERAND_VECTOR, 0, n);
        o->flags = HD_OPERAND_WHOLE;
        o->count = (uint16_t)vector;
        o->extra = odd;
    }
    for (uint32_t i = 0; i < vector; i++)
        push(b, HD_OPERAND_REGISTER, reg + i, n)->extra = vector > 1 ? 0 : odd;
}

/* The special register that a name denotes when the % is missing; NULL: none. */
static const char *special_register(const char *text, int length)
{
    char name[32];
    int written = snprintf(name, sizeof name, "%%%.*s", length, text);
    int sreg = written < (int)sizeof name ? hd_sreg_from_spelling(name, (size_t)written) : -1;
    return sreg < 0 ? NULL : hd_sregs[sreg].spelling;
}

static void report_unknown(hd_builder *b, const hd_node *n, const hd_token *name)
{
    hd_span span = {name->begin, name->end};
    const char *text = text_of(b, name);
    bool like_register = *text == '%' || (name->index != HD_NO_INDEX && hd_use_of(b, name->name)->range);
    int length = (int)hd_min(span.end - span.begin, 200);
    const char *special = like_register ? NULL : special_register(text, length);
    if (like_register)
        hd_builder_error(b, UNDECLARED_REGISTER, span, "no .reg declares '%.*s'", length, text);
    else if (special)
        hd_builder_error(b, UNDECLARED_NAME, span, "nothing declares '%.*s'; the special register is '%%%s'", length,
                         text, special);
    else
        hd_builder_error(b, UNDECLARED_NAME, span, "nothing declares '%.*s'", length, text);
    push_broken(b, n);
}

/* A name that is no register, symbol or special register. */
static void push_label(hd_builder *b, const hd_node *n)
{
    bool unknown = form_of(b)->flags & HD_FORM_UNKNOWN_OPCODE;
    bool takes = !b->aggregates.count && hd_form_takes_label(b->module, b->form, b->elements - 1);
    if (!unknown && !takes) {
        report_unknown(b, n, &n->token);
        return;
    }
    hd_name name = hd_full_name(b, &n->token);
    uint32_t where = b->function->operands.count;
    push(b, HD_OPERAND_NAME, name, n);
    hd_label_refer(b, name, hd_node_span(n), where, unknown);
}

static uint32_t component_of(char c)
{
    const char *const letters = "xyzwrgba", *at = strchr(letters, c);
    return c && at ? (uint32_t)(at - letters) % 4 : HD_NONE;
}

static void push_component(hd_builder *b, const hd_node *n, const hd_token *name, const hd_token *selector,
                           uint32_t reg)
{
    uint32_t vector = hd_register_vector(b, reg);
    const char *text = text_of(b, selector);
    uint32_t component = vector > 1 && selector->end - selector->begin == 2 ? component_of(text[1]) : HD_NONE;
    if (vector > 1 && (component == HD_NONE || component >= vector)) {
        hd_span span = {selector->begin, selector->end};
        hd_builder_error(b, BAD_VECTOR, span, "the vector register has no component '%.*s'",
                         (int)(span.end - span.begin), text);
        push_broken(b, n);
        return;
    }
    if (vector == 1)
        component = 0;
    hd_operand *o = push(b, HD_OPERAND_REGISTER, reg + component, n);
    if (odd_spelling(b, name, reg))
        o->extra = hd_token_spelling(&b->lexer, &n->token);
    else
        o->extra = selector->name ? selector->name : hd_token_spelling(&b->lexer, selector);
}

static void push_sreg(hd_builder *b, const hd_node *n, const hd_token *selector, uint32_t sreg)
{
    const char *text = text_of(b, selector);
    uint32_t component = selector->end - selector->begin == 2 ? component_of(text[1]) : HD_NONE;
    if (hd_sregs[sreg].components < 2 || component == HD_NONE || strchr("rgba", text[1])) {
        hd_builder_error(b, BAD_VECTOR, ((hd_span){selector->begin, selector->end}),
                         "the special register has no such component");
        push_broken(b, n);
        return;
    }
    push(b, HD_OPERAND_SREG, sreg, n)->extra = component;
}

/* name.selector: a component of a vector register, a part of a register, a component of a special register. */
static void push_dotted(hd_builder *b, const hd_node *n)
{
    hd_lexer parts;
    hd_token name, selector, rest;
    hd_lexer_init(&parts, hd_builder_source(b), hd_node_span(n), &b->module->names, NULL);
    parts.fine = true;
    hd_lexer_next(&parts, &name);
    hd_lexer_next(&parts, &selector);
    if (hd_lexer_next(&parts, &rest) != HD_TOKEN_END) {
        hd_builder_error(b, BAD_VECTOR, hd_node_span(n), "more than one selector after a name");
        push_broken(b, n);
        return;
    }
    hd_binding binding = hd_lookup(b, &name);
    if (binding.kind == HD_BIND_REGISTER) {
        push_component(b, n, &name, &selector, binding.value);
    } else if (binding.kind == HD_BIND_SREG) {
        push_sreg(b, n, &selector, binding.value);
    } else if (binding.kind == HD_BIND_NONE) {
        report_unknown(b, n, &name);
    } else {
        hd_builder_error(b, OPERAND_KIND, hd_node_span(n), "only registers have components");
        push_broken(b, n);
    }
}

static void push_name(hd_builder *b, const hd_node *n)
{
    hd_binding binding = hd_lookup(b, &n->token);
    switch ((hd_binding_kind)binding.kind) {
    case HD_BIND_REGISTER: push_register(b, n, &n->token, binding.value); break;
    case HD_BIND_SYMBOL: push(b, HD_OPERAND_SYMBOL, binding.value, n); break;
    case HD_BIND_SREG: push(b, HD_OPERAND_SREG, binding.value, n)->extra = HD_NONE; break;
    case HD_BIND_TABLE: push(b, HD_OPERAND_TABLE, binding.value, n); break;
    case HD_BIND_LABEL:
    case HD_BIND_NONE: push_label(b, n); break;
    case HD_BIND_DECLARED:
    case HD_BIND_GLOBAL: /* outside a function */ push_broken(b, n); break;
    }
}

/* ---- compound operands ------------------------------------------------------------------------------------------- */

static bool in_address(const hd_builder *b)
{
    return b->aggregates.count && b->function->operands.items[hd_array_last(&b->aggregates)].kind == HD_OPERAND_ADDRESS;
}

/* name + constant */
static void push_sum(hd_builder *b, const hd_node *n)
{
    const hd_constant constant = b->constants.items[n->constant];
    hd_node name = *n;
    name.token.kind = n->flags & HD_NODE_DOTTED ? HD_TOKEN_DOTTED : HD_TOKEN_NAME;
    name.token.end = constant.name_end;
    name.flags = 0;
    uint32_t at = b->function->operands.count;
    if (name.token.kind == HD_TOKEN_DOTTED)
        push_dotted(b, &name);
    else
        push_name(b, &name);
    hd_operand *o = &b->function->operands.items[at];
    bool is_source = o->kind == HD_OPERAND_REGISTER && !b->aggregates.count;
    b->module->has_offset_operands |= is_source;
    if (o->kind == HD_OPERAND_REGISTER && !is_source && !in_address(b)) {
        hd_builder_error(b, BAD_ADDRESS, hd_node_span(n), "no offset is added to an element of a vector or a list");
        b->broken = true;
    } else if (o->kind != HD_OPERAND_REGISTER && o->kind != HD_OPERAND_SYMBOL && !b->broken) {
        hd_builder_error(b, BAD_ADDRESS, hd_node_span(n), "an offset is added to a register or a symbol only");
        b->broken = true;
    }
    o->count = 1;
    o->flags |= o->kind == HD_OPERAND_REGISTER ? HD_OPERAND_OFFSET : 0;
    push_literal(b, hd_literal_of_constant(b, n->constant), constant.begin);
}

/* One of two parts of a compound: registers, symbols, constants, the sink. */
static void push_part(hd_builder *b, const hd_node *n)
{
    if (n->token.kind == HD_TOKEN_SINK) {
        push(b, HD_OPERAND_SINK, 0, n);
    } else if (n->token.kind == HD_TOKEN_NAME) {
        push_name(b, n);
    } else if (n->token.kind == HD_TOKEN_DOTTED) {
        push_dotted(b, n);
    } else if (n->token.kind != HD_NODE_BAD) {
        push_literal(b, hd_literal_of(b, n), n->token.begin);
    } else {
        push_broken(b, n);
    }
}

static void push_compound(hd_builder *b, const hd_node *n, hd_operand_kind kind, uint8_t flags)
{
    hd_node_pair pair = b->pairs.items[n->constant];
    hd_operand *o = push(b, kind, 0, n);
    o->count = 2;
    o->flags = flags;
    push_part(b, &pair.left);
    push_part(b, &pair.right);
}

static void refuse_operand(hd_builder *b, const hd_node *n, const char *why)
{
    hd_builder_error(b, SYNTAX, hd_node_span(n), "%s", why);
    push_broken(b, n);
}

static void push_node(hd_builder *b, const hd_node *n)
{
    uint32_t at = b->function->operands.count;
    switch (n->token.kind) {
    case HD_TOKEN_NAME:
    case HD_TOKEN_DOTTED:
    case HD_TOKEN_SINK:
    case HD_TOKEN_INTEGER:
    case HD_TOKEN_FLOAT:
    case HD_TOKEN_WARP_SZ:
    case HD_NODE_CONSTANT:
    case HD_NODE_BAD: push_part(b, n); break;
    case HD_NODE_SUM: push_sum(b, n); break;
    case HD_NODE_SUBSCRIPT: push_compound(b, n, HD_OPERAND_ADDRESS, HD_OPERAND_BARE); break;
    case HD_NODE_PAIR: push_compound(b, n, HD_OPERAND_PAIR, 0); break;
    default: refuse_operand(b, n, "this form of an address is for initializers only"); break;
    }
    if (n->flags & HD_NODE_NOT)
        b->function->operands.items[at].flags |= HD_OPERAND_NOT;
    if (n->flags & HD_NODE_MINUS)
        b->function->operands.items[at].flags |= HD_OPERAND_MINUS;
}

/* (a): a list of one in a call, else a constant. */
static void push_parenthesized(hd_builder *b, const hd_node *n)
{
    bool is_call = form_of(b)->behaviour & HD_BEHAVE_CALL || form_of(b)->flags & HD_FORM_UNKNOWN_OPCODE;
    hd_node inner = *n;
    inner.flags &= ~(uint32_t)HD_NODE_PAREN;
    if (is_call && !b->aggregates.count) {
        if (n->token.kind == HD_NODE_CONSTANT) { /* the parentheses are the list's, not the constant's */
            hd_constant c = b->constants.items[n->constant];
            c.begin++;
            c.end--;
            hd_array_push(&b->constants, c);
            inner.constant = b->constants.count - 1;
        }
        hd_build_aggregate(b, HD_OPERAND_LIST, n);
        b->elements++;
        push_node(b, &inner);
        hd_build_aggregate_end(b, n);
        return;
    }
    b->elements++;
    if (n->token.kind == HD_NODE_CONSTANT || n->token.kind == HD_NODE_BAD)
        push_node(b, &inner);
    else
        refuse_operand(b, n, "parentheses enclose constants and the lists of calls only");
}

void hd_build_simple(hd_builder *b, const hd_node *n)
{
    hd_build_form(b);
    b->elements++;
    if (n->token.kind == HD_TOKEN_NAME)
        push_name(b, n);
    else
        push_literal(b, hd_literal_of(b, n), n->token.begin);
}

void hd_build_operand(hd_builder *b, const hd_node *n)
{
    hd_build_form(b);
    if (n->flags & HD_NODE_PAREN) {
        push_parenthesized(b, n);
        return;
    }
    b->elements++;
    if (n->token.kind == HD_TOKEN_NAME && !n->flags)
        push_name(b, n);
    else
        push_node(b, n);
}

/* ---- brackets ---------------------------------------------------------------------------------------------------- */

void hd_build_aggregate(hd_builder *b, hd_operand_kind kind, const hd_node *open)
{
    hd_build_form(b);
    if (kind == HD_OPERAND_VECTOR && b->aggregates.count &&
        b->function->operands.items[hd_array_last(&b->aggregates)].kind == HD_OPERAND_VECTOR) {
        hd_builder_error(b, BAD_VECTOR, hd_node_span(open), "a vector inside a vector");
        b->broken = true;
    }
    b->elements++;
    hd_array_push(&b->aggregates, b->function->operands.count);
    hd_array_push(&b->aggregate_counts, b->elements);
    b->elements = 0;
    push(b, kind, 0, open);
}

void hd_build_aggregate_end(hd_builder *b, const hd_node *close)
{
    uint32_t at = hd_array_pop(&b->aggregates);
    if (b->elements > UINT16_MAX) {
        hd_builder_error(b, BAD_VECTOR, hd_node_span(close), "more than 65,535 elements");
        b->broken = true;
        b->elements = 0;
        b->function->operands.count = at + 1;
    }
    b->function->operands.items[at].count = (uint16_t)b->elements;
    b->elements = hd_array_pop(&b->aggregate_counts);
    b->closed = at;
}

/* The pair replaces the vector, which becomes its first element. No label refers to an operand in a vector, so all of
 * them may move by one. */
void hd_build_vector_pair(hd_builder *b, const hd_node *second)
{
    uint32_t at = b->closed, elements = b->elements;
    hd_operand pair = {.kind = HD_OPERAND_PAIR, .count = 2, .begin = b->function->operands.items[at].begin};
    hd_array_push(&b->function->operands, pair);
    hd_operand *slot = b->function->operands.items + at;
    memmove(slot + 1, slot, (b->function->operands.count - 1 - at) * sizeof *slot);
    *slot = pair;
    hd_build_operand(b, second);
    b->elements = elements;
}

void hd_build_address_word(hd_builder *b, const hd_node *word)
{
    b->function->operands.items[b->closed].extra = hd_token_spelling(&b->lexer, &word->token);
}

void hd_build_empty(hd_builder *b, const hd_node *open, const hd_node *close)
{
    hd_builder_error(b, BAD_VECTOR, ((hd_span){open->token.begin, close->token.end}), "an empty vector");
    b->broken = true;
    hd_build_aggregate_end(b, close);
}

void hd_build_address(hd_builder *b, const hd_node *open, const hd_node *base)
{
    hd_build_aggregate(b, HD_OPERAND_ADDRESS, open);
    if (base->flags || base->token.kind == HD_NODE_SUBSCRIPT || base->token.kind == HD_NODE_PAIR ||
        base->token.kind == HD_TOKEN_SINK) {
        hd_builder_error(b, BAD_ADDRESS, hd_node_span(base),
                         "an address is a register, a symbol or a constant, with an offset or without");
        b->elements++;
        push_broken(b, base);
        return;
    }
    hd_build_operand(b, base);
}
