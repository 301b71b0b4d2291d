/* Replay results as a table: see replay.h.
 *
 * A row shows first what readers look for: register-file accesses and energy, normalized to the baseline, the headline
 * figure of the technique's paper, and the verdict of verification. No column mixes accesses to different structures.
 * Undefined values are words.
 */
#include "base/shown.h"
#include "emitters/replay/replay.h"
#include "emitters/replay/replay_values.h"

#include "base/version.h"

#include <math.h>
#include <stdio.h>

enum { COLUMNS = 100, LONGEST_NAME = 15, ACCESSES = 11, ENERGY = 7, HEADLINE = 42 };

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void write_ratio(hd_writer *w, int width, double ratio, const char *none)
{
    if (isnan(ratio))
        hd_write_format(w, "  %*s", width, none);
    else
        hd_write_format(w, "  %*.3f", width, ratio);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void write_row(hd_writer *w, int width, const hd_replay_result *r, const char *headline, const char *verified)
{
    hd_emit_replay_title(w, width, r->title);
    write_ratio(w, ACCESSES, r->rf_accesses_normalized, "-");
    write_ratio(w, ENERGY, r->energy_normalized, isnan(r->energy_pj) ? "unknown" : "-");
    hd_write_format(w, "%c %-*s  %s\n", r->energy_derived ? '*' : ' ', HEADLINE, headline, verified);
}

static void write_result(hd_writer *w, int width, const hd_replay_kernel *k, const hd_replay_result *r)
{
    char headline[64];
    if (r->not_applied) {
        hd_emit_replay_title(w, width, r->title);
        hd_write_format(w, "  not applied: %s\n", r->not_applied);
        return;
    }
    if (r == k->results)
        hd_replay_format_baseline(headline, r);
    else
        hd_replay_format_headline(headline, &r->headline);
    write_row(w, width, r, headline, hd_replay_verdicts[r->check]);
}

static int name_width(const hd_replay_report *report)
{
    int width = (int)strlen("technique");
    for (uint32_t k = 0; k < report->kernel_count; k++)
        for (uint32_t i = 0; i < report->kernels[k].result_count; i++) {
            int length = (int)strlen(report->kernels[k].results[i].title);
            width = length > width && length <= LONGEST_NAME ? length : width;
        }
    return width;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static void write_verdict(hd_writer *w, const hd_replay_kernel *k)
{
    char count[32];
    hd_write_string(w, "  ");
    if (k->machine_sm)
        hd_write_format(w, "machine code of sm_%u%s%s, ", k->machine_sm, k->assembled_by ? " by " : "",
                        k->assembled_by ? k->assembled_by : "");
    if (k->registers != HD_REPLAY_VIRTUAL)
        hd_write_format(w, "%u registers/thread, ", k->general);
    hd_write_format(w, "%s warp instructions", hd_replay_grouped(count, k->warp_instructions));
    if (!k->result_count)
        hd_write_format(w, ", %s thread instructions", hd_replay_grouped(count, k->thread_instructions));
    if (k->runs > 1)
        hd_write_format(w, ", %llu runs together", (unsigned long long)k->runs);
    hd_write_string(w, "; ");
    hd_replay_write_output(w, k);
    hd_write_char(w, '\n');
    if (k->result_count && k->registers == HD_REPLAY_VIRTUAL)
        hd_write_string(w, "  registers and order are those of the PTX, not of machine code\n");
}

static void write_launch(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k)
{
    hd_arena arena = {0};
    hd_write_format(w, "%s, grid %ux%ux%u, block %ux%ux%u", k->demangled, k->grid[0], k->grid[1], k->grid[2],
                    k->block[0], k->block[1], k->block[2]);
    hd_write_format(w, " (%s", k->file);
    const char *base = hd_replay_own_memory_base(report, k, &arena);
    if (base)
        hd_write_format(w, ", buffers from %s", base);
    hd_write_string(w, ")\n");
    hd_arena_free(&arena);
    write_verdict(w, k);
}

static void write_counter(hd_writer *w, const char *key, const char *value, const char *title)
{
    hd_write_format(w, "    %-28s  %17s  %s\n", key, value, title);
}

static void write_counters_of(hd_writer *w, const hd_replay_report *report, const hd_replay_result *r)
{
    char text[32];
    hd_write_format(w, "  %s: %s\n", r->model, r->summary);
    for (uint32_t c = 0; c < report->counter_count; c++)
        if (r->counters[c])
            write_counter(w, report->counters[c].key, hd_replay_grouped(text, r->counters[c]),
                          report->counters[c].title);
    if (!isnan(r->physical_access_variation)) {
        snprintf(text, sizeof text, "%.3f", r->physical_access_variation);
        write_counter(w, "physical_access_variation", text, "coefficient of variation of them");
    }
    if (r->allocated.instructions) {
        snprintf(text, sizeof text, "%.1f", r->allocated.mean);
        write_counter(w, "allocated_registers mean", text, "allocated physical registers of an SM");
        write_counter(w, "allocated_registers peak", hd_replay_grouped(text, r->allocated.peak), "most of them");
    }
    if (!isnan(r->energy_pj)) {
        snprintf(text, sizeof text, "%.0f", r->energy_pj);
        write_counter(w, "energy_pj", text, "dynamic energy in pJ");
    }
    if (r->storage_bits)
        write_counter(w, "storage_bits", hd_replay_grouped(text, r->storage_bits),
                      "bits that the technique adds to an SM");
}

static void write_counters(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k)
{
    if (k->result_count)
        hd_write_string(w, "  counters that are not 0, as heddle-json(5) names them:\n");
    for (uint32_t i = 0; i < k->result_count; i++)
        if (!k->results[i].not_applied)
            write_counters_of(w, report, &k->results[i]);
}

/* ---- means ------------------------------------------------------------------------------------------------------- */

static void write_mean(hd_writer *w, int width, const hd_replay_report *report, uint32_t model)
{
    hd_replay_result r = report->kernels[0].results[model];
    hd_replay_mean m = hd_replay_mean_of(report, model);
    char headline[64] = "", verified[64];
    if (!m.launches) {
        hd_emit_replay_title(w, width, r.title);
        hd_write_string(w, "  not applied to any launch\n");
        return;
    }
    r.rf_accesses_normalized = m.rf_accesses_normalized;
    r.energy_normalized = r.energy_pj = m.energy_normalized;
    r.energy_derived = m.energy_derived;
    if (model)
        hd_replay_format_headline(headline, &m.headline);
    hd_replay_format_verdict(verified, report, &m);
    write_row(w, width, &r, headline, verified);
}

static void write_means(hd_writer *w, int width, const hd_replay_report *report)
{
    if (report->kernel_count < 2)
        return;
    hd_write_format(w, "Mean over %u launches (normalized values and changes: geometric; other figures: arithmetic)\n",
                    report->kernel_count);
    for (uint32_t i = 0; i < report->kernels[0].result_count; i++)
        write_mean(w, width, report, i);
    hd_write_char(w, '\n');
}

/* ---- legend ------------------------------------------------------------------------------------------------------ */

/* The headlines shown in the rows of a launch, without duplicates. */
static void write_meanings(hd_writer *w, const hd_replay_kernel *k)
{
    for (uint32_t i = 0; i < k->result_count; i++) {
        const hd_replay_headline *h = &k->results[i].headline;
        bool met = h->kind == HD_FIGURE_NONE;
        for (uint32_t j = 0; j < i && !met; j++)
            met = k->results[j].headline.kind != HD_FIGURE_NONE && !strcmp(k->results[j].headline.meaning, h->meaning);
        if (!met)
            hd_write_format(w, "%s: %s\n", h->title, h->meaning);
    }
}

/* The models that the titles denote. */
static void write_configurations(hd_writer *w, const hd_replay_kernel *k)
{
    int column = 0;
    for (uint32_t i = 0; i < k->result_count; i++) {
        const hd_replay_result *r = &k->results[i];
        char text[128];
        if (!strcmp(r->title, r->model))
            continue;
        int length = snprintf(text, sizeof text, "%s = %s", r->title, r->model);
        bool first = column == 0, wraps = !first && column + 2 + length > COLUMNS;
        hd_write_string(w, first ? "models: " : wraps ? ",\n  " : ", ");
        column = (first ? 8 : wraps ? 2 : column + 2) + length;
        hd_write_string(w, text);
    }
    hd_write_string(w, column ? "\n" : "");
}

static void write_legend(hd_writer *w, const hd_replay_report *report)
{
    const hd_replay_kernel *k = &report->kernels[0];
    hd_write_string(w,
                    "RF accesses: reads and writes of the register file, normalized to the baseline\n"
                    "energy: dynamic energy of the register file and of what the technique adds, normalized likewise;\n"
                    "  * by energies that are not published for this GPU, but derived from others: heddle-replay(1);\n"
                    "  unknown: the GPU's description has no energy of a structure that it uses\n"
                    "verified: every operand that the model delivers, and the output, are the original kernel's\n");
    write_meanings(w, k);
    hd_emit_replay_time_legend(w, report);
    hd_emit_replay_fault_legend(w, report);
    hd_emit_replay_profile_legend(w, report);
    if (report->left_out)
        hd_write_format(w, "not shown, for they depend on time (with --time, or by name): %s\n", report->left_out);
    write_configurations(w, k);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* The settings that the first line does not have. */
static void write_defaults(hd_writer *w, const hd_replay_report *report)
{
    hd_arena arena = {0};
    hd_write_string(w, "heddle " HD_VERSION ";");
    const hd_replay_setting *setting;
    for (uint32_t s = 0; (setting = hd_replay_setting_at(s)); s++) {
        const char *text =
            setting->presence > HD_REPLAY_GIVEN ? hd_replay_setting_text(report, NULL, setting, &arena) : NULL;
        if (text)
            hd_write_format(w, " --%s=%s", setting->option, text);
    }
    hd_write_char(w, '\n');
    hd_arena_free(&arena);
}

static void write_head(hd_writer *w, const hd_replay_report *report, int width)
{
    hd_write_format(w, "GPU %s", report->gpu);
    if (report->sms)
        hd_write_format(w, ", %u SM%s", report->sms, report->sms == 1 ? "" : "s");
    if (report->sample_waves)
        hd_write_format(w, ", %u waves of blocks measured", report->sample_waves);
    for (uint32_t i = 0; i < report->setting_count; i++)
        hd_write_format(w, ", %s", report->settings[i]);
    if (report->lane_fault)
        hd_write_format(w, ", lane fault %s", report->lane_fault);
    if (report->seed)
        hd_write_format(w, ", random fills by seed %u", report->seed);
    if (report->block_order)
        hd_write_format(w, ", blocks %s", report->block_order);
    if (report->buffer_order)
        hd_write_format(w, ", buffers %s", report->buffer_order);
    hd_write_format(w, ". One access is a warp register of 32 lanes x 32 bits.\n");
    write_defaults(w, report);
    hd_write_format(w, "\n  %-*s  %*s  %*s  %-*s  %s\n", width, "technique", ACCESSES, "RF accesses", ENERGY, "energy",
                    HEADLINE, "headline", "verified");
}

typedef struct text_job {
    const hd_replay_report *report;
    bool counters;
} text_job;

static void write_report(hd_writer *w, const void *what, bool colour)
{
    const text_job *job = what;
    const hd_replay_report *report = job->report;
    (void)colour; /* there is none */
    int width = name_width(report);
    bool table = report->kernel_count && report->kernels[0].result_count;
    if (table)
        write_head(w, report, width);
    for (uint32_t i = 0; i < report->kernel_count; i++) {
        const hd_replay_kernel *k = &report->kernels[i];
        write_launch(w, report, k);
        for (uint32_t r = 0; r < k->result_count; r++)
            write_result(w, width, k, &k->results[r]);
        hd_emit_replay_times(w, report, k, width);
        hd_emit_replay_fault(w, report, k, width);
        hd_emit_replay_profile(w, report, k);
        if (job->counters)
            write_counters(w, report, k);
        hd_write_string(w, table ? "\n" : "");
    }
    if (table) {
        write_means(w, width, report);
        hd_emit_replay_mean_times(w, report, width);
        write_legend(w, report);
    }
}

void hd_emit_replay_text(hd_writer *w, const hd_replay_report *report, bool counters)
{
    hd_write_shown_by(w, write_report, &(text_job){report, counters}, false);
}
