/* Machine code (SASS of sm_75 and later) as programs of the interpreter.
 *
 * Each instruction is lowered to an op of the interpreter (hwmodel/exec/state/program.h): the same functions compute,
 * access memory, check and report as for PTX, so that hd_program_run runs the program, and every sink, model, timing
 * and statistic takes it without noticing. What PTX has not is in this folder: sums with carries in predicates, shifts
 * of pairs, and control.
 *
 * State. R0 .. are rows of 32 lanes with 32 bits, a pair is two of them; UR are rows with equal lanes; P and UP are
 * words with a bit per lane. Convergence barriers are rows, too: each lane has its own mask, because groups of a warp
 * that has split may use one barrier at the same time. Constant banks are filled from the launch and the cubin.
 *
 * Control. Each lane has its own program counter; lanes with the same one that came there together issue together
 * (control.c). A group that does not wait runs until its turn ends, then another one does: lanes that spin do not keep
 * others from going on.
 *
 * Values. Results of MUFU are rounded correctly where PTX's are, else as the interpreter's approximations. The
 * semantics of opcodes and how each was confirmed: docs/machine.md.
 *
 * Not handled, and named before the run (HD_DIAG_UNSUPPORTED): opcodes and modifiers without a row in opcodes.def. */
#ifndef HD_HWMODEL_MACHINE_MACHINE_H
#define HD_HWMODEL_MACHINE_MACHINE_H

#include "hwmodel/exec/exec.h"
#include "ir/machine_image.h"

typedef struct hd_machine_bank { /* the content of a constant bank in the file */
    const unsigned char *bytes;  /* borrowed; NULL: zeros */
    uint32_t size;
    uint64_t address; /* in device memory */
} hd_machine_bank;

/* What a file says of a kernel beyond its code. */
typedef struct hd_machine_kernel {
    uint32_t sm;
    uint32_t parameter_base, parameter_bytes; /* in bank 0; base 0: as the architecture has it */
    uint32_t shared_bytes;                    /* static, with what the architecture reserves at the beginning */
    uint32_t local_bytes;                     /* of a thread's stack */
    hd_machine_bank banks[HD_MACHINE_BANKS];
} hd_machine_kernel;

/* Places the constant banks and global variables of all cubins of image->module in device memory, with their
 * relocations; after hd_image_load, once. false (reported): they do not fit, or a relocation is of an unknown kind. */
bool hd_machine_image_load(hd_image *image, hd_diagnostics *diagnostics);
typedef struct hd_machine_variable { /* of a cubin */
    uint32_t allocation;             /* that it is in, an index in image->memory->allocations */
    uint64_t offset, bytes;
} hd_machine_variable;
/* false: the cubin has no variable of that name in memory. */
bool hd_machine_variable_of(const hd_image *image, const hd_machine_image *of, const char *name,
                            hd_machine_variable *variable);
/* What the sections of its listing say of a kernel; without them parameters, banks and sizes are none. */
hd_machine_kernel hd_machine_kernel_of(const hd_function *function, const hd_image *image);

/* Decodes a kernel. NULL (HD_DIAG_UNSUPPORTED reported at each instruction that is not executed, with function,
 * address and text). Module, image and what `kernel` refers to must outlive the program. Linear in the code. */
hd_program *hd_machine_program_new(hd_module *module, hd_function *function, const hd_machine_kernel *kernel,
                                   const hd_image *image, hd_diagnostics *diagnostics);

/* What the launch of a kernel needs and its listing does not say; NULL: nothing. */
const char *hd_machine_missing(const hd_machine_layout *layout);
/* Whether kernels are executed. false: *said has why (HD_DIAG_UNSUPPORTED). Decodes those that are machine code in an
 * image of their own. */
bool hd_machine_is_executed(hd_module *module, hd_function *const *kernels, uint32_t count, hd_diagnostics *said);

/* Parameters of a kernel, in PTX or in machine code that lacks nothing. */
uint32_t hd_kernel_parameters(const hd_function *kernel); /* number */
uint32_t hd_kernel_parameter_offset(const hd_module *module, const hd_function *kernel, uint32_t parameter);
uint64_t hd_kernel_parameter_bytes(const hd_module *module, const hd_function *kernel, uint32_t parameter);
uint32_t hd_kernel_block_bytes(const hd_module *module, const hd_function *kernel); /* of all */
/* The shape that its blocks must have, and how many threads they may have, by its directives; 0: it does not say. */
const uint32_t *hd_kernel_required_threads(const hd_function *kernel); /* three numbers */
uint64_t hd_kernel_most_threads(const hd_function *kernel);

/* The same with what the sections of the listing say of the kernel. */
hd_program *hd_machine_program_of(hd_module *module, hd_function *function, const hd_image *image,
                                  hd_diagnostics *diagnostics);

#endif
