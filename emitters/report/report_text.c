/* The report for the terminal: a table if there are several kernels, then each kernel, the most useful facts first. For
 * many kernels only the table is shown; with `listing`, the instructions follow. */
#include "base/path.h"
#include "base/shown.h"
#include "emitters/report/quantity.h"
#include "emitters/report/report_text_print.h"

#include <stdio.h>

enum { DETAILS_AT_MOST = 8, VALUES_AT_MOST = 12, FINDINGS_AT_MOST = 3, NAME_WIDTH = 44, LIST_COLUMNS = 120 };

static const text_style plain = {"", "", "", "", "", ""};
static const text_style coloured = {"\33[1m", "\33[2m", "\33[1;32m", "\33[1;35m", "\33[1;31m", "\33[0m"};

static const char *line_name(const hd_report_position *p) { return p->in_listing ? "line" : "PTX line"; }

/* The same for tables, short: without the file's folder. */
static const char *short_position(const hd_report_position *position, char *buffer, size_t size)
{
    if (position->file)
        snprintf(buffer, size, "%s:%u", hd_path_name(position->file), position->line);
    else if (position->ptx_line)
        snprintf(buffer, size, "%s %u", line_name(position), position->ptx_line);
    else
        snprintf(buffer, size, "-");
    return buffer;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* The name shown in a table for "void space::kernel<4>(int*)": kernel<4>. Texts between < > are skipped as a whole. */
static const char *table_name(const char *name, int *length)
{
    static const char anonymous[] = "(anonymous namespace)";
    const char *begin = name, *p = name;
    for (uint32_t depth = 0; *p; p++) {
        if (*p == '(' && strncmp(p, anonymous, sizeof anonymous - 1) == 0)
            p += sizeof anonymous - 2;
        else if (*p == '(' && !depth)
            break;
        else if (*p == '<' || *p == '(')
            depth++;
        else if ((*p == '>' || *p == ')') && depth)
            depth--;
        else if (!depth && (*p == ' ' || *p == ':'))
            begin = p + 1;
    }
    *length = (int)(p - begin);
    return *length ? begin : name;
}

/* After a count of registers: an estimate, or a lower bound. */
static const char *register_mark(const hd_report_kernel *k)
{
    if (k->is_machine)
        return k->machine.registers_unknown ? "+" : " ";
    return k->ptxas.known ? " " : "~";
}

static void write_table_row(text_printer *p, const hd_report_kernel *k)
{
    int length;
    const char *name = table_name(k->demangled, &length);
    bool bad = (k->is_entry && !k->occupancy.ctas) || k->failed_gate_count;
    double spilled;
    char allocated[16], estimate[16];
    bool bound = hd_report_is_bound(k);
    snprintf(allocated, sizeof allocated, k->allocated_unknown ? "-" : "%u", k->allocated);
    snprintf(estimate, sizeof estimate, k->is_machine ? "-" : "%u-%u", k->estimate_low, k->estimate_high);
    hd_write_format(p->w, "%s%-*.*s%s %9u%s %7s %6u %6s ", bad ? p->s->bad : "", NAME_WIDTH,
                    length < NAME_WIDTH ? length : NAME_WIDTH, name, length > NAME_WIDTH ? "+" : " ", k->use.registers,
                    register_mark(k), estimate, k->max_pressure, allocated);
    if (k->is_entry)
        hd_write_format(p->w, "%s%*.1f%%  %-10s %5u%c", bound ? "<=" : "", bound ? 6 : 8, 100 * k->occupancy.fraction,
                        k->occupancy.limiter, k->use.threads, text_is_assumed(k) ? '?' : ' ');
    else
        hd_write_format(p->w, "%9s  %-10s %5s ", "-", "-", "-");
    if (hd_quantity_of(k, HD_QUANTITY_SPILL_BYTES, &spilled))
        hd_write_format(p->w, "%7.0f%s ", spilled, k->ptxas.known || k->is_machine ? " " : "~");
    else
        hd_write_format(p->w, "%8s ", "?");
    hd_write_format(p->w, "%8u %8u%s\n", k->instruction_count, k->position.ptx_line, bad ? p->s->off : "");
}

/* Whether the kernel is for another GPU than the one before; those of a listing may differ. */
static bool is_of_another(const hd_report_module *report, uint32_t i)
{
    return i && strcmp(report->kernels[i].arch, report->kernels[i - 1].arch) != 0;
}

/* Whether no kernel before is for this one's GPU. */
static bool is_first_of_its(const hd_report_module *report, uint32_t i)
{
    uint32_t k = 0;
    while (strcmp(report->kernels[k].arch, report->kernels[i].arch) != 0)
        k++;
    return k == i;
}

static bool has_several(const hd_report_module *report)
{
    for (uint32_t i = 0; i < report->kernel_count; i++)
        if (is_of_another(report, i))
            return true;
    return false;
}

static void write_table_part(text_printer *p, bool entries, const char *title)
{
    const char *arch = has_several(p->report) ? "" : NULL;
    for (uint32_t i = 0; i < p->report->kernel_count; i++) {
        if (p->report->kernels[i].is_entry != entries)
            continue;
        if (title)
            hd_write_format(p->w, "%s%-*s  %9s  %7s %6s %6s %9s  %-10s %5s %8s %8s %8s%s\n", p->s->strong, NAME_WIDTH,
                            title, "registers", "estim.", "press.", "alloc.", "occupancy", "limited by", "block",
                            "spilled", "instr.", p->report->is_machine ? "line" : "PTX line", p->s->off);
        title = NULL;
        if (arch && strcmp(arch, p->report->kernels[i].arch) != 0)
            hd_write_format(p->w, "%s%s:%s\n", p->s->dim, arch = p->report->kernels[i].arch, p->s->off);
        write_table_row(p, &p->report->kernels[i]);
    }
    if (!title)
        hd_write_char(p->w, '\n');
}

/* Kernels, then functions, each in text order. */
static void write_table(text_printer *p)
{
    write_table_part(p, true, "kernel");
    write_table_part(p, false, "function");
}

/* ---- one kernel -------------------------------------------------------------------------------------------------- */

static void write_title(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    hd_write_format(p->w, "%s%s%s%s\n", p->s->strong, k->demangled, p->s->off, k->is_entry ? "" : " (a function)");
    if (strcmp(k->name, k->demangled) != 0)
        hd_write_format(p->w, "  %s%s%s\n", p->s->dim, k->name, p->s->off);
    hd_write_string(p->w, "  ");
    text_position(p->w, &k->position);
    hd_write_char(p->w, '\n');
    for (uint32_t i = 0; i < k->failed_gate_count; i++)
        hd_write_format(p->w, "  %sgate not met: %s%s\n", p->s->bad, k->failed_gates[i], p->s->off);
}

static void write_spills(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    const hd_report_spills *own = &k->predicted;
    bool by_ptxas = k->ptxas.known && k->ptxas.spill_stores + k->ptxas.spill_loads, by_us = own->stores + own->loads;
    if (by_ptxas) {
        text_more(p);
        hd_write_format(p->w, "%sptxas spills: %llu bytes stored, %llu loaded%s\n", p->s->warn,
                        (unsigned long long)k->ptxas.spill_stores, (unsigned long long)k->ptxas.spill_loads, p->s->off);
    }
    if (own->unknown) {
        text_more(p);
        hd_write_format(p->w, "spills are not predicted: %s\n", own->unknown);
    } else if (by_us || by_ptxas) {
        text_more(p);
        hd_write_format(p->w, "%spredicted spills: %llu bytes stored, %llu loaded%s\n",
                        k->ptxas.known ? "" : p->s->warn, (unsigned long long)own->stores,
                        (unsigned long long)own->loads, p->s->off);
    }
}

/* How registers could be freed if the estimate is below the words live into a loop. */
static void write_loop_live(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    const hd_report_loop *l = &k->loop;
    const struct {
        uint32_t words;
        const char *what;
    } parts[] = {{l->constant_offsets, "a constant offset from others"},
                 {l->rematerialized, "rematerialized"},
                 {l->uniform, "uniform"}};
    if (k->estimate >= l->words)
        return;
    text_more(p);
    hd_write_format(p->w, "%u registers are live into the loop at ", l->words);
    text_position(p->w, &l->position);
    for (uint32_t i = 0, some = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].words)
            hd_write_format(p->w, "%s%u %s", some++ ? ", " : ": ", parts[i].words, parts[i].what);
    if (l->words - l->constant_offsets - l->rematerialized - l->uniform >= k->estimate)
        hd_write_format(p->w, "; of the rest, %u values are rematerialized and others spilled",
                        k->predicted.rematerialized);
    hd_write_char(p->w, '\n');
}

