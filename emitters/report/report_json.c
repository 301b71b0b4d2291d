/* The report as JSON, schema 2: see heddle-json(5). */
#include "base/version.h"
#include "emitters/json.h"
#include "emitters/report/quantity.h"
#include "emitters/report/report.h"

static void write_position(hd_json *j, const char *key, const hd_report_position *p)
{
    hd_json_compact_object(j, key);
    if (p->ptx_line)
        hd_json_number(j, p->in_listing ? "listing_line" : "ptx_line", p->ptx_line);
    else
        hd_json_null(j, "ptx_line");
    hd_json_text(j, "file", p->file);
    if (p->file) {
        hd_json_number(j, "line", p->line);
        hd_json_number(j, "column", p->column);
    }
    if (p->inlined_file) {
        hd_json_text(j, "inlined_file", p->inlined_file);
        hd_json_number(j, "inlined_line", p->inlined_line);
    }
    hd_json_end(j);
}

static void write_index(hd_json *j, const char *key, uint32_t index)
{
    if (index == HD_REPORT_NONE)
        hd_json_null(j, key);
    else
        hd_json_number(j, key, index);
}

static void write_if(hd_json *j, const char *key, uint64_t value, bool known)
{
    if (known)
        hd_json_number(j, key, value);
    else
        hd_json_null(j, key);
}

/* ---- registers and occupancy ------------------------------------------------------------------------------------- */

static void write_registers(hd_json *j, const hd_report_kernel *k)
{
    hd_json_object(j, "registers");
    hd_json_number(j, "max_pressure", k->max_pressure);
    write_if(j, "allocated", k->allocated, !k->allocated_unknown);
    write_if(j, "estimate", k->estimate, !k->is_machine);
    write_if(j, "estimate_low", k->estimate_low, !k->is_machine);
    write_if(j, "estimate_high", k->estimate_high, !k->is_machine);
    write_if(j, "estimate_coverage_percent", k->estimate_coverage_percent, !k->is_machine);
    write_if(j, "ptxas", k->ptxas.registers, k->ptxas.known);
    hd_json_number(j, "max_predicate_pressure", k->max_predicate_pressure);
    write_if(j, "allocated_predicates", k->allocated_predicates, !k->allocated_unknown);
    hd_json_end(j);
    hd_json_text(j, "allocated_unknown", k->allocated_unknown);
}

static void write_kinds(hd_json *j, const hd_report_machine *m)
{
    hd_json_number(j, "moves", m->moves);
    hd_json_number(j, "convergence", m->convergence);
    hd_json_number(j, "padding", m->padding);
    hd_json_array(j, "subroutines");
    for (uint32_t i = 0; i < m->subroutine_count; i++) {
        hd_json_compact_object(j, NULL);
        hd_json_text(j, "name", m->subroutines[i].name);
        hd_json_number(j, "first", m->subroutines[i].first);
        hd_json_number(j, "instructions", m->subroutines[i].instructions);
        hd_json_number(j, "calls", m->subroutines[i].calls);
        hd_json_end(j);
    }
    hd_json_end(j);
}

/* null for PTX */
static void write_machine(hd_json *j, const hd_report_kernel *k)
{
    const hd_report_machine *m = &k->machine;
    if (!k->is_machine) {
        hd_json_null(j, "machine_code");
        return;
    }
    hd_json_object(j, "machine_code");
    write_if(j, "registers", m->registers, !m->registers_unknown);
    hd_json_text(j, "registers_from", m->registers_from);
    hd_json_text(j, "registers_unknown", m->registers_unknown);
    hd_json_number(j, "named_registers", m->named);
    hd_json_number(j, "predicates", m->predicates);
    hd_json_number(j, "uniform_registers", m->uniform_registers);
    write_if(j, "code_bytes", m->code_bytes, m->code_bytes != 0);
    hd_json_number(j, "calls", m->calls);
    write_kinds(j, m);
    hd_json_compact_object(j, "local_memory");
    hd_json_number(j, "stores", m->local_stores);
    hd_json_number(j, "store_bytes", m->local_store_bytes);
    hd_json_number(j, "loads", m->local_loads);
    hd_json_number(j, "load_bytes", m->local_load_bytes);
    hd_json_end(j);
    hd_json_compact_object(j, "reuse_cache");
    write_if(j, "sources", m->sources, !m->banks_unknown);
    write_if(j, "flags", m->reuse_flags, !m->banks_unknown);
    write_if(j, "served", m->reuse_served, !m->banks_unknown);
    write_if(j, "served_by_window", m->window_served, !m->banks_unknown);
    hd_json_end(j);
    hd_json_text(j, "info_unknown", m->info_unknown);
    hd_json_text(j, "banks_unknown", m->banks_unknown);
    hd_json_text(j, "occupancy_bound", m->bound);
    hd_json_end(j);
}

