/* What the instructions that count compute: see counting.h. */
#include "ir/counting.h"
#include "ir/machine.h"
#include <stdlib.h>

static const hd_counting nothing = {.kind = HD_COUNTING_NONE};

static bool is_whole(const hd_operand *o) { return o->kind == HD_OPERAND_REGISTER && !o->count && !o->extra; }

/* ---- PTX --------------------------------------------------------------------------------------------------------- */

static hd_term term_of(const hd_function *f, const hd_operand *o)
{
    if (is_whole(o) && !(o->flags & (HD_OPERAND_MINUS | HD_OPERAND_OFFSET)))
        return (hd_term){.kind = HD_TERM_REGISTER, .reg = o->value, .negated = o->flags & HD_OPERAND_NOT};
    if (o->kind != HD_OPERAND_LITERAL || o->count)
        return (hd_term){.kind = HD_TERM_UNKNOWN};
    const hd_literal *literal = &f->module->literals.items[o->value];
    bool integer = literal->kind == HD_LITERAL_SIGNED || literal->kind == HD_LITERAL_UNSIGNED;
    return (hd_term){.kind = integer ? HD_TERM_NUMBER : HD_TERM_UNKNOWN, .number = literal->bits};
}

static bool has_only(const hd_form *form, hd_modifier_group first, hd_modifier_group second)
{
    for (uint32_t g = 0; g < HD_MODIFIER_GROUP_COUNT; g++)
        if (form->modifiers[g] && g != (uint32_t)first && g != (uint32_t)second)
            return false;
    return !form->flags && form->type_count == 1 && form->vector == 1;
}

/* d = a + number, or number + a. */
static hd_counting sum_of(hd_counting sum, hd_term a, hd_term b)
{
    if (a.kind == HD_TERM_NUMBER && b.kind == HD_TERM_REGISTER)
        return sum_of(sum, b, a);
    if (a.kind != HD_TERM_REGISTER || b.kind != HD_TERM_NUMBER)
        return nothing;
    sum.kind = HD_COUNTING_SUM;
    sum.terms[0] = a;
    sum.terms[0].number = b.number;
    sum.term_count = 1;
    return sum;
}

static hd_counting predicates_of(hd_counting c, hd_counting_kind kind, const hd_term *terms, uint32_t count)
{
    c.kind = (uint8_t)kind;
    c.term_count = (uint8_t)count;
    for (uint32_t i = 0; i < count; i++)
        c.terms[i] = terms[i];
    return c;
}

/* A load of a parameter or a constant at an address without registers. */
static hd_counting fixed_of(const hd_function *f, const hd_instruction *insn, const hd_form *form)
{
    hd_counting c = {.kind = HD_COUNTING_FIXED, .result = HD_NONE};
    bool fixed = form->space == HD_SPACE_PARAM || form->space == HD_SPACE_PARAM_ENTRY || form->space == HD_SPACE_CONST;
    HD_INSN_REGISTERS (f, insn, o) {
        if (c.result != HD_NONE || !(o->flags & HD_OPERAND_DEF) || o->extra)
            return nothing;
        c.result = o->value;
    }
    return fixed && c.result != HD_NONE && form->behaviour == HD_BEHAVE_LOAD ? c : nothing;
}

static hd_counting negation_of(hd_counting c, hd_term a)
{
    a.negated = !a.negated;
    return predicates_of(c, HD_COUNTING_AND, &a, 1);
}

static hd_counting comparison_of(const hd_form *form, hd_counting c, const hd_term *terms, uint32_t count)
{
    static const struct {
        uint16_t modifier;
        uint8_t relation;
        bool is_unsigned;
    } relations[] = {{HD_MOD_COMPARE_EQ, HD_RELATION_EQ, false}, {HD_MOD_COMPARE_NE, HD_RELATION_NE, false},
                     {HD_MOD_COMPARE_LT, HD_RELATION_LT, false}, {HD_MOD_COMPARE_LE, HD_RELATION_LE, false},
                     {HD_MOD_COMPARE_GT, HD_RELATION_GT, false}, {HD_MOD_COMPARE_GE, HD_RELATION_GE, false},
                     {HD_MOD_COMPARE_LO, HD_RELATION_LT, true},  {HD_MOD_COMPARE_LS, HD_RELATION_LE, true},
                     {HD_MOD_COMPARE_HI, HD_RELATION_GT, true},  {HD_MOD_COMPARE_HS, HD_RELATION_GE, true}};
    uint16_t join = form->modifiers[HD_GROUP_BOOL];
    for (uint32_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        if (form->modifiers[HD_GROUP_COMPARE] != relations[i].modifier || join == HD_MOD_BOOL_XOR)
            continue;
        c = predicates_of(c, HD_COUNTING_COMPARE, terms, count);
        c.relation = relations[i].relation;
        c.is_signed = hd_types[form->types[0]].class == HD_CLASS_SIGNED && !relations[i].is_unsigned;
        c.joined = (uint8_t)(join == HD_MOD_BOOL_AND ? HD_COUNTING_AND : join ? HD_COUNTING_OR : HD_COUNTING_NONE);
        return c;
    }
    return nothing;
}