static void write_registers(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    text_label(p, "registers");
    if (k->ptxas.known)
        hd_write_format(p->w, "%u by ptxas, ", k->ptxas.registers);
    hd_write_format(p->w, "%u to %u estimated for ptxas (likely %u; held %u %% of kernels measured),\n",
                    k->estimate_low, k->estimate_high, k->estimate, k->estimate_coverage_percent);
    text_more(p);
    hd_write_format(p->w, "maximum register pressure %u, ", k->max_pressure);
    if (k->allocated_unknown)
        hd_write_format(p->w, "not allocated by heddle: %s\n", k->allocated_unknown);
    else
        hd_write_format(p->w, "%u in heddle's own allocation\n", k->allocated);
    if (k->cap.binds) {
        text_more(p);
        hd_write_format(p->w, "at most %u: %s\n", k->cap.registers, k->cap.reason);
    }
    if (k->cap.ignored) {
        text_more(p);
        hd_write_format(p->w, "%s\n", k->cap.ignored);
    }
    write_loop_live(p);
    write_spills(p);
}

static void write_value(text_printer *p, const hd_report_value *v)
{
    const hd_report_kernel *k = p->k;
    char from[40], to[40];
    const hd_report_position none = {0};
    const char *definition = short_position(
        v->definition == HD_REPORT_NONE ? &none : &k->instructions[v->definition].position, from, sizeof from);
    const char *last =
        short_position(v->last_use == HD_REPORT_NONE ? &none : &k->instructions[v->last_use].position, to, sizeof to);
    text_more(p);
    hd_write_format(p->w, "%-10s %5u  %-24s %-24s %5u %7u  ", k->registers[v->reg].name, v->words, definition, last,
                    v->uses, v->uses_in_loop);
    if (v->live_through)
        hd_write_format(p->w, "%slive-through%s%s%s", p->s->warn, v->remedy ? ", " : "", v->remedy ? v->remedy : "",
                        p->s->off);
    if (k->registers[v->reg].packed != HD_REPORT_NONE)
        hd_write_format(p->w, "%spacked with %s", v->live_through ? ", " : "",
                        k->registers[k->registers[v->reg].packed].name);
    if (v->source)
        hd_write_format(p->w, "%s%s", v->live_through || k->registers[v->reg].packed != HD_REPORT_NONE ? "; " : "",
                        v->source);
    hd_write_char(p->w, '\n');
}

