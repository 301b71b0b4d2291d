/* Values of options that are more than a number: threads of a block, amounts of memory. */
#include "cli/cli.h"

#include "base/scan.h"

bool hd_cli_block(hd_cli *cli, hd_cli_option option, uint32_t *threads)
{
    enum { DIMENSIONS = 3, MOST_THREADS = 1 << 20 };
    const char *text = cli->values[option], *at = text;
    uint64_t product = 1, size = 0;
    *threads = 0;
    if (!text)
        return true;
    bool good = true;
    for (uint32_t i = 0; good; i++) {
        good = i < DIMENSIONS && hd_take_number(&at, NULL, 10, MOST_THREADS, &size) && size &&
               (product *= size) <= MOST_THREADS;
        if (!*at)
            break;
        good = good && (*at == 'x' || *at == 'X' || *at == ',');
        at++;
    }
    *threads = (uint32_t)product;
    if (!good)
        hd_cli_usage_error(
            "--block takes the threads of a block, from 1 to %u, or up to three sizes as 16x16; not '%s'", MOST_THREADS,
            text);
    return good;
}

bool hd_cli_bytes(hd_cli *cli, hd_cli_option option, uint32_t maximum, uint32_t *bytes)
{
    static const struct {
        char name[4];
        uint8_t shift;
    } units[] = {{"", 0}, {"B", 0}, {"K", 10}, {"KB", 10}, {"KiB", 10}, {"M", 20}, {"MB", 20}, {"MiB", 20}};
    const char *text = cli->values[option], *at = text;
    uint64_t number;
    *bytes = 0;
    if (!text)
        return true;
    if (hd_take_number(&at, NULL, 10, maximum, &number))
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (strcmp(at, units[i].name) == 0 && number << units[i].shift <= maximum) {
                *bytes = (uint32_t)(number << units[i].shift);
                return true;
            }
    hd_cli_usage_error("--shared takes bytes up to %u, or KiB or MiB as 48K or 1M; not '%s'", maximum, text);
    return false;
}

bool hd_cli_range(hd_cli *cli, hd_cli_option option, uint64_t most, uint64_t *first, uint64_t *end)
{
    const uint64_t greatest = (uint64_t)1 << 53; /* exact in JSON */
    const char *text = cli->values[option], *at = text;
    if (!text)
        return true;
    if (hd_take_number(&at, NULL, 10, greatest, first) && *at++ == ':' &&
        hd_take_number(&at, NULL, 10, greatest, end) && !*at && *first < *end && *end - *first <= most)
        return true;
    hd_cli_usage_error("--%s takes A:B with A < B, at most %llu apart, not '%s'", hd_cli_options[option].name,
                       (unsigned long long)most, text);
    return false;
}
