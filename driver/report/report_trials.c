/* What ptxas makes of a kernel under other register caps: report_work.h.
 *
 * Whether a cap makes ptxas spill cannot be seen in PTX, whose instructions it reorders; so it is tried. The caps
 * are the next occupancy steps below the kernel's registers; for a kernel that ptxas spills already, those above, up
 * to the first without spills. The n-th cap of every kernel is tried in one run, on a copy of the text whose headers
 * give it:
 *
 *   no directive           .maxnreg CAP, which gives the same code as -maxrregcount=CAP
 *   .maxnreg               .maxnreg CAP in its place
 *   .maxntid or .reqntid   .minnctapersm N in place of the kernel's own, as __launch_bounds__ writes it: beside these
 *                          directives -maxrregcount has no effect. ptxas may use more registers than N blocks allow.
 */
#include "driver/report/report_work.h"

#include "base/pool.h"
#include "base/writer.h"

enum { LEAST_CAP = 16, MOST_ENTRIES_BYTES = 100000 };

typedef struct planned { /* a cap of a kernel */
    uint32_t cap, ctas;  /* ctas: of .minnctapersm; 0: the cap is given by .maxnreg */
} planned;

typedef struct trial_job {
    const report_common *common;
    const hd_ptxas_request *request;
    const report_item *all;
    uint32_t count;
    planned (*plans)[HD_REPORT_MOST_TRIALS]; /* by kernel */
    hd_ptxas_result results[HD_REPORT_MOST_TRIALS];
    bool good[HD_REPORT_MOST_TRIALS];
} trial_job;

/* ---- which caps -------------------------------------------------------------------------------------------------- */

static hd_launch_bounds bounds_of(const hd_function *f)
{
    const uint32_t *sizes = f->required_threads[0] ? f->required_threads : f->max_threads;
    uint64_t threads = (uint64_t)sizes[0] * (sizes[1] ? sizes[1] : 1) * (sizes[2] ? sizes[2] : 1);
    return (hd_launch_bounds){threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX, f->min_ctas, f->max_registers};
}

/* As the kernel's directives can express it; cap 0: they cannot, or it is what the kernel has. */
static planned plan_cap(const report_item *item, const hd_gpu_limits *limits, uint32_t cap)
{
    hd_launch_bounds bounds = bounds_of(item->function);
    if (bounds.max_registers || !bounds.threads)
        return (planned){cap == bounds.max_registers ? 0 : cap, 0};
    const hd_occupancy_use use = {.threads = bounds.threads, .registers = cap};
    uint32_t before = bounds.min_ctas;
    bounds.min_ctas = hd_occupancy_of(limits, &use).ctas;
    hd_register_cap given = hd_register_cap_of(limits, &bounds, 0);
    bool changes = bounds.min_ctas && !given.ctas_ignored && bounds.min_ctas != before;
    return (planned){changes ? given.registers : 0, bounds.min_ctas};
}

/* The next cap after `registers`, downwards or upwards; 0: none. */
static uint32_t next_cap(const hd_gpu_limits *limits, hd_occupancy_use use, uint32_t registers, bool upwards)
{
    use.registers = registers;
    if (!upwards) {
        hd_occupancy_cliff gain = hd_occupancy_gain(limits, &use);
        return gain.exists && gain.registers >= LEAST_CAP ? gain.registers : 0;
    }
    hd_occupancy_cliff loss = hd_occupancy_loss(limits, &use);
    if (!loss.exists || !loss.then.ctas)
        return 0;
    use.registers = loss.registers;
    return hd_occupancy_loss(limits, &use).registers - 1; /* the most registers for as many blocks */
}

static bool spills(const hd_report_ptxas *p) { return p->spill_stores + p->spill_loads > 0; }

static void plan_kernel(const trial_job *job, uint32_t index, uint32_t most)
{
    const report_item *item = &job->all[index];
    const hd_gpu_limits *limits = &job->common->gpu->limits;
    const hd_report_ptxas *now = &item->kernel->ptxas;
    bool upwards = spills(now);
    const hd_occupancy_use use = report_use_with(job->common, item->kernel, now);
    uint32_t count = 0, last = 0;
    for (uint32_t cap = use.registers; count < most && (cap = next_cap(limits, use, cap, upwards)) != 0;) {
        planned p = plan_cap(item, limits, cap);
        if (p.cap && p.cap != last)
            job->plans[index][count++] = p;
        last = p.cap;
    }
}

/* ---- one run ----------------------------------------------------------------------------------------------------- */

/* The header without the directives that cap registers, and with the one that gives the cap. */
static void write_header(hd_writer *w, const hd_function *f, const planned *p)
{
    const hd_module *module = f->module;
    for (uint32_t i = 0; i < f->header.count; i++) {
        const char *text = hd_names_text(&module->names, module->tokens.items[f->header.first + i]);
        if (strcmp(text, ".minnctapersm") == 0 || strcmp(text, ".maxnreg") == 0)
            i++; /* and its number */
        else
            hd_write_format(w, "%s ", text);
    }
    hd_write_format(w, p->ctas ? ".minnctapersm %u\n" : ".maxnreg %u\n", p->ctas ? p->ctas : p->cap);
}

