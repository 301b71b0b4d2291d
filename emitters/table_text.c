/* See table_text.h. */
#include "emitters/table_text.h"

void hd_write_csv_text(hd_writer *w, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        hd_write_string(w, text);
        return;
    }
    hd_write_char(w, '"');
    for (; *text; text++) {
        if (*text == '"')
            hd_write_char(w, '"');
        hd_write_char(w, *text);
    }
    hd_write_char(w, '"');
}

void hd_write_latex_text(hd_writer *w, const char *text)
{
    for (; *text; text++)
        if (strchr("&%$#_{}", *text))
            hd_write_format(w, "\\%c", *text);
        else if (*text == '\\')
            hd_write_string(w, "\\textbackslash{}");
        else if (*text == '~' || *text == '^')
            hd_write_format(w, "\\%c{}", *text);
        else
            hd_write_char(w, *text);
}
