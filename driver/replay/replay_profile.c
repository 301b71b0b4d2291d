/* The profile of a launch (include/heddle/replay_result.h) from what its listener counted (hwmodel/sm/profile.h):
 * instructions with their texts, source lines and live registers, and lines, the hottest first. O(n log n) in the
 * instructions of the functions that were executed. */
#include "driver/replay/replay_work.h"

#include "base/source_files.h"
#include "ir/origins.h"
#include "passes/analysis/liveness.h"

#include <stdlib.h>

typedef struct profiler {
    hd_arena *arena;
    hd_module *module;
    hd_replay_profile *profile;
    HD_ARRAY(hd_replay_profile_instruction) instructions;
    HD_ARRAY(hd_replay_profile_line) lines;
    HD_ARRAY(hd_replay_profile_source) sources;
    hd_source_files *files;
} profiler;

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static hd_replay_counts new_counts(hd_arena *arena)
{
    return (hd_replay_counts){.cycles = HD_ARENA_ARRAY(arena, uint64_t, HD_SM_STATES),
                              .slots = HD_ARENA_ARRAY(arena, uint64_t, HD_SM_SLOTS_ALL)};
}

static hd_replay_counts counts_of(hd_arena *arena, const hd_profile_counts *from)
{
    hd_replay_counts to = {.cycles = hd_arena_copy(arena, from->cycles, sizeof from->cycles),
                           .slots = hd_arena_copy(arena, from->slots, sizeof from->slots),
                           .executions = from->warps,
                           .active_lanes = from->active,
                           .executing_lanes = from->executed,
                           .requests = from->requests,
                           .sectors = from->sectors,
                           .least_sectors = from->least_sectors,
                           .l1_reads = from->l1_reads,
                           .l1_hits = from->l1_hits,
                           .l2_sectors = from->l2_sectors,
                           .l2_sector_hits = from->l2_hits,
                           .shared_accesses = from->shared_accesses,
                           .shared_passes = from->shared_passes,
                           .least_passes = from->least_passes};
    for (uint32_t s = 0; s < HD_SM_STATES; s++)
        to.all_cycles += from->cycles[s];
    return to;
}

/* `to` is of new_counts. */
static void add_counts(hd_replay_counts *to, const hd_replay_counts *more)
{
    uint64_t *cycles = (uint64_t *)(uintptr_t)to->cycles, *slots = (uint64_t *)(uintptr_t)to->slots;
    for (uint32_t s = 0; s < HD_SM_STATES; s++)
        cycles[s] += more->cycles[s];
    for (uint32_t s = 0; s < HD_SM_SLOTS_ALL; s++)
        slots[s] += more->slots[s];
    to->all_cycles += more->all_cycles;
#define HD_PROFILE_COUNT(name) to->name += more->name;
#include "emitters/replay/profile_counts.def"
#undef HD_PROFILE_COUNT
    to->live_registers = hd_max(to->live_registers, more->live_registers);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Its text in one line; of what a pass inserted, the opcode. */
static const char *text_of(const profiler *p, const hd_function *f, const hd_instruction *insn)
{
    if (insn->span.end <= insn->span.begin)
        return hd_arena_printf(p->arena, "%s ... (inserted by a pass)",
                               hd_names_text(&p->module->names, hd_insn_form(f, insn)->spelling));
    const char *from = p->module->source->text;
    char *text = hd_arena_string(p->arena, from + insn->span.begin, insn->span.end - insn->span.begin), *to = text;
    for (const char *at = text; *at; at++)
        if (!hd_is_space(*at))
            *to++ = *at;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    while (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
    return text;
}

/* By instruction, how many words of the register file hold a value that is needed: before it, or after it together
 * with its results. */
static void count_live(hd_pass_context *context, hd_function *f, hd_replay_profile_instruction *instructions)
{
    hd_arena scratch = {0};
    const hd_cfg *cfg = hd_function_cfg(f);
    const hd_liveness *liveness = hd_analysis_get(context, HD_ANALYSIS_LIVE_WORDS);
    hd_live_walk walk;
    hd_live_walk_init(&walk, &scratch, f, liveness);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        hd_live_start(&walk, b);
        for (uint32_t i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;) {
            const hd_instruction *insn = &f->instructions.items[i];
            uint32_t after = walk.count;
            HD_INSN_REGISTERS (f, insn, o)
                if (o->flags & HD_OPERAND_DEF && !hd_storage_skips(liveness->storage, i))
                    HD_STORAGE_WORDS (liveness->storage, o->value, word)
                        after += !hd_live_has(&walk, word);
            hd_live_step(&walk);
            instructions[i].counts.live_registers = hd_max(after, walk.count);
        }
    }
    hd_arena_free(&scratch);
}

static const char *kept(const profiler *p, const char *text)
{
    return text ? hd_arena_string(p->arena, text, strlen(text)) : NULL;
}

static void add_function(profiler *p, hd_pass_context *context, uint32_t number, const hd_profile_counts *counts)
{
    hd_function *f = p->module->functions.items[number];
    const char *name = kept(p, hd_names_text(&p->module->names, f->name));
    uint32_t first = p->instructions.count;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_origin_place *place = hd_instruction_place(p->module, insn);
        bool written = insn->span.end > insn->span.begin;
        hd_replay_profile_instruction to = {.function = name,
                                            .text = text_of(p, f, insn),
                                            .number = i,
                                            .inlined_file = kept(p, place->inlined.file),
                                            .inlined_line = place->inlined.line,
                                            .counts = counts_of(p->arena, &counts[i])};
        to.code_line = written ? hd_source_position(p->module->source, insn->span.begin).line : 0;
        hd_array_push(&p->instructions, to);
    }
    if (f->instructions.count)
        count_live(context, f, &p->instructions.items[first]);
}

