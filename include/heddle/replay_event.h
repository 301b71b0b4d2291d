/* What happens while a replay runs, for a program that listens (hd_replay_settings.event).
 *
 *   LAUNCH_BEGIN   a launch begins; cycles of its events are at or after this one
 *   ISSUE          an instruction of a warp takes an issue slot for one cycle
 *   STALL          issue slots of one scheduler issue nothing for a number of cycles, for one reason
 *   WAIT           a resident warp issues, or waits to issue its next instruction, for a number of cycles
 *   ACCESS         a part of a memory instruction's work, once for each: see hd_replay_level
 *   RETIRE         the results of an instruction are written
 *   WARP_END       a warp has retired its last instruction
 *   LAUNCH_END     all thread blocks of the launch have ended, or a failure ended the run
 *
 * In every cycle each issue slot is covered by exactly one ISSUE or STALL, and each resident warp, but in the cycle in
 * which it ends, by one WAIT. Events of a launch file come in the order of their cycles; a STALL or WAIT of several
 * cycles comes when the last of them is over. Where no cycles are simulated there are only LAUNCH_BEGIN, ISSUE and
 * LAUNCH_END: instructions in the order in which the interpreter executes them, without cycles, SMs and slots.
 */
#ifndef HEDDLE_REPLAY_EVENT_H
#define HEDDLE_REPLAY_EVENT_H

#include <stddef.h>
#include <stdint.h>

typedef enum hd_replay_event_kind {
    HD_REPLAY_LAUNCH_BEGIN,
    HD_REPLAY_ISSUE,
    HD_REPLAY_STALL,
    HD_REPLAY_WAIT,
    HD_REPLAY_ACCESS,
    HD_REPLAY_RETIRE,
    HD_REPLAY_WARP_END,
    HD_REPLAY_LAUNCH_END,
} hd_replay_event_kind;

typedef enum hd_replay_level {
    HD_REPLAY_LEVEL_REQUEST,  /* at issue: the lines and sectors of the L2 cache that all lanes ask for together */
    HD_REPLAY_LEVEL_SHARED,   /* at issue: the passes over the banks of shared memory */
    HD_REPLAY_LEVEL_L1,       /* a line is looked up: its sectors, and those that the cache has */
    HD_REPLAY_LEVEL_CONSTANT, /* the same */
    HD_REPLAY_LEVEL_TEXTURE,  /* the same */
    HD_REPLAY_LEVEL_L2,       /* the answer to a read: the sectors, and those that the cache had */
} hd_replay_level;

#define HD_REPLAY_NONE UINT32_MAX /* no SM, thread block, warp or instruction */

/* Later versions add members at the end; `size` is that of the structure as the library knows it. The structure and
 * what it points to are valid during the call. */
typedef struct hd_replay_event {
    size_t size;
    hd_replay_event_kind kind;
    uint32_t file, launch;   /* number of the launch file, as they were passed; of the launch in its text */
    const char *model;       /* "baseline" */
    const char *function;    /* of the instruction; of a launch, its kernel. NULL: none */
    uint32_t instruction;    /* its number in the function as it runs, or NONE */
    const char *text;        /* the instruction, NULL: none */
    uint32_t line;           /* of it in the module; 0: an allocation or a pass made it, or there is none */
    const char *source_file; /* that .loc or the listing names; NULL: unknown */
    uint32_t source_line;
    uint32_t sm, block, warp;   /* both numbered over the launch. NONE: none */
    uint32_t active, effective; /* lanes at the instruction; of these, those whose predicate holds */
    uint64_t begin, end;        /* cycles, counted over all launches of the file; end: the first one after it */
    uint32_t number;            /* of ISSUE and RETIRE: of the instruction in its SM, over all launches */
    uint32_t slot, slots;       /* of ISSUE and STALL: the issue slot; of STALL, so many from that one on */
    /* of STALL and WAIT: "barrier", a key of issue slots in heddle-json(5), or "issued", "not_selected" of a WAIT */
    const char *reason;
    hd_replay_level level; /* of ACCESS, as all that follows */
    uint32_t lines;        /* of REQUEST; of a cache, 1 */
    uint32_t sectors, hits;
    uint32_t least_sectors;        /* of REQUEST: that would hold as many bytes as the lanes access */
    uint32_t passes, least_passes; /* of SHARED; least_passes: without bank conflicts */
} hd_replay_event;

#endif
