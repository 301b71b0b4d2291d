/* params: kernel parameters as constant-bank operands.
 *
 * Machine code reads kernel parameters, and launch sizes (%ntid, %nctaid ..), from the constant bank, as an operand of
 * the using instruction; PTX loads them into registers, mostly once at the top, where they would occupy a register
 * throughout the kernel. This pass repeats the load directly before every instruction that can take the value from the
 * bank (ir/constant_bank.h), into a register of its own, for which machine code has neither register nor instruction.
 * Where an instruction needs the value in a register (an address, stored data, an immediate in the same field), it is
 * loaded once per block, unless the block is in a loop that does not contain the original load: assemblers load such
 * values before the loop. Original loads without remaining uses are then dead (dce).
 *
 *   ld.param.u64 %rd1, [k_param_0];                ld.param.u64 %param_b64_0, [k_param_0];
 *   ...                                       ->   add.s64 %rd9, %param_b64_0, %rd8;
 *   add.s64 %rd9, %rd1, %rd8;
 *
 * A load directly before its use is not changed. A vector of parameters is loaded by element. Requires that copies are
 * gone (cvta, copyprop).
 *
 * Not moved: guarded loads, parameters of device functions (which are in registers), arguments of calls, unknown
 * instructions. Complexity: near-linear (passes/analysis/values.h).
 */
#include "passes/clean/constants.h"
#include "passes/rewrite.h"
#include "passes/analysis/values.h"

#include "ir/constant_bank.h"
#include "ir/sregs.h"

#include <stdio.h>

/* ---- constants --------------------------------------------------------------------------------------------------- */

