/* Instructions and operands of a listing: gathers the operands as they are in the text, resolves them by the table
 * (ir/sass/sass.h), and emits them to the IR in the shape that ir/machine.h describes. */
#include "base/scan.h"
#include "base/search.h"
#include "ir/opcode_text.h"
#include "ir/sregs.h"
#include "parser/sass_reader.h"

/* ---- registers --------------------------------------------------------------------------------------------------- */

static uint32_t register_id(hd_sass_reader *b, uint8_t class, uint8_t number)
{
    static const uint8_t types[HD_SASS_CLASS_COUNT] = {HD_TYPE_B32, HD_TYPE_UNIFORM, HD_TYPE_PRED, HD_TYPE_PRED,
                                                       HD_TYPE_BARRIER};
    uint32_t *id = &b->register_ids[class][number];
    if (*id != HD_NONE)
        return *id;
    hd_function *f = b->function;
    hd_register reg = {.name = f->declarations.items[class].name,
                       .index = number,
                       .declaration = class,
                       .type = types[class],
                       .vector = 1};
    reg.flags = class == HD_SASS_UNIFORM || class == HD_SASS_UNIFORM_PREDICATE ? HD_REGISTER_UNIFORM : 0;
    *id = f->registers.count;
    hd_array_push(&f->registers, reg);
    return *id;
}

static uint32_t carry_id(hd_sass_reader *b)
{
    hd_function *f = b->function;
    if (f->carry_register == HD_NONE) {
        f->carry_register = f->registers.count;
        hd_array_push(&f->registers,
                      (hd_register){.index = HD_NONE, .declaration = HD_NONE, .type = HD_TYPE_CC, .vector = 1});
    }
    return f->carry_register;
}

/* ---- gathering --------------------------------------------------------------------------------------------------- */

void hd_sass_instruction_start(hd_sass_reader *b, const hd_sass_token *opcode, const hd_sass_token *guard)
{
    hd_sass_need_function(b, guard ? guard : opcode);
    b->opcode = *opcode;
    b->has_guard = guard != NULL;
    if (guard)
        b->guard = *guard;
    b->operands.count = b->operands.inner_count = 0;
    b->broken = false;
    b->in_instruction = true;
    b->has_code = false;
    b->statement_end = 0;
    b->note = HD_NO_NAME;
}

static hd_sass_operand *new_operand(hd_sass_reader *b, const hd_sass_token *token, hd_sass_kind kind)
{
    hd_sass_operand *o = &b->operands.items[b->operands.count];
    if (b->operands.count + 1 < HD_SASS_OPERANDS) {
        b->operands.count++;
    } else if (!b->broken) {
        b->broken = true;
        hd_sass_error_at(b, OPERAND_COUNT, ((hd_span){token->begin, token->end}), "more than %d operands",
                         HD_SASS_OPERANDS - 1);
    }
    *o = (hd_sass_operand){.kind = (uint8_t)kind,
                           .inner_first = (uint8_t)b->operands.inner_count,
                           .begin = token->begin,
                           .end = token->end};
    b->statement_end = token->end;
    return o;
}

/* Flags of the suffixes between the name and the end of the token. */
static uint8_t suffixes(const hd_sass_reader *b, const hd_sass_token *token)
{
    const char *at = b->module->source->text + token->name_end, *end = b->module->source->text + token->end;
    uint8_t flags = token->flags & HD_SASS_TOKEN_NOT ? HD_SASS_NOT : 0;
    while (at < end) {
        if (*at++ != '.')
            continue;
        if (strncmp(at, "reuse", 5) == 0)
            flags |= HD_SASS_REUSE;
        else if (strncmp(at, "64", 2) == 0)
            flags |= HD_SASS_WIDE;
        else if (strncmp(at, "U32", 3) == 0)
            flags |= HD_SASS_NARROW;
        else if (strncmp(at, "CC", 2) == 0)
            flags |= HD_SASS_SETS_CARRY;
        else if (strncmp(at, "F32", 3) == 0)
            flags |= HD_SASS_SCALAR;
    }
    return flags;
}

static bool register_of(hd_sass_reader *b, const hd_sass_token *token, uint8_t *class, uint8_t *number)
{
    const char *text = b->module->source->text + token->name_begin;
    if (hd_sass_register_of(text, token->name_end - token->name_begin, class, number))
        return true;
    if (!b->broken)
        hd_sass_error_at(b, UNDECLARED_REGISTER, ((hd_span){token->begin, token->end}), "there is no register '%.*s'",
                         (int)(token->name_end - token->name_begin), text);
    b->broken = true;
    return false;
}

