/* heddle completion: scripts that let bash, zsh and fish complete the command line, from the tables of commands,
 * options, passes, techniques, models, GPUs, figures and diagnostics. */
#include "cli/cli.h"

#include "base/version.h"
#include "hwmodel/rf/technique.h"
#include "ir/techniques.h"
#include "passes/manager/manager.h"
#include "target/gpu.h"

#include <ctype.h>

/* What an option's argument may be. */
typedef enum value_kind {
    VALUE_NONE,  /* a number, or another text that cannot be listed */
    VALUE_WORDS, /* one of some words */
    VALUE_LIST,  /* some of them, with commas between */
    VALUE_FILE,  /* a file, or one of the words */
} value_kind;

typedef struct values {
    value_kind kind;
    HD_ARRAY(const char *) words; /* in the arena, or static */
} values;

/* ---- what may be completed --------------------------------------------------------------------------------------- */

static void add_word(values *v, const char *word) { hd_array_push(&v->words, word); }

/* Those between bars, but for names of what they stand for, as in "NAME|FILE". */
static void add_alternatives(hd_cli *cli, values *v, const char *text)
{
    for (const char *p = text; *p; p += *p == '|') {
        size_t length = strcspn(p, "|]");
        if (islower((unsigned char)*p))
            add_word(v, hd_arena_string(&cli->arena, p, length));
        p += length + (p[length] == ']');
    }
}

static void add_passes(values *v)
{
    for (uint32_t i = 0; i < hd_pass_count; i++)
        add_word(v, hd_passes[i].name);
    for (uint32_t i = 0; i < hd_pass_alias_count; i++)
        add_word(v, hd_pass_aliases[i].name);
}

static void add_techniques(values *v)
{
    add_word(v, "all");
    add_word(v, "none");
    for (uint32_t t = 0; t < hd_technique_count; t++)
        add_word(v, hd_techniques[t].spelling);
    for (uint32_t m = 0; m < hd_rf_model_count; m++)
        add_word(v, hd_rf_models[m].name);
}

static void add_gpus(values *v)
{
    for (uint32_t i = 0; i < hd_gpu_file_count; i++)
        add_word(v, hd_gpu_files[i].name);
}

static void add_warnings(hd_cli *cli, values *v)
{
    add_word(v, "error");
    add_word(v, "no-error");
    for (int kind = 0; kind < HD_DIAGNOSTIC_COUNT; kind++)
        if (hd_diagnostic_default((hd_diagnostic_kind)kind) != HD_ERROR) {
            const char *slug = hd_diagnostic_slug((hd_diagnostic_kind)kind);
            static const char *const prefixes[] = {"", "no-", "error=", "no-error="};
            for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
                add_word(v, hd_arena_printf(&cli->arena, "%s%s", prefixes[i], slug));
        }
}

static void add_commands(values *v)
{
    for (int c = 0; c < HD_COMMAND_COUNT; c++)
        add_word(v, hd_cli_commands[c].name);
}

/* `argument`: as a table has it, "auto|always|never", "NAME|FILE". */
static values values_of(hd_cli *cli, hd_option_id option, const char *argument)
{
    values v = {.kind = VALUE_WORDS};
    switch (hd_option_settings[option].value.kind) {
    case HD_TAKES_PASS: add_passes(&v); return v;
    case HD_TAKES_PASSES: add_passes(&v), v.kind = VALUE_LIST; return v;
    case HD_TAKES_TECHNIQUES: add_techniques(&v), v.kind = VALUE_LIST; return v;
    case HD_TAKES_GPU: add_gpus(&v), v.kind = VALUE_FILE; return v;
    case HD_TAKES_WARNINGS: add_warnings(cli, &v); return v;
    case HD_TAKES_PLUGINS:
    case HD_TAKES_PATH:
    case HD_TAKES_FILE: v.kind = VALUE_FILE; break;
    case HD_TAKES_FLAG:
    case HD_TAKES_WORDS:
    case HD_TAKES_NUMBER:
    case HD_TAKES_LIMIT:
    case HD_TAKES_THREADS:
    case HD_TAKES_BYTES:
    case HD_TAKES_ADDRESS:
    case HD_TAKES_RANGE:
    case HD_TAKES_TEXT:
    case HD_TAKES_NAME:
    case HD_TAKES_SETTINGS:
    case HD_TAKES_COUNT: break;
    }
    add_alternatives(cli, &v, argument + (*argument == '['));
    if (!v.words.count && v.kind != VALUE_FILE)
        v.kind = VALUE_NONE;
    return v;
}

