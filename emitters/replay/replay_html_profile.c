/* The profile of a launch in the replay's page: see replay_page.h. The source and the code that was made of it, side by
 * side, with a bar for each share. Rows of one line have a class of its own, and rules of the page's style mark all of
 * them where the pointer is on one of them, or where a link has led to one. Linear. */
#include "emitters/replay/replay_page.h"

#include "base/array.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>

enum { CONTEXT = 2 /* lines of source around those with code */, STATES = 3 };

static bool is_shown(const hd_replay_kernel *k) { return k->profile && k->profile->total.all_cycles; }

void page_profile_rules(hd_writer *w, const hd_replay_report *report)
{
    for (uint32_t k = 0; k < report->kernel_count; k++)
        for (uint32_t l = 0; is_shown(&report->kernels[k]) && l < report->kernels[k].profile->line_count; l++)
            if (report->kernels[k].profile->lines[l].file)
                hd_write_format(w,
                                ".profile:has(.p%u-l%u:hover) .p%u-l%u, .profile:has(.p%u-l%u:target) .p%u-l%u "
                                "{ background-color: var(--linked); }\n",
                                k, l, k, l, k, l, k, l);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void write_share(hd_writer *w, const hd_replay_report *report, const hd_replay_counts *c, uint64_t all)
{
    double share = 100 * (double)c->all_cycles / (double)all;
    hd_write_format(w, "<td class=\"num heat\" style=\"--share: %.2f%%\" title=\"", share);
    uint32_t at = UINT32_MAX;
    while ((at = hd_replay_next_largest(c->cycles, report->state_count, at)) != UINT32_MAX)
        hd_write_format(w, "%s %.1f %%: %s&#10;", report->states[at].key,
                        100 * (double)c->cycles[at] / (double)c->all_cycles, report->states[at].text);
    hd_write_format(w, "\">%.1f %%</td>", share);
}

static void write_states(hd_writer *w, const hd_replay_report *report, const hd_replay_counts *c)
{
    uint32_t at = UINT32_MAX;
    hd_write_string(w, "<td class=\"states\">");
    for (uint32_t i = 0; i < STATES && (at = hd_replay_next_largest(c->cycles, report->state_count, at)) != UINT32_MAX;
         i++)
        hd_write_format(w, "%s%s %.0f %%", i ? ", " : "", report->states[at].key,
                        100 * (double)c->cycles[at] / (double)c->all_cycles);
    hd_write_string(w, "</td>");
}

static void write_count(hd_writer *w, uint64_t count)
{
    char text[32];
    hd_write_format(w, "<td class=\"num%s\">%s</td>", count ? "" : " none", hd_replay_grouped(text, count));
}

/* Means of a number of accesses. */
static void write_pair(hd_writer *w, uint64_t is, uint64_t least, uint64_t accesses)
{
    if (accesses)
        hd_write_format(w, "<td class=\"num%s\">%.1f/%.1f</td>", is > least ? " waste" : "",
                        (double)is / (double)accesses, (double)least / (double)accesses);
    else
        hd_write_string(w, "<td class=\"num none\">-</td>");
}

static void write_mean(hd_writer *w, uint64_t part, uint64_t whole, double scale, const char *format)
{
    char text[32] = "-";
    if (whole)
        snprintf(text, sizeof text, strcmp(format, "%") ? "%.1f" : "%.0f %%", scale * (double)part / (double)whole);
    hd_write_format(w, "<td class=\"num%s\">%s</td>", whole ? "" : " none", text);
}

/* ---- the source -------------------------------------------------------------------------------------------------- */

typedef struct sourced {   /* a line of a source with code */
    uint32_t number, line; /* line: of the profile */
} sourced;
typedef HD_ARRAY(sourced) sourced_lines;

static int by_number(const void *a, const void *b)
{
    const sourced *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static void write_text(hd_writer *w, const char *text)
{
    hd_write_string(w, "<td><code>");
    page_text(w, text ? text : "");
    hd_write_string(w, "</code></td>");
}

static void write_plain_line(hd_writer *w, const hd_replay_profile_source *s, uint32_t number)
{
    hd_write_format(w, "<tr><td></td><td></td><td class=\"num none\">%u</td>", number);
    write_text(w, s->lines[number - 1]);
    hd_write_string(w, "<td></td></tr>\n");
}

static void write_line(hd_writer *w, const hd_replay_report *report, uint32_t k, uint32_t line, uint32_t instruction)
{
    const hd_replay_profile *p = report->kernels[k].profile;
    const hd_replay_profile_line *l = &p->lines[line];
    hd_write_format(w, "<tr id=\"p%u-l%u\" class=\"p%u-l%u\">", k, line, k, line);
    write_share(w, report, &l->counts, p->total.all_cycles);
    write_count(w, l->counts.executions);
    hd_write_format(w, "<td class=\"num\"><a href=\"#p%u-i%u\">%u</a></td>", k, instruction, l->line);
    write_text(w, l->text);
    write_states(w, report, &l->counts);
    hd_write_string(w, "</tr>\n");
}

/* Lines with code, and those around them where the file is at hand. */
static void write_source(hd_writer *w, const hd_replay_report *report, uint32_t k, const hd_replay_profile_source *s,
                         const uint32_t *hottest)
{
    const hd_replay_profile *p = report->kernels[k].profile;
    sourced_lines lines = {0};
    for (uint32_t i = 0; i < p->line_count; i++)
        if (p->lines[i].file && !strcmp(p->lines[i].file, s->file))
            hd_array_push(&lines, (sourced){p->lines[i].line, i});
    if (lines.count)
        qsort(lines.items, lines.count, sizeof *lines.items, by_number);
    hd_write_string(w, "<tbody><tr><th scope=\"colgroup\" colspan=\"5\" class=\"launch\">");
    page_text(w, s->file);
    hd_write_string(w, s->lines ? "</th></tr>\n" : " (not at hand)</th></tr>\n");
    uint32_t next = 1; /* the first line that is not written */
    for (uint32_t i = 0; i < lines.count; i++) {
        uint32_t number = lines.items[i].number, first = number > CONTEXT ? number - CONTEXT : 1;
        uint32_t end = i + 1 < lines.count ? lines.items[i + 1].number : UINT32_MAX;
        if (first > next && s->lines)
            hd_write_string(w, "<tr class=\"gap\"><td colspan=\"5\">&#8943;</td></tr>\n");
        next = first > next ? first : next;
        for (; next < number && next <= s->line_count && s->lines; next++)
            write_plain_line(w, s, next);
        write_line(w, report, k, lines.items[i].line, hottest[lines.items[i].line]);
        for (next = number + 1; next <= number + CONTEXT && next < end && next <= s->line_count && s->lines; next++)
            write_plain_line(w, s, next);
    }
    hd_write_string(w, "</tbody>\n");
    hd_array_free(&lines);
}

static void write_sources(hd_writer *w, const hd_replay_report *report, uint32_t k)
{
    const hd_replay_profile *p = report->kernels[k].profile;
    hd_u32_array hottest = {0};
    for (uint32_t l = 0; l < p->line_count; l++)
        hd_array_push(&hottest, UINT32_MAX);
    for (uint32_t i = 0; i < p->instruction_count; i++) {
        uint32_t *best = &hottest.items[p->instructions[i].line];
        if (*best == UINT32_MAX || p->instructions[i].counts.all_cycles > p->instructions[*best].counts.all_cycles)
            *best = i;
    }
    page_table(w, "values numbers lines", "Source lines");
    hd_write_string(w, "<thead><tr>");
    page_column_head(w, "Share", "Of the cycles of all resident warps");
    page_column_head(w, "Executed", "Instructions, by warps");
    page_column_head(w, "Line", NULL);
    page_column_head(w, "Source", NULL);
    page_column_head(w, "Its warps", "What they do in its cycles: heddle-json(5)");
    hd_write_string(w, "</tr></thead>\n");
    for (uint32_t s = 0; s < p->source_count; s++)
        write_source(w, report, k, &p->sources[s], hottest.items);
    page_table_end(w);
    hd_array_free(&hottest);
}

/* ---- the code ---------------------------------------------------------------------------------------------------- */

static void write_place(hd_writer *w, const hd_replay_profile *p, uint32_t k, const hd_replay_profile_instruction *i)
{
    const hd_replay_profile_line *line = &p->lines[i->line];
    hd_write_string(w, "<td class=\"place\"");
    if (i->inlined_file) {
        hd_write_string(w, " title=\"inlined at ");
        page_text(w, i->inlined_file);
        hd_write_format(w, ":%u\"", i->inlined_line);
    }
    if (line->file) {
        hd_write_format(w, "><a href=\"#p%u-l%u\">", k, i->line);
        page_text(w, hd_path_name(line->file));
        hd_write_format(w, ":%u</a></td>", line->line);
    } else {
        hd_write_string(w, "></td>");
    }
}

static void write_instruction(hd_writer *w, const hd_replay_report *report, uint32_t k, uint32_t number)
{
    const hd_replay_profile *p = report->kernels[k].profile;
    const hd_replay_profile_instruction *i = &p->instructions[number];
    const hd_replay_counts *c = &i->counts;
    hd_write_format(w, "<tr id=\"p%u-i%u\" class=\"p%u-l%u\">", k, number, k, i->line);
    write_share(w, report, c, p->total.all_cycles);
    write_count(w, c->executions);
    write_text(w, i->text);
    write_states(w, report, c);
    write_mean(w, c->active_lanes, c->executions, 1, "");
    write_pair(w, c->sectors, c->least_sectors, c->requests);
    write_mean(w, c->l1_hits, c->l1_reads, 100, "%");
    write_mean(w, c->l2_sector_hits, c->l2_sectors, 100, "%");
    write_pair(w, c->shared_passes, c->least_passes, c->shared_accesses);
    hd_write_format(w, "<td class=\"num\">%u</td>", c->live_registers);
    write_place(w, p, k, i);
    hd_write_string(w, "</tr>\n");
}

static void write_code(hd_writer *w, const hd_replay_report *report, uint32_t k)
{
    const hd_replay_profile *p = report->kernels[k].profile;
    page_table(w, "values numbers lines", p->is_machine ? "Machine code" : "PTX");
    hd_write_string(w, "<thead><tr>");
    page_column_head(w, "Share", "Of the cycles of all resident warps");
    page_column_head(w, "Executed", "By warps");
    page_column_head(w, "Instruction", NULL);
    page_column_head(w, "Its warps", "What they do in its cycles: heddle-json(5)");
    page_column_head(w, "Lanes", "Active ones, mean");
    page_column_head(w, "Sectors", "Of a request to memory, mean / without waste");
    page_column_head(w, "L1", "Lines that the L1 cache has");
    page_column_head(w, "L2", "Sectors that the L2 cache has");
    page_column_head(w, "Passes", "Over the banks of shared memory, mean / without conflicts");
    page_column_head(w, "Live", "32-bit registers that are needed there");
    page_column_head(w, "Line", NULL);
    hd_write_string(w, "</tr></thead>\n");
    for (uint32_t i = 0; i < p->instruction_count; i++) {
        bool begins = !i || strcmp(p->instructions[i].function, p->instructions[i - 1].function) != 0;
        if (begins) {
            hd_write_format(w, "%s<tbody><tr><th scope=\"colgroup\" colspan=\"11\" class=\"launch\">",
                            i ? "</tbody>\n" : "");
            page_text(w, p->instructions[i].function);
            hd_write_string(w, "</th></tr>\n");
        }
        write_instruction(w, report, k, i);
    }
    hd_write_string(w, p->instruction_count ? "</tbody>\n" : "");
    page_table_end(w);
}

void page_profile(hd_writer *w, const hd_replay_report *report, uint32_t kernel)
{
    const hd_replay_profile *p = report->kernels[kernel].profile;
    char cycles[32];
    if (!is_shown(&report->kernels[kernel]))
        return;
    const char *advice = hd_replay_lines_advice(&report->kernels[kernel]);
    hd_write_format(w,
                    "<div class=\"profile\">\n<h3>Profile of the baseline</h3>\n<p class=\"meta\">%s cycles of "
                    "resident warps. Each cycle is of the instruction that its warp issues, or waits to issue.</p>\n",
                    hd_replay_grouped(cycles, p->total.all_cycles));
    if (p->has_lines)
        hd_write_string(w, "<p class=\"meta\">Lines and instructions that belong together are marked; numbers of "
                           "lines lead from one to the other.</p>\n");
    if (advice)
        hd_write_format(w, "<p class=\"meta\">There are no lines: %s.</p>\n", advice);
    hd_write_format(w, "<div class=\"%s\">\n", p->has_lines ? "beside" : "alone");
    if (p->has_lines)
        write_sources(w, report, kernel);
    write_code(w, report, kernel);
    hd_write_string(w, "</div>\n</div>\n");
}
