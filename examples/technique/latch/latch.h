/* What the files of the technique share. */
#include "driver/plugin/plugin.h"

/* The number of the annotation kind: of those that are free for plug-ins, one that no other plug-in has. */
enum { LATCH_MARK = 32768 };

bool latch_pass(hd_pass_context *context);
bool latch_check(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count);
extern const hd_rf_ops latch_ops;
