/* The pass manager: runs a pipeline over the functions of a module, one function at a time through all passes, so that
 * a function's analyses are reused by the next pass and freed before the next function.
 *
 * Guarantees: the analyses that a pass's row requests exist when it runs; after a pass that changed something, every
 * analysis that its row does not preserve is invalidated; with `validate`, the function's IR is checked after each
 * pass, and a pass that reports "no change" although tokens or annotations differ is detected. Functions are processed
 * in parallel if every pass of the pipeline only annotates (preserves all analyses), since such a pass changes no
 * shared state. Results and the order of diagnostics and statistics do not depend on the number of threads. */
#include "passes/analysis/analyses.h"
#include "passes/clean/offsets.h"
#include "passes/manager/pipeline.h"

#include "base/hash.h"
#include "base/pool.h"
#include "ir/machine.h"
#include "ir/techniques.h"
#include "ir/words/words.h"
#include "parser/parse.h"

#include <stdlib.h>
#include <time.h>

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct outcome { /* of one function */
    hd_diagnostics diagnostics;
    hd_statistic_array statistics;
    /* techniques whose annotations it had on input and still has: a bit per row; 0 if not tracked */
    uint64_t brought;
} outcome;

typedef struct run {
    const hd_pipeline *pipeline;
    hd_module *module;
    const hd_pipeline_options *options;
    uint32_t *functions; /* indices of the functions to run, in the module */
    outcome *outcomes;   /* one for each */
    uint64_t *nanoseconds;
} run;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* other jobs may run in parallel */
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A hash of what a pass that reports "no change" must not change: tokens and annotations. */
static uint64_t fingerprint(const hd_function *function)
{
    uint64_t parts[3] = {
        hd_function_hash(function),
        hd_hash(function->annotations.items, function->annotations.count * sizeof *function->annotations.items),
        hd_hash(function->annotation_words.items, function->annotation_words.count * sizeof(uint32_t))};
    return hd_hash(parts, sizeof parts);
}

static void validate_after(hd_pass_context *context, const hd_pass_info *pass, bool changed, uint64_t before)
{
    hd_function *f = context->function;
    hd_ir_validate_function(f, context->diagnostics);
    if (!changed && fingerprint(f) != before)
        hd_report(context->diagnostics, HD_DIAG_INVALID_IR, f->module->source, f->header_span,
                  "pass '%s' changed '%s' and says that it did not", pass->name,
                  hd_names_text(&f->module->names, f->name));
}

static bool is_printed(const hd_pipeline_options *options, const hd_pass_info *pass)
{
    return options->print_after && options->log && options->print_function &&
           strcmp(options->print_after, pass->name) == 0;
}

/* Statistics: the size of the annotations of the pass's technique. */
static void add_sizes(hd_pass_context *context, const hd_pass_info *pass)
{
    hd_word_size size;
    for (uint32_t t = 0; t < hd_technique_count; t++) {
        if (strcmp(hd_techniques[t].pass, pass->name) != 0 ||
            !hd_words_size(context->function, hd_techniques[t].spelling, &size))
            continue;
        const hd_word_code *code = hd_word_code_find(hd_techniques[t].spelling);
        if (code->encode)
            hd_statistic_add(context, HD_STATISTIC_WORDS, size.words);
        if (code->bits)
            hd_statistic_add(context, HD_STATISTIC_BITS, size.bits);
    }
}

static void collect_statistics(outcome *o, hd_pass_context *context, const hd_pass_info *pass)
{
    for (uint32_t i = 0; i < context->statistics.count; i++) {
        hd_statistic s = context->statistics.items[i];
        s.pass = pass->name;
        hd_array_push(&o->statistics, s);
    }
    hd_array_clear(&context->statistics);
}

/* The techniques with annotations of the function: a bit per row. */
static uint64_t techniques_of(const hd_function *f)
{
    uint64_t found = 0;
    _Static_assert(HD_TECHNIQUE_ROOM <= 64, "a bit for each");
    for (uint32_t t = 0; t < hd_technique_count && f->annotations.count; t++)
        found |= (uint64_t)(hd_annotations_count(f, hd_techniques[t].spelling) != 0) << t;
    return found;
}

