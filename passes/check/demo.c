/* Verifies the memory operands of demo: loads without a register, and the sources of the following instruction that
 * they deliver.
 *
 * Refuted if a load is not a plain load of one register; if the instruction after it and other such loads is not in its
 * block, is not arithmetic, has another guard, has a number of annotated sources different from the number of loads, or
 * names the value other than once, as a whole, in an annotated source; if another of these loads names it; and if it is
 * live after that instruction, by its words in the register file. An annotated source without a preceding load is
 * refuted too.
 *
 * The text does not show the load's original position. It is assumed to be the earliest in the block, before everything
 * that the load must not cross (clashes.h), except for as many of these instructions, counted from the start of the
 * block, as demo_after gives. So the annotation is refuted if more of them precede the load.
 *
 * Complexity: O(annotations * operands * log accesses), and linear in the instructions.
 */
#include "passes/check/check.h"
#include "passes/check/clashes.h"
#include "passes/check/facts.h"
#include "ir/machine.h"

typedef struct demo_check {
    hd_facts facts;
    hd_clashes clashes;
    hd_function *function;
    hd_diagnostics *diagnostics;
    uint64_t *count;
} demo_check;

static bool refute(demo_check *c, uint32_t ordinal, const char *why)
{
    const hd_function *f = c->function;
    hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, f->instructions.items[ordinal].span,
              "an operand in memory that cannot be one: %s", why);
    return false;
}

static bool is_load(const demo_check *c, uint32_t ordinal)
{
    return hd_annotation_at(c->function, HD_ANNOTATION_DEMO, ordinal, 0) != NULL;
}

static const char *fault_of_load(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    uint16_t order = form->modifiers[HD_GROUP_SEM];
    const hd_operand *o = hd_insn_operands(f, insn);
    if (form->machine && hd_machine_is_plain_load(form) && !(insn->flags & HD_INSN_OPAQUE))
        return o->kind == HD_OPERAND_REGISTER && hd_register_words(f, o->value)
                   ? NULL
                   : "the load gives more than one register";
    if (insn->flags & HD_INSN_OPAQUE || form->opcode != HD_OP_LD)
        return "this is no load";
    if (form->behaviour & ~HD_BEHAVE_LOAD || (order && order != HD_MOD_SEM_WEAK) ||
        form->modifiers[HD_GROUP_CACHE] == HD_MOD_CACHE_CV)
        return "the load is volatile or ordered";
    if (hd_insn_reads_bank(f, insn))
        return "this reads the constant bank";
    if (form->modifiers[HD_GROUP_VECTOR] || o->kind != HD_OPERAND_REGISTER || !hd_register_words(f, o->value))
        return "the load gives more than one register, or none in the register file";
    return NULL;
}

static const char *fault_of_consumer(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    switch (hd_form_unit(form)) {
    case HD_UNIT_INT:
    case HD_UNIT_SP:
    case HD_UNIT_DP:
    case HD_UNIT_SFU:
        return form->behaviour || form->opcode == HD_OP_MOV || insn->flags & HD_INSN_OPAQUE
                   ? "the next instruction is no arithmetic"
                   : NULL;
    case HD_UNIT_NONE:
    case HD_UNIT_LDST:
    case HD_UNIT_TEX:
    case HD_UNIT_TENSOR:
    case HD_UNIT_CTRL: break;
    }
    return "the next instruction is no arithmetic";
}

/* Whether the sources of the instruction name a word of the register exactly once, as the operand `expected`. HD_NONE:
 * whether they do not name it. */
static bool named_once(const demo_check *c, const hd_instruction *insn, uint32_t reg, uint32_t expected)
{
    const hd_function *f = c->function;
    const uint32_t *first = c->facts.storage.first;
    uint32_t words = hd_register_words(f, reg);
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const hd_operand *o = hd_insn_operands(f, insn) + i;
        bool counts = o->kind == HD_OPERAND_REGISTER && (o->flags & HD_OPERAND_USE || expected == HD_NONE);
        if (!counts || !hd_storage_count(&c->facts.storage, o->value))
            continue;
        bool meets = first[o->value] < first[reg] + words &&
                     first[reg] < first[o->value] + hd_storage_count(&c->facts.storage, o->value);
        bool plain = o->value == reg && !(o->flags & HD_OPERAND_DEF) && hd_operand_selector(f, o) == HD_NO_NAME;
        if (insn->operand_first + i == expected ? !plain : meets)
            return false;
    }
    return true;
}