void hd_sass_operand_register(hd_sass_reader *b, const hd_sass_token *token)
{
    hd_sass_operand *o = new_operand(b, token, HD_SASS_REGISTER);
    o->number = HD_SASS_NO_NUMBER;
    if (register_of(b, token, &o->class, &o->number))
        o->flags = suffixes(b, token);
}

void hd_sass_operand_plain(hd_sass_reader *b, const hd_sass_token *token, hd_sass_kind kind)
{
    new_operand(b, token, kind);
}

void hd_sass_operand_word(hd_sass_reader *b, const hd_sass_token *token)
{
    const char *text = b->module->source->text + token->begin;
    uint32_t length = token->end - token->begin;
    hd_sass_kind kind = HD_SASS_WORD;
    if (length >= 2 && strncmp(text, "CC", 2) == 0 && (length == 2 || text[2] == '.'))
        kind = HD_SASS_CARRY;
    else if (length >= 2 && strncmp(text, "PR", 2) == 0 && (length == 2 || text[2] == '.'))
        kind = HD_SASS_PREDICATES;
    else if (length >= 3 && strncmp(text, "UPR", 3) == 0 && (length == 3 || text[3] == '.'))
        kind = HD_SASS_UNIFORM_PREDICATES;
    else if ((length == 3 && strncmp(text, "INF", 3) == 0) || (length == 4 && strncmp(text + 1, "NAN", 3) == 0))
        kind = HD_SASS_IMMEDIATE;
    new_operand(b, token, kind);
}

static hd_sass_kind kind_of_space(const char *text, uint32_t length)
{
    static const struct {
        const char *name;
        hd_sass_kind kind;
    } spaces[] = {{"c", HD_SASS_CONSTANT},  {"cx", HD_SASS_BINDLESS}, {"desc", HD_SASS_ADDRESS},
                  {"gdesc", HD_SASS_GDESC}, {"idesc", HD_SASS_IDESC}, {"tmem", HD_SASS_TMEM},
                  {"a", HD_SASS_ATTRIBUTE}, {"ttu", HD_SASS_ADDRESS}};
    for (uint32_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strlen(spaces[i].name) == length && memcmp(text, spaces[i].name, length) == 0)
            return spaces[i].kind;
    return HD_SASS_ADDRESS;
}

void hd_sass_operand_open(hd_sass_reader *b, const hd_sass_token *token, const hd_sass_token *space)
{
    const char *text = b->module->source->text;
    hd_sass_kind kind =
        space ? kind_of_space(text + space->name_begin, space->name_end - space->name_begin) : HD_SASS_ADDRESS;
    hd_sass_operand *o = new_operand(b, token, kind);
    /* in desc[..][..] the first brackets hold the descriptor */
    bool descriptor = space && text[space->name_begin] == 'd';
    o->flags = descriptor ? HD_SASS_DESCRIPTOR : 0;
    b->bracket = space ? 0 : 1;
    b->bracket_end = token->end;
}

void hd_sass_inner(hd_sass_reader *b, const hd_sass_token *token)
{
    hd_sass_register *r = &b->operands.inner[b->operands.inner_count];
    hd_sass_operand *o = &b->operands.items[b->operands.count - (b->operands.count > 0)];
    if (b->operands.inner_count + 1 >= HD_SASS_INNER) {
        if (!b->broken)
            hd_sass_error_at(b, OPERAND_COUNT, ((hd_span){token->begin, token->end}),
                             "more than %d registers in brackets", HD_SASS_INNER - 1);
        b->broken = true;
        return;
    }
    *r = (hd_sass_register){.number = HD_SASS_NO_NUMBER, .words = 1};
    if (!register_of(b, token, &r->class, &r->number))
        return;
    r->flags = suffixes(b, token);
    if (o->flags & HD_SASS_DESCRIPTOR && b->bracket == 1)
        r->flags |= HD_SASS_DESCRIPTOR;
    b->operands.inner_count++;
    o->inner_count++;
}

void hd_sass_operand_close(hd_sass_reader *b)
{
    b->operands.items[b->operands.count - (b->operands.count > 0)].end = b->bracket_end;
    b->statement_end = b->bracket_end;
}

