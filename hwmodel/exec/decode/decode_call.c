/* Decodes calls: direct, through a register with a .callprototype or .calltargets, and of the device runtime; alloca
 * and its stack.
 *
 * The possible targets of an indirect call: those that .calltargets lists, or all functions whose address an
 * initializer or an instruction of the module takes and whose results and parameters match the call's in size. All of
 * them become part of the program. */
#include "hwmodel/exec/ops/builtin.h"
#include "hwmodel/exec/decode/decoder.h"

enum { OPEN_BYTES = 1024 }; /* as in layout.c for a last parameter without a size */

typedef struct parts {
    const hd_operand *results, *callee, *arguments, *table; /* NULL if absent */
} parts;

static parts take_apart(const hd_operand *const *operands, uint32_t count)
{
    parts p = {0};
    uint32_t k = operands[0]->kind == HD_OPERAND_LIST;
    p.results = k ? operands[0] : NULL;
    p.callee = operands[k++];
    if (k < count && operands[k]->kind == HD_OPERAND_LIST)
        p.arguments = operands[k++];
    p.table = k < count ? operands[k] : NULL;
    return p;
}

/* ---- possible callees -------------------------------------------------------------------------------------------- */

/* The function with a body that a symbol names, or NULL. */
static const hd_function *body_of(const hd_module *m, uint32_t symbol)
{
    const hd_symbol *s = &m->symbols.items[symbol];
    if (s->kind != HD_SYMBOL_FUNCTION)
        return NULL;
    const hd_function *f = s->function == HD_NONE ? NULL : m->functions.items[s->function];
    f = f && f->has_body ? f : hd_module_function(m, s->name);
    return f && f->has_body ? f : NULL;
}

static void add_address_taken(const hd_module *m, hd_u32_array *found, uint32_t symbol)
{
    const hd_function *f = body_of(m, symbol);
    if (!f || f->is_entry)
        return;
    for (uint32_t i = 0; i < found->count; i++)
        if (found->items[i] == f->symbol)
            return;
    hd_array_push(found, f->symbol);
}

static void add_from_function(const hd_module *m, const hd_function *f, hd_u32_array *found)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_operand *o = hd_insn_operands(f, insn);
        if (hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL)
            continue;
        for (uint32_t k = 0; k < insn->operand_count; k++)
            if (o[k].kind == HD_OPERAND_SYMBOL)
                add_address_taken(m, found, o[k].value);
    }
}

/* Symbols of all functions of the module whose address is taken; computed once. */
static const hd_u32_array *address_taken(hd_decoder *d)
{
    const hd_module *m = d->module;
    if (d->has_address_taken)
        return &d->address_taken;
    for (uint32_t i = 0; i < m->initializers.count; i++)
        if (m->initializers.items[i].kind == HD_INIT_ADDRESS)
            add_address_taken(m, &d->address_taken, m->initializers.items[i].symbol);
    for (uint32_t i = 0; i < m->functions.count; i++)
        add_from_function(m, m->functions.items[i], &d->address_taken);
    d->has_address_taken = true;
    return &d->address_taken;
}

static bool same_lists(const hd_function *f, uint32_t results, uint32_t parameters)
{
    return hd_formals_count(f, true) == results && hd_formals_count(f, false) == parameters;
}

/* Symbols of the functions that an instruction may call and that have a body. */
static void list_callees(hd_decoder *d, const hd_function *f, const parts *p, hd_u32_array *found)
{
    if (p->callee->kind == HD_OPERAND_SYMBOL && body_of(d->module, p->callee->value))
        hd_array_push(found, p->callee->value);
    if (p->callee->kind == HD_OPERAND_SYMBOL || !p->table || p->table->kind != HD_OPERAND_TABLE)
        return;
    const hd_table *t = &f->tables.items[p->table->value];
    const hd_u32_array *taken = address_taken(d);
    uint32_t results = p->results ? p->results->count : 0, arguments = p->arguments ? p->arguments->count : 0;
    for (uint32_t i = 0; t->kind == HD_TABLE_CALL_TARGETS && i < t->count; i++)
        if (body_of(d->module, f->table_entries.items[t->first + i]))
            hd_array_push(found, f->table_entries.items[t->first + i]);
    for (uint32_t i = 0; t->kind == HD_TABLE_CALL_PROTOTYPE && i < taken->count; i++)
        if (same_lists(body_of(d->module, taken->items[i]), results, arguments))
            hd_array_push(found, taken->items[i]);
}

