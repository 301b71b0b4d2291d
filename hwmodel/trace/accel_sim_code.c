/* The code of a trace: see accel_sim.h.
 *
 * Guards: a backward walk over each warp's lines keeps, for each register, the lanes whose value is read later. A write
 * that leaves such a lane out needs a guard; others overwrite all that matters, in whatever lanes they execute.
 */
#include "hwmodel/trace/accel_sim.h"
#include "ir/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { RZ = 255 };

/* ---- order ------------------------------------------------------------------------------------------------------- */

typedef struct keyed_code {
    uint64_t pc;
    uint32_t code;
    bool later; /* not the entry */
} keyed_code;

static int compare_code(const void *a, const void *b)
{
    const keyed_code *left = a, *right = b;
    if (left->later != right->later)
        return left->later ? 1 : -1;
    if (left->pc != right->pc)
        return left->pc < right->pc ? -1 : 1;
    return left->code < right->code ? -1 : left->code > right->code;
}

static int compare_ctas(const void *a, const void *b)
{
    uint32_t left = ((const hd_traced_cta *)a)->index, right = ((const hd_traced_cta *)b)->index;
    return left < right ? -1 : left > right;
}

static void for_each_warp(hd_traced *t,
                          void (*visit)(hd_traced *t, const hd_traced_warp *warp, uint32_t index, void *context),
                          void *context)
{
    for (uint32_t c = 0; c < t->ctas.count; c++)
        for (uint32_t w = 0; w < t->cta_warps; w++)
            visit(t, &t->ctas.items[c].warps[w], w, context);
}

static void renumber(hd_traced *t, const hd_traced_warp *warp, uint32_t index, void *context)
{
    const uint32_t *number = context;
    (void)t;
    (void)index;
    for (uint32_t i = 0; i < warp->count; i++)
        warp->items[i].code = number[warp->items[i].code];
}

static void find_entry(hd_traced *t, const hd_traced_warp *warp, uint32_t index, void *context)
{
    uint32_t *entry = context;
    (void)index;
    if (!warp->count)
        return;
    t->several_entries |= *entry != HD_NONE && *entry != warp->items[0].code;
    *entry = warp->items[0].code;
}

