/* The operands of a machine instruction as its text has them. The IR keeps the registers that an instruction reads and
 * writes; what it computes also depends on signs, immediates, banks and offsets, which only the text holds. Private to
 * hwmodel/machine. */
#ifndef HD_HWMODEL_MACHINE_OPERANDS_H
#define HD_HWMODEL_MACHINE_OPERANDS_H

#include "ir/machine.h"

typedef enum hd_machine_operand_kind {
    HD_MACHINE_OPERAND_REGISTER, /* of any class; RZ, URZ, PT, UPT have the number HD_SASS_NO_NUMBER */
    HD_MACHINE_OPERAND_INTEGER,  /* `bits`: two's complement of 64 bits */
    HD_MACHINE_OPERAND_REAL,     /* `real` */
    HD_MACHINE_OPERAND_CONSTANT, /* c[bank][base+offset] */
    HD_MACHINE_OPERAND_ADDRESS,  /* [base+uniform+offset], perhaps after desc[..] */
    HD_MACHINE_OPERAND_WORD,     /* labels, special registers, PR, SB0 .. */
} hd_machine_operand_kind;

typedef struct hd_machine_operand {
    uint8_t kind;
    uint8_t class, number;                        /* of REGISTER */
    bool negative, absolute, complement, negated; /* -R, |R|, ~R, !P */
    bool wide;                                    /* .64 */
    uint8_t base, base_scale;                     /* CONSTANT, ADDRESS: R or HD_SASS_NO_NUMBER; multiplied by this */
    uint8_t uniform;                              /* CONSTANT, ADDRESS: UR or HD_SASS_NO_NUMBER */
    bool base_wide, base_narrow, uniform_wide;    /* .64, .U32 */
    uint32_t bank;
    int64_t offset;
    uint64_t bits;
    double real;
    const char *text; /* of the operand without its signs, or of a register's suffixes ("H0_H0"), not terminated */
    uint32_t length;
} hd_machine_operand;

enum { HD_MACHINE_OPERANDS = HD_SASS_OPERANDS };

typedef struct hd_machine_operands {
    hd_machine_operand items[HD_MACHINE_OPERANDS];
    uint32_t count;
} hd_machine_operands;

/* Reads the operands of an instruction's text, from the guard to the semicolon. false: one is in no known form. */
bool hd_machine_read_operands(const char *text, uint32_t length, hd_machine_operands *operands);
/* Whether the word, or the suffixes of the register, is, or has this part between dots or at its ends. */
bool hd_machine_operand_is(const hd_machine_operand *operand, const char *word);

#endif
