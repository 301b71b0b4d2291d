/* Messages about operands: what the instruction expects, and what was found. */
#include "ir/signature_errors.h"
#include "ir/sregs.h"
#include <ctype.h>
#include <stdio.h>

/* From an operand's first character to the end of its token; aggregates up to their closing bracket, but not past the
 * statement. */
static hd_span token_span(const hd_source *source, uint32_t begin)
{
    const char *text = source->text, *at = text + begin;
    static const char open[] = "{[(", close[] = "}])";
    const char *bracket = *at ? strchr(open, *at) : NULL;
    if (bracket) {
        while (*at && *at != ';' && *at != close[bracket - open])
            at++;
        return (hd_span){begin, (uint32_t)(at - text) + (*at && *at != ';')};
    }
    if (*at == '!' || *at == '-')
        at++;
    while (isalnum((unsigned char)*at) || *at == '_' || *at == '$' || *at == '%' || *at == '.')
        at++;
    if (at == text + begin && *at)
        at++;
    return (hd_span){begin, (uint32_t)(at - text)};
}

hd_span hd_operand_span(const hd_function *function, const hd_instruction *insn, const hd_operand *operand)
{
    const hd_operand *end = function->operands.items + insn->operand_first + insn->operand_count;
    if (operand && operand < end && operand->begin != HD_NONE && operand->begin < function->module->source->length)
        return token_span(function->module->source, operand->begin);
    return insn->span;
}

/* The 1-based number of the top-level operand that contains `operand`. */
static uint32_t position_of(const hd_function *function, const hd_instruction *insn, const hd_operand *operand)
{
    const hd_operand *o = hd_insn_operands(function, insn), *end = o + insn->operand_count;
    uint32_t position = 1;
    while (o < end) {
        const hd_operand *next = o + hd_operand_extent(o);
        if (operand < next)
            break;
        position++;
        o = next;
    }
    return position;
}

static uint32_t count_operands(const hd_function *function, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(function, insn), *end = o + insn->operand_count;
    uint32_t count = 0;
    for (; o < end; o += hd_operand_extent(o))
        count++;
    return count;
}

/* "a .u32 register, an integer" ... */
static void describe_rule(const hd_rule *rule, char *buffer, size_t size)
{
    const char *type = hd_types[rule->type].spelling, *wide = rule->takes & HD_TAKES_WIDER ? " or wider" : "";
    size_t n = 0;
#define SAY(...) (n += (size_t)snprintf(buffer + n, n < size ? size - n : 0, __VA_ARGS__))
    buffer[0] = 0;
    if (rule->takes & HD_TAKES_REGISTER)
        SAY("a .%s register%s", *type ? type : "any", wide);
    if (rule->takes & HD_TAKES_INTEGER)
        SAY("%san integer constant", n ? " or " : "");
    if (rule->takes & HD_TAKES_FLOAT)
        SAY("%sa floating-point literal", n ? " or " : "");
    if (rule->takes & HD_TAKES_SINK)
        SAY("%s_", n ? " or " : "");
#undef SAY
}

static const char *class_name(hd_literal_kind kind)
{
    switch (kind) {
    case HD_LITERAL_SIGNED:
    case HD_LITERAL_UNSIGNED: return "an integer";
    case HD_LITERAL_F32_BITS: return "a single-precision literal";
    case HD_LITERAL_F64_BITS:
    case HD_LITERAL_DECIMAL: return "a floating-point literal";
    }
    return "a literal";
}

static const char *kind_name(const hd_operand *o)
{
    switch ((hd_operand_kind)o->kind) {
    case HD_OPERAND_REGISTER: return "a register";
    case HD_OPERAND_LITERAL: return "a literal";
    case HD_OPERAND_SYMBOL: return "a variable or function";
    case HD_OPERAND_SREG: return "a special register";
    case HD_OPERAND_LABEL: return "a label";
    case HD_OPERAND_TABLE: return "a table";
    case HD_OPERAND_SINK: return "_";
    case HD_OPERAND_NAME: return "a name";
    case HD_OPERAND_VECTOR: return "a vector";
    case HD_OPERAND_ADDRESS: return "an address";
    case HD_OPERAND_PAIR: return "a pair";
    case HD_OPERAND_LIST: return "a list";
    }
    return "something else";
}

