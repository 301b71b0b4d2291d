/* See settings.h. */
#include "driver/api/settings.h"

#include "driver/replay/replay.h"
#include "driver/report/report.h"
#include "driver/rewrite.h"
#include "heddle/heddle.h"
#include "hwmodel/count/count.h"
#include "hwmodel/launch/launch.h"
#include "ir/architected.h"

#include <stddef.h>
#include <string.h>

#define FLAG                   \
    {                          \
        HD_TAKES_FLAG, 0, 0, 0 \
    }
#define WORDS                   \
    {                           \
        HD_TAKES_WORDS, 0, 0, 0 \
    }
#define NUMBER(least, most, otherwise)          \
    {                                           \
        HD_TAKES_NUMBER, least, most, otherwise \
    }
#define LIMIT(most, otherwise)             \
    {                                      \
        HD_TAKES_LIMIT, 0, most, otherwise \
    }
#define THREADS(most)                \
    {                                \
        HD_TAKES_THREADS, 1, most, 0 \
    }
#define BYTES(most)                \
    {                              \
        HD_TAKES_BYTES, 0, most, 0 \
    }
#define ADDRESS                   \
    {                             \
        HD_TAKES_ADDRESS, 0, 0, 0 \
    }
#define RANGE(most)                \
    {                              \
        HD_TAKES_RANGE, 0, most, 0 \
    }
#define TEXT                   \
    {                          \
        HD_TAKES_TEXT, 0, 0, 0 \
    }
#define PATH                   \
    {                          \
        HD_TAKES_PATH, 0, 0, 0 \
    }
#define NAME                   \
    {                          \
        HD_TAKES_NAME, 0, 0, 0 \
    }
#define FILE                   \
    {                          \
        HD_TAKES_FILE, 0, 0, 0 \
    }
#define PASS                   \
    {                          \
        HD_TAKES_PASS, 0, 0, 0 \
    }
#define PASSES                   \
    {                            \
        HD_TAKES_PASSES, 0, 0, 0 \
    }
#define TECHNIQUES                   \
    {                                \
        HD_TAKES_TECHNIQUES, 0, 0, 0 \
    }
#define GPU                   \
    {                         \
        HD_TAKES_GPU, 0, 0, 0 \
    }
#define SETTINGS                   \
    {                              \
        HD_TAKES_SETTINGS, 0, 0, 0 \
    }
#define PLUGINS                   \
    {                             \
        HD_TAKES_PLUGINS, 0, 0, 0 \
    }
#define WARNINGS                   \
    {                              \
        HD_TAKES_WARNINGS, 0, 0, 0 \
    }

typedef hd_rewrite_options options_of_REWRITE;
typedef hd_report_options options_of_REPORT;
typedef hd_replay_options options_of_REPLAY;
typedef hd_rewrite_settings settings_of_REWRITE;
typedef hd_report_settings settings_of_REPORT;
typedef hd_replay_settings settings_of_REPLAY;

#define TYPE(of, member) \
    _Generic(((of *)0)->member, bool : HD_MEMBER_BOOL, uint32_t : HD_MEMBER_U32, uint64_t : HD_MEMBER_U64,             \
             const char * : HD_MEMBER_TEXT)
#define SAME_TYPE(of, member, others, other) \
    (sizeof(char[TYPE(of, member) == TYPE(others, other) ? 1 : -1]) ? TYPE(of, member) : HD_MEMBER_NONE)
#define SETS(job, member) \
    [HD_JOB_##job] = {TYPE(options_of_##job, member), offsetof(options_of_##job, member), NULL, 0},
#define SETTING(job, member, setting)                                                  \
    [HD_JOB_##job] = {SAME_TYPE(options_of_##job, member, settings_of_##job, setting), \
                      offsetof(options_of_##job, member), #setting, offsetof(settings_of_##job, setting)},
#define NOTHING [0] = {HD_MEMBER_NONE, 0, NULL, 0}

const hd_option_setting hd_option_settings[HD_OPTION_COUNT] = {
#define HD_OPTION(id, letter, name, argument, value, commands, marks, sets, echo, help) {value, {sets}},
#include "base/options.def"
#undef HD_OPTION
};

/* The setting's number; false: it is no number. */
static bool number_of(const hd_member *m, const char *settings, uint64_t *number)
{
    uint32_t narrow;
    if (m->type == HD_MEMBER_U32) {
        memcpy(&narrow, settings + m->setting_at, sizeof narrow);
        *number = narrow;
    } else if (m->type == HD_MEMBER_U64) {
        memcpy(number, settings + m->setting_at, sizeof *number);
    }
    return m->type == HD_MEMBER_U32 || m->type == HD_MEMBER_U64;
}

bool hd_settings_take(hd_job job, const void *settings, void *options, hd_diagnostics *diagnostics)
{
    static const size_t sizes[] = {0, sizeof(bool), sizeof(uint32_t), sizeof(uint64_t), sizeof(const char *)};
    bool good = true;
    for (uint32_t i = 0; i < HD_OPTION_COUNT; i++) {
        const hd_member *m = &hd_option_settings[i].members[job];
        const hd_option_value *value = &hd_option_settings[i].value;
        uint64_t number;
        if (!m->setting)
            continue;
        memcpy((char *)options + m->at, (const char *)settings + m->setting_at, sizes[m->type]);
        if (!number_of(m, settings, &number) || !number || (number >= value->least && number <= value->most))
            continue;
        hd_report(diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
                  "the setting '%s' is a number from %u to %u, or 0 for the default, not %llu", m->setting,
                  value->least ? value->least : 1, value->most, (unsigned long long)number);
        good = false;
    }
    return good;
}
