/* Between scanner and grammar: delivers tokens, limits nesting, turns syntax errors into messages, and then skips to
 * the start of the next statement.
 *
 * Resynchronization: in a body, a statement ends after the next ; and before the next }, {, directive, or name that is
 * first on its line. Outside, whole {...} blocks are skipped up to the next directive that starts a module item. */
#include "parser/builder.h"

#include <stdio.h>

static bool first_on_line(const hd_builder *b, uint32_t begin)
{
    const char *text = hd_builder_source(b)->text;
    while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t'))
        begin--;
    return begin == 0 || text[begin - 1] == '\n' || text[begin - 1] == '\r';
}

static bool starts_item(uint32_t kind)
{
    switch (kind) {
    case HD_TOKEN_VERSION:
    case HD_TOKEN_TARGET:
    case HD_TOKEN_ADDRESS_SIZE:
    case HD_TOKEN_FILE:
    case HD_TOKEN_SECTION:
    case HD_TOKEN_PRAGMA:
    case HD_TOKEN_ALIAS:
    case HD_TOKEN_ENTRY:
    case HD_TOKEN_FUNC:
    case HD_TOKEN_EXTERN:
    case HD_TOKEN_VISIBLE:
    case HD_TOKEN_WEAK:
    case HD_TOKEN_COMMON: return true;
    default: return false;
    }
}

/* Tokens that only start a function or module-scope variable: in a body, a } is missing before them. */
static bool starts_function(uint32_t kind)
{
    return kind == HD_TOKEN_ENTRY || kind == HD_TOKEN_FUNC || kind == HD_TOKEN_VISIBLE || kind == HD_TOKEN_EXTERN;
}

static bool is_space(uint32_t kind) { return kind >= HD_TOKEN_REG && kind <= HD_TOKEN_TEX; }

static bool starts_statement(const hd_builder *b, const hd_token *token)
{
    uint32_t kind = token->kind;
    if (kind == HD_TOKEN_RBRACE || kind == HD_TOKEN_LOC || kind == HD_TOKEN_HEDDLE || starts_function(kind))
        return true;
    return (is_space(kind) || kind == HD_TOKEN_PRAGMA || kind == HD_TOKEN_LBRACE || kind == HD_TOKEN_NAME ||
            kind == HD_TOKEN_DOTTED || kind == HD_TOKEN_AT) &&
           first_on_line(b, token->begin);
}

/* Skips tokens of a body, starting with the offending one. The token after them is held. */
static void skip_in_body(hd_builder *b, hd_node *node)
{
    bool brace_now = node->token.kind == HD_TOKEN_LBRACE; /* a block where none is allowed: parse it as one */
    for (; !brace_now; hd_lexer_next(&b->lexer, &node->token)) {
        uint32_t kind = node->token.kind;
        if (kind == HD_TOKEN_SEMICOLON)
            return;
        if (kind == HD_TOKEN_END || starts_statement(b, &node->token))
            break;
    }
    if (starts_function(node->token.kind))
        b->closing = b->scopes.count;
    b->held = *node;
    b->has_held = true;
}

/* The same outside bodies. Open braces of a section or initializer are skipped to their end. */
static void skip_in_module(hd_builder *b, hd_node *node)
{
    bool brace_now = node->token.kind == HD_TOKEN_LBRACE;
    uint32_t depth = b->header || b->nesting < brace_now ? 0 : b->nesting - brace_now;
    for (;; hd_lexer_next(&b->lexer, &node->token)) {
        uint32_t kind = node->token.kind;
        if (kind == HD_TOKEN_LBRACE)
            depth++;
        if (kind == HD_TOKEN_RBRACE && depth && --depth == 0)
            return;
        if (kind == HD_TOKEN_SEMICOLON && !depth)
            return;
        if (kind == HD_TOKEN_END || (!depth && node->token.begin > b->last_begin &&
                                     (starts_item(kind) || (is_space(kind) && first_on_line(b, node->token.begin)))))
            break;
    }
    b->held = *node;
    b->has_held = true;
}

