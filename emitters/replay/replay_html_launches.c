/* The launches of the replay's page: see replay_page.h. What ran, a table of its models as in text, and, folded, all
 * that JSON has: figures, counters and timings, a column for each model. Linear in the results. */
#include "emitters/replay/replay_page.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>

/* ---- the models of a launch -------------------------------------------------------------------------------------- */

static void write_timing(hd_writer *w, const hd_replay_result *r)
{
    const hd_replay_timing *t = r->timing;
    char cycles[32];
    if (!t) {
        hd_write_string(w, "<td class=\"none\" colspan=\"5\">no cycles</td>");
        return;
    }
    hd_write_format(w, "<td class=\"num\">%s</td>", hd_replay_grouped(cycles, t->cycles));
    page_ratio(w, t->speedup, false, "-");
    page_ratio(w, t->energy_normalized, r->energy_derived, "unknown");
    hd_write_format(w, "<td class=\"num\">%.2f</td><td class=\"num\">%.1f %%</td>", t->warp_ipc, 100 * t->occupancy);
}

static void write_result(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k, uint32_t model)
{
    const hd_replay_result *r = &k->results[model];
    char text[64];
    hd_write_string(w, "<tr><th scope=\"row\" class=\"model\">");
    page_model_key(w, model);
    page_text(w, r->title);
    hd_write_string(w, "</th>");
    if (r->not_applied) {
        hd_write_format(w, "<td class=\"none\" colspan=\"%u\">not applied: ", report->slot_count ? 10 : 5);
        page_text(w, r->not_applied);
        hd_write_string(w, "</td></tr>\n");
        return;
    }
    page_ratio(w, r->rf_accesses_normalized, false, "-");
    page_ratio(w, r->energy_normalized, r->energy_derived, isnan(r->energy_pj) ? "unknown" : "-");
    if (report->slot_count)
        write_timing(w, r);
    if (model)
        hd_replay_format_headline(text, &r->headline);
    else
        hd_replay_format_baseline(text, r);
    hd_write_string(w, "<td>");
    page_text(w, text);
    hd_write_format(w, "</td><td class=\"num\">%s</td>", hd_replay_grouped(text, r->storage_bits));
    page_verdict(w, hd_replay_verdicts[r->check], r->check != HD_CHECK_PASS);
    hd_write_string(w, "</tr>\n");
}

static void write_results(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k)
{
    static const char *const counted[] = {"Technique", "RF accesses", "Dynamic energy"};
    static const char *const timed[] = {"Cycles", "Speed-up", "Energy with leakage", "IPC", "Occupancy"};
    page_table(w, "values", "Techniques, normalized to the baseline");
    hd_write_string(w, "<thead><tr>");
    for (uint32_t c = 0; c < sizeof counted / sizeof *counted; c++)
        page_column_head(w, counted[c], NULL);
    for (uint32_t c = 0; c < sizeof timed / sizeof *timed && report->slot_count; c++)
        page_column_head(w, timed[c], NULL);
    page_column_head(w, "Headline", NULL);
    page_column_head(w, "Storage bits", "Bits that the technique adds to an SM; 0: none or unknown");
    page_column_head(w, "Verified", NULL);
    hd_write_string(w, "</tr></thead>\n<tbody>\n");
    for (uint32_t m = 0; m < k->result_count; m++)
        write_result(w, report, k, m);
    hd_write_string(w, "</tbody>");
    page_table_end(w);
}

/* ---- all numbers ------------------------------------------------------------------------------------------------- */

typedef struct numbers { /* rows of numbers, a column for each model */
    const char *caption;
    uint32_t count;
    void (*name)(const hd_replay_report *report, uint32_t row, const char **key, const char **title);
    /* Whether it is not zero; an empty text where it is unknown. */
    bool (*format)(char text[static 40], const hd_replay_report *report, const hd_replay_result *result, uint32_t row);
} numbers;

