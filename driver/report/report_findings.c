/* Occupancy of a kernel, and its findings. Linear in instructions. */
#include "driver/report/report_work.h"

#include "emitters/quantity.h"

enum { DEFAULT_THREADS = 256, SWEEP_STEP = 32, FINDINGS_OF_A_KIND = 8 };

/* ---- occupancy --------------------------------------------------------------------------------------------------- */

static uint64_t product_of(const uint32_t sizes[3])
{
    return (uint64_t)sizes[0] * (sizes[1] ? sizes[1] : 1) * (sizes[2] ? sizes[2] : 1);
}

static uint32_t threads_of(const report_common *c, const hd_function *f, const char **from)
{
    uint64_t threads = c->options->block;
    *from = "option";
    if (!threads && f->machine) {
        const report_section *s = &c->sections.functions[f->index];
        *from = s->required ? "reqntid" : s->threads[0] ? "maxntid" : "assumed";
        threads = product_of(s->threads);
    } else if (!threads) {
        *from = f->required_threads[0] ? "reqntid" : f->max_threads[0] ? "maxntid" : "assumed";
        threads = product_of(f->required_threads[0] ? f->required_threads : f->max_threads);
    }
    return threads ? (uint32_t)(threads < UINT32_MAX ? threads : UINT32_MAX) : DEFAULT_THREADS;
}

static hd_report_occupancy occupancy_result(const hd_occupancy *o)
{
    return (hd_report_occupancy){o->ctas, o->warps, o->fraction, hd_limiter_names[o->limiter], o->impossible};
}

static hd_report_step step_result(hd_occupancy_cliff cliff)
{
    return (hd_report_step){cliff.exists, cliff.registers,
                            cliff.exists ? occupancy_result(&cliff.then) : (hd_report_occupancy){0}};
}

static void report_limits(hd_report_kernel *k, const hd_occupancy *occupancy, hd_arena *arena)
{
    k->limit_count = HD_LIMITER_IMPOSSIBLE;
    k->limits = HD_ARENA_ARRAY(arena, hd_report_limit, k->limit_count);
    for (uint32_t l = 0; l < k->limit_count; l++)
        k->limits[l] = (hd_report_limit){hd_limiter_names[l], occupancy->by[l]};
}

static void report_sweep(hd_report_kernel *k, const hd_gpu_limits *limits, const hd_occupancy_use *use, hd_arena *arena)
{
    uint32_t most = limits->threads_per_cta / SWEEP_STEP;
    hd_occupancy *rows = HD_ARENA_ARRAY(arena, hd_occupancy, most + 1);
    k->sweep_count = hd_occupancy_sweep(limits, use, rows, most);
    k->sweep = HD_ARENA_ARRAY(arena, hd_report_occupancy, k->sweep_count + 1);
    for (uint32_t i = 0; i < k->sweep_count; i++)
        k->sweep[i] = occupancy_result(&rows[i]);
}

static uint32_t registers_of(const hd_report_kernel *k, const char **from)
{
    const hd_report_machine *m = &k->machine;
    if (!k->is_machine) {
        *from = k->ptxas.known ? "ptxas" : "estimate";
        return k->ptxas.known ? k->ptxas.registers : k->estimate;
    }
    *from = m->registers ? "listing" : "code";
    return m->registers ? m->registers : m->named;
}

void report_occupancy(const report_common *c, const hd_function *function, hd_report_kernel *k, hd_arena *arena)
{
    const hd_gpu_limits *limits = &report_gpu_of(c, function)->limits;
    uint64_t shared = k->static_shared_bytes + c->options->shared_bytes;
    k->dynamic_shared_unknown = k->uses_dynamic_shared && !c->options->shared_known;
    k->cluster_ctas = function->cluster_ctas[0] ? (uint32_t)product_of(function->cluster_ctas) : 0;
    k->use = (hd_report_use){.threads = threads_of(c, function, &k->block_from),
                             .registers = registers_of(k, &k->registers_from),
                             .shared_bytes = shared < UINT32_MAX ? (uint32_t)shared : UINT32_MAX,
                             .barriers = k->ptxas.known ? k->ptxas.barriers : k->barriers};
    const hd_occupancy_use use = {k->use.threads, k->use.registers, k->use.shared_bytes, k->use.barriers};
    hd_occupancy occupancy = hd_occupancy_of(limits, &use);
    k->occupancy = occupancy_result(&occupancy);
    report_limits(k, &occupancy, arena);
    k->gain = step_result(hd_occupancy_gain(limits, &use));
    k->loss = step_result(hd_occupancy_loss(limits, &use));
    report_sweep(k, limits, &use, arena);
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

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

static void find_pressure(finder *f)
{
    const hd_report_kernel *k = f->kernel;
    if (k->occupancy.impossible) {
        hd_report_finding *found = add(f, HD_DIAG_REGISTER_PRESSURE, HD_REPORT_NONE);
        if (found)
            found->message = hd_arena_printf(
                f->arena,
                "with %u threads, %u registers (%s) and %u bytes of shared memory no thread block fits on an SM: %s%s",
                k->use.threads, k->use.registers, k->registers_from, k->use.shared_bytes, k->occupancy.impossible,
                conditions(k));
        return;
    }
    bool fewer_spill = k->gain.registers < k->max_pressure;
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
            k->gain.then.ctas, 100 * k->gain.then.fraction, 100 * k->occupancy.fraction,
            fewer_spill ? "; so few do not hold all values that are live here: a limit alone makes it spill" : "",
            conditions(k));
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
    find_spills(&f);
    find_live_through(&f);
    find_loads(&f);
    kernel->finding_count = f.found.count;
    kernel->findings =
        f.found.count ? hd_arena_copy(arena, f.found.items, f.found.count * sizeof *f.found.items) : NULL;
    hd_array_free(&f.found);
}
