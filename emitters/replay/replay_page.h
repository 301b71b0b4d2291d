/* The replay as one self-contained HTML page without scripts: shared declarations of its parts. Private to
 * emitters/replay_html*.c.
 *
 * Models have the numbers of their rows, the baseline 0; bars, legends and tables show number and name, so that colours
 * only help. Classes of emitters/page/replay.css: m0 to m9 are the colours of models and k0 to k5 the shapes of their
 * keys and the patterns of their bars, so that no two of 54 models look the same; s0 to s9 are those of issue slots.
 */
#ifndef HD_EMITTERS_REPLAY_PAGE_H
#define HD_EMITTERS_REPLAY_PAGE_H

#include "emitters/page.h"
#include "emitters/replay/replay.h"
#include "emitters/replay/replay_values.h"

enum { REPLAY_COLOURS = 10, REPLAY_SHAPES = 6, REPLAY_COLUMNS = 9 /* of a table, at most, to fit on paper */ };

/* Bar charts by launch. */
typedef struct page_bar {
    double value; /* NAN: `absent` says why */
    double lower; /* the part below, of a stacked bar */
    const char *absent;
    bool failed, derived;
} page_bar;

typedef struct page_chart {
    const char *id, *title, *note;
    page_bar (*of)(const hd_replay_kernel *kernel, const hd_replay_result *result);
    page_bar (*mean)(const hd_replay_mean *mean);
    double origin;       /* where bars begin */
    uint32_t first;      /* model: 0 where the baseline has bars, too */
    bool stacked;        /* dynamic and static energy */
    double low, high;    /* the scale */
    uint32_t head, foot; /* pixels for labels above and below it */
} page_chart;
void page_chart_draw(hd_writer *writer, page_chart chart, const hd_replay_report *report);

/* All of them, with the geometric mean at the end: register-file accesses, energy, speed-up. */
void page_bar_charts(hd_writer *writer, const hd_replay_report *report);
/* Where the issue slots went, by launch and model; the report has timings. */
void page_slot_charts(hd_writer *writer, const hd_replay_report *report);
/* Each launch: what ran, its models, and what they counted. */
void page_launches(hd_writer *writer, const hd_replay_report *report);
/* Curves of allocated registers, of models that record them; `launch` is its number in the page. */
void page_allocations(hd_writer *writer, const hd_replay_kernel *kernel, uint32_t launch);

/* The profile of a launch, by its number; nothing if it has none. In the style of the page: its rules for all. */
void page_profile(hd_writer *writer, const hd_replay_report *report, uint32_t kernel);
void page_profile_rules(hd_writer *writer, const hd_replay_report *report);

/* The kernel's name; with launch and file where another launch has the same. */
void page_launch_name(hd_writer *writer, const hd_replay_report *report, const hd_replay_kernel *kernel);
/* The number of a model, in its colour and shape. */
void page_model_key(hd_writer *writer, uint32_t model);
uint32_t page_model_colour(uint32_t model);
uint32_t page_model_shape(uint32_t model);
/* `count` items in as few even parts of at most `most` as possible: how many parts, and where the one begins. */
uint32_t page_parts(uint32_t count, uint32_t most);
typedef struct page_columns { /* of a table: the numbers of models, or of kinds of issue slots */
    const uint32_t *items;
    uint32_t count;
} page_columns;
uint32_t page_part_begin(uint32_t count, uint32_t parts, uint32_t part);
/* A table in a box of its own that scrolls, from <table> to </table>. */
void page_table(hd_writer *writer, const char *style, const char *caption);
void page_table_end(hd_writer *writer);
void page_column_head(hd_writer *writer, const char *text, const char *title);
/* A number with three decimals, and * if derived; `unknown` if it is NAN. */
void page_ratio(hd_writer *writer, double ratio, bool derived, const char *unknown);
/* A cell with the verdict; a failed one is marked. */
void page_verdict(hd_writer *writer, const char *verdict, bool failed);

#endif
