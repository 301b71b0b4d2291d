/* What `heddle report` finds in a module, as data: what hd_context_report() prints, for programs that read it.
 *
 * Four register counts that are never mixed:
 *   max_pressure  maximum register pressure: the most 32-bit registers live at one instruction, after simplification;
 *                 exact
 *   allocated     what heddle's own register allocation needs for it; not known where it is left virtual, or what it
 *                 calls
 *   estimate      what ptxas will probably use: a model, with known error
 *   ptxas         its own count, where it was asked
 *
 * Positions. Every instruction of the simplified code leads back by its origin to an instruction of the input; lines
 * are those of the input's PTX text, source positions those of its .loc. An instruction is named by its ordinal in the
 * simplified function: its index in hd_report_kernel.instructions.
 *
 * All arrays and texts belong to whoever made the report; hd_context_report_results() says for how long they stay. An
 * array is NULL only where its count is 0. Texts are never NULL except where that is said. Columns count bytes from 1,
 * lines count from 1.
 */
#ifndef HEDDLE_REPORT_RESULT_H
#define HEDDLE_REPORT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No instruction, or no register. */
#define HD_REPORT_NONE UINT32_MAX

typedef struct hd_report_position {
    uint32_t ptx_line; /* 0: none */
    const char *file;  /* of .loc, or NULL */
    uint32_t line, column;
    const char *inlined_file; /* where it was inlined, or NULL */
    uint32_t inlined_line;
} hd_report_position;

/* One instruction. Its live set: the ranges that hold it. */
typedef struct hd_report_instruction {
    const char *text; /* as printed, without annotations; one line */
    hd_report_position position;
    uint32_t block;
    uint32_t live;       /* 32-bit registers that it needs: the larger of those live before it, and those live after it
                             * together with its results; of wide values all words */
    uint32_t predicates; /* likewise */
    uint16_t loop_depth;
    bool reachable;
    bool single_use_load; /* loads (not a parameter) what a single instruction reads */
} hd_report_instruction;

/* One interval of a live range: the instructions [first, last], in layout order, over which a register holds a value
 * (as nvdisasm's -plr). Sorted by first, then register. A value that is
 * written and never read has an interval of one instruction. */
typedef struct hd_report_range {
    uint32_t reg; /* index in registers */
    uint32_t first, last;
} hd_report_range;

typedef enum hd_report_access { HD_REPORT_WRITE = 1, HD_REPORT_READ = 2 } hd_report_access;
typedef struct hd_report_touch { /* sorted by instruction, then register */
    uint32_t instruction, reg;
    uint8_t access; /* bits of hd_report_access: both of a register that is read and written */
} hd_report_touch;

typedef struct hd_report_register {
    const char *name;
    uint8_t words; /* 0: no general register (a predicate, or a constant operand of its one reader) */
    bool predicate;
    uint32_t packed; /* the register that it shares a word with, or HD_REPORT_NONE */
} hd_report_register;

/* A value that is live at the point of maximum pressure. */
typedef struct hd_report_value {
    uint32_t reg;
    uint32_t definition;   /* the instruction whose value it is; HD_REPORT_NONE: several may be, or none */
    uint32_t words;        /* of the register file, beyond those of values listed before */
    uint32_t last_use;     /* the last one in layout order that reads it; HD_REPORT_NONE: none does */
    uint32_t uses;         /* instructions that read it */
    uint32_t loop_depth;   /* of its definition */
    uint32_t uses_in_loop; /* in the innermost loop around that point; equal to uses where there is none */
    bool live_through;     /* live through that loop (where there is none: through some loop) and not used in it */
    /* "rematerialize" (cheap arithmetic of live values), "reload" (load of a parameter or constant), or NULL */
    const char *remedy;
} hd_report_value;

typedef struct hd_report_line { /* one line of the source */
    const char *file;
    uint32_t line;
    uint32_t instructions; /* those that were inlined at it included */
    uint32_t max_pressure; /* most 32-bit registers that one of them needs */
    bool inlined;          /* all of its code is inlined elsewhere */
} hd_report_line;

typedef struct hd_report_statistic {
    const char *name;
    uint64_t value;
} hd_report_statistic;
typedef struct hd_report_technique {
    const char *name;    /* its spelling, as heddle list techniques has it */
    const char *refusal; /* why it found nothing to do, or NULL */
    bool rewrites;       /* its pass changes the code; what it found was tried on a copy */
    bool allocated;      /* found in the code with its registers allocated by us; else they are virtual */
    const hd_report_statistic *statistics;
    uint32_t statistic_count;
} hd_report_technique;

/* Distance from an access of a value to its next read, in instructions of its block: 1, 2, 3 to 4, 5 to 8 .. 33 to 64,
 * more, and reads in another block. */
enum { HD_REUSE_BUCKETS = 9 };

/* What is worth a look at. */
typedef struct hd_report_finding {
    const char *rule; /* slug of a diagnostic, as heddle(1) lists them: "register-pressure" */
    bool is_error;    /* by -Werror; else a warning */
    hd_report_position position;
    uint32_t instruction; /* HD_REPORT_NONE: about the whole kernel */
    const char *message;  /* one sentence without a full stop */
} hd_report_finding;

typedef struct hd_report_ptxas {
    bool known;          /* it took the module and said so of this kernel */
    const char *unknown; /* why it is not known, or NULL */
    uint32_t registers, barriers;
    uint64_t spill_stores, spill_loads, stack_bytes;
} hd_report_ptxas;

/* The most registers that ptxas gives the kernel. */
typedef struct hd_report_cap {
    uint32_t registers;
    bool binds;          /* launch bounds or --max-registers make it, not the GPU */
    const char *reason;  /* what makes it: ".minnctapersm 2 with 1024 threads per block" */
    const char *ignored; /* a directive or option that has no effect, and why; or NULL */
} hd_report_cap;

