/* Registers with and without memory operands: see demo_use.h. The operand collector holds the words of a group's loads:
 * between a load and its consumer they are not counted. Linear in operands, plus liveness. */
#include "passes/technique/demo_use.h"

#include "ir/operand_loads.h"
#include "passes/analysis/liveness.h"

static uint32_t count_registers(const hd_function *f, hd_arena *arena)
{
    hd_bitset named = hd_bitset_new(arena, f->registers.count);
    const bool *operands = hd_operand_registers(f, arena);
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (insn->guard != HD_NONE)
            hd_bitset_add(&named, insn->guard);
        HD_INSN_REGISTERS (f, insn, o)
            hd_bitset_add(&named, o->value);
    }
    HD_BITSET_EACH (&named, reg)
        count += !(operands && operands[reg]);
    return count;
}

/* Words that loads of the group hold for an instruction. */
static uint32_t collected_words(const hd_function *f, uint32_t ordinal)
{
    uint32_t words = 0;
    for (uint32_t i = hd_operand_group_first(f, ordinal); i < ordinal; i++)
        words += hd_register_words(f, hd_insn_operands(f, &f->instructions.items[i])->value);
    return words;
}

static uint32_t find_pressure(hd_function *f, hd_arena *arena)
{
    const hd_cfg *cfg = hd_function_cfg(f);
    hd_storage storage = hd_storage_of(f, arena);
    hd_live_walk walk;
    uint32_t most = 0;
    hd_live_walk_init(&walk, arena, f, hd_liveness_of_words(f, &storage, arena));
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        if (!cfg->blocks[b].reachable)
            continue;
        hd_live_start(&walk, b);
        most = hd_max(most, walk.count);
        for (uint32_t i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;) {
            hd_live_step(&walk);
            uint32_t now = walk.count - collected_words(f, i);
            most = hd_max(most, now);
        }
    }
    return most;
}

hd_operand_use hd_operand_use_of(hd_function *f)
{
    hd_arena arena = {0};
    hd_operand_use use = {count_registers(f, &arena), find_pressure(f, &arena)};
    hd_arena_free(&arena);
    return use;
}