void hd_decode_add_callees(hd_decoder *d, const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *top[HD_MOST_OPERANDS], *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    uint32_t count = 0;
    hd_u32_array found = {0};
    for (; o < end && count < HD_MOST_OPERANDS; o += hd_operand_extent(o))
        if (!(o->flags & HD_OPERAND_IMPLICIT))
            top[count++] = o;
    parts p = take_apart(top, count);
    list_callees(d, f, &p, &found);
    for (uint32_t i = 0; i < found.count; i++)
        hd_decode_add_code(d, body_of(d->module, found.items[i]));
    hd_array_free(&found);
}

static uint32_t code_of(const hd_decoder *d, const hd_function *f)
{
    for (uint32_t i = 0; i < d->program->codes.count; i++)
        if (d->program->codes.items[i]->function == f)
            return i;
    return HD_NONE;
}

/* ---- arguments and results --------------------------------------------------------------------------------------- */

/* The declaration of one result or parameter, or of one component. */
typedef struct formal {
    hd_type type;
    uint32_t bytes, offset; /* for a variable */
    hd_ref row;             /* of a register, or HD_NO_REF */
    bool open;              /* has no size and accepts any */
} formal;

static formal formal_variable(const hd_decoder *d, uint32_t symbol)
{
    const hd_symbol *s = &d->module->symbols.items[symbol];
    return (formal){(hd_type)s->type, (uint32_t)s->size_bytes, d->symbol_offset[symbol], HD_NO_REF, s->is_unsized};
}

static formal formal_register(const hd_code *code, bool result, uint32_t i)
{
    const hd_function *f = code->function;
    uint32_t reg = (result ? &f->register_results : &f->register_parameters)->items[i];
    return (formal){(hd_type)f->registers.items[reg].type, hd_register_lane_bytes(f, reg), 0,
                    code->formals[result ? i : f->register_results.count + i], false};
}

/* The caller's side; false if it does not match the formal. */
static bool match(hd_decoder *d, const hd_operand *o, const formal *f, bool result, hd_call_copy *c)
{
    *c = (hd_call_copy){HD_NO_REF, f->row, 0, f->offset, f->bytes, 0};
    if (o->kind == HD_OPERAND_SYMBOL) {
        uint64_t size = d->module->symbols.items[o->value].size_bytes;
        c->local = hd_decode_frame_offset(d, o->value);
        c->row_bytes = f->bytes;
        if (f->open && size <= OPEN_BYTES)
            c->bytes = (uint32_t)size;
        return c->local != HD_NONE && (f->row == HD_NO_REF || f->bytes) && size == c->bytes;
    }
    if (result && o->kind == HD_OPERAND_SINK) {
        c->bytes = 0;
        return true;
    }
    c->row = result ? hd_decode_destination(d, o) : hd_decode_source(d, o, f->type);
    c->row_bytes = hd_decode_lane_bytes(d, o, f->type);
    if (f->row != HD_NO_REF)
        return c->row != HD_NO_REF && c->row_bytes == f->bytes;
    return c->row != HD_NO_REF && c->bytes && c->row_bytes >= c->bytes && !f->open;
}

/* Adds one element of a list; a vector is passed by component. */
static bool add_element(hd_decoder *d, const hd_operand *o, const hd_code *code, bool result, const hd_formal *to)
{
    bool is_vector = o->kind == HD_OPERAND_VECTOR;
    uint32_t count = to->symbol == HD_NONE ? to->components : 1;
    if (count != (is_vector ? o->count : 1))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        formal f =
            to->symbol == HD_NONE ? formal_register(code, result, to->first + i) : formal_variable(d, to->symbol);
        hd_call_copy c;
        if (!match(d, is_vector ? o + 1 + i : o, &f, result, &c))
            return false;
        hd_array_push(&d->code->copies, c);
    }
    return true;
}

