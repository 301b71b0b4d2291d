/* Builds a program from machine code: lays out the frame, lowers each instruction by its row of opcodes.def, and
 * reports those that have none. Linear in the code. */
#include "hwmodel/machine/decoder.h"
#include "hwmodel/exec/ops/matrix.h"
#include "hwmodel/exec/ops/special.h"
#include "hwmodel/exec/ops/texture.h"

static const hd_machine_row rows[] = {
#define HD_MACHINE(opcode, modifiers, operands, decode, run, lanes, type) \
    {#opcode, modifiers, operands, hd_machine_decode_##decode, run, lanes, HD_TYPE_##type},
#define hd_machine_decode_none NULL
#define HD_TYPE_NONE 0
#include "hwmodel/machine/opcodes.def"
#undef HD_TYPE_NONE
#undef hd_machine_decode_none
};
enum { ROWS = sizeof rows / sizeof *rows, ROW_BYTES = 4 * LANES, WIDE_ROW_BYTES = 8 * LANES };

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* What concerns caches, orders of memory accesses, and the assembler's choice of a unit. */
static const char hints[] =
    "SYS GPU CTA SM CONSTANT PRIVATE STRONG WEAK NA EF EL LU EU LTC64B LTC128B LTC256B CONSTANT NODEP "
    "MMIO DEFER_BLOCKING noinc VM ";

static bool fits(const hd_machine_decoder *d, const hd_machine_row *row)
{
    char word[32];
    const char *spelling = hd_machine_spelling(d), *dot = strchr(spelling, '.');
    size_t stem = dot ? (size_t)(dot - spelling) : strlen(spelling);
    if (strlen(row->opcode) != stem || memcmp(row->opcode, spelling, stem) != 0)
        return false;
    if (*row->modifiers == '*')
        return true;
    for (const char *at = row->modifiers; (at = strchr(at, '+')); at++) {
        size_t length = strcspn(at + 1, " ");
        memcpy(word, at + 1, length);
        word[length] = 0;
        if (!hd_machine_has(d, word))
            return false;
    }
    while (dot) {
        size_t length = strcspn(dot + 1, ".");
        if (length >= sizeof word)
            return false;
        memcpy(word, dot + 1, length);
        word[length] = 0;
        if (!hd_machine_lists(row->modifiers, word, length, ' ', ' ') &&
            !hd_machine_lists(hints, word, length, ' ', ' '))
            return false;
        dot = dot[1 + length] ? dot + 1 + length : NULL;
    }
    return true;
}

static const hd_machine_row *find_row(const hd_machine_decoder *d)
{
    for (uint32_t i = 0; i < ROWS; i++)
        if (fits(d, &rows[i]))
            return &rows[i];
    return NULL;
}

/* ---- the operands of a row --------------------------------------------------------------------------------------- */

static bool next_is_predicate(const hd_machine_decoder *d)
{
    const hd_machine_operand *o = &d->operands.items[d->next];
    return d->next < d->operands.count && o->kind == HD_MACHINE_OPERAND_REGISTER &&
           (o->class == HD_SASS_PREDICATE || o->class == HD_SASS_UNIFORM_PREDICATE);
}

static void take_source(hd_machine_decoder *d, char letter)
{
    hd_ref *const places[] = {&d->m.op.a, &d->m.op.b, &d->m.op.c, &d->m.op.f};
    if (d->sources == 4)
        hd_machine_unsupported(d, "so many operands");
    else
        *places[d->sources++] = hd_machine_source(d, hd_machine_next(d), letter);
}

static void take_destination(hd_machine_decoder *d, bool pair)
{
    const hd_machine_operand *o = hd_machine_next(d);
    bool none = o->number == HD_SASS_NO_NUMBER;
    if (o->kind != HD_MACHINE_OPERAND_REGISTER) {
        hd_machine_unsupported(d, "a destination of this kind");
        return;
    }
    hd_ref row = none ? hd_machine_temporary(d) : hd_machine_register_row(d, o->class, o->number);
    d->m.uniform = o->class == HD_SASS_UNIFORM;
    d->m.op.d = row;
    d->m.op.d_bytes = pair ? 8 : 4;
    if (!pair || none)
        return;
    d->m.split = 1;
    d->m.low = row;
    d->m.high = hd_machine_register_row(d, o->class, o->number + 1u);
    d->m.op.d = hd_machine_temporary(d);
}

static void take_predicate_out(hd_machine_decoder *d)
{
    const hd_machine_operand *o = hd_machine_next(d);
    if (d->m.out_count < 2)
        d->m.out[d->m.out_count++] =
            o->number == HD_SASS_NO_NUMBER ? HD_NO_REF : hd_machine_register_row(d, o->class, o->number);
    d->m.uniform = d->m.uniform || o->class == HD_SASS_UNIFORM_PREDICATE;
}

static void take_predicate_in(hd_machine_decoder *d)
{
    if (d->m.in_count < HD_MACHINE_PREDICATES)
        d->m.in[d->m.in_count++] = hd_machine_predicate_of(d, hd_machine_next(d));
}

/* One letter of the row's operands; false: the instruction has no such operand. */
static bool take_operand(hd_machine_decoder *d, char letter)
{
    switch (letter) {
    case 'P':
        if (next_is_predicate(d))
            take_predicate_out(d);
        return true;
    case 'Q':
        if (next_is_predicate(d))
            take_predicate_in(d);
        return true;
    default: break;
    }
    if (d->next == d->operands.count)
        return false;
    switch (letter) {
    case 'd': take_destination(d, false); break;
    case 'D': take_destination(d, true); break;
    case 'p':
        if (!next_is_predicate(d))
            return false;
        take_predicate_out(d);
        break;
    case 'q':
        if (!next_is_predicate(d))
            return false;
        take_predicate_in(d);
        break;
    case 'x':
        d->m.op.offset = (int64_t)d->operands.items[d->next].bits;
        d->m.table[d->m.op.count++ & 1] = (uint32_t)hd_machine_next(d)->bits;
        break;
    case 'w': d->next++; break;
    default: take_source(d, letter);
    }
    return true;
}

static bool take_operands(hd_machine_decoder *d)
{
    for (const char *at = d->row->operands; *at; at++) {
        if (*at == '*')
            return true;
        if (!take_operand(d, *at) && at[1] != '?')
            return hd_machine_unsupported(d, "these operands");
        at += at[1] == '?';
    }
    return d->next == d->operands.count || hd_machine_unsupported(d, "these operands");
}

/* ---- an instruction ---------------------------------------------------------------------------------------------- */

static hd_op empty_op(void)
{
    return (hd_op){.guard = HD_NO_REF,
                   .d = HD_NO_REF,
                   .e = HD_NO_REF,
                   .a = hd_machine_zero(),
                   .b = hd_machine_zero(),
                   .c = hd_machine_zero(),
                   .f = HD_NO_REF,
                   .join = HD_NONE,
                   .run = hd_run_nothing};
}

/* An op on rows has no predicates: those that the text names are true, and those written are none. */
static void drop_carries(hd_machine_decoder *d)
{
    for (uint32_t i = 0; i < d->m.out_count; i++)
        if (d->m.out[i] != HD_NO_REF)
            hd_machine_unsupported(d, "a carry");
    for (uint32_t i = 0; i < d->m.in_count; i++)
        if (d->m.in[i].word != hd_machine_true())
            hd_machine_unsupported(d, "a carry");
    d->m.in_count = d->m.out_count = 0;
}

static bool lower(hd_machine_decoder *d)
{
    const char *text = d->module->source->text + d->insn->span.begin;
    d->m = (hd_machine_op){.op = empty_op(), .low = HD_NO_REF, .high = HD_NO_REF, .out = {HD_NO_REF, HD_NO_REF}};
    d->next = d->sources = d->temporary = 0;
    d->row = find_row(d);
    if (!d->row || (!d->row->run && !d->row->decode))
        return hd_machine_unsupported(d, NULL);
    if (!hd_machine_read_operands(text, d->insn->span.end - d->insn->span.begin, &d->operands))
        return hd_machine_unsupported(d, "these operands");
    d->m.op.run = d->row->run;
    d->m.op.use.lanes = d->row->lanes;
    bool failed = d->failed;
    d->failed = false;
    if (take_operands(d) && d->row->decode)
        d->row->decode(d);
    else if (d->m.op.run == hd_run_lanes)
        drop_carries(d);
    bool good = !d->failed;
    d->failed = d->failed || failed;
    return good;
}

/* Whether the run function takes more than the hd_op. */
static bool needs_more(const hd_machine_decoder *d)
{
    return d->m.step_count || d->m.split || d->m.uniform || d->m.in_count || d->m.out_count || d->m.ones;
}

/* The op of the instruction runs directly, or after steps. */
static void place_op(hd_machine_decoder *d)
{
    hd_op outer = d->m.op;
    if (needs_more(d)) {
        hd_machine_op *kept = HD_ARENA_NEW(&d->program->arena, hd_machine_op);
        *kept = d->m;
        outer.run = hd_machine_run;
        outer.use.detail = kept;
    }
    *d->op = outer;
}

static void set_guard(hd_machine_decoder *d)
{
    const hd_instruction *insn = d->insn;
    if (insn->guard != HD_NONE) {
        const hd_register *r = &d->function->registers.items[insn->guard];
        d->op->guard = hd_machine_register_row(
            d, r->flags & HD_REGISTER_UNIFORM ? HD_SASS_UNIFORM_PREDICATE : HD_SASS_PREDICATE, r->index);
        d->op->flags |= insn->flags & HD_INSN_GUARD_NOT ? HD_OP_GUARD_NOT : 0;
    }
}

/* The general registers that it writes, for the columns of events. */
static void list_written(hd_machine_decoder *d)
{
    hd_op *op = d->op;
    hd_code *code = d->code;
    op->written = code->written.count;
    HD_INSN_REGISTERS (d->function, d->insn, o)
        if (o->flags & HD_OPERAND_DEF && hd_storage_count(&code->storage, o->value)) {
            uint32_t word = code->storage.first[o->value], number = d->function->registers.items[o->value].index;
            hd_array_push(
                &code->written,
                ((hd_written){
                    .row = hd_machine_register_row(d, HD_SASS_GENERAL, number), .word = word, .bytes = 4, .words = 1}));
            op->words |= (uint64_t)1 << (word & 63);
        }
    op->written_count = code->written.count - op->written;
    if (op->written_count == 1)
        hd_array_last(&code->written).single = true;
    bool call = hd_insn_form(d->function, d->insn)->behaviour & HD_BEHAVE_CALL;
    if (op->written_count > (call ? HD_MOST_RETURNED : HD_MOST_WRITTEN))
        hd_machine_unsupported(d, "so many results in registers");
}

static bool is_barrier(const hd_form *form) { return form->behaviour & HD_BEHAVE_BARRIER; }

/* A fence that orders memory for other thread blocks; accesses say so themselves (decode_memory.c). */
static bool is_fence_of_all(const hd_machine_decoder *d)
{
    return strcmp(d->row->opcode, "MEMBAR") == 0 && !hd_machine_has(d, "CTA");
}

static void decode_instruction(hd_machine_decoder *d, uint32_t ordinal)
{
    d->ordinal = ordinal;
    d->insn = &d->function->instructions.items[ordinal];
    d->form = hd_insn_machine(d->function, d->insn);
    d->op = &d->code->ops[ordinal];
    *d->op = empty_op();
    if (d->form->variant == HD_MACHINE_NEVER) {
        d->op->guard = hd_machine_zero();
        return;
    }
    if (!lower(d))
        return;
    place_op(d);
    set_guard(d);
    if (is_barrier(hd_insn_form(d->function, d->insn)))
        d->op->flags |= HD_OP_LAST_OF_SEGMENT;
    if (is_fence_of_all(d))
        d->op->flags |= HD_OP_ORDERED;
    list_written(d);
}

/* ---- a function -------------------------------------------------------------------------------------------------- */

/* The highest number of a class that the code mentions, plus what follows it in vectors. */
static uint32_t number_of(const hd_function *f, hd_type type, bool uniform)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < f->registers.count; i++) {
        const hd_register *r = &f->registers.items[i];
        bool same = r->type == type && (bool)(r->flags & HD_REGISTER_UNIFORM) == uniform;
        most = same && r->index + 1 > most ? r->index + 1 : most;
    }
    return most;
}

