/* Widths of operands: private to ir/sass*.c. */
#ifndef HD_IR_SASS_WIDTH_H
#define HD_IR_SASS_WIDTH_H

#include "ir/sass/sass.h"

/* The modifiers of an instruction: those of its opcode, and its word operands. */
typedef struct hd_sass_words {
    const char *text[48];
    uint8_t length[48];
    uint32_t count;
    uint32_t components; /* of a texture's mask */
} hd_sass_words;

bool hd_sass_words_have(const hd_sass_words *words, const char *name, size_t length);
/* Whether all of a row's widths are rules, for slots that the row has. */
bool hd_sass_widths_are_rules(const char *operands, const char *widths);
/* The same, and that the widths mention a vector of elements (F32x4) of more than one register among the modifiers of
 * an access. */
bool hd_sass_knows_widths(const hd_sass_row *row, const hd_sass_words *words);
/* The registers of a slot by a row's widths, which are rules. */
uint32_t hd_sass_width(const char *widths, const char *slot, size_t slot_length, const hd_sass_words *words);
/* The same of a matrix instruction, by its shape; `opcode` is the first word. */
uint32_t hd_sass_matrix_width(const char *opcode, const char *slot, size_t slot_length, const hd_sass_words *words);

#endif
