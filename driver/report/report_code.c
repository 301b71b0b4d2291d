/* A kernel's instructions, registers, ranges, accesses, and pressure.
 *
 * One backward walk over the layout. A register is in the row of an instruction if it is live before it or written by
 * it; a range is a run of rows filled by one value, or by several, each computed from the previous one. Two rows are
 * joined if the register is live after the first and before the second, which is the same point within a block.
 *
 * Registers needed at an instruction: the words live before it, or those live after it together with its results,
 * whichever is more. An unused result needs a register too, and a result may reuse the register of an operand that
 * ends.
 *
 * Two halves of one register (passes/analysis/packed.h) fill one word while either is live.
 *
 * Linear in operands and in the live-in and live-out sets of blocks.
 */
#include "driver/report/report_work.h"

#include "emitters/ir/ptx.h"
#include "ir/constant_bank.h"
#include "passes/analysis/packed.h"

_Static_assert(HD_REPORT_NONE == HD_NONE, "what analyses have as no register is none of the report either");

enum { LIVE_AFTER = 4 }; /* in addition to the bits of hd_report_access, in a row */

typedef struct code_walk {
    report_kernel_work *work;
    const hd_function *function;
    hd_live_walk *live;
    uint32_t *open;              /* by register: last instruction of its open range, or HD_NONE */
    uint32_t *stamp, *slot;      /* by register: the last row that contains it, and its index there */
    uint32_t *next, *next_block; /* by register: its next read, and the block + 1 of that read */
    report_words live_words;     /* at the walker's position */
    uint32_t predicates;         /* likewise */
    HD_ARRAY(hd_report_touch) row, touches;
    HD_ARRAY(hd_report_range) ranges;
} code_walk;

/* ---- words of a set ---------------------------------------------------------------------------------------------- */

report_words report_words_new(report_kernel_work *work)
{
    return (report_words){work, HD_ARENA_ARRAY(&work->scratch, uint8_t, work->function->registers.count), 0};
}

/* The counter of a register's pair; NULL: not in a pair. */
static uint8_t *halves_of(const report_words *set, uint32_t reg)
{
    uint32_t other = set->work->packed[reg];
    return other == HD_NONE ? NULL : &set->halves[hd_min(reg, other)];
}

uint32_t report_words_add(report_words *set, uint32_t reg)
{
    uint8_t *halves = halves_of(set, reg);
    uint32_t words = halves && (*halves)++ ? 0 : set->work->words[reg];
    set->words += words;
    return words;
}

uint32_t report_words_remove(report_words *set, uint32_t reg)
{
    uint8_t *halves = halves_of(set, reg);
    uint32_t words = halves && --*halves ? 0 : set->work->words[reg];
    set->words -= words;
    return words;
}

/* ---- one row ----------------------------------------------------------------------------------------------------- */

static void row_add(code_walk *w, uint32_t instruction, uint32_t reg, uint8_t access)
{
    if (w->stamp[reg] != instruction + 1) {
        w->stamp[reg] = instruction + 1;
        w->slot[reg] = w->row.count;
        hd_array_push(&w->row, (hd_report_touch){instruction, reg, 0});
    }
    w->row.items[w->slot[reg]].access |= access;
}

static void collect_row(code_walk *w, uint32_t instruction)
{
    const hd_function *f = w->function;
    const hd_instruction *insn = &f->instructions.items[instruction];
    hd_register_set module_wide = w->live->liveness->module_wide;
    hd_array_clear(&w->row);
    if (insn->guard != HD_NONE)
        row_add(w, instruction, insn->guard, HD_REPORT_READ);
    HD_INSN_REGISTERS (f, insn, o) {
        bool all = insn->flags & HD_INSN_OPAQUE;
        row_add(w, instruction, o->value,
                (uint8_t)((o->flags & HD_OPERAND_USE || all ? HD_REPORT_READ : 0) |
                          (o->flags & HD_OPERAND_DEF || all ? HD_REPORT_WRITE : 0)));
    }
    if (module_wide.count && hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL)
        for (uint32_t i = 0; i < module_wide.count; i++)
            row_add(w, instruction, module_wide.items[i], HD_REPORT_READ);
    /* what is in flight up to this instruction is live in front of it, and no access of it */
    HD_ASYNC_USES (w->live->liveness->spans, instruction, reg)
        row_add(w, instruction, reg, 0);
}