/* The copies for one list; false if the number or sizes do not match the function's. */
static bool add_list(hd_decoder *d, const hd_operand *list, const hd_code *code, bool result)
{
    const hd_operand *o = list ? list + 1 : NULL;
    hd_formals walk = {.function = code->function, .results = result};
    hd_formal to;
    uint32_t given = list ? list->count : 0, i = 0;
    for (; hd_formals_next(&walk, &to); i++) {
        if (i == given) /* a last parameter without a size may be omitted */
            return !result && to.symbol != HD_NONE && formal_variable(d, to.symbol).open &&
                   !hd_formals_next(&walk, &to);
        if (!add_element(d, o, code, result, &to))
            return false;
        o += hd_operand_extent(o);
    }
    return i == given;
}

/* The number of values that a list passes. */
static uint32_t copies_of(const hd_operand *list)
{
    uint32_t count = 0;
    const hd_operand *o = list ? list + 1 : NULL;
    for (uint32_t i = 0; list && i < list->count; i++, o += hd_operand_extent(o))
        count += o->kind == HD_OPERAND_VECTOR ? o->count : 1;
    return count;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static bool add_callee(hd_decoder *d, const parts *p, uint32_t symbol, hd_callee *callee)
{
    uint32_t before = d->code->copies.count;
    callee->code = code_of(d, body_of(d->module, symbol));
    callee->address = d->program->image->addresses[symbol];
    callee->first = before;
    if (callee->code == HD_NONE)
        return false;
    const hd_code *code = d->program->codes.items[callee->code];
    if (add_list(d, p->arguments, code, false) && add_list(d, p->results, code, true))
        return true;
    d->code->copies.count = before;
    return false;
}

/* Arguments and result of a runtime function: scalars, in the caller's own memory. */
static bool add_builtin_list(hd_decoder *d, const hd_operand *list, uint32_t expected, bool result)
{
    const hd_operand *o = list ? list + 1 : NULL;
    if ((list ? list->count : 0) != expected)
        return hd_decode_unsupported(d, "another number of arguments than the runtime's function takes");
    for (uint32_t i = 0; i < expected; i++, o += hd_operand_extent(o)) {
        hd_call_copy c = {.row = HD_NO_REF, .formal = HD_NO_REF};
        if (o->kind == HD_OPERAND_SYMBOL) {
            c.local = hd_decode_frame_offset(d, o->value);
            c.bytes = (uint32_t)d->module->symbols.items[o->value].size_bytes;
        } else if (!result || o->kind != HD_OPERAND_SINK) {
            c.row = result ? hd_decode_destination(d, o) : hd_decode_source(d, o, HD_TYPE_B64);
            c.bytes = c.row_bytes = hd_decode_lane_bytes(d, o, HD_TYPE_B64);
        }
        if (c.bytes > 8 || (c.row == HD_NO_REF && c.local == HD_NONE))
            return hd_decode_unsupported(d, "an argument of this kind");
        hd_array_push(&d->code->copies, c);
    }
    return true;
}

static bool decode_builtin(hd_decoder *d, const parts *p, const hd_builtin *builtin, hd_call *call)
{
    hd_op *op = d->op;
    op->run = builtin->run;
    op->flags |= HD_OP_ORDERED;
    op->first = d->code->copies.count;
    op->cache_slot = d->program->cache_slots++;
    call->arguments = (uint32_t)strlen(builtin->parameters);
    call->results = p->results && builtin->result_bytes;
    if (builtin->heap && !hd_memory_need_heap(d->program->image->memory))
        return hd_decode_unsupported(d, "a device heap that has no room left");
    return add_builtin_list(d, p->arguments, call->arguments, false) &&
           add_builtin_list(d, p->results, call->results, true);
}

static bool decode_direct(hd_decoder *d, const parts *p, hd_call *call)
{
    const hd_symbol *s = &d->module->symbols.items[p->callee->value];
    const char *name = hd_names_text(&d->module->names, s->name);
    hd_callee *callee = HD_ARENA_NEW(&d->program->arena, hd_callee);
    const hd_function *body = body_of(d->module, p->callee->value);
    const hd_builtin *builtin = body ? NULL : hd_builtin_find(name);
    if (builtin)
        return decode_builtin(d, p, builtin, call);
    if (!body)
        return hd_decode_unsupported(d, name);
    call->callees = callee;
    call->count = 1;
    call->no_return = body->no_return;
    return add_callee(d, p, p->callee->value, callee) ||
           hd_decode_unsupported(d, "arguments or results that do not fit the function's");
}

static bool decode_indirect(hd_decoder *d, const parts *p, hd_call *call)
{
    hd_u32_array found = {0};
    list_callees(d, d->function, p, &found);
    hd_callee *callees = HD_ARENA_ARRAY(&d->program->arena, hd_callee, found.count + 1);
    for (uint32_t i = 0; i < found.count; i++)
        call->count += add_callee(d, p, found.items[i], &callees[call->count]);
    hd_array_free(&found);
    call->callees = callees;
    call->indirect = true;
    call->no_return = d->function->tables.items[p->table->value].no_return;
    d->op->a = hd_decode_source(d, p->callee, HD_TYPE_B64);
    d->op->a_bytes = (uint8_t)hd_decode_lane_bytes(d, p->callee, HD_TYPE_B64);
    return (d->op->a_bytes == 4 || d->op->a_bytes == 8) || hd_decode_unsupported(d, "an address of this width");
}

bool hd_decode_call(hd_decoder *d)
{
    parts p = take_apart(d->operands, d->operand_count);
    hd_call *call = HD_ARENA_NEW(&d->program->arena, hd_call);
    d->op->run = hd_run_call;
    d->op->flags |= HD_OP_CONTROL;
    d->op->use.detail = call;
    call->arguments = copies_of(p.arguments);
    call->results = copies_of(p.results);
    if (p.callee->kind == HD_OPERAND_SYMBOL)
        return decode_direct(d, &p, call);
    if (p.callee->kind != HD_OPERAND_REGISTER || !p.table || p.table->kind != HD_OPERAND_TABLE)
        return hd_decode_unsupported(d, "a callee of this kind");
    return decode_indirect(d, &p, call);
}

/* ---- alloca ------------------------------------------------------------------------------------------------------ */

bool hd_decode_alloca(hd_decoder *d)
{
    hd_op *op = d->op;
    bool restores = d->form->opcode == HD_OP_STACKRESTORE, saves = d->form->opcode == HD_OP_STACKSAVE;
    hd_type type = hd_decode_type(d, 0);
    const hd_operand *from = restores ? d->operands[0] : saves ? NULL : d->operands[1];
    op->run = restores ? hd_run_stack_restore : saves ? hd_run_stack_save : hd_run_alloca;
    if (!restores) {
        op->d = hd_decode_destination(d, d->operands[0]);
        op->d_bytes = (uint8_t)hd_decode_lane_bytes(d, d->operands[0], type);
        if (op->d == HD_NO_REF || (op->d_bytes != 4 && op->d_bytes != 8))
            return hd_decode_unsupported(d, "a destination of this kind");
    }
    if (from) {
        op->a = hd_decode_source(d, from, type);
        op->a_bytes = (uint8_t)hd_decode_lane_bytes(d, from, type);
    }
    op->offset = d->operand_count > 2 ? (int64_t)hd_decode_literal(d, d->operands[2], HD_TYPE_U32) : 8;
    if (op->offset < 1 || op->offset > 1 << 16 || op->offset & (op->offset - 1))
        return hd_decode_unsupported(d, "an alignment that is no power of two up to 65536");
    return true;
}
