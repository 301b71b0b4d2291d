/* What the options of base/options.def set: members of a job's options, by the command line and by the settings that a
 * program hands to the library.
 *
 * The command line reads the text of an option as its value says and stores the number, text or flag in the member
 * (cli/values.c). The library copies the settings that have the same meaning. Both refuse the same numbers. */
#ifndef HD_DRIVER_SETTINGS_H
#define HD_DRIVER_SETTINGS_H

#include "base/diagnostics.h"

/* The rows, in the order of the table. */
typedef enum hd_option_id {
#define HD_OPTION(id, letter, name, argument, value, commands, marks, sets, echo, help) HD_OPTION_##id,
#include "base/options.def"
#undef HD_OPTION
    HD_OPTION_COUNT
} hd_option_id;

typedef enum hd_option_takes { /* as in the head of base/options.def */
                               HD_TAKES_FLAG,
                               HD_TAKES_WORDS,
                               HD_TAKES_NUMBER,
                               HD_TAKES_LIMIT,
                               HD_TAKES_THREADS,
                               HD_TAKES_BYTES,
                               HD_TAKES_ADDRESS,
                               HD_TAKES_RANGE,
                               HD_TAKES_TEXT,
                               HD_TAKES_PATH,
                               HD_TAKES_NAME,
                               HD_TAKES_FILE,
                               HD_TAKES_PASS,
                               HD_TAKES_PASSES,
                               HD_TAKES_TECHNIQUES,
                               HD_TAKES_GPU,
                               HD_TAKES_SETTINGS,
                               HD_TAKES_PLUGINS,
                               HD_TAKES_WARNINGS,
                               HD_TAKES_COUNT
} hd_option_takes;

typedef struct hd_option_value {
    hd_option_takes kind;
    uint32_t least, most, otherwise; /* of numbers; otherwise: where the option is not given */
} hd_option_value;

typedef enum hd_job {
    HD_JOB_REWRITE, /* hd_rewrite_options, hd_rewrite_settings */
    HD_JOB_REPORT,  /* hd_report_options, hd_report_settings */
    HD_JOB_REPLAY,  /* hd_replay_options, hd_replay_settings */
    HD_JOB_COUNT
} hd_job;

typedef enum hd_member_type {
    HD_MEMBER_NONE, /* the option sets no member of the job */
    HD_MEMBER_BOOL,
    HD_MEMBER_U32,
    HD_MEMBER_U64,
    HD_MEMBER_TEXT /* const char * */
} hd_member_type;

typedef struct hd_member {
    hd_member_type type;
    size_t at;           /* its offset in the job's options */
    const char *setting; /* the library's name of it; NULL: the library does not have it */
    size_t setting_at;   /* its offset in the library's settings, with the same type */
} hd_member;

typedef struct hd_option_setting {
    hd_option_value value;
    hd_member members[HD_JOB_COUNT];
} hd_option_setting;
extern const hd_option_setting hd_option_settings[HD_OPTION_COUNT];

/* Copies the library's settings of the job to its options. false: one is outside of what its option takes (reported);
 * 0 has the default value, and is always taken. */
bool hd_settings_take(hd_job job, const void *settings, void *options, hd_diagnostics *diagnostics);

#endif