static void add_functions(profiler *p, uint32_t launch, const hd_profile *profile)
{
    hd_diagnostics quiet;
    hd_pass_contexts contexts = {0};
    hd_diagnostics_init(&quiet);
    hd_pass_contexts_open(&contexts, p->module, &quiet);
    for (uint32_t f = 0; f < p->module->functions.count; f++) {
        const hd_profile_counts *counts = hd_profile_of(profile, launch, f);
        if (counts)
            add_function(p, &contexts.items[f], f, counts);
    }
    hd_pass_contexts_close(&contexts);
    hd_diagnostics_free(&quiet);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

typedef struct placed { /* an instruction with its place */
    const char *file;   /* NULL: code without a source line */
    uint32_t line, instruction;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    int order = x->file && y->file ? strcmp(x->file, y->file) : (y->file != NULL) - (x->file != NULL);
    if (order)
        return order;
    if (x->file && x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->instruction > y->instruction) - (x->instruction < y->instruction);
}

static bool same_line(const placed *a, const placed *b)
{
    return a->file && b->file && a->line == b->line && !strcmp(a->file, b->file);
}

/* The texts of its lines, where it may be shown. */
static hd_replay_profile_source source_of(profiler *p, const char *file)
{
    hd_replay_profile_source to = {.file = kept(p, file)};
    hd_source *source = hd_source_files_find(p->files, file, p->module->source->name);
    if (!source)
        return to;
    to.line_count = hd_source_position(source, source->length).line;
    const char **lines = HD_ARENA_ARRAY(p->arena, const char *, to.line_count);
    for (uint32_t i = 0; i < to.line_count; i++) {
        hd_span span = hd_source_line(source, i + 1);
        lines[i] = hd_arena_string(p->arena, source->text + span.begin, span.end - span.begin);
    }
    to.lines = lines;
    return to;
}

static void open_line(profiler *p, const placed *at)
{
    hd_replay_profile_line line = {.line = at->line, .counts = new_counts(p->arena)};
    if (at->file) {
        if (!p->sources.count || strcmp(hd_array_last(&p->sources).file, at->file) != 0)
            hd_array_push(&p->sources, source_of(p, at->file));
        const hd_replay_profile_source *source = &hd_array_last(&p->sources);
        line.file = source->file;
        line.text = at->line <= source->line_count && source->lines ? source->lines[at->line - 1] : NULL;
        p->profile->has_lines = true;
    } else {
        line.text = p->instructions.items[at->instruction].text;
    }
    hd_array_push(&p->lines, line);
}

/* In the order of files and lines; code without lines comes last. */
static void add_lines(profiler *p, const placed *places)
{
    for (uint32_t i = 0; i < p->instructions.count; i++) {
        if (!i || !same_line(&places[i - 1], &places[i]))
            open_line(p, &places[i]);
        hd_replay_profile_instruction *instruction = &p->instructions.items[places[i].instruction];
        hd_replay_profile_line *line = &hd_array_last(&p->lines);
        instruction->line = p->lines.count - 1;
        line->instructions++;
        add_counts(&line->counts, &instruction->counts);
    }
}

typedef struct ranked {
    uint64_t cycles, executions;
    uint32_t line;
} ranked;

static int by_heat(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->cycles != y->cycles)
        return x->cycles > y->cycles ? -1 : 1;
    if (x->executions != y->executions)
        return x->executions > y->executions ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static void sort_lines(profiler *p)
{
    uint32_t count = p->lines.count;
    ranked *order = HD_ARENA_ARRAY(p->arena, ranked, count);
    uint32_t *place = HD_ARENA_ARRAY(p->arena, uint32_t, count);
    hd_replay_profile_line *lines = HD_ARENA_ARRAY(p->arena, hd_replay_profile_line, count);
    for (uint32_t i = 0; i < count; i++)
        order[i] = (ranked){p->lines.items[i].counts.all_cycles, p->lines.items[i].counts.executions, i};
    if (count)
        qsort(order, count, sizeof *order, by_heat);
    for (uint32_t i = 0; i < count; i++) {
        lines[i] = p->lines.items[order[i].line];
        place[order[i].line] = i;
    }
    for (uint32_t i = 0; i < p->instructions.count; i++)
        p->instructions.items[i].line = place[p->instructions.items[i].line];
    p->profile->lines = lines;
    p->profile->line_count = count;
}

/* `functions` have their instructions in `instructions`, in this order. */
static void find_lines(profiler *p, uint32_t launch, const hd_profile *profile)
{
    placed *places = HD_ARENA_ARRAY(p->arena, placed, p->instructions.count);
    uint32_t at = 0;
    for (uint32_t f = 0; f < p->module->functions.count; f++) {
        const hd_function *function = p->module->functions.items[f];
        for (uint32_t i = 0; hd_profile_of(profile, launch, f) && i < function->instructions.count; i++, at++) {
            const hd_origin_place *place = hd_instruction_place(p->module, &function->instructions.items[i]);
            bool has_line = place->at.file != NULL;
            places[at] = (placed){place->at.file, has_line ? place->at.line : p->instructions.items[at].code_line, at};
        }
    }
    if (at)
        qsort(places, at, sizeof *places, by_place);
    add_lines(p, places);
    sort_lines(p);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void sum_up(profiler *p)
{
    p->profile->total = new_counts(p->arena);
    add_counts(&p->profile->total, &p->profile->rest);
    for (uint32_t i = 0; i < p->profile->line_count; i++)
        add_counts(&p->profile->total, &p->profile->lines[i].counts);
}

const hd_replay_profile *replay_profile_of(replay_part *part, uint32_t launch, const replay_tally *tally)
{
    const hd_profile_counts *rest = tally->profile ? hd_profile_rest(tally->profile, launch) : NULL;
    if (!rest)
        return NULL;
    profiler p = {.arena = &part->arena, .module = tally->timed_module};
    p.profile = HD_ARENA_NEW(p.arena, hd_replay_profile);
    p.files = hd_source_files_new(part->plan->options->given);
    p.profile->is_machine = p.module->is_machine;
    p.profile->rest = counts_of(p.arena, rest);
    add_functions(&p, launch, tally->profile);
    find_lines(&p, launch, tally->profile);
    p.profile->instructions =
        hd_arena_copy(p.arena, p.instructions.items, p.instructions.count * sizeof *p.instructions.items);
    p.profile->instruction_count = p.instructions.count;
    p.profile->sources = hd_arena_copy(p.arena, p.sources.items, p.sources.count * sizeof *p.sources.items);
    p.profile->source_count = p.sources.count;
    sum_up(&p);
    hd_source_files_free(p.files);
    hd_array_free(&p.instructions);
    hd_array_free(&p.lines);
    hd_array_free(&p.sources);
    return p.profile;
}
