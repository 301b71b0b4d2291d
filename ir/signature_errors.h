/* Mismatches of operands, and their messages: private to ir/signature*.c. */
#ifndef HD_IR_SIGNATURE_ERRORS_H
#define HD_IR_SIGNATURE_ERRORS_H

#include "ir/signature.h"

typedef enum hd_mismatch_kind {
    HD_MISMATCH_NONE,
    HD_MISMATCH_COUNT,
    HD_MISMATCH_KIND,
    HD_MISMATCH_TYPE,
    HD_MISMATCH_LITERAL,
    HD_MISMATCH_SREG,
    HD_MISMATCH_SINK,
    HD_MISMATCH_NOT,
    HD_MISMATCH_MINUS,
    HD_MISMATCH_SELECTOR,
    HD_MISMATCH_OFFSET,
    HD_MISMATCH_NO_VECTOR,
    HD_MISMATCH_LENGTH,
    HD_MISMATCH_NESTING,
    HD_MISMATCH_MIXED,
    HD_MISMATCH_SIZES,
    HD_MISMATCH_NO_ADDRESS,
    HD_MISMATCH_ADDRESS,
    HD_MISMATCH_ADDRESS_TYPE,
    HD_MISMATCH_NUMBER_ADDRESS,
    HD_MISMATCH_SPACE,
    HD_MISMATCH_OBJECT,
    HD_MISMATCH_NO_PAIR,
    HD_MISMATCH_NO_LIST,
    HD_MISMATCH_LABEL,
    HD_MISMATCH_TABLE,
    HD_MISMATCH_CALLEE,
} hd_mismatch_kind;

typedef struct hd_mismatch {
    hd_mismatch_kind kind;
    const hd_rule *rule;
    const hd_operand *operand; /* the end of the operands if one is missing */
    uint32_t candidate;
} hd_mismatch;

/* The text of an operand (from its first character to its end), or of the instruction if the operand has none. */
hd_span hd_operand_span(const hd_function *function, const hd_instruction *insn, const hd_operand *operand);

void hd_report_mismatch(hd_function *function, const hd_instruction *insn, const hd_form *form,
                        const hd_mismatch *mismatch);

/* Reports an unknown or invalid form at its instruction; false if that is an error. */
bool hd_report_form(hd_function *function, const hd_instruction *insn, const hd_form *form);

/* Checks a call against its callee or prototype: counts and sizes of results and arguments. Reports errors and returns
 * false. ir/calls.c */
bool hd_check_call(hd_function *function, const hd_instruction *insn);

#endif
