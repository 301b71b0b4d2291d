/* What the decoder of machine code shares between its files: sass_decode.c has the table and its language,
 * sass_decode_operands.c operands. */
#ifndef HD_IR_SASS_DECODE_WORK_H
#define HD_IR_SASS_DECODE_WORK_H

#include "ir/sass/decode.h"

#include <stddef.h>

enum {
    HD_SASS_CONTROL_BIT = 105, /* the first bit of the control code */
    HD_SASS_REUSE_A = 122,
    HD_SASS_REUSE_B,
    HD_SASS_REUSE_C,
    HD_SASS_UNIFORM_BIT = 91, /* set where a uniform register is an operand */
};

typedef struct hd_sass_decoder {
    uint64_t word[2], seen[2]; /* the bits, and those that a field has read */
    uint32_t generation, form; /* form: bits 9 to 11 */
    bool is_uniform;           /* an instruction of the uniform datapath */
    bool fits, is_malformed;   /* the row and the word; the row is not in the language of the table */
    bool reads_all;            /* a test of the row: fields that follow one that does not fit are read, too */
    uint64_t address;
    size_t length;
    hd_sass_text *to;
} hd_sass_decoder;

/* The value of `count` bits from bit `at`; take marks them as explained. */
uint64_t hd_sass_peek(const hd_sass_decoder *d, unsigned at, unsigned count);
uint64_t hd_sass_take(hd_sass_decoder *d, unsigned at, unsigned count);
int64_t hd_sass_take_signed(hd_sass_decoder *d, unsigned at, unsigned count);

/* Append text. A text that is too long makes the row unfit. */
void hd_sass_put(hd_sass_decoder *d, const char *text);
void hd_sass_putf(hd_sass_decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hd_sass_put_signed(hd_sass_decoder *d, int64_t value);
/* "+0x10", "+-0x10"; nothing for 0, unless the offset is the whole address. */
void hd_sass_put_offset(hd_sass_decoder *d, int64_t value, bool is_all);

/* Operands, by the letters of the table. */
void hd_sass_put_register(hd_sass_decoder *d, unsigned at);
void hd_sass_put_uniform(hd_sass_decoder *d, unsigned at, unsigned add);
void hd_sass_put_predicate(hd_sass_decoder *d, const char *kind, uint64_t number);
void hd_sass_put_constant(hd_sass_decoder *d, unsigned offset_at, unsigned offset_bits, const char *between);
void hd_sass_put_slot(hd_sass_decoder *d, char slot, char type);
void hd_sass_put_global(hd_sass_decoder *d, char kind, unsigned uniform_at);
void hd_sass_put_local(hd_sass_decoder *d, char kind, unsigned uniform_at);
void hd_sass_put_copy_addresses(hd_sass_decoder *d);

#endif