enum { ROWS_OF_CALLS = 24 }; /* what the device runtime takes and gives, and the address that it returns to */

static void count_rows(hd_machine_decoder *d)
{
    d->general_count = ROWS_OF_CALLS;
    for (uint32_t i = 0; i < d->functions.count; i++) {
        uint32_t general = number_of(d->functions.items[i], HD_TYPE_B32, false) + 4;
        uint32_t uniform = number_of(d->functions.items[i], HD_TYPE_UNIFORM, true) + 4;
        d->general_count = general > d->general_count ? general : d->general_count;
        d->uniform_count = uniform > d->uniform_count ? uniform : d->uniform_count;
    }
}

static void lay_frame(hd_machine_decoder *d)
{
    const hd_function *f = d->function;
    uint32_t at = 128; /* P and UP */
    d->predicates = 0;
    d->uniform_predicates = 64;
    d->barriers = at;
    at += 17 * ROW_BYTES; /* and that of WARPSYNC: control.c */
    d->general = at;
    at += d->general_count * ROW_BYTES;
    d->uniform = at;
    at += d->uniform_count * ROW_BYTES;
    d->temporaries = at;
    d->reduction = at + (HD_MACHINE_TEMPORARIES + 1) * WIDE_ROW_BYTES;
    d->code->register_bytes = d->reduction + 2 * ROW_BYTES;
    d->code->register_rows = hd_malloc(((size_t)f->registers.count + 1) * sizeof *d->code->register_rows);
    for (uint32_t i = 0; i < f->registers.count; i++) {
        const hd_register *r = &f->registers.items[i];
        hd_sass_class class = r->flags & HD_REGISTER_UNIFORM
                                  ? r->type == HD_TYPE_PRED ? HD_SASS_UNIFORM_PREDICATE : HD_SASS_UNIFORM
                              : r->type == HD_TYPE_PRED    ? HD_SASS_PREDICATE
                              : r->type == HD_TYPE_BARRIER ? HD_SASS_BARRIER
                                                           : HD_SASS_GENERAL;
        d->code->register_rows[i] =
            r->index == HD_NONE ? d->temporaries : hd_machine_register_row(d, (uint8_t) class, r->index);
    }
}

