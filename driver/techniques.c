/* See techniques.h. One module serves all techniques: the annotations of a pass are counted, verified and removed, so
 * that the next pass finds the same instructions and can reuse the analyses. For a pass that changes instructions,
 * copies of the functions are kept and restored, and the analyses are lost; such passes run last. */
#include "driver/techniques.h"
#include "driver/check.h"
#include "passes/clean/offsets.h"
#include "ir/storage.h"
#include "ir/techniques.h"
#include "ir/words/words.h"

typedef struct row { /* results of one technique, over the selected functions; or the reference code */
    uint64_t instructions, annotations;
    hd_word_size size;
    bool sized;
    const char *verdict; /* NULL: none */
    const char *refusal; /* why */
    hd_statistic_array statistics;
} row;

typedef struct comparison {
    const hd_rewrite_options *options;
    hd_module *module; /* simplified and allocated; restored after each technique */
    hd_pass_contexts contexts;
    hd_arena arena;
    hd_pass_time_array times; /* in the order in which they ran */
    row code, rows[HD_TECHNIQUE_ROOM];
} comparison;

/* Hardware alone has no pass; of techniques that share one, the first has the row. */
static bool has_row(uint32_t technique)
{
    const char *pass = hd_techniques[technique].pass;
    for (uint32_t t = 0; t < technique; t++)
        if (strcmp(hd_techniques[t].pass, pass) == 0)
            return false;
    return *pass;
}

/* ---- the module -------------------------------------------------------------------------------------------------- */

static bool is_selected(const comparison *c, uint32_t function)
{
    return hd_function_selected(c->module->functions.items[function], c->options->pipeline.kernel);
}

static bool has_annotations(const hd_module *module)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.items[i]->annotations.count)
            return true;
    return false;
}

static void remove_annotations(hd_module *module, const char *technique)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        hd_annotations_remove(module->functions.items[i], technique);
}

static bool allocate(const comparison *c, hd_diagnostics *diagnostics)
{
    hd_pipeline_options options = c->options->pipeline;
    hd_pipeline *pipeline = has_annotations(c->module) ? NULL : hd_pipeline_parse("select,regalloc", diagnostics);
    options.log = NULL;
    options.meter = NULL; /* units of the table are techniques */
    bool good = !pipeline || hd_pipeline_run(pipeline, c->module, &options, diagnostics);
    hd_pipeline_free(pipeline);
    for (uint32_t t = 0; t < hd_technique_count; t++)
        remove_annotations(c->module, hd_techniques[t].spelling);
    return good;
}

static void open_contexts(comparison *c, hd_diagnostics *diagnostics)
{
    hd_pass_contexts_open(&c->contexts, c->module, diagnostics);
    for (uint32_t i = 0; i < c->contexts.count; i++) {
        c->contexts.items[i].gpu = c->options->pipeline.gpu;
        c->contexts.items[i].block = c->options->pipeline.block;
    }
}

/* ---- one technique ----------------------------------------------------------------------------------------------- */

static void add_statistic(hd_statistic_array *sums, const hd_statistic *s)
{
    for (uint32_t i = 0; i < sums->count; i++)
        if (!strcmp(sums->items[i].name, s->name)) {
            sums->items[i].value += s->value;
            return;
        }
    hd_array_push(sums, *s);
}

static bool run_pass(comparison *c, const char *pass, const hd_pipeline *pipeline, row *r, hd_diagnostics *diagnostics)
{
    bool good = true;
    hd_pass_time time = {pass, 0};
    for (uint32_t i = 0; i < c->module->functions.count && good; i++) {
        hd_statistic_array found = {0};
        if (!is_selected(c, i))
            continue;
        time.nanoseconds -= c->contexts.items[i].nanoseconds;
        good = hd_pipeline_run_in(pipeline, &c->contexts.items[i], &found, diagnostics);
        time.nanoseconds += c->contexts.items[i].nanoseconds;
        for (uint32_t s = 0; s < found.count; s++)
            add_statistic(&r->statistics, &found.items[s]);
        hd_array_free(&found);
    }
    hd_array_push(&c->times, time);
    return good;
}

static void sum_up(const comparison *c, const char *technique, row *r)
{
    r->sized = technique;
    for (uint32_t i = 0; i < c->module->functions.count; i++) {
        const hd_function *f = c->module->functions.items[i];
        hd_word_size size = {0, 0, 0};
        if (!is_selected(c, i))
            continue;
        r->instructions += hd_function_issued(f);
        r->annotations += technique ? hd_annotations_count(f, technique) : 0;
        r->sized = r->sized && hd_words_size(f, technique, &size);
        r->size.words += size.words;
        r->size.bits += size.bits;
    }
    if (r->instructions)
        r->size.percent = 100.0 * (double)r->size.words / (double)r->instructions;
}

static const char *first_error(comparison *c, const hd_diagnostics *diagnostics)
{
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        if (d->severity == HD_ERROR)
            return hd_arena_string(&c->arena, d->message, strlen(d->message));
    return "failed";
}

static void try_technique(comparison *c, const hd_technique_info *technique, const hd_pipeline *pipeline, row *r)
{
    hd_diagnostics own;
    hd_check_result checked;
    hd_diagnostics_init(&own);
    if (run_pass(c, technique->pass, pipeline, r, &own)) {
        r->verdict = hd_check_module(c->module, NULL, NULL, &own, &checked) == HD_STATUS_DONE ? "yes" : "NO";
        sum_up(c, technique->spelling, r);
    }
    if (own.error_count)
        r->refusal = first_error(c, &own);
    hd_diagnostics_free(&own);
}

