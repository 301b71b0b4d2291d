/* heddle report: see report.h, and report_work.h for its files.
 *
 * Steps: parse; choose the GPU; start ptxas if requested; process the kernels, and all functions that they may call,
 * in parallel; sum up registers along calls; occupancy in parallel; other register caps; findings in parallel;
 * gates. Each worker parses the text once more. */
#include "driver/report/report_work.h"

#include "base/pool.h"
#include "base/demangle.h"
#include "base/source_files.h"
#include "driver/report/gates.h"
#include "ir/machine.h"
#include "ir/techniques.h"
#include "passes/clean/offsets.h"
#include "target/gpu.h"

enum {
    COPIES_BYTES = 160 << 20, /* maximum memory of the workers' copies */
    BYTES_OF_A_COPY = 8,      /* per byte of text */
    BANKS_BEFORE_VOLTA = 4,   /* if a description gives no banks: general registers by number modulo this */
    BANKS_SINCE_VOLTA = 2,
    MOST_BANKS = 8,
};

typedef struct worker {
    hd_source source;
    hd_module *module; /* NULL: not needed yet */
    hd_diagnostics diagnostics;
    hd_arena arena;
} worker;

typedef struct work_item { /* a function to process */
    uint32_t function;
    bool reported;
    hd_report_kernel kernel;
    hd_architected numbers;
    hd_diagnostics diagnostics;
} work_item;

struct hd_report_job {
    hd_arena arena;
    hd_report_options options;
    hd_diagnostics *diagnostics;
    report_common common;
    hd_gpu *gpu;
    worker *workers;
    uint32_t worker_count;
    HD_ARRAY(work_item) items;
    bool any_calls;
    hd_ptxas *ptxas;
    hd_ptxas_result ptxas_result;
    hd_report_module report;
    const hd_report_job *assembled;
    hd_status status;
};

/* ---- the GPU ----------------------------------------------------------------------------------------------------- */

/* Targets like sm_90a run on that GPU only, targets like sm_100f on its family, all others also on later GPUs. */
static bool runs_on(const hd_module *module, const hd_gpu *gpu)
{
    const char *target = hd_names_text(&module->names, module->target);
    uint32_t number = gpu->compute_major * 10 + gpu->compute_minor;
    if (module->is_machine) /* machine code runs on GPUs of its major version, from its minor version on */
        return !module->target_number ||
               (gpu->compute_major == module->target_number / 10 && number >= module->target_number);
    switch (*target ? target[strlen(target) - 1] : 0) {
    case 'a': return number == module->target_number;
    case 'f': return number >= module->target_number && gpu->compute_major == module->target_number / 10;
    default: return number >= module->target_number;
    }
}

/* The GPU of code for sm_`number`. */
static hd_gpu *load_gpu_of(hd_report_job *job, const char *target, uint32_t number)
{
    uint32_t found;
    const char *name = hd_gpu_name_for(number, &found);
    if (name && found != number)
        hd_report(job->diagnostics, HD_DIAG_ASSUMED_GPU, NULL, (hd_span){0, 0},
                  "there is no description of '%s': occupancy is that of %s", target, name);
    return hd_gpu_load(name ? name : target, job->diagnostics);
}

/* A listing of a program may hold functions for several architectures. */
static bool load_other_gpus(hd_report_job *job)
{
    const hd_module *module = job->common.module;
    bool valid = true;
    for (uint32_t f = 0; module->is_machine && !job->options.gpu && f < module->functions.count; f++) {
        uint32_t sm = module->functions.items[f]->machine->sm;
        if (!sm || sm == module->target_number || report_gpu_of(&job->common, module->functions.items[f]) != job->gpu)
            continue;
        hd_gpu *gpu = load_gpu_of(job, hd_arena_printf(&job->arena, "sm_%u", sm), sm);
        hd_array_push(&job->common.gpus, (report_gpu){sm, gpu});
        valid &= gpu->valid;
    }
    return valid;
}

