/* Shared declarations of the HTML report: encoding of its data. Private to emitters/report_html*.c.
 *
 * Long columns of numbers are strings of base-64 digits (A-Z a-z 0-9 + /): five bits per digit, lowest first; the sixth
 * bit marks that more follow. A signed number is shifted left by one, with its sign in the lowest bit. Most columns
 * hold differences, so that most numbers take one character. emitters/report/data.js decodes them.
 */
#ifndef HD_EMITTERS_REPORT_PAGE_H
#define HD_EMITTERS_REPORT_PAGE_H

#include "emitters/page.h"
#include "emitters/report/report.h"

/* All files that positions name, in the order of first mention. */
typedef struct page_files {
    HD_ARRAY(const char *) names;    /* unique */
    HD_ARRAY(const char *) mentions; /* the distinct addresses of names in positions */
    HD_ARRAY(uint32_t) of_mention;   /* index in names */
    uint32_t last;                   /* the last mention queried */
    /* in names: the first of the module; two modules may use one name for different files */
    uint32_t module_first;
} page_files;
void page_files_free(page_files *files);
uint32_t page_file(page_files *files, const char *name); /* NULL: HD_REPORT_NONE */

void page_member(hd_writer *writer, const char *key, const char *text); /* "key":"text" or "key":null, and a comma */

/* A column begins with page_column and ends with page_column_end, which adds a comma. */
void page_column(hd_writer *writer, const char *key);
void page_unsigned(hd_writer *writer, uint64_t value);
void page_signed(hd_writer *writer, int64_t value);
void page_column_end(hd_writer *writer);

/* The <script> element of the data of one kernel, the number-th of the page. The following functions require a writer
 * to memory. */
void page_kernel(hd_writer *writer, const hd_report_module *report, uint32_t index, uint32_t number, hd_source *ptx,
                 page_files *files);
void page_code(hd_writer *writer, hd_source *ptx, const hd_report_kernel *kernel, page_files *files);
/* Those of the module's source texts: of long files, the lines mentioned in the report, with some context. */
void page_sources(hd_writer *writer, const hd_report_module *report, const page_files *files,
                  const hd_report_texts *texts);

#endif
