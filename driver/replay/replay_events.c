/* Events for a program that listens to a model of each part: those of the SMs where cycles are simulated, else the
 * launches and instructions of the interpreter. A model has one listener, which one thread at a time calls; parts run
 * side by side, so that a lock keeps the program's function from being called twice at a time. What is the same for
 * all executions of an instruction is spelled at the first. */
#include "driver/replay/replay_work.h"
#include "emitters/ir/ptx.h"
#include "ir/origins.h"

typedef struct shown_instruction { /* text NULL: not spelled yet */
    const char *text, *source_file;
    uint32_t line, source_line;
} shown_instruction;

struct replay_events {
    const replay_part *part;
    hd_module *module;
    const char *model;
    hd_arena arena;
    shown_instruction **instructions; /* by function and number; NULL: of none yet */
    uint32_t launch;
};

/* Whether the program wants to see them at all. */
static bool is_wanted(const replay_events *e, hd_replay_event_kind kind)
{
    const hd_replay_options *options = e->part->plan->options;
    return !options->events || options->events >> kind & 1;
}

/* A program that returns other than 0 cancels the replay, and is not called again. */
static void send(replay_events *e, hd_replay_event *event)
{
    const hd_replay_options *options = e->part->plan->options;
    event->size = sizeof *event;
    event->file = e->part->index;
    event->launch = e->launch;
    event->model = e->model;
    pthread_mutex_lock(options->event_lock);
    if (!atomic_load(options->cancel) && options->event(options->event_user, event))
        atomic_store(options->cancel, true);
    pthread_mutex_unlock(options->event_lock);
}

static const char *function_name(const replay_events *e, uint32_t function)
{
    return hd_names_text(&e->module->names, e->module->functions.items[function]->name);
}

static const shown_instruction *instruction_of(replay_events *e, uint32_t function, uint32_t number)
{
    const hd_function *f = e->module->functions.items[function];
    const hd_instruction *insn = &f->instructions.items[number];
    if (!e->instructions[function])
        e->instructions[function] = HD_ARENA_ARRAY(&e->arena, shown_instruction, f->instructions.count);
    shown_instruction *known = &e->instructions[function][number];
    if (known->text)
        return known;
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_emit_instruction(&text, f, insn);
    const hd_origin_place *place = hd_instruction_place(e->module, insn);
    *known = (shown_instruction){.text = hd_arena_string(&e->arena, text.buffer.items, text.buffer.count),
                                 .source_file = place->at.file};
    hd_writer_free(&text);
    if (place->at.file)
        known->source_line = place->at.line;
    if (insn->span.end > insn->span.begin)
        known->line = hd_source_position(e->module->source, insn->span.begin).line;
    return known;
}

static void set_instruction(replay_events *e, hd_replay_event *event, uint32_t function, uint32_t number)
{
    event->instruction = HD_REPLAY_NONE;
    if (function == HD_NONE || number == HD_NONE)
        return;
    const shown_instruction *known = instruction_of(e, function, number);
    event->function = function_name(e, function);
    event->instruction = number;
    event->text = known->text;
    event->line = known->line;
    event->source_file = known->source_file;
    event->source_line = known->source_line;
}

static hd_replay_event about(replay_events *e, hd_replay_event_kind kind, const hd_sm_subject *s, uint64_t begin,
                             uint64_t end)
{
    hd_replay_event event = {.kind = kind,
                             .sm = s->sm,
                             .block = s->cta,
                             .warp = s->warp,
                             .active = s->active,
                             .effective = s->effective,
                             .begin = begin,
                             .end = end};
    set_instruction(e, &event, s->function, s->instruction);
    return event;
}

/* ---- of SMs ------------------------------------------------------------------------------------------------------ */

static void launch(replay_events *e, hd_replay_event_kind kind, const char *kernel, uint64_t cycle)
{
    hd_replay_event event = {.kind = kind,
                             .function = kernel,
                             .instruction = HD_REPLAY_NONE,
                             .sm = HD_REPLAY_NONE,
                             .block = HD_REPLAY_NONE,
                             .warp = HD_REPLAY_NONE,
                             .begin = cycle,
                             .end = cycle};
    if (is_wanted(e, kind))
        send(e, &event);
}

static void launch_begins(void *context, uint32_t number, uint32_t function, uint64_t cycle)
{
    replay_events *e = context;
    e->launch = number;
    launch(e, HD_REPLAY_LAUNCH_BEGIN, function_name(e, function), cycle);
}

static void launch_ends(void *context, uint64_t cycle)
{
    replay_events *e = context;
    launch(e, HD_REPLAY_LAUNCH_END, e->part->out.rows.items[e->launch].name, cycle);
}

static void issue(void *context, const hd_sm_issue_event *sm)
{
    replay_events *e = context;
    hd_replay_event event = about(e, HD_REPLAY_ISSUE, &sm->subject, sm->cycle, sm->cycle + 1);
    event.number = sm->number;
    event.slot = sm->slot;
    event.slots = 1;
    send(e, &event);
}

static void stall(void *context, const hd_sm_stall_event *sm)
{
    replay_events *e = context;
    hd_replay_event event = about(e, HD_REPLAY_STALL, &sm->subject, sm->begin, sm->end);
    event.slot = sm->slot;
    event.slots = sm->slots;
    event.reason = hd_sm_slot_keys[sm->reason];
    send(e, &event);
}

static void wait(void *context, const hd_sm_wait_event *sm)
{
    replay_events *e = context;
    hd_replay_event event = about(e, HD_REPLAY_WAIT, &sm->subject, sm->begin, sm->end);
    event.reason = hd_sm_slot_keys[sm->state];
    send(e, &event);
}

