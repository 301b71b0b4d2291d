/* heddle check */
#include "cli/cli.h"

#include "driver/check.h"

/* Passes and models let lanes meet at post-dominators; a listing has its own sync points. */
static void write_sync_points(hd_writer *out, const char *name, const hd_sync_points *sync)
{
    uint64_t all = sync->same + sync->later + sync->earlier + sync->nowhere;
    if (all)
        hd_write_format(
            out,
            "%s: of %llu branches that may diverge, %llu reconverge at the listing's sync point, %llu before it, "
            "%llu after it, and %llu have none\n",
            name, (unsigned long long)all, (unsigned long long)sync->same, (unsigned long long)sync->later,
            (unsigned long long)sync->earlier, (unsigned long long)sync->nowhere);
}

static hd_status check_one(hd_cli_part *part)
{
    hd_cli *cli = &part->cli;
    hd_source *source = HD_ARENA_NEW(&cli->arena, hd_source); /* diagnostics point to it */
    if (!hd_cli_read_code(cli, cli->operands[0], HD_LISTING_PLAIN, source))
        return HD_STATUS_REJECTED;
    hd_parse_options options = hd_cli_parse_options(cli);
    options.takes_listings = true;
    hd_module *module = hd_parse_ptx(source, &options, &cli->diagnostics);
    hd_cli_keep_module(cli, module);
    if (cli->diagnostics.error_count)
        return HD_STATUS_REJECTED;
    hd_check_result result;
    hd_status status = hd_check_module(module, cli->values[HD_OPTION_KERNEL], part->meter, &cli->diagnostics, &result);
    if (status == HD_STATUS_REJECTED)
        return status;
    part->selected = result.functions;
    hd_write_format(&part->text, "%s: %llu annotations in %u functions: %s\n", cli->operands[0],
                    (unsigned long long)result.annotations, result.functions,
                    status == HD_STATUS_WRONG       ? "refuted"
                    : status == HD_STATUS_UNDECIDED ? "undecided"
                    : result.annotations            ? "sound"
                                                    : "nothing to check");
    write_sync_points(&part->text, cli->operands[0], &result.sync);
    return status;
}

int hd_cli_check(hd_cli *cli)
{
    hd_output output;
    hd_each each = {.run = check_one, .join = hd_cli_part_write_text, .output = &output.writer};
    if (!hd_cli_inputs_fit(cli) || !hd_cli_number(cli, HD_OPTION_THREADS, &each.threads))
        return HD_STATUS_USAGE;
    hd_cli_open(cli, &output, NULL);
    hd_status status = hd_cli_each_input(cli, &each, NULL);
    return (int)(hd_cli_close(cli, &output, true) ? status : hd_status_worse(status, HD_STATUS_REJECTED));
}
