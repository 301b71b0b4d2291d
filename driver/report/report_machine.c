/* Machine code: registers, local memory, register banks, the reuse cache. Everything is read from the code or from the
 * sections of the listing; nothing is estimated.
 *
 * Register banks, by the number of a general register. A bank delivers one register of a warp a cycle.
 *
 *   sm_30 .. sm_37    4 banks: odd or even, and the lower or the upper four of eight (Lai and Seznec, CGO 2013)
 *   sm_50 .. sm_62    4 banks: number modulo 4 (Gray, maxas, "SGEMM")
 *   sm_70 and later   2 banks: number modulo 2 (Jia et al., arXiv 1804.06826, of Volta; measured on an H200,
 *                     docs/gpu-measurements.md)
 *
 * Pascal is taken to be as Maxwell, which nobody has confirmed; other chips since Volta as Volta and Hopper. The banks
 * of sm_2x are not published.
 *
 * An instruction conflicts if a bank delivers its sources for longer than its unit takes it: a cycle, since Volta two
 * where 16 lanes execute at a time (throughput: CUDA Programming Guide, "Arithmetic Instructions"). The same register
 * twice counts once, and sources that the reuse cache serves do not count. Since Volta only instructions of arithmetic
 * units are judged; before, none with a source of several registers, since it is not published in which order those
 * are read. On an H200 instructions are taken at the mean of a few neighbours: a conflict next to an instruction that
 * needs less of the bank costs less, or nothing.
 *
 * Reuse cache: ir/machine_slots.h. Whether the warp is switched in between, which loses the value before Volta, is not
 * known: these are the operands that it serves where the warp issues without interruption. Not followed across blocks.
 * Compared with it: what the bypass window of BOW serves of the same operands: those whose register one of the two
 * instructions before accessed.
 *
 * Linear in operands.
 */
#include "driver/report/report_work.h"

#include "ir/machine.h"
#include "ir/machine_slots.h"
#include "target/gpu.h"

#include <stdlib.h>

enum { BANKS = 4, WINDOW = 3, WORST_LOOP_DEPTH = 6, KEPLER = 30, MAXWELL = 50, VOLTA = HD_MACHINE_VOLTA };

typedef struct machine_walk {
    report_kernel_work *work;
    const hd_function *function;
    uint32_t generation;
    hd_machine_slots slots;
    hd_reuse_cache cache;
    uint32_t served;        /* a bit for each slot */
    uint32_t accessed[256]; /* by register: the last instruction of the block that accesses it, plus 1; 0: none */
} machine_walk;

static uint32_t bank_of(const machine_walk *w, uint32_t number)
{
    if (w->generation >= VOLTA)
        return number % 2;
    return w->generation >= MAXWELL ? number % 4 : number % 2 + (number % 8 >= 4 ? 2 : 0);
}

/* ---- the reuse cache --------------------------------------------------------------------------------------------- */

static void forget_written(machine_walk *w, const hd_instruction *insn)
{
    const hd_function *f = w->function;
    HD_INSN_REGISTERS (f, insn, o) {
        const hd_register *reg = &f->registers.items[o->value];
        if (o->flags & HD_OPERAND_DEF && reg->type == HD_TYPE_B32)
            hd_reuse_cache_forget(&w->cache, w->generation, reg->index);
    }
}

static void note_accesses(machine_walk *w, const hd_instruction *insn, uint32_t ordinal)
{
    const hd_function *f = w->function;
    HD_INSN_REGISTERS (f, insn, o) {
        const hd_register *reg = &f->registers.items[o->value];
        if (reg->type == HD_TYPE_B32)
            w->accessed[reg->index & 255] = ordinal + 1;
    }
}

static bool is_in_window(const machine_walk *w, uint32_t number, uint32_t ordinal)
{
    uint32_t last = w->accessed[number & 255];
    return last && ordinal - (last - 1) < WINDOW;
}

static void use_cache(machine_walk *w, uint32_t ordinal)
{
    hd_report_machine *m = &w->work->kernel->machine;
    w->slots = hd_machine_slots_of(w->function, ordinal);
    w->served = hd_reuse_cache_read(&w->cache, w->generation, &w->slots);
    for (uint32_t s = 0; s < HD_MACHINE_SLOTS; s++) {
        const hd_machine_slot *slot = &w->slots.at[s];
        m->sources += slot->words == 1;
        m->reuse_served += slot->words == 1 && w->served >> s & 1;
        m->window_served += slot->words == 1 && is_in_window(w, slot->number, ordinal);
    }
}

