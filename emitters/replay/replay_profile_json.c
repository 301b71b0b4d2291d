/* The profile of a replay as JSON: see replay_json.h and heddle-json(5). Linear. */
#include "emitters/replay/replay_json.h"

/* Those that are not 0. */
static void write_named(hd_json *j, const char *key, const hd_replay_slot *names, uint32_t count,
                        const uint64_t *values)
{
    hd_json_object(j, key);
    for (uint32_t i = 0; i < count; i++)
        if (values[i])
            hd_json_count(j, names[i].key, values[i]);
    hd_json_end(j);
}

static void write_counts(hd_json *j, const hd_replay_report *report, const hd_replay_counts *c)
{
    write_named(j, "warp_cycles", report->states, report->state_count, c->cycles);
    write_named(j, "issue_slots", report->slots, report->slot_count, c->slots);
#define HD_PROFILE_COUNT(name) hd_json_count(j, #name, c->name);
#include "emitters/replay/profile_counts.def"
#undef HD_PROFILE_COUNT
    hd_json_number(j, "live_registers", c->live_registers);
}

static void write_line(hd_json *j, const hd_replay_report *report, const hd_replay_profile_line *l)
{
    hd_json_object(j, NULL);
    hd_json_text(j, "file", l->file);
    hd_json_number(j, "line", l->line);
    hd_json_text(j, "text", l->text);
    hd_json_number(j, "instructions", l->instructions);
    write_counts(j, report, &l->counts);
    hd_json_end(j);
}

static void write_inlined(hd_json *j, const hd_replay_profile_instruction *i)
{
    if (!i->inlined_file) {
        hd_json_null(j, "inlined_at");
        return;
    }
    hd_json_object(j, "inlined_at");
    hd_json_text(j, "file", i->inlined_file);
    hd_json_number(j, "line", i->inlined_line);
    hd_json_end(j);
}

static void write_instruction(hd_json *j, const hd_replay_report *report, const hd_replay_profile *p,
                              const hd_replay_profile_instruction *i)
{
    const hd_replay_profile_line *line = &p->lines[i->line];
    hd_json_object(j, NULL);
    hd_json_text(j, "function", i->function);
    hd_json_number(j, "number", i->number);
    hd_json_text(j, "text", i->text);
    hd_json_number(j, "code_line", i->code_line);
    hd_json_text(j, "file", line->file);
    if (line->file)
        hd_json_number(j, "line", line->line);
    else
        hd_json_null(j, "line");
    write_inlined(j, i);
    write_counts(j, report, &i->counts);
    hd_json_end(j);
}

void hd_replay_write_profile_json(hd_json *j, const hd_replay_report *report, const hd_replay_profile *p)
{
    if (!p) {
        hd_json_null(j, "profile");
        return;
    }
    hd_json_object(j, "profile");
    hd_json_text(j, "model", "baseline");
    hd_json_text(j, "code", p->is_machine ? "machine" : "ptx");
    hd_json_bool(j, "source_lines", p->has_lines);
    write_counts(j, report, &p->total);
    hd_json_object(j, "no_instruction");
    write_named(j, "warp_cycles", report->states, report->state_count, p->rest.cycles);
    write_named(j, "issue_slots", report->slots, report->slot_count, p->rest.slots);
    hd_json_end(j);
    hd_json_array(j, "lines");
    for (uint32_t i = 0; i < p->line_count; i++)
        write_line(j, report, &p->lines[i]);
    hd_json_end(j);
    hd_json_array(j, "instructions");
    for (uint32_t i = 0; i < p->instruction_count; i++)
        write_instruction(j, report, p, &p->instructions[i]);
    hd_json_end(j);
    hd_json_end(j);
}
