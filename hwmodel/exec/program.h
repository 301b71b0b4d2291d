/* Inside of the interpreter: decoded programs and the state of warps. Private to hwmodel/exec.
 *
 * A function is decoded to one hd_op per instruction (same index), so that events need no table. Registers are rows of
 * 32 lanes (structure of arrays): 16, 32, 64 bits a lane; 128 bits are two 64-bit rows; predicates and %CC are one word
 * with a bit a lane. An operand is an hd_ref: which block of rows (the frame's registers, the function's constants, the
 * warp's special registers) and the byte offset in it; immediates are rows too, so that no handler asks what an operand
 * is.
 *
 * An op is run by its `run` function; arithmetic ones share a few, which call a `lanes` function on whole rows
 * (vectorized by the compiler, chosen for the CPU at load time) and merge the result under the mask.
 */
#ifndef HD_HWMODEL_EXEC_PROGRAM_H
#define HD_HWMODEL_EXEC_PROGRAM_H

#include "hwmodel/exec/crew.h"
#include "ir/form.h"
#include "ir/sregs.h"
#include "ir/storage.h"

enum { LANES = HD_WARP_LANES };
#define HD_ALL_LANES 0xffffffffu

typedef uint32_t hd_ref;
enum { HD_REF_FRAME = 0, HD_REF_CONSTANT = 1, HD_REF_SPECIAL = 2, HD_REF_SHIFT = 30 };
#define HD_REF(base, offset) ((hd_ref)(base) << HD_REF_SHIFT | (hd_ref)(offset))
#define HD_NO_REF 0xffffffffu

typedef struct hd_op hd_op;
typedef struct hd_warp hd_warp;
typedef struct hd_cta hd_cta;
typedef struct hd_code hd_code;
typedef struct hd_checks hd_checks;

typedef enum hd_step {
    HD_STEP_NEXT,   /* go on behind the instruction */
    HD_STEP_JUMPED, /* the stack was changed */
    HD_STEP_WAIT,   /* the warp waits at a barrier; it goes on behind the instruction. From here on: rare */
    HD_STEP_YIELD,  /* go on behind the instruction, after other warps had a turn */
    HD_STEP_BLOCKED, /* it was not done: it runs again, and counts, when it can be (park.h) */
    HD_STEP_STOP,   /* a fault was reported, or a sink stopped the run */
} hd_step;

typedef hd_step hd_run(const hd_op *op, hd_warp *warp, uint32_t mask);
typedef void hd_lanes(void *d, const void *a, const void *b, const void *c);
typedef uint32_t hd_compare(const void *a, const void *b);
typedef uint64_t hd_combine(uint64_t old, uint64_t b, uint64_t c); /* an atomic's operation on one value */

enum {                           /* hd_op.flags */
       HD_OP_GUARD_NOT = 1,      /* guard is inverted */
       HD_OP_CONTROL = 2,        /* changes the warp's stack: told to sinks before it runs */
       HD_OP_FTZ = 4,            /* subnormal inputs and results are zero of their sign */
       HD_OP_SAT = 8,            /* result clamped to [0, 1], NaN to 0 */
       HD_OP_NOT_C = 16,         /* predicate source c is inverted */
       HD_OP_SIGNED = 32,        /* loads: sign extension */
       HD_OP_MEMORY = 64,        /* has lane addresses */
       HD_OP_ALIGNED = 128,      /* barrier that all lanes of the warp must reach together */
       HD_OP_WIDE_ADDRESS = 256, /* the address row has 64 bits a lane */
       HD_OP_SYNTHETIC = 512,    /* no instruction of the text: no event */
       HD_OP_NOT_A = 1024,       /* predicate source a is inverted */
       HD_OP_RESULT = 2048,      /* atomics: the old value is wanted */
       HD_OP_CARRY_IN = 4096,
       HD_OP_CARRY_OUT = 8192, /* %CC */
       HD_OP_RETRY = 32768, /* may be BLOCKED: told after it ran */
       HD_OP_IDENTITY = 65536, /* of an architected function: no event and no count, but the name that it writes has the value */
       HD_OP_LAST_OF_STRETCH = 131072, /* a barrier: hd_stretch */
       HD_OP_MEETS = 262144, /* lanes of the warp that its operand f names do it together (meet.h) */
       HD_OP_ORDERED = 16384, /* other CTAs may see when it happens: it waits for the CTA's turn (crew.h) */
};