void hd_sass_note(hd_sass_reader *b, const hd_sass_token *token)
{
    static const char mark[] = "TARGET=";
    const char *text = b->module->source->text;
    b->statement_end = token->end;
    const char *found = memmem(text + token->begin, token->end - token->begin, mark, strlen(mark));
    if (!found)
        return;
    uint32_t begin = (uint32_t)(found - text) + (uint32_t)strlen(mark), end;
    while (begin < token->end && (text[begin] == ' ' || text[begin] == '\\'))
        begin++;
    for (end = begin; end < token->end && !strchr(" \\\"*)", text[end]); end++)
        ;
    b->note = hd_sass_name(b, begin, end);
}

void hd_sass_statement_end(hd_sass_reader *b, const hd_sass_token *semicolon) { b->statement_end = semicolon->end; }

/* ---- emission ---------------------------------------------------------------------------------------------------- */

typedef struct emission {
    hd_sass_reader *b;
    hd_function *f;
    bool opaque, never;
    bool conditional; /* a predicate is read, or never true */
    bool on_carry;    /* the condition codes are */
    uint8_t reuse;
    uint32_t sources; /* source register operands so far */
} emission;

static void push_name(emission *e, uint32_t begin, uint32_t end)
{
    hd_array_push(&e->f->operands,
                  (hd_operand){.kind = HD_OPERAND_NAME,
                               .begin = begin,
                               .value = hd_names_add_padded(&e->f->module->names, e->f->module->source->text + begin,
                                                            end - begin)});
}

/* A register or a vector of consecutive ones. */
static void push_registers(emission *e, uint8_t class, uint8_t number, uint32_t words, uint8_t flags, uint32_t begin)
{
    static const uint8_t limit[HD_SASS_CLASS_COUNT] = {255, 255, 7, 7, 16};
    uint32_t most = number < limit[class] ? (uint32_t)limit[class] - number : 1;
    words = hd_min(words, most);
    if (words > 1)
        hd_array_push(&e->f->operands,
                      (hd_operand){.kind = HD_OPERAND_VECTOR, .count = (uint16_t)words, .begin = begin});
    for (uint32_t i = 0; i < words; i++)
        hd_array_push(&e->f->operands, (hd_operand){.kind = HD_OPERAND_REGISTER,
                                                    .flags = flags,
                                                    .begin = begin,
                                                    .value = register_id(e->b, class, (uint8_t)(number + i))});
}

static uint8_t flags_of(const emission *e, uint8_t role)
{
    if (e->opaque)
        return HD_OPERAND_DEF | HD_OPERAND_USE;
    return (uint8_t)((role & HD_SASS_WRITTEN ? HD_OPERAND_DEF : 0) | (role & HD_SASS_READ ? HD_OPERAND_USE : 0));
}

static void emit_register(emission *e, const hd_sass_operand *o)
{
    bool is_source = o->role == HD_SASS_READ && (o->class == HD_SASS_GENERAL || o->class == HD_SASS_UNIFORM);
    uint32_t words = e->opaque ? 1 : o->words;
    if (is_source) {
        e->reuse |= (uint8_t)((o->flags & HD_SASS_REUSE && e->sources < 8) << (e->sources & 7));
        e->sources++;
    }
    bool predicate = o->class == HD_SASS_PREDICATE || o->class == HD_SASS_UNIFORM_PREDICATE;
    if (o->number == HD_SASS_NO_NUMBER || e->never || !words) {
        e->conditional |= predicate && o->flags & HD_SASS_NOT; /* !PT: never */
        push_name(e, o->begin, o->end);
        return;
    }
    uint8_t flags = flags_of(e, o->role);
    push_registers(e, o->class, o->number, words, (uint8_t)(flags | (o->flags & HD_SASS_NOT ? HD_OPERAND_NOT : 0)),
                   o->begin);
    e->conditional |= o->role == HD_SASS_READ && (predicate || o->class == HD_SASS_UNIFORM);
}

