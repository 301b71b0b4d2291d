/* Compiled operand signatures: private to ir/form.c, ir/syntax.c and ir/signature*.c.
 *
 * A form's signature is a list of candidates: alternative operand lists. A candidate's operands are rules in prefix
 * order, like operands: a vector, address, pair or list rule is followed by the rules of its elements.
 */
#ifndef HD_IR_SIGNATURE_H
#define HD_IR_SIGNATURE_H

#include "ir/form.h"

typedef enum hd_rule_kind {
    HD_RULE_SCALAR,
    HD_RULE_VECTOR,
    HD_RULE_ADDRESS,
    HD_RULE_BASE,
    HD_RULE_OBJECT,
    HD_RULE_PAIR,
    HD_RULE_LIST,
    HD_RULE_LABEL,
    HD_RULE_TABLE,
    HD_RULE_CALLEE
} hd_rule_kind;

enum { /* hd_rule.takes: what a scalar may be besides a register, and how it may be spelled */
       HD_TAKES_SIGNED = 1 << HD_LITERAL_SIGNED,
       HD_TAKES_UNSIGNED = 1 << HD_LITERAL_UNSIGNED,
       HD_TAKES_F32_BITS = 1 << HD_LITERAL_F32_BITS,
       HD_TAKES_F64_BITS = 1 << HD_LITERAL_F64_BITS,
       HD_TAKES_DECIMAL = 1 << HD_LITERAL_DECIMAL,
       HD_TAKES_INTEGER = HD_TAKES_SIGNED | HD_TAKES_UNSIGNED,
       HD_TAKES_FLOAT = HD_TAKES_F32_BITS | HD_TAKES_F64_BITS | HD_TAKES_DECIMAL,
       HD_TAKES_REGISTER = 1 << 5,
       HD_TAKES_SYMBOL = 1 << 6, /* a variable's name alone */
       HD_TAKES_OFFSET = 1 << 7, /* a variable with an offset */
       HD_TAKES_FUNCTION = 1 << 8,
       HD_TAKES_SREG = 1 << 9,
       HD_TAKES_SINK = 1 << 10,
       HD_TAKES_NOT = 1 << 11,
       HD_TAKES_MINUS = 1 << 12,
       HD_TAKES_SELECTOR = 1 << 13,
       HD_TAKES_BRACES = 1 << 14, /* a brace vector of one element is accepted for the element */
       HD_TAKES_WIDER = 1 << 15,  /* wider registers are accepted too: only for messages and special registers */
};

typedef struct hd_rule {
    uint64_t types; /* of registers: 1 << hd_type */
    uint16_t takes; /* HD_TAKES_* */
    uint8_t kind;   /* hd_rule_kind */
    uint8_t roles;  /* HD_OPERAND_DEF, HD_OPERAND_USE */
    uint8_t type;   /* expected hd_type; HD_TYPE_NONE: any */
    uint8_t optional;
    uint8_t size;      /* number of rules up to the next sibling */
    uint8_t low, high; /* VECTOR: elements */
    uint8_t indexed;   /* VECTOR: the first element is an integer index; ADDRESS: may be a subscript, g[1] */
    uint8_t padded;    /* VECTOR: coordinates, which may be padded to 2 or 4 elements, or be a scalar, as measured */
    uint8_t space; /* BASE and names: required hd_space of a variable; HD_SPACE_NONE: generic; HD_SPACE_COUNT: any */
} hd_rule;

typedef struct hd_candidate {
    uint16_t first, end; /* in rules */
} hd_candidate;

typedef struct hd_signature {
    const hd_candidate *candidates;
    const hd_rule *rules;
    uint32_t candidate_count;
} hd_signature;

/* The words of a form, matched with an alternative of a row's syntax. */
typedef struct hd_form_words {
    const char *text[64];
    uint8_t length[64];
    uint8_t type[64]; /* hd_type of the word, or HD_TYPE_NONE */
    uint32_t count;
} hd_form_words;

/* Matches a form's words with the alternatives of its row; sets the form's types, modifiers, vector, spaces and
 * signature, or its error. ir/syntax.c. */
void hd_form_match(hd_module *module, hd_form *form, const hd_form_words *words);

/* Compiles the operand part of an alternative (up to ';' or NUL); appends to rules. ir/syntax.c. */
HD_ARRAY_TYPE(hd_rule_array, hd_rule);
const char *hd_rules_compile(const hd_module *module, const hd_form *form, const char *text, hd_rule_array *rules);

#endif
