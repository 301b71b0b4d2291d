/* Control flow of a function of a listing, when all of it is read: what labels and addresses denote, which calls stay
 * in the function and where their returns lead, where instructions go that pop an address (SYNC, BRK, CONT, .S), and
 * where lanes meet.
 *
 * Returns: a return in code that a call enters leads to the instruction after each call of that code; code entered is
 * what is reachable from the call's target, where a call leads to the instruction after it; a call whose register has
 * an offset in the function may lead to any code in it that has a symbol. A return that is reachable from the
 * function's start in this way leaves the function, and may pass on any register. Pops: an instruction has one address
 * stack, whichever path reaches it; where paths differ, or there is nothing to take, the targets are unknown. Both are
 * linear in the function, for each entry of a subroutine. */
#include "parser/sass_reader.h"

#include <stdio.h>

/* ---- labels and addresses ---------------------------------------------------------------------------------------- */

/* The instruction at an address; HD_NONE: none. */
static uint32_t instruction_at(const hd_sass_reader *b, uint32_t address)
{
    uint32_t low = 0, high = b->lines.count;
    while (low < high) {
        uint32_t at = low + (high - low) / 2;
        if (b->lines.items[at].address < address)
            low = at + 1;
        else
            high = at;
    }
    return low < b->lines.count && b->lines.items[low].address == address ? low : HD_NONE;
}

/* The same where a control word may be at the address: then, the instruction after it. The end of the code, where lanes
 * may meet, is the number of instructions. */
static uint32_t target_at(const hd_sass_reader *b, uint32_t address, bool meets)
{
    uint32_t generation = b->machine->generation, ordinal = instruction_at(b, address);
    uint32_t group = generation >= 70 ? 0 : generation >= 50 ? 32 : generation >= 30 ? 64 : 0;
    if (ordinal == HD_NONE && group && address % group == 0)
        ordinal = instruction_at(b, address + 8);
    bool is_end = ordinal == HD_NONE && b->lines.count && address == b->lines.items[b->lines.count - 1].address + 8;
    return is_end && meets ? b->lines.count : ordinal;
}

/* A label for an ordinal; those that the text lacks are named after their address. */
static uint32_t label_at(hd_sass_reader *b, uint32_t ordinal)
{
    char text[24];
    bool addressed = ordinal < b->lines.count && b->lines.items[ordinal].address != HD_NONE;
    int length = addressed ? snprintf(text, sizeof text, "0x%x", b->lines.items[ordinal].address)
                           : snprintf(text, sizeof text, "@%u", ordinal);
    hd_name name = hd_names_add(&b->module->names, text, (size_t)length);
    uint32_t label = hd_sass_label_find(b, name);
    return label != HD_NONE ? label : hd_sass_label_new(b, name, ordinal, (hd_span){0, 0});
}

static uint32_t label_ordinal(const hd_sass_reader *b, uint32_t label)
{
    return b->function->labels.items[label].instruction;
}

static void resolve_references(hd_sass_reader *b)
{
    for (uint32_t i = 0; i < b->references.count; i++) {
        const hd_sass_reference *r = &b->references.items[i];
        uint32_t label = hd_sass_label_find(b, r->name);
        if (label == HD_NONE)
            continue;
        hd_operand *o = &b->function->operands.items[r->operand];
        o->kind = HD_OPERAND_LABEL;
        o->value = label;
    }
}

/* The label that an instruction names, or HD_NONE. */
static uint32_t named_label(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (o[i].kind == HD_OPERAND_LABEL)
            return o[i].value;
    return HD_NONE;
}

