/* The state of an SM, shared by its stages. Private to hwmodel/sm. */
#ifndef HD_HWMODEL_SM_STATE_H
#define HD_HWMODEL_SM_STATE_H

#include "hwmodel/rf/turns.h"
#include "hwmodel/sm/cache.h"
#include "hwmodel/sm/coalesce.h"
#include "hwmodel/sm/sm.h"
#include "ir/machine_slots.h"

enum {
    SM_WARPS = HD_SM_WARPS,
    SM_BANKS = 128,
    SM_SCHEDULERS = 8,
    SM_MEMORY_QUEUE = 8,
    SM_RING = 1 << 14,
    SM_BUFFER = 8
};

/* ---- instructions in flight -------------------------------------------------------------------------------------- */

typedef enum sm_phase {
    SM_ASIDE,   /* no instruction waits: accesses of `before` or of a change of warps */
    SM_COLLECT, /* in an operand collector */
    SM_READY,   /* in its collector, with all operands */
    SM_EXECUTE, /* in a unit, or in the memory system */
    SM_WRITE,   /* the results are written */
    SM_DONE
} sm_phase;

typedef enum sm_role {            /* of an access */
                       SM_FREE,   /* nobody waits for it but others of its instruction */
                       SM_NEEDED, /* the operands are not collected before it is done */
                       SM_RESULT  /* it begins with the result */
} sm_role;

typedef struct sm_access {
    hd_rf_access what;
    uint8_t role;
    bool started, done;
} sm_access;

typedef struct sm_copy {     /* in flight */
    uint32_t group, arrives; /* what its warp had committed and issued: groups, cp.async.mbarrier.arrive instructions */
} sm_copy;
typedef HD_ARRAY(sm_copy) sm_copies;

typedef struct sm_inflight { /* an instruction in flight, or accesses beside one */
    uint8_t phase, warp;
    bool is_before; /* accesses of `before`, or of what holds its warp: the next instruction waits for them */
    const hd_sm_op *op;
    const uint32_t *registers;
    HD_ARRAY(sm_access) accesses;
    uint32_t open, needed, results; /* accesses that are not done: all, by role */
    uint32_t received;              /* operands, in cycle `receives` */
    uint64_t receives;
    bool fixed, collecting; /* fixed: of a sub-core, its latency is; collecting: it reads without a window */
    bool forwarded;         /* its results are available */
    bool skips;             /* its results need no work of the unit */
    uint32_t number;        /* of the instruction, in order of issue; 0: it is none */
    /* of memory instructions */
    uint8_t space; /* hd_space */
    uint8_t cache; /* sm_cache that loads look into */
    uint32_t lines, next_line, passes, outstanding;
    uint64_t hit_at;      /* when the last line that the L1 cache has is there */
    hd_line_access *line; /* with room for `line_room` */
    uint32_t line_room;
    sm_copy copy;          /* of cp.async */
    uint32_t next;         /* of those that are not in use */
    hd_sm_subject subject; /* of events; set where there are listeners */
} sm_inflight;

typedef struct sm_event {
    uint8_t kind;
    uint32_t index; /* of the instruction in flight; of ASK_AGAIN and RECHECK: slot of the warp */
    uint32_t access;
} sm_event;
typedef struct sm_scheduled {
    sm_event event;
    uint32_t next; /* of its cycle, or of those that are free: 1 + its place; 0: there is none */
} sm_scheduled;
enum {
    SM_ACCESS_DONE,
    SM_ACCESS_ENDED /* in the cycle before */,
    SM_EXECUTED,
    SM_MEMORY_DONE,
    SM_ASK_AGAIN,
    SM_FORWARD,
    SM_RECHECK
};

typedef struct sm_due { /* events of a cycle, in the order in which they were added: 1 + their places; 0: none */
    uint32_t first, last;
} sm_due;

/* ---- the register file ------------------------------------------------------------------------------------------- */

typedef struct sm_waiting { /* an access at its bank */
    uint32_t inflight, access;
    uint64_t since; /* first cycle in which it may be served */
} sm_waiting;

typedef struct sm_awaiting { /* an access, and the place of the instruction whose results it waits for */
    uint32_t inflight, access, awaited;
} sm_awaiting;

