/* The profile of a replay as a table: see replay.h. The hottest lines with what their warps waited for, in 120 columns.
 * Linear in the lines that are shown. */
#include "base/path.h"
#include "base/utf8.h"
#include "emitters/replay/replay.h"
#include "emitters/replay/replay_values.h"

#include <stdio.h>

enum { COLUMNS = 120, LINES = 10, NAME = 20, BEFORE_STATES = 91, INDENT = 12 };

/* As many as have room in `columns`. */
static void write_states(hd_writer *w, const hd_replay_report *report, const hd_replay_counts *c, int columns)
{
    uint32_t at = UINT32_MAX;
    char part[64];
    for (uint32_t i = 0; (at = hd_replay_next_largest(c->cycles, report->state_count, at)) != UINT32_MAX; i++) {
        int length = snprintf(part, sizeof part, "%s%s %.0f %%", i ? ", " : "", report->states[at].key,
                              100.0 * (double)c->cycles[at] / (double)c->all_cycles);
        if (length > columns)
            return;
        hd_write_string(w, part);
        columns -= length;
    }
}

/* Text of at most so many columns, without the blanks around it. */
static void write_cut(hd_writer *w, const char *text, uint32_t columns)
{
    size_t left = strlen(text), bytes;
    while (left && (text[left - 1] == ' ' || text[left - 1] == '\t' || text[left - 1] == '\r'))
        left--;
    while (left && (*text == ' ' || *text == '\t'))
        text++, left--;
    for (; left && columns--; text += bytes, left -= bytes) {
        bytes = hd_utf8_bytes(text, left, NULL);
        bytes = bytes ? bytes : 1;
        if (!columns && left > bytes)
            hd_write_string(w, "\xe2\x80\xa6");
        else
            hd_write(w, text, bytes);
    }
}

/* "4.0/4.0": means of a number of accesses; "-": there are none. */
static void write_pair(hd_writer *w, int width, uint64_t is, uint64_t least, uint64_t accesses)
{
    char text[32] = "-";
    if (accesses)
        snprintf(text, sizeof text, "%.1f/%.1f", (double)is / (double)accesses, (double)least / (double)accesses);
    hd_write_format(w, "  %*s", width, text);
}

static void write_share(hd_writer *w, uint64_t part, uint64_t whole)
{
    if (whole)
        hd_write_format(w, "  %3.0f %%", 100 * (double)part / (double)whole);
    else
        hd_write_string(w, "      -");
}

static void write_line(hd_writer *w, const hd_replay_report *report, const hd_replay_profile *p,
                       const hd_replay_profile_line *line)
{
    const hd_replay_counts *c = &line->counts;
    char name[64], number[32];
    if (line->file)
        snprintf(number, sizeof number, ":%u", line->line);
    else
        snprintf(number, sizeof number, line->line ? " line %u" : ", no line", line->line);
    const char *file = line->file ? hd_path_name(line->file) : p->is_machine ? "listing" : "PTX";
    int room = NAME - (int)strlen(number), length = (int)strlen(file);
    snprintf(name, sizeof name, "%s%s", length > room ? file + length - room : file, number);
    hd_write_format(w, "  %6.1f %%  %-*s  %11s", 100 * (double)c->all_cycles / (double)p->total.all_cycles, NAME, name,
                    hd_replay_grouped(number, c->executions));
    if (c->executions)
        hd_write_format(w, "  %5.1f", (double)c->active_lanes / (double)c->executions);
    else
        hd_write_string(w, "      -");
    write_pair(w, 9, c->sectors, c->least_sectors, c->requests);
    write_share(w, c->l1_hits, c->l1_reads);
    write_share(w, c->l2_sector_hits, c->l2_sectors);
    write_pair(w, 9, c->shared_passes, c->least_passes, c->shared_accesses);
    hd_write_format(w, "  %4u  ", c->live_registers);
    write_states(w, report, c, COLUMNS - BEFORE_STATES);
    hd_write_char(w, '\n');
    if (!line->text)
        return;
    hd_write_format(w, "%*s", INDENT, "");
    write_cut(w, line->text, COLUMNS - INDENT);
    hd_write_char(w, '\n');
}

void hd_emit_replay_profile(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *k)
{
    const hd_replay_profile *p = k->profile;
    char cycles[32];
    uint32_t shown = 0;
    if (!p || !p->total.all_cycles)
        return;
    while (shown < p->line_count && shown < LINES && p->lines[shown].counts.all_cycles)
        shown++;
    hd_write_format(w, "\n  profile of the baseline: %s warp cycles; ", hd_replay_grouped(cycles, p->total.all_cycles));
    write_states(w, report, &p->total, COLUMNS - 56);
    hd_write_format(w, "\n  %8s  %-*s  %11s  %5s  %9s  %5s  %5s  %9s  %4s  %s\n", "share", NAME, "line", "executed",
                    "lanes", "sectors", "L1", "L2", "passes", "live", "its warps");
    for (uint32_t i = 0; i < shown; i++)
        write_line(w, report, p, &p->lines[i]);
    if (p->line_count > shown)
        hd_write_format(w, "  all %u lines and their instructions are in --format=json and --format=html\n",
                        p->line_count);
    if (hd_replay_lines_advice(k))
        hd_write_format(w, "  %s\n", hd_replay_lines_advice(k));
}

void hd_emit_replay_profile_legend(hd_writer *w, const hd_replay_report *report)
{
    if (!report->state_count)
        return;
    hd_write_string(
        w, "share: of the cycles of all resident warps, in each of which a warp issues an instruction or waits to "
           "issue it\n"
           "executed: by warps; lanes: active ones, mean; live: 32-bit registers needed there, at most\n"
           "sectors, passes: of a request to memory, and over the banks of shared memory, mean / without waste\n"
           "its warps: what they do in its cycles, by the names of the issue slots\n");
    for (uint32_t s = 0; s < report->state_count; s++) {
        bool used = false, named = s < report->slot_count && hd_replay_slot_is_used(report, s);
        for (uint32_t i = 0; i < report->kernel_count; i++)
            used = used || (report->kernels[i].profile && report->kernels[i].profile->total.cycles[s]);
        if (used && !named)
            hd_write_format(w, "  %s: %s\n", report->states[s].key, report->states[s].text);
    }
}
