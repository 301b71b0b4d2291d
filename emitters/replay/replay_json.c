/* Replay results as JSON: see replay.h and heddle-json(5). */
#include "base/version.h"
#include "emitters/json.h"
#include "emitters/replay/replay.h"
#include "emitters/replay/replay_json.h"
#include "emitters/replay/replay_values.h"

#include <math.h>

enum { SCHEMA = 2 };

const char *const hd_replay_register_words[] = {"virtual", "allocated", "architected"};
const char *const hd_replay_check_words[HD_CHECK_COUNT] = {"", "", "operands", "outputs", "identical", "incomplete"};

/* For all kernels. */
static const char *registers_of(const hd_replay_report *report)
{
    for (uint32_t i = 1; i < report->kernel_count; i++)
        if (report->kernels[i].registers != report->kernels[0].registers)
            return "mixed";
    return hd_replay_register_words[report->kernel_count ? report->kernels[0].registers : HD_REPLAY_VIRTUAL];
}

/* null if it was not decided */
static void write_output(hd_json *j, const char *key, hd_replay_outputs outputs)
{
    if (outputs == HD_OUTPUTS_RIGHT || outputs == HD_OUTPUTS_WRONG)
        hd_json_bool(j, key, outputs == HD_OUTPUTS_RIGHT);
    else
        hd_json_null(j, key);
}

/* null if it is empty */
static void write_text(hd_json *j, const char *key, const char *text)
{
    hd_json_text(j, key, text && *text ? text : NULL);
}

static void write_headline(hd_json *j, const hd_replay_headline *h)
{
    static const char *const kinds[] = {"none", "share", "change", "number"};
    if (h->kind == HD_FIGURE_NONE) {
        hd_json_null(j, "headline");
        return;
    }
    hd_json_object(j, "headline");
    hd_json_text(j, "title", h->title);
    hd_json_text(j, "kind", kinds[h->kind]);
    hd_json_real(j, "value", h->value);
    write_text(j, "absent", h->absent);
    hd_json_end(j);
}

static void write_allocated(hd_json *j, const hd_replay_allocation *a)
{
    if (!a->instructions) {
        hd_json_null(j, "allocated_registers");
        return;
    }
    hd_json_object(j, "allocated_registers");
    hd_json_real(j, "mean", a->mean);
    hd_json_count(j, "peak", a->peak);
    hd_json_count(j, "instructions", a->instructions);
    hd_json_count(j, "bucket_instructions", a->bucket_instructions);
    hd_json_array(j, "buckets");
    for (uint32_t b = 0; b < a->bucket_count; b++)
        hd_json_real(j, NULL, a->buckets[b]);
    hd_json_end(j);
    hd_json_end(j);
}

static void write_early_read(hd_json *j, const hd_replay_early *early)
{
    if (!early) {
        hd_json_null(j, "first_early_read");
        return;
    }
    hd_json_object(j, "first_early_read");
    hd_json_text(j, "function", early->function);
    hd_json_number(j, "address", early->address);
    hd_json_text(j, "text", early->text);
    hd_json_end(j);
}

static void write_timing(hd_json *j, const hd_replay_report *report, const hd_replay_timing *t)
{
    if (!t) {
        hd_json_null(j, "timing");
        return;
    }
    hd_json_object(j, "timing");
    hd_json_count(j, "cycles", t->cycles);
    hd_json_object(j, "issue_slots");
    for (uint32_t s = 0; s < report->slot_count; s++)
        hd_json_count(j, report->slots[s].key, t->slots[s]);
    hd_json_end(j);
    hd_json_real(j, "speedup", t->speedup);
    hd_json_real(j, "warp_ipc", t->warp_ipc);
    hd_json_real(j, "thread_ipc", t->thread_ipc);
    hd_json_real(j, "occupancy_fraction", t->occupancy);
    hd_json_real(j, "dynamic_pj", t->dynamic_pj);
    hd_json_real(j, "static_pj", t->static_pj);
    hd_json_real(j, "energy_normalized", t->energy_normalized);
    if (report->sample_waves) {
        hd_json_real(j, "sampled_fraction", t->sampled_fraction);
        hd_json_real(j, "error_fraction", t->error_fraction);
    }
    for (uint32_t i = 0; i < HD_REPLAY_TIMING_COUNTS; i++)
        hd_json_count(j, hd_replay_timing_keys[i], hd_replay_timing_count(t, i));
    write_early_read(j, t->first_early);
    hd_json_end(j);
}

static void write_detection(hd_json *j, const hd_replay_detection *d)
{
    if (!d) {
        hd_json_null(j, "lane_fault");
        return;
    }
    hd_json_object(j, "lane_fault");
    hd_json_count(j, "wrong_results", d->wrong);
    hd_json_count(j, "detected", d->caught);
    hd_json_count(j, "slipped_through", d->wrong - d->caught);
    hd_json_count(j, "differences", d->differences);
    if (d->differences) {
        hd_json_object(j, "first");
        hd_json_count(j, d->in_cycles ? "cycle" : "instruction", d->at);
        hd_json_number(j, "block", d->block);
        hd_json_number(j, "warp", d->warp);
        hd_json_number(j, "thread", d->thread);
        hd_json_text(j, "opcode", d->instruction.text);
        hd_json_number(j, "line", d->instruction.line);
        hd_json_end(j);
    } else {
        hd_json_null(j, "first");
    }
    hd_json_end(j);
}

