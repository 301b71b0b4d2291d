/* Machine instructions (SASS): the table ir/sass/sass.def, and what an instruction reads and writes according to it.
 *
 * A form is the spelling `OPCODE.MOD.MOD` for one generation: the rows of the table that fit its modifiers, best
 * first. An instruction is resolved by matching its operands, as they are in the text, with the slots of these rows;
 * the first row that matches gives each operand its role and its number of registers. No other code interprets machine
 * opcodes.
 *
 * An opcode that the table lacks, or operands that no row of it takes, are not resolved: then every register named
 * must be taken as read and written.
 */
#ifndef HD_IR_SASS_H
#define HD_IR_SASS_H

#include "base/arena.h"
#include <stdbool.h>

enum {
    HD_SASS_OPERANDS = 24,    /* most operands of an instruction */
    HD_SASS_INNER = 32,       /* most registers within the brackets of all its operands */
    HD_SASS_NO_NUMBER = 0xff, /* RZ, PT, URZ, UPT: no register */
};

typedef enum hd_sass_unit {
    HD_SASS_UNIT_ALU,
    HD_SASS_UNIT_FMA,
    HD_SASS_UNIT_FP64,
    HD_SASS_UNIT_FP16,
    HD_SASS_UNIT_XU, /* special functions, conversions */
    HD_SASS_UNIT_LSU,
    HD_SASS_UNIT_TEX,
    HD_SASS_UNIT_TENSOR,
    HD_SASS_UNIT_UNIFORM, /* once per warp, on uniform registers */
    HD_SASS_UNIT_BRANCH,
    HD_SASS_UNIT_MIO, /* through the memory queue, not split further */
    HD_SASS_UNIT_CONTROL,
} hd_sass_unit;

typedef enum hd_sass_space {
    HD_SASS_SPACE_NONE,
    HD_SASS_SPACE_GENERIC,
    HD_SASS_SPACE_GLOBAL,
    HD_SASS_SPACE_SHARED,
    HD_SASS_SPACE_LOCAL,
    HD_SASS_SPACE_CONSTANT,
    HD_SASS_SPACE_TEXTURE,
    HD_SASS_SPACE_SURFACE,
    HD_SASS_SPACE_ATTRIBUTE,
    HD_SASS_SPACE_TENSOR, /* tensor memory */
} hd_sass_space;

typedef enum hd_sass_access {
    HD_SASS_ACCESS_NONE,
    HD_SASS_ACCESS_LOAD,
    HD_SASS_ACCESS_STORE,
    HD_SASS_ACCESS_ATOMIC,
    HD_SASS_ACCESS_REDUCE, /* an atomic without a result */
    HD_SASS_ACCESS_COPY,   /* asynchronous, between two spaces */
    HD_SASS_ACCESS_FENCE,
    HD_SASS_ACCESS_CONTROL, /* of a cache or an allocator */
} hd_sass_access;

typedef enum hd_sass_control {
    HD_SASS_CONTROL_NONE,
    HD_SASS_CONTROL_BRANCH,
    HD_SASS_CONTROL_INDIRECT, /* to the value of a register */
    HD_SASS_CONTROL_CALL,
    HD_SASS_CONTROL_RETURN,
    HD_SASS_CONTROL_EXIT,
    HD_SASS_CONTROL_KILL,
    HD_SASS_CONTROL_TRAP,
    HD_SASS_CONTROL_PUSH,    /* names where lanes meet later: SSY, PBK, PCNT, BSSY */
    HD_SASS_CONTROL_POP,     /* goes there: SYNC, BRK, CONT, and the suffix .S */
    HD_SASS_CONTROL_SYNC,    /* waits at a convergence barrier: BSYNC */
    HD_SASS_CONTROL_LEAVE,   /* leaves one: BREAK */
    HD_SASS_CONTROL_WARP,    /* lanes of a warp wait for each other */
    HD_SASS_CONTROL_BARRIER, /* of a thread block or a cluster */
    HD_SASS_CONTROL_WAIT,    /* for other warps or grids, or not known for what */
    HD_SASS_CONTROL_OWN,     /* waits for the warp's own loads and copies */
    HD_SASS_CONTROL_YIELD,
} hd_sass_control;

typedef enum hd_sass_evidence {
    HD_SASS_EVIDENCE_SPEC,
    HD_SASS_EVIDENCE_SPEC_OLD,
    HD_SASS_EVIDENCE_NOTES,
    HD_SASS_EVIDENCE_LISTING,
} hd_sass_evidence;

typedef struct hd_sass_row {
    const char *opcode, *modifiers, *generations, *operands, *widths;
    uint8_t unit, space, access, control, evidence;
} hd_sass_row;
extern const hd_sass_row hd_sass_rows[];
extern const uint32_t hd_sass_row_count;

/* ---- operands ---------------------------------------------------------------------------------------------------- */

typedef enum hd_sass_class {                            /* of registers */
                             HD_SASS_GENERAL,           /* R0 .. R254 */
                             HD_SASS_UNIFORM,           /* UR */
                             HD_SASS_PREDICATE,         /* P0 .. P6 */
                             HD_SASS_UNIFORM_PREDICATE, /* UP */
                             HD_SASS_BARRIER,           /* convergence barriers B0 .. B15 */
                             HD_SASS_CLASS_COUNT
} hd_sass_class;

