/* A module that is read once, to look at, to rewrite, to check and to print: functions, blocks, instructions, operands,
 * registers, live registers and annotations.
 *
 *     hd_input input = {.name = "kernel.ptx"};
 *     hd_ir_module *module;
 *     if (hd_ir_open(context, &input, NULL, &module) == HD_STATUS_DONE) {
 *         hd_ir_function f = {.size = sizeof f};
 *         for (uint32_t i = 0; hd_ir_get_function(module, i, &f); i++) {
 *             hd_ir_instruction insn = {.size = sizeof insn};
 *             for (uint32_t k = 0; hd_ir_get_instruction(module, i, k, &insn); k++)
 *                 printf("%3u live, %s\n", insn.live_count, insn.text);
 *         }
 *         hd_ir_run(module, "select,regalloc(max=63),corf", NULL);
 *         hd_ir_close(module);
 *     }
 *
 * A module belongs to the context that opened it, is closed before that is freed, and is used by one thread at a time,
 * with its context. hd_ir_open, hd_ir_run, hd_ir_check, hd_ir_print and hd_ir_report are jobs of the context: their
 * messages take the place of those of the job before.
 *
 * The structures that a hd_ir_get_ function fills begin with their size, which the caller sets; the function fills as
 * much as both know and sets `size` to that, so that a later library takes the shorter structure of a program that was
 * compiled for an earlier one. It returns false, and changes nothing, where there is no such index, or no size. What a
 * structure points to is valid until a structure of the same type is filled again, or the module is run or closed.
 *
 * Functions, blocks, instructions, registers and annotations are numbered from 0; instructions in the order of the
 * text. The number of blocks of a function also denotes its exit, in lists of successors and as a post-dominator.
 */
#ifndef HEDDLE_IR_H
#define HEDDLE_IR_H

#include "heddle/heddle.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define HD_IR_NONE UINT32_MAX /* no register, block, loop, instruction or slot */

typedef struct hd_ir_module hd_ir_module;

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

typedef struct hd_ir_settings {
    size_t size;             /* sizeof(hd_ir_settings) */
    bool ignore_annotations; /* do not read those of the text */
} hd_ir_settings;

/* Reads PTX, a listing of machine code, or a cubin or other file with machine code, of which the listing is the text.
 * `settings` may be NULL. *module is NULL unless the outcome is DONE. */
hd_status hd_ir_open(hd_context *context, const hd_input *input, const hd_ir_settings *settings, hd_ir_module **module);

/* NULL is allowed. */
void hd_ir_close(hd_ir_module *module);

/* Runs passes, "select,regalloc(max=63),corf" as the program's -p option, over the module as it is now. Of the settings
 * (may be NULL) `kernel`, `threads`, `gpu` and `block` count. Unless the outcome is DONE, the module is as before. */
hd_status hd_ir_run(hd_ir_module *module, const char *passes, const hd_rewrite_settings *settings);

/* Verifies the annotations, as hd_context_check does. */
hd_status hd_ir_check(hd_ir_module *module, const char *kernel, uint64_t *annotations);

typedef enum hd_ir_format {
    HD_IR_PORTABLE, /* PTX, or the listing, with annotations as comments and in a section */
    HD_IR_EXTENDED, /* with annotations in the extended spelling */
    HD_IR_JSON,     /* what `heddle dump --ir --json` writes */
} hd_ir_format;

typedef struct hd_ir_print_settings {
    size_t size; /* sizeof(hd_ir_print_settings) */
    hd_ir_format format;
    bool canonical;      /* print every statement from the IR instead of copying unchanged ones from the input */
    bool no_section;     /* write annotations as comments only */
    bool no_annotations; /* write none */
} hd_ir_print_settings;

/* The module as a text. `settings` may be NULL. *out is empty unless the outcome is DONE. */
hd_status hd_ir_print(hd_ir_module *module, const hd_ir_print_settings *settings, hd_text *out);

/* As hd_context_report and hd_context_report_results, of what hd_ir_print writes. */
hd_status hd_ir_report(hd_ir_module *module, const hd_report_settings *settings, hd_text *report);
hd_status hd_ir_report_results(hd_ir_module *module, const hd_report_settings *settings,
                               const hd_report_module **report);

/* ---- what is in a module ----------------------------------------------------------------------------------------- */

