/* Lanes that wait at an instruction: see waits.h. */
#include "passes/check/waits.h"

enum { ASKED = 1, IN_SIDES = 2, EVERYWHERE = 4 };

typedef struct side {
    uint32_t block, join, rank;
} side;
typedef HD_ARRAY(side) side_array;

static int compare_sides(const void *left, const void *right)
{
    const side *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

/* Sides of branches that have two or more, in the order of hd_join_rank. */
static side_array list_sides(const hd_facts *facts)
{
    const hd_cfg *cfg = facts->cfg;
    side_array all = {0};
    HD_BITSET_EACH (&facts->splits, b) {
        uint32_t join = cfg->blocks[b].post_dominator, before = all.count;
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++) {
            uint32_t to = hd_block_successors(cfg, b)[e];
            if (to != join && to != cfg->block_count)
                hd_array_push(&all, (side){to, join, hd_join_rank(cfg, join)});
        }
        if (all.count < before + 2)
            all.count = before;
    }
    if (all.count)
        qsort(all.items, all.count, sizeof *all.items, compare_sides);
    return all;
}

/* Skips blocks visited before. */
static void flood(hd_waits *w, const side *from, hd_u32_array *stack)
{
    const hd_cfg *cfg = w->facts->cfg;
    hd_array_push(stack, from->block);
    while (stack->count) {
        uint32_t b = hd_array_pop(stack);
        if (b == from->join || b == cfg->block_count || w->two_sided[b])
            continue;
        w->two_sided[b] = true;
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
            hd_array_push(stack, hd_block_successors(cfg, b)[e]);
    }
}

static bool is_guarded(const hd_waits *w, uint32_t instruction)
{
    return w->facts->function->instructions.items[instruction].guard != HD_NONE;
}

static bool meets(const hd_waits *w, uint32_t instruction)
{
    const hd_function *f = w->facts->function;
    return hd_insn_form(f, &f->instructions.items[instruction])->behaviour & HD_BEHAVE_MEET;
}

void hd_waits_find(hd_waits *w, hd_facts *facts)
{
    const hd_function *f = facts->function;
    hd_u32_array stack = {0};
    *w = (hd_waits){.facts = facts, .two_sided = HD_ARENA_ARRAY(&facts->arena, bool, facts->cfg->block_count + 1)};
    side_array sides = list_sides(facts);
    for (uint32_t i = 0; i < sides.count; i++)
        flood(w, &sides.items[i], &stack);
    hd_array_free(&sides);
    hd_array_free(&stack);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if ((is_guarded(w, i) || w->two_sided[facts->cfg->block_of[i]]) &&
            hd_insn_form(f, &f->instructions.items[i])->behaviour & (HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD))
            hd_array_push(&w->at, i);
        else if (w->two_sided[facts->cfg->block_of[i]] && meets(w, i))
            hd_array_push(&w->at, i);
    if (!w->at.count)
        return;
    hd_kept_init(&w->kept, facts);
    w->kept.only = w->two_sided;
    w->needed = HD_ARENA_ARRAY(&facts->arena, uint8_t, facts->words.count);
}

void hd_waits_free(hd_waits *w)
{
    hd_array_free(&w->at);
    hd_kept_free(&w->kept);
}

/* Whether the word is needed after the instruction, or at it if it reads its operands only when all lanes have
 * arrived. */
static bool needed_at(const hd_waits *w, uint32_t word, uint32_t instruction)
{
    const hd_lives *words = &w->facts->words;
    uint32_t a = hd_lives_access_from(words, word, instruction);
    bool reads = a < words->access_first[word + 1] && words->accesses[a].ordinal == instruction &&
                 words->accesses[a].kinds & HD_ACCESS_READ;
    return (reads && meets(w, instruction)) || hd_lives_live_after(words, word, instruction);
}

/* The blocks in which the word is needed. */
static uint8_t find_needed(hd_waits *w, uint32_t word)
{
    uint8_t where = ASKED;
    hd_kept_find(&w->kept, word);
    for (uint32_t i = 0; i < w->at.count; i++) {
        uint32_t at = w->at.items[i];
        if (needed_at(w, word, at))
            where |= is_guarded(w, at) && !meets(w, at) ? EVERYWHERE : IN_SIDES;
        if (hd_kept_in(&w->kept, word, w->facts->cfg->block_of[at]))
            where |= IN_SIDES;
    }
    return where;
}

bool hd_waits_need(hd_waits *w, uint32_t word, uint32_t block)
{
    if (!w->at.count)
        return false;
    if (!w->needed[word])
        w->needed[word] = find_needed(w, word);
    return w->needed[word] & EVERYWHERE || (w->needed[word] & IN_SIDES && w->two_sided[block]);
}

bool hd_waits_meet(const hd_waits *w, uint32_t instruction)
{
    return w->two_sided[w->facts->cfg->block_of[instruction]] && meets(w, instruction);
}