static void write_result(hd_json *j, const hd_replay_report *report, const hd_replay_result *r)
{
    hd_json_object(j, NULL);
    hd_json_text(j, "model", r->model);
    hd_json_text(j, "title", r->title);
    hd_json_text(j, "technique", r->technique);
    hd_json_text(j, "options", r->options);
    write_text(j, "not_applied", r->not_applied);
    write_headline(j, &r->headline);
    hd_json_real(j, "rf_accesses_normalized", r->rf_accesses_normalized);
    hd_json_real(j, "rf_reads_eliminated_fraction", r->rf_reads_eliminated_fraction);
    hd_json_real(j, "rf_writes_eliminated_fraction", r->rf_writes_eliminated_fraction);
    hd_json_real(j, "energy_pj", r->energy_pj);
    hd_json_real(j, "energy_normalized", r->energy_normalized);
    if (isnan(r->energy_pj))
        hd_json_null(j, "energy_derived");
    else
        hd_json_bool(j, "energy_derived", r->energy_derived);
    for (uint32_t c = 0; c < report->counter_count; c++)
        hd_json_count(j, report->counters[c].key, r->counters[c]);
    hd_json_real(j, "physical_access_variation", r->physical_access_variation);
    write_allocated(j, &r->allocated);
    hd_json_count(j, "storage_bits", r->storage_bits);
    if (report->slot_count)
        write_timing(j, report, r->timing);
    if (report->lane_fault)
        write_detection(j, r->detection);
    if (r->not_applied)
        hd_json_null(j, "verified");
    else
        hd_json_bool(j, "verified", r->check == HD_CHECK_PASS);
    write_text(j, "failed_check", hd_replay_check_words[r->check]);
    hd_json_end(j);
}

/* Settings that JSON has there; `k`: of a launch. */
static void write_settings(hd_json *j, const hd_replay_report *report, const hd_replay_kernel *k,
                           hd_replay_presence presence)
{
    hd_arena arena = {0};
    const hd_replay_setting *setting;
    for (uint32_t s = 0; (setting = hd_replay_setting_at(s)); s++) {
        if (setting->presence != presence)
            continue;
        const char *text = hd_replay_setting_text(report, k, setting, &arena);
        if (setting->type == HD_REPLAY_LIST_VALUE) {
            hd_json_array(j, setting->key);
            for (uint32_t i = 0; i < report->setting_count; i++)
                hd_json_text(j, NULL, report->settings[i]);
            hd_json_end(j);
        } else if (text && setting->type == HD_REPLAY_NUMBER_VALUE) {
            hd_json_number(j, setting->key, hd_replay_setting_number(report, setting));
        } else if (text || presence != HD_REPLAY_GIVEN) {
            hd_json_text(j, setting->key, text);
        }
    }
    hd_arena_free(&arena);
}

static void write_shape(hd_json *j, const char *key, const uint32_t shape[3])
{
    hd_json_array(j, key);
    for (int i = 0; i < 3; i++)
        hd_json_number(j, NULL, shape[i]);
    hd_json_end(j);
}

static void write_kernel(hd_json *j, const hd_replay_report *report, const hd_replay_kernel *k)
{
    bool physical = k->registers != HD_REPLAY_VIRTUAL;
    hd_json_object(j, NULL);
    hd_json_text(j, "name", k->name);
    hd_json_object(j, "launch");
    hd_json_text(j, "file", k->file);
    hd_json_number(j, "index", k->launch);
    write_shape(j, "grid", k->grid);
    write_shape(j, "block", k->block);
    hd_json_count(j, "runs", k->runs);
    write_settings(j, report, k, HD_REPLAY_OF_LAUNCH);
    hd_json_end(j);
    hd_json_count(j, "warp_instructions", k->warp_instructions);
    hd_json_count(j, "thread_instructions", k->thread_instructions);
    hd_json_count(j, "divergent_branches", k->divergent_branches);
    hd_json_bool(j, "annotated", k->annotated);
    hd_json_text(j, "demangled", k->demangled);
    if (k->machine_sm) {
        hd_json_object(j, "machine_code");
        hd_json_number(j, "sm", k->machine_sm);
        write_text(j, "assembled_by", k->assembled_by);
        hd_json_end(j);
    }
    if (report->slot_count)
        write_text(j, "order_dependent", k->order_dependent);
    if (report->lane_fault) {
        hd_json_object(j, "lane_fault");
        hd_json_count(j, "operations", k->lane_operations);
        hd_json_count(j, "wrong_results", k->lane_wrong);
        hd_json_end(j);
    }
    write_output(j, "outputs_ok", k->outputs);
    write_output(j, "output_identical", k->identical);
    hd_json_bool(j, "clock_dependent", k->clock_dependent);
    hd_json_text(j, "registers", hd_replay_register_words[k->registers]);
    hd_json_count(j, "general_registers", physical ? k->general : UINT64_MAX);
    hd_json_count(j, "predicates", physical ? k->predicates : UINT64_MAX);
    hd_json_array(j, "results");
    for (uint32_t i = 0; i < k->result_count; i++)
        write_result(j, report, &k->results[i]);
    hd_json_end(j);
    if (report->state_count)
        hd_replay_write_profile_json(j, report, k->profile);
    hd_json_end(j);
}

void hd_emit_replay_json(hd_writer *w, const hd_replay_report *report)
{
    hd_json json = {.out = w, .long_reals = true};
    hd_json_object(&json, NULL);
    hd_json_text(&json, "heddle", HD_VERSION);
    hd_json_number(&json, "schema", SCHEMA);
    for (hd_replay_presence p = HD_REPLAY_GPU; p < HD_REPLAY_OF_LAUNCH; p++)
        write_settings(&json, report, NULL, p);
    hd_json_text(&json, "registers", registers_of(report));
    hd_json_array(&json, "kernels");
    for (uint32_t i = 0; i < report->kernel_count; i++)
        write_kernel(&json, report, &report->kernels[i]);
    hd_json_end(&json);
    hd_json_end(&json);
}
