/* Count mode: takes the interpreter's events, walks every warp instruction through each model's hooks, and proves every
 * operand.
 *
 *   hd_count *count = hd_count_new(module, diagnostics);
 *   hd_count_add(count, model) ...                          baseline and techniques, in the order of the results
 *   hd_sink sink = hd_count_sink(count);                    to hd_program_run
 *   hd_count_flush(count)                                   then hd_count_model(count, i)->counters are of all
 *                                                           launches; or of each: hd_count_launches
 *
 * A model sees the warps in one of two orders. Program order: each warp as it runs. Scheduled order, for models whose
 * warps share storage (`coupled`): the warps of several resident blocks in turns (schedule.h). In both it is walked
 * through segments of instructions (segment.h) by a walk of its own (walk.h), which may have a memo.
 *
 * Events are collected in batches of as many as hd_count_batches says. Walks are readers of a queue
 * (base/broadcast.h): each works through the batches in their order, some of them after the run, several side by side
 * on as many threads as hd_count_batches grants, and with hd_count_share on those of them that nobody else uses.
 * Neither counters nor what is found wrong, nor where the run stops then, depend on the threads.
 *
 * Larger batches than of one event take segments from the interpreter (record/event.h): that a uniform branch splits
 * is known when the segment after it has ended. Models in program order that ask for other columns than widths get each
 * instruction as a segment of its own, and so do they with batches of one event.
 *
 * The first operand that is not proved stops the run: `take` returns false, proof-failed is reported at the instruction
 * with warp and register, and hd_count_failed says which model it was. A branch of hd_count_expect_uniform that splits
 * its warp stops it too (not-uniform).
 */
#ifndef HD_HWMODEL_COUNT_COUNT_H
#define HD_HWMODEL_COUNT_COUNT_H

#include "base/pool.h"
#include "hwmodel/record/walk.h"

typedef struct hd_count hd_count;

/* The module must stay as it is until hd_count_free; `code` is borrowed. */
hd_count *hd_count_new(const hd_rf_module *code, hd_diagnostics *diagnostics);
void hd_count_free(hd_count *count);
void hd_count_add(hd_count *count, hd_rf_model *model); /* takes it */
uint32_t hd_count_models(const hd_count *count);
hd_rf_model *hd_count_model(const hd_count *count, uint32_t i);

/* Events of a batch, and host threads that share its models; 1 and 1 in a new one, so that `take` knows at once what is
 * wrong. With larger batches it learns of it later, at the latest from hd_count_flush. */
void hd_count_batches(hd_count *count, uint32_t events, uint32_t threads);
/* What models did before is looked up, where they and the batches allow it: the numbers are the same, sooner. NULL, as
 * in a new one: it is not. */
void hd_count_use_memo(hd_count *count, const hd_walk_memo *memo);
/* Before hd_count_sink: the run has a faulty lane, whose effects models get as a column. */
void hd_count_faulty_lane(hd_count *count);
/* Shares those threads with other jobs: only the caller's thread, and what the budget has, work here. */
void hd_count_share(hd_count *count, hd_thread_budget *budget);
/* Sets what is resident in the next launches, for coupled models; a new count has 1 CTA and the numbers below. */
enum { HD_COUNT_ACTIVE_WARPS = 8, HD_COUNT_LATENCY = 64, HD_COUNT_RECORD_BYTES = 256 << 20 };
void hd_count_residency(hd_count *count, const hd_rf_residency *residency);
uint64_t hd_count_record_bytes(const hd_count *count); /* most that records of resident CTAs took so far */

typedef struct hd_count_result { /* of a model in one launch: as its fields of the same name */
    uint64_t counters[HD_COUNTER_COUNT];
    hd_rf_series allocation;
    uint64_t storage_bits;
    hd_rf_sizes sizes;
    hd_rf_detection detection;
} hd_count_result;
/* Counters of each launch for itself. After hd_count_end, which says that it has run, the next one may begin, while
 * walks are still at it; `over` gets what the models counted in one after another (results[model]), on the
 * thread that hands in events. proved: all that models delivered in this launch and those before it. hd_count_flush
 * waits for all of them. */
void hd_count_launches(hd_count *count, void (*over)(void *context, bool proved, const hd_count_result *results),
                       void *context);
void hd_count_end(hd_count *count);

/* Works through what is kept. false: something was not proved, now or before. */
bool hd_count_flush(hd_count *count);

/* A pass took the branch (or guarded exit) at this instruction for one that never splits a warp. */
void hd_count_expect_uniform(hd_count *count, uint32_t function, uint32_t instruction);

hd_sink hd_count_sink(hd_count *count);

/* Model whose operand was wrong; hd_count_models() where a uniform branch split; HD_NONE while all is proved. */
uint32_t hd_count_failed(const hd_count *count);

#endif
