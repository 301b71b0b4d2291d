/* Members and columns of numbers in the HTML report: see report_page.h. Linear. */
#include "emitters/report/report_page.h"

void page_member(hd_writer *writer, const char *key, const char *text)
{
    hd_write_format(writer, "\"%s\":", key);
    if (text)
        hd_json_quote_in_page(writer, text, strlen(text));
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
