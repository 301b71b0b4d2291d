/* Constants and constant expressions: numbers, operators, and forms that look like expressions (p|q, !p, r+4).
 *
 * Integers are 64 bits wide, unsigned if one operand is (shifts: the left one), with C's precedences, which are the
 * grammar's. Shift counts are taken modulo 64. Floating-point constants support + - * / and comparisons. name + c1 OP
 * c2 is name + (c1 OP c2): the name takes one sum, whatever follows the plus. */
#include "base/scan.h"
#include "base/search.h"
#include "parser/builder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const char *text_at(const hd_builder *b, uint32_t at) { return hd_builder_source(b)->text + at; }

static bool is_float_kind(uint8_t kind) { return kind >= HD_LITERAL_F32_BITS; }

static double as_double(const hd_constant *c)
{
    double value;
    if (c->kind == HD_LITERAL_F32_BITS) {
        uint32_t bits = (uint32_t)c->bits;
        float single;
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    }
    if (c->kind == HD_LITERAL_SIGNED)
        return (double)(int64_t)c->bits;
    if (c->kind == HD_LITERAL_UNSIGNED)
        return (double)c->bits;
    memcpy(&value, &c->bits, sizeof value);
    return value;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Reads digits in a base; 2^64 itself gives 0. false if the number is greater. */
static bool read_digits(const char *text, uint32_t length, uint32_t base, uint64_t *bits)
{
    unsigned __int128 value = 0;
    for (uint32_t i = 0; i < length; i++) {
        value = value * base + hd_digit_of(text[i]);
        if (value > (unsigned __int128)UINT64_MAX + 1)
            return false;
    }
    *bits = (uint64_t)value;
    return true;
}

static void read_integer(hd_builder *b, const char *text, uint32_t length, hd_constant *c)
{
    bool has_suffix = text[length - 1] == 'U';
    uint32_t digits = length - has_suffix, base = 10, skip = 0;
    if (text[0] == '0' && digits > 1) {
        base = (text[1] | 32) == 'x' ? 16 : (text[1] | 32) == 'b' ? 2 : 8;
        skip = base == 8 ? 1 : 2;
    }
    if (!read_digits(text + skip, digits - skip, base, &c->bits)) {
        hd_builder_error(b, BAD_LITERAL, ((hd_span){c->begin, c->end}), "a number of more than 64 bits");
        c->bits = 0;
    }
    c->kind = has_suffix || c->bits > INT64_MAX ? HD_LITERAL_UNSIGNED : HD_LITERAL_SIGNED;
}

static void read_float(const char *text, uint32_t length, hd_constant *c)
{
    bool exact = length > 2 && text[0] == '0' && ((text[1] | 32) == 'f' || (text[1] | 32) == 'd');
    if (exact) {
        read_digits(text + 2, length - 2, 16, &c->bits);
        c->kind = (text[1] | 32) == 'f' ? HD_LITERAL_F32_BITS : HD_LITERAL_F64_BITS;
        return;
    }
    double value = strtod(text, NULL); /* the scanner matched exactly what strtod accepts */
    memcpy(&c->bits, &value, sizeof value);
    c->kind = HD_LITERAL_DECIMAL;
}

static void read_number(hd_builder *b, const hd_token *t, hd_constant *c)
{
    *c = (hd_constant){
        .kind = t->kind == HD_TOKEN_FLOAT ? HD_LITERAL_DECIMAL : HD_LITERAL_SIGNED, .begin = t->begin, .end = t->end};
    if (!t->name)
        return; /* malformed, and reported */
    if (t->kind == HD_TOKEN_WARP_SZ)
        c->bits = 32;
    else if (t->kind == HD_TOKEN_FLOAT)
        read_float(text_at(b, t->begin), t->end - t->begin, c);
    else
        read_integer(b, text_at(b, t->begin), t->end - t->begin, c);
}

/* ---- literals of the module -------------------------------------------------------------------------------------- */

static uint32_t new_literal(hd_builder *b, hd_name key, const hd_constant *c)
{
    hd_tokens tokens = hd_build_tokens(b, c->begin, c->end);
    hd_array_push(&b->module->literals, (hd_literal){c->bits, tokens, c->kind});
    uint32_t literal = b->module->literals.count - 1;
    if (key)
        hd_use_of(b, key)->meaning = literal + 1;
    return literal;
}

uint32_t hd_literal_of_constant(hd_builder *b, uint32_t constant)
{
    hd_constant c = b->constants.items[constant];
    hd_name key = hd_names_add_padded(&b->module->names, text_at(b, c.begin), c.end - c.begin);
    uint32_t known = hd_use_of(b, key)->meaning;
    return known ? known - 1 : new_literal(b, key, &c);
}

uint32_t hd_literal_of(hd_builder *b, const hd_node *n)
{
    if (n->token.kind == HD_NODE_CONSTANT)
        return hd_literal_of_constant(b, n->constant);
    uint32_t known = n->token.name ? hd_use_of(b, n->token.name)->meaning : 0;
    if (known)
        return known - 1;
    hd_constant c;
    read_number(b, &n->token, &c);
    return new_literal(b, n->token.name, &c);
}

bool hd_constant_of(hd_builder *b, const hd_node *n, hd_constant *c)
{
    switch (n->token.kind) {
    case HD_NODE_CONSTANT: *c = b->constants.items[n->constant]; return true;
    case HD_TOKEN_INTEGER:
    case HD_TOKEN_FLOAT:
    case HD_TOKEN_WARP_SZ: break;
    default: return false;
    }
    uint32_t known = n->token.name ? hd_use_of(b, n->token.name)->meaning : 0;
    if (known) {
        const hd_literal *literal = &b->module->literals.items[known - 1];
        *c = (hd_constant){literal->bits, literal->kind, n->token.begin, n->token.end, 0};
    } else {
        read_number(b, &n->token, c);
    }
    return true;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void give_constant(hd_builder *b, hd_node *to, uint64_t bits, uint8_t kind, uint32_t begin, uint32_t end)
{
    hd_array_push(&b->constants, (hd_constant){bits, kind, begin, end, 0});
    *to = (hd_node){{begin, end, HD_NODE_CONSTANT, HD_NO_NAME, HD_NO_INDEX}, b->constants.count - 1, 0};
}

static void give_bad(hd_node *to, uint32_t begin, uint32_t end)
{
    *to = (hd_node){{begin, end, HD_NODE_BAD, HD_NO_NAME, HD_NO_INDEX}, HD_NONE, 0};
}

static void give_error(hd_builder *b, hd_node *to, uint32_t begin, uint32_t end, hd_diagnostic_kind kind,
                       const char *why)
{
    hd_report(b->module->diagnostics, kind, b->module->source, (hd_span){begin, end}, "%s", why);
    give_bad(to, begin, end);
}

static void give_pair(hd_builder *b, hd_node *to, uint32_t kind, const hd_node *left, const hd_node *right,
                      uint32_t end)
{
    hd_node_pair pair = {*left, *right};
    uint32_t begin = left->token.begin;
    hd_array_push(&b->pairs, pair);
    *to = (hd_node){{begin, end, kind, HD_NO_NAME, HD_NO_INDEX}, b->pairs.count - 1, 0};
}

static bool is_name(const hd_node *n) { return n->token.kind == HD_TOKEN_NAME || n->token.kind == HD_TOKEN_DOTTED; }
static bool is_plain_name(const hd_node *n) { return is_name(n) && !n->flags; }
static bool is_bad(const hd_node *n) { return n->token.kind == HD_NODE_BAD; }

/* ---- brackets ---------------------------------------------------------------------------------------------------- */

void hd_expression_paren(hd_builder *b, hd_node *to, const hd_node *open, const hd_node *inner, const hd_node *close)
{
    uint32_t begin = open->token.begin, end = close->token.end;
    hd_constant c;
    hd_node node = *inner;
    if (hd_constant_of(b, &node, &c)) {
        give_constant(b, to, c.bits, c.kind, begin, end);
        to->flags = HD_NODE_PAREN;
        return;
    }
    if (node.flags & HD_NODE_PAREN) {
        give_error(b, to, begin, end, HD_DIAG_SYNTAX, "more than one pair of parentheses around a name");
        return;
    }
    *to = node;
    to->flags |= HD_NODE_PAREN;
}

void hd_expression_cast(hd_builder *b, hd_node *to, const hd_node *open, const hd_node *type, const hd_node *inner)
{
    uint32_t begin = open->token.begin, end = inner->token.end;
    const char *word = hd_names_text(&b->module->names, type->token.name);
    bool is_signed = strcmp(word, ".s64") == 0;
    hd_constant c;
    if (!is_signed && strcmp(word, ".u64") != 0) {
        give_error(b, to, type->token.begin, type->token.end, HD_DIAG_BAD_EXPRESSION,
                   "a constant is cast to .s64 or .u64 only");
        return;
    }
    if (!hd_constant_of(b, inner, &c) || is_float_kind(c.kind)) {
        if (!is_bad(inner))
            give_error(b, to, begin, end, HD_DIAG_BAD_EXPRESSION, "only an integer constant can be cast");
        else
            give_bad(to, begin, end);
        return;
    }
    give_constant(b, to, c.bits, is_signed ? HD_LITERAL_SIGNED : HD_LITERAL_UNSIGNED, begin, end);
}

void hd_expression_subscript(hd_builder *b, hd_node *to, const hd_node *name, const hd_node *index,
                             const hd_node *close)
{
    uint32_t end = close->token.end;
    hd_constant c;
    if (!is_plain_name(index) && !hd_constant_of(b, index, &c)) {
        give_error(b, to, index->token.begin, index->token.end, HD_DIAG_BAD_ADDRESS,
                   "a subscript is a constant or a register");
        return;
    }
    hd_node plain_index = *index, plain_name = *name;
    plain_index.flags = 0;
    give_pair(b, to, HD_NODE_SUBSCRIPT, &plain_name, &plain_index, end);
}

void hd_expression_generic(hd_builder *b, hd_node *to, const hd_node *word, const hd_node *name, const hd_node *close)
{
    const hd_token t = word->token;
    hd_name of = hd_full_name(b, &name->token);
    uint32_t end = close->token.end;
    if (strncmp(text_at(b, t.begin), "generic", 7) != 0 || t.end - t.begin != 7) {
        give_error(b, to, t.begin, end, HD_DIAG_SYNTAX, "only generic(name) may be here");
        return;
    }
    *to = (hd_node){{t.begin, end, HD_NODE_GENERIC, of, HD_NO_INDEX}, HD_NONE, 0};
}

void hd_expression_mask(hd_builder *b, hd_node *to, const hd_node *mask, const hd_node *address, const hd_node *close)
{
    hd_constant bits;
    uint32_t begin = mask->token.begin, end = close->token.end, kind = address->token.kind;
    bool is_address = is_plain_name(address) || kind == HD_NODE_SUM || kind == HD_NODE_GENERIC;
    if (is_bad(address)) {
        give_bad(to, begin, end);
        return;
    }
    if (!is_address || address->flags & ~(uint32_t)HD_NODE_DOTTED) {
        give_error(b, to, address->token.begin, address->token.end, HD_DIAG_BAD_EXPRESSION,
                   "a mask selects a byte of a name, name+constant or generic(name)");
        return;
    }
    hd_node selected = *address, selector = *mask;
    hd_constant_of(b, mask, &bits);
    give_constant(b, &selector, bits.bits, bits.kind, begin, mask->token.end);
    give_pair(b, to, HD_NODE_MASK, &selector, &selected, end);
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static void negate_name(hd_builder *b, hd_node *to, const hd_node *operator, const hd_node * inner, uint32_t flag)
{
    hd_node node = *inner;
    if (!is_name(&node) || node.flags) {
        give_error(b, to, operator->token.begin, node.token.end, HD_DIAG_SYNTAX,
                   "this operator precedes constants and single names only");
        return;
    }
    *to = node; /* the span stays the name's, because the lookup uses it */
    to->flags = flag;
}

void hd_expression_unary(hd_builder *b, hd_node *to, const hd_node *operator, const hd_node * inner)
{
    const char sign = *text_at(b, operator->token.begin);
    uint32_t begin = operator->token.begin, end = inner->token.end;
    hd_constant c;
    if (!hd_constant_of(b, inner, &c)) {
        if (is_bad(inner))
            give_bad(to, begin, end);
        else if (sign == '!' || sign == '-')
            negate_name(b, to, operator, inner, sign == '!' ? HD_NODE_NOT : HD_NODE_MINUS);
        else
            give_error(b, to, begin, end, HD_DIAG_BAD_EXPRESSION, "this operator precedes constants only");
        return;
    }
    if (sign == '-' && inner->token.kind == HD_TOKEN_FLOAT && c.kind != HD_LITERAL_DECIMAL) {
        give_error(b, to, begin, end, HD_DIAG_SYNTAX, "no minus may precede the bits of a floating-point number");
    } else if (is_float_kind(c.kind)) {
        double value = as_double(&c);
        uint64_t bits;
        if (sign == '-')
            value = -value;
        memcpy(&bits, &value, sizeof bits);
        if (sign == '+')
            give_constant(b, to, c.bits, c.kind, begin, end);
        else if (sign == '-')
            give_constant(b, to, bits, HD_LITERAL_DECIMAL, begin, end);
        else
            give_error(b, to, begin, end, HD_DIAG_BAD_EXPRESSION,
                       "this operator does not take a floating-point number");
    } else if (sign == '!') {
        give_constant(b, to, !c.bits, HD_LITERAL_SIGNED, begin, end);
    } else {
        give_constant(b, to, sign == '-' ? 0 - c.bits : sign == '~' ? ~c.bits : c.bits, c.kind, begin, end);
    }
}

/* The operator's token kind, from its text. */
static uint32_t kind_of(const hd_builder *b, const hd_node *operator)
{
    const char *t = text_at(b, operator->token.begin);
    uint32_t length = operator->token.end - operator->token.begin;
    static const struct {
        char text[3];
        uint8_t kind;
    } operators[] = {
        {"*", HD_TOKEN_STAR},    {"/", HD_TOKEN_SLASH}, {"%", HD_TOKEN_PERCENT}, {"+", HD_TOKEN_PLUS},
        {"-", HD_TOKEN_MINUS},   {"<<", HD_TOKEN_SHL},  {">>", HD_TOKEN_SHR},    {"<", HD_TOKEN_LT},
        {">", HD_TOKEN_GT},      {"<=", HD_TOKEN_LE},   {">=", HD_TOKEN_GE},     {"==", HD_TOKEN_EQ},
        {"!=", HD_TOKEN_NE},     {"&", HD_TOKEN_AND},   {"^", HD_TOKEN_XOR},     {"|", HD_TOKEN_OR},
        {"&&", HD_TOKEN_ANDAND}, {"||", HD_TOKEN_OROR},
    };
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (hd_is_name(t, length, operators[i].text))
            return operators[i].kind;
    return HD_TOKEN_UNDEFINED;
}

static bool relation_holds(uint32_t op, bool less, bool equal)
{
    switch (op) {
    case HD_TOKEN_LT: return less;
    case HD_TOKEN_LE: return less || equal;
    case HD_TOKEN_GT: return !less && !equal;
    case HD_TOKEN_GE: return !less;
    case HD_TOKEN_EQ: return equal;
    default: return !equal;
    }
}

static bool is_comparison(uint32_t op) { return op >= HD_TOKEN_EQ && op <= HD_TOKEN_GE; }

/* Integer operators except comparisons; returns NULL, or the error. */
static const char *fold_integers(uint32_t op, const hd_constant *l, const hd_constant *r, hd_constant *out)
{
    uint64_t a = l->bits, c = r->bits;
    bool is_unsigned = l->kind == HD_LITERAL_UNSIGNED || r->kind == HD_LITERAL_UNSIGNED;
    out->kind = is_unsigned ? HD_LITERAL_UNSIGNED : HD_LITERAL_SIGNED;
    switch (op) {
    case HD_TOKEN_STAR: out->bits = a * c; break;
    case HD_TOKEN_PLUS: out->bits = a + c; break;
    case HD_TOKEN_MINUS: out->bits = a - c; break;
    case HD_TOKEN_AND: out->bits = a & c; break;
    case HD_TOKEN_XOR: out->bits = a ^ c; break;
    case HD_TOKEN_OR: out->bits = a | c; break;
    case HD_TOKEN_ANDAND:
        out->bits = a && c;
        out->kind = HD_LITERAL_SIGNED;
        break;
    case HD_TOKEN_OROR:
        out->bits = a || c;
        out->kind = HD_LITERAL_SIGNED;
        break;
    case HD_TOKEN_SHL:
        out->bits = a << (c & 63);
        out->kind = l->kind;
        break;
    case HD_TOKEN_SHR:
        out->kind = l->kind;
        out->bits = l->kind == HD_LITERAL_UNSIGNED ? a >> (c & 63) : (uint64_t)((int64_t)a >> (c & 63));
        break;
    case HD_TOKEN_SLASH:
    case HD_TOKEN_PERCENT:
        if (!c)
            return "division by zero";
        if (is_unsigned)
            out->bits = op == HD_TOKEN_SLASH ? a / c : a % c;
        else if (c == UINT64_MAX) /* division by -1: the smallest number is its own negation */
            out->bits = op == HD_TOKEN_SLASH ? 0 - a : 0;
        else
            out->bits = (uint64_t)(op == HD_TOKEN_SLASH ? (int64_t)a / (int64_t)c : (int64_t)a % (int64_t)c);
        break;
    default: return "this operator does not take integers";
    }
    return NULL;
}

static const char *fold_floats(uint32_t op, double l, double r, hd_constant *out)
{
    double value;
    switch (op) {
    case HD_TOKEN_STAR: value = l * r; break;
    case HD_TOKEN_SLASH: value = l / r; break;
    case HD_TOKEN_PLUS: value = l + r; break;
    case HD_TOKEN_MINUS: value = l - r; break;
    default: return "this operator does not take floating-point numbers";
    }
    memcpy(&out->bits, &value, sizeof value);
    out->kind = HD_LITERAL_DECIMAL;
    return NULL;
}

static const char *fold(uint32_t op, const hd_constant *l, const hd_constant *r, hd_constant *out)
{
    bool is_float = is_float_kind(l->kind);
    if (is_float != is_float_kind(r->kind))
        return "an integer and a floating-point constant do not go together";
    if (is_comparison(op)) {
        bool is_unsigned = l->kind == HD_LITERAL_UNSIGNED || r->kind == HD_LITERAL_UNSIGNED;
        bool less = is_float      ? as_double(l) < as_double(r)
                    : is_unsigned ? l->bits < r->bits
                                  : (int64_t)l->bits < (int64_t)r->bits;
        bool equal = is_float ? as_double(l) == as_double(r) : l->bits == r->bits;
        out->bits = relation_holds(op, less, equal);
        out->kind = HD_LITERAL_SIGNED;
        return NULL;
    }
    return is_float ? fold_floats(op, as_double(l), as_double(r), out) : fold_integers(op, l, r, out);
}

/* name + constant, the constant being node `right` */
static void give_sum(hd_builder *b, hd_node *to, const hd_node *name, const hd_constant *c)
{
    hd_constant sum = *c;
    hd_node node = *name;
    sum.name_end = node.token.end;
    hd_array_push(&b->constants, sum);
    node.flags |= node.token.kind == HD_TOKEN_DOTTED ? HD_NODE_DOTTED : 0;
    node.token.kind = HD_NODE_SUM;
    node.token.end = c->end;
    node.constant = b->constants.count - 1;
    *to = node;
}

/* Reports that the operator's left side is no constant. */
static void combine_name(hd_builder *b, hd_node *to, const hd_node *left, uint32_t op, const hd_node *right)
{
    uint32_t begin = left->token.begin, end = right->token.end;
    hd_constant r, l, out;
    bool sink = left->token.kind == HD_TOKEN_SINK || right->token.kind == HD_TOKEN_SINK;
    if (op == HD_TOKEN_OR && (is_plain_name(left) || left->token.kind == HD_TOKEN_SINK) &&
        (is_plain_name(right) || sink)) {
        hd_node a = *left, c = *right;
        give_pair(b, to, HD_NODE_PAIR, &a, &c, end);
        return;
    }
    if (!hd_constant_of(b, right, &r)) {
        give_error(b, to, begin, end, HD_DIAG_BAD_ADDRESS, "only a constant may be added to a name");
        return;
    }
    if (left->token.kind == HD_NODE_SUM) {
        hd_constant before = b->constants.items[left->constant];
        const char *why = fold(op, &before, &r, &out);
        if (why) {
            give_error(b, to, begin, end, HD_DIAG_BAD_EXPRESSION, why);
            return;
        }
        l = (hd_constant){out.bits, out.kind, before.begin, end, before.name_end};
        hd_array_push(&b->constants, l);
        hd_node node = *left;
        node.token.end = end;
        node.constant = b->constants.count - 1;
        *to = node;
    } else if (left->token.kind == HD_NODE_GENERIC && op == HD_TOKEN_PLUS && left->constant == HD_NONE) {
        hd_node node = *left;
        hd_array_push(&b->constants, r);
        node.token.end = end;
        node.constant = b->constants.count - 1;
        *to = node;
    } else if (is_plain_name(left) && op == HD_TOKEN_PLUS) {
        give_sum(b, to, left, &r);
    } else if (is_plain_name(left) && op == HD_TOKEN_MINUS) {
        give_error(b, to, begin, end, HD_DIAG_BAD_ADDRESS,
                   "an offset is added with +; write name+-4 for a negative one");
    } else {
        give_error(b, to, begin, end, HD_DIAG_BAD_EXPRESSION, "this operator is between constants only");
    }
}

void hd_expression_binary(hd_builder *b, hd_node *to, const hd_node *left, const hd_node *operator,
                          const hd_node * right)
{
    uint32_t op = kind_of(b, operator), begin = left->token.begin, end = right->token.end;
    hd_constant l, r, out = {0};
    if (is_bad(left) || is_bad(right)) {
        give_bad(to, begin, end);
        return;
    }
    if (!hd_constant_of(b, left, &l)) {
        combine_name(b, to, left, op, right);
        return;
    }
    if (!hd_constant_of(b, right, &r)) {
        give_error(b, to, begin, end, HD_DIAG_BAD_EXPRESSION, "a name cannot be in a constant expression");
        return;
    }
    const char *why = fold(op, &l, &r, &out);
    if (why)
        give_error(b, to, begin, end, HD_DIAG_BAD_EXPRESSION, why);
    else
        give_constant(b, to, out.bits, out.kind, begin, end);
}

void hd_expression_choice(hd_builder *b, hd_node *to, const hd_node *test, const hd_node *yes, const hd_node *no)
{
    uint32_t begin = test->token.begin, end = no->token.end;
    hd_constant t, y, n;
    if (is_bad(test) || is_bad(yes) || is_bad(no)) {
        give_bad(to, begin, end);
        return;
    }
    if (!hd_constant_of(b, test, &t) || !hd_constant_of(b, yes, &y) || !hd_constant_of(b, no, &n) ||
        is_float_kind(t.kind)) {
        give_error(b, to, begin, end, HD_DIAG_BAD_EXPRESSION, "? : chooses between constants by an integer constant");
        return;
    }
    const hd_constant *chosen = t.bits ? &y : &n;
    bool is_unsigned = !is_float_kind(y.kind) && !is_float_kind(n.kind) &&
                       (y.kind == HD_LITERAL_UNSIGNED || n.kind == HD_LITERAL_UNSIGNED);
    give_constant(b, to, chosen->bits, is_unsigned ? HD_LITERAL_UNSIGNED : chosen->kind, begin, end);
}
