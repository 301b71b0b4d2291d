/* Prints IR as tokens: see ir/spell.h. Linear in tokens; allocates nothing but the writer's buffer.
 *
 * The tokens are those of the input, in order: literals and declarations keep their spelling; an opcode with its
 * modifiers is one token, and so is a register with its selector. Not kept: comments, white space, and the plus sign of
 * an offset.
 */
#include "ir/spell.h"

#include "base/json_text.h"
#include "ir/form.h"
#include "ir/sregs.h"

#include <stdio.h>

static void put(hd_speller *s, const char *text, size_t length)
{
    hd_write(s->out, text, length);
    if (s->tokens_only)
        hd_write_char(s->out, ' ');
}

static void put_char(hd_speller *s, char c) { put(s, &c, 1); }

static void put_name(hd_speller *s, hd_name name)
{
    put(s, hd_names_text(&s->module->names, name), hd_names_length(&s->module->names, name));
}

/* A blank for readability; not with tokens_only. */
static void blank(hd_speller *s)
{
    if (!s->tokens_only)
        hd_write_char(s->out, ' ');
}

static void comma(hd_speller *s)
{
    put_char(s, ',');
    blank(s);
}

/* ---- lists of tokens --------------------------------------------------------------------------------------------- */

static bool is_one_of(const char *text, uint32_t length, const char *set) { return length == 1 && strchr(set, *text); }

/* Whether a blank separates two tokens of a directive. */
static bool parts(const char *left, uint32_t left_length, const char *right, uint32_t right_length)
{
    return !is_one_of(right, right_length, ",;)]:<>[(") && !is_one_of(left, left_length, "([<");
}

void hd_spell_tokens(hd_speller *s, hd_tokens tokens)
{
    const char *left = NULL;
    uint32_t left_length = 0;
    for (uint32_t i = 0; i < tokens.count; i++) {
        const hd_name_entry *right = &s->module->names.entries.items[s->module->tokens.items[tokens.first + i]];
        bool divided = left && parts(left, left_length, right->text, right->length);
        if (divided || (left && *left == '"'))
            blank(s);
        put(s, right->text, right->length);
        left = right->text;
        left_length = right->length;
    }
}

/* A section's data: a line for each directive in it. */
static void spell_section(hd_speller *s, hd_tokens tokens)
{
    for (uint32_t i = 0; i < tokens.count; i++) {
        const hd_name_entry *token = &s->module->names.entries.items[s->module->tokens.items[tokens.first + i]];
        bool starts_line =
            i > 1 && (*token->text == '}' || (*token->text == '.' && token->length > 1 && token->text[1] == 'b'));
        if (!s->tokens_only && i)
            hd_write_char(s->out, starts_line ? '\n' : ' ');
        put(s, token->text, token->length);
    }
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static void write_register(hd_speller *s, uint32_t reg)
{
    const hd_register *r = &s->function->registers.items[reg];
    const hd_name_entry *name = &s->module->names.entries.items[r->name];
    hd_write(s->out, name->text, name->length);
    if (r->index != HD_NONE)
        hd_write_u64(s->out, r->index);
}

void hd_spell_register(hd_speller *s, uint32_t reg)
{
    const hd_register *r = &s->function->registers.items[reg];
    write_register(s, reg);
    if (r->vector > 1) {
        hd_write_char(s->out, '.');
        hd_write_char(s->out, "xyzw"[r->component & 3]);
    }
}

static void end_token(hd_speller *s)
{
    if (s->tokens_only)
        hd_write_char(s->out, ' ');
}

/* `extra` is a selector (".x") after the name, or another spelling of the whole name. */
static void spell_register_operand(hd_speller *s, const hd_operand *o)
{
    const char *extra = o->extra ? hd_names_text(&s->module->names, o->extra) : "";
    if (*extra && *extra != '.')
        hd_write(s->out, extra, hd_names_length(&s->module->names, o->extra));
    else if (*extra)
        write_register(s, o->value), hd_write(s->out, extra, hd_names_length(&s->module->names, o->extra));
    else
        hd_spell_register(s, o->value);
    end_token(s);
}

static void spell_literal(hd_speller *s, uint32_t index)
{
    const hd_literal *literal = &s->module->literals.items[index];
    if (literal->tokens.count) {
        hd_spell_tokens(s, literal->tokens);
        return;
    }
    switch ((hd_literal_kind)literal->kind) {
    case HD_LITERAL_SIGNED: /* when read back, a sign is a separate token */
        if ((int64_t)literal->bits < 0)
            put_char(s, '-');
        hd_write_format(s->out, "%llu",
                        (int64_t)literal->bits < 0 ? 0ull - literal->bits : (unsigned long long)literal->bits);
        break;
    case HD_LITERAL_UNSIGNED: hd_write_format(s->out, "%lluU", (unsigned long long)literal->bits); break;
    case HD_LITERAL_F32_BITS: hd_write_format(s->out, "0f%08llX", (unsigned long long)literal->bits); break;
    case HD_LITERAL_F64_BITS:
    case HD_LITERAL_DECIMAL: hd_write_format(s->out, "0d%016llX", (unsigned long long)literal->bits); break;
    }
    end_token(s);
}

static void spell_sreg(hd_speller *s, const hd_operand *o)
{
    const char *spelling = hd_sregs[o->value].spelling;
    hd_write_char(s->out, '%');
    hd_write_string(s->out, spelling);
    if (o->extra != HD_NONE) {
        hd_write_char(s->out, '.');
        hd_write_char(s->out, "xyzw"[o->extra & 3]);
    }
    end_token(s);
}

/* Prints `count` siblings starting at `o`; returns the operand after the last one's children. */
static const hd_operand *spell_siblings(hd_speller *s, const hd_operand *o, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            comma(s);
        o = hd_spell_operand(s, o);
    }
    return o;
}

