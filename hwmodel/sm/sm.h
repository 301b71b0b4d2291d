/* One streaming multiprocessor, cycle by cycle.
 *
 * It executes records (hwmodel/record/record.h) of the thread blocks that it is given. Stages, in the order in which a
 * cycle handles them, so that what a stage does is seen by those before it in the next cycle:
 *
 *   completion  results that are due, answers of the memory system
 *   dispatch    instructions whose operands are collected go to a free unit of their kind
 *   memory      the load/store unit handles one line, or one pass over shared memory, a cycle
 *   banks       each bank of the register file serves one access a cycle, writes before reads, then the oldest
 *   issue       each scheduler takes a warp whose next instruction waits for no register (scoreboard), which passes
 *               the technique's gate, and for which an operand collector is free
 *   fetch       each port fetches the next instructions of a warp
 *
 * So with an idle machine an instruction that is issued in cycle t and reads one register reads it in t + 1, is
 * dispatched in t + 2, has its result in t + 2 + latency, which is written in that cycle, and an instruction that needs
 * the result issues in that cycle. That is a core with collectors; subcore.c has the other kind.
 *
 * The technique's model (hwmodel/rf/technique.h) works at issue; the SM decides when its accesses happen. Accesses to
 * the register file queue at their banks; those of other structures take their cycles, 1 where they give none. An
 * access waits for the one that it names in `after`, and for the results of the instruction that it names in `awaits`.
 * Where a result goes is looked up (HD_RF_LOOKUP) from the cycle after the issue on; all else for it begins with the
 * result. Instructions that the technique adds take issue slots after that of the instruction that they come with.
 * The instruction leaves its collector when all accesses that serve its operands are done, and those that these, or its
 * results, wait for; its results are available when their accesses are done. The accesses of `before` must be done
 * before the instruction issues.
 *
 * Of the warps that a scheduler could take, the one that the model ranks highest goes first, then the policy decides.
 * In each cycle of an SM with warps, units that are not busy and on which nothing was issued are offered to a model
 * that uses such (idle_slot); an instruction that it repeats occupies its unit for its interval. An instruction whose
 * results need no work of its unit (skips_unit) leaves its collector with them. A model that lets few warps take turns
 * (active_warps) makes the SM change them as the two-level policy does.
 *
 * Registers that a technique spills to memory, and fills from it, are whole lines of the L2 cache. The load/store unit
 * handles one of them a cycle, before the lines of instructions. An instruction for which that is done (holds_warp)
 * keeps its warp from issuing until its registers are there.
 *
 * A fence waits until all loads, stores and atomics of its warp are done, whatever its scope. Stores and atomics are
 * answered by the L2 cache for that.
 *
 * Not modelled: partial writes of L2 sectors to device memory; the rate at which texels are filtered; write-back of
 * local memory in the L1 cache (stores write through).
 */
#ifndef HD_HWMODEL_SM_SM_H
#define HD_HWMODEL_SM_SM_H

#include "hwmodel/count/report.h"
#include "hwmodel/record/walk.h"
#include "hwmodel/memory/memory.h"
#include "hwmodel/sm/listener.h"
#include "hwmodel/sm/memory.h"
#include "hwmodel/sm/ops.h"
#include "hwmodel/record/record.h"

typedef enum hd_sm_slot {
#define HD_SM_SLOT(id, key, text) HD_SM_SLOT_##id,
#include "hwmodel/sm/stalls.def"
#undef HD_SM_SLOT
    HD_SM_SLOTS, /* then the reasons of techniques: hd_sm_stall_slot */
    HD_SM_SLOTS_ALL = HD_SM_SLOTS + HD_STALL_COUNT - 1,
} hd_sm_slot;

/* What a resident warp does in a cycle: it issues or waits for one of these, or, if nothing keeps it from issuing, for
 * its scheduler, which issues another warp. */
enum { HD_SM_NOT_SELECTED = HD_SM_SLOTS_ALL, HD_SM_STATES };

static inline hd_sm_slot hd_sm_stall_slot(hd_stall reason) { return (hd_sm_slot)(HD_SM_SLOTS + reason - 1); }

