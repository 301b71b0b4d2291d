/* heddle check-plugin */
#include "cli/cli.h"

#include "driver/plugin/load.h"

int hd_cli_check_plugin(hd_cli *cli)
{
    return hd_plugin_load(cli->operands[0], &cli->diagnostics) ? HD_STATUS_DONE : HD_STATUS_REJECTED;
}
