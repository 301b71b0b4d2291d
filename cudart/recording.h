/* What a run leaves for `heddle run`: events in the file HD_TRACE_FILE of the folder that HEDDLE_RUN names, one JSON
 * object a line, written as they happen, so that a program that crashes leaves what ran.
 *
 *   {"event": "module", "unit": 0, "file": "program.ptx", "gpu": NAME, "base": ADDRESS, "first", "sm", "tool"}
 *                                                           sm 0: PTX
 *   {"event": "launch", "process", "kernel", "grid", "block", "shared", "cooperative", "status",
 *    "warp_instructions", ...}
 *   {"event": "end", "process"}                             it ended by exit, or by the end of main
 *   {"event": "static"}                                     the program has the static runtime
 *   {"event": "limit"}                                      a kernel that the model cannot run was asked for
 * and to record (hd_run_options.record):
 *   {"event": "buffer", "id", "name", "address", "bytes",   device memory that a later event names; unit: of a variable
 *    "symbol", "unit"}
 *   {"event": "set", "id", "file"}                          its content, if the host changed it, before the next launch
 *   {"event": "expect", "id", "hash", "accessed"}           what the launches so far left in it, where that ends, and
 *                                                           whether any of them accessed it
 *   {"event": "texture", ...}                               a texture or surface object
 * and of a launch its "parameters": [PTX type, [byte, ...]] each.
 * Contents are files named by their XXH3-64, compressed with zstd, written once.
 *
 * The host's changes of device memory go through the API, which marks them (hd_cu_record_written). Managed, page-locked
 * and registered memory changes unseen: it is compared with a copy of what the last launch left. */
#ifndef HD_CUDART_RECORDING_H
#define HD_CUDART_RECORDING_H

#include "cudart/runtime.h"

struct hd_cu_recording *hd_cu_record_open(hd_runtime *runtime); /* NULL: none was asked for */
void hd_cu_record_unit(hd_runtime *runtime, const hd_cu_unit *unit, const hd_gpu *gpu);
/* is_mapped: the host may change the memory without a call. */
void hd_cu_record_allocated(hd_runtime *runtime, uint32_t allocation, bool is_mapped);
void hd_cu_record_mapped(hd_runtime *runtime, uint32_t allocation); /* a managed variable */
void hd_cu_record_freed(hd_runtime *runtime, uint32_t allocation);
void hd_cu_record_written(hd_runtime *runtime, uint32_t allocation);
void hd_cu_record_texture(hd_runtime *runtime, uint32_t texture);
void hd_cu_record_before(hd_runtime *runtime); /* a launch */
void hd_cu_record_after(hd_runtime *runtime, const hd_cu_launch *request, hd_exec_status status,
                        const hd_exec_statistics *statistics);
void hd_cu_record_static(hd_runtime *runtime); /* the program has the static runtime */
void hd_cu_record_limit(hd_runtime *runtime);  /* a kernel that the model cannot run was asked for */
void hd_cu_record_end(hd_runtime *runtime);    /* the process ends */

#endif
