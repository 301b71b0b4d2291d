/* Tokens and lines of a listing: see sass_reader.h. */
#include "parser/sass_reader.h"

#include <stdio.h>

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

uint32_t hd_sass_reader_token(hd_sass_reader *b, uint32_t *value)
{
    bool next_line = b->token_count && b->tokens[b->token_count - 1].kind == HD_SASS_TOKEN_LINE_END;
    if (next_line || b->token_count == HD_SASS_LINE_TOKENS) {
        b->too_long = !next_line;
        b->token_count = 0;
    }
    hd_sass_token *token = &b->tokens[b->token_count];
    *value = b->token_count++;
    b->last_begin = token->begin;
    if (b->stopped)
        *token = (hd_sass_token){.begin = b->last_end, .end = b->last_end};
    else
        hd_sass_lexer_next(&b->lexer, token);
    if (b->too_long && token->kind != HD_SASS_TOKEN_LINE_END && token->kind != HD_SASS_TOKEN_END)
        token->kind = HD_SASS_TOKEN_UNKNOWN; /* an error, once: the grammar then skips to the end of the line */
    b->too_long &= token->kind != HD_SASS_TOKEN_LINE_END;
    b->last_begin = token->begin;
    b->last_end = token->end;
    return token->kind;
}

void hd_sass_reader_exhausted(hd_sass_reader *b, const char *message)
{
    (void)message; /* Bison's stack limit is reached */
    hd_sass_error_at(b, NESTING, ((hd_span){b->last_begin, b->last_end}), "a line that is too long");
    b->stopped = true;
}

/* The kinds as text, if they are few. */
static const char *expected_text(const uint32_t *expected, uint32_t count, char *buffer, size_t size)
{
    size_t length = 0;
    buffer[0] = 0;
    for (uint32_t i = 0; i < count && count <= 4; i++) {
        const char *joint = i == 0 ? ", expected " : i + 1 == count ? " or " : ", ";
        int n = snprintf(buffer + length, size - length, "%s%s", joint,
                         hd_sass_token_text((hd_sass_token_kind)expected[i]));
        if (n < 0 || (size_t)n >= size - length)
            return "";
        length += (size_t)n;
    }
    return buffer;
}

