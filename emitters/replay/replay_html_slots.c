/* Where the issue slots went, in the replay's page: see replay_page.h. A stacked bar for each launch and model, whose
 * parts are 100 % of the slots, and a table with the same numbers. Parts are named in the bar where they have room, by
 * the letter of the legend where only that fits. Positions are percentages, so that drawings fit any width. Linear. */
#include "emitters/replay/replay_page.h"

#include "base/array.h"

#include <stdio.h>

enum { BAR = 17, LEAST_WIDTH = 210 /* of bars, in pixels */ };

static char letter_of(uint32_t slot) { return slot < 26 ? (char)('a' + slot) : (char)('A' + slot % 26); }

static void write_key(hd_writer *w, uint32_t slot)
{
    hd_write_format(w, "<span class=\"key s%u%s\">%c</span>", slot % REPLAY_COLOURS,
                    slot < REPLAY_COLOURS ? "" : " again", letter_of(slot));
}

/* ---- bars -------------------------------------------------------------------------------------------------------- */

static void write_part(hd_writer *w, const hd_replay_slot *slot, uint32_t index, double from, double share)
{
    size_t room = (size_t)(share * LEAST_WIDTH);
    const char *style = index < REPLAY_COLOURS ? "on" : "on hatched";
    hd_write_string(w, "<g><title>");
    page_text(w, slot->key);
    hd_write_format(w, " %.1f %%: ", 100 * share);
    page_text(w, slot->text);
    hd_write_format(w, "</title><rect class=\"part s%u\" x=\"%.3f%%\" width=\"%.3f%%\" height=\"%u\"/>",
                    index % REPLAY_COLOURS, 100 * from, 100 * share, BAR);
    if (index >= REPLAY_COLOURS)
        hd_write_format(w, "<rect fill=\"url(#again)\" x=\"%.3f%%\" width=\"%.3f%%\" height=\"%u\"/>", 100 * from,
                        100 * share, BAR);
    if (room >= 7 * strlen(slot->key) + 6) {
        hd_write_format(w, "<text class=\"mid %s\" x=\"%.3f%%\" y=\"12.5\">", style, 100 * (from + share / 2));
        page_text(w, slot->key);
        hd_write_string(w, "</text>");
    } else if (room >= 10) {
        hd_write_format(w, "<text class=\"mid %s\" x=\"%.3f%%\" y=\"12.5\">%c</text>", style, 100 * (from + share / 2),
                        letter_of(index));
    }
    hd_write_string(w, "</g>");
}

static void write_bar(hd_writer *w, const hd_replay_report *report, const hd_replay_result *r)
{
    uint64_t all = hd_replay_all_slots(report, r->timing);
    double from = 0;
    hd_write_string(w, "<span>");
    page_text(w, r->title);
    hd_write_format(w, "</span><svg aria-hidden=\"true\" width=\"100%%\" height=\"%u\">", BAR);
    for (uint32_t s = 0; s < report->slot_count && all; s++)
        if (r->timing->slots[s]) {
            double share = (double)r->timing->slots[s] / (double)all;
            write_part(w, &report->slots[s], s, from, share);
            from += share;
        }
    hd_write_string(w, "</svg>\n");
}

static void write_panel(hd_writer *w, const hd_replay_report *report, uint32_t k)
{
    const hd_replay_kernel *kernel = &report->kernels[k];
    uint32_t rows = 0;
    for (uint32_t r = 0; r < kernel->result_count; r++)
        rows += kernel->results[r].timing != NULL;
    hd_write_string(w, "<figure><figcaption>");
    page_launch_name(w, report, kernel);
    hd_write_string(w, "</figcaption>");
    if (rows) {
        hd_write_string(w, "<div class=\"slots\" role=\"img\" aria-label=\"Issue slots of ");
        page_text(w, kernel->demangled);
        hd_write_string(w, ": a bar for each technique, whose parts are in the table that follows\">\n");
        for (uint32_t r = 0; r < kernel->result_count; r++)
            if (kernel->results[r].timing)
                write_bar(w, report, &kernel->results[r]);
        hd_write_string(w, "</div>");
    } else {
        hd_write_string(w, "<p class=\"none\">no cycles</p>");
    }
    hd_write_string(w, "</figure>\n");
}

