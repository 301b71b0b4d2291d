/* Timelines of a replay as Chrome trace events, which Perfetto shows: see heddle-replay(1). A cycle is a microsecond
 * there.
 *
 * Each launch and model is a process. Its threads are the issue slots of the schedulers; and for each place of a warp
 * one with the warps that were there, and one for each instruction of the warp that may be in flight beside others:
 * spans of a thread must not overlap. Instructions come in the order in which they are issued; each takes the first
 * thread of its warp that is free. O(spans * instructions in flight). */
#include "base/array.h"
#include "base/version.h"
#include "emitters/json.h"
#include "emitters/replay/replay.h"
#include "emitters/replay/replay_values.h"

#include <stdio.h>

enum { WARP_THREADS = 1 << 16 /* and numbers of threads of the first place from here on */ };

typedef HD_ARRAY(uint64_t) lanes; /* of a place: when each of its threads is free */

typedef struct timeline_events {
    hd_json *json;
    const hd_replay_report *report;
    const hd_replay_timeline *timeline;
    uint32_t process;
    HD_ARRAY(lanes) places;
    hd_arena arena;
} timeline_events;

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void begin_name(timeline_events *e, const char *kind, uint32_t thread)
{
    hd_json_compact_object(e->json, NULL);
    hd_json_text(e->json, "ph", "M");
    hd_json_number(e->json, "pid", e->process);
    hd_json_number(e->json, "tid", thread);
    hd_json_text(e->json, "name", kind);
    hd_json_object(e->json, "args");
}

static void end_name(timeline_events *e)
{
    hd_json_end(e->json);
    hd_json_end(e->json);
}

static void emit_thread_name(timeline_events *e, uint32_t thread, const char *name)
{
    begin_name(e, "thread_name", thread);
    hd_json_text(e->json, "name", name);
    end_name(e);
    begin_name(e, "thread_sort_index", thread);
    hd_json_number(e->json, "sort_index", thread);
    end_name(e);
}

static void emit_process_name(timeline_events *e, const hd_replay_kernel *kernel, const hd_replay_result *result)
{
    hd_writer name;
    hd_writer_to_memory(&name);
    hd_write_format(&name, "%s, launch %u: %s, %s, SM %u", kernel->file, kernel->launch, kernel->demangled,
                    result->model, e->timeline->sm);
    hd_write_char(&name, '\0');
    begin_name(e, "process_name", 0);
    hd_json_text(e->json, "name", name.buffer.items);
    end_name(e);
    hd_writer_free(&name);
}

