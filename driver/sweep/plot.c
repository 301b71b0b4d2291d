/* Figures of a sweep's results: the file of a figure, its rows, and the script of gnuplot. See plot.h. */
#include "driver/sweep/plot_work.h"

#include "base/temporary.h"
#include "driver/build/process.h"
#include "driver/sweep/sweep_store.h"
#include "emitters/table_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const kind_words[] = {"bars", "lines", "stacked", "scatter"};
static const char *const mean_words[] = {"none", "arithmetic", "geometric", "harmonic", "total"};
const char *const plot_mean_titles[] = {"", "mean", "geo. mean", "harm. mean", "total"};

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void read_texts(hd_plot *p, const hd_yaml_node *root)
{
    const hd_yaml_node *node;
    hd_yaml_string(hd_yaml_need(root, "query"), &p->query);
    if ((node = hd_yaml_get(root, "title")))
        hd_yaml_string(node, &p->title);
    if ((node = hd_yaml_get(root, "x")))
        hd_yaml_string(node, &p->x);
    if ((node = hd_yaml_get(root, "y")))
        hd_yaml_string(node, &p->y);
}

static void read_size(hd_plot *p, const hd_yaml_node *size)
{
    if (!size || !hd_yaml_sequence(size))
        return;
    if (size->count != 2)
        hd_yaml_error(size, HD_DIAG_BAD_VALUE, "a size is [WIDTH, HEIGHT], in inches");
    else if (hd_yaml_double(size->items[0], &p->width) && hd_yaml_double(size->items[1], &p->height) &&
             !(p->width >= 1 && p->width <= 100 && p->height >= 1 && p->height <= 100))
        hd_yaml_error(size, HD_DIAG_BAD_VALUE, "a figure has 1 to 100 inches");
}

static hd_plot *read_plot(hd_yaml *yaml, hd_diagnostics *diagnostics)
{
    static const char *const keys[] = {"kind", "query", "mean", "title", "x", "y", "reference", "percent", "size"};
    hd_plot *p = hd_calloc(1, sizeof *p);
    uint32_t errors = diagnostics->error_count, kind = 0, mean = 0;
    const hd_yaml_node *root = yaml->root, *node;
    *p = (hd_plot){.yaml = yaml, .reference = NAN, .width = 7, .height = 3};
    if (root && hd_yaml_mapping(root) && hd_yaml_known_keys(root, keys, sizeof keys / sizeof *keys)) {
        hd_yaml_choice(hd_yaml_need(root, "kind"), kind_words, sizeof kind_words / sizeof *kind_words, &kind);
        read_texts(p, root);
        if ((node = hd_yaml_get(root, "mean")))
            hd_yaml_choice(node, mean_words, sizeof mean_words / sizeof *mean_words, &mean);
        if ((node = hd_yaml_get(root, "reference")))
            hd_yaml_double(node, &p->reference);
        if ((node = hd_yaml_get(root, "percent")))
            hd_yaml_bool(node, &p->percent);
        read_size(p, hd_yaml_get(root, "size"));
    }
    p->kind = (hd_plot_kind)kind;
    p->mean = (hd_plot_mean)mean;
    p->valid = root && diagnostics->error_count == errors;
    return p;
}

hd_plot *hd_plot_read(const char *path, hd_diagnostics *diagnostics)
{
    return read_plot(hd_yaml_read(path, diagnostics), diagnostics);
}

hd_plot *hd_plot_like(const hd_figure_file *file, hd_diagnostics *diagnostics)
{
    hd_plot *p = read_plot(hd_yaml_from_memory(file->name, file->text, file->length, diagnostics), diagnostics);
    const char *about = file->text + strlen("# ");
    p->about = hd_arena_string(&p->yaml->arena, about, strcspn(about, "\n"));
    return p;
}

void hd_plot_free(hd_plot *p)
{
    if (!p)
        return;
    hd_yaml_free(p->yaml);
    free(p);
}

/* ---- its rows ---------------------------------------------------------------------------------------------------- */

static uint32_t take_name(plot_names *list, hd_arena *arena, const unsigned char *text)
{
    const char *name = text ? (const char *)text : "";
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], name) == 0)
            return i;
    hd_array_push(list, hd_arena_string(arena, name, strlen(name)));
    return list->count - 1;
}