typedef struct hd_ir_summary {
    size_t size;                           /* sizeof(hd_ir_summary) */
    const char *name;                      /* of the input */
    const char *target;                    /* "sm_80"; NULL: the text does not say */
    uint32_t version_major, version_minor; /* of PTX */
    uint32_t address_bits;
    uint32_t function_count;
    bool is_machine_code; /* a listing, not PTX */
} hd_ir_summary;
bool hd_ir_get_summary(hd_ir_module *module, hd_ir_summary *summary);

/* Where something is in the text that was opened. What a pass made is nowhere: all zero. */
typedef struct hd_ir_place {
    uint32_t begin, end;   /* bytes [begin, end) */
    uint32_t line, column; /* of `begin`, 1-based; columns count bytes */
} hd_ir_place;

typedef struct hd_ir_function {
    size_t size;           /* sizeof(hd_ir_function) */
    const char *name;      /* as in the text */
    const char *demangled; /* as in C++; the name, where it is no name of C++ */
    bool is_kernel;
    bool has_body;
    uint32_t instruction_count, block_count, loop_count, register_count;
    uint32_t annotation_count; /* of the function, its instructions and their operands */
    hd_ir_place place;         /* of its header */
} hd_ir_function;
bool hd_ir_get_function(hd_ir_module *module, uint32_t function, hd_ir_function *out);
/* The number of the function of that name, the one with a body if there are several; HD_IR_NONE: there is none. */
uint32_t hd_ir_find_function(const hd_ir_module *module, const char *name);

typedef struct hd_ir_block {
    size_t size;         /* sizeof(hd_ir_block) */
    uint32_t first, end; /* instructions [first, end) */
    const uint32_t *predecessors, *successors;
    uint32_t predecessor_count, successor_count;
    uint32_t dominator;      /* the immediate one; NONE for the entry and unreachable blocks */
    uint32_t post_dominator; /* the immediate one, where a warp that split here reconverges */
    uint32_t loop;           /* the innermost one, or NONE */
    uint32_t loop_depth;     /* 0: in no loop */
    bool reachable;
    bool conditional;                   /* more than one successor */
    const uint32_t *live_in, *live_out; /* registers, ascending */
    uint32_t live_in_count, live_out_count;
} hd_ir_block;
bool hd_ir_get_block(hd_ir_module *module, uint32_t function, uint32_t block, hd_ir_block *out);

typedef struct hd_ir_register {
    size_t size;      /* sizeof(hd_ir_register) */
    const char *name; /* "%r3", "%v1.x", "R12" */
    const char *type; /* "b32", "pred"; "cc" of a carry register */
    uint32_t words;   /* 32-bit registers of the register file that it fills; 0 of predicates and uniform registers */
} hd_ir_register;
bool hd_ir_get_register(hd_ir_module *module, uint32_t function, uint32_t number, hd_ir_register *out);

enum { /* hd_ir_instruction.behaviour */
       HD_IR_LOAD = 1 << 0,
       HD_IR_STORE = 1 << 1,
       HD_IR_ATOMIC = 1 << 2,
       HD_IR_BARRIER = 1 << 3,
       HD_IR_WARP = 1 << 4, /* lanes of a warp exchange values or synchronize */
       HD_IR_FENCE = 1 << 5,
       HD_IR_BRANCH = 1 << 6,
       HD_IR_CALL = 1 << 7,
       HD_IR_RETURN = 1 << 8,
       HD_IR_EXIT = 1 << 9,
       HD_IR_TRAP = 1 << 10,
       HD_IR_ASYNC = 1 << 11, /* takes effect later (cp.async ...) */
       HD_IR_TEXTURE = 1 << 13
};

/* The control code of an instruction of machine code; barriers are 0 to 5, or NONE. */
typedef struct hd_ir_control {
    bool known;
    bool yield;
    uint32_t stall_cycles, write_barrier, read_barrier;
    uint32_t wait_mask, reuse; /* a bit for each barrier, for each source operand slot */
} hd_ir_control;