typedef struct sm_queue {
    HD_ARRAY(sm_waiting) items;
    uint32_t head;
} sm_queue;

typedef struct sm_bank {
    sm_queue reads, writes;
    uint64_t free, write_free; /* cycle in which the port serves the next one; write_free: of sub-cores */
    uint64_t reserved;         /* reads by instructions of fixed latency: bit k: in cycle `base` + k */
    uint64_t base;
} sm_bank;

/* ---- warps ------------------------------------------------------------------------------------------------------- */

typedef struct sm_cta {
    hd_record *record;                        /* NULL: the place is free */
    uint32_t live, barriers[HD_RECORD_WARPS]; /* barriers that each warp has issued; UINT32_MAX: it has ended */
    uint8_t slots[HD_RECORD_WARPS];
} sm_cta;

typedef struct sm_buffer {     /* instructions of a warp, in the order of the text */
    uint32_t function, next;   /* number of the next one to be fetched, among those that are issued */
    uint32_t first, count;     /* in `ready` */
    uint64_t ready[SM_BUFFER]; /* cycle in which each may issue */
} sm_buffer;

/* What control codes say of a warp: codes.c. */
typedef struct sm_result {  /* the last write of a register */
    uint64_t available;     /* to an instruction that issues in this cycle or later; UINT64_MAX: not known yet */
    uint32_t lanes, number; /* that it writes; of its instruction */
} sm_result;

typedef struct sm_codes {
    uint64_t ready; /* cycle from which on the next instruction may issue */
    uint64_t wakes; /* latest cycle for which a recheck is due */
    uint64_t issued;
    uint8_t counters[HD_SM_COUNTERS];
    uint8_t fresh[HD_SM_COUNTERS]; /* what the instruction that issued last has added */
    uint8_t held[HD_SM_COUNTERS];  /* what goes down when earlier results are there, up to those of `held_number` */
    uint32_t held_number[HD_SM_COUNTERS];
    uint32_t uncounted;              /* instructions of variable latency in flight whose results have no counter */
    uint8_t reasons[HD_SM_COUNTERS]; /* hd_sm_slot: what those wait for that wait for the counter */
    hd_reuse_cache reuse;
    sm_result *results; /* by register */
} sm_codes;

typedef struct sm_warp {
    bool resident, has_step; /* has_step: there is a next instruction */
    bool control;            /* a branch, call or return is in flight */
    bool before_due;         /* of the next instruction, once the warp is active */
    uint8_t reason;          /* hd_sm_slot: why it cannot issue */
    bool wakes;              /* a gate keeps it, and said until when */
    uint32_t cta, index;     /* place of its block; its own in that */
    uint64_t age;            /* number of the start of its block */
    uint64_t start;          /* cycle from which on it may issue */
    bool had_turn;
    uint64_t turned;        /* cycle in which it began or ceased to take turns */
    uint32_t stores;        /* that the memory system has not done */
    uint32_t accesses;      /* loads, stores and atomics that have not ended */
    uint32_t inflight;      /* instructions */
    uint32_t pending_moves; /* register moves to finish before the next issue */
    sm_copies copies;
    uint32_t groups;  /* of copies, that it has committed */
    uint32_t arrives; /* cp.async.mbarrier.arrive instructions that it has issued */
    uint32_t scoreboard_entries;
    uint32_t frame;      /* of the last instruction that was issued */
    uint8_t *scoreboard; /* by register: hd_sm_slot of who waits for its value; ISSUED: it is there */
    uint8_t *reading;    /* by register, with sub-cores: queued instructions that have not read it */
    uint32_t readings;   /* their sum */
    sm_codes *codes;     /* NULL: the scoreboard keeps its instructions apart */
    hd_rf_step step;
    hd_walk_warp *walked;
    const hd_sm_op *op;
    const uint32_t *registers;
    sm_buffer buffer;
    hd_record_cursor cursor; /* large: what is read in every cycle comes before it */
    hd_sm_subject last;      /* instruction that was issued, and the cycle; set where there are listeners */
    uint64_t issued_at;
} sm_warp;