static void emit_brackets(emission *e, const hd_sass_operand *o)
{
    const hd_sass_operands *all = &e->b->operands;
    uint32_t at = e->f->operands.count, count = 0;
    hd_array_push(&e->f->operands, (hd_operand){.kind = HD_OPERAND_ADDRESS, .begin = o->begin});
    for (uint32_t i = 0; i < o->inner_count && !e->never; i++) {
        const hd_sass_register *r = &all->inner[o->inner_first + i];
        if (r->number == HD_SASS_NO_NUMBER || !r->words)
            continue;
        push_registers(e, r->class, r->number, e->opaque ? 1 : r->words, flags_of(e, HD_SASS_READ), o->begin);
        count++;
    }
    e->f->operands.items[at].count = (uint16_t)count;
    if (!count) {
        e->f->operands.count = at;
        push_name(e, o->begin, o->end);
    }
}

/* The predicates that P2R reads and R2P writes: those of a mask, which is the last operand; all where it is a
 * register. */
static void emit_predicates(emission *e, const hd_sass_operand *o)
{
    uint8_t class = o->kind == HD_SASS_UNIFORM_PREDICATES ? HD_SASS_UNIFORM_PREDICATE : HD_SASS_PREDICATE;
    const hd_sass_operand *last = &e->b->operands.items[e->b->operands.count - 1];
    const char *text = e->f->module->source->text;
    bool masked = last->kind == HD_SASS_IMMEDIATE && text[last->begin] == '0';
    uint32_t mask = masked ? (uint32_t)strtoul(text + last->begin, NULL, 16) : 0x7f, at = e->f->operands.count;
    uint8_t flags = o->role == HD_SASS_READ ? HD_OPERAND_USE
                    : masked                ? HD_OPERAND_DEF
                                            : HD_OPERAND_DEF | HD_OPERAND_USE;
    hd_array_push(&e->f->operands, (hd_operand){.kind = HD_OPERAND_VECTOR, .begin = o->begin});
    for (uint32_t i = 0; i < 7 && !e->never; i++)
        if (mask >> i & 1) {
            push_registers(e, class, (uint8_t)i, 1, flags, o->begin);
            e->f->operands.items[at].count++;
        }
    if (e->f->operands.items[at].count)
        return;
    e->f->operands.count = at;
    push_name(e, o->begin, o->end);
}

static void emit_label(emission *e, const hd_sass_operand *o)
{
    hd_sass_reader *b = e->b;
    const char *text = b->module->source->text;
    bool bare = text[o->begin] != '`' && text[o->begin] != '('; /* Triton's */
    uint32_t begin = bare ? o->begin : o->begin + (text[o->begin] == '`' ? 2 : 1);
    uint32_t end = o->end - (text[o->end - 1] == ')');
    if (!e->never)
        hd_array_push(&b->references,
                      (hd_sass_reference){e->f->operands.count, hd_sass_name(b, begin, end), o->begin, o->end});
    push_name(e, o->begin, o->end);
}

static void emit_word(emission *e, const hd_sass_operand *o)
{
    const char *text = e->f->module->source->text + o->begin;
    uint32_t component = HD_NONE, length = o->end - o->begin;
    bool is_special = length > 3 && strncmp(text, "SR_", 3) == 0;
    int special = is_special ? hd_machine_special(text, length, &component) : -1;
    if (is_special && special < 0) /* it may differ between lanes, as their number does */
        special = hd_sreg_from_spelling("%laneid", 7);
    if (special < 0)
        push_name(e, o->begin, o->end);
    else
        hd_array_push(
            &e->f->operands,
            (hd_operand){.kind = HD_OPERAND_SREG, .begin = o->begin, .value = (uint32_t)special, .extra = component});
}

static void emit_operand(emission *e, const hd_sass_operand *o)
{
    switch ((hd_sass_kind)o->kind) {
    case HD_SASS_REGISTER: emit_register(e, o); break;
    case HD_SASS_CONSTANT:
    case HD_SASS_BINDLESS:
    case HD_SASS_ADDRESS:
    case HD_SASS_GDESC:
    case HD_SASS_IDESC:
    case HD_SASS_TMEM:
    case HD_SASS_ATTRIBUTE: emit_brackets(e, o); break;
    case HD_SASS_LABEL: emit_label(e, o); break;
    case HD_SASS_CARRY:
        if (e->never || hd_is_name(e->f->module->source->text + o->begin, o->end - o->begin, "CC.T")) {
            push_name(e, o->begin, o->end);
            break;
        }
        hd_array_push(&e->f->operands,
                      (hd_operand){.kind = HD_OPERAND_REGISTER,
                                   .begin = o->begin,
                                   .flags = flags_of(e, o->role == HD_SASS_WRITTEN ? HD_SASS_WRITTEN : HD_SASS_READ),
                                   .value = carry_id(e->b)});
        e->on_carry |= o->role == HD_SASS_READ;
        break;
    case HD_SASS_PREDICATES:
    case HD_SASS_UNIFORM_PREDICATES: emit_predicates(e, o); break;
    case HD_SASS_WORD: emit_word(e, o); break;
    case HD_SASS_IMMEDIATE:
    case HD_SASS_LIST: push_name(e, o->begin, o->end); break;
    }
}

