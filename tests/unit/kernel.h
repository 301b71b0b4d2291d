/* Runs small kernels given as PTX text in the interpreter, on buffers of the test. */
#ifndef HD_TESTS_KERNEL_H
#define HD_TESTS_KERNEL_H

#include "unit.h"

#include "hwmodel/exec/exec.h"
#include "parser/parse.h"
#include "passes/pass.h"

enum { VALUES_BYTES = 32, KERNEL_RECORD_MAGIC = 0x6b64686b };

/* A kernel in a file of KERNEL_RECORD; after it the text with its NUL, `values`, the input, the output's first content
 * and its last. */
typedef struct kernel_record_head {
    uint32_t magic, text_bytes, in_bytes, out_bytes, grid, block, shared, cooperative;
} kernel_record_head;

typedef struct kernel_run {
    /* a module with one kernel: k(.param .u64 in, .param .u64 out), optionally followed by `values` */
    const char *text;
    const hd_module *module; /* instead of the text, to be copied; NULL: parse the text */
    const void *in;
    size_t in_bytes, out_bytes;
    const void *values;   /* the third parameter, VALUES_BYTES; NULL: zeros */
    void *out;            /* the kernel's output; before the run: its initial content */
    uint32_t grid, block; /* 0: 1 and 32 */
    uint32_t shared;
    bool cooperative;
    hd_exec_options options;
    bool low_memory;    /* all memory below 4 GB */
    const char *passes; /* passes to run first, each verified; NULL: none */
    const hd_sink *sink;
    void (*opened)(struct kernel_run *run, hd_module *module); /* after the passes: may set `sink` */
    void (*closing)(struct kernel_run *run);                   /* after the launch, while the module exists */
    void *context;                                             /* for the callbacks */
    hd_texture_set textures;                                   /* with the addresses of their bytes */
    /* results */
    hd_exec_status status; /* HD_EXEC_UNSUPPORTED if decoding failed */
    hd_exec_statistics statistics;
    uint32_t diagnostics;
    uint32_t detail;   /* of the first one */
    char message[512]; /* of the first one */
    char notes[2048]; /* its notes, each "LINE: text\n", "LINE, main.cu:4: text\n" with .loc; line 0 without location */
    char slug[64], origin[64]; /* origin: "main.cu:4" of a .loc */
    uint32_t line, column;
} kernel_run;

void run_kernel(kernel_run *run);

/* A module around a body, with the thread index in %r0, pointers in %rd0 (in) and %rd1 (out), and a third parameter,
 * .align 16 .b8 values[VALUES_BYTES]. */
const char *kernel_text(char *buffer, size_t size, const char *body);
/* The same for another version and target ("8.8", "sm_90"); with .b128 %q0 .. %q7 from PTX 8.3 on. */
const char *kernel_text_for(char *buffer, size_t size, const char *version, const char *target, const char *body);

#endif
