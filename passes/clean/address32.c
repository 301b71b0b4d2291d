/* address32: address arithmetic in 32 bits, for machines whose memory lies below 4 GB. For replay only: the result is
 * no PTX that an assembler takes (a 64-bit module with 32-bit addresses), and right only where all addresses are below
 * 2^32 (module->low_memory).
 *
 *   ld.param.u64 %rd1, [A];                        ld.param.u32 %address32_0, [A];
 *   mul.wide.s32 %rd2, %r1, 4;                     mul.lo.u32 %address32_1, %r1, 4;
 *   add.s64 %rd3, %rd1, %rd2;                ->    add.u32 %address32_2, %address32_0, %address32_1;
 *   ld.global.f32 %f1, [%rd3+16];                  ld.global.f32 %f1, [%address32_2+16];
 *
 * An address below 2^32 equals any sum of the same terms modulo 2^32, and so do the low halves of sums, differences,
 * products, shifts to the left and bitwise operations depend on the low halves of their operands alone
 * (passes/clean/low_half.h). A 64-bit integer register becomes one of 32 bits if every definition is such an operation,
 * a conversion, a copy or a load, and every use is the base of an address, a truncation, or an operation whose own
 * result became one of 32 bits. All other registers (compared, stored, divided, shifted right, passed to calls ...)
 * keep 64 bits, with all that they are computed from; where such a value enters an address, it is truncated
 * (cvt.u32.u64) before.
 *
 * An access beyond its buffer by 4 GB would not be noticed; the run of the original, with 64-bit addresses, notices it.
 * Complexity: linear for each round, and uses are visited backwards, so that rounds are few. Not narrowed: pointers
 * that are compared, vectors of pointers, addresses of asynchronous copies, textures, matrix loads, and of device
 * functions' parameters; functions with unknown instructions.
 */
#include "passes/clean/low_half.h"
#include "passes/rewrite.h"

#include <assert.h>
#include <stdio.h>

typedef struct narrowing {
    hd_function *function;
    bool *wide;                     /* by register: it keeps its width */
    uint32_t *low;                  /* by register: the 32-bit one in its place */
    uint32_t narrowed, truncations; /* registers; instructions to insert */
    uint32_t next_truncation;
    hd_edit edit;
} narrowing;

static bool takes_low_addresses(const hd_form *form)
{
    switch (form->opcode) {
    case HD_OP_LD:
    case HD_OP_LDU:
    case HD_OP_ST:
    case HD_OP_ATOM:
    case HD_OP_RED: return true;
    default: return false;
    }
}

/* ---- which registers --------------------------------------------------------------------------------------------- */

/* Whether flat operand k is the base of an address that may have 32 bits. */
static bool is_low_base(const hd_function *f, const hd_instruction *insn, const uint8_t *slots, uint32_t k)
{
    return slots[k] == HD_SLOT_BASE && takes_low_addresses(hd_insn_form(f, insn)) && !(insn->flags & HD_INSN_OPAQUE);
}

static bool keep(narrowing *n, uint32_t reg)
{
    bool changed = !n->wide[reg];
    n->wide[reg] = true;
    return changed;
}

/* Marks what this instruction needs whole; true if that was not known. */
static bool mark(narrowing *n, const hd_instruction *insn)
{
    const hd_function *f = n->function;
    const hd_operand *o = hd_insn_operands(f, insn);
    char spelling[HD_LOW_HALF_SPELLING];
    uint8_t slots[HD_REWRITE_OPERANDS];
    bool changed = false, known = hd_operand_slots(f, insn, slots), computes = hd_low_half(f, insn, spelling),
         low = computes && !n->wide[o->value], truncates = hd_is_truncation(f, insn);
    for (uint32_t k = 0; k < insn->operand_count; k++) {
        if (o[k].kind != HD_OPERAND_REGISTER)
            continue;
        bool fits = known && (o[k].flags & HD_OPERAND_DEF
                                  ? computes && k == 0 && !(o[k].flags & HD_OPERAND_USE)
                                  : is_low_base(f, insn, slots, k) || truncates || (low && slots[k] == HD_SLOT_SCALAR));
        if (!fits)
            changed = keep(n, o[k].value) || changed;
    }
    return changed;
}

static bool is_low(const narrowing *n, const hd_operand *o)
{
    return o->kind == HD_OPERAND_REGISTER && !n->wide[o->value];
}

static void choose(narrowing *n)
{
    const hd_function *f = n->function;
    for (uint32_t r = 0; r < f->registers.count; r++)
        n->wide[r] = f->registers.items[r].vector != 1 || !hd_is_integer(f->registers.items[r].type, 64);
    for (uint32_t i = 0; i < f->register_parameters.count; i++)
        n->wide[f->register_parameters.items[i]] = true;
    for (uint32_t i = 0; i < f->register_results.count; i++)
        n->wide[f->register_results.items[i]] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = f->instructions.count; i-- > 0;)
            changed = mark(n, &f->instructions.items[i]) || changed;
    }
}

/* ---- the rewrite ------------------------------------------------------------------------------------------------- */

/* A source of the low form: the low half of a 64-bit one. */
static hd_operand low_source(narrowing *n, uint32_t ordinal, const hd_operand *o)
{
    hd_function *f = n->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    if (!hd_is_wide_integer(f, o))
        return *o;
    if (is_low(n, o))
        return hd_make_register_operand(n->low[o->value]);
    uint32_t guard = insn->guard, location = insn->location, origin = insn->origin;
    bool guard_not = insn->flags & HD_INSN_GUARD_NOT;
    hd_operand half = hd_make_register_operand(n->next_truncation++);
    hd_instruction cut = hd_make_instruction(f, "cvt.u32.u64", guard, guard_not,
                                             (const hd_operand[]){half, hd_make_register_operand(o->value)}, 2, NULL);
    cut.location = location;
    cut.origin = origin;
    hd_edit_before(&n->edit, ordinal, cut);
    return half;
}

