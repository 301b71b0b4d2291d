/* heddle check-plugin */
#include "cli/cli.h"

#include "driver/plugin/check.h"
#include "driver/plugin/load.h"

int hd_cli_check_plugin(hd_cli *cli)
{
    hd_output out, trace;
    const char *path = cli->values[HD_OPTION_TRACE];
    if (!hd_cli_own_files_fit(cli))
        return HD_STATUS_USAGE;
    const hd_plugin *plugin = hd_plugin_load(cli->operands[0], &cli->diagnostics);
    if (!plugin || !hd_cli_open(cli, &out, NULL) || (path && !hd_cli_open(cli, &trace, path)))
        return HD_STATUS_REJECTED;
    hd_status status = hd_plugin_check(plugin, cli->values[HD_OPTION_REFERENCE], path ? &trace.writer : NULL,
                                       &out.writer, &cli->diagnostics);
    bool written = hd_cli_close(cli, &out, true);
    if (path)
        written = hd_cli_close(cli, &trace, status != HD_STATUS_REJECTED) && written;
    return written ? (int)status : HD_STATUS_REJECTED;
}
