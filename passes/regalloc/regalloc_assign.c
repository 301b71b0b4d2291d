/* Assigns registers to units, in the order of the starts of their live ranges.
 *
 * For each physical register, a sorted list of the occupied parts of the order. A unit is assigned registers where none
 * of its words intersects an occupied part: preferably below the maximum pressure, next to occupied registers (so that
 * pairs and quads find aligned room), where copies become identities, and with `banks` in other banks than the
 * registers that are read together with it. Units with a limit are assigned first, and keep their registers. In
 * dominance order this needs no more registers than the pressure, for registers of one width with one definition;
 * alignment, several definitions and holes cost little more.
 *
 * Complexity: O(units * registers * log(parts)) in the worst case; nearly always one of the first few candidates
 * fits. */
#include "passes/regalloc/regalloc_work.h"
#include "base/search.h"

typedef struct taken {
    uint32_t begin, end, unit;
} taken;
typedef HD_ARRAY(taken) taken_list;

enum { NUMBERS = HD_GENERAL_REGISTERS + HD_PREDICATE_REGISTERS, NO_ROOM = 0x7fffffff };

typedef struct assigner {
    hd_regalloc *ra;
    taken_list used[NUMBERS];  /* predicates after the general registers */
    taken_list fixed[NUMBERS]; /* those of units with a limit, when the other units are assigned */
    uint32_t high;             /* registers up to here are used already and cost nothing */
    uint32_t *hint_first;      /* by register, plus one: its copies in hints */
    hd_copy *hints;
} assigner;

/* ---- occupied parts ---------------------------------------------------------------------------------------------- */

/* The first occupied part that ends after `position`: nearly always one of the last. */
static uint32_t taken_from(const taken_list *list, uint32_t position)
{
    uint32_t low = 0, high = list->count;
    for (uint32_t step = 1; high; step *= 2) {
        uint32_t at = list->count > step ? list->count - step : 0;
        if (list->items[at].end <= position) {
            low = at + 1;
            break;
        }
        high = at;
    }
    HD_SEARCH(low, high, at, list->items[at].end <= position);
    return low;
}

static bool list_has(const taken_list *list, uint32_t position)
{
    uint32_t at = taken_from(list, position);
    return at < list->count && list->items[at].begin <= position;
}

static bool is_taken(const assigner *a, uint32_t number, uint32_t position)
{
    return list_has(&a->used[number], position) || list_has(&a->fixed[number], position);
}

static bool is_free(const assigner *a, const taken_list *list, uint32_t part)
{
    const hd_ra_part *parts = a->ra->ranges.parts.items;
    for (; list->count && part != HD_NONE; part = parts[part].next) {
        uint32_t at = taken_from(list, parts[part].begin);
        if (at < list->count && list->items[at].begin < parts[part].end)
            return false;
    }
    return true;
}

static void mark_taken(assigner *a, taken_list *list, uint32_t part, uint32_t unit)
{
    const hd_ra_part *parts = a->ra->ranges.parts.items;
    for (; part != HD_NONE; part = parts[part].next) {
        uint32_t at = taken_from(list, parts[part].begin);
        (void)hd_array_extend(list, 1);
        memmove(list->items + at + 1, list->items + at, (list->count - at - 1u) * sizeof(taken));
        list->items[at] = (taken){parts[part].begin, parts[part].end, unit};
    }
}

static void release(assigner *a, taken_list *list, uint32_t part)
{
    const hd_ra_part *parts = a->ra->ranges.parts.items;
    for (; part != HD_NONE; part = parts[part].next) {
        uint32_t at = taken_from(list, parts[part].begin);
        memmove(list->items + at, list->items + at + 1, (list->count - at - 1u) * sizeof(taken));
        list->count--;
    }
}

static uint32_t lists_from(const hd_ra_unit *u) { return u->predicate ? HD_GENERAL_REGISTERS : 0; }
static taken_list *lists_of(assigner *a, const hd_ra_unit *u) { return a->used + lists_from(u); }

static void take_number(assigner *a, uint32_t unit, uint32_t number)
{
    hd_ra_unit *u = &a->ra->units.units[unit];
    u->number = number;
    for (uint32_t w = 0; w < u->words; w++)
        mark_taken(a, &lists_of(a, u)[number + w], u->word[w], unit);
}

static void release_number(assigner *a, uint32_t unit)
{
    hd_ra_unit *u = &a->ra->units.units[unit];
    for (uint32_t w = 0; w < u->words; w++)
        release(a, &lists_of(a, u)[u->number + w], u->word[w]);
    u->number = HD_NONE;
}

/* ---- preferences ------------------------------------------------------------------------------------------------- */