/* The target of a jump: a label, perhaps made for its address; HD_NONE: not in this function. */
static uint32_t target_of(hd_sass_reader *b, const hd_sass_jump *jump)
{
    hd_function *f = b->function;
    uint32_t label = named_label(f, &f->instructions.items[jump->instruction]);
    if (label != HD_NONE || jump->number == HD_NONE || jump->operand == HD_NONE)
        return label;
    bool relocated = !jump->number && jump->control == HD_SASS_CONTROL_CALL; /* filled in by the linker */
    bool meets = jump->control == HD_SASS_CONTROL_PUSH;
    uint32_t ordinal = relocated ? HD_NONE : target_at(b, jump->number, meets);
    if (ordinal == HD_NONE && b->base && jump->number >= b->base) /* an address in memory */
        ordinal = target_at(b, jump->number - (uint32_t)b->base, meets);
    if (ordinal == HD_NONE)
        return HD_NONE;
    hd_operand *o = &f->operands.items[jump->operand];
    o->kind = HD_OPERAND_LABEL;
    return o->value = label_at(b, ordinal);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Moves the operands of an instruction to the end, where there is room for others. */
static void move_operands(hd_function *f, hd_instruction *insn, uint32_t room)
{
    uint32_t first = f->operands.count, count = insn->operand_count;
    hd_array_reserve(&f->operands, (uint64_t)first + count + room);
    for (uint32_t i = 0; i < count; i++)
        hd_array_push(&f->operands, f->operands.items[insn->operand_first + i]);
    insn->operand_first = first;
}

/* An instruction accesses all registers of the function. */
static void access_all(hd_sass_reader *b, uint32_t ordinal, uint8_t flags)
{
    hd_function *f = b->function;
    hd_instruction *insn = &f->instructions.items[ordinal];
    move_operands(f, insn, f->registers.count);
    for (uint32_t r = 0; r < f->registers.count; r++)
        if (f->registers.items[r].type != HD_TYPE_CC)
            hd_array_push(&f->operands,
                          (hd_operand){.kind = HD_OPERAND_REGISTER, .begin = HD_NONE, .value = r, .flags = flags});
    insn->operand_count = (uint16_t)(f->operands.count - insn->operand_first);
}

/* Whether a target is a label within functions, in JSON. */
static bool is_local(const hd_sass_reader *b, const hd_sass_jump *jump)
{
    const char *name = b->module->source->text + jump->named;
    return jump->named != HD_NONE && name[strspn(name, "`(")] == '.';
}

/* A target that the listing does not contain: any instruction may be there, and read any register. */
static void forget_target(hd_sass_reader *b, const hd_sass_jump *jump)
{
    b->machine->unknown_target = jump->instruction + 1;
    access_all(b, jump->instruction, HD_OPERAND_USE);
}

/* A label in JSON, which defines none. */
static void lose_target(hd_sass_reader *b, const hd_sass_jump *jump)
{
    hd_module *m = b->module;
    hd_span span = b->function->instructions.items[jump->instruction].span;
    forget_target(b, jump);
    if (b->lost_target)
        return;
    b->lost_target = true;
    hd_diagnostic *d = hd_report(m->diagnostics, HD_DIAG_MISSING_LABELS, m->source, span,
                                 "'%s' branches to a label, and the JSON of nvdisasm defines no labels",
                                 hd_names_text(&m->names, b->function->name));
    hd_note_add(m->diagnostics, d, NULL, (hd_span){0, 0},
                "every register counts as read there, and no technique takes the function; nvdisasm without -json "
                "makes a listing that defines labels");
}

static void report_target(hd_sass_reader *b, const hd_sass_jump *jump)
{
    if (b->lexer.json && jump->named != HD_NONE) {
        lose_target(b, jump);
        return;
    }
    if (b->machine->cut) { /* reported: it is in what is missing */
        forget_target(b, jump);
        return;
    }
    hd_span span = b->function->instructions.items[jump->instruction].span;
    hd_sass_error_at(b, UNDEFINED_LABEL, span, "the target of this branch is not in the function");
}

/* A call of code elsewhere. */
static void call_out(hd_sass_reader *b, uint32_t ordinal)
{
    access_all(b, ordinal, HD_OPERAND_DEF | HD_OPERAND_USE);
    b->function->instructions.items[ordinal].flags |= HD_INSN_OPAQUE;
    b->machine->calls_out = true;
}

/* A label beside a register is the name of the function in which the register has an offset, and no target. */
static void name_base(hd_function *f, const hd_instruction *insn)
{
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        hd_operand *o = &f->operands.items[insn->operand_first + i];
        if (o->kind == HD_OPERAND_LABEL) {
            o->value = f->labels.items[o->value].name;
            o->kind = HD_OPERAND_NAME;
        }
    }
}

