/* Texts, style and head of HTML pages: see page.h. Linear. */
#include "emitters/page.h"

#include "base/utf8.h"

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static void write_entity(hd_writer *w, unsigned char c)
{
    static const char *const entities[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    if (c < sizeof entities / sizeof *entities && entities[c])
        hd_write_string(w, entities[c]);
    else if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
        hd_write_string(w, HD_UTF8_REPLACEMENT);
    else
        hd_write_char(w, (char)c);
}

void page_text(hd_writer *writer, const char *text)
{
    for (size_t left = strlen(text), bytes; left; left -= bytes ? bytes : 1, text += bytes ? bytes : 1) {
        bytes = hd_utf8_bytes(text, left, NULL);
        if (!bytes)
            hd_write_string(writer, HD_UTF8_REPLACEMENT);
        else if (bytes == 1)
            write_entity(writer, (unsigned char)*text);
        else
            hd_write(writer, text, bytes);
    }
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

void page_head_style(hd_writer *writer, const char *style)
{
    hd_write_string(writer, "</title>\n<style>\n");
    page_file_text(writer, "base.css");
    page_file_text(writer, style);
}

void page_head_end(hd_writer *writer) { hd_write_string(writer, "</style>\n</head>\n"); }
