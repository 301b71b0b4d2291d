/* The order in which coupled models see the warps of a launch: as one SM that runs the whole grid would issue them, if
 * every instruction took one cycle and every long-latency load `latency` of them.
 *
 *   CTAs      become resident in the order of their index as soon as fewer than `ctas` are; where the model has
 *             may_launch_cta, as soon as it
 *             agrees and fewer than `most_ctas` are
 *   waiting   their warps queue up, lowest index first, in order of arrival
 *   active    at most `active` warps, which take turns, round robin. A place that gets free goes to the first waiting
 *             warp that can go on, which is the last of the round
 *   turn      the instructions of a stretch (stream.h), or what is left of one: at most 64 of one frame, which may jump
 *             or change the active mask
 *             seven times; ends with a barrier, and, once it has 16, with a jump back. At most `turn`, or that of the
 *               model, where that is
 *             not 0. Ends before where the
 *             warp leaves, or may_issue is false
 *   leaving   a warp goes to the end of the queue before the first instruction that reads or overwrites what a load
 *             from global, local or
 *             generic memory or of a texture, or an atomic that brings a value, has not brought yet (`latency`
 *               instructions issued since, or
 *             none of the others can go on); where it would wait for more than 16 words; and where it waits for the
 *               other warps of its CTA
 *             at a barrier
 *   refusal   a warp whose may_issue is false when its turn begins loses it, and its place if all active ones lost
 *             theirs
 *             where the gate says when to ask again, the warp goes to the end of the queue until then
 *   switch    the model's warp_switch tells who leaves (out, NULL) and who comes (NULL, in)
 *
 * Models that steer nothing (hd_rf_interleave_steers) see the same order, and share one interleaving; one that does has
 * its own.
 *
 * The order depends on the streams, the model's answers and these four numbers alone. The interpreter runs CTAs one
 * after another, so streams of resident CTAs are kept (streams.h): at most `ctas` of them. Where they take more than
 * `bytes`, fewer CTAs are resident; one CTA alone that takes more cannot be interleaved.
 *
 * Barriers that bring a value (bar.red) are told when they are done, and hold no other warp.
 */
#ifndef HD_HWMODEL_COUNT_SCHEDULE_H
#define HD_HWMODEL_COUNT_SCHEDULE_H

#include "hwmodel/count/runner.h"
#include "hwmodel/count/streams.h"

typedef enum hd_rf_order { /* what stops an interleaving besides an operand that is not proved */
                           HD_RF_ORDERED,
                           HD_RF_LOCKED, /* the model lets no warp, or no CTA, go on */
} hd_rf_order;

typedef struct hd_rf_interleave hd_rf_interleave;
/* has may_issue or may_launch_cta, and uses them, or turns of its own */
bool hd_rf_interleave_steers(const hd_rf_model *model);
/* Borrows a feeder with one model that steers, or any number of others. */
hd_rf_interleave *hd_rf_interleave_new(hd_rf_feeder *feeder);
void hd_rf_interleave_free(hd_rf_interleave *i);
/* A launch begins. What is left of the one before is dropped. */
bool hd_rf_interleave_launch(hd_rf_interleave *i, const hd_rf_residency *residency, uint32_t function);
/* The next CTA, whole: goes on until it needs another one. Becomes a reader of the CTA until its warps have ended.
 * false: no model is left (see the failures of the feeder's members), or see order. */
bool hd_rf_interleave_add(hd_rf_interleave *i, hd_rf_cta *cta);
/* Lets those that are resident go on until one CTA ends; all: until all have. */
bool hd_rf_interleave_drain(hd_rf_interleave *i, bool all);
hd_rf_order hd_rf_interleave_order(const hd_rf_interleave *i);
/* What the warp that was refused last waits for. */
hd_stall hd_rf_interleave_stall(const hd_rf_interleave *i);
uint64_t hd_rf_interleave_bytes(const hd_rf_interleave *i); /* of the streams that it still needs */

#endif
