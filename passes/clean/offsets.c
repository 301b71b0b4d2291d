/* Lowers source operands of the form register + constant: inserts add.uN t, register, constant; the operand becomes t.
 * The addition is unguarded, because only this instruction reads its result. */
#include "passes/clean/offsets.h"
#include "passes/rewrite.h"

#include <stdio.h>

typedef struct lowering {
    hd_function *function;
    hd_edit edit;
    uint32_t found[HD_TYPE_COUNT], next[HD_TYPE_COUNT]; /* by type: operands, and the next register for one */
} lowering;

static bool is_offset(const hd_operand *o) { return o->kind == HD_OPERAND_REGISTER && o->flags & HD_OPERAND_OFFSET; }

/* The first top-level operand from `from` on with an offset; HD_NONE. */
static uint32_t find_offset(const hd_function *f, const hd_instruction *insn, uint32_t from)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    for (uint32_t i = from; i < insn->operand_count; i += hd_operand_extent(&o[i]))
        if (is_offset(&o[i]))
            return i;
    return HD_NONE;
}

static uint32_t type_of(const hd_function *f, const hd_operand *o) { return f->registers.items[o->value].type; }

static void count_offsets(lowering *l)
{
    const hd_function *f = l->function;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        for (uint32_t k = find_offset(f, insn, 0); k != HD_NONE; k = find_offset(f, insn, k + 2))
            l->found[type_of(f, &hd_insn_operands(f, insn)[k])]++;
    }
}

static void make_registers(lowering *l)
{
    hd_arena arena;
    hd_arena_init(&arena);
    for (uint32_t t = 0; t < HD_TYPE_COUNT; t++) {
        char name[32];
        snprintf(name, sizeof name, "offset_%s_", hd_types[t].spelling);
        if (l->found[t])
            l->next[t] =
                hd_make_registers(l->function, hd_rewrite_stem(l->function, name, &arena), (hd_type)t, l->found[t]);
    }
    hd_arena_free(&arena);
}

static void lower_operand(lowering *l, uint32_t ordinal, uint32_t index)
{
    hd_function *f = l->function;
    const hd_operand *o = &hd_insn_operands(f, &f->instructions.items[ordinal])[index];
    uint32_t type = type_of(f, o), sum = l->next[type]++;
    char spelling[16];
    snprintf(spelling, sizeof spelling, "add.u%u", (unsigned)hd_types[type].bits);
    uint64_t bits = f->module->literals.items[o[1].value].bits;
    hd_operand base = *o, constant = hd_rewrite_integer(f->module, bits, hd_types[type].bits);
    base.flags = 0;
    base.count = 0;
    hd_operand operands[] = {hd_make_register_operand(sum), base, constant}, with = operands[0];
    hd_instruction add = hd_make_instruction(f, spelling, HD_NONE, false, operands, 3, NULL);
    add.location = f->instructions.items[ordinal].location;
    add.origin = f->instructions.items[ordinal].origin;
    hd_edit_before(&l->edit, ordinal, add);
    hd_rewrite_operand(f, ordinal, index, &with, 1);
}

static void lower_function(hd_function *f)
{
    lowering l = {.function = f};
    count_offsets(&l);
    make_registers(&l);
    hd_edit_begin(&l.edit, f);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        for (uint32_t k = find_offset(f, &f->instructions.items[i], 0); k != HD_NONE;
             k = find_offset(f, &f->instructions.items[i], k + 1))
            lower_operand(&l, i, k);
    hd_edit_end(&l.edit);
}

void hd_module_lower_offsets(hd_module *module)
{
    for (uint32_t i = 0; module->has_offset_operands && i < module->functions.count; i++)
        if (module->functions.items[i]->has_body)
            lower_function(module->functions.items[i]);
    module->has_offset_operands = false;
}
