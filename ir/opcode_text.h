/* Finds the opcode's modifiers in an instruction's text, where extended annotations are inserted and removed. */
#ifndef HD_IR_OPCODE_TEXT_H
#define HD_IR_OPCODE_TEXT_H

#include "ir/annotations.h"

/* Iterates over `[@[!]p] opcode.mod.mod`: after start, each call of next gives one modifier with its dot; at the end
 * `opcode_end` is the end of the last one. */
typedef struct hd_opcode_text {
    const char *text; /* the whole source, followed by NUL bytes */
    uint32_t end;     /* of the instruction */
    uint32_t at, opcode_end;
} hd_opcode_text;
void hd_opcode_text_start(hd_opcode_text *walk, const char *text, hd_span instruction);
bool hd_opcode_text_next(hd_opcode_text *walk, hd_span *modifier);

/* The annotation kind that a modifier (".bow::boc", with its dot) denotes, or NULL. *value is the offset of the
 * value. */
const hd_annotation_info *hd_annotation_modifier(const char *text, size_t length, size_t *value);

/* Removes the annotation modifiers from `opcode.mod.mod`; writes the rest (at most `length` bytes) and returns its
 * length, which is `length` if there are none. */
size_t hd_annotation_modifiers_cut(const char *spelling, size_t length, char *rest);

#endif
