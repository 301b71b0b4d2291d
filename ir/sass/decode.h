/* Decodes machine code from Volta on (16 bytes an instruction) into the text that nvdisasm prints for it. The table is
 * ir/sass/encoding.def. */
#ifndef HD_IR_SASS_DECODE_H
#define HD_IR_SASS_DECODE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hd_sass_word {
    uint64_t low, high;
} hd_sass_word;

enum { HD_SASS_TEXT_BYTES = 256, HD_SASS_WORD_BYTES = 16, HD_SASS_FIRST_GENERATION = 70 };

typedef struct hd_sass_text {
    char guard[12];                /* "@!P0 ", or empty */
    char text[HD_SASS_TEXT_BYTES]; /* opcode and operands, without the semicolon */
    bool has_target;               /* the last operand is the address of code, which `text` leaves out */
    uint64_t target;               /* in bytes from the section's beginning, which may be outside of it */
    bool is_padding;               /* its control code has neither stall nor yield: nvdisasm writes "NOP;" */
} hd_sass_text;

/* The instruction at `address` (bytes from the section's beginning) for sm_<generation>. false: no row of the table
 * fits the word, or the word has bits that no field of the fitting row explains. */
bool hd_sass_decode(hd_sass_word word, uint32_t generation, uint64_t address, hd_sass_text *text);

/* Whether the table has rows for sm_<generation>. */
bool hd_sass_decodes(uint32_t generation);

/* The first row whose text does not follow the language of the table; NULL: all do. For tests. */
const char *hd_sass_encoding_mistake(void);

#endif
