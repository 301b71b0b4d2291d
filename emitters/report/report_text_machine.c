/* The report for the terminal: what machine code has instead of estimates and allocations, and PTX with its
 * machine code. */
#include "emitters/report/report_text_print.h"

#include "base/path.h"

#include <stdio.h>

enum { LINES_AT_MOST = 12 };

/* "20 moves, 12 for convergence, 14 NOP"; then each subroutine. */
static void write_kinds(text_printer *p, const hd_report_machine *m)
{
    hd_write_format(p->w, "%u moves, %u for convergence, %u NOP\n", m->moves, m->convergence, m->padding);
    for (uint32_t i = 0; i < m->subroutine_count; i++) {
        const hd_report_subroutine *s = &m->subroutines[i];
        text_more(p);
        hd_write_format(p->w, "subroutine %s: %u instructions, %u calls\n", s->name ? s->name : "without a name",
                        s->instructions, s->calls);
    }
}

static void write_local_memory(text_printer *p)
{
    const hd_report_machine *m = &p->k->machine;
    text_label(p, "spills");
    if (!m->local_stores && !m->local_loads) {
        hd_write_string(p->w, "none: no access of local memory\n");
        return;
    }
    hd_write_format(p->w,
                    "%s%u stores of %llu bytes, %u loads of %llu bytes of local memory%s: spilled registers, or local "
                    "variables\n",
                    p->s->warn, m->local_stores, (unsigned long long)m->local_store_bytes, m->local_loads,
                    (unsigned long long)m->local_load_bytes, p->s->off);
}

/* Where the registers per thread are from. */
static const char *source_of(const hd_report_machine *m)
{
    if (strcmp(m->registers_from, "derived") == 0)
        return m->registers > m->named ? "derived: those named and the two that ptxas adds" : "derived: those named";
    return strcmp(m->registers_from, "option") == 0 ? "--registers" : "stated by the listing";
}

void text_machine_registers(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    const hd_report_machine *m = &k->machine;
    text_label(p, "registers");
    if (m->registers_unknown)
        hd_write_format(p->w, "%u named", m->named);
    else
        hd_write_format(p->w, "%u per thread (%s), %u named", m->registers, source_of(m), m->named);
    hd_write_format(p->w, "; maximum register pressure %u; %u predicates, %u uniform registers\n", k->max_pressure,
                    m->predicates, m->uniform_registers);
    if (m->registers_unknown) {
        text_more(p);
        hd_write_format(p->w, "per thread: not known; %s\n", m->registers_unknown);
    }
    write_local_memory(p);
}

void text_machine_bound(text_printer *p)
{
    if (!p->k->machine.bound)
        return;
    text_more(p);
    hd_write_format(p->w, "an upper bound: %s\n", p->k->machine.bound);
}

static void write_reuse_cache(text_printer *p)
{
    const hd_report_machine *m = &p->k->machine;
    if (!m->sources)
        return;
    text_label(p, "reuse cache");
    hd_write_format(p->w,
                    "%llu of %llu source operands have .reuse; it serves %llu (%.1f %%), a bypass window of 3 "
                    "instructions %llu (%.1f %%)\n",
                    (unsigned long long)m->reuse_flags, (unsigned long long)m->sources,
                    (unsigned long long)m->reuse_served, 100 * (double)m->reuse_served / (double)m->sources,
                    (unsigned long long)m->window_served, 100 * (double)m->window_served / (double)m->sources);
}

