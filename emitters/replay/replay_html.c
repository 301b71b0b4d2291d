/* The replay as one HTML page: see replay.h and replay_page.h. Head, summary by technique, and legend; the other parts
 * have files of their own. Linear in the report. */
#include "emitters/replay/replay_page.h"

#include "base/version.h"
#include <math.h>
#include <stdio.h>

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static void write_state(hd_writer *w, const hd_replay_report *report)
{
    uint32_t failed = 0, applied = 0, wrong = 0;
    for (uint32_t k = 0; k < report->kernel_count; k++) {
        const hd_replay_kernel *kernel = &report->kernels[k];
        wrong += kernel->outputs == HD_OUTPUTS_WRONG || kernel->identical == HD_OUTPUTS_WRONG;
        for (uint32_t r = 0; r < kernel->result_count; r++) {
            applied += !kernel->results[r].not_applied;
            failed += !kernel->results[r].not_applied && kernel->results[r].check != HD_CHECK_PASS;
        }
    }
    if (failed)
        hd_write_format(w, "<p><strong class=\"fail\">FAIL</strong> %u of %u results are not verified.</p>\n", failed,
                        applied);
    else if (applied)
        hd_write_format(w, "<p>All %u results are verified.</p>\n", applied);
    if (wrong)
        hd_write_format(w, "<p><strong class=\"fail\">FAIL</strong> %u launch%s left a wrong output.</p>\n", wrong,
                        wrong == 1 ? "" : "es");
}

static void write_settings(hd_writer *w, const hd_replay_report *report)
{
    hd_arena arena = {0};
    hd_write_string(w, "<p class=\"meta\">Settings:");
    const hd_replay_setting *setting;
    for (uint32_t s = 0; (setting = hd_replay_setting_at(s)); s++) {
        const char *text = hd_replay_setting_text(report, NULL, setting, &arena);
        if (!text)
            continue;
        hd_write_format(w, " <code>--%s=", setting->option);
        page_text(w, text);
        hd_write_string(w, "</code>");
    }
    hd_write_string(w, "</p>\n");
    hd_arena_free(&arena);
}

static void write_header(hd_writer *w, const hd_replay_report *report)
{
    uint32_t models = report->kernel_count ? report->kernels[0].result_count : 0;
    hd_write_string(w, "<header>\n<h1>Replay on ");
    page_text(w, report->gpu);
    hd_write_format(w, "</h1>\n<p class=\"meta\">heddle replay " HD_VERSION " &middot; %u launch%s",
                    report->kernel_count, report->kernel_count == 1 ? "" : "es");
    if (models)
        hd_write_format(w, " &middot; the baseline and %u model%s", models - 1, models == 2 ? "" : "s");
    hd_write_string(w, report->slot_count ? " &middot; cycles simulated</p>\n" : " &middot; accesses counted</p>\n");
    write_settings(w, report);
    write_state(w, report);
    hd_write_string(w, "<nav aria-label=\"Parts\">");
    if (models) {
        bool compares = models > 1, timed = report->slot_count; /* the baseline alone has no bars of ratios */
        hd_write_string(w, "<a href=\"#summary\">Summary</a> ");
        hd_write_string(w, compares ? "<a href=\"#accesses\">Accesses</a> " : "");
        hd_write_string(w, compares || timed ? "<a href=\"#energy\">Energy</a> " : "");
        hd_write_string(w, compares && timed ? "<a href=\"#speedup\">Speed-up</a> " : "");
        hd_write_string(w, timed ? "<a href=\"#slots\">Issue slots</a> " : "");
    }
    hd_write_string(w, "<a href=\"#launches\">Launches</a></nav>\n</header>\n");
}

/* ---- the summary ------------------------------------------------------------------------------------------------- */

static void write_mean(hd_writer *w, const hd_replay_report *report, uint32_t model)
{
    const hd_replay_result *r = &report->kernels[0].results[model];
    hd_replay_mean m = hd_replay_mean_of(report, model);
    char text[64] = "-";
    hd_write_string(w, "<tr><th scope=\"row\" class=\"model\">");
    page_model_key(w, model);
    page_text(w, r->title);
    hd_write_string(w, "</th>");
    if (!m.launches) {
        hd_write_format(w, "<td colspan=\"%u\" class=\"none\">not applied to any launch</td></tr>\n",
                        report->slot_count ? 6 : 4);
        return;
    }
    page_ratio(w, m.rf_accesses_normalized, false, "-");
    page_ratio(w, m.energy_normalized, m.energy_derived, "unknown");
    if (report->slot_count) {
        page_ratio(w, m.speedup, false, "-");
        page_ratio(w, m.timed_energy_normalized, m.energy_derived, "unknown");
    }
    if (model)
        hd_replay_format_headline(text, &m.headline);
    hd_write_string(w, "<td>");
    page_text(w, text);
    hd_write_string(w, "</td>");
    hd_replay_format_verdict(text, report, &m);
    page_verdict(w, text, m.failed);
    hd_write_string(w, "</tr>\n");
}