static void write_values(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    uint32_t shown = 0, left = 0;
    text_more(p);
    hd_write_format(p->w, "%s%-10s %5s  %-24s %-24s %5s %7s%s\n", p->s->dim, "value", "regs", "defined", "last use",
                    "uses", "in loop", p->s->off);
    for (uint32_t i = 0; i < k->value_count; i++) {
        if (!k->registers[k->values[i].reg].words && !p->listing)
            continue;
        if (shown == VALUES_AT_MOST && !p->listing) {
            left++;
            continue;
        }
        write_value(p, &k->values[i]);
        shown++;
    }
    if (left) {
        text_more(p);
        hd_write_format(p->w, "and %u more (--listing shows all)\n", left);
    }
}

static void write_pressure(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    if (k->max_pressure_at == HD_REPORT_NONE)
        return;
    const hd_report_instruction *at = &k->instructions[k->max_pressure_at];
    text_label(p, "pressure");
    hd_write_format(p->w, "%u 32-bit registers live at ", k->max_pressure);
    text_position(p->w, &at->position);
    if (at->loop_depth)
        hd_write_format(p->w, ", in a loop of depth %u", at->loop_depth);
    hd_write_char(p->w, '\n');
    text_more(p);
    hd_write_format(p->w, "%s%s%s\n", p->s->dim, at->text, p->s->off);
    if (k->value_count)
        write_values(p);
}

/* Some of each kind; other formats have all. */
static void write_findings(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    char position[40];
    for (uint32_t i = 0, of_kind = 0; i < k->finding_count; i++) {
        const hd_report_finding *f = &k->findings[i];
        of_kind = i && strcmp(f->rule, f[-1].rule) == 0 ? of_kind + 1 : 0;
        if (of_kind >= FINDINGS_AT_MOST && !p->listing)
            continue;
        if (i)
            text_more(p);
        else
            text_label(p, "findings");
        hd_write_format(p->w, "%s: %s [%s]\n", short_position(&f->position, position, sizeof position), f->message,
                        f->rule);
    }
}

static void write_found(hd_writer *w, const hd_report_technique *technique)
{
    const char *separator = "";
    for (uint32_t i = 0; i < technique->statistic_count; i++) {
        if (!technique->statistics[i].value)
            continue;
        hd_write_format(w, "%s%llu %s", separator, (unsigned long long)technique->statistics[i].value,
                        technique->statistics[i].name);
        separator = ", ";
    }
}

