/* Checks a call against its callee: the number of results and arguments of the function or prototype, and their types
 * if both sides are known. Types match as for registers: the same size, untyped bits with everything, integers with
 * integers.
 *
 * Not checked: the types of a .callprototype (only its counts are kept). */
#include "ir/signature_errors.h"

typedef struct call {
    hd_function *function;
    const hd_instruction *insn;
    const hd_operand *results, *callee, *arguments, *table; /* NULL if absent */
} call;

static call take_apart(hd_function *function, const hd_instruction *insn)
{
    call c = {.function = function, .insn = insn};
    const hd_operand *o = hd_insn_operands(function, insn), *end = o + insn->operand_count;
    for (; o < end; o += hd_operand_extent(o)) {
        if (o->kind == HD_OPERAND_LIST && !c.callee)
            c.results = o;
        else if (o->kind == HD_OPERAND_LIST)
            c.arguments = o;
        else if (!c.callee)
            c.callee = o;
        else
            c.table = o;
    }
    return c;
}

static bool complain(const call *c, const hd_operand *at, const char *format, const char *what)
{
    hd_module *module = c->function->module;
    hd_report(module->diagnostics, HD_DIAG_BAD_CALL, module->source, hd_operand_span(c->function, c->insn, at), format,
              what);
    return false;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static bool types_match(hd_type formal, hd_type actual)
{
    const hd_type_info *f = &hd_types[formal], *a = &hd_types[actual];
    bool f_float = f->class == HD_CLASS_FLOAT, a_float = a->class == HD_CLASS_FLOAT;
    if ((formal == HD_TYPE_PRED) != (actual == HD_TYPE_PRED) || f->bits != a->bits)
        return false;
    return f->class == HD_CLASS_BITS || a->class == HD_CLASS_BITS || f_float == a_float;
}

static bool symbols_match(const hd_symbol *formal, const hd_symbol *actual)
{
    if (formal->dimension_count || actual->dimension_count)
        return formal->is_unsized || (formal->size_bytes == actual->size_bytes && formal->align == actual->align);
    return types_match((hd_type)formal->type, (hd_type)actual->type);
}

static hd_type type_of(const hd_function *f, uint32_t reg) { return (hd_type)f->registers.items[reg].type; }

/* Compares a whole vector register with a formal parameter. */
static bool vector_matches(const call *c, const hd_operand *actual, const hd_formal *formal, hd_type formal_type)
{
    return formal->symbol == HD_NONE && formal->components == actual->count &&
           types_match(formal_type, type_of(c->function, actual[1].value));
}

/* Compares an actual parameter with a formal one, which is a variable or a register of the callee. */
static bool actual_matches(const call *c, const hd_operand *actual, const hd_symbol *formal, hd_type formal_type)
{
    const hd_module *module = c->function->module;
    if (actual->kind == HD_OPERAND_REGISTER)
        return (formal && formal->dimension_count) ? false
                                                   : types_match(formal_type, type_of(c->function, actual->value));
    if (actual->kind == HD_OPERAND_LITERAL)
        return hd_types[formal_type].class != HD_CLASS_FLOAT ||
               module->literals.items[actual->value].kind >= HD_LITERAL_F32_BITS;
    if (actual->kind == HD_OPERAND_SYMBOL) {
        const hd_symbol *symbol = &module->symbols.items[actual->value];
        return formal ? symbols_match(formal, symbol)
                      : types_match(formal_type, (hd_type)symbol->type) && !symbol->dimension_count;
    }
    return true;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* Whether the callee's last parameter (or result) is an array of unspecified size, which may be omitted. */
static bool is_open(const hd_function *callee, bool results)
{
    uint32_t first = results ? callee->result_first : callee->parameter_first;
    uint32_t count = results ? callee->result_count : callee->parameter_count;
    return count && callee->module->symbols.items[first + count - 1].is_unsized;
}

static bool check_count(const call *c, const hd_operand *list, uint32_t expected, bool open, const char *what)
{
    uint32_t given = list ? list->count : 0;
    if (given == expected || (open && given + 1 == expected))
        return true;
    hd_module *module = c->function->module;
    hd_report(module->diagnostics, HD_DIAG_BAD_CALL, module->source,
              hd_operand_span(c->function, c->insn, list ? list : c->callee), "the callee has %u %s%s, %u given",
              expected, what, expected == 1 ? "" : "s", given);
    return false;
}

static bool check_types(const call *c, const hd_operand *list, const hd_function *callee, bool results)
{
    const hd_u32_array *registers = results ? &callee->register_results : &callee->register_parameters;
    const hd_operand *o = list + 1;
    hd_formals walk = {.function = callee, .results = results};
    hd_formal formal;
    for (uint32_t i = 0; i < list->count && hd_formals_next(&walk, &formal); i++, o += hd_operand_extent(o)) {
        const hd_symbol *symbol = formal.symbol == HD_NONE ? NULL : &callee->module->symbols.items[formal.symbol];
        hd_type type = symbol ? (hd_type)symbol->type : type_of(callee, registers->items[formal.first]);
        bool is_vector = o->kind == HD_OPERAND_VECTOR;
        if (is_vector ? !vector_matches(c, o, &formal, type)
                      : formal.components > 1 || !actual_matches(c, o, symbol, type))
            return complain(c, o, "the type of this %s does not match the callee's", results ? "result" : "argument");
    }
    return true;
}

static bool check_against(const call *c, const hd_function *callee)
{
    return check_count(c, c->results, hd_formals_count(callee, true), is_open(callee, true), "result") &&
           check_count(c, c->arguments, hd_formals_count(callee, false), is_open(callee, false), "parameter") &&
           (!c->results || check_types(c, c->results, callee, true)) &&
           (!c->arguments || check_types(c, c->arguments, callee, false));
}

/* Rejects elements that are invalid in the lists of any call. */
static bool check_elements(const call *c, const hd_operand *list)
{
    const hd_module *module = c->function->module;
    const hd_operand *o = list ? list + 1 : NULL;
    for (uint32_t i = 0; list && i < list->count; i++, o += hd_operand_extent(o)) {
        if (o->flags & (HD_OPERAND_NOT | HD_OPERAND_MINUS))
            return complain(c, o, "%s may not be negated here", "an argument");
        if (o->kind != HD_OPERAND_SYMBOL)
            continue;
        const hd_symbol *symbol = &module->symbols.items[o->value];
        if (symbol->kind == HD_SYMBOL_FUNCTION ||
            (symbol->space != HD_SPACE_PARAM && symbol->space != HD_SPACE_PARAM_FUNC &&
             symbol->space != HD_SPACE_PARAM_ENTRY && symbol->space != HD_SPACE_REG))
            return complain(c, o, "'%s' is no .param variable", hd_names_text(&module->names, symbol->name));
        if (symbol->kind == HD_SYMBOL_PARAMETER && symbol->function != HD_NONE &&
            module->functions.items[symbol->function]->is_entry)
            return complain(c, o, "'%s' is a parameter of this kernel, not a .param variable of its body",
                            hd_names_text(&module->names, symbol->name));
    }
    return true;
}

static bool check_table(const call *c)
{
    const hd_function *function = c->function;
    if (c->table->kind != HD_OPERAND_TABLE)
        return true;
    const hd_table *table = &function->tables.items[c->table->value];
    switch ((hd_table_kind)table->kind) {
    case HD_TABLE_BRANCH_TARGETS:
        return complain(c, c->table, "'%s' lists branch targets, not what a call may reach",
                        hd_names_text(&function->module->names, table->name));
    case HD_TABLE_CALL_TARGETS: return true;
    case HD_TABLE_CALL_PROTOTYPE:
        return check_count(c, c->results, table->result_count, false, "result") &&
               check_count(c, c->arguments, table->parameter_count, true, "parameter");
    }
    return true;
}

static bool check_direct(const call *c)
{
    const hd_module *module = c->function->module;
    const hd_symbol *symbol = &module->symbols.items[c->callee->value];
    const char *name = hd_names_text(&module->names, symbol->name);
    if (symbol->kind != HD_SYMBOL_FUNCTION)
        return complain(c, c->callee, "'%s' is no function", name);
    if (c->table)
        return complain(c, c->table, "a call of '%s' by its name takes no table", name);
    if (symbol->function == HD_NONE)
        return true;
    const hd_function *callee = module->functions.items[symbol->function];
    if (callee->is_entry)
        return complain(c, c->callee, "'%s' is a kernel; only device functions are called", name);
    return check_against(c, callee);
}

bool hd_check_call(hd_function *function, const hd_instruction *insn)
{
    call c = take_apart(function, insn);
    if (!check_elements(&c, c.results) || !check_elements(&c, c.arguments))
        return false;
    if (c.callee->kind == HD_OPERAND_SYMBOL)
        return check_direct(&c);
    if (c.callee->kind == HD_OPERAND_REGISTER && !c.table)
        return complain(&c, c.callee, "%s needs the label of a .callprototype or .calltargets after its operands",
                        "an indirect call");
    return !c.table || check_table(&c);
}
