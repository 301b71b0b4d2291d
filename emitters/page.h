/* What HTML pages share: texts of users, the head with its content security policy, style.
 *
 * User texts (names, paths, PTX, source) may contain any byte. In markup they are escaped by page_text; in data, which
 * is in <script type="application/json"> elements, by hd_json_quote_in_page. Invalid UTF-8 becomes U+FFFD.
 */
#ifndef HD_EMITTERS_PAGE_H
#define HD_EMITTERS_PAGE_H

#include "emitters/json.h"

typedef struct hd_page_file {
    const char *name, *text;
    uint32_t length;
} hd_page_file;
extern const hd_page_file hd_page_files[]; /* of emitters/page/ and emitters/report/: .css and .js */
extern const uint32_t hd_page_file_count;

void page_text(hd_writer *writer, const char *text);

void page_file_text(hd_writer *writer, const char *name);
/* The document up to the text of its <title>; from there to rules of style, which the caller may add to; and the end of
 * <head>. The page may run scripts of its own where `scripts`; it loads nothing in any case. style: a file, after
 * base.css. */
void page_head(hd_writer *writer, bool scripts);
void page_head_style(hd_writer *writer, const char *style);
void page_head_end(hd_writer *writer);

#endif
