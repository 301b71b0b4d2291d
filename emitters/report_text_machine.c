/* The report for the terminal: what machine code has instead of estimates and allocations. */
#include "emitters/report_text_print.h"

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

void text_machine_registers(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    const hd_report_machine *m = &k->machine;
    text_label(p, "registers");
    if (m->registers_unknown)
        hd_write_format(p->w, "%u named", m->named);
    else
        hd_write_format(p->w, "%u per thread, %u named", m->registers, m->named);
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
    hd_write_format(p->w, "%llu of %llu source operands have .reuse; it serves %llu (%.1f %%)\n",
                    (unsigned long long)m->reuse_flags, (unsigned long long)m->sources,
                    (unsigned long long)m->reuse_served, 100 * (double)m->reuse_served / (double)m->sources);
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
    hd_write_format(p->w,
                    "%llu instructions with %s source operands in one of %u register banks (%llu weighted by "
                    "loops)\n",
                    (unsigned long long)k->bank_conflicts, m->conflict_sources == 3 ? "three" : "two", k->banks,
                    (unsigned long long)k->bank_conflicts_weighted);
    write_reuse_cache(p);
}