/* Reports techniques whose annotations were dropped, unless the pass replaces them. */
static void report_dropped(hd_pass_context *context, const hd_pass_info *pass, uint64_t gone)
{
    const hd_function *f = context->function;
    const char *names = NULL;
    for (uint32_t t = 0; t < hd_technique_count; t++)
        if (gone >> t & 1 && strcmp(hd_techniques[t].pass, pass->name) != 0)
            names = names ? hd_arena_printf(&context->scratch, "%s, %s", names, hd_techniques[t].spelling)
                          : hd_techniques[t].spelling;
    if (names)
        hd_report(context->diagnostics, HD_DIAG_STALE_DROPPED, f->module->source, f->header_span,
                  "annotations of '%s' dropped (%s): '%s' changed its instructions",
                  hd_names_text(&f->module->names, f->name), names, pass->name);
}

static void run_step(run *r, const hd_pipeline_step *step, hd_pass_context *context, outcome *o)
{
    const hd_pass_info *pass = step->pass;
    context->options = step->options;
    context->option_count = step->option_count;
    context->counts = r->options->statistics;
    const char *rule = hd_option_text(context, "liveness");
    hd_liveness_rule liveness = !rule || strcmp(rule, "ours") == 0 ? HD_LIVENESS_OURS
                                : strcmp(rule, "paper") == 0       ? HD_LIVENESS_PAPER
                                                                   : HD_LIVENESS_ITS;
    if (liveness != context->liveness)
        hd_analyses_drop(context, HD_KEEPS_ALL & ~(uint32_t)(HD_NEEDS_WARP_LIVENESS | HD_NEEDS_WARP_WORDS));
    context->liveness = liveness;
    uint64_t before = r->options->validate ? fingerprint(context->function) : 0, start = now_ns();
    for (uint32_t a = 0; a < HD_ANALYSIS_COUNT; a++)
        if (pass->needs >> a & 1)
            hd_analysis_get(context, (hd_analysis)a);
    bool changed = pass->run(context);
    if (changed)
        hd_analyses_drop(context, pass->keeps);
    /* itself */
    bool drops = pass->keeps == HD_KEEPS_ALL || pass->keeps & HD_KEEPS_ANNOTATIONS || hd_pass_is_of_technique(pass);
    if (changed && !drops)
        hd_annotations_remove(context->function, "*");
    if (changed && o->brought) {
        uint64_t gone = o->brought & ~techniques_of(context->function);
        report_dropped(context, pass, gone);
        o->brought &= ~gone;
    }
    hd_arena_free(&context->scratch);
    context->nanoseconds += now_ns() - start;
    if (context->counts)
        add_sizes(context, pass);
    if (r->options->validate)
        validate_after(context, pass, changed, before);
    collect_statistics(o, context, pass);
}

static bool goes_with_brought(const hd_pass_info *pass, const hd_function *f, outcome *o)
{
    for (uint32_t t = 0; t < hd_technique_count; t++)
        if (o->brought >> t & 1 && !hd_pass_goes_with(pass, f, (hd_technique)t, &o->diagnostics))
            return false;
    return true;
}

static void run_steps(run *r, hd_pass_context *context, outcome *o)
{
    for (uint32_t s = 0; s < r->pipeline->steps.count && o->diagnostics.error_count == 0; s++) {
        const hd_pipeline_step *step = &r->pipeline->steps.items[s];
        if (!goes_with_brought(step->pass, context->function, o))
            return;
        uint64_t before = context->nanoseconds;
        run_step(r, step, context, o);
        hd_meter_step(r->options->meter, 1);
        __atomic_fetch_add(&r->nanoseconds[s], context->nanoseconds - before, __ATOMIC_RELAXED);
        if (is_printed(r->options, step->pass)) {
            hd_write_format(r->options->log, "// after %s\n", step->pass->name);
            r->options->print_function(r->options->log, context->function);
        }
    }
}

