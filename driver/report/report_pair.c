/* PTX and its machine code beside each other: kernels by name, then source lines, where both have them.
 *
 * A file that one side names by a longer path is the same: the shorter name is the end of the longer, from a slash on.
 * O(n log n) in source lines.
 */
#include "driver/report/report.h"

#include <stdlib.h>

static bool is_same_file(const char *a, const char *b)
{
    size_t x = strlen(a), y = strlen(b);
    const char *longer = x > y ? a : b, *shorter = x > y ? b : a;
    size_t more = x > y ? x - y : y - x;
    return strcmp(longer + more, shorter) == 0 && (!more || longer[more - 1] == '/');
}

static int compare_numbers(const void *a, const void *b)
{
    const hd_report_line *x = *(const hd_report_line *const *)a, *y = *(const hd_report_line *const *)b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line) : strcmp(x->file, y->file);
}

static int compare_pairs(const void *a, const void *b)
{
    const hd_report_pair_line *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* The lines of a kernel by number. */
static const hd_report_line **by_number(const hd_report_kernel *k, hd_arena *arena)
{
    const hd_report_line **lines = HD_ARENA_ARRAY(arena, const hd_report_line *, k->line_count + 1);
    for (uint32_t i = 0; i < k->line_count; i++)
        lines[i] = &k->lines[i];
    if (k->line_count)
        qsort(lines, k->line_count, sizeof *lines, compare_numbers);
    return lines;
}

static hd_report_pair_line *add_line(hd_report_pair *pair, const hd_report_line *line)
{
    hd_report_pair_line *row = &pair->lines[pair->line_count++];
    *row = (hd_report_pair_line){.file = line->file, .line = line->line};
    return row;
}

/* Both lists by number: those of one number are compared by file. */
static void join_lines(hd_report_pair *pair, const hd_report_kernel *ptx, hd_arena *arena)
{
    const hd_report_line **left = by_number(ptx, arena), **right = by_number(pair->machine, arena);
    uint32_t lefts = ptx->line_count, rights = pair->machine->line_count, r = 0;
    pair->lines = HD_ARENA_ARRAY(arena, hd_report_pair_line, (size_t)lefts + rights + 1);
    for (uint32_t l = 0; lefts && rights && (l < lefts || r < rights);) {
        uint32_t number =
            l < lefts && (r >= rights || left[l]->line <= right[r]->line) ? left[l]->line : right[r]->line;
        uint32_t first = pair->line_count;
        for (; l < lefts && left[l]->line == number; l++) {
            hd_report_pair_line *row = add_line(pair, left[l]);
            row->ptx_instructions = left[l]->instructions;
            row->ptx_pressure = left[l]->max_pressure;
        }
        for (; r < rights && right[r]->line == number; r++) {
            uint32_t at = first;
            while (at < pair->line_count && !is_same_file(pair->lines[at].file, right[r]->file))
                at++;
            hd_report_pair_line *row = at < pair->line_count ? &pair->lines[at] : add_line(pair, right[r]);
            row->machine_instructions += right[r]->instructions;
            row->machine_pressure = hd_max(row->machine_pressure, right[r]->max_pressure);
        }
    }
    if (pair->line_count)
        qsort(pair->lines, pair->line_count, sizeof *pair->lines, compare_pairs);
}

/* The kernel's machine code: that of the architecture that the report is for, else the first. */
static const hd_report_kernel *find_kernel(const hd_report_module *machine, const hd_report_kernel *ptx)
{
    const hd_report_kernel *found = NULL;
    for (uint32_t k = 0; k < machine->kernel_count; k++) {
        const hd_report_kernel *candidate = &machine->kernels[k];
        if (strcmp(candidate->name, ptx->name) == 0 && (!found || strcmp(candidate->arch, ptx->arch) == 0))
            found = found && strcmp(found->arch, ptx->arch) == 0 ? found : candidate;
    }
    return found;
}

uint32_t hd_report_join(hd_report_module *ptx, const hd_report_module *machine, hd_arena *arena)
{
    uint32_t joined = 0;
    ptx->assembled = machine;
    for (uint32_t k = 0; k < ptx->kernel_count; k++) {
        const hd_report_kernel *found = find_kernel(machine, &ptx->kernels[k]);
        if (!found)
            continue;
        hd_report_pair *pair = HD_ARENA_NEW(arena, hd_report_pair);
        pair->machine = found;
        join_lines(pair, &ptx->kernels[k], arena);
        ptx->kernels[k].pair = pair;
        joined++;
    }
    return joined;
}
