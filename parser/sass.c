/* Listings of machine code to IR: what nvdisasm and cuobjdump print, with or without encodings (-hex), source lines
 * (-g, -gi) and live ranges (-plr), and CuAssembler's form with control fields.
 *
 * A listing is read by lines. A function begins at `Function : NAME` or at a section `.text.NAME`; a line of code
 * begins with its address in a comment. Of each instruction the IR has the registers that ir/sass.def says it reads
 * and writes: R and P registers, uniform ones (which are not in the register file), and the carry. A wide operand is a
 * vector of its registers. Other operands stay text: passes annotate machine code, and never change it.
 *
 * Branches go to labels, or to addresses of cuobjdump. A call of code in the same function is a branch to it, and a
 * return goes to each place after such a call. An indirect branch may go to every label of the function. An
 * instruction without a row reads and writes all registers.
 *
 * Linear in the text. Not read: graphs in DOT, JSON, listings without addresses. */
#include "parser/sass.h"
#include "base/index.h"
#include "ir/form.h"
#include "ir/sass.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sass_target { /* a branch whose label is not known yet */
    uint32_t instruction;
    hd_span name; /* of a label, or digits of an address */
    bool call;
    bool divides; /* BRA.DIV: taken if the lanes of the warp are apart, which a uniform register says */
} sass_target;

typedef struct sass_reader {
    hd_module *module;
    hd_source *source;
    const char *text;
    uint32_t end;
    uint32_t generation;                    /* of the code that follows; 0: not said */
    hd_function *function;                  /* NULL: outside of code */
    bool sections;                          /* nvdisasm: code is in sections .text.* */
    uint32_t registers[HD_SASS_FILES][256]; /* id + 1 */
    uint32_t location;                      /* of the next instruction, or HD_NONE */
    HD_ARRAY(sass_target) targets;
    hd_u32_array returns, returning, indirect; /* instructions after calls, that return, that branch anywhere */
    HD_ARRAY(uint64_t) addresses;              /* by instruction */
    uint32_t unknown;                          /* instructions without a row that were reported */
    uint32_t functions_done;
} sass_reader;

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static uint32_t line_end(const sass_reader *r, uint32_t at)
{
    while (at < r->end && !hd_is_line_end(r->text[at]))
        at++;
    return at;
}

static uint32_t skip_blanks(const sass_reader *r, uint32_t at)
{
    while (hd_is_blank(r->text[at]))
        at++;
    return at;
}

/* The end of a line, or of what is before an annotation in it. */
static uint32_t before_annotation(const sass_reader *r, uint32_t at, uint32_t end)
{
    for (; at + 4 < end; at++)
        if (!memcmp(r->text + at, " //@", 4) || !memcmp(r->text + at, " /*@", 4))
            return at;
    return end;
}

/* Where a text begins in [at, end); HD_NONE: nowhere. */
static uint32_t find_in(const sass_reader *r, uint32_t at, uint32_t end, const char *wanted)
{
    size_t length = strlen(wanted);
    for (; at < end && length <= end - at; at++)
        if (!memcmp(r->text + at, wanted, length))
            return at;
    return HD_NONE;
}

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* The number of the first sm_NN or EF_CUDA_SMNN in a line; 0: none. */
static uint32_t architecture_in(const sass_reader *r, uint32_t at, uint32_t end)
{
    for (; at + 4 < end; at++)
        if ((begins(r->text + at, "sm_") || begins(r->text + at, "_SM")) && isdigit((unsigned char)r->text[at + 3]))
            return (uint32_t)strtoul(r->text + at + 3, NULL, 10);
    return 0;
}