/* By address, after the instruction with which warps begin. */
static void sort_code(hd_traced *t)
{
    uint32_t count = t->code.count, entry = HD_NONE;
    for_each_warp(t, find_entry, &entry);
    entry = t->several_entries ? HD_NONE : entry;
    keyed_code *keyed = hd_calloc(count, sizeof *keyed);
    uint32_t *number = hd_calloc(count, sizeof *number);
    hd_traced_code *sorted = hd_calloc(count, sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        keyed[i] = (keyed_code){t->code.items[i].pc, i, i != entry};
    qsort(keyed, count, sizeof *keyed, compare_code);
    for (uint32_t i = 0; i < count; i++) {
        number[keyed[i].code] = i;
        sorted[i] = t->code.items[keyed[i].code];
    }
    memcpy(t->code.items, sorted, count * sizeof *sorted);
    for_each_warp(t, renumber, number);
    free(sorted);
    free(number);
    free(keyed);
}

/* ---- successors -------------------------------------------------------------------------------------------------- */

static void add_successor(hd_traced_code *c, uint32_t next)
{
    for (uint32_t i = c->successors.count; i-- > 0;)
        if (c->successors.items[i] == next)
            return;
    hd_array_push(&c->successors, next);
}

static void find_successors(hd_traced *t, const hd_traced_warp *warp, uint32_t index, void *context)
{
    (void)index;
    (void)context;
    for (uint32_t i = 0; i < warp->count; i++)
        add_successor(&t->code.items[warp->items[i].code],
                      i + 1 < warp->count ? warp->items[i + 1].code : (uint32_t)HD_NONE);
}

/* ---- what an instruction is -------------------------------------------------------------------------------------- */

static bool is_waiting(const hd_sass_row *row, const hd_sass_form *form)
{
    return row && row->control == HD_SASS_CONTROL_BARRIER && !hd_sass_form_has(form, ".ARV");
}

static void classify(hd_traced *t, hd_traced_code *c)
{
    hd_arena scratch = {0};
    const hd_sass_form *form = hd_sass_form_of(t->source->text + c->opcode.begin, c->opcode.end - c->opcode.begin,
                                               hd_sass_generation(t->sm), &scratch);
    const hd_sass_row *row = hd_sass_form_row(form);
    hd_sass_resolve_list(form, &c->list);
    c->leaves = row && (row->control == HD_SASS_CONTROL_EXIT || row->control == HD_SASS_CONTROL_KILL);
    c->waits = is_waiting(row, form);
    c->space = row ? row->space : HD_SASS_SPACE_NONE;
    c->operands = HD_ARENA_ARRAY(&t->arena, hd_traced_operand, c->list.count);
    for (uint32_t i = 0; i < c->list.count; i++) {
        uint32_t most = RZ - c->registers[i];
        uint8_t words = (uint8_t)hd_min(c->list.words[i], most);
        if (words)
            c->operands[c->operand_count++] =
                (hd_traced_operand){c->registers[i], words, c->list.role[i] == HD_SASS_WRITTEN};
    }
    hd_arena_free(&scratch);
}

/* ---- guards ------------------------------------------------------------------------------------------------------ */

static void find_guards(hd_traced *t, const hd_traced_warp *warp, uint32_t index, void *context)
{
    uint32_t live[RZ + 1] = {0}; /* by register: lanes that read it later */
    (void)index;
    (void)context;
    for (uint32_t i = warp->count; i-- > 0;) {
        hd_traced_code *c = &t->code.items[warp->items[i].code];
        hd_traced_line line;
        hd_traced_read_line(t, warp->items[i].begin, false, &line);
        for (const hd_traced_operand *o = c->operands; o < c->operands + c->operand_count; o++)
            for (uint32_t w = 0; w < o->words && o->written; w++) {
                uint32_t *lanes = &live[o->number + w];
                c->guarded |= (*lanes & ~line.mask) != 0;
                *lanes &= ~line.mask;
            }
        for (const hd_traced_operand *o = c->operands; o < c->operands + c->operand_count; o++)
            for (uint32_t w = 0; w < o->words && !o->written; w++)
                live[o->number + w] |= line.mask;
    }
}

/* ---- is it whole? ------------------------------------------------------------------------------------------------ */

typedef struct warp_counts {
    uint64_t present, unended;
} warp_counts;

static void count_warp(hd_traced *t, const hd_traced_warp *warp, uint32_t index, void *context)
{
    warp_counts *counts = context;
    (void)index;
    counts->present += warp->count != 0;
    counts->unended += warp->count && !t->code.items[warp->items[warp->count - 1].code].leaves;
}

/* Reports what is missing of the grid, at the first line. */
static void check_whole(hd_traced *t, bool partial)
{
    uint64_t blocks = (uint64_t)t->grid[0] * t->grid[1] * t->grid[2];
    uint64_t warps = (uint64_t)t->ctas.count * t->cta_warps;
    warp_counts counts = {0};
    for_each_warp(t, count_warp, &counts);
    if (t->ctas.count == blocks && counts.present == warps && !counts.unended)
        return;
    const char *text = t->source->text;
    hd_report(t->diagnostics, partial ? HD_DIAG_PARTIAL_TRACE : HD_DIAG_BAD_TRACE, t->source,
              (hd_span){0, (uint32_t)strcspn(text, "\r\n")},
              "the trace is not whole: it has %u of %" PRIu64 " blocks, instructions of %" PRIu64 " of their %" PRIu64
              " warps, and the exits of %" PRIu64 " of these%s",
              t->ctas.count, blocks, counts.present, warps, counts.present - counts.unended,
              partial ? "" : "; --partial replays what is there");
}

void hd_traced_finish(hd_traced *t, const hd_traced_options *options)
{
    qsort(t->ctas.items, t->ctas.count, sizeof *t->ctas.items, compare_ctas);
    sort_code(t);
    for (uint32_t i = 0; i < t->code.count; i++)
        classify(t, &t->code.items[i]);
    check_whole(t, options->partial);
    if (options->listing)
        hd_traced_join(t, options->listing);
    for_each_warp(t, find_successors, NULL);
    for_each_warp(t, find_guards, NULL);
}

/* ---- the module -------------------------------------------------------------------------------------------------- */

typedef struct builder {
    const hd_traced *t;
    hd_module *module;
    hd_function *f;
    uint32_t general[RZ]; /* register ids; HD_NONE: not mentioned yet */
    uint32_t guard;       /* HD_NONE: none needed yet */
    uint32_t *labels;     /* by ordinal, and the end; HD_NONE: none yet */
    uint32_t registers;   /* highest number plus 1 */
} builder;

static uint32_t add_register(builder *b, const char *stem, hd_type type, uint32_t declaration, uint32_t index)
{
    hd_array_push(&b->f->registers, (hd_register){.name = hd_names_add_string(&b->module->names, stem),
                                                  .index = index,
                                                  .declaration = declaration,
                                                  .type = (uint8_t)type,
                                                  .vector = 1});
    return b->f->registers.count - 1;
}

static void declare(builder *b, const char *stem, hd_type type, uint32_t count)
{
    hd_array_push(&b->f->declarations, (hd_declaration){.name = hd_names_add_string(&b->module->names, stem),
                                                        .count = count,
                                                        .type = (uint8_t)type,
                                                        .vector = 1,
                                                        .depth = 1});
}

static void push_register(builder *b, uint32_t number, bool written, uint32_t begin)
{
    uint32_t *id = &b->general[number];
    if (*id == HD_NONE)
        *id = add_register(b, "R", HD_TYPE_B32, 0, number);
    b->registers = hd_max(b->registers, number + 1);
    uint8_t flags = written ? HD_OPERAND_DEF : HD_OPERAND_USE;
    hd_array_push(&b->f->operands,
                  (hd_operand){.kind = HD_OPERAND_REGISTER, .flags = flags, .begin = begin, .value = *id});
}

static void push_registers(builder *b, const hd_traced_code *c)
{
    for (const hd_traced_operand *o = c->operands; o < c->operands + c->operand_count; o++) {
        if (o->words > 1)
            hd_array_push(&b->f->operands,
                          (hd_operand){.kind = HD_OPERAND_VECTOR, .count = o->words, .begin = c->opcode.end});
        for (uint32_t w = 0; w < o->words; w++)
            push_register(b, o->number + w, o->written, c->opcode.end);
    }
}

static uint32_t label_at(builder *b, uint32_t ordinal)
{
    char name[32];
    if (b->labels[ordinal] != HD_NONE)
        return b->labels[ordinal];
    int length = ordinal < b->t->code.count
                     ? snprintf(name, sizeof name, "0x%llx", (unsigned long long)b->t->code.items[ordinal].pc)
                     : snprintf(name, sizeof name, "end");
    hd_array_push(&b->f->labels, (hd_label){hd_names_add(&b->module->names, name, (size_t)length), ordinal, {0, 0}});
    return b->labels[ordinal] = b->f->labels.count - 1;
}

/* Where lanes or warps go on, if that is not only at the next instruction. */
static bool jumps(const builder *b, uint32_t ordinal)
{
    const hd_u32_array *next = &b->t->code.items[ordinal].successors;
    for (uint32_t i = 0; i < next->count; i++)
        if (next->items[i] != ordinal + 1)
            return true;
    return false;
}

static void push_table(builder *b, uint32_t ordinal)
{
    const hd_u32_array *next = &b->t->code.items[ordinal].successors;
    hd_function *f = b->f;
    hd_array_push(&f->operands, (hd_operand){.kind = HD_OPERAND_TABLE, .begin = HD_NONE, .value = f->tables.count});
    hd_array_push(&f->tables,
                  (hd_table){.kind = HD_TABLE_BRANCH_TARGETS, .first = f->table_entries.count, .count = next->count});
    for (uint32_t i = 0; i < next->count; i++)
        hd_array_push(&f->table_entries, label_at(b, next->items[i] == HD_NONE ? b->t->code.count : next->items[i]));
}

static uint32_t guard_of(builder *b, const hd_traced_code *c)
{
    if (!c->guarded)
        return HD_NONE;
    if (b->guard == HD_NONE)
        b->guard = add_register(b, "P", HD_TYPE_PRED, 1, 0);
    return b->guard;
}

static void add_instruction(builder *b, uint32_t ordinal)
{
    const hd_traced_code *c = &b->t->code.items[ordinal];
    hd_function *f = b->f;
    uint32_t generation = f->machine->generation, first = f->operands.count;
    hd_name spelling =
        hd_names_add_padded(&b->module->names, b->t->source->text + c->opcode.begin, c->opcode.end - c->opcode.begin);
    uint32_t form = hd_machine_form_of(b->module, spelling, generation, HD_MACHINE_TRACED);
    uint32_t behaviour = b->module->forms.items[form].behaviour;
    const uint32_t control = HD_BEHAVE_BRANCH | HD_BEHAVE_EXIT;
    bool elsewhere = jumps(b, ordinal), only_ends = c->successors.count == 1 && c->successors.items[0] == HD_NONE;
    push_registers(b, c);
    if (elsewhere && !only_ends && !(behaviour & control))
        form = hd_machine_form_of(b->module, spelling, generation, HD_MACHINE_TRACED_JUMP);
    if (behaviour & HD_BEHAVE_BRANCH || (!only_ends && (elsewhere || behaviour & HD_BEHAVE_EXIT)))
        push_table(b, ordinal);
    uint32_t id = f->next_instruction_id++;
    hd_instruction insn = {.id = id,
                           .origin = id,
                           .span = c->line,
                           .form = form,
                           .operand_first = first,
                           .operand_count = (uint16_t)(f->operands.count - first),
                           .guard = guard_of(b, c),
                           .location = HD_NONE};
    hd_array_push(&f->statements, (hd_statement){HD_STATEMENT_INSTRUCTION, ordinal, c->line});
    hd_array_push(&f->instructions, insn);
}

static hd_function *new_function(builder *b, hd_machine_function *machine)
{
    hd_module *m = b->module;
    hd_name name = hd_names_add_string(&m->names, b->t->kernel);
    hd_function *f = b->f = hd_function_new(m, name);
    f->symbol = m->symbols.count;
    f->is_entry = f->has_body = true;
    f->machine = machine;
    f->body.end = b->t->source->length;
    hd_array_push(&m->symbols,
                  (hd_symbol){.name = name, .kind = HD_SYMBOL_FUNCTION, .function = f->index, .vector = 1});
    hd_array_push(&m->statements, (hd_statement){HD_STATEMENT_FUNCTION, f->index, {0, b->t->source->length}});
    declare(b, "R", HD_TYPE_B32, RZ);
    declare(b, "P", HD_TYPE_PRED, 7);
    hd_array_reserve(&f->operands, 1); /* never NULL */
    return f;
}

static const hd_machine_slots *slots_of(const builder *b)
{
    hd_machine_slots *slots = HD_ARENA_ARRAY(&b->module->arena, hd_machine_slots, b->t->code.count);
    for (uint32_t i = 0; i < b->t->code.count; i++)
        slots[i] = b->t->code.items[i].slots;
    return slots;
}

static const hd_machine_line *lines_of(const builder *b)
{
    hd_machine_line *lines = HD_ARENA_ARRAY(&b->module->arena, hd_machine_line, b->t->code.count);
    for (uint32_t i = 0; i < b->t->code.count; i++)
        lines[i] = (hd_machine_line){(uint32_t)b->t->code.items[i].pc, HD_NONE};
    return lines;
}

hd_module *hd_traced_module(hd_traced *t)
{
    builder b = {.t = t, .module = hd_module_new(t->source, t->diagnostics), .guard = HD_NONE};
    uint32_t count = t->code.count;
    b.module->is_machine = true;
    b.module->address_bits = 64;
    b.module->target_number = t->sm;
    hd_machine_function *machine = HD_ARENA_NEW(&b.module->arena, hd_machine_function);
    machine->sm = t->sm;
    machine->generation = hd_sass_generation(t->sm);
    new_function(&b, machine);
    b.labels = hd_malloc((count + 1) * sizeof *b.labels);
    memset(b.labels, 0xff, (count + 1) * sizeof *b.labels);
    memset(b.general, 0xff, sizeof b.general);
    for (uint32_t i = 0; i < count; i++)
        add_instruction(&b, i);
    free(b.labels);
    machine->allocated = t->registers;
    machine->traced = true;
    machine->registers = hd_max(t->registers, b.registers);
    machine->predicates = b.guard != HD_NONE;
    machine->lines = lines_of(&b);
    machine->slots = slots_of(&b);
    machine->reuse = HD_ARENA_ARRAY(&b.module->arena, uint8_t, count);
    hd_module_index(b.module);
    return b.module;
}
