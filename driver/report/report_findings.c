/* Findings of a kernel. Linear in instructions. */
#include "driver/report/report_work.h"

#include "emitters/quantity.h"

enum { FINDINGS_OF_A_KIND = 8 };

typedef struct finder {
    const report_common *common;
    const hd_diagnostics *diagnostics;
    hd_report_kernel *kernel;
    hd_arena *arena;
    HD_ARRAY(hd_report_finding) found;
} finder;

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
    hd_array_push(&f->found, finding);
    return &hd_array_last(&f->found);
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
            "with %u threads, %u registers (%s) and %u bytes of shared memory no thread block fits on an SM: %s%s%s",
            k->use.threads, k->use.registers, k->registers_from, k->use.shared_bytes, k->occupancy.impossible,
            what_fits(f), conditions(k));
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

static void find_live_through(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->value_count && count < FINDINGS_OF_A_KIND; i++) {
        const hd_report_value *v = &k->values[i];
        uint32_t words = v->words;
        if (!v->live_through || !v->remedy || v->definition == HD_REPORT_NONE)
            continue;
        hd_report_finding *found = add(f, HD_DIAG_LIVE_THROUGH_VALUE, v->definition);
        if (!found)
            return;
        count++;
        found->message = hd_arena_printf(f->arena,
                                         "%s fills %u register%s through a loop that does not use it, up to the point "
                                         "of maximum pressure; %s it after the loop",
                                         k->registers[v->reg].name, words, words == 1 ? "" : "s", v->remedy);
    }
}

/* Loads in the deepest loops of the kernel, one finding per source line. */
static void find_loads(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    uint32_t depth = 1, count = 0;
    const hd_report_position *last = NULL;
    for (uint32_t i = 0; i < k->instruction_count; i++)
        if (k->instructions[i].single_use_load && k->instructions[i].loop_depth > depth)
            depth = k->instructions[i].loop_depth;
    for (uint32_t i = 0; i < k->instruction_count && count < FINDINGS_OF_A_KIND; i++) {
        const hd_report_instruction *row = &k->instructions[i];
        if (!row->single_use_load || row->loop_depth != depth)
            continue;
        if (last && row->position.file && last->file == row->position.file && last->line == row->position.line)
            continue;
        hd_report_finding *found = add(f, HD_DIAG_SINGLE_USE_LOAD, i);
        if (!found)
            return;
        count++;
        last = &row->position;
        found->message = hd_arena_printf(
            f->arena, "a load in a loop of depth %u whose value a single instruction reads: %s", depth, row->text);
    }
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
    find_live_through(&f);
    find_loads(&f);
    kernel->finding_count = f.found.count;
    kernel->findings =
        f.found.count ? hd_arena_copy(arena, f.found.items, f.found.count * sizeof *f.found.items) : NULL;
    hd_array_free(&f.found);
}
