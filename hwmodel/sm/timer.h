/* Cycles for any number of techniques from one functional run: a recorder (hwmodel/record/record.h), and a
 * timing (timing.h) for each technique, all of which see the same thread blocks.
 *
 *   hd_timer_add(timer, info, &refusal);     one for each technique, while the annotations are there
 *   sinks of the run: hd_timer_sink(timer)
 *   for each launch: hd_timer_begin(timer, &residency, function, launch); run it; hd_timer_end(timer);
 *   hd_timer_finish(timer);
 *   hd_timer_result_of(timer, launch, technique)
 *
 * Timings run in parallel with the functional run, on the available threads. A thread block is freed when all timings
 * have read it, and the functional run waits for a timing that is HD_TIMER_LAG blocks late. Results do not depend on
 * the threads.
 */
#ifndef HD_HWMODEL_SM_TIMER_H
#define HD_HWMODEL_SM_TIMER_H

#include "base/pool.h"
#include "hwmodel/sm/timing.h"

enum { HD_TIMER_LAG = 63 };

typedef struct hd_timer_result {
    hd_timing_status status;
    hd_timing_counts counts;
    uint64_t counters[HD_COUNTER_COUNT]; /* of the technique's models, in the launch */
    uint64_t storage_bits;
    hd_rf_sizes sizes;
    hd_sm_early early;
    hd_rf_detection detection; /* of its models; the first one in cycles since the launch began */
} hd_timer_result;

typedef struct hd_timer hd_timer;

/* Borrows the machine and the code. */
hd_timer *hd_timer_new(const hd_rf_module *code, const hd_machine *machine, uint32_t sms);
void hd_timer_free(hd_timer *timer); /* after hd_timer_finish, or without a run */
/* A model for each SM. false with *refusal as hd_rf_model_new, or if the SM does not call a hook of the model. */
bool hd_timer_add(hd_timer *timer, const hd_rf_model_info *info, const char **refusal);
uint32_t hd_timer_techniques(const hd_timer *timer);
/* Before hd_timer_open. A unit for each thread block that has ended with a technique. */
void hd_timer_show(hd_timer *timer, hd_meter *meter);
/* Before hd_timer_open: listens to the SMs of a technique, on a thread of the timer. The context stays until
 * hd_timer_finish. */
void hd_timer_listen(hd_timer *timer, uint32_t technique, const hd_sm_listener *listener);
/* Before hd_timer_open: of each launch, only so many waves are measured (sample.h). */
void hd_timer_sample(hd_timer *timer, uint32_t waves);
/* Before hd_timer_open: all timings end soon after another thread has set it. */
void hd_timer_cancel(hd_timer *timer, const atomic_bool *cancel);
/* With at least one technique, before the first launch: threads besides the caller's, and where the windows of the
 * address space are. */
void hd_timer_open(hd_timer *timer, const hd_memory *spaces, uint32_t threads, hd_thread_budget *budget);
hd_sink hd_timer_sink(hd_timer *timer);
/* launch: a number for the listeners, the same for repetitions. */
void hd_timer_begin(hd_timer *timer, const hd_rf_residency *residency, uint32_t function, uint32_t launch);
void hd_timer_end(hd_timer *timer);
/* Waits for all timings; needed after hd_timer_open, however the run ended. */
void hd_timer_finish(hd_timer *timer);
/* Launches that have ended, after hd_timer_finish. */
uint32_t hd_timer_launches(const hd_timer *timer);
/* The result of a launch, counted from 0; technique: in the order in which they were added. */
const hd_timer_result *hd_timer_result_of(const hd_timer *timer, uint32_t launch, uint32_t technique);
/* What was not proved; NULL: all was. */
const hd_rf_failure *hd_timer_failure(const hd_timer *timer, uint32_t technique);
/* As hd_timing_waits. */
uint32_t hd_timer_waits(const hd_timer *timer, uint32_t technique, hd_rf_wait *waits, uint32_t most);

#endif