/* ---- banks ------------------------------------------------------------------------------------------------------- */

static bool is_one_of(const hd_sass_row *row, const char *const *names)
{
    while (*names && strcmp(row->opcode, *names) != 0)
        names++;
    return *names != NULL;
}

/* Cycles for which the instruction's unit takes it, 0: not judged. */
static uint32_t unit_cycles(const machine_walk *w, const hd_sass_row *row)
{
    static const char *const single[] = {"FFMA", "FADD", "FMUL", "FFMA32I", "FADD32I", "FMUL32I", "FSWZADD", NULL};
    static const char *const half[] = {"HFMA2",     "HADD2",     "HMUL2",     "HFMA2.MMA",
                                       "HFMA2_32I", "HADD2_32I", "HMUL2_32I", NULL};
    if (w->generation < VOLTA)
        return 1;
    bool has_double_rate = w->generation == 80 || (w->generation >= 90 && w->generation < 120);
    switch (row->unit) {
    case HD_SASS_UNIT_FMA: return is_one_of(row, single) && w->generation > 80 ? 1 : 2;
    case HD_SASS_UNIT_FP16: return is_one_of(row, half) && has_double_rate ? 1 : 2;
    case HD_SASS_UNIT_ALU:
    case HD_SASS_UNIT_FP64: return 2;
    default: return 0;
    }
}

static bool is_read_before(const machine_walk *w, uint32_t slot, uint32_t number)
{
    for (uint32_t s = 0; s < slot; s++)
        if (!(w->served >> s & 1) && number >= w->slots.at[s].number &&
            number < (uint32_t)w->slots.at[s].number + w->slots.at[s].words)
            return true;
    return false;
}

/* Cycles for which one bank delivers the sources. */
static uint32_t bank_cycles(const machine_walk *w)
{
    uint32_t in_bank[BANKS] = {0}, most = 0;
    for (uint32_t s = 0; s < HD_MACHINE_SLOTS; s++) {
        const hd_machine_slot *slot = &w->slots.at[s];
        if (slot->words > 1 && w->generation < VOLTA)
            return 0;
        for (uint32_t number = slot->number; number < (uint32_t)slot->number + slot->words; number++)
            in_bank[bank_of(w, number)] += !(w->served >> s & 1) && !is_read_before(w, s, number);
    }
    for (uint32_t b = 0; b < BANKS; b++)
        most = hd_max(most, in_bank[b]);
    return most;
}

static void walk_banks(report_kernel_work *work)
{
    const hd_function *f = work->function;
    machine_walk w = {.work = work, .function = f, .generation = f->machine->generation};
    for (uint32_t b = 0; b < work->cfg->block_count; b++) {
        const hd_block *block = &work->cfg->blocks[b];
        uint64_t weight = 1;
        uint32_t depth = block->loop == HD_NONE ? 0 : work->cfg->loops[block->loop].depth;
        for (uint32_t d = 0; d < depth && d < WORST_LOOP_DEPTH; d++)
            weight *= 10;
        memset(&w.cache, 0, sizeof w.cache);
        memset(w.accessed, 0, sizeof w.accessed);
        for (uint32_t i = block->first; block->reachable && i < block->end; i++) {
            const hd_instruction *insn = &f->instructions.items[i];
            work->kernel->machine.reuse_flags += (uint64_t)__builtin_popcount(f->machine->reuse[i]);
            use_cache(&w, i);
            const hd_sass_row *row = hd_insn_machine(f, insn)->row;
            uint32_t cycles = row ? unit_cycles(&w, row) : 0;
            bool conflict = cycles && bank_cycles(&w) > cycles;
            work->kernel->bank_conflicts += conflict;
            work->kernel->bank_conflicts_weighted += conflict ? weight : 0;
            forget_written(&w, insn);
            note_accesses(&w, insn, i);
        }
    }
}

static void report_banks(report_kernel_work *work)
{
    hd_report_kernel *k = work->kernel;
    uint32_t generation = work->function->machine->generation;
    k->banks = generation >= VOLTA ? 2 : 4;
    if (generation >= KEPLER)
        walk_banks(work);
    else
        k->machine.banks_unknown = generation ? "the register banks of this architecture are not published"
                                              : "the listing does not say for which architecture it is";
}

