/* Builds a program from a kernel: finds all functions that it may call, lays out their variables, decodes every
 * reachable instruction, and reports unsupported ones. Linear in the size of the code (symbols: per function). */
#include "hwmodel/exec/decode/decoder.h"
#include "ir/cfg.h"
#include <stdio.h>

static const hd_lanes_row no_row;

static const char *kernel_name(const hd_decoder *d)
{
    return hd_names_text(&d->module->names, d->program->kernel->name);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Adds the functions that reachable calls may reach. Invalid callees are reported when the call is decoded. */
static void add_callees(hd_decoder *d, hd_code *code)
{
    hd_function *f = d->module->functions.items[code->index];
    const hd_cfg *cfg = hd_function_cfg(f);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL && cfg->blocks[cfg->block_of[i]].reachable)
            hd_decode_add_callees(d, f, insn);
    }
}

/* ---- a function -------------------------------------------------------------------------------------------------- */

/* Predicates first, contiguous; then rows in declaration order. Every row is aligned for vector instructions. */
static uint32_t register_rows(const hd_function *f, uint32_t *offsets)
{
    uint32_t at = 0;
    for (uint32_t r = 0; r < f->registers.count; r++)
        if (!hd_register_lane_bytes(f, r)) {
            offsets[r] = at;
            at += 4;
        }
    at = (at + 63) / 64 * 64;
    for (uint32_t r = 0; r < f->registers.count; r++)
        if (hd_register_lane_bytes(f, r)) {
            offsets[r] = at;
            at += hd_register_lane_bytes(f, r) * LANES;
        }
    return at;
}

static void lay_registers(hd_decoder *d)
{
    const hd_function *f = d->function;
    d->register_offset = hd_malloc(((size_t)f->registers.count + 1) * sizeof *d->register_offset);
    d->code->register_bytes = register_rows(f, d->register_offset);
    if (d->code->register_bytes >= 1u << HD_REF_SHIFT) {
        hd_report(d->diagnostics, HD_DIAG_UNSUPPORTED, d->module->source, f->header_span,
                  "more registers than the interpreter holds");
        d->failed = true;
    }
}

/* Rows of results and parameters in registers: callers need them before the function is decoded. */
static void lay_formals(hd_decoder *d, hd_code *code)
{
    const hd_function *f = code->function;
    uint32_t results = f->register_results.count, count = results + f->register_parameters.count;
    if (!count)
        return;
    uint32_t *offsets = hd_malloc(((size_t)f->registers.count + 1) * sizeof *offsets);
    register_rows(f, offsets);
    code->formals = HD_ARENA_ARRAY(&d->program->arena, hd_ref, count);
    for (uint32_t i = 0; i < count; i++)
        code->formals[i] =
            offsets[i < results ? f->register_results.items[i] : f->register_parameters.items[i - results]];
    free(offsets);
}

static void list_operands(hd_decoder *d)
{
    const hd_operand *o = hd_insn_operands(d->function, d->insn), *end = o + d->insn->operand_count;
    d->operand_count = 0;
    for (; o < end && d->operand_count < HD_MOST_OPERANDS; o += hd_operand_extent(o))
        if (!(o->flags & HD_OPERAND_IMPLICIT))
            d->operands[d->operand_count++] = o;
}

/* Such operands are lowered first (passes/clean/offsets.h), unless annotations say what holds without that. */
static bool has_offset_operand(const hd_decoder *d)
{
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (d->operands[i]->kind == HD_OPERAND_REGISTER && d->operands[i]->flags & HD_OPERAND_OFFSET)
            return true;
    return false;
}

static void list_written(hd_decoder *d)
{
    hd_op *op = d->op;
    hd_code *code = d->code;
    bool call = d->form->behaviour & HD_BEHAVE_CALL;
    uint32_t words = 0;
    op->written = code->written.count;
    HD_INSN_REGISTERS (d->function, d->insn, o)
        if (o->flags & HD_OPERAND_DEF && hd_storage_count(&code->storage, o->value)) {
            uint32_t bytes = hd_register_lane_bytes(d->function, o->value);
            hd_array_push(&code->written, (hd_written){.row = call ? HD_NO_REF : d->register_offset[o->value],
                                                       .word = code->storage.first[o->value],
                                                       .bytes = (uint8_t)bytes,
                                                       .words = (uint8_t)((bytes + 3) / 4)});
            for (uint32_t w = 0; w < (bytes + 3) / 4; w++)
                op->words |= (uint64_t)1 << ((code->storage.first[o->value] + w) & 63);
            words += (bytes + 3) / 4;
        }
    op->written_count = code->written.count - op->written;
    if (op->written_count == 1 && !call)
        hd_array_last(&code->written).single = hd_array_last(&code->written).bytes == 4;
    if (words > (call ? HD_MOST_RETURNED : HD_MOST_WRITTEN))
        hd_decode_unsupported(d, "so many results in registers");
}