/* A row has few registers, mostly in order. */
static void sort_row(code_walk *w)
{
    for (uint32_t i = 1; i < w->row.count; i++) {
        hd_report_touch t = w->row.items[i];
        uint32_t at = i;
        for (; at && w->row.items[at - 1].reg < t.reg; at--)
            w->row.items[at] = w->row.items[at - 1];
        w->row.items[at] = t;
    }
}

static bool is_predicate(const hd_function *f, uint32_t reg) { return f->registers.items[reg].type == HD_TYPE_PRED; }

/* ---- reuse ------------------------------------------------------------------------------------------------------- */

static uint32_t bucket_of(uint32_t distance)
{
    uint32_t bucket = distance > 1 ? 32 - (uint32_t)__builtin_clz(distance - 1) : 0;
    return hd_min(bucket, HD_REUSE_BUCKETS - 2);
}

static void count_reuse(code_walk *w, const hd_report_touch *t, uint32_t block)
{
    if (t->access & LIVE_AFTER && w->work->words[t->reg]) {
        bool here = w->next_block[t->reg] == block + 1;
        w->work->kernel->reuse[here ? bucket_of(w->next[t->reg] - t->instruction) : HD_REUSE_BUCKETS - 1]++;
    }
    if (t->access & HD_REPORT_READ) {
        w->next[t->reg] = t->instruction;
        w->next_block[t->reg] = block + 1;
    }
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static void close_range(code_walk *w, uint32_t reg, uint32_t first)
{
    hd_array_push(&w->ranges, (hd_report_range){reg, first, w->open[reg]});
    w->open[reg] = HD_NONE;
}

static void count_live(code_walk *w, uint32_t reg, bool more)
{
    uint32_t predicates = is_predicate(w->function, reg);
    if (more)
        report_words_add(&w->live_words, reg);
    else
        report_words_remove(&w->live_words, reg);
    w->predicates += more ? predicates : -predicates;
}

/* From after the block's last instruction to before the first one of the next block in the layout. */
static void enter_block(code_walk *w, uint32_t b)
{
    const hd_block *block = &w->work->cfg->blocks[b];
    hd_register_set after = w->live->liveness->live_out[b], none = {0};
    hd_register_set before = b + 1 < w->work->cfg->block_count ? w->live->liveness->live_in[b + 1] : none;
    for (uint32_t i = 0; i < before.count; i++)
        if (!hd_register_set_has(after, before.items[i]))
            close_range(w, before.items[i], block->end);
    report_live_start(w->work, b);
    for (uint32_t i = 0; i < after.count; i++) {
        count_live(w, after.items[i], true);
        if (w->open[after.items[i]] == HD_NONE)
            w->open[after.items[i]] = block->end - 1;
    }
}

/* Ranges that continue before the block's first instruction. */
static void leave_block(code_walk *w)
{
    for (uint32_t i = 0; i < w->live->count; i++)
        count_live(w, w->live->members[i], false);
}

static bool is_dead_result(const hd_report_touch *t)
{
    return t->access & HD_REPORT_WRITE && !(t->access & LIVE_AFTER);
}

/* The words live after the row's instruction, together with its results. */
static void need_after(code_walk *w, hd_report_instruction *row)
{
    for (uint32_t t = 0; t < w->row.count; t++) {
        hd_report_touch *touch = &w->row.items[t];
        if (hd_live_has(w->live, touch->reg))
            touch->access |= LIVE_AFTER;
        if (is_dead_result(touch))
            count_live(w, touch->reg, true);
    }
    row->live = w->live_words.words;
    row->predicates = w->predicates;
    for (uint32_t t = 0; t < w->row.count; t++)
        if (is_dead_result(&w->row.items[t]))
            count_live(w, w->row.items[t].reg, false);
}

static void pass_instruction(code_walk *w, uint32_t i, hd_report_instruction *row)
{
    collect_row(w, i);
    sort_row(w);
    need_after(w, row);
    report_live_step(w->work);
    for (uint32_t t = 0; t < w->row.count; t++) {
        hd_report_touch touch = w->row.items[t];
        bool after = touch.access & LIVE_AFTER, before = hd_live_has(w->live, touch.reg);
        count_reuse(w, &touch, row->block);
        if (!after)
            w->open[touch.reg] = i;
        if (!before)
            close_range(w, touch.reg, i);
        if (before != after)
            count_live(w, touch.reg, before);
        touch.access &= HD_REPORT_READ | HD_REPORT_WRITE;
        if (touch.access)
            hd_array_push(&w->touches, touch);
    }
    row->live = hd_max(row->live, w->live_words.words);
    row->predicates = hd_max(row->predicates, w->predicates);
}

static void walk_block(code_walk *w, uint32_t b)
{
    report_kernel_work *work = w->work;
    const hd_block *block = &work->cfg->blocks[b];
    uint32_t depth = block->loop == HD_NONE ? 0 : work->cfg->loops[block->loop].depth, pressure = 0;
    enter_block(w, b);
    for (uint32_t i = block->end; i-- > block->first;) {
        hd_report_instruction *row = &work->kernel->instructions[i];
        row->block = b;
        row->loop_depth = (uint16_t)hd_min(depth, UINT16_MAX);
        row->reachable = block->reachable;
        pass_instruction(w, i, row);
        pressure = hd_max(pressure, row->live);
    }
    leave_block(w);
    work->kernel->block_pressure[b] = pressure;
}

static void start_walk(code_walk *w, report_kernel_work *work)
{
    uint32_t registers = work->function->registers.count;
    *w = (code_walk){.work = work, .function = work->function, .live = &work->live.walk};
    w->live_words = report_words_new(work);
    w->open = hd_arena_alloc(&work->scratch, ((size_t)registers + 1) * sizeof *w->open);
    memset(w->open, 0xff, ((size_t)registers + 1) * sizeof *w->open);
    w->stamp = HD_ARENA_ARRAY(&work->scratch, uint32_t, registers);
    w->slot = HD_ARENA_ARRAY(&work->scratch, uint32_t, registers);
    w->next = HD_ARENA_ARRAY(&work->scratch, uint32_t, registers);
    w->next_block = HD_ARENA_ARRAY(&work->scratch, uint32_t, registers);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static int compare_ranges(const void *a, const void *b)
{
    const hd_report_range *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg;
}

/* Both were collected from end to beginning. */
static void keep_lists(code_walk *w)
{
    hd_report_kernel *k = w->work->kernel;
    k->touch_count = w->touches.count;
    k->touches = hd_arena_alloc(w->work->arena, ((size_t)k->touch_count + 1) * sizeof *k->touches);
    for (uint32_t i = 0; i < k->touch_count; i++)
        k->touches[i] = w->touches.items[k->touch_count - 1 - i];
    k->range_count = w->ranges.count;
    k->ranges = hd_arena_alloc(w->work->arena, ((size_t)k->range_count + 1) * sizeof *k->ranges);
    for (uint32_t i = 0; i < k->range_count; i++)
        k->ranges[i] = w->ranges.items[k->range_count - 1 - i];
    qsort(k->ranges, k->range_count, sizeof *k->ranges, compare_ranges);
    hd_array_free(&w->row);
    hd_array_free(&w->touches);
    hd_array_free(&w->ranges);
}

/* A bank operand of all its readers needs no register. */
static void free_constants(report_kernel_work *work)
{
    const bool *bank = hd_bank_operands(work->function, &work->scratch);
    for (uint32_t r = 0; bank && r < work->function->registers.count; r++)
        if (bank[r])
            work->words[r] = 0;
}

/* Words, definitions and reads; an instruction that names a register twice counts once. */
static void count_accesses(report_kernel_work *work)
{
    const hd_function *f = work->function;
    uint32_t registers = f->registers.count;
    uint32_t *written = HD_ARENA_ARRAY(&work->scratch, uint32_t, registers),
             *read = HD_ARENA_ARRAY(&work->scratch, uint32_t, registers);
    work->words = HD_ARENA_ARRAY(&work->scratch, uint8_t, registers);
    work->definitions = HD_ARENA_ARRAY(&work->scratch, uint32_t, registers);
    work->reads = HD_ARENA_ARRAY(&work->scratch, uint32_t, registers);
    for (uint32_t r = 0; r < registers; r++)
        work->words[r] = (uint8_t)hd_register_words(f, r);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        bool all = insn->flags & HD_INSN_OPAQUE;
        if (insn->guard != HD_NONE) {
            work->reads[insn->guard]++;
            read[insn->guard] = i + 1;
        }
        HD_INSN_REGISTERS (f, insn, o) {
            if ((all || o->flags & HD_OPERAND_DEF) && written[o->value] != i + 1) {
                work->definitions[o->value]++;
                written[o->value] = i + 1;
            }
            if ((all || o->flags & HD_OPERAND_USE) && read[o->value] != i + 1) {
                work->reads[o->value]++;
                read[o->value] = i + 1;
            }
        }
    }
    if (work->common->clean)
        free_constants(work);
    work->packed = hd_packed_halves(f, &work->scratch);
}

static void name_registers(report_kernel_work *work)
{
    const hd_function *f = work->function;
    hd_report_kernel *k = work->kernel;
    char name[1024];
    k->register_count = f->registers.count;
    k->registers = HD_ARENA_ARRAY(work->arena, hd_report_register, k->register_count);
    for (uint32_t r = 0; r < k->register_count; r++) {
        size_t length = hd_register_spell(f, r, name, sizeof name);
        k->registers[r] = (hd_report_register){hd_arena_string(work->arena, name, length), work->words[r],
                                               is_predicate(f, r), work->packed[r]};
    }
}

static void print_instructions(report_kernel_work *work)
{
    const hd_function *f = work->function;
    hd_writer text;
    hd_writer_to_memory(&text);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        text.buffer.count = 0;
        hd_emit_instruction(&text, f, &f->instructions.items[i]);
        work->kernel->instructions[i].text = hd_arena_string(work->arena, text.buffer.items, text.buffer.count);
    }
    hd_writer_free(&text);
}

