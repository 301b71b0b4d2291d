/* What a kernel takes beside registers, what its loads are read by, and what allocation finds.
 *
 * Memory and barriers are those that the kernel's own code and that of all functions it may call mention. A function's
 * name anywhere in an operand or a table of call targets counts as a call. Linear in operands; a kernel's calls are
 * followed once each.
 */
#include "driver/report_work.h"

enum { BARRIERS_OF_A_CTA = 16, WORST_LOOP_DEPTH = 6 };

/* ---- calls ----------------------------------------------------------------------------------------------------------
 */

static uint32_t body_of(const hd_module *module, uint32_t symbol)
{
    const hd_symbol *s = &module->symbols.items[symbol];
    if (s->kind != HD_SYMBOL_FUNCTION || s->function == HD_NONE)
        return HD_NONE;
    if (module->functions.items[s->function]->has_body)
        return s->function;
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.items[i]->name == s->name && module->functions.items[i]->has_body)
            return i;
    return HD_NONE;
}

static void add_callee(const hd_module *module, uint32_t symbol, hd_u32_array *callees)
{
    uint32_t body = body_of(module, symbol);
    for (uint32_t i = 0; i < callees->count && body != HD_NONE; i++)
        if (callees->items[i] == body)
            body = HD_NONE;
    if (body != HD_NONE)
        hd_array_push(callees, body);
}

static bool is_indirect_call(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    if (!(hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL))
        return false;
    while (o < end && o->kind == HD_OPERAND_LIST)
        o += hd_operand_extent(o);
    return o < end && o->kind != HD_OPERAND_SYMBOL;
}

void report_find_uses(const hd_module *module, uint32_t function, report_uses *uses)
{
    const hd_function *f = module->functions.items[function];
    for (uint32_t i = 0; i < f->operands.count; i++) {
        const hd_operand *o = &f->operands.items[i];
        if (o->kind != HD_OPERAND_SYMBOL)
            continue;
        const hd_symbol *s = &module->symbols.items[o->value];
        if (s->kind == HD_SYMBOL_FUNCTION)
            add_callee(module, o->value, &uses->callees);
        else if (s->kind == HD_SYMBOL_VARIABLE && (s->space == HD_SPACE_SHARED || s->space == HD_SPACE_CONST))
            hd_array_push(&uses->variables, o->value);
    }
    for (uint32_t i = 0; i < f->instructions.count && !uses->indirect; i++)
        uses->indirect = is_indirect_call(f, &f->instructions.items[i]);
    for (uint32_t t = 0; t < f->tables.count; t++)
        for (uint32_t i = 0; f->tables.items[t].kind == HD_TABLE_CALL_TARGETS && i < f->tables.items[t].count; i++)
            add_callee(module, f->table_entries.items[f->tables.items[t].first + i], &uses->callees);
}

/* The function and all that it may call, each once. */
static void follow_calls(const report_common *c, uint32_t function, hd_arena *scratch, hd_u32_array *all)
{
    hd_array_push(all, function);
    if (!c->uses[function].callees.count)
        return;
    bool *seen = HD_ARENA_ARRAY(scratch, bool, c->module->functions.count);
    seen[function] = true;
    for (uint32_t i = 0; i < all->count; i++) {
        const hd_u32_array *callees = &c->uses[all->items[i]].callees;
        for (uint32_t k = 0; k < callees->count; k++) {
            if (seen[callees->items[k]])
                continue;
            seen[callees->items[k]] = true;
            hd_array_push(all, callees->items[k]);
        }
    }
}

/* ---- memory and barriers --------------------------------------------------------------------------------------------
 */

static uint64_t place_after(uint64_t at, const hd_symbol *s)
{
    uint64_t align = s->align ? s->align : 1;
    return (at + align - 1) / align * align + s->size_bytes;
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Variables in the order of their declaration, each once. */
static void add_variables(report_kernel_work *work, hd_u32_array *variables)
{
    hd_report_kernel *k = work->kernel;
    if (variables->count)
        qsort(variables->items, variables->count, sizeof(uint32_t), compare_ids);
    for (uint32_t i = 0; i < variables->count; i++) {
        const hd_symbol *s = &work->common->module->symbols.items[variables->items[i]];
        if (s->is_unsized || (i && variables->items[i] == variables->items[i - 1]))
            continue;
        uint64_t *bytes = s->space == HD_SPACE_SHARED ? &k->static_shared_bytes : &k->constant_bytes;
        *bytes = place_after(*bytes, s);
    }
}

static void add_own_memory(report_kernel_work *work)
{
    const hd_function *f = work->input;
    const hd_module *module = work->common->module;
    for (uint32_t i = 0; i < f->statements.count; i++) {
        if (f->statements.items[i].kind != HD_STATEMENT_VARIABLES)
            continue;
        const hd_group *group = &module->variable_groups.items[f->statements.items[i].index];
        for (uint32_t v = 0; v < group->count; v++)
            if (module->symbols.items[group->first + v].space == HD_SPACE_LOCAL)
                work->kernel->local_bytes =
                    place_after(work->kernel->local_bytes, &module->symbols.items[group->first + v]);
    }
    for (uint32_t i = 0; i < f->parameter_count; i++)
        work->kernel->parameter_bytes =
            place_after(work->kernel->parameter_bytes, &module->symbols.items[f->parameter_first + i]);
}

/* The barriers that an instruction names: the highest and 1; all where a register says which. */
static uint32_t barriers_of(const hd_function *f, const hd_instruction *insn)
{
    uint16_t opcode = hd_insn_form(f, insn)->opcode;
    if (opcode != HD_OP_BAR && opcode != HD_OP_BARRIER)
        return 0;
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i += hd_operand_extent(&o[i])) {
        if (o[i].flags & HD_OPERAND_DEF)
            continue;
        uint64_t id = o[i].kind == HD_OPERAND_LITERAL ? f->module->literals.items[o[i].value].bits : BARRIERS_OF_A_CTA;
        return id < BARRIERS_OF_A_CTA ? (uint32_t)id + 1 : BARRIERS_OF_A_CTA;
    }
    return 1;
}

