/* Launch files (heddle-launch(5)): what to run on which data, and what must come out.
 *
 *   hd_launch_file *file = hd_launch_read(path, diagnostics);         YAML read and checked, fills worked out
 *   hd_module *module = hd_parse_ptx(source of file->module_path ...);
 *   hd_session *s = hd_session_open(file, module, diagnostics, NULL); memory filled, kernels found, decoded, checked
 *   hd_session_run(s, &watch, &statistics);                           all steps
 *   hd_session_check(s);                                              expectations: wrong-output diagnostics
 *
 * A file may have several sessions, one after the other or at once: the original and a rewritten module run on equal
 * data, and hd_session_compare reports whether they left equal memory. Fills and tolerances: docs/launch-fills.md.
 *
 * Steps form a tree: a group holds steps. Every launch of the text has one place in file->launches, however often it
 * is run. hd_launch_walk goes through the steps for whoever carries them out: a session, or a real GPU.
 */
#ifndef HD_HWMODEL_LAUNCH_LAUNCH_H
#define HD_HWMODEL_LAUNCH_LAUNCH_H

#include "base/yaml.h"
#include "hwmodel/exec/exec.h"
#include "hwmodel/memory/texture.h"
#include "hwmodel/launch/values.h"

/* Expected content of a buffer. */
typedef struct hd_expect {
    bool given, is_hash;
    hd_value_rule rule;
    uint64_t hash;              /* XXH3-64, where is_hash */
    const unsigned char *bytes; /* as many as the buffer has; NULL: those of the buffer `other`, or is_hash */
    uint32_t other;             /* index in file->buffers, or HD_NONE */
    const hd_yaml_node *node;
} hd_expect;

/* A value that goes to the device: a kernel's parameter, a field of a struct, an element of a buffer. */
typedef enum hd_argument_kind {
    HD_ARGUMENT_BUFFER,  /* an address */
    HD_ARGUMENT_TEXTURE, /* a handle */
    HD_ARGUMENT_NUMBER,  /* one {TYPE: VALUE}, or several {TYPE: [VALUE, ...]} */
    HD_ARGUMENT_IOTA,    /* {TYPE: {iota: [START, STEP]}}: another one in each repetition */
    HD_ARGUMENT_BYTES,
    HD_ARGUMENT_STRUCT,
    HD_ARGUMENT_PAD, /* in a struct only */
} hd_argument_kind;
typedef struct hd_argument hd_argument;
struct hd_argument {
    uint8_t kind, type;         /* type: hd_type of NUMBER and IOTA */
    uint32_t buffer, texture;   /* BUFFER, TEXTURE: index in the file's list */
    uint64_t offset;            /* BUFFER: bytes added to its address */
    uint64_t size_bytes;        /* not of BUFFER: as many as an address has */
    uint64_t elements;          /* NUMBER */
    const unsigned char *bytes; /* NUMBER, BYTES */
    const hd_argument *fields;  /* STRUCT */
    uint32_t field_count;
    const hd_yaml_node *node, *iota; /* iota: the pair of numbers */
};

/* A value within a buffer that is known only when a session opens: an address, a handle, a struct with such. */
typedef struct hd_link {
    uint64_t at; /* byte */
    hd_argument value;
} hd_link;

/* A buffer, or the value of a module variable (`symbols:`). */
typedef struct hd_launch_buffer {
    const char *name;
    bool is_symbol;
    hd_type type;
    uint64_t count, size_bytes;
    const unsigned char *initial; /* size_bytes; NULL: all zero (a symbol: as the module says) */
    const hd_link *links;         /* put over `initial` */
    uint32_t link_count;
    hd_expect expect;
    const hd_yaml_node *node; /* of its name */
} hd_launch_buffer;

/* `repeat` or `until`. */
typedef struct hd_repetition {
    bool given;
    uint32_t most;           /* times; 1 where nothing is given */
    uint32_t buffer;         /* of until: index in file->buffers; HD_NONE: repeat */
    bool unequal;            /* until the value is another one */
    uint64_t index;          /* element of it */
    unsigned char equals[8]; /* in the buffer's type */
    const hd_yaml_node *node;
} hd_repetition;

typedef struct hd_launch {
    const char *kernel;
    uint32_t grid[3], block[3]; /* of repetition 0, where one counts; hd_launch_shape gives them of any */
    const hd_yaml_node *grid_iota[3], *block_iota[3];
    uint32_t shared_bytes;
    bool cooperative;
    hd_argument *arguments;
    uint32_t argument_count;
    const hd_yaml_node *node;
} hd_launch;

typedef enum hd_launch_step_kind { HD_DO_LAUNCH, HD_DO_SET, HD_DO_COPY, HD_DO_GROUP } hd_launch_step_kind;
typedef struct hd_launch_step hd_launch_step;
struct hd_launch_step {
    uint8_t kind;
    bool first_content;         /* SET: what a session puts in when it opens */
    uint32_t launch;            /* LAUNCH: index in file->launches */
    uint32_t buffer, to;        /* SET, COPY: indices in file->buffers */
    const unsigned char *bytes; /* SET: NULL is all zero */
    hd_repetition repetition;   /* LAUNCH, GROUP */
    hd_launch_step *steps;      /* GROUP */
    uint32_t step_count;
    const hd_yaml_node *node;
};

