/* Machine code (SASS) in the IR.
 *
 * A function is what a listing shows under one `Function :` or one section .text.NAME. Its registers are architected:
 * R0 .. R254 (.b32), P0 .. P6 and UP (.pred), UR (uniform), B (convergence barriers), and the condition codes of old
 * chips as the carry register. RZ, PT, URZ and UPT are no registers but names. An operand of several registers is a
 * vector of them, an operand with brackets an address that holds the registers within; immediates, constants and other
 * words are names. A branch's targets are label operands; those of an indirect branch, a return, and of instructions
 * that go where an earlier one said (SYNC, BRK), are a table, which is last.
 *
 * A call of code in the same function is a branch to it, and its returns are branches to what follows each call of it:
 * analyses see the whole, without knowing which return belongs to which call. A call of other code reads and writes
 * all registers that the function uses.
 *
 * The code of a trace (hwmodel/trace/accel_sim.h) has the registers that the trace lists. What follows an instruction
 * is what followed it in some warp. Each write that leaves lanes of a warp an older value which they read has a guard,
 * a predicate that nothing writes.
 *
 * Instructions are never changed, only annotated.
 */
#ifndef HD_IR_MACHINE_H
#define HD_IR_MACHINE_H

#include "ir/form.h"
#include "ir/sass/sass.h"

/* How a form's instruction acts here. */
typedef enum hd_machine_variant {
    HD_MACHINE_PLAIN,
    HD_MACHINE_NEVER, /* guarded by !PT: is not executed */
    HD_MACHINE_LOCAL, /* a call of code in the same function */
    /* of a trace: where it goes on is a table, its last operand, if not only to the next instruction */
    HD_MACHINE_TRACED,
    HD_MACHINE_TRACED_JUMP, /* the same, though the opcode is none that branches */
    HD_MACHINE_MEETING,     /* a BSYNC at which lanes wait for others that are not on their way to its branch's join */
    HD_MACHINE_VARIANTS
} hd_machine_variant;

typedef struct hd_machine_form { /* of a hd_form */
    const hd_sass_form *sass;
    const hd_sass_row *row; /* NULL: unknown */
    uint32_t generation;
    uint8_t variant; /* hd_machine_variant */
    uint32_t next;   /* form of the same spelling for another generation or variant; HD_NONE */
} hd_machine_form;

/* What a listing says about an instruction beyond its text. */
typedef struct hd_machine_line {
    uint32_t address; /* bytes from the function's start; HD_NONE: not printed */
    uint32_t control; /* offset in the text of what holds its control code; HD_NONE: not printed */
} hd_machine_line;

typedef enum hd_machine_encoding { /* where control codes are */
                                   HD_MACHINE_NO_CONTROL,
                                   HD_MACHINE_WORD,  /* the high half of the instruction's own 128 bits */
                                   HD_MACHINE_GROUP, /* a word for three instructions, Maxwell and Pascal */
                                   HD_MACHINE_FIELD, /* [B------:R-:W-:-:S01], or --:-:-:-:1 */
} hd_machine_encoding;

typedef struct hd_machine_control {
    bool known;
    uint8_t stall_cycles;
    bool yield;                          /* the hint is given: the bit is 0 */
    uint8_t write_barrier, read_barrier; /* 0..5; 7: none */
    uint8_t wait_mask;                   /* a bit for each barrier */
    uint8_t reuse;                       /* a bit for each source operand slot A, B, C */
} hd_machine_control;

/* A point where the listing lets lanes meet again (BSYNC, SYNC), and the branches' reconvergence. */
typedef struct hd_machine_meeting {
    uint32_t push, meet; /* ordinals: BSSY or SSY, and the target that it names; HD_NONE: the end */
} hd_machine_meeting;