static hd_replay_level level_of(hd_sm_level level)
{
    switch (level) {
    case HD_SM_LEVEL_REQUEST: return HD_REPLAY_LEVEL_REQUEST;
    case HD_SM_LEVEL_SHARED: return HD_REPLAY_LEVEL_SHARED;
    case HD_SM_LEVEL_L1: return HD_REPLAY_LEVEL_L1;
    case HD_SM_LEVEL_CONSTANT: return HD_REPLAY_LEVEL_CONSTANT;
    case HD_SM_LEVEL_TEXTURE: return HD_REPLAY_LEVEL_TEXTURE;
    case HD_SM_LEVEL_L2: return HD_REPLAY_LEVEL_L2;
    }
    return HD_REPLAY_LEVEL_REQUEST;
}

static void access_memory(void *context, const hd_sm_access_event *sm)
{
    replay_events *e = context;
    hd_replay_event event = about(e, HD_REPLAY_ACCESS, &sm->subject, sm->cycle, sm->cycle + 1);
    event.level = level_of((hd_sm_level)sm->level);
    event.lines = sm->lines;
    event.sectors = sm->sectors;
    event.hits = sm->hits;
    event.least_sectors = sm->least_sectors;
    event.passes = sm->passes;
    event.least_passes = sm->least_passes;
    send(e, &event);
}

static void retire(void *context, const hd_sm_retire_event *sm)
{
    replay_events *e = context;
    hd_replay_event event = about(e, HD_REPLAY_RETIRE, &sm->subject, sm->cycle, sm->cycle + 1);
    event.number = sm->number;
    send(e, &event);
}

static void warp_ends(void *context, const hd_sm_warp_event *sm)
{
    replay_events *e = context;
    hd_replay_event event = about(e, HD_REPLAY_WARP_END, &sm->subject, sm->begin, sm->end);
    send(e, &event);
}

hd_sm_listener replay_events_listener(replay_events *e)
{
    hd_sm_listener_ops *ops = HD_ARENA_NEW(&e->arena, hd_sm_listener_ops);
    *ops = (hd_sm_listener_ops){.launch_begin = launch_begins,
                                .issue = is_wanted(e, HD_REPLAY_ISSUE) ? issue : NULL,
                                .stall = is_wanted(e, HD_REPLAY_STALL) ? stall : NULL,
                                .wait = is_wanted(e, HD_REPLAY_WAIT) ? wait : NULL,
                                .access = is_wanted(e, HD_REPLAY_ACCESS) ? access_memory : NULL,
                                .retire = is_wanted(e, HD_REPLAY_RETIRE) ? retire : NULL,
                                .warp_end = is_wanted(e, HD_REPLAY_WARP_END) ? warp_ends : NULL,
                                .launch_end = launch_ends};
    return (hd_sm_listener){.ops = ops, .context = e, .sm = HD_NONE};
}

/* ---- of the interpreter ------------------------------------------------------------------------------------------ */

static void execute(replay_events *e, uint32_t cta, uint32_t warp, uint32_t function, uint32_t instruction,
                    uint32_t active, uint32_t effective)
{
    hd_replay_event event = {.kind = HD_REPLAY_ISSUE,
                             .sm = HD_REPLAY_NONE,
                             .block = cta,
                             .warp = warp,
                             .active = active,
                             .effective = effective};
    set_instruction(e, &event, function, instruction);
    send(e, &event);
}

static bool take(void *context, const hd_event *event)
{
    replay_events *e = context;
    if (event->kind == HD_EVENT_ISSUE)
        execute(e, event->cta, event->warp, event->function, event->instruction, event->active, event->effective);
    return !atomic_load_explicit(e->part->plan->options->cancel, memory_order_relaxed);
}

static bool take_segment(void *context, const hd_segment_event *s)
{
    replay_events *e = context;
    for (uint32_t i = 0; i < s->count; i++) {
        const hd_segment_part *part = hd_segment_part_at(s->parts, s->part_count, i);
        execute(e, s->cta, s->warp, s->function, part->first + i - part->at, s->masks[part->active],
                s->masks[s->effective[i]]);
    }
    return !atomic_load_explicit(e->part->plan->options->cancel, memory_order_relaxed);
}

bool replay_events_sink(replay_events *e, hd_sink *sink)
{
    *sink = (hd_sink){.take = take, .context = e, .take_segment = take_segment};
    return is_wanted(e, HD_REPLAY_ISSUE);
}

void replay_events_launch(replay_events *e, uint32_t number, bool begins)
{
    e->launch = number;
    launch(e, begins ? HD_REPLAY_LAUNCH_BEGIN : HD_REPLAY_LAUNCH_END, e->part->out.rows.items[number].name, 0);
}

/* ---- the listener ------------------------------------------------------------------------------------------------ */

bool replay_events_are_of(const replay_plan *plan, uint32_t m)
{
    const char *model = plan->options->event_model ? plan->options->event_model : plan->models[0].info->name;
    return plan->options->event && strcmp(plan->models[m].info->name, model) == 0;
}

replay_events *replay_events_new(const replay_part *part, hd_module *module, uint32_t m)
{
    replay_events *e = hd_calloc(1, sizeof *e);
    *e = (replay_events){.part = part, .module = module, .model = part->plan->models[m].info->name};
    hd_source_position(module->source, 0); /* the table of lines, which several threads read from now on */
    e->instructions = HD_ARENA_ARRAY(&e->arena, shown_instruction *, module->functions.count);
    return e;
}

void replay_events_free(replay_events *e)
{
    if (!e)
        return;
    hd_arena_free(&e->arena);
    free(e);
}
