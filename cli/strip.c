/* heddle strip */
#include "cli/cli.h"

#include "driver/rewrite.h"

int hd_cli_strip(hd_cli *cli)
{
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    hd_output output;
    if (!hd_cli_read(cli, cli->operands[0], source))
        return HD_STATUS_REJECTED;
    if (!hd_output_open(cli, &output, cli->values[HD_CLI_OUTPUT])) {
        hd_source_free(source);
        return HD_STATUS_REJECTED;
    }
    hd_rewrite_options options = {.parse = hd_cli_parse_options(cli), .emit = {.no_annotations = true}};
    options.parse.locate_annotations = true;
    hd_cli_keep_module(cli, hd_rewrite(source, &options, &output.writer, &cli->diagnostics));
    hd_output_close(cli, &output, cli->diagnostics.error_count == 0);
    return hd_cli_status(cli);
}