/* Whether each time that the option is given counts. */
static bool is_repeated(hd_option_id option)
{
    hd_option_takes kind = hd_option_settings[option].value.kind;
    return kind == HD_TAKES_SETTINGS || kind == HD_TAKES_PLUGINS || kind == HD_TAKES_WARNINGS;
}

/* What completes the command's operands: the words of its row where it has some ("passes|gpus"), else files. */
static values operands_of(hd_cli *cli, hd_command command)
{
    values v = {.kind = VALUE_WORDS};
    if (command == HD_COMMAND_HELP)
        add_commands(&v);
    else
        add_alternatives(cli, &v, hd_cli_commands[command].operands);
    if (!v.words.count)
        v.kind = VALUE_FILE;
    return v;
}

static bool takes(int command, int option) { return hd_cli_options[option].commands >> command & 1; }

/* In single quotes of a shell, where neither backslash nor quote is special in `with`. */
static void print_quoted(const char *text, const char *escaped)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr(escaped, *text))
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void print_words(const values *v, char between)
{
    for (uint32_t i = 0; i < v->words.count; i++)
        printf("%s%.*s", v->words.items[i], i + 1 < v->words.count, &between);
}

/* ---- bash -------------------------------------------------------------------------------------------------------- */

static void print_bash_option(hd_cli *cli, int command, int option)
{
    const hd_cli_option_row *o = &hd_cli_options[option];
    const char *argument = hd_cli_argument((hd_command)command, (hd_option_id)option);
    if (!argument)
        return;
    values v = values_of(cli, (hd_option_id)option, argument);
    printf("    %s:", hd_cli_commands[command].name);
    if (o->letter)
        printf("-%c%s", o->letter, o->name ? "|" : "");
    if (o->letter && o->name)
        printf("%s:", hd_cli_commands[command].name);
    if (o->name)
        printf("%s%s", hd_cli_dashes(o->name), o->name);
    printf(") kind=%s words='", v.kind == VALUE_LIST ? "list" : v.kind == VALUE_FILE ? "file" : "words");
    print_words(&v, ' ');
    printf("' ;;\n");
    hd_array_free(&v.words);
}

static void print_bash_command(hd_cli *cli, int command)
{
    values v = operands_of(cli, (hd_command)command);
    printf("    %s)\n        options='", hd_cli_commands[command].name);
    for (int i = 0; i < HD_OPTION_COUNT; i++)
        if (takes(command, i)) {
            const hd_cli_option_row *o = &hd_cli_options[i];
            const char *argument = hd_cli_argument((hd_command)command, (hd_option_id)i);
            if (o->letter)
                printf("-%c ", o->letter);
            if (o->name)
                printf("%s%s%s ", hd_cli_dashes(o->name), o->name,
                       argument && !hd_cli_is_optional(o) && hd_cli_dashes(o->name)[1] ? "=" : "");
        }
    printf("'\n        kind=%s words='", v.kind == VALUE_FILE ? "file" : "words");
    print_words(&v, ' ');
    printf("' ;;\n");
    hd_array_free(&v.words);
}