/* Describes the operand found: "'%r1' is .s32". */
static void describe_operand(const hd_function *f, const hd_operand *o, char *buffer, size_t size)
{
    const hd_module *module = f->module;
    char name[80];
    switch ((hd_operand_kind)o->kind) {
    case HD_OPERAND_REGISTER:
        hd_register_spell(f, o->value, name, sizeof name);
        snprintf(buffer, size, "'%s' is .%s", name, hd_types[f->registers.items[o->value].type].spelling);
        return;
    case HD_OPERAND_LITERAL:
        snprintf(buffer, size, "this is %s", class_name((hd_literal_kind)module->literals.items[o->value].kind));
        return;
    case HD_OPERAND_SYMBOL:
        snprintf(buffer, size, "'%.80s' is a %s", hd_names_text(&module->names, module->symbols.items[o->value].name),
                 module->symbols.items[o->value].kind == HD_SYMBOL_FUNCTION ? "function" : "variable");
        return;
    case HD_OPERAND_SREG:
        snprintf(buffer, size, "'%%%s' is a .%s special register", hd_sregs[o->value].spelling,
                 hd_types[hd_sregs[o->value].type].spelling);
        return;
    default: snprintf(buffer, size, "this is %s", kind_name(o));
    }
}

/* The operand counts that the candidates accept: "2 to 4". */
static void describe_counts(const hd_form *form, char *buffer, size_t size)
{
    uint32_t low = ~0u, high = 0;
    for (uint32_t i = 0; i < form->signature->candidate_count; i++) {
        const hd_candidate *candidate = &form->signature->candidates[i];
        uint32_t needed = 0, all = 0;
        bool optional = false;
        for (uint32_t r = candidate->first; r < candidate->end; r += form->signature->rules[r].size) {
            optional |= form->signature->rules[r].optional;
            needed += !optional;
            all++;
        }
        low = hd_min(low, needed);
        high = hd_max(high, all);
    }
    if (high == 0)
        snprintf(buffer, size, "no operands");
    else if (low == high)
        snprintf(buffer, size, "%u operand%s", low, low == 1 ? "" : "s");
    else
        snprintf(buffer, size, "%u to %u operands", low, high);
}

