/* --help of a command, the overview, and heddle help. */
#include "cli/cli.h"

static void print_option(hd_command command, hd_option_id option)
{
    const hd_cli_option_row *o = &hd_cli_options[option];
    const char *argument = hd_cli_argument(command, option);
    char left[64];
    int n = snprintf(left, sizeof left, "  %c%c%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                     o->letter && o->name ? ", " : "  ");
    bool one_dash = o->name && !hd_cli_dashes(o->name)[1];
    const char *joint = !argument ? "" : one_dash ? " " : hd_cli_is_optional(o) ? "[=" : "=";
    if (o->name)
        n += snprintf(left + n, sizeof left - (size_t)n, "%s%s%s%s", hd_cli_dashes(o->name), o->name, joint,
                      argument ? argument + hd_cli_is_optional(o) : "");
    else if (argument)
        snprintf(left + n - 2, sizeof left - (size_t)n + 2, "%s", argument);
    printf("%-28s %s\n", left, o->help);
}

void hd_cli_print_help(hd_command command)
{
    const hd_cli_command *row = &hd_cli_commands[command];
    printf("usage: heddle %s [OPTIONS] %s\n%s\n\n", row->name, row->operands, row->summary);
    for (int i = 0; i < HD_OPTION_COUNT; i++)
        if (hd_cli_options[i].commands >> command & 1)
            print_option(command, (hd_option_id)i);
    printf("\nSee heddle-%s(1).\n", row->name);
}

void hd_cli_print_overview(FILE *to)
{
    fputs("usage: heddle COMMAND [OPTIONS] FILES\n"
          "A compiler pass toolkit over NVIDIA PTX with an embedded GPU hardware model.\n\n",
          to);
    for (uint32_t i = 0; i < HD_COMMAND_COUNT; i++)
        fprintf(to, "  %-10s %s\n", hd_cli_commands[i].name, hd_cli_commands[i].summary);
    fputs("\nheddle help COMMAND shows a command's options; heddle(1) is the manual.\n", to);
}

int hd_cli_help(hd_cli *cli)
{
    if (!cli->operand_count) {
        hd_cli_print_overview(stdout);
        return HD_STATUS_DONE;
    }
    int command = hd_cli_find_command(cli->operands[0]);
    if (command < 0)
        return HD_STATUS_USAGE;
    hd_cli_print_help((hd_command)command);
    return HD_STATUS_DONE;
}