static void write_techniques(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    for (uint32_t t = 0; t < k->technique_count; t++) {
        const hd_report_technique *technique = &k->techniques[t];
        if (!t) {
            text_label(p, "techniques");
            hd_write_format(p->w, "in the code with %s registers\n", technique->allocated ? "allocated" : "virtual");
        }
        text_more(p);
        hd_write_format(p->w, "%s%s: ", technique->name, technique->rewrites ? " (rewrites the code)" : "");
        if (technique->refusal)
            hd_write_string(p->w, technique->refusal);
        else
            write_found(p->w, technique);
        hd_write_char(p->w, '\n');
    }
}

static void write_distances(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    uint64_t reuses = 0;
    for (uint32_t i = 0; i < HD_REUSE_BUCKETS; i++)
        reuses += k->reuse[i];
    if (!reuses)
        return;
    text_label(p, "reuse");
    hd_write_string(p->w, "read again after (instructions, %):");
    for (uint32_t i = 0; i < HD_REUSE_BUCKETS; i++)
        hd_write_format(p->w, "%s %s: %.0f", i ? "," : "",
                        i == HD_REUSE_BUCKETS - 1 ? "another block" : hd_report_reuse_names[i],
                        100.0 * (double)k->reuse[i] / (double)reuses);
    hd_write_char(p->w, '\n');
}

static void write_traffic(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    if (k->is_machine) {
        text_machine_code(p);
        write_distances(p);
        return;
    }
    text_label(p, "code");
    hd_write_format(p->w,
                    "%u instructions (%u in the input), %u blocks, %u loops; %llu loads, %llu of them single-use\n",
                    k->instruction_count, k->input_instructions, k->block_count, k->loop_count,
                    (unsigned long long)k->loads, (unsigned long long)k->single_use_loads);
    text_label(p, "memory");
    hd_write_format(p->w, "%llu bytes shared, %llu local, %llu constant, %llu of parameters; %u barriers\n",
                    (unsigned long long)k->static_shared_bytes, (unsigned long long)k->local_bytes,
                    (unsigned long long)k->constant_bytes, (unsigned long long)k->parameter_bytes, k->barriers);
    text_label(p, "banks");
    if (k->left_virtual)
        hd_write_string(p->w, "conflicts are not known: its registers are not allocated\n");
    else
        hd_write_format(
            p->w, "%llu instructions with two source operands in one of %u register banks (%llu weighted by loops)\n",
            (unsigned long long)k->bank_conflicts, k->banks, (unsigned long long)k->bank_conflicts_weighted);
    write_distances(p);
}

/* ---- the listing ------------------------------------------------------------------------------------------------- */

/* Each range gets the lowest free column, as in linear-scan allocation. */
typedef struct columns {
    uint32_t *range_of;         /* by column: the range there + 1, or 0 */
    uint32_t *column_of;        /* by register: of its range */
    uint32_t count, room, next; /* next: the next range that has not begun */
} columns;

static void begin_ranges(columns *c, const hd_report_kernel *k, uint32_t instruction)
{
    for (; c->next < k->range_count && k->ranges[c->next].first == instruction; c->next++) {
        uint32_t column = 0;
        while (column < c->count && c->range_of[column])
            column++;
        c->count += column == c->count;
        c->range_of[column] = c->next + 1;
        c->column_of[k->ranges[c->next].reg] = column;
    }
}

static void write_row(text_printer *p, columns *c, uint32_t i, uint32_t *touch)
{
    static const char symbols[] = {':', '^', 'v', 'x'};
    const hd_report_kernel *k = p->k;
    char row[LIST_COLUMNS + 1];
    begin_ranges(c, k, i);
    uint32_t width = hd_min(c->room, LIST_COLUMNS);
    for (uint32_t column = 0; column < width; column++)
        row[column] = column < c->count && c->range_of[column] ? ':' : ' ';
    for (; *touch < k->touch_count && k->touches[*touch].instruction == i; ++*touch)
        if (c->column_of[k->touches[*touch].reg] < width)
            row[c->column_of[k->touches[*touch].reg]] = symbols[k->touches[*touch].access & 3];
    for (uint32_t column = 0; column < c->count; column++)
        if (c->range_of[column] && k->ranges[c->range_of[column] - 1].last == i)
            c->range_of[column] = 0;
    while (width && row[width - 1] == ' ')
        width--;
    row[width] = '\0';
    const hd_report_instruction *at = &k->instructions[i];
    char position[40];
    hd_write_format(p->w, "%6u %6u %-20s %4u %2u |%-*s| %s\n", i, at->position.ptx_line,
                    short_position(&at->position, position, sizeof position), at->live, at->predicates,
                    (int)hd_min(c->room, LIST_COLUMNS), row, at->text);
}

