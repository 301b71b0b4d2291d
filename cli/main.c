/* heddle: reads the command line by the tables, runs a subcommand, renders the diagnostics. */
#include "cli/cli.h"

#include "base/version.h"
#include "emitters/diagnostics.h"

#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct command_row {
    const char *name;
    int (*run)(hd_cli *);
    int minimum, maximum;
    const char *operands, *summary;
} command_row;

static const command_row commands[HD_COMMAND_COUNT] = {
#define HD_COMMAND(id, name, run, minimum, maximum, operands, summary) {name, run, minimum, maximum, operands, summary},
#include "cli/commands.def"
#undef HD_COMMAND
};

typedef struct option_row {
    char letter;
    const char *name, *argument;
    uint32_t commands; /* mask */
    const char *help;
} option_row;

#define ALL (~0u)
#define IN(command) (1u << HD_COMMAND_##command)
static const option_row options[HD_CLI_OPTION_COUNT] = {
#define HD_CLI_OPTION(id, letter, name, argument, commands, help) {letter, name, argument, commands, help},
#include "cli/options.def"
#undef HD_CLI_OPTION
};

/* ---- help ---- */

/* -MD, -MF, -MT: one dash, as compilers spell them. */
static bool is_compiler_like(const char *name) { return strlen(name) == 2 && name[0] == 'M'; }

/* "[PATH]": the option may stand without it. */
static bool is_optional(const option_row *o) { return o->argument && *o->argument == '['; }

