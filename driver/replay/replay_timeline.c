/* Timelines as results: from those of the timer (hwmodel/sm/timeline.h), with texts and lines of instructions. */
#include "driver/replay/replay_work.h"

/* Number in `instructions` of the first instruction of each function; their count at the end. */
static uint32_t *first_numbers(hd_arena *arena, const hd_module *module)
{
    uint32_t *first = HD_ARENA_ARRAY(arena, uint32_t, module->functions.count + 1);
    first[0] = 0;
    for (uint32_t f = 0; f < module->functions.count; f++)
        first[f + 1] = first[f] + module->functions.items[f]->instructions.count;
    return first;
}

hd_replay_instruction replay_instruction_of(hd_arena *arena, hd_module *module, uint32_t function, uint32_t number)
{
    const hd_function *f = module->functions.items[function];
    const hd_instruction *insn = &f->instructions.items[number];
    const char *text = hd_names_text(&module->names, hd_insn_form(f, insn)->spelling);
    bool written = insn->span.end > insn->span.begin;
    return (hd_replay_instruction){hd_arena_string(arena, text, strlen(text)),
                                   written ? hd_source_position(module->source, insn->span.begin).line : 0};
}

static void fill_span(replay_part *p, hd_module *module, const uint32_t *first, hd_replay_instruction *instructions,
                      const hd_timeline_span *from, hd_replay_span *to)
{
    static const hd_replay_span_kind kinds[] = {[HD_TIMELINE_SLOT] = HD_SPAN_STALL,
                                                [HD_TIMELINE_INSTRUCTION] = HD_SPAN_INSTRUCTION,
                                                [HD_TIMELINE_WARP] = HD_SPAN_WARP};
    bool issued = from->kind == HD_TIMELINE_SLOT && from->reason == HD_SM_SLOT_ISSUED;
    *to = (hd_replay_span){.kind = issued ? HD_SPAN_ISSUE : kinds[from->kind],
                           .begin = from->begin,
                           .end = from->end,
                           .track = from->track,
                           .reason = from->reason,
                           .block = from->what.cta,
                           .warp = from->what.warp,
                           .threads = from->what.threads};
    if (to->kind != HD_SPAN_ISSUE && to->kind != HD_SPAN_INSTRUCTION)
        return;
    uint32_t number = first[from->what.function] + from->what.instruction;
    to->instruction = &instructions[number];
    if (!instructions[number].text)
        instructions[number] = replay_instruction_of(&p->arena, module, from->what.function, from->what.instruction);
}

const hd_replay_timeline *replay_timeline_of(replay_part *p, const replay_tally *t)
{
    const hd_timeline *from = t->timeline;
    if (!from)
        return NULL;
    hd_module *module = t->timed_file->module;
    const uint32_t *first = first_numbers(&p->arena, module);
    hd_replay_instruction *instructions =
        HD_ARENA_ARRAY(&p->arena, hd_replay_instruction, first[module->functions.count] + 1);
    hd_replay_span *spans = HD_ARENA_ARRAY(&p->arena, hd_replay_span, from->spans.count + 1);
    for (uint32_t i = 0; i < from->spans.count; i++)
        fill_span(p, module, first, instructions, &from->spans.items[i], &spans[i]);
    hd_replay_timeline timeline = {.sm = from->range.sm,
                                   .schedulers = p->plan->gpu->machine.core.schedulers,
                                   .issue_width = p->plan->gpu->machine.core.issue_width,
                                   .first = from->range.first,
                                   .end = from->range.end,
                                   .spans = spans,
                                   .span_count = from->spans.count};
    return hd_arena_copy(&p->arena, &timeline, sizeof timeline);
}
