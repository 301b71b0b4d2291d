/* Shared declarations of the report. Private to driver/report/report*.c.
 *
 *   report.c            the job: copies of the module, workers, the GPU, order
 *   report_live.c       liveness
 *   report_code.c       a kernel's instructions, registers, ranges, accesses, pressure
 *   report_lines.c      positions and source lines
 *   report_values.c     the values at the point of maximum pressure
 *   report_calls.c      resources of functions and their callees
 *   report_resources.c  memory, barriers, loads, allocation, bank conflicts
 *   report_techniques.c statistics of each technique's pass
 *   report_occupancy.c  occupancy
 *   report_budget.c     registers that setmaxnreg moves between warp groups
 *   report_ptxas.c      numbers and messages of ptxas
 *   report_trials.c     what ptxas makes of a kernel under other register caps
 *   report_source.c     what values are in the user's program
 *   report_findings.c   findings
 *   report_sections.c   what sections of a listing of machine code state
 *   report_machine.c    machine code: registers, local memory, banks, reuse cache
 *   report_pair.c       PTX and machine code beside each other
 *
 * The input is parsed once as a read-only module, and once more by each worker, whose copy the passes change. A kernel
 * is processed by one worker, and its results do not depend on other kernels of that worker.
 */
#ifndef HD_DRIVER_REPORT_REPORT_WORK_H
#define HD_DRIVER_REPORT_REPORT_WORK_H

#include "driver/report/ptxas.h"
#include "driver/report/report.h"
#include "passes/estimate/estimate.h"
#include "passes/analysis/liveness.h"
#include "passes/regalloc/regalloc.h"
#include "passes/manager/manager.h"

/* Resources that a function uses. */
typedef struct report_uses {
    hd_u32_array callees;   /* functions with a body, with duplicates */
    hd_u32_array variables; /* shared and constant variables of it and of everything it may call: ascending symbols */
    uint32_t barriers;      /* the highest barrier that it and everything it may call name, plus 1 */
    bool indirect;          /* calls through a register */
} report_uses;

/* What the sections of nvdisasm's listing state about a function. */
typedef struct report_section {
    uint32_t registers; /* per thread; 0: not stated */
    uint32_t threads[3];
    bool required; /* threads are exactly so many; else at most */
    uint32_t barriers;
    uint32_t frame_bytes;     /* stack per thread: local variables and spills */
    uint32_t parameter_bytes; /* in the constant bank */
    uint64_t shared_bytes;    /* static, with what the GPU reserves */
    bool is_entry;
} report_section;
typedef struct report_sections {
    report_section *functions; /* by function of the module */
    bool any_info;             /* it has attributes: what they do not state is zero */
    bool any_entry;            /* it says which functions are entries */
} report_sections;
/* Linear in the text. */
report_sections report_read_sections(const hd_module *module, hd_arena *arena);

typedef struct report_gpu { /* of functions for one architecture */
    uint32_t sm;
    hd_gpu *gpu;
} report_gpu;

/* Data for all kernels; read-only while workers run. */
typedef struct report_common {
    const hd_report_options *options;
    hd_module *module; /* the input, not modified */
    const hd_gpu *gpu;
    uint32_t banks;
    report_uses *uses;              /* by function of the module */
    report_sections sections;       /* of machine code */
    HD_ARRAY(report_gpu) gpus;      /* of machine code for several architectures: those that `gpu` is not for */
    hd_pipeline *clean;             /* NULL: none */
    hd_pipeline **technique_passes; /* by technique; NULL: none */
    hd_pipeline_options machine;    /* the GPU that they decide for */
    bool ptxas_alone;               /* its numbers do not count what callees in other modules use */
} report_common;

/* Liveness for the walk: thread-level, restricted to points that a definition reaches (report_live.c). */
typedef struct report_live {
    hd_live_walk walk;
    bool any_partial;
    hd_bitset partial;       /* by register: live into the entry, but not defined there */
    uint32_t *first, *stamp; /* by register: first instruction of the block (stamp - 1) that writes it */
} report_live;

