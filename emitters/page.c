/* Texts, style and head of HTML pages: see page.h. Linear. */
#include "emitters/page.h"

/* ---- UTF-8 ------------------------------------------------------------------------------------------------------- */

static bool is_tail(unsigned char c) { return (c & 0xc0) == 0x80; }

/* Length of the character at text, at most `most`; 0: invalid. */
static size_t character_bytes(const unsigned char *text, size_t most)
{
    unsigned char first = text[0];
    size_t bytes = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (bytes > most)
        return 0;
    for (size_t i = 1; i < bytes; i++)
        if (!is_tail(text[i]))
            return 0;
    bool overlong = (first == 0xe0 && text[1] < 0xa0) || (first == 0xf0 && text[1] < 0x90);
    bool surrogate = first == 0xed && text[1] > 0x9f, beyond = first == 0xf4 && text[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : bytes;
}

static const char replacement[] = "\xef\xbf\xbd";

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static void write_entity(hd_writer *w, unsigned char c)
{
    static const char *const entities[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    if (c < sizeof entities / sizeof *entities && entities[c])
        hd_write_string(w, entities[c]);
    else if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
        hd_write_string(w, replacement);
    else
        hd_write_char(w, (char)c);
}

void page_text(hd_writer *writer, const char *text)
{
    for (size_t left = strlen(text), bytes; left; left -= bytes ? bytes : 1, text += bytes ? bytes : 1) {
        bytes = character_bytes((const unsigned char *)text, left);
        if (!bytes)
            hd_write_string(writer, replacement);
        else if (bytes == 1)
            write_entity(writer, (unsigned char)*text);
        else
            hd_write(writer, text, bytes);
    }
}

static bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<'; }

static void write_escape(hd_writer *w, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    char code[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
    if (c == '\n')
        hd_write(w, "\\n", 2);
    else if (c == '"' || c == '\\')
        hd_write(w, (char[2]){'\\', (char)c}, 2);
    else
        hd_write(w, code, sizeof code);
}

/* The characters of a string, without its quotes. */
static void write_characters(hd_writer *w, const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        size_t run = at;
        while (run < length && is_plain((unsigned char)text[run]))
            run++;
        hd_write(w, text + at, run - at);
        if ((at = run) == length)
            break;
        size_t bytes = character_bytes((const unsigned char *)text + at, length - at);
        if (!bytes)
            hd_write_string(w, replacement);
        else if (bytes == 1)
            write_escape(w, (unsigned char)text[at]);
        else
            hd_write(w, text + at, bytes);
        at += bytes ? bytes : 1;
    }
}

void page_string(hd_writer *writer, const char *text, size_t length)
{
    hd_write_char(writer, '"');
    write_characters(writer, text, length);
    hd_write_char(writer, '"');
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

void page_file_text(hd_writer *writer, const char *name)
{
    for (uint32_t i = 0; i < hd_page_file_count; i++)
        if (!strcmp(hd_page_files[i].name, name))
            hd_write(writer, hd_page_files[i].text, hd_page_files[i].length);
}

void page_head(hd_writer *writer, bool scripts)
{
    hd_write_format(writer,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                    "'unsafe-inline'; %simg-src data:\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"
                    "<title>",
                    scripts ? "script-src 'unsafe-inline'; " : "");
}

void page_head_end(hd_writer *writer, const char *style)
{
    hd_write_string(writer, "</title>\n<style>\n");
    page_file_text(writer, "base.css");
    page_file_text(writer, style);
    hd_write_string(writer, "</style>\n</head>\n");
}
