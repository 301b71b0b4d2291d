/* Functions of a listing, from their first line to their last: see sass_reader.h. */
#include "parser/sass_reader.h"

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

void hd_sass_function_begin(hd_sass_reader *b, hd_name name, hd_span header, uint32_t body)
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
        hd_sass_function_begin(b, name, (hd_span){token->begin, token->end}, token->end);
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
    hd_sass_function_begin(b, name, (hd_span){token->name_begin, end}, line);
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
    f->body.end = hd_max(f->body.end, end);
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
        hd_sass_function_begin(b, hd_names_add_string(&b->module->names, "unnamed"), (hd_span){begin, begin}, begin);
}
