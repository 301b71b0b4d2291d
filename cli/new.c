/* heddle new: a plug-in to begin with, and what a compiler needs for one.
 *
 * The plug-in is the worked example of docs/adding-a-technique.md under another name: its files are built in, and each
 * "latch" in them is the name of the technique. */
#include "cli/cli.h"

#include "base/hash.h"
#include "driver/plugin/abi.h"
#include "driver/plugin/template.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_NAME = 32 };
static const char example[] = "latch", example_capital[] = "LATCH";

/* The program's own path, "heddle" where the system does not say. */
static const char *own_path(hd_cli *cli)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self);
    return length > 0 ? hd_arena_string(&cli->arena, self, (size_t)length) : "heddle";
}

/* ---- flags ------------------------------------------------------------------------------------------------------- */

/* Installed headers, else those of the tree in whose build folder the program is. NULL: reported. */
static const char *include_flags(hd_cli *cli)
{
    const char *self = own_path(cli), *slash = strrchr(self, '/'), *in = "/driver/plugin/plugin.h";
    int length = slash ? (int)(slash - self) : 0;
    const char *installed = hd_arena_printf(&cli->arena, "%.*s/../include/heddle/plugin", length, self),
               *tree = hd_arena_printf(&cli->arena, "%.*s/..", length, self);
    if (access(hd_arena_printf(&cli->arena, "%s%s", installed, in), R_OK) == 0)
        return hd_arena_printf(&cli->arena, "-I%s", installed);
    if (access(hd_arena_printf(&cli->arena, "%s%s", tree, in), R_OK) == 0)
        return hd_arena_printf(&cli->arena, "-I%s -I%.*s/gen", tree, length, self);
    hd_report(&cli->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0},
              "the headers for plug-ins are not installed: there is no '%s%s' (Debian: libheddle-dev)", installed, in);
    return NULL;
}

static int print_flags(hd_cli *cli)
{
    hd_output output;
    const char *include = include_flags(cli);
    if (!include || !hd_cli_open(cli, &output, NULL))
        return HD_STATUS_REJECTED;
    hd_write_format(&output.writer, "-std=c17 -D_GNU_SOURCE -DHD_PLANTED_FAULTS=1 -fPIC -fvisibility=hidden %s\n",
                    include);
    return hd_cli_close(cli, &output, true) ? HD_STATUS_DONE : HD_STATUS_REJECTED;
}

/* ---- a technique ------------------------------------------------------------------------------------------------- */

typedef struct plugin {
    hd_cli *cli;
    const char *name, *capital, *folder, *number;
} plugin;

/* An identifier of C, in small letters, that can stand in front of "_ops". */
static bool is_name(const char *name)
{
    size_t length = strlen(name);
    bool good = islower((unsigned char)*name) && length < LONGEST_NAME && !strstr(name, example);
    for (const char *c = name; *c; c++)
        good = good && (islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_');
    return good || strcmp(name, example) == 0;
}

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static void write_text(const plugin *p, hd_writer *to, const char *text)
{
    static const char heddle[] = "HEDDLE ?= heddle\n", number[] = "32768";
    while (*text) {
        if (starts(text, example)) {
            hd_write_string(to, p->name);
            text += sizeof example - 1;
        } else if (starts(text, example_capital)) {
            hd_write_string(to, p->capital);
            text += sizeof example_capital - 1;
        } else if (starts(text, number)) {
            hd_write_string(to, p->number);
            text += sizeof number - 1;
        } else if (starts(text, heddle)) {
            hd_write_format(to, "HEDDLE ?= %s\n", own_path(p->cli));
            text += sizeof heddle - 1;
        } else {
            hd_write_char(to, *text++);
        }
    }
}

static bool write_file(const plugin *p, const hd_template_file *file)
{
    hd_output output;
    bool named = starts(file->name, example);
    const char *path = hd_arena_printf(&p->cli->arena, "%s/%s%s", p->folder, named ? p->name : "",
                                       file->name + (named ? sizeof example - 1 : 0));
    if (!hd_cli_open(p->cli, &output, path))
        return false;
    write_text(p, &output.writer, file->text);
    return hd_cli_close(p->cli, &output, true);
}

static int write_technique(hd_cli *cli, const char *name)
{
    plugin p = {.cli = cli, .name = name, .folder = cli->values[HD_OPTION_OUTPUT]};
    if (!is_name(name)) {
        hd_cli_usage_error("the name of a technique is up to %d small letters, digits and '_', a letter first, without "
                           "'%s' in it; not '%s'",
                           LONGEST_NAME - 1, example, name);
        return HD_STATUS_USAGE;
    }
    p.folder = p.folder ? p.folder : name;
    char *capital = (char *)(uintptr_t)hd_arena_string(&cli->arena, name, strlen(name));
    p.capital = capital;
    for (char *c = capital; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    uint32_t range = HD_ANNOTATION_PLUGINS_END - HD_ANNOTATION_PLUGINS;
    uint32_t number = strcmp(name, example) == 0 ? 0 : (uint32_t)(hd_hash(name, strlen(name)) % range);
    p.number = hd_arena_printf(&cli->arena, "%u", HD_ANNOTATION_PLUGINS + number);
    if (mkdir(p.folder, 0777) != 0) {
        hd_report(&cli->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot make the folder '%s': %s",
                  p.folder, strerror(errno));
        return HD_STATUS_REJECTED;
    }
    bool good = true;
    for (uint32_t i = 0; i < hd_template_file_count && good; i++)
        good = write_file(&p, &hd_template_files[i]);
    return good ? HD_STATUS_DONE : HD_STATUS_REJECTED;
}

int hd_cli_new(hd_cli *cli)
{
    const char *what = cli->operands[0];
    if (strcmp(what, "flags") == 0 && cli->operand_count == 1)
        return print_flags(cli);
    if (strcmp(what, "technique") == 0 && cli->operand_count == 2)
        return write_technique(cli, cli->operands[1]);
    hd_cli_usage_error("usage: heddle new technique NAME [-o FOLDER], or heddle new flags");
    return HD_STATUS_USAGE;
}