typedef struct sm_scheduler {
    uint64_t warps, active;     /* masks of slots */
    uint32_t last;              /* slot that issued last */
    uint32_t control, allocate; /* of a sub-core: what is in its latches; HD_NONE: nothing */
    uint32_t queued;            /* of a sub-core: instructions of variable latency that are not dispatched */
    uint8_t reason;             /* of slots that issued nothing in the last cycle */
    uint8_t taken_reason;       /* hd_sm_slot: why slots are taken */
    uint64_t taken;             /* cycle until which instructions that a technique adds take all slots */
    uint64_t issued_at;         /* the last cycle in which a warp issued; set where there are listeners */
    uint32_t blamed;            /* slot of the warp whose reason that is; HD_NONE: of none */
    HD_ARRAY(uint8_t) waiting; /* of the two-level policy: slots that are not active, in the order in which they left */
} sm_scheduler;

typedef enum sm_cache { SM_NO_CACHE, SM_L1, SM_CONSTANT, SM_TEXTURE, SM_CODE, SM_CACHES } sm_cache;

typedef struct sm_fetch { /* what the memory system has been asked for */
    bool used;
    uint8_t into;  /* sm_cache */
    uint64_t line; /* its address in bytes */
    uint32_t sectors;
    uint32_t access;      /* 1 + the access of the first in `waiting` that it serves; 0: lines of instructions */
    hd_u32_array waiting; /* instructions in flight; the first one has asked */
} sm_fetch;

struct hd_sm {
    hd_sm_setup setup;
    hd_rf_model *model;
    hd_rf_residency residency;
    uint64_t now, next, accounted; /* accounted: cycles before it are counted */
    uint64_t starts;               /* of blocks */
    uint32_t issued;               /* instructions, for hd_access_sink.number */
    bool failed, locked;
    uint64_t
        alive; /* the last cycle in which an instruction was issued, or something was in flight when that was asked */
    HD_ARRAY(sm_inflight) inflight; /* others refer to an instruction by its place here */
    uint32_t unused_inflight;
    sm_warp warps[SM_WARPS];
    HD_ARRAY(sm_cta) ctas;
    uint32_t resident;     /* blocks */
    uint32_t active_warps; /* most that take turns, of each scheduler; 0: all of its warps */
    uint32_t resident_warps;
    uint64_t recheck;  /* warps whose state may have changed */
    uint64_t may_end;  /* warps of which nothing is in flight */
    uint64_t eligible; /* warps that may issue, if a collector is free */
    uint64_t gated;    /* warps that the technique keeps from issuing */
    sm_scheduler schedulers[SM_SCHEDULERS];
    uint64_t order[SM_WARPS]; /* the lower, the older: starts of blocks, then warps in them */
    uint32_t free_collectors;
    bool subcores;
    bool follows_codes; /* of machine code, with sub-cores */
    hd_sm_early early;
    uint32_t issued_units;              /* in this cycle, a bit each, hd_unit */
    uint32_t latched;                   /* instructions in latches of sub-cores */
    uint32_t fixed_units;               /* a bit each, hd_machine_unit */
    uint64_t by_unit[HD_MACHINE_UNITS]; /* of sub-cores: warps whose next instruction is for the unit */
    sm_bank banks[SM_BANKS];
    uint64_t busy_banks[SM_BANKS / 64];         /* mask of banks */
    HD_ARRAY(sm_waiting) unbanked;              /* accesses of other structures, which never wait for each other */
    HD_ARRAY(sm_awaiting) awaiting;             /* accesses that wait for another instruction's results */
    HD_ARRAY(uint32_t) ready[HD_MACHINE_UNITS]; /* instructions in flight, the oldest first */
    uint64_t unit_free[HD_MACHINE_UNITS][64];
    HD_ARRAY(sm_scheduled) events;
    uint32_t free_event;
    sm_due *ring; /* by cycle modulo SM_RING; NULL before the first thread block */
    uint64_t ring_used[SM_RING / 64];
    HD_ARRAY(uint32_t) memory_queue; /* instructions in the load/store unit, the first in progress */
    HD_ARRAY(sm_waiting) reserved;   /* registers that a technique spills to memory, or fills from it */
    hd_cache caches[SM_CACHES];
    uint64_t to_fetch, missing_code;      /* warps with room in their buffer; that wait for a line */
    uint32_t last_fetched[SM_SCHEDULERS]; /* by port */
    uint32_t fetches_of_code;             /* on their way */
    HD_ARRAY(sm_fetch) fetches;
    uint32_t fetch_count;
    hd_sm_counts counts;
};

