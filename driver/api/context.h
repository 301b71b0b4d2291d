/* What the files of the public C API share; private to driver/api/. */
#ifndef HD_DRIVER_API_CONTEXT_H
#define HD_DRIVER_API_CONTEXT_H

#include "base/writer.h"
#include "driver/replay/replay.h"
#include "driver/report/diff.h"
#include "driver/report/report.h"
#include "heddle/heddle.h"

struct hd_context {
    hd_diagnostics template; /* severities only; nothing is reported in it */
    hd_parse_options parse;
    hd_given_files given;
    hd_diagnostics diagnostics; /* of the running job */
    hd_arena arena;             /* texts of the messages */
    HD_ARRAY(hd_message) messages;
    size_t errors;
    void (*handler)(void *user, const hd_message *message); /* of messages; NULL: none */
    void *handler_user;
    /* The last job, whose results are still accessible; or NULL. */
    hd_replay *replay;
    hd_report_job *report;
    hd_diff_job *diff;
    hd_source sources[2]; /* their texts */
};

/* Begins a job with the caller's settings (NULL: the defaults), which are copied to *own, of `size` bytes, which are
 * zero. false: they are invalid, and the job has ended with HD_STATUS_USAGE. */
bool hd_api_begin(hd_context *context, const void *settings, void *own, size_t size);
/* Ends it: what was reported becomes messages, before the texts that it refers to are freed. */
void hd_api_end(hd_context *context);

/* false: it cannot be read, which is reported. */
bool hd_api_read(hd_context *context, const hd_input *input, hd_source *source);
/* Transfers the written text to *out, or discards it. */
void hd_api_take(hd_writer *writer, bool good, hd_text *out);

#endif
