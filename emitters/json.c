/* Streaming JSON: see json.h. */
#include "emitters/json.h"

#include <math.h>

/* Length of the UTF-8 sequence at `at`, or 0. */
static size_t sequence(const unsigned char *at, size_t left)
{
    size_t length = at[0] < 0x80                    ? 1
                    : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                    : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                    : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                                    : 0;
    if (!length || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool outside = (at[0] == 0xed && at[1] >= 0xa0) || (at[0] == 0xf4 && at[1] >= 0x90);
    return overlong || outside ? 0 : length;
}

bool hd_json_is_utf8(const char *text)
{
    for (size_t length = strlen(text), bytes; length; text += bytes, length -= bytes)
        if (!(bytes = sequence((const unsigned char *)text, length)))
            return false;
    return true;
}

void hd_json_quote(hd_writer *w, const char *text, size_t length)
{
    hd_write_char(w, '"');
    for (size_t i = 0; i < length;) {
        const unsigned char *at = (const unsigned char *)text + i;
        size_t plain = i;
        while (plain < length && text[plain] >= ' ' && text[plain] < 0x7f && text[plain] != '"' && text[plain] != '\\')
            plain++;
        if (plain > i) {
            hd_write(w, text + i, plain - i);
            i = plain;
            continue;
        }
        size_t bytes = sequence(at, length - i);
        if (bytes == 1 && (*at == '"' || *at == '\\'))
            hd_write_format(w, "\\%c", *at);
        else if (bytes == 1)
            hd_write_format(w, "\\u%04x", *at);
        else if (bytes)
            hd_write(w, text + i, bytes);
        else
            hd_write_string(w, "\xef\xbf\xbd");
        i += bytes ? bytes : 1;
    }
    hd_write_char(w, '"');
}

static void begin_member(hd_json *j, const char *key)
{
    bool in_line = j->compact && j->depth >= j->compact;
    if (j->depth) {
        if (j->begun[j->depth - 1])
            hd_write_string(j->out, in_line ? ", " : ",");
        j->begun[j->depth - 1] = true;
        if (!in_line) {
            hd_write_char(j->out, '\n');
            for (uint32_t i = 0; i < j->depth; i++)
                hd_write_string(j->out, "  ");
        }
    }
    if (key) {
        hd_json_quote(j->out, key, strlen(key));
        hd_write_string(j->out, ": ");
    }
}

static void open_level(hd_json *j, const char *key, char opener, char closer, bool compact)
{
    begin_member(j, key);
    hd_write_char(j->out, opener);
    j->closers[j->depth] = closer;
    j->begun[j->depth++] = false;
    if (compact && !j->compact)
        j->compact = j->depth;
}

void hd_json_object(hd_json *j, const char *key) { open_level(j, key, '{', '}', false); }
void hd_json_array(hd_json *j, const char *key) { open_level(j, key, '[', ']', false); }
void hd_json_compact_object(hd_json *j, const char *key) { open_level(j, key, '{', '}', true); }
void hd_json_compact_array(hd_json *j, const char *key) { open_level(j, key, '[', ']', true); }

void hd_json_end(hd_json *j)
{
    bool in_line = j->compact && j->depth >= j->compact;
    if (j->compact == j->depth)
        j->compact = 0;
    j->depth--;
    if (j->begun[j->depth] && !in_line) {
        hd_write_char(j->out, '\n');
        for (uint32_t i = 0; i < j->depth; i++)
            hd_write_string(j->out, "  ");
    }
    hd_write_char(j->out, j->closers[j->depth]);
    if (!j->depth)
        hd_write_char(j->out, '\n');
}

void hd_json_text(hd_json *j, const char *key, const char *text)
{
    begin_member(j, key);
    if (text)
        hd_json_quote(j->out, text, strlen(text));
    else
        hd_write_string(j->out, "null");
}

void hd_json_number(hd_json *j, const char *key, uint64_t value)
{
    bool exact = value <= HD_JSON_EXACT; /* for readers that keep numbers as doubles */
    begin_member(j, key);
    if (!exact)
        hd_write_char(j->out, '"');
    hd_write_u64(j->out, value);
    if (!exact)
        hd_write_char(j->out, '"');
}

void hd_json_real(hd_json *j, const char *key, double value)
{
    begin_member(j, key);
    if (isfinite(value))
        hd_write_format(j->out, "%.9g", value);
    else
        hd_write_string(j->out, "null");
}

void hd_json_bool(hd_json *j, const char *key, bool value)
{
    begin_member(j, key);
    hd_write_string(j->out, value ? "true" : "false");
}

void hd_json_null(hd_json *j, const char *key)
{
    begin_member(j, key);
    hd_write_string(j->out, "null");
}
