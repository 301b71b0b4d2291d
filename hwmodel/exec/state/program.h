/* Decoded programs. Private to hwmodel/exec.
 *
 * A function is decoded to one hd_op per instruction (same index), so that events need no mapping. Registers are rows
 * of 32 lanes (structure of arrays): 16, 32 or 64 bits per lane; 128 bits are two 64-bit rows; predicates and %CC are
 * one word with a bit per lane. An operand is an hd_ref: a block of rows (the call frame's registers, the function's
 * constants, the warp's special registers) and a byte offset in it; immediates are rows too, so that handlers need not
 * distinguish operand kinds.
 *
 * An op is executed by its `run` function. Arithmetic ops share a few, which call a `lanes` function on whole rows
 * (vectorized by the compiler, selected for the CPU at load time) and merge the result under the mask.
 */
#ifndef HD_HWMODEL_EXEC_STATE_PROGRAM_H
#define HD_HWMODEL_EXEC_STATE_PROGRAM_H

#include "hwmodel/exec/exec.h"
#include "ir/form.h"
#include "ir/sregs.h"
#include "ir/storage.h"

enum { LANES = HD_WARP_LANES };
#define HD_ALL_LANES 0xffffffffu

typedef uint32_t hd_ref;
enum { HD_REF_FRAME = 0, HD_REF_CONSTANT = 1, HD_REF_SPECIAL = 2, HD_REF_SHIFT = 30 };
#define HD_REF(base, offset) ((hd_ref)(base) << HD_REF_SHIFT | (hd_ref)(offset))
#define HD_NO_REF 0xffffffffu

typedef struct hd_op hd_op;
typedef struct hd_warp hd_warp;
typedef struct hd_cta hd_cta;
typedef struct hd_code hd_code;

typedef enum hd_step {
    HD_STEP_NEXT,    /* continue after the instruction */
    HD_STEP_JUMPED,  /* the stack was changed */
    HD_STEP_WAIT,    /* the warp waits at a barrier, and continues after the instruction. The following are rare */
    HD_STEP_YIELD,   /* continue after the instruction when other warps have had a turn */
    HD_STEP_BLOCKED, /* not executed: it is executed again, and counted, when it can be (park.h) */
    HD_STEP_STOP,    /* a fault was reported, or a sink stopped the run */
} hd_step;

typedef hd_step hd_op_run(const hd_op *op, hd_warp *warp, uint32_t mask);
typedef void hd_lanes(void *d, const void *a, const void *b, const void *c);
typedef uint32_t hd_compare(const void *a, const void *b);
typedef uint64_t hd_combine(uint64_t old, uint64_t b, uint64_t c); /* an atomic's operation on one value */

enum {                           /* hd_op.flags */
       HD_OP_GUARD_NOT = 1,      /* guard is inverted */
       HD_OP_CONTROL = 2,        /* changes the warp's stack: reported to sinks before it executes */
       HD_OP_FTZ = 4,            /* subnormal inputs and results are zero of their sign */
       HD_OP_SAT = 8,            /* result clamped to [0, 1], NaN to 0 */
       HD_OP_NOT_C = 16,         /* predicate source c is inverted */
       HD_OP_SIGNED = 32,        /* loads: sign extension */
       HD_OP_MEMORY = 64,        /* has lane addresses */
       HD_OP_ALIGNED = 128,      /* a barrier that all lanes of the warp must reach together */
       HD_OP_WIDE_ADDRESS = 256, /* the address row has 64 bits a lane */
       HD_OP_SYNTHETIC = 512,    /* not an instruction of the text: no event */
       HD_OP_NOT_A = 1024,       /* predicate source a is inverted */
       HD_OP_RESULT = 2048,      /* atomics: the old value is used */
       HD_OP_CARRY_IN = 4096,
       HD_OP_CARRY_OUT = 8192, /* %CC */
       HD_OP_RETRY = 32768,    /* may be BLOCKED: reported after it executed */
       /* identity in an architected function: no event and no count, but its destination name receives the value */
       HD_OP_IDENTITY = 65536,
       HD_OP_LAST_OF_SEGMENT = 131072, /* a barrier: ends a trace segment */
       HD_OP_MEETS = 262144,           /* executed together by the lanes of the warp that operand f names (meet.h) */
       HD_OP_NAMES_LANES = 524288,     /* waits for the lanes of the warp that operand f names */
       HD_OP_PREDICATE = 1048576,      /* of ops at which lanes meet: the result d is a predicate */
       HD_OP_SCALES = 2097152,         /* twice the sources a and c give twice the result */
       HD_OP_COPY = 4194304,           /* cp.async: has addresses that it copies to, and numbers of bytes, too */
       HD_OP_ORDERED = 16384,          /* observable by other CTAs: waits for the CTA's turn (workers.h) */
};