/* The operands after the result; their number, or more than three. */
static uint32_t sources_of(const hd_function *f, const hd_instruction *insn, uint32_t *result, hd_term *terms)
{
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    uint32_t count = 0;
    *result = HD_NONE;
    if (o < end && o->kind == HD_OPERAND_PAIR) /* p|q: the first of the two */
        *result = is_whole(o + 1) ? o[1].value : HD_NONE;
    else if (o < end && is_whole(o))
        *result = o->value;
    if (*result == HD_NONE)
        return UINT32_MAX;
    for (o += hd_operand_extent(o); o < end && count <= 3; o += hd_operand_extent(o), count++)
        if (count < 3)
            terms[count] = term_of(f, o);
    return count;
}

static hd_counting ptx_counting(const hd_function *f, const hd_instruction *insn, const hd_form *form)
{
    hd_term t[3];
    hd_counting c = {.bits = (uint8_t)hd_types[form->types[0]].bits};
    uint8_t class = hd_types[form->types[0]].class;
    bool predicate = class == HD_CLASS_PRED,
         integer = (class == HD_CLASS_SIGNED || class == HD_CLASS_UNSIGNED || class == HD_CLASS_BITS) &&
                   hd_types[form->types[0]].lanes == 1;
    if (form->opcode == HD_OP_LD)
        return fixed_of(f, insn, form);
    uint32_t count = sources_of(f, insn, &c.result, t);
    if (count > 3 || (!predicate && !integer))
        return nothing;
    if (form->opcode == HD_OP_SETP && integer && has_only(form, HD_GROUP_COMPARE, HD_GROUP_BOOL))
        return comparison_of(form, c, t, count);
    if (!has_only(form, HD_GROUP_COMPARE, HD_GROUP_COMPARE))
        return nothing;
    switch (form->opcode) {
    case HD_OP_ADD: return sum_of(c, t[0], t[1]);
    case HD_OP_SUB:
        t[1].number = 0 - t[1].number;
        return t[0].kind == HD_TERM_REGISTER ? sum_of(c, t[0], t[1]) : nothing;
    case HD_OP_MOV:
        return predicate ? predicates_of(c, HD_COUNTING_AND, t, 1) : sum_of(c, t[0], (hd_term){.kind = HD_TERM_NUMBER});
    case HD_OP_NOT: return predicate ? negation_of(c, t[0]) : nothing;
    case HD_OP_AND: return predicate ? predicates_of(c, HD_COUNTING_AND, t, 2) : nothing;
    case HD_OP_OR: return predicate ? predicates_of(c, HD_COUNTING_OR, t, 2) : nothing;
    default: return nothing;
    }
}

/* ---- machine code ------------------------------------------------------------------------------------------------ */

/* `-R4`, `~R4` and `R4.H1` are no plain registers: how they are spelled is not in the operand. */
static bool is_plain(const hd_function *f, const hd_operand *o)
{
    if (!is_whole(o) || o->begin == HD_NONE)
        return false;
    const char *at = f->module->source->text + o->begin;
    at += *at == '!';
    at += *at == 'U';
    if (*at != 'R' && *at != 'P')
        return false;
    at += 1 + strspn(at + 1, "0123456789");
    if (strncmp(at, ".reuse", 6) == 0)
        at += 6;
    return *at != '.' && *at != '_';
}

static bool is_name(const char *text, const char *const *names)
{
    while (*names && strcmp(text, *names) != 0)
        names++;
    return *names != NULL;
}