/* On sm_8x global accesses read a descriptor in a pair of uniform registers, which listings of that generation do not
 * print; it is loaded from a fixed place. */
static void emit_descriptor(emission *e, const hd_sass_row *row)
{
    static const char place[] = "c[0x0][0x118]";
    hd_sass_reader *b = e->b;
    const hd_sass_operands *all = &b->operands;
    uint32_t generation = b->machine->generation;
    if (generation < 80 || generation >= 90 || e->never || !row || !all->count)
        return;
    const hd_sass_operand *last = &all->items[all->count - 1], *first = all->items;
    if (strcmp(row->opcode, "ULDC") == 0 && all->count == 2 && last->end - last->begin == strlen(place) &&
        memcmp(b->module->source->text + last->begin, place, strlen(place)) == 0) {
        b->descriptor = first->number;
        return;
    }
    bool global =
        row->unit == HD_SASS_UNIT_LSU && (row->space == HD_SASS_SPACE_GLOBAL || row->space == HD_SASS_SPACE_GENERIC);
    for (uint32_t i = 0; i < all->count; i++)
        global &= !(all->items[i].flags & HD_SASS_DESCRIPTOR && all->items[i].kind == HD_SASS_ADDRESS);
    if (global && row->access != HD_SASS_ACCESS_CONTROL && row->access != HD_SASS_ACCESS_FENCE &&
        b->descriptor != HD_SASS_NO_NUMBER)
        push_registers(e, HD_SASS_UNIFORM, b->descriptor, 2, HD_OPERAND_USE, HD_NONE);
}

/* The condition codes that old chips use without naming them. */
static void emit_carry(emission *e, const hd_sass_form *form)
{
    uint8_t flags = hd_sass_form_reads_carry(form) ? HD_OPERAND_USE : 0;
    for (uint32_t i = 0; i < e->b->operands.count; i++)
        if (e->b->operands.items[i].flags & HD_SASS_SETS_CARRY && e->b->operands.items[i].kind == HD_SASS_REGISTER)
            flags |= HD_OPERAND_DEF;
    if (flags && !e->never)
        hd_array_push(&e->f->operands, (hd_operand){.kind = HD_OPERAND_REGISTER,
                                                    .flags = (uint8_t)(flags | HD_OPERAND_IMPLICIT),
                                                    .begin = HD_NONE,
                                                    .value = carry_id(e->b)});
}

/* ---- the instruction --------------------------------------------------------------------------------------------- */

static void report_unknown(hd_sass_reader *b, uint32_t form, hd_diagnostic_kind kind, const char *what)
{
    hd_form *f = &b->module->forms.items[form];
    hd_span span = {b->opcode.begin, b->opcode.end};
    if (f->flags & HD_FORM_INVALID) /* reported */
        return;
    f->flags |= HD_FORM_INVALID;
    if (b->module->strict)
        b->module->diagnostics->severity[kind] = HD_ERROR;
    hd_diagnostic *d = hd_report(b->module->diagnostics, kind, b->module->source, span, "%s '%s'", what,
                                 hd_names_text(&b->module->names, f->spelling));
    hd_note_add(b->module->diagnostics, d, NULL, (hd_span){0, 0},
                "kept as it is; every register that it names is taken as read and written");
}

/* The guard's register, or HD_NONE; *never for !PT. */
static uint32_t guard_of(hd_sass_reader *b, bool *never, uint16_t *flags)
{
    uint8_t class, number;
    *never = false;
    if (!b->has_guard || !register_of(b, &b->guard, &class, &number))
        return HD_NONE;
    bool negated = b->guard.flags & HD_SASS_TOKEN_NOT;
    if (class != HD_SASS_PREDICATE && class != HD_SASS_UNIFORM_PREDICATE) {
        hd_sass_error_at(b, BAD_GUARD, ((hd_span){b->guard.begin, b->guard.end}), "a guard is a predicate");
        return HD_NONE;
    }
    if (number == HD_SASS_NO_NUMBER) {
        *never = negated;
        return HD_NONE;
    }
    *flags = negated ? HD_INSN_GUARD_NOT : 0;
    return register_id(b, class, number);
}