static void finish_code(hd_machine_decoder *d)
{
    hd_code *code = d->code;
    code->ops[code->op_count] = empty_op();
    code->ops[code->op_count].run = hd_machine_run_exit;
    code->ops[code->op_count].flags = HD_OP_SYNTHETIC | HD_OP_CONTROL;
    code->constant_rows = aligned_alloc(64, ((size_t)code->constants.count + 127) / 64 * 64);
    if (!code->constant_rows)
        hd_out_of_memory(code->constants.count);
    memcpy(code->constant_rows, code->constants.items, code->constants.count);
    code->constant_bytes = code->constants.count;
    hd_array_free(&code->constants);
}

static void decode_code(hd_machine_decoder *d, hd_function *function)
{
    hd_program *p = d->program;
    d->function = function;
    d->constant_keys.count = 0;
    hd_code *code = d->code = HD_ARENA_NEW(&p->arena, hd_code);
    code->function = d->function;
    code->index = d->function->index;
    code->local_bytes = (d->kernel->local_bytes + 15) / 16 * 16;
    code->storage = hd_storage_of(d->function, &p->arena);
    code->op_count = d->function->instructions.count;
    code->ops = HD_ARENA_ARRAY(&p->arena, hd_op, (size_t)code->op_count + 1);
    hd_array_push(&p->codes, code);
    lay_frame(d);
    hd_machine_add_builtins(d);
    hd_machine_first_constants(d);
    for (uint32_t i = 0; i < code->op_count && !hd_diagnostics_full(d->diagnostics); i++)
        decode_instruction(d, i);
    finish_code(d);
}