static void gather_hints(assigner *a)
{
    const hd_function *f = a->ra->function;
    HD_ARRAY(hd_copy) all = {0};
    uint32_t registers = f->registers.count;
    a->hint_first = HD_ARENA_ARRAY(a->ra->arena, uint32_t, registers + 2u);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        hd_copy copies[HD_COPIES_MOST];
        uint32_t count = hd_insn_copies(f, &f->instructions.items[i], copies, NULL);
        for (uint32_t c = 0; c < count; c++)
            if (a->ra->units.of[copies[c].to] != a->ra->units.of[copies[c].from]) {
                hd_array_push(&all, copies[c]);
                a->hint_first[copies[c].to + 2]++;
                a->hint_first[copies[c].from + 2]++;
            }
    }
    for (uint32_t r = 0; r < registers; r++)
        a->hint_first[r + 2] += a->hint_first[r + 1];
    a->hints = HD_ARENA_ARRAY(a->ra->arena, hd_copy, 2 * (size_t)all.count + 1);
    for (uint32_t i = 0; i < all.count; i++) {
        hd_copy c = all.items[i];
        a->hints[a->hint_first[c.to + 1]++] = c;
        a->hints[a->hint_first[c.from + 1]++] = (hd_copy){c.from, c.to, c.from_word, c.to_word};
    }
    hd_array_free(&all);
}

/* The number of copies of the unit that become identities with this register. */
static int count_hints(const assigner *a, const hd_ra_unit *u, uint32_t number)
{
    const hd_ra_units *units = &a->ra->units;
    int count = 0;
    for (uint32_t r = u->members; r != HD_NONE; r = units->next_member[r])
        for (uint32_t h = a->hint_first[r]; h < a->hint_first[r + 1]; h++) {
            const hd_copy *c = &a->hints[h];
            uint32_t other = units->units[units->of[c->from]].number;
            count += other != HD_NONE &&
                     number + units->offset[r] + c->to_word == other + units->offset[c->from] + c->from_word;
        }
    return count;
}

/* The number of other sources, of instructions that read the unit, in the same bank. */
static int count_conflicts(const assigner *a, const hd_ra_unit *u, uint32_t number)
{
    const hd_regalloc *ra = a->ra;
    const hd_ra_units *units = &ra->units;
    const hd_function *f = ra->function;
    uint32_t of = units->of[u->members];
    int count = 0, looked_at = 0;
    for (uint32_t r = u->members; r != HD_NONE; r = units->next_member[r])
        for (uint32_t k = ra->use_first[r]; k < ra->use_first[r + 1] && looked_at < 256; k++, looked_at++)
            HD_INSN_REGISTERS (f, &f->instructions.items[ra->uses[k]], o) {
                uint32_t other = units->units[units->of[o->value]].number;
                bool general = !hd_regalloc_is_predicate(ra, o->value) && o->value != f->carry_register;
                count += o->flags & HD_OPERAND_USE && units->of[o->value] != of && general && other != HD_NONE &&
                         (other + units->offset[o->value]) % ra->banks == (number + units->offset[r]) % ra->banks;
            }
    return count;
}

/* The number of aligned pairs or quads, free where the unit begins, that it would break up: this costs later pairs and
 * quads. */
static int count_broken(const assigner *a, const hd_ra_unit *u, uint32_t number)
{
    int broken = 0;
    for (uint32_t size = 2; size <= HD_UNIT_WORDS; size *= 2) {
        uint32_t from = number / size * size;
        bool whole = u->words < size && from + size <= HD_GENERAL_REGISTERS;
        for (uint32_t p = from; whole && p < from + size; p++)
            whole = (p >= number && p < number + u->words) || !is_taken(a, p, u->begin);
        broken += whole ? (int)size : 0;
    }
    return broken;
}