/* The module's text with the caps of a run. Kernels are in the order of the text. */
static void write_text(hd_writer *w, const trial_job *job, uint32_t run)
{
    const hd_source *source = job->common->module->source;
    uint32_t at = 0;
    for (uint32_t i = 0; i < job->count; i++) {
        const hd_function *f = job->all[i].function;
        if (!job->plans[i][run].cap)
            continue;
        hd_write(w, source->text + at, f->header_span.begin - at);
        write_header(w, f, &job->plans[i][run]);
        at = f->header_span.end;
    }
    hd_write(w, source->text + at, source->length - at);
}

/* The kernels that the run is about, for ptxas to leave the others out; NULL: too many for a command line. */
static const char *list_entries(hd_writer *w, const trial_job *job, uint32_t run)
{
    for (uint32_t i = 0; i < job->count; i++)
        if (job->plans[i][run].cap)
            hd_write_format(w, "%s%s", w->buffer.count ? "," : "", job->all[i].kernel->name);
    hd_write_char(w, '\0');
    return w->buffer.count < MOST_ENTRIES_BYTES ? w->buffer.items : NULL;
}

static void run_trial(void *opaque, uint32_t run, uint32_t worker)
{
    trial_job *job = opaque;
    hd_ptxas_request request = *job->request;
    hd_writer text, entries;
    (void)worker;
    hd_writer_to_memory(&text);
    hd_writer_to_memory(&entries);
    write_text(&text, job, run);
    request.text = text.buffer.items;
    request.length = text.buffer.count;
    request.entries = list_entries(&entries, job, run);
    request.silent = true;
    hd_ptxas *ptxas = hd_ptxas_start(&request, &job->results[run], NULL);
    job->good[run] = ptxas && hd_ptxas_finish(ptxas, &job->results[run], NULL);
    hd_writer_free(&text);
    hd_writer_free(&entries);
}

/* ---- the results ------------------------------------------------------------------------------------------------- */

static const char *describe_cap(const hd_function *f, const planned *p, hd_arena *arena)
{
    hd_launch_bounds bounds = bounds_of(f);
    if (p->ctas)
        return hd_arena_printf(arena, ".minnctapersm %u", p->ctas);
    return hd_arena_printf(arena, bounds.max_registers || bounds.min_ctas ? ".maxnreg %u" : "-maxrregcount=%u", p->cap);
}

static void take_results(const trial_job *job, uint32_t index, uint32_t runs, hd_arena *arena)
{
    const report_item *item = &job->all[index];
    hd_report_kernel *k = item->kernel;
    k->trials = HD_ARENA_ARRAY(arena, hd_report_trial, runs + 1);
    for (uint32_t run = 0; run < runs && job->plans[index][run].cap; run++) {
        const hd_report_trial *last = run ? &k->trials[run - 1] : NULL;
        if (last && spills(&k->ptxas) && last->ptxas.known && !spills(&last->ptxas))
            break; /* more registers change nothing */
        const planned *p = &job->plans[index][run];
        hd_report_trial *t = &k->trials[k->trial_count++];
        t->cap = p->cap;
        t->given = describe_cap(item->function, p, arena);
        t->ptxas = report_ptxas_numbers(&job->results[run], job->good[run], k->name);
        if (t->ptxas.unknown)
            t->ptxas.unknown = hd_arena_string(arena, t->ptxas.unknown, strlen(t->ptxas.unknown));
        const hd_occupancy_use use = report_use_with(job->common, k, &t->ptxas);
        hd_occupancy occupancy = hd_occupancy_of(&job->common->gpu->limits, &use);
        t->occupancy = report_occupancy_result(&occupancy);
    }
    if (!k->trial_count)
        k->trials_unknown = "no other cap changes the number of resident thread blocks";
}

/* Leaves out the caps of a run, and what follows them, of kernels for which the run before has decided: fewer registers
 * spill, or more do not. Whether any is left. */
static bool drop_decided(trial_job *job, uint32_t run, uint32_t most)
{
    bool any = false;
    for (uint32_t i = 0; i < job->count; i++) {
        const hd_report_kernel *k = job->all[i].kernel;
        if (!job->plans[i][run].cap)
            continue;
        hd_report_ptxas last = report_ptxas_numbers(&job->results[run - 1], job->good[run - 1], k->name);
        bool decided = !last.known || spills(&last) != spills(&k->ptxas);
        for (uint32_t r = run; decided && r < most; r++)
            job->plans[i][r].cap = 0;
        any |= !decided;
    }
    return any;
}

/* Under a cap that it must spill for, ptxas may take many times as long: so unasked the caps are tried one after the
 * other, until that is so. */
static void run_trials(trial_job *job, uint32_t runs, uint32_t threads)
{
    if (job->common->options->trials_asked) {
        hd_parallel(threads, runs, run_trial, job);
        return;
    }
    for (uint32_t run = 0; run < runs && (!run || drop_decided(job, run, runs)); run++)
        run_trial(job, run, 0);
}

void report_trials(const report_common *common, const hd_ptxas_request *request, const report_item *all, uint32_t count,
                   uint32_t threads, hd_arena *arena)
{
    trial_job job = {.common = common, .request = request, .all = all, .count = count};
    uint32_t most = common->options->trials, runs = 0;
    job.plans = hd_calloc(count, sizeof *job.plans);
    for (uint32_t i = 0; i < count; i++) {
        plan_kernel(&job, i, most);
        while (runs < most && job.plans[i][runs].cap)
            runs++;
    }
    run_trials(&job, runs, threads);
    for (uint32_t i = 0; i < count; i++)
        take_results(&job, i, runs, arena);
    for (uint32_t run = 0; run < runs; run++)
        hd_ptxas_free(&job.results[run]);
    free(job.plans);
}
