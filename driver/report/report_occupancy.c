/* Occupancy of a kernel: report_work.h. Constant time, but for the sweep over block sizes. */
#include "driver/report/report_work.h"
#include "ir/machine.h"

enum { DEFAULT_THREADS = 256, SWEEP_STEP = 32 };

const hd_gpu *report_gpu_of(const report_common *c, const hd_function *function)
{
    for (uint32_t i = 0; function->machine && i < c->gpus.count; i++)
        if (c->gpus.items[i].sm == function->machine->sm)
            return c->gpus.items[i].gpu;
    return c->gpu;
}

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
    return threads ? (uint32_t)hd_min(threads, UINT32_MAX) : DEFAULT_THREADS;
}

hd_report_occupancy report_occupancy_result(const hd_occupancy *o)
{
    return (hd_report_occupancy){o->ctas, o->warps, o->fraction, hd_limiter_names[o->limiter], o->impossible};
}

static hd_report_step step_result(hd_occupancy_cliff cliff)
{
    return (hd_report_step){cliff.exists, cliff.registers,
                            cliff.exists ? report_occupancy_result(&cliff.then) : (hd_report_occupancy){0}};
}

static void report_sweep(hd_report_kernel *k, const hd_gpu_limits *limits, const hd_occupancy_use *use, hd_arena *arena)
{
    uint32_t most = limits->threads_per_cta / SWEEP_STEP;
    hd_occupancy *rows = HD_ARENA_ARRAY(arena, hd_occupancy, most + 1);
    k->sweep_count = hd_occupancy_sweep(limits, use, rows, most);
    k->sweep = HD_ARENA_ARRAY(arena, hd_report_occupancy, k->sweep_count + 1);
    for (uint32_t i = 0; i < k->sweep_count; i++)
        k->sweep[i] = report_occupancy_result(&rows[i]);
}

static uint32_t registers_of(const hd_report_kernel *k, const char **from)
{
    const hd_report_machine *m = &k->machine;
    if (!k->is_machine) {
        *from = k->ptxas.known ? "ptxas" : "estimate";
        return k->ptxas.known ? k->ptxas.registers : k->estimate;
    }
    *from = m->registers ? m->registers_from : "code";
    return m->registers ? m->registers : m->named;
}

/* ptxas counts registers that it spills to shared memory, too, and does not count variables that it removes; with -c it
 * does not see those of callees elsewhere. */
hd_occupancy_use report_use_with(const report_common *c, const hd_report_kernel *k, const hd_report_ptxas *ptxas)
{
    uint64_t fixed = k->static_shared_bytes;
    if (ptxas->known && (!c->ptxas_alone || ptxas->shared_bytes > fixed))
        fixed = ptxas->shared_bytes;
    return (hd_occupancy_use){.threads = k->use.threads,
                              .registers = ptxas->known ? ptxas->registers : k->use.registers,
                              .shared_bytes = fixed + c->options->shared_bytes,
                              .barriers = ptxas->known ? ptxas->barriers : k->barriers};
}

void report_occupancy(const report_common *c, const hd_function *function, hd_report_kernel *k, hd_arena *arena)
{
    const hd_gpu_limits *limits = &report_gpu_of(c, function)->limits;
    k->dynamic_shared_unknown = k->uses_dynamic_shared && !c->options->shared_known;
    k->cluster_ctas = function->cluster_ctas[0] ? (uint32_t)product_of(function->cluster_ctas) : 0;
    k->use = (hd_report_use){.threads = threads_of(c, function, &k->block_from),
                             .registers = registers_of(k, &k->registers_from)};
    const hd_occupancy_use use = report_use_with(c, k, &k->ptxas);
    k->use.shared_bytes = use.shared_bytes;
    k->use.barriers = use.barriers;
    hd_occupancy occupancy = hd_occupancy_of(limits, &use);
    k->occupancy = report_occupancy_result(&occupancy);
    k->limit_count = HD_LIMITER_IMPOSSIBLE;
    k->limits = HD_ARENA_ARRAY(arena, hd_report_limit, k->limit_count);
    for (uint32_t l = 0; l < k->limit_count; l++)
        k->limits[l] = (hd_report_limit){hd_limiter_names[l], occupancy.by[l]};
    k->gain = step_result(hd_occupancy_gain(limits, &use));
    k->loss = step_result(hd_occupancy_loss(limits, &use));
    report_sweep(k, limits, &use, arena);
    if (k->occupancy.ctas)
        return;
    for (uint32_t i = 0; i < k->sweep_count; i++) /* what would make a thread block fit */
        if (k->sweep[i].ctas)
            k->fitting_block = SWEEP_STEP * (i + 1);
    k->fitting_registers = k->gain.exists ? k->gain.registers : 0;
}