/* Triton and JSON name labels without quotes: a word as the last operand of a branch, in JSON also of a return. */
static void name_label(hd_sass_reader *b, const hd_sass_row *row)
{
    bool branches =
        row && (row->control == HD_SASS_CONTROL_BRANCH || row->control == HD_SASS_CONTROL_CALL ||
                row->control == HD_SASS_CONTROL_PUSH || (b->lexer.json && row->control == HD_SASS_CONTROL_RETURN));
    hd_sass_operand *last = &b->operands.items[b->operands.count - (b->operands.count > 0)];
    if (branches && b->operands.count && last->kind == HD_SASS_WORD)
        last->kind = HD_SASS_LABEL;
}

/* Notes what decides where control goes, for the end of the function. */
static void note_jump(emission *e, const hd_form *form, const hd_sass_row *row)
{
    hd_sass_reader *b = e->b;
    hd_sass_control control = row ? (hd_sass_control)row->control : HD_SASS_CONTROL_NONE;
    bool pops = control != HD_SASS_CONTROL_BRANCH && form->behaviour & HD_BEHAVE_BRANCH &&
                control != HD_SASS_CONTROL_CALL && control != HD_SASS_CONTROL_INDIRECT;
    hd_sass_jump jump = {.instruction = e->f->instructions.count,
                         .operand = HD_NONE,
                         .table = HD_NONE,
                         .control = (uint8_t)control,
                         .number = HD_NONE,
                         .named = HD_NONE,
                         .note = b->note};
    for (uint32_t i = 0; i < b->operands.count; i++)
        if (b->operands.items[i].kind == HD_SASS_LABEL)
            jump.named = b->operands.items[i].begin;
    if (pops)
        jump.control = HD_SASS_CONTROL_POP;
    if (!pops && control != HD_SASS_CONTROL_BRANCH && control != HD_SASS_CONTROL_INDIRECT &&
        control != HD_SASS_CONTROL_CALL && control != HD_SASS_CONTROL_RETURN && control != HD_SASS_CONTROL_PUSH &&
        control != HD_SASS_CONTROL_LEAVE)
        return;
    bool has_table = pops || control == HD_SASS_CONTROL_INDIRECT || control == HD_SASS_CONTROL_RETURN;
    if (has_table) {
        jump.table = e->f->tables.count;
        hd_array_push(&e->f->tables, (hd_table){.kind = HD_TABLE_BRANCH_TARGETS});
        hd_array_push(&e->f->operands, (hd_operand){.kind = HD_OPERAND_TABLE, .begin = HD_NONE, .value = jump.table});
    }
    hd_array_push(&b->jumps, jump);
}

/* The address that a branch names as a number, as the last operand; addresses in memory count from the function's. */
static void note_number(hd_sass_reader *b, uint32_t operand_first)
{
    const hd_sass_operand *last = &b->operands.items[b->operands.count - (b->operands.count > 0)];
    const char *text = b->module->source->text;
    if (!b->operands.count || last->kind != HD_SASS_IMMEDIATE || !b->jumps.count || text[last->begin] != '0' ||
        hd_array_last(&b->jumps).instruction + 1 != b->function->instructions.count)
        return;
    uint64_t value = 0, base = b->base;
    for (uint32_t at = last->begin + 2; at < last->end && value >> 56 == 0; at++)
        value = value * 16 + hd_digit_of(text[at]);
    if (value >= HD_NONE && base && value >= base)
        value -= base;
    if (value >= HD_NONE)
        return;
    hd_array_last(&b->jumps).number = (uint32_t)value;
    for (uint32_t o = b->function->operands.count; o-- > operand_first;)
        if (b->function->operands.items[o].begin == last->begin)
            hd_array_last(&b->jumps).operand = o;
}

