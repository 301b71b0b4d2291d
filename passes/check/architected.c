/* Verifies the annotation of an allocated function (ir/architected.h): its numbers cover the registers and predicates
 * that instructions name, and `held` covers the registers whose values are read after a call. A register that no write
 * reaches holds no value. Larger numbers cost occupancy but are sound. The bytes of spilled registers are not checked.
 *
 * Lanes that wait elsewhere, or that the call's guard disables, need nothing held: a callee writes its registers in its
 * own lanes only.
 *
 * Complexity: linear in operands; with calls, that of facts.h, plus calls times registers and registers times edges.
 */
#include "passes/check/check.h"

#include "ir/architected.h"
#include "passes/check/facts.h"

static bool refute(hd_function *f, hd_diagnostics *diagnostics, uint32_t instruction, const char *what, uint32_t says,
                   uint32_t needs)
{
    hd_span span = instruction == HD_NONE ? f->header_span : f->instructions.items[instruction].span;
    hd_report(diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, span,
              "architected: %s: it says %u, and %u are needed", what, says, needs);
    return false;
}

static void name(const hd_function *f, uint32_t reg, hd_architected *needs)
{
    hd_physical physical = hd_register_physical(f, reg);
    uint32_t *most = physical.words ? &needs->registers : &needs->predicates;
    uint32_t end = physical.number + (physical.words ? physical.words : 1u);
    if (physical.class != HD_PHYSICAL_NONE && end > *most)
        *most = end;
}

/* The highest physical registers that instructions name, plus 1. */
static hd_architected named(const hd_function *f)
{
    hd_architected needs = {0};
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_operand *operands = hd_insn_operands(f, insn);
        if (insn->guard != HD_NONE)
            name(f, insn->guard, &needs);
        for (uint32_t o = 0; o < insn->operand_count; o++)
            if (operands[o].kind == HD_OPERAND_REGISTER)
                name(f, operands[o].value, &needs);
    }
    return needs;
}

typedef struct call_check {
    hd_facts facts;
    hd_bitset *written; /* by word: blocks that a write reaches; built on demand */
    hd_u32_array stack;
} call_check;

/* In all lanes that make the call. */
static bool overwrites(const hd_facts *facts, uint32_t word, uint32_t call)
{
    const hd_function *f = facts->function;
    HD_INSN_REGISTERS (f, &f->instructions.items[call], o)
        if (o->flags & HD_OPERAND_DEF && !hd_operand_selector(f, o) && word >= facts->storage.first[o->value] &&
            word < facts->storage.end[o->value])
            return true;
    return false;
}

static bool leads_in(const hd_facts *facts, uint32_t word)
{
    const hd_function *f = facts->function;
    bool leads = hd_lives_leaves_with(&facts->words, word); /* module-scope registers may be written anywhere */
    for (uint32_t i = 0; i < f->register_parameters.count; i++)
        HD_STORAGE_WORDS (&facts->storage, f->register_parameters.items[i], parameter)
            leads = leads || parameter == word;
    return leads;
}

static void reach_after(call_check *c, hd_bitset into, uint32_t block)
{
    const hd_cfg *cfg = c->facts.cfg;
    for (uint32_t e = 0; e < cfg->blocks[block].succ_count; e++) {
        uint32_t to = hd_block_successors(cfg, block)[e];
        if (to == cfg->block_count || hd_bitset_has(&into, to))
            continue;
        hd_bitset_add(&into, to);
        hd_array_push(&c->stack, to);
    }
}

static void find_written(call_check *c, uint32_t word)
{
    const hd_lives *words = &c->facts.words;
    hd_bitset into = hd_bitset_new(&c->facts.arena, c->facts.cfg->block_count);
    c->written[word] = into;
    if (leads_in(&c->facts, word)) {
        hd_bitset_add(&into, 0);
        hd_array_push(&c->stack, 0);
    }
    for (uint32_t a = words->access_first[word]; a < words->access_first[word + 1]; a++)
        if (words->accesses[a].kinds & (HD_ACCESS_KILL | HD_ACCESS_WEAK))
            reach_after(c, into, c->facts.cfg->block_of[words->accesses[a].ordinal]);
    while (c->stack.count)
        reach_after(c, into, hd_array_pop(&c->stack));
}

/* Whether the register may have a value at the call. */
static bool has_value(call_check *c, uint32_t word, uint32_t call)
{
    const hd_lives *words = &c->facts.words;
    uint32_t block = c->facts.cfg->block_of[call];
    if (!c->written[word].words)
        find_written(c, word);
    if (hd_bitset_has(&c->written[word], block))
        return true;
    for (uint32_t a = hd_lives_access_from(words, word, c->facts.cfg->blocks[block].first);
         a < words->access_first[word + 1] && words->accesses[a].ordinal < call; a++)
        if (words->accesses[a].kinds & (HD_ACCESS_KILL | HD_ACCESS_WEAK))
            return true;
    return false;
}

/* The highest general register that is live across the call, plus 1. */
static uint32_t held_during(call_check *c, uint32_t call, uint32_t registers)
{
    for (uint32_t word = registers; word-- > 0;)
        if (hd_lives_live_after(&c->facts.words, word, call) && !overwrites(&c->facts, word, call) &&
            has_value(c, word, call))
            return word + 1;
    return 0;
}

static bool check_calls(hd_function *f, const hd_architected *says, hd_diagnostics *diagnostics)
{
    call_check c = {0};
    bool good = true;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        if (!(hd_insn_form(f, &f->instructions.items[i])->behaviour & HD_BEHAVE_CALL))
            continue;
        if (!c.written) {
            hd_facts_build(&c.facts, f);
            c.written = HD_ARENA_ARRAY(&c.facts.arena, hd_bitset, c.facts.words.count);
        }
        uint32_t needs = held_during(&c, i, hd_min(says->registers, c.facts.words.count));
        if (needs > says->held)
            good = refute(f, diagnostics, i, "registers held during calls", says->held, needs);
    }
    hd_array_free(&c.stack);
    if (c.written)
        hd_facts_free(&c.facts);
    return good;
}

bool hd_check_architected(hd_function *f, hd_diagnostics *diagnostics, uint64_t *count)
{
    hd_architected says;
    if (!f->has_body || !hd_architected_of(f, &says))
        return true;
    hd_architected needs = named(f);
    ++*count;
    if (needs.registers > says.registers)
        return refute(f, diagnostics, HD_NONE, "general registers", says.registers, needs.registers);
    if (needs.predicates > says.predicates)
        return refute(f, diagnostics, HD_NONE, "predicates", says.predicates, needs.predicates);
    return check_calls(f, &says, diagnostics);
}