/* CALL.REL R4 `(f): the register has an offset in f. */
static bool is_by_register(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (o[i].kind == HD_OPERAND_REGISTER && f->registers.items[o[i].value].type == HD_TYPE_B32)
            return true;
    return false;
}

/* A label that starts code to be called: nvdisasm names it after its symbol, and others .L_1. */
static bool starts_subroutine(const hd_sass_reader *b, uint32_t label)
{
    const hd_label *l = &b->function->labels.items[label];
    return l->span.end && l->instruction < b->function->instructions.count && l->name != b->function->name &&
           *hd_names_text(&b->module->names, l->name) != '.';
}

static bool has_subroutines(const hd_sass_reader *b)
{
    for (uint32_t label = 0; label < b->function->labels.count; label++)
        if (starts_subroutine(b, label))
            return true;
    return false;
}

static void make_local(hd_sass_reader *b, hd_sass_jump *jump)
{
    hd_instruction *insn = &b->function->instructions.items[jump->instruction];
    hd_name spelling = b->module->forms.items[insn->form].spelling;
    insn->form = hd_machine_form_of(b->module, spelling, b->machine->generation, HD_MACHINE_LOCAL);
    jump->is_local = true;
}

/* A call whose register has an offset in this function leads to any code in it that has a symbol, and nowhere else; one
 * whose register has an address may leave the function. */
static void classify_call_by_register(hd_sass_reader *b, hd_sass_jump *jump)
{
    hd_function *f = b->function;
    hd_instruction *insn = &f->instructions.items[jump->instruction];
    b->machine->calls_by_register = true;
    if (!hd_sass_form_has(hd_insn_machine(f, insn)->sass, ".REL") || !has_subroutines(b)) {
        forget_target(b, jump);
        return;
    }
    make_local(b, jump);
    name_base(f, insn);
    jump->table = f->tables.count;
    hd_array_push(&f->tables, (hd_table){.kind = HD_TABLE_BRANCH_TARGETS});
    move_operands(f, insn, 1);
    hd_array_push(&f->operands, (hd_operand){.kind = HD_OPERAND_TABLE, .begin = HD_NONE, .value = jump->table});
    insn->operand_count++;
}

static void classify_call(hd_sass_reader *b, hd_sass_jump *jump)
{
    hd_function *f = b->function;
    if (is_by_register(f, &f->instructions.items[jump->instruction])) {
        classify_call_by_register(b, jump);
        return;
    }
    uint32_t target = target_of(b, jump);
    if (target == HD_NONE) {
        if (b->lexer.json && is_local(b, jump))
            lose_target(b, jump);
        call_out(b, jump->instruction);
        return;
    }
    make_local(b, jump);
    jump->number = label_ordinal(b, target);
}

/* ---- what an instruction leads to, before tables are filled ------------------------------------------------------ */

typedef struct flow {
    hd_sass_reader *b;
    uint32_t *jump_of; /* by ordinal: jump + 1; 0: none */
    uint32_t count;    /* instructions */
    uint32_t *queue;
    uint32_t *stamp; /* by ordinal */
    uint32_t stamps;
    bool *is_subroutine; /* by ordinal: calls by register lead there */
    hd_u32_array entries;
} flow;

static const hd_sass_jump *jump_at(const flow *w, uint32_t ordinal)
{
    return w->jump_of[ordinal] ? &w->b->jumps.items[w->jump_of[ordinal] - 1] : NULL;
}

static bool may_go_on(const hd_instruction *insn)
{
    return insn->guard != HD_NONE || insn->flags & (HD_INSN_CONDITIONAL | HD_INSN_OPAQUE);
}

