/* heddle check */
#include "cli/cli.h"

#include "driver/check.h"

#include <unistd.h>

int hd_cli_check(hd_cli *cli)
{
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    if (!hd_cli_read(cli, cli->operands[0], source))
        return HD_STATUS_REJECTED;
    hd_parse_options options = hd_cli_parse_options(cli);
    hd_module *module = hd_parse_ptx(source, &options, &cli->diagnostics);
    hd_cli_keep_module(cli, module);
    if (cli->diagnostics.error_count)
        return HD_STATUS_REJECTED;
    hd_check_result result;
    hd_status status = hd_check_module(module, cli->values[HD_CLI_KERNEL], &cli->diagnostics, &result);
    if (status == HD_STATUS_REJECTED)
        return status;
    hd_writer out;
    hd_writer_to_descriptor(&out, STDOUT_FILENO);
    hd_write_format(&out, "%s: %llu annotations in %u functions: %s\n", cli->operands[0],
                    (unsigned long long)result.annotations, result.functions,
                    status == HD_STATUS_WRONG ? "refuted"
                    : result.annotations      ? "sound"
                                              : "nothing to check");
    bool written = hd_writer_flush(&out);
    hd_writer_free(&out);
    return status != HD_STATUS_DONE ? (int)status : written ? HD_STATUS_DONE : HD_STATUS_REJECTED;
}
