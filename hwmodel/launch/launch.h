/* Launch files (heddle-launch(5)): launches, their data, and the expected results.
 *
 *   hd_launch_file *file = hd_launch_read(path, 0, diagnostics);      read and checked, fills computed
 *   hd_launch_read_module(file, &source, &linked, diagnostics);       its text, of linked modules if there are several
 *   hd_module *module = hd_parse_ptx(&source ...);
 *   hd_session *s = hd_session_open(file, module, diagnostics, NULL); memory filled, kernels found, decoded, checked
 *   hd_session_run(s, &watch, &statistics);                           all steps
 *   hd_session_check(s);                                              expectations: wrong-output diagnostics
 *
 * A file may have several sessions, sequential or concurrent: the original and a rewritten module run on equal data,
 * and hd_session_compare compares the resulting memory. Fills and tolerances: docs/launch-fills.md.
 *
 * Steps form a tree: a group contains steps. Every launch in the text has one entry in file->launches, however often it
 * runs. hd_launch_walk visits the steps for whoever executes them: a session, or a driver of a real GPU.
 */
#ifndef HD_HWMODEL_LAUNCH_LAUNCH_H
#define HD_HWMODEL_LAUNCH_LAUNCH_H

#include "base/file_list.h"
#include "base/ordering.h"
#include "base/output.h"
#include "base/yaml.h"
#include "hwmodel/machine/machine.h"
#include "hwmodel/memory/texture.h"
#include "hwmodel/launch/expression.h"
#include "hwmodel/launch/values.h"

/* Expected content of a buffer. */
typedef struct hd_expect {
    bool given, is_hash;
    hd_value_rule rule;
    uint64_t hash;              /* XXH3-64, where is_hash */
    const unsigned char *bytes; /* as many as the buffer has; NULL: compare with buffer `other`, or by hash */
    uint32_t other;             /* index in file->buffers, or HD_NONE */
    const hd_yaml_node *node;
} hd_expect;

/* A value passed to the device: a kernel parameter, a field of a struct, an element of a buffer. */
typedef enum hd_argument_kind {
    HD_ARGUMENT_BUFFER,  /* an address */
    HD_ARGUMENT_TEXTURE, /* a handle */
    HD_ARGUMENT_NUMBER,  /* one {TYPE: VALUE}, or several {TYPE: [VALUE, ...]} */
    HD_ARGUMENT_IOTA,    /* {TYPE: {iota: [START, STEP]}}: depends on the repetition */
    HD_ARGUMENT_FORMULA, /* {TYPE: EXPRESSION}: depends on the variables of loops */
    HD_ARGUMENT_COLUMN,  /* {TYPE: FILL} in an array of structs: a value for each of them */
    HD_ARGUMENT_BYTES,
    HD_ARGUMENT_STRUCT,
    HD_ARGUMENT_PAD, /* only in a struct */
} hd_argument_kind;
typedef struct hd_argument hd_argument;
struct hd_argument {
    uint8_t kind, type;         /* type: hd_type of NUMBER, IOTA, FORMULA and COLUMN */
    uint32_t buffer, texture;   /* BUFFER, TEXTURE: index in the file's list */
    uint64_t offset;            /* BUFFER: bytes added to its address */
    uint64_t size_bytes;        /* not for BUFFER, whose size is that of an address; its limit for a formula */
    uint64_t elements;          /* NUMBER; STRUCT: as many structs, one after another */
    const unsigned char *bytes; /* NUMBER, COLUMN, BYTES */
    const hd_argument *fields;  /* STRUCT */
    uint32_t field_count;
    /* varying: the pair of numbers of IOTA, the expression of FORMULA, or of BUFFER's offset (NULL: constant) */
    const hd_yaml_node *node, *varying;
};

/* A value in a buffer that is known only when a session opens: an address, a handle, or a struct that contains one. */
typedef struct hd_link {
    uint64_t at; /* byte offset */
    hd_argument value;
} hd_link;

