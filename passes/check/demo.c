/* Verifies the pairs of demo: a load without a register, and the source of the next instruction that it delivers.
 *
 * Refuted where the load is no plain load of one register; where the next instruction is not in its block, is no arithmetic, has another
 * guard, or names the value otherwise than once, as a whole, in the annotated source; where a second source is annotated; and where the value
 * is live behind that instruction, by its words in the register file. An annotated source without such a load before it is refuted too.
 * That the load may stand where it stands, if a pass has moved it, is not to be seen in the text; a replay tells.
 *
 * Complexity: O(annotations * operands * log accesses).
 */
#include "passes/check/check.h"
#include "passes/check/facts.h"

typedef struct demo_check {
    hd_facts facts;
    hd_function *function;
    hd_diagnostics *diagnostics;
} demo_check;

static bool refute(demo_check *c, uint32_t ordinal, const char *why)
{
    const hd_function *f = c->function;
    hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, f->instructions.items[ordinal].span,
              "an operand in memory that cannot be one: %s", why);
    return false;
}

/* The annotated source of an instruction: how many, and the first one's slot. */
static uint32_t annotated_sources(const hd_function *f, uint32_t ordinal, uint32_t *slot)
{
    uint32_t count = 0;
    for (uint32_t s = hd_insn_source_count(f, &f->instructions.items[ordinal]); s-- > 0;)
        if (hd_annotation_at(f, HD_ANNOTATION_DEMO_OPERAND, ordinal, s)) {
            count++;
            *slot = s;
        }
    return count;
}

static const char *fault_of_load(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    uint16_t order = form->modifiers[HD_GROUP_SEM];
    const hd_operand *o = hd_insn_operands(f, insn);
    if (insn->flags & HD_INSN_OPAQUE || form->opcode != HD_OP_LD)
        return "this is no load";
    if (form->behaviour & ~HD_BEHAVE_LOAD || (order && order != HD_MOD_SEM_WEAK) || form->modifiers[HD_GROUP_CACHE] == HD_MOD_CACHE_CV)
        return "the load is volatile or ordered";
    if (form->modifiers[HD_GROUP_VECTOR] || o->kind != HD_OPERAND_REGISTER || !hd_register_words(f, o->value))
        return "the load gives more than one register, or none in the register file";
    return NULL;
}

static const char *fault_of_consumer(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    switch (hd_form_unit(form)) {
    case HD_UNIT_INT: case HD_UNIT_SP: case HD_UNIT_DP: case HD_UNIT_SFU:
        return form->behaviour || form->opcode == HD_OP_MOV || insn->flags & HD_INSN_OPAQUE ? "the next instruction is no arithmetic" : NULL;
    case HD_UNIT_NONE: case HD_UNIT_LDST: case HD_UNIT_TEX: case HD_UNIT_TENSOR: case HD_UNIT_CTRL:
        break;
    }
    return "the next instruction is no arithmetic";
}

/* How often sources of the instruction name a word of the register, and whether once as the operand at `expected`. */
static bool named_once(const demo_check *c, const hd_instruction *insn, uint32_t reg, uint32_t expected)
{
    const hd_function *f = c->function;
    const uint32_t *first = c->facts.storage.first;
    uint32_t words = hd_register_words(f, reg);
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const hd_operand *o = hd_insn_operands(f, insn) + i;
        if (o->kind != HD_OPERAND_REGISTER || !(o->flags & HD_OPERAND_USE) || !hd_register_words(f, o->value))
            continue;
        bool meets = first[o->value] < first[reg] + words && first[reg] < first[o->value] + hd_register_words(f, o->value);
        bool plain = o->value == reg && !(o->flags & HD_OPERAND_DEF) && hd_operand_selector(f, o) == HD_NO_NAME;
        if (insn->operand_first + i == expected ? !plain : meets)
            return false;
    }
    return true;
}

static bool is_dead_behind(const demo_check *c, uint32_t reg, uint32_t consumer)
{
    const hd_lives *lives = &c->facts.words;
    HD_STORAGE_WORDS (&c->facts.storage, reg, word) {
        uint32_t a = hd_lives_access_from(lives, word, consumer);
        bool killed = a < lives->access_first[word + 1] && lives->accesses[a].ordinal == consumer && lives->accesses[a].kinds & HD_ACCESS_KILL;
        if (!killed && (hd_lives_leaves_with(lives, word) || hd_lives_live_behind(lives, word, consumer)))
            return false;
    }
    return true;
}

static bool check_load(demo_check *c, uint32_t load)
{
    const hd_function *f = c->function;
    const hd_cfg *cfg = c->facts.cfg;
    const hd_instruction *from = &f->instructions.items[load], *to = from + 1;
    const char *fault = fault_of_load(f, from);
    uint32_t slot = 0, consumer = load + 1;
    if (fault)
        return refute(c, load, fault);
    if (consumer >= cfg->blocks[cfg->block_of[load]].end)
        return refute(c, load, "no instruction of its block follows");
    if ((fault = fault_of_consumer(f, to)))
        return refute(c, load, fault);
    if (annotated_sources(f, consumer, &slot) != 1)
        return refute(c, load, "the next instruction does not take exactly one operand from memory");
    if (from->guard != to->guard || (from->flags ^ to->flags) & HD_INSN_GUARD_NOT)
        return refute(c, load, "the guards differ");
    uint32_t reg = hd_insn_operands(f, from)->value, operand = hd_insn_source_slot(f, to, slot);
    if (f->operands.items[operand].value != reg || !named_once(c, to, reg, operand))
        return refute(c, load, "the next instruction does not read it once, where it is annotated");
    return !cfg->blocks[cfg->block_of[load]].reachable || is_dead_behind(c, reg, consumer) || refute(c, load, "its value is read later, too");
}

static bool check_source(demo_check *c, const hd_annotation *note)
{
    const hd_function *f = c->function;
    if (hd_insn_source_slot(f, &f->instructions.items[note->instruction], note->slot) == HD_NONE)
        return refute(c, note->instruction, "there is no such source");
    if (!note->instruction || !hd_annotation_at(f, HD_ANNOTATION_DEMO, note->instruction - 1, 0))
        return refute(c, note->instruction, "no load delivers it");
    return true;
}

bool hd_check_demo(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count)
{
    demo_check c = {.function = function, .diagnostics = diagnostics};
    bool any = false, good = true;
    for (uint32_t a = 0; a < function->annotations.count; a++) {
        uint16_t kind = function->annotations.items[a].kind;
        any = any || kind == HD_ANNOTATION_DEMO || kind == HD_ANNOTATION_DEMO_OPERAND;
    }
    if (!any)
        return true;
    hd_facts_build(&c.facts, function);
    for (uint32_t a = 0; a < function->annotations.count; a++) {
        const hd_annotation *note = &function->annotations.items[a];
        if (note->kind == HD_ANNOTATION_DEMO)
            good = check_load(&c, note->instruction) && good;
        else if (note->kind == HD_ANNOTATION_DEMO_OPERAND)
            good = check_source(&c, note) && good;
        else
            continue;
        ++*count;
    }
    hd_facts_free(&c.facts);
    return good;
}
