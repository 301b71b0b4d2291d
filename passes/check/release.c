/* Verifies release flags (pir, pbr): no register may be released while a lane of the warp needs it.
 *
 * A release of a word at a point of block q is refuted if
 *
 *   a path leads from the point to a read of the word without an unguarded definition before it;
 *   lanes that wait at a branch need it (kept.h);
 *   lanes that wait at an instruction, such as a barrier, need it (waits.h).
 *
 * A pir bit releases at the instruction; it is also refuted if it denotes none of the first three sources, if the
 * instruction also writes the word (possibly in some lanes only), or if none of the source's words is renamed. A pbr
 * must list renamed words, at an instruction that is issued. Module-scope registers are never renamed: other functions
 * read them.
 *
 * The words kept for waiting lanes are computed for all flags at once, word by word. Complexity: O(flags), plus that of
 * kept.h for each released word, times a logarithm.
 */
#include "passes/check/check.h"
#include "passes/check/kept.h"
#include "passes/check/waits.h"

enum { FLAGGED_SOURCES = 3 };

typedef struct claim { /* a word that is released in a block */
    uint32_t word, block;
    bool kept; /* lanes that wait at a branch need it there */
} claim;

typedef struct release_check {
    hd_facts facts;
    hd_function *function;
    hd_diagnostics *diagnostics;
    hd_bitset renamed;      /* by word */
    HD_ARRAY(claim) claims; /* sorted by word and block */
    hd_waits waits;
} release_check;

static bool refute(release_check *c, uint32_t at, uint32_t word, const char *why)
{
    const hd_function *f = c->function;
    hd_span span = at == HD_NONE ? f->header_span : f->instructions.items[at].span;
    char name[160];
    hd_storage_spell(&c->facts.storage, word, name, sizeof name);
    hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, span, "%s is released here, but %s", name,
              why);
    return false;
}

static bool refute_flag(release_check *c, uint32_t at, const char *why)
{
    const hd_function *f = c->function;
    hd_span span = at == HD_NONE ? f->header_span : f->instructions.items[at].span;
    hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, span, "%s", why);
    return false;
}

/* ---- waiting lanes ----------------------------------------------------------------------------------------------- */

static void add_claim(release_check *c, uint32_t word, uint32_t block)
{
    if (word < c->facts.storage.words)
        hd_array_push(&c->claims, (claim){word, block, false});
}

/* The words that the flag releases, and the block. */
static void add_claims(release_check *c, const hd_annotation *note)
{
    const hd_function *f = c->function;
    uint32_t block = c->facts.cfg->block_of[note->instruction];
    for (uint32_t i = 0; note->kind == HD_ANNOTATION_PBR && i < note->count; i++)
        add_claim(c, f->annotation_words.items[note->value + i], block);
    for (uint32_t slot = 0; note->kind == HD_ANNOTATION_PIR && slot < FLAGGED_SOURCES; slot++) {
        uint32_t operand = hd_insn_source_slot(f, &f->instructions.items[note->instruction], slot);
        if (note->value >> slot & 1 && operand != HD_NONE)
            HD_STORAGE_WORDS (&c->facts.storage, f->operands.items[operand].value, word)
                add_claim(c, word, block);
    }
}

