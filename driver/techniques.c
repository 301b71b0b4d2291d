/* See techniques.h. */
#include "driver/techniques.h"
#include "driver/check.h"
#include "ir/architected.h"
#include "ir/techniques.h"
#include "ir/words.h"

typedef struct comparison {
    const hd_source *source;
    const hd_rewrite_options *options;
    hd_writer *out;
    bool wrong;
} comparison;

typedef struct column_sums { /* of the functions that were asked for */
    uint64_t instructions, annotations;
    hd_word_size size;
    bool sized;
    hd_statistic_array statistics;
} column_sums;

static bool has_annotations(const hd_module *module)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.items[i]->annotations.count)
            return true;
    return false;
}

static void add_statistic(hd_statistic_array *sums, const hd_statistic *s)
{
    for (uint32_t i = 0; i < sums->count; i++)
        if (!strcmp(sums->items[i].name, s->name)) {
            sums->items[i].value += s->value;
            return;
        }
    hd_array_push(sums, *s);
}

static bool run_list(const comparison *c, const char *passes, hd_module *module, hd_statistic_array *sums, hd_diagnostics *diagnostics)
{
    hd_pipeline *pipeline = hd_pipeline_parse(passes, diagnostics);
    bool good = pipeline != NULL;
    for (uint32_t i = 0; i < module->functions.count && good; i++) {
        hd_statistic_array found = {0};
        if (!hd_function_selected(module->functions.items[i], c->options->pipeline.kernel))
            continue;
        good = hd_pipeline_run_function(pipeline, module->functions.items[i], &c->options->pipeline, &found, diagnostics);
        for (uint32_t s = 0; s < found.count && sums; s++)
            add_statistic(sums, &found.items[s]);
        hd_array_free(&found);
    }
    hd_pipeline_free(pipeline);
    return good;
}

static void sum_up(const comparison *c, const hd_module *module, const char *technique, column_sums *sums)
{
    sums->sized = technique;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const hd_function *f = module->functions.items[i];
        hd_word_size size = {0, 0, 0};
        if (!hd_function_selected(f, c->options->pipeline.kernel))
            continue;
        sums->instructions += hd_function_issued(f);
        sums->annotations += technique ? hd_annotations_count(f, technique) : 0;
        sums->sized = sums->sized && hd_words_size(f, technique, &size);
        sums->size.words += size.words;
        sums->size.bits += size.bits;
    }
    if (sums->instructions)
        sums->size.percent = 100.0 * (double)sums->size.words / (double)sums->instructions;
}

/* What stands in no column. */
static bool is_detail(const hd_statistic *s)
{
    return s->value && strcmp(s->name, HD_STATISTIC_WORDS) != 0 && strcmp(s->name, HD_STATISTIC_BITS) != 0;
}

static void write_row(const comparison *c, const char *name, const column_sums *sums, const char *verdict)
{
    hd_write_format(c->out, "%-10s  %12llu", name, (unsigned long long)sums->instructions);
    if (!*verdict)
        hd_write_string(c->out, "\n");
    else if (!sums->sized)
        hd_write_format(c->out, "  %11llu  %10s  %7s  %9s  %s\n", (unsigned long long)sums->annotations, "-", "-", "-", verdict);
    else
        hd_write_format(c->out, "  %11llu  %10llu  %7.2f  %9llu  %s\n", (unsigned long long)sums->annotations,
                        (unsigned long long)sums->size.words, sums->size.percent, (unsigned long long)sums->size.bits, verdict);
    for (uint32_t s = 0; s < sums->statistics.count && *verdict; s++)
        if (is_detail(&sums->statistics.items[s]))
            hd_write_format(c->out, "%12s%12llu  %s\n", "", (unsigned long long)sums->statistics.items[s].value, sums->statistics.items[s].name);
}

static hd_module *read_copy(const comparison *c, hd_source *source, hd_diagnostics *diagnostics)
{
    hd_source_from_memory(source, c->source->name, c->source->text, c->source->length);
    hd_module *module = hd_parse_ptx(source, &c->options->parse, diagnostics);
    if (!has_annotations(module) && !run_list(c, "clean,regalloc", module, NULL, diagnostics))
        return module;
    for (uint32_t i = 0; i < module->functions.count; i++)
        for (uint32_t t = 0; t < HD_TECHNIQUE_COUNT; t++)
            hd_annotations_remove(module->functions.items[i], hd_techniques[t].spelling);
    return module;
}

static const char *first_error(const hd_diagnostics *diagnostics)
{
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        if (d->severity == HD_ERROR)
            return d->message;
    return "failed";
}

/* NULL: the code as it is compared. */
static void compare_one(comparison *c, const hd_technique_info *technique)
{
    hd_source source;
    hd_diagnostics own;
    hd_check_result checked;
    column_sums sums = {0};
    hd_diagnostics_init(&own);
    hd_module *module = read_copy(c, &source, &own);
    const char *verdict = "";
    if (technique && !own.error_count && run_list(c, technique->pass, module, &sums.statistics, &own)) {
        verdict = hd_check_module(module, NULL, &own, &checked) == HD_STATUS_DONE ? "yes" : "NO";
        c->wrong = c->wrong || *verdict == 'N';
    }
    if (own.error_count)
        hd_write_format(c->out, "%-10s  left out: %s\n", technique ? technique->spelling : "", first_error(&own));
    if (!own.error_count || *verdict) {
        sum_up(c, module, technique ? technique->spelling : NULL, &sums);
        write_row(c, technique ? technique->spelling : "(none)", &sums, verdict);
    }
    hd_array_free(&sums.statistics);
    hd_diagnostics_free(&own);
    hd_module_free(module);
}

hd_module *hd_techniques_compare(hd_source *source, const hd_rewrite_options *options, hd_writer *out, hd_diagnostics *diagnostics,
                                 hd_status *status)
{
    comparison c = {source, options, out, false};
    hd_module *module = hd_parse_ptx(source, &options->parse, diagnostics);
    *status = HD_STATUS_REJECTED;
    if (diagnostics->error_count || !hd_module_check_selection(module, options->pipeline.kernel, diagnostics))
        return module;
    hd_write_format(out, "%-10s  %12s  %11s  %10s  %7s  %9s  %s\n", "technique", "instructions", "annotations", "64-bit", "of code", "bits in",
                    "verified");
    hd_write_format(out, "%-10s  %12s  %11s  %10s  %7s  %9s\n", "", "", "", "words", "%", "code");
    compare_one(&c, NULL);
    for (uint32_t t = 0; t < HD_TECHNIQUE_COUNT; t++)
        if (*hd_techniques[t].pass)
            compare_one(&c, &hd_techniques[t]);
    *status = c.wrong ? HD_STATUS_WRONG : HD_STATUS_DONE;
    return module;
}