/* The maximum number of ranges at one instruction. */
static uint32_t most_columns(const hd_report_kernel *k)
{
    uint32_t *change = hd_calloc((size_t)k->instruction_count + 2, sizeof *change), now = 0, most = 0;
    for (uint32_t i = 0; i < k->range_count; i++) {
        change[k->ranges[i].first]++;
        change[k->ranges[i].last + 1]--;
    }
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        now += change[i];
        most = hd_max(most, now);
    }
    free(change);
    return most;
}

static void write_listing(text_printer *p)
{
    const hd_report_kernel *k = p->k;
    columns c = {.room = most_columns(k)};
    uint32_t touch = 0;
    c.range_of = hd_calloc((size_t)c.room + 1, sizeof *c.range_of);
    c.column_of = hd_calloc((size_t)k->register_count + 1, sizeof *c.column_of);
    hd_write_format(
        p->w, "  %s^ written, v read, x both, : live; a column may hold several registers one after the other%s\n",
        p->s->dim, p->s->off);
    hd_write_format(p->w, "%s     #   %s source               live  p%s\n", p->s->strong,
                    p->report->is_machine ? "line" : " PTX", p->s->off);
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        if (!i || k->instructions[i].block != k->instructions[i - 1].block)
            hd_write_format(p->w, "b%u: maximum pressure %u\n", k->instructions[i].block,
                            k->block_pressure[k->instructions[i].block]);
        write_row(p, &c, i, &touch);
    }
    free(c.range_of);
    free(c.column_of);
}

static void write_kernel(text_printer *p)
{
    write_title(p);
    (p->k->is_machine ? text_machine_registers : write_registers)(p);
    if (p->k->is_entry)
        text_occupancy(p);
    text_trials(p);
    text_pair(p);
    write_pressure(p);
    write_findings(p);
    write_techniques(p);
    write_traffic(p);
    if (p->listing)
        write_listing(p);
    hd_write_char(p->w, '\n');
}

static void write_head(text_printer *p)
{
    const hd_report_module *report = p->report;
    uint32_t entries = 0, functions;
    for (uint32_t i = 0; i < report->kernel_count; i++)
        entries += report->kernels[i].is_entry;
    functions = report->kernel_count - entries;
    hd_write_format(p->w, "%s: %u kernel%s", report->path, entries, entries == 1 ? "" : "s");
    if (functions)
        hd_write_format(p->w, " and %u function%s", functions, functions == 1 ? "" : "s");
    hd_write_format(p->w, " on %s", report->arch);
    for (uint32_t i = 0; i < report->kernel_count; i++)
        if (is_of_another(report, i) && is_first_of_its(report, i))
            hd_write_format(p->w, ", %s", report->kernels[i].arch);
    hd_write_format(p->w, "%s",
                    report->is_machine   ? "; machine code: nothing is estimated"
                    : report->simplified ? ""
                                         : ", as written (not simplified)");
    if (report->ptxas_version)
        hd_write_format(p->w, "; ptxas %s", report->ptxas_version);
    else if (report->ptxas_unknown && !report->is_machine)
        hd_write_format(p->w, "; %s", report->ptxas_unknown);
    if (report->compiled)
        hd_write_format(p->w, "\nmade by: %s", report->compiled);
    hd_write_string(p->w, "\n\n");
}

static void write_module(hd_writer *writer, const hd_report_module *report, const hd_report_style *chosen)
{
    text_printer p = {
        .w = writer, .report = report, .s = chosen->colour ? &coloured : &plain, .listing = chosen->listing};
    uint32_t count = report->kernel_count;
    write_head(&p);
    if (count > 1)
        write_table(&p);
    if (count > DETAILS_AT_MOST && !chosen->listing) {
        hd_write_string(writer, "~ the likely number of an estimate. --kernel=GLOB shows the named kernels in full.\n");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        p.k = &report->kernels[i];
        write_kernel(&p);
    }
}

typedef struct text_job {
    const hd_reports *reports;
    bool listing;
} text_job;

static void write_modules(hd_writer *writer, const void *what, bool colour)
{
    const text_job *job = what;
    const hd_report_style style = {.colour = colour, .listing = job->listing};
    for (uint32_t m = 0; m < job->reports->count; m++)
        write_module(writer, job->reports->items[m], &style);
}

void hd_emit_report_text(hd_writer *writer, const hd_reports *reports, const hd_report_style *chosen)
{
    hd_write_shown_by(writer, write_modules, &(text_job){reports, chosen->listing}, chosen->colour);
}
