/* The results of a report as data: the content of hd_context_report()'s report, for programs.
 *
 * Four different register counts:
 *   max_pressure  maximum register pressure: the maximum number of 32-bit registers live at one instruction, after
 *                 simplification; exact
 *   allocated     registers needed by heddle's own register allocation; unknown if it, or a callee, is left virtual
 *   estimate      predicted count of ptxas: a model with known error
 *   ptxas         ptxas' own count, if it was run
 * A listing of machine code (SASS) has its own counts instead of the last three: hd_report_machine.
 *
 * Positions. Every instruction of the simplified code leads by its origin to an instruction of the input; lines are
 * those of the input's text, source positions those of its .loc. Instructions are identified by their ordinal in
 * the simplified function: the index in hd_report_kernel.instructions.
 *
 * All arrays and strings belong to the producer of the report; hd_context_report_results() documents their lifetime. An
 * array is NULL only if its count is 0. Strings are not NULL unless documented. Columns count bytes from 1, lines count
 * from 1.
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
    uint32_t ptx_line; /* of the input: of the PTX, or of the listing of machine code; 0: none */
    bool in_listing;
    const char *file; /* of .loc, or NULL */
    uint32_t line, column;
    const char *inlined_file; /* where it was inlined, or NULL */
    uint32_t inlined_line;
} hd_report_position;

/* One instruction. Its live set: the ranges that contain it. */
typedef struct hd_report_instruction {
    const char *text; /* as printed, without annotations; one line */
    hd_report_position position;
    uint32_t block;
    uint32_t live;       /* 32-bit registers needed: the larger of those live before it, and those live after it
                          * together with its results; wide values count with all words */
    uint32_t predicates; /* likewise */
    uint16_t loop_depth;
    bool reachable;
    bool single_use_load; /* a load (not of a parameter) whose value a single instruction reads */
} hd_report_instruction;

/* One interval of a live range: the instructions [first, last], in layout order, over which a register holds a value
 * (as in nvdisasm -plr). Sorted by first, then register. A value that is never read has an interval of one
 * instruction. */
typedef struct hd_report_range {
    uint32_t reg; /* index in registers */
    uint32_t first, last;
} hd_report_range;

typedef enum hd_report_access { HD_REPORT_WRITE = 1, HD_REPORT_READ = 2 } hd_report_access;
typedef struct hd_report_touch { /* sorted by instruction, then register */
    uint32_t instruction, reg;
    uint8_t access; /* bits of hd_report_access: both if the register is read and written */
} hd_report_touch;

typedef struct hd_report_register {
    const char *name;
    uint8_t words; /* 0: no general register (a predicate, or a constant operand of its only reader) */
    bool predicate;
    uint32_t packed; /* the register with which it shares a word, or HD_REPORT_NONE */
} hd_report_register;

/* A value that is live at the point of maximum pressure. */
typedef struct hd_report_value {
    uint32_t reg;
    uint32_t definition;   /* the instruction that defines the value; HD_REPORT_NONE: several may, or none */
    uint32_t words;        /* in the register file, in addition to those of values listed before */
    uint32_t last_use;     /* the last read in layout order; HD_REPORT_NONE: none */
    uint32_t uses;         /* number of instructions that read it */
    uint32_t loop_depth;   /* of its definition */
    uint32_t uses_in_loop; /* in the innermost loop around that point; equal to uses if there is none */
    bool live_through;     /* live through that loop (without one: through some loop) and not used in it */
    /* "rematerialize" (cheap arithmetic of live values), "reload" (load of a parameter or constant), or NULL */
    const char *remedy;
    /* in the user's program: "parameter 2", "value of `a[i] * b` at add.cu:12", "value at add.cu:12"; or NULL */
    const char *source;
} hd_report_value;

typedef struct hd_report_line { /* one line of the source */
    const char *file;
    uint32_t line;
    uint32_t instructions; /* including those inlined at it */
    uint32_t max_pressure; /* maximum number of 32-bit registers that one of them needs */
    bool inlined;          /* all of its code is inlined elsewhere */
} hd_report_line;