/* Targets within the function, at most two; calls are stepped over. */
static uint32_t next_of(const flow *w, uint32_t ordinal, uint32_t next[2])
{
    const hd_function *f = w->b->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_sass_jump *jump = jump_at(w, ordinal);
    uint32_t behaviour = hd_insn_form(f, insn)->behaviour, count = 0;
    bool leaves = behaviour & (HD_BEHAVE_EXIT | HD_BEHAVE_RETURN);
    bool branches = jump && (jump->control == HD_SASS_CONTROL_BRANCH || jump->control == HD_SASS_CONTROL_POP ||
                             jump->control == HD_SASS_CONTROL_INDIRECT);
    if (jump && jump->control == HD_SASS_CONTROL_BRANCH) {
        uint32_t label = named_label(f, insn);
        if (label != HD_NONE)
            next[count++] = label_ordinal(w->b, label);
    }
    if ((!leaves && !branches) || may_go_on(insn))
        next[count++] = ordinal + 1;
    return count;
}

/* ---- returns ----------------------------------------------------------------------------------------------------- */

static void add_target(hd_u32_array *list, uint32_t label)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] == label)
            return;
    hd_array_push(list, label);
}

/* The returns in the code that starts at `entry` lead to the labels of `after`; NULL: out of the function. */
static void enter(flow *w, uint32_t entry, const hd_u32_array *after, hd_u32_array *lists)
{
    hd_function *f = w->b->function;
    uint32_t head = 0, tail = 0, next[2];
    w->stamps++;
    w->queue[tail++] = entry;
    w->stamp[entry] = w->stamps;
    while (head < tail) {
        uint32_t at = w->queue[head++];
        const hd_sass_jump *jump = jump_at(w, at);
        bool returns = jump && jump->control == HD_SASS_CONTROL_RETURN;
        for (uint32_t i = 0; returns && after && i < after->count; i++)
            add_target(&lists[jump->table], after->items[i]);
        if (returns && !after) {
            access_all(w->b, at, HD_OPERAND_USE);
            f->is_entry = false;
        }
        uint32_t count = next_of(w, at, next);
        for (uint32_t i = 0; i < count; i++)
            if (next[i] < w->count && w->stamp[next[i]] != w->stamps) {
                w->stamp[next[i]] = w->stamps;
                w->queue[tail++] = next[i];
            }
    }
}

static void add_entry(flow *w, uint32_t ordinal)
{
    if (ordinal < w->count && w->stamp[ordinal] != w->stamps) {
        w->stamp[ordinal] = w->stamps;
        hd_array_push(&w->entries, ordinal);
    }
}

/* The instructions where called code starts, once each, in the order of their first calls. */
static void find_entries(flow *w)
{
    const hd_sass_reader *b = w->b;
    w->stamps++;
    for (uint32_t i = 0; i < b->jumps.count; i++) {
        const hd_sass_jump *call = &b->jumps.items[i];
        if (call->is_local && call->table == HD_NONE)
            add_entry(w, call->number);
        for (uint32_t label = 0; call->is_local && call->table != HD_NONE && label < b->function->labels.count; label++)
            if (starts_subroutine(b, label)) {
                w->is_subroutine[label_ordinal(b, label)] = true;
                add_entry(w, label_ordinal(b, label));
            }
    }
}

static bool leads_to(const flow *w, const hd_sass_jump *call, uint32_t entry)
{
    return call->is_local && (call->table == HD_NONE ? call->number == entry : w->is_subroutine[entry]);
}

static void resolve_returns(flow *w, hd_u32_array *lists)
{
    hd_sass_reader *b = w->b;
    hd_u32_array after = {0};
    enter(w, 0, NULL, lists);
    for (uint32_t i = 0; i < w->entries.count; i++) {
        hd_array_clear(&after);
        for (uint32_t k = 0; k < b->jumps.count; k++)
            if (leads_to(w, &b->jumps.items[k], w->entries.items[i]))
                hd_array_push(&after, label_at(b, b->jumps.items[k].instruction + 1));
        enter(w, w->entries.items[i], &after, lists);
    }
    hd_array_free(&after);
}