static void note_architecture(sass_reader *r, uint32_t at, uint32_t end)
{
    uint32_t number = architecture_in(r, at, end);
    if (!number)
        return;
    r->generation = number;
    if (!r->module->target_number) {
        char name[16];
        int length = snprintf(name, sizeof name, "sm_%u", number);
        r->module->target_number = number;
        r->module->target = hd_names_add(&r->module->names, name, (size_t)length);
    }
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static void begin_function(sass_reader *r, hd_span name, uint32_t body)
{
    hd_module *m = r->module;
    hd_name id = hd_names_add(&m->names, r->text + name.begin, name.end - name.begin);
    hd_function *f = hd_function_new(m, id);
    f->symbol = m->symbols.count;
    hd_array_push(&m->symbols,
                  ((hd_symbol){.name = id, .kind = HD_SYMBOL_FUNCTION, .function = f->index, .span = name}));
    f->is_entry = f->has_body = true;
    f->header_span = name;
    f->body = (hd_span){body, body};
    f->carry_register = HD_NONE;
    static const struct {
        const char *stem;
        uint8_t type;
        uint16_t count;
    } files[HD_SASS_FILES] = {[HD_SASS_R] = {"R", HD_TYPE_B32, 255},
                              [HD_SASS_P] = {"P", HD_TYPE_PRED, 7},
                              [HD_SASS_UR] = {"UR", HD_TYPE_UNIFORM, 255},
                              [HD_SASS_UP] = {"UP", HD_TYPE_PRED, 7},
                              [HD_SASS_CC] = {"CC", HD_TYPE_CC, 1}};
    for (uint32_t i = 0; i < HD_SASS_FILES; i++)
        hd_array_push(&f->declarations,
                      ((hd_declaration){.name = hd_names_add(&m->names, files[i].stem, strlen(files[i].stem)),
                                        .count = files[i].count,
                                        .type = files[i].type,
                                        .vector = 1,
                                        .depth = 1}));
    hd_array_reserve(&f->operands, 1); /* never NULL, even where no instruction has operands */
    memset(r->registers, 0, sizeof r->registers);
    r->function = f;
    r->location = HD_NONE;
}

static uint32_t add_label(hd_function *f, hd_name name, uint32_t instruction, hd_span span)
{
    hd_array_push(&f->labels, ((hd_label){name, instruction, span}));
    return f->labels.count - 1;
}

static uint32_t find_label(const sass_reader *r, hd_span name)
{
    const hd_function *f = r->function;
    if (name.end <= name.begin)
        return HD_NONE;
    hd_name id = hd_names_find(&r->module->names, r->text + name.begin, name.end - name.begin);
    for (uint32_t i = 0; i < f->labels.count && id != HD_NO_NAME; i++)
        if (f->labels.items[i].name == id)
            return i;
    return HD_NONE;
}

/* The label of an instruction; made if there is none. */
static uint32_t label_at(sass_reader *r, uint32_t instruction)
{
    hd_function *f = r->function;
    char name[32];
    for (uint32_t i = 0; i < f->labels.count; i++)
        if (f->labels.items[i].instruction == instruction)
            return i;
    int length = snprintf(name, sizeof name, ".L_at_%u", instruction);
    uint32_t at = instruction < f->instructions.count ? f->instructions.items[instruction].span.begin : f->body.end;
    return add_label(f, hd_names_add(&r->module->names, name, (size_t)length), instruction, (hd_span){at, at});
}

static uint32_t instruction_at(const sass_reader *r, uint64_t address)
{
    uint32_t low = 0, high = r->addresses.count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (r->addresses.items[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->addresses.count && r->addresses.items[low] == address ? low : HD_NONE;
}

/* A table of labels that a branch may go to. */
static uint32_t add_table(hd_function *f, const hd_u32_array *labels)
{
    hd_array_push(
        &f->tables,
        ((hd_table){.kind = HD_TABLE_BRANCH_TARGETS, .first = f->table_entries.count, .count = labels->count}));
    for (uint32_t i = 0; i < labels->count; i++)
        hd_array_push(&f->table_entries, labels->items[i]);
    return f->tables.count - 1;
}

/* The operand that stands for a branch's target, the last of its instruction. */
static hd_operand *target_operand(hd_function *f, uint32_t instruction)
{
    const hd_instruction *insn = &f->instructions.items[instruction];
    return &f->operands.items[insn->operand_first + insn->operand_count - 1u];
}

static void branch_anywhere(sass_reader *r, const hd_u32_array *instructions, const hd_u32_array *labels)
{
    if (!instructions->count)
        return;
    uint32_t table = add_table(r->function, labels);
    for (uint32_t i = 0; i < instructions->count; i++)
        *target_operand(r->function, instructions->items[i]) =
            (hd_operand){.kind = HD_OPERAND_TABLE, .value = table, .begin = HD_NONE};
}

static void resolve_targets(sass_reader *r)
{
    hd_function *f = r->function;
    hd_u32_array labels = {0};
    for (uint32_t i = 0; i < r->targets.count; i++) {
        const sass_target *t = &r->targets.items[i];
        bool number = isdigit((unsigned char)r->text[t->name.begin]);
        uint32_t label = number ? HD_NONE : find_label(r, t->name);
        uint32_t to = number ? instruction_at(r, strtoull(r->text + t->name.begin, NULL, 0)) : HD_NONE;
        label = to != HD_NONE ? label_at(r, to) : label;
        hd_operand *o = target_operand(f, t->instruction);
        if (label != HD_NONE && t->divides) {
            hd_u32_array both = {0};
            hd_array_push(&both, label);
            hd_array_push(&both, label_at(r, t->instruction + 1));
            branch_anywhere(r, &(hd_u32_array){.items = (uint32_t *)(uintptr_t)&t->instruction, .count = 1}, &both);
            hd_array_free(&both);
            continue;
        }
        if (label != HD_NONE) {
            *o = (hd_operand){.kind = HD_OPERAND_LABEL, .value = label, .begin = t->name.begin};
            if (t->call && t->instruction + 1 < f->instructions.count)
                hd_array_push(&r->returns, t->instruction + 1);
            continue;
        }
        /* code elsewhere: a call comes back with any register changed, a branch does not */
        *o = (hd_operand){.kind = HD_OPERAND_NAME, .begin = t->name.begin};
        hd_instruction *insn = &f->instructions.items[t->instruction];
        insn->flags |= HD_INSN_OPAQUE;
    }
    for (uint32_t i = 0; i < r->returns.count; i++)
        hd_array_push(&labels, label_at(r, r->returns.items[i]));
    branch_anywhere(r, &r->returning, &labels);
    hd_array_clear(&labels);
    for (uint32_t i = 0; i < f->labels.count && r->indirect.count; i++)
        hd_array_push(&labels, i);
    branch_anywhere(r, &r->indirect, &labels);
    hd_array_free(&labels);
}

static void end_function(sass_reader *r, uint32_t at)
{
    hd_function *f = r->function;
    if (!f)
        return;
    f->body.end = at;
    resolve_targets(r);
    hd_array_push(&r->module->statements,
                  ((hd_statement){HD_STATEMENT_FUNCTION, f->index, {f->header_span.begin, at}}));
    hd_array_clear(&r->targets);
    hd_array_clear(&r->returns);
    hd_array_clear(&r->returning);
    hd_array_clear(&r->indirect);
    hd_array_clear(&r->addresses);
    r->function = NULL;
    r->functions_done++;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static uint32_t register_of(sass_reader *r, uint8_t file, uint32_t number)
{
    hd_function *f = r->function;
    uint32_t *slot = &r->registers[file][number];
    if (!*slot) {
        const hd_declaration *d = &f->declarations.items[file];
        hd_array_push(
            &f->registers,
            ((hd_register){.name = d->name, .index = number, .declaration = file, .type = d->type, .vector = 1}));
        *slot = f->registers.count;
    }
    return *slot - 1;
}

static uint32_t behaviour_of(const hd_sass_row *row)
{
    static const struct {
        const char *memory, *control;
        uint32_t behaviour;
    } rules[] = {
        {"load", NULL, HD_BEHAVE_LOAD},
        {"store", NULL, HD_BEHAVE_STORE},
        {"atomic", NULL, HD_BEHAVE_ATOMIC},
        {"reduction", NULL, HD_BEHAVE_ATOMIC},
        {"texture", NULL, HD_BEHAVE_TEXTURE | HD_BEHAVE_LOAD},
        {"surface", NULL, HD_BEHAVE_TEXTURE},
        {"async", NULL, HD_BEHAVE_ASYNC | HD_BEHAVE_STORE},
        {"fence", NULL, HD_BEHAVE_FENCE},
        {NULL, "barrier", HD_BEHAVE_BARRIER},
        {NULL, "thread exit", HD_BEHAVE_EXIT},
        {NULL, "kill", HD_BEHAVE_VOLATILE},
        {NULL, "convergence", HD_BEHAVE_VOLATILE},
        {NULL, "warp sync", HD_BEHAVE_WARP},
    };
    uint32_t behaviour = 0;
    for (size_t i = 0; row && i < sizeof rules / sizeof *rules; i++)
        if (rules[i].memory ? strstr(row->memory, rules[i].memory) != NULL
                            : strstr(row->control, rules[i].control) != NULL)
            behaviour |= rules[i].behaviour;
    return behaviour;
}

/* How an instruction leaves its line. */
typedef enum sass_jump { JUMP_NONE, JUMP_BRANCH, JUMP_INDIRECT, JUMP_CALL, JUMP_RETURN, JUMP_EXIT } sass_jump;

static bool is_opcode(const sass_reader *r, uint32_t at, const hd_sass_insn *insn, const char *name)
{
    size_t length = strlen(name);
    const char *text = r->text + at + insn->opcode_at;
    return insn->opcode_length >= length && !memcmp(text, name, length) &&
           (insn->opcode_length == length || text[length] == '.');
}

static sass_jump jump_of(const sass_reader *r, uint32_t at, const hd_sass_insn *insn)
{
    static const struct {
        const char *opcode;
        sass_jump jump;
    } jumps[] = {{"BRA", JUMP_BRANCH},    {"JMP", JUMP_BRANCH},    {"BRX", JUMP_INDIRECT},  {"JMX", JUMP_INDIRECT},
                 {"BRXU", JUMP_INDIRECT}, {"JMXU", JUMP_INDIRECT}, {"SYNC", JUMP_INDIRECT}, {"BRK", JUMP_INDIRECT},
                 {"CONT", JUMP_INDIRECT}, {"CALL", JUMP_CALL},     {"CAL", JUMP_CALL},      {"JCAL", JUMP_CALL},
                 {"RET", JUMP_RETURN},    {"EXIT", JUMP_EXIT}};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++)
        if (is_opcode(r, at, insn, jumps[i].opcode))
            return jumps[i].jump == JUMP_BRANCH && !insn->target_length ? JUMP_INDIRECT : jumps[i].jump;
    return JUMP_NONE;
}

/* A form by its spelling; the spellings of PTX are others, so that none is taken for one of its opcodes. */
static uint32_t form_of(sass_reader *r, uint32_t at, const hd_sass_insn *insn, uint32_t behaviour)
{
    hd_module *m = r->module;
    hd_name name = hd_names_add(&m->names, r->text + at + insn->opcode_at, insn->opcode_length);
    while (m->form_of_name.count <= name)
        hd_array_push(&m->form_of_name, 0);
    uint32_t known = m->form_of_name.items[name];
    if (known && m->forms.items[known - 1].behaviour == behaviour)
        return known - 1;
    hd_array_push(&m->forms, ((hd_form){.spelling = name, .vector = 1, .behaviour = behaviour}));
    m->form_of_name.items[name] = m->forms.count;
    return m->forms.count - 1;
}

static void add_operand(hd_function *f, hd_operand o) { hd_array_push(&f->operands, o); }

static void add_uses(sass_reader *r, uint32_t at, const hd_sass_insn *insn)
{
    hd_function *f = r->function;
    for (uint32_t i = 0; i < insn->use_count; i++) {
        const hd_sass_use *u = &insn->uses[i];
        uint8_t flags = (uint8_t)((u->defined ? HD_OPERAND_DEF : 0) | (u->used ? HD_OPERAND_USE : 0));
        if (u->is_guard)
            continue;
        if (u->count > 1)
            add_operand(f, (hd_operand){.kind = HD_OPERAND_VECTOR, .count = u->count, .begin = at + u->at});
        for (uint32_t k = 0; k < u->count; k++)
            add_operand(f, (hd_operand){.kind = HD_OPERAND_REGISTER,
                                        .flags = flags,
                                        .begin = at + u->at,
                                        .value = register_of(r, u->file, u->first + k)});
    }
}

/* The predicate that decides: the guard's, or the operand of "BRA P1, x" and "EXIT P0". */
static uint32_t guard_of(sass_reader *r, const hd_sass_insn *insn, bool jumps)
{
    for (uint32_t i = 0; i < insn->use_count; i++)
        if (insn->uses[i].is_guard || (jumps && (insn->uses[i].file == HD_SASS_P || insn->uses[i].file == HD_SASS_UP)))
            return register_of(r, insn->uses[i].file, insn->uses[i].first);
    return HD_NONE;
}

static bool names_uniform(const hd_sass_insn *insn)
{
    for (uint32_t i = 0; i < insn->use_count; i++)
        if (insn->uses[i].file == HD_SASS_UR)
            return true;
    return false;
}

/* `@!PT` never, `@PT` always holds: neither is a register. */
static bool is_never(const sass_reader *r, uint32_t at, const hd_sass_insn *insn)
{
    return insn->guarded && insn->guard_not && (begins(r->text + at, "@!PT") || begins(r->text + at, "@!UPT"));
}

static void note_unknown(sass_reader *r, hd_span span, const hd_sass_insn *decoded)
{
    enum { MOST = 20 };
    bool opcode = hd_sass_is_opcode(r->text + span.begin + decoded->opcode_at, decoded->opcode_length);
    if (r->unknown++ < MOST)
        hd_report(
            r->module->diagnostics, HD_DIAG_UNKNOWN_OPCODE, r->source, span,
            opcode ? "no row of the table of machine instructions fits '%.*s' with these operands: all its registers "
                     "count as read and written"
                   : "'%.*s' is not in the table of machine instructions: all its registers count as read and written",
            (int)decoded->opcode_length, r->text + span.begin + decoded->opcode_at);
}

static void read_instruction(sass_reader *r, hd_span span, uint32_t text_end, uint64_t address)
{
    hd_function *f = r->function;
    hd_sass_insn decoded;
    bool known = hd_sass_decode(r->text + span.begin, text_end - span.begin, r->generation, &decoded);
    sass_jump jump = jump_of(r, span.begin, &decoded);
    uint32_t behaviour = behaviour_of(decoded.row), index = f->instructions.count;
    if (jump != JUMP_NONE)
        behaviour = jump == JUMP_EXIT ? HD_BEHAVE_EXIT : HD_BEHAVE_BRANCH;
    hd_instruction insn = {.id = index,
                           .origin = index,
                           .span = span,
                           .operand_first = f->operands.count,
                           .guard = HD_NONE,
                           .location = r->location};
    insn.form = form_of(r, span.begin, &decoded, behaviour);
    insn.guard = guard_of(r, &decoded, jump != JUMP_NONE);
    insn.flags = (uint16_t)(decoded.guard_not ? HD_INSN_GUARD_NOT : 0);
    add_uses(r, span.begin, &decoded);
    hd_span target = {span.begin + decoded.target_at, span.begin + decoded.target_at + decoded.target_length};
    if (target.end > target.begin && r->text[target.begin] == '`')
        target = (hd_span){target.begin + 2, target.end - 1};
    if (jump != JUMP_NONE && jump != JUMP_EXIT)
        add_operand(f, (hd_operand){.kind = HD_OPERAND_NAME, .begin = target.begin});
    if (jump == JUMP_BRANCH || (jump == JUMP_CALL && decoded.target_length))
        hd_array_push(&r->targets,
                      ((sass_target){index, target, jump == JUMP_CALL,
                                     jump == JUMP_BRANCH && insn.guard == HD_NONE && names_uniform(&decoded)}));
    else if (jump == JUMP_CALL)
        insn.flags |= HD_INSN_OPAQUE;
    if (jump == JUMP_INDIRECT)
        hd_array_push(&r->indirect, index);
    if (jump == JUMP_RETURN)
        hd_array_push(&r->returning, index);
    if (!known)
        note_unknown(r, span, &decoded);
    insn.operand_count = (uint16_t)(f->operands.count - insn.operand_first);
    if (is_never(r, span.begin, &decoded)) { /* has no effect */
        f->operands.count = insn.operand_first;
        insn.operand_count = 0;
        insn.form = form_of(r, span.begin, &decoded, 0);
    }
    hd_array_push(&f->instructions, insn);
    hd_array_push(&r->addresses, address);
    hd_array_push(&f->statements, ((hd_statement){HD_STATEMENT_INSTRUCTION, index, span}));
    f->next_instruction_id = index + 1;
}

/* A line of code: an address in a comment, an encoding in older listings, the statement, an encoding. */
static void read_code(sass_reader *r, uint32_t at, uint32_t end)
{
    uint64_t address = strtoull(r->text + at + 2, NULL, 16);
    while (at < end && !begins(r->text + at, "*/"))
        at++;
    at = skip_blanks(r, at + 2);
    while (begins(r->text + at, "/*0x") || begins(r->text + at, "/* 0x")) {
        while (at < end && !begins(r->text + at, "*/"))
            at++;
        at = skip_blanks(r, at + 2);
    }
    if (r->text[at] == '{')
        at = skip_blanks(r, at + 1);
    if (at >= end || r->text[at] == '.' || r->text[at] == '/')
        return; /* data, or an encoding alone */
    uint32_t stop = at, text_end;
    while (stop < end && r->text[stop] != ';' && !begins(r->text + stop, "/*") && !begins(r->text + stop, "(*") &&
           r->text[stop] != '}')
        stop++;
    text_end = stop;
    while (stop < end && r->text[stop] != ';' && !begins(r->text + stop, "/*"))
        stop++; /* a note of nvdisasm */
    while (text_end > at && hd_is_blank(r->text[text_end - 1]))
        text_end--;
    uint32_t last = stop < end && r->text[stop] == ';' ? stop + 1 : text_end;
    if (text_end > at)
        read_instruction(r, (hd_span){at, last}, text_end, address);
}

/* ".L_x_3:" */
static bool read_label(sass_reader *r, uint32_t at, uint32_t end)
{
    uint32_t stop = at;
    while (stop < end && r->text[stop] != ':' && !hd_is_blank(r->text[stop]))
        stop++;
    if (stop >= end || r->text[stop] != ':' || r->text[at] != '.' || begins(r->text + at, ".text."))
        return false;
    hd_function *f = r->function;
    hd_name name = hd_names_add(&r->module->names, r->text + at, stop - at);
    hd_array_push(&f->statements, ((hd_statement){HD_STATEMENT_LABEL, f->labels.count, {at, stop + 1}}));
    add_label(f, name, f->instructions.count, (hd_span){at, stop + 1});
    return true;
}

/* Subroutines have a name of their own: "$kernel$__internal_0_$__cuda_sm20_div_u64:" */
static void read_name(sass_reader *r, uint32_t at, uint32_t end)
{
    uint32_t stop = end;
    while (stop > at && hd_is_blank(r->text[stop - 1]))
        stop--;
    for (uint32_t i = at; i < stop; i++)
        if (begins(r->text + i, "//")) {
            stop = i;
            break;
        }
    while (stop > at && hd_is_blank(r->text[stop - 1]))
        stop--;
    if (stop <= at + 1 || r->text[stop - 1] != ':')
        return;
    hd_name name = hd_names_add(&r->module->names, r->text + at, stop - 1 - at);
    add_label(r->function, name, r->function->instructions.count, (hd_span){at, stop});
}

/* //## File "/a/b.cu", line 33 */
static void read_location(sass_reader *r, uint32_t at, uint32_t end)
{
    hd_module *m = r->module;
    uint32_t begin = at, stop;
    while (begin < end && r->text[begin] != '"')
        begin++;
    stop = begin + 1;
    while (stop < end && r->text[stop] != '"')
        stop++;
    uint32_t line = find_in(r, stop, end, "line ");
    if (line == HD_NONE)
        return;
    hd_name name = hd_names_add(&m->names, r->text + begin + 1, stop - begin - 1);
    uint32_t file = 0;
    while (file < m->files.count && m->files.items[file].name != name)
        file++;
    if (file == m->files.count)
        hd_array_push(&m->files, ((hd_file){file + 1, name}));
    if (r->location != HD_NONE && find_in(r, at, end, "inlined at") != HD_NONE)
        return; /* the line above says where the code itself is from */
    hd_array_push(
        &m->locations,
        ((hd_location){.file = file + 1, .line = (uint32_t)strtoul(r->text + line + 5, NULL, 10), .column = 1}));
    r->location = m->locations.count - 1;
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

static void read_section(sass_reader *r, uint32_t at, uint32_t end)
{
    uint32_t name = skip_blanks(r, at + 8), stop;
    end_function(r, at);
    r->sections = true;
    if (!begins(r->text + name, ".text."))
        return;
    for (stop = name += 6; stop < end && r->text[stop] != ',' && !hd_is_blank(r->text[stop]);)
        stop++;
    if (stop > name)
        begin_function(r, (hd_span){name, stop}, before_annotation(r, stop, end) - 1);
}

static bool is_address(const char *at)
{
    size_t digits = strspn(at + 2, "0123456789abcdef");
    return begins(at, "/*") && digits >= 4 && begins(at + 2 + digits, "*/");
}

static void read_line(sass_reader *r, uint32_t begin, uint32_t end)
{
    uint32_t at = skip_blanks(r, begin);
    const char *text = r->text + at;
    if (at >= end)
        return;
    if (begins(text, ".target") || begins(text, "code for sm_") || begins(text, "arch = ") ||
        begins(text, ".headerflags"))
        note_architecture(r, at, end);
    if (begins(text, ".headerflags") && r->function && !r->function->instructions.count)
        r->function->body = (hd_span){before_annotation(r, at, end) - 1, end};
    if (begins(text, "Function : ")) {
        uint32_t stop = before_annotation(r, at + 11, end);
        end_function(r, begin);
        if (stop > at + 11)
            begin_function(r, (hd_span){at + 11, stop}, stop - 1);
    } else if (begins(text, "Fatbin ") || begins(text, "code for sm_") || (begins(text, "....") && !r->sections)) {
        end_function(r, begin);
    } else if (begins(text, ".section") && hd_is_blank(text[8])) {
        read_section(r, at, end);
    } else if (!r->function) {
        return;
    } else if (begins(text, "//##")) {
        read_location(r, at, end);
    } else if (*text == '[' && strchr("BR-", text[1])) { /* CuAssembler's control field */
        while (at < end && !is_address(r->text + at))
            at++;
        if (at < end)
            read_code(r, at, end);
    } else if (is_address(text)) {
        read_code(r, at, end);
    } else if (begins(text, ".text.") && !r->function->instructions.count) {
        uint32_t colon = at;
        while (colon < end && r->text[colon] != ':')
            colon++;
        r->function->body = (hd_span){colon, colon};
    } else if (!read_label(r, at, end) && at == begin && *text != '/') {
        read_name(r, at, end);
    }
}

void hd_sass_read(hd_module *module)
{
    sass_reader r = {
        .module = module, .source = module->source, .text = module->source->text, .end = module->source->length};
    for (uint32_t at = 0; at < r.end;) {
        uint32_t end = line_end(&r, at);
        read_line(&r, at, end);
        for (at = end; at < r.end && hd_is_line_end(r.text[at]);)
            at++;
    }
    end_function(&r, r.end);
    if (!r.functions_done)
        hd_report(module->diagnostics, HD_DIAG_EMPTY_INPUT, module->source, (hd_span){0, 0},
                  "no function in this listing of machine code");
    hd_array_free(&r.targets);
    hd_array_free(&r.returns);
    hd_array_free(&r.returning);
    hd_array_free(&r.indirect);
    hd_array_free(&r.addresses);
}