static int cost_of(const assigner *a, const hd_ra_unit *u, uint32_t number)
{
    int cost = -64 * count_hints(a, u, number);
    if (u->predicate)
        return cost;
    if (number + u->words > a->high)
        cost += 1000 * (int)(number + u->words - a->high);
    if (a->ra->banks)
        cost += 16 * count_conflicts(a, u, number);
    return cost + count_broken(a, u, number);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

static bool lists_are_free(const assigner *a, const taken_list *lists, const hd_ra_unit *u)
{
    for (uint32_t w = 0; w < u->words; w++)
        if (!is_free(a, &lists[w], u->word[w]))
            return false;
    return true;
}

static bool fits_at(const assigner *a, const hd_ra_unit *u, uint32_t number)
{
    uint32_t from = lists_from(u) + number;
    return lists_are_free(a, a->fixed + from, u) && lists_are_free(a, a->used + from, u);
}

/* A lower bound of the cost of any register for the unit. */
static int least_cost(const assigner *a, const hd_ra_unit *u)
{
    uint32_t hints = 0;
    for (uint32_t r = u->members; r != HD_NONE; r = a->ra->units.next_member[r])
        hints += a->hint_first[r + 1] - a->hint_first[r];
    return -64 * (int)hints;
}

static uint32_t find_number(assigner *a, const hd_ra_unit *u, uint32_t limit)
{
    uint32_t best = HD_NONE;
    int best_cost = NO_ROOM, least = least_cost(a, u);
    if (u->limit && u->limit < limit)
        limit = u->limit;
    for (uint32_t number = 0; number + u->words <= limit && best_cost > least; number += u->align) {
        if (!u->predicate && best != HD_NONE && number + u->words > a->high && best + u->words <= a->high)
            break;
        if (!fits_at(a, u, number))
            continue;
        int cost = cost_of(a, u, number);
        if (cost < best_cost) {
            best = number;
            best_cost = cost;
        }
    }
    return best;
}

/* ---- repair ------------------------------------------------------------------------------------------------------ */

enum { MOST_MOVED = 4 };

/* The units that occupy a register wanted by another; more than MOST_MOVED if there are more. */
static uint32_t find_rivals(assigner *a, const hd_ra_unit *u, uint32_t number, uint32_t *rivals)
{
    const hd_ra_part *parts = a->ra->ranges.parts.items;
    uint32_t count = 0;
    if (!lists_are_free(a, a->fixed + lists_from(u) + number, u))
        return MOST_MOVED + 1;
    for (uint32_t w = 0; w < u->words; w++) {
        const taken_list *list = &lists_of(a, u)[number + w];
        for (uint32_t p = u->word[w]; p != HD_NONE; p = parts[p].next)
            for (uint32_t t = taken_from(list, parts[p].begin); t < list->count && list->items[t].begin < parts[p].end;
                 t++) {
                uint32_t k = 0;
                while (k < count && rivals[k] != list->items[t].unit)
                    k++;
                if (k < count)
                    continue;
                if (count == MOST_MOVED)
                    return MOST_MOVED + 1;
                rivals[count++] = list->items[t].unit;
            }
    }
    return count;
}

/* Whether a word's parts intersect no occupied part, except those of the rivals, nor the parts of another word. */
static bool fits_next_to(const assigner *a, const taken_list *list, uint32_t part, const uint32_t *rivals,
                         uint32_t count, uint32_t other)
{
    const hd_ra_part *parts = a->ra->ranges.parts.items;
    for (; part != HD_NONE; part = parts[part].next) {
        for (uint32_t t = taken_from(list, parts[part].begin);
             t < list->count && list->items[t].begin < parts[part].end; t++) {
            uint32_t k = 0;
            while (k < count && rivals[k] != list->items[t].unit)
                k++;
            if (k == count)
                return false;
        }
        while (other != HD_NONE && parts[other].end <= parts[part].begin)
            other = parts[other].next;
        if (other != HD_NONE && parts[other].begin < parts[part].end)
            return false;
    }
    return true;
}

/* Whether a rival might fit elsewhere when the unit is at its register: cheaper than trying, and nearly always
 * false. */
static bool might_move(assigner *a, const hd_ra_unit *unit, uint32_t number, const uint32_t *rivals, uint32_t count,
                       uint32_t rival, uint32_t limit)
{
    const hd_ra_unit *r = &a->ra->units.units[rival];
    const taken_list *lists = lists_of(a, r);
    for (uint32_t to = 0; to + r->words <= limit; to += r->align) {
        bool fits = true;
        for (uint32_t w = 0; w < r->words && fits; w++) {
            bool shared = to + w >= number && to + w < number + unit->words;
            fits = fits_next_to(a, &lists[to + w], r->word[w], rivals, count,
                                shared ? unit->word[to + w - number] : HD_NONE);
        }
        if (fits)
            return true;
    }
    return false;
}

/* Assigns a register to a unit and moves its rivals elsewhere; false, with nothing changed, if one does not fit. */
static bool displace(assigner *a, uint32_t unit, uint32_t number, uint32_t limit)
{
    hd_ra_unit *units = a->ra->units.units;
    uint32_t rivals[MOST_MOVED], old[MOST_MOVED], moved = 0;
    uint32_t count = find_rivals(a, &units[unit], number, rivals);
    if (count > MOST_MOVED)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!might_move(a, &units[unit], number, rivals, count, rivals[i], limit))
            return false;
    for (uint32_t i = 0; i < count; i++) {
        old[i] = units[rivals[i]].number;
        release_number(a, rivals[i]);
    }
    take_number(a, unit, number);
    for (; moved < count; moved++) {
        uint32_t found = find_number(a, &units[rivals[moved]], limit);
        if (found == HD_NONE)
            break;
        take_number(a, rivals[moved], found);
    }
    if (moved == count)
        return true;
    while (moved-- > 0)
        release_number(a, rivals[moved]);
    release_number(a, unit);
    for (uint32_t i = 0; i < count; i++)
        take_number(a, rivals[i], old[i]);
    return false;
}

