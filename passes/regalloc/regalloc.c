/* regalloc(max=N, banks=2|4): register allocation to the physical registers R0..R254 and P0..P6.
 *
 * In rounds: live ranges (thread level, which suffices for names because writes are masked by lane); spilling until the
 * pressure fits; units of registers that must be adjacent or should be in one register; assignment of registers to
 * units. A round that inserts code is followed by another. Finally registers are renamed (ir/architected.h) and the
 * function is annotated as architected.
 *
 * Method: linear scan over exact live ranges with holes in dominance order, preceded by coalescing of copies, packing
 * and unpacking (as in Chaitin-style allocators) and by spilling for pressure before colouring (as for SSA form).
 *
 * Complexity: a round is near-linear in the instructions and the sizes of the live sets; there are one to a few rounds.
 * Deterministic.
 *
 * Not handled: functions with parameters or results in registers, and functions of modules with module-scope registers
 * (old PTX), stay virtual, with a warning. So do callers that pass vector registers, device functions that may return
 * with registers in flight, and functions that do not fit because of registers in flight (regalloc_async.c). Debug
 * information about register names is not rewritten. Memory operands created by `demo` need no register: their
 * registers get names of their own, %M0, %MD1 and so on in operand order, and nothing is inserted between their loads
 * and the consumer (ir/operand_loads.h). Spill slots of one round are shared, those of different rounds are not. */
#include "passes/regalloc/regalloc_work.h"

#include "ir/asynchronous.h"
#include "ir/build.h"
#include "passes/check/regalloc.h"
#include "target/gpu.h"

#include <stdio.h>

enum { HD_REGALLOC_ROUNDS = 64, HD_REGALLOC_SLACK = 4 };

/* Such an argument cannot be written as its components. */
static bool passes_vectors(const hd_function *f)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_operand *o = hd_insn_operands(f, insn);
        bool is_call = hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL;
        for (uint32_t k = 0; is_call && k < insn->operand_count; k++)
            if (o[k].kind == HD_OPERAND_VECTOR)
                return true;
    }
    return false;
}

/* Then a caller may reuse registers of its frame too early. */
static bool leaves_in_flight(hd_pass_context *context)
{
    const hd_liveness *liveness = hd_analysis_get(context, HD_ANALYSIS_LIVENESS);
    return liveness->spans && liveness->spans->leaves;
}

static bool is_supported(hd_pass_context *context)
{
    const hd_function *f = context->function;
    const char *what = NULL;
    if (f->register_parameters.count || f->register_results.count)
        what = "parameters in registers";
    if (!what && leaves_in_flight(context))
        what = "asynchronous instructions that may have registers in flight when it returns";
    if (!what && passes_vectors(f))
        what = "calls with arguments in vector registers";
    for (uint32_t d = 0; d < f->declarations.count && !what; d++)
        if (f->declarations.items[d].depth == 0)
            what = "registers of module scope";
    for (uint32_t r = 0; r < f->registers.count && !what; r++) {
        const hd_register *reg = &f->registers.items[r];
        bool module_wide =
            reg->declaration < f->declarations.count && f->declarations.items[reg->declaration].depth == 0;
        if (module_wide)
            what = "registers of module scope";
        else if (reg->type != HD_TYPE_CC && hd_physical_class_of((hd_type)reg->type) == HD_PHYSICAL_NONE)
            what = "a register of more than 128 bits";
    }
    if (what)
        hd_report(context->diagnostics, HD_DIAG_NOT_ALLOCATED, f->module->source, f->header_span,
                  "'%s' has %s: its registers stay as they are", hd_names_text(&f->module->names, f->name), what);
    return !what;
}

static void report_virtual(hd_pass_context *context, const char *why)
{
    const hd_function *f = context->function;
    hd_report(context->diagnostics, HD_DIAG_NOT_ALLOCATED, f->module->source, f->header_span,
              "'%s' %s: its registers stay as they are", hd_names_text(&f->module->names, f->name), why);
}