static hd_term machine_term(const hd_function *f, const hd_operand *o)
{
    static const char *const zeros[] = {"RZ", "URZ", NULL}, *const truths[] = {"PT", "UPT", NULL},
                             *const lies[] = {"!PT", "!UPT", NULL};
    if (is_plain(f, o))
        return (hd_term){.kind = HD_TERM_REGISTER, .reg = o->value, .negated = o->flags & HD_OPERAND_NOT};
    if (o->kind != HD_OPERAND_NAME)
        return (hd_term){.kind = HD_TERM_UNKNOWN};
    const char *text = hd_names_text(&f->module->names, o->value), *digits = text + (*text == '-');
    char *end;
    if (is_name(text, zeros) || is_name(text, lies))
        return (hd_term){.kind = HD_TERM_NUMBER};
    if (is_name(text, truths))
        return (hd_term){.kind = HD_TERM_NUMBER, .number = 1};
    if (strncmp(text, "c[", 2) == 0)
        return (hd_term){.kind = HD_TERM_FIXED};
    if (strncmp(digits, "0x", 2) != 0)
        return (hd_term){.kind = HD_TERM_UNKNOWN};
    uint64_t number = strtoull(digits, &end, 16);
    return (hd_term){.kind = *end ? HD_TERM_UNKNOWN : HD_TERM_NUMBER, .number = digits > text ? 0 - number : number};
}

static bool is_predicate(const hd_function *f, const hd_operand *o)
{
    if (o->kind == HD_OPERAND_REGISTER)
        return f->registers.items[o->value].type == HD_TYPE_PRED;
    const char *text = o->kind == HD_OPERAND_NAME ? hd_names_text(&f->module->names, o->value) : "";
    return strcmp(text, "PT") == 0 || strcmp(text, "UPT") == 0;
}

/* Rd, carries that it writes, then its terms: one register and numbers. */
static hd_counting machine_sum(const hd_function *f, const hd_instruction *insn, bool product)
{
    hd_counting c = {.bits = 32, .result = hd_insn_operands(f, insn)->value};
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    hd_term sum = {.kind = HD_TERM_NUMBER};
    uint64_t number = 0;
    uint32_t count = 0;
    for (o += hd_operand_extent(o); o < end; o += hd_operand_extent(o)) {
        if (is_predicate(f, o) && !count)
            continue;
        hd_term t = machine_term(f, o);
        bool factor = product && count == 1; /* IMAD.IADD: Ra * 1 + Rc; IMAD.MOV: RZ * RZ + Rc */
        if ((factor && (t.kind != HD_TERM_NUMBER || t.number > 1)) ||
            (t.kind == HD_TERM_REGISTER && sum.kind == HD_TERM_REGISTER) ||
            (t.kind != HD_TERM_REGISTER && t.kind != HD_TERM_NUMBER))
            return nothing;
        if (factor && !t.number && (sum.kind == HD_TERM_REGISTER || number))
            return nothing;
        if (t.kind == HD_TERM_REGISTER)
            sum = t;
        else if (!factor)
            number += t.number;
        count++;
    }
    return count ? sum_of(c, sum, (hd_term){.kind = HD_TERM_NUMBER, .number = number}) : nothing;
}

/* What follows the opcode: the relation, .U32, and how the result is joined with the predicate; .EX and others are not
 * described. */
static bool read_comparison(const char *text, hd_counting *c)
{
    static const char *const names[] = {".EQ", ".NE", ".LT", ".LE", ".GT", ".GE"};
    bool found = false;
    for (uint8_t r = 0; r < 6 && !found; r++) {
        found = strncmp(text, names[r], 3) == 0;
        c->relation = r;
    }
    text += found ? 3 : 0;
    c->is_signed = strncmp(text, ".U32", 4) != 0;
    text += c->is_signed ? 0 : 4;
    c->joined = strcmp(text, ".AND") == 0 ? HD_COUNTING_AND : HD_COUNTING_OR;
    return found && (c->joined == HD_COUNTING_AND || strcmp(text, ".OR") == 0);
}

/* Pu, Pv, Ra, Rb, Pp */
static hd_counting machine_comparison(const hd_function *f, const hd_instruction *insn, const char *modifiers)
{
    hd_counting c = {.kind = HD_COUNTING_COMPARE, .bits = 32, .term_count = 3};
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    uint32_t count = 0;
    for (; o < end; o += hd_operand_extent(o), count++) {
        if (count == 0)
            c.result = is_plain(f, o) ? o->value : HD_NONE;
        if (count >= 2 && count < 5)
            c.terms[count - 2] = machine_term(f, o);
    }
    if (count != 5 || c.result == HD_NONE || !read_comparison(modifiers, &c))
        return nothing;
    bool neutral = c.terms[2].kind == HD_TERM_NUMBER && c.terms[2].number == (uint64_t)(c.joined == HD_COUNTING_AND);
    if (neutral) {
        c.joined = HD_COUNTING_NONE;
        c.term_count = 2;
    }
    return c;
}

