/* The files through which `heddle run` and the runtime in the program's process (cudart/) meet: a folder that the
 * environment variable names. */
#ifndef HD_DRIVER_RUN_RUN_FILES_H
#define HD_DRIVER_RUN_RUN_FILES_H

#define HD_RUN_VARIABLE "HEDDLE_RUN"
#define HD_RUN_OPTIONS_FILE "options.json"  /* what is asked: hd_run_request */
#define HD_TRACE_FILE "trace.jsonl"         /* what happened: cudart/recording.h */
#define HD_TRACE_FAILED_FILE "incomplete"   /* is there if something of it could not be written */
#define HD_RUN_LAUNCH_FILE "launch.yaml"    /* of a record */
#define HD_RUN_PTX_FILE "program.ptx"       /* its first module */
#define HD_RUN_CUBIN_FILE "program.cubin"   /* the same, of machine code */
#define HD_RUN_CUBINS_FILE "program.fatbin" /* of a record: what its launch file runs, where there are several cubins */
#define HD_RUN_LINKED_FILE \
    "linked.ptx" /* of a record: what its launch file runs, where several modules were launched */

#endif