/* ---- a program --------------------------------------------------------------------------------------------------- */

static void add_function(hd_machine_decoder *d, uint32_t index)
{
    hd_function *f = index == HD_NONE ? NULL : d->module->functions.items[index];
    for (uint32_t i = 0; i < d->functions.count && f; i++)
        f = d->functions.items[i] == f ? NULL : f;
    if (f && f->machine)
        hd_array_push(&d->functions, f);
}

/* All whose address may be in a register. */
static void add_all_of(hd_machine_decoder *d, const hd_machine_image *image)
{
    for (uint32_t i = 0; i < image->symbol_count; i++) {
        uint32_t index = image->symbols[i].section == HD_NONE ? HD_NONE : image->symbols[i].function;
        const hd_machine_layout *l = index == HD_NONE ? NULL : hd_machine_layout_of(d->module->functions.items[index]);
        if (l && !l->is_entry)
            add_function(d, index);
    }
}

/* What a function calls by name or by address. */
static void add_callees(hd_machine_decoder *d, const hd_function *f)
{
    const hd_machine_layout *layout = hd_machine_layout_of(f);
    for (uint32_t i = 0; i < f->instructions.count && layout; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        hd_machine_address a;
        const char *spelling = hd_names_text(&d->module->names, d->module->forms.items[insn->form].spelling);
        if (strncmp(spelling, "CALL.", 5) != 0 ||
            !hd_machine_read_operands(d->module->source->text + insn->span.begin, insn->span.end - insn->span.begin,
                                      &d->operands))
            continue;
        const hd_machine_operand *o = &d->operands.items[0];
        if (!d->operands.count)
            continue;
        if (o->kind == HD_MACHINE_OPERAND_REGISTER && strncmp(spelling, "CALL.ABS", 8) == 0)
            add_all_of(d, layout->image);
        else if (hd_machine_address_of(layout->image, o->text, o->length, &a) && a.symbol != HD_NONE)
            add_function(d, layout->image->symbols[a.symbol].function);
    }
}