static bool choose_gpu(hd_report_job *job)
{
    const hd_module *module = job->common.module;
    if (!job->options.gpu && !module->target_number && module->is_machine) {
        hd_report(job->diagnostics, HD_DIAG_BAD_TARGET, module->source, (hd_span){0, 0},
                  "this listing does not say for which architecture it is: give it with --arch");
        return false;
    }
    job->gpu = job->options.gpu
                   ? hd_gpu_load_given(job->options.gpu, job->options.given, job->diagnostics)
                   : load_gpu_of(job, hd_names_text(&module->names, module->target), module->target_number);
    job->common.gpu = job->gpu;
    if (job->options.gpu && job->gpu->valid && !runs_on(module, job->gpu))
        hd_report(job->diagnostics, HD_DIAG_UNFIT_GPU, NULL, (hd_span){0, 0},
                  "code for '%s' does not run on %s: its occupancy and findings are of no launch that can be",
                  hd_names_text(&module->names, module->target), job->gpu->name);
    job->common.machine = (hd_pipeline_options){.gpu = job->gpu, .block = job->options.block};
    uint32_t banks = job->gpu->register_banks;
    banks = banks ? banks : job->gpu->compute_major >= 7 ? BANKS_SINCE_VOLTA : BANKS_BEFORE_VOLTA;
    job->common.banks = hd_min(banks, MOST_BANKS);
    return job->gpu->valid && load_other_gpus(job);
}

/* ---- functions to process ---------------------------------------------------------------------------------------- */

static void add_item(hd_report_job *job, uint32_t *item_of, uint32_t function, bool reported)
{
    if (item_of[function])
        return;
    hd_array_push(&job->items, (work_item){.function = function, .reported = reported});
    item_of[function] = job->items.count;
}

/* The requested functions in text order, then those that they may call: any, for calls through a register. */
static void list_items(hd_report_job *job)
{
    hd_module *module = job->common.module;
    uint32_t *item_of = HD_ARENA_ARRAY(&job->arena, uint32_t, module->functions.count);
    bool all = false;
    job->common.uses = report_find_uses(module, &job->arena);
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (hd_function_selected(module->functions.items[i], job->options.kernel))
            add_item(job, item_of, i, true);
    for (uint32_t i = 0; i < job->items.count; i++) {
        const report_uses *uses = &job->common.uses[job->items.items[i].function];
        job->any_calls |= uses->callees.count || uses->indirect;
        for (uint32_t c = 0; c < uses->callees.count; c++)
            add_item(job, item_of, uses->callees.items[c], false);
        for (uint32_t f = 0; uses->indirect && !all && f < module->functions.count; f++)
            if (module->functions.items[f]->has_body)
                add_item(job, item_of, f, false);
        all |= uses->indirect;
    }
}

/* ---- one function ------------------------------------------------------------------------------------------------ */

static hd_module *copy_of(hd_report_job *job, worker *w)
{
    const hd_module *read = job->common.module;
    hd_parse_options parse = {
        .ignore_annotations = true, .takes_listings = read->is_machine, .registers = read->given_registers};
    if (!w->module) {
        hd_source *source = job->common.module->source;
        hd_source_from_memory(&w->source, source->name, source->text, source->length);
        hd_diagnostics_init(&w->diagnostics);
        w->module = hd_parse_ptx(&w->source, &parse, &w->diagnostics);
        if (!w->module->is_machine)
            hd_module_lower_offsets(w->module);
        report_assume_generation(w->module, job->gpu);
    }
    return w->module;
}

static void name_kernel(const hd_report_job *job, report_kernel_work *work)
{
    hd_report_kernel *k = work->kernel;
    k->name = hd_names_text(&job->common.module->names, work->input->name);
    k->demangled = job->options.no_demangle ? k->name : hd_demangle(work->arena, k->name);
    k->is_entry = work->input->is_entry;
    k->is_machine = work->input->machine != NULL;
    k->arch = report_gpu_of(&job->common, work->input)->name;
}

