/* Forms: the meaning of `opcode.modifier.modifier`, decoded once per distinct spelling of a module.
 *
 * The rows of ir/ptx.def describe each opcode: operand roles and types, unit, memory and control behaviour, accepted
 * and required modifiers. ir/modifiers.def lists every modifier with its group. No other code of the toolkit interprets
 * opcodes.
 */
#ifndef HD_IR_FORM_H
#define HD_IR_FORM_H

#include "ir/ir.h"

typedef enum hd_opcode {
    HD_OP_UNKNOWN,
#define HD_OPCODE(id, ...) HD_OP_##id,
#include "ir/ptx.def"
#undef HD_OPCODE
    HD_OP_MACHINE, /* any opcode of machine code: see hd_form.machine */
    HD_OPCODE_COUNT
} hd_opcode;

/* Default execution unit; hd_form_unit() refines it by type. */
typedef enum hd_unit {
    HD_UNIT_NONE,
    HD_UNIT_INT,
    HD_UNIT_SP,
    HD_UNIT_DP,
    HD_UNIT_SFU,
    HD_UNIT_LDST,
    HD_UNIT_TEX,
    HD_UNIT_TENSOR,
    HD_UNIT_CTRL
} hd_unit;

enum {                             /* hd_opcode_info.behaviour */
       HD_BEHAVE_LOAD = 1 << 0,    /* reads memory */
       HD_BEHAVE_STORE = 1 << 1,   /* writes memory */
       HD_BEHAVE_ATOMIC = 1 << 2,  /* both, indivisibly */
       HD_BEHAVE_BARRIER = 1 << 3, /* an atomic read and write */
       /* lanes of a warp exchange values or synchronize (shfl, vote, match, redux, bar.warp, matrix) */
       HD_BEHAVE_WARP = 1 << 4,
       HD_BEHAVE_FENCE = 1 << 5,  /* orders memory */
       HD_BEHAVE_BRANCH = 1 << 6, /* bra, brx.idx */
       HD_BEHAVE_CALL = 1 << 7,
       HD_BEHAVE_RETURN = 1 << 8, /* ret */
       HD_BEHAVE_EXIT = 1 << 9,   /* exit */
       HD_BEHAVE_TRAP = 1 << 10,  /* trap: ends the kernel */
       HD_BEHAVE_ASYNC = 1 << 11, /* asynchronous: takes effect later (cp.async ...) */
       /* the result differs between lanes even for equal operands (clock, laneid: see sregs.def; elect, atomics,
        * shuffles) */
       HD_BEHAVE_DIVERGENT = 1 << 12,
       HD_BEHAVE_TEXTURE = 1 << 13,  /* texture or surface path */
       HD_BEHAVE_VOLATILE = 1 << 14, /* must be neither removed nor moved */
       HD_BEHAVE_YIELD = 1 << 15,    /* lanes may wait here while other lanes of the warp execute other code */
       /* lanes wait here for lanes of another side of a branch, and read their operands afterwards */
       HD_BEHAVE_MEET = 1 << 16,
};

/* Groups of modifiers; a form holds at most one of each group except types (hd_form.types) and extras. The first
 * enumerator of each group is 0 = absent; the values are in ir/modifiers.def. */
typedef enum hd_modifier_group {
#define HD_MODIFIER_GROUP(id, summary) HD_GROUP_##id,
#define HD_MODIFIER(group, id, spelling)
#include "ir/modifiers.def"
#undef HD_MODIFIER_GROUP
#undef HD_MODIFIER
    HD_MODIFIER_GROUP_COUNT
} hd_modifier_group;

/* HD_MOD_<GROUP>_<ID>: one enumeration over all modifiers; the value 0 is none. */
typedef enum hd_modifier {
    HD_MOD_NONE,
#define HD_MODIFIER_GROUP(id, summary)
#define HD_MODIFIER(group, id, spelling) HD_MOD_##group##_##id,
#include "ir/modifiers.def"
#undef HD_MODIFIER_GROUP
#undef HD_MODIFIER
    HD_MODIFIER_COUNT
} hd_modifier;