/* Restores the functions afterwards. */
static void compare_one(comparison *c, uint32_t t, const hd_pipeline *pipeline, hd_diagnostics *diagnostics)
{
    bool changes = !hd_pipeline_only_annotates(pipeline);
    uint32_t count = c->module->functions.count;
    hd_function **kept = changes ? HD_ARENA_ARRAY(&c->arena, hd_function *, count) : NULL;
    for (uint32_t i = 0; i < count && changes; i++)
        kept[i] = hd_function_copy(c->module->functions.items[i]);
    try_technique(c, &hd_techniques[t], pipeline, &c->rows[t]);
    if (!changes) {
        remove_annotations(c->module, hd_techniques[t].spelling);
        return;
    }
    hd_pass_contexts_close(&c->contexts);
    for (uint32_t i = 0; i < count; i++)
        hd_function_restore(c->module->functions.items[i], kept[i]);
    open_contexts(c, diagnostics);
}

static void compare_all(comparison *c, hd_diagnostics *diagnostics)
{
    hd_pipeline *pipelines[HD_TECHNIQUE_ROOM];
    open_contexts(c, diagnostics);
    for (uint32_t t = 0; t < hd_technique_count; t++) {
        pipelines[t] = has_row(t) ? hd_pipeline_parse(hd_techniques[t].pass, diagnostics) : NULL;
        hd_meter_expect(c->options->pipeline.meter, has_row(t));
    }
    for (uint32_t changing = 0; changing < 2; changing++)
        for (uint32_t t = 0; t < hd_technique_count; t++)
            if (pipelines[t] && hd_pipeline_only_annotates(pipelines[t]) != changing) {
                compare_one(c, t, pipelines[t], diagnostics);
                hd_meter_step(c->options->pipeline.meter, 1);
            }
    for (uint32_t t = 0; t < hd_technique_count; t++)
        hd_pipeline_free(pipelines[t]);
    hd_pass_contexts_close(&c->contexts);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void write_row(hd_writer *out, const char *name, const row *r)
{
    if (r->refusal)
        hd_write_format(out, "%-10s  left out: %s\n", name, r->refusal);
    if (!r->verdict)
        return;
    hd_write_format(out, "%-10s  %12llu", name, (unsigned long long)r->instructions);
    if (!*r->verdict)
        hd_write_string(out, "\n");
    else if (!r->sized)
        hd_write_format(out, "  %11llu  %10s  %7s  %9s  %s\n", (unsigned long long)r->annotations, "-", "-", "-",
                        r->verdict);
    else
        hd_write_format(out, "  %11llu  %10llu  %7.2f  %9llu  %s\n", (unsigned long long)r->annotations,
                        (unsigned long long)r->size.words, r->size.percent, (unsigned long long)r->size.bits,
                        r->verdict);
    for (uint32_t i = 0; i < r->statistics.count && *r->verdict; i++) {
        const hd_statistic *s = &r->statistics.items[i];
        bool has_column = strcmp(s->name, HD_STATISTIC_WORDS) == 0 || strcmp(s->name, HD_STATISTIC_BITS) == 0;
        if (s->value && !has_column)
            hd_write_format(out, "%12s%12llu  %s\n", "", (unsigned long long)s->value, s->name);
    }
}

static hd_status write_table(const comparison *c, hd_writer *out)
{
    hd_status status = HD_STATUS_DONE;
    hd_write_format(out, "%-10s  %12s  %11s  %10s  %7s  %9s  %s\n", "technique", "instructions", "annotations",
                    "64-bit", "of code", "bits in", "verified");
    hd_write_format(out, "%-10s  %12s  %11s  %10s  %7s  %9s\n", "", "", "", "words", "%", "code");
    write_row(out, c->code.verdict ? "(none)" : "", &c->code);
    for (uint32_t t = 0; t < hd_technique_count; t++) {
        if (has_row(t))
            write_row(out, hd_techniques[t].spelling, &c->rows[t]);
        if (c->rows[t].verdict && *c->rows[t].verdict == 'N')
            status = HD_STATUS_WRONG;
    }
    return status;
}

hd_module *hd_techniques_compare(hd_source *source, const hd_rewrite_options *options, hd_writer *out,
                                 hd_diagnostics *diagnostics, hd_status *status)
{
    comparison c = {.options = options};
    hd_diagnostics own;
    hd_parse_options parse = options->parse;
    parse.takes_listings = false; /* it simplifies and allocates first */
    hd_module *module = hd_parse_ptx(source, &parse, diagnostics);
    *status = HD_STATUS_REJECTED;
    if (diagnostics->error_count || !hd_module_check_selection(module, options->pipeline.kernel, diagnostics))
        return module;
    hd_diagnostics_init(&own);
    c.module = module;
    hd_module_lower_offsets(module);
    module->diagnostics = &own; /* the table shows what matters of them */
    if (allocate(&c, &own)) {
        c.code.verdict = "";
        sum_up(&c, NULL, &c.code);
        compare_all(&c, &own);
    } else {
        c.code.refusal = first_error(&c, &own);
        for (uint32_t t = 0; t < hd_technique_count; t++)
            c.rows[t].refusal = c.code.refusal;
    }
    *status = write_table(&c, out);
    if (options->pipeline.log && options->pipeline.time_passes)
        hd_pass_times_write(options->pipeline.log, c.times.items, c.times.count);
    for (uint32_t t = 0; t < hd_technique_count; t++)
        hd_array_free(&c.rows[t].statistics);
    hd_array_free(&c.times);
    hd_arena_free(&c.arena);
    module->diagnostics = diagnostics;
    hd_diagnostics_free(&own);
    return module;
}
