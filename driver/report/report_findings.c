/* Findings of a kernel. Linear in instructions. */
#include "driver/report/report_work.h"

#include <assert.h>

#include "emitters/report/quantity.h"

enum { FINDINGS_OF_A_KIND = 8 };

typedef struct ranked {
    hd_report_finding finding;
    uint8_t rank;
} ranked;

typedef struct finder {
    const report_common *common;
    const hd_diagnostics *diagnostics;
    hd_report_kernel *kernel;
    hd_arena *arena;
    HD_ARRAY(ranked) found;
} finder;

static const uint8_t ranks[HD_DIAGNOSTIC_COUNT] = {
#define HD_FINDING(kind, rank) [HD_DIAG_##kind] = rank,
#include "driver/report/findings.def"
#undef HD_FINDING
};
enum { LAST_RANK = 8 };

/* NULL if -W silences the kind. */
static hd_report_finding *add(finder *f, hd_diagnostic_kind kind, uint32_t instruction)
{
    uint8_t severity = f->diagnostics->severity[kind];
    if (severity == HD_SILENT)
        return NULL;
    const hd_report_kernel *k = f->kernel;
    hd_report_finding finding = {
        .rule = hd_diagnostic_slug(kind), .is_error = severity == HD_ERROR, .instruction = instruction};
    finding.position = instruction == HD_REPORT_NONE ? k->position : k->instructions[instruction].position;
    if (!finding.position.ptx_line)
        finding.position = k->position;
    assert(ranks[kind] && ranks[kind] <= LAST_RANK);
    hd_array_push(&f->found, (ranked){finding, ranks[kind]});
    return &hd_array_last(&f->found).finding;
}

/* The assumptions of an occupancy value. */
static const char *conditions(const hd_report_kernel *k)
{
    bool assumed = strcmp(k->block_from, "assumed") == 0;
    if (k->is_machine && k->machine.bound && !k->dynamic_shared_unknown)
        return assumed ? "; the block size is assumed, and not all that a thread block uses is known"
                       : "; not all that a thread block uses is known";
    return k->dynamic_shared_unknown && assumed ? "; the block size is assumed, the dynamic shared memory not known"
           : k->dynamic_shared_unknown          ? "; the dynamic shared memory is not known"
           : assumed                            ? "; the block size is assumed"
                                                : "";
}

static bool is_limited_by(const hd_report_kernel *k, hd_limiter limiter)
{
    return strcmp(k->occupancy.limiter, hd_limiter_names[limiter]) == 0;
}

/* The remedy for a kernel of which no thread block fits. */
static const char *what_fits(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    const char *block =
        k->fitting_block ? hd_arena_printf(f->arena, "; the largest block that fits has %u threads", k->fitting_block)
                         : "; no block size fits";
    return k->fitting_registers ? hd_arena_printf(f->arena, "%s; %u threads fit with at most %u registers", block,
                                                  k->use.threads, k->fitting_registers)
                                : block;
}

static void find_impossible(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    hd_report_finding *found = add(f, HD_DIAG_REGISTER_PRESSURE, HD_REPORT_NONE);
    if (found)
        found->message = hd_arena_printf(
            f->arena,
            "with %u threads, %u registers (%s) and %llu bytes of shared memory no thread block fits on an SM: %s%s%s",
            k->use.threads, k->use.registers, k->registers_from, (unsigned long long)k->use.shared_bytes,
            k->occupancy.impossible, what_fits(f), conditions(k));
}

/* What ptxas made of the kernel under the cap of the next occupancy step; "" where that was not tried. */
static const char *what_ptxas_gave(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    const hd_report_trial *t = NULL;
    for (uint32_t i = 0; i < k->trial_count && !t; i++)
        if (k->trials[i].cap <= k->gain.registers && k->trials[i].ptxas.known)
            t = &k->trials[i];
    if (!t)
        return "";
    if (t->ptxas.spill_stores + t->ptxas.spill_loads)
        return hd_arena_printf(f->arena, "; with %s ptxas uses %u, and stores %llu and loads %llu bytes of spills",
                               t->given, t->ptxas.registers, (unsigned long long)t->ptxas.spill_stores,
                               (unsigned long long)t->ptxas.spill_loads);
    return hd_arena_printf(f->arena, "; with %s ptxas uses %u, without spills", t->given, t->ptxas.registers);
}

