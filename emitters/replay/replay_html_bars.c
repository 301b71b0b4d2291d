/* Bar charts of the replay's page, drawn: see replay_page.h. As in the papers: a group of bars for each launch, one bar
 * a technique, and the geometric mean at the end; a table with the same numbers follows.
 *
 * Each group is a drawing of its own with the common scale, so that groups wrap where a row does not fit, on screens
 * and on paper. Linear in the results. */
#include "emitters/replay/replay_page.h"

#include <math.h>
#include <stdio.h>

enum { BAR = 17, GUTTER = 33, PLOT = 130, KEYS = 16, LEAST_LABEL = 36, MOST_BARS = 17 };

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The bar of launch `k`; the mean over launches where `k` is their number. */
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

/* Pixels for a label of so many characters, with the distance from its bar. */
static uint32_t label_height(size_t characters)
{
    uint32_t height = (uint32_t)(6.2 * (double)characters + 10);
    return height > LEAST_LABEL ? height : LEAST_LABEL;
}

static void find_scale(page_chart *c, const hd_replay_report *report)
{
    size_t up = 0, down = 0; /* characters of the longest labels above the plot, and below it */
    c->low = c->origin > 0 ? 0.95 : 0;
    c->high = c->origin > 0 ? 1.05 : 1;
    for (uint32_t k = 0; k < report->kernel_count; k++)
        for (uint32_t m = c->first; m < report->kernels[k].result_count; m++) {
            page_bar b = bar_at(c, report, k, m);
            char text[32];
            format_bar(text, &b);
            if (!isnan(b.value) && b.value < c->origin)
                down = strlen(text) > down ? strlen(text) : down;
            else if (!isnan(b.value) || c->origin > 0)
                up = strlen(text) > up ? strlen(text) : up;
            c->low = b.value < c->low ? b.value : c->low;
            c->high = b.value > c->high ? b.value : c->high;
        }
    c->head = label_height(up);
    c->foot = down ? label_height(down) : 4;
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
    char text[32], style[24];
    double origin = y_of(c, c->origin), end = isnan(b->value) ? origin : y_of(c, b->value);
    bool down = !isnan(b->value) && b->value < c->origin;
    snprintf(style, sizeof style, "bar m%u", page_model_colour(model));
    format_bar(text, b);
    hd_write_string(w, "<g><title>");
    page_text(w, name);
    hd_write_format(w, ": %s</title>", text);
    if (!isnan(b->value)) {
        write_rectangle(w, style, x + 2, origin, end);
        snprintf(style, sizeof style, "mark k%u", page_model_shape(model));
        if (page_model_shape(model))
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

/* The bars of a group in one drawing: models `first` to `end` - 1. */
typedef struct group_part {
    uint32_t k, first, end, number;
} group_part;

static void write_description(hd_writer *w, const page_chart *c, const hd_replay_report *report, const group_part *p)
{
    uint32_t k = p->k;
    hd_write_format(w, "<title id=\"%s-t%u-%u\">%s: ", c->id, k, p->number, c->title);
    if (k < report->kernel_count)
        page_text(w, report->kernels[k].demangled);
    else
        hd_write_string(w, "geometric mean");
    hd_write_format(w, "</title><desc id=\"%s-d%u-%u\">", c->id, k, p->number);
    for (uint32_t m = p->first; m < p->end; m++) {
        char text[32];
        page_bar b = bar_at(c, report, k, m);
        format_bar(text, &b);
        hd_write_string(w, m > p->first ? ", " : "");
        page_text(w, report->kernels[0].results[m].title);
        hd_write_format(w, " %s", text);
    }
    hd_write_string(w, "</desc>\n");
}

static void write_group_part(hd_writer *w, const page_chart *c, const hd_replay_report *report, const group_part *p)
{
    uint32_t k = p->k, width = GUTTER + (p->end - p->first) * BAR;
    uint32_t height = c->head + PLOT + c->foot + KEYS;
    hd_write_format(w,
                    "<div class=\"group%s\"><svg role=\"img\" aria-labelledby=\"%s-t%u-%u %s-d%u-%u\" width=\"%u\" "
                    "height=\"%u\" viewBox=\"0 0 %u %u\">",
                    k == report->kernel_count ? " mean" : "", c->id, k, p->number, c->id, k, p->number, width, height,
                    width, height);
    write_description(w, c, report, p);
    write_scale(w, c, width);
    for (uint32_t m = p->first; m < p->end; m++) {
        page_bar b = bar_at(c, report, k, m);
        write_bar(w, c, &b, report->kernels[0].results[m].title, m, GUTTER + (double)(m - p->first) * BAR);
    }
    hd_write_format(w, "</svg><div class=\"name\" style=\"max-width:%upx\">", width);
    write_group_name(w, report, k);
    if (p->end - p->first < report->kernels[0].result_count - c->first)
        hd_write_format(w, " <small>models %u to %u</small>", p->first, p->end - 1);
    hd_write_string(w, "</div></div>\n");
}

/* Several drawings where one would be too wide for a telephone. */
static void write_group(hd_writer *w, const page_chart *c, const hd_replay_report *report, uint32_t k)
{
    uint32_t count = report->kernels[0].result_count - c->first, parts = page_parts(count, MOST_BARS);
    for (uint32_t i = 0; i < parts; i++) {
        group_part part = {k, c->first + page_part_begin(count, parts, i),
                           c->first + page_part_begin(count, parts, i + 1), i};
        write_group_part(w, c, report, &part);
    }
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

/* Writes a row for each launch, with a column for each of the models `first` to `end` - 1. */
static void write_table(hd_writer *w, const page_chart *c, const hd_replay_report *report, uint32_t first, uint32_t end)
{
    char caption[128];
    snprintf(caption, sizeof caption, "%s of models %u to %u%s", c->title, first, end - 1,
             c->stacked ? ": sum, and dynamic + static" : "");
    page_table(w, "values numbers", caption);
    hd_write_string(w, "<thead><tr><th scope=\"col\">Launch</th>");
    for (uint32_t m = first; m < end; m++)
        page_column_head(w, report->kernels[0].results[m].title, NULL);
    hd_write_string(w, "</tr></thead>\n<tbody>\n");
    for (uint32_t k = 0; k < groups_of(report); k++) {
        hd_write_string(w, "<tr><th scope=\"row\">");
        write_group_name(w, report, k);
        hd_write_string(w, "</th>");
        for (uint32_t m = first; m < end; m++) {
            page_bar b = bar_at(c, report, k, m);
            write_cell(w, c, &b);
        }
        hd_write_string(w, "</tr>\n");
    }
    hd_write_string(w, "</tbody>");
    page_table_end(w);
}

static void write_numbers(hd_writer *w, const page_chart *c, const hd_replay_report *report)
{
    uint32_t count = report->kernels[0].result_count - c->first, parts = page_parts(count, REPLAY_COLUMNS);
    hd_write_string(w, "<details open><summary>The same numbers as tables</summary>\n");
    for (uint32_t i = 0; i < parts; i++)
        write_table(w, c, report, c->first + page_part_begin(count, parts, i),
                    c->first + page_part_begin(count, parts, i + 1));
    hd_write_string(w, "</details>\n");
}

void page_chart_draw(hd_writer *w, page_chart c, const hd_replay_report *report)
{
    if (report->kernels[0].result_count <= c.first)
        return;
    find_scale(&c, report);
    hd_write_format(w, "<section id=\"%s\">\n<h2>%s</h2>\n<p class=\"meta\">%s</p>\n", c.id, c.title, c.note);
    write_legend(w, &c, &report->kernels[0]);
    hd_write_string(w, "<div class=\"groups\">\n");
    for (uint32_t k = 0; k < groups_of(report); k++)
        write_group(w, &c, report, k);
    hd_write_string(w, "</div>\n");
    write_numbers(w, &c, report);
    hd_write_string(w, "</section>\n");
}