/* Readline splits words at "=", so that "--gpu=x" is three of them. */
static void print_bash(hd_cli *cli)
{
    printf("# bash completion of heddle %s, as `heddle completion bash` prints it\n", HD_VERSION);
    fputs("_heddle_value()\n{\n    case $1 in\n", stdout);
    for (int c = 0; c < HD_COMMAND_COUNT; c++)
        for (int i = 0; i < HD_OPTION_COUNT; i++)
            if (takes(c, i))
                print_bash_option(cli, c, i);
    fputs("    *) return 1 ;;\n    esac\n}\n\n_heddle_command()\n{\n    case $1 in\n", stdout);
    for (int c = 0; c < HD_COMMAND_COUNT; c++)
        print_bash_command(cli, c);
    fputs("    *) return 1 ;;\n    esac\n}\n\n"
          "_heddle()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} at=$((COMP_CWORD - 1))\n"
          "    local kind= words= options= before=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -le 1 ]; then\n"
          "        words='",
          stdout);
    for (int c = 0; c < HD_COMMAND_COUNT; c++)
        printf("%s ", hd_cli_commands[c].name);
    fputs("--help --version'\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
          "        return\n"
          "    fi\n"
          "    if [ \"$cur\" = = ]; then\n"
          "        cur=\n"
          "    elif [ \"${COMP_WORDS[at]}\" = = ]; then\n"
          "        at=$((at - 1))\n"
          "    fi\n"
          "    if ! _heddle_value \"$command:${COMP_WORDS[at]}\"; then\n"
          "        _heddle_command \"$command\" || return\n"
          "        case $cur in -*) kind=words words=$options ;; esac\n"
          "    fi\n"
          "    case $kind:$cur in list:*,*) before=${cur%,*}, cur=${cur##*,} ;; esac\n"
          "    mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$words\" -- \"$cur\")\n"
          "    if [ \"$kind\" = file ]; then\n"
          "        compopt -o filenames 2>/dev/null\n"
          "        mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\")\n"
          "    fi\n"
          "    case ${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac\n"
          "    [ \"$kind\" != list ] || compopt -o nospace 2>/dev/null\n"
          "}\n"
          "complete -F _heddle heddle\n",
          stdout);
}

/* ---- zsh --------------------------------------------------------------------------------------------------------- */

static void print_zsh_action(const values *v)
{
    if (v->kind == VALUE_FILE && !v->words.count)
        printf("_files");
    else if (v->kind == VALUE_FILE) {
        printf("{ compadd ");
        print_words(v, ' ');
        printf("; _files }");
    } else if (v->kind == VALUE_LIST) {
        printf("_values -s , value ");
        print_words(v, ' ');
    } else if (v->kind == VALUE_WORDS) {
        printf("(");
        print_words(v, ' ');
        printf(")");
    } else
        printf(" ");
}

static void print_zsh_spelling(hd_cli *cli, int command, int option, const char *spelling, const char *joint)
{
    const hd_cli_option_row *o = &hd_cli_options[option];
    const char *argument = hd_cli_argument((hd_command)command, (hd_option_id)option);
    printf("            %s'%s%s[", is_repeated((hd_option_id)option) ? "\\*" : "", spelling, argument ? joint : "");
    for (const char *p = o->help; *p; p++) {
        if (strchr("[]:\\", *p))
            putchar('\\');
        fputs(*p == '\'' ? "'\\''" : (char[]){*p, '\0'}, stdout);
    }
    printf("]");
    if (argument) {
        values v = values_of(cli, (hd_option_id)option, argument);
        printf(":%s:", v.kind == VALUE_FILE ? "file" : "value");
        print_zsh_action(&v);
        hd_array_free(&v.words);
    }
    printf("' \\\n");
}

