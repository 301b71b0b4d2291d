/* Further data for the HTML report's scripts (report_page.h): a kernel's numbers, values, occupancy, techniques and
 * findings as JSON, and the source texts. Linear. */
#include "emitters/report/report_page.h"

#include "base/compare.h"

static void write_number(hd_writer *w, const char *key, uint64_t value)
{
    hd_write_format(w, "\"%s\":%llu,", key, (unsigned long long)value);
}

/* null for HD_REPORT_NONE */
static void write_index(hd_writer *w, const char *key, uint32_t index)
{
    if (index == HD_REPORT_NONE)
        hd_write_format(w, "\"%s\":null,", key);
    else
        write_number(w, key, index);
}

static void write_boolean(hd_writer *w, const char *key, bool value)
{
    hd_write_format(w, "\"%s\":%s,", key, value ? "true" : "false");
}

/* Ends an object or array whose members each end with a comma. The writer is to memory. */
static void close(hd_writer *w, const char *bracket)
{
    if (w->buffer.count && w->buffer.items[w->buffer.count - 1] == ',') {
        w->buffer.count--;
        w->written_bytes--;
    }
    hd_write_string(w, bracket);
    hd_write_char(w, ',');
}

static void write_position(hd_writer *w, const hd_report_position *position, page_files *files)
{
    hd_write_string(w, "\"position\":{");
    write_number(w, "ptx_line", position->ptx_line);
    write_index(w, "file", page_file(files, position->file));
    write_number(w, "line", position->line);
    close(w, "}");
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

static void write_machine(hd_writer *w, const hd_report_kernel *k)
{
    const hd_report_machine *m = &k->machine;
    hd_write_string(w, "\"machine\":{");
    write_number(w, "named", m->named);
    write_number(w, "registers", m->registers);
    page_member(w, "registers_from", m->registers_from);
    page_member(w, "registers_unknown", m->registers_unknown);
    write_number(w, "predicates", m->predicates);
    write_number(w, "uniform_registers", m->uniform_registers);
    write_number(w, "code_bytes", m->code_bytes);
    write_number(w, "calls", m->calls);
    write_number(w, "local_stores", m->local_stores);
    write_number(w, "local_loads", m->local_loads);
    write_number(w, "local_bytes", m->local_store_bytes + m->local_load_bytes);
    page_member(w, "info_unknown", m->info_unknown);
    page_member(w, "banks_unknown", m->banks_unknown);
    page_member(w, "bound", m->bound);
    write_number(w, "sources", m->sources);
    write_number(w, "reuse_flags", m->reuse_flags);
    write_number(w, "reuse_served", m->reuse_served);
    write_number(w, "window_served", m->window_served);
    close(w, "}");
}

static void write_summary(hd_writer *w, const hd_report_kernel *k)
{
    write_number(w, "max_pressure", k->max_pressure);
    write_number(w, "max_predicate_pressure", k->max_predicate_pressure);
    write_index(w, "max_pressure_at", k->max_pressure_at);
    if (k->allocated_unknown) {
        page_member(w, "allocated_unknown", k->allocated_unknown);
    } else {
        write_number(w, "allocated", k->allocated);
        write_number(w, "allocated_predicates", k->allocated_predicates);
    }
    if (!k->predicted.unknown)
        write_number(w, "predicted_spills", k->predicted.stores + k->predicted.loads);
    if (k->is_machine) {
        write_machine(w, k);
    } else {
        write_number(w, "estimate", k->estimate);
        write_number(w, "estimate_low", k->estimate_low);
        write_number(w, "estimate_high", k->estimate_high);
        write_number(w, "estimate_coverage_percent", k->estimate_coverage_percent);
    }
    if (k->ptxas.unknown)
        page_member(w, "ptxas_unknown", k->ptxas.unknown);
    if (k->ptxas.known) {
        hd_write_string(w, "\"ptxas\":{");
        write_number(w, "registers", k->ptxas.registers);
        write_number(w, "barriers", k->ptxas.barriers);
        write_number(w, "spill_stores", k->ptxas.spill_stores);
        write_number(w, "spill_loads", k->ptxas.spill_loads);
        write_number(w, "stack_bytes", k->ptxas.stack_bytes);
        write_number(w, "shared_bytes", k->ptxas.shared_bytes);
        close(w, "}");
    }
    write_number(w, "input_instructions", k->input_instructions);
    write_number(w, "loops", k->loop_count);
    write_number(w, "static_shared_bytes", k->static_shared_bytes);
    write_number(w, "local_bytes", k->local_bytes);
    write_number(w, "constant_bytes", k->constant_bytes);
    write_number(w, "parameter_bytes", k->parameter_bytes);
    write_number(w, "barriers", k->barriers);
    write_number(w, "banks", k->banks);
    write_boolean(w, "left_virtual", k->left_virtual);
    write_number(w, "bank_conflicts", k->bank_conflicts);
    write_number(w, "bank_conflicts_weighted", k->bank_conflicts_weighted);
    write_number(w, "single_use_loads", k->single_use_loads);
    write_number(w, "loads", k->loads);
}

static void write_reuse(hd_writer *w, const hd_report_kernel *k)
{
    hd_write_string(w, "\"reuse\":[");
    for (uint32_t i = 0; i < HD_REUSE_BUCKETS; i++)
        hd_write_format(w, "[\"%s\",%llu],", hd_report_reuse_names[i], (unsigned long long)k->reuse[i]);
    close(w, "]");
}

static void write_values(hd_writer *w, const hd_report_kernel *k)
{
    hd_write_string(w, "\"values\":[");
    for (uint32_t i = 0; i < k->value_count; i++) {
        const hd_report_value *v = &k->values[i];
        hd_write_char(w, '{');
        write_number(w, "reg", v->reg);
        write_index(w, "packed", k->registers[v->reg].packed);
        write_index(w, "definition", v->definition);
        write_index(w, "last_use", v->last_use);
        write_number(w, "uses", v->uses);
        write_number(w, "loop_depth", v->loop_depth);
        write_number(w, "uses_in_loop", v->uses_in_loop);
        write_boolean(w, "live_through", v->live_through);
        page_member(w, "remedy", v->remedy);
        page_member(w, "source", v->source);
        close(w, "}");
    }
    close(w, "]");
}

/* ---- occupancy --------------------------------------------------------------------------------------------------- */

/* [ctas, warps, fraction, limiter, why it cannot run] */
static void write_point(hd_writer *w, const hd_report_occupancy *o)
{
    hd_write_format(w, "[%u,%u,%.6g,\"%s\",", o->ctas, o->warps, o->fraction, o->limiter);
    if (o->impossible)
        hd_json_quote_in_page(w, o->impossible, strlen(o->impossible));
    else
        hd_write_string(w, "null");
    hd_write_string(w, "],");
}

static void write_step(hd_writer *w, const char *key, const hd_report_step *step)
{
    if (!step->exists)
        return;
    hd_write_format(w, "\"%s\":{\"registers\":%u,\"then\":", key, step->registers);
    write_point(w, &step->then);
    close(w, "}");
}

/* Register caps that ptxas tried. */
static void write_trials(hd_writer *w, const hd_report_kernel *k)
{
    hd_write_string(w, "\"trials\":[");
    for (uint32_t i = 0; i < k->trial_count; i++) {
        const hd_report_trial *t = &k->trials[i];
        hd_write_char(w, '{');
        page_member(w, "given", t->given);
        write_number(w, "cap", t->cap);
        page_member(w, "unknown", t->ptxas.unknown);
        write_number(w, "registers", t->ptxas.registers);
        write_number(w, "spill_stores", t->ptxas.spill_stores);
        write_number(w, "spill_loads", t->ptxas.spill_loads);
        write_number(w, "stack_bytes", t->ptxas.stack_bytes);
        hd_write_string(w, "\"then\":");
        write_point(w, &t->occupancy);
        close(w, "}");
    }
    close(w, "]");
}

/* How setmaxnreg shares a thread block's registers. */
static void write_budget(hd_writer *w, const hd_report_budget *b)
{
    if (!b->step_count)
        return;
    hd_write_string(w, "\"budget\":{");
    write_number(w, "groups", b->groups);
    write_number(w, "initial", b->initial);
    write_number(w, "least", b->least);
    write_number(w, "most", b->most);
    write_number(w, "granted", b->granted);
    write_boolean(w, "ignored", b->ignored);
    close(w, "}");
}

static void write_occupancy(hd_writer *w, const hd_report_kernel *k)
{
    hd_write_string(w, "\"use\":{");
    write_number(w, "threads", k->use.threads);
    write_number(w, "registers", k->use.registers);
    write_number(w, "shared_bytes", k->use.shared_bytes);
    write_number(w, "barriers", k->use.barriers);
    page_member(w, "from", k->registers_from);
    page_member(w, "block_from", k->block_from);
    hd_write_format(w, "\"dynamic_unknown\":%s,", k->dynamic_shared_unknown ? "true" : "false");
    close(w, "}");
    hd_write_string(w, "\"occupancy\":");
    write_point(w, &k->occupancy);
    hd_write_string(w, "\"limits\":[");
    for (uint32_t l = 0; l < k->limit_count; l++)
        if (k->limits[l].ctas != UINT32_MAX)
            hd_write_format(w, "[\"%s\",%u],", k->limits[l].name, k->limits[l].ctas);
    close(w, "]");
    write_step(w, "gain", &k->gain);
    write_step(w, "loss", &k->loss);
    write_number(w, "fitting_block", k->fitting_block);
    write_number(w, "fitting_registers", k->fitting_registers);
    write_trials(w, k);
    write_budget(w, &k->budget);
    hd_write_string(w, "\"sweep\":[");
    for (uint32_t i = 0; i < k->sweep_count; i++)
        write_point(w, &k->sweep[i]);
    close(w, "]");
}

/* ---- techniques and findings ------------------------------------------------------------------------------------- */

static void write_techniques(hd_writer *w, const hd_report_kernel *k)
{
    hd_write_string(w, "\"techniques\":[");
    for (uint32_t i = 0; i < k->technique_count; i++) {
        const hd_report_technique *t = &k->techniques[i];
        hd_write_char(w, '{');
        page_member(w, "name", t->name);
        page_member(w, "refusal", t->refusal);
        write_boolean(w, "rewrites", t->rewrites);
        write_boolean(w, "allocated", t->allocated);
        hd_write_string(w, "\"statistics\":[");
        for (uint32_t s = 0; s < t->statistic_count; s++) {
            hd_write_char(w, '[');
            hd_json_quote_in_page(w, t->statistics[s].name, strlen(t->statistics[s].name));
            hd_write_format(w, ",%llu],", (unsigned long long)t->statistics[s].value);
        }
        close(w, "]");
        close(w, "}");
    }
    close(w, "]");
}

static void write_findings(hd_writer *w, const hd_report_kernel *k, page_files *files)
{
    hd_write_string(w, "\"findings\":[");
    for (uint32_t i = 0; i < k->finding_count; i++) {
        const hd_report_finding *f = &k->findings[i];
        hd_write_char(w, '{');
        page_member(w, "rule", f->rule);
        page_member(w, "severity", f->is_error ? "error" : "warning");
        page_member(w, "message", f->message);
        write_index(w, "instruction", f->instruction);
        write_position(w, &f->position, files);
        close(w, "}");
    }
    close(w, "]");
    hd_write_string(w, "\"failed_gates\":[");
    for (uint32_t i = 0; i < k->failed_gate_count; i++) {
        hd_json_quote_in_page(w, k->failed_gates[i], strlen(k->failed_gates[i]));
        hd_write_char(w, ',');
    }
    close(w, "]");
}

void page_kernel(hd_writer *writer, const hd_report_module *report, uint32_t index, uint32_t number, hd_source *ptx,
                 page_files *files)
{
    const hd_report_kernel *k = &report->kernels[index];
    hd_write_format(writer, "<script type=\"application/json\" id=\"kernel%u\">{", number);
    page_member(writer, "arch", k->arch);
    page_member(writer, "name", k->name);
    page_member(writer, "demangled", k->demangled);
    write_boolean(writer, "entry", k->is_entry);
    write_number(writer, "count", k->instruction_count);
    write_position(writer, &k->position, files);
    write_summary(writer, k);
    write_reuse(writer, k);
    write_values(writer, k);
    write_occupancy(writer, k);
    write_techniques(writer, k);
    write_findings(writer, k, files);
    page_code(writer, ptx, k, files);
    hd_write_string(writer, "\"end\":0}</script>\n");
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

enum { WHOLE_BYTES = 65536, LINES_AROUND = 12 };

/* The lines of one file that kernels name, ascending, possibly with duplicates. */
static hd_u32_array lines_of(const hd_report_module *report, const char *file)
{
    hd_u32_array lines = {0};
    for (uint32_t k = 0; k < report->kernel_count; k++)
        for (uint32_t i = 0; i < report->kernels[k].line_count; i++)
            if (!strcmp(report->kernels[k].lines[i].file, file))
                hd_array_push(&lines, report->kernels[k].lines[i].line);
    if (lines.count)
        qsort(lines.items, lines.count, sizeof *lines.items, hd_compare_u32);
    return lines;
}

/* [first line, text], for the existing lines from first to last */
static void write_segment(hd_writer *w, hd_source *text, uint32_t first, uint32_t last)
{
    hd_span begin = hd_source_line(text, first), end = hd_source_line(text, last);
    hd_write_format(w, "[%u,", first);
    hd_json_quote_in_page(w, text->text + begin.begin, end.end - begin.begin);
    hd_write_string(w, "],");
}

static void write_segments(hd_writer *w, hd_source *text, const hd_u32_array *lines)
{
    uint32_t count = hd_source_position(text, text->length).line;
    if (text->length <= WHOLE_BYTES) {
        write_segment(w, text, 1, count);
        return;
    }
    for (uint32_t i = 0, next; i < lines->count && lines->items[i] <= count; i = next) {
        uint32_t first = lines->items[i] > LINES_AROUND ? lines->items[i] - LINES_AROUND : 1, last = 0;
        for (next = i; next < lines->count && (next == i || lines->items[next] <= last + LINES_AROUND); next++)
            last = lines->items[next] + LINES_AROUND;
        write_segment(w, text, first, hd_min(last, count));
    }
}

static void write_source(hd_writer *w, const hd_report_module *report, const char *file, const hd_source *text)
{
    hd_source own = *text; /* with a line table of its own */
    hd_u32_array lines = lines_of(report, file);
    memset(&own.lines, 0, sizeof own.lines);
    hd_write_string(w, "[");
    write_segments(w, &own, &lines);
    close(w, "]");
    hd_array_free(&own.lines);
    hd_array_free(&lines);
}

void page_sources(hd_writer *writer, const hd_report_module *report, const page_files *files,
                  const hd_report_texts *texts)
{
    for (uint32_t f = files->module_first; f < files->names.count; f++)
        for (uint32_t t = 0; t < texts->count; t++)
            if (!strcmp(texts->items[t].name, files->names.items[f])) {
                hd_write_format(writer, "<script type=\"application/json\" id=\"source%u\">{\"segments\":", f);
                write_source(writer, report, files->names.items[f], &texts->items[t]);
                hd_write_string(writer, "\"end\":0}</script>\n");
                break;
            }
}