static void write_ptxas(hd_json *j, const hd_report_kernel *k)
{
    const hd_report_ptxas *p = &k->ptxas;
    if (!p->known) {
        hd_json_null(j, "ptxas");
        return;
    }
    hd_json_object(j, "ptxas");
    hd_json_number(j, "registers", p->registers);
    hd_json_number(j, "barriers", p->barriers);
    hd_json_number(j, "spill_stores", p->spill_stores);
    hd_json_number(j, "spill_loads", p->spill_loads);
    hd_json_number(j, "stack_bytes", p->stack_bytes);
    hd_json_number(j, "shared_bytes", p->shared_bytes);
    hd_json_array(j, "messages");
    for (uint32_t i = 0; i < p->message_count; i++) {
        const hd_report_message *m = &p->messages[i];
        hd_json_compact_object(j, NULL);
        hd_json_text(j, "severity", m->is_warning ? "warning" : "info");
        hd_json_text(j, "code", m->code);
        hd_json_text(j, "text", m->text);
        hd_json_bool(j, "of_several_kernels", m->is_shared);
        write_position(j, "position", &m->position);
        hd_json_end(j);
    }
    hd_json_end(j);
    hd_json_end(j);
}

/* What ptxas made of other register caps. */
static void write_trials(hd_json *j, const hd_report_kernel *k)
{
    hd_json_array(j, "trials");
    for (uint32_t i = 0; i < k->trial_count; i++) {
        const hd_report_trial *t = &k->trials[i];
        const hd_report_ptxas *p = &t->ptxas;
        hd_json_compact_object(j, NULL);
        hd_json_number(j, "cap", t->cap);
        hd_json_text(j, "given", t->given);
        hd_json_text(j, "unknown", p->unknown);
        write_if(j, "registers", p->registers, p->known);
        write_if(j, "spill_stores", p->spill_stores, p->known);
        write_if(j, "spill_loads", p->spill_loads, p->known);
        write_if(j, "stack_bytes", p->stack_bytes, p->known);
        write_if(j, "shared_bytes", p->shared_bytes, p->known);
        write_if(j, "ctas", t->occupancy.ctas, p->known);
        write_if(j, "warps", t->occupancy.warps, p->known);
        if (p->known)
            hd_json_real(j, "fraction", t->occupancy.fraction);
        else
            hd_json_null(j, "fraction");
        hd_json_text(j, "limiter", p->known ? t->occupancy.limiter : NULL);
        hd_json_end(j);
    }
    hd_json_end(j);
    hd_json_text(j, "trials_unknown", k->trials_unknown);
}

static void write_spills(hd_json *j, const hd_report_kernel *k)
{
    double bytes;
    if (hd_quantity_of(k, HD_QUANTITY_SPILL_BYTES, &bytes))
        hd_json_number(j, "spill_bytes", (uint64_t)bytes);
    else
        hd_json_null(j, "spill_bytes");
    if (k->predicted.unknown) {
        hd_json_null(j, "predicted_spills");
    } else {
        hd_json_compact_object(j, "predicted_spills");
        hd_json_number(j, "stores", k->predicted.stores);
        hd_json_number(j, "loads", k->predicted.loads);
        hd_json_number(j, "rematerialized", k->predicted.rematerialized);
        hd_json_end(j);
    }
    hd_json_text(j, "spills_unknown", hd_quantity_unknown(k, HD_QUANTITY_PREDICTED_SPILL_BYTES));
}

