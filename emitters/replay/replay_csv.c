/* Replay results as CSV: see replay.h. A row for each launch and model, also if the model was not applied. */
#include "base/version.h"
#include "emitters/replay/replay.h"
#include "emitters/replay/replay_values.h"
#include "emitters/table_text.h"

#include <math.h>

static void write_number(hd_writer *w, double value)
{
    if (isnan(value))
        hd_write_char(w, ',');
    else
        hd_write_format(w, ",%.12g", value);
}

static const char *const derived[] = {"rf_accesses_normalized",
                                      "rf_reads_eliminated_fraction",
                                      "rf_writes_eliminated_fraction",
                                      "energy_pj",
                                      "energy_normalized",
                                      "energy_derived",
                                      "physical_access_variation",
                                      "allocated_registers_mean",
                                      "allocated_registers_peak",
                                      "storage_bits"};
enum { DERIVED = sizeof derived / sizeof *derived };

/* A model's counters; empty columns if it was not applied. */
static void write_counts(hd_writer *w, const hd_replay_report *report, const hd_replay_result *r)
{
    bool allocated = r->allocated.instructions;
    for (uint32_t c = 0; c < report->counter_count + DERIVED && r->not_applied; c++)
        hd_write_char(w, ',');
    if (r->not_applied)
        return;
    for (uint32_t c = 0; c < report->counter_count; c++)
        if (r->counters[c] == UINT64_MAX)
            hd_write_char(w, ',');
        else
            hd_write_format(w, ",%llu", (unsigned long long)r->counters[c]);
    write_number(w, r->rf_accesses_normalized);
    write_number(w, r->rf_reads_eliminated_fraction);
    write_number(w, r->rf_writes_eliminated_fraction);
    write_number(w, r->energy_pj);
    write_number(w, r->energy_normalized);
    write_number(w, isnan(r->energy_pj) ? (double)NAN : r->energy_derived);
    write_number(w, r->physical_access_variation);
    write_number(w, allocated ? r->allocated.mean : (double)NAN);
    write_number(w, allocated ? (double)r->allocated.peak : (double)NAN);
    hd_write_format(w, ",%llu", (unsigned long long)r->storage_bits);
}

/* Writes the columns that reports with timings have. */
static void write_timing(hd_writer *w, const hd_replay_report *report, const hd_replay_timing *t)
{
    enum { RATIOS = 8 /* cycles and energies, too */ };
    uint32_t columns = RATIOS + (report->sample_waves ? 2 : 0) + HD_REPLAY_TIMING_COUNTS + report->slot_count;
    for (uint32_t c = 0; c < columns && !t; c++)
        hd_write_char(w, ',');
    if (!t)
        return;
    hd_write_format(w, ",%llu", (unsigned long long)t->cycles);
    write_number(w, t->speedup);
    write_number(w, t->warp_ipc);
    write_number(w, t->thread_ipc);
    write_number(w, t->occupancy);
    write_number(w, t->dynamic_pj);
    write_number(w, t->static_pj);
    write_number(w, t->energy_normalized);
    if (report->sample_waves) {
        write_number(w, t->sampled_fraction);
        write_number(w, t->error_fraction);
    }
    for (uint32_t i = 0; i < HD_REPLAY_TIMING_COUNTS; i++)
        hd_write_format(w, ",%llu", (unsigned long long)hd_replay_timing_count(t, i));
    for (uint32_t s = 0; s < report->slot_count; s++)
        hd_write_format(w, ",%llu", (unsigned long long)t->slots[s]);
}

static void write_timing_heads(hd_writer *w, const hd_replay_report *report)
{
    hd_write_string(
        w, ",cycles,speedup,warp_ipc,thread_ipc,occupancy_fraction,dynamic_pj,static_pj,timed_energy_normalized");
    if (report->sample_waves)
        hd_write_string(w, ",sampled_fraction,error_fraction");
    for (uint32_t i = 0; i < HD_REPLAY_TIMING_COUNTS; i++)
        hd_write_format(w, ",%s", hd_replay_timing_keys[i]);
    for (uint32_t s = 0; s < report->slot_count; s++)
        hd_write_format(w, ",slots_%s", report->slots[s].key);
    hd_write_string(w, ",order_dependent");
}

