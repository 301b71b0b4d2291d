/* Lines and functions of a listing: see sass_reader.h. */
#include "parser/sass_reader.h"
#include "parser/sass.h"

#include "parser/parse.h"

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
        hd_sass_error_at(b, SYNTAX, span, "unexpected '%.*s'%s",
                         (int)(span.end - span.begin > 60 ? 60 : span.end - span.begin), text + span.begin, wanted);
    else
        hd_sass_error_at(b, SYNTAX, span, "the line ends here%s", wanted);
    b->stopped = hd_diagnostics_full(b->module->diagnostics);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* A character of a name in JSON that \u and four digits stand for; any other is a question mark. */
static char escaped(const char *digits)
{
    char four[5] = {digits[0], digits[1], digits[2], digits[3], 0}, *end;
    unsigned long code = strtoul(four, &end, 16);
    return end == four + 4 && code > ' ' && code < 0x7f ? (char)code : '?';
}

hd_name hd_sass_name(hd_sass_reader *b, uint32_t begin, uint32_t end)
{
    const char *text = b->module->source->text + begin;
    size_t length = end - begin, count = 0;
    if ((!b->lexer.dot && !b->lexer.json) || !memchr(text, '\\', length))
        return hd_names_add_padded(&b->module->names, text, length);
    char *plain = hd_malloc(length + 1);
    for (size_t i = 0; i < length; i++) {
        bool numbered = b->lexer.json && text[i] == '\\' && i + 5 < length && text[i + 1] == 'u';
        if (numbered)
            plain[count++] = escaped(text + i + 2);
        i += numbered ? 5 : text[i] == '\\' && b->lexer.json;
        if (!numbered && i < length && (b->lexer.json || text[i] != '\\'))
            plain[count++] = text[i];
    }
    hd_name name = hd_names_add(&b->module->names, plain, count);
    free(plain);
    return name;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static void declare(hd_function *f, hd_sass_class class)
{
    static const struct {
        uint32_t count;
        uint8_t type;
    } files[HD_SASS_CLASS_COUNT] = {[HD_SASS_GENERAL] = {255, HD_TYPE_B32},
                                    [HD_SASS_UNIFORM] = {255, HD_TYPE_UNIFORM},
                                    [HD_SASS_PREDICATE] = {7, HD_TYPE_PRED},
                                    [HD_SASS_UNIFORM_PREDICATE] = {7, HD_TYPE_PRED},
                                    [HD_SASS_BARRIER] = {16, HD_TYPE_BARRIER}};
    hd_name name = hd_names_add_string(&f->module->names, hd_sass_class_stem[class]);
    hd_array_push(&f->declarations,
                  (hd_declaration){
                      .name = name, .count = files[class].count, .type = files[class].type, .vector = 1, .depth = 1});
}

/* By the latest table that names the function: a program may hold it for several chips. */
static uint32_t used_registers(const hd_sass_reader *b, hd_name name)
{
    for (uint32_t i = b->usages.count; i-- > 0;)
        if (b->usages.items[i].name == name)
            return b->usages.items[i].registers;
    return 0;
}

static void begin_function(hd_sass_reader *b, hd_name name, hd_span header, uint32_t body)
{
    hd_module *m = b->module;
    hd_function *f = hd_function_new(m, name);
    hd_symbol symbol = {.name = name, .kind = HD_SYMBOL_FUNCTION, .function = f->index, .vector = 1, .span = header};
    f->symbol = m->symbols.count;
    f->is_entry = f->has_body = true;
    f->header_span = header;
    f->body = (hd_span){body ? body - 1 : 0, body};
    hd_array_push(&m->symbols, symbol);
    hd_array_push(&m->statements, (hd_statement){HD_STATEMENT_FUNCTION, f->index, header});
    for (int class = 0; class < HD_SASS_CLASS_COUNT; class ++)
        declare(f, (hd_sass_class) class);
    hd_array_reserve(&f->operands, 1); /* never NULL, even where no instruction has operands */
    b->function = f;
    f->machine = b->machine = HD_ARENA_NEW(&m->arena, hd_machine_function);
    b->machine->sm = b->sm;
    b->machine->generation = hd_sass_generation(b->sm);
    b->machine->allocated = used_registers(b, name);
    b->machine->comments_only = b->lexer.dot || b->lexer.csv || header.begin == header.end;
    memset(b->register_ids, 0xff, sizeof b->register_ids);
    b->function_stamp++;
    b->lost_target = false;
    b->references.count = b->jumps.count = b->lines.count = b->reuse.count = 0;
    b->group = b->location = HD_NONE;
    b->location_is_fresh = false;
    b->descriptor = HD_SASS_NO_NUMBER;
    b->lexer.in_function = true;
}

/* Past the annotation that may follow the name. */
static uint32_t name_end(const char *text, uint32_t begin, uint32_t end)
{
    for (uint32_t at = begin; at + 2 < end; at++)
        if (text[at] == '/' && (text[at + 1] == '/' || text[at + 1] == '*') && text[at + 2] == '@') {
            end = at;
            break;
        }
    while (end > begin && hd_is_blank(text[end - 1]))
        end--;
    return end;
}

/* In JSON the start of a function is an address in its section. One that does not begin a section and follows the code
 * read so far is in the same section: in other listings, a label there. */
static bool continues_section(const hd_sass_reader *b, const hd_sass_token *token)
{
    enum { INSTRUCTION_BYTES = 16 };
    return b->function && token->index && b->lines.count &&
           token->index >= b->lines.items[b->lines.count - 1].address + INSTRUCTION_BYTES;
}

static void start_in_json(hd_sass_reader *b, const hd_sass_token *token)
{
    hd_name name = hd_sass_name(b, token->name_begin, token->name_end);
    if (!continues_section(b, token)) {
        hd_sass_function_stop(b, token->begin);
        begin_function(b, name, (hd_span){token->begin, token->end}, token->end);
    }
    if (hd_sass_label_find(b, name) == HD_NONE) /* of no place in the text: an indirect branch does not go there */
        hd_sass_label_new(b, name, b->function->instructions.count, (hd_span){0, 0});
}

void hd_sass_function_start(hd_sass_reader *b, const hd_sass_token *token, bool header)
{
    const char *text = b->module->source->text;
    if (b->lexer.json) {
        start_in_json(b, token);
        return;
    }
    uint32_t end = name_end(text, token->name_begin, token->name_end);
    hd_sass_function_stop(b, token->begin);
    b->header_seen = true;
    (void)header;
    hd_name name = hd_sass_name(b, token->name_begin, end);
    uint32_t line = token->begin;
    if (b->lexer.csv || (token->kind == HD_SASS_TOKEN_FUNCTION && text[token->begin] == 'F'))
        line = end;
    else
        for (uint32_t at = line = token->begin; at < token->end; at++) /* before an annotation or blanks */
            if (text[at] == '/' && at + 2 < token->end && text[at + 2] == '@')
                break;
            else if (!hd_is_blank(text[at]))
                line = at + 1;
    begin_function(b, name, (hd_span){token->name_begin, end}, line);
}

static void store(hd_sass_reader *b)
{
    hd_machine_function *machine = b->machine;
    hd_arena *arena = &b->module->arena;
    machine->lines = hd_arena_copy(arena, b->lines.items, b->lines.count * sizeof *b->lines.items);
    machine->reuse = hd_arena_copy(arena, b->reuse.items, b->reuse.count);
    for (uint32_t r = 0; r < b->function->registers.count; r++) {
        const hd_register *reg = &b->function->registers.items[r];
        uint32_t *most = reg->type == HD_TYPE_B32       ? &machine->registers
                         : reg->type == HD_TYPE_UNIFORM ? &machine->uniform_registers
                         : reg->type == HD_TYPE_PRED && !(reg->flags & HD_REGISTER_UNIFORM) ? &machine->predicates
                                                                                            : NULL;
        if (most && reg->index != HD_NONE && reg->index + 1 > *most)
            *most = reg->index + 1;
    }
}

/* Whether control may go on after an instruction: a call may not return, and a trap does not. */
static bool goes_on(const hd_function *f, const hd_instruction *insn)
{
    const hd_sass_row *row = hd_insn_machine(f, insn)->row;
    bool ends =
        hd_insn_form(f, insn)->behaviour & (HD_BEHAVE_EXIT | HD_BEHAVE_RETURN | HD_BEHAVE_BRANCH | HD_BEHAVE_CALL);
    ends = ends || (row && row->control == HD_SASS_CONTROL_TRAP);
    return !ends || insn->guard != HD_NONE || insn->flags & HD_INSN_CONDITIONAL;
}

static bool is_filling(const hd_function *f, const hd_instruction *insn)
{
    return strcmp(hd_names_text(&f->module->names, hd_insn_form(f, insn)->spelling), "NOP") == 0;
}

/* Where an address shows that code is missing before the instruction: the first of a function, after a control word on
 * some chips, is at byte 8 at most, and the next at most two words further. */
static bool lacks_code(const hd_sass_reader *b, uint32_t ordinal)
{
    enum { MOST_BYTES = 16 };
    uint32_t at = b->lines.items[ordinal].address, last = ordinal ? b->lines.items[ordinal - 1].address : HD_NONE;
    if (at == HD_NONE) /* cuda-gdb says it where it knows the function */
        return b->lexer.debugger && !ordinal;
    return ordinal ? last < at && at - last > MOST_BYTES : at >= MOST_BYTES;
}

static void report_cut(hd_sass_reader *b, uint32_t ordinal, const char *why)
{
    const hd_function *f = b->function;
    b->machine->cut = ordinal + 1;
    hd_report(b->module->diagnostics, HD_DIAG_CUT_LISTING, b->module->source, f->instructions.items[ordinal].span,
              "the listing of '%s' is cut: %s", hd_names_text(&b->module->names, f->name), why);
}

/* Code begins at the function's start and ends where control does, but for NOPs that fill it up. What lacks code, or
 * what control leaves at its end, is a part of it. Graphs have another order, addresses in JSON are counted, those
 * beside control fields may be of code that was edited, and NVBit shows what a tool inspects. */
static void find_cut(hd_sass_reader *b)
{
    const hd_function *f = b->function;
    uint32_t count = f->instructions.count;
    bool has_addresses = !b->lexer.json && !b->lexer.nvbit && b->machine->encoding != HD_MACHINE_FIELD;
    while (count && is_filling(f, &f->instructions.items[count - 1]))
        count--;
    if (b->lexer.dot)
        return;
    for (uint32_t i = 0; i < count && has_addresses && !b->machine->cut; i++)
        if (lacks_code(b, i))
            report_cut(b, i,
                       i ? "code is missing before this instruction" : "it does not begin at the function's start");
    if (count && goes_on(f, &f->instructions.items[count - 1]))
        report_cut(b, count - 1, "control goes on after its last instruction");
}

void hd_sass_function_stop(hd_sass_reader *b, uint32_t end)
{
    hd_function *f = b->function;
    if (!f)
        return;
    f->body.end = end > f->body.end ? end : f->body.end;
    hd_array_reserve(&b->lines, 1);
    hd_array_reserve(&b->reuse, 1);
    find_cut(b);
    hd_sass_resolve_flow(b);
    store(b);
    hd_statement *statement = &hd_array_last(&b->module->statements);
    statement->span.end = f->body.end;
    b->function = NULL;
    b->machine = NULL;
    b->lexer.in_function = false;
}

/* Where sections are printed, those of code begin functions, and labels in others are data. */
void hd_sass_other_section(hd_sass_reader *b, const hd_sass_token *token)
{
    hd_sass_function_stop(b, token->begin);
    b->header_seen = true;
}

/* An instruction outside any function: the listing is a function's body cut out. It begins after what precedes the
 * instruction on its line, where its annotations are. */
void hd_sass_need_function(hd_sass_reader *b, const hd_sass_token *first)
{
    const char *text = b->module->source->text;
    uint32_t begin = first->begin;
    if (first > b->tokens)
        begin = first[-1].end;
    else
        while (begin && !hd_is_line_end(text[begin - 1]))
            begin--;
    if (!b->function)
        begin_function(b, hd_names_add_string(&b->module->names, "unnamed"), (hd_span){begin, begin}, begin);
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
        begin_function(b, name, (hd_span){token->end, token->end}, token->end);
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
        begin_function(b, hd_sass_name(b, token->name_begin, token->name_end),
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

uint32_t hd_sass_label_find(const hd_sass_reader *b, hd_name name)
{
    if (name >= b->label_stamp.count || b->label_stamp.items[name] != b->function_stamp)
        return HD_NONE;
    return b->label_of_name.items[name];
}

uint32_t hd_sass_label_new(hd_sass_reader *b, hd_name name, uint32_t instruction, hd_span span)
{
    uint32_t label = b->function->labels.count;
    hd_array_push(&b->function->labels, (hd_label){name, instruction, span});
    while (b->label_stamp.count <= name) {
        hd_array_push(&b->label_stamp, 0);
        hd_array_push(&b->label_of_name, 0);
    }
    b->label_stamp.items[name] = b->function_stamp;
    b->label_of_name.items[name] = label;
    return label;
}

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
        begin_function(b, name, span, token->end);
        hd_sass_label_new(b, name, 0, (hd_span){0, 0});
        return;
    }
    if (names_section && !b->header_seen && begins_section(b, token->name_begin + (uint32_t)strlen(section), token)) {
        hd_sass_function_stop(b, token->begin);
        begin_function(b, hd_sass_name(b, token->name_begin + (uint32_t)strlen(section), token->name_end), span,
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

/* ---- the whole text ---------------------------------------------------------------------------------------------- */

static void free_reader(hd_sass_reader *b)
{
    hd_array_free(&b->label_of_name);
    hd_array_free(&b->label_stamp);
    hd_array_free(&b->references);
    hd_array_free(&b->jumps);
    hd_array_free(&b->lines);
    hd_array_free(&b->reuse);
    hd_array_free(&b->usages);
}

void hd_parse_sass(hd_module *module)
{
    hd_sass_reader *b = hd_calloc(1, sizeof *b);
    b->module = module;
    b->address = b->control = b->group = b->location = HD_NONE;
    b->has_code = true;
    module->is_machine = true;
    hd_sass_lexer_init(&b->lexer, module->source, (hd_span){0, module->source->length});
    module->is_json = b->lexer.json;
    hd_sass_parse(b);
    hd_sass_function_stop(b, module->source->length);
    if (!module->functions.count && !module->diagnostics->error_count)
        hd_sass_error_at(b, EMPTY_INPUT, ((hd_span){0, module->source->length ? 1 : 0}), "no function in this listing");
    free_reader(b);
    free(b);
}
