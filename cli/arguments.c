/* @FILE: arguments out of a file, for command lines that are too long for the system. Files may name further files,
 * eight deep. What follows "--" stays as it is. */
#include "cli/cli.h"

#include <errno.h>

enum { DEEPEST_FILE = 8 };

HD_ARRAY_TYPE(words, char *);

/* The next word at *at into the arena, or NULL at the end. Quotes group, a backslash takes the next character. */
static char *next_word(hd_arena *arena, const char **at)
{
    const char *p = *at + strspn(*at, " \t\r\n");
    if (!*p)
        return NULL;
    char *word = hd_arena_alloc(arena, strlen(p) + 1), *out = word;
    for (char quote = '\0'; *p && (quote || !strchr(" \t\r\n", *p)); p++) {
        if (*p == quote)
            quote = '\0';
        else if (!quote && (*p == '"' || *p == '\''))
            quote = *p;
        else if (*p == '\\' && quote != '\'' && p[1])
            *out++ = *++p;
        else
            *out++ = *p;
    }
    *out = '\0';
    *at = p;
    return word;
}

static bool expand(hd_cli *cli, words *list, char *argument, uint32_t depth)
{
    if (argument[0] != '@' || !argument[1]) {
        hd_array_push(list, argument);
        return true;
    }
    hd_source source;
    if (depth == DEEPEST_FILE) {
        hd_report(&cli->diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0},
                  "'%s': argument files name each other too deep", argument);
        return false;
    }
    if (!hd_cli_read(cli, argument + 1, &source))
        return false;
    bool ok = true;
    const char *at = source.text;
    for (char *word; ok && (word = next_word(&cli->arena, &at));)
        ok = expand(cli, list, word, depth + 1);
    hd_source_free(&source);
    return ok;
}

char **hd_cli_expand(hd_cli *cli, int *count, char **arguments)
{
    words list = {0};
    bool ok = true;
    if (*count > 0)
        hd_array_push(&list, arguments[0]); /* the program */
    int i = 1;
    for (; i < *count && ok && strcmp(arguments[i], "--") != 0; i++)
        ok = expand(cli, &list, arguments[i], 0);
    for (; i < *count && ok; i++) /* of another program, or names that begin with @ */
        hd_array_push(&list, arguments[i]);
    hd_array_push(&list, (char *)NULL);
    char **copy = ok ? hd_arena_copy(&cli->arena, list.items, list.count * sizeof *list.items) : NULL;
    *count = (int)list.count - 1;
    hd_array_free(&list);
    return copy;
}