static void narrow_bases(narrowing *n, uint32_t ordinal)
{
    hd_function *f = n->function;
    hd_instruction *insn = &f->instructions.items[ordinal];
    uint8_t slots[HD_REWRITE_OPERANDS];
    if (!hd_operand_slots(f, insn, slots))
        return;
    for (uint32_t k = 0; k < insn->operand_count; k++) {
        hd_operand *o = &f->operands.items[insn->operand_first + k];
        if (slots[k] != HD_SLOT_BASE || !is_low(n, o))
            continue;
        o->value = n->low[o->value];
        o->begin = HD_NONE;
        insn->flags |= HD_INSN_DIRTY;
        f->changed = true;
    }
}

/* Destination and sources, other than the address of a load. */
static void narrow_computation(narrowing *n, uint32_t ordinal, const char *spelling)
{
    hd_function *f = n->function;
    hd_operand o[HD_REWRITE_OPERANDS];
    const hd_instruction *insn = &f->instructions.items[ordinal];
    uint32_t count = insn->operand_count;
    bool loads = hd_insn_form(f, insn)->opcode == HD_OP_LD;
    memcpy(o, hd_insn_operands(f, insn), count * sizeof *o);
    if (is_low(n, &o[0]))
        o[0] = hd_make_register_operand(n->low[o[0].value]);
    for (uint32_t k = 1; k < count && !loads; k++)
        o[k] = o[k].kind == HD_OPERAND_LITERAL
                   ? hd_rewrite_integer(f->module, f->module->literals.items[o[k].value].bits, 32)
                   : low_source(n, ordinal, &o[k]);
    bool done = hd_rewrite_instruction(f, ordinal, spelling, o, count);
    assert(done);
    (void)done;
}

static void narrow_truncation(narrowing *n, uint32_t ordinal)
{
    const hd_function *f = n->function;
    const hd_form *form = hd_insn_form(f, &f->instructions.items[ordinal]);
    char spelling[HD_LOW_HALF_SPELLING];
    if (hd_is_integer(form->types[0], 32))
        snprintf(spelling, sizeof spelling, "mov.b32");
    else
        snprintf(spelling, sizeof spelling, "cvt.%s.u32", hd_types[form->types[0]].spelling);
    narrow_computation(n, ordinal, spelling);
}

static void narrow(narrowing *n, uint32_t ordinal)
{
    const hd_function *f = n->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_operand *o = hd_insn_operands(f, insn);
    char spelling[HD_LOW_HALF_SPELLING];
    narrow_bases(n, ordinal);
    if (hd_low_half(f, insn, spelling) && is_low(n, o))
        narrow_computation(n, ordinal, spelling);
    else if (hd_is_truncation(f, insn) && is_low(n, &o[1]))
        narrow_truncation(n, ordinal);
}

/* Wide sources of operations that become narrow. */
static uint32_t count_truncations(const narrowing *n)
{
    const hd_function *f = n->function;
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_operand *o = hd_insn_operands(f, insn);
        char spelling[HD_LOW_HALF_SPELLING];
        if (!hd_low_half(f, insn, spelling) || !is_low(n, o) || hd_insn_form(f, insn)->opcode == HD_OP_LD)
            continue;
        for (uint32_t k = 1; k < insn->operand_count; k++)
            count += hd_is_wide_integer(f, &o[k]) && !is_low(n, &o[k]);
    }
    return count;
}

static void declare(narrowing *n, hd_pass_context *context)
{
    hd_function *f = n->function;
    uint32_t old = f->registers.count;
    n->low = HD_ARENA_ARRAY(&context->scratch, uint32_t, old);
    for (uint32_t r = 0; r < old; r++)
        n->low[r] = n->wide[r] ? HD_NONE : n->narrowed++;
    n->truncations = count_truncations(n);
    uint32_t first = n->narrowed + n->truncations == 0
                         ? 0
                         : hd_make_registers(f, hd_rewrite_stem(f, "address32_", &context->scratch), HD_TYPE_B32,
                                             n->narrowed + n->truncations);
    for (uint32_t r = 0; r < old; r++)
        n->low[r] += n->low[r] == HD_NONE ? 0 : first;
    n->next_truncation = first + n->narrowed;
}

static bool has_opaque(const hd_function *f)
{
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (f->instructions.items[i].flags & HD_INSN_OPAQUE)
            return true;
    return false;
}

bool hd_pass_address32(hd_pass_context *context)
{
    narrowing n = {.function = context->function};
    hd_function *f = n.function;
    if (!f->module->low_memory) {
        hd_report(context->diagnostics, HD_DIAG_UNSUPPORTED, f->module->source, f->header_span,
                  "address32 is for replay on a machine with 32-bit addresses: address_bits in heddle-gpu(5)");
        return false;
    }
    if (f->module->address_bits == 32 || has_opaque(f))
        return false;
    n.wide = HD_ARENA_ARRAY(&context->scratch, bool, f->registers.count + 1);
    choose(&n);
    declare(&n, context);
    hd_statistic_add(context, "registers of 64 bits that have 32 bits", n.narrowed);
    hd_statistic_add(context, "truncations inserted", n.truncations);
    if (!n.narrowed)
        return false;
    uint32_t count = f->instructions.count;
    hd_edit_begin(&n.edit, f);
    for (uint32_t i = 0; i < count; i++)
        narrow(&n, i);
    hd_edit_end(&n.edit);
    return true;
}