static void emit_slot_names(timeline_events *e)
{
    const hd_replay_timeline *t = e->timeline;
    for (uint32_t i = 0; i < t->schedulers * t->issue_width; i++) {
        char name[64];
        if (t->issue_width > 1)
            snprintf(name, sizeof name, "scheduler %u, slot %u", i / t->issue_width, i % t->issue_width);
        else
            snprintf(name, sizeof name, "scheduler %u", i);
        emit_thread_name(e, 1 + i, name);
    }
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

static lanes *lanes_of(timeline_events *e, uint32_t place)
{
    while (e->places.count <= place)
        hd_array_push(&e->places, (lanes){0});
    return &e->places.items[place];
}

static uint32_t first_thread(uint32_t place) { return (place + 1) * WARP_THREADS; }

/* The thread of an instruction. */
static uint32_t thread_of(timeline_events *e, const hd_replay_span *span)
{
    lanes *of = lanes_of(e, span->track);
    uint32_t lane = 0;
    char name[64];
    while (lane < of->count && of->items[lane] > span->begin)
        lane++;
    uint32_t thread = first_thread(span->track) + 1 + lane;
    if (lane == of->count) {
        hd_array_push(of, 0);
        snprintf(name, sizeof name, "warp place %u: in flight %u", span->track, lane + 1);
        emit_thread_name(e, thread, name);
    }
    of->items[lane] = span->end;
    return thread;
}

static void begin_event(timeline_events *e, const hd_replay_span *span, const char *category, const char *name,
                        uint32_t thread)
{
    hd_json *j = e->json;
    hd_json_compact_object(j, NULL);
    hd_json_text(j, "ph", "X");
    hd_json_number(j, "pid", e->process);
    hd_json_number(j, "tid", thread);
    hd_json_number(j, "ts", span->begin);
    hd_json_number(j, "dur", span->end - span->begin);
    hd_json_text(j, "cat", category);
    hd_json_text(j, "name", name);
    hd_json_object(j, "args");
}

static void end_event(timeline_events *e)
{
    hd_json_end(e->json);
    hd_json_end(e->json);
}

static void emit_warp_args(timeline_events *e, const hd_replay_span *span)
{
    hd_json_number(e->json, "block", span->block);
    hd_json_number(e->json, "warp", span->warp);
    if (span->instruction && span->instruction->line)
        hd_json_number(e->json, "line", span->instruction->line);
    if (span->instruction)
        hd_json_number(e->json, "threads", span->threads);
}

static void emit_span(timeline_events *e, const hd_replay_span *span)
{
    char name[64];
    switch (span->kind) {
    case HD_SPAN_ISSUE: begin_event(e, span, "issue", span->instruction->text, 1 + span->track); break;
    case HD_SPAN_INSTRUCTION: begin_event(e, span, "instruction", span->instruction->text, thread_of(e, span)); break;
    case HD_SPAN_WARP:
        snprintf(name, sizeof name, "block %u, warp %u", span->block, span->warp);
        begin_event(e, span, "warp", name, first_thread(span->track));
        break;
    case HD_SPAN_STALL:
        begin_event(e, span, "stall", e->report->slots[span->reason].key, 1 + span->track);
        hd_json_text(e->json, "waits for", e->report->slots[span->reason].text);
        end_event(e);
        return;
    }
    emit_warp_args(e, span);
    end_event(e);
}

/* Names each place where there was a warp. */
static void emit_place_names(timeline_events *e)
{
    uint64_t named = 0;
    for (uint32_t i = 0; i < e->timeline->span_count; i++) {
        const hd_replay_span *span = &e->timeline->spans[i];
        char name[64];
        if (span->kind != HD_SPAN_WARP || named >> span->track & 1)
            continue;
        named |= (uint64_t)1 << span->track;
        snprintf(name, sizeof name, "warp place %u", span->track);
        emit_thread_name(e, first_thread(span->track), name);
    }
}

static void emit_timeline(timeline_events *e, const hd_replay_kernel *kernel, const hd_replay_result *result)
{
    e->timeline = result->timeline;
    e->process++;
    emit_process_name(e, kernel, result);
    emit_slot_names(e);
    emit_place_names(e);
    for (uint32_t i = 0; i < e->timeline->span_count; i++)
        emit_span(e, &e->timeline->spans[i]);
    for (uint32_t i = 0; i < e->places.count; i++)
        hd_array_clear(&e->places.items[i]);
}

void hd_emit_replay_timeline(hd_writer *writer, const hd_replay_report *report)
{
    hd_json json = {.out = writer};
    timeline_events events = {.json = &json, .report = report};
    hd_json_object(&json, NULL);
    hd_json_text(&json, "displayTimeUnit", "ms");
    hd_json_object(&json, "otherData");
    hd_json_text(&json, "heddle", HD_VERSION);
    const hd_replay_setting *setting;
    for (uint32_t s = 0; (setting = hd_replay_setting_at(s)); s++)
        hd_json_text(&json, setting->key, hd_replay_setting_text(report, NULL, setting, &events.arena));
    hd_json_text(&json, "unit", "a microsecond is a cycle of the SM");
    hd_json_end(&json);
    hd_json_array(&json, "traceEvents");
    for (uint32_t k = 0; k < report->kernel_count; k++)
        for (uint32_t m = 0; m < report->kernels[k].result_count; m++)
            if (report->kernels[k].results[m].timeline)
                emit_timeline(&events, &report->kernels[k], &report->kernels[k].results[m]);
    hd_json_end(&json);
    hd_json_end(&json);
    for (uint32_t i = 0; i < events.places.count; i++)
        hd_array_free(&events.places.items[i]);
    hd_array_free(&events.places);
    hd_arena_free(&events.arena);
}