void text_machine_code(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    const hd_report_machine *m = &k->machine;
    text_label(p, "code");
    hd_write_format(p->w, "%u instructions", k->instruction_count);
    if (m->code_bytes)
        hd_write_format(p->w, " (%llu bytes)", (unsigned long long)m->code_bytes);
    hd_write_format(p->w, ", %u blocks, %u loops, %u calls; %llu loads, %llu of them single-use\n", k->block_count,
                    k->loop_count, m->calls, (unsigned long long)k->loads, (unsigned long long)k->single_use_loads);
    text_more(p);
    write_kinds(p, m);
    text_label(p, "memory");
    if (m->info_unknown)
        hd_write_format(p->w, "not known: %s\n", m->info_unknown);
    else
        hd_write_format(p->w, "%llu bytes static shared, %llu of stack, %llu of parameters; %u barriers\n",
                        (unsigned long long)k->static_shared_bytes, (unsigned long long)k->local_bytes,
                        (unsigned long long)k->parameter_bytes, k->barriers);
    text_label(p, "banks");
    if (m->banks_unknown) {
        hd_write_format(p->w, "conflicts are not known: %s\n", m->banks_unknown);
        return;
    }
    hd_write_format(p->w, "%llu instructions conflict in one of %u register banks (%llu weighted by loops)\n",
                    (unsigned long long)k->bank_conflicts, k->banks, (unsigned long long)k->bank_conflicts_weighted);
    write_reuse_cache(p);
}

/* ---- beside PTX -------------------------------------------------------------------------------------------------- */

static uint32_t difference(const hd_report_pair_line *l)
{
    return l->machine_instructions > l->ptx_instructions ? l->machine_instructions - l->ptx_instructions
                                                         : l->ptx_instructions - l->machine_instructions;
}

/* The least difference that is shown, so that at most so many lines are. */
static uint32_t least_shown(const text_printer *p, const hd_report_pair *pair)
{
    uint32_t least = 0, shown = pair->line_count;
    while (!p->listing && shown > LINES_AT_MOST) {
        least++;
        shown = 0;
        for (uint32_t i = 0; i < pair->line_count; i++)
            shown += difference(&pair->lines[i]) >= least;
    }
    return least;
}

static void write_pair_lines(text_printer *p)
{
    const hd_report_pair *pair = p->k->pair;
    uint32_t least = least_shown(p, pair), left = 0;
    char name[128];
    if (!pair->line_count)
        return;
    text_more(p);
    hd_write_format(p->w, "%s%-40s %5s %7s  %8s %7s%s\n", p->s->dim, "source line", "PTX", "machine", "pressure",
                    "machine", p->s->off);
    for (uint32_t i = 0; i < pair->line_count; i++) {
        const hd_report_pair_line *l = &pair->lines[i];
        if (difference(l) < least) {
            left++;
            continue;
        }
        text_more(p);
        snprintf(name, sizeof name, "%s:%u", hd_path_name(l->file), l->line);
        hd_write_format(p->w, "%-40s %5u %7u  %8u %7u\n", name, l->ptx_instructions, l->machine_instructions,
                        l->ptx_pressure, l->machine_pressure);
    }
    if (left) {
        text_more(p);
        hd_write_format(p->w, "and %u lines that differ by fewer than %u instructions (--listing shows all)\n", left,
                        least);
    }
}

void text_pair(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    if (!p->report->assembled)
        return;
    text_label(p, "assembled");
    if (!k->pair) {
        hd_write_format(p->w, "%s has no such function\n", p->report->assembled->path);
        return;
    }
    const hd_report_kernel *machine = k->pair->machine;
    const hd_report_machine *m = &machine->machine;
    if (m->registers_unknown)
        hd_write_format(p->w, "%u registers named", m->named);
    else
        hd_write_format(p->w, "%u registers (%s)", m->registers, source_of(m));
    hd_write_format(p->w, ", %u to %u estimated; maximum register pressure %u, %u in the PTX; %s on %s\n",
                    k->estimate_low, k->estimate_high, machine->max_pressure, k->max_pressure,
                    p->report->assembled->path, machine->arch);
    text_more(p);
    hd_write_format(p->w, "%u instructions of %u in the PTX; local memory: %u stores of %llu bytes, %u loads of %llu\n",
                    machine->instruction_count, k->instruction_count, m->local_stores,
                    (unsigned long long)m->local_store_bytes, m->local_loads, (unsigned long long)m->local_load_bytes);
    text_more(p);
    write_kinds(p, m);
    write_pair_lines(p);
}