struct hd_op {
    hd_run *run;
    union {
        hd_lanes *lanes;
        hd_compare *compare;
        hd_combine *combine;
        const void *detail; /* of instructions with more to say (matrix shapes, textures): in the program's arena */
    } use;
    hd_ref guard;          /* predicate word or HD_NO_REF */
    hd_ref d, e;           /* destinations; e: the second of p|q, or %CC */
    hd_ref a, b, c, f;     /* sources */
    uint32_t first, count; /* in code->refs or code->copies: vector elements, arguments, targets of brx.idx */
    uint32_t written, written_count; /* in code->written: register destinations, for columns.c */
    uint64_t words;                  /* of these, as a set that may have others besides: bits of their lowest six */
    int64_t offset;                  /* added to lane addresses */
    uint32_t target;                 /* branch: op; call: index in program->codes */
    uint32_t join;                   /* branch: op where the sides meet, or HD_NONE (the end) */
    uint32_t place;                  /* memory: cache slot for the allocation that was hit last */
    uint32_t flags;
    uint8_t d_bytes;            /* bytes of a lane of d */
    uint8_t a_bytes;            /* of a source that may be wider than what is stored or converted */
    uint8_t item_bytes;         /* memory: of one element; conversions: of the source's type */
    uint8_t out_bytes;          /* conversions: of the result's type */
    uint8_t space;              /* hd_space of an access */
    uint8_t rounding;           /* 0: nearest; else hd_modifier - HD_MOD_ROUND_RN */
    uint8_t boolean;            /* 0, or 1 and, 2 or, 3 xor; kinds of hand-written ops */
    uint8_t float_type;         /* hd_type that FTZ and SAT are about: F16, BF16, F32, F64 */
    uint8_t parts;              /* 2: of a packed type, whose row is two rows of its element; else 1 or 0 */
    uint8_t to_type, from_type; /* hd_type, of a conversion */
};

typedef struct hd_call_copy { /* one argument or result of a call */
    hd_ref row;              /* the caller's register or immediate, or HD_NO_REF: its memory */
    hd_ref formal;           /* the callee's register, or HD_NO_REF: its memory */
    uint32_t local, there;   /* byte offsets in the caller's and the callee's frames of local memory */
    uint32_t bytes;          /* 0: predicates */
    uint32_t row_bytes;      /* of a lane of `row` and of `formal` */
} hd_call_copy;

typedef struct hd_callee { /* a function that a call may reach */
    uint64_t address;    /* its code address */
    uint32_t code;       /* index in program->codes */
    uint32_t first;      /* in the caller's code->copies: the arguments, the results behind them */
} hd_callee;

typedef struct hd_call { /* hd_op.use.detail of calls */
    const hd_callee *callees;
    uint32_t count, arguments, results;
    bool indirect;       /* the target of each lane stands in row a, of a_bytes */
    bool no_return;      /* a callee that returns is a fault */
} hd_call;

typedef struct hd_written { /* a register that an instruction writes; predicates are none */
    hd_ref row;     /* HD_NO_REF: of a call, of which no values are known */
    uint32_t word;  /* the first of its words in the register file (ir/storage.h) */
    uint8_t bytes;  /* of a lane: 2, 4, 8 or 16 */
    uint8_t words;  /* that these are */
    bool single;    /* 4 bytes of a row, and all that the instruction writes */
} hd_written;

/* A special register's row: 32 lanes of 2, 4 or 8 bytes, or a predicate word (bytes = 0). */
typedef struct hd_special {
    uint8_t sreg, component, bytes, varies;
    uint32_t offset;
} hd_special;

/* A variable of shared memory, or of a frame: for messages. */
typedef struct hd_placed {
    uint32_t symbol, offset;
} hd_placed;
typedef HD_ARRAY(hd_placed) hd_placed_array;

