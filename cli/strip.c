/* heddle strip */
#include "cli/cli.h"

#include "driver/rewrite.h"

static hd_status strip_one(hd_cli_part *part)
{
    hd_cli *cli = &part->cli;
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    hd_output output;
    if (!hd_cli_read_code(cli, cli->operands[0], HD_LISTING_PLAIN, source))
        return HD_STATUS_REJECTED;
    if (!hd_cli_open(cli, &output, hd_cli_output_of(cli, cli->operands[0]))) {
        hd_source_free(source);
        return HD_STATUS_REJECTED;
    }
    hd_rewrite_options options = {.parse = hd_cli_parse_options(cli), .emit = {.no_annotations = true}};
    options.parse.locate_annotations = true;
    options.parse.takes_listings = true;
    hd_cli_keep_module(cli, hd_rewrite(source, &options, &output.writer, &cli->diagnostics));
    hd_cli_close(cli, &output, cli->diagnostics.error_count == 0);
    return (hd_status)hd_cli_status(cli);
}

int hd_cli_strip(hd_cli *cli)
{
    hd_each each = {.run = strip_one};
    if (!hd_cli_inputs_fit(cli) || !hd_cli_number(cli, HD_OPTION_THREADS, &each.threads))
        return HD_STATUS_USAGE;
    hd_status status = hd_cli_prepare_outputs(cli);
    return (int)(status == HD_STATUS_DONE ? hd_cli_each_input(cli, &each, NULL) : status);
}
