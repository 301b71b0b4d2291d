/* Occupancy in the report for the terminal: what limits it, what would change it, and what ptxas makes of other
 * register caps. */
#include "emitters/report/quantity.h"
#include "emitters/report/report_text_print.h"

static const char *line_name(const hd_report_position *p) { return p->in_listing ? "line" : "PTX line"; }

void text_position(hd_writer *w, const hd_report_position *position)
{
    if (position->file)
        hd_write_format(w, "%s:%u", position->file, position->line);
    if (position->inlined_file)
        hd_write_format(w, ", inlined at %s:%u", position->inlined_file, position->inlined_line);
    if (position->ptx_line)
        hd_write_format(w, "%s%s%s %u", position->file ? ", " : "",
                        position->file && position->in_listing ? "listing " : "", line_name(position),
                        position->ptx_line);
}

/* "next occupancy step (-16 registers, to 48): 37.5 %, 3 thread blocks" */
static void write_step(text_printer *p, const hd_report_step *step, int distance, const char *colour)
{
    text_more(p);
    hd_write_format(p->w, "next occupancy step (%+d register%s, to %u): ", distance,
                    distance == 1 || distance == -1 ? "" : "s", step->registers);
    if (step->then.ctas)
        hd_write_format(p->w, "%s%.1f %%%s, %u thread block%s\n", colour, 100 * step->then.fraction, p->s->off,
                        step->then.ctas, step->then.ctas == 1 ? "" : "s");
    else
        hd_write_format(p->w, "%sno thread block%s: %s\n", colour, p->s->off, step->then.impossible);
}

/* What would make a thread block fit. */
static void write_what_fits(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    text_more(p);
    if (k->fitting_block)
        hd_write_format(p->w, "the largest block that fits has %u threads\n", k->fitting_block);
    else
        hd_write_string(p->w, "no block size fits\n");
    if (k->fitting_registers) {
        text_more(p);
        hd_write_format(p->w, "%u threads fit with at most %u registers, %u fewer\n", k->use.threads,
                        k->fitting_registers, k->use.registers - k->fitting_registers);
    }
}

/* How setmaxnreg shares a thread block's registers among its warp groups. */
static void write_budget(text_printer *p)
{
    const hd_report_budget *b = &p->k->budget;
    if (!b->step_count)
        return;
    text_more(p);
    hd_write_string(p->w, "setmaxnreg: ");
    for (uint32_t i = 0; i < b->step_count; i++) {
        const hd_report_budget_step *s = &b->steps[i];
        hd_write_format(p->w, "%s%s %u at ", i ? ", " : "", s->releases ? "down to" : "up to", s->registers);
        text_position(p->w, &p->k->instructions[s->instruction].position);
    }
    hd_write_char(p->w, '\n');
    text_more(p);
    if (b->ignored)
        hd_write_string(p->w, "ptxas ignores them: a warp group keeps the registers that it starts with\n");
    else if (!b->initial)
        hd_write_string(p->w, "what a warp group starts with is not known\n");
    else
        hd_write_format(
            p->w,
            "%u warp group%s of 128 threads start%s with %u registers per thread, %u together; at most %u can "
            "have %u while all others have %u\n",
            b->groups, b->groups == 1 ? "" : "s", b->groups == 1 ? "s" : "", b->initial, b->groups * b->initial,
            b->granted, b->most, b->least);
}

/* What ptxas made of other register caps, with what it makes of the kernel as it is. */
void text_trials(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    if (!k->trial_count)
        return;
    text_label(p, "trials");
    hd_write_format(p->w, "%s%-20s %5s %9s %14s %14s %8s %10s%s\n", p->s->dim, "given to ptxas", "cap", "registers",
                    "spills stored", "spills loaded", "stack", "occupancy", p->s->off);
    for (uint32_t i = 0; i <= k->trial_count; i++) {
        const hd_report_trial *t = i ? &k->trials[i - 1] : NULL;
        const hd_report_ptxas *by = t ? &t->ptxas : &k->ptxas;
        text_more(p);
        hd_write_format(p->w, "%-20s %5u ", t ? t->given : "the code as it is", t ? t->cap : k->cap.registers);
        if (!by->known)
            hd_write_format(p->w, "%s\n", by->unknown);
        else
            hd_write_format(p->w, "%9u %14llu %14llu %8llu %8.1f %%\n", by->registers,
                            (unsigned long long)by->spill_stores, (unsigned long long)by->spill_loads,
                            (unsigned long long)by->stack_bytes, 100 * (t ? &t->occupancy : &k->occupancy)->fraction);
    }
}

void text_occupancy(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    const hd_report_occupancy *o = &k->occupancy;
    text_label(p, "occupancy");
    if (!o->ctas) {
        hd_write_format(p->w, "%snone on %s%s: %s\n", p->s->bad, k->arch, p->s->off, o->impossible);
        write_what_fits(p);
    } else {
        hd_write_format(p->w, "%s%.1f %% on %s: %u thread block%s of %u threads%s, %u warps per SM; limited by %s\n",
                        hd_report_is_bound(k) ? "at most " : "", 100 * o->fraction, k->arch, o->ctas,
                        o->ctas == 1 ? "" : "s", k->use.threads, text_is_assumed(k) ? " (assumed)" : "", o->warps,
                        o->limiter);
    }
    if (k->is_machine) {
        text_machine_bound(p);
    } else if (k->dynamic_shared_unknown) {
        text_more(p);
        hd_write_string(
            p->w, "dynamic shared memory is used, its size is unknown and counted as 0: give it with --shared=BYTES\n");
    }
    if (text_is_assumed(k)) {
        text_more(p);
        hd_write_string(p->w, "the block size is an assumption: give the one that launches use with --block=N\n");
    }
    if (k->cluster_ctas > 1) {
        text_more(p);
        hd_write_format(p->w, "the kernel asks for clusters of %u thread blocks; occupancy is counted without them\n",
                        k->cluster_ctas);
    }
    write_budget(p);
    if (k->gain.exists && o->ctas && !hd_report_has_spills(k))
        write_step(p, &k->gain, -(int)(k->use.registers - k->gain.registers), p->s->good);
    if (k->loss.exists && o->ctas)
        write_step(p, &k->loss, (int)(k->loss.registers - k->use.registers), p->s->warn);
}
