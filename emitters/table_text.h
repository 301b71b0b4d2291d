/* Texts in tables of other programs. */
#ifndef HD_EMITTERS_TABLE_TEXT_H
#define HD_EMITTERS_TABLE_TEXT_H

#include "base/writer.h"

void hd_write_csv_text(hd_writer *writer, const char *text); /* in quotes where it needs them (RFC 4180) */
void hd_write_latex_text(hd_writer *writer, const char *text);

#endif
