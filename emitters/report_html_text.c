/* Texts and columns of numbers in the HTML report: see report_page.h. Linear. */
#include "emitters/report_page.h"

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

void page_member(hd_writer *writer, const char *key, const char *text)
{
    hd_write_format(writer, "\"%s\":", key);
    if (text)
        page_string(writer, text, strlen(text));
    else
        hd_write_string(writer, "null");
    hd_write_char(writer, ',');
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

void page_column(hd_writer *writer, const char *key) { hd_write_format(writer, "\"%s\":\"", key); }

void page_unsigned(hd_writer *writer, uint64_t value)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (; value > 31; value >>= 5)
        hd_write_char(writer, digits[32 | (value & 31)]);
    hd_write_char(writer, digits[value]);
}

void page_signed(hd_writer *writer, int64_t value)
{
    page_unsigned(writer, value < 0 ? (uint64_t)-value << 1 | 1 : (uint64_t)value << 1);
}

void page_column_end(hd_writer *writer) { hd_write(writer, "\",", 2); }

/* ---- files ------------------------------------------------------------------------------------------------------- */

static uint32_t add_name(page_files *files, const char *name)
{
    for (uint32_t i = files->module_first; i < files->names.count; i++)
        if (!strcmp(files->names.items[i], name))
            return i;
    hd_array_push(&files->names, name);
    return files->names.count - 1;
}

/* A mention mostly equals the previous one, or one of few. */
uint32_t page_file(page_files *files, const char *name)
{
    if (!name)
        return HD_REPORT_NONE;
    if (files->last < files->mentions.count && files->mentions.items[files->last] == name)
        return files->of_mention.items[files->last];
    for (files->last = 0; files->last < files->mentions.count; files->last++)
        if (files->mentions.items[files->last] == name)
            return files->of_mention.items[files->last];
    hd_array_push(&files->mentions, name);
    hd_array_push(&files->of_mention, add_name(files, name));
    return files->of_mention.items[files->last];
}

void page_files_free(page_files *files)
{
    hd_array_free(&files->names);
    hd_array_free(&files->mentions);
    hd_array_free(&files->of_mention);
}
