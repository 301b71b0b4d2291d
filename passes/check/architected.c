/* Verifies the numbers of an allocated function (ir/architected.h): it has the registers and predicates that it names, and holds during calls
 * those whose values are read behind one. Larger numbers cost residency, and are sound. The bytes of spilled registers are not looked at.
 *
 * Lanes that wait elsewhere need nothing held: a callee writes its registers in its own lanes alone.
 *
 * Complexity: linear in operands; where there are calls, that of facts.h, and calls times registers.
 */
#include "passes/check/check.h"

#include "ir/architected.h"
#include "passes/check/facts.h"

static bool refute(hd_function *f, hd_diagnostics *diagnostics, uint32_t instruction, const char *what, uint32_t says, uint32_t needs)
{
    hd_span span = instruction == HD_NONE ? f->header_span : f->instructions.items[instruction].span;
    hd_report(diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, span, "architected: %s: it says %u, and %u are needed", what, says, needs);
    return false;
}

static void name(const hd_function *f, uint32_t reg, hd_architected *needs)
{
    hd_physical place = hd_register_physical(f, reg);
    uint32_t *most = place.words ? &needs->registers : &needs->predicates;
    uint32_t end = place.number + (place.words ? place.words : 1u);
    if (place.class != HD_PHYSICAL_NONE && end > *most)
        *most = end;
}

/* The highest places that instructions name, and 1. */
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

static bool overwrites(const hd_lives *words, uint32_t word, uint32_t ordinal)
{
    uint32_t at = hd_lives_access_from(words, word, ordinal);
    return at < words->access_first[word + 1] && words->accesses[at].ordinal == ordinal && words->accesses[at].kinds & HD_ACCESS_KILL;
}

/* The highest general register that must last during the call, and 1. */
static uint32_t held_during(const hd_facts *facts, uint32_t ordinal, uint32_t registers)
{
    for (uint32_t word = registers; word-- > 0;)
        if (hd_lives_live_behind(&facts->words, word, ordinal) && !overwrites(&facts->words, word, ordinal))
            return word + 1;
    return 0;
}

static bool check_calls(hd_function *f, const hd_architected *says, hd_diagnostics *diagnostics)
{
    hd_facts facts;
    bool good = true, built = false;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        if (!(hd_insn_form(f, &f->instructions.items[i])->behaviour & HD_BEHAVE_CALL))
            continue;
        if (!built)
            hd_facts_build(&facts, f);
        built = true;
        uint32_t needs = held_during(&facts, i, says->registers < facts.words.count ? says->registers : facts.words.count);
        if (needs > says->held)
            good = refute(f, diagnostics, i, "registers held during calls", says->held, needs);
    }
    if (built)
        hd_facts_free(&facts);
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