struct hd_code {
    const hd_function *function;
    uint32_t index;          /* in module->functions */
    hd_op *ops;              /* instruction count + 1: the last is a synthetic return */
    uint32_t op_count;       /* without it */
    uint32_t register_bytes; /* of a frame */
    uint32_t local_bytes;    /* of a frame: parameters, results, .local and .param variables; a multiple of 16 */
    HD_ARRAY(hd_ref) refs;
    HD_ARRAY(uint8_t) widths; /* by ref: bytes of a lane; parallel to refs */
    HD_ARRAY(hd_call_copy) copies;
    HD_ARRAY(hd_written) written;
    hd_storage storage;       /* of the function */
    hd_placed_array variables; /* .local and .param ones of the frame */
    uint32_t *register_rows; /* by register: its row in the frame */
    uint32_t constant_bytes; /* in constant_rows */
    hd_ref *formals; /* rows of the function's register results, then of its register parameters */
    HD_ARRAY(unsigned char) constants; /* constant rows; 64-byte aligned copy in constant_rows after decoding */
    unsigned char *constant_rows;
};

/* Of a program's launches: those after one whose CTAs conflict (crew.h) run on one thread, 1, 2, 4 .. of them. */
typedef struct hd_history {
    uint32_t conflicts, skipped;
    bool *exact; /* by allocation: launches write and read it, so it is to be noted what they read (footprint.h); owned */
} hd_history;

struct hd_program {
    hd_arena arena;
    const hd_module *module;
    const hd_image *image;
    const hd_function *kernel;
    HD_ARRAY(hd_code *) codes; /* [0]: the kernel */
    HD_ARRAY(hd_special) specials;
    hd_placed_array shared_variables;
    uint32_t special_bytes;
    uint32_t static_shared_bytes; /* of all functions together */
    uint32_t dynamic_shared_at;   /* offset of the extern shared arrays */
    bool surfaces;                /* something reads or writes surfaces */
    hd_history *history;          /* in the arena; launches change it */
    bool reserves_shared;         /* something asks where the reserved part of shared memory is */
    uint32_t parameter_bytes;
    uint32_t places; /* cache slots of memory ops */
};

/* ---- state while running ------------------------------------------------------------------------------------- */

typedef struct hd_entry {
    uint32_t pc, join, mask; /* join: HD_NONE is the end of the function */
} hd_entry;

typedef struct hd_frame {
    const hd_code *code;
    unsigned char *registers; /* owned by the warp; kept for the next frame of this depth */
    uint32_t register_capacity;
    uint32_t serial;
    uint32_t local_base, local_end; /* of this frame in the warp's local memory, bytes per lane */
    uint32_t bottom;                /* first entry in the warp's stack */
    const hd_op *call;              /* in the caller, that made this frame */
    const hd_callee *callee;        /* which of its targets */
    uint32_t lanes;                 /* that were called */
    uint32_t rest;                  /* that the same call sends to other functions, when these are back */
    bool has_tops;
    unsigned char *shadow; /* uninitialized.c: bits that are undefined, and by register where they come from; owned */
    uint32_t shadow_capacity;
    uint32_t *writers; /* columns.c; owned, kept like the registers */
    uint32_t writer_words;
    uint32_t *tops; /* with has_tops (alloca): where each lane's stack ends; owned, kept like the registers */
} hd_frame;

typedef enum hd_warp_state { HD_WARP_READY, HD_WARP_WAITING, HD_WARP_DONE } hd_warp_state;

typedef struct hd_async { /* of one lane: a copy to shared memory, or an arrival at an mbarrier there */
    uint32_t to, group;   /* offset in shared memory; the lane's group that it belongs to */
    uint8_t lane, bytes;  /* bytes 0: an arrival */
    bool done;
    unsigned char data[16];
} hd_async;

