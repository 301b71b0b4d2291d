/* Lowers machine instructions to ops of the interpreter. Private to hwmodel/machine.
 *
 * A row of opcodes.def says what an instruction's operands are; hd_machine_lower reads them into the op that a row's
 * decode function completes. Operands that the interpreter's functions do not take as they are (signs, pairs,
 * addresses) are computed by steps into temporary rows of the frame before the op runs, and a pair that it writes is
 * split after. */
#ifndef HD_HWMODEL_MACHINE_DECODER_H
#define HD_HWMODEL_MACHINE_DECODER_H

#include "hwmodel/exec/control/control.h"
#include "hwmodel/exec/ops/alu.h"
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/state/state.h"
#include "hwmodel/machine/machine.h"
#include "hwmodel/machine/operands.h"

/* What is computed for an operand before an op: to = f(a, b, c). Rows of 4 bytes a lane; wide ones have 8. */
typedef enum hd_machine_step_kind {
    HD_STEP_NEGATE,      /* 0 - a */
    HD_STEP_COMPLEMENT,  /* ~a */
    HD_STEP_SIGN,        /* the sign bits of `value` are inverted, after those of `mask` are cleared */
    HD_STEP_PAIR,        /* wide: b:a */
    HD_STEP_PAIRS,       /* `value` rows from `to` on, wide: those of the pairs of registers from a on */
    HD_STEP_NEGATE_PAIR, /* wide: 0 - b:a */
    HD_STEP_SIGN_PAIR,   /* as SIGN, of b:a */
    HD_STEP_ADDRESS,     /* wide: a * value + b; the sum has 64 bits where a and b are wide, else 32 */
    HD_STEP_PRODUCT,     /* a * b */
    HD_STEP_ADD,         /* a + b */
    HD_STEP_ADD_HALVES,  /* the same of packed halves */
    HD_STEP_SHIFT,       /* a << value */
    HD_STEP_SHIFT_HIGH,  /* (b:a << value) >> 32 */
    HD_STEP_SIGN_HIGH,   /* the same with b the sign of a */
    HD_STEP_HALVES,      /* packed halves of a in the order of value, an HD_HALVES_* */
    HD_STEP_FIRST,       /* a of the first lane of the mask in all lanes */
    HD_STEP_LANES,       /* the mask */
    HD_STEP_FIELD,       /* as many bits of a as `mask` says, from bit `value` on, with their sign */
} hd_machine_step_kind;
typedef struct hd_machine_step {
    uint8_t kind;
    bool wide_a, wide_b; /* of ADDRESS: rows of 8 bytes */
    hd_ref to, a, b;
    uint64_t value, mask;
} hd_machine_step;

typedef struct hd_machine_predicate { /* a source: a word of the frame or of constants */
    hd_ref word;
    bool negated;
} hd_machine_predicate;

enum { HD_MACHINE_STEPS = 8, HD_MACHINE_PREDICATES = 4 };

typedef struct hd_machine_op {
    hd_op op; /* runs after the steps; its `use` and operands are those of the run function */
    hd_machine_step steps[HD_MACHINE_STEPS];
    uint32_t step_count;
    hd_ref low, high; /* where the halves of row op.d go, if it is a pair; HD_NO_REF */
    uint8_t split;    /* number of such rows from op.d on; their registers follow each other */
    bool uniform;     /* the op runs for all lanes */
    bool broadcast;   /* its result is that of the first lane, in all lanes */
    hd_machine_predicate in[HD_MACHINE_PREDICATES];
    hd_ref out[2]; /* predicates; HD_NO_REF */
    uint32_t in_count, out_count;
    uint32_t ones;      /* added to a sum: of negated operands */
    uint32_t table[2];  /* of a logic function; others */
    hd_lanes *lanes[2]; /* of minima and maxima */
} hd_machine_op;

typedef struct hd_machine_decoder hd_machine_decoder;
typedef struct hd_machine_row hd_machine_row;
typedef bool hd_machine_decode(hd_machine_decoder *d);

struct hd_machine_row {
    const char *opcode;
    const char *modifiers;     /* those that may be there, with blanks between; with a + those that must */
    const char *operands;      /* opcodes.def */
    hd_machine_decode *decode; /* NULL: the operands say everything */
    hd_op_run *run;
    hd_lanes *lanes;
    uint8_t type; /* hd_type of the lanes */
};

struct hd_machine_decoder {
    hd_program *program;
    hd_module *module;
    hd_machine_kernel *kernel; /* of the program */
    hd_function *function;     /* of `functions`, that is decoded */
    hd_code *code;
    hd_diagnostics *diagnostics;
    bool failed;
    HD_ARRAY(hd_function *) functions;     /* that run: the kernel, and what it may call */
    uint32_t general_count, uniform_count; /* rows for registers of all of them */
    /* the frame: offsets of rows */
    uint32_t general, uniform, predicates, uniform_predicates, barriers, temporaries;
    uint32_t reduction;               /* what a barrier has found: a row, then a word */
    HD_ARRAY(uint64_t) constant_keys; /* by constant row: value, then bytes */
    /* the instruction */
    uint32_t ordinal;
    const hd_instruction *insn;
    const hd_machine_form *form;
    const hd_machine_row *row;
    hd_machine_operands operands;
    uint32_t next;      /* operand */
    uint32_t sources;   /* taken so far, of a, b, c, f */
    uint32_t temporary; /* number of temporary rows used */
    hd_op *op;          /* in code->ops */
    hd_machine_op m;
    char *reason;
};

