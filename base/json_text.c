/* JSON in place: see json_text.h. */
#include "base/json_text.h"

#include <string.h>

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static uint32_t statement_end(const char *text, uint32_t at, uint32_t end)
{
    static const char word[] = ".heddle";
    uint32_t length = (uint32_t)strlen(word), stop = at + length;
    if (end - at <= length || memcmp(text + at, word, length) != 0)
        return at;
    while (stop < end && text[stop] != ';' && !hd_is_line_end(text[stop]))
        stop++;
    return stop < end && text[stop] == ';' ? stop + 1 : at;
}

uint32_t hd_json_skip(const char *text, uint32_t at, uint32_t end)
{
    for (uint32_t before = HD_JSON_NONE; at != before && at < end;) {
        before = at;
        at = hd_after_comment(text, hd_after_spaces(text, at, end), end);
        at = at < end ? statement_end(text, at, end) : at;
    }
    return at;
}

uint32_t hd_json_string_end(const char *text, uint32_t at, uint32_t end)
{
    if (at >= end || text[at] != '"')
        return HD_JSON_NONE;
    for (at++; at < end && text[at] != '"'; at++) {
        at += text[at] == '\\';
        if (at < end && (unsigned char)text[at] < ' ') /* a string ends on its line */
            return HD_JSON_NONE;
    }
    return at < end ? at + 1 : HD_JSON_NONE;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '+' ||
           c == '.';
}

/* The end of an object or an array. */
static uint32_t nested_end(const char *text, uint32_t at, uint32_t end)
{
    uint32_t depth = 0;
    while (at < end) {
        char c = text[at];
        if (c == '"') {
            at = hd_json_string_end(text, at, end);
            if (at == HD_JSON_NONE)
                return HD_JSON_NONE;
            continue;
        }
        uint32_t next = hd_after_comment(text, at, end);
        at = next > at ? next : at + 1;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (!depth)
            return at;
    }
    return HD_JSON_NONE;
}

/* HD_JSON_NONE: it is not closed, or there is none. */
static uint32_t value_end(const char *text, uint32_t at, uint32_t end)
{
    uint32_t first = at;
    if (at < end && text[at] == '"')
        return hd_json_string_end(text, at, end);
    if (at < end && (text[at] == '{' || text[at] == '['))
        return nested_end(text, at, end);
    while (at < end && is_plain(text[at]))
        at++;
    return at > first ? at : HD_JSON_NONE;
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

void hd_json_walk_start(hd_json_walk *walk, const char *text, hd_span object)
{
    *walk = (hd_json_walk){.text = text, .at = object.begin + 1, .end = object.end};
}

bool hd_json_next_key(hd_json_walk *w)
{
    bool first = w->key.end == 0;
    w->at = hd_json_skip(w->text, w->at, w->end);
    if (w->at < w->end && w->text[w->at] == '}') {
        w->at++;
        return false;
    }
    w->broken = true;
    if (!first) {
        if (w->at >= w->end || w->text[w->at] != ',')
            return false;
        w->at = hd_json_skip(w->text, w->at + 1, w->end);
    }
    uint32_t stop = hd_json_string_end(w->text, w->at, w->end);
    if (stop == HD_JSON_NONE)
        return false;
    w->key = (hd_span){w->at + 1, stop - 1};
    w->at = hd_json_skip(w->text, stop, w->end);
    if (w->at >= w->end || w->text[w->at] != ':')
        return false;
    w->at = hd_json_skip(w->text, w->at + 1, w->end);
    w->broken = false;
    return true;
}

bool hd_json_take_value(hd_json_walk *w)
{
    uint32_t stop = value_end(w->text, w->at, w->end);
    w->broken = stop == HD_JSON_NONE;
    if (w->broken)
        return false;
    w->value = (hd_span){w->at, stop};
    w->at = stop;
    return true;
}

bool hd_json_is_key(const hd_json_walk *w, const char *name)
{
    size_t length = strlen(name);
    return w->key.end - w->key.begin == length && memcmp(w->text + w->key.begin, name, length) == 0;
}

hd_span hd_json_content(const hd_json_walk *w)
{
    hd_span content = w->value;
    if (content.end - content.begin < 2 || w->text[content.begin] != '"')
        return (hd_span){content.begin, content.begin};
    content.begin++;
    content.end--;
    while (content.begin < content.end && hd_is_blank(w->text[content.begin]))
        content.begin++;
    while (content.end > content.begin && hd_is_blank(w->text[content.end - 1]))
        content.end--;
    return content;
}

hd_span hd_json_find_string(const char *text, hd_span object, const char *name)
{
    hd_json_walk walk;
    hd_json_walk_start(&walk, text, object);
    while (hd_json_next_key(&walk) && hd_json_take_value(&walk))
        if (hd_json_is_key(&walk, name))
            return hd_json_content(&walk);
    return (hd_span){object.begin, object.begin};
}
