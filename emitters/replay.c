/* Replay results as text, JSON and CSV: see replay.h. */
#include "emitters/replay.h"
#include "base/version.h"
#include "emitters/jansson.h"
#include <math.h>
#include <stdio.h>

/* ---- what is derived ------------------------------------------------------------------------------------------------ */

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

double hd_replay_bypassed(const hd_replay_result *r)
{
    return share((double)r->counters[HD_COUNTER_BYPASSED], (double)r->counters[HD_COUNTER_OPERANDS]);
}

double hd_replay_writes_saved(const hd_replay_result *r)
{
    if (r->counters[HD_COUNTER_PREFETCHED] + r->counters[HD_COUNTER_REFETCHED])
        return (double)NAN;
    double results = (double)r->counters[HD_COUNTER_RESULTS];
    return share(results - (double)r->counters[HD_COUNTER_FILE_WRITES], results);
}

double hd_replay_energy_share(const hd_replay_result *r, const hd_replay_result *baseline)
{
    return r->energy_known && baseline->energy_known ? share(r->energy_pj, baseline->energy_pj) : (double)NAN;
}

static uint64_t group_sum(const hd_replay_result *r, hd_counter_group group)
{
    uint64_t sum = 0;
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
        sum += hd_counters[c].group == group ? r->counters[c] : 0;
    return sum;
}

static const char *const output_words[] = {"not checked", "ok", "WRONG"};

/* ---- text ------------------------------------------------------------------------------------------------------------- */

static void write_percent(hd_writer *w, int width, double fraction)
{
    if (isnan(fraction))
        hd_write_format(w, "  %*s", width, "-");
    else
        hd_write_format(w, "  %*.1f", width, 100 * fraction);
}

static void write_classes(hd_writer *w, const hd_replay_result *r, int width)
{
    char text[96] = "-";
    int length = 0;
    uint64_t all = group_sum(r, HD_COUNTS_CLASS);
    for (uint32_t c = 0; c < HD_COUNTER_COUNT && all; c++)
        if (hd_counters[c].group == HD_COUNTS_CLASS && r->counters[c] && length < (int)sizeof text - 24)
            length += snprintf(text + length, sizeof text - (size_t)length, "%s%s %.0f", length ? ", " : "", hd_counters[c].title,
                               100.0 * (double)r->counters[c] / (double)all);
    hd_write_format(w, "  %-*s", width, text);
}

static void write_energy(hd_writer *w, const hd_replay_result *r, const hd_replay_result *baseline)
{
    if (r->energy_known)
        hd_write_format(w, "  %12.3f", r->energy_pj / 1e3);
    else
        hd_write_format(w, "  %12s", "-");
    write_percent(w, 8, hd_replay_energy_share(r, baseline));
}

static void write_row(hd_writer *w, const hd_replay_result *r, const hd_replay_result *baseline, int name_width)
{
    hd_write_format(w, "  %-*s", name_width, r->model->name);
    if (r->refusal) {
        hd_write_format(w, "  left out: %s\n", r->refusal);
        return;
    }
    hd_write_format(w, "  %12llu  %12llu  %12llu", (unsigned long long)r->counters[HD_COUNTER_FILE_READS],
                    (unsigned long long)r->counters[HD_COUNTER_FILE_WRITES], (unsigned long long)group_sum(r, HD_COUNTS_NEAR));
    write_percent(w, 8, hd_replay_bypassed(r));
    write_percent(w, 7, hd_replay_writes_saved(r));
    write_classes(w, r, 22);
    write_energy(w, r, baseline);
    hd_write_format(w, "  %s\n", r->proved ? "yes" : "NO");
}

static const char *separator(uint32_t *items)
{
    return (*items)++ ? "; " : "  ";
}

