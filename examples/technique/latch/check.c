/* The checker of latch: a result that goes only to the slot must be read by the next instruction alone.
 *
 * Shares nothing with the pass: what is live and what waits comes from the facts of the checkers. Each mark costs two
 * look-ups, O(log n).
 */
#include "latch.h"

static bool may_wait(const hd_facts *facts, uint32_t ordinal)
{
    const hd_function *f = facts->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    uint32_t waits = HD_BEHAVE_CALL | HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD | HD_BEHAVE_RETURN | HD_BEHAVE_MEET;
    return insn->flags & HD_INSN_OPAQUE || hd_insn_form(f, insn)->behaviour & waits;
}

/* How the instruction accesses the word: HD_ACCESS_*, 0: not at all. */
static uint8_t kinds_of(const hd_facts *facts, uint32_t word, uint32_t ordinal)
{
    const hd_lives *words = &facts->words;
    uint32_t a = hd_lives_access_from(words, word, ordinal);
    bool accessed = a < words->access_first[word + 1] && words->accesses[a].ordinal == ordinal;
    return accessed ? words->accesses[a].kinds : 0;
}

/* The word that the instruction writes; HD_NONE where that is not exactly one. */
static uint32_t written_word(const hd_facts *facts, uint32_t ordinal)
{
    const hd_function *f = facts->function;
    uint32_t word = HD_NONE, count = 0;
    HD_INSN_REGISTERS (f, &f->instructions.items[ordinal], o) {
        if (!(o->flags & HD_OPERAND_DEF))
            continue;
        count += hd_storage_count(&facts->storage, o->value);
        word = facts->storage.first[o->value];
    }
    return count == 1 ? word : HD_NONE;
}

/* Why the mark does not hold; NULL: it does. */
static const char *refutation(const hd_facts *facts, uint32_t ordinal)
{
    const hd_cfg *cfg = facts->cfg;
    uint32_t end = cfg->blocks[cfg->block_of[ordinal]].end, next = ordinal + 1, word = written_word(facts, ordinal);
    while (next < end && hd_storage_skips(&facts->storage, next))
        next++;
    if (hd_storage_skips(&facts->storage, ordinal) || word == HD_NONE)
        return "it does not write exactly one word of the register file";
    if (!(kinds_of(facts, word, ordinal) & HD_ACCESS_KILL))
        return "it does not write its result in all lanes, or not as a whole";
    if (hd_bitset_has(&facts->words.module_wide, word))
        return "other functions may read its result";
    if (next == end)
        return "no instruction follows in its block";
    if (may_wait(facts, ordinal) || may_wait(facts, next))
        return "the warp may run other code between it and the next instruction, or at the next one";
    if (hd_lives_live_after(&facts->words, word, next) && !(kinds_of(facts, word, next) & HD_ACCESS_KILL))
        return "its result is live after the next instruction";
    return NULL;
}

bool latch_check(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count)
{
    hd_facts facts;
    bool good = true;
    if (!hd_annotations_count(function, "latch"))
        return true;
    hd_facts_build(&facts, function);
    for (uint32_t a = 0; a < function->annotations.count; a++) {
        const hd_annotation *mark = &function->annotations.items[a];
        if (mark->kind != LATCH_MARK)
            continue;
        const char *why = refutation(&facts, mark->instruction);
        if (why)
            hd_report(diagnostics, HD_DIAG_UNSOUND_ANNOTATION, function->module->source,
                      function->instructions.items[mark->instruction].span,
                      "the result of this instruction goes to the slot only, but %s", why);
        good = good && !why;
        ++*count;
    }
    hd_facts_free(&facts);
    return good;
}