/* What our allocation under the cap stores and loads of registers that do not fit: bytes, each access in the code once,
 * as ptxas counts its own. */
typedef struct hd_report_spills {
    const char *unknown; /* why it was not determined; NULL: it was */
    uint64_t stores, loads;
    uint32_t rematerialized; /* values that it makes anew instead */
} hd_report_spills;

/* The loop with most 32-bit registers live into its header; words 0: there is none. An
 * estimate below `words` frees registers of the kinds counted here, or spills. */
typedef struct hd_report_loop {
    uint32_t words, constant_offsets, rematerialized, uniform;
    hd_report_position position; /* of the header */
} hd_report_loop;

typedef struct hd_report_use { /* what occupancy follows from */
    uint32_t threads;          /* of a thread block */
    uint32_t registers;        /* of a thread: those of ptxas where known, else the estimate */
    uint32_t shared_bytes;     /* of a thread block, static and dynamic */
    uint32_t barriers;         /* of a thread block; 0: not limited by them */
} hd_report_use;

typedef struct hd_report_occupancy {
    uint32_t ctas, warps;   /* thread blocks and warps of an SM at a time */
    double fraction;        /* warps of the SM's most, 0 to 1 */
    const char *limiter;    /* "warps", "ctas", "registers", "shared", "barriers"; "impossible": ctas is 0 */
    const char *impossible; /* why ctas is 0: "more threads than a CTA may have" ...; else NULL */
} hd_report_occupancy;

/* Thread blocks of an SM that one limit alone would allow. */
typedef struct hd_report_limit {
    const char *name; /* as in hd_report_occupancy.limiter */
    uint32_t ctas;    /* UINT32_MAX: no limit */
} hd_report_limit;

/* The next number of registers in one direction at which the number of resident thread blocks changes. */
typedef struct hd_report_step {
    bool exists;
    uint32_t registers;
    hd_report_occupancy then;
} hd_report_step;

typedef struct hd_report_kernel {
    const char *name, *demangled; /* demangled: equal to name where it is no mangled one */
    bool is_entry;
    hd_report_position position; /* of its header */
    uint32_t instruction_count, input_instructions, block_count, loop_count;
    hd_report_instruction *instructions; /* of the simplified function */
    hd_report_register *registers;
    uint32_t register_count;
    hd_report_range *ranges;
    uint32_t range_count;
    hd_report_touch *touches;
    uint32_t touch_count;
    uint32_t *block_pressure; /* by block */
    uint32_t *removed_lines;  /* PTX lines of input instructions that simplification removed, ascending */
    uint32_t removed_line_count;
    hd_report_line *lines; /* by file and line */
    uint32_t line_count;

    uint32_t max_pressure, max_predicate_pressure;
    uint32_t max_pressure_at; /* the first of those deepest in loops; HD_REPORT_NONE: there is no instruction */
    hd_report_value *values;  /* live at max_pressure_at; widest and longest first */
    uint32_t value_count;
    uint32_t allocated, allocated_predicates;
    const char *allocated_unknown; /* why neither is known, or NULL */
    hd_report_cap cap;             /* on registers */
    hd_report_spills predicted;
    uint32_t estimate;
    hd_report_loop loop;
    hd_report_ptxas ptxas;
    uint64_t static_shared_bytes, local_bytes, constant_bytes, parameter_bytes;
    uint32_t barriers;

    hd_report_use use;
    const char *block_from;      /* of the threads per block in `use`: "option", "reqntid", "maxntid" or "assumed" */
    bool uses_dynamic_shared;    /* it, or what it calls, names shared memory whose size a launch gives */
    bool dynamic_shared_unknown; /* the same, and nothing says how much: then the occupancy is an upper bound */
    uint32_t cluster_ctas;       /* thread blocks of a cluster that it asks for; 0: none */
    const char *registers_from;  /* "ptxas" or "estimate": which of them `use` has */
    hd_report_occupancy occupancy;
    hd_report_limit *limits; /* each that there is */
    uint32_t limit_count;
    hd_report_step gain, loss;  /* with fewer registers, with more */
    hd_report_occupancy *sweep; /* by block size: 32, 64 .. */
    uint32_t sweep_count;

    uint32_t banks;                   /* of the register file that the next two are for */
    bool left_virtual;                /* our allocation cannot do it: the next two are not known */
    uint64_t bank_conflicts;          /* instructions with two sources in one bank, in allocated code */
    uint64_t bank_conflicts_weighted; /* times 10 for each loop around */
    uint64_t single_use_loads, loads;
    uint64_t reuse[HD_REUSE_BUCKETS];
    hd_report_technique *techniques;
    uint32_t technique_count;
    hd_report_finding *findings; /* the most important first */
    uint32_t finding_count;
    /* terms of --require that it does not meet, with what it has: "registers<=96 (has 112)" */
    const char **failed_gates;
    uint32_t failed_gate_count;
} hd_report_kernel;

typedef struct hd_report_module {
    const char *path;          /* of the PTX file */
    const char *arch;          /* name of the GPU description */
    uint32_t block;            /* threads per block asked for; 0: each kernel's own */
    const char *ptxas_version; /* or NULL */
    const char *ptxas_unknown; /* why there are no numbers of ptxas, or NULL */
    bool simplified;           /* the simplification passes (`clean`) ran */
    hd_report_kernel *kernels; /* with a body and selected, in text order */
    uint32_t kernel_count;
} hd_report_module;

#ifdef __cplusplus
}
#endif

#endif