/* ---- the tables -------------------------------------------------------------------------------------------------- */

static void write_row(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k, uint32_t model,
                      const page_columns *slots)
{
    const hd_replay_timing *t = k->results[model].timing;
    uint64_t all = hd_replay_all_slots(report, t);
    hd_write_string(w, "<tr><th scope=\"row\" class=\"model\">");
    page_model_key(w, model);
    page_text(w, k->results[model].title);
    hd_write_string(w, "</th>");
    for (uint32_t c = 0; c < slots->count; c++) {
        uint64_t some = t->slots[slots->items[c]];
        hd_write_format(w, "<td class=\"num%s\">%.1f</td>", some ? "" : " none",
                        all ? 100.0 * (double)some / (double)all : 0);
    }
    hd_write_string(w, "</tr>\n");
}

static void write_table(hd_writer *w, const hd_replay_report *report, const page_columns *slots)
{
    page_table(w, "values numbers", "Issue slots, in per cent of all");
    hd_write_string(w, "<thead><tr><th scope=\"col\">Technique</th>");
    for (uint32_t c = 0; c < slots->count; c++)
        page_column_head(w, report->slots[slots->items[c]].key, report->slots[slots->items[c]].text);
    hd_write_string(w, "</tr></thead>\n");
    for (uint32_t k = 0; k < report->kernel_count; k++) {
        hd_write_format(w, "<tbody><tr><th scope=\"colgroup\" colspan=\"%u\" class=\"launch\">", slots->count + 1);
        page_launch_name(w, report, &report->kernels[k]);
        hd_write_string(w, "</th></tr>\n");
        for (uint32_t m = 0; m < report->kernels[k].result_count; m++)
            if (report->kernels[k].results[m].timing)
                write_row(w, report, &report->kernels[k], m, slots);
        hd_write_string(w, "</tbody>\n");
    }
    page_table_end(w);
}

static void write_numbers(hd_writer *w, const hd_replay_report *report)
{
    hd_u32_array used = {0};
    for (uint32_t s = 0; s < report->slot_count; s++)
        if (hd_replay_slot_is_used(report, s))
            hd_array_push(&used, s);
    hd_write_string(w, "<details open><summary>The same numbers as tables</summary>\n");
    uint32_t parts = page_parts(used.count, REPLAY_COLUMNS);
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t begin = page_part_begin(used.count, parts, i);
        page_columns slots = {used.items + begin, page_part_begin(used.count, parts, i + 1) - begin};
        write_table(w, report, &slots);
    }
    hd_write_string(w, "</details>\n");
    hd_array_free(&used);
}

void page_slot_charts(hd_writer *w, const hd_replay_report *report)
{
    hd_write_string(w,
                    "<section id=\"slots\">\n<h2>Where the issue slots went</h2>\n<p class=\"meta\">Of all schedulers, "
                    "over all cycles: what the warp waited for that was next to issue. Parts add up to 100 %.</p>\n"
                    "<ul class=\"legend texts\">");
    for (uint32_t s = 0; s < report->slot_count; s++)
        if (hd_replay_slot_is_used(report, s)) {
            hd_write_string(w, "<li>");
            write_key(w, s);
            hd_write_string(w, "<b>");
            page_text(w, report->slots[s].key);
            hd_write_string(w, "</b> ");
            page_text(w, report->slots[s].text);
            hd_write_string(w, "</li>");
        }
    hd_write_string(w, "</ul>\n<div class=\"panels\">\n");
    for (uint32_t k = 0; k < report->kernel_count; k++)
        write_panel(w, report, k);
    hd_write_string(w, "</div>\n");
    write_numbers(w, report);
    hd_write_string(w, "</section>\n");
}