/* ---- pops -------------------------------------------------------------------------------------------------------- */

typedef struct pushed { /* an address on the stack of branches */
    uint32_t below;     /* index; 0: none */
    uint32_t label;
    char letter; /* of the opcode that pushed it: SSY, PBK, PCNT */
} pushed;

typedef struct visit {
    uint32_t ordinal, stack;
} visit;

typedef struct pop_walk {
    flow *w;
    HD_ARRAY(pushed) stack;
    HD_ARRAY(visit) todo;
    hd_u32_array *lists;
    uint32_t *stack_of; /* by ordinal, where it was visited */
} pop_walk;

/* What is below the topmost address that this opcode takes; its label in *label, HD_NONE if there is none. */
static uint32_t pop(const pop_walk *p, uint32_t top, char letter, uint32_t *label)
{
    *label = HD_NONE;
    while (top && p->stack.items[top].letter != letter)
        top = p->stack.items[top].below;
    if (!top)
        return 0;
    *label = p->stack.items[top].label;
    return p->stack.items[top].below;
}

static bool is_same_stack(const pop_walk *p, uint32_t a, uint32_t b)
{
    while (a != b && a && b && p->stack.items[a].label == p->stack.items[b].label &&
           p->stack.items[a].letter == p->stack.items[b].letter) {
        a = p->stack.items[a].below;
        b = p->stack.items[b].below;
    }
    return a == b;
}

static void go(pop_walk *p, uint32_t ordinal, uint32_t stack)
{
    if (ordinal >= p->w->count)
        return;
    if (p->w->stamp[ordinal] == p->w->stamps) {
        if (!is_same_stack(p, p->stack_of[ordinal], stack))
            p->w->b->machine->unknown_target = ordinal + 1;
        return;
    }
    p->w->stamp[ordinal] = p->w->stamps;
    p->stack_of[ordinal] = stack;
    hd_array_push(&p->todo, (visit){ordinal, stack});
}

/* Goes on without a pop: at the address that SSY pushed, the lanes have met, and it is no longer on the stack. */
static void arrive(pop_walk *p, uint32_t ordinal, uint32_t stack)
{
    const pushed *top = &p->stack.items[stack];
    if (stack && top->letter == 'S' && label_ordinal(p->w->b, top->label) == ordinal)
        stack = top->below;
    go(p, ordinal, stack);
}