static void write_summary(hd_writer *w, const hd_replay_report *report)
{
    char caption[96];
    snprintf(caption, sizeof caption, report->kernel_count > 1 ? "Means over %u launches" : "The launch",
             report->kernel_count);
    hd_write_string(w, "<section id=\"summary\">\n<h2>Summary</h2>\n");
    page_table(w, "values", caption);
    hd_write_string(w, "<thead><tr>");
    page_column_head(w, "Technique", NULL);
    page_column_head(w, "RF accesses", "Reads and writes of the register file, normalized to the baseline");
    page_column_head(w, "Dynamic energy", "Of the register file and of what the technique adds, normalized");
    if (report->slot_count) {
        page_column_head(w, "Speed-up", "The baseline's cycles / these");
        page_column_head(w, "Energy with leakage", "Dynamic and static energy, normalized");
    }
    page_column_head(w, "Headline", "The figure that the technique's paper leads with");
    page_column_head(w, "Verified", "Operands, outputs, and memory beside the original's");
    hd_write_string(w, "</tr></thead>\n<tbody>\n");
    for (uint32_t m = 0; m < report->kernels[0].result_count; m++)
        write_mean(w, report, m);
    hd_write_string(w, "</tbody>");
    page_table_end(w);
    if (report->kernel_count > 1)
        hd_write_string(w, "<p class=\"meta\">Normalized values, speed-ups and changes: geometric means over the "
                           "launches to which the model was applied; other figures: arithmetic.</p>\n");
    hd_write_string(w, "</section>\n");
}

/* ---- the legend -------------------------------------------------------------------------------------------------- */

static void write_term(hd_writer *w, const char *term, const char *meaning)
{
    hd_write_string(w, "<dt>");
    page_text(w, term);
    hd_write_string(w, "</dt><dd>");
    page_text(w, meaning);
    hd_write_string(w, "</dd>\n");
}

static void write_meanings(hd_writer *w, const hd_replay_kernel *k)
{
    for (uint32_t i = 0; i < k->result_count; i++) {
        const hd_replay_headline *h = &k->results[i].headline;
        bool met = h->kind == HD_FIGURE_NONE;
        for (uint32_t j = 0; j < i && !met; j++)
            met = k->results[j].headline.kind != HD_FIGURE_NONE && !strcmp(k->results[j].headline.meaning, h->meaning);
        if (!met)
            write_term(w, h->title, h->meaning);
    }
}

static void write_models(hd_writer *w, const hd_replay_kernel *k)
{
    page_table(w, "values", "Models");
    hd_write_string(w, "<thead><tr>");
    page_column_head(w, "Name", NULL);
    page_column_head(w, "Model", NULL);
    page_column_head(w, "Options in effect", NULL);
    page_column_head(w, "What it is", NULL);
    hd_write_string(w, "</tr></thead>\n<tbody>\n");
    for (uint32_t m = 0; m < k->result_count; m++) {
        const char *const cells[] = {k->results[m].model, k->results[m].options, k->results[m].summary};
        hd_write_string(w, "<tr><th scope=\"row\" class=\"model\">");
        page_model_key(w, m);
        page_text(w, k->results[m].title);
        hd_write_string(w, "</th>");
        for (uint32_t c = 0; c < 3; c++) {
            hd_write_string(w, c < 2 ? "<td><code>" : "<td>");
            page_text(w, cells[c]);
            hd_write_string(w, c < 2 ? "</code></td>" : "</td>");
        }
        hd_write_string(w, "</tr>\n");
    }
    hd_write_string(w, "</tbody>");
    page_table_end(w);
}

static void write_legend(hd_writer *w, const hd_replay_report *report)
{
    hd_write_string(w, "<section id=\"legend\">\n<h2>What the words mean</h2>\n<dl class=\"terms\">\n");
    write_term(w, "RF accesses",
               "reads and writes of the register file, normalized to the baseline; one access is a "
               "warp register of 32 lanes x 32 bits");
    write_term(w, "dynamic energy", "of the register file and of what the technique adds, normalized to the baseline");
    write_term(w, "*", "by energies that are not published for this GPU, but derived from others: heddle-replay(1)");
    write_term(w, "unknown", "the GPU's description has no energy of a structure that the model uses");
    if (report->slot_count) {
        write_term(w, "speed-up", "the baseline's cycles / these, of the SMs' clock");
        write_term(w, "energy with leakage", "dynamic and static energy, normalized to the baseline's sum");
        write_term(w, "IPC", "warp instructions per cycle of the whole GPU");
        write_term(w, "occupancy", "resident warps, of those that the SMs can hold, over all cycles");
    }
    write_term(
        w, "verified",
        "every operand that the model delivers, and the output, are the original kernel's; FAIL says which check "
        "did not hold");
    write_meanings(w, &report->kernels[0]);
    hd_write_string(w, "</dl>\n");
    write_models(w, &report->kernels[0]);
    hd_write_string(w, "</section>\n");
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

void hd_emit_replay_html(hd_writer *w, const hd_replay_report *report)
{
    bool table = report->kernel_count && report->kernels[0].result_count;
    page_head(w, false);
    page_text(w, report->gpu);
    hd_write_string(w, " - heddle replay");
    page_head_style(w, "replay.css");
    page_profile_rules(w, report);
    page_head_end(w);
    hd_write_string(w, "<body>\n");
    write_header(w, report);
    hd_write_string(w, "<main>\n");
    if (table) {
        write_summary(w, report);
        page_bar_charts(w, report);
        if (report->slot_count)
            page_slot_charts(w, report);
    }
    page_launches(w, report);
    if (table)
        write_legend(w, report);
    hd_write_string(w, "</main>\n</body>\n</html>\n");
}
