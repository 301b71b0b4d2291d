/* Verifies dead-operand bits: no lane of the warp may read what the operand holds after its instruction.
 *
 * A word x is not dead behind instruction i of block q where
 *
 *   a path from behind i comes to a read of x before it is overwritten in all lanes; or
 *   other lanes wait: for a branch that may diverge and a side R of it that holds q (what a target reaches without entering the branch's
 *   reconvergence point r), x is live into r or into another target; or they wait at an instruction, such as a barrier, and need it (waits.h); or
 *   i itself writes x.
 *
 * Claims are sorted by word. For each word the sides in which it must be kept are flooded, in the order of hd_join_rank; what one
 * flood has reached the others leave alone.
 *
 * Complexity: O(claims + for each claimed word, the blocks in which it is live and the sides that keep it).
 */
#include "passes/check/ltrf_dead.h"
#include "passes/check/waits.h"

typedef struct claim {
    uint32_t word, instruction, slot;
} claim;

typedef struct keeper { /* a side in which a word is kept */
    uint32_t block, join, rank;
} keeper;

typedef struct dead_check {
    hd_facts *facts;
    hd_diagnostics *diagnostics;
    HD_ARRAY(claim) claims;
    uint32_t *branch_first, *branches; /* by block and X: branches that may diverge and join there, or have it as a target */
    HD_ARRAY(keeper) keepers;
    uint32_t *kept;                    /* by block: 1 + the last word that is kept there */
    uint32_t *asked;                   /* by block: 1 + the last word for which the branch at its end was asked */
    hd_u32_array blocks;
    hd_waits waits;
} dead_check;

static bool refute(dead_check *c, const claim *at, const char *why)
{
    const hd_function *f = c->facts->function;
    char name[128];
    hd_storage_spell(&c->facts->storage, at->word, name, sizeof name);
    hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, f->instructions.items[at->instruction].span,
              "source %u is called dead, but %s%s%s", at->slot, name, *name ? " " : "", why);
    return false;
}

/* ---- claims ------------------------------------------------------------------------------------------------------------ */

static bool add_claims(dead_check *c, const hd_annotation *note)
{
    const hd_function *f = c->facts->function;
    const hd_instruction *insn = &f->instructions.items[note->instruction];
    uint32_t slots = hd_insn_source_count(f, insn);
    if (hd_storage_skips(&c->facts->storage, note->instruction) || (slots < 32 && note->value >> slots)) {
        hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, insn->span, "ltrf_dead names sources that there are not");
        return false;
    }
    for (uint32_t slot = 0; slot < slots && slot < 32; slot++) {
        if (!(note->value >> slot & 1))
            continue;
        uint32_t reg = f->operands.items[hd_insn_source_slot(f, insn, slot)].value;
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

/* ---- where a word is kept for lanes that wait ----------------------------------------------------------------------------- */

static void list_branches(dead_check *c)
{
    const hd_cfg *cfg = c->facts->cfg;
    uint32_t nodes = cfg->block_count + 1;
    hd_arena *arena = &c->facts->arena;
    c->branch_first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)nodes + 2);
    for (uint32_t fill = 0; fill < 2; fill++) {
        HD_BITSET_EACH (&c->facts->splits, b) {
            const hd_block *block = &cfg->blocks[b];
            for (uint32_t e = 0; e <= block->succ_count; e++) {
                uint32_t at = e < block->succ_count ? cfg->successors[block->succ_first + e] : block->post_dominator;
                if (fill)
                    c->branches[c->branch_first[at + 1]++] = b;
                else
                    c->branch_first[at + 2]++;
            }
        }
        for (uint32_t v = 0; v < nodes && !fill; v++)
            c->branch_first[v + 2] += c->branch_first[v + 1];
        if (!fill)
            c->branches = HD_ARENA_ARRAY(arena, uint32_t, (size_t)c->branch_first[nodes + 1] + 1);
    }
}

static bool live_into(const dead_check *c, uint32_t word, uint32_t block)
{
    const hd_lives *words = &c->facts->words;
    return block == c->facts->cfg->block_count ? hd_lives_leaves_with(words, word) : hd_lives_live_into(words, word, block);
}

