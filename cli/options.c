/* The tables of subcommands and options, and reading a command line by them. */
#include "cli/cli.h"

#include "base/shown.h"
#include "base/suggest.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MANY = INT_MAX };
const hd_cli_command hd_cli_commands[HD_COMMAND_COUNT] = {
#define HD_COMMAND(id, name, run, minimum, maximum, operands, formats, summary) \
    {name, minimum, maximum, operands, formats, summary},
#include "cli/commands.def"
#undef HD_COMMAND
};

#define ALL (~0u)
#define IN(command) (1u << HD_COMMAND_##command)
#define READS HD_CLI_READS
#define WRITES HD_CLI_WRITES
#define OF_MODELS HD_CLI_OF_MODELS
#define OF_PTX HD_CLI_OF_PTX
const hd_cli_option_row hd_cli_options[HD_OPTION_COUNT] = {
#define HD_OPTION(id, letter, name, argument, value, commands, marks, sets, echo, help) \
    {letter, name, argument, commands, marks, help},
#include "base/options.def"
#undef HD_OPTION
};

void hd_cli_usage_error(const char *format, ...)
{
    char text[1 << 12]; /* what is longer is cut */
    hd_writer to;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    hd_writer_to_descriptor(&to, STDERR_FILENO);
    hd_write_string(&to, "heddle: ");
    hd_write_shown_in_line(&to, text);
    hd_write_char(&to, '\n');
    hd_writer_flush(&to);
    hd_writer_free(&to);
}

enum { LONG_BASE = 256, SHORT_ROOM = 2 * HD_OPTION_COUNT + 3 };

