/* Resolves an instruction: matches its operands with the rules of its form, assigns each register its role, appends
 * %CC, and reports mismatches. A correct instruction takes one walk over its operands without a call out of this file.
 *
 * If a form has several candidates, they are tried in order; the error reported is that of the candidate that matched
 * furthest. Operands of kind HD_OPERAND_NAME are unresolved labels, or names already reported: they match anything. */
#include "ir/signature_errors.h"
#include "ir/sregs.h"
#include <assert.h>

#define BIT(id) (1ull << HD_TYPE_##id)

typedef struct checker {
    const hd_function *function;
    const hd_form *form;
    hd_operand *end;
    hd_mismatch mismatch;
    bool has_sampler; /* in the current address: [texture, sampler, {..}] */
} checker;

static hd_operand *fail(checker *c, hd_mismatch_kind kind, const hd_rule *rule, hd_operand *operand)
{
    c->mismatch = (hd_mismatch){kind, rule, operand, 0};
    return NULL;
}

static inline void set_roles(hd_operand *operand, uint8_t roles)
{
    operand->flags = (uint8_t)((operand->flags & ~(HD_OPERAND_DEF | HD_OPERAND_USE)) | roles);
}

/* The operand after this one and its children. */
static inline hd_operand *next_sibling(hd_operand *operand)
{
    if (operand->count == 0)
        return operand + 1;
    uint32_t left = operand->count;
    for (operand++; left; left--)
        operand = operand->count ? next_sibling(operand) : operand + 1;
    return operand;
}

/* `extra` is a selector ".b0", or another spelling of the register itself ("r01"), or both. */
static bool has_selector(const checker *c, const hd_operand *o)
{
    return strchr(hd_names_text(&c->function->module->names, o->extra), '.') != NULL;
}

/* ptxas adds the constant as an integer of the register's width. It accepts other registers, too, but then fails. */
static bool takes_offset(const hd_rule *rule, const hd_register *reg)
{
    uint8_t class = hd_types[reg->type].class;
    bool is_integer = class == HD_CLASS_UNSIGNED || class == HD_CLASS_SIGNED || class == HD_CLASS_BITS;
    return rule->roles == HD_OPERAND_USE && is_integer && hd_types[reg->type].bits <= 64;
}

static hd_operand *check_register(checker *c, const hd_rule *rule, hd_operand *o)
{
    const hd_register *reg = &c->function->registers.items[o->value];
    if (!(rule->takes & HD_TAKES_REGISTER))
        return fail(c, HD_MISMATCH_KIND, rule, o);
    if (!(rule->types >> reg->type & 1))
        return fail(c, HD_MISMATCH_TYPE, rule, o);
    if (o->flags & HD_OPERAND_NOT && !(rule->takes & HD_TAKES_NOT))
        return fail(c, HD_MISMATCH_NOT, rule, o);
    if (o->flags & HD_OPERAND_MINUS && !(rule->takes & HD_TAKES_MINUS))
        return fail(c, HD_MISMATCH_MINUS, rule, o);
    if (o->flags & HD_OPERAND_OFFSET && !takes_offset(rule, reg))
        return fail(c, HD_MISMATCH_OFFSET, rule, o);
    if (o->extra && reg->vector == 1 && has_selector(c, o) && !(rule->takes & HD_TAKES_SELECTOR))
        return fail(c, HD_MISMATCH_SELECTOR, rule, o);
    set_roles(o, rule->roles);
    return o + 1 + (o->flags & HD_OPERAND_OFFSET ? 1 : 0);
}

static bool sreg_fits(const hd_form *form, const hd_rule *rule, const hd_operand *o)
{
    const hd_sreg_info *sreg = &hd_sregs[o->value];
    uint32_t bits = hd_types[rule->type].bits, sreg_bits = hd_types[sreg->type].bits;
    hd_type_class class = (hd_type_class)hd_types[rule->type].class;
    if (sreg->components > 1 && o->extra == HD_NONE)
        return form->vector == sreg->components || rule->type == HD_TYPE_B128;
    if (sreg->type == HD_TYPE_PRED || class == HD_CLASS_PRED)
        return sreg->type == HD_TYPE_PRED && class == HD_CLASS_PRED;
    if (class == HD_CLASS_FLOAT)
        return false;
    if (rule->takes & HD_TAKES_WIDER)
        return sreg_bits >= bits;
    return sreg_bits == bits || (bits == 16 && sreg_bits == 32) || (o->value == HD_SREG_GRIDID && bits <= 32);
}