/* The sides of a branch in which the word is kept. */
static void ask_branch(dead_check *c, uint32_t word, uint32_t b)
{
    const hd_cfg *cfg = c->facts->cfg;
    const hd_block *block = &cfg->blocks[b];
    uint32_t join = block->post_dominator, live = 0, none = cfg->block_count;
    if (c->asked[b] == word + 1)
        return;
    c->asked[b] = word + 1;
    bool into_join = live_into(c, word, join);
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++)
        live += cfg->successors[e] != join && cfg->successors[e] != none && live_into(c, word, cfg->successors[e]);
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++) {
        uint32_t side = cfg->successors[e];
        if (side == join || side == none)
            continue;
        if (into_join || live > live_into(c, word, side))
            hd_array_push(&c->keepers, (keeper){side, join, hd_join_rank(cfg, join)});
    }
}

static int compare_keepers(const void *left, const void *right)
{
    const keeper *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

static void flood(dead_check *c, uint32_t word, const keeper *from)
{
    const hd_cfg *cfg = c->facts->cfg;
    hd_array_clear(&c->blocks);
    hd_array_push(&c->blocks, from->block);
    while (c->blocks.count) {
        uint32_t b = hd_array_pop(&c->blocks);
        if (b == from->join || b == cfg->block_count || c->kept[b] == word + 1)
            continue;
        c->kept[b] = word + 1;
        for (uint32_t e = cfg->blocks[b].succ_first; e < cfg->blocks[b].succ_first + cfg->blocks[b].succ_count; e++)
            hd_array_push(&c->blocks, cfg->successors[e]);
    }
}

static void find_kept(dead_check *c, uint32_t word)
{
    const hd_lives *words = &c->facts->words;
    uint32_t none = c->facts->cfg->block_count;
    hd_array_clear(&c->keepers);
    for (uint32_t i = words->live_first[word]; i < words->live_first[word + 1]; i++) {
        uint32_t v = words->live.items[i];
        for (uint32_t k = c->branch_first[v]; k < c->branch_first[v + 1]; k++)
            ask_branch(c, word, c->branches[k]);
    }
    if (hd_lives_leaves_with(words, word))
        for (uint32_t k = c->branch_first[none]; k < c->branch_first[none + 1]; k++)
            ask_branch(c, word, c->branches[k]);
    if (c->keepers.count)
        qsort(c->keepers.items, c->keepers.count, sizeof *c->keepers.items, compare_keepers);
    for (uint32_t k = 0; k < c->keepers.count; k++)
        flood(c, word, &c->keepers.items[k]);
}

/* ---- all claims ------------------------------------------------------------------------------------------------------------ */

static bool check_claim(dead_check *c, const claim *at)
{
    const hd_lives *words = &c->facts->words;
    uint32_t a = hd_lives_access_from(words, at->word, at->instruction);
    bool accessed = a < words->access_first[at->word + 1] && words->accesses[a].ordinal == at->instruction;
    if (!accessed || !(words->accesses[a].kinds & HD_ACCESS_READ))
        return refute(c, at, "is not read here");
    if (words->accesses[a].kinds & (HD_ACCESS_KILL | HD_ACCESS_WEAK))
        return refute(c, at, "is written here too");
    if (hd_lives_live_behind(words, at->word, at->instruction))
        return refute(c, at, "is read later");
    if (c->kept[c->facts->cfg->block_of[at->instruction]] == at->word + 1)
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
        c.kept = HD_ARENA_ARRAY(&facts->arena, uint32_t, cfg->block_count);
        c.asked = HD_ARENA_ARRAY(&facts->arena, uint32_t, cfg->block_count);
        list_branches(&c);
        hd_waits_find(&c.waits, facts);
    }
    for (uint32_t i = 0; i < c.claims.count; i++) {
        if (!i || c.claims.items[i].word != c.claims.items[i - 1].word)
            find_kept(&c, c.claims.items[i].word);
        if (cfg->blocks[cfg->block_of[c.claims.items[i].instruction]].reachable)
            good = check_claim(&c, &c.claims.items[i]) && good;
    }
    hd_array_free(&c.claims);
    hd_array_free(&c.keepers);
    hd_array_free(&c.blocks);
    hd_waits_free(&c.waits);
    return good;
}
