/* See option_list.h. */
#include "base/option_list.h"

#include <ctype.h>

hd_span hd_option_span(const hd_option_cursor *cursor, const char *begin)
{
    uint32_t first = (uint32_t)(begin - cursor->text->text), last = (uint32_t)(cursor->at - cursor->text->text);
    return (hd_span){first, last > first ? last : first + 1};
}

void hd_option_skip_blanks(hd_option_cursor *cursor) { cursor->at += strspn(cursor->at, " \t\n"); }

bool hd_option_take(hd_option_cursor *cursor, char wanted)
{
    hd_option_skip_blanks(cursor);
    if (*cursor->at != wanted)
        return false;
    cursor->at++;
    return true;
}

const char *hd_option_word(hd_option_cursor *cursor, hd_arena *arena, const char **begin)
{
    hd_option_skip_blanks(cursor);
    *begin = cursor->at;
    while (isalnum((unsigned char)*cursor->at) || (*cursor->at && strchr("-_+.:", *cursor->at)))
        cursor->at++;
    return hd_arena_string(arena, *begin, (size_t)(cursor->at - *begin));
}

hd_option_item hd_option_read(hd_option_cursor *cursor, hd_arena *arena)
{
    hd_option_item item = {.value = NULL};
    const char *at;
    item.name = hd_option_word(cursor, arena, &item.begin);
    if (hd_option_take(cursor, '='))
        item.value = hd_option_word(cursor, arena, &at);
    return item;
}

const char *hd_option_find(const char *list, const char *key)
{
    size_t length = strlen(key);
    const char *found = NULL;
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, key, length) == 0 && (!at[length] || strchr("=,", at[length])))
            found = at + length;
    return found;
}