/* A kernel while a worker processes it. */
typedef struct report_kernel_work {
    const report_common *common;
    hd_arena *arena; /* for the results */
    hd_arena scratch;
    uint32_t function_index;
    const hd_function *input; /* in common->module */
    hd_function *function;    /* the worker's copy, simplified; allocated from report_allocation on, unless
                            * kernel->left_virtual */
    hd_cap_source cap_source; /* what limits its registers */
    const hd_cfg *cfg;
    hd_pass_context context;
    report_live live;
    const hd_liveness *liveness; /* the walk's liveness */
    hd_report_kernel *kernel;
    hd_diagnostics *diagnostics;
    uint8_t *words;                /* by register: words in the register file; 0 also for constant operands */
    uint32_t *definitions, *reads; /* by register: number of instructions that write it, that read it */
    /* by register: the other half of its register of 32 bits (passes/analysis/packed.h) */
    const uint32_t *packed;
} report_kernel_work;

/* Counts the words of a changing set: two halves of one register count as one word while either is in it. */
typedef struct report_words {
    const report_kernel_work *work;
    uint8_t *halves; /* by register, the lower of a pair: how many of the two are in the set */
    uint32_t words;
} report_words;
report_words report_words_new(report_kernel_work *work);
/* The words that are added or removed with a register. */
uint32_t report_words_add(report_words *set, uint32_t reg);
uint32_t report_words_remove(report_words *set, uint32_t reg);

/* By function. In the arena, except callees and variables. */
report_uses *report_find_uses(const hd_module *module, hd_arena *arena);

void report_live_init(report_kernel_work *work);
/* As hd_live_start and hd_live_step over work->live.walk. */
void report_live_start(report_kernel_work *work, uint32_t block);
void report_live_step(report_kernel_work *work);

/* Each fills its part of work->kernel; call them in this order. */
void report_code(report_kernel_work *work);
void report_lines(report_kernel_work *work);
void report_values(report_kernel_work *work);
void report_resources(report_kernel_work *work);
void report_cap(report_kernel_work *work);
void report_estimate(report_kernel_work *work); /* after the cap */
/* Allocates registers: the function is then architected. false (reported) if they do not fit. */
bool report_allocation(report_kernel_work *work, hd_architected *numbers);
void report_techniques(report_kernel_work *work); /* after an allocation that fits */
void report_machine(report_kernel_work *work);    /* machine code, instead of resources and what follows */
/* Code of which the listing does not say the architecture is that of the GPU that the user names. */
void report_assume_generation(hd_module *module, const hd_gpu *gpu);
/* false: the user gives one of these kernels fewer registers than it names, which is reported. */
bool report_registers_fit(const hd_module *module, const char *kernels);
void report_loads(report_kernel_work *work); /* loads and their uses; a part of the resources */
const hd_gpu *report_gpu_of(const report_common *common, const hd_function *function);

/* When all kernels are done: the numbers of ptxas, and its messages, each for the kernels that it may be about. `all`:
 * the kernels of the report and the functions that they may call, by `functions`. Linear in messages times kernels, and
 * in instructions for messages without a line. */
typedef struct report_item {
    hd_report_kernel *kernel;
    const hd_function *function;
} report_item;
hd_report_ptxas report_ptxas_numbers(const hd_ptxas_result *result, bool good, const char *name);
void report_ptxas_messages(const report_common *common, const hd_ptxas_result *result, const report_item *all,
                           uint32_t count, hd_arena *arena);
/* Runs ptxas under other register caps, after the occupancy is known: at most as often as `trials`. */
void report_trials(const report_common *common, const hd_ptxas_request *request, const report_item *all, uint32_t count,
                   uint32_t threads, hd_arena *arena);

/* What a thread block uses, with the numbers of ptxas where they are known. */
hd_occupancy_use report_use_with(const report_common *common, const hd_report_kernel *kernel,
                                 const hd_report_ptxas *ptxas);
hd_report_occupancy report_occupancy_result(const hd_occupancy *occupancy);

/* When all kernels are done, and ptxas if requested. */
void report_occupancy(const report_common *common, const hd_function *function, hd_report_kernel *kernel,
                      hd_arena *arena);
void report_budget(hd_report_kernel *kernel, hd_arena *arena); /* after the occupancy */
struct hd_source_files;
/* Names the source variables and expressions of a kernel's values. Source files are also looked for beside the file
 * `beside`, the input. */
void report_value_sources(struct hd_source_files *files, const char *beside, hd_report_kernel *kernel, hd_arena *arena);
void report_findings(const report_common *common, hd_report_kernel *kernel, const hd_diagnostics *diagnostics,
                     hd_arena *arena);

/* The position of an instruction of the input. */
hd_report_position report_position(const report_common *common, const hd_instruction *insn);

#endif