typedef struct hd_report_statistic {
    const char *name;
    uint64_t value;
} hd_report_statistic;
typedef struct hd_report_technique {
    const char *name;    /* its spelling, as in heddle list techniques */
    const char *refusal; /* why it was not applied, or NULL */
    bool rewrites;       /* its pass changes the code; it ran on a copy */
    bool allocated;      /* in the code with allocated registers; else in virtual form */
    const hd_report_statistic *statistics;
    uint32_t statistic_count;
} hd_report_technique;

/* Distance from an access of a value to its next read, in instructions of its block: 1, 2, 3 to 4, 5 to 8 .. 33 to 64,
 * more, and reads in another block. */
enum { HD_REUSE_BUCKETS = 9 };

/* A finding worth the user's attention. */
typedef struct hd_report_finding {
    const char *rule; /* slug of a diagnostic, as heddle(1) lists them: "register-pressure" */
    bool is_error;    /* by -Werror; else a warning */
    hd_report_position position;
    uint32_t instruction; /* HD_REPORT_NONE: the whole kernel */
    const char *message;  /* one sentence without a full stop */
} hd_report_finding;

/* A warning of ptxas, or an info that is no statistic, about a kernel. */
typedef struct hd_report_message {
    const char *code; /* "C7508", or NULL */
    const char *text; /* as ptxas wrote it, without the code */
    bool is_warning;  /* else an info */
    bool is_shared;   /* ptxas does not say which kernel it is about: several have it */
    hd_report_position position;
} hd_report_message;

typedef struct hd_report_ptxas {
    bool known;          /* ptxas accepted the module and gave numbers for this kernel */
    const char *unknown; /* why it is unknown, or NULL */
    uint32_t registers, barriers;
    uint64_t spill_stores, spill_loads, stack_bytes;
    uint64_t shared_bytes; /* static shared memory per thread block, with registers that are spilled to it */
    const hd_report_message *messages;
    uint32_t message_count;
    bool messages_unknown; /* in a report that was read from a file of an earlier version */
} hd_report_ptxas;

/* The maximum number of registers that ptxas assigns to the kernel. */
typedef struct hd_report_cap {
    uint32_t registers;
    bool binds;          /* set by launch bounds or --max-registers, not by the GPU's limit */
    const char *reason;  /* its origin: ".minnctapersm 2 with 1024 threads per block" */
    const char *ignored; /* a directive or option that has no effect, and why; or NULL */
} hd_report_cap;

/* Spills of our allocation under the cap: bytes stored and loaded, each access in the code counted once, as ptxas
 * counts its own. */
typedef struct hd_report_spills {
    const char *unknown; /* why it is unknown; NULL: known */
    uint64_t stores, loads;
    uint32_t rematerialized; /* number of values rematerialized instead */
} hd_report_spills;

/* The loop with the most 32-bit registers live into its header; words 0: there is none. If the estimate is below
 * `words`, registers of the kinds counted here are freed, or spilled. */
typedef struct hd_report_loop {
    uint32_t words, constant_offsets, rematerialized, uniform;
    hd_report_position position; /* of the header */
} hd_report_loop;

typedef struct hd_report_use { /* the inputs of occupancy */
    uint32_t threads;          /* per thread block */
    uint32_t registers;        /* per thread: those of ptxas if known, else the estimate */
    uint64_t shared_bytes;     /* per thread block, static and dynamic */
    uint32_t barriers;         /* per thread block; 0: not limited by them */
} hd_report_use;

typedef struct hd_report_occupancy {
    uint32_t ctas, warps;   /* resident thread blocks and warps per SM */
    double fraction;        /* resident warps divided by the SM's maximum, 0 to 1 */
    const char *limiter;    /* "warps", "ctas", "registers", "shared", "barriers"; "impossible": ctas is 0 */
    const char *impossible; /* why ctas is 0: "more threads than a CTA may have" ...; else NULL */
} hd_report_occupancy;

