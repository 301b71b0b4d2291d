/* Groups of operand loads: see operand_loads.h. */
#include "ir/operand_loads.h"

#include "ir/form.h"

bool hd_insn_is_operand_load(const hd_function *f, uint32_t ordinal)
{
    return hd_annotation_at(f, HD_OPERAND_LOAD, ordinal, 0) != NULL;
}

uint32_t hd_operand_group_first(const hd_function *f, uint32_t ordinal)
{
    while (ordinal && hd_insn_is_operand_load(f, ordinal - 1))
        ordinal--;
    return ordinal;
}

uint32_t hd_operand_group_consumer(const hd_function *f, uint32_t load)
{
    uint32_t at = load + 1;
    while (at < f->instructions.count && hd_insn_is_operand_load(f, at))
        at++;
    return at < f->instructions.count ? at : HD_NONE;
}

/* Whether the consumer reads the register exactly once, in an annotated source. */
static bool feeds_source(const hd_function *f, uint32_t consumer, uint32_t reg)
{
    const hd_instruction *insn = &f->instructions.items[consumer];
    uint32_t annotated = 0, named = 0;
    HD_INSN_REGISTERS (f, insn, o)
        named += o->value == reg && o->flags & HD_OPERAND_USE;
    for (uint32_t s = 0, o; (o = hd_insn_source_slot(f, insn, s)) != HD_NONE; s++)
        annotated += f->operands.items[o].value == reg && hd_annotation_at(f, HD_OPERAND_SOURCE, consumer, s) != NULL;
    return named == 1 && annotated == 1;
}

static void count_accesses(const hd_function *f, uint32_t *accesses)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (insn->guard != HD_NONE)
            accesses[insn->guard]++;
        HD_INSN_REGISTERS (f, insn, o)
            accesses[o->value]++;
    }
}

bool *hd_operand_registers(const hd_function *f, hd_arena *arena)
{
    uint32_t *accesses = NULL;
    bool *only = NULL;
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        if (f->annotations.items[a].kind != HD_OPERAND_LOAD)
            continue;
        if (!only) {
            only = HD_ARENA_ARRAY(arena, bool, f->registers.count + 1);
            accesses = HD_ARENA_ARRAY(arena, uint32_t, f->registers.count + 1);
            count_accesses(f, accesses);
        }
        uint32_t load = f->annotations.items[a].instruction, consumer = hd_operand_group_consumer(f, load);
        const hd_operand *o = hd_insn_operands(f, &f->instructions.items[load]);
        if (consumer == HD_NONE || o->kind != HD_OPERAND_REGISTER || !feeds_source(f, consumer, o->value))
            continue;
        accesses[o->value] -= 2; /* other loads to the same name, with their consumers, may remain */
        only[o->value] = accesses[o->value] == 0;
    }
    return only;
}