struct hd_warp {
    const unsigned char *bases[4]; /* by HD_REF_*, of the current frame */
    hd_cta *cta;
    HD_ARRAY(hd_entry) stack;
    HD_ARRAY(hd_frame) frames;
    uint32_t frame_count; /* frames.count counts the kept ones too */
    uint32_t next_serial;
    unsigned char *local;    /* local memory: word w of lane l at (w * 32 + l) * 4 */
    unsigned char *shadow_local; /* its undefined bits, with checks */
    uint32_t local_capacity; /* bytes per lane */
    unsigned char *special;
    bool special_filled;    /* with what does not vary between CTAs */
    uint32_t index, id;     /* in the CTA; in the launch */
    uint32_t lanes;         /* that exist and have not exited */
    uint8_t state, barrier; /* WAITING: at this barrier */
    const hd_op *waiting;   /* the barrier instruction */
    uint64_t issued;
    /* park.h, barrier.c */
    uint32_t yields;         /* turns given up */
    uint32_t parked, passed; /* lanes that stay at an instruction; that may go on when it runs again */
    uint32_t told;           /* lanes whose instruction runs again and was told before */
    uint64_t park_keys[LANES];
    uint32_t met_row[LANES], met_word; /* meet.c: results of lanes that were let go, which they have not written yet */
    uint32_t ayes, ayes_of_barrier, noes_of_barrier; /* votes of parked lanes; results of the barrier that opened */
    uint32_t cluster_arrived, cluster_open;
    /* async.c: copies and arrivals that are still to happen, in order of issue */
    HD_ARRAY(hd_async) async;
    uint32_t async_groups[LANES]; /* committed so far, by lane */
};

typedef struct hd_barrier {
    uint32_t waiting;  /* warps */
    uint32_t arrived;  /* threads, those of arrive included */
    uint32_t expected; /* threads; 0: all that live */
    uint32_t kind;     /* HD_BARRIER_* of those that arrived last */
    uint32_t ayes, noes; /* threads, of bar.red */
} hd_barrier;
enum { HD_BARRIERS = 16, HD_CLUSTER_BARRIER = 16, HD_NO_BARRIER = 255 };
enum { HD_RESERVED_SHARED_BYTES = 1024 }; /* behind the CTA's own, where a kernel asks for it */
enum { HD_YIELDS_OF_SIDE = 16 }; /* then another side of the warp's branch gets its turn */

typedef struct hd_livelock {
    uint64_t state, writes, rounds; /* livelock.c; rounds: in which nothing was written */
    uint64_t issued;                /* instructions when states were compared last */
    uint64_t spun;                  /* rounds in which every ready warp used its turn */
    bool careful;                   /* stores of equal bytes are no writes */
} hd_livelock;

typedef enum hd_watched {
    HD_UNWATCHED,
    HD_WATCHED_IN_STRETCHES, /* sinks take stretches, and nothing else looks */
    HD_WATCHED,              /* each instruction: sinks, checks or livelock.c's trace */
} hd_watched;

/* Of the stretch that is open, what was written and not measured yet (columns.h): by one frame, no word twice. */
typedef struct hd_unmeasured {
    const hd_op *op;
    uint32_t lanes;
} hd_unmeasured;
typedef struct hd_gathering {
    const hd_warp *warp;
    uint32_t frame, count; /* frame: of its frames */
    uint64_t words;        /* hd_op.words of all of them */
    hd_unmeasured items[HD_STRETCH_MOST];
} hd_gathering;

/* What one thread of the host needs to run CTAs. */
struct hd_cta {
    const hd_program *program;
    const hd_grid *grid;
    const hd_exec_options *options;
    const hd_memory *memory;
    const hd_sink *sinks;
    uint32_t sink_count, columns;
    hd_stretch *stretch; /* of the grid: what sinks were not told yet; NULL where they take single events */
    hd_gathering *gathering; /* of the stretch */
    uint8_t watched;     /* hd_watched */
    hd_diagnostics *diagnostics;
    hd_exec_statistics *statistics;
    hd_crew *crew;                /* where other threads run CTAs of the grid too, else NULL */
    hd_crew_share share;          /* of the crew's CTAs, that this thread runs */
    hd_footprint *footprint;      /* of this thread; NULL without a crew */
    uint64_t compare_at;          /* with a crew: the CTA's instructions after which hd_crew_compare is due */
    bool has_turn;                /* every CTA before this one has ended */
    uint64_t issued_before;       /* in the statistics when the grid started; with a crew: when the CTA did */
    hd_exec_status status;
    hd_checks *checks;    /* checks.h, or NULL */
    hd_diagnostic *fault; /* of the status FAULT, where it was kept */
    uint32_t index, id[3]; /* linear; x y z */
    hd_warp *warps;
    uint32_t warp_count, live_warps;
    unsigned char *shared;
    uint32_t shared_bytes, reserved_at; /* with the reserved part, which begins there */
    hd_barrier barriers[HD_BARRIERS];
    uint32_t async_arrivals; /* in the queues of its warps */
    uint64_t writes; /* to shared and global memory that may have changed it */
    hd_livelock livelock;
    struct hd_trace *trace; /* livelock.c: which instructions run, or NULL */
    const hd_allocation **places; /* by op->place: the allocation that it hit last */
    uint64_t addresses[LANES];    /* of the last memory op */
    uint32_t results[LANES * HD_MOST_WRITTEN];
    hd_width widths[HD_MOST_RETURNED];
    _Alignas(64) unsigned char scratch[4][LANES * 16]; /* rows: result, three sources */
};

