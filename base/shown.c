/* See shown.h. */
#include "base/shown.h"

enum { ESCAPE = 0x1b };

/* The character at the beginning of a text, and its bytes; 0 bytes: no UTF-8. */
static uint32_t first_character(const unsigned char *text, size_t length, size_t *bytes)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = text[0] < 0x80   ? 1
                  : text[0] < 0xc2 ? 0
                  : text[0] < 0xe0 ? 2
                  : text[0] < 0xf0 ? 3
                  : text[0] < 0xf5 ? 4
                                   : 0;
    uint32_t c = size < 2 ? text[0] : text[0] & (0x7fu >> size);
    *bytes = 0;
    if (!size || size > length)
        return 0;
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (text[i] & 0x3f);
    }
    if (c < least[size] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *bytes = size;
    return c;
}

static bool is_steering(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void write_kept(hd_writer *to, const char *text, size_t length, const char *kept)
{
    size_t written = 0;
    for (size_t at = 0, bytes; at < length; at += bytes ? bytes : 1) {
        uint32_t c = first_character((const unsigned char *)text + at, length - at, &bytes);
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
