/* Figures of a sweep's results as one page: for each a table with a column for each series, in which each value has its
 * bar, with a mark for its spread. A page has no scripts and loads nothing. Linear in the rows, but for looking them
 * up. */
#include "base/version.h"
#include "driver/sweep/plot_work.h"
#include "emitters/page.h"

#include <math.h>

enum { BAR_WIDTH = 90, BAR_HEIGHT = 10, COLOURS = 9 };

typedef struct scale {
    double low, high;
} scale;

static scale scale_of(const hd_plot *p, const plot_figure *f)
{
    scale s = {0, isnan(p->reference) ? 0 : p->reference};
    for (uint32_t i = 0; i < f->rows.count; i++) {
        const plot_row *r = &f->rows.items[i];
        s.low = fmin(s.low, fmin(r->y, r->least));
        s.high = fmax(s.high, fmax(r->y, r->most));
    }
    return s;
}

static double place_of(const scale *s, double value)
{
    return s->high > s->low ? BAR_WIDTH * (value - s->low) / (s->high - s->low) : 0;
}

static void write_bar(hd_writer *w, const hd_plot *p, const scale *s, uint32_t series, const plot_row *r)
{
    double origin = place_of(s, 0), end = place_of(s, r->y);
    hd_write_format(w,
                    "<svg class=\"sample\" aria-hidden=\"true\" width=\"%u\" height=\"%u\"><rect class=\"bar m%u\" "
                    "x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"%u\"/>",
                    BAR_WIDTH + 1, BAR_HEIGHT, 1 + series % COLOURS, fmin(origin, end), fabs(end - origin),
                    BAR_HEIGHT - 2);
    if (r->most > r->least)
        hd_write_format(w, "<path class=\"over\" d=\"M%.1f %uH%.1f\"/>", place_of(s, r->least), BAR_HEIGHT / 2,
                        place_of(s, r->most));
    if (!isnan(p->reference))
        hd_write_format(w, "<path class=\"one\" d=\"M%.1f 0V%u\"/>", place_of(s, p->reference), BAR_HEIGHT);
    hd_write_string(w, "</svg>");
}

static void write_number(hd_writer *w, const hd_plot *p, double number)
{
    hd_write_format(w, p->percent ? "%.4g %%" : "%.4g", number);
}

/* NULL, or not a number: an empty cell. */
static void write_cell(hd_writer *w, const hd_plot *p, const scale *s, uint32_t series, const plot_row *r)
{
    if (!r || !isfinite(r->y)) {
        hd_write_string(w, "<td class=\"num none\">-</td>");
        return;
    }
    hd_write_string(w, "<td class=\"num\">");
    write_bar(w, p, s, series, r);
    write_number(w, p, r->y);
    if (r->most > r->least) {
        hd_write_string(w, "<br><small>");
        write_number(w, p, r->least);
        hd_write_string(w, " to ");
        write_number(w, p, r->most);
        hd_write_string(w, "</small>");
    }
    hd_write_string(w, "</td>");
}

static void write_row_head(hd_writer *w, const char *label)
{
    hd_write_string(w, "<tr><th scope=\"row\">");
    page_text(w, label);
    hd_write_string(w, "</th>");
}

static void write_column_head(hd_writer *w, const char *text)
{
    hd_write_string(w, "<th scope=\"col\" class=\"num\">");
    page_text(w, text);
    hd_write_string(w, "</th>");
}

static void write_series(hd_writer *w, const hd_plot *p, const plot_figure *f)
{
    const scale s = scale_of(p, f);
    for (uint32_t k = 0; k < f->series.count; k++)
        write_column_head(w, f->series.items[k]);
    hd_write_string(w, "</tr></thead>\n<tbody>\n");
    for (uint32_t l = 0; l < f->labels.count; l++) {
        write_row_head(w, f->labels.items[l]);
        for (uint32_t k = 0; k < f->series.count; k++)
            write_cell(w, p, &s, k, plot_find_row(f, l, k));
        hd_write_string(w, "</tr>\n");
    }
    if (p->mean == HD_PLOT_NO_MEAN)
        return;
    write_row_head(w, plot_mean_titles[p->mean]);
    for (uint32_t k = 0; k < f->series.count; k++) {
        double mean = plot_mean_of(p, f, k);
        write_cell(w, p, &s, k, &(plot_row){.y = mean, .least = mean, .most = mean});
    }
    hd_write_string(w, "</tr>\n");
}

/* A row for each point. */
static void write_points(hd_writer *w, const hd_plot *p, const plot_figure *f)
{
    const scale s = scale_of(p, f);
    write_column_head(w, "series");
    write_column_head(w, p->x ? p->x : "x");
    write_column_head(w, p->y ? p->y : "value");
    hd_write_string(w, "</tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < f->rows.count; i++) {
        const plot_row *r = &f->rows.items[i];
        write_row_head(w, f->labels.items[r->label]);
        hd_write_string(w, "<td>");
        page_text(w, f->series.items[r->series]);
        hd_write_string(w, "</td><td class=\"num\">");
        hd_write_format(w, isfinite(r->x) ? "%.4g" : "-", r->x);
        hd_write_string(w, "</td>");
        write_cell(w, p, &s, r->series, r);
        hd_write_string(w, "</tr>\n");
    }
}

static void write_figure(hd_writer *w, const hd_plot *p, const plot_figure *f)
{
    bool spread = false;
    for (uint32_t i = 0; i < f->rows.count; i++)
        spread = spread || f->rows.items[i].most > f->rows.items[i].least;
    hd_write_string(w, "<section>\n<h2>");
    page_text(w, p->title ? p->title : p->about ? p->about : p->yaml->source.name);
    hd_write_string(w, "</h2>\n<p class=\"hint\">");
    if (p->y)
        page_text(w, p->y);
    hd_write_string(w, spread ? "; a line in a bar is from the least to the most value of repeated points" : "");
    hd_write_string(w,
                    "</p>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"values numbers\"><thead><tr><th></th>");
    if (p->kind == HD_PLOT_SCATTER)
        write_points(w, p, f);
    else
        write_series(w, p, f);
    hd_write_string(w, "</tbody></table></div>\n</section>\n");
}

static void write_head(hd_writer *w, const char *folder)
{
    page_head(w, false);
    page_text(w, folder);
    page_head_style(w, "replay.css");
    page_head_end(w);
    hd_write_string(w, "<body>\n<h1>Results of the sweep ");
    page_text(w, folder);
    hd_write_string(w, "</h1>\n<p class=\"meta\">heddle " HD_VERSION "</p>\n");
}

hd_status hd_plot_page(hd_plot *const *plots, uint32_t count, const char *folder, hd_writer *w,
                       hd_diagnostics *diagnostics)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < count; i++) {
        plot_figure f = {0};
        hd_diagnostics said;
        hd_diagnostics_init(&said);
        if (plot_read_rows(plots[i], folder, &f, &said)) {
            if (!shown++)
                write_head(w, folder);
            write_figure(w, plots[i], &f);
        } else if (count == 1 || (i + 1 == count && !shown)) {
            hd_diagnostics_merge(diagnostics, &said);
        }
        plot_free_rows(&f);
        hd_diagnostics_free(&said);
    }
    hd_write_string(w, shown ? "</body>\n</html>\n" : "");
    return hd_status_of(diagnostics);
}