/* Reads the offending token again, as a whole. */
static void read_again(hd_builder *b, hd_node *node)
{
    hd_diagnostics *saved = b->lexer.diagnostics;
    b->lexer.diagnostics = NULL; /* errors inside it have been reported */
    b->lexer.cursor = b->last_begin;
    hd_lexer_next(&b->lexer, &node->token);
    b->lexer.diagnostics = saved;
    node->constant = HD_NONE;
    node->flags = 0;
}

/* Drops what was pushed for the abandoned instruction. */
static void drop_instruction(hd_builder *b)
{
    b->aggregates.count = 0;
    b->aggregate_counts.count = 0;
    if (!b->function || b->opcode_name == HD_NO_NAME)
        return;
    b->opcode_name = HD_NO_NAME;
    b->function->operands.count = b->operand_first;
    hd_labels_drop(b, b->operand_first);
}

static uint32_t resynchronise(hd_builder *b, hd_node *node)
{
    b->resync = b->in_operands = false;
    read_again(b, node);
    if (b->function)
        skip_in_body(b, node);
    else
        skip_in_module(b, node);
    if (!b->function) { /* a header may be unfinished */
        b->header = NULL;
        b->header_begin = HD_NONE;
        b->in_results = false;
    }
    if (hd_diagnostics_full(b->module->diagnostics) || (b->has_held && b->held.token.kind == HD_TOKEN_END))
        b->stopped = true;
    drop_instruction(b);
    b->nesting = b->scopes.count;
    b->unusual = true;
    node->token.kind = HD_TOKEN_RESYNC;
    return HD_TOKEN_RESYNC;
}

/* A held token, preceded by the missing }. */
static uint32_t held_token(hd_builder *b, hd_node *node)
{
    *node = b->held;
    if (b->closing) {
        b->closing--;
        node->token.kind = HD_TOKEN_RBRACE;
        node->token.end = node->token.begin;
    } else {
        b->has_held = false;
    }
    return node->token.kind;
}

static uint32_t too_deep(hd_builder *b, const hd_node *node)
{
    hd_builder_error(b, NESTING, hd_node_span(node), "nested deeper than %d", HD_NESTING_LIMIT);
    b->stopped = b->unusual = true;
    return HD_TOKEN_END;
}

/* Any token but the next one of the text: after an error. */
static uint32_t unusual_token(hd_builder *b, hd_node *node)
{
    if (b->resync)
        return resynchronise(b, node);
    uint32_t kind = b->has_held ? held_token(b, node) : (uint32_t)hd_lexer_next(&b->lexer, &node->token);
    b->unusual = b->has_held || b->stopped;
    return b->stopped ? HD_TOKEN_END : kind;
}

/* Counts the nesting of brackets and braces. */
static uint32_t count_nesting(hd_builder *b, const hd_node *node, uint32_t kind)
{
    if ((kind - HD_TOKEN_LPAREN) % 2 == 0)
        b->nesting++;
    else if (b->nesting)
        b->nesting--;
    return b->nesting > HD_NESTING_LIMIT ? too_deep(b, node) : kind;
}

/* A NAME or INTEGER that is a whole operand is delivered as one token, which saves the grammar two reductions. */
static inline bool is_simple(const hd_builder *b, const hd_token *t)
{
    uint32_t last = b->last_kind;
    char next = hd_builder_source(b)->text[t->end];
    return (last == HD_TOKEN_COMMA || last == HD_TOKEN_DOTTED || last == HD_TOKEN_LBRACE) &&
           (next == ',' || next == ';' || next == '}');
}

uint32_t hd_builder_token(hd_builder *b, uint32_t *value)
{
    if (__builtin_expect(b->nodes.count == b->nodes.capacity, 0))
        hd_array_reserve(&b->nodes, (uint64_t)b->nodes.count + 1);
    hd_node *node = &b->nodes.items[b->nodes.count];
    *value = b->nodes.count++;
    node->constant = HD_NONE;
    node->flags = 0;
    uint32_t kind =
        __builtin_expect(b->unusual, 0) ? unusual_token(b, node) : (uint32_t)hd_lexer_next(&b->lexer, &node->token);
    if (kind == HD_TOKEN_RESYNC)
        return kind;
    if (b->in_operands && (kind == HD_TOKEN_NAME || kind == HD_TOKEN_INTEGER) && is_simple(b, &node->token))
        kind = HD_TOKEN_SIMPLE;
    else if (kind - HD_TOKEN_LPAREN <= HD_TOKEN_RBRACE - HD_TOKEN_LPAREN)
        kind = count_nesting(b, node, kind);
    b->previous_end = b->last_end;
    b->last_kind = kind;
    b->last_begin = node->token.begin;
    b->last_end = node->token.end;
    return kind;
}

