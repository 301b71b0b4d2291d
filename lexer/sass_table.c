/* The tokens of a listing in CSV, the source page of Nsight Compute (ncu --page source --csv): see sass.h.
 *
 *   "Kernel Name","add(const float *, float *, int)"
 *   "Address","Source","# Samples"
 *   "0x776023768b00","      LDC R1, c[0x0][0x37c] ","1"
 *
 * A row whose cells name `Address` and, next to it, `Source` says where both are; other columns are not read. With
 * CUDA-C code there are columns for its lines before them, and rows that have no address. Cells with quotes end at a
 * quote, others at a comma: programs that write tables again leave out quotes where there is no comma. A comment is a
 * part of its cell, since heddle writes annotations there.
 *
 * Each row is walked over at most three times: linear in the text.
 */
#include "lexer/sass_scan.h"

#include <string.h>

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static uint32_t line_end(const char *text, uint32_t at, uint32_t limit)
{
    const char *newline = memchr(text + at, '\n', limit - at);
    return newline ? (uint32_t)(newline - text) : limit;
}

/* After the comment at `at`; the row's end where it is not closed. `at`: there is none. */
static uint32_t comment_end(const char *text, uint32_t at, uint32_t end)
{
    if (at + 1 >= end || text[at] != '/' || (text[at + 1] != '*' && text[at + 1] != '/'))
        return at;
    for (uint32_t stop = at + 2; text[at + 1] == '*' && stop + 1 < end; stop++)
        if (text[stop] == '*' && text[stop + 1] == '/')
            return stop + 2;
    return text[end - 1] == '\r' ? end - 1 : end;
}

/* The content of the cell at *at, before the row's end; *at is moved to the next cell. false: the row has no more. */
static bool next_cell(const char *text, uint32_t *at, uint32_t end, hd_span *cell)
{
    if (*at >= end)
        return false;
    bool quoted = text[*at] == '"';
    uint32_t stop = cell->begin = *at + quoted;
    while (stop < end && text[stop] != (quoted ? '"' : ',') && text[stop] != '\r') {
        uint32_t after = quoted ? stop : comment_end(text, stop, end);
        stop = after > stop ? after : stop + 1;
        if (quoted && stop + 1 < end && text[stop] == '"' && text[stop + 1] == '"')
            stop += 2;
    }
    cell->end = stop;
    while (stop < end && text[stop] != ',')
        stop++;
    *at = stop < end ? stop + 1 : end;
    return true;
}

static bool is_cell(const char *text, hd_span cell, const char *word)
{
    size_t length = strlen(word);
    return cell.end - cell.begin == length && memcmp(text + cell.begin, word, length) == 0;
}

/* Whether a row names the columns of addresses and of code; the number of cells before them. */
static bool names_columns(const char *text, uint32_t at, uint32_t end, uint32_t *columns)
{
    hd_span cell;
    bool after_address = false;
    for (*columns = 0; next_cell(text, &at, end, &cell); (*columns)++) {
        if (after_address && is_cell(text, cell, "Source")) {
            (*columns)--;
            return true;
        }
        after_address = is_cell(text, cell, "Address");
    }
    return false;
}

/* Whether a row names what the rows below are of; `name`: the second cell, without an annotation. */
static bool names_function(const char *text, uint32_t at, uint32_t end, hd_span *name)
{
    hd_span title;
    return next_cell(text, &at, end, &title) &&
           (is_cell(text, title, "Kernel Name") || is_cell(text, title, "Function Name")) &&
           next_cell(text, &at, end, name);
}

static bool names_file(const char *text, uint32_t at, uint32_t end)
{
    hd_span title;
    return next_cell(text, &at, end, &title) &&
           (is_cell(text, title, "File Path") || is_cell(text, title, "File Name"));
}