static bool repair(assigner *a, uint32_t unit, uint32_t limit)
{
    const hd_ra_unit *u = &a->ra->units.units[unit];
    for (uint32_t number = 0; number + u->words <= limit; number += u->align)
        if (displace(a, unit, number, limit))
            return true;
    return false;
}

static void assign_unit(assigner *a, uint32_t unit)
{
    hd_regalloc *ra = a->ra;
    hd_ra_unit *u = &ra->units.units[unit];
    uint32_t most = u->predicate ? ra->max_predicates : u->limit ? u->limit : ra->max_registers;
    uint32_t number = find_number(a, u, most), limit = u->predicate || most < a->high ? most : a->high;
    bool costs = number == HD_NONE || number + u->words > limit;
    if (!costs || (!repair(a, unit, limit) && number != HD_NONE))
        take_number(a, unit, number);
    else if (u->number == HD_NONE)
        hd_array_push(&ra->failed, u->members);
    if (!u->predicate && u->number != HD_NONE && u->number + u->words > a->high)
        a->high = u->number + u->words;
}

static void fix_taken(assigner *a)
{
    memcpy(a->fixed, a->used, sizeof a->fixed);
    memset(a->used, 0, sizeof a->used);
}

static void find_used(hd_regalloc *ra)
{
    ra->used = ra->used_predicates = 0;
    for (uint32_t i = 0; i < ra->function->registers.count; i++) {
        const hd_ra_unit *u = &ra->units.units[i];
        uint32_t *used = u->predicate ? &ra->used_predicates : &ra->used;
        if (u->words && u->number != HD_NONE && u->number + u->words > *used)
            *used = u->number + u->words;
    }
}

typedef struct entry {
    uint32_t begin, unit;
    uint8_t words;
    bool limited;
} entry;

static int compare_entries(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->limited != b->limited)
        return a->limited ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->words != b->words)
        return a->words > b->words ? -1 : 1;
    return (a->unit > b->unit) - (a->unit < b->unit);
}

/* Finds, at each call, the registers occupied before and after it. A result of a guarded call counts, too: threads
 * that do not call keep what its register held, which may be an earlier value of another register of PTX. */
static void find_held(assigner *a)
{
    hd_regalloc *ra = a->ra;
    const hd_function *f = ra->function;
    ra->ranges.held = 0;
    for (uint32_t b = 0; b < ra->cfg->block_count; b++)
        for (uint32_t i = ra->cfg->blocks[b].first; i < ra->cfg->blocks[b].end; i++) {
            const hd_instruction *insn = &f->instructions.items[i];
            if (!(hd_insn_form(f, insn)->behaviour & HD_BEHAVE_CALL))
                continue;
            uint32_t read = 2 * (ra->ranges.begin[b] + i - ra->cfg->blocks[b].first);
            for (uint32_t p = ra->used; p > ra->ranges.held; p--)
                if (is_taken(a, p - 1, read + 1) && (is_taken(a, p - 1, read) || insn->guard != HD_NONE)) {
                    ra->ranges.held = p;
                    break;
                }
        }
}

/* A unit that must have a register got none. */
static bool is_hopeless(const hd_regalloc *ra)
{
    return ra->may_fail && ra->failed.count && !ra->may_fail[ra->units.of[ra->failed.items[ra->failed.count - 1]]];
}

bool hd_regalloc_assign(hd_regalloc *ra)
{
    uint32_t registers = ra->function->registers.count, count = 0;
    assigner a = {.ra = ra};
    a.high = hd_min(ra->ranges.general_peak, ra->max_registers);
    hd_array_clear(&ra->failed);
    gather_hints(&a);
    entry *order = HD_ARENA_ARRAY(ra->arena, entry, registers + 1u);
    for (uint32_t i = 0; i < registers; i++) {
        const hd_ra_unit *u = &ra->units.units[i];
        if (u->words && !hd_regalloc_is_collected(ra, i))
            order[count++] = (entry){u->begin, i, u->words, u->limit != 0};
    }
    qsort(order, count, sizeof *order, compare_entries);
    for (uint32_t i = 0; i < count && !is_hopeless(ra); i++) {
        if (i && order[i - 1].limited && !order[i].limited)
            fix_taken(&a);
        assign_unit(&a, order[i].unit);
    }
    find_used(ra);
    if (!ra->failed.count)
        find_held(&a);
    for (uint32_t p = 0; p < NUMBERS; p++)
        hd_array_free(&a.used[p]), hd_array_free(&a.fixed[p]);
    return ra->failed.count == 0;
}