void hd_builder_exhausted(hd_builder *b, const char *message)
{
    (void)message; /* Bison's stack limit is reached */
    hd_builder_error(b, NESTING, ((hd_span){b->last_begin, b->last_end}), "an expression nested too deep");
    b->stopped = true;
}

/* Lists the expected kinds: "';' or ','"; "" if there are too many. */
static const char *expected_text(const uint32_t *expected, uint32_t count, char *buffer, size_t size)
{
    size_t length = 0;
    buffer[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (expected[i] == HD_TOKEN_SIMPLE)
            continue;
        const char *joint = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        int n = snprintf(buffer + length, size - length, "%s%s", joint, hd_token_text((hd_token_kind)expected[i]));
        if (n < 0 || (size_t)n >= size - length)
            return "";
        length += (size_t)n;
    }
    return buffer;
}

static void unterminated(hd_builder *b, hd_span span)
{
    uint32_t begin = hd_array_last(&b->scopes).begin;
    hd_diagnostic *d = hd_builder_error(b, UNTERMINATED_SCOPE, span, "the file ends inside a block");
    hd_builder_note(b, d, ((hd_span){begin, begin + 1}), "the block starts here");
}

/* The last diagnostic concerns a comment or string that extends to the end of the text. */
static bool ends_in_token(const hd_builder *b)
{
    const hd_diagnostic *last = b->module->diagnostics->last;
    return last && (last->kind == HD_DIAG_UNTERMINATED_COMMENT || last->kind == HD_DIAG_UNTERMINATED_STRING);
}

static bool expects(const uint32_t *expected, uint32_t count, uint32_t kind)
{
    for (uint32_t i = 0; i < count; i++)
        if (expected[i] == kind)
            return true;
    return false;
}

void hd_builder_syntax_error(hd_builder *b, uint32_t kind, const uint32_t *expected, uint32_t count)
{
    hd_span span = {b->last_begin, b->last_end};
    b->resync = b->unusual = true;
    if (b->stopped) /* reported already */
        return;
    if (kind == HD_TOKEN_END)
        b->stopped = true;
    if (kind == HD_TOKEN_END && ends_in_token(b))
        return;
    if (kind == HD_TOKEN_END && b->function && b->scopes.count) {
        unterminated(b, span);
        return;
    }
    if (b->function && starts_function(kind)) {
        uint32_t begin = b->scopes.items[0].begin;
        hd_diagnostic *d = hd_builder_error(b, SYNTAX, span, "functions do not nest: a '}' is missing before this");
        hd_builder_note(b, d, ((hd_span){begin, begin + 1}), "the body that is still open starts here");
        return;
    }
    const char *text = hd_builder_source(b)->text;
    char wanted[160];
    expected_text(expected, count, wanted, sizeof wanted);
    bool next_statement = kind == HD_TOKEN_RBRACE || kind == HD_TOKEN_LOC || first_on_line(b, span.begin);
    if (next_statement && (expects(expected, count, HD_TOKEN_SEMICOLON) || (!count && b->opcode_name))) {
        hd_span place = {b->previous_end ? b->previous_end - 1 : 0, b->previous_end};
        hd_builder_error(b, SYNTAX, place, "missing ';' after this");
        return;
    }
    if (kind == HD_TOKEN_END)
        hd_builder_error(b, SYNTAX, span, "the file ends here%s%s", *wanted ? ", expected " : "", wanted);
    else
        hd_builder_error(b, SYNTAX, span, "unexpected '%.*s'%s%s", (int)hd_min(span.end - span.begin, 60),
                         text + span.begin, *wanted ? ", expected " : "", wanted);
}