/* The message for each kind of mismatch; if `words` is NULL, the rule is described. */
static const struct {
    hd_diagnostic_kind kind;
    bool shows_found; /* the message includes what was found */
    const char *words;
} mismatches[] = {
    [HD_MISMATCH_NONE] = {HD_DIAG_OPERAND_KIND, true, NULL},
    [HD_MISMATCH_COUNT] = {HD_DIAG_OPERAND_COUNT, true, NULL},
    [HD_MISMATCH_KIND] = {HD_DIAG_OPERAND_KIND, true, NULL},
    [HD_MISMATCH_TYPE] = {HD_DIAG_OPERAND_TYPE, true, NULL},
    [HD_MISMATCH_LITERAL] = {HD_DIAG_OPERAND_KIND, true, NULL},
    [HD_MISMATCH_SREG] = {HD_DIAG_OPERAND_KIND, true, "may not be a special register; only mov and cvt read them"},
    [HD_MISMATCH_SINK] = {HD_DIAG_BAD_SINK, false, "may not be the sink _"},
    [HD_MISMATCH_NOT] = {HD_DIAG_OPERAND_KIND, false, "may not be negated"},
    [HD_MISMATCH_MINUS] = {HD_DIAG_OPERAND_KIND, false, "may not have a minus"},
    [HD_MISMATCH_OFFSET] = {HD_DIAG_OPERAND_KIND, false,
                            "has an offset, which only addresses and integer source operands may have"},
    [HD_MISMATCH_SELECTOR] = {HD_DIAG_OPERAND_KIND, false, "may not have a selector"},
    [HD_MISMATCH_NO_VECTOR] = {HD_DIAG_BAD_VECTOR, true, NULL},
    [HD_MISMATCH_LENGTH] = {HD_DIAG_BAD_VECTOR, true, NULL},
    [HD_MISMATCH_NESTING] = {HD_DIAG_BAD_VECTOR, false, "is a vector; vectors do not nest"},
    [HD_MISMATCH_MIXED] = {HD_DIAG_BAD_VECTOR, false, "mixes elements of different kinds"},
    [HD_MISMATCH_SIZES] = {HD_DIAG_BAD_VECTOR, false, "has elements of different sizes"},
    [HD_MISMATCH_NO_ADDRESS] = {HD_DIAG_OPERAND_KIND, true, "must be an address in brackets"},
    [HD_MISMATCH_ADDRESS] = {HD_DIAG_BAD_ADDRESS, true, "is no address that fits"},
    [HD_MISMATCH_ADDRESS_TYPE] = {HD_DIAG_BAD_ADDRESS, true,
                                  "must have an integer register of the address width as its base"},
    [HD_MISMATCH_NUMBER_ADDRESS] = {HD_DIAG_BAD_ADDRESS, true, "may be a number in the local space only"},
    [HD_MISMATCH_SPACE] = {HD_DIAG_BAD_ADDRESS, true, "must be in the state space of the instruction"},
    [HD_MISMATCH_OBJECT] = {HD_DIAG_OPERAND_KIND, true, "must be a texture, sampler or surface, or a 64-bit handle"},
    [HD_MISMATCH_NO_PAIR] = {HD_DIAG_OPERAND_KIND, true, "must be a pair, a|b"},
    [HD_MISMATCH_NO_LIST] = {HD_DIAG_OPERAND_KIND, true, "must be a list in parentheses"},
    [HD_MISMATCH_LABEL] = {HD_DIAG_OPERAND_KIND, true, "must be a label"},
    [HD_MISMATCH_TABLE] = {HD_DIAG_OPERAND_KIND, true, "must be the label of a table or prototype"},
    [HD_MISMATCH_CALLEE] = {HD_DIAG_OPERAND_KIND, true, "must be a function or a register that holds its address"},
};

/* Describes what was expected at the mismatch, without the operand found. */
static void describe_expected(const hd_mismatch *m, char *buffer, size_t size)
{
    if (mismatches[m->kind].words) {
        snprintf(buffer, size, "%s", mismatches[m->kind].words);
    } else if (m->kind == HD_MISMATCH_NO_VECTOR || m->kind == HD_MISMATCH_LENGTH) {
        if (m->rule->low == m->rule->high)
            snprintf(buffer, size, "must be a vector of %u element%s", m->rule->low, m->rule->low == 1 ? "" : "s");
        else
            snprintf(buffer, size, "must be a vector of %u to %u elements", m->rule->low, m->rule->high);
    } else {
        int n = snprintf(buffer, size, "must be ");
        describe_rule(m->rule, buffer + n, size - (size_t)n);
    }
}

static bool is_parameter(const hd_symbol *s) { return s->kind == HD_SYMBOL_PARAMETER || s->kind == HD_SYMBOL_RESULT; }

