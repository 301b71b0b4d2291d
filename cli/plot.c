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
    } forms[] = {{".svg", HD_PLOT_SVG}, {".pdf", HD_PLOT_PDF}, {".gp", HD_PLOT_SCRIPT}, {".tex", HD_PLOT_LATEX}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t length = strlen(forms[i].end);
        if (strlen(path) > length && strcmp(path + strlen(path) - length, forms[i].end) == 0)
            return (int)forms[i].form;
    }
    hd_cli_usage_error("plot writes FILE.svg, FILE.pdf, FILE.gp (a script of gnuplot) or FILE.tex (a table), not '%s'",
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

int hd_cli_plot(hd_cli *cli)
{
    hd_output output;
    const char *path = cli->values[HD_OPTION_OUTPUT];
    bool is_preset = hd_cli_has(cli, HD_OPTION_LIKE);
    if (is_preset == (cli->operand_count == 2)) {
        hd_cli_usage_error("plot draws the figure of one file, or one of --like=NAME");
        return HD_STATUS_USAGE;
    }
    if (!path) {
        hd_cli_usage_error("plot needs -o FILE.svg, FILE.pdf, FILE.gp or FILE.tex");
        return HD_STATUS_USAGE;
    }
    int form = form_of(path);
    hd_plot *plot = form < 0 ? NULL : find_plot(cli);
    if (!plot)
        return HD_STATUS_USAGE;
    hd_cli_keep(cli, plot, free_plot);
    if (!plot->valid)
        return hd_cli_status(cli);
    if (!hd_cli_open(cli, &output, path))
        return HD_STATUS_REJECTED;
    hd_status status = hd_plot_draw(plot, cli->operands[0], (hd_plot_form)form, &output.writer, &cli->diagnostics);
    return hd_cli_close(cli, &output, status == HD_STATUS_DONE) ? (int)status : HD_STATUS_REJECTED;
}