static bool is_shared(uint8_t space)
{
    return space == HD_SPACE_SHARED || space == HD_SPACE_SHARED_CTA || space == HD_SPACE_SHARED_CLUSTER;
}

static bool is_param(uint8_t space)
{
    return space == HD_SPACE_PARAM || space == HD_SPACE_PARAM_ENTRY || space == HD_SPACE_PARAM_FUNC;
}

/* Whether a variable of space `space` can be addressed in the space `asked`. */
static bool space_fits(uint8_t asked, uint8_t space)
{
    switch ((hd_space)asked) {
    case HD_SPACE_NONE: return !is_param(space) && space != HD_SPACE_CONST;
    case HD_SPACE_SHARED:
    case HD_SPACE_SHARED_CTA:
    case HD_SPACE_SHARED_CLUSTER: return is_shared(space);
    case HD_SPACE_PARAM:
    case HD_SPACE_PARAM_ENTRY:
    case HD_SPACE_PARAM_FUNC: return is_param(space);
    case HD_SPACE_GLOBAL: return space == HD_SPACE_GLOBAL || space == HD_SPACE_TEX;
    case HD_SPACE_CONST:
    case HD_SPACE_LOCAL: return space == asked;
    case HD_SPACE_REG:
    case HD_SPACE_SREG:
    case HD_SPACE_TEX:
    case HD_SPACE_COUNT: break;
    }
    return true;
}

static bool symbol_fits(const checker *c, const hd_rule *rule, const hd_operand *o)
{
    const hd_symbol *symbol = &c->function->module->symbols.items[o->value];
    if (symbol->kind == HD_SYMBOL_FUNCTION)
        return rule->takes & HD_TAKES_FUNCTION || rule->takes & HD_TAKES_SYMBOL;
    if (hd_types[symbol->type].class == HD_CLASS_OPAQUE && hd_types[rule->type].bits != 64)
        return false;
    return rule->takes & (o->count ? HD_TAKES_OFFSET : HD_TAKES_SYMBOL) && space_fits(rule->space, symbol->space);
}

static hd_operand *check_operand(checker *c, const hd_rule *rule, hd_operand *o);

/* The base of an address: register, variable, special register, or (local) a number. */
static hd_operand *check_base(checker *c, const hd_rule *rule, hd_operand *o)
{
    const hd_module *module = c->function->module;
    switch ((hd_operand_kind)o->kind) {
    case HD_OPERAND_REGISTER:
        if (!(rule->types >> c->function->registers.items[o->value].type & 1))
            return fail(c, HD_MISMATCH_ADDRESS_TYPE, rule, o);
        if (o->flags & (HD_OPERAND_NOT | HD_OPERAND_MINUS))
            return fail(c, HD_MISMATCH_ADDRESS, rule, o);
        set_roles(o, HD_OPERAND_USE);
        return next_sibling(o);
    case HD_OPERAND_SYMBOL:
        if (module->symbols.items[o->value].kind == HD_SYMBOL_FUNCTION)
            return fail(c, HD_MISMATCH_ADDRESS, rule, o);
        return space_fits(rule->space, module->symbols.items[o->value].space) ? next_sibling(o)
                                                                              : fail(c, HD_MISMATCH_SPACE, rule, o);
    case HD_OPERAND_LITERAL:
        if (module->literals.items[o->value].kind >= HD_LITERAL_F32_BITS)
            return fail(c, HD_MISMATCH_ADDRESS, rule, o);
        return c->form->space == HD_SPACE_LOCAL ? next_sibling(o) : fail(c, HD_MISMATCH_NUMBER_ADDRESS, rule, o);
    case HD_OPERAND_SREG:
    case HD_OPERAND_NAME: return next_sibling(o);
    case HD_OPERAND_LABEL:
    case HD_OPERAND_TABLE:
    case HD_OPERAND_SINK:
    case HD_OPERAND_VECTOR:
    case HD_OPERAND_ADDRESS:
    case HD_OPERAND_PAIR:
    case HD_OPERAND_LIST: break;
    }
    return fail(c, HD_MISMATCH_ADDRESS, rule, o);
}

