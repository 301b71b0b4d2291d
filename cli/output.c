/* The outputs of a command, and whether they fit its inputs. */
#include "cli/cli.h"

#include "base/open.h"
#include "driver/run/run_files.h"

#include <errno.h>
#include <unistd.h>

static bool failed(hd_cli *cli, const char *path, int error)
{
    hd_report(&cli->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot write '%s': %s",
              path ? path : "<stdout>", hd_open_why(error));
    return false;
}

bool hd_cli_open(hd_cli *cli, hd_output *output, const char *path)
{
    if (path && strcmp(path, "-") != 0)
        return hd_output_open(output, path) || failed(cli, path, errno);
    hd_output_to_descriptor(output, STDOUT_FILENO);
    return true;
}

bool hd_cli_close(hd_cli *cli, hd_output *output, bool keep)
{
    const char *path = output->path ? hd_arena_string(&cli->arena, output->path, strlen(output->path)) : NULL;
    if (keep || !path) /* what was written to standard output is */
        return hd_outputs_finish(cli->outputs, output) || failed(cli, path, errno);
    hd_output_drop(output);
    return true;
}

/* ---- all files of the command ------------------------------------------------------------------------------------ */

static void add_output(hd_file_list *list, const char *path)
{
    if (path && strcmp(path, "-") != 0)
        hd_file_list_add(list, path, true, NULL);
    else
        hd_file_list_add_descriptor(list, STDOUT_FILENO, "<stdout>");
}

/* -o: for each input its own, or one for all; beside them the rules for make. */
static void add_outputs(hd_cli *cli, hd_file_list *list)
{
    bool is_each = cli->command == HD_COMMAND_REWRITE || cli->command == HD_COMMAND_STRIP;
    bool many = is_each && hd_cli_outputs_are_many(cli);
    bool rules = hd_cli_has(cli, HD_OPTION_DEPFILE) && !hd_cli_has(cli, HD_OPTION_DEPFILE_PATH);
    for (int i = 0; i < (many ? cli->operand_count : 1); i++) {
        const char *path = many ? hd_cli_output_of(cli, cli->operands[i]) : cli->values[HD_OPTION_OUTPUT];
        add_output(list, path);
        if (rules && path)
            add_output(list, hd_arena_printf(&cli->arena, "%s.d", path));
    }
}

static int count_inputs(const hd_cli *cli)
{
    switch (cli->command) {
    case HD_COMMAND_REWRITE:
    case HD_COMMAND_STRIP:
    case HD_COMMAND_REPLAY:
    case HD_COMMAND_INIT:
    case HD_COMMAND_CHECK:
    case HD_COMMAND_REPORT:
    case HD_COMMAND_DIFF:
    case HD_COMMAND_DUMP: return cli->operand_count;
    case HD_COMMAND_RUN: return 1; /* the program */
    case HD_COMMAND_NVCC:
    case HD_COMMAND_CACHE:
    case HD_COMMAND_SWEEP:
    case HD_COMMAND_PLOT:
    case HD_COMMAND_NEW: /* the output is a folder */
    case HD_COMMAND_CHECK_PLUGIN:
    case HD_COMMAND_LIST:
    case HD_COMMAND_HELP:
    case HD_COMMAND_COMPLETION:
    case HD_COMMAND_COUNT: break;
    }
    return 0;
}

void hd_cli_list_files(hd_cli *cli, hd_file_list *list)
{
    static const char *const of_records[] = {HD_RUN_LAUNCH_FILE, HD_RUN_PTX_FILE, HD_RUN_LINKED_FILE, HD_RUN_CUBIN_FILE,
                                             HD_RUN_CUBINS_FILE};
    for (int i = 0; i < count_inputs(cli); i++)
        hd_file_list_add(list, cli->operands[i], false, NULL);
    for (uint32_t i = 0; (i = hd_cli_marked(cli, HD_CLI_READS, i)) < HD_OPTION_COUNT; i++)
        hd_file_list_add(list, cli->values[i], false, NULL);
    add_outputs(cli, list);
    for (uint32_t i = 0; (i = hd_cli_marked(cli, HD_CLI_WRITES, i)) < HD_OPTION_COUNT; i++)
        add_output(list, cli->values[i]);
    for (size_t i = 0; i < sizeof of_records / sizeof *of_records && hd_cli_has(cli, HD_OPTION_RECORD); i++)
        add_output(list, hd_arena_printf(&cli->arena, "%s/%s", cli->values[HD_OPTION_RECORD], of_records[i]));
}

bool hd_cli_files_fit(const hd_file_list *list)
{
    hd_file_clash clash;
    char why[512];
    if (!hd_file_list_clash(list, &clash))
        return true;
    hd_file_clash_text(&clash, why, sizeof why);
    hd_cli_usage_error("%s", why);
    return false;
}

bool hd_cli_own_files_fit(hd_cli *cli)
{
    hd_file_list list = {0};
    hd_cli_list_files(cli, &list);
    bool good = hd_cli_files_fit(&list);
    hd_array_free(&list);
    return good;
}