struct hd_op {
    hd_op_run *run;
    union {
        hd_lanes *lanes;
        hd_compare *compare;
        hd_combine *combine;
        const void *detail; /* further data of some instructions (matrix shapes, textures): in the program's arena */
    } use;
    hd_ref guard;                    /* predicate word or HD_NO_REF */
    hd_ref d, e;                     /* destinations; e: the second of p|q, or %CC */
    hd_ref a, b, c, f;               /* sources */
    uint32_t first, count;           /* in code->refs or code->copies: vector elements, arguments, targets of brx.idx */
    uint32_t written, written_count; /* in code->written: destination registers, for columns.c */
    /* the set of their words, as bits of the lowest six bits of their numbers: may contain others */
    uint64_t words;
    int64_t offset;      /* added to lane addresses */
    uint32_t target;     /* branch: op; call: index in program->codes */
    uint32_t join;       /* branch: op where the sides reconverge, or HD_NONE (the end) */
    uint32_t cache_slot; /* memory: cache slot for the allocation accessed last */
    uint32_t flags;
    uint8_t d_bytes;            /* bytes of a lane of d */
    uint8_t a_bytes;            /* bytes per lane of a source that may be wider than the stored or converted value */
    uint8_t item_bytes;         /* memory: of one element; conversions: of the source's type */
    uint8_t out_bytes;          /* conversions: of the result's type */
    uint8_t space;              /* hd_space of an access */
    uint8_t rounding;           /* 0: nearest; else hd_modifier - HD_MOD_ROUND_RN */
    uint8_t boolean;            /* 0, or 1 and, 2 or, 3 xor; kinds of hand-written ops */
    uint8_t float_type;         /* hd_type that FTZ and SAT refer to: F16, BF16, F32, F64 */
    uint8_t parts;              /* 2: of a packed type, whose row is two rows of its element; else 1 or 0 */
    uint8_t to_type, from_type; /* hd_type, of a conversion */
};

typedef struct hd_call_copy { /* one argument or result of a call */
    hd_ref row;               /* the caller's register or immediate, or HD_NO_REF: its memory */
    hd_ref formal;            /* the callee's register, or HD_NO_REF: its memory */
    uint32_t local, there;    /* byte offsets in the caller's and the callee's call frames of local memory */
    uint32_t bytes;           /* 0: a predicate */
    uint32_t row_bytes;       /* of a lane of `row` and of `formal` */
} hd_call_copy;

typedef struct hd_callee { /* a function that a call may reach */
    uint64_t address;      /* its code address */
    uint32_t code;         /* index in program->codes */
    uint32_t first;        /* in the caller's code->copies: the arguments, then the results */
} hd_callee;

typedef struct hd_call { /* hd_op.use.detail of calls */
    const hd_callee *callees;
    uint32_t count, arguments, results;
    bool indirect;  /* row a, of a_bytes, holds each lane's target */
    bool no_return; /* a callee that returns is a fault */
} hd_call;

typedef struct hd_written { /* a register that an instruction writes, except predicates */
    hd_ref row;             /* HD_NO_REF: written by a call, whose values are unknown */
    uint32_t word;          /* the first of its words in the register file (ir/storage.h) */
    uint8_t bytes;          /* of a lane: 2, 4, 8 or 16 */
    uint8_t words;          /* the number of these words */
    bool single;            /* 4 bytes in one row, and the only destination of the instruction */
} hd_written;

