/* heddle: reads the command line by the tables, runs a subcommand, renders the diagnostics. */
#include "cli/cli.h"

#include "base/version.h"
#include "driver/plugin/load.h"
#include "emitters/diagnostics.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

static int (*const jobs[HD_COMMAND_COUNT])(hd_cli *) = {
#define HD_COMMAND(id, name, run, minimum, maximum, operands, formats, summary) run,
#include "cli/commands.def"
#undef HD_COMMAND
};

static int run_command(hd_cli *cli)
{
    const hd_cli_command *row = &hd_cli_commands[cli->command];
    if (hd_cli_has(cli, HD_OPTION_HELP)) {
        hd_cli_print_help(cli->command);
        return HD_STATUS_DONE;
    }
    if (hd_cli_has(cli, HD_OPTION_VERSION)) {
        puts("heddle " HD_VERSION);
        return HD_STATUS_DONE;
    }
    if (cli->operand_count < row->minimum || cli->operand_count > row->maximum) {
        hd_cli_usage_error("usage: heddle %s [OPTIONS] %s", row->name, row->operands);
        return HD_STATUS_USAGE;
    }
    if (cli->format < 0 || cli->colour < 0 || cli->progress < 0 ||
        !hd_cli_number(cli, HD_OPTION_ERROR_LIMIT, &cli->diagnostics.error_limit) || !hd_cli_own_files_fit(cli))
        return HD_STATUS_USAGE;
    for (uint32_t i = 0; i < cli->plugins.count; i++)
        if (!hd_plugin_load(cli->plugins.items[i], &cli->diagnostics))
            return HD_STATUS_REJECTED;
    return jobs[cli->command](cli);
}

static bool has_diagnostics(const hd_cli *cli)
{
    return cli->format > HD_DIAGNOSTICS_TEXT || (cli->format == HD_DIAGNOSTICS_TEXT && cli->diagnostics.first);
}

static void render(hd_cli *cli, hd_writer *writer)
{
    if (!has_diagnostics(cli))
        return;
    hd_source_files *files = hd_source_files_new(NULL);
    hd_emit_diagnostics(writer, &cli->diagnostics, (hd_diagnostics_format)cli->format,
                        hd_cli_has_colour(cli, STDERR_FILENO), files);
    hd_source_files_free(files);
}

/* The outputs appear after all else that needs memory: a program that ends for lack of it leaves none. Where one cannot
 * appear, the diagnostics are made anew. Where there is neither, nothing is allocated after standard output was
 * written. */
static int end(hd_cli *cli, int status)
{
    hd_writer text, to;
    if (!has_diagnostics(cli) && !cli->outputs->finished.count)
        return status;
    hd_writer_to_memory(&text);
    hd_writer_to_descriptor(&to, STDERR_FILENO);
    render(cli, &text);
    if (!hd_outputs_publish(cli->outputs, &cli->diagnostics)) {
        hd_array_clear(&text.buffer);
        render(cli, &text);
        status = status == HD_STATUS_DONE ? HD_STATUS_REJECTED : status;
    }
    hd_write(&to, text.buffer.items, text.buffer.count);
    hd_writer_flush(&to);
    hd_writer_free(&to);
    hd_writer_free(&text);
    return status;
}

static int dispatch(hd_cli *cli, int count, char **arguments)
{
    if (count < 2) {
        hd_cli_print_overview(stderr);
        return HD_STATUS_USAGE;
    }
    if (strcmp(arguments[1], "--version") == 0) {
        puts("heddle " HD_VERSION);
        return HD_STATUS_DONE;
    }
    if (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0) {
        hd_cli_print_overview(stdout);
        return HD_STATUS_DONE;
    }
    int command = hd_cli_find_command(arguments[1]);
    if (command < 0)
        return HD_STATUS_USAGE;
    cli->command = (hd_command)command;
    if (!hd_cli_read_options(cli, count - 1, arguments + 1))
        return HD_STATUS_USAGE;
    cli->format = hd_cli_choice(cli, HD_OPTION_DIAGNOSTICS);
    cli->colour = hd_cli_choice(cli, HD_OPTION_COLOR);
    cli->progress = hd_cli_choice(cli, HD_OPTION_PROGRESS);
    return run_command(cli);
}

/* Passes take and give back memory function by function: keep it, or the system would clear it anew each time. */
static void keep_freed_memory(void)
{
    enum { KEPT_BYTES = 64 << 20 };
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES / 16);
    mallopt(M_TOP_PAD, KEPT_BYTES / 64);
}

int main(int count, char **arguments)
{
    keep_freed_memory();
    hd_temporary_watch();
    hd_outputs outputs;
    hd_cli cli = {.outputs = &outputs};
    hd_outputs_init(&outputs);
    hd_diagnostics_init(&cli.diagnostics);
    hd_arena_init(&cli.arena);
    char **expanded = hd_cli_expand(&cli, &count, arguments);
    int status = expanded ? dispatch(&cli, count, expanded) : HD_STATUS_REJECTED;
    status = end(&cli, status);
    if (fflush(stdout) != 0 && status == HD_STATUS_DONE)
        status = HD_STATUS_REJECTED;
    hd_cli_drop_kept(&cli);
    hd_array_free(&cli.settings);
    hd_array_free(&cli.plugins);
    hd_diagnostics_free(&cli.diagnostics);
    hd_arena_free(&cli.arena);
    hd_outputs_free(&outputs);
    return status;
}