static int compare_claims(const void *left, const void *right)
{
    const claim *a = left, *b = right;
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

/* Evaluates all claims, word by word. */
static void find_kept(release_check *c)
{
    hd_kept kept;
    claim *claims = c->claims.items;
    hd_kept_init(&kept, &c->facts);
    if (c->claims.count)
        qsort(claims, c->claims.count, sizeof *claims, compare_claims);
    for (uint32_t i = 0; i < c->claims.count; i++) {
        if (!i || claims[i].word != claims[i - 1].word)
            hd_kept_find(&kept, claims[i].word);
        claims[i].kept = hd_kept_in(&kept, claims[i].word, claims[i].block);
    }
    hd_kept_free(&kept);
}

static bool is_kept(const release_check *c, uint32_t word, uint32_t block)
{
    const claim wanted = {.word = word, .block = block};
    const claim *found = bsearch(&wanted, c->claims.items, c->claims.count, sizeof wanted, compare_claims);
    return !found || found->kept;
}

/* ---- flags ------------------------------------------------------------------------------------------------------- */

/* `live`: a path from the point reads it. */
static bool check_point(release_check *c, uint32_t at, uint32_t word, bool live)
{
    if (live)
        return refute(c, at, word, "this warp's lanes may read it later");
    if (is_kept(c, word, c->facts.cfg->block_of[at]))
        return refute(c, at, word, "lanes that wait at a branch may read it later");
    if (hd_waits_need(&c->waits, word, c->facts.cfg->block_of[at]))
        return refute(c, at, word, "lanes that wait at a barrier or the like may read it later");
    return true;
}

static bool writes(const release_check *c, uint32_t at, uint32_t word)
{
    const hd_lives *words = &c->facts.words;
    uint32_t a = hd_lives_access_from(words, word, at);
    return a < words->access_first[word + 1] && words->accesses[a].ordinal == at &&
           words->accesses[a].kinds & (HD_ACCESS_KILL | HD_ACCESS_WEAK);
}

static bool check_source(release_check *c, uint32_t at, uint32_t reg)
{
    bool good = true, any = false;
    HD_STORAGE_WORDS (&c->facts.storage, reg, word) {
        if (!good || !hd_bitset_has(&c->renamed, word))
            continue;
        any = true;
        good = writes(c, at, word) ? refute(c, at, word, "the instruction writes it too")
                                   : check_point(c, at, word, hd_lives_live_after(&c->facts.words, word, at));
    }
    return good && (any || refute_flag(c, at, "this pir bit is of a register that is not renamed"));
}

static bool check_pir(release_check *c, const hd_annotation *note)
{
    const hd_instruction *insn = &c->function->instructions.items[note->instruction];
    bool good = true;
    if (!note->value || note->value >> FLAGGED_SOURCES)
        return refute_flag(c, note->instruction, "a pir has bits for the first three sources");
    for (uint32_t slot = 0; slot < FLAGGED_SOURCES; slot++) {
        if (!(note->value >> slot & 1))
            continue;
        uint32_t operand = hd_insn_source_slot(c->function, insn, slot);
        good = (operand == HD_NONE ? refute_flag(c, note->instruction, "this pir bit is of no source")
                                   : check_source(c, note->instruction, c->function->operands.items[operand].value)) &&
               good;
    }
    return good;
}

static bool live_before(const release_check *c, uint32_t word, uint32_t at)
{
    uint32_t block = c->facts.cfg->block_of[at];
    if (at == c->facts.cfg->blocks[block].first)
        return hd_lives_live_into(&c->facts.words, word, block);
    return hd_lives_live_after(&c->facts.words, word, at - 1);
}

static bool check_pbr(release_check *c, const hd_annotation *note)
{
    bool good = true;
    for (uint32_t i = 0; i < note->count; i++) {
        uint32_t word = c->function->annotation_words.items[note->value + i];
        if (word >= c->facts.storage.words || !hd_bitset_has(&c->renamed, word))
            good = refute_flag(c, note->instruction, "this pbr names a register that is not renamed");
        else
            good = check_point(c, note->instruction, word, live_before(c, word, note->instruction)) && good;
    }
    return good;
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

/* Words of module-scope registers. */
static hd_bitset module_words(release_check *c)
{
    const hd_function *f = c->function;
    hd_bitset words = hd_bitset_new(&c->facts.arena, c->facts.storage.words + 1);
    for (uint32_t r = 0; r < f->registers.count; r++) {
        uint32_t declaration = f->registers.items[r].declaration;
        if (declaration >= f->declarations.count || f->declarations.items[declaration].depth != 0)
            continue;
        HD_STORAGE_WORDS (&c->facts.storage, r, word)
            hd_bitset_add(&words, word);
    }
    return words;
}

static bool check_renamed(release_check *c, const hd_annotation *note)
{
    const uint32_t *words = hd_array_at(&c->function->annotation_words, note->value);
    hd_bitset module = module_words(c);
    c->renamed = hd_bitset_new(&c->facts.arena, c->facts.storage.words + 1);
    for (uint32_t i = 0; i < note->count; i++) {
        if (words[i] >= c->facts.storage.words || (i && words[i] <= words[i - 1]))
            return refute_flag(c, HD_NONE, "release_renamed is no ascending list of this function's registers");
        if (hd_bitset_has(&module, words[i]))
            return refute_flag(c, HD_NONE,
                               "release_renamed names a register of the module, which other functions read");
        hd_bitset_add(&c->renamed, words[i]);
    }
    return true;
}

static bool check_flag(release_check *c, const hd_annotation *note)
{
    if (hd_storage_skips(&c->facts.storage, note->instruction))
        return refute_flag(c, note->instruction, "this instruction is not issued, and releases nothing");
    if (!c->facts.cfg->blocks[c->facts.cfg->block_of[note->instruction]].reachable)
        return true;
    return note->kind == HD_ANNOTATION_PIR ? check_pir(c, note) : check_pbr(c, note);
}

static bool is_flag(const hd_annotation *note)
{
    return note->kind == HD_ANNOTATION_PIR || note->kind == HD_ANNOTATION_PBR;
}

static bool check_all(release_check *c, uint64_t *count)
{
    const hd_function *f = c->function;
    const hd_annotation *renamed = hd_annotation_at(f, HD_ANNOTATION_RELEASE_RENAMED, HD_NONE, 0);
    if (!renamed)
        return refute_flag(c, HD_NONE, "release flags need a list of renamed registers on their function");
    ++*count;
    if (c->facts.words.flights.leave)
        return refute_flag(c, HD_NONE,
                           "registers may be in flight when this function returns, and its frame would be released");
    for (uint32_t a = 0; a < f->annotations.count; a++)
        if (is_flag(&f->annotations.items[a]))
            add_claims(c, &f->annotations.items[a]);
    find_kept(c);
    bool good = check_renamed(c, renamed);
    for (uint32_t a = 0; a < f->annotations.count; a++)
        if (is_flag(&f->annotations.items[a])) {
            good = check_flag(c, &f->annotations.items[a]) && good;
            ++*count;
        }
    return good;
}

static bool has_flags(const hd_function *f)
{
    for (uint32_t a = 0; a < f->annotations.count; a++)
        if (is_flag(&f->annotations.items[a]) || f->annotations.items[a].kind == HD_ANNOTATION_RELEASE_RENAMED)
            return true;
    return false;
}

bool hd_check_release(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count)
{
    release_check c = {.function = function, .diagnostics = diagnostics};
    if (!has_flags(function))
        return true;
    hd_facts_build(&c.facts, function);
    hd_waits_find(&c.waits, &c.facts);
    bool good = check_all(&c, count);
    hd_array_free(&c.claims);
    hd_waits_free(&c.waits);
    hd_facts_free(&c.facts);
    return good;
}