/* The opcode with its modifiers, without those of annotations (.bow::boc). Only a new spelling can have some. */
static hd_name spelling_of(hd_sass_reader *b)
{
    hd_module *m = b->module;
    const char *text = m->source->text + b->opcode.begin;
    size_t length = b->opcode.end - b->opcode.begin;
    hd_name spelling = hd_names_add_padded(&m->names, text, length);
    if (spelling < m->form_of_name.count && m->form_of_name.items[spelling])
        return spelling;
    char *plain = hd_malloc(length + 1);
    size_t kept = hd_annotation_modifiers_cut(text, length, plain);
    m->extended |= kept < length;
    spelling = kept < length ? hd_names_add(&m->names, plain, kept) : spelling;
    free(plain);
    return spelling;
}

void hd_sass_instruction_end(hd_sass_reader *b)
{
    hd_function *f = b->function;
    hd_module *m = b->module;
    emission e = {.b = b, .f = f};
    uint16_t flags = 0;
    if (!b->in_instruction || !f)
        return;
    b->in_instruction = false;
    hd_name spelling = spelling_of(b);
    uint32_t guard = guard_of(b, &e.never, &flags);
    uint32_t form =
        hd_machine_form_of(m, spelling, b->machine->generation, e.never ? HD_MACHINE_NEVER : HD_MACHINE_PLAIN);
    const hd_machine_form *machine = m->forms.items[form].machine;
    b->operands.text = m->source->text;
    name_label(b, machine->row);
    const hd_sass_row *row = machine->row && !b->broken ? hd_sass_resolve(machine->sass, &b->operands) : NULL;
    e.opaque = !row && !e.never;
    if (!machine->row)
        report_unknown(b, form, HD_DIAG_UNKNOWN_OPCODE, "the instruction table has no");
    else if (!row && !b->broken)
        report_unknown(b, form, HD_DIAG_UNKNOWN_OPERANDS, "the instruction table has no such operands of");
    uint32_t first = f->operands.count;
    for (uint32_t i = 0; i < b->operands.count; i++)
        emit_operand(&e, &b->operands.items[i]);
    emit_descriptor(&e, row);
    note_jump(&e, &m->forms.items[form], e.never ? NULL : row);
    emit_carry(&e, machine->sass);
    e.conditional |= hd_sass_form_has(machine->sass, ".DIV") || hd_sass_form_has(machine->sass, ".CONV");
    uint32_t begin = b->has_guard ? b->guard.begin : b->opcode.begin;
    uint32_t end = hd_max(b->statement_end, b->opcode.end);
    if (b->lexer.json) { /* the object: from the first token of the line to the last */
        begin = b->tokens[0].begin;
        end = b->last_end;
    }
    /* Predicates of an instruction with .S are operands; NOP.S CC.LT has a condition. */
    bool pops_too = row && row->control == HD_SASS_CONTROL_NONE;
    bool conditional = pops_too ? e.on_carry && strcmp(row->opcode, "NOP") == 0 : e.conditional || e.on_carry;
    bool decides =
        m->forms.items[form].behaviour & (HD_BEHAVE_BRANCH | HD_BEHAVE_EXIT | HD_BEHAVE_RETURN | HD_BEHAVE_CALL);
    flags |= (uint16_t)((e.opaque ? HD_INSN_OPAQUE : 0) |
                        (conditional && decides && row && row->control != HD_SASS_CONTROL_INDIRECT &&
                                 row->control != HD_SASS_CONTROL_RETURN
                             ? HD_INSN_CONDITIONAL
                             : 0));
    hd_instruction insn = {f->next_instruction_id,
                           f->next_instruction_id,
                           {begin, end},
                           form,
                           first,
                           (uint16_t)(f->operands.count - first),
                           flags,
                           guard,
                           b->location};
    f->next_instruction_id++;
    hd_array_push(&f->statements, (hd_statement){HD_STATEMENT_INSTRUCTION, f->instructions.count, {begin, end}});
    hd_array_push(&f->instructions, insn);
    note_number(b, first);
    b->location_is_fresh = false;
    hd_array_push(&b->lines, (hd_machine_line){b->address, b->control != HD_NONE ? b->control : b->group});
    if (b->control != HD_NONE)
        b->machine->encoding = HD_MACHINE_FIELD;
    if (e.opaque && !b->machine->unknown_form)
        b->machine->unknown_form = f->instructions.count;
    if (e.opaque && decides) /* a branch with operands that no row takes */
        b->machine->unknown_target = f->instructions.count;
    hd_array_push(&b->reuse, e.reuse);
}