/* What is in no column: counters of one technique, storage. Nothing where there is nothing. */
static void write_details(hd_writer *w, const hd_replay_result *r, int name_width)
{
    uint32_t items = 0;
    hd_writer line;
    hd_writer_to_memory(&line);
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
        if (hd_counters[c].group >= HD_COUNTS_PART && hd_counters[c].group != HD_COUNTS_CLASS && r->counters[c] && c != HD_COUNTER_OPERANDS && c != HD_COUNTER_RESULTS &&
            c != HD_COUNTER_BYPASSED)
            hd_write_format(&line, "%s%llu %s", separator(&items), (unsigned long long)r->counters[c], hd_counters[c].title);
    if (r->allocation.samples)
        hd_write_format(&line, "%s%.1f registers of the SM in use on average, %llu at most", separator(&items),
                        hd_rf_series_mean(&r->allocation), (unsigned long long)r->allocation.peak);
    if (r->storage_bits)
        hd_write_format(&line, "%s%llu bits of storage added to an SM", separator(&items), (unsigned long long)r->storage_bits);
    hd_write_char(&line, '\0');
    if (items)
        hd_write_format(w, "  %-*s%s\n", name_width, r->model->name, line.buffer.items);
    hd_writer_free(&line);
}

static void write_header(hd_writer *w, int name_width)
{
    hd_write_format(w, "  %-*s  %12s  %12s  %12s  %8s  %7s  %-22s  %12s  %8s  %s\n", name_width, "technique", "RF reads", "RF writes",
                    "beside it", "bypassed", "saved", "classes", "energy [nJ]", "of base", "proved");
    hd_write_format(w, "  %-*s  %12s  %12s  %12s  %8s  %7s  %-22s  %12s  %8s\n", name_width, "", "", "", "accesses", "reads %", "writes%",
                    "%", "dynamic", "%");
}

static void write_registers(hd_writer *w, const hd_replay_kernel *k)
{
    static const char *const originals[] = {"; memory not compared with the original kernel's", "; memory as the original kernel leaves it",
                                            "; memory NOT as the original kernel leaves it"};
    switch ((hd_replay_registers)k->registers) {
    case HD_REPLAY_VIRTUAL:
        hd_write_string(w, "  registers are PTX's own: tags and counts describe PTX order, not that of the machine code");
        break;
    case HD_REPLAY_ALLOCATED: hd_write_format(w, "  cleaned up, and allocated to %u registers, %u predicates", k->general, k->predicates); break;
    case HD_REPLAY_ARCHITECTED: hd_write_format(w, "  came allocated to %u registers, %u predicates", k->general, k->predicates); break;
    }
    hd_write_format(w, "%s\n", k->registers == HD_REPLAY_ALLOCATED || k->same_as_original ? originals[k->same_as_original] : "");
}

static void write_kernel(hd_writer *w, const hd_replay_kernel *k)
{
    int name_width = 9;
    for (uint32_t i = 0; i < k->result_count; i++)
        if ((int)strlen(k->results[i].model->name) > name_width)
            name_width = (int)strlen(k->results[i].model->name);
    hd_write_format(w, "%s: %s, grid %u %u %u, block %u %u %u", k->file, k->name, k->grid[0], k->grid[1], k->grid[2], k->block[0],
                    k->block[1], k->block[2]);
    if (k->runs > 1)
        hd_write_format(w, ", %llu runs together", (unsigned long long)k->runs);
    hd_write_char(w, '\n');
    hd_write_format(w, "  %llu warp instructions, %llu thread instructions, %llu divergent branches; outputs %s\n",
                    (unsigned long long)k->warp_instructions, (unsigned long long)k->thread_instructions,
                    (unsigned long long)k->divergent_branches, output_words[k->outputs]);
    if (k->result_count) {
        write_registers(w, k);
        write_header(w, name_width);
    }
    for (uint32_t i = 0; i < k->result_count; i++)
        write_row(w, &k->results[i], &k->results[0], name_width);
    for (uint32_t i = 0; i < k->result_count; i++)
        write_details(w, &k->results[i], name_width);
    hd_write_char(w, '\n');
}