/* Functions of the device runtime that need the heap, where the code names one. */
static void need_heap(const hd_machine_decoder *d)
{
    const hd_machine_layout *layout = hd_machine_layout_of(d->program->kernel);
    for (uint32_t i = 0; layout && i < layout->image->symbol_count; i++) {
        const hd_machine_symbol *s = &layout->image->symbols[i];
        bool needs = s->section == HD_NONE && hd_machine_needs_heap(s->name);
        if (needs && !hd_memory_need_heap(d->program->image->memory))
            hd_report(d->diagnostics, HD_DIAG_UNSUPPORTED, d->module->source, (hd_span){0, 0},
                      "the interpreter does not execute '%s': a device heap that has no room left", s->name);
    }
}

static void decode_program(hd_machine_decoder *d)
{
    hd_program *p = d->program;
    p->special_bytes = 64;
    p->parameter_bytes = d->kernel->parameter_bytes;
    p->static_shared_bytes = d->kernel->shared_bytes;
    p->dynamic_shared_at = (d->kernel->shared_bytes + 15) / 16 * 16;
    p->independent = true;
    p->read_bank = hd_machine_read_bank;
    p->machine = d->kernel;
    need_heap(d);
    hd_array_push(&d->functions, d->function);
    for (uint32_t i = 0; i < d->functions.count; i++)
        add_callees(d, d->functions.items[i]);
    if (d->functions.count > 1 && d->kernel->local_bytes < HD_MACHINE_DRIVER_STACK_BYTES)
        d->kernel->local_bytes = HD_MACHINE_DRIVER_STACK_BYTES;
    count_rows(d);
    for (uint32_t i = 0; i < d->functions.count; i++)
        decode_code(d, d->functions.items[i]);
    hd_machine_rows *places = HD_ARENA_NEW(&p->arena, hd_machine_rows);
    *places = (hd_machine_rows){d->barriers, d->general, d->uniform, d->temporaries};
    p->machine_rows = places;
}

hd_program *hd_machine_program_new(hd_module *module, hd_function *function, const hd_machine_kernel *kernel,
                                   const hd_image *image, hd_diagnostics *diagnostics)
{
    hd_program *p = hd_calloc(1, sizeof *p);
    hd_machine_kernel *kept = HD_ARENA_NEW(&p->arena, hd_machine_kernel);
    hd_machine_decoder d = {.program = p, .module = module, .function = function, .diagnostics = diagnostics};
    *kept = *kernel;
    kept->sm = kept->sm ? kept->sm : function->machine->sm;
    d.kernel = kept;
    p->module = module;
    p->image = image;
    p->kernel = function;
    p->history = HD_ARENA_ARRAY(&p->arena, hd_history, 1);
    decode_program(&d);
    hd_array_free(&d.constant_keys);
    hd_array_free(&d.functions);
    if (!d.failed)
        return p;
    hd_program_free(p);
    return NULL;
}