/* Writes the columns that reports with a faulty lane have. */
static void write_detection(hd_writer *w, const hd_replay_kernel *k, const hd_replay_detection *d)
{
    hd_write_format(w, ",%llu", (unsigned long long)k->lane_operations);
    if (!d) {
        hd_write_string(w, ",,,,,,,,");
        return;
    }
    hd_write_format(w, ",%llu,%llu,%llu,%llu", (unsigned long long)d->wrong, (unsigned long long)d->caught,
                    (unsigned long long)(d->wrong - d->caught), (unsigned long long)d->differences);
    if (d->differences)
        hd_write_format(w, ",%llu,%u,%u,%u", (unsigned long long)d->at, d->block, d->warp, d->thread);
    else
        hd_write_string(w, ",,,,");
}

/* Each with the comma that follows it; empty where it does not apply. */
static void write_settings(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k)
{
    hd_arena arena = {0};
    hd_write_string(w, HD_VERSION ",");
    const hd_replay_setting *setting;
    for (uint32_t s = 0; (setting = hd_replay_setting_at(s)); s++) {
        const char *text = hd_replay_setting_text(report, k, setting, &arena);
        hd_write_csv_text(w, text ? text : "");
        hd_write_char(w, ',');
    }
    hd_arena_free(&arena);
}

static void write_row(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k,
                      const hd_replay_result *r)
{
    static const char *const outputs[] = {"", "true", "false", ""};
    const char *verified = r->not_applied ? "" : r->check == HD_CHECK_PASS ? "true" : "false";
    write_settings(w, report, k);
    hd_write_csv_text(w, k->file);
    hd_write_format(w, ",%u,", k->launch);
    hd_write_csv_text(w, k->name);
    hd_write_char(w, ',');
    hd_write_csv_text(w, k->demangled);
    hd_write_format(w, ",%llu,%llu,%s,%s,%s,%s,", (unsigned long long)k->warp_instructions,
                    (unsigned long long)k->thread_instructions, outputs[k->outputs], outputs[k->identical],
                    k->clock_dependent ? "true" : "", hd_replay_register_words[k->registers]);
    if (k->registers != HD_REPLAY_VIRTUAL)
        hd_write_format(w, "%u", k->general);
    hd_write_char(w, ',');
    if (k->machine_sm)
        hd_write_format(w, "%u", k->machine_sm);
    hd_write_char(w, ',');
    hd_write_csv_text(w, k->assembled_by ? k->assembled_by : "");
    hd_write_char(w, ',');
    hd_write_csv_text(w, r->model);
    hd_write_char(w, ',');
    hd_write_csv_text(w, r->technique);
    write_counts(w, report, r);
    hd_write_format(w, ",%s,%s,", verified, hd_replay_check_words[r->check]);
    hd_write_csv_text(w, r->not_applied ? r->not_applied : "");
    if (report->slot_count) {
        write_timing(w, report, r->timing);
        hd_write_char(w, ',');
        hd_write_csv_text(w, k->order_dependent ? k->order_dependent : "");
    }
    if (report->lane_fault)
        write_detection(w, k, r->detection);
    hd_write_char(w, '\n');
}

void hd_emit_replay_csv(hd_writer *w, const hd_replay_report *report)
{
    hd_write_string(w, "heddle,");
    const hd_replay_setting *setting;
    for (uint32_t s = 0; (setting = hd_replay_setting_at(s)); s++)
        hd_write_format(w, "%s,", setting->key);
    hd_write_string(w, "file,launch,kernel,demangled,warp_instructions,thread_instructions,outputs_ok,output_identical,"
                       "clock_dependent,registers,general_registers,machine_sm,assembled_by,model,technique");
    for (uint32_t c = 0; c < report->counter_count; c++)
        hd_write_format(w, ",%s", report->counters[c].key);
    for (uint32_t d = 0; d < DERIVED; d++)
        hd_write_format(w, ",%s", derived[d]);
    hd_write_string(w, ",verified,failed_check,not_applied");
    if (report->slot_count)
        write_timing_heads(w, report);
    if (report->lane_fault)
        hd_write_string(w, ",lane_fault_operations,lane_fault_wrong,lane_fault_detected,lane_fault_slipped_through,"
                           "lane_fault_differences,lane_fault_first_at,lane_fault_first_block,lane_fault_first_warp,"
                           "lane_fault_first_thread");
    hd_write_char(w, '\n');
    for (uint32_t i = 0; i < report->kernel_count; i++)
        for (uint32_t r = 0; r < report->kernels[i].result_count; r++)
            write_row(w, report, &report->kernels[i], &report->kernels[i].results[r]);
}