static double number_at(sqlite3_stmt *rows, int column, double otherwise)
{
    return column < sqlite3_column_count(rows) && sqlite3_column_type(rows, column) != SQLITE_NULL
               ? sqlite3_column_double(rows, column)
               : otherwise;
}

const plot_row *plot_find_row(const plot_figure *f, uint32_t label, uint32_t series)
{
    for (uint32_t i = 0; i < f->rows.count; i++)
        if (f->rows.items[i].label == label && f->rows.items[i].series == series)
            return &f->rows.items[i];
    return NULL;
}

/* A place of the figure has one value: of two, one would not be drawn, and both be in the mean. */
static bool is_new(const hd_plot *p, const plot_figure *f, const plot_row *r, hd_diagnostics *diagnostics)
{
    if (!plot_find_row(f, r->label, r->series))
        return true;
    hd_report(diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
              "%s: the query gives two values of the series '%s' for '%s': the results differ in more, such as the "
              "column 'variant', which the series can name, or a condition choose (heddle-plot(5))",
              p->yaml->source.name, f->series.items[r->series], f->labels.items[r->label]);
    return false;
}

bool plot_read_rows(const hd_plot *p, const char *folder, plot_figure *f, hd_diagnostics *diagnostics)
{
    sweep_base base;
    const char *path = hd_arena_printf(&f->arena, "%s/results.sqlite", folder);
    int first = p->kind == HD_PLOT_SCATTER ? 3 : 2;
    double factor = p->percent ? 100 : 1;
    if (access(path, R_OK) != 0) {
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0},
                  "cannot read '%s': heddle sweep merge %s makes it", path, folder);
        return false;
    }
    if (!sweep_open(&base, path, SQLITE_OPEN_READONLY, diagnostics))
        return false;
    sqlite3_stmt *rows = sweep_prepare(&base, p->query);
    int wanted = p->mean == HD_PLOT_TOTAL ? first + 5 : first + 1;
    bool good = rows && sqlite3_column_count(rows) >= wanted;
    if (rows && !good)
        hd_report(diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
                  "the query of a figure has columns for %s, and no more than %d are there",
                  wanted > first + 1
                      ? "label, series, value, least, most, numerator and denominator, of which totals are"
                  : first == 3 ? "label, series, x and value"
                               : "label, series and value",
                  sqlite3_column_count(rows));
    while (good && sweep_step(&base, rows) == SQLITE_ROW) {
        plot_row r = {.y = factor * number_at(rows, first, NAN)};
        if (isnan(r.y))
            continue;
        r.label = take_name(&f->labels, &f->arena, sqlite3_column_text(rows, 0));
        r.series = take_name(&f->series, &f->arena, sqlite3_column_text(rows, 1));
        r.x = first == 3 ? number_at(rows, 2, NAN) : NAN;
        r.least = factor * number_at(rows, first + 1, r.y / factor);
        r.most = factor * number_at(rows, first + 2, r.y / factor);
        r.over = factor * number_at(rows, first + 3, NAN);
        r.under = number_at(rows, first + 4, NAN);
        good = is_new(p, f, &r, diagnostics);
        hd_array_push(&f->rows, r);
    }
    sqlite3_finalize(rows);
    sweep_close(&base);
    if (good && !f->rows.count)
        hd_report(diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
                  "the query of this figure gives no row with a value");
    return good && f->rows.count;
}

void plot_free_rows(plot_figure *f)
{
    hd_array_free(&f->labels);
    hd_array_free(&f->series);
    hd_array_free(&f->rows);
    hd_arena_free(&f->arena);
}

double plot_mean_of(const hd_plot *p, const plot_figure *f, uint32_t series)
{
    double sum = 0, over = 0, under = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->rows.count; i++) {
        double y = f->rows.items[i].y;
        if (f->rows.items[i].series != series)
            continue;
        sum += p->mean == HD_PLOT_GEOMETRIC ? log(y) : p->mean == HD_PLOT_HARMONIC ? 1 / y : y;
        over += f->rows.items[i].over;
        under += f->rows.items[i].under;
        count++;
    }
    if (p->mean == HD_PLOT_TOTAL)
        return over / under;
    double mean = sum / count;
    return p->mean == HD_PLOT_GEOMETRIC ? exp(mean) : p->mean == HD_PLOT_HARMONIC ? 1 / mean : mean;
}