/* Adds a note on how to use a variable that does not fit here: with its state space, or by a mov of its address. */
static void note_space(hd_function *f, const hd_form *form, const hd_mismatch *m, hd_diagnostic *d)
{
    hd_module *module = f->module;
    if (m->operand->kind != HD_OPERAND_SYMBOL)
        return;
    const hd_symbol *s = &module->symbols.items[m->operand->value];
    const char *name = hd_names_text(&module->names, s->name), *space = hd_space_spellings[s->space];
    const char *opcode = hd_opcodes[form->opcode].name;
    if (s->kind == HD_SYMBOL_FUNCTION || s->span.end > module->source->length)
        return;
    bool may_access = form->opcode == HD_OP_LD || (form->opcode == HD_OP_ST && !(f->is_entry && is_parameter(s)));
    if (m->kind == HD_MISMATCH_SPACE && may_access)
        hd_note_add(module->diagnostics, d, module->source, s->span,
                    "'%.80s' is declared in %s here: '%s%s' accesses it", name, space, opcode, space);
    else if (m->kind == HD_MISMATCH_SPACE)
        hd_note_add(module->diagnostics, d, module->source, s->span, "'%.80s' is declared in %s here", name, space);
    else if (m->rule->roles == HD_OPERAND_USE && m->rule->takes & HD_TAKES_REGISTER)
        hd_note_add(module->diagnostics, d, module->source, s->span,
                    is_parameter(s) ? "'%.80s' is a parameter: 'ld.param' reads its value into a register"
                                    : "'%.80s' is declared here: 'mov' puts its address in a register",
                    name);
}

void hd_report_mismatch(hd_function *function, const hd_instruction *insn, const hd_form *form, const hd_mismatch *m)
{
    hd_module *module = function->module;
    const char *spelling = hd_names_text(&module->names, form->spelling);
    char expected[160], found[160];
    if (m->kind == HD_MISMATCH_COUNT) {
        describe_counts(form, expected, sizeof expected);
        hd_report(module->diagnostics, HD_DIAG_OPERAND_COUNT, module->source,
                  hd_operand_span(function, insn, m->operand), "'%.200s' takes %s, %u given", spelling, expected,
                  count_operands(function, insn));
        return;
    }
    describe_expected(m, expected, sizeof expected);
    describe_operand(function, m->operand, found, sizeof found);
    if (m->kind == HD_MISMATCH_LENGTH)
        snprintf(found, sizeof found, "this has %u", m->operand->count);
    bool shows_found = mismatches[m->kind].shows_found;
    hd_diagnostic *d = hd_report(module->diagnostics, mismatches[m->kind].kind, module->source,
                                 hd_operand_span(function, insn, m->operand), "operand %u of '%.200s' %s%s%s",
                                 position_of(function, insn, m->operand), spelling, expected, shows_found ? ", " : "",
                                 shows_found ? found : "");
    note_space(function, form, m, d);
}

bool hd_report_form(hd_function *function, const hd_instruction *insn, const hd_form *form)
{
    hd_module *module = function->module;
    const char *spelling = hd_names_text(&module->names, form->spelling);
    if (form->flags & HD_FORM_INVALID) {
        hd_report(module->diagnostics, (hd_diagnostic_kind)form->error_kind, module->source, insn->span, "%s",
                  form->error);
        return false;
    }
    hd_diagnostic_kind kind = form->flags & HD_FORM_UNKNOWN_OPCODE     ? HD_DIAG_UNKNOWN_OPCODE
                              : form->flags & HD_FORM_UNKNOWN_MODIFIER ? HD_DIAG_UNKNOWN_MODIFIER
                                                                       : HD_DIAG_UNKNOWN_COMBINATION;
    if (module->strict)
        module->diagnostics->severity[kind] = HD_ERROR;
    if (kind == HD_DIAG_UNKNOWN_OPCODE)
        hd_report(module->diagnostics, kind, module->source, insn->span, "unknown opcode '%.200s'; kept as it is",
                  spelling);
    else if (kind == HD_DIAG_UNKNOWN_MODIFIER)
        hd_report(module->diagnostics, kind, module->source, insn->span,
                  "unknown modifier '.%s' of '%.200s'; kept as it is", form->error, spelling);
    else
        hd_report(module->diagnostics, kind, module->source, insn->span, "%s; kept as it is", form->error);
    return !module->strict;
}
