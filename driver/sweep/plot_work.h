/* The rows of a figure, for those who write them; private to driver/sweep/plot*.c. */
#ifndef HD_DRIVER_SWEEP_PLOT_WORK_H
#define HD_DRIVER_SWEEP_PLOT_WORK_H

#include "driver/sweep/plot.h"

HD_ARRAY_TYPE(plot_names, const char *);

typedef struct plot_row {
    uint32_t label, series;
    double x, y, least, most; /* x: of a scatter plot; the bounds are y where the query has none */
    double over, under;       /* what of totals y is the quotient of */
} plot_row;

typedef struct plot_figure {
    hd_arena arena;
    plot_names labels, series; /* in the order in which the rows name them */
    HD_ARRAY(plot_row) rows;
} plot_figure;

extern const char *const plot_mean_titles[]; /* by hd_plot_mean */

/* Of the results in the folder. false: reported; free the figure in any case. */
bool plot_read_rows(const hd_plot *plot, const char *folder, plot_figure *figure, hd_diagnostics *diagnostics);
void plot_free_rows(plot_figure *figure);
/* The row of a label and a series; NULL: there is none. */
const plot_row *plot_find_row(const plot_figure *figure, uint32_t label, uint32_t series);
/* Over the labels that have a value; NaN: none has, or a geometric or harmonic mean of what is not positive. */
double plot_mean_of(const hd_plot *plot, const plot_figure *figure, uint32_t series);

#endif