/* The walk of the technique's model, at the SM's clock. */
static inline hd_walk *sm_walk(const hd_sm *sm)
{
    sm->setup.walk->now = sm->now;
    return sm->setup.walk;
}

static inline hd_machine_class_timing sm_timing(const hd_sm *sm, const hd_sm_op *op)
{
    return sm->setup.machine->classes[op->class];
}

/* ---- clock.c ----------------------------------------------------------------------------------------------------- */

void sm_at(hd_sm *sm, uint64_t cycle, sm_event event);
uint64_t sm_next_event(const hd_sm *sm); /* UINT64_MAX: there is none */
/* Counts the cycles before `now`, in which nothing happened, as the last one. */
void sm_account(hd_sm *sm, uint64_t now);
void sm_account_power(hd_sm *sm, uint64_t cycles); /* registers that leak, for so many cycles */
/* Warps of its block may wait for what the warp has done. */
void sm_recheck_block(hd_sm *sm, const sm_warp *w);

/* ---- idle.c ------------------------------------------------------------------------------------------------------ */

/* Called at the end of each cycle. false: nothing has happened for so long that no warp can go on (sm.h). */
bool sm_check_alive(hd_sm *sm);

/* ---- events.c: counts events, and sends them to the listeners ---------------------------------------------------- */

/* The next instruction of its warp is in flight now, and is issue `number` of its scheduler in this cycle. */
void sm_emit_issue(hd_sm *sm, uint32_t inflight, uint32_t number);
/* To the listeners alone, which sm_emit_stall calls where there are some. */
void sm_send_stall(hd_sm *sm, uint32_t scheduler, uint32_t number, uint64_t begin, uint64_t end);
/* Slots of the scheduler from `number` on issue nothing from cycle `begin` up to the one before `end`. */
static inline void sm_emit_stall(hd_sm *sm, uint32_t scheduler, uint32_t number, uint64_t begin, uint64_t end)
{
    uint32_t lost = sm->setup.machine->core.issue_width - number;
    sm->counts.slots[sm->schedulers[scheduler].reason] += lost * (end - begin);
    if (sm->setup.listener_count)
        sm_send_stall(sm, scheduler, number, begin, end);
}
/* What each resident warp does from cycle `begin` up to the one before `end`; `issuing`: in the first of them warps may
 * have issued. */
void sm_emit_waits(hd_sm *sm, uint64_t begin, uint64_t end, bool issuing);
/* The instruction asks the memory system for so many sectors of the L2 cache. */
void sm_emit_request(hd_sm *sm, const sm_inflight *inflight, uint32_t sectors);
/* The instruction makes its passes over shared memory, which would be `least` without conflicts. */
void sm_emit_passes(hd_sm *sm, const sm_inflight *inflight, uint32_t least);
/* The instruction looks into its cache for sectors of a line, of which some are missing. Masks. */
void sm_emit_lookup(hd_sm *sm, const sm_inflight *inflight, uint32_t sectors, uint32_t missing);
void sm_emit_answer(hd_sm *sm, const sm_inflight *inflight, const hd_memory_answer *answer); /* to a read */
void sm_emit_retire(hd_sm *sm, const sm_inflight *inflight);
void sm_emit_warp_end(hd_sm *sm, uint32_t slot);

/* ---- in_flight.c: accesses to registers -------------------------------------------------------------------------- */

uint32_t sm_new_inflight(hd_sm *sm, uint32_t slot);
/* The accesses of the sink become the instruction's, and begin where they can. */
void sm_add_accesses(hd_sm *sm, uint32_t inflight, const hd_access_sink *sink, bool all_needed);
/* The same in two steps: without beginning them; beginning those that can. */
void sm_set_accesses(hd_sm *sm, uint32_t inflight, const hd_access_sink *sink, bool all_needed);
void sm_begin_accesses(hd_sm *sm, uint32_t inflight);
void sm_leave_collector(hd_sm *sm, const sm_inflight *inflight);
/* The accesses for its operands are done; others begin in cycle `since`. */
void sm_take_operands(hd_sm *sm, uint32_t inflight, uint64_t since);
/* For sub-cores: later instructions of the warp must not write what this one has yet to read; it has read. */
void sm_hold_operands(hd_sm *sm, uint32_t inflight, bool hold);
void sm_clear_scoreboard(hd_sm *sm, uint32_t inflight);
uint32_t sm_bank_of(const hd_sm *sm, const sm_inflight *inflight, const hd_rf_access *access);
static inline bool sm_has_busy_banks(const hd_sm *sm) { return sm->busy_banks[0] | sm->busy_banks[1]; }
void sm_serve_banks(hd_sm *sm);
/* What comes after it may be served from cycle `since` on. */
void sm_access_done(hd_sm *sm, uint32_t inflight, uint32_t access, uint64_t since);
void sm_write_results(hd_sm *sm, uint32_t inflight);

