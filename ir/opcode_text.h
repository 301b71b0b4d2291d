/* Finds the opcode's modifiers in an instruction's text, where extended annotations are put in and taken out. */
#ifndef HD_IR_OPCODE_TEXT_H
#define HD_IR_OPCODE_TEXT_H

#include "ir/annotations.h"

/* Walks `[@[!]p] opcode.mod.mod`: after start, each next gives one modifier with its dot; at its end `opcode_end` is
 * after the last one. */
typedef struct hd_opcode_text {
    const char *text; /* of the whole source, with NUL bytes after */
    uint32_t at, opcode_end;
} hd_opcode_text;
void hd_opcode_text_start(hd_opcode_text *walk, const char *text, hd_span instruction);
bool hd_opcode_text_next(hd_opcode_text *walk, hd_span *modifier);

/* The kind that a modifier (".bow::boc", with its dot) annotates, or NULL: it is no annotation. `*value` is where the
 * value starts. */
const hd_annotation_info *hd_annotation_modifier(const char *text, size_t length, size_t *value);

/* Cuts the annotation modifiers off `opcode.mod.mod`; writes the rest (at most `length` bytes) and returns its length,
 * which is `length` where there are none. */
size_t hd_annotation_modifiers_cut(const char *spelling, size_t length, char *rest);

#endif
