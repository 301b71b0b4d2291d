/* What happens in an SM, for those who want to see it: a timeline (timeline.h), a profile, counts of a test.
 *
 *   launch_begin   a launch begins; cycles of its events are at or after this one
 *   issue          an instruction of a warp takes an issue slot for one cycle
 *   stall          issue slots of one scheduler issue nothing for a number of cycles, for one reason
 *   wait           a resident warp issues, or waits to issue its next instruction, for a number of cycles
 *   access         a part of a memory instruction's work, once for each: see hd_sm_level
 *   retire         the results of an instruction are written
 *   warp_end       a warp has retired its last instruction
 *   launch_end     all thread blocks of the launch have ended, or a failure ended the run
 *
 * In every cycle each issue slot is covered by exactly one issue or stall, and each resident warp by one wait. Events
 * come in the order of their cycles; a stall or a wait of several cycles comes when the last one of them is over. What
 * a technique moves between registers and memory by itself, and the code that is fetched, are no accesses.
 *
 * A listener is a context with a table of functions, and changes nothing in the model. The functions are called on the
 * thread of the timing, and what an event points to is valid during the call. An SM without listeners builds no events.
 */
#ifndef HD_HWMODEL_SM_LISTENER_H
#define HD_HWMODEL_SM_LISTENER_H

#include <stdint.h>

/* The instruction of a warp that an event is about. */
typedef struct hd_sm_subject {
    uint32_t cta, warp;             /* of the launch; HD_NONE: no warp */
    uint32_t function, instruction; /* of the module; number in the function. HD_NONE: no instruction */
    uint32_t active, effective;     /* lanes of the SIMT stack's top; of these, those whose guard holds */
    uint16_t sm;
    uint8_t place; /* of the warp in its SM */
} hd_sm_subject;

typedef struct hd_sm_issue_event {
    hd_sm_subject subject;
    uint64_t cycle;
    uint32_t number; /* of the instruction in its SM: one more for each issue, over all launches */
    uint8_t slot;    /* scheduler * issue width + number of the issue in the cycle */
} hd_sm_issue_event;

typedef struct hd_sm_stall_event {
    hd_sm_subject subject; /* what the scheduler would issue first; of a warp at its END, its last instruction */
    uint64_t begin, end;   /* end: the first cycle after it */
    uint8_t slot, slots;   /* slots: that many from `slot` on, all of one scheduler */
    uint8_t reason;        /* hd_sm_slot */
} hd_sm_stall_event;

typedef struct hd_sm_wait_event {
    hd_sm_subject subject; /* the instruction that the warp issues or waits to issue; at its END, its last one */
    uint64_t begin, end;   /* end: the first cycle after it */
    uint8_t state;         /* ISSUED, another hd_sm_slot that the warp waits for, or HD_SM_NOT_SELECTED */
} hd_sm_wait_event;

typedef enum hd_sm_level {
    HD_SM_LEVEL_REQUEST,  /* at issue: the lines and sectors of the L2 cache that all lanes ask for together */
    HD_SM_LEVEL_SHARED,   /* at issue: the passes over the banks of shared memory */
    HD_SM_LEVEL_L1,       /* a line is looked up: its sectors, and those that the cache has */
    HD_SM_LEVEL_CONSTANT, /* the same */
    HD_SM_LEVEL_TEXTURE,  /* the same */
    HD_SM_LEVEL_L2,       /* the answer to a read: the sectors, and those that the cache had when the request came */
} hd_sm_level;

typedef struct hd_sm_access_event {
    hd_sm_subject subject;
    uint64_t cycle;
    uint8_t level;  /* hd_sm_level */
    uint32_t lines; /* of REQUEST; of a cache, 1 */
    uint32_t sectors, hits;
    uint32_t least_sectors;        /* of REQUEST: that would hold as many bytes as its lanes access */
    uint32_t passes, least_passes; /* of SHARED; least_passes: without bank conflicts */
} hd_sm_access_event;

typedef struct hd_sm_retire_event {
    hd_sm_subject subject;
    uint64_t cycle;
    uint32_t number; /* as in its issue */
} hd_sm_retire_event;

typedef struct hd_sm_warp_event {
    hd_sm_subject subject; /* without an instruction */
    uint64_t begin, end;   /* cycles in which it was resident; end: the first one after them */
} hd_sm_warp_event;

/* Functions that are NULL are not called. */
typedef struct hd_sm_listener_ops {
    /* launch: the number that hd_timing_begin got; function: of the kernel */
    void (*launch_begin)(void *context, uint32_t launch, uint32_t function, uint64_t cycle);
    void (*issue)(void *context, const hd_sm_issue_event *event);
    void (*stall)(void *context, const hd_sm_stall_event *event);
    void (*wait)(void *context, const hd_sm_wait_event *event);
    void (*access)(void *context, const hd_sm_access_event *event);
    void (*retire)(void *context, const hd_sm_retire_event *event);
    void (*warp_end)(void *context, const hd_sm_warp_event *event);
    void (*launch_end)(void *context, uint64_t cycle);
} hd_sm_listener_ops;

typedef struct hd_sm_listener {
    const hd_sm_listener_ops *ops;
    void *context;
    uint32_t sm; /* number of the SM that it listens to; HD_NONE: all. Launches are the same for all */
} hd_sm_listener;

#endif
