/* Values of options, read as base/options.def says, and the members of a job's options that they set. */
#include "cli/cli.h"

#include "base/scan.h"
#include "hwmodel/memory/memory.h"

/* ---- one kind of number each: false, as a usage error, for another text ------------------------------------------ */

static bool read_decimal(const hd_option_value *value, const char *name, const char *text, uint64_t *number)
{
    const char *at = text;
    if (hd_take_number(&at, NULL, 10, value->most, number) && !*at && *number >= value->least)
        return true;
    if (value->least)
        hd_cli_usage_error("--%s takes a number from %u to %u, not '%s'", name, value->least, value->most, text);
    else
        hd_cli_usage_error("--%s takes a number up to %u, not '%s'", name, value->most, text);
    return false;
}

/* UINT64_MAX: there is no limit. */
static bool read_limit(const hd_option_value *value, const char *name, const char *text, uint64_t *number)
{
    bool good = read_decimal(value, name, text, number);
    if (good && !*number)
        *number = UINT64_MAX;
    return good;
}

static bool read_threads(const hd_option_value *value, const char *name, const char *text, uint64_t *number)
{
    enum { DIMENSIONS = 3 };
    const char *at = text;
    uint64_t size = 0;
    bool good = true;
    *number = 1;
    for (uint32_t i = 0; good; i++) {
        good = i < DIMENSIONS && hd_take_number(&at, NULL, 10, value->most, &size) && size &&
               (*number *= size) <= value->most;
        if (!*at)
            break;
        good = good && (*at == 'x' || *at == 'X' || *at == ',');
        at++;
    }
    if (!good)
        hd_cli_usage_error("--%s takes the threads of a block, from 1 to %u, or up to three sizes as 16x16; not '%s'",
                           name, value->most, text);
    return good;
}

static bool read_bytes(const hd_option_value *value, const char *name, const char *text, uint64_t *number)
{
    static const struct {
        char name[4];
        uint8_t shift;
    } units[] = {{"", 0}, {"B", 0}, {"K", 10}, {"KB", 10}, {"KiB", 10}, {"M", 20}, {"MB", 20}, {"MiB", 20}};
    const char *at = text;
    if (hd_take_number(&at, NULL, 10, value->most, number))
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (strcmp(at, units[i].name) == 0 && *number << units[i].shift <= value->most) {
                *number <<= units[i].shift;
                return true;
            }
    hd_cli_usage_error("--%s takes bytes up to %u, or KiB or MiB as 48K or 1M; not '%s'", name, value->most, text);
    return false;
}

static bool read_address(const hd_option_value *value, const char *name, const char *text, uint64_t *number)
{
    const char *digits = text + 2;
    (void)value;
    if (strncmp(text, "0x", 2) == 0 && hd_take_number(&digits, NULL, 16, UINT64_MAX, number) && *digits == '\0' &&
        hd_memory_base_fits(*number))
        return true;
    hd_cli_usage_error("--%s takes a multiple of 0x200000 from 0x700001000000 to 0x7ffeff000000 with a lower half from "
                       "0x1000000 to 0xff000000, not '%s'",
                       name, text);
    return false;
}

/* Whether values of the kind are numbers, and the function that reads them. */
static bool (*const readers[HD_TAKES_COUNT])(const hd_option_value *, const char *, const char *, uint64_t *) = {
    [HD_TAKES_NUMBER] = read_decimal, [HD_TAKES_LIMIT] = read_limit,     [HD_TAKES_THREADS] = read_threads,
    [HD_TAKES_BYTES] = read_bytes,    [HD_TAKES_ADDRESS] = read_address,
};

/* ---- what commands ask ------------------------------------------------------------------------------------------- */

static bool read_value(const hd_cli *cli, hd_option_id option, uint64_t *number)
{
    const hd_option_value *value = &hd_option_settings[option].value;
    *number = value->otherwise;
    return !cli->values[option] ||
           readers[value->kind](value, hd_cli_options[option].name, cli->values[option], number);
}

bool hd_cli_number(hd_cli *cli, hd_option_id option, uint32_t *value)
{
    uint64_t number;
    bool good = read_value(cli, option, &number);
    *value = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    return good;
}

bool hd_cli_range(hd_cli *cli, hd_option_id option, uint64_t *first, uint64_t *end)
{
    const uint64_t greatest = (uint64_t)1 << 53; /* exact in JSON */
    const uint32_t most = hd_option_settings[option].value.most;
    const char *text = cli->values[option], *at = text;
    if (!text)
        return true;
    if (hd_take_number(&at, NULL, 10, greatest, first) && *at++ == ':' &&
        hd_take_number(&at, NULL, 10, greatest, end) && !*at && *first < *end && *end - *first <= most)
        return true;
    hd_cli_usage_error("--%s takes A:B with A < B, at most %u apart, not '%s'", hd_cli_options[option].name, most,
                       text);
    return false;
}

static bool set_member(hd_cli *cli, hd_option_id option, const hd_member *member, char *options)
{
    uint64_t wide;
    uint32_t narrow;
    bool given = hd_cli_has(cli, option), good = true;
    const void *from = NULL;
    size_t size = 0;
    switch (member->type) {
    case HD_MEMBER_NONE: break;
    case HD_MEMBER_BOOL: from = &given, size = sizeof given; break;
    case HD_MEMBER_U32: good = hd_cli_number(cli, option, &narrow), from = &narrow, size = sizeof narrow; break;
    case HD_MEMBER_U64: good = read_value(cli, option, &wide), from = &wide, size = sizeof wide; break;
    case HD_MEMBER_TEXT: from = &cli->values[option], size = sizeof cli->values[option]; break;
    }
    if (size)
        memcpy(options + member->at, from, size);
    return good;
}

bool hd_cli_read_settings(hd_cli *cli, hd_job job, void *options)
{
    bool good = true;
    for (uint32_t i = 0; i < HD_OPTION_COUNT && good; i++)
        good = set_member(cli, (hd_option_id)i, &hd_option_settings[i].members[job], options);
    return good;
}
