/* Positions in the PTX text and in the source that .loc names, and the contents of source lines. O(n log n) in
 * instructions, for sorting. */
#include "driver/report/report_work.h"
#include "ir/origins.h"

#include <stdlib.h>

/* ---- positions --------------------------------------------------------------------------------------------------- */

hd_report_position report_position(const report_common *c, const hd_instruction *insn)
{
    hd_report_position position = {0};
    const hd_origin_place *place = hd_instruction_place(c->module, insn);
    if (insn->span.end > insn->span.begin)
        position.ptx_line = hd_source_position(c->module->source, insn->span.begin).line;
    position.in_listing = c->module->is_machine;
    if (place->at.file) {
        position.file = place->at.file;
        position.line = place->at.line;
        position.column = place->at.column;
    }
    if (place->inlined.file) {
        position.inlined_file = place->inlined.file;
        position.inlined_line = place->inlined.line;
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
        .ptx_line = hd_source_position(work->common->module->source, work->input->header_span.begin).line,
        .in_listing = work->common->module->is_machine};
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
    const hd_origin *at;
    uint32_t live;
    bool inlined;
} line_entry;
typedef HD_ARRAY(line_entry) line_list;

static int compare_lines(const void *a, const void *b)
{
    const hd_origin *x = ((const line_entry *)a)->at, *y = ((const line_entry *)b)->at;
    int order = x->file == y->file ? 0 : strcmp(x->file, y->file);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static void add_lines(report_kernel_work *work, line_list *list, uint32_t i)
{
    uint32_t origin = work->function->instructions.items[i].origin, live = work->kernel->instructions[i].live;
    if (origin >= work->input->instructions.count)
        return;
    const hd_origin_place *place = hd_instruction_place(work->common->module, &work->input->instructions.items[origin]);
    const hd_origin *at = &place->at, *inlined = &place->inlined;
    if (at->file)
        hd_array_push(list, (line_entry){at, live, inlined->line != 0});
    if (inlined->file && (!at->file || inlined->line != at->line || strcmp(inlined->file, at->file) != 0))
        hd_array_push(list, (line_entry){inlined, live, false});
}

static void join_lines(report_kernel_work *work, const line_list *list)
{
    hd_report_kernel *k = work->kernel;
    k->lines = HD_ARENA_ARRAY(work->arena, hd_report_line, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        const line_entry *e = &list->items[i];
        if (!i || compare_lines(e - 1, e))
            k->lines[k->line_count++] = (hd_report_line){.file = e->at->file, .line = e->at->line, .inlined = true};
        hd_report_line *line = &k->lines[k->line_count - 1];
        line->instructions++;
        line->max_pressure = hd_max(line->max_pressure, e->live);
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
