/* A source text with its name and, built on demand, its line table. Locations are byte offsets (texts have at most 4
 * GiB - 16 bytes). */
#ifndef HD_BASE_SOURCE_H
#define HD_BASE_SOURCE_H

#include "base/array.h"
#include <stdbool.h>

typedef struct hd_span {
    uint32_t begin, end; /* bytes [begin, end) of the text */
} hd_span;

typedef struct hd_position {
    uint32_t line, column; /* 1-based; the column counts bytes */
} hd_position;

typedef struct hd_source {
    const char *name; /* as the user gave it; "<stdin>" for -; owned */
    char *text;       /* `length` bytes, then at least 16 NUL bytes (scanners need no end test); owned */
    uint32_t length;
    hd_u32_array lines; /* offset of each line's first byte; empty until hd_source_position is called */
    /* ascending offsets; text from here to the next line end belongs to the file's previous line, because an
     * abbreviation was expanded */
    hd_u32_array joined;
    struct hd_origins *origins; /* base/origins.h; NULL: the text does not say where it comes from; owned */
} hd_source;

/* Reads a file ("-": standard input). Returns false with errno set if it cannot be read or is too long (EFBIG): over 4
 * GiB, or over 256 MiB for files that are not regular and may be endless. */
bool hd_source_read(hd_source *source, const char *path);
const char *hd_source_why(int error); /* describes the errno value */
/* Copies a text. */
void hd_source_from_memory(hd_source *source, const char *name, const char *text, size_t length);
/* Takes ownership of a text from malloc. */
void hd_source_from_array(hd_source *source, const char *name, char *text, size_t length);
void hd_source_rename(hd_source *source, const char *name);
void hd_source_free(hd_source *source);

hd_position hd_source_position(hd_source *source, uint32_t offset); /* CR, LF and CR LF are line ends */
hd_span hd_source_line(hd_source *source, uint32_t line);           /* without the line end */

/* Characters of texts; no locale. */
static inline bool hd_is_blank(char c) { return c == ' ' || c == '\t'; }
static inline bool hd_is_line_end(char c) { return c == '\n' || c == '\r'; }
static inline bool hd_is_space(char c) { return hd_is_blank(c) || hd_is_line_end(c); }

#endif
