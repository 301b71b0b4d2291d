/* What subcommands share: reading inputs, keeping what diagnostics point into, colours, exit statuses. */
#include "cli/cli.h"

#include "driver/report/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

hd_parse_options hd_cli_parse_options(const hd_cli *cli)
{
    const hd_cli *whole = cli->whole ? cli->whole : cli;
    return (hd_parse_options){.strict = hd_cli_has(cli, HD_OPTION_STRICT),
                              .one_of_several = hd_cli_is_several(whole),
                              .drop_stale = hd_cli_has(cli, HD_OPTION_DROP_STALE)};
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

bool hd_cli_has_colour(const hd_cli *cli, int descriptor)
{
    enum { AUTO, ALWAYS };
    if (cli->colour != AUTO)
        return cli->colour == ALWAYS;
    if (is_set("NO_COLOR"))
        return false;
    return (is_set("CLICOLOR_FORCE") && strcmp(getenv("CLICOLOR_FORCE"), "0") != 0) || isatty(descriptor);
}

bool hd_cli_read(hd_cli *cli, const char *path, hd_source *source)
{
    if (hd_source_read(source, path))
        return true;
    hd_report(&cli->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot read '%s': %s", path,
              hd_source_why(errno));
    return false;
}

bool hd_cli_read_code(hd_cli *cli, const char *path, hd_listing_words words, hd_source *source)
{
    if (!hd_cli_read(cli, path, source))
        return false;
    bool good = hd_disassemble(source, words, &cli->diagnostics);
    if (!good)
        hd_source_free(source);
    return good;
}

void hd_cli_keep(hd_cli *cli, void *thing, void (*free_thing)(void *))
{
    hd_array_push(&cli->kept, (hd_cli_kept){thing, free_thing});
}

void hd_cli_drop_kept(hd_cli *cli)
{
    while (cli->kept.count) {
        hd_cli_kept last = hd_array_pop(&cli->kept);
        last.free(last.thing);
    }
    hd_array_free(&cli->kept);
}

static void free_module(void *module) { hd_module_free(module); }

void hd_cli_keep_module(hd_cli *cli, hd_module *module) { hd_cli_keep(cli, module, free_module); }

int hd_cli_status(const hd_cli *cli) { return (int)hd_status_of(&cli->diagnostics); }
