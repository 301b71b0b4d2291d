/* heddle plot */
#include "cli/cli.h"

#include "base/suggest.h"
#include "driver/sweep/plot.h"

static void free_plot(void *plot) { hd_plot_free(plot); }

/* By the end of the output's name; -1 (a usage error): it has another. */
static int form_of(const char *path)
{
    static const struct {
        const char *end;
        hd_plot_form form;
    } forms[] = {{".svg", HD_PLOT_SVG},
                 {".pdf", HD_PLOT_PDF},
                 {".gp", HD_PLOT_SCRIPT},
                 {".tex", HD_PLOT_LATEX},
                 {".html", HD_PLOT_HTML}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t length = strlen(forms[i].end);
        if (strlen(path) > length && strcmp(path + strlen(path) - length, forms[i].end) == 0)
            return (int)forms[i].form;
    }
    hd_cli_usage_error(
        "plot writes FILE.svg, FILE.pdf, FILE.gp (a script of gnuplot), FILE.tex (a table) or FILE.html, not '%s'",
        path);
    return -1;
}

/* NULL: a usage error, or reported. */
static hd_plot *find_plot(hd_cli *cli)
{
    const char *name = cli->values[HD_OPTION_LIKE];
    char phrase[HD_SUGGEST_PHRASE];
    if (!name)
        return hd_plot_read(cli->operands[1], &cli->diagnostics);
    hd_suggestion near = hd_suggest(name);
    for (uint32_t i = 0; i < hd_figure_file_count; i++) {
        if (strcmp(hd_figure_files[i].name, name) == 0)
            return hd_plot_like(&hd_figure_files[i], &cli->diagnostics);
        hd_suggest_from(&near, hd_figure_files[i].name);
    }
    hd_cli_usage_error("no figure has the name '%s'%s: heddle list figures", name, hd_suggest_phrase(&near, phrase));
    return NULL;
}

/* The page of all shipped figures that have rows. */
static hd_status draw_all(hd_cli *cli, hd_writer *writer)
{
    hd_plot **plots = HD_ARENA_ARRAY(&cli->arena, hd_plot *, hd_figure_file_count);
    for (uint32_t i = 0; i < hd_figure_file_count; i++) {
        plots[i] = hd_plot_like(&hd_figure_files[i], &cli->diagnostics);
        hd_cli_keep(cli, plots[i], free_plot);
    }
    return hd_plot_page(plots, hd_figure_file_count, cli->operands[0], writer, &cli->diagnostics);
}

static hd_status draw(hd_cli *cli, hd_plot *plot, hd_plot_form form, hd_writer *writer)
{
    if (!plot)
        return draw_all(cli, writer);
    if (form == HD_PLOT_HTML)
        return hd_plot_page(&plot, 1, cli->operands[0], writer, &cli->diagnostics);
    return hd_plot_draw(plot, cli->operands[0], form, writer, &cli->diagnostics);
}

int hd_cli_plot(hd_cli *cli)
{
    hd_output output;
    const char *path = cli->values[HD_OPTION_OUTPUT];
    bool is_preset = hd_cli_has(cli, HD_OPTION_LIKE);
    if (!path) {
        hd_cli_usage_error("plot needs -o FILE.svg, FILE.pdf, FILE.gp, FILE.tex or FILE.html");
        return HD_STATUS_USAGE;
    }
    int form = form_of(path);
    if (form < 0)
        return HD_STATUS_USAGE;
    bool all = form == HD_PLOT_HTML && !is_preset && cli->operand_count == 1;
    if (!all && is_preset == (cli->operand_count == 2)) {
        hd_cli_usage_error("plot draws the figure of one file, or one of --like=NAME, or as FILE.html all of them");
        return HD_STATUS_USAGE;
    }
    hd_plot *plot = all ? NULL : find_plot(cli);
    if (!plot && !all)
        return HD_STATUS_USAGE;
    if (plot)
        hd_cli_keep(cli, plot, free_plot);
    if (plot && !plot->valid)
        return hd_cli_status(cli);
    if (!hd_cli_open(cli, &output, path))
        return HD_STATUS_REJECTED;
    hd_status status = draw(cli, plot, (hd_plot_form)form, &output.writer);
    return hd_cli_close(cli, &output, status == HD_STATUS_DONE) ? (int)status : HD_STATUS_REJECTED;
}
