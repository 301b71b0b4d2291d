/* Launch files (heddle-launch(5)): what to run on which data, and what must come out.
 *
 *   hd_launch_file *file = hd_launch_read(path, diagnostics);         YAML read and checked, fills worked out
 *   hd_module *module = hd_parse_ptx(source of file->module_path ...);
 *   hd_session *s = hd_session_open(file, module, diagnostics, NULL); memory filled, kernels found, decoded, checked
 *   for (i < file->launches.count)
 *       hd_session_launch(s, i, sinks, n, &statistics);
 *   hd_session_check(s);                                              expectations: wrong-output diagnostics
 *
 * A file may have several sessions, one after the other or at once: the original and a rewritten module run on equal
 * data, and hd_session_compare tells whether they left equal memory. Fills and tolerances: docs/launch-fills.md.
 */
#ifndef HD_HWMODEL_LAUNCH_H
#define HD_HWMODEL_LAUNCH_H

#include "base/yaml.h"
#include "hwmodel/exec/exec.h"

/* Expected content of a buffer. */
typedef struct hd_expect {
    bool given, is_hash, tolerant, from_values;
    double absolute, relative;  /* where tolerant */
    uint64_t hash;              /* XXH3-64, where is_hash */
    const unsigned char *bytes; /* else: as many as the buffer has; NaNs of `values` match any NaN */
    const hd_yaml_node *node;
} hd_expect;

/* A buffer, or the value of a module variable (`symbols:`). */
typedef struct hd_launch_buffer {
    const char *name;
    hd_type type;
    uint64_t count, size_bytes;
    const unsigned char *initial; /* size_bytes; NULL: all zero */
    hd_expect expect;
    const hd_yaml_node *node; /* of its name */
} hd_launch_buffer;

typedef enum hd_argument_kind { HD_ARGUMENT_BUFFER, HD_ARGUMENT_SCALAR, HD_ARGUMENT_BYTES } hd_argument_kind;
typedef struct hd_argument {
    uint8_t kind, type;  /* type: hd_type of a SCALAR */
    uint32_t buffer;     /* BUFFER: index in file->buffers */
    uint64_t offset;     /* BUFFER: bytes added to its address */
    uint64_t size_bytes; /* SCALAR, BYTES */
    const unsigned char *bytes;
    const hd_yaml_node *node;
} hd_argument;

typedef struct hd_launch {
    const char *kernel;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    hd_argument *arguments;
    uint32_t argument_count;
    uint32_t repeat;               /* 1 where not given */
    uint32_t until_buffer;         /* index in file->buffers, or HD_NONE: repeat counts */
    uint64_t until_index;          /* element of it */
    unsigned char until_equals[8]; /* in the buffer's type */
    uint32_t until_at_most;
    const hd_yaml_node *node;
} hd_launch;

typedef struct hd_launch_file {
    hd_yaml *yaml;
    hd_arena arena;
    const char *path;
    const char *module_path; /* relative paths are made relative to the launch file's folder */
    HD_ARRAY(hd_launch_buffer) buffers, symbols;
    HD_ARRAY(hd_launch) launches;
    bool valid; /* false: errors were reported */
} hd_launch_file;

/* Never NULL; see `valid`. Free it after the diagnostics were printed. */
hd_launch_file *hd_launch_read(const char *path, hd_diagnostics *diagnostics);
void hd_launch_free(hd_launch_file *file);

/* ---- running ------------------------------------------------------------------------------------------------- */

typedef struct hd_session {
    const hd_launch_file *file;
    hd_module *module;
    hd_diagnostics *diagnostics;
    hd_memory memory;
    hd_image image;
    hd_arena arena;
    hd_function **kernels;        /* by launch */
    hd_program **programs;        /* by launch; launches of the same kernel share one */
    hd_grid *grids;               /* by launch, parameters laid out */
    uint32_t *buffer_allocations; /* by buffer: index in memory.allocations */
    hd_exec_options options;      /* of every run of a kernel; to be changed after opening */
} hd_session;

enum { HD_INSTRUCTION_LIMIT = 1000000000 }; /* of a new session: minutes with all models */

/* NULL where something is wrong: bad-key, bad-value (no such kernel, parameters that do not fit ...), unsupported; all
 * reported. *unsupported (may be NULL) tells whether the reason is only what the model does not run (exit status 6). */
hd_session *hd_session_open(const hd_launch_file *file, hd_module *module, hd_diagnostics *diagnostics,
                            bool *unsupported);
void hd_session_close(hd_session *session);

/* Runs launch `index` with its repetitions, each between LAUNCH and LAUNCH_END events. */
hd_exec_status hd_session_launch(hd_session *session, uint32_t index, const hd_sink *sinks, uint32_t sink_count,
                                 hd_exec_statistics *statistics);
/* Compares every expectation; reports wrong-output (the first element that differs, and how many do). true where all
 * hold. */
bool hd_session_check(hd_session *session);
/* Content of buffer `index` of the file. */
const unsigned char *hd_session_bytes(const hd_session *session, uint32_t index);
/* Equal buffers and module variables, byte for byte? Reports wrong-output at the first difference. */
bool hd_session_compare(const hd_session *original, const hd_session *rewritten, hd_diagnostics *diagnostics);

#endif
