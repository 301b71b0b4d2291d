/* Verifies dead-operand bits: no lane of the warp may read the operand's value after its instruction.
 *
 * A word x is not dead after instruction i of block q if
 *
 *   a path from after i reaches a read of x before x is overwritten in all lanes; or
 *   other lanes wait at a branch, or at an instruction such as a barrier, and need it (kept.h, waits.h); or
 *   i itself writes x.
 *
 * Claims are sorted by word. Complexity: O(claims), plus that of kept.h for each claimed word.
 */
#include "passes/check/kept.h"
#include "passes/check/ltrf_dead.h"
#include "passes/check/waits.h"

typedef struct claim {
    uint32_t word, instruction, slot;
} claim;

typedef struct dead_check {
    hd_facts *facts;
    hd_diagnostics *diagnostics;
    HD_ARRAY(claim) claims;
    hd_kept kept;
    hd_waits waits;
} dead_check;

static bool refute(dead_check *c, const claim *at, const char *why)
{
    const hd_function *f = c->facts->function;
    char name[128];
    hd_storage_spell(&c->facts->storage, at->word, name, sizeof name);
    hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source,
              f->instructions.items[at->instruction].span, "source %u is called dead, but %s%s%s", at->slot, name,
              *name ? " " : "", why);
    return false;
}

/* ---- claims ------------------------------------------------------------------------------------------------------ */

static bool add_claims(dead_check *c, const hd_annotation *note)
{
    const hd_function *f = c->facts->function;
    const hd_instruction *insn = &f->instructions.items[note->instruction];
    uint32_t slots = hd_insn_source_count(f, insn);
    if (hd_storage_skips(&c->facts->storage, note->instruction) || (slots < 32 && note->value >> slots)) {
        hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, insn->span,
                  "ltrf_dead names sources that there are not");
        return false;
    }
    for (uint32_t slot = 0; slot < slots && slot < 32; slot++) {
        if (!(note->value >> slot & 1))
            continue;
        uint32_t reg = f->operands.items[hd_insn_source_slot(f, insn, slot)].value;
        if (!hd_storage_count(&c->facts->storage, reg)) {
            hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, insn->span,
                      "ltrf_dead names an operand from the constant bank");
            return false;
        }
        HD_STORAGE_WORDS (&c->facts->storage, reg, word)
            hd_array_push(&c->claims, (claim){word, note->instruction, slot});
    }
    return true;
}

static int compare_claims(const void *left, const void *right)
{
    const claim *a = left, *b = right;
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    return (a->instruction > b->instruction) - (a->instruction < b->instruction);
}

/* ---- all claims -------------------------------------------------------------------------------------------------- */

static bool check_claim(dead_check *c, const claim *at)
{
    const hd_lives *words = &c->facts->words;
    uint32_t a = hd_lives_access_from(words, at->word, at->instruction);
    bool accessed = a < words->access_first[at->word + 1] && words->accesses[a].ordinal == at->instruction;
    if (!accessed || !(words->accesses[a].kinds & HD_ACCESS_READ))
        return refute(c, at, "is not read here");
    if (words->accesses[a].kinds & (HD_ACCESS_KILL | HD_ACCESS_WEAK))
        return refute(c, at, "is written here too");
    if (hd_lives_live_after(words, at->word, at->instruction))
        return refute(c, at, "is read later");
    if (hd_kept_in(&c->kept, at->word, c->facts->cfg->block_of[at->instruction]))
        return refute(c, at, "is read by lanes that may wait meanwhile");
    if (hd_waits_need(&c->waits, at->word, c->facts->cfg->block_of[at->instruction]))
        return refute(c, at, "is read by lanes that may wait at a barrier or the like meanwhile");
    return true;
}

bool hd_check_ltrf_dead(hd_facts *facts, hd_diagnostics *diagnostics, uint64_t *count)
{
    const hd_function *f = facts->function;
    const hd_cfg *cfg = facts->cfg;
    dead_check c = {.facts = facts, .diagnostics = diagnostics};
    bool good = true;
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        if (f->annotations.items[a].kind != HD_ANNOTATION_LTRF_DEAD)
            continue;
        good = add_claims(&c, &f->annotations.items[a]) && good;
        ++*count;
    }
    if (c.claims.count) {
        qsort(c.claims.items, c.claims.count, sizeof *c.claims.items, compare_claims);
        hd_kept_init(&c.kept, facts);
        hd_waits_find(&c.waits, facts);
    }
    for (uint32_t i = 0; i < c.claims.count; i++) {
        if (!i || c.claims.items[i].word != c.claims.items[i - 1].word)
            hd_kept_find(&c.kept, c.claims.items[i].word);
        if (cfg->blocks[cfg->block_of[c.claims.items[i].instruction]].reachable)
            good = check_claim(&c, &c.claims.items[i]) && good;
    }
    hd_array_free(&c.claims);
    hd_kept_free(&c.kept);
    hd_waits_free(&c.waits);
    return good;
}