/* ---- decoder.c --------------------------------------------------------------------------------------------------- */
enum { HD_MACHINE_TEMPORARIES = 24 };
const char *hd_machine_spelling(const hd_machine_decoder *d); /* the opcode and its modifiers */
/* Whether a list with separators has the word. */
bool hd_machine_lists(const char *list, const char *word, size_t length, char before, char after);
void hd_machine_first_constants(hd_machine_decoder *d); /* those that hd_machine_zero and hd_machine_true name */
bool hd_machine_has(const hd_machine_decoder *d, const char *modifier); /* "FTZ" */
bool hd_machine_unsupported(hd_machine_decoder *d, const char *why);    /* false */
/* Constant rows and words. */
hd_ref hd_machine_constant(hd_machine_decoder *d, uint64_t value, uint32_t bytes);
static inline hd_ref hd_machine_zero(void) { return HD_REF(HD_REF_CONSTANT, 0); }
static inline hd_ref hd_machine_true(void) { return HD_REF(HD_REF_CONSTANT, 256); }
hd_ref hd_machine_temporary(hd_machine_decoder *d); /* a row for 8 bytes a lane */
void hd_machine_add_step(hd_machine_decoder *d, hd_machine_step step);
/* Rows of registers; RZ: zeros, HD_NO_REF as a destination. `more`: further registers from this one on. */
hd_ref hd_machine_register_row(const hd_machine_decoder *d, uint8_t class, uint32_t number);
/* A location of a constant bank that does not depend on registers. HD_NO_REF: reported. */
hd_ref hd_machine_bank_row(hd_machine_decoder *d, uint32_t bank, int64_t offset, uint32_t bytes);
/* A source by its letter in a row's operands: see opcodes.def. */
hd_ref hd_machine_source(hd_machine_decoder *d, const hd_machine_operand *o, char letter);
hd_machine_predicate hd_machine_predicate_of(hd_machine_decoder *d, const hd_machine_operand *o);
/* The op writes a pair, as a row of 64 bits; RZ: nothing. */
void hd_machine_set_pair(hd_machine_decoder *d, const hd_machine_operand *o);
const hd_machine_operand *hd_machine_next(hd_machine_decoder *d);            /* an empty word after the last */
uint32_t hd_machine_push(hd_machine_decoder *d, hd_ref ref, uint32_t bytes); /* to code->refs */

/* ---- completions of opcodes.def's rows, by file ------------------------------------------------------------------ */
hd_machine_decode hd_machine_decode_compare, hd_machine_decode_float, hd_machine_decode_mufu, hd_machine_decode_half,
    hd_machine_decode_half_extreme, hd_machine_decode_half_compare, hd_machine_decode_widen,
    hd_machine_decode_two_bytes, hd_machine_decode_convert; /* decode_float.c */
hd_machine_decode hd_machine_decode_sum, hd_machine_decode_dot, hd_machine_decode_permute,
    hd_machine_decode_differences, hd_machine_decode_lea, hd_machine_decode_imad, hd_machine_decode_shift,
    hd_machine_decode_logic, hd_machine_decode_extreme, hd_machine_decode_add_extreme, hd_machine_decode_add_halves,
    hd_machine_decode_add_or_subtract, hd_machine_decode_select, hd_machine_decode_p2r, hd_machine_decode_find,
    hd_machine_decode_float_select, hd_machine_decode_sgxt, hd_machine_decode_special,
    hd_machine_decode_first;                              /* decode_integer.c */
uint8_t hd_machine_rounding(const hd_machine_decoder *d); /* decode_float.c: as hd_op.rounding */
/* The address of an access to that space; reported if it is none. */
bool hd_machine_take_address(hd_machine_decoder *d, const hd_machine_operand *o, hd_space space);
hd_machine_decode hd_machine_decode_load, hd_machine_decode_store, hd_machine_decode_atomic,
    hd_machine_decode_bank; /* decode_memory.c */
hd_machine_decode hd_machine_decode_branch, hd_machine_decode_jump, hd_machine_decode_call, hd_machine_decode_exit,
    hd_machine_decode_push, hd_machine_decode_meet, hd_machine_decode_warp_sync, hd_machine_decode_barrier,
    hd_machine_decode_diverged, hd_machine_decode_shuffle, hd_machine_decode_vote, hd_machine_decode_break,
    hd_machine_decode_barrier_result, hd_machine_decode_move_barrier, hd_machine_decode_yield, hd_machine_decode_match,
    hd_machine_decode_redux, hd_machine_decode_code_address; /* decode_control.c */