static bool format_real(char text[static 40], const char *form, double value)
{
    text[0] = '\0';
    if (!isnan(value))
        snprintf(text, 40, form, value);
    return !isnan(value);
}

static bool format_count(char text[static 40], uint64_t value)
{
    hd_replay_grouped(text, value);
    return value != 0;
}

static bool format_energy(char text[static 40], double pj)
{
    text[0] = '\0';
    return !isnan(pj) && format_count(text, (uint64_t)llround(pj));
}

static void name_counter(const hd_replay_report *report, uint32_t row, const char **key, const char **title)
{
    *key = report->counters[row].key;
    *title = report->counters[row].title;
}

static bool format_counter(char text[static 40], const hd_replay_report *report, const hd_replay_result *r,
                           uint32_t row)
{
    (void)report;
    return format_count(text, r->counters[row]);
}

enum { READS, WRITES, ENERGY, VARIATION, MEAN, PEAK, ISSUED, BUCKET, FIGURES };

static void name_figure(const hd_replay_report *report, uint32_t row, const char **key, const char **title)
{
    static const char *const names[FIGURES][2] = {
        [READS] = {"rf_reads_eliminated_fraction", "of operands read"},
        [WRITES] = {"rf_writes_eliminated_fraction", "of results written"},
        [ENERGY] = {"energy_pj", "dynamic energy in pJ"},
        [VARIATION] = {"physical_access_variation", "coefficient of variation of accesses per physical register"},
        [MEAN] = {"allocated_registers mean", "allocated physical registers of an SM"},
        [PEAK] = {"allocated_registers peak", "most of them"},
        [ISSUED] = {"allocated_registers instructions", "issued instructions that the mean is over"},
        [BUCKET] = {"allocated_registers bucket_instructions", "instructions of a point of the curve"}};
    (void)report;
    *key = names[row][0];
    *title = names[row][1];
}

static bool format_figure(char text[static 40], const hd_replay_report *report, const hd_replay_result *r, uint32_t row)
{
    const hd_replay_allocation *a = &r->allocated;
    (void)report;
    text[0] = '\0';
    if (row >= MEAN && !a->instructions)
        return false;
    switch (row) {
    case READS: return format_real(text, "%.3f", r->rf_reads_eliminated_fraction);
    case WRITES: return format_real(text, "%.3f", r->rf_writes_eliminated_fraction);
    case ENERGY: return format_energy(text, r->energy_pj);
    case VARIATION: return format_real(text, "%.3f", r->physical_access_variation);
    case MEAN: return format_real(text, "%.1f", a->mean);
    case PEAK: return format_count(text, a->peak);
    case ISSUED: return format_count(text, a->instructions);
    default: return format_count(text, a->bucket_instructions);
    }
}

enum { CYCLES, WARP_IPC, THREAD_IPC, OCCUPANCY, DYNAMIC, STATIC, COUNTS };

static void name_timing(const hd_replay_report *report, uint32_t row, const char **key, const char **title)
{
    static const char *const names[COUNTS][2] = {
        [CYCLES] = {"cycles", "of the SMs' clock"},
        [WARP_IPC] = {"warp_ipc", "warp instructions per cycle"},
        [THREAD_IPC] = {"thread_ipc", "thread instructions per cycle"},
        [OCCUPANCY] = {"occupancy_fraction", "resident warps of those possible"},
        [DYNAMIC] = {"dynamic_pj", "dynamic energy in pJ"},
        [STATIC] = {"static_pj", "leakage in pJ"}};
    bool slot = row >= COUNTS + HD_REPLAY_TIMING_COUNTS;
    const hd_replay_slot *s = slot ? &report->slots[row - COUNTS - HD_REPLAY_TIMING_COUNTS] : NULL;
    *key = row < COUNTS ? names[row][0] : slot ? s->key : hd_replay_timing_keys[row - COUNTS];
    *title = row < COUNTS ? names[row][1] : slot ? "issue slots" : "";
}

