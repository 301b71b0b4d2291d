/* PTX text to IR. */
#ifndef HD_PARSER_PARSE_H
#define HD_PARSER_PARSE_H

#include "ir/ir.h"

typedef struct hd_parse_options {
    bool strict;             /* unknown opcodes and modifiers are errors */
    bool one_of_several;     /* a kernel that is asked for may be in another input */
    bool drop_stale;         /* annotations of a changed kernel are dropped with a warning */
    bool ignore_annotations; /* do not read comments and section */
    bool low_memory;         /* for a machine whose memory lies below 4 GB (hd_module.low_memory) */
    bool takes_listings;     /* a listing of machine code is read, too; else it is refused */
    uint32_t registers;      /* of machine code, per thread; refused for PTX. 0: as the listing says */
    bool locate_annotations; /* only locate annotations in the text, to remove them; do not interpret them */
} hd_parse_options;

/* Parses a module and reads its annotations. Takes ownership of the source. Always returns a module (free it with
 * hd_module_free), as complete as the text allows; errors are in the diagnostics. A module with reported errors must
 * not be rewritten or run. */
hd_module *hd_parse_ptx(hd_source *source, const hd_parse_options *options, hd_diagnostics *diagnostics);

/* Reads the annotations (comments `//@..` and `.section .heddle`) of a parsed module; called by hd_parse_ptx.
 * parser/annotations.c. */
bool hd_read_annotations(hd_module *module, const hd_parse_options *options);

/* XXH3-64 of a function's canonical tokens (no comments, .loc, .file, .section, no extended annotation modifiers), each
 * followed by one blank. Stored with annotations to detect stale ones. */
uint64_t hd_function_hash(const hd_function *function);

#endif
