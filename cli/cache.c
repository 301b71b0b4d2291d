/* heddle cache */
#include "cli/cli.h"

#include "base/suggest.h"
#include "base/version.h"
#include "driver/build/store.h"
#include "emitters/json.h"

#include <inttypes.h>

static void write_text(hd_writer *out, const hd_store *cache, const hd_store_counts *counts)
{
    hd_write_format(out, "%-8s  %s\n", "folder", cache->folder ? cache->folder : "none: the cache is off");
    hd_write_format(out, "%-8s  %" PRIu64 "  most bytes of entries, 0: no limit\n", "limit", cache->limit_bytes);
#define WRITE_COUNT(name, summary) hd_write_format(out, "%-8s  %" PRIu64 "  %s\n", #name, counts->name, summary);
    HD_STORE_COUNTS(WRITE_COUNT)
#undef WRITE_COUNT
}

static void write_json(hd_writer *out, const hd_store *cache, const hd_store_counts *counts)
{
    hd_json json = {.out = out};
    hd_json_object(&json, NULL);
    hd_json_text(&json, "heddle", HD_VERSION);
    hd_json_number(&json, "schema", 1);
    hd_json_text(&json, "folder", cache->folder);
    hd_json_number(&json, "limit", cache->limit_bytes);
#define WRITE_COUNT(name, summary) hd_json_number(&json, #name, counts->name);
    HD_STORE_COUNTS(WRITE_COUNT)
#undef WRITE_COUNT
    hd_json_end(&json);
    hd_write_char(out, '\n');
}

static int show(hd_cli *cli, const hd_store *cache, bool json)
{
    hd_output output;
    hd_store_counts counts = hd_store_statistics(cache);
    if (!hd_cli_open(cli, &output, NULL))
        return HD_STATUS_REJECTED;
    if (json)
        write_json(&output.writer, cache, &counts);
    else
        write_text(&output.writer, cache, &counts);
    return hd_cli_close(cli, &output, true) ? HD_STATUS_DONE : HD_STATUS_REJECTED;
}

static int check(hd_cli *cli, const hd_store *cache)
{
    uint64_t damaged = hd_store_check(cache);
    if (damaged)
        hd_report(&cli->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0},
                  "%" PRIu64 " entries of '%s' were not intact, and are removed", damaged, cache->folder);
    return hd_cli_status(cli);
}

int hd_cli_cache(hd_cli *cli)
{
    static const char *const actions[] = {"stats", "clear", "check"};
    enum { STATS, CLEAR, CHECK, ACTIONS };
    hd_suggestion near = hd_suggest(cli->operands[0]);
    char phrase[HD_SUGGEST_PHRASE];
    hd_store cache;
    int format = hd_cli_choice(cli, HD_OPTION_FORMAT), action = 0;
    if (format < 0)
        return HD_STATUS_USAGE;
    for (; action < ACTIONS && strcmp(actions[action], cli->operands[0]) != 0; action++)
        hd_suggest_from(&near, actions[action]);
    if (action == ACTIONS) {
        hd_cli_usage_error("cache takes stats, clear or check, not '%s'%s", cli->operands[0],
                           hd_suggest_phrase(&near, phrase));
        return HD_STATUS_USAGE;
    }
    if (!hd_store_open(&cache, &cli->arena, &cli->diagnostics))
        return hd_cli_status(cli);
    if (action == CLEAR)
        hd_store_clear(&cache);
    return action == STATS ? show(cli, &cache, format == 1) : action == CHECK ? check(cli, &cache) : HD_STATUS_DONE;
}