typedef enum hd_sass_kind {
    HD_SASS_REGISTER, /* of any class: `class`, `number` */
    HD_SASS_IMMEDIATE,
    HD_SASS_CONSTANT, /* c[bank][offset], perhaps with a register */
    HD_SASS_BINDLESS, /* cx[UR][offset] */
    HD_SASS_ADDRESS,  /* [..], desc[..][..] */
    HD_SASS_GDESC,
    HD_SASS_IDESC,
    HD_SASS_TMEM,
    HD_SASS_ATTRIBUTE,
    HD_SASS_LABEL,
    HD_SASS_WORD,
    HD_SASS_CARRY,              /* CC */
    HD_SASS_PREDICATES,         /* PR: all */
    HD_SASS_UNIFORM_PREDICATES, /* UPR */
    HD_SASS_LIST,               /* {4,3} */
} hd_sass_kind;

enum {                          /* hd_sass_register.flags, hd_sass_operand.flags */
       HD_SASS_WIDE = 1,        /* .64 */
       HD_SASS_NARROW = 2,      /* .U32 */
       HD_SASS_SETS_CARRY = 4,  /* .CC */
       HD_SASS_NOT = 8,         /* ! */
       HD_SASS_OFFSET = 16,     /* followed by an offset: R4 0x10 */
       HD_SASS_REUSE = 32,      /* .reuse */
       HD_SASS_SCALAR = 64,     /* .F32 */
       HD_SASS_DESCRIPTOR = 128 /* a register in the first brackets of desc[..][..] */
};
enum { HD_SASS_READ = 1, HD_SASS_WRITTEN = 2 }; /* roles */

typedef struct hd_sass_register { /* within brackets */
    uint8_t class, number, flags;
    uint8_t words; /* result: registers from `number` on */
} hd_sass_register;

typedef struct hd_sass_operand {
    uint8_t kind, class, number, flags;
    uint8_t inner_first, inner_count; /* registers within brackets: all are read */
    uint8_t role;                     /* result: HD_SASS_READ, HD_SASS_WRITTEN; registers only */
    uint8_t words;                    /* result: registers from `number` on; 0: the operand is not used */
    uint32_t begin, end;              /* its text */
} hd_sass_operand;

typedef struct hd_sass_operands {
    hd_sass_operand items[HD_SASS_OPERANDS];
    hd_sass_register inner[HD_SASS_INNER];
    uint32_t count, inner_count;
    const char *text; /* what `begin` and `end` are offsets in: words count as modifiers */
} hd_sass_operands;

/* ---- forms ------------------------------------------------------------------------------------------------------- */

typedef struct hd_sass_form hd_sass_form;

/* The form of a spelling. Allocated in the arena. Never fails: it may be unknown. Linear in the rows of the opcode. */
const hd_sass_form *hd_sass_form_of(const char *spelling, size_t length, uint32_t generation, hd_arena *arena);
/* The best row for the modifiers alone: unit, memory and control are its. NULL: unknown. */
const hd_sass_row *hd_sass_form_row(const hd_sass_form *form);
/* Whether instructions of this form read, or write, the condition codes without naming them (.X, before Volta). */
bool hd_sass_form_reads_carry(const hd_sass_form *form);
bool hd_sass_form_has(const hd_sass_form *form, const char *modifier); /* ".S" */
/* Assigns roles and widths. The row that matched; NULL: none did. */
const hd_sass_row *hd_sass_resolve(const hd_sass_form *form, hd_sass_operands *operands);

/* An instruction of which only the general registers are known, as in a trace. */
enum { HD_SASS_LISTED = 16 };
typedef struct hd_sass_listed {
    uint8_t destinations, count;   /* the first so many are listed as written; all */
    uint8_t role[HD_SASS_LISTED];  /* result: HD_SASS_READ or HD_SASS_WRITTEN */
    uint8_t words[HD_SASS_LISTED]; /* result: 1 where rows of the table, or matches with one, differ */
} hd_sass_listed;
/* Assigns roles and widths to registers in the order of the text. Lists name as written what is the first operand, and
 * all others as read: every match may say otherwise. Without a row that fits, all are as listed, of one word.
 * Exponential in optional slots, of which rows have few. */
void hd_sass_resolve_list(const hd_sass_form *form, hd_sass_listed *list);

/* The generation of the table that describes a chip: 50 for sm_53; the nearest older one of chips that it lacks. 0:
 * none. */
uint32_t hd_sass_generation(uint32_t sm);
/* Is it the compute capability of a chip? And all of those, separated by commas. */
bool hd_sass_has_chip(uint32_t sm);
void hd_sass_print_chips(char *text, size_t bytes);

/* Reads `R12`, `URZ`, `P0`, `UPT`, `B1` (without suffixes); false: no register. */
bool hd_sass_register_of(const char *text, size_t length, uint8_t *class, uint8_t *number);
extern const char *const hd_sass_class_stem[HD_SASS_CLASS_COUNT]; /* "R" */

#endif