/* Upper and lower bounds of the estimate. */
static void write_bounds(hd_json *j, const hd_report_kernel *k)
{
    if (k->is_machine) {
        hd_json_null(j, "register_cap");
        hd_json_null(j, "loop_live");
        return;
    }
    hd_json_compact_object(j, "register_cap");
    hd_json_number(j, "registers", k->cap.registers);
    hd_json_text(j, "from", k->cap.reason);
    hd_json_text(j, "ignored", k->cap.ignored);
    hd_json_end(j);
    if (!k->loop.words) {
        hd_json_null(j, "loop_live");
        return;
    }
    hd_json_compact_object(j, "loop_live");
    hd_json_number(j, "registers", k->loop.words);
    hd_json_number(j, "constant_offsets", k->loop.constant_offsets);
    hd_json_number(j, "rematerialized", k->loop.rematerialized);
    hd_json_number(j, "uniform", k->loop.uniform);
    write_position(j, "position", &k->loop.position);
    hd_json_end(j);
}

static void write_step(hd_json *j, const char *key, const hd_report_step *step)
{
    if (!step->exists) {
        hd_json_null(j, key);
        return;
    }
    hd_json_compact_object(j, key);
    hd_json_number(j, "registers", step->registers);
    hd_json_number(j, "ctas", step->then.ctas);
    hd_json_number(j, "warps", step->then.warps);
    hd_json_real(j, "fraction", step->then.fraction);
    hd_json_text(j, "limiter", step->then.limiter);
    hd_json_end(j);
}

static void write_sweep(hd_json *j, const hd_report_kernel *k)
{
    hd_json_array(j, "sweep");
    for (uint32_t i = 0; i < k->sweep_count; i++) {
        const hd_report_occupancy *o = &k->sweep[i];
        hd_json_compact_object(j, NULL);
        hd_json_number(j, "block", 32 * (uint64_t)(i + 1));
        hd_json_number(j, "ctas", o->ctas);
        hd_json_number(j, "warps", o->warps);
        hd_json_real(j, "fraction", o->fraction);
        hd_json_text(j, "limiter", o->limiter);
        hd_json_end(j);
    }
    hd_json_end(j);
}

/* null without setmaxnreg */
static void write_budget(hd_json *j, const hd_report_kernel *k)
{
    const hd_report_budget *b = &k->budget;
    if (!b->step_count) {
        hd_json_null(j, "setmaxnreg");
        return;
    }
    hd_json_object(j, "setmaxnreg");
    hd_json_number(j, "warp_groups", b->groups);
    write_if(j, "initial", b->initial, b->initial != 0);
    write_if(j, "least", b->least, b->initial != 0);
    write_if(j, "most", b->most, b->initial != 0);
    write_if(j, "granted", b->granted, b->initial != 0);
    hd_json_bool(j, "ignored", b->ignored);
    hd_json_array(j, "steps");
    for (uint32_t i = 0; i < b->step_count; i++) {
        hd_json_compact_object(j, NULL);
        hd_json_number(j, "registers", b->steps[i].registers);
        hd_json_bool(j, "releases", b->steps[i].releases);
        hd_json_number(j, "instruction", b->steps[i].instruction);
        write_position(j, "position", &k->instructions[b->steps[i].instruction].position);
        hd_json_end(j);
    }
    hd_json_end(j);
    hd_json_end(j);
}

static void write_occupancy(hd_json *j, const hd_report_kernel *k)
{
    const hd_report_occupancy *o = &k->occupancy;
    hd_json_object(j, "occupancy");
    hd_json_text(j, "arch", k->arch);
    hd_json_number(j, "block", k->use.threads);
    hd_json_text(j, "block_from", k->block_from);
    hd_json_number(j, "registers", k->use.registers);
    hd_json_text(j, "registers_from", k->registers_from);
    hd_json_number(j, "shared_bytes", k->use.shared_bytes);
    hd_json_bool(j, "dynamic_shared", k->uses_dynamic_shared);
    hd_json_bool(j, "dynamic_shared_known", !k->dynamic_shared_unknown);
    hd_json_number(j, "cluster_ctas", k->cluster_ctas);
    hd_json_number(j, "ctas", o->ctas);
    hd_json_number(j, "warps", o->warps);
    hd_json_real(j, "fraction", o->fraction);
    hd_json_text(j, "limiter", o->limiter);
    hd_json_text(j, "impossible", o->impossible);
    hd_json_compact_object(j, "ctas_by");
    for (uint32_t l = 0; l < k->limit_count; l++)
        write_if(j, k->limits[l].name, k->limits[l].ctas, k->limits[l].ctas != UINT32_MAX);
    hd_json_end(j);
    write_step(j, "next_step_fewer_registers", &k->gain);
    write_step(j, "next_step_more_registers", &k->loss);
    write_if(j, "fitting_block", k->fitting_block, k->fitting_block != 0);
    write_if(j, "fitting_registers", k->fitting_registers, k->fitting_registers != 0);
    write_budget(j, k);
    write_sweep(j, k);
    hd_json_end(j);
}

