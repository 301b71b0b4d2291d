/* Values of a replay as readers see them, for all formats that people read: words, grouped numbers, headlines, and the
 * means over launches. Private to emitters. */
#ifndef HD_EMITTERS_REPLAY_VALUES_H
#define HD_EMITTERS_REPLAY_VALUES_H

#include "base/arena.h"
#include "base/writer.h"
#include "heddle/replay_result.h"

/* What the numbers of a replay depend on besides its inputs: options, with the columns `echo` of base/options.def. */
typedef enum hd_replay_presence {
    HD_REPLAY_UNNAMED,  /* results do not name the option */
    HD_REPLAY_GPU,      /* which GPU it is: always in JSON, before the others */
    HD_REPLAY_GIVEN,    /* in JSON only where it was asked for, then before those that follow */
    HD_REPLAY_ALWAYS,   /* it has a value always; 0 is one */
    HD_REPLAY_OR_NULL,  /* null where it was not given */
    HD_REPLAY_OF_LAUNCH /* in JSON of each launch */
} hd_replay_presence;

typedef struct hd_replay_setting {
    const char *option; /* its long name */
    uint32_t position;  /* among the settings */
    const char *key;    /* in CSV, JSON and the timeline; stable */
    hd_replay_presence presence;
    enum { HD_REPLAY_TEXT_VALUE, HD_REPLAY_NUMBER_VALUE, HD_REPLAY_LIST_VALUE, HD_REPLAY_ADDRESS_VALUE } type;
    size_t at; /* the member's offset in hd_replay_report, of a launch in hd_replay_kernel */
} hd_replay_setting;
/* In the order of CSV; NULL at the end. */
const hd_replay_setting *hd_replay_setting_at(uint32_t position);
/* As on the command line, of a launch; several values of --set with a blank between them. NULL: it does not apply.
 * `kernel` NULL: what all launches share. */
const char *hd_replay_setting_text(const hd_replay_report *report, const hd_replay_kernel *kernel,
                                   const hd_replay_setting *setting, hd_arena *arena);
uint32_t hd_replay_setting_number(const hd_replay_report *report, const hd_replay_setting *setting);
/* The address of the launch's first buffer where launches differ in it; NULL: they do not, or it has none. */
const char *hd_replay_own_memory_base(const hd_replay_report *report, const hd_replay_kernel *kernel, hd_arena *arena);

extern const char *const hd_replay_verdicts[HD_CHECK_COUNT];                    /* "pass", "FAIL (operands)" */
void hd_replay_write_output(hd_writer *writer, const hd_replay_kernel *kernel); /* how it was compared, in words */

/* How source lines come to the profile of a launch; NULL: it has some, or never will. */
const char *hd_replay_lines_advice(const hd_replay_kernel *kernel);

/* With thousands separators. */
const char *hd_replay_grouped(char text[static 32], uint64_t value);
void hd_replay_format_headline(char text[static 64], const hd_replay_headline *headline);
/* What the ratios of the others refer to: the baseline's accesses and energy. */
void hd_replay_format_baseline(char text[static 64], const hd_replay_result *baseline);
/* Whether a slot of that kind was counted in any result. */
bool hd_replay_slot_is_used(const hd_replay_report *report, uint32_t slot);
/* The technique of the launch whose cycles may be wrong by most; NULL: no cycles are extrapolated. */
const hd_replay_result *hd_replay_least_exact(const hd_replay_kernel *kernel);
/* The value after `last` in descending order, of those that are not 0; UINT32_MAX, which is also before the first one:
 * there is none. */
uint32_t hd_replay_next_largest(const uint64_t *values, uint32_t count, uint32_t last);
/* The sum of a timing's slots of all kinds. */
uint64_t hd_replay_all_slots(const hd_replay_report *report, const hd_replay_timing *timing);

/* One model over the launches to which it was applied. Ratios and changes are geometric means, other headlines
 * arithmetic ones; NAN: unknown, for energies also if it is unknown of one launch. */
typedef struct hd_replay_mean {
    uint32_t launches, failed;
    uint32_t timed; /* launches with a speed-up */
    bool energy_derived;
    double rf_accesses_normalized, energy_normalized;
    double speedup, timed_energy_normalized; /* over the launches that were timed */
    hd_replay_headline headline;
} hd_replay_mean;
hd_replay_mean hd_replay_mean_of(const hd_replay_report *report, uint32_t model);
/* "pass", "pass on 2 of 3", "FAIL on 1 of 3" */
void hd_replay_format_verdict(char text[static 64], const hd_replay_report *report, const hd_replay_mean *mean);

#endif