/* A buffer, or the value of a module variable (`symbols:`). */
typedef struct hd_launch_buffer {
    const char *name;
    bool is_symbol;
    hd_type type;
    uint64_t count, size_bytes;
    uint64_t address;             /* that it is at; 0: any */
    const unsigned char *initial; /* size_bytes; NULL: zeros (a symbol: as in the module) */
    const hd_link *links;         /* written over `initial` */
    uint32_t link_count;
    hd_expect expect;
    const char *save;         /* the file that its content is written to after the last step; NULL: none */
    bool save_text;           /* as numbers, one a line */
    const hd_yaml_node *node; /* of its name */
} hd_launch_buffer;

/* `for`: one of count, values, or from with condition and next; each is a number or an expression. */
typedef struct hd_launch_loop {
    const char *name;
    const hd_yaml_node *count, *values, *from, *condition, *next;
} hd_launch_loop;
/* Sets the variable's value in iteration k, which follows k - 1. 0: the loop has ended, -1: an error was reported. */
int hd_launch_loop_step(const hd_launch_loop *loop, uint64_t k, hd_variable *variable, hd_diagnostics *diagnostics);

/* `repeat`, `until` or `for`. */
typedef struct hd_repetition {
    bool given;
    const hd_launch_loop *loop; /* NULL: not `for` */
    uint32_t most;              /* maximum number of repetitions; 1 if not given */
    uint32_t buffer;            /* for until: index in file->buffers; HD_NONE: repeat */
    bool unequal;               /* until the value is different */
    uint64_t index;             /* index of the element */
    unsigned char equals[8];    /* in the buffer's type */
    const hd_yaml_node *node;
} hd_repetition;

typedef struct hd_launch {
    const char *kernel;
    uint32_t grid[3], block[3]; /* of the first repetition, if it depends on it; see hd_launch_shape */
    const hd_yaml_node *grid_varies[3], *block_varies[3]; /* {iota: [START, STEP]} or an expression; NULL: constant */
    uint32_t shared_bytes;                                /* as grid */
    const hd_yaml_node *shared_varies;
    hd_iteration first; /* that it runs in */
    bool cooperative;
    hd_argument *arguments;
    uint32_t argument_count;
    const hd_yaml_node *node;
} hd_launch;

typedef enum hd_launch_step_kind { HD_DO_LAUNCH, HD_DO_SET, HD_DO_COPY, HD_DO_GROUP } hd_launch_step_kind;
typedef struct hd_launch_step hd_launch_step;
struct hd_launch_step {
    uint8_t kind;
    bool first_content;         /* SET: to the content at the opening of the session */
    uint32_t launch;            /* LAUNCH: index in file->launches */
    uint32_t buffer, to;        /* SET, COPY: indices in file->buffers */
    const unsigned char *bytes; /* SET: NULL is zeros */
    const hd_yaml_node *value;  /* SET: an expression, of every element; NULL: `bytes` */
    /* COPY: numbers or expressions; NULL: 0, and all bytes */
    const hd_yaml_node *from_offset, *to_offset, *byte_count;
    hd_repetition repetition; /* LAUNCH, GROUP */
    hd_launch_step *steps;    /* GROUP */
    uint32_t step_count;
    const hd_yaml_node *node;
};

/* Which code of a module runs: its PTX, the machine code that ptxas makes of it, or machine code where cycles are
 * simulated of a GPU that has such code (driver/replay/replay.h). */
typedef enum hd_launch_code { HD_CODE_UNSAID, HD_CODE_PTX, HD_CODE_MACHINE, HD_CODE_AUTO } hd_launch_code;
/* "ptx", "machine" or "auto"; NULL is unsaid. false: another word. */
bool hd_launch_code_read(const char *word, hd_launch_code *code);

typedef struct hd_launch_file {
    hd_yaml *yaml;
    hd_arena arena;
    const char *path;
    const hd_yaml_node *module;
    const char **module_paths; /* to be linked if there are several; relative ones start at the launch file's folder */
    uint32_t module_count;
    HD_ARRAY(hd_launch_buffer) buffers; /* followed by the symbols */
    uint32_t symbol_first;              /* index of the first symbol */
    HD_ARRAY(hd_texture) textures;
    HD_ARRAY(hd_launch) launches; /* in text order */
    hd_launch_step *steps;
    uint32_t step_count;
    bool valid;            /* false: errors were reported */
    uint32_t address_bits; /* 32: all memory lies below 4 GB; 64; 0: not given */
    uint64_t memory_base;  /* address of the first allocation (hd_memory_move); 0: HD_MEMORY_BASE */
    hd_launch_code code;
    uint32_t seed;                          /* that changed those of random fills; 0: none */
    const char *block_order, *buffer_order; /* as hd_ordering_read takes them; NULL: linear */
    /* Set by the caller: */
    const char *gpu;           /* the GPU that the launches are for; NULL: any */
    uint32_t gpu_shared_bytes; /* maximum shared memory of a block on it */
} hd_launch_file;