static void start_round(hd_regalloc *ra, uint32_t round)
{
    hd_function *f = ra->function;
    hd_arena_free(ra->arena);
    ra->cfg = hd_function_cfg(f);
    ra->liveness =
        round ? hd_liveness_build(ra->context, ra->arena) : hd_analysis_get(ra->context, HD_ANALYSIS_LIVENESS);
    ra->use_first = ra->uses = NULL;
    hd_regalloc_ranges(ra);
    for (uint32_t r = 0; ra->collected && r < f->registers.count; r++)
        if (ra->collected[r])
            ra->flags.items[r] = HD_NO_SPILL;
    hd_regalloc_pins(ra);
    if (!round) {
        ra->result.peak = ra->ranges.general_peak;
        ra->result.predicate_peak = ra->ranges.predicate_peak;
    }
}

/* Copies the function before the first change, if it may stay virtual. */
static void keep_original(hd_regalloc *ra)
{
    if (ra->optional && !ra->before)
        ra->before = hd_function_copy(ra->function);
}

static void report_failure(hd_regalloc *ra)
{
    const hd_function *f = ra->function;
    char why[160];
    if (ra->optional) {
        if (ra->before)
            hd_function_restore(ra->function, ra->before);
        ra->before = NULL;
        snprintf(why, sizeof why, "does not fit into %u registers and %u predicates%s", ra->max_registers,
                 ra->max_predicates,
                 ra->in_flight
                     ? " with those that asynchronous instructions have in flight, which cannot be spilled there"
                     : "");
        report_virtual(ra->context, why);
        return;
    }
    hd_report(ra->context->diagnostics, HD_DIAG_OUT_OF_REGISTERS, f->module->source, f->header_span,
              "'%s' does not fit into %u registers and %u predicates, even with everything spilled that can be",
              hd_names_text(&f->module->names, f->name), ra->max_registers, ra->max_predicates);
}

static bool spill_some(hd_regalloc *ra)
{
    hd_u32_array spilled = {0};
    bool any = hd_regalloc_choose(ra, &spilled);
    if (any)
        keep_original(ra);
    if (any)
        hd_regalloc_spill(ra, &spilled);
    hd_array_free(&spilled);
    return any;
}

typedef enum outcome { DONE, AGAIN, FAILED } outcome;

static outcome try_round(hd_regalloc *ra)
{
    hd_array_clear(&ra->failed);
    bool crowded = ra->ranges.general_peak > ra->max_registers || ra->ranges.predicate_peak > ra->max_predicates;
    bool tight = crowded || ra->ranges.general_peak > ra->max_registers - ra->slack;
    if (tight && spill_some(ra))
        return AGAIN;
    if (crowded)
        return FAILED;
    hd_u32_array conflicts = {0};
    hd_regalloc_units(ra, &conflicts);
    bool split = conflicts.count != 0;
    if (split)
        keep_original(ra);
    if (split)
        hd_regalloc_split_vectors(ra, &conflicts);
    hd_array_free(&conflicts);
    if (split)
        return AGAIN;
    if (ra->banks)
        hd_regalloc_index_uses(ra);
    if (hd_regalloc_assign(ra))
        return DONE;
    ra->many_failed |= ra->failed.count > HD_MANY_FAILED;
    uint32_t step = ra->failed.count > HD_MANY_FAILED ? HD_REGALLOC_SLACK : 1; /* many failures: save rounds */
    for (; step && ra->slack < HD_REGALLOC_SLACK && ra->slack + HD_UNIT_WORDS < ra->max_registers; step--)
        ra->slack++;
    return spill_some(ra) ? AGAIN : FAILED;
}

static void add_statistics(const hd_regalloc *ra)
{
    const hd_regalloc_result *r = &ra->result;
    hd_pass_context *context = ra->context;
    hd_statistic_add(context, "general registers", r->numbers.registers);
    hd_statistic_add(context, "predicates", r->numbers.predicates);
    hd_statistic_add(context, "maximum register pressure", r->peak);
    hd_statistic_add(context, "registers spilled", r->spilled);
    hd_statistic_add(context, "registers rematerialized", r->rematerialized);
    hd_statistic_add(context, "bytes of spill slots", r->numbers.spill_bytes);
    hd_statistic_add(context, "loads and stores of spill slots", r->loads + r->stores);
    hd_statistic_add(context, "moves for vectors", r->moves);
    hd_statistic_add(context, "moves between predicates and general registers", r->predicate_moves);
}

