/* Runs small kernels given as PTX text in the interpreter, on buffers of the test. */
#ifndef HD_TESTS_KERNEL_H
#define HD_TESTS_KERNEL_H

#include "unit.h"

#include "hwmodel/exec/exec.h"
#include "parser/parse.h"
#include "passes/pass.h"

enum { VALUES_BYTES = 32 };

typedef struct kernel_run {
    /* a module with one kernel: k(.param .u64 in, .param .u64 out), with `values` behind if it likes */
    const char *text;
    const hd_module *module; /* in place of it, to be copied; NULL: the text is read */
    const void *in;
    size_t in_bytes, out_bytes;
    const void *values;   /* of a third parameter, VALUES_BYTES; NULL: zeros */
    void *out;            /* what the kernel left; in before: its first content */
    uint32_t grid, block; /* 0: 1 and 32 */
    uint32_t shared;
    bool cooperative;
    hd_exec_options options;
    const char *passes; /* to run first, each checked; NULL: none */
    const hd_sink *sink;
    void (*opened)(struct kernel_run *run, hd_module *module); /* after the passes: may set `sink` */
    void (*closing)(struct kernel_run *run);                   /* after the launch, while the module is there */
    void *context;                                             /* theirs */
    hd_texture_set textures;                                   /* with their bytes placed */
    /* results */
    hd_exec_status status; /* HD_EXEC_UNSUPPORTED where decoding refused */
    hd_exec_statistics statistics;
    uint32_t diagnostics;
    char message[512]; /* of the first one */
    char notes[2048];  /* its notes, each "LINE: text\n", line 0 where it has no place */
    char slug[64];
    uint32_t line, column;
} kernel_run;

void run_kernel(kernel_run *run);

/* A module around a body that finds threads' index in %r0, pointers in %rd0 (in) and %rd1 (out), and a third parameter,
 * .align 16 .b8 values[VALUES_BYTES]. */
const char *kernel_text(char *buffer, size_t size, const char *body);
/* The same for another version and target ("8.8", "sm_90"); with .b128 %q0 .. %q7 from PTX 8.3 on. */
const char *kernel_text_for(char *buffer, size_t size, const char *version, const char *target, const char *body);

#endif