/* g[3]: the base and an index, which is a constant or a register. */
static hd_operand *check_subscript(checker *c, const hd_rule *base, hd_operand *o)
{
    hd_operand *index = check_base(c, base, o + 1);
    if (!index)
        return NULL;
    if (index->kind == HD_OPERAND_REGISTER)
        set_roles(index, HD_OPERAND_USE);
    else if (index->kind != HD_OPERAND_LITERAL && index->kind != HD_OPERAND_NAME)
        return fail(c, HD_MISMATCH_ADDRESS, base, index);
    return next_sibling(index);
}

/* Checks anything but a register where a scalar is expected. */
static hd_operand *check_other(checker *c, const hd_rule *rule, hd_operand *o)
{
    switch ((hd_operand_kind)o->kind) {
    case HD_OPERAND_LITERAL:
        if (!(rule->takes >> c->function->module->literals.items[o->value].kind & 1) || o->flags & HD_OPERAND_OFFSET)
            return fail(c, HD_MISMATCH_LITERAL, rule, o);
        return o + 1;
    case HD_OPERAND_SREG:
        if (!(rule->takes & HD_TAKES_SREG))
            return fail(c, HD_MISMATCH_SREG, rule, o);
        return sreg_fits(c->form, rule, o) ? o + 1 : fail(c, HD_MISMATCH_TYPE, rule, o);
    case HD_OPERAND_SYMBOL: return symbol_fits(c, rule, o) ? next_sibling(o) : fail(c, HD_MISMATCH_KIND, rule, o);
    case HD_OPERAND_SINK: return rule->takes & HD_TAKES_SINK ? o + 1 : fail(c, HD_MISMATCH_SINK, rule, o);
    case HD_OPERAND_VECTOR:
        if (rule->takes & HD_TAKES_BRACES && o->count == 1)
            return check_operand(c, rule, o + 1);
        return fail(c, HD_MISMATCH_KIND, rule, o);
    case HD_OPERAND_ADDRESS: /* g[3] as a value is the address of g plus an offset */
        if (o->flags & HD_OPERAND_BARE && o[1].kind == HD_OPERAND_SYMBOL && rule->takes & HD_TAKES_SYMBOL)
            return check_subscript(c, rule, o);
        return fail(c, HD_MISMATCH_KIND, rule, o);
    case HD_OPERAND_NAME: return next_sibling(o);
    case HD_OPERAND_REGISTER:
    case HD_OPERAND_LABEL:
    case HD_OPERAND_TABLE:
    case HD_OPERAND_PAIR:
    case HD_OPERAND_LIST: break;
    }
    return fail(c, HD_MISMATCH_KIND, rule, o);
}

static inline hd_operand *check_scalar(checker *c, const hd_rule *rule, hd_operand *o)
{
    return o->kind == HD_OPERAND_REGISTER ? check_register(c, rule, o) : check_other(c, rule, o);
}

/* What must not be mixed in a vector: floats (1), integers (2), predicates (4); untyped bits go with each. */
static uint32_t nature(const checker *c, const hd_operand *o)
{
    if (o->kind == HD_OPERAND_REGISTER) {
        uint8_t class = hd_types[c->function->registers.items[o->value].type].class;
        return class == HD_CLASS_FLOAT                                  ? 1
               : class == HD_CLASS_UNSIGNED || class == HD_CLASS_SIGNED ? 2
               : class == HD_CLASS_PRED                                 ? 4
                                                                        : 0;
    }
    if (o->kind == HD_OPERAND_LITERAL)
        return c->function->module->literals.items[o->value].kind >= HD_LITERAL_F32_BITS ? 1 : 2;
    return 0;
}

static uint32_t element_bits(const checker *c, const hd_operand *o)
{
    return o->kind == HD_OPERAND_REGISTER ? hd_types[c->function->registers.items[o->value].type].bits : 0;
}

/* The rule of a layer index, which precedes coordinates. After a sampler it may be a float, as measured. */
#define INDEX_RULE(more_types)                                                                 \
    {                                                                                          \
        .types = BIT(B32) | BIT(U32) | BIT(S32) | (more_types),                                \
        .takes = HD_TAKES_REGISTER | HD_TAKES_INTEGER | HD_TAKES_SREG, .kind = HD_RULE_SCALAR, \
        .roles = HD_OPERAND_USE, .type = HD_TYPE_U32, .size = 1                                \
    }
