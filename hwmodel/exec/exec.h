/* The functional SIMT interpreter: executes a kernel's grid exactly, and reports every warp instruction to sinks.
 *
 *   hd_image_load    places a module's .global and .const variables in device memory
 *   hd_program_new   decodes a kernel and everything it may call; reports unsupported constructs (HD_DIAG_UNSUPPORTED)
 *   hd_program_run   runs one grid
 *
 * hwmodel/launch/launch.h does all three from a launch file; use this interface directly only without one.
 *
 * Order. CTAs run one after another by linear index (x fastest), or in the options' block_order. Within a CTA, warps
 * take turns by index: a warp runs until it waits at a barrier, ends, or has issued HD_EXEC_QUANTUM instructions in a
 * row. A divergent branch executes its taken side first, then the fall-through side; brx.idx executes its targets in
 * table order, all lanes of a target together; an indirect call executes its targets in the order of their lowest
 * calling lanes. So events, memory and faults are the same in every run, also if CTAs run in parallel on several
 * threads (workers.h).
 *
 * A warp also yields at nanosleep, and at an mbarrier's test_wait or try_wait that is not complete. Lanes that wait for
 * others of their warp (barriers without .aligned, bar.warp.sync; every 16th yield) let another side of the branch run
 * first.
 *
 * The CTAs of a cooperative grid also take turns: each warp of a CTA executes HD_COOPERATIVE_QUANTUM instructions, then
 * the next CTA continues. %envreg1 and %envreg2 are the upper and lower half of the address of its workspace, which the
 * device runtime uses for grid-wide barriers; in other grids they are 0.
 *
 * Events. An instruction is reported before it executes; if a sink requests columns, afterwards, because they contain
 * its results: then a faulting instruction is not reported. Branches, calls and returns are always reported before, and
 * so are barriers without a result. An instruction that executes again (park.h) is reported and counted once: bar.red
 * when it completes.
 *
 * A CTA that can never end is a kernel fault, never a hang: every warp waits at barriers that cannot open, or the state
 * that determines its progress repeats without a change of shared or global memory (livelock.c). Where something else
 * could change that memory on a GPU, it is a limit of the model (UNSUPPORTED): lanes of the same warp, with independent
 * thread scheduling; a later CTA; the host or another grid, with others_write.
 *
 * A kernel that runs forever while it changes memory cannot be distinguished from a long-running one: the option
 * instruction_limit ends it.
 *
 * Calls of functions without a body that nvcc uses (vprintf, malloc ..: builtin.def) are executed here, as instructions
 * without a call frame.
 *
 * Supported instructions: the head of hwmodel/exec/ops/exec.def.
 */
#ifndef HD_HWMODEL_EXEC_EXEC_H
#define HD_HWMODEL_EXEC_EXEC_H

#include "base/meter.h"
#include "base/ordering.h"
#include "base/pool.h"
#include "hwmodel/lane_fault.h"
#include "hwmodel/memory/memory.h"
#include "hwmodel/record/event.h"
#include "hwmodel/memory/texture.h"

enum { HD_EXEC_QUANTUM = 4096, HD_COOPERATIVE_QUANTUM = 256, HD_WARP_LANES = 32 };

struct hd_machine_section;
typedef struct hd_placed_section { /* of a cubin (hwmodel/machine) */
    const struct hd_machine_section *section;
    uint32_t allocation; /* index in memory->allocations */
} hd_placed_section;

/* Addresses of a module's variables. */
typedef struct hd_image {
    const hd_module *module; /* borrowed */
    hd_memory *memory;       /* borrowed */
    uint64_t *addresses; /* by symbol: address in the symbol's own space (GLOBAL, CONST); functions: their code address;
                            else 0 */
    uint32_t *allocations;                /* by symbol: index in memory->allocations or HD_NONE */
    HD_ARRAY(hd_placed_section) sections; /* of machine code: those that are in memory */
    const hd_texture_set *textures;       /* borrowed; NULL: none. Set it before a program runs */
} hd_image;

/* Allocates and initializes the variables. false (reported) if that fails. */
bool hd_image_load(hd_image *image, const hd_module *module, hd_memory *memory, hd_diagnostics *diagnostics);
void hd_image_free(hd_image *image);

typedef struct hd_program hd_program;

typedef struct hd_program_facts {
    const hd_function *kernel;
    uint32_t functions;       /* decoded functions: the kernel and everything it may call */
    uint32_t instructions;    /* of all decoded functions */
    uint32_t parameter_bytes; /* of the kernel's parameter block */
    uint64_t static_shared_bytes;
    uint32_t register_bytes_per_warp; /* of the kernel's own call frame in the interpreter */
    uint32_t local_bytes_per_thread;  /* of the kernel's own call frame */
} hd_program_facts;

/* Decodes a kernel. NULL (reported: HD_DIAG_UNSUPPORTED at each location, HD_DIAG_UNDECLARED_NAME for a callee without
 * body) if reachable code is not supported. Builds missing CFGs; the program keeps no pointer into them. The module and
 * image must outlive the program, and the module must not be changed. */
