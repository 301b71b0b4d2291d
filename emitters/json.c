/* Streaming JSON: see json.h. */
#include "emitters/json.h"

#include "base/utf8.h"

#include <math.h>
#include <stdio.h>

static void write_escape(hd_writer *w, unsigned char c, bool in_page)
{
    if (c == '"' || c == '\\')
        hd_write_format(w, "\\%c", c);
    else if (in_page && c == '\n')
        hd_write_string(w, "\\n");
    else
        hd_write_format(w, "\\u%04x", c);
}

static bool is_plain(char c, bool in_page)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && !(in_page && c == '<');
}

static void quote(hd_writer *w, const char *text, size_t length, bool in_page)
{
    hd_write_char(w, '"');
    for (size_t at = 0; at < length;) {
        size_t plain = at;
        while (plain < length && is_plain(text[plain], in_page))
            plain++;
        hd_write(w, text + at, plain - at);
        if ((at = plain) == length)
            break;
        size_t bytes = hd_utf8_bytes(text + at, length - at, NULL);
        if (bytes == 1)
            write_escape(w, (unsigned char)text[at], in_page);
        else if (bytes)
            hd_write(w, text + at, bytes);
        else
            hd_write_string(w, HD_UTF8_REPLACEMENT);
        at += bytes ? bytes : 1;
    }
    hd_write_char(w, '"');
}

void hd_json_quote_in_page(hd_writer *w, const char *text, size_t length) { quote(w, text, length, true); }

static void begin_member(hd_json *j, const char *key)
{
    bool in_line = j->compact && j->depth >= j->compact;
    if (j->depth) {
        if (j->begun[j->depth - 1])
            hd_write_string(j->out, in_line && !j->dense ? ", " : ",");
        j->begun[j->depth - 1] = true;
        if (!in_line) {
            hd_write_char(j->out, '\n');
            for (uint32_t i = 0; i < j->depth; i++)
                hd_write_string(j->out, "  ");
        }
    }
    if (key) {
        quote(j->out, key, strlen(key), false);
        hd_write_string(j->out, in_line && j->dense ? ":" : ": ");
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
    if (!j->depth && !j->dense)
        hd_write_char(j->out, '\n');
}

void hd_json_text(hd_json *j, const char *key, const char *text)
{
    if (text)
        hd_json_characters(j, key, text, strlen(text));
    else
        hd_json_null(j, key);
}

void hd_json_characters(hd_json *j, const char *key, const char *text, size_t length)
{
    begin_member(j, key);
    quote(j->out, text, length, false);
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

void hd_json_count(hd_json *j, const char *key, uint64_t count)
{
    if (count == UINT64_MAX)
        hd_json_null(j, key);
    else
        hd_json_number(j, key, count);
}

void hd_json_signed(hd_json *j, const char *key, int64_t value)
{
    begin_member(j, key);
    hd_write_format(j->out, "%lld", (long long)value);
}

void hd_json_real(hd_json *j, const char *key, double value)
{
    char text[32];
    begin_member(j, key);
    snprintf(text, sizeof text, j->long_reals ? "%.12g" : "%.9g", value);
    hd_write_string(j->out, isfinite(value) ? text : "null");
    if (isfinite(value) && !strpbrk(text, ".e"))
        hd_write_string(j->out, ".0");
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