/* ---- the point of maximum pressure ------------------------------------------------------------------------------- */

static void write_packed(hd_json *j, const hd_report_kernel *k, const hd_report_register *r)
{
    hd_json_text(j, "packed_with", r->packed == HD_REPORT_NONE ? NULL : k->registers[r->packed].name);
}

static void write_value(hd_json *j, const hd_report_kernel *k, const hd_report_value *v)
{
    const hd_report_register *r = &k->registers[v->reg];
    hd_json_compact_object(j, NULL);
    hd_json_text(j, "register", r->name);
    hd_json_number(j, "words", v->words);
    write_packed(j, k, r);
    write_index(j, "definition", v->definition);
    write_index(j, "last_use", v->last_use);
    hd_json_number(j, "uses", v->uses);
    hd_json_number(j, "loop_depth", v->loop_depth);
    hd_json_number(j, "uses_in_loop", v->uses_in_loop);
    hd_json_bool(j, "live_through", v->live_through);
    hd_json_text(j, "remedy", v->remedy);
    hd_json_text(j, "source", v->source);
    if (v->definition != HD_REPORT_NONE) {
        hd_json_text(j, "text", k->instructions[v->definition].text);
        write_position(j, "position", &k->instructions[v->definition].position);
    }
    hd_json_end(j);
}