static const hd_rule index_rule = INDEX_RULE(0), loose_index_rule = INDEX_RULE(BIT(F32));

static hd_operand *check_vector(checker *c, const hd_rule *rule, hd_operand *o)
{
    if (o->kind == HD_OPERAND_NAME)
        return next_sibling(o);
    if (o->kind != HD_OPERAND_VECTOR)
        return rule->padded && o->kind == HD_OPERAND_REGISTER ? check_scalar(c, rule + 1, o)
                                                              : fail(c, HD_MISMATCH_NO_VECTOR, rule, o);
    bool filled = rule->padded && o->count > rule->high && (o->count == 2 || o->count == 4);
    if (o->count < rule->low || (o->count > rule->high && !filled))
        return fail(c, HD_MISMATCH_LENGTH, rule, o);
    uint32_t natures = 0, bits = 0, left = o->count, sinks = 0;
    hd_operand *element = o + 1;
    if (rule->indexed) {
        element = check_scalar(c, c->has_sampler ? &loose_index_rule : &index_rule, element);
        left--;
    }
    for (; left && element; left--) {
        if (element->kind == HD_OPERAND_VECTOR)
            return fail(c, HD_MISMATCH_NESTING, rule, element);
        uint32_t own = element_bits(c, element);
        sinks += element->kind == HD_OPERAND_SINK;
        natures |= nature(c, element);
        if (own && bits && own != bits && natures != 4 && bits != 1 && own != 1)
            return fail(c, HD_MISMATCH_SIZES, rule, o);
        bits = own ? own : bits;
        element = check_scalar(c, rule + 1, element);
    }
    if (natures & (natures - 1))
        return fail(c, HD_MISMATCH_MIXED, rule, o);
    bool stores_nothing = sinks == o->count && rule[1].roles == HD_OPERAND_USE;
    return element && stores_nothing ? fail(c, HD_MISMATCH_SINK, rule, o + 1) : element;
}

/* A texture, sampler or surface: its variable, a parameter, or a 64-bit handle. */
static hd_operand *check_object(checker *c, const hd_rule *rule, hd_operand *o)
{
    if (o->kind == HD_OPERAND_REGISTER) {
        if (!(rule->types >> c->function->registers.items[o->value].type & 1))
            return fail(c, HD_MISMATCH_TYPE, rule, o);
        set_roles(o, HD_OPERAND_USE);
        return next_sibling(o);
    }
    if (o->kind == HD_OPERAND_NAME)
        return next_sibling(o);
    if (o->kind != HD_OPERAND_SYMBOL || c->function->module->symbols.items[o->value].kind == HD_SYMBOL_FUNCTION)
        return fail(c, HD_MISMATCH_OBJECT, rule, o);
    return next_sibling(o);
}

/* Checks the elements of an address against the rules from `rule` + 1 on. */
static hd_operand *check_address(checker *c, const hd_rule *rule, hd_operand *o)
{
    if (o->kind == HD_OPERAND_NAME)
        return next_sibling(o);
    if (o->kind != HD_OPERAND_ADDRESS)
        return fail(c, HD_MISMATCH_NO_ADDRESS, rule, o);
    const hd_rule *child = rule + 1, *last = rule + rule->size;
    hd_operand *element = o + 1;
    if (o->flags & HD_OPERAND_BARE)
        return rule->indexed ? check_subscript(c, child, o) : fail(c, HD_MISMATCH_NO_ADDRESS, rule, o);
    c->has_sampler = o->count == 3;
    for (uint32_t left = o->count; left; child += child->size) {
        if (child == last)
            return fail(c, HD_MISMATCH_ADDRESS, rule, o);
        if (child->optional && (element->kind == HD_OPERAND_VECTOR || o->count == 2) && child + child->size != last)
            continue; /* no sampler: the coordinates follow */
        element = check_operand(c, child, element);
        if (!element)
            return NULL;
        left--;
    }
    for (; child != last; child += child->size)
        if (!child->optional)
            return fail(c, HD_MISMATCH_ADDRESS, rule, o);
    return element;
}