extern const char *const hd_sm_slot_keys[HD_SM_STATES], *const hd_sm_slot_texts[HD_SM_STATES]; /* of states, too */

typedef struct hd_sm_counts {
    uint64_t slots[HD_SM_SLOTS_ALL];
    uint64_t warp_instructions, thread_instructions;
    uint64_t warp_cycles;          /* of resident warps: cycles of each, summed */
    uint64_t powered;              /* warp registers of the register file with power, summed over cycles */
    uint64_t busy_cycles;          /* with a resident warp */
    uint64_t fetches, code_misses; /* of instructions */
    uint64_t bank_conflicts;       /* cycles that accesses waited at their banks, or for a port of their collector */
    uint64_t l1_reads, l1_hits;    /* lines */
    uint64_t shared_accesses, shared_passes;
    uint64_t early_reads;  /* operands of instructions; hd_sm_early */
    uint64_t reused_reads; /* operands that the reuse cache of machine code served, which no bank reads */
    /* Where warps take turns: periods in which one does, and their cycles; periods between two of the same warp. */
    uint64_t active_periods, active_cycles, inactive_periods, inactive_cycles;
} hd_sm_counts;

/* A read that control codes let happen before the result is there: the latency of the model is too long, or the code
 * was not understood. hd_sm_counts has their number. */
typedef struct hd_sm_early {
    uint64_t cycle; /* of the first one in the launch; UINT64_MAX: there was none */
    uint32_t function, instruction;
} hd_sm_early;

typedef struct hd_sm_setup { /* all borrowed */
    const hd_machine *machine;
    const hd_sm_code *code;
    const hd_memory *spaces; /* windows of the address space; NULL: generic addresses are global */
    hd_memory_system *memory;
    hd_walk *walk;                   /* this SM's own, without a memo */
    const hd_sm_listener *listeners; /* that listen to this SM */
    uint32_t listener_count;
    uint16_t number;
} hd_sm_setup;

enum { HD_SM_WARPS = 64 /* at most */ };

typedef struct hd_sm hd_sm;

hd_sm *hd_sm_new(const hd_sm_setup *setup);
void hd_sm_free(hd_sm *sm);
/* A launch begins: at most `ctas` of its thread blocks are resident. The SM is empty. */
void hd_sm_launch(hd_sm *sm, const hd_rf_residency *residency, uint32_t function);
/* Is there room for one more block, and does the model agree? */
bool hd_sm_has_room(hd_sm *sm, uint32_t cta);
/* One reader of the block is the SM's from now on. Its warps may issue from cycle `now` on. */
void hd_sm_start(hd_sm *sm, uint64_t now, hd_record *cta);
/* Handles cycle `now`; cycles since the last one that was handled had nothing to do. false: an operand was not proved,
 * see the walk's member, or no warp can go on, see hd_sm_is_locked. */
bool hd_sm_cycle(hd_sm *sm, uint64_t now);
/* The next cycle with something to do; UINT64_MAX: none is known. */
uint64_t hd_sm_next(const hd_sm *sm);

/* Warps are resident, and for HD_RF_IDLE_CYCLES nothing has issued and nothing was in flight that could wake one: what
 * still goes on in cycles are the model's own hooks. */
bool hd_sm_is_locked(const hd_sm *sm);
/* What the resident warps wait for, at most `most` of them. Returns how many there are. */
uint32_t hd_sm_waits(const hd_sm *sm, hd_rf_wait *waits, uint32_t most);

/* The memory system has done what the answer's token names. */
void hd_sm_answer(hd_sm *sm, const hd_memory_answer *answer);
uint32_t hd_sm_resident(const hd_sm *sm); /* thread blocks */
hd_sm_early hd_sm_first_early(const hd_sm *sm);
/* No warp is resident, nothing is in flight, and all places (collectors, latches, queues) are free. */
bool hd_sm_is_idle(const hd_sm *sm);
/* Up to the cycle before `now`. */
hd_sm_counts hd_sm_count(hd_sm *sm, uint64_t now);

#endif