static void make_getopt_tables(hd_command command, struct option *longs, char *shorts)
{
    if (command == HD_COMMAND_RUN) /* options end where the program begins */
        *shorts++ = '+';
    *shorts++ = ':';
    for (uint32_t i = 0; i < HD_OPTION_COUNT; i++) {
        const hd_cli_option_row *o = &hd_cli_options[i];
        if (!(o->commands >> command & 1))
            continue;
        if (o->name)
            *longs++ = (struct option){o->name,
                                       !o->argument            ? no_argument
                                       : hd_cli_is_optional(o) ? optional_argument
                                                               : required_argument,
                                       NULL, LONG_BASE + (int)i};
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
    for (int i = 0; i < HD_OPTION_COUNT; i++)
        if (hd_cli_options[i].letter && hd_cli_options[i].letter == code)
            return i;
    return -1;
}

/* -MD, -MF, -MT, -MP have one dash, as compilers have them; getopt_long_only would take -p for any long option too. */
static void double_dashes(hd_cli *cli, int count, char **arguments)
{
    for (int i = 1; i < count && strcmp(arguments[i], "--") != 0; i++)
        for (uint32_t o = 0; o < HD_OPTION_COUNT && arguments[i][0] == '-'; o++) {
            const char *name = hd_cli_options[o].name;
            if (name && !hd_cli_dashes(name)[1] && strcmp(arguments[i] + 1, name) == 0)
                arguments[i] = hd_arena_printf(&cli->arena, "--%s", name);
        }
}

static bool take_warning(hd_cli *cli, const char *argument)
{
    char phrase[HD_SUGGEST_PHRASE];
    hd_suggestion near = hd_suggest(strncmp(argument, "no-", 3) == 0 ? argument + 3 : argument);
    if (hd_diagnostics_option(&cli->diagnostics, argument))
        return true;
    if (strchr(near.wanted, '='))
        near.wanted = strchr(near.wanted, '=') + 1;
    for (int kind = 0; kind < HD_DIAGNOSTIC_COUNT; kind++)
        if (hd_diagnostic_default((hd_diagnostic_kind)kind) != HD_ERROR)
            hd_suggest_from(&near, hd_diagnostic_slug((hd_diagnostic_kind)kind));
    hd_cli_usage_error("-W%s: no such warning, or an error that cannot be turned off%s", argument,
                       hd_suggest_phrase(&near, phrase));
    return false;
}

/* What may be any text but none: "--output=$UNSET". */
static bool needs_text(hd_option_takes kind)
{
    return kind == HD_TAKES_NAME || kind == HD_TAKES_FILE || kind == HD_TAKES_TECHNIQUES || kind == HD_TAKES_SETTINGS ||
           kind == HD_TAKES_PLUGINS;
}

static bool take_option(hd_cli *cli, int option, const char *argument)
{
    const hd_cli_option_row *o = &hd_cli_options[option];
    hd_option_takes kind = hd_option_settings[option].value.kind;
    if (argument && !*argument && needs_text(kind)) {
        hd_cli_usage_error("%s%s takes %s, not ''", hd_cli_dashes(o->name), o->name, o->argument);
        return false;
    }
    cli->values[option] = argument ? argument : "";
    if (kind == HD_TAKES_SETTINGS)
        hd_array_push(&cli->settings, argument);
    if (kind == HD_TAKES_PLUGINS)
        hd_array_push(&cli->plugins, argument);
    return kind != HD_TAKES_WARNINGS || take_warning(cli, argument);
}

/* ---- what is no option ------------------------------------------------------------------------------------------- */

static bool takes(hd_command command, int option) { return hd_cli_options[option].commands >> command & 1; }

/* Long options of the command that begin with the text: their number, and a list of them in the arena. */
static uint32_t options_that_begin(hd_cli *cli, const char *text, size_t length, const char **list)
{
    uint32_t count = 0;
    *list = "";
    for (int i = 0; i < HD_OPTION_COUNT; i++)
        if (hd_cli_options[i].name && takes(cli->command, i) && strncmp(hd_cli_options[i].name, text, length) == 0)
            *list = hd_arena_printf(&cli->arena, "%s%s--%s", *list, count++ ? ", " : "", hd_cli_options[i].name);
    return count;
}

/* The commands that have the option, in the arena; "": none. */
static const char *commands_with(hd_cli *cli, const char *name)
{
    const char *list = "";
    for (int i = 0; i < HD_OPTION_COUNT; i++)
        for (int c = 0; hd_cli_options[i].name && strcmp(hd_cli_options[i].name, name) == 0 && c < HD_COMMAND_COUNT;
             c++)
            if (takes((hd_command)c, i))
                list = hd_arena_printf(&cli->arena, "%s%s%s", list, *list ? ", " : "", hd_cli_commands[c].name);
    return list;
}

/* `given`: as it stands in the command line, "--name=value". */
static void refuse_long(hd_cli *cli, const char *given)
{
    size_t length = strcspn(given + 2, "=");
    const char *name = hd_arena_string(&cli->arena, given + 2, length), *list,
               *own = hd_cli_commands[cli->command].name, *dashes = hd_cli_dashes(name);
    char phrase[HD_SUGGEST_PHRASE];
    hd_suggestion near = hd_suggest(hd_arena_printf(&cli->arena, "--%s", name));
    for (int i = 0; i < HD_OPTION_COUNT; i++)
        if (hd_cli_options[i].name && takes(cli->command, i) && strlen(hd_cli_options[i].name) > 2)
            hd_suggest_from(&near, hd_arena_printf(&cli->arena, "--%s", hd_cli_options[i].name));
    if (length && options_that_begin(cli, name, length, &list) > 1)
        hd_cli_usage_error("'%s%s' is no option of %s: several begin so: %s", dashes, name, own, list);
    else if (*(list = commands_with(cli, name)))
        hd_cli_usage_error("'%s%s' is no option of %s: it belongs to %s", dashes, name, own, list);
    else
        hd_cli_usage_error("'%s%s' is no option of %s%s", dashes, name, own,
                           near.best ? hd_suggest_phrase(&near, phrase) : "; --help lists them");
}

/* What getopt stopped at: the letter, or the argument as it was given. */
static bool refuse_option(hd_cli *cli, int code, const char *given)
{
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt < LONG_BASE;
    const char *shown = is_letter ? letter : strncmp(given, "--M", 3) == 0 ? given + 1 : given;
    if (code == ':')
        hd_cli_usage_error("option '%s' needs an argument", shown);
    else if (optopt >= LONG_BASE)
        hd_cli_usage_error("'%s': this option takes no argument", shown);
    else if (is_letter)
        hd_cli_usage_error("'%s' is no option of %s; --help lists them", shown, hd_cli_commands[cli->command].name);
    else
        refuse_long(cli, given);
    return false;
}

bool hd_cli_read_options(hd_cli *cli, int count, char **arguments)
{
    struct option longs[HD_OPTION_COUNT + 1];
    char shorts[SHORT_ROOM];
    make_getopt_tables(cli->command, longs, shorts);
    double_dashes(cli, count, arguments);
    opterr = 0;
    int dashes = 1; /* before getopt changes the order */
    while (dashes < count && strcmp(arguments[dashes], "--") != 0)
        dashes++;
    for (int code; (code = getopt_long(count, arguments, shorts, longs, NULL)) != -1;) {
        if (code == ':' || code == '?')
            return refuse_option(cli, code, arguments[optind - 1]);
        if (!take_option(cli, option_of(code), optarg))
            return false;
    }
    cli->options = arguments + 1;
    cli->option_count = optind - 1;
    cli->operands = arguments + optind;
    cli->operand_count = count - optind;
    if (dashes < count && (cli->command == HD_COMMAND_REPORT || cli->command == HD_COMMAND_DIFF))
        hd_cli_split_nvcc_words(cli, count - 1 - dashes);
    return true;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

const char *hd_cli_argument(hd_command command, hd_option_id option)
{
    return option == HD_OPTION_FORMAT ? hd_cli_commands[command].formats : hd_cli_options[option].argument;
}

int hd_cli_choice(hd_cli *cli, hd_option_id option)
{
    const char *value = cli->values[option], *words = hd_cli_argument(cli->command, option);
    hd_suggestion near = hd_suggest(value ? value : "");
    char phrase[HD_SUGGEST_PHRASE];
    if (!value)
        return 0;
    int index = 0;
    for (const char *p = words; *p; p += *p == '|', index++) {
        const char *word = hd_arena_string(&cli->arena, p, strcspn(p, "|"));
        if (strcmp(word, value) == 0)
            return index;
        hd_suggest_from(&near, word);
        p += strlen(word);
    }
    hd_cli_usage_error("--%s takes one of %s, not '%s'%s", hd_cli_options[option].name, words, value,
                       hd_suggest_phrase(&near, phrase));
    return -1;
}

hd_option_id hd_cli_marked(const hd_cli *cli, uint32_t mark, uint32_t from)
{
    while (from < HD_OPTION_COUNT && !(hd_cli_options[from].marks & mark && cli->values[from]))
        from++;
    return (hd_option_id)from;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

int hd_cli_find_command(const char *name)
{
    char phrase[HD_SUGGEST_PHRASE];
    hd_suggestion near = hd_suggest(name);
    for (int i = 0; i < HD_COMMAND_COUNT; i++) {
        if (strcmp(hd_cli_commands[i].name, name) == 0)
            return i;
        hd_suggest_from(&near, hd_cli_commands[i].name);
    }
    hd_cli_usage_error("'%s' is no command%s", name,
                       near.best ? hd_suggest_phrase(&near, phrase) : "; heddle --help lists them");
    return -1;
}