/* Never NULL; see `valid`. Free it after the diagnostics were printed. `seed`: changes the seeds of all random fills,
 * in place of the file's own `seed`, and, where there are some, drops the file's expectations but those that name
 * another buffer; 0: as written. */
hd_launch_file *hd_launch_read(const char *path, uint32_t seed, hd_diagnostics *diagnostics);
/* The same, where it and the files that it names may be given ones. */
hd_launch_file *hd_launch_read_given(const char *path, const hd_given_files *given, uint32_t seed,
                                     hd_diagnostics *diagnostics);
void hd_launch_free(hd_launch_file *file);

/* Reads the module, or links those of the file. The text lives in `source`, which diagnostics may refer to, as to those
 * of linked modules. false: reported. */
struct hd_link_result;
bool hd_launch_read_module(const hd_launch_file *file, hd_source *source, struct hd_link_result *linked,
                           hd_diagnostics *diagnostics);
/* Whether all kernels that the launch file names are executed. false: *said has why (HD_DIAG_UNSUPPORTED). Of machine
 * code; decodes the kernels in an image of their own. */
bool hd_launch_is_executed(const hd_launch_file *file, hd_module *module, hd_diagnostics *said);
/* Adds the files that the launch file reads, and with `saves` those that it saves buffers in, whose owner is the
 * buffer's node. */
void hd_launch_list_files(const hd_launch_file *file, bool saves, hd_file_list *list);
/* Looks for the kernel of every launch; one that the file names as C++ does ("scale", "ns::add<int>", "add(int*, int)")
 * gets the module's name, where there is one kernel of that name. false: bad-value was reported at each other name. */
bool hd_launch_find_kernels(hd_launch_file *file, const hd_module *module, hd_diagnostics *diagnostics);
/* The kernel by the module's name for it; NULL: the module has none, or one without a body. */
hd_function *hd_launch_kernel(const hd_module *module, const hd_launch *launch);

/* Grid, block and dynamic shared memory of a repetition. false (bad-value reported) if one is out of range. */
bool hd_launch_shape(const hd_launch *launch, const hd_iteration *at, uint32_t grid[3], uint32_t block[3],
                     uint32_t *shared_bytes, hd_diagnostics *diagnostics);
/* How often kernels are run, at most (a `for` inside another: as often as in the first iteration of that), and their
 * CTAs, by the grids of the first repetition. */
typedef struct hd_launch_amount {
    uint64_t runs, ctas;
} hd_launch_amount;
hd_launch_amount hd_launch_amount_of(const hd_launch_file *file);
/* Whether the launch depends on the repetition. */
bool hd_launch_varies(const hd_launch *launch);

/* Executes steps. Every function returns false to end the walk. */
typedef struct hd_launch_walker {
    void *context;
    bool (*launch)(void *context, uint32_t launch, const hd_iteration *at);
    bool (*set)(void *context, const hd_launch_step *step, const hd_iteration *at);
    bool (*copy)(void *context, const hd_launch_step *step, const hd_iteration *at);
    const unsigned char *(*read)(void *context, uint32_t buffer); /* for until; NULL ends the walk */
    hd_diagnostics *diagnostics;
} hd_launch_walker;
typedef enum hd_walk_end {
    HD_WALK_DONE,
    HD_WALK_STOPPED, /* a function returned false */
    HD_WALK_WRONG,   /* a loop of the file is wrong (bad-value reported) */
    HD_WALK_UNMET,   /* an `until` was never satisfied (kernel-fault reported) */
} hd_walk_end;
/* Walks all steps with their repetitions. */
hd_walk_end hd_launch_walk(const hd_launch_file *file, const hd_launch_walker *walker);