void hd_sass_syntax_error(hd_sass_reader *b, const uint32_t *expected, uint32_t count)
{
    char wanted[200];
    hd_span span = {b->last_begin, b->last_end};
    const char *text = b->module->source->text;
    if (b->stopped)
        return;
    b->in_instruction = false;
    b->lexer.in_line = b->lexer.in_line || b->lexer.after_address; /* what follows is skipped as operands */
    expected_text(expected, count, wanted, sizeof wanted);
    if (b->lexer.problem)
        hd_sass_error_at(b, SYNTAX, span, "%s", b->lexer.problem);
    else if (b->too_long)
        hd_sass_error_at(b, SYNTAX, span, "a line of more than %d words", HD_SASS_LINE_TOKENS);
    else if (b->lexer.json && b->tokens[b->token_count - 1].kind == HD_SASS_TOKEN_LINE_END)
        hd_sass_error_at(b, SYNTAX, span, "the instruction ends here%s", wanted);
    else if (span.end > span.begin && text[span.begin] != '\n' && text[span.begin] != '\r')
        hd_sass_error_at(b, SYNTAX, span, "unexpected '%.*s'%s", (int)hd_min(span.end - span.begin, 60),
                         text + span.begin, wanted);
    else
        hd_sass_error_at(b, SYNTAX, span, "the line ends here%s", wanted);
    b->stopped = hd_diagnostics_full(b->module->diagnostics);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* cuda-gdb names the function with each instruction: a name that is not the last one's begins a function, and so does
 * an offset that does not follow, of a part that was printed again. */
void hd_sass_address(hd_sass_reader *b, const hd_sass_token *token)
{
    hd_name name =
        token->name_end > token->name_begin ? hd_sass_name(b, token->name_begin, token->name_end) : HD_NO_NAME;
    uint32_t last = b->lines.count ? b->lines.items[b->lines.count - 1].address : HD_NONE;
    bool goes_back = last != HD_NONE && token->index <= last;
    b->address = token->index;
    if (b->lexer.debugger && b->function && (goes_back || (name != HD_NO_NAME && name != b->function->name))) {
        name = name == HD_NO_NAME ? b->function->name : name;
        hd_sass_function_stop(b, token->begin);
    }
    b->base = b->lexer.base;
    if (b->lexer.debugger && !b->function && name != HD_NO_NAME)
        hd_sass_function_begin(b, name, (hd_span){token->end, token->end}, token->end);
}

void hd_sass_line_end(hd_sass_reader *b)
{
    b->address = b->control = HD_NONE;
    b->in_instruction = false;
}

void hd_sass_architecture(hd_sass_reader *b, const hd_sass_token *token)
{
    hd_module *m = b->module;
    char name[16];
    if (token->index > 999)
        return;
    b->sm = token->index;
    if (b->machine && !b->function->instructions.count) {
        b->machine->sm = b->sm;
        b->machine->generation = hd_sass_generation(b->sm);
    }
    if (m->target_number)
        return;
    snprintf(name, sizeof name, "sm_%u", b->sm);
    m->target = hd_names_add_string(&m->names, name);
    m->target_number = b->sm;
}

void hd_sass_registers(hd_sass_reader *b, const hd_sass_token *token)
{
    if (b->machine)
        b->machine->allocated = token->index;
    else if (b->usages.count && !hd_array_last(&b->usages).registers)
        hd_array_last(&b->usages).registers = token->index;
}

void hd_sass_usage(hd_sass_reader *b, const hd_sass_token *token)
{
    hd_sass_function_stop(b, token->begin);
    hd_array_push(&b->usages, (hd_sass_usage_row){hd_sass_name(b, token->name_begin, token->name_end), 0});
}

static uint32_t file_number(hd_module *m, hd_name name)
{
    for (uint32_t i = m->files.count; i-- > 0;)
        if (m->files.items[i].name == name)
            return m->files.items[i].number;
    uint32_t number = m->files.count + 1; /* before the push counts */
    hd_array_push(&m->files, (hd_file){number, name});
    return number;
}

/* A quoted name and `, line N` at *at; false: none. */
static bool read_place(hd_sass_reader *b, uint32_t *at, uint32_t end, uint32_t *file, uint32_t *line)
{
    const char *text = b->module->source->text;
    uint32_t begin = *at;
    while (begin < end && text[begin] != '"')
        begin++;
    uint32_t close = begin + 1;
    while (close < end && text[close] != '"')
        close++;
    if (close >= end)
        return false;
    *file = file_number(b->module, hd_sass_name(b, begin + 1, close));
    *line = 0;
    uint32_t digit = close;
    while (digit < end && (text[digit] < '0' || text[digit] > '9'))
        digit++;
    for (; digit < end && text[digit] >= '0' && text[digit] <= '9' && *line < 100000000; digit++)
        *line = *line * 10 + (uint32_t)(text[digit] - '0');
    *at = digit;
    return true;
}

/* Lines of one group are a chain of calls, the innermost first. */
void hd_sass_location(hd_sass_reader *b, const hd_sass_token *token)
{
    hd_location location = {0};
    uint32_t at = token->begin;
    if (!read_place(b, &at, token->end, &location.file, &location.line))
        return;
    if (b->location_is_fresh) {
        hd_location *innermost = &b->module->locations.items[b->location];
        if (!innermost->inlined_line) {
            innermost->inlined_file = location.file;
            innermost->inlined_line = location.line;
        }
        return;
    }
    read_place(b, &at, token->end, &location.inlined_file, &location.inlined_line);
    b->location = b->module->locations.count;
    b->location_is_fresh = true;
    hd_array_push(&b->module->locations, location);
}

void hd_sass_code(hd_sass_reader *b, const hd_sass_token *token)
{
    if (b->in_instruction || !b->has_code) { /* of the instruction before, perhaps on a line of its own */
        b->has_code = true;
        return;
    }
    if (!b->function || !b->machine)
        return;
    if (b->machine->generation >= 70 && b->lines.count) {
        hd_array_last(&b->lines).control = token->begin;
        b->machine->encoding = HD_MACHINE_WORD;
    } else if (b->machine->generation >= 50 && b->machine->generation < 70) {
        b->group = token->begin;
        b->machine->encoding = HD_MACHINE_GROUP;
    }
}

/* A graph's node: its name is a label where the text of the node has none. */
void hd_sass_node(hd_sass_reader *b, const hd_sass_token *token)
{
    (void)token;
    if (b->lexer.dot && !b->function && !b->header_seen)
        hd_sass_function_begin(b, hd_sass_name(b, token->name_begin, token->name_end),
                               (hd_span){token->name_begin, token->name_end}, token->end);
}

void hd_sass_heddle(hd_sass_reader *b, const hd_sass_token *token)
{
    if (!b->function)
        return;
    hd_array_push(&b->module->verbatims, (hd_verbatim){.kind = HD_VERBATIM_OTHER});
    hd_array_push(&b->function->statements,
                  (hd_statement){HD_STATEMENT_VERBATIM, b->module->verbatims.count - 1, {token->begin, token->end}});
    b->module->extended = true;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

/* Whether a label starts a function: where nothing else does, any that is not local. Sources of assemblers, with
 * control fields, hold one function. */
static bool starts_function(const hd_sass_reader *b, const char *text)
{
    if (b->machine && b->machine->encoding == HD_MACHINE_FIELD)
        return false;
    return !b->header_seen && !b->lexer.dot && *text != '.' && *text != '$' && strncmp(text, "LBB", 3) != 0;
}

/* Whether `.text.NAME:` starts a function, where no directive does: not after `NAME:`, which did. */
static bool begins_section(hd_sass_reader *b, uint32_t begin, const hd_sass_token *token)
{
    return !b->function || b->function->instructions.count ||
           b->function->name != hd_sass_name(b, begin, token->name_end);
}

void hd_sass_label(hd_sass_reader *b, const hd_sass_token *token)
{
    static const char section[] = ".text.";
    const char *text = b->module->source->text + token->name_begin;
    hd_name name = hd_sass_name(b, token->name_begin, token->name_end);
    hd_span span = {token->begin, token->end};
    bool names_section = strncmp(text, section, strlen(section)) == 0;
    if (starts_function(b, text)) {
        hd_sass_function_stop(b, token->begin);
        hd_sass_function_begin(b, name, span, token->end);
        hd_sass_label_new(b, name, 0, (hd_span){0, 0});
        return;
    }
    if (names_section && !b->header_seen && begins_section(b, token->name_begin + (uint32_t)strlen(section), token)) {
        hd_sass_function_stop(b, token->begin);
        hd_sass_function_begin(b, hd_sass_name(b, token->name_begin + (uint32_t)strlen(section), token->name_end), span,
                               token->end);
        hd_sass_label_new(b, name, 0, (hd_span){0, 0});
        return;
    }
    if (!b->function)
        return;
    if (hd_sass_label_find(b, name) != HD_NONE) {
        hd_diagnostic *d = hd_sass_error_at(b, REDECLARED, span, "label '%.*s' is defined twice",
                                            (int)(token->name_end - token->name_begin), text);
        hd_note_add(b->module->diagnostics, d, b->module->source,
                    b->function->labels.items[hd_sass_label_find(b, name)].span, "here first");
        return;
    }
    uint32_t label = hd_sass_label_new(b, name, b->function->instructions.count, span);
    hd_array_push(&b->function->statements, (hd_statement){HD_STATEMENT_LABEL, label, span});
}
