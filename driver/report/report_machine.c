/* Machine code: registers, local memory, register banks, the reuse cache. Everything is read from the code or from the
 * sections of the listing; nothing is estimated.
 *
 * Register banks, by the number of a general register:
 *
 *   sm_30 .. sm_37    4 banks: odd or even, and the lower or the upper four of eight (Lai and Seznec, CGO 2013)
 *   sm_50 .. sm_62    4 banks: number modulo 4, one 32-bit operand of a warp at a time (Gray, maxas, "SGEMM")
 *   sm_70 and later   2 banks: number modulo 2, two operands at a time (Jia et al., arXiv 1804.06826)
 *
 * Pascal is taken to be as Maxwell, and later architectures as Volta. The banks of sm_2x are not published.
 *
 * An instruction conflicts if more of its sources are in one bank than the bank delivers at a time: two, since Volta
 * three. The same register twice counts once, and sources that the reuse cache serves do not count. Instructions with a
 * source of several registers are not judged, since it is not published in which order those are read.
 *
 * Reuse cache (sm_50 and later): `.reuse` keeps a source in its operand slot A, B or C, until the next instruction of
 * the warp that reads a register in that slot, since Volta from the same bank (Gray; Huerta et al., MICRO 2025).
 * Whether the warp is switched in between, which loses the value before Volta, is not known: these are the operands
 * that it serves where the warp issues without interruption. Not followed across blocks. Beside it, what the bypass
 * window of BOW serves of the same operands: those whose register one of the two instructions before accessed.
 *
 * Linear in operands.
 */
#include "driver/report/report_work.h"

#include "ir/machine.h"

#include <stdlib.h>

enum { SLOTS = 3, BANKS = 4, WINDOW = 3, WORST_LOOP_DEPTH = 6, KEPLER = 30, MAXWELL = 50, VOLTA = 70 };

/* A source operand in a slot. */
typedef struct slot_source {
    uint32_t words; /* general registers; 0: none */
    uint32_t number;
    bool flagged, served;
} slot_source;

typedef struct machine_walk {
    report_kernel_work *work;
    const hd_function *function;
    uint32_t generation;
    uint32_t kept[SLOTS][BANKS]; /* the register + 1 in the reuse cache; 0: none */
    slot_source sources[SLOTS];
    uint32_t accessed[256]; /* by register: the last instruction of the block that accesses it, plus 1; 0: none */
} machine_walk;

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static uint32_t bank_of(const machine_walk *w, uint32_t number)
{
    if (w->generation >= VOLTA)
        return number % 2;
    return w->generation >= MAXWELL ? number % 4 : number % 2 + (number % 8 >= 4 ? 2 : 0);
}

/* The bank by which the reuse cache is divided. */
static uint32_t cache_bank_of(const machine_walk *w, uint32_t number)
{
    return w->generation >= VOLTA ? bank_of(w, number) : 0;
}

static bool ends_operand(char c) { return !c || c == ',' || c == ';' || c == '\n' || c == ']'; }

/* From the operand on; empty where it is not in the text. */
static const char *text_at(const hd_function *f, const hd_operand *o)
{
    const hd_source *source = f->module->source;
    return o->begin < source->length ? source->text + o->begin : "";
}

static bool has_reuse(const hd_function *f, const hd_operand *o)
{
    static const char flag[] = ".reuse";
    const char *text = text_at(f, o);
    for (size_t i = 0; !ends_operand(text[i]); i++)
        if (strncmp(text + i, flag, strlen(flag)) == 0)
            return true;
    return false;
}

/* The first register of an operand that is one, or several; NULL: it is neither. */
static const hd_operand *first_register(const hd_operand *o)
{
    if (o->kind == HD_OPERAND_VECTOR)
        return o->count && o[1].kind == HD_OPERAND_REGISTER ? o + 1 : NULL;
    return o->kind == HD_OPERAND_REGISTER ? o : NULL;
}

static bool is_predicate(const hd_function *f, const hd_operand *o)
{
    const hd_operand *reg = first_register(o);
    if (reg)
        return f->registers.items[reg->value].type == HD_TYPE_PRED;
    if (o->kind != HD_OPERAND_NAME)
        return false;
    const char *text = text_at(f, o);
    text += *text == '!';
    text += *text == 'U';
    return text[0] == 'P' && text[1] == 'T';
}

/* Whether the first operand that is no predicate is a result, which may be RZ. */
static bool has_result(const hd_sass_row *row)
{
    const char *slot = row->operands;
    while ((slot = strstr(slot, "Rd")) && slot > row->operands && slot[-1] == 'P') /* PRd */
        slot++;
    return slot != NULL;
}