/* From the final code: some spill loads were rematerialized in a later round. */
static void count_spill_bytes(hd_regalloc *ra)
{
    const hd_function *f = ra->function;
    for (uint32_t i = 0; i < f->instructions.count && ra->slot_symbol != HD_NONE; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_operand *o = hd_insn_operands(f, insn);
        const hd_form *form = hd_insn_form(f, insn);
        for (uint32_t k = 0; k < insn->operand_count; k++) {
            if (o[k].kind != HD_OPERAND_SYMBOL || o[k].value != ra->slot_symbol)
                continue;
            uint32_t bytes = hd_types[form->types[0]].bits / 8;
            *(form->behaviour & HD_BEHAVE_STORE ? &ra->result.spill_store_bytes : &ra->result.spill_load_bytes) +=
                bytes;
        }
    }
}

static bool finish(hd_regalloc *ra)
{
    hd_function *f = ra->function;
    if (ra->slot_symbol != HD_NONE)
        hd_local_resize(f->module, ra->slot_symbol, ra->slot_bytes);
    if (!hd_regalloc_rename(ra))
        return false;
    ra->result.numbers = (hd_architected){ra->used, ra->used_predicates, ra->slot_bytes, ra->ranges.held};
    hd_architected_set(f, &ra->result.numbers);
    count_spill_bytes(ra);
    add_statistics(ra);
    return true;
}

/* Code with more registers than a thread of the requested GPU may have is rejected by it. */
static uint32_t most_registers(const hd_pass_context *context, uint32_t wanted)
{
    uint32_t limit = context->gpu && context->gpu->valid ? context->gpu->limits.registers_per_thread : 0;
    uint32_t most = wanted ? wanted : context->function->max_registers;
    if (limit && (!most || most > limit))
        most = limit;
    return most && most < HD_GENERAL_REGISTERS ? most : HD_GENERAL_REGISTERS;
}

static bool allocate(hd_pass_context *context, const hd_regalloc_options *options, hd_regalloc_result *result)
{
    hd_function *f = context->function;
    hd_arena arena;
    hd_arena_init(&arena);
    hd_regalloc ra = {.context = context, .function = f, .arena = &arena, .banks = options->banks};
    ra.slot_symbol = HD_NONE;
    ra.in_flight = hd_function_has_async(f);
    ra.optional = options->optional || ra.in_flight;
    ra.max_predicates = HD_PREDICATE_REGISTERS;
    ra.max_registers = most_registers(context, options->max);
    if (f->registers.count) {
        memset(hd_array_extend(&ra.flags, f->registers.count), 0, f->registers.count);
        memset(hd_array_extend(&ra.home, f->registers.count), 0, f->registers.count * sizeof(uint32_t));
    }
    outcome o = AGAIN;
    for (uint32_t round = 0; o == AGAIN && round < HD_REGALLOC_ROUNDS; round++) {
        ra.round = round;
        start_round(&ra, round);
        o = try_round(&ra);
    }
    if (o != DONE)
        report_failure(&ra);
    bool fine = o == DONE ? finish(&ra) : ra.optional;
    *result = ra.result;
    result->left_virtual = o != DONE;
    hd_array_free(&ra.ranges.parts);
    hd_array_free(&ra.flags);
    hd_array_free(&ra.home);
    hd_array_free(&ra.failed);
    hd_array_free(&ra.pins);
    hd_function_copy_free(ra.before);
    hd_arena_free(&arena);
    return fine;
}

bool hd_regalloc_run(hd_pass_context *context, const hd_regalloc_options *options, hd_regalloc_result *result)
{
    *result = (hd_regalloc_result){.left_virtual = true};
    if (!is_supported(context))
        return true;
    hd_function *before = context->verify ? hd_function_copy(context->function) : NULL;
    bool fine = allocate(context, options, result);
    if (fine && before && !result->left_virtual)
        fine = hd_check_allocation(before, context->function, context->diagnostics);
    hd_function_copy_free(before);
    return fine;
}

bool hd_pass_regalloc(hd_pass_context *context)
{
    hd_regalloc_options options = {.max = hd_option_number(context, "max", 0)};
    hd_regalloc_result result;
    const char *banks = hd_option_text(context, "banks");
    options.banks = banks ? (uint32_t)(*banks - '0') : 0;
    bool fine = hd_regalloc_run(context, &options, &result);
    bool tried = result.peak || result.predicate_peak; /* an attempt that failed is half rewritten, or was undone */
    return !fine || !result.left_virtual || tried;
}