typedef struct hd_ir_instruction {
    size_t size;           /* sizeof(hd_ir_instruction) */
    const char *text;      /* "@%p1 add.s32 %r1, %r2, 4;" */
    const char *opcode;    /* "add" */
    const char *modifiers; /* "s32"; "": none */
    uint32_t id;           /* kept by passes, never used again */
    uint32_t origin;       /* the id that it had, or that of which it was made, in the text */
    uint32_t block;
    uint32_t predicate; /* register that guards it, or NONE */
    bool predicate_negated;
    bool unknown;       /* an opcode or a modifier is unknown: it may read and write any register */
    uint32_t behaviour; /* HD_IR_LOAD | ... */
    uint32_t operand_count;
    const uint32_t *reads, *writes; /* registers in the order of operands, the predicate first */
    uint32_t read_count, write_count;
    const uint32_t *live; /* registers of a thread that are live before it, ascending */
    uint32_t live_count;
    uint32_t live_words;                         /* 32-bit registers that these fill */
    uint32_t annotation_first, annotation_count; /* of the function's */
    hd_ir_place place;
    const char *source_file;             /* that .loc, or the listing, names; NULL: unknown */
    uint32_t source_line, source_column; /* column 0: unknown */
    hd_ir_control control;
} hd_ir_instruction;
bool hd_ir_get_instruction(hd_ir_module *module, uint32_t function, uint32_t instruction, hd_ir_instruction *out);

typedef enum hd_ir_operand_kind {
    HD_IR_REGISTER,
    HD_IR_IMMEDIATE,
    HD_IR_SYMBOL,           /* a variable, a parameter or a function */
    HD_IR_SPECIAL_REGISTER, /* %tid.x */
    HD_IR_LABEL,
    HD_IR_TABLE, /* targets of an indirect branch, a prototype of a call */
    HD_IR_SINK,  /* _ */
    HD_IR_NAME,  /* any other word, as constants and immediates of machine code */
    HD_IR_VECTOR,
    HD_IR_ADDRESS,
    HD_IR_PAIR, /* p|q */
    HD_IR_LIST, /* of a call */
} hd_ir_operand_kind;

/* Operands are in prefix order: a vector, an address, a pair or a list is followed by its `children`, and a register,
 * symbol or immediate with an offset by that, an IMMEDIATE. */
typedef struct hd_ir_operand {
    size_t size; /* sizeof(hd_ir_operand) */
    hd_ir_operand_kind kind;
    const char *text;  /* with its children: "[%rd1+4]" */
    uint32_t children; /* direct ones */
    uint32_t number;   /* of a REGISTER, else NONE */
    bool read, written;
    bool negated;  /* ! or - before it */
    bool implicit; /* the carry register, which is not spelled */
    bool is_float; /* of IMMEDIATE: `value` has the bits of a floating-point number */
    uint32_t bits; /* of IMMEDIATE: 32 or 64 */
    uint64_t value;
    uint32_t begin; /* offset in the text that was opened; NONE: a pass made it */
} hd_ir_operand;
bool hd_ir_get_operand(hd_ir_module *module, uint32_t function, uint32_t instruction, uint32_t operand,
                       hd_ir_operand *out);

typedef enum hd_ir_value {
    HD_IR_VALUE_FLAG, /* it is there */
    HD_IR_VALUE_NUMBER,
    HD_IR_VALUE_WORD,
    HD_IR_VALUE_BITS,      /* a mask, for example over operand slots */
    HD_IR_VALUE_REGISTERS, /* a list */
    HD_IR_VALUE_NUMBERS,   /* a list */
} hd_ir_value;

/* Annotations are ordered by instruction, kind and slot; those of the function come last. heddle-annotations(7) says
 * what each kind means. */
typedef struct hd_ir_annotation {
    size_t size;           /* sizeof(hd_ir_annotation) */
    const char *kind;      /* "bow" */
    const char *technique; /* of which it is, as `heddle list techniques` spells it; "": of none */
    uint32_t instruction;  /* NONE: of the function */
    uint32_t slot;         /* of a destination register, or with `is_source` of a source register; NONE: it has none */
    bool is_source;
    hd_ir_value value;
    uint32_t number;      /* of NUMBER and BITS */
    const char *word;     /* of WORD, else NULL */
    const uint32_t *list; /* of REGISTERS and NUMBERS */
    uint32_t count;
} hd_ir_annotation;
bool hd_ir_get_annotation(hd_ir_module *module, uint32_t function, uint32_t annotation, hd_ir_annotation *out);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