bool hd_insn_reads_constant(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    if (insn->guard != HD_NONE || insn->flags & HD_INSN_OPAQUE || insn->operand_count < 2)
        return false;
    if (hd_insn_form(f, insn)->opcode == HD_OP_LD)
        return hd_insn_reads_bank(f, insn) && hd_insn_form(f, insn)->space != HD_SPACE_CONST;
    return hd_insn_form(f, insn)->opcode == HD_OP_MOV && insn->operand_count == 2 && o[0].kind == HD_OPERAND_REGISTER &&
           o[1].kind == HD_OPERAND_SREG && hd_sregs[o[1].value].varies == HD_VARIES_GRID;
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

typedef struct constant { /* description of a value */
    uint32_t value, ordinal, element;
    uint16_t bank_bits;     /* size of its location in the constant bank; 0: not in the bank */
    uint32_t block, number; /* the load shared by the block's instructions, of type `type`; block: + 1 */
    uint8_t type;
} constant;

typedef struct reading { /* operand `index` of instruction `at` becomes register `number` of its type's new ones */
    uint32_t at, index, number;
    uint32_t constant; /* in constants */
    uint8_t type;
    bool first; /* first use by this instruction: insert the load before it */
} reading;

typedef struct params {
    hd_function *function;
    hd_value_walk walk;
    HD_ARRAY(constant) constants; /* sorted by value in queries */
    hd_u32_array of_value;        /* index in constants + 1 */
    HD_ARRAY(reading) readings;
    uint32_t counts[HD_TYPE_COUNT]; /* fresh registers by type */
    uint32_t bases[HD_TYPE_COUNT];
} params;

static uint16_t bank_bits(const hd_function *f, const hd_instruction *insn)
{
    return hd_insn_reads_bank(f, insn) ? hd_types[hd_insn_form(f, insn)->types[0]].bits : 0;
}

static void learn(params *p, uint32_t ordinal)
{
    const hd_instruction *insn = &p->function->instructions.items[ordinal];
    uint32_t element = 0;
    HD_INSN_REGISTERS (p->function, insn, o) {
        if (!(o->flags & HD_OPERAND_DEF))
            continue;
        uint32_t value = hd_value_of(&p->walk, o->value), k = (uint32_t)(o - hd_insn_operands(p->function, insn));
        element = k ? k - 1 : 0; /* {a, _, c}: discarded elements count */
        if (!value || o->extra)
            continue;
        while (p->of_value.count <= value)
            hd_array_push(&p->of_value, 0u);
        hd_array_push(&p->constants, (constant){value, ordinal, element, bank_bits(p->function, insn), 0, 0, 0});
        p->of_value.items[value] = p->constants.count;
    }
}

/* Whether it is directly before the instruction, or only other such loads are between. */
static bool is_near(const params *p, uint32_t from, uint32_t at)
{
    if (from < p->walk.cfg->blocks[p->walk.block].first || from > at)
        return false;
    for (uint32_t i = from + 1; i < at; i++)
        if (!hd_insn_reads_constant(p->function, &p->function->instructions.items[i]))
            return false;
    return true;
}

/* Into a new register for this instruction. */
static void add_reading(params *p, uint32_t at, uint32_t index, uint32_t known, uint8_t type)
{
    hd_array_push(&p->readings, (reading){at, index, p->counts[type]++, known, type, true});
}

/* Into the register shared by the block's instructions. */
static void share_reading(params *p, uint32_t at, uint32_t index, uint32_t known, uint8_t type)
{
    constant *c = &p->constants.items[known];
    bool first = c->block != p->walk.block + 1 || c->type != type;
    if (first) {
        c->block = p->walk.block + 1;
        c->type = type;
        c->number = p->counts[type]++;
    }
    hd_array_push(&p->readings, (reading){at, index, c->number, known, type, first});
}

/* Whether the walk's block is in a loop that does not contain `block`. */
static bool is_in_loop_after(const params *p, uint32_t block)
{
    const hd_cfg *cfg = p->walk.cfg;
    uint32_t inner = cfg->blocks[p->walk.block].loop, outer = cfg->blocks[block].loop;
    while (outer != HD_NONE && outer != inner)
        outer = cfg->loops[outer].parent;
    return inner != outer;
}

/* Handles an operand that reads a constant; *taken: the instruction has a bank operand already. */
static void read_again(params *p, uint32_t ordinal, uint32_t index, uint32_t known, bool *taken)
{
    const hd_function *f = p->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const constant *c = &p->constants.items[known];
    uint8_t type = f->registers.items[hd_insn_operands(f, insn)[index].value].type;
    bool whole = c->bank_bits >= 32 && c->bank_bits == hd_types[type].bits;
    if (whole && !*taken && hd_operand_takes_bank(f, insn, index)) {
        *taken = true;
        if (!is_near(p, c->ordinal, ordinal))
            add_reading(p, ordinal, index, known, type);
    } else if (p->walk.cfg->block_of[c->ordinal] != p->walk.block &&
               !is_in_loop_after(p, p->walk.cfg->block_of[c->ordinal])) {
        share_reading(p, ordinal, index, known, type);
    }
}

static void visit(params *p, uint32_t ordinal)
{
    const hd_function *f = p->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    uint8_t slots[HD_REWRITE_OPERANDS];
    bool taken = false;
    if (hd_insn_form(f, insn)->opcode != HD_OP_CALL && hd_operand_slots(f, insn, slots))
        for (uint32_t k = 0; k < insn->operand_count; k++) {
            const hd_operand *o = &hd_insn_operands(f, insn)[k];
            uint32_t value =
                slots[k] != HD_SLOT_FIXED && hd_operand_is_reading(f, insn, o) ? hd_value_of(&p->walk, o->value) : 0;
            uint32_t known = value < p->of_value.count ? p->of_value.items[value] : 0;
            if (known)
                read_again(p, ordinal, k, known - 1, &taken);
        }
    hd_value_define(&p->walk, ordinal);
    if (hd_insn_reads_constant(f, insn))
        learn(p, ordinal);
}

static void declare_registers(params *p, hd_arena *arena)
{
    for (uint32_t t = 0; t < HD_TYPE_COUNT; t++) {
        if (!p->counts[t])
            continue;
        const char *name = hd_arena_printf(arena, "param_%s_", hd_types[t].spelling);
        p->bases[t] =
            hd_make_registers(p->function, hd_rewrite_stem(p->function, name, arena), (hd_type)t, p->counts[t]);
    }
}

static hd_instruction make_load(params *p, const constant *known, uint32_t reg, uint32_t reader)
{
    hd_function *f = p->function;
    hd_module *m = f->module;
    const hd_instruction old = f->instructions.items[known->ordinal];
    const hd_form *form = hd_insn_form(f, &old);
    const hd_operand *o = hd_insn_operands(f, &old), *address = o + hd_operand_extent(o);
    char spelling[32];
    hd_operand operands[4] = {hd_make_register_operand(reg)};
    uint32_t count = 2;
    if (form->opcode == HD_OP_MOV) {
        snprintf(spelling, sizeof spelling, "mov.%s", hd_types[form->types[0]].spelling);
        operands[1] = *address;
    } else {
        snprintf(spelling, sizeof spelling, "ld.param.%s", hd_types[form->types[0]].spelling);
        uint64_t offset = (address[1].count ? m->literals.items[address[2].value].bits : 0) +
                          known->element * (hd_types[form->types[0]].bits / 8u);
        operands[1] = hd_make_aggregate(HD_OPERAND_ADDRESS, 1);
        operands[2] = hd_make_operand(HD_OPERAND_SYMBOL, address[1].value);
        operands[2].count = offset != 0;
        operands[3] = offset ? hd_rewrite_integer(m, offset, 64) : operands[3];
        count = offset ? 4 : 3;
    }
    hd_instruction insn = hd_make_instruction(f, spelling, HD_NONE, false, operands, count, NULL);
    insn.origin = old.origin;
    insn.location = f->instructions.items[reader].location;
    return insn;
}

static bool apply(params *p)
{
    hd_edit edit;
    hd_edit_begin(&edit, p->function);
    for (uint32_t i = 0; i < p->readings.count; i++) {
        const reading *r = &p->readings.items[i];
        uint32_t reg = p->bases[r->type] + r->number;
        hd_operand *o = &p->function->operands.items[p->function->instructions.items[r->at].operand_first + r->index];
        o->value = reg;
        o->begin = HD_NONE;
        p->function->instructions.items[r->at].flags |= HD_INSN_DIRTY;
        if (r->first)
            hd_edit_before(&edit, r->at, make_load(p, &p->constants.items[r->constant], reg, r->at));
    }
    return hd_edit_end(&edit);
}

bool hd_pass_params(hd_pass_context *context)
{
    params p = {.function = context->function};
    hd_value_walk_start(&p.walk, p.function, &context->scratch);
    for (uint32_t i; (i = hd_value_walk_block(&p.walk)) != HD_NONE;)
        for (; i < p.walk.end; i++)
            visit(&p, i);
    hd_value_walk_end(&p.walk);
    declare_registers(&p, &context->scratch);
    hd_statistic_add(context, "operands read from the constant bank", p.readings.count);
    bool changed = apply(&p);
    hd_array_free(&p.readings);
    hd_array_free(&p.constants);
    hd_array_free(&p.of_value);
    return changed;
}
