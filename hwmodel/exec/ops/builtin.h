/* The device runtime: functions without a body that nvcc calls. Private to hwmodel/exec. */
#ifndef HD_HWMODEL_EXEC_OPS_BUILTIN_H
#define HD_HWMODEL_EXEC_OPS_BUILTIN_H

#include "hwmodel/exec/state/state.h"

typedef struct hd_builtin {
    const char *name;
    hd_run *run;
    uint8_t results, parameters;
    bool heap; /* needs the device heap */
} hd_builtin;

const hd_builtin *hd_builtin_find(const char *name); /* NULL: none */

#define HD_BUILTIN(name, run, results, parameters, heap) hd_run hd_run_builtin_##run;
#include "hwmodel/exec/ops/builtin.def"
#undef HD_BUILTIN

typedef HD_ARRAY(char) hd_text_buffer;

/* What vprintf prints for one lane (format.c): the format and the arguments, which stand in memory one behind the
 * other, each at a multiple of its size. False where an address is bad: *bad is it. *used: how many arguments. */
typedef struct hd_format_source {
    const hd_op *op;
    hd_warp *warp;
    uint32_t lane;
    uint64_t format, arguments;
} hd_format_source;
bool hd_format_print(const hd_format_source *source, hd_text_buffer *out, uint32_t *used, uint64_t *bad);
/* A string up to its NUL, which is not added. */
bool hd_format_string(const hd_format_source *source, uint64_t address, uint64_t most, hd_text_buffer *out,
                      uint64_t *bad);

#endif