static bool is_dead_after(const demo_check *c, uint32_t reg, uint32_t consumer)
{
    const hd_lives *lives = &c->facts.words;
    HD_STORAGE_WORDS (&c->facts.storage, reg, word) {
        uint32_t a = hd_lives_access_from(lives, word, consumer);
        bool killed = a < lives->access_first[word + 1] && lives->accesses[a].ordinal == consumer &&
                      lives->accesses[a].kinds & HD_ACCESS_KILL;
        if (hd_bitset_has(&lives->module_wide, word) || (!killed && hd_lives_live_after(lives, word, consumer)))
            return false;
    }
    return true;
}

/* Whether only the load and its consumer access the register. Both have the same guard, so the consumer reads what the
 * load has just written, in a loop, too. */
static bool is_of_both_alone(const demo_check *c, uint32_t reg, uint32_t load, uint32_t consumer)
{
    const hd_lives *lives = &c->facts.words;
    HD_STORAGE_WORDS (&c->facts.storage, reg, word) {
        if (hd_bitset_has(&lives->module_wide, word) || hd_lives_leaves_with(lives, word))
            return false;
        for (uint32_t a = lives->access_first[word]; a < lives->access_first[word + 1]; a++)
            if (lives->accesses[a].ordinal != load && lives->accesses[a].ordinal != consumer)
                return false;
    }
    return true;
}

typedef struct group { /* loads and their consumer */
    uint32_t first, consumer;
} group;

static group group_of(const demo_check *c, uint32_t load)
{
    group g = {load, load + 1};
    uint32_t end = c->facts.cfg->blocks[c->facts.cfg->block_of[load]].end,
             begin = c->facts.cfg->blocks[c->facts.cfg->block_of[load]].first;
    while (g.first > begin && is_load(c, g.first - 1))
        g.first--;
    while (g.consumer < end && is_load(c, g.consumer))
        g.consumer++;
    return g;
}

/* The annotated operand of the consumer that is the register, HD_NONE: none; *sources: number of annotated sources. */
static uint32_t annotated_source(const hd_function *f, uint32_t consumer, uint32_t reg, uint32_t *sources)
{
    uint32_t found = HD_NONE, operand;
    *sources = 0;
    for (uint32_t s = 0; (operand = hd_insn_source_slot(f, &f->instructions.items[consumer], s)) != HD_NONE; s++) {
        if (!hd_annotation_at(f, HD_ANNOTATION_DEMO_OPERAND, consumer, s))
            continue;
        ++*sources;
        if (f->operands.items[operand].value == reg)
            found = operand;
    }
    return found;
}

static const char *fault_of_value(const demo_check *c, uint32_t load, group g)
{
    const hd_function *f = c->function;
    uint32_t reg = hd_insn_operands(f, &f->instructions.items[load])->value, sources;
    uint32_t operand = annotated_source(f, g.consumer, reg, &sources);
    if (sources != g.consumer - g.first)
        return "the next instruction takes more or fewer operands from memory than loads precede it";
    if (operand == HD_NONE || !named_once(c, &f->instructions.items[g.consumer], reg, operand))
        return "the next instruction does not read it once, where it is annotated";
    for (uint32_t i = g.first; i < g.consumer; i++)
        if (i != load && !named_once(c, &f->instructions.items[i], reg, HD_NONE))
            return "another load of the same instruction names its register";
    bool reachable = c->facts.cfg->blocks[c->facts.cfg->block_of[load]].reachable;
    bool ends = is_dead_after(c, reg, g.consumer) || is_of_both_alone(c, reg, load, g.consumer);
    return reachable && !ends ? "its value is read later, too" : NULL;
}

