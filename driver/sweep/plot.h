/* Figures of a sweep's results, drawn by gnuplot.
 *
 * A figure has labels (kernels, mostly) and series (techniques); each series has a value for some labels, with the
 * bounds of its spread where they are known. The values are the rows of a query of results.sqlite: label, series,
 * value, least, most; for a mean of totals, numerator and denominator.
 * What is drawn is a script with its data, so that a figure can be changed by hand. heddle-plot(5) documents the
 * file. */
#ifndef HD_DRIVER_SWEEP_PLOT_H
#define HD_DRIVER_SWEEP_PLOT_H

#include "base/writer.h"
#include "base/yaml.h"
#include "driver/status.h"

typedef enum hd_plot_kind { HD_PLOT_BARS, HD_PLOT_LINES, HD_PLOT_STACKED, HD_PLOT_SCATTER } hd_plot_kind;
typedef enum hd_plot_mean {
    HD_PLOT_NO_MEAN,
    HD_PLOT_ARITHMETIC,
    HD_PLOT_GEOMETRIC,
    HD_PLOT_HARMONIC,
    HD_PLOT_TOTAL /* the quotient of the sums of two more columns */
} hd_plot_mean;
typedef enum hd_plot_form { HD_PLOT_SCRIPT, HD_PLOT_SVG, HD_PLOT_PDF, HD_PLOT_LATEX, HD_PLOT_HTML } hd_plot_form;

typedef struct hd_plot {
    hd_yaml *yaml;
    hd_plot_kind kind;
    hd_plot_mean mean;
    const char *query, *title, *x, *y; /* NULL: none */
    const char *about; /* of a shipped figure: what it shows, and which figure of which paper it is like; NULL: none */
    double reference;  /* a line at that value; NaN: none */
    double width, height; /* inches */
    bool percent;         /* values are fractions, shown as percentages */
    bool valid;           /* false: errors were reported */
} hd_plot;

/* Never NULL; see `valid`. */
hd_plot *hd_plot_read(const char *path, hd_diagnostics *diagnostics);
void hd_plot_free(hd_plot *plot);

/* Figures in the form of the papers, driver/sweep/figures/NAME.yaml; the first line of each is a comment that says
 * what it shows, and which figure of which paper it is like. */
typedef struct hd_figure_file {
    const char *name, *text;
    uint32_t length;
} hd_figure_file;
extern const hd_figure_file hd_figure_files[];
extern const uint32_t hd_figure_file_count;
hd_plot *hd_plot_like(const hd_figure_file *file, hd_diagnostics *diagnostics);

/* A page with the figures of a sweep's folder, as tables with bars. Where there are several, those without rows are
 * left out, and it is an error if all are. */
hd_status hd_plot_page(hd_plot *const *plots, uint32_t count, const char *folder, hd_writer *writer,
                       hd_diagnostics *diagnostics);

/* Draws the results of a sweep's folder in another form. UNDECIDED where gnuplot is missing (reported). */
hd_status hd_plot_draw(const hd_plot *plot, const char *folder, hd_plot_form form, hd_writer *writer,
                       hd_diagnostics *diagnostics);

#endif
