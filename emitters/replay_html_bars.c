/* Bar charts of the replay's page, drawn: see replay_page.h. As in the papers: a group of bars for each launch, one bar
 * a technique, and the geometric mean at the end; a table with the same numbers follows.
 *
 * Each group is a drawing of its own with the common scale, so that groups wrap where a row does not fit, on screens
 * and on paper. Linear in the results. */
#include "emitters/replay_page.h"

#include <math.h>
#include <stdio.h>

enum { BAR = 18, GUTTER = 34, PLOT = 130, KEYS = 16, LABEL = 36, FAILED_LABEL = 66 };

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Of launch `k`, or the mean where it is the number of launches. */
static page_bar bar_at(const page_chart *c, const hd_replay_report *report, uint32_t k, uint32_t model)
{
    if (k < report->kernel_count)
        return c->of(&report->kernels[k], &report->kernels[k].results[model]);
    hd_replay_mean mean = hd_replay_mean_of(report, model);
    return c->mean(&mean);
}

static uint32_t groups_of(const hd_replay_report *report) { return report->kernel_count + (report->kernel_count > 1); }

static void write_group_name(hd_writer *w, const hd_replay_report *report, uint32_t k)
{
    if (k < report->kernel_count)
        page_launch_name(w, report, &report->kernels[k]);
    else
        hd_write_string(w, "<b>geometric mean</b>");
}

static void format_bar(char text[static 32], const page_bar *b)
{
    if (isnan(b->value))
        snprintf(text, 32, "%s%s", b->failed ? "FAIL " : "", b->absent);
    else
        snprintf(text, 32, "%s%.3f%s", b->failed ? "FAIL " : "", b->value, b->derived ? "*" : "");
}

/* ---- the scale --------------------------------------------------------------------------------------------------- */

static void find_scale(page_chart *c, const hd_replay_report *report)
{
    bool failed = false;
    c->low = c->origin > 0 ? 0.95 : 0;
    c->high = c->origin > 0 ? 1.05 : 1;
    for (uint32_t k = 0; k < report->kernel_count; k++)
        for (uint32_t m = c->first; m < report->kernels[k].result_count; m++) {
            page_bar b = bar_at(c, report, k, m);
            failed = failed || b.failed;
            c->low = b.value < c->low ? b.value : c->low;
            c->high = b.value > c->high ? b.value : c->high;
        }
    c->head = failed ? FAILED_LABEL : LABEL;
    c->foot = c->origin > 0 ? c->head : 4;
}

static double y_of(const page_chart *c, double value)
{
    return c->head + PLOT * (c->high - value) / (c->high - c->low);
}