static void work_on(void *opaque, uint32_t index, uint32_t worker_index)
{
    hd_report_job *job = opaque;
    worker *w = &job->workers[worker_index];
    work_item *item = &job->items.items[index];
    report_kernel_work work = {
        .common = &job->common, .arena = &w->arena, .function_index = item->function, .kernel = &item->kernel};
    hd_diagnostics_init(&item->diagnostics);
    work.diagnostics = &item->diagnostics;
    work.input = job->common.module->functions.items[item->function];
    work.function = copy_of(job, w)->functions.items[item->function];
    if (job->common.clean)
        hd_pipeline_run_function(job->common.clean, work.function, NULL, NULL, work.diagnostics);
    work.cfg = hd_function_cfg(work.function);
    hd_pass_context_init(&work.context, work.function, work.diagnostics);
    report_live_init(&work);
    name_kernel(job, &work);
    report_code(&work);
    report_lines(&work);
    report_values(&work);
    bool wants_techniques = item->reported && job->options.techniques;
    if (work.kernel->is_machine) { /* it is reported as it is: nothing is simplified, estimated or allocated */
        report_machine(&work);
        item->numbers = (hd_architected){work.kernel->machine.named, work.kernel->machine.predicates, 0, 0};
    } else {
        report_resources(&work);
        report_cap(&work);
        report_estimate(&work);
        wants_techniques = report_allocation(&work, &item->numbers) && wants_techniques;
    }
    if (wants_techniques)
        report_techniques(&work);
    hd_pass_context_free(&work.context);
    hd_arena_free(&work.scratch);
    hd_function_drop_cfg(work.function);
    hd_meter_step(job->options.meter, 1);
}

static void start_workers(hd_report_job *job)
{
    uint32_t threads = job->options.threads ? job->options.threads : hd_cpu_count();
    uint64_t affordable = COPIES_BYTES / ((uint64_t)job->common.module->source->length * BYTES_OF_A_COPY + 1) + 1;
    threads = threads < affordable ? threads : (uint32_t)affordable;
    job->worker_count = threads < job->items.count ? threads : job->items.count ? job->items.count : 1;
    job->workers = HD_ARENA_ARRAY(&job->arena, worker, job->worker_count);
}

/* ---- registers along calls --------------------------------------------------------------------------------------- */

/* Functions by their callees: callers[first[f]] .. callers[first[f + 1]]; those that call through a register, which may
 * call any function, are listed under the number after the last function's. */
static uint32_t *list_callers(const hd_report_job *job, uint32_t *first, hd_arena *scratch)
{
    const report_uses *uses = job->common.uses;
    uint32_t functions = job->common.module->functions.count;
    for (uint32_t f = 0; f < functions; f++) {
        first[functions + 2] += uses[f].indirect;
        for (uint32_t c = 0; c < uses[f].callees.count; c++)
            first[uses[f].callees.items[c] + 2]++;
    }
    for (uint32_t f = 0; f <= functions; f++)
        first[f + 2] += first[f + 1];
    uint32_t *callers = HD_ARENA_ARRAY(scratch, uint32_t, first[functions + 2] + 1);
    for (uint32_t f = 0; f < functions; f++) {
        if (uses[f].indirect)
            callers[first[functions + 1]++] = f;
        for (uint32_t c = 0; c < uses[f].callees.count; c++)
            callers[first[uses[f].callees.items[c] + 1]++] = f;
    }
    return callers;
}

static void add_unknown(bool *unknown, uint32_t function, hd_u32_array *queue)
{
    if (!unknown[function])
        hd_array_push(queue, function);
    unknown[function] = true;
}