static void add_called(report_kernel_work *work)
{
    const report_common *c = work->common;
    hd_u32_array all = {0}, variables = {0};
    follow_calls(c, work->function_index, &work->scratch, &all);
    for (uint32_t i = 0; i < all.count; i++) {
        const hd_function *f = c->module->functions.items[all.items[i]];
        const report_uses *uses = &c->uses[all.items[i]];
        for (uint32_t v = 0; v < uses->variables.count; v++)
            hd_array_push(&variables, uses->variables.items[v]);
        for (uint32_t n = 0; n < f->instructions.count; n++) {
            uint32_t barriers = barriers_of(f, &f->instructions.items[n]);
            work->kernel->barriers = barriers > work->kernel->barriers ? barriers : work->kernel->barriers;
        }
    }
    add_variables(work, &variables);
    hd_array_free(&all);
    hd_array_free(&variables);
}

/* ---- loads ----------------------------------------------------------------------------------------------------------
 */

static bool is_load(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    bool parameter =
        form->space == HD_SPACE_PARAM || form->space == HD_SPACE_PARAM_ENTRY || form->space == HD_SPACE_PARAM_FUNC;
    return form->behaviour & HD_BEHAVE_LOAD &&
           !(form->behaviour & (HD_BEHAVE_ATOMIC | HD_BEHAVE_STORE | HD_BEHAVE_CALL)) && !parameter;
}

static void count_loads(report_kernel_work *work)
{
    const hd_function *f = work->function;
    hd_report_kernel *k = work->kernel;
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        uint32_t results = 0, single = 0;
        if (!k->instructions[i].reachable || !is_load(f, insn))
            continue;
        HD_INSN_REGISTERS(f, insn, o)
        {
            if (!(o->flags & HD_OPERAND_DEF))
                continue;
            results++;
            single += work->definitions[o->value] == 1 && work->reads[o->value] == 1;
        }
        k->loads += results > 0;
        k->instructions[i].single_use_load = results && single == results;
        k->single_use_loads += k->instructions[i].single_use_load;
    }
}

void report_resources(report_kernel_work *work)
{
    add_own_memory(work);
    add_called(work);
    count_loads(work);
}

/* ---- registers ------------------------------------------------------------------------------------------------------
 */

static const char *describe_bounds(report_kernel_work *work, hd_cap_source source)
{
    const hd_function *f = work->input;
    const uint32_t *sizes = f->required_threads[0] ? f->required_threads : f->max_threads;
    uint64_t threads = (uint64_t)sizes[0] * (sizes[1] ? sizes[1] : 1) * (sizes[2] ? sizes[2] : 1);
    const char *directive = f->required_threads[0] ? ".reqntid" : ".maxntid";
    switch (source) {
    case HD_CAP_OPTION:
        return "--max-registers";
    case HD_CAP_MAXNREG:
        return hd_arena_printf(work->arena, ".maxnreg %u", f->max_registers);
    case HD_CAP_THREADS:
        return hd_arena_printf(work->arena, "%s of %llu threads", directive, (unsigned long long)threads);
    case HD_CAP_CTAS:
        return hd_arena_printf(work->arena, ".minnctapersm %u with %s of %llu threads", f->min_ctas, directive,
                               (unsigned long long)threads);
    case HD_CAP_GPU:
        break;
    }
    return "the GPU";
}

