/* A source text with its name and, made on demand, its line table. Places are byte offsets (texts are at most 4 GiB -
 * 16). */
#ifndef HD_BASE_SOURCE_H
#define HD_BASE_SOURCE_H

#include "base/array.h"
#include <stdbool.h>

typedef struct hd_span {
    uint32_t begin, end; /* bytes [begin, end) of the text */
} hd_span;

typedef struct hd_position {
    uint32_t line, column; /* from 1; the column counts bytes */
} hd_position;

typedef struct hd_source {
    const char *name; /* as the user gave it; "<stdin>" for - ; owned */
    char *text;       /* `length` bytes and at least 16 NUL bytes after (scanners need no end test); owned */
    uint32_t length;
    hd_u32_array lines; /* offset of each line's first byte; empty until hd_source_position is asked */
    /* ascending; what begins here after a line end is in the file's line before: an abbreviation was written out */
    hd_u32_array joined;
} hd_source;

/* Reads a file ("-" is standard input). false with errno set where it cannot be read or is too long (EFBIG): over 4
 * GiB, or over 256 MiB of what is no regular file and may never end. */
bool hd_source_read(hd_source *source, const char *path);
const char *hd_source_why(int error); /* that errno in words */
/* Copies a text. */
void hd_source_from_memory(hd_source *source, const char *name, const char *text, size_t length);
void hd_source_free(hd_source *source);

hd_position hd_source_position(hd_source *source, uint32_t offset); /* CR, LF and CR LF end a line */
hd_span hd_source_line(hd_source *source, uint32_t line);           /* without its line end */

#endif