enum { HD_FORM_TYPES = 6 };

enum { /* hd_form.flags */
       HD_FORM_UNKNOWN_OPCODE = 1,
       HD_FORM_UNKNOWN_MODIFIER = 2,
       HD_FORM_WRITES_CARRY = 4, /* .cc */
       HD_FORM_READS_CARRY = 8,  /* addc, subc, madc */
       HD_FORM_INVALID = 16,     /* invalid: each use is reported, see `error` */
       /* all words are known, but no row of the table has them together */
       HD_FORM_UNKNOWN_COMBINATION = 32,
       /* not described by the table: kept as spelled, with HD_INSN_OPAQUE */
       HD_FORM_OPAQUE = HD_FORM_UNKNOWN_OPCODE | HD_FORM_UNKNOWN_MODIFIER | HD_FORM_UNKNOWN_COMBINATION,
};

typedef struct hd_form {
    hd_name spelling; /* opcode.modifiers as spelled, without blanks */
    uint16_t opcode;  /* hd_opcode */
    uint8_t flags, type_count;
    uint8_t types[HD_FORM_TYPES];                /* hd_type, in order of spelling */
    uint8_t vector;                              /* .v2 .v4 .v8: 2 4 8; else 1 */
    uint8_t space, space2;                       /* hd_space of the (first, second) space modifier */
    uint16_t modifiers[HD_MODIFIER_GROUP_COUNT]; /* hd_modifier by group, 0 = absent */
    uint32_t behaviour;                          /* HD_BEHAVE_* after refinement by modifiers */
    const struct hd_signature *signature;        /* compiled operand rules, in the module's arena; ir/signature.h */
    const char *error;                           /* invalid, or an unknown combination: why */
    uint16_t error_kind;                         /* hd_diagnostic_kind of `error` */
    const struct hd_machine_form *machine;       /* machine code; NULL: PTX; ir/machine.h */
} hd_form;

typedef struct hd_opcode_info {
    const char *name; /* "add", "ld", "shfl" */
    uint32_t behaviour;
    uint8_t unit, introduced; /* introduced: PTX version times ten */
    uint16_t target;          /* first sm_ */
    const char *syntax;       /* modifiers, types and operands; see the head of ir/ptx.def */
} hd_opcode_info;
extern const hd_opcode_info hd_opcodes[HD_OPCODE_COUNT];

/* The form of a spelling: decoded at the first call, then found in module->form_of_name. Never fails: flags mark
 * unknown opcodes and modifiers, and combinations that ptxas rejects. */
uint32_t hd_form_of(hd_module *module, hd_name spelling);
hd_unit hd_form_unit(const hd_form *form);

const char *hd_modifier_spelling(hd_modifier modifier);       /* without the dot; "" for HD_MOD_NONE */
hd_modifier_group hd_modifier_group_of(hd_modifier modifier); /* of a modifier other than HD_MOD_NONE */

/* Assigns each operand of an instruction its role (DEF, USE), appends implicit operands (%CC), and checks count, kinds,
 * types and widths. Reports errors at the operand and returns false. The operands must be the last ones of
 * function->operands. Labels and functions must be resolved, or HD_OPERAND_NAME (forward labels, which the caller
 * resolves later). */
bool hd_insn_resolve(hd_function *function, hd_instruction *insn);
/* Whether these operands (flat, without implicit ones) match a known form; assigns their roles, reports nothing. Not
 * for calls, which depend on their callee. */
bool hd_form_accepts(const hd_function *function, const hd_form *form, hd_operand *operands, uint32_t count);

/* The meaning of a bare identifier in top-level operand `position` (from 0) of this form, if it names no register,
 * symbol or special register: a label or table (true), or undeclared (false). */
bool hd_form_takes_label(const hd_module *module, uint32_t form, uint32_t position);

static inline const hd_form *hd_insn_form(const hd_function *f, const hd_instruction *i)
{
    return f->module->forms.items + i->form;
}

#endif