/* The total of a function is unknown if one of its callees was left virtual. */
static void pass_unknown_to_callers(hd_report_job *job)
{
    hd_arena scratch = {0};
    hd_u32_array queue = {0};
    uint32_t functions = job->common.module->functions.count;
    uint32_t *first = HD_ARENA_ARRAY(&scratch, uint32_t, functions + 3);
    uint32_t *callers = list_callers(job, first, &scratch);
    bool *unknown = HD_ARENA_ARRAY(&scratch, bool, functions);
    for (uint32_t i = 0; i < job->items.count; i++)
        if (job->items.items[i].kernel.left_virtual)
            add_unknown(unknown, job->items.items[i].function, &queue);
    for (uint32_t i = first[functions]; queue.count && i < first[functions + 1]; i++)
        add_unknown(unknown, callers[i], &queue);
    for (uint32_t q = 0; q < queue.count; q++)
        for (uint32_t i = first[queue.items[q]]; i < first[queue.items[q] + 1]; i++)
            add_unknown(unknown, callers[i], &queue);
    for (uint32_t i = 0; i < job->items.count; i++) {
        hd_report_kernel *k = &job->items.items[i].kernel;
        if (!unknown[job->items.items[i].function] || k->left_virtual)
            continue;
        k->allocated_unknown = "heddle cannot allocate the registers of a function that it calls";
        if (!k->predicted.unknown && k->is_entry)
            k->predicted.unknown = k->allocated_unknown;
    }
    hd_array_free(&queue);
    hd_arena_free(&scratch);
}

/* Sums up registers along call chains. The input gets the allocation's numbers for that. */
static void stack_frames(hd_report_job *job)
{
    hd_module *module = job->common.module;
    if (module->is_machine)
        return;
    for (uint32_t i = 0; i < job->items.count; i++) {
        work_item *item = &job->items.items[i];
        item->kernel.allocated = item->numbers.registers;
        item->kernel.allocated_predicates = item->numbers.predicates;
        hd_architected_set(module->functions.items[item->function], &item->numbers);
    }
    if (!job->any_calls)
        return;
    const hd_ra_frame *frames = hd_regalloc_frames(module, &job->arena);
    for (uint32_t i = 0; i < job->items.count; i++) {
        hd_report_kernel *k = &job->items.items[i].kernel;
        uint32_t total = frames[job->items.items[i].function].total;
        /* Functions are allocated separately. If a kernel exceeds its cap only together with its callees, that
         * allocation does not determine its spills. */
        if (total > k->cap.registers && total > k->allocated && k->is_entry)
            k->predicted.unknown = "it exceeds the cap together with the functions that it calls";
        k->allocated = total;
    }
    pass_unknown_to_callers(job);
}

/* ---- ptxas ------------------------------------------------------------------------------------------------------- */

/* The module's own target if the GPU has its number (sm_90a), else the GPU's. */
static hd_ptxas_request request_of(hd_report_job *job)
{
    const hd_module *module = job->common.module;
    uint32_t number = job->gpu->compute_major * 10 + job->gpu->compute_minor;
    bool same = number == module->target_number;
    return (hd_ptxas_request){.path = job->options.ptxas,
                              .if_found = job->options.ptxas_if_found,
                              .arch = same ? hd_names_text(&module->names, module->target)
                                           : hd_arena_printf(&job->arena, "sm_%u", number),
                              .max_registers = job->options.max_registers,
                              .seconds = job->options.ptxas_seconds,
                              .text = module->source->text,
                              .length = module->source->length};
}

static void start_ptxas(hd_report_job *job)
{
    hd_ptxas_request request = request_of(job);
    if (job->common.module->is_machine)
        job->ptxas_result.unknown = "machine code: ptxas has run";
    else if (job->options.ptxas)
        job->ptxas = hd_ptxas_start(&request, &job->ptxas_result, job->diagnostics);
    else
        job->ptxas_result.unknown = "ptxas was not asked";
}

static void finish_ptxas(hd_report_job *job)
{
    hd_ptxas_result *result = &job->ptxas_result;
    bool good = job->ptxas && hd_ptxas_finish(job->ptxas, result, job->diagnostics);
    job->ptxas = NULL;
    job->report.ptxas_version = result->version;
    job->report.ptxas_unknown = result->unknown;
    job->common.ptxas_alone = result->alone;
    report_item *all = HD_ARENA_ARRAY(&job->arena, report_item, job->items.count + 1);
    for (uint32_t i = 0; i < job->items.count; i++) {
        hd_report_kernel *k = &job->items.items[i].kernel;
        all[i] = (report_item){k, job->common.module->functions.items[job->items.items[i].function]};
        k->ptxas = report_ptxas_numbers(result, good && k->is_entry, k->name);
        if (good && !k->is_entry)
            k->ptxas.unknown = "ptxas reports nothing for this function";
    }
    if (good)
        report_ptxas_messages(&job->common, result, all, job->items.count, &job->arena);
}