static void find_pressure(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    if (k->occupancy.impossible) {
        find_impossible(f);
        return;
    }
    if (!is_limited_by(k, HD_LIMITER_REGISTERS) || !k->gain.exists || hd_report_has_spills(k))
        return;
    hd_report_finding *found = add(f, HD_DIAG_REGISTER_PRESSURE, k->max_pressure_at);
    if (found)
        found->message = hd_arena_printf(
            f->arena,
            "register pressure is highest here; %u registers (%s) allow %u thread blocks of %u threads per SM, %u "
            "would allow %u "
            "(%.0f %% of the warps instead of %.0f %%)%s%s",
            k->use.registers, k->registers_from, k->occupancy.ctas, k->use.threads, k->gain.registers,
            k->gain.then.ctas, 100 * k->gain.then.fraction, 100 * k->occupancy.fraction, what_ptxas_gave(f),
            conditions(k));
}

/* What setmaxnreg asks for and cannot have, or what is already so. */
static void find_budgets(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    const hd_report_budget *b = &k->budget;
    for (uint32_t i = 0; i < b->step_count && b->initial && !b->ignored; i++) {
        const hd_report_budget_step *s = &b->steps[i];
        bool without_effect = s->releases ? s->registers > b->initial : s->registers < b->least;
        bool waits = !s->releases && s->registers == b->most && !b->granted;
        hd_report_finding *found = waits || without_effect ? add(f, HD_DIAG_REGISTER_BUDGET, s->instruction) : NULL;
        if (found && waits)
            found->message = hd_arena_printf(f->arena,
                                             "no warp group ever gets %u registers: %u warp group%s with %u each at "
                                             "launch leave the pool fewer, with "
                                             "all others at %u, so that it waits for ever%s",
                                             s->registers, b->groups, b->groups == 1 ? "" : "s", b->initial, b->least,
                                             conditions(k));
        else if (found)
            found->message = hd_arena_printf(f->arena, "setmaxnreg %s %u registers, and a warp group has %u before it",
                                             s->releases ? "releases down to" : "asks for", s->registers,
                                             s->releases ? b->initial : b->least);
    }
}

static void find_messages(finder *f)
{
    const hd_report_ptxas *p = &f->kernel->ptxas;
    for (uint32_t i = 0; i < p->message_count; i++) {
        const hd_report_message *m = &p->messages[i];
        hd_report_finding *found = add(f, HD_DIAG_PTXAS_MESSAGE, HD_REPORT_NONE);
        if (!found)
            return;
        if (m->position.ptx_line)
            found->position = m->position;
        found->message =
            hd_arena_printf(f->arena, "ptxas %s%s%s: %s%s", m->is_warning ? "warns" : "says", m->code ? " " : "",
                            m->code ? m->code : "", m->text, m->is_shared ? " (it does not say of which kernel)" : "");
    }
}

/* In machine code, spilled registers and variables in local memory look the same. */
static void find_local_memory(finder *f)
{
    const hd_report_machine *m = &f->kernel->machine;
    if (!m->local_stores && !m->local_loads)
        return;
    hd_report_finding *found = add(f, HD_DIAG_REGISTER_SPILL, f->kernel->max_pressure_at);
    if (found)
        found->message = hd_arena_printf(
            f->arena, "the code stores %llu and loads %llu bytes of local memory: spills, or local variables",
            (unsigned long long)m->local_store_bytes, (unsigned long long)m->local_load_bytes);
}

static void find_spills(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    const hd_report_ptxas *p = &k->ptxas;
    const hd_report_spills *own = &k->predicted;
    if (k->is_machine) {
        find_local_memory(f);
        return;
    }
    if (p->known ? !(p->spill_stores + p->spill_loads) : own->unknown || !(own->stores + own->loads))
        return;
    hd_report_finding *found = add(f, HD_DIAG_REGISTER_SPILL, k->max_pressure_at);
    if (found && p->known)
        found->message = hd_arena_printf(
            f->arena, "ptxas stores %llu and loads %llu bytes of registers that do not fit in %u (cap: %s)",
            (unsigned long long)p->spill_stores, (unsigned long long)p->spill_loads, p->registers, k->cap.reason);
    else if (found)
        found->message = hd_arena_printf(
            f->arena, "an allocation stores %llu and loads %llu bytes of registers that do not fit in %u (cap: %s)",
            (unsigned long long)own->stores, (unsigned long long)own->loads, k->cap.registers, k->cap.reason);
}

/* In PTX, before the allocation, conflicts are those of heddle's own and say nothing about that of ptxas. */
static void find_banks(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    if (!k->is_machine || k->machine.banks_unknown || !k->bank_conflicts)
        return;
    hd_report_finding *found = add(f, HD_DIAG_REGISTER_BANKS, HD_REPORT_NONE);
    if (found)
        found->message =
            hd_arena_printf(f->arena, "%llu instruction%s for a bank of the register file (%llu weighted by loops)",
                            (unsigned long long)k->bank_conflicts, k->bank_conflicts == 1 ? " waits" : "s wait",
                            (unsigned long long)k->bank_conflicts_weighted);
}