static const hd_operand *spell_enclosed(hd_speller *s, const hd_operand *o, char open, char close)
{
    put_char(s, open);
    const hd_operand *next = spell_siblings(s, o + 1, o->count);
    put_char(s, close);
    return next;
}

/* The name of a vector register. */
static const hd_operand *spell_whole(hd_speller *s, const hd_operand *o)
{
    if (o->extra) {
        put_name(s, o->extra);
    } else {
        write_register(s, o[1].value);
        end_token(s);
    }
    return o + 1 + o->count;
}

/* a|b, s[3] */
static const hd_operand *spell_two(hd_speller *s, const hd_operand *o, char between, char close)
{
    const hd_operand *next = hd_spell_operand(s, o + 1);
    put_char(s, between);
    next = hd_spell_operand(s, next);
    if (close)
        put_char(s, close);
    return next;
}

/* `extra` is a modifier after the bracket (.unified). */
static const hd_operand *spell_address(hd_speller *s, const hd_operand *o)
{
    const hd_operand *next = o->flags & HD_OPERAND_BARE ? spell_two(s, o, '[', ']') : spell_enclosed(s, o, '[', ']');
    if (o->extra)
        put_name(s, o->extra);
    return next;
}

/* The offset that may follow a register, symbol or literal. */
static const hd_operand *spell_offset(hd_speller *s, const hd_operand *o)
{
    if (o->count == 0)
        return o + 1;
    put_char(s, '+');
    spell_literal(s, o[1].value);
    return o + 2;
}

const hd_operand *hd_spell_operand(hd_speller *s, const hd_operand *o)
{
    if (o->flags & HD_OPERAND_NOT)
        put_char(s, '!');
    if (o->flags & HD_OPERAND_MINUS)
        put_char(s, '-');
    switch ((hd_operand_kind)o->kind) {
    case HD_OPERAND_REGISTER: spell_register_operand(s, o); return spell_offset(s, o);
    case HD_OPERAND_LITERAL: spell_literal(s, o->value); return spell_offset(s, o);
    case HD_OPERAND_SYMBOL: put_name(s, s->module->symbols.items[o->value].name); return spell_offset(s, o);
    case HD_OPERAND_SREG: spell_sreg(s, o); return o + 1;
    case HD_OPERAND_LABEL: put_name(s, s->function->labels.items[o->value].name); return o + 1;
    case HD_OPERAND_TABLE: put_name(s, s->function->tables.items[o->value].name); return o + 1;
    case HD_OPERAND_SINK: put_char(s, '_'); return o + 1;
    case HD_OPERAND_NAME: put_name(s, o->value); return o + 1;
    case HD_OPERAND_VECTOR: return o->flags & HD_OPERAND_WHOLE ? spell_whole(s, o) : spell_enclosed(s, o, '{', '}');
    case HD_OPERAND_ADDRESS: return spell_address(s, o);
    case HD_OPERAND_PAIR: return spell_two(s, o, '|', '\0');
    case HD_OPERAND_LIST: return spell_enclosed(s, o, '(', ')');
    }
    return o + 1;
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

/* Machine code in JSON: its parts, with blanks between them. */
static void spell_object(hd_speller *s, const hd_instruction *insn)
{
    static const char *const parts[] = {"predicate", "opcode", "operands"};
    const char *text = s->module->source->text;
    bool first = true;
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        hd_span part = hd_json_find_string(text, insn->span, parts[i]);
        if (part.end == part.begin)
            continue;
        if (!first)
            put_char(s, ' ');
        first = false;
        put(s, text + part.begin, part.end - part.begin);
    }
    end_token(s);
    put_char(s, ';');
}