/* ---- subcore.c --------------------------------------------------------------------------------------------------- */

/* The warps among `able`, which may issue, for which the sub-core has room. */
uint64_t sm_subcore_able(const hd_sm *sm, const sm_scheduler *scheduler, uint64_t able);
void sm_subcore_issue(hd_sm *sm, uint32_t inflight);
void sm_advance_latches(hd_sm *sm);
/* A unit of the kind that is free for the scheduler; HD_NONE: none is. */
uint32_t sm_free_unit(const hd_sm *sm, uint32_t unit, uint32_t scheduler);

/* ---- codes.c ----------------------------------------------------------------------------------------------------- */

/* Room for what control codes say of warps; of one, which starts. */
sm_codes *sm_codes_new(const hd_sm *sm);
void sm_codes_free(sm_codes *codes);
void sm_codes_begin(const hd_sm *sm, sm_codes *codes, uint64_t start);
/* The reason for which the next instruction of the warp may not issue in this cycle; ISSUED: there is none. */
hd_sm_slot sm_codes_wait(hd_sm *sm, uint32_t slot);
/* The warp's next instruction is in flight. */
void sm_codes_issue(hd_sm *sm, uint32_t inflight, hd_sm_slot reason);
/* Reads of operands that the reuse cache keeps are done. After sm_set_accesses. */
void sm_codes_reuse(hd_sm *sm, uint32_t inflight);
/* In this cycle the instruction stays in its latch: the count of its warp stands still. */
void sm_codes_hold(hd_sm *sm, uint32_t inflight);
/* Its results are there for what issues from cycle `available` on; the operands are read; the results are there. */
void sm_codes_forward(hd_sm *sm, const sm_inflight *inflight, uint64_t available);
void sm_codes_read(hd_sm *sm, const sm_inflight *inflight);
void sm_codes_written(hd_sm *sm, const sm_inflight *inflight);

/* ---- load_store.c ------------------------------------------------------------------------------------------------ */

void sm_prepare_memory(hd_sm *sm, uint32_t inflight, const sm_warp *warp); /* at issue: lines, passes */
void sm_access_memory(hd_sm *sm);                                          /* one cycle of the unit */
void sm_memory_done(hd_sm *sm, uint32_t inflight);                         /* all that was sent is answered */

/* Asks the memory system. Returns the place among the fetches. */
uint32_t sm_fetch_line(hd_sm *sm, sm_cache into, const hd_line_access *line, hd_memory_kind kind);

/* ---- fetch.c ----------------------------------------------------------------------------------------------------- */

/* The warp's next instruction is known: others that were fetched are dropped. */
void sm_buffer_reach(hd_sm *sm, uint32_t slot);
bool sm_is_fetched(const hd_sm *sm, const sm_warp *w);
void sm_buffer_pop(hd_sm *sm, uint32_t slot); /* it is issued */
void sm_fetch_code(hd_sm *sm);
void sm_code_arrived(hd_sm *sm, uint64_t address, uint64_t now); /* of the line */

/* ---- issue.c ----------------------------------------------------------------------------------------------------- */

void sm_reach_next(hd_sm *sm, uint32_t slot); /* the warp's next instruction, or its end */
void sm_issue(hd_sm *sm);
/* The warp ceases to take turns, because it waits or ends. */
void sm_end_turn(hd_sm *sm, sm_scheduler *s, uint32_t slot);
void sm_activate(hd_sm *sm, uint32_t slot); /* a warp of a block that starts */

#endif