static inline const void *hd_row(const hd_warp *w, hd_ref ref)
{
    return w->bases[ref >> HD_REF_SHIFT] + (ref & ((1u << HD_REF_SHIFT) - 1));
}
static inline void *hd_row_of_frame(hd_warp *w, hd_ref ref) { return (void *)(w->bases[HD_REF_FRAME] + ref); }
static inline uint32_t hd_word(const hd_warp *w, hd_ref ref) { return *(const uint32_t *)hd_row(w, ref); }
/* Writes the lanes of `mask` of a predicate. */
static inline void hd_set_word(hd_warp *w, hd_ref ref, uint32_t value, uint32_t mask)
{
    uint32_t *word = hd_row_of_frame(w, ref);
    *word = (*word & ~mask) | (value & mask);
}
static inline hd_frame *hd_top_frame(const hd_warp *w) { return &w->frames.items[w->frame_count - 1]; }
static inline hd_entry *hd_top(const hd_warp *w) { return &hd_array_last(&w->stack); }

/* Copies the lanes of `mask` of a row of 1, 2, 4, 8 or 16 bytes a lane (rows.c). */
void hd_merge(void *d, const void *from, uint32_t mask, uint32_t bytes);
void hd_spread(void *d, const void *value, uint32_t bytes); /* to all lanes */
void hd_keep(void *d, const void *from, uint32_t mask, uint32_t bytes); /* 4 or 8; 0 in all other lanes */
/* Widens or narrows a row of integers; equal widths copy. */
void hd_resize(void *d, uint32_t d_bytes, const void *a, uint32_t a_bytes, bool is_signed);
/* Of F16, BF16, F32 or F64. */
void hd_flush_row(void *d, const void *a, hd_type type);    /* subnormals to zero */
void hd_saturate_row(void *d, const void *a, hd_type type); /* to [0, 1] */
void hd_widen_row(void *d, const void *a, hd_type type);    /* F16 or BF16 to F32 */
/* `one` where a lane's bit is set in low; with it, 16 bits up, where it is in high. */
void hd_spread_row(uint32_t *d, uint32_t low, uint32_t high, uint32_t one);
/* lop3: bit 4 a + 2 b + c of the table, for each bit. */
void hd_logic_row(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t table);
/* a + b + in, or a - b - in, of 4 or 8 bytes a lane; `in` and the result: a bit a lane, the carry or borrow. */
uint32_t hd_carry_row(void *d, const void *a, const void *b, uint32_t in, bool subtract, uint32_t bytes);
/* dp4a (parts of 1 byte) and dp2a (2): parts of a times the bytes of b from bit `from` on, plus c. */
void hd_dot_row(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t part_bytes,
                uint32_t from, bool a_signed, bool b_signed);
/* bfi of 4 or 8 bytes a lane */
void hd_insert_row(void *d, const void *from, const void *into, const uint32_t *position, const uint32_t *length,
                   uint32_t bytes);