/* ---- the occupancy, and what other register caps would make of it ------------------------------------------------ */

static void count_occupancy(void *opaque, uint32_t index, uint32_t worker_index)
{
    hd_report_job *job = opaque;
    work_item *item = &job->items.items[index];
    hd_arena *arena = &job->workers[worker_index].arena;
    report_occupancy(&job->common, job->common.module->functions.items[item->function], &item->kernel, arena);
    report_budget(&item->kernel, arena);
}

/* Why ptxas tries no register caps, or NULL. */
static const char *why_no_trials(const hd_report_job *job)
{
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < job->items.count; i++)
        kernels += job->items.items[i].reported && job->items.items[i].kernel.is_entry;
    if (!job->report.ptxas_version)
        return job->report.ptxas_unknown;
    if (!job->options.trials)
        return "no other register caps were asked for";
    if (kernels > HD_REPORT_KERNELS_WITH_TRIALS && !job->options.trials_asked)
        return "other register caps are tried for at most 8 kernels, or where --trials asks for it";
    return NULL;
}

static void try_caps(hd_report_job *job)
{
    const char *why = why_no_trials(job);
    hd_ptxas_request request = request_of(job);
    report_item *all = HD_ARENA_ARRAY(&job->arena, report_item, job->items.count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->items.count; i++) {
        work_item *item = &job->items.items[i];
        item->kernel.trials_unknown = why;
        if (!why && item->reported && item->kernel.ptxas.known)
            all[count++] = (report_item){&item->kernel, job->common.module->functions.items[item->function]};
    }
    if (count)
        report_trials(&job->common, &request, all, count, job->worker_count, &job->arena);
}

/* ---- the job ----------------------------------------------------------------------------------------------------- */

/* By one thread: the files are shared. */
static void name_values(hd_report_job *job)
{
    hd_source_files *files = hd_source_files_new(job->options.given);
    for (uint32_t i = 0; i < job->items.count; i++)
        if (job->items.items[i].reported)
            report_value_sources(files, job->common.module->source->name, &job->items.items[i].kernel, &job->arena);
    hd_source_files_free(files);
}

static void finish_item(void *opaque, uint32_t index, uint32_t worker_index)
{
    hd_report_job *job = opaque;
    work_item *item = &job->items.items[index];
    report_findings(&job->common, &item->kernel, job->diagnostics, &job->workers[worker_index].arena);
}

static void parse_passes(hd_report_job *job)
{
    bool as_written = job->options.no_clean || job->common.module->is_machine;
    job->common.clean = as_written ? NULL : hd_pipeline_parse("select", job->diagnostics);
    job->common.technique_passes = HD_ARENA_ARRAY(&job->arena, hd_pipeline *, hd_technique_count);
    for (uint32_t t = 0; t < hd_technique_count; t++)
        if (*hd_techniques[t].pass)
            job->common.technique_passes[t] = hd_pipeline_parse(hd_techniques[t].pass, job->diagnostics);
}

static void describe(hd_report_job *job)
{
    hd_report_module *report = &job->report;
    report->path = job->common.module->source->name;
    report->compiled = job->options.compiled;
    report->is_machine = job->common.module->is_machine;
    report->arch = job->gpu->name;
    report->block = job->options.block;
    report->simplified = job->common.clean != NULL;
    report->kernels = HD_ARENA_ARRAY(&job->arena, hd_report_kernel, job->items.count + 1);
    for (uint32_t i = 0; i < job->items.count; i++)
        if (job->items.items[i].reported)
            report->kernels[report->kernel_count++] = job->items.items[i].kernel;
}

