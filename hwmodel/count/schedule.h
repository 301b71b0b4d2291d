/* Scheduled order: the order in which a coupled model sees the warps of a launch, which is as one SM that runs the
 * whole grid would issue them, if every instruction took one cycle and every long-latency load `latency` of them. Warps
 * take turns by the rules of rf/turns.h, and by these:
 *
 *   clock     instructions issued. It jumps when no warp can issue
 *   blocks    become resident in the order of their index, and their warps come to the queue, lowest index first
 *   turn      the instructions of a segment (record/event.h), or what is left of one: at most 64 of one frame, which
 *             may jump or change the active mask seven times; ends with a barrier, and, once it has 16, with a jump
 *             back. At most the model's `turn`, if that is not 0; one instruction if the model has rank_warp. Ends
 *             before the warp leaves, or may_issue is false
 *   order     round robin: a warp that joins is the last of the round
 *   leaving   before the first instruction that reads or overwrites what a load from global, local or generic memory or
 *             of a texture, or an atomic that brings a value, has not brought yet (`latency` instructions later);
 *             where the warp would wait for more than 16 words; and where it waits for the other warps of its block at
 *             a barrier
 *   refusal   a warp whose may_issue is false when its turn begins loses it. If all active ones lost theirs, its place
 *             goes to the warp of the queue whose loads come first, which then waits for them no longer. Where the gate
 *             says when to ask again, it is not asked before, and if all active ones are refused, time passes until the
 *             first of these times
 *   idle      in each cycle, the units on which nothing issues are offered to the model's idle_slot
 *
 * The order depends on the records, the model's answers and the residency alone. The interpreter runs blocks one after
 * another, so records of resident blocks are kept (record/record.h): at most `ctas` of them. Where they take more than
 * `bytes`, fewer blocks are resident; one block alone that takes more cannot be scheduled.
 *
 * At a barrier, a warp waits for the warps that arrived before it opened, as in an SM (hd_record_waits); at an mbarrier
 * it does not wait.
 */
#ifndef HD_HWMODEL_COUNT_SCHEDULE_H
#define HD_HWMODEL_COUNT_SCHEDULE_H

#include "hwmodel/record/walk.h"
#include "hwmodel/count/report.h"

typedef struct hd_schedule hd_schedule;
hd_schedule *hd_schedule_new(hd_walk *walk); /* borrows it */
void hd_schedule_free(hd_schedule *s);
/* A launch begins. What is left of the one before is dropped. */
void hd_schedule_launch(hd_schedule *s, const hd_rf_residency *residency, uint32_t function);
/* The next block, whole: goes on until it needs another one. Becomes a reader of the block until its warps have ended.
 * false: the walk failed, or see locked. */
bool hd_schedule_add(hd_schedule *s, hd_record *record);
/* Lets those that are resident go on until one block ends; all: until all have. */
bool hd_schedule_drain(hd_schedule *s, bool all);
/* The model lets no warp, or no block, go on. */
bool hd_schedule_locked(const hd_schedule *s);
/* What the warp that was refused last waits for. */
hd_stall hd_schedule_stall(const hd_schedule *s);
/* As hd_sm_waits: what each of the resident warps waits for. */
uint32_t hd_schedule_waits(const hd_schedule *s, hd_rf_wait *waits, uint32_t most);
uint64_t hd_schedule_most_bytes(const hd_schedule *s); /* most that records of resident blocks took */

#endif