static void find_local_variables(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    if (k->is_machine || !k->local_bytes)
        return;
    hd_report_finding *found = add(f, HD_DIAG_LOCAL_VARIABLES, HD_REPORT_NONE);
    if (found)
        found->message = hd_arena_printf(f->arena,
                                         "%llu bytes of variables per thread are in local memory: an array stays in "
                                         "registers where all of its indices are constants after unrolling",
                                         (unsigned long long)k->local_bytes);
}

/* More registers than it has are then of no use to its occupancy. */
static bool is_full(const hd_report_kernel *k) { return k->is_entry && k->occupancy.fraction >= 1; }

static bool is_silent(const finder *f, hd_diagnostic_kind kind) { return f->diagnostics->severity[kind] == HD_SILENT; }

static bool is_removable(const hd_report_value *v)
{
    return v->live_through && v->remedy && v->definition != HD_REPORT_NONE;
}

static void find_live_through(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->value_count && count < FINDINGS_OF_A_KIND; i++) {
        const hd_report_value *v = &k->values[i];
        hd_report_finding *found = is_removable(v) ? add(f, HD_DIAG_LIVE_THROUGH_VALUE, v->definition) : NULL;
        if (!found)
            continue;
        count++;
        found->message = hd_arena_printf(f->arena,
                                         "%s%s%s%s fills %u register%s through a loop that does not use it, up to the "
                                         "point of maximum pressure; %s it after the loop",
                                         v->source ? v->source : "", v->source ? " (" : "", k->registers[v->reg].name,
                                         v->source ? ")" : "", v->words, v->words == 1 ? "" : "s", v->remedy);
    }
}

/* Loads in the deepest loops of the kernel that have some: how many, how deep, and the first. */
typedef struct loads {
    uint32_t count, depth, first;
} loads;

static loads deepest_loads(const hd_report_kernel *k)
{
    loads l = {0, 1, HD_REPORT_NONE};
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        const hd_report_instruction *row = &k->instructions[i];
        if (!row->single_use_load || row->loop_depth < l.depth)
            continue;
        if (row->loop_depth > l.depth || !l.count)
            l = (loads){0, row->loop_depth, i};
        l.count++;
    }
    return l;
}

/* One line: nobody changes them one by one. At full occupancy, the live-through values are in it, too. */
static void find_loads_and_values(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    loads l = deepest_loads(k);
    uint32_t values = 0, first = HD_REPORT_NONE;
    l.count = is_silent(f, HD_DIAG_SINGLE_USE_LOAD) ? 0 : l.count;
    for (uint32_t i = 0; i < k->value_count && is_full(k) && !is_silent(f, HD_DIAG_LIVE_THROUGH_VALUE); i++)
        if (is_removable(&k->values[i])) {
            first = values++ ? first : k->values[i].definition;
        }
    hd_report_finding *found = l.count  ? add(f, HD_DIAG_SINGLE_USE_LOAD, l.first)
                               : values ? add(f, HD_DIAG_LIVE_THROUGH_VALUE, first)
                                        : NULL;
    if (!found)
        return;
    const char *of_loads =
        l.count ? hd_arena_printf(f->arena, "%u load%s in loops of depth %u %s a value that a single instruction reads",
                                  l.count, l.count == 1 ? "" : "s", l.depth, l.count == 1 ? "has" : "have")
                : "";
    found->message = values ? hd_arena_printf(f->arena,
                                              "%s%s%u live-through value%s with a remedy, which occupancy does not "
                                              "need: it is full",
                                              of_loads, l.count ? "; " : "", values, values == 1 ? "" : "s")
                            : of_loads;
}

/* By rank; within one, in the order in which they were found. */
static void list_findings(const finder *f)
{
    hd_report_finding *sorted = HD_ARENA_ARRAY(f->arena, hd_report_finding, f->found.count);
    uint32_t count = 0;
    for (uint8_t rank = 1; rank <= LAST_RANK; rank++)
        for (uint32_t i = 0; i < f->found.count; i++)
            if (f->found.items[i].rank == rank)
                sorted[count++] = f->found.items[i].finding;
    f->kernel->findings = count ? sorted : NULL;
    f->kernel->finding_count = count;
}

void report_findings(const report_common *common, hd_report_kernel *kernel, const hd_diagnostics *diagnostics,
                     hd_arena *arena)
{
    finder f = {.common = common, .diagnostics = diagnostics, .kernel = kernel, .arena = arena};
    if (kernel->is_entry) /* other functions run in their callers' blocks */
        find_pressure(&f);
    find_messages(&f);
    find_budgets(&f);
    find_spills(&f);
    find_banks(&f);
    find_local_variables(&f);
    if (!is_full(kernel))
        find_live_through(&f);
    find_loads_and_values(&f);
    list_findings(&f);
    hd_array_free(&f.found);
}
