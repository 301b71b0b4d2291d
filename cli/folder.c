/* -o of commands that write an output for each input: standard output or a file for one, a folder for any number. */
#include "cli/cli.h"

#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

bool hd_cli_outputs_are_many(const hd_cli *cli)
{
    const char *out = cli->values[HD_OPTION_OUTPUT];
    return out && *out && (out[strlen(out) - 1] == '/' || is_folder(out));
}

static int compare_base_names(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(hd_path_name(*x), hd_path_name(*y));
}

/* Two inputs that would share an output, or one without a name. */
static bool names_differ(hd_cli *cli)
{
    const char *out = cli->values[HD_OPTION_OUTPUT];
    size_t count = (size_t)cli->operand_count;
    char **sorted = hd_arena_copy(&cli->arena, cli->operands, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_base_names);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sorted[i], "-") == 0 || !*hd_path_name(sorted[i])) {
            hd_cli_usage_error("-o %s: '%s' has no name for its output there", out, sorted[i]);
            return false;
        }
        if (i && compare_base_names(&sorted[i - 1], &sorted[i]) == 0) {
            hd_cli_usage_error("-o %s: '%s' and '%s' would both be written to '%s'", out, sorted[i - 1], sorted[i],
                               hd_cli_output_of(cli, sorted[i]));
            return false;
        }
    }
    return true;
}

hd_status hd_cli_prepare_outputs(hd_cli *cli)
{
    const char *out = cli->values[HD_OPTION_OUTPUT];
    if (!hd_cli_outputs_are_many(cli)) {
        if (!hd_cli_is_several(cli))
            return HD_STATUS_DONE;
        hd_cli_usage_error(out && strcmp(out, "-") != 0 ? "-o %s takes the output of one input, and there are %d: "
                                                          "-o FOLDER/ takes those of several"
                                                        : "%s takes the output of one input, and there are %d: "
                                                          "-o FOLDER/ takes those of several",
                           out && strcmp(out, "-") != 0 ? out : "standard output", cli->operand_count);
        return HD_STATUS_USAGE;
    }
    if (!names_differ(cli))
        return HD_STATUS_USAGE;
    if (is_folder(out) || mkdir(out, 0777) == 0)
        return HD_STATUS_DONE;
    hd_report(&cli->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot make the folder '%s': %s", out,
              strerror(errno));
    return HD_STATUS_REJECTED;
}

const char *hd_cli_output_of(hd_cli *cli, const char *input)
{
    const char *out = cli->values[HD_OPTION_OUTPUT];
    if (!out || strcmp(out, "-") == 0)
        return NULL;
    if (!hd_cli_outputs_are_many(cli))
        return out;
    return hd_arena_printf(&cli->arena, "%s%s%s", out, out[strlen(out) - 1] == '/' ? "" : "/", hd_path_name(input));
}