typedef struct hd_launch_file {
    hd_yaml *yaml;
    hd_arena arena;
    const char *path;
    const char *module_path;            /* relative paths are made relative to the launch file's folder */
    HD_ARRAY(hd_launch_buffer) buffers; /* then the symbols */
    uint32_t symbol_first;              /* index of the first symbol */
    HD_ARRAY(hd_texture) textures;
    HD_ARRAY(hd_launch) launches; /* in text order */
    hd_launch_step *steps;
    uint32_t step_count;
    bool valid; /* false: errors were reported */
    /* The caller's to set: */
    uint64_t memory_base;      /* where allocations begin (hd_memory_move); 0: HD_MEMORY_BASE */
    const char *gpu;           /* the GPU that the launches are for; NULL: any */
    uint32_t gpu_shared_bytes; /* shared memory that a block may have there */
} hd_launch_file;

/* Never NULL; see `valid`. Free it after the diagnostics were printed. */
hd_launch_file *hd_launch_read(const char *path, hd_diagnostics *diagnostics);
void hd_launch_free(hd_launch_file *file);

/* Grid and block of repetition k. false (bad-value reported) where one is out of range then. */
bool hd_launch_shape(const hd_launch *launch, uint64_t k, uint32_t grid[3], uint32_t block[3],
                     hd_diagnostics *diagnostics);
/* Does anything of the launch depend on the repetition? */
bool hd_launch_varies(const hd_launch *launch);

/* What carries out steps. Every function returns false to end the walk. */
typedef struct hd_launch_walker {
    void *context;
    bool (*launch)(void *context, uint32_t launch, uint64_t k);
    bool (*set)(void *context, const hd_launch_step *step);
    bool (*copy)(void *context, const hd_launch_step *step);
    const unsigned char *(*read)(void *context, uint32_t buffer); /* for until; NULL ends the walk */
    hd_diagnostics *diagnostics;
} hd_launch_walker;
/* All steps with their repetitions. false where a function said so, or an `until` did not come true (kernel-fault
 * reported). */
bool hd_launch_walk(const hd_launch_file *file, const hd_launch_walker *walker);

/* Where buffers and textures are on a device. */
typedef struct hd_places {
    const uint64_t *buffers;    /* addresses, by buffer and symbol */
    const hd_texture *textures; /* with their handles */
    uint32_t address_bytes;     /* 4 or 8 */
    hd_diagnostics *diagnostics;
} hd_places;
/* Writes the value as in repetition k. false (bad-value reported) where it does not fit its type then. */
bool hd_argument_lay(const hd_argument *argument, uint64_t k, const hd_places *places, unsigned char *to);

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct hd_session {
    const hd_launch_file *file;
    hd_module *module;
    hd_diagnostics *diagnostics;
    hd_memory memory;
    hd_image image;
    hd_texture_set textures; /* with their texels placed */
    hd_arena arena;
    hd_function **kernels;        /* by launch */
    hd_program **programs;        /* by launch; launches of the same kernel share one */
    hd_grid *grids;               /* by launch, parameters of the repetition that ran last laid out */
    unsigned char **parameters;   /* by launch: the block that grids[] points to */
    uint32_t *buffer_allocations; /* by buffer: index in memory.allocations */
    hd_places places;
    uint64_t workspace;      /* of cooperative launches: its address, or 0 where there is none */
    hd_exec_options options; /* of every run of a kernel; to be changed after opening */
} hd_session;

enum { HD_INSTRUCTION_LIMIT = 1000000000 }; /* of a new session: minutes with all models */

/* NULL where something is wrong: bad-key, bad-value (no such kernel, parameters that do not fit ...), unsupported; all
 * reported. *unsupported (may be NULL) reports whether the reason is only what the model does not run (exit status
 * 6). */
hd_session *hd_session_open(const hd_launch_file *file, hd_module *module, hd_diagnostics *diagnostics,
                            bool *unsupported);
void hd_session_close(hd_session *session);

/* Who looks on. All may be zero. */
typedef struct hd_session_watch {
    const hd_sink *sinks;
    uint32_t sink_count;
    /* Told after each single run of a launch, with the statistics of that run alone. */
    void (*ran)(void *context, uint32_t launch, hd_exec_status status, const hd_exec_statistics *statistics);
    void *context;
    void (*starts)(void *context, uint32_t launch, const hd_grid *grid); /* reported before each single run */
} hd_session_watch;

/* All steps of the file. `watch` may be NULL; statistics are added to. An `until` that does not come true is FAULT. */
hd_exec_status hd_session_run(hd_session *session, const hd_session_watch *watch, hd_exec_statistics *statistics);
/* One launch once, as in repetition k. */
hd_exec_status hd_session_launch(hd_session *session, uint32_t index, uint64_t k, const hd_session_watch *watch,
                                 hd_exec_statistics *statistics);

/* Compares every expectation; reports wrong-output (the first element that differs, and how many do). true where all
 * hold. */
bool hd_session_check(hd_session *session);
/* Content of buffer or symbol `index` of the file. */
const unsigned char *hd_session_bytes(const hd_session *session, uint32_t index);
/* Equal buffers and module variables, byte for byte? Reports wrong-output at the first difference. */
bool hd_session_compare(const hd_session *original, const hd_session *rewritten, hd_diagnostics *diagnostics);

#endif