/* Machine code: the text, which no pass changes; without line ends, semicolon last. */
static void spell_machine(hd_speller *s, const hd_instruction *insn)
{
    if (s->module->is_json) {
        spell_object(s, insn);
        return;
    }
    const char *text = s->module->source->text + insn->span.begin;
    size_t length = insn->span.end - insn->span.begin;
    while (length && (text[length - 1] == ';' || hd_is_space(text[length - 1]) || text[length - 1] == '\\'))
        length--;
    for (size_t i = 0; i < length; i++)
        if (text[i] != '\\') /* of a graph's label */
            put_char(s, text[i]);
    end_token(s);
    put_char(s, ';');
}

void hd_spell_instruction(hd_speller *s, const hd_instruction *insn, const char *modifiers, size_t length)
{
    if (s->function->machine) {
        spell_machine(s, insn);
        return;
    }
    const hd_operand *o = hd_insn_operands(s->function, insn), *end = o + insn->operand_count;
    if (insn->guard != HD_NONE) {
        put_char(s, '@');
        if (insn->flags & HD_INSN_GUARD_NOT)
            put_char(s, '!');
        hd_spell_register(s, insn->guard);
        end_token(s);
        blank(s);
    }
    const hd_name_entry *opcode = &s->module->names.entries.items[hd_insn_form(s->function, insn)->spelling];
    hd_write(s->out, opcode->text, opcode->length);
    put(s, modifiers, length);
    for (bool first = true; o < end && !(o->flags & HD_OPERAND_IMPLICIT); first = false) {
        if (first)
            blank(s);
        else
            comma(s);
        o = hd_spell_operand(s, o);
    }
    put_char(s, ';');
}

static void spell_registers(hd_speller *s, const hd_function *owner, const hd_group *group)
{
    hd_spell_tokens(s, group->qualifiers);
    for (uint32_t i = 0; i < group->count; i++) {
        const hd_declaration *declaration = &owner->declarations.items[group->first + i];
        if (i)
            comma(s);
        else
            blank(s);
        put_name(s, declaration->name);
        if (declaration->count == HD_NONE)
            continue;
        put_char(s, '<');
        if (declaration->count_tokens.count) {
            hd_spell_tokens(s, declaration->count_tokens);
        } else {
            hd_write_u64(s->out, declaration->count);
            end_token(s);
        }
        put_char(s, '>');
    }
    put_char(s, ';');
}

static void spell_variables(hd_speller *s, const hd_group *group)
{
    hd_spell_tokens(s, group->qualifiers);
    for (uint32_t i = 0; i < group->count; i++) {
        if (i)
            comma(s);
        else
            blank(s);
        hd_spell_tokens(s, s->module->symbols.items[group->first + i].declarator);
    }
    put_char(s, ';');
}

static void spell_label(hd_speller *s, const hd_label *label)
{
    put_name(s, label->name);
    put_char(s, ':');
}

static void spell_verbatim(hd_speller *s, const hd_verbatim *verbatim)
{
    if (verbatim->kind == HD_VERBATIM_SECTION)
        spell_section(s, verbatim->tokens);
    else
        hd_spell_tokens(s, verbatim->tokens);
}

static void put_number(hd_speller *s, uint32_t number)
{
    char digits[12];
    int length = snprintf(digits, sizeof digits, "%u", number);
    blank(s);
    put(s, digits, (size_t)length);
}

static void spell_location(hd_speller *s, const hd_location *location)
{
    if (location->tokens.count) {
        hd_spell_tokens(s, location->tokens);
        return;
    }
    put(s, ".loc", 4);
    put_number(s, location->file);
    put_number(s, location->line);
    put_number(s, location->column);
}

void hd_spell_statement(hd_speller *s, const hd_statement *statement)
{
    const hd_function *f = s->function ? s->function : s->module->globals;
    uint32_t i = statement->index;
    switch ((hd_statement_kind)statement->kind) {
    case HD_STATEMENT_INSTRUCTION: hd_spell_instruction(s, &f->instructions.items[i], "", 0); break;
    case HD_STATEMENT_LABEL: spell_label(s, &f->labels.items[i]); break;
    case HD_STATEMENT_SCOPE_OPEN: put_char(s, '{'); break;
    case HD_STATEMENT_SCOPE_CLOSE: put_char(s, '}'); break;
    case HD_STATEMENT_LOCATION: spell_location(s, &s->module->locations.items[i]); break;
    case HD_STATEMENT_TABLE: hd_spell_tokens(s, f->tables.items[i].tokens); break;
    case HD_STATEMENT_REGISTERS: spell_registers(s, f, &f->register_groups.items[i]); break;
    case HD_STATEMENT_VARIABLES: spell_variables(s, &s->module->variable_groups.items[i]); break;
    case HD_STATEMENT_VERBATIM: spell_verbatim(s, &s->module->verbatims.items[i]); break;
    case HD_STATEMENT_FUNCTION: break; /* printed by the caller: header and body */
    }
}

bool hd_statement_is_extra(const hd_function *function, const hd_statement *statement)
{
    return statement->kind == HD_STATEMENT_LOCATION || hd_statement_is_heddle(function->module, statement);
}