/* Reports a kernel fault at the op for the lowest lane of `lanes`; returns HD_STEP_STOP. fault.c */
hd_step hd_fault(const hd_op *op, hd_warp *w, uint32_t lanes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with a note (nearest allocation ...). */
hd_step hd_fault_note(const hd_op *op, hd_warp *w, uint32_t lanes, const char *note, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Notes of the fault that was just reported: a block of the device heap beside the address, who allocated and freed
 * it; NULL: nothing was ever allocated below it. */
struct hd_heap_block;
void hd_fault_note_block(hd_warp *w, uint64_t address, const struct hd_heap_block *block);
/* "4 bytes behind the end of 's' (16 bytes)": the variable nearest to an address, where they begin at `base`; false where there is
 * none. */
bool hd_describe_variable(const hd_program *program, const hd_placed_array *variables, uint64_t base, uint64_t at, char *text,
                          size_t size);
void hd_fault_note_place(hd_warp *w, const hd_code *code, uint32_t ordinal, const char *text);
/* Notes of the fault that was just reported: where other lanes of the warp are, as far as they are in this function. */
void hd_fault_note_elsewhere(hd_warp *w, uint32_t lanes);
void hd_fault_not_modelled(hd_cta *cta, const char *why); /* the fault just reported is no mistake of the kernel: UNSUPPORTED */
/* A race (races.c): reported like a fault, but the run goes on. thread: of the access before this one. */
typedef struct hd_race {
    const char *what, *now, *before; /* "write after read", "writes", "reads" */
    uint32_t byte, thread, code, ordinal;
} hd_race;
void hd_report_race(const hd_op *op, hd_warp *w, uint32_t lane, const hd_race *race);
void hd_thread_of(const hd_warp *w, uint32_t lane, uint32_t id[3]); /* threadIdx of a lane */
/* Every warp waits: reports the deadlock with the waiting places. */
void hd_fault_deadlock(hd_cta *cta);
/* The CTA goes in circles: reports it with the places where lanes run and wait. */
void hd_fault_livelock(hd_cta *cta);
void hd_stop_at_limit(hd_cta *cta, const hd_warp *w); /* w: where it is; NULL: the CTA has ended */

/* To be called before what other CTAs can see in another order, and before a fault is reported: waits until all CTAs
 * before this one have ended (crew.h). false: one of them has failed, and this one is to stop. */
bool hd_await_turn(hd_cta *cta);

/* livelock.c: to be asked after each round of turns; all_spun: every ready warp used its whole turn and stays ready.
 * true: the CTA will never end. */
bool hd_livelock_check(hd_cta *cta, bool all_spun);
typedef struct hd_trace hd_trace;
void hd_livelock_trace(const hd_op *op, hd_warp *w); /* where cta->trace is: this op runs */
void hd_livelock_free(hd_cta *cta);

/* async.c */
void hd_async_finish(hd_warp *w); /* all that is still to happen happens, when the warp has ended */

/* barrier.c */
uint32_t hd_live_threads(const hd_cta *cta); /* as barriers count them: 32 for each warp that has not ended */
void hd_barriers_check(hd_cta *cta);         /* opens what is complete; to be called when a warp has ended */

/* call.c */
void hd_grow_local(hd_warp *w, uint32_t needed); /* room for so many bytes a lane */
void hd_push_frame(hd_warp *w, const hd_code *code, uint32_t mask, uint32_t local_base);
/* The function on top has ended: back to the caller, or on to the next target of the same call. false: it was the
 * kernel. *stopped: a fault, or a sink. */
bool hd_leave_frame(hd_warp *w, bool *stopped);

/* stack.c */
void hd_warp_start(hd_warp *w, const hd_code *code, uint32_t lanes);
bool hd_warp_settle(hd_warp *w, bool *stopped);     /* pops what is finished; false: the warp has ended */
bool hd_emit(const hd_warp *w, hd_event_kind kind); /* an event without an instruction; false: a sink stops the run */
bool hd_emit_stretch(hd_cta *cta);                  /* what sinks were not told yet */
void hd_watch(hd_cta *cta);                         /* sets cta->watched */
hd_step hd_stop(hd_warp *w);                        /* a sink said so */
void hd_rebase(hd_warp *w);                         /* bases of the top frame */

/* special.c */
void hd_special_fill(const hd_program *program, hd_warp *w);
void hd_special_refresh(const hd_program *program, hd_warp *w); /* those that vary with time */
bool hd_special_known(hd_sreg sreg);
bool hd_special_used(const hd_program *program, hd_sreg sreg); /* by any of its instructions */

#endif
