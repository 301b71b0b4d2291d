/* Shared declarations of the launch-file reader. Private to hwmodel/launch/launch*.c. */
#ifndef HD_HWMODEL_LAUNCH_LAUNCH_READER_H
#define HD_HWMODEL_LAUNCH_LAUNCH_READER_H

#include "hwmodel/launch/launch.h"

#define KEYS(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)
#define HD_LARGEST_BUFFERS_BYTES (1ull << 32) /* of all buffers and symbols together */
#define HD_MOST_STRUCTS (1ull << 26)
#define HD_MOST_VALUES (1u << 24) /* that are read, with what aliases repeat */

enum { HD_MOST_BUFFERS = 1 << 16, HD_ITEM_VALUES = 16 /* what a step, a parameter or a field counts as */ };

enum { HD_LARGEST_SHARED_BYTES = 227 * 1024 };

typedef struct hd_launch_reader {
    hd_launch_file *file;
    const char *folder;
    hd_seeding seeding;
    uint64_t bytes;  /* of buffers and symbols so far, and of contents that are kept beside them */
    uint64_t values; /* read so far; of HD_MOST_VALUES */
    uint64_t last;   /* last repetition of the innermost enclosing `repeat`; 0 in `until`, `for` and outside */
    const hd_variable *variables; /* of enclosing loops, as in their first iterations */
    uint64_t elements;            /* of the enclosing array of structs; 0 outside */
} hd_launch_reader;

/* launch_values.c */
/* Index of a buffer by name (with symbols: of a buffer or symbol); HD_NONE (reported) if there is none. */
uint32_t hd_launch_find_buffer(hd_launch_reader *r, const hd_yaml_node *name, bool symbols);
/* Counts values of the file, or bytes that are kept; false (reported at the node): they are over the limit. */
bool hd_launch_count_values(hd_launch_reader *r, const hd_yaml_node *node, uint64_t values);
bool hd_launch_count_bytes(hd_launch_reader *r, const hd_yaml_node *node, uint64_t bytes);
bool hd_launch_read_argument(hd_launch_reader *r, const hd_yaml_node *node, hd_argument *argument);
/* Size of the argument for addresses of `address_bytes`, and its natural alignment. */
uint64_t hd_argument_bytes(const hd_argument *argument, uint32_t address_bytes, uint32_t *align);
/* `count` structs; other arguments are read by hd_launch_read_argument. */
bool hd_launch_read_struct(hd_launch_reader *r, const hd_yaml_node *fields, uint64_t count, hd_argument *argument);

/* launch_textures.c; after the buffers' sizes are known */
bool hd_launch_read_textures(hd_launch_reader *r, const hd_yaml_node *map);

/* launch_module.c; names that are near, or all of a few, are in the report */
void hd_launch_report_no_kernel(const hd_module *module, const hd_launch *launch, hd_arena *arena,
                                hd_diagnostics *diagnostics);

/* launch_steps.c; last */
bool hd_launch_read_steps(hd_launch_reader *r, const hd_yaml_node *list);

/* session_machine.c: kernels of machine code. Whether the launch fits what the cubin says; of a listing of the code
 * alone, the launch says it. false: reported. */
bool hd_session_check_machine(hd_session *session, const hd_launch *launch, hd_function *kernel);
/* A variable of the cubins that launched kernels are of, or a section of variables; false: there is none. */
struct hd_machine_variable;
bool hd_session_machine_variable(const hd_session *session, const char *name, struct hd_machine_variable *variable);

#endif