hd_program *hd_program_new(hd_module *module, hd_function *kernel, const hd_image *image, hd_diagnostics *diagnostics);
void hd_program_free(hd_program *program);
hd_program_facts hd_program_describe(const hd_program *program);

/* Offset of a kernel parameter in the parameter block. */
uint32_t hd_parameter_offset(const hd_module *module, const hd_function *kernel, uint32_t parameter);
uint32_t hd_parameter_block_bytes(const hd_module *module, const hd_function *kernel);

typedef struct hd_grid {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const unsigned char *parameters; /* the parameter block */
    bool cooperative;                /* all CTAs are resident and take turns; at most HD_MOST_COOPERATIVE CTAs */
    /* for cooperative launches: address of HD_WORKSPACE_BYTES of global memory, zero before the launch */
    uint64_t workspace;
} hd_grid;
enum { HD_MOST_COOPERATIVE = 4096, HD_WORKSPACE_BYTES = 16 };
static inline uint32_t hd_grid_threads_per_cta(const hd_grid *g) { return g->block[0] * g->block[1] * g->block[2]; }
static inline uint32_t hd_grid_warps_per_cta(const hd_grid *g) { return (hd_grid_threads_per_cta(g) + 31) / 32; }
static inline uint64_t hd_grid_ctas(const hd_grid *g) { return (uint64_t)g->grid[0] * g->grid[1] * g->grid[2]; }

/* How a grid is run. All zero: one thread, no limit, no optional checks, printed output is dropped. */
typedef struct hd_exec_options {
    uint64_t instruction_limit; /* stops the grid after this number of warp instructions; 0: no limit */
    uint32_t threads;           /* host threads that run CTAs in parallel; 0 is 1. With sinks always one */
    /* NULL: all `threads` run this grid; else the caller's, and as many as the budget has when the grid begins */
    hd_thread_budget *budget;
    const atomic_bool *stop;    /* NULL: none; else the run ends soon, with STOPPED, after another thread has set it */
    const atomic_bool *cancel;  /* the same, of another one who may ask */
    hd_meter *meter;            /* a unit for each CTA that has ended; NULL: none */
    hd_faulty_lane *lane_fault; /* NULL: none; else all blocks run on one thread, and it counts in there */
    hd_ordering block_order;    /* in which CTAs start, and in which those of a cooperative grid take turns */
    bool others_write;          /* the host or other grids write memory, but only after this run */
    bool check_uninitialized;   /* use of an uninitialized value is a fault (uninitialized.c) */
    bool check_races;           /* accesses to shared memory without a barrier in between: each pair of instructions is
                               * reported like a fault and counted, and the run continues (races.c) */
    /* Receives printed output; called by one thread at a time, in CTA order. */
    void (*print)(void *context, const char *text, size_t size);
    void (*print_assertion)(void *context, const char *text, size_t size); /* of __assertfail; NULL: print */
    void *print_context;
} hd_exec_options;

typedef struct hd_exec_statistics {
    uint64_t ctas, warps;
    uint64_t warp_instructions;      /* ISSUE events */
    uint64_t thread_instructions;    /* lanes active in them */
    uint64_t effective_instructions; /* of these, lanes whose guard holds */
    uint64_t divergent_branches;     /* branches that split their warp */
    uint64_t barriers;               /* CTA barriers that opened */
    uint64_t races;                  /* pairs of instructions that race, with check_races */
    uint64_t repeated;               /* number of grids that ran again on one thread (workers.h); depends on timing */
    uint64_t cta_bytes; /* maximum host memory of one resident CTA: registers, local memory, stacks and other state */
} hd_exec_statistics;

void hd_exec_statistics_add(hd_exec_statistics *to, const hd_exec_statistics *more);

typedef enum hd_exec_status {
    HD_EXEC_DONE,
    HD_EXEC_FAULT,       /* the kernel failed: HD_DIAG_KERNEL_FAULT reported, detail hd_fault_class (exit status 5) */
    HD_EXEC_STOPPED,     /* a sink returned false, or another thread requested it */
    HD_EXEC_LIMIT,       /* limit exceeded at the end of a warp's turn; HD_DIAG_INSTRUCTION_LIMIT reported */
    HD_EXEC_UNSUPPORTED, /* detected at run time (rare: depends on values); HD_DIAG_UNSUPPORTED reported */
} hd_exec_status;

/* The classes of faults that a CUDA program can distinguish, by its error code. */
typedef enum hd_fault_class {
    HD_FAULT_OTHER,
    HD_FAULT_MISALIGNED, /* access to memory that is not aligned to its size */
    HD_FAULT_ADDRESS,    /* access outside of allocations, or a write to read-only memory */
    HD_FAULT_ASSERTION,
    HD_FAULT_STACK, /* overflow */
    HD_FAULT_PC,    /* a call of what is no function */
    HD_FAULT_HANG,  /* deadlock or livelock */
} hd_fault_class;

/* Runs the grid. Events go to every sink in order; without sinks the run is faster. Statistics are accumulated. */
hd_exec_status hd_program_run(const hd_program *program, const hd_grid *grid, const hd_exec_options *options,
                              const hd_sink *sinks, uint32_t sink_count, hd_exec_statistics *statistics,
                              hd_diagnostics *diagnostics);

#endif