/* What ptxas made of the kernel under another cap of its registers. */
typedef struct hd_report_trial {
    uint32_t cap;          /* registers per thread at most, as ptxas derives it from `given` */
    const char *given;     /* how the cap was given: "-maxrregcount=48", ".minnctapersm 5" */
    hd_report_ptxas ptxas; /* its numbers, without messages */
    hd_report_occupancy occupancy;
} hd_report_trial;

/* A setmaxnreg of the kernel: a warp group (four warps) releases registers to the pool of its thread block, or takes
 * more from it, and waits until there are so many. */
typedef struct hd_report_budget_step {
    uint32_t registers; /* per thread, after it */
    bool releases;
    uint32_t instruction;
} hd_report_budget_step;

/* The pool of a thread block: `groups` warp groups, each thread with `initial` registers at launch. */
typedef struct hd_report_budget {
    const hd_report_budget_step *steps; /* in layout order */
    uint32_t step_count;                /* 0: the kernel has no setmaxnreg */
    uint32_t groups, initial;           /* initial 0: not known */
    uint32_t least,
        most;         /* the fewest registers that a warp group releases down to, the most that one asks for; without
                           * such a step: as at launch */
    uint32_t granted; /* how many groups can have `most` while all others have `least` */
    bool ignored;     /* ptxas says that it ignores setmaxnreg here */
} hd_report_budget;

/* Resident thread blocks that one limit alone would allow. */
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

/* A subroutine within the function's code, such as a division. */
typedef struct hd_report_subroutine {
    const char *name; /* as the listing calls it; NULL: it prints addresses only */
    uint32_t first;   /* its first instruction */
    uint32_t instructions, calls;
} hd_report_subroutine;

/* Machine code (SASS). All numbers are exact, or unknown with the reason. */
typedef struct hd_report_machine {
    uint32_t named;     /* general registers that the code names: the highest, plus 1 */
    uint32_t registers; /* per thread; 0: unknown */
    /* where that number is from: "option"; "listing", which states it; "derived": those named, since Volta two more;
     * NULL: it is unknown */
    const char *registers_from;
    const char *registers_unknown;          /* why they are unknown, or NULL */
    uint32_t predicates, uniform_registers; /* likewise by name */
    uint64_t code_bytes;                    /* 0: the listing has no addresses */
    /* instructions that access local memory, each once, and their bytes per thread: spilled registers and variables in
     * local memory, which look the same */
    uint32_t local_stores, local_loads;
    uint64_t local_store_bytes, local_load_bytes;
    uint32_t moves;                          /* copies of a register or a constant */
    uint32_t convergence;                    /* for lanes that meet again: BSSY, BSYNC, SYNC, WARPSYNC */
    uint32_t padding;                        /* NOP */
    const hd_report_subroutine *subroutines; /* in the order of the code */
    uint32_t subroutine_count;
    uint32_t calls;            /* call instructions */
    const char *info_unknown;  /* why memory sizes, barriers and launch bounds are unknown, or NULL */
    const char *bound;         /* why the occupancy is an upper bound, or NULL */
    const char *banks_unknown; /* why bank conflicts and use of the reuse cache are unknown, or NULL */
    /* source operands that are one general register, those with .reuse, and those that the reuse cache serves */
    uint64_t sources, reuse_flags, reuse_served;
    uint64_t window_served; /* by BOW's bypass window of three instructions */
} hd_report_machine;

/* One source line, as PTX and as machine code; instructions of each. */
typedef struct hd_report_pair_line {
    const char *file;
    uint32_t line;
    uint32_t ptx_instructions, machine_instructions, ptx_pressure, machine_pressure;
} hd_report_pair_line;

/* The machine code of a kernel that the report has as PTX. */
typedef struct hd_report_pair {
    const struct hd_report_kernel *machine;
    hd_report_pair_line *lines; /* by file and line; none where one of both has no lines */
    uint32_t line_count;
} hd_report_pair;

