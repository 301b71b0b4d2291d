/* Positions in the PTX text and in the source that .loc names, and the contents of source lines. O(n log n) in
 * instructions, for sorting. */
#include "driver/report/report_work.h"

#include <stdlib.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    const hd_file *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

typedef struct named_file {
    const char *name;
    uint32_t index;
} named_file;

static int compare_names(const void *a, const void *b)
{
    const named_file *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

void report_prepare_files(report_common *c, hd_arena *arena)
{
    const hd_module *module = c->module;
    uint32_t count = module->files.count, rank = 0;
    named_file *named = HD_ARENA_ARRAY(arena, named_file, count);
    c->file_names = HD_ARENA_ARRAY(arena, const char *, count);
    c->file_ranks = HD_ARENA_ARRAY(arena, uint32_t, count);
    c->files_by_number = HD_ARENA_ARRAY(arena, hd_file, count);
    for (uint32_t i = 0; i < count; i++) {
        c->file_names[i] = hd_names_text(&module->names, module->files.items[i].name);
        c->files_by_number[i] = (hd_file){module->files.items[i].number, i};
        named[i] = (named_file){c->file_names[i], i};
    }
    if (!count)
        return;
    qsort(c->files_by_number, count, sizeof *c->files_by_number, compare_numbers);
    qsort(named, count, sizeof *named, compare_names);
    for (uint32_t i = 0; i < count; i++) {
        rank += i && strcmp(named[i - 1].name, named[i].name) != 0;
        c->file_ranks[named[i].index] = rank;
    }
}

/* Index in module->files, or HD_NONE. */
static uint32_t file_of(const report_common *c, uint32_t number)
{
    hd_file key = {number, 0};
    const hd_file *found = c->module->files.count
                               ? bsearch(&key, c->files_by_number, c->module->files.count, sizeof key, compare_numbers)
                               : NULL;
    return found ? found->name : HD_NONE;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

hd_report_position report_position(const report_common *c, const hd_instruction *insn)
{
    hd_report_position position = {0};
    if (insn->span.end > insn->span.begin)
        position.ptx_line = hd_source_position(c->module->source, insn->span.begin).line;
    if (insn->location == HD_NONE)
        return position;
    const hd_location *l = &c->module->locations.items[insn->location];
    uint32_t file = file_of(c, l->file), inlined = l->inlined_line ? file_of(c, l->inlined_file) : HD_NONE;
    if (file != HD_NONE && l->line) {
        position.file = c->file_names[file];
        position.line = l->line;
        position.column = l->column;
    }
    if (inlined != HD_NONE) {
        position.inlined_file = c->file_names[inlined];
        position.inlined_line = l->inlined_line;
    }
    return position;
}

static void set_instruction_positions(report_kernel_work *work)
{
    const hd_function *f = work->function;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (insn->origin < work->input->instructions.count)
            work->kernel->instructions[i].position =
                report_position(work->common, &work->input->instructions.items[insn->origin]);
    }
}

static void set_header_position(report_kernel_work *work)
{
    hd_report_kernel *k = work->kernel;
    k->position = (hd_report_position){
        .ptx_line = hd_source_position(work->common->module->source, work->input->header_span.begin).line};
    for (uint32_t i = 0; i < work->input->instructions.count; i++) {
        hd_report_position position = report_position(work->common, &work->input->instructions.items[i]);
        if (!position.file || position.inlined_file)
            continue;
        k->position.file = position.file;
        k->position.line = position.line;
        return;
    }
}

static void find_removed(report_kernel_work *work)
{
    const hd_function *f = work->function, *input = work->input;
    hd_report_kernel *k = work->kernel;
    hd_bitset kept = hd_bitset_new(&work->scratch, input->instructions.count);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (f->instructions.items[i].origin < kept.bits)
            hd_bitset_add(&kept, f->instructions.items[i].origin);
    k->removed_lines = hd_arena_alloc(work->arena, ((size_t)kept.bits - hd_bitset_count(&kept) + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < kept.bits; i++)
        if (!hd_bitset_has(&kept, i))
            k->removed_lines[k->removed_line_count++] =
                hd_source_position(work->common->module->source, input->instructions.items[i].span.begin).line;
}

/* ---- source lines ------------------------------------------------------------------------------------------------ */

typedef struct line_entry {
    uint32_t rank, line, file, live;
    bool inlined;
} line_entry;
typedef HD_ARRAY(line_entry) line_list;

static int compare_lines(const void *a, const void *b)
{
    const line_entry *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void add_line(report_kernel_work *work, line_list *list, uint32_t number, uint32_t line, uint32_t live,
                     bool inlined)
{
    uint32_t file = line ? file_of(work->common, number) : HD_NONE;
    if (file != HD_NONE)
        hd_array_push(list, (line_entry){work->common->file_ranks[file], line, file, live, inlined});
}

static void add_lines(report_kernel_work *work, line_list *list, uint32_t i)
{
    uint32_t origin = work->function->instructions.items[i].origin, live = work->kernel->instructions[i].live;
    if (origin >= work->input->instructions.count)
        return;
    uint32_t location = work->input->instructions.items[origin].location;
    if (location == HD_NONE)
        return;
    const hd_location *l = &work->common->module->locations.items[location];
    add_line(work, list, l->file, l->line, live, l->inlined_line != 0);
    if (l->inlined_line && (l->inlined_file != l->file || l->inlined_line != l->line))
        add_line(work, list, l->inlined_file, l->inlined_line, live, false);
}

static void join_lines(report_kernel_work *work, const line_list *list)
{
    hd_report_kernel *k = work->kernel;
    k->lines = HD_ARENA_ARRAY(work->arena, hd_report_line, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        const line_entry *e = &list->items[i];
        if (!i || compare_lines(e - 1, e))
            k->lines[k->line_count++] =
                (hd_report_line){.file = work->common->file_names[e->file], .line = e->line, .inlined = true};
        hd_report_line *line = &k->lines[k->line_count - 1];
        line->instructions++;
        line->max_pressure = e->live > line->max_pressure ? e->live : line->max_pressure;
        line->inlined &= e->inlined;
    }
}

void report_lines(report_kernel_work *work)
{
    line_list list = {0};
    set_header_position(work);
    set_instruction_positions(work);
    find_removed(work);
    for (uint32_t i = 0; i < work->function->instructions.count; i++)
        add_lines(work, &list, i);
    if (list.count)
        qsort(list.items, list.count, sizeof *list.items, compare_lines);
    join_lines(work, &list);
    hd_array_free(&list);
}