/* A special register's row: 32 lanes of 2, 4 or 8 bytes, or a predicate word (bytes = 0). */
typedef struct hd_special {
    uint8_t sreg, component, bytes, varies;
    uint32_t offset;
} hd_special;

/* A row of values that the grid determines, in constant banks of machine code: 32 lanes of 4 or 8 bytes. */
typedef struct hd_bank_row {
    uint32_t bank, offset, row; /* row: offset in the warp's special registers */
    uint8_t bytes;
} hd_bank_row;
/* Bytes of a constant bank, which must hold them. */
typedef void hd_read_bank(const hd_cta *cta, uint32_t bank, uint32_t offset, void *to, uint32_t bytes);

/* A variable of shared memory or of a call frame, for messages. */
typedef struct hd_placed {
    uint32_t symbol, offset;
} hd_placed;
typedef HD_ARRAY(hd_placed) hd_placed_array;

struct hd_code {
    const hd_function *function;
    uint32_t index;          /* in module->functions */
    hd_op *ops;              /* instruction count + 1: the last is a synthetic return */
    uint32_t op_count;       /* excluding the synthetic return */
    uint32_t register_bytes; /* of a call frame */
    uint32_t local_bytes;    /* of a frame: parameters, results, .local and .param variables; a multiple of 16 */
    HD_ARRAY(hd_ref) refs;
    HD_ARRAY(uint8_t) widths; /* by ref: bytes of a lane; parallel to refs */
    HD_ARRAY(hd_call_copy) copies;
    HD_ARRAY(hd_written) written;
    hd_storage storage;                /* of the function */
    hd_placed_array variables;         /* .local and .param ones of the call frame */
    uint32_t *register_rows;           /* by register: its row in the call frame */
    uint32_t constant_bytes;           /* in constant_rows */
    hd_ref *formals;                   /* rows of the function's register results, then of its register parameters */
    HD_ARRAY(unsigned char) constants; /* constant rows; 64-byte aligned copy in constant_rows after decoding */
    unsigned char *constant_rows;
};

/* Launch history of a program: after a launch with conflicting CTAs (workers.h), the next 1, 2, 4 .. launches run on
 * one thread. */
typedef struct hd_history {
    uint32_t conflicts, skipped;
    /* by allocation: launches both write and read it, so reads are recorded by byte (footprint.h); owned */
    bool *byte_precise;
    uint32_t allocations; /* in `byte_precise` */
} hd_history;

struct hd_program {
    hd_arena arena;
    const hd_module *module;
    const hd_image *image;
    const hd_function *kernel;
    HD_ARRAY(hd_code *) codes; /* [0]: the kernel */
    HD_ARRAY(hd_special) specials;
    hd_placed_array shared_variables;
    uint32_t special_bytes;
    uint64_t static_shared_bytes; /* of all functions together */
    uint32_t dynamic_shared_at;   /* offset of the extern shared arrays */
    bool surfaces;                /* the program accesses surfaces */
    hd_history *history;          /* in the arena; modified by launches */
    bool reserves_shared;         /* the program reads the location of reserved shared memory */
    uint32_t parameter_bytes;
    uint32_t cache_slots; /* number of cache slots of memory ops */
    /* Machine code (hwmodel/machine): lanes have program counters of their own. The entries of a warp's stack are
     * groups of lanes with equal ones, each without a join; the top runs, and the others take turns with it. */
    bool independent;
    HD_ARRAY(hd_bank_row) bank_rows;
    hd_read_bank *read_bank;                 /* NULL: PTX */
    const struct hd_machine_kernel *machine; /* NULL: PTX */
    const struct hd_machine_rows *machine_rows;
};

/* Bytes of a lane of a register: 2, 4, 8, 16; 0: a predicate or %CC. */
static inline uint32_t hd_register_lane_bytes(const hd_function *f, uint32_t reg)
{
    hd_type t = (hd_type)f->registers.items[reg].type;
    return !hd_type_words(t) ? 0 : hd_types[t].bits <= 16 ? 2 : hd_types[t].bits / 8u;
}

/* Whether lanes meet at it: shfl, vote, match, redux and elect with .sync. */
static inline bool hd_op_meets(const hd_op *op) { return op->flags & HD_OP_MEETS; }

#endif