static hd_operand *check_pair(checker *c, const hd_rule *rule, hd_operand *o)
{
    const hd_rule *first = rule + 1, *second = first + first->size;
    if (o->kind != HD_OPERAND_PAIR) {
        if (rule->low == 1)
            return check_operand(c, first, o);
        return fail(c, HD_MISMATCH_NO_PAIR, rule, o);
    }
    if (o[1].kind == HD_OPERAND_SINK && next_sibling(o + 1)->kind == HD_OPERAND_SINK)
        return fail(c, HD_MISMATCH_SINK, rule, o + 1);
    hd_operand *next = check_operand(c, first, o + 1);
    return next ? check_operand(c, second, next) : NULL;
}

/* Results or arguments of a call. */
static hd_operand *check_list(checker *c, const hd_rule *rule, hd_operand *o)
{
    if (o->kind != HD_OPERAND_LIST)
        return fail(c, HD_MISMATCH_NO_LIST, rule, o);
    hd_operand *element = o + 1;
    for (uint32_t left = o->count; left; left--) {
        bool is_vector = element->kind == HD_OPERAND_VECTOR && element->flags & HD_OPERAND_WHOLE;
        if (element->kind == HD_OPERAND_REGISTER)
            set_roles(element, rule[1].roles);
        for (uint32_t i = 1; is_vector && i <= element->count; i++)
            set_roles(element + i, rule[1].roles);
        if (element->kind != HD_OPERAND_REGISTER && !is_vector && element->kind != HD_OPERAND_LITERAL &&
            element->kind != HD_OPERAND_SYMBOL && element->kind != HD_OPERAND_SINK && element->kind != HD_OPERAND_NAME)
            return fail(c, HD_MISMATCH_KIND, rule + 1, element);
        element = next_sibling(element);
    }
    return element;
}

static hd_operand *check_callee(checker *c, const hd_rule *rule, hd_operand *o)
{
    if (o->kind == HD_OPERAND_NAME)
        return next_sibling(o);
    if (o->kind == HD_OPERAND_REGISTER && rule->types >> c->function->registers.items[o->value].type & 1) {
        set_roles(o, HD_OPERAND_USE);
        return o + 1;
    }
    if (o->kind == HD_OPERAND_SYMBOL)
        return next_sibling(o);
    return fail(c, HD_MISMATCH_CALLEE, rule, o);
}

static hd_operand *check_operand(checker *c, const hd_rule *rule, hd_operand *o)
{
    switch ((hd_rule_kind)rule->kind) {
    case HD_RULE_SCALAR: return check_scalar(c, rule, o);
    case HD_RULE_VECTOR: return check_vector(c, rule, o);
    case HD_RULE_ADDRESS: return check_address(c, rule, o);
    case HD_RULE_BASE: return check_base(c, rule, o);
    case HD_RULE_OBJECT: return check_object(c, rule, o);
    case HD_RULE_PAIR: return check_pair(c, rule, o);
    case HD_RULE_LIST: return check_list(c, rule, o);
    case HD_RULE_CALLEE: return check_callee(c, rule, o);
    case HD_RULE_LABEL:
        if (o->kind == HD_OPERAND_LABEL || o->kind == HD_OPERAND_NAME)
            return next_sibling(o);
        return fail(c, HD_MISMATCH_LABEL, rule, o);
    case HD_RULE_TABLE:
        if (o->kind == HD_OPERAND_TABLE || o->kind == HD_OPERAND_NAME || o->kind == HD_OPERAND_LABEL)
            return next_sibling(o);
        return fail(c, HD_MISMATCH_TABLE, rule, o);
    }
    return NULL;
}

/* One candidate against all operands. */
static bool check_candidate(checker *c, const hd_candidate *candidate, hd_operand *o)
{
    const hd_rule *rule = c->form->signature->rules + candidate->first,
                  *last = c->form->signature->rules + candidate->end;
    for (; rule < last; rule += rule->size) {
        if (o == c->end) {
            if (rule->optional)
                return true;
            fail(c, HD_MISMATCH_COUNT, rule, o);
            return false;
        }
        if (o->flags & HD_OPERAND_NOT && rule->kind != HD_RULE_SCALAR) {
            fail(c, HD_MISMATCH_NOT, rule, o);
            return false;
        }
        o = check_operand(c, rule, o);
        if (!o)
            return false;
    }
    if (o == c->end)
        return true;
    fail(c, HD_MISMATCH_COUNT, rule, o);
    return false;
}

