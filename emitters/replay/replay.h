/* The results of a replay (include/heddle/replay_result.h) as a table, JSON, CSV and an HTML page. Techniques are
 * handled generically. */
#ifndef HD_EMITTERS_REPLAY_H
#define HD_EMITTERS_REPLAY_H

#include "base/writer.h"
#include "heddle/replay_result.h"

/* A table of at most 100 columns: a row for each model and launch, normalized to the baseline, then the means over the
 * launches and a legend. counters: after each launch the counters of its models, by the keys of the other formats. */
void hd_emit_replay_text(hd_writer *writer, const hd_replay_report *report, bool counters);
void hd_emit_replay_json(hd_writer *writer, const hd_replay_report *report);
void hd_emit_replay_csv(hd_writer *writer, const hd_replay_report *report);

/* A self-contained page without scripts: summary, bar charts, issue slots, launches, with all numbers of JSON. */
void hd_emit_replay_html(hd_writer *writer, const hd_replay_report *report);

/* The timelines of the results, as Chrome trace events in JSON. */
void hd_emit_replay_timeline(hd_writer *writer, const hd_replay_report *report);

/* The first column of a row; a name too long for it gets a line of its own. */
void hd_emit_replay_title(hd_writer *writer, int width, const char *name);
/* For hd_emit_replay_text: the cycles of a launch, the means, and what the columns are; nothing if the report has none.
 * width: of names. */
void hd_emit_replay_times(hd_writer *writer, const hd_replay_report *report, const hd_replay_kernel *kernel, int width);
void hd_emit_replay_mean_times(hd_writer *writer, const hd_replay_report *report, int width);
void hd_emit_replay_time_legend(hd_writer *writer, const hd_replay_report *report);

/* Likewise: what an injected fault of a lane did, and which models noticed; nothing if there is none. */
void hd_emit_replay_fault(hd_writer *writer, const hd_replay_report *report, const hd_replay_kernel *kernel, int width);
void hd_emit_replay_fault_legend(hd_writer *writer, const hd_replay_report *report);

/* Likewise: the hottest lines of the profile, in 120 columns; nothing if there is none. */
void hd_emit_replay_profile(hd_writer *writer, const hd_replay_report *report, const hd_replay_kernel *kernel);
void hd_emit_replay_profile_legend(hd_writer *writer, const hd_replay_report *report);

/* Counts of a timing, in the order of JSON and CSV. */
enum { HD_REPLAY_TIMING_COUNTS = 14 };
extern const char *const hd_replay_timing_keys[HD_REPLAY_TIMING_COUNTS];
uint64_t hd_replay_timing_count(const hd_replay_timing *timing, uint32_t index);

/* Names for hd_replay_registers and hd_replay_check in JSON and CSV ("" for a check that passed or was not made). */
extern const char *const hd_replay_register_words[];
extern const char *const hd_replay_check_words[HD_CHECK_COUNT];

#endif