typedef struct hd_report_kernel {
    const char *name, *demangled; /* demangled: equal to name if it is not mangled */
    bool is_entry;
    bool is_machine; /* machine code: `machine` is set; estimate, cap, predicted, loop, ptxas, allocated are not */
    hd_report_machine machine;
    const hd_report_pair *pair;  /* of PTX: its machine code, where there is some; or NULL */
    const char *arch;            /* name of the GPU description for its occupancy */
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
    const char *allocated_unknown; /* why the allocation is unknown, or NULL */
    hd_report_cap cap;             /* register cap */
    hd_report_spills predicted;
    /* The likely count of ptxas, and an interval that held it for so many of the kernels measured
     * (docs/estimate.md). */
    uint32_t estimate, estimate_low, estimate_high, estimate_coverage_percent;
    hd_report_loop loop;
    hd_report_ptxas ptxas;
    uint64_t static_shared_bytes, local_bytes, constant_bytes, parameter_bytes;
    uint32_t barriers;

    hd_report_use use;
    const char *block_from;      /* origin of the block size in `use`: "option", "reqntid", "maxntid" or "assumed" */
    bool uses_dynamic_shared;    /* it, or a callee, names shared memory whose size a launch gives */
    bool dynamic_shared_unknown; /* that size is unknown: the occupancy is an upper bound */
    uint32_t cluster_ctas;       /* thread blocks of its cluster; 0: none */
    /* the origin of the registers in `use`: "ptxas", "estimate"; of machine code that of hd_report_machine, or "code":
     * those named */
    const char *registers_from;
    hd_report_occupancy occupancy;
    hd_report_limit *limits; /* the existing limits */
    uint32_t limit_count;
    hd_report_step gain, loss; /* next step with fewer registers, with more */
    hd_report_trial *trials;   /* by cap, highest first */
    uint32_t trial_count;
    const char *trials_unknown; /* why nothing was tried, or NULL */
    /* where no thread block fits: the largest block size, in steps of 32, that does, and the maximum number of
     * registers with which the given one fits; 0: none */
    uint32_t fitting_block, fitting_registers;
    hd_report_budget budget;
    hd_report_occupancy *sweep; /* by block size: 32, 64 .. */
    uint32_t sweep_count;

    uint32_t banks;                   /* register-file banks for the next two */
    bool left_virtual;                /* our allocation cannot handle it: the next two are unknown */
    uint64_t bank_conflicts;          /* instructions with two sources in one bank, in allocated code; of machine code,
                                       * those whose sources a bank delivers for longer than their unit takes them */
    uint64_t bank_conflicts_weighted; /* each counts 10 to the power of its loop depth */
    uint64_t single_use_loads, loads;
    uint64_t reuse[HD_REUSE_BUCKETS];
    hd_report_technique *techniques;
    uint32_t technique_count;
    hd_report_finding *findings; /* most important first */
    uint32_t finding_count;
    /* terms of --require that it does not satisfy, with the value: "registers<=96 (has 112)" */
    const char **failed_gates;
    uint32_t failed_gate_count;
} hd_report_kernel;

typedef struct hd_report_module {
    const char *path;                         /* of the input */
    const char *compiled;                     /* the call of nvcc that made the PTX of CUDA source, or NULL */
    bool is_machine;                          /* a listing of machine code, not PTX */
    const char *arch;                         /* name of the GPU description */
    uint32_t block;                           /* threads per block given by the user; 0: each kernel's own */
    const char *ptxas_version;                /* or NULL */
    const char *ptxas_unknown;                /* why there are no numbers of ptxas, or NULL */
    bool simplified;                          /* the simplification passes (`select`) ran */
    const struct hd_report_module *assembled; /* of PTX: the listing of its machine code, or NULL */
    hd_report_kernel *kernels;                /* with a body and selected, in text order */
    uint32_t kernel_count;
} hd_report_module;

#ifdef __cplusplus
}
#endif

#endif
