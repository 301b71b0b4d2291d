/* Which bar charts the replay's page has, and their values: see replay_page.h. */
#include "emitters/replay/replay_page.h"

#include <math.h>

/* ---- values ------------------------------------------------------------------------------------------------------ */

static page_bar bar_of(const hd_replay_result *r, double value, const char *absent)
{
    return (page_bar){.value = r->not_applied ? (double)NAN : value,
                      .lower = (double)NAN,
                      .absent = r->not_applied ? "not applied" : absent,
                      .failed = !r->not_applied && r->check != HD_CHECK_PASS};
}

static page_bar accesses_of(const hd_replay_kernel *k, const hd_replay_result *r)
{
    (void)k;
    return bar_of(r, r->rf_accesses_normalized, "no accesses");
}

static page_bar energy_of(const hd_replay_kernel *k, const hd_replay_result *r)
{
    (void)k;
    page_bar b = bar_of(r, r->energy_normalized, "unknown");
    b.derived = r->energy_derived;
    return b;
}

static page_bar speedup_of(const hd_replay_kernel *k, const hd_replay_result *r)
{
    (void)k;
    return bar_of(r, r->timing ? r->timing->speedup : (double)NAN, "no cycles");
}

static page_bar timed_energy_of(const hd_replay_kernel *k, const hd_replay_result *r)
{
    const hd_replay_timing *base = k->results[0].timing, *t = r->timing;
    page_bar b = bar_of(r, t ? t->energy_normalized : (double)NAN, t ? "unknown" : "no cycles");
    b.derived = r->energy_derived;
    if (t && base)
        b.lower = t->dynamic_pj / (base->dynamic_pj + base->static_pj);
    return b;
}

static page_bar mean_bar(const hd_replay_mean *m, double value, const char *absent)
{
    return (page_bar){.value = m->launches ? value : (double)NAN,
                      .lower = (double)NAN,
                      .absent = m->launches ? absent : "not applied",
                      .failed = m->failed};
}

static page_bar mean_accesses(const hd_replay_mean *m) { return mean_bar(m, m->rf_accesses_normalized, "no accesses"); }
static page_bar mean_speedup(const hd_replay_mean *m) { return mean_bar(m, m->speedup, "no cycles"); }

static page_bar mean_energy(const hd_replay_mean *m)
{
    page_bar b = mean_bar(m, m->energy_normalized, "unknown");
    b.derived = m->energy_derived;
    return b;
}

static page_bar mean_timed_energy(const hd_replay_mean *m)
{
    page_bar b = mean_bar(m, m->timed_energy_normalized, "unknown");
    b.derived = m->energy_derived;
    return b;
}

/* ---- charts ------------------------------------------------------------------------------------------------------ */

void page_bar_charts(hd_writer *w, const hd_replay_report *report)
{
    /* Bars k1, k2 .. have horizontal lines, dots, vertical lines, a grid, chevrons. */
    static const char *const patterns[REPLAY_SHAPES - 1] = {"M0 3H6", "M2 2h2v2h-2z", "M3 0V6", "M0 3H6M3 0V6",
                                                            "M0 1L3 4L6 1"};
    static const page_chart accesses = {.id = "accesses",
                                        .title = "Register-file accesses",
                                        .note = "Reads and writes, normalized to the baseline (1). Lower is better.",
                                        .of = accesses_of,
                                        .mean = mean_accesses,
                                        .first = 1};
    static const page_chart energy = {.id = "energy",
                                      .title = "Dynamic energy",
                                      .note = "Of the register file and of what the technique adds, normalized to the "
                                              "baseline (1). Lower is better.",
                                      .of = energy_of,
                                      .mean = mean_energy,
                                      .first = 1};
    static const page_chart timed = {
        .id = "energy",
        .title = "Energy with leakage",
        .note = "Dynamic and static energy of the register file and of what the technique adds, "
                "normalized to the baseline's sum (1). Lower is better. The mean is that of the "
                "sums.",
        .of = timed_energy_of,
        .mean = mean_timed_energy,
        .stacked = true};
    static const page_chart speedup = {.id = "speedup",
                                       .title = "Speed-up",
                                       .note =
                                           "The baseline's cycles / these. Bars begin at the baseline (1): upwards is "
                                           "faster, downwards slower.",
                                       .of = speedup_of,
                                       .mean = mean_speedup,
                                       .origin = 1,
                                       .first = 1};
    hd_write_string(w,
                    "<svg class=\"patterns\" aria-hidden=\"true\" width=\"0\" height=\"0\"><defs><pattern id=\"hatch\" "
                    "width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect "
                    "width=\"5\" height=\"5\" class=\"veil\"/><path d=\"M0 0V5\" class=\"hatching\"/></pattern>"
                    "<pattern id=\"again\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                    "patternTransform=\"rotate(45)\"><path d=\"M0 0V6\" class=\"again\"/></pattern>");
    for (uint32_t s = 0; s < REPLAY_SHAPES - 1; s++)
        hd_write_format(w,
                        "<pattern id=\"k%u\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"%s\" "
                        "class=\"under\"/><path d=\"%s\" class=\"over\"/></pattern>",
                        s + 1, patterns[s], patterns[s]);
    hd_write_string(w, "</defs></svg>\n");
    page_chart_draw(w, accesses, report);
    page_chart_draw(w, report->slot_count ? timed : energy, report);
    if (report->slot_count)
        page_chart_draw(w, speedup, report);
}