/* ---- gnuplot ----------------------------------------------------------------------------------------------------- */

/* Colours that all readers can distinguish (Okabe and Ito), in an order of falling and rising lightness, so that
 * neighbours differ in black and white, too. */
static const char *const colours[] = {"#0072B2", "#E69F00", "#009E73", "#F0E442",
                                      "#D55E00", "#56B4E9", "#CC79A7", "#000000"};
enum { COLOURS = sizeof colours / sizeof *colours };
static const int patterns[COLOURS] = {3, 1, 2, 4, 5, 6, 7, 0}; /* 3: solid, 0: empty */

static void write_text(hd_writer *w, const char *text)
{
    hd_write_char(w, '"');
    for (; *text; text++) {
        if (strchr("\"\\", *text))
            hd_write_char(w, '\\');
        hd_write_char(w, *text == '\n' ? ' ' : *text);
    }
    hd_write_char(w, '"');
}

static void write_number(hd_writer *w, double number)
{
    if (isfinite(number))
        hd_write_format(w, " %.9g", number);
    else
        hd_write_string(w, " NaN");
}

static bool are_numbers(const plot_names *labels)
{
    for (uint32_t l = 0; l < labels->count; l++) {
        char *end;
        strtod(labels->items[l], &end);
        if (!labels->items[l][0] || *end)
            return false;
    }
    return true;
}

/* A line for each label: its place on the x axis, its name, and y, least and most of each series. */
static void write_data(hd_writer *w, const hd_plot *p, const plot_figure *f)
{
    uint32_t labels =
        f->labels.count + (p->mean != HD_PLOT_NO_MEAN && !(p->kind == HD_PLOT_LINES && are_numbers(&f->labels)));
    hd_write_string(w, "$data << EOD\n");
    for (uint32_t l = 0; l < labels; l++) {
        if (p->kind == HD_PLOT_LINES && are_numbers(&f->labels) && l < f->labels.count)
            hd_write_format(w, "%s ", f->labels.items[l]);
        else
            hd_write_format(w, "%u ", l);
        write_text(w, l < f->labels.count ? f->labels.items[l] : plot_mean_titles[p->mean]);
        for (uint32_t s = 0; s < f->series.count; s++) {
            const plot_row *r = l < f->labels.count ? plot_find_row(f, l, s) : NULL;
            double mean = l < f->labels.count ? NAN : plot_mean_of(p, f, s);
            write_number(w, r ? r->y : mean);
            write_number(w, r ? r->least : mean);
            write_number(w, r ? r->most : mean);
        }
        hd_write_char(w, '\n');
    }
    hd_write_string(w, "EOD\n");
}

static void write_points(hd_writer *w, const plot_figure *f)
{
    for (uint32_t s = 0; s < f->series.count; s++) {
        hd_write_format(w, "$data%u << EOD\n", s);
        for (uint32_t i = 0; i < f->rows.count; i++)
            if (f->rows.items[i].series == s) {
                write_number(w, f->rows.items[i].x);
                write_number(w, f->rows.items[i].y);
                write_number(w, f->rows.items[i].least);
                write_number(w, f->rows.items[i].most);
                hd_write_char(w, '\n');
            }
        hd_write_string(w, "EOD\n");
    }
}

static void write_style(hd_writer *w, const hd_plot *p)
{
    if (p->title) {
        hd_write_string(w, "set title ");
        write_text(w, p->title);
        hd_write_char(w, '\n');
    }
    for (int axis = 0; axis < 2; axis++)
        if (axis ? p->y : p->x) {
            hd_write_string(w, axis ? "set ylabel " : "set xlabel ");
            write_text(w, axis ? p->y : p->x);
            hd_write_char(w, '\n');
        }
    for (uint32_t i = 0; i < COLOURS; i++)
        hd_write_format(w, "set linetype %u lc rgb \"%s\" lw 1.5 pt %u dt %u\n", i + 1, colours[i], i + 4,
                        p->kind == HD_PLOT_LINES ? i % 5 + 1 : 1);
    hd_write_string(w, "set datafile missing \"NaN\"\nset key outside top center horizontal\nset grid ytics lc rgb "
                       "\"#cccccc\"\nset border 3\nset tics nomirror\n");
    if (p->percent)
        hd_write_string(w, "set format y \"%g %%\"\n");
    if (!isnan(p->reference)) {
        hd_write_string(w, "set arrow from graph 0, first");
        write_number(w, p->reference);
        hd_write_string(w, " to graph 1, first");
        write_number(w, p->reference);
        hd_write_string(w, " nohead lc rgb \"#000000\" dt 2\n");
    }
}

