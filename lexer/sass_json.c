/* The tokens of a listing in JSON (nvdisasm -json): see sass.h. The text is an array of metadata and an array of
 * functions; what is neither the architecture, nor a function's name, start and instructions, is skipped, whatever it
 * holds. Keys of a function may have any order, but name and start precede the instructions; those of an instruction
 * have the order of its text.
 *
 * Each object is walked over twice, first to find its keys: linear in the text.
 */
#include "lexer/sass_scan.h"

#include "base/json_text.h"
#include "base/scan.h"

#include <string.h>

enum { GUARD, OPCODE, OPERANDS, PARTS, INSTRUCTION_BYTES = 16, MOST_ADDRESS = 0x7fffffff };
static const char *const part_keys[PARTS] = {"predicate", "opcode", "operands"};

bool hd_sass_begins_json(const char *text)
{
    while (hd_is_space(*text))
        text++;
    if (*text != '[')
        return false;
    for (text++; hd_is_space(*text);)
        text++;
    return *text == '{';
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static hd_sass_token_kind put(hd_sass_lexer *lexer, hd_sass_token *token, hd_sass_token_kind kind, uint32_t begin,
                              uint32_t end)
{
    *token = (hd_sass_token){.begin = begin, .end = end, .kind = kind};
    lexer->cursor = end;
    return kind;
}

/* A line of its own. */
static hd_sass_token_kind put_line(hd_sass_lexer *lexer, hd_sass_token *token, hd_sass_token_kind kind, hd_span span)
{
    lexer->ends_line = true;
    return put(lexer, token, kind, span.begin, span.end);
}

/* A token that the grammar does not take, at `at`; reading goes on at `next`. */
static hd_sass_token_kind put_problem(hd_sass_lexer *lexer, hd_sass_token *token, const char *problem, uint32_t at,
                                      uint32_t next)
{
    lexer->problem = problem;
    put_line(lexer, token, HD_SASS_TOKEN_UNKNOWN, (hd_span){at, at < lexer->limit ? at + 1 : at});
    lexer->cursor = next > at ? next : token->end;
    return HD_SASS_TOKEN_UNKNOWN;
}

/* White space, comments and commas. */
static uint32_t skip_between(const hd_sass_lexer *lexer, uint32_t at)
{
    const char *text = lexer->source->text;
    for (uint32_t before = at + 1; at != before && at < lexer->limit;) {
        before = at;
        while (at < lexer->limit && (hd_is_space(text[at]) || text[at] == ','))
            at++;
        at = hd_after_comment(text, at, lexer->limit);
    }
    return at;
}

/* A statement of extended spelling at the cursor. */
static bool put_heddle(hd_sass_lexer *lexer, hd_sass_token *token)
{
    const unsigned char *text = (const unsigned char *)lexer->source->text;
    hd_sass_scan s = {.cursor = text + lexer->cursor, .name = text, .name_end = text};
    hd_sass_lexer copy = *lexer;
    if (text[lexer->cursor] != '.' || hd_sass_scan_line(&copy, text + lexer->limit, &s) != HD_SASS_TOKEN_HEDDLE)
        return false;
    lexer->ends_line = true;
    hd_sass_scan_store(lexer, token, HD_SASS_TOKEN_HEDDLE, &s, lexer->limit);
    return true;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Reads the object at `at`. NULL, or what is wrong at *where. */
static const char *read_item(const hd_sass_lexer *lexer, uint32_t at, hd_sass_item *item, uint32_t *where)
{
    hd_json_walk walk;
    uint32_t seen = 0; /* parts up to this one */
    *item = (hd_sass_item){0};
    hd_json_walk_start(&walk, lexer->source->text, (hd_span){at, lexer->limit});
    while (hd_json_next_key(&walk) && hd_json_take_value(&walk)) {
        uint32_t part = 0;
        while (part < PARTS && !hd_json_is_key(&walk, part_keys[part]))
            part++;
        if (part == PARTS)
            continue;
        *where = walk.key.begin - 1;
        if (part < seen)
            return "an instruction has 'predicate', 'opcode' and 'operands' in this order, each once";
        seen = part + 1;
        *where = walk.value.begin;
        if (walk.text[walk.value.begin] != '"')
            return "a string is expected";
        item->parts[part] = hd_json_content(&walk);
        const char *begin = walk.text + item->parts[part].begin;
        const char *escape = memchr(begin, '\\', item->parts[part].end - item->parts[part].begin);
        *where = escape ? (uint32_t)(escape - walk.text) : at;
        if (escape)
            return "no escape is expected in an instruction";
    }
    *where = walk.at;
    item->end = walk.at;
    if (walk.broken)
        return "an instruction is an object of strings: this is none, or the text ends within it";
    *where = at;
    bool gap = seen > OPCODE && item->parts[OPCODE].begin == item->parts[OPCODE].end;
    bool others =
        item->parts[GUARD].end > item->parts[GUARD].begin || item->parts[OPERANDS].end > item->parts[OPERANDS].begin;
    return seen <= OPCODE || (gap && others) ? "an instruction without an opcode" : NULL;
}

/* A guard or an opcode: all of its string. */
static hd_sass_token_kind part_token(hd_sass_lexer *lexer, hd_sass_token *token, hd_span part,
                                     hd_sass_token_kind wanted)
{
    const unsigned char *text = (const unsigned char *)lexer->source->text;
    hd_sass_scan s = {.cursor = text + part.begin, .name = text, .name_end = text};
    hd_sass_lexer line = *lexer; /* at the start of one */
    line.after_address = true;
    hd_sass_token_kind kind = hd_sass_scan_line(&line, text + part.end, &s);
    if (kind == wanted && s.cursor == text + part.end)
        return hd_sass_scan_store(lexer, token, kind, &s, part.end);
    lexer->problem = wanted == HD_SASS_TOKEN_GUARD ? "this is no predicate" : "this is no opcode";
    lexer->item.next = PARTS;
    return put(lexer, token, HD_SASS_TOKEN_UNKNOWN, part.begin, part.end);
}

static hd_sass_token_kind instruction_token(hd_sass_lexer *lexer, hd_sass_token *token)
{
    hd_sass_item *item = &lexer->item;
    while (item->next < PARTS && item->parts[item->next].begin == item->parts[item->next].end)
        item->next++;
    if (item->next == GUARD || item->next == OPCODE) {
        uint32_t part = item->next++;
        return part_token(lexer, token, item->parts[part], part == GUARD ? HD_SASS_TOKEN_GUARD : HD_SASS_TOKEN_OPCODE);
    }
    if (item->next == OPERANDS) {
        const unsigned char *text = (const unsigned char *)lexer->source->text;
        hd_span operands = item->parts[OPERANDS];
        uint32_t at = hd_max(lexer->cursor, operands.begin);
        hd_sass_scan s = {.cursor = text + at, .name = text, .name_end = text};
        hd_sass_token_kind kind = hd_sass_scan_operand(lexer, text + operands.end, &s);
        if (kind != HD_SASS_TOKEN_LINE_END)
            return hd_sass_scan_store(lexer, token, kind, &s, operands.end);
    }
    lexer->place = HD_SASS_IN_CODE;
    return put(lexer, token, HD_SASS_TOKEN_LINE_END, item->end - 1, item->end);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static uint32_t next_item(const hd_sass_lexer *lexer, uint32_t at)
{
    while (at < lexer->limit && lexer->source->text[at] != '{' && lexer->source->text[at] != ']')
        at++;
    return at;
}

/* Among the instructions; HD_SASS_TOKEN_END: after them. */
static hd_sass_token_kind code_token(hd_sass_lexer *lexer, hd_sass_token *token)
{
    const char *text = lexer->source->text, *problem = "an instruction's object or ']' is expected";
    uint32_t at = lexer->cursor = skip_between(lexer, lexer->cursor), where = at;
    if (at >= lexer->limit) {
        lexer->place = HD_SASS_OUTSIDE;
        return put_problem(lexer, token, "the text ends within a function", at ? at - 1 : 0, at);
    }
    if (text[at] == ']') {
        lexer->cursor++;
        lexer->place = HD_SASS_IN_FUNCTION;
        return HD_SASS_TOKEN_END;
    }
    if (put_heddle(lexer, token))
        return HD_SASS_TOKEN_HEDDLE;
    if (text[at] == '{') {
        uint32_t address = lexer->address;
        lexer->address += address < MOST_ADDRESS ? INSTRUCTION_BYTES : 0;
        problem = read_item(lexer, at, &lexer->item, &where);
        if (!problem) {
            lexer->place = HD_SASS_IN_INSTRUCTION;
            put(lexer, token, HD_SASS_TOKEN_ADDRESS, at, at + 1);
            token->index = address;
            return HD_SASS_TOKEN_ADDRESS;
        }
        at++;
    }
    uint32_t next = next_item(lexer, hd_max(where, at));
    if (next == lexer->limit) /* reported */
        lexer->place = HD_SASS_OUTSIDE;
    return put_problem(lexer, token, problem, where, next);
}

/* Among a function's keys; HD_SASS_TOKEN_END: at its instructions or after it. */
static hd_sass_token_kind function_token(hd_sass_lexer *lexer, hd_sass_token *token)
{
    const char *text = lexer->source->text;
    uint32_t at = lexer->cursor = skip_between(lexer, lexer->cursor);
    if (put_heddle(lexer, token))
        return HD_SASS_TOKEN_HEDDLE;
    if (at < lexer->limit && text[at] == '}') {
        lexer->cursor++;
        lexer->place = HD_SASS_OUTSIDE;
        return HD_SASS_TOKEN_END;
    }
    hd_json_walk walk;
    hd_json_walk_start(&walk, text, (hd_span){at - 1, lexer->limit});
    bool has_key = hd_json_next_key(&walk);
    if (has_key && hd_json_is_key(&walk, "sass-instructions") && text[walk.at] == '[') {
        lexer->cursor = walk.at + 1;
        lexer->place = HD_SASS_IN_CODE;
        return HD_SASS_TOKEN_END;
    }
    if (has_key && hd_json_take_value(&walk)) {
        lexer->cursor = walk.at;
        return HD_SASS_TOKEN_END;
    }
    lexer->place = HD_SASS_OUTSIDE;
    return put_problem(lexer, token, "a function's key and value, or '}', is expected", walk.at, lexer->limit);
}

/* Reads a number; false: it is none, or no address. */
static bool read_start(const hd_json_walk *walk, uint32_t *start)
{
    uint32_t at = walk->value.begin;
    for (*start = 0;
         at < walk->value.end && walk->text[at] >= '0' && walk->text[at] <= '9' && *start < MOST_ADDRESS / 10; at++)
        *start = *start * 10 + (uint32_t)(walk->text[at] - '0');
    return at == walk->value.end;
}

/* The object at the cursor: a function's begins a line, of any other the keys follow (HD_SASS_TOKEN_END). */
static hd_sass_token_kind object_token(hd_sass_lexer *lexer, hd_sass_token *token)
{
    const char *text = lexer->source->text;
    hd_json_walk walk;
    hd_span name = {0, 0};
    uint32_t at = lexer->cursor++, start = 0;
    bool has_start = false, has_code = false;
    hd_json_walk_start(&walk, text, (hd_span){at, lexer->limit});
    while (hd_json_next_key(&walk) && !has_code) {
        has_code = hd_json_is_key(&walk, "sass-instructions");
        if (has_code || !hd_json_take_value(&walk))
            break;
        if (hd_json_is_key(&walk, "function-name") && text[walk.value.begin] == '"')
            name = walk.value;
        if (hd_json_is_key(&walk, "start"))
            has_start = read_start(&walk, &start);
    }
    if (!name.end && !has_code)
        return HD_SASS_TOKEN_END;
    if (!name.end || (has_code && !has_start))
        return put_problem(lexer, token, "'function-name', a string, and 'start', a number, precede the instructions",
                           at, lexer->limit);
    lexer->address = start;
    lexer->place = HD_SASS_IN_FUNCTION;
    put_line(lexer, token, HD_SASS_TOKEN_FUNCTION, name);
    token->name_begin = name.begin + 1;
    token->name_end = name.end - 1;
    token->index = start;
    return HD_SASS_TOKEN_FUNCTION;
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

/* The number that an object has under a name; 0: none. */
static uint32_t find_number(const char *text, hd_span object, const char *name)
{
    hd_json_walk walk;
    uint32_t number = 0;
    hd_json_walk_start(&walk, text, object);
    while (hd_json_next_key(&walk) && hd_json_take_value(&walk))
        if (hd_json_is_key(&walk, name))
            return read_start(&walk, &number) ? number : 0;
    return 0;
}

/* The chip of {"version":{"major":9,"minor":0}}; 0: none. */
static uint32_t chip_of(const char *text, hd_span object)
{
    hd_json_walk walk;
    hd_json_walk_start(&walk, text, object);
    while (hd_json_next_key(&walk) && hd_json_take_value(&walk))
        if (hd_json_is_key(&walk, "version") && text[walk.value.begin] == '{') {
            uint32_t major = find_number(text, walk.value, "major"), minor = find_number(text, walk.value, "minor");
            return major < 100 && minor < 10 ? 10 * major + minor : 0;
        }
    return 0;
}

/* A string: a key with its value, or any other. */
static hd_sass_token_kind string_token(hd_sass_lexer *lexer, hd_sass_token *token)
{
    const char *text = lexer->source->text;
    hd_json_walk walk;
    uint32_t at = lexer->cursor, end = hd_json_string_end(text, at, lexer->limit);
    if (end == HD_JSON_NONE)
        return put_problem(lexer, token, "a string that is not closed", at, lexer->limit);
    lexer->cursor = end;
    hd_json_walk_start(&walk, text, (hd_span){at - 1, lexer->limit});
    if (!hd_json_next_key(&walk)) /* a value */
        return HD_SASS_TOKEN_END;
    if (!hd_json_take_value(&walk))
        return put_problem(lexer, token, "a value is expected, or it is not closed", walk.at, lexer->limit);
    lexer->cursor = walk.at;
    uint32_t chip = hd_json_is_key(&walk, "SM") && text[walk.value.begin] == '{' ? chip_of(text, walk.value) : 0;
    if (!chip)
        return HD_SASS_TOKEN_END;
    put_line(lexer, token, HD_SASS_TOKEN_ARCHITECTURE, walk.value);
    token->index = chip;
    return HD_SASS_TOKEN_ARCHITECTURE;
}

static hd_sass_token_kind outside_token(hd_sass_lexer *lexer, hd_sass_token *token)
{
    lexer->cursor = skip_between(lexer, lexer->cursor);
    char c = lexer->source->text[lexer->cursor];
    if (c == '"')
        return string_token(lexer, token);
    if (c == '{')
        return object_token(lexer, token);
    lexer->cursor++;
    return HD_SASS_TOKEN_END;
}

hd_sass_token_kind hd_sass_json_next(hd_sass_lexer *lexer, hd_sass_token *token)
{
    bool ends_line = lexer->ends_line;
    hd_sass_token_kind kind = HD_SASS_TOKEN_END;
    lexer->ends_line = false;
    lexer->problem = NULL;
    if (ends_line)
        return put(lexer, token, HD_SASS_TOKEN_LINE_END, lexer->cursor, lexer->cursor);
    while (kind == HD_SASS_TOKEN_END) {
        if (lexer->place == HD_SASS_IN_INSTRUCTION) {
            kind = instruction_token(lexer, token);
        } else if (lexer->place == HD_SASS_IN_CODE) {
            kind = code_token(lexer, token);
        } else if (lexer->place == HD_SASS_IN_FUNCTION) {
            kind = function_token(lexer, token);
        } else if (skip_between(lexer, lexer->cursor) < lexer->limit) {
            kind = outside_token(lexer, token);
        } else {
            return put(lexer, token, HD_SASS_TOKEN_END, lexer->limit, lexer->limit);
        }
    }
    return kind;
}