/* 1, 2 or 5 times a power of ten, for at most six lines. */
static double tick_step(const page_chart *c)
{
    double least = (c->high - c->low) / 6, power = pow(10, floor(log10(least)));
    double times = least / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static void write_scale(hd_writer *w, const page_chart *c, uint32_t width)
{
    double step = tick_step(c);
    for (double n = ceil(c->low / step - 1e-9) + 0.0; n * step <= c->high + step * 1e-9; n++) {
        double y = y_of(c, n * step);
        hd_write_format(w, "<path class=\"%s\" d=\"M%u %.1fH%u\"/>", fabs(n * step - 1) < 1e-9 ? "one" : "line",
                        GUTTER - 4, y, width);
        hd_write_format(w, "<text class=\"tick\" x=\"%u\" y=\"%.1f\">%.4g</text>", GUTTER - 7, y + 3.5, n * step);
    }
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static void write_rectangle(hd_writer *w, const char *style, double x, double from, double to)
{
    hd_write_format(w, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%u\" height=\"%.1f\"/>", style, x,
                    from < to ? from : to, BAR - 4, fabs(to - from));
}

static void write_bar(hd_writer *w, const page_chart *c, const page_bar *b, const char *name, uint32_t model, double x)
{
    char text[32], style[16];
    double origin = y_of(c, c->origin), end = isnan(b->value) ? origin : y_of(c, b->value);
    bool down = !isnan(b->value) && b->value < c->origin;
    snprintf(style, sizeof style, "bar m%u", model ? (model - 1) % (REPLAY_COLOURS - 1) + 1 : 0);
    format_bar(text, b);
    hd_write_string(w, "<g><title>");
    page_text(w, name);
    hd_write_format(w, ": %s</title>", text);
    if (!isnan(b->value)) {
        write_rectangle(w, style, x + 2, origin, end);
        if (c->stacked && !isnan(b->lower))
            write_rectangle(w, "static", x + 2, y_of(c, b->lower), end);
    }
    hd_write_format(w, "<text class=\"label%s%s%s\" transform=\"translate(%.1f %.1f) rotate(-90)\">%s</text>",
                    down ? " end" : "", b->failed ? " fail" : "", isnan(b->value) ? " none" : "", x + BAR / 2.0 + 3.5,
                    down ? end + 5 : end - 5, text);
    hd_write_format(w, "<text class=\"mid\" x=\"%.1f\" y=\"%u\">%u</text></g>\n", x + BAR / 2.0,
                    c->head + PLOT + c->foot + KEYS - 4, model);
}

static void write_description(hd_writer *w, const page_chart *c, const hd_replay_report *report, uint32_t k)
{
    const hd_replay_kernel *first = &report->kernels[0];
    hd_write_format(w, "<title id=\"%s-t%u\">%s: ", c->id, k, c->title);
    if (k < report->kernel_count)
        page_text(w, report->kernels[k].name);
    else
        hd_write_string(w, "geometric mean");
    hd_write_format(w, "</title><desc id=\"%s-d%u\">", c->id, k);
    for (uint32_t m = c->first; m < first->result_count; m++) {
        char text[32];
        page_bar b = bar_at(c, report, k, m);
        format_bar(text, &b);
        hd_write_string(w, m > c->first ? ", " : "");
        page_text(w, first->results[m].title);
        hd_write_format(w, " %s", text);
    }
    hd_write_string(w, "</desc>\n");
}

static void write_group(hd_writer *w, const page_chart *c, const hd_replay_report *report, uint32_t k)
{
    uint32_t count = report->kernels[0].result_count, width = GUTTER + (count - c->first) * BAR + 6;
    uint32_t height = c->head + PLOT + c->foot + KEYS;
    hd_write_format(w,
                    "<div class=\"group%s\"><svg role=\"img\" aria-labelledby=\"%s-t%u %s-d%u\" width=\"%u\" "
                    "height=\"%u\" viewBox=\"0 0 %u %u\">",
                    k == report->kernel_count ? " mean" : "", c->id, k, c->id, k, width, height, width, height);
    write_description(w, c, report, k);
    write_scale(w, c, width);
    for (uint32_t m = c->first; m < count; m++) {
        page_bar b = bar_at(c, report, k, m);
        write_bar(w, c, &b, report->kernels[0].results[m].title, m, GUTTER + (double)(m - c->first) * BAR);
    }
    hd_write_format(w, "</svg><div class=\"name\" style=\"max-width:%upx\">", width);
    write_group_name(w, report, k);
    hd_write_string(w, "</div></div>\n");
}

/* ---- charts ------------------------------------------------------------------------------------------------------ */

static void write_legend(hd_writer *w, const page_chart *c, const hd_replay_kernel *k)
{
    hd_write_string(w, "<ul class=\"legend\">");
    for (uint32_t m = c->first; m < k->result_count; m++) {
        hd_write_string(w, "<li>");
        page_model_key(w, m);
        page_text(w, k->results[m].title);
        hd_write_string(w, "</li>");
    }
    if (c->stacked)
        hd_write_string(
            w, "<li><svg class=\"sample\" aria-hidden=\"true\" width=\"14\" height=\"14\"><rect class=\"bar m0\" "
               "width=\"14\" height=\"14\"/></svg>below: dynamic</li><li><svg class=\"sample\" "
               "aria-hidden=\"true\" width=\"14\" height=\"14\"><rect class=\"bar m0\" width=\"14\" "
               "height=\"14\"/><rect class=\"static\" width=\"14\" height=\"14\"/></svg>above, hatched: "
               "static (leakage)</li>");
    hd_write_string(w, "</ul>\n");
}

static void write_cell(hd_writer *w, const page_chart *c, const page_bar *b)
{
    char text[32];
    format_bar(text, b);
    hd_write_format(w, "<td class=\"num%s%s\">%s", isnan(b->value) ? " none" : "", b->failed ? " fail" : "", text);
    if (c->stacked && !isnan(b->value) && !isnan(b->lower))
        hd_write_format(w, "<br><small>%.3f + %.3f</small>", b->lower, b->value - b->lower);
    hd_write_string(w, "</td>");
}

static void write_numbers(hd_writer *w, const page_chart *c, const hd_replay_report *report)
{
    const hd_replay_kernel *first = &report->kernels[0];
    char caption[96];
    snprintf(caption, sizeof caption, "%s%s", c->title, c->stacked ? ": sum, and dynamic + static" : "");
    hd_write_string(w, "<details open><summary>The same numbers as a table</summary>\n");
    page_table(w, "values numbers", caption);
    hd_write_string(w, "<thead><tr><th scope=\"col\">Launch</th>");
    for (uint32_t m = c->first; m < first->result_count; m++)
        page_column_head(w, first->results[m].title, NULL);
    hd_write_string(w, "</tr></thead>\n<tbody>\n");
    for (uint32_t k = 0; k < groups_of(report); k++) {
        hd_write_string(w, "<tr><th scope=\"row\">");
        write_group_name(w, report, k);
        hd_write_string(w, "</th>");
        for (uint32_t m = c->first; m < first->result_count; m++) {
            page_bar b = bar_at(c, report, k, m);
            write_cell(w, c, &b);
        }
        hd_write_string(w, "</tr>\n");
    }
    hd_write_string(w, "</tbody>");
    page_table_end(w);
    hd_write_string(w, "</details>\n");
}

void page_chart_draw(hd_writer *w, page_chart c, const hd_replay_report *report)
{
    if (report->kernels[0].result_count <= c.first)
        return;
    find_scale(&c, report);
    hd_write_format(w, "<section id=\"%s\">\n<h2>%s</h2>\n<p class=\"meta\">%s</p>\n", c.id, c.title, c.note);
    write_legend(w, &c, &report->kernels[0]);
    hd_write_format(w, "<div class=\"groups\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n", c.title);
    for (uint32_t k = 0; k < groups_of(report); k++)
        write_group(w, &c, report, k);
    hd_write_string(w, "</div>\n");
    write_numbers(w, &c, report);
    hd_write_string(w, "</section>\n");
}
