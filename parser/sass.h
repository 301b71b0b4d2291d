/* SASS text to IR. */
#ifndef HD_PARSER_SASS_H
#define HD_PARSER_SASS_H

#include "ir/machine.h"
#include "parser/parse.h"

/* Reads a listing into a new module; called by hd_parse_ptx where the text is one. Errors are in the diagnostics. */
void hd_parse_sass(hd_module *module, const hd_parse_options *options);

/* What one instruction reads and writes. */
typedef struct hd_sass_decoded {
    const hd_sass_row *row; /* unit, memory, control; NULL: the opcode or its operands are unknown */
    hd_sass_operands operands;
    uint8_t guard_class, guard_number; /* HD_SASS_NO_NUMBER: none, or always true */
    bool never;                        /* guarded by !PT */
} hd_sass_decoded;

/* Decodes the text of one instruction, `@P0 IMAD.WIDE R2, R0.reuse, 0x4, R2 ;` (the semicolon may be missing), for a
 * chip. The text must be followed by 16 readable bytes. false: it is malformed. Reads forms from, and adds them to,
 * `forms`, which may serve many calls for one module. */
bool hd_sass_decode(hd_module *forms, const char *text, size_t length, uint32_t sm, hd_sass_decoded *decoded);

#endif