/* What a set step writes, except the first content. false (reported): the value does not fit. */
bool hd_launch_set_bytes(const hd_launch_file *file, const hd_launch_step *step, const hd_iteration *at,
                         hd_diagnostics *diagnostics, unsigned char *to);
/* What a copy step copies: bytes [from, from + bytes) to `to`. false (reported): it exceeds a buffer. */
typedef struct hd_launch_copy {
    uint64_t from, to, bytes;
} hd_launch_copy;
bool hd_launch_copy_range(const hd_launch_file *file, const hd_launch_step *step, const hd_iteration *at,
                          hd_diagnostics *diagnostics, hd_launch_copy *range);

/* Addresses of buffers and textures on a device. */
typedef struct hd_addresses {
    const uint64_t *buffers;    /* addresses, by buffer and symbol */
    const hd_texture *textures; /* with their handles */
    uint32_t address_bytes;     /* 4 or 8 */
    hd_diagnostics *diagnostics;
} hd_addresses;
/* Writes the value in a repetition. false (bad-value reported) if it does not fit its type. */
bool hd_argument_lay(const hd_argument *argument, const hd_iteration *at, const hd_addresses *addresses,
                     unsigned char *to);

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct hd_session {
    const hd_launch_file *file;
    hd_module *module;
    hd_diagnostics *diagnostics;
    hd_memory memory;
    hd_image image;
    hd_texture_set textures; /* with the addresses of their texels */
    hd_arena arena;
    hd_function **kernels;        /* by launch */
    hd_program **programs;        /* by launch; launches of the same kernel share one */
    hd_grid *grids;               /* by launch; with the parameters of the last repetition that ran */
    unsigned char **parameters;   /* by launch: the block that grids[] points to */
    uint32_t *buffer_allocations; /* by buffer: index in memory.allocations */
    uint64_t *buffer_offsets;     /* by buffer: bytes from there; other than 0 of variables of machine code */
    hd_addresses addresses;
    bool rejected;           /* a run ended because a value of the launch file is wrong there, which was reported */
    uint64_t workspace;      /* of cooperative launches: its address, or 0 where there is none */
    hd_exec_options options; /* for every run of a kernel; may be changed after opening */
} hd_session;

enum { HD_INSTRUCTION_LIMIT = 1000000000 }; /* default of a session: minutes with all models */

/* NULL on error: bad-key, bad-value (for example an unknown kernel, or parameters that do not fit), unsupported; all
 * reported. *unsupported (may be NULL): whether only unsupported constructs were found (exit status 6). */
hd_session *hd_session_open(const hd_launch_file *file, hd_module *module, hd_diagnostics *diagnostics,
                            bool *unsupported);
void hd_session_close(hd_session *session);

/* Callbacks. All may be NULL. */
typedef struct hd_session_watch {
    const hd_sink *sinks;
    uint32_t sink_count;
    /* Called after each run of a launch, with the statistics of that run only. */
    void (*ran)(void *context, uint32_t launch, hd_exec_status status, const hd_exec_statistics *statistics);
    void *context;
    void (*starts)(void *context, uint32_t launch, const hd_grid *grid); /* called before each run */
} hd_session_watch;

/* Runs all steps of the file. `watch` may be NULL; statistics are accumulated. FAULT if an `until` is never satisfied,
 * or if a value of the launch file is wrong in a repetition (`rejected`). */
hd_exec_status hd_session_run(hd_session *session, const hd_session_watch *watch, hd_exec_statistics *statistics);

/* Compares every expectation; reports wrong-output (the first element that differs, and the number of them). true if
 * all hold. */
bool hd_session_check(hd_session *session);
/* Finishes the files of `save`, for `to`. false (reported): one cannot be written. */
bool hd_session_save(hd_session *session, hd_outputs *to);
/* Content of buffer or symbol `index` of the file. */
const unsigned char *hd_session_bytes(const hd_session *session, uint32_t index);
/* Whether buffers and module variables are equal, byte for byte. Reports wrong-output at the first difference. */
bool hd_session_compare(const hd_session *original, const hd_session *rewritten, hd_diagnostics *diagnostics);

#endif