/* Whether a mismatch is more informative: further on, or at the same operand but about more than its kind. */
static bool is_more_specific(const hd_mismatch *a, const hd_mismatch *b)
{
    if (a->operand != b->operand)
        return a->operand > b->operand;
    return b->kind == HD_MISMATCH_KIND && a->kind != HD_MISMATCH_KIND && a->kind != HD_MISMATCH_NO_VECTOR;
}

static bool check_operands(checker *c, hd_operand *first)
{
    hd_mismatch furthest = {0};
    const hd_signature *signature = c->form->signature;
    for (uint32_t i = 0; i < signature->candidate_count; i++) {
        if (check_candidate(c, &signature->candidates[i], first))
            return true;
        c->mismatch.candidate = i;
        if (i == 0 || is_more_specific(&c->mismatch, &furthest))
            furthest = c->mismatch;
    }
    c->mismatch = furthest;
    return false;
}

/* Marks all registers as written and read: the conservative assumption for an instruction that the table does not
 * describe. */
static void take_everything(hd_operand *first, const hd_operand *end)
{
    for (hd_operand *o = first; o < end; o++)
        if (o->kind == HD_OPERAND_REGISTER)
            set_roles(o, HD_OPERAND_DEF | HD_OPERAND_USE);
}

static void append_carry(hd_function *function, hd_instruction *insn, const hd_form *form)
{
    if (function->carry_register == HD_NONE) {
        hd_register carry = {.name = hd_names_add_string(&function->module->names, "%CC"),
                             .index = HD_NONE,
                             .declaration = HD_NONE,
                             .type = HD_TYPE_CC,
                             .vector = 1};
        function->carry_register = function->registers.count;
        hd_array_push(&function->registers, carry);
    }
    hd_operand o = {
        .kind = HD_OPERAND_REGISTER, .flags = HD_OPERAND_IMPLICIT, .begin = HD_NONE, .value = function->carry_register};
    o.flags |= form->flags & HD_FORM_WRITES_CARRY ? HD_OPERAND_DEF : 0;
    o.flags |= form->flags & HD_FORM_READS_CARRY ? HD_OPERAND_USE : 0;
    hd_array_push(&function->operands, o);
    insn->operand_count++;
}

static bool resolve_odd(hd_function *function, hd_instruction *insn, const hd_form *form)
{
    hd_operand *first = function->operands.items + insn->operand_first;
    take_everything(first, first + insn->operand_count);
    insn->flags |= HD_INSN_OPAQUE;
    return hd_report_form(function, insn, form);
}

bool hd_insn_resolve(hd_function *function, hd_instruction *insn)
{
    const hd_form *form = &function->module->forms.items[insn->form];
    if (form->flags & (HD_FORM_OPAQUE | HD_FORM_INVALID))
        return resolve_odd(function, insn, form);
    hd_operand *first = function->operands.items + insn->operand_first;
    checker c = {.function = function, .form = form, .end = first + insn->operand_count};
    if (!check_operands(&c, first)) {
        hd_report_mismatch(function, insn, form, &c.mismatch);
        take_everything(first, c.end);
        return false;
    }
    if (form->opcode == HD_OP_CALL && !hd_check_call(function, insn))
        return false;
    if (form->flags & (HD_FORM_WRITES_CARRY | HD_FORM_READS_CARRY))
        append_carry(function, insn, form);
    return true;
}

bool hd_form_accepts(const hd_function *function, const hd_form *form, hd_operand *operands, uint32_t count)
{
    if (form->flags & (HD_FORM_OPAQUE | HD_FORM_INVALID) || form->opcode == HD_OP_CALL)
        return false;
    checker c = {.function = function, .form = form, .end = operands + count};
    return check_operands(&c, operands);
}

bool hd_form_takes_label(const hd_module *module, uint32_t form_index, uint32_t position)
{
    const hd_form *form = &module->forms.items[form_index];
    if (!form->signature)
        return true;
    switch (form->opcode) {
    case HD_OP_BRA: return position == 0;
    case HD_OP_BRX_IDX: return position == 1;
    case HD_OP_CALL: return position > 0;
    default: return false;
    }
}