static void step(pop_walk *p, visit at)
{
    hd_function *f = p->w->b->function;
    const hd_instruction *insn = &f->instructions.items[at.ordinal];
    const hd_sass_jump *jump = jump_at(p->w, at.ordinal);
    const char *opcode = hd_names_text(&f->module->names, hd_insn_form(f, insn)->spelling);
    uint32_t next[2], count = next_of(p->w, at.ordinal, next), stack = at.stack;
    if (jump && jump->control == HD_SASS_CONTROL_PUSH && *opcode != 'B') { /* BSSY names a barrier */
        char letter = *opcode == 'S' ? 'S' : opcode[1];
        uint32_t label = named_label(f, insn);
        if (label != HD_NONE) {
            hd_array_push(&p->stack, (pushed){at.stack, label, letter});
            stack = p->stack.count - 1;
        }
    }
    if (jump && jump->control == HD_SASS_CONTROL_POP) {
        const hd_sass_row *row = hd_insn_machine(f, insn)->row;
        bool leaves_loop = row && row->control == HD_SASS_CONTROL_POP && *opcode != 'S'; /* BRK, CONT; not BFE.S */
        uint32_t label, below = pop(p, at.stack, leaves_loop ? *opcode : 'S', &label);
        if (jump->note)
            label = hd_sass_label_find(p->w->b, jump->note);
        if (label != HD_NONE) {
            add_target(&p->lists[jump->table], label);
            go(p, label_ordinal(p->w->b, label), below);
        } else {
            p->w->b->machine->unknown_target = at.ordinal + 1;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        arrive(p, next[i], stack);
}

static void resolve_pops(flow *w, hd_u32_array *lists, hd_arena *scratch)
{
    pop_walk p = {.w = w, .lists = lists, .stack_of = HD_ARENA_ARRAY(scratch, uint32_t, w->count + 1)};
    hd_array_push(&p.stack, (pushed){0});
    w->stamps++;
    if (w->count)
        go(&p, 0, 0);
    for (uint32_t i = 0; i < w->entries.count; i++) /* subroutines too */
        go(&p, w->entries.items[i], 0);
    while (p.todo.count) {
        visit at = hd_array_pop(&p.todo);
        step(&p, at);
    }
    hd_array_free(&p.stack);
    hd_array_free(&p.todo);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static void resolve_indirect(hd_sass_reader *b, const hd_sass_jump *jump, hd_u32_array *list)
{
    hd_function *f = b->function;
    if (jump->note && hd_sass_label_find(b, jump->note) != HD_NONE) {
        hd_array_push(list, hd_sass_label_find(b, jump->note));
        return;
    }
    /* Only labels in the text: those of tables are among them. */
    for (uint32_t label = 0; label < f->labels.count; label++)
        if (f->labels.items[label].span.end)
            hd_array_push(list, label);
    if (!list->count)
        b->machine->unknown_target = jump->instruction + 1;
}

static void resolve_call_by_register(hd_sass_reader *b, hd_u32_array *list)
{
    for (uint32_t label = 0; label < b->function->labels.count; label++)
        if (starts_subroutine(b, label))
            add_target(list, label);
}

static void fill_tables(hd_sass_reader *b, const hd_u32_array *lists)
{
    hd_function *f = b->function;
    for (uint32_t t = 0; t < f->tables.count; t++) {
        f->tables.items[t].first = f->table_entries.count;
        f->tables.items[t].count = lists[t].count;
        for (uint32_t i = 0; i < lists[t].count; i++)
            hd_array_push(&f->table_entries, lists[t].items[i]);
    }
}

static void find_meetings(hd_sass_reader *b)
{
    const hd_function *f = b->function;
    HD_ARRAY(hd_machine_meeting) found = {0};
    for (uint32_t i = 0; i < b->jumps.count; i++) {
        const hd_sass_jump *jump = &b->jumps.items[i];
        uint32_t label =
            jump->control == HD_SASS_CONTROL_PUSH ? named_label(f, &f->instructions.items[jump->instruction]) : HD_NONE;
        if (label != HD_NONE)
            hd_array_push(&found, (hd_machine_meeting){jump->instruction, label_ordinal(b, label)});
    }
    b->machine->meeting_count = found.count;
    if (found.count)
        b->machine->meetings = hd_arena_copy(&b->module->arena, found.items, found.count * sizeof *found.items);
    hd_array_free(&found);
}

/* The barrier that an instruction names: a register; HD_NONE. */
static uint32_t barrier_of(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (o[i].kind == HD_OPERAND_REGISTER && f->registers.items[o[i].value].type == HD_TYPE_BARRIER)
            return o[i].value;
    return HD_NONE;
}

/* Where lanes leave a barrier (BREAK), the others wait for each other before the immediate post-dominator of the branch
 * that sends some of them away: as lanes of several sides of that branch. */
static void find_waits_in_sides(hd_sass_reader *b, const hd_sass_jump *leave)
{
    hd_function *f = b->function;
    uint32_t barrier = barrier_of(f, &f->instructions.items[leave->instruction]);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        hd_instruction *insn = &f->instructions.items[i];
        const hd_machine_form *form = hd_insn_machine(f, insn);
        if (form->row && form->row->control == HD_SASS_CONTROL_SYNC && form->variant == HD_MACHINE_PLAIN &&
            barrier_of(f, insn) == barrier)
            insn->form = hd_machine_form_of(b->module, b->module->forms.items[insn->form].spelling,
                                            b->machine->generation, HD_MACHINE_MEETING);
    }
}

/* Lanes that end between BSSY and its label move the immediate post-dominator of branches there to the end of the
 * code: the others then meet at BSYNC, as in the sides of such a branch. */
static void find_ends_in_region(hd_sass_reader *b, const hd_sass_jump *push)
{
    const hd_function *f = b->function;
    uint32_t label = named_label(f, &f->instructions.items[push->instruction]);
    uint32_t end = label == HD_NONE ? 0 : label_ordinal(b, label);
    for (uint32_t i = push->instruction; i < end; i++) {
        const hd_sass_row *row = hd_insn_machine(f, &f->instructions.items[i])->row;
        if (row && (row->control == HD_SASS_CONTROL_EXIT || row->control == HD_SASS_CONTROL_KILL)) {
            find_waits_in_sides(b, push);
            return;
        }
    }
}

/* Lanes that call different code return at different times, and perhaps to different frames of one function: where the
 * flat graph has the immediate post-dominator, others may be. They wait at each BSYNC, as in sides of a branch. */
static void find_waits_across_calls(hd_sass_reader *b)
{
    for (uint32_t i = 0; i < b->jumps.count; i++)
        if (b->jumps.items[i].control == HD_SASS_CONTROL_PUSH)
            find_waits_in_sides(b, &b->jumps.items[i]);
}

static void resolve_jump(hd_sass_reader *b, hd_sass_jump *jump)
{
    hd_function *f = b->function;
    switch ((hd_sass_control)jump->control) {
    case HD_SASS_CONTROL_BRANCH:
        if (target_of(b, jump) == HD_NONE)
            report_target(b, jump);
        break;
    case HD_SASS_CONTROL_PUSH:
        target_of(b, jump);
        find_ends_in_region(b, jump);
        break;
    case HD_SASS_CONTROL_CALL: classify_call(b, jump); break;
    case HD_SASS_CONTROL_LEAVE: find_waits_in_sides(b, jump); break;
    case HD_SASS_CONTROL_RETURN: name_base(f, &f->instructions.items[jump->instruction]); break;
    default: break;
    }
}

void hd_sass_resolve_flow(hd_sass_reader *b)
{
    hd_function *f = b->function;
    hd_arena scratch = {0};
    flow w = {.b = b, .count = f->instructions.count};
    resolve_references(b);
    for (uint32_t i = 0; i < b->jumps.count; i++)
        resolve_jump(b, &b->jumps.items[i]);
    if (b->machine->calls_by_register && !b->machine->unknown_target)
        find_waits_across_calls(b);
    find_meetings(b);
    if (!f->tables.count || !w.count)
        return;
    w.jump_of = HD_ARENA_ARRAY(&scratch, uint32_t, w.count + 1);
    w.queue = HD_ARENA_ARRAY(&scratch, uint32_t, w.count + 1);
    w.stamp = HD_ARENA_ARRAY(&scratch, uint32_t, w.count + 1);
    w.is_subroutine = HD_ARENA_ARRAY(&scratch, bool, w.count + 1);
    hd_u32_array *lists = HD_ARENA_ARRAY(&scratch, hd_u32_array, f->tables.count);
    for (uint32_t i = 0; i < b->jumps.count; i++)
        w.jump_of[b->jumps.items[i].instruction] = i + 1;
    find_entries(&w);
    resolve_returns(&w, lists);
    resolve_pops(&w, lists, &scratch);
    for (uint32_t i = 0; i < b->jumps.count; i++) {
        const hd_sass_jump *jump = &b->jumps.items[i];
        if (jump->control == HD_SASS_CONTROL_INDIRECT)
            resolve_indirect(b, jump, &lists[jump->table]);
        if (jump->is_local && jump->table != HD_NONE)
            resolve_call_by_register(b, &lists[jump->table]);
    }
    fill_tables(b, lists);
    for (uint32_t t = 0; t < f->tables.count; t++)
        hd_array_free(&lists[t]);
    hd_array_free(&w.entries);
    hd_arena_free(&scratch);
}