static hd_status run(hd_report_job *job)
{
    hd_module *module = job->common.module;
    uint32_t errors = job->diagnostics->error_count;
    bool unfit = module->is_machine && job->options.max_registers;
    if (!errors && unfit)
        hd_report(
            job->diagnostics, HD_DIAG_MACHINE_CODE, module->source, (hd_span){0, 0},
            "--max-registers is for PTX: the registers of machine code are allocated, and --registers says how many");
    if (errors || unfit || !hd_module_check_selection(module, job->options.kernel, job->diagnostics) ||
        !report_registers_fit(module, job->options.kernel) || !choose_gpu(job))
        return hd_status_of(job->diagnostics);
    report_assume_generation(module, job->gpu);
    hd_source_position(module->source, 0); /* builds the line table before several threads use it */
    parse_passes(job);
    if (module->is_machine)
        job->common.sections = report_read_sections(module, &job->arena);
    list_items(job);
    start_workers(job);
    start_ptxas(job);
    hd_meter_expect(job->options.meter, job->items.count);
    hd_parallel(job->worker_count, job->items.count, work_on, job);
    stack_frames(job);
    finish_ptxas(job);
    hd_parallel(job->worker_count, job->items.count, count_occupancy, job);
    try_caps(job);
    name_values(job);
    hd_parallel(job->worker_count, job->items.count, finish_item, job);
    for (uint32_t i = 0; i < job->items.count; i++)
        hd_diagnostics_merge(job->diagnostics, &job->items.items[i].diagnostics);
    if (job->diagnostics->error_count != errors)
        return HD_STATUS_REJECTED;
    describe(job);
    if (job->options.gates)
        hd_gates_check_report(job->options.gates, &job->report, module->source, &job->arena, job->diagnostics);
    return job->diagnostics->error_count != errors ? HD_STATUS_REJECTED : HD_STATUS_DONE;
}

hd_report_job *hd_report_new(hd_source *source, const hd_report_options *options, hd_diagnostics *diagnostics)
{
    hd_report_job *job = hd_calloc(1, sizeof *job);
    job->options = *options;
    job->diagnostics = diagnostics;
    job->common.options = &job->options;
    job->options.parse.ignore_annotations = true;
    job->common.module = hd_parse_ptx(source, &job->options.parse, diagnostics);
    job->status = run(job);
    return job;
}

const hd_report_module *hd_report_of(const hd_report_job *job) { return &job->report; }

uint32_t hd_report_join_jobs(hd_report_job *ptx, const hd_report_job *machine)
{
    ptx->assembled = machine;
    return hd_report_join(&ptx->report, &machine->report, &ptx->arena);
}

const hd_report_job *hd_report_assembled(const hd_report_job *job) { return job->assembled; }

hd_source *hd_report_source(const hd_report_job *job) { return job->common.module->source; }

hd_status hd_report_status(const hd_report_job *job) { return job->status; }

void hd_report_free(hd_report_job *job)
{
    if (!job)
        return;
    for (uint32_t i = 0; i < job->items.count; i++)
        hd_diagnostics_free(&job->items.items[i].diagnostics);
    for (worker *w = job->workers; w < job->workers + job->worker_count; w++) {
        if (w->module) {
            hd_module_free(w->module);
            hd_diagnostics_free(&w->diagnostics);
        }
        hd_arena_free(&w->arena);
    }
    for (uint32_t i = 0; job->common.uses && i < job->common.module->functions.count; i++) {
        hd_array_free(&job->common.uses[i].callees);
        hd_array_free(&job->common.uses[i].variables);
    }
    for (uint32_t t = 0; job->common.technique_passes && t < hd_technique_count; t++)
        hd_pipeline_free(job->common.technique_passes[t]);
    hd_pipeline_free(job->common.clean);
    hd_ptxas_free(&job->ptxas_result);
    hd_module_free(job->common.module);
    hd_gpu_free(job->gpu);
    for (uint32_t i = 0; i < job->common.gpus.count; i++)
        hd_gpu_free(job->common.gpus.items[i].gpu);
    hd_array_free(&job->common.gpus);
    hd_array_free(&job->items);
    hd_arena_free(&job->arena);
    free(job);
}