static void finish_function(hd_pass_context *context)
{
    hd_pass_context_free(context);
    hd_array_fit(&context->function->annotations);
    hd_function_drop_cfg(context->function); /* cheap to rebuild; the graphs of 10,000 kernels take too much memory */
}

static void run_function(void *opaque, uint32_t index, uint32_t worker)
{
    (void)worker;
    run *r = opaque;
    outcome *o = &r->outcomes[index];
    hd_diagnostics_init(&o->diagnostics);
    hd_pass_context own, *context = &own;
    if (r->options->contexts)
        context = &r->options->contexts->items[r->functions[index]];
    else
        hd_pass_context_init(&own, r->module->functions.items[r->functions[index]], NULL);
    context->diagnostics = &o->diagnostics;
    context->verify = r->options->validate;
    context->block = r->options->block;
    if (r->options->gpu)
        context->gpu = r->options->gpu;
    o->brought = r->options->brings ? techniques_of(context->function) : 0;
    run_steps(r, context, o);
    if (context == &own)
        finish_function(context);
}

bool hd_pipeline_run_in(const hd_pipeline *pipeline, hd_pass_context *context, hd_statistic_array *statistics,
                        hd_diagnostics *diagnostics)
{
    outcome o = {0};
    hd_diagnostics *before = context->diagnostics;
    hd_pipeline_options options = {.validate = context->verify, .statistics = statistics != NULL};
    run r = {pipeline, context->function->module,
             &options, NULL,
             &o,       hd_calloc(pipeline->steps.count + 1, sizeof(uint64_t))};
    hd_diagnostics_init(&o.diagnostics);
    context->diagnostics = &o.diagnostics;
    run_steps(&r, context, &o);
    context->diagnostics = before;
    for (uint32_t i = 0; statistics && i < o.statistics.count; i++)
        hd_array_push(statistics, o.statistics.items[i]);
    bool ok = o.diagnostics.error_count == 0;
    hd_diagnostics_merge(diagnostics, &o.diagnostics);
    hd_array_free(&o.statistics);
    hd_diagnostics_free(&o.diagnostics);
    free(r.nanoseconds);
    return ok;
}

bool hd_pipeline_run_function(const hd_pipeline *pipeline, hd_function *function, const hd_pipeline_options *options,
                              hd_statistic_array *statistics, hd_diagnostics *diagnostics)
{
    hd_pass_context context;
    hd_pass_context_init(&context, function, diagnostics);
    context.gpu = options ? options->gpu : NULL;
    context.block = options ? options->block : 0;
    bool ok = hd_pipeline_run_in(pipeline, &context, statistics, diagnostics);
    finish_function(&context);
    return ok;
}

/* ---- reporting --------------------------------------------------------------------------------------------------- */

void hd_pass_times_write(hd_writer *log, const hd_pass_time *times, uint32_t count)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += times[i].nanoseconds;
    hd_write_string(log, "  milliseconds       %  pass (analyses that it asked for included)\n");
    for (uint32_t i = 0; i < count; i++)
        hd_write_format(log, "%14.3f  %6.1f  %s\n", (double)times[i].nanoseconds / 1e6,
                        total ? 100.0 * (double)times[i].nanoseconds / (double)total : 0.0, times[i].pass);
}

static void print_times(const run *r, hd_writer *log)
{
    hd_pass_time_array times = {0};
    for (uint32_t s = 0; s < r->pipeline->steps.count; s++)
        hd_array_push(&times, (hd_pass_time){r->pipeline->steps.items[s].pass->name, r->nanoseconds[s]});
    hd_pass_times_write(log, times.items, times.count);
    hd_array_free(&times);
}

