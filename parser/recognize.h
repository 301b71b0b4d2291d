/* Recognizes files of other kinds given as PTX or launch files: binaries by magic bytes, texts by their first words. */
#ifndef HD_PARSER_RECOGNIZE_H
#define HD_PARSER_RECOGNIZE_H

#include "base/diagnostics.h"

/* Reports not-ptx, with advice, if the source is a known kind of file other than PTX. false: it may be PTX. Examines
 * only the beginning, after white space and comments. */
bool hd_refuse_foreign(hd_source *source, hd_diagnostics *diagnostics);

/* Whether the text is a listing of machine code, which hd_parse_sass reads. */
bool hd_is_sass(const hd_source *source);

/* Files that hold machine code, which tools of CUDA list. */
typedef enum hd_binary {
    HD_BINARY_NONE,
    HD_BINARY_CUBIN,
    HD_BINARY_OTHER, /* an object, a program, a fatbin, an archive */
} hd_binary;
hd_binary hd_binary_of(const hd_source *source);

/* "an object file", "a listing of machine code (SASS)": for messages; NULL if no kind is recognized. */
const char *hd_kind_name(const hd_source *source);

/* The same for launch files: reports not-launch-file, also for PTX. */
bool hd_refuse_foreign_launch(hd_source *source, hd_diagnostics *diagnostics);

#endif
