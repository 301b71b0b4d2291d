/* Resources other than registers, uses of loaded values, and results of allocation.
 *
 * Memory and barriers are those named by the kernel's own code and by all functions that it may call. Linear in
 * operands and in the variables named.
 */
#include "driver/report/report_work.h"

enum { WORST_LOOP_DEPTH = 6 };

/* ---- memory and barriers ----------------------------------------------------------------------------------------- */

static uint64_t end_after(uint64_t at, const hd_symbol *s)
{
    uint64_t align = s->align ? s->align : 1;
    return (at + align - 1) / align * align + s->size_bytes;
}

static void add_variables(report_kernel_work *work, const hd_u32_array *variables)
{
    hd_report_kernel *k = work->kernel;
    for (uint32_t i = 0; i < variables->count; i++) {
        const hd_symbol *s = &work->common->module->symbols.items[variables->items[i]];
        k->uses_dynamic_shared |= s->is_unsized && s->space == HD_SPACE_SHARED;
        if (s->is_unsized)
            continue;
        uint64_t *bytes = s->space == HD_SPACE_SHARED ? &k->static_shared_bytes : &k->constant_bytes;
        *bytes = end_after(*bytes, s);
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
                    end_after(work->kernel->local_bytes, &module->symbols.items[group->first + v]);
    }
    for (uint32_t i = 0; i < f->parameter_count; i++)
        work->kernel->parameter_bytes =
            end_after(work->kernel->parameter_bytes, &module->symbols.items[f->parameter_first + i]);
}

static void add_called(report_kernel_work *work)
{
    const report_uses *uses = &work->common->uses[work->function_index];
    work->kernel->barriers = uses->barriers;
    add_variables(work, &uses->variables);
}

/* ---- loads ------------------------------------------------------------------------------------------------------- */

static bool is_load(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    bool parameter =
        form->space == HD_SPACE_PARAM || form->space == HD_SPACE_PARAM_ENTRY || form->space == HD_SPACE_PARAM_FUNC;
    /* a wait is not a load */
    const uint32_t others = HD_BEHAVE_ATOMIC | HD_BEHAVE_STORE | HD_BEHAVE_CALL | HD_BEHAVE_YIELD;
    return form->behaviour & HD_BEHAVE_LOAD && !(form->behaviour & others) && !parameter;
}

void report_loads(report_kernel_work *work)
{
    const hd_function *f = work->function;
    hd_report_kernel *k = work->kernel;
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        uint32_t results = 0, single = 0;
        if (!k->instructions[i].reachable || !is_load(f, insn))
            continue;
        HD_INSN_REGISTERS (f, insn, o) {
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
    report_loads(work);
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

static const char *describe_bounds(report_kernel_work *work, hd_cap_source source)
{
    const hd_function *f = work->input;
    const uint32_t *sizes = f->required_threads[0] ? f->required_threads : f->max_threads;
    uint64_t threads = (uint64_t)sizes[0] * (sizes[1] ? sizes[1] : 1) * (sizes[2] ? sizes[2] : 1);
    const char *directive = f->required_threads[0] ? ".reqntid" : ".maxntid";
    switch (source) {
    case HD_CAP_OPTION: return "--max-registers";
    case HD_CAP_MAXNREG: return hd_arena_printf(work->arena, ".maxnreg %u", f->max_registers);
    case HD_CAP_THREADS:
        return hd_arena_printf(work->arena, "%s of %llu threads", directive, (unsigned long long)threads);
    case HD_CAP_CTAS:
        return hd_arena_printf(work->arena, ".minnctapersm %u with %s of %llu threads", f->min_ctas, directive,
                               (unsigned long long)threads);
    case HD_CAP_GPU: break;
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
    k->estimate = hd_min(estimate, k->cap.registers);
    hd_estimate_interval around = hd_estimate_around(k->estimate, k->cap.registers);
    k->estimate_low = hd_min(around.low, k->estimate);
    k->estimate_high = around.high;
    k->estimate_coverage_percent = around.coverage_percent;
    k->loop = (hd_report_loop){.words = x.loop.words,
                               .constant_offsets = x.loop.constant_offsets,
                               .rematerialized = x.loop.rematerialized,
                               .uniform = x.loop.uniform};
    for (uint32_t i = x.loop.at; x.loop.words && i < work->function->instructions.count && !k->loop.position.ptx_line;
         i++)
        k->loop.position =
            report_position(work->common, &work->function->instructions.items[i]); /* not for inserted instructions */
}

/* Whether two sources are in one bank; a source of several registers counts with its first. */
static bool has_conflict(const hd_function *f, const hd_instruction *insn, uint32_t banks)
{
    uint32_t holder[8]; /* by bank: the register read from it + 1 */
    memset(holder, 0, sizeof holder);
    HD_INSN_REGISTERS (f, insn, o) {
        if (!(o->flags & HD_OPERAND_USE))
            continue;
        hd_physical slot = hd_register_physical(f, o->value);
        if (!slot.words)
            continue;
        uint32_t *held = &holder[slot.number % banks];
        if (*held && *held != slot.number + 1u)
            return true;
        *held = slot.number + 1u;
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

/* Whether an allocation under the cap fits; if not, reports nothing and restores the function. */
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

/* Under the cap; if that does not fit, and no option requests it, without it. */
static bool allocate(report_kernel_work *work, hd_regalloc_result *result)
{
    const hd_report_kernel *k = work->kernel;
    hd_regalloc_options options = {.max = k->cap.registers, .optional = true};
    if (work->cap_source != HD_CAP_OPTION && k->cap.binds && k->max_pressure > k->cap.registers) {
        if (fits_under_cap(work, result))
            return true;
        hd_pass_context_free(&work->context);
        hd_pass_context_init(&work->context, work->function, work->diagnostics);
        options.max = 0;
    }
    return hd_regalloc_run(&work->context, &options, result);
}

/* Our allocation gives each half of a pair a register: if packed ones would fit, its spills are not meaningful. */
static const char *why_spills_differ(const report_kernel_work *work)
{
    const hd_report_kernel *k = work->kernel;
    bool any_packed = false;
    for (uint32_t r = 0; r < k->register_count && !any_packed; r++)
        any_packed = k->registers[r].packed != HD_NONE;
    return any_packed && k->predicted.stores + k->predicted.loads && k->max_pressure <= k->cap.registers
               ? "heddle's own allocation does not pack 16-bit values, and they fit where they are packed"
               : NULL;
}

bool report_allocation(report_kernel_work *work, hd_architected *numbers)
{
    hd_regalloc_result result = {0};
    hd_report_kernel *k = work->kernel;
    *numbers = (hd_architected){k->max_pressure, k->max_predicate_pressure, 0, 0};
    if (!allocate(work, &result))
        return false;
    k->left_virtual = result.left_virtual;
    k->predicted.stores = result.spill_store_bytes;
    k->predicted.loads = result.spill_load_bytes;
    k->predicted.rematerialized = result.rematerialized;
    if (result.left_virtual)
        k->allocated_unknown = "heddle cannot allocate its registers";
    if (!k->predicted.unknown)
        k->predicted.unknown = result.left_virtual ? k->allocated_unknown : why_spills_differ(work);
    if (!k->left_virtual) {
        *numbers = result.numbers;
        count_conflicts(work);
    }
    return true;
}
