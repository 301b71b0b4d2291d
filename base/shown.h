/* Text for people, with names that come from files: what would steer a terminal, or turn the order of the text around,
 * is written visibly, as <1B> and <U+202E>. These are control characters (C0, DEL, C1), Unicode's bidirectional marks
 * and line separators, and bytes that are no UTF-8. Line ends stay, and tabulators. Linear. */
#ifndef HD_BASE_SHOWN_H
#define HD_BASE_SHOWN_H

#include "base/writer.h"

void hd_write_shown(hd_writer *to, const char *text, size_t length);
/* The same for a text in a line, in which there are no line ends. */
void hd_write_shown_in_line(hd_writer *to, const char *text);
/* What `emit` writes, with its own escape sequences where `colour` is set. It writes twice then: a text whose plain
 * form has escape sequences, too, is shown without colours. */
void hd_write_shown_by(hd_writer *to, void (*emit)(hd_writer *to, const void *what, bool colour), const void *what,
                       bool colour);

#endif