/* `last` is the last instruction before the load in its block that it must not cross. */
static bool refute_passed(demo_check *c, uint32_t load, uint32_t last, uint32_t before)
{
    const hd_function *f = c->function;
    const hd_annotation *note = hd_annotation_at(f, HD_ANNOTATION_DEMO_AFTER, load, 0);
    hd_diagnostic *d =
        hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, f->instructions.items[load].span,
                  "an operand in memory that cannot be one: %u instructions of its block that a load may not pass "
                  "precede it, "
                  "and it followed %u of them (demo_after)",
                  before, note ? note->value : 0);
    hd_note_add(c->diagnostics, d, f->module->source, f->instructions.items[last].span,
                "it may have been moved over this one");
    return false;
}

static bool check_load(demo_check *c, uint32_t load)
{
    const hd_function *f = c->function;
    const hd_instruction *from = &f->instructions.items[load];
    const hd_annotation *note = hd_annotation_at(f, HD_ANNOTATION_DEMO_AFTER, load, 0);
    const char *fault = fault_of_load(f, from);
    group g = group_of(c, load);
    uint32_t last = load;
    if (fault)
        return refute(c, load, fault);
    if (g.consumer >= c->facts.cfg->blocks[c->facts.cfg->block_of[load]].end)
        return refute(c, load, "no instruction of its block follows");
    const hd_instruction *to = &f->instructions.items[g.consumer];
    if ((fault = fault_of_consumer(f, to)))
        return refute(c, load, fault);
    if (from->guard != to->guard || (from->flags ^ to->flags) & HD_INSN_GUARD_NOT)
        return refute(c, load, "the guards differ");
    if ((fault = fault_of_value(c, load, g)))
        return refute(c, load, fault);
    uint32_t before = hd_clashes_with(&c->clashes, from, &last);
    return before <= (note ? note->value : 0) || refute_passed(c, load, last, before);
}

static bool check_source(demo_check *c, const hd_annotation *note)
{
    const hd_function *f = c->function;
    if (hd_insn_source_slot(f, &f->instructions.items[note->instruction], note->slot) == HD_NONE)
        return refute(c, note->instruction, "there is no such source");
    if (!note->instruction || !is_load(c, note->instruction - 1))
        return refute(c, note->instruction, "no load delivers it");
    return true;
}

static bool check_annotation(demo_check *c, const hd_annotation *note)
{
    ++*c->count;
    if (note->kind == HD_ANNOTATION_DEMO)
        return check_load(c, note->instruction);
    if (note->kind == HD_ANNOTATION_DEMO_OPERAND)
        return check_source(c, note);
    return is_load(c, note->instruction) || refute(c, note->instruction, "demo_after is at no such load");
}

static bool is_ours(const hd_annotation *note)
{
    return note->kind == HD_ANNOTATION_DEMO || note->kind == HD_ANNOTATION_DEMO_OPERAND ||
           note->kind == HD_ANNOTATION_DEMO_AFTER;
}

/* Annotations are in the order of their instructions. */
static bool check_block(demo_check *c, const hd_block *block, uint32_t *next)
{
    const hd_function *f = c->function;
    bool good = true;
    hd_clashes_begin_block(&c->clashes);
    for (uint32_t i = block->first; i < block->end; i++) {
        for (; *next < f->annotations.count && f->annotations.items[*next].instruction == i; ++*next)
            if (is_ours(&f->annotations.items[*next]))
                good = check_annotation(c, &f->annotations.items[*next]) && good;
        hd_clashes_step(&c->clashes, i);
    }
    return good;
}

bool hd_check_demo(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count)
{
    demo_check c = {.function = function, .diagnostics = diagnostics, .count = count};
    bool any = false, good = true;
    uint32_t next = 0;
    for (uint32_t a = 0; a < function->annotations.count; a++)
        any = any || is_ours(&function->annotations.items[a]);
    if (!any)
        return true;
    hd_facts_build(&c.facts, function);
    hd_clashes_init(&c.clashes, function);
    for (uint32_t b = 0; b < c.facts.cfg->block_count; b++)
        good = check_block(&c, &c.facts.cfg->blocks[b], &next) && good;
    hd_clashes_free(&c.clashes);
    hd_facts_free(&c.facts);
    return good;
}
