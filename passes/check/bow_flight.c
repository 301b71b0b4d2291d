/* Bypassed values and asynchronous instructions: see bow_flight.h. */
#include "passes/check/bow_flight.h"

#include "ir/asynchronous.h"

typedef struct spot {
    uint32_t ordinal, gap;
} spot;

typedef struct window_search {
    const hd_facts *facts;
    uint32_t iw, word;
    hd_arena arena;
    uint8_t *seen; /* by instruction: 1 + iw minus the smallest gap it was visited with */
    HD_ARRAY(spot) stack;
} window_search;

static void go(window_search *s, uint32_t ordinal, uint32_t gap)
{
    uint8_t left = (uint8_t)(1 + s->iw - gap);
    if (s->seen[ordinal] >= left)
        return;
    s->seen[ordinal] = left;
    hd_array_push(&s->stack, (spot){ordinal, gap});
}

static void go_on(window_search *s, uint32_t ordinal, uint32_t gap)
{
    const hd_cfg *cfg = s->facts->cfg;
    const hd_block *block = &cfg->blocks[cfg->block_of[ordinal]];
    if (gap >= s->iw)
        return;
    if (ordinal + 1 < block->end) {
        go(s, ordinal + 1, gap);
        return;
    }
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++)
        if (cfg->successors[e] != cfg->block_count)
            go(s, cfg->blocks[cfg->successors[e]].first, gap);
}

static bool takes(const window_search *s, uint32_t ordinal)
{
    const hd_function *f = s->facts->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    if (hd_insn_async(f, insn).part == HD_ASYNC_BEGIN)
        HD_ASYNC_DATA (f, insn, o)
            if (s->word >= s->facts->storage.first[o->value] && s->word < s->facts->storage.end[o->value])
                return true;
    return hd_flights_has(&s->facts->words.flights, s->word, ordinal);
}

/* An instruction that puts the word in flight while its entry may be in the window; HD_NONE: none. */
static uint32_t search(window_search *s, uint32_t definition)
{
    const hd_lives *words = &s->facts->words;
    go_on(s, definition, 1);
    while (s->stack.count) {
        spot at = hd_array_pop(&s->stack);
        if (hd_storage_skips(&s->facts->storage, at.ordinal)) {
            go_on(s, at.ordinal, at.gap);
            continue;
        }
        if (takes(s, at.ordinal))
            return at.ordinal;
        uint32_t a = hd_lives_access_from(words, s->word, at.ordinal);
        /* not in flight, so an instruction names it */
        bool accessed = a < words->access_first[s->word + 1] && words->accesses[a].ordinal == at.ordinal;
        if (!accessed || !(words->accesses[a].kinds & HD_ACCESS_KILL)) /* the killing definition has a tag of its own */
            go_on(s, at.ordinal, accessed ? 1 : at.gap + 1);
    }
    return HD_NONE;
}

const char *hd_check_bow_flight(const hd_facts *facts, uint32_t iw, uint32_t definition, uint32_t reg, uint32_t *at)
{
    window_search s = {.facts = facts, .iw = iw};
    const char *why = NULL;
    HD_STORAGE_WORDS (&facts->storage, reg, word) {
        if (why || !hd_flights_named(&facts->words.flights, word))
            continue;
        s.word = word;
        *at = definition;
        if (takes(&s, definition)) {
            why = "an asynchronous instruction writes it, to the register file";
            continue;
        }
        s.seen = HD_ARENA_ARRAY(&s.arena, uint8_t, facts->function->instructions.count);
        *at = search(&s, definition);
        if (*at != HD_NONE)
            why = "an asynchronous instruction reads or writes it in the register file meanwhile";
    }
    hd_array_free(&s.stack);
    hd_arena_free(&s.arena);
    return why;
}
