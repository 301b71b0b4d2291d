/* The device runtime: functions without a body that nvcc's code calls. Private to hwmodel/exec. */
#ifndef HD_HWMODEL_EXEC_OPS_BUILTIN_H
#define HD_HWMODEL_EXEC_OPS_BUILTIN_H

#include "hwmodel/exec/state/state.h"

typedef struct hd_builtin {
    const char *name;
    hd_op_run *run;
    uint8_t result_bytes;   /* 0: it has none */
    const char *parameters; /* a digit for each: its bytes */
    bool heap;              /* needs the device heap */
} hd_builtin;

enum { /* HD_BUILTINS: their number */
#define HD_BUILTIN(name, run, result, parameters, heap) HD_BUILTIN_##run,
#include "hwmodel/exec/ops/builtin.def"
#undef HD_BUILTIN
       HD_BUILTINS
};
const hd_builtin *hd_builtin_find(const char *name); /* NULL: none */
uint32_t hd_builtin_number(const hd_builtin *builtin);
const hd_builtin *hd_builtin_numbered(uint32_t number);

#define HD_BUILTIN(name, run, result, parameters, heap) hd_op_run hd_run_builtin_##run;
#include "hwmodel/exec/ops/builtin.def"
#undef HD_BUILTIN

typedef HD_ARRAY(char) hd_text_buffer;

/* The input of vprintf for one lane (format.c): the format and the arguments, which are consecutive in memory, each at
 * a multiple of its size. False if an address is invalid: it is *bad. *used: number of arguments. */
typedef struct hd_format_source {
    const hd_op *op;
    hd_warp *warp;
    uint32_t lane;
    uint64_t format, arguments;
} hd_format_source;
bool hd_format_print(const hd_format_source *source, hd_text_buffer *out, uint32_t *used, uint64_t *bad);
/* Appends a string up to its NUL. */
bool hd_format_string(const hd_format_source *source, uint64_t address, uint64_t most, hd_text_buffer *out,
                      uint64_t *bad);

#endif
