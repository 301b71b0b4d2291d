/* The job "check-plugin": the tests of docs/adding-a-technique.md on each model of a plug-in. heddle-check-plugin(1)
 * says what each of them is. */
#ifndef HD_DRIVER_PLUGIN_CHECK_H
#define HD_DRIVER_PLUGIN_CHECK_H

#include "base/writer.h"
#include "driver/plugin/abi.h"
#include "driver/status.h"

/* The kernels: `k` of each has parameters in and out, of a word for each thread. */
typedef struct hd_plugin_kernel {
    const char *name, *text; /* name: "loop.ptx" */
    size_t length;
} hd_plugin_kernel;
extern const hd_plugin_kernel hd_plugin_kernels[];
extern const uint32_t hd_plugin_kernel_count;

/* A line for each test to `out`; what models access to `trace` (NULL: nowhere), and compared with `reference` (NULL:
 * with nothing). DONE, WRONG where a test failed, REJECTED where the tests could not be made (reported). */
hd_status hd_plugin_check(const hd_plugin *plugin, const char *reference, hd_writer *trace, hd_writer *out,
                          hd_diagnostics *diagnostics);

#endif