typedef struct hd_machine_function { /* of a hd_function */
    uint32_t sm, generation;         /* 0: the listing does not say */
    uint32_t registers;              /* highest general register mentioned, plus 1 */
    uint32_t predicates, uniform_registers;
    uint32_t allocated;           /* registers per thread that the listing states (SHI_REGISTERS); 0: it does not */
    const hd_machine_line *lines; /* by ordinal */
    const uint8_t *reuse;         /* by ordinal: a bit for each source register operand with .reuse, in text order */
    const struct hd_machine_slots *slots; /* of a trace with its listing: by ordinal; NULL: in the text */
    const hd_machine_meeting *meetings;
    uint32_t meeting_count;
    const struct hd_machine_layout *layout; /* ir/machine_image.h; NULL: the listing does not say */
    bool comments_only;     /* no lines for .heddle statements: the listing is in DOT, or no line begins the function */
    bool calls_out;         /* calls code that the function does not hold */
    bool calls_by_register; /* a register says which code is called */
    bool traced;            /* the code of a trace: what was executed */
    uint32_t unknown_target; /* ordinal + 1 of an instruction whose targets the listing does not contain; 0: none */
    uint32_t unknown_form;   /* ordinal + 1 of the first instruction that no row of the table fits; 0: none */
    uint32_t cut;     /* ordinal + 1 of an instruction before or after which the listing lacks code; 0: it lacks none */
    uint8_t encoding; /* hd_machine_encoding */
} hd_machine_function;

/* The form of an instruction's spelling. The first use of an unknown opcode is for the caller to report. */
uint32_t hd_machine_form_of(hd_module *module, hd_name spelling, uint32_t generation, hd_machine_variant variant);
hd_unit hd_machine_form_unit(const hd_machine_form *form);
/* A load of memory that has no other effect and no order with other accesses; a copy of a register or a constant. */
bool hd_machine_is_plain_load(const hd_form *form);
/* A load through the read-only path: textures, LDG.CONSTANT and LDG.CI. */
bool hd_machine_loads_read_only(const hd_machine_form *form);
bool hd_machine_is_move(const hd_form *form);
/* Where a warp may wait for other warps or grids, besides barriers: ir/waits.h. */
bool hd_machine_waits_for_others(const hd_machine_form *form);
/* Why passes cannot annotate a function, nor a check decide about it, and at which instruction: it branches where the
 * listing does not say, or no row of the table says what it accesses. NULL: they can. */
const char *hd_machine_obstacle(const hd_function *function, uint32_t *ordinal);
/* Registers per thread, and where the number is from. */
typedef enum hd_machine_count_source {
    HD_MACHINE_COUNT_UNKNOWN,
    HD_MACHINE_COUNT_GIVEN,   /* by the user (hd_parse_options.registers) */
    HD_MACHINE_COUNT_STATED,  /* by the listing */
    HD_MACHINE_COUNT_DERIVED, /* from the registers that the code names: machine_registers.c */
} hd_machine_count_source;
typedef struct hd_machine_count {
    uint32_t number; /* 0: unknown */
    hd_machine_count_source from;
    const char *unknown; /* why, or NULL */
} hd_machine_count;
/* `stated`: what sections of the listing say about the function; 0: nothing. Linear in the function. */
hd_machine_count hd_machine_count_of(const hd_function *function, uint32_t stated);
/* The code is that of a chip, where the listing does not say of which. */
void hd_machine_assume(hd_function *function, uint32_t sm);
/* Reports a number given by the user that the registers named exceed. */
void hd_machine_check_given(const hd_function *function);
/* Of code of Volta and later: the lower 64 bits of the instruction, from the text. false: it does not have them. */
bool hd_machine_word_of(const hd_function *function, uint32_t ordinal, uint64_t *word);
/* The control code of an instruction, from the text. */
hd_machine_control hd_machine_control_of(const hd_function *function, uint32_t ordinal);

/* The special register of PTX that one of machine code (SR_TID.X) equals; -1: none. *component: its component. */
int hd_machine_special(const char *text, size_t length, uint32_t *component);

static inline const hd_machine_form *hd_insn_machine(const hd_function *f, const hd_instruction *i)
{
    return f->module->forms.items[i->form].machine;
}

#endif