/* ---- local memory, calls ----------------------------------------------------------------------------------------- */

/* Bytes per thread of an access to local memory. */
static uint32_t access_bytes(const hd_sass_form *form)
{
    static const struct {
        const char *modifier;
        uint32_t bytes;
    } widths[] = {{".128", 16}, {".64", 8}, {".U16", 2}, {".S16", 2}, {".U8", 1}, {".S8", 1}};
    for (uint32_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (hd_sass_form_has(form, widths[i].modifier))
            return widths[i].bytes;
    return 4;
}

static bool is_shared(const hd_sass_row *row)
{
    return row->space == HD_SASS_SPACE_SHARED || row->space == HD_SASS_SPACE_GENERIC ||
           row->access == HD_SASS_ACCESS_COPY;
}

/* ---- subroutines ------------------------------------------------------------------------------------------------- */

static bool is_subroutine(const hd_function *f, const hd_label *label)
{
    return *hd_names_text(&f->module->names, label->name) == '$';
}

/* Up to the next subroutine, or the end. */
static uint32_t subroutine_end(const hd_function *f, const hd_report_subroutine *all, uint32_t count, uint32_t first)
{
    uint32_t end = f->instructions.count;
    for (uint32_t i = 0; i < f->labels.count; i++)
        if (is_subroutine(f, &f->labels.items[i]) && f->labels.items[i].instruction > first &&
            f->labels.items[i].instruction < end)
            end = f->labels.items[i].instruction;
    for (uint32_t i = 0; i < count; i++)
        if (all[i].first > first && all[i].first < end)
            end = all[i].first;
    return end;
}

static int compare_subroutines(const void *a, const void *b)
{
    const hd_report_subroutine *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

typedef HD_ARRAY(hd_report_subroutine) subroutine_list;

static void add_call(report_kernel_work *work, subroutine_list *list, const hd_instruction *insn)
{
    const hd_function *f = work->function;
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    while (o < end && o->kind != HD_OPERAND_LABEL)
        o++;
    if (o == end)
        return;
    const hd_label *label = &f->labels.items[o->value];
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].first == label->instruction) {
            list->items[i].calls++;
            return;
        }
    hd_report_subroutine found = {.first = label->instruction, .calls = 1};
    if (is_subroutine(f, label))
        found.name = hd_arena_string(work->arena, hd_names_text(&f->module->names, label->name),
                                     hd_names_length(&f->module->names, label->name));
    hd_array_push(list, found);
}

static void keep_subroutines(report_kernel_work *work, subroutine_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        list->items[i].instructions =
            subroutine_end(work->function, list->items, list->count, list->items[i].first) - list->items[i].first;
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_subroutines);
    work->kernel->machine.subroutines =
        list->count ? hd_arena_copy(work->arena, list->items, list->count * sizeof *list->items) : NULL;
    work->kernel->machine.subroutine_count = list->count;
    hd_array_free(list);
}

static bool is_convergence(uint8_t control)
{
    return control == HD_SASS_CONTROL_PUSH || control == HD_SASS_CONTROL_POP || control == HD_SASS_CONTROL_SYNC ||
           control == HD_SASS_CONTROL_LEAVE || control == HD_SASS_CONTROL_WARP;
}

/* What an assembler adds; unreachable padding, too. */
static void count_kinds(report_kernel_work *work)
{
    const hd_function *f = work->function;
    hd_report_machine *m = &work->kernel->machine;
    subroutine_list list = {0};
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_sass_row *row = hd_insn_machine(f, insn)->row;
        if (!row)
            continue;
        m->moves += hd_machine_is_move(hd_insn_form(f, insn));
        m->convergence += is_convergence(row->control);
        m->padding += strcmp(row->opcode, "NOP") == 0;
        if (row->control == HD_SASS_CONTROL_CALL)
            add_call(work, &list, insn);
    }
    keep_subroutines(work, &list);
}