static void write_pressure_point(hd_json *j, const hd_report_kernel *k)
{
    if (k->max_pressure_at == HD_REPORT_NONE) {
        hd_json_null(j, "max_pressure_point");
        return;
    }
    const hd_report_instruction *at = &k->instructions[k->max_pressure_at];
    hd_json_object(j, "max_pressure_point");
    hd_json_number(j, "instruction", k->max_pressure_at);
    hd_json_text(j, "text", at->text);
    hd_json_number(j, "loop_depth", at->loop_depth);
    write_position(j, "position", &at->position);
    hd_json_array(j, "values");
    for (uint32_t i = 0; i < k->value_count; i++)
        write_value(j, k, &k->values[i]);
    hd_json_end(j);
    hd_json_end(j);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static void write_techniques(hd_json *j, const hd_report_kernel *k)
{
    if (!k->technique_count) {
        hd_json_null(j, "techniques");
        return;
    }
    hd_json_object(j, "techniques");
    for (uint32_t t = 0; t < k->technique_count; t++) {
        const hd_report_technique *technique = &k->techniques[t];
        hd_json_compact_object(j, technique->name);
        hd_json_text(j, "not_applied", technique->refusal);
        hd_json_text(j, "registers", technique->allocated ? "allocated" : "virtual");
        hd_json_bool(j, "rewrites", technique->rewrites);
        hd_json_object(j, "statistics");
        for (uint32_t i = 0; i < technique->statistic_count; i++)
            hd_json_number(j, technique->statistics[i].name, technique->statistics[i].value);
        hd_json_end(j);
        hd_json_end(j);
    }
    hd_json_end(j);
}

static void write_findings(hd_json *j, const hd_report_kernel *k)
{
    hd_json_array(j, "findings");
    for (uint32_t i = 0; i < k->finding_count; i++) {
        const hd_report_finding *f = &k->findings[i];
        hd_json_compact_object(j, NULL);
        hd_json_text(j, "rule", f->rule);
        hd_json_text(j, "severity", f->is_error ? "error" : "warning");
        write_index(j, "instruction", f->instruction);
        write_position(j, "position", &f->position);
        hd_json_text(j, "message", f->message);
        hd_json_end(j);
    }
    hd_json_end(j);
    hd_json_array(j, "failed_gates");
    for (uint32_t i = 0; i < k->failed_gate_count; i++)
        hd_json_text(j, NULL, k->failed_gates[i]);
    hd_json_end(j);
}

static void write_traffic(hd_json *j, const hd_report_kernel *k)
{
    hd_json_compact_object(j, "bank_conflicts");
    bool known = !k->left_virtual && !(k->is_machine && k->machine.banks_unknown);
    hd_json_number(j, "banks", k->banks);
    write_if(j, "count", k->bank_conflicts, known);
    write_if(j, "weighted", k->bank_conflicts_weighted, known);
    hd_json_end(j);
    hd_json_compact_object(j, "loads");
    hd_json_number(j, "count", k->loads);
    hd_json_number(j, "single_use", k->single_use_loads);
    hd_json_end(j);
    hd_json_compact_object(j, "reuse_distances");
    for (uint32_t i = 0; i < HD_REUSE_BUCKETS; i++)
        hd_json_number(j, hd_report_reuse_names[i], k->reuse[i]);
    hd_json_end(j);
}

static void write_lines(hd_json *j, const hd_report_kernel *k)
{
    hd_json_compact_array(j, "block_max_pressure");
    for (uint32_t i = 0; i < k->block_count; i++)
        hd_json_number(j, NULL, k->block_pressure[i]);
    hd_json_end(j);
    hd_json_array(j, "source_lines");
    for (uint32_t i = 0; i < k->line_count; i++) {
        const hd_report_line *l = &k->lines[i];
        hd_json_compact_object(j, NULL);
        hd_json_text(j, "file", l->file);
        hd_json_number(j, "line", l->line);
        hd_json_number(j, "instructions", l->instructions);
        hd_json_number(j, "max_pressure", l->max_pressure);
        hd_json_bool(j, "inlined", l->inlined);
        hd_json_end(j);
    }
    hd_json_end(j);
}

/* ---- the listing ------------------------------------------------------------------------------------------------- */

static void write_instruction(hd_json *j, const hd_report_kernel *k, uint32_t i, uint32_t *touch)
{
    const hd_report_instruction *row = &k->instructions[i];
    hd_json_compact_object(j, NULL);
    hd_json_text(j, "text", row->text);
    hd_json_number(j, "live", row->live);
    hd_json_number(j, "predicates", row->predicates);
    hd_json_number(j, "block", row->block);
    hd_json_number(j, "loop_depth", row->loop_depth);
    hd_json_bool(j, "reachable", row->reachable);
    hd_json_bool(j, "single_use_load", row->single_use_load);
    write_position(j, "position", &row->position);
    hd_json_object(j, "accesses"); /* by register: ^ v x */
    for (; *touch < k->touch_count && k->touches[*touch].instruction == i; ++*touch) {
        static const char *const symbols[] = {"", "^", "v", "x"};
        hd_json_text(j, k->registers[k->touches[*touch].reg].name, symbols[k->touches[*touch].access & 3]);
    }
    hd_json_end(j);
    hd_json_end(j);
}

static void write_listing(hd_json *j, const hd_report_kernel *k)
{
    uint32_t touch = 0;
    hd_json_array(j, "listing");
    for (uint32_t i = 0; i < k->instruction_count; i++)
        write_instruction(j, k, i, &touch);
    hd_json_end(j);
    hd_json_array(j, "live_ranges");
    for (uint32_t i = 0; i < k->range_count; i++) {
        hd_json_compact_object(j, NULL);
        const hd_report_register *r = &k->registers[k->ranges[i].reg];
        hd_json_text(j, "register", r->name);
        hd_json_number(j, "words", r->words);
        write_packed(j, k, r);
        hd_json_number(j, "first", k->ranges[i].first);
        hd_json_number(j, "last", k->ranges[i].last);
        hd_json_end(j);
    }
    hd_json_end(j);
    hd_json_compact_array(j, "removed_lines");
    for (uint32_t i = 0; i < k->removed_line_count; i++)
        hd_json_number(j, NULL, k->removed_lines[i]);
    hd_json_end(j);
}

/* null without machine code beside the PTX */
static void write_pair(hd_json *j, const hd_report_module *report, const hd_report_kernel *k)
{
    if (!k->pair) {
        hd_json_null(j, "assembled");
        return;
    }
    const hd_report_kernel *machine = k->pair->machine;
    hd_json_object(j, "assembled");
    hd_json_text(j, "path", report->assembled->path);
    hd_json_text(j, "arch", machine->arch);
    hd_json_number(j, "instructions", machine->instruction_count);
    hd_json_number(j, "max_pressure", machine->max_pressure);
    write_machine(j, machine);
    hd_json_array(j, "source_lines");
    for (uint32_t i = 0; i < k->pair->line_count; i++) {
        const hd_report_pair_line *l = &k->pair->lines[i];
        hd_json_compact_object(j, NULL);
        hd_json_text(j, "file", l->file);
        hd_json_number(j, "line", l->line);
        hd_json_number(j, "ptx_instructions", l->ptx_instructions);
        hd_json_number(j, "machine_instructions", l->machine_instructions);
        hd_json_number(j, "ptx_max_pressure", l->ptx_pressure);
        hd_json_number(j, "machine_max_pressure", l->machine_pressure);
        hd_json_end(j);
    }
    hd_json_end(j);
    hd_json_end(j);
}

static void write_memory(hd_json *j, const hd_report_kernel *k)
{
    bool known = !k->is_machine || !k->machine.info_unknown;
    write_if(j, "shared_bytes", k->static_shared_bytes, known);
    write_if(j, "local_bytes", k->local_bytes, known);
    write_if(j, "constant_bytes", k->constant_bytes, !k->is_machine);
    write_if(j, "parameter_bytes", k->parameter_bytes, known);
    write_if(j, "barriers", k->barriers, known);
}

static void write_kernel(hd_json *j, const hd_report_module *report, const hd_report_kernel *k, bool listing)
{
    hd_json_object(j, NULL);
    hd_json_text(j, "name", k->name);
    hd_json_text(j, "demangled", k->demangled);
    hd_json_text(j, "path", report->path);
    hd_json_bool(j, "entry", k->is_entry);
    write_position(j, "position", &k->position);
    hd_json_number(j, "instructions", k->instruction_count);
    hd_json_number(j, "input_instructions", k->input_instructions);
    hd_json_number(j, "blocks", k->block_count);
    hd_json_number(j, "loops", k->loop_count);
    write_registers(j, k);
    write_spills(j, k);
    write_bounds(j, k);
    write_ptxas(j, k);
    write_trials(j, k);
    write_machine(j, k);
    write_pair(j, report, k);
    write_memory(j, k);
    write_occupancy(j, k);
    write_pressure_point(j, k);
    write_traffic(j, k);
    write_techniques(j, k);
    write_findings(j, k);
    write_lines(j, k);
    if (listing)
        write_listing(j, k);
    hd_json_end(j);
}

static void write_modules(hd_json *j, const hd_reports *reports)
{
    hd_json_array(j, "modules");
    for (uint32_t m = 0; m < reports->count; m++) {
        const hd_report_module *report = reports->items[m];
        hd_json_compact_object(j, NULL);
        hd_json_text(j, "path", report->path);
        hd_json_text(j, "compiled", report->compiled);
        hd_json_text(j, "arch", report->arch);
        hd_json_bool(j, "machine_code", report->is_machine);
        hd_json_text(j, "ptxas_version", report->ptxas_version);
        hd_json_text(j, "ptxas_unknown", report->ptxas_unknown);
        hd_json_end(j);
    }
    hd_json_end(j);
}

void hd_emit_report_json(hd_writer *writer, const hd_reports *reports, const hd_report_style *style)
{
    hd_json j = {.out = writer};
    const hd_report_module *only = reports->count == 1 ? reports->items[0] : NULL; /* else they differ */
    hd_json_object(&j, NULL);
    hd_json_text(&j, "heddle", HD_VERSION);
    hd_json_number(&j, "schema", 2);
    hd_json_text(&j, "path", only ? only->path : NULL);
    hd_json_text(&j, "compiled", only ? only->compiled : NULL);
    hd_json_text(&j, "arch", only ? only->arch : NULL);
    hd_json_number(&j, "block", reports->items[0]->block);
    hd_json_bool(&j, "simplified", reports->items[0]->simplified);
    hd_json_text(&j, "ptxas_version", only ? only->ptxas_version : NULL);
    hd_json_text(&j, "ptxas_unknown", only ? only->ptxas_unknown : NULL);
    write_modules(&j, reports);
    hd_json_array(&j, "kernels");
    for (uint32_t m = 0; m < reports->count; m++)
        for (uint32_t i = 0; i < reports->items[m]->kernel_count; i++)
            write_kernel(&j, reports->items[m], &reports->items[m]->kernels[i], style->listing);
    hd_json_end(&j);
    hd_json_end(&j);
}
