/* See shown.h. */
#include "base/shown.h"

#include "base/utf8.h"

enum { ESCAPE = 0x1b };

static bool is_steering(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void write_kept(hd_writer *to, const char *text, size_t length, const char *kept)
{
    size_t written = 0;
    for (size_t at = 0, bytes; at < length; at += bytes ? bytes : 1) {
        uint32_t c = 0;
        bytes = hd_utf8_bytes(text + at, length - at, &c);
        if (bytes && (!is_steering(c) || (c && c < 0x80 && strchr(kept, (int)c))))
            continue;
        hd_write(to, text + written, at - written);
        if (bytes > 1)
            hd_write_format(to, "<U+%04X>", c);
        else
            hd_write_format(to, "<%02X>", (unsigned char)text[at]);
        written = at + (bytes ? bytes : 1);
    }
    hd_write(to, text + written, length - written);
}

void hd_write_shown(hd_writer *to, const char *text, size_t length) { write_kept(to, text, length, "\n\t"); }

void hd_write_shown_in_line(hd_writer *to, const char *text) { write_kept(to, text, strlen(text), ""); }

void hd_write_shown_by(hd_writer *to, void (*emit)(hd_writer *to, const void *what, bool colour), const void *what,
                       bool colour)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    emit(&text, what, false);
    colour = colour && !memchr(text.buffer.items, ESCAPE, text.buffer.count);
    if (colour) {
        hd_array_clear(&text.buffer);
        emit(&text, what, true);
    }
    write_kept(to, text.buffer.items, text.buffer.count, colour ? "\n\t\33" : "\n\t");
    if (text.error && !to->error)
        to->error = text.error;
    hd_writer_free(&text);
}