static void print_zsh_command(hd_cli *cli, int command)
{
    values v = operands_of(cli, (hd_command)command);
    printf("    %s)\n        _arguments -s -S \\\n", hd_cli_commands[command].name);
    for (int i = 0; i < HD_OPTION_COUNT; i++) {
        const hd_cli_option_row *o = &hd_cli_options[i];
        char spelling[64];
        if (!takes(command, i))
            continue;
        if (o->letter) {
            snprintf(spelling, sizeof spelling, "-%c", o->letter);
            print_zsh_spelling(cli, command, i, spelling, "+");
        }
        if (o->name) {
            bool two = hd_cli_dashes(o->name)[1];
            snprintf(spelling, sizeof spelling, "%s%s", hd_cli_dashes(o->name), o->name);
            print_zsh_spelling(cli, command, i, spelling, !two ? "" : hd_cli_is_optional(o) ? "=-" : "=");
        }
    }
    printf("            '*:%s:", v.kind == VALUE_FILE ? "file" : "name");
    print_zsh_action(&v);
    printf("' ;;\n");
    hd_array_free(&v.words);
}

static void print_zsh(hd_cli *cli)
{
    printf("#compdef heddle\n# zsh completion of heddle %s, as `heddle completion zsh` prints it\n", HD_VERSION);
    fputs("_heddle() {\n    local -a commands\n    commands=(\n", stdout);
    for (int c = 0; c < HD_COMMAND_COUNT; c++) {
        printf("        %s:", hd_cli_commands[c].name);
        print_quoted(hd_cli_commands[c].summary, "");
        putchar('\n');
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    local command=$words[2]\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $command in\n",
          stdout);
    for (int c = 0; c < HD_COMMAND_COUNT; c++)
        print_zsh_command(cli, c);
    fputs("    esac\n}\n\n_heddle \"$@\"\n", stdout);
}

/* ---- fish -------------------------------------------------------------------------------------------------------- */

static void print_fish_option(hd_cli *cli, int command, int option)
{
    const hd_cli_option_row *o = &hd_cli_options[option];
    const char *argument = hd_cli_argument((hd_command)command, (hd_option_id)option);
    printf("complete -c heddle -n '__fish_seen_subcommand_from %s'", hd_cli_commands[command].name);
    if (o->letter)
        printf(" -s %c", o->letter);
    if (o->name)
        printf(" %s %s", hd_cli_dashes(o->name)[1] ? "-l" : "-o", o->name);
    if (argument) {
        values v = values_of(cli, (hd_option_id)option, argument);
        printf("%s%s", hd_cli_is_optional(o) ? "" : v.kind == VALUE_FILE ? " -r" : " -x", v.words.count ? " -a '" : "");
        print_words(&v, ' ');
        printf("%s", v.words.count ? "'" : "");
        hd_array_free(&v.words);
    }
    printf(" -d ");
    print_quoted(o->help, "\\");
    putchar('\n');
}

static void print_fish(hd_cli *cli)
{
    printf("# fish completion of heddle %s, as `heddle completion fish` prints it\n", HD_VERSION);
    for (int c = 0; c < HD_COMMAND_COUNT; c++) {
        printf("complete -c heddle -n __fish_use_subcommand -f -a %s -d ", hd_cli_commands[c].name);
        print_quoted(hd_cli_commands[c].summary, "\\");
        putchar('\n');
    }
    for (int c = 0; c < HD_COMMAND_COUNT; c++) {
        values v = operands_of(cli, (hd_command)c);
        if (v.words.count) {
            printf("complete -c heddle -n '__fish_seen_subcommand_from %s' -f -a '", hd_cli_commands[c].name);
            print_words(&v, ' ');
            printf("'\n");
        }
        hd_array_free(&v.words);
        for (int i = 0; i < HD_OPTION_COUNT; i++)
            if (takes(c, i))
                print_fish_option(cli, c, i);
    }
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

int hd_cli_completion(hd_cli *cli)
{
    static const struct {
        const char *name;
        void (*print)(hd_cli *cli);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t s = 0; s < sizeof shells / sizeof *shells; s++)
        if (strcmp(cli->operands[0], shells[s].name) == 0) {
            shells[s].print(cli);
            return HD_STATUS_DONE;
        }
    hd_cli_usage_error("there is no completion for '%s'; there is one for bash, zsh and fish", cli->operands[0]);
    return HD_STATUS_USAGE;
}