static void write_plot(hd_writer *w, const hd_plot *p, const plot_figure *f)
{
    bool numbers = are_numbers(&f->labels);
    if (p->kind == HD_PLOT_BARS || p->kind == HD_PLOT_STACKED)
        hd_write_format(w,
                        "set style data histograms\nset style histogram %s\nset style fill pattern 1 border -1\nset "
                        "boxwidth 0.9\nset xtics rotate by -40\n%s",
                        p->kind == HD_PLOT_BARS ? "errorbars gap 1 lw 1" : "rowstacked",
                        isnan(p->reference) ? "set yrange [0:*]\n" : "");
    else if (p->kind == HD_PLOT_LINES && !numbers)
        hd_write_string(w, "set xtics rotate by -40\nset offsets 0.5, 0.5, 0, 0\n");
    hd_write_string(w, "plot ");
    if (p->kind == HD_PLOT_SCATTER)
        hd_write_string(w, "x notitle lc rgb \"#999999\" dt 2, ");
    for (uint32_t s = 0; s < f->series.count; s++) {
        uint32_t y = 3 + 3 * s;
        hd_write_string(w, s ? ", " : "");
        if (p->kind == HD_PLOT_BARS)
            hd_write_format(w, "$data using %u:%u:%u:xtic(2)", y, y + 1, y + 2);
        else if (p->kind == HD_PLOT_STACKED)
            hd_write_format(w, "$data using %u:xtic(2)", y);
        else if (p->kind == HD_PLOT_LINES)
            hd_write_format(w, "$data using 1:%u:%u:%u%s with yerrorlines", y, y + 1, y + 2, numbers ? "" : ":xtic(2)");
        else
            hd_write_format(w, "$data%u using 1:2:3:4 with yerrorbars", s);
        hd_write_string(w, " title ");
        write_text(w, f->series.items[s]);
        hd_write_format(w, " lt %u", s % COLOURS + 1);
        if (p->kind == HD_PLOT_BARS || p->kind == HD_PLOT_STACKED)
            hd_write_format(w, " fs pattern %d", patterns[(s + s / COLOURS) % COLOURS]);
    }
    hd_write_char(w, '\n');
}

static void write_script(hd_writer *w, const hd_plot *p, const plot_figure *f, const char *terminal)
{
    if (p->about)
        hd_write_format(w, "# %s\n", p->about);
    if (terminal)
        hd_write_format(w, "set terminal %s size %g,%g font \"sans,10\" noenhanced\n", terminal,
                        strcmp(terminal, "svg") == 0 ? 96 * p->width : p->width,
                        strcmp(terminal, "svg") == 0 ? 96 * p->height : p->height);
    else
        hd_write_string(w, "# gnuplot -e 'set terminal pdfcairo; set output \"figure.pdf\"' FILE\n");
    write_style(w, p);
    if (p->kind == HD_PLOT_SCATTER)
        write_points(w, f);
    else
        write_data(w, p, f);
    write_plot(w, p, f);
}

/* Copies what gnuplot wrote. */
static bool copy_file(const char *path, hd_writer *w)
{
    hd_source source;
    if (!hd_source_read(&source, path))
        return false;
    bool any = source.length > 0;
    hd_write(w, source.text, source.length);
    hd_source_free(&source);
    return any;
}