void hd_emit_replay_text(hd_writer *w, const hd_replay_report *report)
{
    hd_write_format(w, "GPU %s. One access is a warp register of 32 lanes x 32 bits.\n\n", report->gpu);
    for (uint32_t i = 0; i < report->kernels.count; i++)
        write_kernel(w, &report->kernels.items[i]);
}

static const char *const register_words[] = {"virtual", "allocated", "architected"};

/* Of all kernels. */
static const char *registers_of(const hd_replay_report *report)
{
    for (uint32_t i = 1; i < report->kernels.count; i++)
        if (report->kernels.items[i].registers != report->kernels.items[0].registers)
            return "mixed";
    return register_words[report->kernels.count ? report->kernels.items[0].registers : HD_REPLAY_VIRTUAL];
}

static json_t *output_to_json(uint8_t outputs)
{
    return outputs == HD_OUTPUTS_UNCHECKED ? json_null() : json_boolean(outputs == HD_OUTPUTS_RIGHT);
}

/* ---- JSON --------------------------------------------------------------------------------------------------------------- */

static json_t *number_or_null(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *allocation_to_json(const hd_rf_series *series)
{
    if (!series->samples)
        return json_null();
    json_t *buckets = json_array();
    for (uint32_t b = 0; b < hd_rf_series_buckets(series); b++)
        json_array_append_new(buckets, json_real(hd_rf_series_bucket(series, b)));
    return json_pack("{s:f, s:I, s:I, s:I, s:o}", "mean", hd_rf_series_mean(series), "peak", (json_int_t)series->peak, "instructions",
                     (json_int_t)series->samples, "bucket_instructions", (json_int_t)series->width, "buckets", buckets);
}

static json_t *result_to_json(const hd_replay_result *r, const hd_replay_result *baseline)
{
    json_t *o = json_pack("{s:s, s:s, s:s}", "technique", r->model->name, "belongs_to", r->model->technique, "options", r->model->options);
    json_object_set_new(o, "left_out", r->refusal ? json_string(r->refusal) : json_null());
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
        json_object_set_new(o, hd_counters[c].key, json_integer((json_int_t)r->counters[c]));
    json_object_set_new(o, "reads_bypassed_fraction", number_or_null(hd_replay_bypassed(r)));
    json_object_set_new(o, "writes_saved_fraction", number_or_null(hd_replay_writes_saved(r)));
    json_object_set_new(o, "energy_pj", r->energy_known ? json_real(r->energy_pj) : json_null());
    json_object_set_new(o, "energy_fraction", number_or_null(hd_replay_energy_share(r, baseline)));
    json_object_set_new(o, "allocation", allocation_to_json(&r->allocation));
    json_object_set_new(o, "storage_bits", json_integer((json_int_t)r->storage_bits));
    json_object_set_new(o, "proved", r->refusal ? json_null() : json_boolean(r->proved));
    return o;
}

static json_t *kernel_to_json(const hd_replay_kernel *k)
{
    json_t *o = json_pack("{s:s, s:{s:o, s:i, s:[iii], s:[iii], s:I}, s:I, s:I, s:I, s:b}", "name", k->name, "launch", "file", json_string(k->file), "index",
                          (int)k->launch, "grid", (int)k->grid[0], (int)k->grid[1], (int)k->grid[2], "block", (int)k->block[0],
                          (int)k->block[1], (int)k->block[2], "runs", (json_int_t)k->runs, "warp_instructions", (json_int_t)k->warp_instructions,
                          "thread_instructions", (json_int_t)k->thread_instructions, "divergent_branches",
                          (json_int_t)k->divergent_branches, "annotated", (int)k->annotated);
    json_object_set_new(o, "outputs_ok", output_to_json(k->outputs));
    bool physical = k->registers != HD_REPLAY_VIRTUAL;
    json_object_set_new(o, "registers", json_string(register_words[k->registers]));
    json_object_set_new(o, "general_registers", physical ? json_integer(k->general) : json_null());
    json_object_set_new(o, "predicates", physical ? json_integer(k->predicates) : json_null());
    json_object_set_new(o, "same_as_original", output_to_json(k->same_as_original));
    json_t *results = json_array();
    for (uint32_t i = 0; i < k->result_count; i++)
        json_array_append_new(results, result_to_json(&k->results[i], &k->results[0]));
    json_object_set_new(o, "results", results);
    return o;
}

void hd_emit_replay_json(hd_writer *w, const hd_replay_report *report)
{
    json_t *kernels = json_array();
    for (uint32_t i = 0; i < report->kernels.count; i++)
        json_array_append_new(kernels, kernel_to_json(&report->kernels.items[i]));
    json_t *root = json_pack("{s:s, s:i, s:s, s:s, s:o}", "heddle", HD_VERSION, "schema", 1, "gpu", report->gpu, "registers", registers_of(report),
                             "kernels", kernels);
    hd_json_dump(w, root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(root);
}

/* ---- CSV ---------------------------------------------------------------------------------------------------------------- */

static void csv_text(hd_writer *w, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        hd_write_string(w, text);
        return;
    }
    hd_write_char(w, '"');
    for (; *text; text++) {
        if (*text == '"')
            hd_write_char(w, '"');
        hd_write_char(w, *text);
    }
    hd_write_char(w, '"');
}

static void csv_number(hd_writer *w, double value)
{
    if (isnan(value))
        hd_write_char(w, ',');
    else
        hd_write_format(w, ",%.12g", value);
}

/* What a model counted; empty columns for one that was not applied. */
static void csv_counts(hd_writer *w, const hd_replay_kernel *k, const hd_replay_result *r)
{
    enum { DERIVED = 7, ALL = HD_COUNTER_COUNT + DERIVED };
    for (uint32_t c = 0; c < ALL && r->refusal; c++)
        hd_write_char(w, ',');
    if (r->refusal)
        return;
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
        hd_write_format(w, ",%llu", (unsigned long long)r->counters[c]);
    csv_number(w, hd_replay_bypassed(r));
    csv_number(w, hd_replay_writes_saved(r));
    csv_number(w, r->energy_known ? r->energy_pj : (double)NAN);
    csv_number(w, hd_replay_energy_share(r, &k->results[0]));
    csv_number(w, r->allocation.samples ? hd_rf_series_mean(&r->allocation) : (double)NAN);
    csv_number(w, r->allocation.samples ? (double)r->allocation.peak : (double)NAN);
    hd_write_format(w, ",%llu", (unsigned long long)r->storage_bits);
}

static void csv_row(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k, const hd_replay_result *r)
{
    static const char *const outputs[] = {"", "true", "false"};
    csv_text(w, report->gpu);
    hd_write_char(w, ',');
    csv_text(w, k->file);
    hd_write_format(w, ",%u,", k->launch);
    csv_text(w, k->name);
    hd_write_format(w, ",%llu,%llu,%s,", (unsigned long long)k->warp_instructions, (unsigned long long)k->thread_instructions,
                    outputs[k->outputs]);
    csv_text(w, r->model->name);
    csv_counts(w, k, r);
    hd_write_format(w, ",%s,%s,", r->refusal ? "" : r->proved ? "true" : "false", register_words[k->registers]);
    csv_text(w, r->refusal ? r->refusal : "");
    hd_write_char(w, '\n');
}

void hd_emit_replay_csv(hd_writer *w, const hd_replay_report *report)
{
    hd_write_string(w, "gpu,file,launch,kernel,warp_instructions,thread_instructions,outputs_ok,technique");
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
        hd_write_format(w, ",%s", hd_counters[c].key);
    hd_write_string(w, ",reads_bypassed_fraction,writes_saved_fraction,energy_pj,energy_fraction,allocation_mean,allocation_peak,storage_bits,proved,registers,left_out\n");
    for (uint32_t i = 0; i < report->kernels.count; i++)
        for (uint32_t r = 0; r < report->kernels.items[i].result_count; r++)
            csv_row(w, report, &report->kernels.items[i], &report->kernels.items[i].results[r]);
}