static void count_accesses(report_kernel_work *work)
{
    const hd_function *f = work->function;
    hd_report_kernel *k = work->kernel;
    hd_report_machine *m = &k->machine;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_machine_form *form = hd_insn_machine(f, &f->instructions.items[i]);
        if (!k->instructions[i].reachable || form->variant == HD_MACHINE_NEVER)
            continue;
        k->uses_dynamic_shared |= !form->row || is_shared(form->row);
        m->calls += form->row && form->row->control == HD_SASS_CONTROL_CALL;
        if (!form->row || form->row->space != HD_SASS_SPACE_LOCAL)
            continue;
        if (form->row->access == HD_SASS_ACCESS_STORE) {
            m->local_stores++;
            m->local_store_bytes += access_bytes(form->sass);
        } else if (form->row->access == HD_SASS_ACCESS_LOAD) {
            m->local_loads++;
            m->local_load_bytes += access_bytes(form->sass);
        }
    }
}

/* ---- what the user says ------------------------------------------------------------------------------------------ */

void report_assume_generation(hd_module *module, const hd_gpu *gpu)
{
    for (uint32_t f = 0; f < module->functions.count && module->is_machine; f++)
        hd_machine_assume(module->functions.items[f], 10 * gpu->compute_major + gpu->compute_minor);
}

bool report_registers_fit(const hd_module *module, const char *kernels)
{
    uint32_t errors = module->diagnostics->error_count;
    for (uint32_t f = 0; f < module->functions.count && module->given_registers; f++)
        if (hd_function_selected(module->functions.items[f], kernels))
            hd_machine_check_given(module->functions.items[f]);
    return module->diagnostics->error_count == errors;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static const char *const count_sources[] = {[HD_MACHINE_COUNT_UNKNOWN] = NULL,
                                            [HD_MACHINE_COUNT_GIVEN] = "option",
                                            [HD_MACHINE_COUNT_STATED] = "listing",
                                            [HD_MACHINE_COUNT_DERIVED] = "derived"};

static void read_stated(report_kernel_work *work)
{
    const report_sections *sections = &work->common->sections;
    const report_section *s = &sections->functions[work->function_index];
    hd_report_kernel *k = work->kernel;
    hd_report_machine *m = &k->machine;
    hd_machine_count count = hd_machine_count_of(work->function, s->registers);
    m->registers = count.number;
    m->registers_from = count_sources[count.from];
    if (count.unknown)
        m->registers_unknown = hd_arena_printf(
            work->arena, "the listing does not state the registers per thread (nvdisasm prints them), and %s",
            count.unknown);
    if (sections->any_entry)
        k->is_entry = s->is_entry;
    if (!sections->any_info) {
        m->info_unknown = "the listing has no sections .nv.info and .nv.shared (nvdisasm without -c prints them)";
        return;
    }
    k->static_shared_bytes = s->shared_bytes;
    k->local_bytes = s->frame_bytes;
    k->parameter_bytes = s->parameter_bytes;
    k->barriers = s->barriers;
}

/* What is used of shared memory is launched with the kernel, and no listing says how much. */
static void find_bound(report_kernel_work *work)
{
    hd_report_kernel *k = work->kernel;
    hd_report_machine *m = &k->machine;
    bool dynamic_unknown = k->uses_dynamic_shared && !work->common->options->shared_known;
    if (m->registers_unknown)
        m->bound = m->registers_unknown;
    else if (m->info_unknown)
        m->bound = m->info_unknown;
    else if (dynamic_unknown)
        m->bound = "a listing does not say how much dynamic shared memory launches give: give it with --shared";
}

void report_machine(report_kernel_work *work)
{
    const hd_machine_function *machine = work->function->machine;
    hd_report_kernel *k = work->kernel;
    hd_report_machine *m = &k->machine;
    m->named = machine->registers;
    m->predicates = machine->predicates;
    m->uniform_registers = machine->uniform_registers;
    if (k->instruction_count && machine->lines[k->instruction_count - 1].address != HD_NONE)
        m->code_bytes = machine->lines[k->instruction_count - 1].address + (machine->generation >= VOLTA ? 16 : 8) -
                        (uint64_t)machine->lines[0].address;
    k->allocated_unknown = k->predicted.unknown = "machine code: its registers are allocated";
    k->cap = (hd_report_cap){.registers = HD_GENERAL_REGISTERS, .reason = "machine code"};
    read_stated(work);
    report_loads(work);
    count_accesses(work);
    count_kinds(work);
    report_banks(work);
    find_bound(work);
}
