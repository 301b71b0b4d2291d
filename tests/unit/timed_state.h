/* State of the driver of timed_driver.h, and what its files call of each other. Private to them. */
#ifndef HD_TESTS_TIMED_STATE_H
#define HD_TESTS_TIMED_STATE_H

#include "tests/unit/timed_driver.h"
#include "tests/unit/unit.h"

enum { TIMED_MOST_BANKS = 16 };

typedef struct timed_warp timed_warp;

typedef struct timed_group { /* accesses of one call of a hook */
    HD_ARRAY(hd_rf_access) accesses;
    HD_ARRAY(uint64_t) done; /* by access: when it is; 0: it waits */
    timed_warp *warp;        /* NULL: nobody waits for it */
    bool holds;              /* the warp may not issue until it is complete */
    bool is_load;
    uint64_t results_at; /* accesses of results are not before */
} timed_group;

typedef struct timed_pending_word {
    uint32_t frame, word;
    const timed_group *of;
} timed_pending_word;

struct timed_warp {
    hd_rf_warp warp; /* first */
    const timed_warp_trace *trace;
    uint32_t next; /* of its events */
    bool resident, active, prepared, refused;
    uint32_t held, in_flight; /* groups that hold it; that write words of it */
    uint32_t barriers;
    uint64_t wake, queued;
    HD_ARRAY(timed_pending_word) pending;
};

typedef struct timed_driver {
    timed_run *run;
    const hd_rf_ops *ops;
    hd_rf_model *model;
    timed_warp **warps; /* by slot */
    uint32_t slots, active_most, next_cta, resident_ctas, active, turn;
    HD_ARRAY(timed_group *) groups;
    uint64_t now, moved, queue, free_at[HD_STRUCTURE_COUNT][TIMED_MOST_BANKS];
    hd_access_sink sink;
    uint32_t at; /* of the log that is followed */
    uint32_t issued_units;
} timed_driver;

/* timed_accesses.c */
/* Fails the test where the sink has a failure, or a source was not delivered. */
void timed_fail_if_wrong(const timed_driver *d, const hd_rf_step *step);
/* Accesses that the sink has; NULL where there are none and nobody waits for them. */
timed_group *timed_add_group(timed_driver *d, timed_warp *warp, bool holds);
void timed_advance_accesses(timed_driver *d);
void timed_count_accesses(timed_driver *d, uint32_t operands, uint32_t results);

/* timed_warps.c */
uint32_t timed_live_warps(const timed_driver *d, uint32_t cta);
/* Does away with returns, and enters the frame of the next instruction; false: there is none. */
bool timed_reach_instruction(timed_driver *d, timed_warp *w);
hd_rf_step timed_step_of(const timed_driver *d, timed_warp *w);
/* loads: only words that long-latency loads write. */
bool timed_waits_for_words(const timed_warp *w, const hd_rf_step *step, bool loads);
bool timed_waits_at_barrier(const timed_driver *d, const timed_warp *w);
bool timed_waits_long(const timed_driver *d, timed_warp *w);
void timed_switch_warp(timed_driver *d, timed_warp *w, bool in);
void timed_begin_warp(timed_driver *d, uint32_t number);
void timed_end_warp(timed_driver *d, timed_warp *w);
void timed_start_ctas(timed_driver *d);

/* timed_issue.c */
void timed_prepare(timed_driver *d, timed_warp *w);
/* Asks the model twice, which must answer the same. */
bool timed_gate_is_open(timed_driver *d, timed_warp *w);
bool timed_can_issue(const timed_driver *d, timed_warp *w);
void timed_issue(timed_driver *d, timed_warp *w);
void timed_offer_idle_units(timed_driver *d);

#endif
