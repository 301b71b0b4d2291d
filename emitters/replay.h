/* The results of a replay (include/heddle/replay_result.h) as a table, JSON and CSV. The emitters know no technique:
 * they walk what the report holds. */
#ifndef HD_EMITTERS_REPLAY_H
#define HD_EMITTERS_REPLAY_H

#include "base/writer.h"
#include "heddle/replay_result.h"

/* A table of at most 100 columns: a row for each model and launch, normalized to the baseline, then the means over the
 * launches and a legend. counters: behind each launch what its models counted, by the keys of the other formats. */
void hd_emit_replay_text(hd_writer *writer, const hd_replay_report *report, bool counters);
void hd_emit_replay_json(hd_writer *writer, const hd_replay_report *report);
void hd_emit_replay_csv(hd_writer *writer, const hd_replay_report *report);

/* By hd_replay_registers and hd_replay_check: as JSON and CSV have them ("" of a check that passed or was not made). */
extern const char *const hd_replay_register_words[];
extern const char *const hd_replay_check_words[HD_CHECK_COUNT];

#endif