bool hd_sass_begins_csv(const char *text)
{
    enum { MOST_ROWS = 64, MOST_BYTES = 1 << 16 };
    uint32_t length = (uint32_t)strnlen(text, MOST_BYTES), columns;
    bool titled = false;
    hd_span name;
    for (uint32_t row = 0, at = 0; row < MOST_ROWS && at < length; row++) {
        uint32_t end = line_end(text, at, length);
        bool blank = at == end || text[at] == '\r', is_message = end - at > 2 && text[at] == '=' && text[at + 1] == '=';
        if (names_columns(text, at, end, &columns))
            return true;
        titled |= names_function(text, at, end, &name) || names_file(text, at, end);
        if (!blank && !is_message && !titled) /* ncu reports what it does in lines such as ==PROF== */
            return false;
        at = end + 1;
    }
    return false;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The address of a cell, as ncu prints it or with a blank between its halves; false: it is none. */
static bool read_address(const char *text, hd_span cell, uint64_t *address)
{
    uint32_t at = cell.begin, digits = 0;
    *address = 0;
    if (cell.end - at > 2 && text[at] == '0' && text[at + 1] == 'x')
        at += 2;
    for (; at < cell.end; at++) {
        char c = text[at] | 32;
        uint32_t digit = text[at] >= '0' && text[at] <= '9' ? (uint32_t)(text[at] - '0')
                         : c >= 'a' && c <= 'f'             ? (uint32_t)(c - 'a' + 10)
                                                            : 16;
        if (digit == 16 && text[at] != ' ')
            return false;
        if (digit == 16)
            continue;
        if (++digits > 16)
            return false;
        *address = *address << 4 | digit;
    }
    return digits > 0;
}

/* The address and the text of a row of an instruction. */
static bool row_of(const hd_sass_lexer *lexer, uint32_t at, uint32_t end, uint64_t *address, hd_span *text)
{
    hd_span cell = {0, 0};
    for (uint32_t i = 0; i <= lexer->table.columns; i++)
        if (!next_cell(lexer->source->text, &at, end, &cell))
            return false;
    return read_address(lexer->source->text, cell, address) && next_cell(lexer->source->text, &at, end, text) &&
           text->end > text->begin;
}

static hd_sass_token_kind put(hd_sass_lexer *lexer, hd_sass_token *token, hd_sass_token_kind kind, uint32_t begin,
                              uint32_t end, uint32_t cursor)
{
    *token = (hd_sass_token){.begin = begin, .end = end, .kind = kind, .name_begin = begin, .name_end = begin};
    lexer->cursor = cursor;
    return kind;
}

/* A row that names a function. */
static hd_sass_token_kind function_token(hd_sass_lexer *lexer, hd_sass_token *token, hd_span name, uint32_t end)
{
    put(lexer, token, HD_SASS_TOKEN_FUNCTION, lexer->cursor, name.end, end);
    token->name_begin = name.begin;
    token->name_end = name.end;
    lexer->table.named = true;
    lexer->table.follows = false;
    lexer->ends_line = true;
    return HD_SASS_TOKEN_FUNCTION;
}

/* A row of an instruction begins: its address. */
static hd_sass_token_kind address_token(hd_sass_lexer *lexer, hd_sass_token *token, uint64_t address, hd_span text,
                                        uint32_t end)
{
    enum { MOST_OFFSET = 0x7fffffff };
    hd_sass_table *t = &lexer->table;
    uint32_t begin = lexer->cursor;
    if (!t->follows)
        lexer->base = address;
    if (address < lexer->base || address - lexer->base > MOST_OFFSET ||
        (t->follows && address - lexer->base <= lexer->address)) {
        lexer->problem = "the rows are not in the order of their addresses: 'ncu --print-source sass' writes them so";
        lexer->ends_line = true;
        return put(lexer, token, HD_SASS_TOKEN_UNKNOWN, begin, begin + 1, end);
    }
    lexer->address = (uint32_t)(address - lexer->base);
    t->follows = true;
    t->named = false;
    t->text = text;
    t->row_end = end;
    lexer->place = HD_SASS_IN_INSTRUCTION;
    lexer->after_address = true;
    lexer->in_line = false;
    put(lexer, token, HD_SASS_TOKEN_ADDRESS, begin, text.begin, text.begin);
    token->index = lexer->address;
    return HD_SASS_TOKEN_ADDRESS;
}

/* The next row with something to read; HD_SASS_TOKEN_LINE_END: this one has nothing. */
static hd_sass_token_kind row_token(hd_sass_lexer *lexer, hd_sass_token *token)
{
    const char *text = lexer->source->text;
    uint32_t begin = lexer->cursor, end = line_end(text, begin, lexer->limit), columns;
    uint64_t address;
    hd_span span;
    if (names_function(text, begin, end, &span))
        return function_token(lexer, token, span, end);
    if (names_columns(text, begin, end, &columns)) {
        bool ends = !lexer->table.named; /* code of another function that no row names */
        lexer->table.columns = columns;
        lexer->table.has_columns = true;
        lexer->table.follows = false;
        lexer->ends_line = true;
        return put(lexer, token, ends ? HD_SASS_TOKEN_FUNCTION_END : HD_SASS_TOKEN_OTHER, begin, end, end);
    }
    if (lexer->table.has_columns && row_of(lexer, begin, end, &address, &span))
        return address_token(lexer, token, address, span, end);
    return HD_SASS_TOKEN_LINE_END;
}

/* A part of an instruction's text; its end is that of the row. */
static hd_sass_token_kind text_token(hd_sass_lexer *lexer, hd_sass_token *token)
{
    const hd_sass_table *t = &lexer->table;
    const unsigned char *text = (const unsigned char *)lexer->source->text, *limit = text + t->text.end;
    hd_sass_scan s = {.cursor = text + lexer->cursor, .name = text, .name_end = text};
    hd_sass_token_kind kind = HD_SASS_TOKEN_LINE_END;
    if (lexer->cursor < t->text.end)
        kind = lexer->in_line ? hd_sass_scan_operand(lexer, limit, &s) : hd_sass_scan_line(lexer, limit, &s);
    if (kind != HD_SASS_TOKEN_LINE_END && kind != HD_SASS_TOKEN_END)
        return hd_sass_scan_store(lexer, token, kind, &s, t->text.end);
    lexer->place = HD_SASS_OUTSIDE;
    lexer->in_line = lexer->after_address = false;
    return put(lexer, token, HD_SASS_TOKEN_LINE_END, t->text.end, t->row_end, t->row_end);
}

hd_sass_token_kind hd_sass_csv_next(hd_sass_lexer *lexer, hd_sass_token *token)
{
    bool ends_line = lexer->ends_line;
    lexer->ends_line = false;
    lexer->problem = NULL;
    if (ends_line)
        return put(lexer, token, HD_SASS_TOKEN_LINE_END, lexer->cursor, lexer->cursor, lexer->cursor);
    if (lexer->place == HD_SASS_IN_INSTRUCTION)
        return text_token(lexer, token);
    while (lexer->cursor < lexer->limit) {
        hd_sass_token_kind kind =
            lexer->source->text[lexer->cursor] == '\n' ? HD_SASS_TOKEN_LINE_END : row_token(lexer, token);
        if (kind != HD_SASS_TOKEN_LINE_END)
            return kind;
        uint32_t end = line_end(lexer->source->text, lexer->cursor, lexer->limit);
        lexer->cursor = end < lexer->limit ? end + 1 : end;
    }
    return put(lexer, token, HD_SASS_TOKEN_END, lexer->limit, lexer->limit, lexer->limit);
}
