/* Registers in flight: see flights.h. */
#include "passes/check/flights.h"
#include "base/search.h"

#include "ir/asynchronous.h"

/* state of a flight: OPEN while its group is open, else 1 + the number of commits after the one that closed it */
enum { OPEN, MOST_COMMITS = 64 };

typedef HD_ARRAY(hd_flight) flight_list;

struct hd_flight_search {
    hd_function *function;
    const hd_cfg *cfg;
    uint32_t *next;        /* by ordinal: the next commit or wait at or after it in its block; else the block's end */
    uint32_t *seen, *best; /* by block: the last search that visited it, + 1, and its smallest state */
    hd_u32_array due;      /* blocks */
    uint32_t start;        /* the asynchronous instruction */
    uint8_t queue;
    flight_list spans; /* of this instruction; without items */
    bool leaves;
};
typedef hd_flight_search search;

static hd_async async_at(const search *s, uint32_t ordinal)
{
    return hd_insn_async(s->function, &s->function->instructions.items[ordinal]);
}

static void find_next(search *s, hd_arena *arena)
{
    s->next = HD_ARENA_ARRAY(arena, uint32_t, (size_t)s->function->instructions.count + 1);
    for (uint32_t b = 0; b < s->cfg->block_count; b++) {
        uint32_t next = s->cfg->blocks[b].end;
        for (uint32_t i = s->cfg->blocks[b].end; i-- > s->cfg->blocks[b].first;) {
            uint8_t part = async_at(s, i).part;
            next = part == HD_ASYNC_COMMIT || part == HD_ASYNC_WAIT ? i : next;
            s->next[i] = next;
        }
    }
}

static void come_to(search *s, uint32_t block, uint32_t state)
{
    if (s->seen[block] == s->start + 1 && s->best[block] <= state)
        return;
    s->seen[block] = s->start + 1;
    s->best[block] = state;
    hd_array_push(&s->due, block);
}

static bool returns(const search *s, uint32_t block)
{
    const hd_instruction *last = &s->function->instructions.items[s->cfg->blocks[block].end - 1];
    return !s->function->is_entry && !(hd_insn_form(s->function, last)->behaviour & (HD_BEHAVE_EXIT | HD_BEHAVE_TRAP));
}

static void leave(search *s, uint32_t block, uint32_t state)
{
    for (uint32_t e = 0; e < s->cfg->blocks[block].succ_count; e++) {
        uint32_t to = hd_block_successors(s->cfg, block)[e];
        if (to != s->cfg->block_count)
            come_to(s, to, state);
        else
            s->leaves = s->leaves || returns(s, block);
    }
}

/* Follows a block from an instruction on. */
static void fly(search *s, uint32_t block, uint32_t from, uint32_t state)
{
    uint32_t end = s->cfg->blocks[block].end, at = from;
    bool again = s->start >= from && s->start < end; /* a new flight starts there */
    uint32_t stop = again ? s->start : end;
    while (at < stop && s->next[at] < stop) {
        at = s->next[at];
        hd_async what = async_at(s, at);
        if (what.queue == s->queue && what.part == HD_ASYNC_COMMIT)
            state += state < MOST_COMMITS;
        else if (what.queue == s->queue &&
                 (s->queue != HD_ASYNC_GROUP || (state != OPEN && state - 1 >= what.pending))) {
            hd_array_push(&s->spans, (hd_flight){HD_NONE, from, at});
            return;
        }
        at++;
    }
    if (again || from < end)
        hd_array_push(&s->spans, (hd_flight){HD_NONE, from, again ? s->start : end - 1});
    if (!again)
        leave(s, block, state);
}

static void follow(search *s, uint32_t start)
{
    s->start = start;
    s->queue = async_at(s, start).queue;
    hd_array_clear(&s->spans);
    fly(s, s->cfg->block_of[start], start + 1, OPEN);
    while (s->due.count) {
        uint32_t block = hd_array_pop(&s->due);
        fly(s, block, s->cfg->blocks[block].first, s->best[block]);
    }
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

static int compare_flights(const void *left, const void *right)
{
    const hd_flight *a = left, *b = right;
    if (a->item != b->item)
        return a->item < b->item ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static void add_item(const search *s, uint32_t item, hd_flights *result, flight_list *all)
{
    hd_bitset_add(&result->named, item);
    for (uint32_t i = 0; i < s->spans.count; i++)
        hd_array_push(all, (hd_flight){item, s->spans.items[i].first, s->spans.items[i].last});
}

static void add_data(const search *s, const hd_storage *storage, hd_flights *result, flight_list *all)
{
    HD_ASYNC_DATA (s->function, &s->function->instructions.items[s->start], o)
        if (!storage)
            add_item(s, o->value, result, all);
        else
            HD_STORAGE_WORDS (storage, o->value, word)
                add_item(s, word, result, all);
}

static void list_items(flight_list *all, uint32_t items, hd_flights *result, hd_arena *arena)
{
    uint32_t kept = 0;
    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, compare_flights);
    for (uint32_t i = 0; i < all->count; i++) {
        hd_flight *last = kept ? &all->items[kept - 1] : NULL, f = all->items[i];
        if (last && last->item == f.item && f.first <= last->last)
            last->last = hd_max(last->last, f.last);
        else
            all->items[kept++] = f;
    }
    result->items = kept ? hd_arena_copy(arena, all->items, kept * sizeof *all->items) : NULL;
    result->first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)items + 1);
    for (uint32_t i = 0; i < kept; i++)
        result->first[all->items[i].item + 1]++;
    for (uint32_t i = 0; i < items; i++)
        result->first[i + 1] += result->first[i];
}

hd_flight_search *hd_flight_search_new(hd_function *f, hd_arena *arena)
{
    search *s = HD_ARENA_NEW(arena, search);
    s->function = f;
    s->cfg = hd_function_cfg(f);
    s->seen = HD_ARENA_ARRAY(arena, uint32_t, s->cfg->block_count);
    s->best = HD_ARENA_ARRAY(arena, uint32_t, s->cfg->block_count);
    find_next(s, arena);
    return s;
}

const hd_flight *hd_flight_search_from(hd_flight_search *s, uint32_t ordinal, uint32_t *count)
{
    follow(s, ordinal);
    *count = s->spans.count;
    return s->spans.items;
}

void hd_flight_search_free(hd_flight_search *s)
{
    hd_array_free(&s->due);
    hd_array_free(&s->spans);
}

hd_flights hd_flights_of(hd_function *f, const hd_storage *storage, uint32_t items, hd_arena *arena)
{
    hd_flights result = {0};
    if (!hd_function_has_async(f))
        return result;
    hd_arena scratch = {0};
    flight_list all = {0};
    search *s = hd_flight_search_new(f, &scratch);
    result.named = hd_bitset_new(arena, items + 1);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        if (async_at(s, i).part != HD_ASYNC_BEGIN)
            continue;
        follow(s, i);
        add_data(s, storage, &result, &all);
    }
    list_items(&all, items, &result, arena);
    result.leave = s->leaves;
    hd_flight_search_free(s);
    hd_array_free(&all);
    hd_arena_free(&scratch);
    return result;
}

bool hd_flights_has(const hd_flights *flights, uint32_t item, uint32_t ordinal)
{
    if (!flights->first)
        return false;
    uint32_t low = flights->first[item], high = flights->first[item + 1];
    /* the first that begins after it */
    HD_SEARCH(low, high, at, flights->items[at].first <= ordinal);
    return low > flights->first[item] && flights->items[low - 1].last >= ordinal;
}