static hd_counting machine_counting(const hd_function *f, const hd_instruction *insn, const hd_form *form)
{
    static const char *const sums[] = {"IADD3", "IADD", "IADD32I", "VIADD", "UIADD3", NULL}, *const products[] = {
                                                                                                 "IMAD.IADD",
                                                                                                 "IMAD.MOV.U32", NULL};
    const char *spelling = hd_names_text(&f->module->names, form->spelling);
    if (form->machine->variant != HD_MACHINE_PLAIN || !form->machine->row || !insn->operand_count)
        return nothing;
    if (form->behaviour == HD_BEHAVE_LOAD)
        return fixed_of(f, insn, form);
    if (strncmp(spelling, "ISETP.", 6) == 0)
        return machine_comparison(f, insn, spelling + 5);
    if (strncmp(spelling, "UISETP.", 7) == 0)
        return machine_comparison(f, insn, spelling + 6);
    if (!is_plain(f, hd_insn_operands(f, insn)))
        return nothing;
    if (is_name(spelling, sums) || is_name(spelling, products))
        return machine_sum(f, insn, is_name(spelling, products));
    bool copies = (strcmp(spelling, "MOV") == 0 || strcmp(spelling, "UMOV") == 0) && insn->operand_count == 2;
    return copies ? machine_sum(f, insn, false) : nothing;
}

static bool is_written_once(const hd_function *f, const hd_instruction *insn, uint32_t reg)
{
    uint32_t count = 0;
    HD_INSN_REGISTERS (f, insn, o)
        count += o->value == reg && o->flags & HD_OPERAND_DEF;
    return count == 1;
}

hd_counting hd_insn_counting(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    if (insn->flags & HD_INSN_OPAQUE)
        return nothing;
    hd_counting c = form->machine ? machine_counting(f, insn, form) : ptx_counting(f, insn, form);
    return c.kind == HD_COUNTING_NONE || is_written_once(f, insn, c.result) ? c : nothing;
}

/* ---- relations --------------------------------------------------------------------------------------------------- */

hd_relation hd_relation_not(hd_relation relation)
{
    static const uint8_t other[] = {
        [HD_RELATION_EQ] = HD_RELATION_NE, [HD_RELATION_NE] = HD_RELATION_EQ, [HD_RELATION_LT] = HD_RELATION_GE,
        [HD_RELATION_GE] = HD_RELATION_LT, [HD_RELATION_GT] = HD_RELATION_LE, [HD_RELATION_LE] = HD_RELATION_GT};
    return (hd_relation)other[relation];
}

hd_relation hd_relation_swapped(hd_relation relation)
{
    static const uint8_t other[] = {
        [HD_RELATION_EQ] = HD_RELATION_EQ, [HD_RELATION_NE] = HD_RELATION_NE, [HD_RELATION_LT] = HD_RELATION_GT,
        [HD_RELATION_GT] = HD_RELATION_LT, [HD_RELATION_LE] = HD_RELATION_GE, [HD_RELATION_GE] = HD_RELATION_LE};
    return (hd_relation)other[relation];
}

uint64_t hd_relation_size(const hd_counting *c, hd_relation relation, const hd_term *limit)
{
    uint64_t most = c->bits < 64 ? (1ull << c->bits) - 1 : UINT64_MAX, sign = 1ull << (c->bits - 1);
    bool known = limit->kind == HD_TERM_NUMBER;
    /* the limit's distance from the least value */
    uint64_t place = known ? ((limit->number & most) ^ (c->is_signed ? sign : 0)) : 0;
    switch (relation) {
    case HD_RELATION_EQ: return limit->kind != HD_TERM_UNKNOWN;
    case HD_RELATION_NE: return limit->kind != HD_TERM_UNKNOWN ? most : 0;
    case HD_RELATION_LT: return place;
    case HD_RELATION_LE: return place == UINT64_MAX ? place : place + 1; /* the least value, whatever the limit is */
    case HD_RELATION_GT: return known ? most - place : 0;
    case HD_RELATION_GE: return known ? most - place + (place != 0) : 1; /* likewise the greatest */
    }
    return 0;
}

bool hd_steps_meet(uint64_t step, uint32_t bits, uint64_t size)
{
    step &= bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;
    return step && size >= (step & (0 - step));
}
