/* Traces of Accel-Sim: what warps of a real GPU executed, as text.
 *
 *   hd_traced *traced = hd_traced_read(&source, &options, diagnostics);   NULL: reported
 *   hd_module *module = hd_traced_module(traced);                         its code
 *   hd_traced_play(traced, sinks, count, &statistics, order, meter, NULL);      the events of the launch
 *
 * A text is a header of `-key = value` lines, then a line for each warp instruction: grouped by thread block and warp
 * (.traceg), or as they arrived, each with its thread block and warp (.trace). Versions of the tracer up to 6 are read;
 * compressed texts (.xz) too. What version 6 has after the immediate is ignored.
 *
 * The code of a trace (ir/machine.h) is its distinct instructions in the order of their addresses: a machine function
 * with the registers that lines list. Widths, and which registers are written, are those of ir/sass/sass.def where they
 * are the same for all operands that the instruction may have (hd_sass_resolve_list). With a listing of the code, they
 * are those of its operands, and `.reuse` flags are known.
 *
 * A warp goes through the code as one: the order of its lines is a path. Divergence shows in masks only, as predication
 * does; all lanes that have not left are active, and those of the mask execute. So a branch never splits a warp, and a
 * write that is not by all lanes has a guard. It has none where the other lanes never read what they had before.
 *
 * Barriers: a trace does not say which one an instruction uses. Each opens when all warps of the block that have not
 * ended wait at one; BAR.ARV does not wait.
 *
 * A trace is whole if it has all blocks of the grid, all their warps, and each warp's exit.
 *
 * Memory: a line takes about 50 bytes of text and 8 bytes of its place. Linear in the text.
 */
#ifndef HD_HWMODEL_TRACE_ACCEL_SIM_H
#define HD_HWMODEL_TRACE_ACCEL_SIM_H

#include "base/given_files.h"
#include "base/index.h"
#include "base/meter.h"
#include "base/ordering.h"
#include "hwmodel/record/event.h"
#include "ir/machine_slots.h"
#include "ir/sass/sass.h"

enum {
    HD_TRACED_NEWEST = 6,               /* version of the tracer */
    HD_TRACED_THREADS = 1024,           /* of a block, at most */
    HD_TRACED_SHARED_BYTES = 228 * 1024 /* of a block, at most: what the largest SM has */
};
#define HD_TRACED_HEADER_END "#traces format"

/* Where events have the windows: the texts name them at any address. */
#define HD_TRACED_SHARED ((uint64_t)1 << 56)
#define HD_TRACED_LOCAL (HD_TRACED_SHARED + ((uint64_t)1 << 24))
#define HD_TRACED_LIMIT (HD_TRACED_LOCAL + ((uint64_t)1 << 24))

typedef struct hd_traced_step { /* a line */
    uint32_t begin;             /* in the text, after the columns of block and warp */
    uint32_t code;              /* index in `code` */
} hd_traced_step;

typedef HD_ARRAY(hd_traced_step) hd_traced_warp;

typedef struct hd_traced_cta {
    uint32_t index; /* linear in the grid */
    hd_traced_warp *warps;
} hd_traced_cta;

typedef struct hd_traced_operand { /* general registers, one after the other */
    uint8_t number, words;
    bool written;
} hd_traced_operand;

typedef struct hd_traced_code { /* a distinct instruction */
    uint64_t pc;
    hd_span opcode, line;    /* in the text; line: the first one with it */
    hd_u32_array successors; /* indices in `code`, each once; HD_NONE: a warp ends here */
    hd_sass_listed list;
    uint8_t registers[HD_SASS_LISTED]; /* as listed; 255: RZ */
    hd_traced_operand *operands;       /* in the arena; none of RZ */
    uint32_t operand_count;
    hd_machine_slots slots;      /* with a listing */
    bool guarded, leaves, waits; /* leaves: EXIT; waits: at a barrier */
    bool access;
    uint8_t space; /* hd_sass_space */
} hd_traced_code;

typedef struct hd_traced {
    hd_source *source; /* borrowed */
    hd_diagnostics *diagnostics;
    const char *kernel; /* in the arena, as the other texts */
    uint32_t version, sm, grid[3], block[3], shared_bytes, registers;
    uint64_t shared_window, local_window; /* addresses of the shared and the local window; 0: not given */
    bool has_lines;                       /* each instruction line has a number of a source line */
    bool grouped;
    uint32_t prefix;   /* columns before them: of block, warp and SM */
    bool more_columns; /* the format names some after the addresses that are not read */
    uint32_t threads, cta_warps;
    HD_ARRAY(hd_traced_cta) ctas;  /* by index, those that have lines */
    HD_ARRAY(hd_traced_code) code; /* by address, after the one with which warps begin */
    bool several_entries;          /* warps begin with different ones: the trace is not whole */
    bool has_listing;
    hd_arena arena;
} hd_traced;

/* Whether a name is that of a trace (.traceg, .trace, also with .xz), or of a list of them (kernelslist*). */
bool hd_traced_is_name(const char *path);
bool hd_traced_is_list(const char *path);

/* Reads a file into `source`, decompressed if it is of xz. false: reported. */
bool hd_traced_load(const char *path, const hd_given_files *given, hd_source *source, hd_diagnostics *diagnostics);

typedef struct hd_traced_options {
    const hd_module *listing; /* machine code that has the kernel; NULL: none */
    uint32_t registers;       /* per thread, in place of the trace's own number; 0: that one */
    bool partial;             /* blocks, warps and their ends may be missing: a warning says how much is there */
} hd_traced_options;
/* The source must stay. NULL: reported. */
hd_traced *hd_traced_read(hd_source *source, const hd_traced_options *options, hd_diagnostics *diagnostics);
void hd_traced_free(hd_traced *traced); /* NULL is allowed */

/* The kernel as the only function. Takes ownership of the source's text. */
hd_module *hd_traced_module(hd_traced *traced);

typedef struct hd_traced_statistics {
    uint64_t warp_instructions, thread_instructions;
} hd_traced_statistics;
/* The launch's events, with its blocks in that order. false: a sink stopped it, or another thread, which set *cancel
 * (NULL: none does). */
bool hd_traced_play(const hd_traced *traced, const hd_sink *sinks, uint32_t count, hd_traced_statistics *statistics,
                    hd_ordering order, hd_meter *meter, const atomic_bool *cancel);

/* ---- private to accel_sim*.c ------------------------------------------------------------------------------------- */

typedef struct hd_traced_line {
    uint64_t pc;
    uint32_t place[6]; /* columns before: block x, y, z, warp, and SM, warp in it */
    uint32_t mask;
    hd_span opcode;
    hd_sass_listed list;
    uint8_t registers[HD_SASS_LISTED];
    bool access; /* with addresses, of the lanes of the mask */
    uint64_t addresses[32];
    uint32_t begin;    /* after the columns before */
    const char *wrong; /* what is malformed, as text; NULL: nothing */
    uint32_t at;       /* where */
} hd_traced_line;

/* Reads the line at `begin`; prefix: with the columns before. Returns the offset of the next line. */
uint32_t hd_traced_read_line(const hd_traced *traced, uint32_t begin, bool prefix, hd_traced_line *line);
/* Sorts blocks and code, and finds operands, successors and guards. Reports what is missing, and what does not fit the
 * listing. */
void hd_traced_finish(hd_traced *traced, const hd_traced_options *options);
/* Operands and slots of the listing's instructions (accel_sim_listing.c). */
void hd_traced_join(hd_traced *traced, const hd_module *listing);

#endif