static bool is_better_peak(const hd_report_instruction *a, const hd_report_instruction *best)
{
    return a->live != best->live ? a->live > best->live : a->loop_depth > best->loop_depth;
}

static void find_peak(hd_report_kernel *k)
{
    k->max_pressure_at = HD_REPORT_NONE;
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        const hd_report_instruction *row = &k->instructions[i];
        if (!row->reachable)
            continue;
        if (k->max_pressure_at == HD_REPORT_NONE || is_better_peak(row, &k->instructions[k->max_pressure_at]))
            k->max_pressure_at = i;
        if (row->predicates > k->max_predicate_pressure)
            k->max_predicate_pressure = row->predicates;
    }
    if (k->max_pressure_at != HD_REPORT_NONE)
        k->max_pressure = k->instructions[k->max_pressure_at].live;
}

void report_code(report_kernel_work *work)
{
    hd_report_kernel *k = work->kernel;
    code_walk walk;
    k->instruction_count = work->function->instructions.count;
    k->input_instructions = work->input->instructions.count;
    k->block_count = work->cfg->block_count;
    k->loop_count = work->cfg->loop_count;
    k->banks = work->common->banks;
    k->instructions = HD_ARENA_ARRAY(work->arena, hd_report_instruction, k->instruction_count);
    k->block_pressure = HD_ARENA_ARRAY(work->arena, uint32_t, k->block_count);
    count_accesses(work);
    name_registers(work);
    print_instructions(work);
    start_walk(&walk, work);
    if (k->instruction_count) {
        for (uint32_t b = k->block_count; b-- > 0;)
            walk_block(&walk, b);
        hd_register_set entry = work->liveness->live_in[0];
        for (uint32_t i = 0; i < entry.count; i++)
            close_range(&walk, entry.items[i], 0);
    }
    keep_lists(&walk);
    find_peak(k);
}
