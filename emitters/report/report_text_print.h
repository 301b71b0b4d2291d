/* Shared by the parts of the report for the terminal. Private to emitters/report_text*.c. */
#ifndef HD_EMITTERS_REPORT_TEXT_PRINT_H
#define HD_EMITTERS_REPORT_TEXT_PRINT_H

#include "emitters/report/report.h"

enum { TEXT_LABEL_WIDTH = 12 };

typedef struct text_style {
    const char *strong, *dim, *good, *warn, *bad, *off;
} text_style;

typedef struct text_printer {
    hd_writer *w;
    const hd_report_module *report;
    const hd_report_kernel *k;
    const text_style *s;
    bool listing;
} text_printer;

/* The start of a line: with its label, or with none. */
static inline void text_label(text_printer *p, const char *text)
{
    hd_write_format(p->w, "  %s%-*s%s", p->s->strong, TEXT_LABEL_WIDTH, text, p->s->off);
}

static inline void text_more(text_printer *p) { hd_write_format(p->w, "  %-*s", TEXT_LABEL_WIDTH, ""); }

/* Whether the block size for the kernel's occupancy is assumed. */
static inline bool text_is_assumed(const hd_report_kernel *k) { return strcmp(k->block_from, "assumed") == 0; }
/* "a.cu:12, PTX line 40"; with the inlining locations. */
void text_position(hd_writer *w, const hd_report_position *position);
void text_occupancy(text_printer *p);
void text_trials(text_printer *p); /* nothing where nothing was tried */

/* These write the sections that only machine code has. */
void text_machine_registers(text_printer *p);
void text_machine_bound(text_printer *p); /* why the occupancy is an upper bound */
void text_machine_code(text_printer *p);
/* Writes PTX and its machine code side by side. */
void text_pair(text_printer *p);

#endif
