/* Replay results as JSON: see replay.h and heddle-json(5). */
#include "base/version.h"
#include "emitters/jansson.h"
#include "emitters/replay/replay.h"
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

static json_t *output_to_json(hd_replay_outputs outputs)
{
    bool decided = outputs == HD_OUTPUTS_RIGHT || outputs == HD_OUTPUTS_WRONG;
    return decided ? json_boolean(outputs == HD_OUTPUTS_RIGHT) : json_null();
}

static json_t *number_or_null(double value) { return isnan(value) ? json_null() : json_real(value); }

static json_t *text_or_null(const char *text) { return text && *text ? json_string(text) : json_null(); }

static json_t *allocated_to_json(const hd_replay_allocation *a)
{
    if (!a->instructions)
        return json_null();
    json_t *buckets = json_array();
    for (uint32_t b = 0; b < a->bucket_count; b++)
        json_array_append_new(buckets, json_real(a->buckets[b]));
    return json_pack("{s:f, s:o, s:o, s:o, s:o}", "mean", a->mean, "peak", hd_json_count(a->peak), "instructions",
                     hd_json_count(a->instructions), "bucket_instructions", hd_json_count(a->bucket_instructions),
                     "buckets", buckets);
}

static json_t *headline_to_json(const hd_replay_headline *h)
{
    static const char *const kinds[] = {"none", "share", "change", "number"};
    if (h->kind == HD_FIGURE_NONE)
        return json_null();
    return json_pack("{s:s, s:s, s:o, s:o}", "title", h->title, "kind", kinds[h->kind], "value",
                     number_or_null(h->value), "absent", text_or_null(h->absent));
}

static json_t *timing_to_json(const hd_replay_report *report, const hd_replay_timing *t)
{
    if (!t)
        return json_null();
    json_t *slots = json_object();
    for (uint32_t s = 0; s < report->slot_count; s++)
        json_object_set_new(slots, report->slots[s].key, hd_json_count(t->slots[s]));
    json_t *o = json_pack("{s:o, s:o}", "cycles", hd_json_count(t->cycles), "issue_slots", slots);
    json_object_set_new(o, "speedup", number_or_null(t->speedup));
    json_object_set_new(o, "warp_ipc", number_or_null(t->warp_ipc));
    json_object_set_new(o, "thread_ipc", number_or_null(t->thread_ipc));
    json_object_set_new(o, "occupancy_fraction", number_or_null(t->occupancy));
    json_object_set_new(o, "dynamic_pj", number_or_null(t->dynamic_pj));
    json_object_set_new(o, "static_pj", number_or_null(t->static_pj));
    json_object_set_new(o, "energy_normalized", number_or_null(t->energy_normalized));
    if (report->sample_waves) {
        json_object_set_new(o, "sampled_fraction", number_or_null(t->sampled_fraction));
        json_object_set_new(o, "error_fraction", number_or_null(t->error_fraction));
    }
    for (uint32_t i = 0; i < HD_REPLAY_TIMING_COUNTS; i++)
        json_object_set_new(o, hd_replay_timing_keys[i], hd_json_count(hd_replay_timing_count(t, i)));
    return o;
}

static json_t *detection_to_json(const hd_replay_detection *d)
{
    if (!d)
        return json_null();
    json_t *first = json_null();
    if (d->differences)
        first =
            json_pack("{s:o, s:I, s:I, s:I, s:s, s:I}", d->in_cycles ? "cycle" : "instruction", hd_json_count(d->at),
                      "block", (json_int_t)d->block, "warp", (json_int_t)d->warp, "thread", (json_int_t)d->thread,
                      "opcode", d->instruction.text, "line", (json_int_t)d->instruction.line);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "wrong_results", hd_json_count(d->wrong), "detected",
                     hd_json_count(d->caught), "slipped_through", hd_json_count(d->wrong - d->caught), "differences",
                     hd_json_count(d->differences), "first", first);
}

static json_t *result_to_json(const hd_replay_report *report, const hd_replay_result *r)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "model", r->model, "title", r->title, "technique", r->technique,
                          "options", r->options);
    json_object_set_new(o, "not_applied", text_or_null(r->not_applied));
    json_object_set_new(o, "headline", headline_to_json(&r->headline));
    json_object_set_new(o, "rf_accesses_normalized", number_or_null(r->rf_accesses_normalized));
    json_object_set_new(o, "rf_reads_eliminated_fraction", number_or_null(r->rf_reads_eliminated_fraction));
    json_object_set_new(o, "rf_writes_eliminated_fraction", number_or_null(r->rf_writes_eliminated_fraction));
    json_object_set_new(o, "energy_pj", number_or_null(r->energy_pj));
    json_object_set_new(o, "energy_normalized", number_or_null(r->energy_normalized));
    json_object_set_new(o, "energy_derived", isnan(r->energy_pj) ? json_null() : json_boolean(r->energy_derived));
    for (uint32_t c = 0; c < report->counter_count; c++)
        json_object_set_new(o, report->counters[c].key, hd_json_count(r->counters[c]));
    json_object_set_new(o, "physical_access_variation", number_or_null(r->physical_access_variation));
    json_object_set_new(o, "allocated_registers", allocated_to_json(&r->allocated));
    json_object_set_new(o, "storage_bits", hd_json_count(r->storage_bits));
    if (report->slot_count)
        json_object_set_new(o, "timing", timing_to_json(report, r->timing));
    if (report->lane_fault)
        json_object_set_new(o, "lane_fault", detection_to_json(r->detection));
    json_object_set_new(o, "verified", r->not_applied ? json_null() : json_boolean(r->check == HD_CHECK_PASS));
    json_object_set_new(o, "failed_check", text_or_null(hd_replay_check_words[r->check]));
    return o;
}