void report_cap(report_kernel_work *work)
{
    const report_common *c = work->common;
    hd_register_cap cap = hd_estimate_cap(work->input, &c->gpu->limits, c->options->max_registers);
    hd_report_cap *k = &work->kernel->cap;
    *k = (hd_report_cap){cap.registers, cap.source != HD_CAP_GPU, describe_bounds(work, cap.source), NULL};
    work->cap_source = cap.source;
    if (cap.option_ignored)
        k->ignored = "--max-registers counts for nothing beside launch bounds, as -maxrregcount";
    else if (cap.ctas_ignored)
        k->ignored = hd_arena_printf(work->arena, ".minnctapersm %u counts for nothing: %s", work->input->min_ctas,
                                     work->input->max_threads[0] || work->input->required_threads[0]
                                         ? "an SM never holds so many"
                                         : "there is neither .maxntid nor .reqntid");
}

void report_estimate(report_kernel_work *work)
{
    hd_estimate_features x;
    hd_report_kernel *k = work->kernel;
    hd_estimate_measure(&work->context, &x);
    uint32_t estimate = hd_estimate_model(work->function, &x, &work->common->gpu->limits);
    k->estimate = estimate < k->cap.registers ? estimate : k->cap.registers;
    k->loop = (hd_report_loop){.words = x.loop.words,
                               .joined = x.loop.joined,
                               .rematerialized = x.loop.rematerialized,
                               .uniform = x.loop.uniform};
    for (uint32_t i = x.loop.at; x.loop.words && i < work->function->instructions.count && !k->loop.place.ptx_line; i++)
        k->loop.place = report_place(work->common, &work->function->instructions.items[i]); /* not of what was added */
}

/* Whether two sources stand in one bank; a source of several registers counts with its first. */
static bool has_conflict(const hd_function *f, const hd_instruction *insn, uint32_t banks)
{
    uint32_t holder[8]; /* by bank: the register read from it + 1 */
    memset(holder, 0, sizeof holder);
    HD_INSN_REGISTERS(f, insn, o)
    {
        if (!(o->flags & HD_OPERAND_USE))
            continue;
        hd_physical place = hd_register_physical(f, o->value);
        if (!place.words)
            continue;
        uint32_t *held = &holder[place.number % banks];
        if (*held && *held != place.number + 1u)
            return true;
        *held = place.number + 1u;
    }
    return false;
}

static void count_conflicts(report_kernel_work *work)
{
    const hd_function *f = work->function;
    const hd_cfg *cfg = hd_function_cfg(work->function);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_block *block = &cfg->blocks[cfg->block_of[i]];
        if (!block->reachable || hd_insn_is_identity(f, insn) || !has_conflict(f, insn, work->common->banks))
            continue;
        uint32_t depth = block->loop == HD_NONE ? 0 : cfg->loops[block->loop].depth;
        uint64_t weight = 1;
        for (uint32_t d = 0; d < depth && d < WORST_LOOP_DEPTH; d++)
            weight *= 10;
        work->kernel->bank_conflicts++;
        work->kernel->bank_conflicts_weighted += weight;
    }
}

/* Whether an allocation under the cap fits; says nothing where it does not, and the function is as it was. */
static bool fits_under_cap(report_kernel_work *work, hd_regalloc_result *result)
{
    hd_report_kernel *k = work->kernel;
    hd_regalloc_options options = {.max = k->cap.registers, .optional = true};
    hd_diagnostics own, *reported = work->context.diagnostics;
    hd_diagnostics_init(&own);
    work->context.diagnostics = &own;
    bool fits = hd_regalloc_run(&work->context, &options, result) && !result->left_virtual;
    work->context.diagnostics = reported;
    if (!fits && own.first)
        k->predicted.unknown = hd_arena_string(work->arena, own.first->message, strlen(own.first->message));
    hd_diagnostics_free(&own);
    return fits;
}

/* Under the cap; where that does not fit, but for an option that asks for it, without. */
static bool allocate(report_kernel_work *work, hd_regalloc_result *result)
{
    const hd_report_kernel *k = work->kernel;
    hd_regalloc_options options = {.max = k->cap.registers, .optional = true};
    if (work->cap_source != HD_CAP_OPTION && k->cap.binds && k->live_peak > k->cap.registers) {
        if (fits_under_cap(work, result))
            return true;
        hd_pass_context_free(&work->context);
        hd_pass_context_init(&work->context, work->function, work->diagnostics);
        options.max = 0;
    }
    return hd_regalloc_run(&work->context, &options, result);
}

bool report_allocation(report_kernel_work *work, hd_architected *numbers)
{
    hd_regalloc_result result = {0};
    hd_report_kernel *k = work->kernel;
    *numbers = (hd_architected){k->live_peak, k->live_peak_predicates, 0, 0};
    if (!allocate(work, &result))
        return false;
    work->allocated = !result.left_virtual;
    if (result.left_virtual && !k->predicted.unknown)
        k->predicted.unknown = "heddle cannot allocate its registers";
    k->predicted.stores = result.spill_store_bytes;
    k->predicted.loads = result.spill_load_bytes;
    k->predicted.rematerialized = result.rematerialized;
    if (work->allocated) {
        *numbers = result.numbers;
        count_conflicts(work);
    }
    return true;
}