static void print_statistics(const run *r, uint32_t count, hd_writer *log)
{
    HD_ARRAY(hd_statistic) sums = {0};
    for (uint32_t f = 0; f < count; f++) {
        for (uint32_t i = 0; i < r->outcomes[f].statistics.count; i++) {
            hd_statistic s = r->outcomes[f].statistics.items[i];
            uint32_t at = 0;
            while (at < sums.count &&
                   (strcmp(sums.items[at].pass, s.pass) != 0 || strcmp(sums.items[at].name, s.name) != 0))
                at++;
            if (at == sums.count)
                hd_array_push(&sums, s);
            else
                sums.items[at].value += s.value;
        }
    }
    for (uint32_t i = 0; i < sums.count; i++)
        hd_write_format(log, "%14llu  %s - %s\n", (unsigned long long)sums.items[i].value, sums.items[i].pass,
                        sums.items[i].name);
    hd_array_free(&sums);
}

bool hd_pipeline_only_annotates(const hd_pipeline *pipeline)
{
    for (uint32_t s = 0; s < pipeline->steps.count; s++)
        if (pipeline->steps.items[s].pass->keeps != HD_KEEPS_ALL)
            return false;
    return true;
}

static uint32_t select_functions(const hd_module *module, const char *glob, uint32_t *functions)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (hd_function_selected(module->functions.items[i], glob))
            functions[count++] = i;
    return count;
}

/* Machine code is only annotated: nobody assembles a changed listing. */
static bool takes_machine_code(const hd_pipeline *pipeline, const hd_module *module, const char *glob,
                               hd_diagnostics *diagnostics)
{
    for (uint32_t s = 0; s < pipeline->steps.count; s++) {
        const hd_pass_info *pass = pipeline->steps.items[s].pass;
        if (hd_pass_is_of_technique(pass))
            continue;
        hd_report(diagnostics, HD_DIAG_MACHINE_CODE, module->source, (hd_span){0, 0},
                  "'%s' changes instructions, and machine code (SASS) is only annotated", pass->name);
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; pipeline->steps.count && i < module->functions.count; i++) {
        const hd_function *f = module->functions.items[i];
        uint32_t ordinal;
        const char *obstacle = hd_function_selected(f, glob) ? hd_machine_obstacle(f, &ordinal) : NULL;
        if (!obstacle)
            continue;
        hd_report(diagnostics, HD_DIAG_MACHINE_CODE, module->source, f->instructions.items[ordinal].span,
                  "'%s' is not annotated: this instruction %s", hd_names_text(&module->names, f->name), obstacle);
        good = false;
    }
    return good;
}

bool hd_pipeline_run(const hd_pipeline *pipeline, hd_module *module, const hd_pipeline_options *options,
                     hd_diagnostics *diagnostics)
{
    if (!hd_module_check_selection(module, options->kernel, diagnostics) ||
        (module->is_machine && !takes_machine_code(pipeline, module, options->kernel, diagnostics)))
        return false;
    hd_arena arena;
    hd_arena_init(&arena);
    if (pipeline->steps.count && !hd_pipeline_only_annotates(pipeline)) /* else the text must not change */
        hd_module_lower_offsets(module);
    run r = {.pipeline = pipeline, .module = module, .options = options};
    r.functions = HD_ARENA_ARRAY(&arena, uint32_t, module->functions.count);
    r.outcomes = HD_ARENA_ARRAY(&arena, outcome, module->functions.count);
    r.nanoseconds = HD_ARENA_ARRAY(&arena, uint64_t, pipeline->steps.count);
    uint32_t count = select_functions(module, options->kernel, r.functions);
    uint32_t threads = hd_pipeline_only_annotates(pipeline) && !options->print_after ? options->threads : 1;
    hd_meter_expect(options->meter, (uint64_t)count * pipeline->steps.count);
    hd_parallel(threads, count, run_function, &r);
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        ok = ok && r.outcomes[i].diagnostics.error_count == 0;
        hd_diagnostics_merge(diagnostics, &r.outcomes[i].diagnostics);
    }
    if (options->log && options->time_passes)
        print_times(&r, options->log);
    if (options->log && options->statistics)
        print_statistics(&r, count, options->log);
    for (uint32_t i = 0; i < count; i++) {
        hd_array_free(&r.outcomes[i].statistics);
        hd_diagnostics_free(&r.outcomes[i].diagnostics);
    }
    hd_arena_free(&arena);
    return ok;
}