static hd_status run_gnuplot(hd_plot_form form, const hd_plot *p, const plot_figure *f, hd_arena *arena, hd_writer *w,
                             hd_diagnostics *diagnostics)
{
    const char *temporary = getenv("TMPDIR");
    const char *folder = temporary && *temporary ? temporary : "/tmp";
    char *files[3]; /* script, picture, messages */
    int descriptors[3];
    hd_writer script;
    for (int i = 0; i < 3; i++) {
        files[i] = hd_arena_printf(arena, "%s/heddle-plot-XXXXXX", folder);
        descriptors[i] = hd_temporary_make(files[i]);
    }
    hd_writer_to_descriptor(&script, descriptors[0]);
    hd_write_format(&script, "set output \"%s\"\n", files[1]);
    write_script(&script, p, f, form == HD_PLOT_SVG ? "svg" : "pdfcairo");
    hd_writer_flush(&script);
    hd_writer_free(&script);
    int status = hd_process_run(
        &(hd_process){.arguments = (const char *const[]){"gnuplot", files[0], NULL}, .output = descriptors[2]});
    int error = errno;
    if (status < 0) {
        hd_report(diagnostics, HD_DIAG_MISSING_TOOL, NULL, (hd_span){0, 0},
                  "gnuplot does not run: %s; its package is gnuplot-nox or gnuplot, and -o FILE.gp writes the script",
                  strerror(error));
    } else if (status || !copy_file(files[1], w)) {
        hd_writer said;
        hd_writer_to_memory(&said);
        copy_file(files[2], &said);
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "gnuplot draws nothing: %.*s",
                  (int)said.buffer.count, said.buffer.items);
        hd_writer_free(&said);
    }
    for (int i = 0; i < 3; i++) {
        close(descriptors[i]);
        unlink(files[i]);
        hd_temporary_forget(files[i]);
    }
    return hd_status_of(diagnostics);
}

/* ---- LaTeX ------------------------------------------------------------------------------------------------------- */

/* "12.3", or with half of its spread where it is no point: "12.3 $\pm$ 0.4". */
static void write_value(hd_writer *w, double y, double least, double most)
{
    if (isfinite(y))
        hd_write_format(w, " & %.4g", y);
    else
        hd_write_string(w, " & --");
    if (isfinite(y) && most > least)
        hd_write_format(w, " $\\pm$ %.2g", (most - least) / 2);
}

static void write_latex(hd_writer *w, const hd_plot *p, const plot_figure *f)
{
    if (p->about)
        hd_write_format(w, "%% %s\n", p->about);
    hd_write_string(w, "\\begin{tabular}{l");
    for (uint32_t s = 0; s < f->series.count; s++)
        hd_write_char(w, 'r');
    hd_write_string(w, "}\n\\toprule\n");
    for (uint32_t s = 0; s < f->series.count; s++) {
        hd_write_string(w, " & ");
        hd_write_latex_text(w, f->series.items[s]);
    }
    hd_write_string(w, " \\\\\n\\midrule\n");
    for (uint32_t l = 0; l < f->labels.count; l++) {
        hd_write_latex_text(w, f->labels.items[l]);
        for (uint32_t s = 0; s < f->series.count; s++) {
            const plot_row *r = plot_find_row(f, l, s);
            write_value(w, r ? r->y : NAN, r ? r->least : NAN, r ? r->most : NAN);
        }
        hd_write_string(w, " \\\\\n");
    }
    if (p->mean != HD_PLOT_NO_MEAN) {
        hd_write_format(w, "\\midrule\n%s", plot_mean_titles[p->mean]);
        for (uint32_t s = 0; s < f->series.count; s++) {
            double mean = plot_mean_of(p, f, s);
            write_value(w, mean, mean, mean);
        }
        hd_write_string(w, " \\\\\n");
    }
    hd_write_string(w, "\\bottomrule\n\\end{tabular}\n");
}

hd_status hd_plot_draw(const hd_plot *p, const char *folder, hd_plot_form form, hd_writer *w,
                       hd_diagnostics *diagnostics)
{
    plot_figure f = {0};
    if (plot_read_rows(p, folder, &f, diagnostics)) {
        if (form == HD_PLOT_SCRIPT)
            write_script(w, p, &f, NULL);
        else if (form == HD_PLOT_LATEX)
            write_latex(w, p, &f);
        else
            run_gnuplot(form, p, &f, &f.arena, w, diagnostics);
    }
    plot_free_rows(&f);
    return hd_status_of(diagnostics);
}