static void print_option(const option_row *o)
{
    char left[64];
    int n = snprintf(left, sizeof left, "  %c%c%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                     o->letter && o->name ? ", " : "  ");
    bool one_dash = o->name && is_compiler_like(o->name);
    const char *joint = !o->argument ? "" : one_dash ? " " : is_optional(o) ? "[=" : "=";
    if (o->name)
        n += snprintf(left + n, sizeof left - (size_t)n, "%s%s%s%s", one_dash ? "-" : "--", o->name, joint,
                      o->argument ? o->argument + is_optional(o) : "");
    else if (o->argument)
        snprintf(left + n - 2, sizeof left - (size_t)n + 2, "%s", o->argument);
    printf("%-28s %s\n", left, o->help);
}

static void print_help(hd_command command)
{
    const command_row *row = &commands[command];
    printf("usage: heddle %s [OPTIONS] %s\n%s\n\n", row->name, row->operands, row->summary);
    for (uint32_t i = 0; i < HD_CLI_OPTION_COUNT; i++)
        if (options[i].commands >> command & 1)
            print_option(&options[i]);
    printf("\nSee heddle-%s(1).\n", row->name);
}

static void print_overview(FILE *to)
{
    fputs("usage: heddle COMMAND [OPTIONS] FILES\n"
          "A compiler pass toolkit over NVIDIA PTX with an embedded GPU hardware model.\n\n",
          to);
    for (uint32_t i = 0; i < HD_COMMAND_COUNT; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\nheddle COMMAND --help shows a command's options; heddle(1) is the manual.\n", to);
}

void hd_cli_usage_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("heddle: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

/* ---- options ---- */

enum { LONG_BASE = 256, SHORT_ROOM = 2 * HD_CLI_OPTION_COUNT + 2 };

static void make_getopt_tables(hd_command command, struct option *longs, char *shorts)
{
    *shorts++ = ':';
    for (uint32_t i = 0; i < HD_CLI_OPTION_COUNT; i++) {
        const option_row *o = &options[i];
        if (!(o->commands >> command & 1))
            continue;
        if (o->name)
            *longs++ =
                (struct option){o->name, !o->argument ? no_argument : is_optional(o) ? optional_argument : required_argument, NULL, LONG_BASE + (int)i};
        if (o->letter) {
            *shorts++ = o->letter;
            if (o->argument)
                *shorts++ = ':';
        }
    }
    *shorts = '\0';
    *longs = (struct option){0};
}

static int option_of(int code)
{
    if (code >= LONG_BASE)
        return code - LONG_BASE;
    for (int i = 0; i < HD_CLI_OPTION_COUNT; i++)
        if (options[i].letter && options[i].letter == code)
            return i;
    return -1;
}

/* -MD, -MF, -MT have one dash, as compilers have them; getopt_long_only would take -p for any long option too. */
static void double_dashes(int count, char **arguments)
{
    static const char *const singles[][2] = {{"-MD", "--MD"}, {"-MF", "--MF"}, {"-MT", "--MT"}};
    for (int i = 1; i < count && strcmp(arguments[i], "--") != 0; i++)
        for (size_t s = 0; s < sizeof singles / sizeof *singles; s++)
            if (strcmp(arguments[i], singles[s][0]) == 0)
                arguments[i] = (char *)(uintptr_t)singles[s][1];
}

static bool take_option(hd_cli *cli, int option, const char *argument)
{
    cli->values[option] = argument ? argument : "";
    if (option == HD_CLI_WARN && !hd_diagnostics_option(&cli->diagnostics, argument)) {
        hd_cli_usage_error("-W%s: no such warning, or an error that cannot be turned off", argument);
        return false;
    }
    return true;
}

/* What getopt stopped at: the letter, or the argument as it was given. */
static bool refuse_option(int code, const char *given)
{
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt < LONG_BASE;
    given = is_letter ? letter : strncmp(given, "--M", 3) == 0 ? given + 1 : given;
    if (code == ':')
        hd_cli_usage_error("option '%s' needs an argument", given);
    else if (optopt >= LONG_BASE)
        hd_cli_usage_error("'%s': this option takes no argument", given);
    else
        hd_cli_usage_error("'%s' is no option of this command, or several begin so; --help lists them", given);
    return false;
}

static bool read_options(hd_cli *cli, int count, char **arguments)
{
    struct option longs[HD_CLI_OPTION_COUNT + 1];
    char shorts[SHORT_ROOM];
    make_getopt_tables(cli->command, longs, shorts);
    double_dashes(count, arguments);
    opterr = 0;
    for (int code; (code = getopt_long(count, arguments, shorts, longs, NULL)) != -1;) {
        if (code == ':' || code == '?')
            return refuse_option(code, arguments[optind - 1]);
        if (!take_option(cli, option_of(code), optarg))
            return false;
    }
    cli->operands = arguments + optind;
    cli->operand_count = count - optind;
    return true;
}

int hd_cli_choice(hd_cli *cli, hd_cli_option option, const char *words)
{
    const char *value = cli->values[option];
    if (!value)
        return 0;
    int index = 0;
    for (const char *p = words;; p++, index++) {
        size_t length = strcspn(p, "|");
        if (strlen(value) == length && strncmp(p, value, length) == 0)
            return index;
        p += length;
        if (!*p)
            break;
    }
    hd_cli_usage_error("--%s takes one of %s, not '%s'", options[option].name, words, value);
    return -1;
}

bool hd_cli_number(hd_cli *cli, hd_cli_option option, uint32_t otherwise, uint32_t maximum, uint32_t *value)
{
    return hd_cli_number_from(cli, option, otherwise, 0, maximum, value);
}

bool hd_cli_number_from(hd_cli *cli, hd_cli_option option, uint32_t otherwise, uint32_t minimum, uint32_t maximum, uint32_t *value)
{
    const char *text = cli->values[option];
    *value = otherwise;
    if (!text)
        return true;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && !errno && number >= minimum && number <= maximum) {
        *value = (uint32_t)number;
        return true;
    }
    if (minimum)
        hd_cli_usage_error("--%s takes a number from %u to %u, not '%s'", options[option].name, minimum, maximum, text);
    else
        hd_cli_usage_error("--%s takes a number up to %u, not '%s'", options[option].name, maximum, text);
    return false;
}

/* ---- what subcommands share ---- */

hd_parse_options hd_cli_parse_options(const hd_cli *cli)
{
    return (hd_parse_options){.strict = hd_cli_has(cli, HD_CLI_STRICT),
                              .drop_stale = hd_cli_has(cli, HD_CLI_DROP_STALE)};
}

bool hd_cli_read(hd_cli *cli, const char *path, hd_source *source)
{
    if (hd_source_read(source, path))
        return true;
    hd_report(&cli->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot read '%s': %s", path,
              hd_source_why(errno));
    return false;
}

void hd_cli_keep(hd_cli *cli, void *thing, void (*free_thing)(void *))
{
    hd_array_push(&cli->kept, (hd_kept){thing, free_thing});
}

static void free_module(void *module) { hd_module_free(module); }

void hd_cli_keep_module(hd_cli *cli, hd_module *module) { hd_cli_keep(cli, module, free_module); }

/* A bad list of passes or of gates stands in the command line, not in the input. */
int hd_cli_status(const hd_cli *cli)
{
    for (const hd_diagnostic *d = cli->diagnostics.first; d; d = d->next)
        if (d->kind == HD_DIAG_BAD_PASS || d->kind == HD_DIAG_BAD_GATE)
            return HD_STATUS_USAGE;
    return cli->diagnostics.error_count ? HD_STATUS_REJECTED : HD_STATUS_DONE;
}

/* ---- main ---- */

static int run_command(hd_cli *cli)
{
    const command_row *row = &commands[cli->command];
    if (hd_cli_has(cli, HD_CLI_HELP)) {
        print_help(cli->command);
        return HD_STATUS_DONE;
    }
    if (hd_cli_has(cli, HD_CLI_VERSION)) {
        puts("heddle " HD_VERSION);
        return HD_STATUS_DONE;
    }
    if (cli->operand_count < row->minimum || cli->operand_count > row->maximum) {
        hd_cli_usage_error("usage: heddle %s [OPTIONS] %s", row->name, row->operands);
        return HD_STATUS_USAGE;
    }
    if (cli->format < 0 || !hd_cli_number(cli, HD_CLI_ERROR_LIMIT, 20, UINT32_MAX, &cli->diagnostics.error_limit))
        return HD_STATUS_USAGE;
    return row->run(cli);
}

static void render(hd_cli *cli)
{
    if (cli->format < 0 || (cli->format == HD_DIAGNOSTICS_TEXT && !cli->diagnostics.first))
        return;
    const char *no_color = getenv("NO_COLOR");
    bool colour = isatty(STDERR_FILENO) && !(no_color && *no_color);
    hd_writer writer;
    hd_writer_to_descriptor(&writer, STDERR_FILENO);
    hd_emit_diagnostics(&writer, &cli->diagnostics, (hd_diagnostics_format)cli->format, colour);
    hd_writer_flush(&writer);
    hd_writer_free(&writer);
}

static int find_command(const char *name)
{
    for (int i = 0; i < HD_COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return i;
    return -1;
}

static int dispatch(hd_cli *cli, int count, char **arguments)
{
    if (count < 2) {
        print_overview(stderr);
        return HD_STATUS_USAGE;
    }
    if (strcmp(arguments[1], "--version") == 0) {
        puts("heddle " HD_VERSION);
        return HD_STATUS_DONE;
    }
    if (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0) {
        print_overview(stdout);
        return HD_STATUS_DONE;
    }
    int command = find_command(arguments[1]);
    if (command < 0) {
        hd_cli_usage_error("'%s' is no command; heddle --help lists them", arguments[1]);
        return HD_STATUS_USAGE;
    }
    cli->command = (hd_command)command;
    if (!read_options(cli, count - 1, arguments + 1))
        return HD_STATUS_USAGE;
    cli->format = hd_cli_choice(cli, HD_CLI_DIAGNOSTICS, "text|json|sarif");
    return run_command(cli);
}

/* Passes take and give back memory function by function: keep it, or the system would clear it anew each time. */
static void keep_freed_memory(void)
{
    enum { KEPT_BYTES = 64 << 20 };
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES / 16);
    mallopt(M_TOP_PAD, KEPT_BYTES / 64);
}

int main(int count, char **arguments)
{
    keep_freed_memory();
    hd_temporary_watch();
    hd_cli cli = {0};
    hd_diagnostics_init(&cli.diagnostics);
    hd_arena_init(&cli.arena);
    char **expanded = hd_cli_expand(&cli, &count, arguments);
    int status = expanded ? dispatch(&cli, count, expanded) : HD_STATUS_REJECTED;
    render(&cli);
    if (fflush(stdout) != 0 && status == HD_STATUS_DONE)
        status = HD_STATUS_REJECTED;
    while (cli.kept.count) {
        hd_kept last = hd_array_pop(&cli.kept);
        last.free(last.thing);
    }
    hd_array_free(&cli.kept);
    hd_diagnostics_free(&cli.diagnostics);
    hd_arena_free(&cli.arena);
    return status;
}
