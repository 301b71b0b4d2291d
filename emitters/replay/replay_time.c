/* Cycles of a replay as a table: see replay.h. A row has what the timing of a technique's readers look for first, and
 * where the issue slots of the schedulers went, the largest parts first. */
#include "emitters/replay/replay.h"
#include "emitters/replay/replay_values.h"

#include <math.h>
#include <stdio.h>

enum { COLUMNS = 100, BEFORE_SLOTS = 56 /* of a row, besides the name */ };

const char *const hd_replay_timing_keys[HD_REPLAY_TIMING_COUNTS] = {
    "bank_conflict_cycles", "l1_reads",        "l1_hits",         "l2_reads",       "l2_hits",
    "dram_bytes",           "shared_accesses", "shared_passes",   "active_periods", "active_cycles",
    "inactive_periods",     "inactive_cycles", "reused_operands", "early_reads"};

uint64_t hd_replay_timing_count(const hd_replay_timing *t, uint32_t index)
{
    const uint64_t counts[HD_REPLAY_TIMING_COUNTS] = {
        t->bank_conflict_cycles, t->l1_reads,        t->l1_hits,         t->l2_reads,       t->l2_hits,
        t->dram_bytes,           t->shared_accesses, t->shared_passes,   t->active_periods, t->active_cycles,
        t->inactive_periods,     t->inactive_cycles, t->reused_operands, t->early_reads};
    return counts[index];
}

/* As many as have room in `columns`. */
static void write_slots(hd_writer *w, const hd_replay_report *report, const hd_replay_timing *t, int columns)
{
    uint64_t all = hd_replay_all_slots(report, t);
    uint32_t at = UINT32_MAX;
    char part[64];
    for (uint32_t i = 0; (at = hd_replay_next_largest(t->slots, report->slot_count, at)) != UINT32_MAX; i++) {
        int length = snprintf(part, sizeof part, "%s%s %.0f %%", i ? ", " : "", report->slots[at].key,
                              100.0 * (double)t->slots[at] / (double)all);
        if (length > columns)
            return;
        hd_write_string(w, part);
        columns -= length;
    }
}

void hd_emit_replay_title(hd_writer *w, int width, const char *name)
{
    hd_write_format(w, "  %-*s", width, name);
    if ((int)strlen(name) > width)
        hd_write_format(w, "\n  %*s", width, "");
}

static void write_row(hd_writer *w, int width, const hd_replay_report *report, const hd_replay_result *r)
{
    char cycles[32];
    const hd_replay_timing *t = r->timing;
    hd_emit_replay_title(w, width, r->title);
    hd_write_format(w, "  %12s  ", hd_replay_grouped(cycles, t->cycles));
    if (isnan(t->speedup))
        hd_write_format(w, "%8s", "-");
    else
        hd_write_format(w, "%8.3f", t->speedup);
    if (isnan(t->energy_normalized))
        hd_write_format(w, "  %7s", "unknown");
    else
        hd_write_format(w, "  %7.3f", t->energy_normalized);
    hd_write_format(w, "  %6.2f  %7.1f %%  ", t->warp_ipc, 100 * t->occupancy);
    write_slots(w, report, t, COLUMNS - width - BEFORE_SLOTS);
    hd_write_char(w, '\n');
}

/* Reads that come before the results that they need, by the control codes and the latencies of the GPU. */
static void write_early(hd_writer *w, const hd_replay_result *r)
{
    const hd_replay_timing *t = r->timing;
    char reads[32];
    if (!t->early_reads)
        return;
    hd_write_format(w, "  %s: %s early read%s", r->title, hd_replay_grouped(reads, t->early_reads),
                    t->early_reads == 1 ? "" : "s");
    if (t->first_early)
        hd_write_format(w, ", the first at 0x%x of %s: %s", t->first_early->address, t->first_early->function,
                        t->first_early->text);
    hd_write_char(w, '\n');
}

void hd_emit_replay_times(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k, int width)
{
    if (!report->slot_count || !k->result_count)
        return;
    if (k->order_dependent)
        hd_write_format(w, "  may depend on the order of warps, which is the interpreter's: %s\n", k->order_dependent);
    hd_write_format(w, "  %-*s  %12s  %8s  %7s  %6s  %9s  %s\n", width, "technique", "cycles", "speed-up", "energy",
                    "IPC", "occupancy", "issue slots");
    for (uint32_t i = 0; i < k->result_count; i++)
        if (k->results[i].timing)
            write_row(w, width, report, &k->results[i]);
    for (uint32_t i = 0; i < k->result_count; i++)
        if (k->results[i].timing)
            write_early(w, &k->results[i]);
    const hd_replay_result *least = hd_replay_least_exact(k);
    if (least)
        hd_write_format(w, "  cycles from %.1f %% of the blocks; error by the waves measured at most %.2f %% (%s)\n",
                        100 * least->timing->sampled_fraction, 100 * least->timing->error_fraction, least->title);
}

void hd_emit_replay_mean_times(hd_writer *w, const hd_replay_report *report, int width)
{
    if (!report->slot_count || report->kernel_count < 2)
        return;
    for (uint32_t m = 0; m < report->kernels[0].result_count; m++) {
        hd_replay_mean mean = hd_replay_mean_of(report, m);
        if (!mean.timed)
            continue;
        hd_emit_replay_title(w, width, report->kernels[0].results[m].title);
        hd_write_format(w, "  speed-up %.3f (geometric mean of %u)\n", mean.speedup, mean.timed);
    }
}

/* ---- legend ------------------------------------------------------------------------------------------------------ */

void hd_emit_replay_time_legend(hd_writer *w, const hd_replay_report *report)
{
    if (!report->slot_count)
        return;
    hd_write_string(w, "cycles: of the SMs' clock; speed-up: the baseline's cycles / these\n"
                       "energy, beside cycles: dynamic and static, normalized to the baseline\n"
                       "IPC: warp instructions per cycle of the whole GPU\n"
                       "occupancy: resident warps, of those that the SMs can hold, over all cycles\n"
                       "issue slots: of all schedulers, over all cycles, by what the warp waited for:\n");
    for (uint32_t s = 0; s < report->slot_count; s++)
        if (hd_replay_slot_is_used(report, s))
            hd_write_format(w, "  %s: %s\n", report->slots[s].key, report->slots[s].text);
}
