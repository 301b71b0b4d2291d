/* The job "rewrite": PTX in, passes, PTX out. */
#ifndef HD_DRIVER_REWRITE_H
#define HD_DRIVER_REWRITE_H

#include "emitters/ir/ptx.h"
#include "parser/parse.h"
#include "passes/manager/manager.h"

typedef struct hd_rewrite_options {
    const hd_pipeline *passes; /* NULL: none, and the output equals the input */
    hd_parse_options parse;
    hd_pipeline_options pipeline; /* print_function is set here */
    hd_emit_options emit;
} hd_rewrite_options;

/* Parses the source (and takes it), runs the passes and writes the result. Nothing is written if an error was reported;
 * errors of writing are in the writer. Returns the module: diagnostics refer to its text, so free it after rendering
 * them. */
hd_module *hd_rewrite(hd_source *source, const hd_rewrite_options *options, hd_writer *out,
                      hd_diagnostics *diagnostics);

/* Its parts, for a module that is there already. Runs the passes; false: an error was reported, and the module is not
 * to be used. */
bool hd_rewrite_module(hd_module *module, const hd_rewrite_options *options, hd_diagnostics *diagnostics);
/* Whether the module can be written so. false: reported in the module's diagnostics. */
bool hd_rewrite_can_print(const hd_module *module, const hd_emit_options *emit);

#endif
