/* Expressions in launch files: see expression.h. A recursive-descent parser that evaluates as it reads. */
#include "hwmodel/launch/expression.h"
#include "base/scan.h"
#include "hwmodel/launch/values.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef hd_expression_value number;

enum { DEEPEST = 64 };

typedef struct evaluation {
    hd_scan in;
    const hd_variable *variables;
    uint32_t depth;
    uint32_t unused; /* operands being read whose value && or || does not need */
    char why[128];   /* empty: no error yet */
} evaluation;

static number whole(int64_t v) { return (number){.whole = v}; }
static number real(double v) { return (number){.is_real = true, .real = v}; }
static double as_real(number v) { return v.is_real ? v.real : (double)v.whole; }
static bool is_true(number v) { return v.is_real ? v.real != 0 : v.whole != 0; }

static number fail(evaluation *e, const char *format, const char *text, int length)
{
    if (!e->why[0])
        snprintf(e->why, sizeof e->why, format, length, text);
    e->in.at = e->in.end;
    return whole(0);
}

/* An error of values, which an operand that is not needed does not have. */
static number refuse(evaluation *e, const char *why)
{
    return e->unused ? whole(0) : fail(e, "%.*s", why, (int)strlen(why));
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

typedef enum operation {
    OP_OR,
    OP_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_BIT_AND,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_LESS,
    OP_AT_MOST,
    OP_GREATER,
    OP_AT_LEAST,
    OP_LEFT,
    OP_RIGHT,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER
} operation;

/* Longer spellings before their beginnings. */
static const struct {
    char text[3];
    uint8_t operation, level; /* level: binds tighter the higher it is */
} operators[] = {
    {"||", OP_OR, 1},       {"&&", OP_AND, 2},    {"==", OP_EQUAL, 6},     {"!=", OP_UNEQUAL, 6}, {"<=", OP_AT_MOST, 7},
    {">=", OP_AT_LEAST, 7}, {"<<", OP_LEFT, 8},   {">>", OP_RIGHT, 8},     {"|", OP_BIT_OR, 3},   {"^", OP_BIT_XOR, 4},
    {"&", OP_BIT_AND, 5},   {"<", OP_LESS, 7},    {">", OP_GREATER, 7},    {"+", OP_ADD, 9},      {"-", OP_SUBTRACT, 9},
    {"*", OP_MULTIPLY, 10}, {"/", OP_DIVIDE, 10}, {"%", OP_REMAINDER, 10},
};

static number on_reals(evaluation *e, operation op, double a, double b)
{
    switch (op) {
    case OP_EQUAL: return whole(a == b);
    case OP_UNEQUAL: return whole(a != b);
    case OP_LESS: return whole(a < b);
    case OP_AT_MOST: return whole(a <= b);
    case OP_GREATER: return whole(a > b);
    case OP_AT_LEAST: return whole(a >= b);
    case OP_ADD: return real(a + b);
    case OP_SUBTRACT: return real(a - b);
    case OP_MULTIPLY: return real(a * b);
    case OP_DIVIDE: return real(a / b);
    default: return refuse(e, "an operator for integers has a floating-point operand");
    }
}

static number on_integers(evaluation *e, operation op, int64_t a, int64_t b)
{
    int64_t r = 0;
    bool bad = false;
    switch (op) {
    case OP_BIT_OR: return whole(a | b);
    case OP_BIT_XOR: return whole(a ^ b);
    case OP_BIT_AND: return whole(a & b);
    case OP_EQUAL: return whole(a == b);
    case OP_UNEQUAL: return whole(a != b);
    case OP_LESS: return whole(a < b);
    case OP_AT_MOST: return whole(a <= b);
    case OP_GREATER: return whole(a > b);
    case OP_AT_LEAST: return whole(a >= b);
    case OP_LEFT:
    case OP_RIGHT:
        if (b < 0 || b > 63)
            return refuse(e, "a shift by less than 0 or more than 63");
        r = op == OP_LEFT ? (int64_t)((uint64_t)a << b) : a >> b;
        bad = op == OP_LEFT && r >> b != a;
        break;
    case OP_ADD: bad = __builtin_add_overflow(a, b, &r); break;
    case OP_SUBTRACT: bad = __builtin_sub_overflow(a, b, &r); break;
    case OP_MULTIPLY: bad = __builtin_mul_overflow(a, b, &r); break;
    case OP_DIVIDE:
    case OP_REMAINDER:
        if (!b)
            return refuse(e, "a division by zero");
        bad = a == INT64_MIN && b == -1;
        if (!bad)
            r = op == OP_DIVIDE ? a / b : a % b;
        break;
    case OP_OR:
    case OP_AND: break;
    }
    return bad ? refuse(e, "a result that does not fit 64 bits") : whole(r);
}

static number apply(evaluation *e, operation op, number a, number b)
{
    if (op == OP_OR || op == OP_AND)
        return whole(op == OP_OR ? is_true(a) || is_true(b) : is_true(a) && is_true(b));
    return a.is_real || b.is_real ? on_reals(e, op, as_real(a), as_real(b)) : on_integers(e, op, a.whole, b.whole);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static number read_binary(evaluation *e, uint32_t level);

static bool take(evaluation *e, char c)
{
    hd_scan_spaces(&e->in);
    bool found = hd_scan_is(&e->in, c);
    e->in.at += found;
    return found;
}

static void need(evaluation *e, char c)
{
    if (!take(e, c) && !e->why[0])
        fail(e, "'%.*s' is missing", &c, 1);
}

/* The digits that follow a minus are negative from the first on: the least integer has no positive counterpart. */
static number read_literal(evaluation *e, bool negative)
{
    char *end;
    int64_t value = 0;
    const char *begin = e->in.at;
    bool prefixed = begin[0] == '0' && strchr("xXbBoO", begin[1]) && begin[1];
    size_t digits = prefixed ? strspn(begin + 2, "0123456789abcdefABCDEF") : strspn(begin, "0123456789");
    if (!prefixed && (begin[digits] == '.' || begin[digits] == 'e' || begin[digits] == 'E')) {
        double v = strtod(begin, &end);
        e->in.at = end;
        if (isinf(v))
            return fail(e, "'%.*s' does not fit a double", begin, (int)(end - begin));
        return real(negative ? -v : v);
    }
    int base = !prefixed ? 10 : strchr("xX", begin[1]) ? 16 : strchr("oO", begin[1]) ? 8 : 2;
    e->in.at = begin + (prefixed ? 2 : 0);
    if (!digits)
        return fail(e, "'%.*s' is no number", begin, 2);
    for (size_t i = 0; i < digits; i++, e->in.at++) {
        int digit = (int)hd_digit_of(*e->in.at);
        if (digit >= base)
            return fail(e, "'%.*s' is no number", begin, (int)(digits + 2));
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return fail(e, "'%.*s' does not fit 64 bits", begin, (int)digits);
    }
    return whole(value);
}

static size_t name_length(const char *text)
{
    size_t n = isalpha((unsigned char)*text) || *text == '_' ? 1 : 0;
    while (n && (isalnum((unsigned char)text[n]) || text[n] == '_'))
        n++;
    return n;
}

static number read_extreme(evaluation *e, bool least)
{
    need(e, '(');
    number a = read_binary(e, 1);
    need(e, ',');
    number b = read_binary(e, 1);
    need(e, ')');
    bool less = a.is_real || b.is_real ? as_real(a) < as_real(b) : a.whole < b.whole;
    return less == least ? a : b;
}

static number read_name(evaluation *e)
{
    const char *name = e->in.at;
    size_t length = name_length(name);
    e->in.at += length;
    for (const hd_variable *v = e->variables; v; v = v->outer)
        if (strlen(v->name) == length && memcmp(v->name, name, length) == 0)
            return whole(v->value);
    if (length == 3 && (memcmp(name, "min", 3) == 0 || memcmp(name, "max", 3) == 0))
        return read_extreme(e, name[1] == 'i');
    return fail(e, "no enclosing loop has a variable '%.*s'", name, (int)length);
}

static number read_unary(evaluation *e)
{
    hd_scan_spaces(&e->in);
    const char *begin = e->in.at;
    number v = whole(0);
    if (++e->depth > DEEPEST)
        return fail(e, "it is nested too deeply%.*s", "", 0);
    if (e->in.at >= e->in.end) {
        v = fail(e, "an operand is missing%.*s", "", 0);
    } else if (take(e, '-') && (hd_scan_spaces(&e->in), isdigit((unsigned char)*e->in.at))) {
        v = read_literal(e, true);
    } else if (e->in.at > begin) {
        v = read_unary(e);
        v = v.is_real ? real(-v.real) : on_integers(e, OP_SUBTRACT, 0, v.whole);
    } else if (take(e, '!')) {
        v = whole(!is_true(read_unary(e)));
    } else if (take(e, '~')) {
        v = apply(e, OP_BIT_XOR, read_unary(e), whole(-1));
    } else if (take(e, '(')) {
        v = read_binary(e, 1);
        need(e, ')');
    } else if (isdigit((unsigned char)*e->in.at)) {
        v = read_literal(e, false);
    } else if (name_length(e->in.at)) {
        v = read_name(e);
    } else {
        v = fail(e, "'%.*s' is not expected", e->in.at, 1);
    }
    e->depth--;
    return v;
}

/* The index of the operator here that binds at least as tightly as `level`; -1: none. */
static int next_operator(evaluation *e, uint32_t level)
{
    hd_scan_spaces(&e->in);
    for (int i = 0; i < (int)(sizeof operators / sizeof *operators); i++) {
        size_t length = strlen(operators[i].text);
        if ((size_t)(e->in.end - e->in.at) >= length && memcmp(e->in.at, operators[i].text, length) == 0)
            return operators[i].level >= level ? i : -1;
    }
    return -1;
}

static number read_binary(evaluation *e, uint32_t level)
{
    number a = read_unary(e);
    for (int i = next_operator(e, level); i >= 0; i = next_operator(e, level)) {
        operation op = (operation)operators[i].operation;
        bool decided = (op == OP_OR && is_true(a)) || (op == OP_AND && !is_true(a));
        e->in.at += strlen(operators[i].text);
        e->unused += decided;
        number b = read_binary(e, operators[i].level + 1u);
        e->unused -= decided;
        a = apply(e, op, a, b);
    }
    return a;
}

/* ---- interface --------------------------------------------------------------------------------------------------- */

bool hd_is_variable_name(const char *text)
{
    return name_length(text) && !text[name_length(text)] && strcmp(text, "min") != 0 && strcmp(text, "max") != 0;
}

bool hd_is_expression(const hd_yaml_node *node)
{
    bool minus;
    uint64_t magnitude;
    char *end;
    if (node->kind != HD_YAML_SCALAR || !node->length || hd_yaml_is_integer(node, &minus, &magnitude))
        return false;
    const char *text = node->text + strspn(node->text, "+-");
    if (*text == '.' && isalpha((unsigned char)text[1]))
        return false; /* .inf, .nan */
    strtod(node->text, &end);
    return end != node->text + node->length || isalpha((unsigned char)*text);
}

bool hd_expression_evaluate(const hd_yaml_node *node, const hd_iteration *at, hd_diagnostics *diagnostics,
                            hd_expression_value *value)
{
    if (node->kind != HD_YAML_SCALAR) {
        hd_yaml_report(diagnostics, node, HD_DIAG_BAD_VALUE, "a number or an expression is expected here");
        return false;
    }
    evaluation e = {.in = {node->text, node->text + node->length}, .variables = at->variables};
    *value = read_binary(&e, 1);
    hd_scan_spaces(&e.in);
    if (e.in.at < e.in.end)
        fail(&e, "'%.*s' is not expected", e.in.at, 1);
    if (!e.why[0])
        return true;
    hd_yaml_report(diagnostics, node, HD_DIAG_BAD_VALUE, "the expression '%s': %s", node->text, e.why);
    return false;
}

bool hd_expression_whole(const hd_yaml_node *node, const hd_iteration *at, int64_t least, int64_t most,
                         hd_diagnostics *diagnostics, int64_t *value)
{
    hd_expression_value v;
    if (!hd_expression_evaluate(node, at, diagnostics, &v))
        return false;
    *value = v.whole;
    if (!v.is_real && v.whole >= least && v.whole <= most)
        return true;
    if (v.is_real)
        hd_yaml_report(diagnostics, node, HD_DIAG_BAD_VALUE,
                       "'%s' is the floating-point number %.17g, not a whole number", node->text, v.real);
    else
        hd_yaml_report(diagnostics, node, HD_DIAG_BAD_VALUE, "'%s' is %" PRId64 ", not from %" PRId64 " to %" PRId64,
                       node->text, v.whole, least, most);
    return false;
}

bool hd_expression_store(const hd_yaml_node *node, const hd_iteration *at, hd_type type, hd_diagnostics *diagnostics,
                         unsigned char *bytes)
{
    hd_expression_value v;
    if (!hd_expression_evaluate(node, at, diagnostics, &v))
        return false;
    uint64_t magnitude = v.whole < 0 ? 0 - (uint64_t)v.whole : (uint64_t)v.whole;
    if (v.is_real || hd_types[type].class == HD_CLASS_FLOAT
            ? hd_value_store_double(type, as_real(v), bytes)
            : hd_value_store_integer(type, v.whole < 0, magnitude, bytes))
        return true;
    if (v.is_real)
        hd_yaml_report(diagnostics, node, HD_DIAG_BAD_VALUE, "'%s' is %.17g and does not fit .%s", node->text, v.real,
                       hd_types[type].spelling);
    else
        hd_yaml_report(diagnostics, node, HD_DIAG_BAD_VALUE, "'%s' is %" PRId64 " and does not fit .%s", node->text,
                       v.whole, hd_types[type].spelling);
    return false;
}