static bool format_timing(char text[static 40], const hd_replay_report *report, const hd_replay_result *r, uint32_t row)
{
    const hd_replay_timing *t = r->timing;
    (void)report;
    text[0] = '\0';
    if (!t)
        return false;
    switch (row) {
    case CYCLES: return format_count(text, t->cycles);
    case WARP_IPC: return format_real(text, "%.3f", t->warp_ipc);
    case THREAD_IPC: return format_real(text, "%.3f", t->thread_ipc);
    case OCCUPANCY: return format_real(text, "%.3f", t->occupancy);
    case DYNAMIC: return format_energy(text, t->dynamic_pj);
    case STATIC: return format_energy(text, t->static_pj);
    default: break;
    }
    row -= COUNTS;
    return format_count(text, row < HD_REPLAY_TIMING_COUNTS ? hd_replay_timing_count(t, row)
                                                            : t->slots[row - HD_REPLAY_TIMING_COUNTS]);
}

static bool is_shown(const numbers *n, const hd_replay_report *report, const hd_replay_kernel *k,
                     const page_columns *models, uint32_t row)
{
    char text[40];
    for (uint32_t c = 0; c < models->count; c++)
        if (n->format(text, report, &k->results[models->items[c]], row))
            return true;
    return false;
}

static void write_number_row(hd_writer *w, const numbers *n, const hd_replay_report *report, const hd_replay_kernel *k,
                             const page_columns *models, uint32_t row)
{
    const char *key, *title;
    char text[40];
    n->name(report, row, &key, &title);
    hd_write_string(w, "<tr><th scope=\"row\"><code>");
    page_text(w, key);
    hd_write_string(w, "</code><br><small>");
    page_text(w, title);
    hd_write_string(w, "</small></th>");
    for (uint32_t c = 0; c < models->count; c++) {
        bool some = n->format(text, report, &k->results[models->items[c]], row);
        hd_write_format(w, "<td class=\"num%s\">%s</td>", some ? "" : " none", *text ? text : "unknown");
    }
    hd_write_string(w, "</tr>\n");
}

/* With a column for each of the models. */
static void write_table(hd_writer *w, const numbers *n, const hd_replay_report *report, const hd_replay_kernel *k,
                        const page_columns *models)
{
    page_table(w, "values numbers", n->caption);
    hd_write_string(w, "<thead><tr><th scope=\"col\">Name in JSON</th>");
    for (uint32_t c = 0; c < models->count; c++)
        page_column_head(w, k->results[models->items[c]].title, k->results[models->items[c]].model);
    hd_write_string(w, "</tr></thead>\n<tbody>\n");
    for (uint32_t row = 0; row < n->count; row++)
        if (is_shown(n, report, k, models, row))
            write_number_row(w, n, report, k, models, row);
    hd_write_string(w, "</tbody>");
    page_table_end(w);
}

static void write_numbers(hd_writer *w, const numbers *n, const hd_replay_report *report, const hd_replay_kernel *k)
{
    hd_u32_array applied = {0};
    for (uint32_t m = 0; m < k->result_count; m++)
        if (!k->results[m].not_applied)
            hd_array_push(&applied, m);
    hd_write_format(w, "<details><summary>%s</summary>\n", n->caption);
    uint32_t parts = page_parts(applied.count, REPLAY_COLUMNS);
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t begin = page_part_begin(applied.count, parts, i);
        page_columns models = {applied.items + begin, page_part_begin(applied.count, parts, i + 1) - begin};
        write_table(w, n, report, k, &models);
    }
    hd_write_string(w, "</details>\n");
    hd_array_free(&applied);
}

/* ---- a launch ---------------------------------------------------------------------------------------------------- */

/* Where launches differ in it; else the head of the page has it. */
static void write_memory_base(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k)
{
    hd_arena arena = {0};
    const char *base = hd_replay_own_memory_base(report, k, &arena);
    if (base)
        hd_write_format(w, "<p class=\"meta\">Buffers from %s</p>\n", base);
    hd_arena_free(&arena);
}