static json_t *setting_to_json(const hd_replay_report *report, const hd_replay_kernel *k,
                               const hd_replay_setting *setting)
{
    hd_arena arena = {0};
    const char *text = hd_replay_setting_text(report, k, setting, &arena);
    json_t *value = NULL;
    if (setting->type == HD_REPLAY_LIST_VALUE) {
        value = json_array();
        for (uint32_t i = 0; i < report->setting_count; i++)
            json_array_append_new(value, json_string(report->settings[i]));
    } else if (text) {
        bool is_number = setting->type == HD_REPLAY_NUMBER_VALUE;
        value = is_number ? json_integer(hd_replay_setting_number(report, setting)) : json_string(text);
    }
    hd_arena_free(&arena);
    return value ? value : json_null();
}

/* Those that JSON has there; `k`: of a launch. */
static void set_settings(json_t *o, const hd_replay_report *report, const hd_replay_kernel *k,
                         hd_replay_presence presence)
{
    const hd_replay_setting *setting;
    for (uint32_t s = 0; (setting = hd_replay_setting_at(s)); s++) {
        json_t *value = setting->presence == presence ? setting_to_json(report, k, setting) : NULL;
        if (value && (presence != HD_REPLAY_GIVEN || !json_is_null(value)))
            json_object_set(o, setting->key, value);
        json_decref(value);
    }
}

static json_t *kernel_to_json(const hd_replay_report *report, const hd_replay_kernel *k)
{
    json_t *o =
        json_pack("{s:o, s:{s:o, s:i, s:[iii], s:[iii], s:o}, s:o, s:o, s:o, s:b}", "name", json_string(k->name),
                  "launch", "file", json_string(k->file), "index", (int)k->launch, "grid", (int)k->grid[0],
                  (int)k->grid[1], (int)k->grid[2], "block", (int)k->block[0], (int)k->block[1], (int)k->block[2],
                  "runs", hd_json_count(k->runs), "warp_instructions", hd_json_count(k->warp_instructions),
                  "thread_instructions", hd_json_count(k->thread_instructions), "divergent_branches",
                  hd_json_count(k->divergent_branches), "annotated", (int)k->annotated);
    json_object_set_new(o, "demangled", json_string(k->demangled));
    set_settings(json_object_get(o, "launch"), report, k, HD_REPLAY_OF_LAUNCH);
    if (k->machine_sm)
        json_object_set_new(o, "machine_code",
                            json_pack("{s:i, s:o}", "sm", (int)k->machine_sm, "assembled_by",
                                      k->is_assembled ? json_string("ptxas") : json_null()));
    if (report->slot_count)
        json_object_set_new(o, "order_dependent", text_or_null(k->order_dependent));
    if (report->lane_fault)
        json_object_set_new(o, "lane_fault",
                            json_pack("{s:o, s:o}", "operations", hd_json_count(k->lane_operations), "wrong_results",
                                      hd_json_count(k->lane_wrong)));
    json_object_set_new(o, "outputs_ok", output_to_json(k->outputs));
    json_object_set_new(o, "output_identical", output_to_json(k->identical));
    json_object_set_new(o, "clock_dependent", json_boolean(k->clock_dependent));
    bool physical = k->registers != HD_REPLAY_VIRTUAL;
    json_object_set_new(o, "registers", json_string(hd_replay_register_words[k->registers]));
    json_object_set_new(o, "general_registers", physical ? json_integer(k->general) : json_null());
    json_object_set_new(o, "predicates", physical ? json_integer(k->predicates) : json_null());
    json_t *results = json_array();
    for (uint32_t i = 0; i < k->result_count; i++)
        json_array_append_new(results, result_to_json(report, &k->results[i]));
    json_object_set_new(o, "results", results);
    return o;
}

void hd_emit_replay_json(hd_writer *w, const hd_replay_report *report)
{
    json_t *kernels = json_array();
    for (uint32_t i = 0; i < report->kernel_count; i++)
        json_array_append_new(kernels, kernel_to_json(report, &report->kernels[i]));
    json_t *root = json_pack("{s:s, s:i}", "heddle", HD_VERSION, "schema", SCHEMA);
    for (uint32_t p = HD_REPLAY_GPU; p < HD_REPLAY_OF_LAUNCH; p++)
        set_settings(root, report, NULL, (hd_replay_presence)p);
    json_object_set_new(root, "registers", json_string(registers_of(report)));
    json_object_set_new(root, "kernels", kernels);
    hd_json_dump(w, root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(root);
}