static hd_decode *hand_of(uint32_t opcode)
{
    static hd_decode *const table[HD_OPCODE_COUNT] = {
#define HD_HAND(op, decode) [HD_OP_##op] = decode,
#include "hwmodel/exec/decode/hand.def"
#undef HD_HAND
    };
    return table[opcode];
}

/* The form; or its full equivalent if PTX before 1.4 omits modifiers: for f32, the approximation that flushes
 * subnormals. */
static const hd_form *full_form(hd_decoder *d)
{
    static const uint16_t opcodes[] = {HD_OP_DIV, HD_OP_RCP, HD_OP_SQRT, HD_OP_RSQRT,
                                       HD_OP_SIN, HD_OP_COS, HD_OP_LG2,  HD_OP_EX2};
    const hd_module *m = d->module;
    bool bare = !d->form->modifiers[HD_GROUP_APPROX] && !d->form->modifiers[HD_GROUP_ROUND];
    if (m->version_major > 1 || m->version_minor > 3 || !bare || d->form->types[0] != HD_TYPE_F32)
        return d->form;
    for (uint32_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (opcodes[i] == d->form->opcode) {
            d->old_form = *d->form;
            d->old_form.modifiers[HD_GROUP_APPROX] = HD_MOD_APPROX_APPROX;
            d->old_form.modifiers[HD_GROUP_FTZ] = HD_MOD_FTZ_FTZ;
            return &d->old_form;
        }
    return d->form;
}

static const hd_lanes_row *row_of(hd_decoder *d)
{
    const hd_lanes_row **row = &d->rows[d->insn->form];
    uint32_t sources = d->operand_count - 1;
    if (!*row || (*row != &no_row && (*row)->sources != sources)) { /* min and max take two or three */
        *row = hd_lanes_find(d->form, sources);
        if (!*row)
            *row = &no_row;
    }
    return *row == &no_row ? NULL : *row;
}

/* Whether other CTAs can observe the order: atomics, volatile and ordered accesses to shared data, fences wider than
 * the CTA. */
static bool is_ordered(const hd_form *form)
{
    uint16_t semantics = form->modifiers[HD_GROUP_SEM];
    bool strong = form->modifiers[HD_GROUP_VOLATILE] || form->modifiers[HD_GROUP_MMIO] ||
                  (semantics && semantics != HD_MOD_SEM_WEAK);
    bool shared_by_all = form->space == HD_SPACE_GLOBAL || form->space == HD_SPACE_NONE;
    if (form->behaviour & HD_BEHAVE_FENCE)
        return form->modifiers[HD_GROUP_SCOPE] && form->modifiers[HD_GROUP_SCOPE] != HD_MOD_SCOPE_CTA;
    return shared_by_all && (form->behaviour & HD_BEHAVE_ATOMIC || strong);
}

static void decode_instruction(hd_decoder *d, uint32_t ordinal)
{
    hd_op *op = d->op = &d->code->ops[ordinal];
    d->insn = &d->function->instructions.items[ordinal];
    d->form = hd_insn_form(d->function, d->insn);
    d->form = full_form(d);
    *op = (hd_op){.guard = HD_NO_REF,
                  .d = HD_NO_REF,
                  .e = HD_NO_REF,
                  .a = HD_REF(3, 0),
                  .b = HD_REF(3, 0),
                  .c = HD_REF(3, 0),
                  .f = HD_NO_REF,
                  .join = HD_NONE,
                  .run = hd_run_nothing};
    if (d->insn->guard != HD_NONE)
        op->guard = d->register_offset[d->insn->guard];
    if (d->insn->flags & HD_INSN_GUARD_NOT)
        op->flags |= HD_OP_GUARD_NOT;
    list_operands(d);
    hd_decode *hand = hand_of(d->form->opcode);
    const hd_lanes_row *row = row_of(d);
    if (d->insn->flags & HD_INSN_OPAQUE || (!row && !hand))
        hd_decode_unsupported(d, NULL);
    else if (has_offset_operand(d))
        hd_decode_unsupported(
            d, "a source 'register + constant' in annotated code, which 'heddle rewrite -p clean' before "
               "its annotation makes an instruction of its own");
    else if (row)
        hd_decode_row(d, row);
    else
        hand(d);
    if (is_ordered(d->form))
        op->flags |= HD_OP_ORDERED;
    if (d->form->behaviour & HD_BEHAVE_BARRIER)
        op->flags |= HD_OP_LAST_OF_SEGMENT;
    if (hd_storage_skips(&d->code->storage, ordinal))
        op->flags |= HD_OP_IDENTITY;
    list_written(d);
}

static void finish_code(hd_decoder *d)
{
    hd_code *code = d->code;
    hd_op *last = &code->ops[code->op_count];
    *last = (hd_op){.run = hd_run_return, .guard = HD_NO_REF, .flags = HD_OP_SYNTHETIC | HD_OP_CONTROL};
    code->constant_rows = aligned_alloc(64, ((size_t)code->constants.count + 127) / 64 * 64);
    if (!code->constant_rows)
        hd_out_of_memory(code->constants.count);
    memset(code->constant_rows, 0, 64);
    if (code->constants.count)
        memcpy(code->constant_rows, code->constants.items, code->constants.count);
    code->constant_bytes = code->constants.count;
    hd_array_free(&code->constants);
    free(d->constant_slots);
    code->register_rows = d->register_offset;
    d->register_offset = NULL;
    d->constant_slots = NULL;
    d->constant_count = 0;
}

static void decode_code(hd_decoder *d, hd_code *code)
{
    hd_function *f = d->module->functions.items[code->index];
    const hd_cfg *cfg = hd_function_cfg(f);
    d->code = code;
    d->function = f;
    code->storage = hd_storage_of(f, &d->program->arena);
    code->op_count = f->instructions.count;
    code->ops = HD_ARENA_ARRAY(&d->program->arena, hd_op, (size_t)code->op_count + 1);
    lay_registers(d);
    for (uint32_t i = 0; i < code->op_count && !hd_diagnostics_full(d->diagnostics); i++) {
        code->ops[i] = (hd_op){.run = hd_run_nothing, .guard = HD_NO_REF, .join = HD_NONE};
        if (cfg->blocks[cfg->block_of[i]].reachable)
            decode_instruction(d, i);
    }
    finish_code(d);
}

/* ---- a program --------------------------------------------------------------------------------------------------- */

static void check_cluster(hd_decoder *d)
{
    const uint32_t *ctas = d->program->kernel->cluster_ctas;
    if (!ctas[0] || (uint64_t)ctas[0] * ctas[1] * ctas[2] == 1)
        return;
    hd_report(d->diagnostics, HD_DIAG_UNSUPPORTED, d->module->source, d->program->kernel->header_span,
              "the interpreter does not run '.reqnctapercluster %u, %u, %u': a cluster has one CTA (kernel %s)",
              ctas[0], ctas[1], ctas[2], kernel_name(d));
    d->failed = true;
}

static void decode_program(hd_decoder *d)
{
    hd_program *p = d->program;
    check_cluster(d);
    p->special_bytes = 64;
    p->parameter_bytes = hd_parameter_block_bytes(d->module, p->kernel);
    hd_decode_add_code(d, p->kernel);
    for (uint32_t i = 0; i < p->codes.count; i++)
        add_callees(d, p->codes.items[i]);
    for (uint32_t i = 0; i < p->codes.count; i++)
        hd_layout_code(d, p->codes.items[i]);
    for (uint32_t i = 0; i < p->codes.count; i++)
        lay_formals(d, p->codes.items[i]);
    hd_layout_shared(d);
    for (uint32_t i = 0; i < p->codes.count; i++)
        decode_code(d, p->codes.items[i]);
}

hd_program *hd_program_new(hd_module *module, hd_function *kernel, const hd_image *image, hd_diagnostics *diagnostics)
{
    hd_program *p = hd_calloc(1, sizeof *p);
    hd_decoder d = {.program = p, .module = module, .diagnostics = diagnostics};
    p->module = module;
    p->image = image;
    p->kernel = kernel;
    p->history = HD_ARENA_ARRAY(&p->arena, hd_history, 1);
    d.symbol_offset = hd_malloc(((size_t)module->symbols.count + 1) * sizeof *d.symbol_offset);
    memset(d.symbol_offset, 0xff, module->symbols.count * sizeof *d.symbol_offset);
    d.rows = hd_calloc((size_t)module->forms.count + 1, sizeof(const hd_lanes_row *));
    decode_program(&d);
    free(d.symbol_offset);
    hd_array_free(&d.address_taken);
    free(d.rows);
    if (!d.failed)
        return p;
    hd_program_free(p);
    return NULL;
}

void hd_program_free(hd_program *program)
{
    if (!program)
        return;
    for (uint32_t i = 0; i < program->codes.count; i++) {
        hd_code *code = program->codes.items[i];
        hd_array_free(&code->refs);
        hd_array_free(&code->widths);
        hd_array_free(&code->copies);
        hd_array_free(&code->written);
        hd_array_free(&code->variables);
        free(code->constant_rows);
        free(code->register_rows);
    }
    hd_array_free(&program->codes);
    hd_array_free(&program->specials);
    hd_array_free(&program->bank_rows);
    hd_array_free(&program->shared_variables);
    free(program->history->byte_precise);
    hd_arena_free(&program->arena);
    free(program);
}

hd_program_facts hd_program_describe(const hd_program *program)
{
    const hd_code *kernel = program->codes.items[0];
    hd_program_facts facts = {program->kernel,          program->codes.count,         0,
                              program->parameter_bytes, program->static_shared_bytes, kernel->register_bytes,
                              kernel->local_bytes};
    for (uint32_t i = 0; i < program->codes.count; i++)
        facts.instructions += program->codes.items[i]->op_count;
    return facts;
}