static void write_facts(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k)
{
    char warps[32], threads[32], branches[32];
    hd_write_string(w, "<p class=\"meta\">");
    if (strcmp(k->name, k->demangled)) {
        hd_write_string(w, "<code>");
        page_text(w, k->name);
        hd_write_string(w, "</code> &middot; ");
    }
    page_text(w, k->file);
    hd_write_format(w, ", launch %u &middot; grid %ux%ux%u, block %ux%ux%u", k->launch, k->grid[0], k->grid[1],
                    k->grid[2], k->block[0], k->block[1], k->block[2]);
    if (k->machine_sm)
        hd_write_format(w, " &middot; machine code of sm_%u%s", k->machine_sm, k->assembled_by ? " by " : "");
    if (k->machine_sm && k->assembled_by)
        page_text(w, k->assembled_by);
    if (k->registers != HD_REPLAY_VIRTUAL)
        hd_write_format(w, " &middot; %u registers and %u predicates per thread (%s)", k->general, k->predicates,
                        hd_replay_register_words[k->registers]);
    else if (k->result_count)
        hd_write_string(w, " &middot; registers and order are those of the PTX, not of machine code");
    hd_write_format(w,
                    " &middot; %llu run%s &middot; %s warp instructions, %s thread instructions, %s divergent "
                    "branches</p>\n",
                    (unsigned long long)k->runs, k->runs == 1 ? "" : "s together",
                    hd_replay_grouped(warps, k->warp_instructions), hd_replay_grouped(threads, k->thread_instructions),
                    hd_replay_grouped(branches, k->divergent_branches));
    write_memory_base(w, report, k);
    bool wrong = k->outputs == HD_OUTPUTS_WRONG || k->identical == HD_OUTPUTS_WRONG;
    hd_write_format(w, "<p%s>", wrong ? " class=\"fail\"" : "");
    hd_replay_write_output(w, k);
    hd_write_string(w, "</p>\n");
    const hd_replay_result *least = hd_replay_least_exact(k);
    if (least) {
        hd_write_format(w, "<p>Cycles from %.1f %% of the blocks; error by the waves measured at most %.2f %% (",
                        100 * least->timing->sampled_fraction, 100 * least->timing->error_fraction);
        page_text(w, least->title);
        hd_write_string(w, ")</p>\n");
    }
    if (k->order_dependent)
        hd_write_format(w, "<p>May depend on the order of warps, which is the interpreter's: %s</p>\n",
                        k->order_dependent);
}

void page_launches(hd_writer *w, const hd_replay_report *report)
{
    const numbers counters = {"Counters that are not 0", report->counter_count, name_counter, format_counter};
    const numbers figures = {"Figures", FIGURES, name_figure, format_figure};
    const numbers timings = {"Cycles, memory and issue slots", COUNTS + HD_REPLAY_TIMING_COUNTS + report->slot_count,
                             name_timing, format_timing};
    hd_write_string(w, "<h2 id=\"launches\">Launches</h2>\n");
    if (!report->kernel_count)
        hd_write_string(w, "<p>No kernel ran.</p>\n");
    for (uint32_t i = 0; i < report->kernel_count; i++) {
        const hd_replay_kernel *k = &report->kernels[i];
        hd_write_string(w, "<section class=\"launch\">\n<h3>");
        page_launch_name(w, report, k);
        hd_write_string(w, "</h3>\n");
        write_facts(w, report, k);
        if (k->result_count) {
            write_results(w, report, k);
            if (report->slot_count)
                write_numbers(w, &timings, report, k);
            write_numbers(w, &figures, report, k);
            write_numbers(w, &counters, report, k);
            page_allocations(w, k, i);
            page_profile(w, report, i);
        }
        hd_write_string(w, "</section>\n");
    }
}