static slot_source source_of(const hd_function *f, const hd_operand *o)
{
    const hd_operand *reg = first_register(o);
    if (!reg || f->registers.items[reg->value].type != HD_TYPE_B32)
        return (slot_source){0};
    return (slot_source){.words = o->kind == HD_OPERAND_VECTOR ? o->count : 1,
                         .number = f->registers.items[reg->value].index,
                         .flagged = has_reuse(f, reg)};
}

/* The operands without predicates and the result are those of slots A, B and C. */
static void read_slots(machine_walk *w, const hd_instruction *insn)
{
    const hd_function *f = w->function;
    const hd_machine_form *form = hd_insn_machine(f, insn);
    const hd_operand *o = hd_insn_operands(f, insn);
    memset(w->sources, 0, sizeof w->sources);
    if (!form->row || form->variant == HD_MACHINE_NEVER || insn->flags & HD_INSN_OPAQUE)
        return;
    uint32_t slot = 0, results = has_result(form->row);
    for (uint32_t i = 0; i < insn->operand_count && slot < SLOTS; i += hd_operand_extent(&o[i])) {
        if (is_predicate(f, &o[i]))
            continue;
        if (results)
            results--;
        else
            w->sources[slot++] = source_of(f, &o[i]);
    }
}

/* ---- the reuse cache --------------------------------------------------------------------------------------------- */

static void forget_written(machine_walk *w, const hd_instruction *insn)
{
    const hd_function *f = w->function;
    HD_INSN_REGISTERS (f, insn, o) {
        const hd_register *reg = &f->registers.items[o->value];
        if (!(o->flags & HD_OPERAND_DEF) || reg->type != HD_TYPE_B32)
            continue;
        for (uint32_t s = 0; s < SLOTS; s++) {
            uint32_t *kept = &w->kept[s][cache_bank_of(w, reg->index)];
            *kept = *kept == reg->index + 1 ? 0 : *kept;
        }
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
    for (uint32_t s = 0; s < SLOTS; s++) {
        slot_source *source = &w->sources[s];
        if (!source->words)
            continue;
        uint32_t *kept = &w->kept[s][cache_bank_of(w, source->number)];
        source->served = source->words == 1 && *kept == source->number + 1;
        *kept = source->words == 1 && source->flagged ? source->number + 1 : 0;
        m->sources += source->words == 1;
        m->reuse_served += source->served;
        m->window_served += source->words == 1 && is_in_window(w, source->number, ordinal);
    }
}

/* ---- banks ------------------------------------------------------------------------------------------------------- */

static bool has_conflict(const machine_walk *w)
{
    uint32_t in_bank[BANKS] = {0};
    for (uint32_t s = 0; s < SLOTS; s++) {
        const slot_source *source = &w->sources[s];
        bool again = false;
        if (source->words > 1)
            return false;
        for (uint32_t t = 0; t < s; t++)
            again |= w->sources[t].words && w->sources[t].number == source->number;
        if (source->words && !source->served && !again)
            in_bank[bank_of(w, source->number)]++;
    }
    for (uint32_t b = 0; b < BANKS; b++)
        if (in_bank[b] >= w->work->kernel->machine.conflict_sources)
            return true;
    return false;
}

static void count_conflict(machine_walk *w, uint32_t depth)
{
    uint64_t weight = 1;
    for (uint32_t d = 0; d < depth && d < WORST_LOOP_DEPTH; d++)
        weight *= 10;
    w->work->kernel->bank_conflicts++;
    w->work->kernel->bank_conflicts_weighted += weight;
}

static void walk_banks(report_kernel_work *work)
{
    const hd_function *f = work->function;
    machine_walk w = {.work = work, .function = f, .generation = f->machine->generation};
    for (uint32_t b = 0; b < work->cfg->block_count; b++) {
        const hd_block *block = &work->cfg->blocks[b];
        uint32_t depth = block->loop == HD_NONE ? 0 : work->cfg->loops[block->loop].depth;
        memset(w.kept, 0, sizeof w.kept);
        memset(w.accessed, 0, sizeof w.accessed);
        for (uint32_t i = block->first; block->reachable && i < block->end; i++) {
            const hd_instruction *insn = &f->instructions.items[i];
            work->kernel->machine.reuse_flags += (uint64_t)__builtin_popcount(f->machine->reuse[i]);
            read_slots(&w, insn);
            use_cache(&w, i);
            if (has_conflict(&w))
                count_conflict(&w, depth);
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
    k->machine.conflict_sources = generation >= VOLTA ? 3 : 2;
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

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void read_stated(report_kernel_work *work)
{
    const report_sections *sections = &work->common->sections;
    const report_section *s = &sections->functions[work->function_index];
    const hd_machine_function *machine = work->function->machine;
    hd_report_kernel *k = work->kernel;
    hd_report_machine *m = &k->machine;
    m->registers = s->registers ? s->registers : machine->allocated;
    if (!m->registers)
        m->registers_unknown = "the listing does not state the registers per thread (nvdisasm prints them)";
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
