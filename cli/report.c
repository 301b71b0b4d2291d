/* heddle report */
#include "cli/cli.h"

#include "driver/report/report.h"

#include <sys/stat.h>

typedef enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_HTML, REPORT_SARIF } report_format;

static void free_job(void *job) { hd_report_free(job); }

/* ---- source files for the page --------------------------------------------------------------------------------------
 */

enum { LONGEST_SOURCE_BYTES = 8 << 20 };

/* Whether the name is that of a program text: a module can name any file, and what is not its source is no business of
 * the page's. */
static bool names_source(const char *name)
{
    static const char *const endings[] = {".cu", ".cuh", ".c",   ".cc",  ".cpp", ".cxx", ".h",
                                          ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".py",  ".cl"};
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(ending, endings[i]) == 0)
            return true;
    return false;
}

static bool read_regular(const char *path, hd_source *source)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= LONGEST_SOURCE_BYTES &&
           hd_source_read(source, path);
}

/* As named, else beside the PTX file; under the name that .loc has for it. */
static bool find_source(hd_cli *cli, const char *name, const char *ptx, hd_source *source)
{
    const char *slash = strrchr(ptx, '/');
    hd_source found;
    if (!read_regular(name, &found) &&
        (*name == '/' || !slash ||
         !read_regular(hd_arena_printf(&cli->arena, "%.*s/%s", (int)(slash - ptx), ptx, name), &found)))
        return false;
    hd_source_from_memory(source, name, found.text, found.length);
    hd_source_free(&found);
    return true;
}

typedef struct source_search {
    HD_ARRAY(hd_source) found;
    HD_ARRAY(const char *) tried; /* names; one file has one address */
} source_search;

static void look_for(hd_cli *cli, source_search *s, const char *name, const char *ptx)
{
    hd_source source;
    for (uint32_t i = s->tried.count; i-- > 0;) /* the last ones are asked for most */
        if (s->tried.items[i] == name)
            return;
    hd_array_push(&s->tried, name);
    if (names_source(name) && find_source(cli, name, ptx, &source))
        hd_array_push(&s->found, source);
}

static void emit_html(hd_cli *cli, hd_writer *writer, const hd_report_job *job)
{
    const hd_report_module *report = hd_report_of(job);
    source_search s = {0};
    for (uint32_t k = 0; k < report->kernel_count; k++)
        for (uint32_t l = 0; l < report->kernels[k].line_count; l++)
            look_for(cli, &s, report->kernels[k].lines[l].file, report->path);
    hd_emit_report_html(writer, report, hd_report_source(job), s.found.items, s.found.count);
    for (uint32_t i = 0; i < s.found.count; i++)
        hd_source_free(&s.found.items[i]);
    hd_array_free(&s.found);
    hd_array_free(&s.tried);
}

static void emit(hd_cli *cli, hd_output *output, const hd_report_job *job, report_format format)
{
    const hd_report_module *report = hd_report_of(job);
    hd_report_style style = {.colour = hd_cli_has_colour(cli, output->descriptor),
                             .listing = hd_cli_has(cli, HD_CLI_LISTING)};
    switch (format) {
    case REPORT_TEXT: hd_emit_report_text(&output->writer, report, &style); break;
    case REPORT_JSON: hd_emit_report_json(&output->writer, report, &style); break;
    case REPORT_HTML: emit_html(cli, &output->writer, job); break;
    case REPORT_SARIF: hd_emit_report_sarif(&output->writer, report); break;
    }
}

bool hd_cli_report_options(hd_cli *cli, hd_report_options *options)
{
    const char *gpu = cli->values[HD_CLI_GPU], *arch = cli->values[HD_CLI_ARCH], *ptxas = cli->values[HD_CLI_PTXAS];
    *options = (hd_report_options){.gpu = gpu ? gpu : arch,
                                   .kernel = cli->values[HD_CLI_KERNEL],
                                   .require = cli->values[HD_CLI_REQUIRE],
                                   .ptxas = ptxas && strcmp(ptxas, "no") == 0 ? NULL
                                            : ptxas                           ? ptxas
                                                                              : "",
                                   .ptxas_if_found = !ptxas,
                                   .ptxas_seconds = HD_REPORT_PTXAS_SECONDS,
                                   .shared_known = hd_cli_has(cli, HD_CLI_SHARED),
                                   .no_clean = hd_cli_has(cli, HD_CLI_NO_CLEAN),
                                   .no_demangle = hd_cli_has(cli, HD_CLI_NO_DEMANGLE),
                                   .parse = hd_cli_parse_options(cli)};
    if (gpu && arch) {
        hd_cli_usage_error("--arch and --gpu name the same thing: give one");
        return false;
    }
    return hd_cli_block(cli, HD_CLI_BLOCK, &options->block) &&
           hd_cli_bytes(cli, HD_CLI_SHARED, 1 << 30, &options->shared_bytes) &&
           hd_cli_number(cli, HD_CLI_MAX_REGISTERS, 0, 255, &options->max_registers) &&
           hd_cli_number(cli, HD_CLI_PTXAS_TIMEOUT, 0, 1 << 20, &options->ptxas_seconds) &&
           hd_cli_number(cli, HD_CLI_THREADS, 0, 1024, &options->threads);
}

int hd_cli_report(hd_cli *cli)
{
    hd_report_options options;
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    hd_output output;
    int format = hd_cli_choice(cli, HD_CLI_FORMAT);
    if (format < 0 || !hd_cli_report_options(cli, &options))
        return HD_STATUS_USAGE;
    if (!hd_cli_read(cli, cli->operands[0], source))
        return HD_STATUS_REJECTED;
    hd_report_job *job = hd_report_new(source, &options, &cli->diagnostics);
    hd_cli_keep(cli, job, free_job);
    if (!hd_report_of(job)->arch)
        return (int)hd_report_status(job);
    if (!hd_output_open(cli, &output, cli->values[HD_CLI_OUTPUT]))
        return HD_STATUS_REJECTED;
    emit(cli, &output, job, (report_format)format);
    if (!hd_output_close(cli, &output, true) && hd_report_status(job) == HD_STATUS_DONE)
        return HD_STATUS_REJECTED;
    return (int)hd_report_status(job);
}