hd_machine_decode hd_machine_decode_product, hd_machine_decode_matrix_rows,
    hd_machine_decode_transpose; /* decode_matrix.c */

hd_machine_decode hd_machine_decode_copy, hd_machine_decode_wait, hd_machine_decode_exchange, hd_machine_decode_arrive,
    hd_machine_decode_phase, hd_machine_decode_invalidate, hd_machine_decode_arrive_after_copies,
    hd_machine_decode_arrive_word; /* decode_async.c */
hd_op_run hd_machine_run_copy_part, hd_machine_run_arrive_word,
    hd_machine_run_arrive_word_after_copies; /* decode_async.c */

hd_machine_decode hd_machine_decode_texture, hd_machine_decode_texture_query,
    hd_machine_decode_surface; /* decode_texture.c */

/* ---- run functions ----------------------------------------------------------------------------------------------- */
hd_op_run hd_machine_run; /* of an op with steps: use.detail is its hd_machine_op */
hd_op_run hd_machine_run_sum, hd_machine_run_wide_sum, hd_machine_run_predicates, hd_machine_run_p2r,
    hd_machine_run_r2p, hd_machine_run_extreme, hd_machine_run_check_division, hd_machine_run_compare_high,
    hd_machine_run_rows, hd_machine_run_bank, hd_machine_run_swap, hd_machine_run_vote, hd_machine_run_first,
    hd_machine_run_barrier_result; /* run.c */
hd_op_run hd_machine_run_branch, hd_machine_run_exit, hd_machine_run_push, hd_machine_run_meet,
    hd_machine_run_warp_sync, hd_machine_run_barrier, hd_machine_run_break, hd_machine_run_diverged,
    hd_machine_run_yield;      /* control.c */
hd_op_run hd_machine_run_jump; /* calls.c; op->boolean: HD_MACHINE_JUMP, ... */
enum { HD_MACHINE_JUMP, HD_MACHINE_CALL, HD_MACHINE_RETURN };

/* control.c. A group without lanes stays in a call frame where there is no other. */
void hd_machine_drop_empty(hd_warp *w);
void hd_machine_push_group(hd_warp *w, uint32_t pc, uint32_t mask);
/* Chooses the group that runs after the lanes of some have come to wait, to their end, or have returned. */
hd_step hd_machine_choose(const hd_op *op, hd_warp *w);
/* calls.c. Leaves the top call frame, which has no lanes left. NEXT: its caller goes on. */
hd_step hd_machine_leave(hd_warp *w);

/* The address of a function's first instruction: calls by address, and what they return to, take it. Nothing else is
 * there. */
uint64_t hd_machine_code_address(const hd_function *function);
/* The address at which a function of the device runtime is called; 0: it has none of that name. */
uint64_t hd_machine_builtin_address(const char *name);
bool hd_machine_needs_heap(const char *name); /* it is a function of the device runtime that uses the heap */
/* The arguments of each in code->copies, from its number times this on, then its result. */
enum { HD_MACHINE_BUILTIN_COPIES = 6 };
void hd_machine_add_builtins(hd_machine_decoder *d);

/* Rows of a call frame, the same in all functions of a program. In this order; predicates are before the barriers. */
typedef struct hd_machine_rows {
    uint32_t barriers, general, uniform, temporaries;
} hd_machine_rows;

/* The hd_machine_op whose op this is: of run functions that take more than an hd_op holds. */
static inline const hd_machine_op *hd_machine_op_of(const hd_op *op)
{
    return (const hd_machine_op *)(const void *)op; /* its first member */
}
/* The op of an instruction without the steps around it. */
static inline const hd_op *hd_machine_inner_op(const hd_op *op)
{
    return op->run == hd_machine_run ? &((const hd_machine_op *)op->use.detail)->op : op;
}
/* Whether a predicate holds, by lane. */
static inline uint32_t hd_machine_truth(const hd_warp *w, hd_machine_predicate p)
{
    uint32_t word = hd_warp_word(w, p.word);
    return p.negated ? ~word : word;
}

/* Of a thread whose calls have a depth that is not known: the driver's default (cudaLimitStackSize). */
enum { HD_MACHINE_DRIVER_STACK_BYTES = 1024 };
/* load.c: the address of a symbol of a cubin. false: it has none. */
bool hd_machine_symbol_address(const hd_image *image, const hd_machine_image *of, uint32_t symbol, uint64_t *address);

/* bank.c: bytes of a constant bank at the launch of a CTA's grid. */
hd_read_bank hd_machine_read_bank;
bool hd_machine_bank_has(const hd_machine_kernel *kernel, uint32_t bank, int64_t offset, uint32_t bytes);

/* Kernels of lanes.def. */
#define HD_MACHINE_LANES1(name, D, A, expression) hd_lanes hd_machine_##name;
#define HD_MACHINE_LANES2(name, D, A, B, expression) hd_lanes hd_machine_##name;
#define HD_MACHINE_LANES3(name, D, A, B, C, expression) hd_lanes hd_machine_##name;
#include "hwmodel/machine/lanes.def"

#endif
