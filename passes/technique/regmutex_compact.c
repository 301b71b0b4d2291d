/* Register slots for webs, such that the extended set is needed at few points. RegMutex (Khorasani et al., ISCA 2018),
 * section 4.3.1 of the dissertation ("Architected Register Index Compaction").
 *
 * An instruction is hot where more than |Bs| words are live (at thread level, as names require): the set must be held
 * there. Elsewhere it should be released: every word live there at warp level, or named, must be below |Bs|. Such units
 * are low, the others may be anywhere. Where more than |Bs| low words are live at one point (new values are defined
 * while old ones are live), one of these helps:
 *
 *   a split     a value defined in a hot region gets another register, without restriction, up to a later point of its
 *               block where a low slot is free; a move brings it there
 *   a demotion  a unit may be anywhere, and the set is held wherever it is live; not where the warp may wait. The
 *               cheapest of the live ones.
 *
 * Each round recomputes this; then units get slots (passes/regalloc/regalloc_assign.c), low ones first. A low unit
 * without a slot, for lack of aligned ones, is demoted too. Values live where the warp may wait must be low: where that
 * fails, no division with this |Bs| exists.
 *
 * Complexity: at most HD_ROUNDS rounds of O(instructions * live words). Not handled: a value that would have to change
 * between low and high in different blocks stays where it is needed. (So do values of a loop that is hot as a
 * whole.) */
#include "passes/technique/regmutex_work.h"

#include "ir/build.h"
#include "ir/operand_loads.h"
#include "passes/rewrite.h"
#include "passes/analysis/analyses.h"

enum { HD_ROUNDS = 24 };

typedef struct low_part { /* of all words of a low unit that are live together */
    uint32_t begin, end, unit;
    bool split;
} low_part;

typedef struct split {
    uint32_t reg, definition, until; /* renamed from `definition` up to, not including, `until` */
    bool move;                       /* at `until` */
} split;

typedef struct compactor {
    hd_compaction *wanted;
    hd_pass_context inner; /* its analyses are those of this round */
    hd_function *f;
    hd_arena arena; /* of the round */
    hd_regalloc ra;
    bool *waits, *hot;              /* by instruction */
    HD_ARRAY(bool) apart, anywhere; /* by register: made by a split; demoted */
    bool *low, *fixed;              /* by unit; fixed: live where the warp may wait */
    bool *free_unit;                /* by unit: a member is demoted */
    bool *split_unit;               /* by unit: there is a split of it in this round */
    uint32_t *cost;                 /* by unit: cold instructions where it is live */
    uint32_t *demand;               /* by position: low words live */
    uint32_t *instruction;          /* by linear index: ordinal */
    HD_ARRAY(low_part) parts;
    HD_ARRAY(low_part) active;
    HD_ARRAY(split) splits;
    uint32_t demoted; /* in this round */
} compactor;

static uint32_t position_of(const compactor *c, uint32_t ordinal)
{
    uint32_t b = c->ra.cfg->block_of[ordinal];
    return 2 * (c->ra.ranges.begin[b] + ordinal - c->ra.cfg->blocks[b].first);
}

/* ---- what must be low -------------------------------------------------------------------------------------------- */

/* A value that a split keeps high: its readers, the move into the base set included, need the set. */
static bool names_apart(const compactor *c, const hd_instruction *insn)
{
    HD_INSN_REGISTERS (c->f, insn, o)
        if (c->apart.items[o->value])
            return true;
    return false;
}

static void find_hot(compactor *c)
{
    uint32_t count = c->f->instructions.count;
    const uint32_t *live = c->ra.ranges.general;
    c->hot = HD_ARENA_ARRAY(&c->arena, bool, count + 1u);
    c->instruction = HD_ARENA_ARRAY(&c->arena, uint32_t, count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = position_of(c, i);
        c->instruction[at / 2] = i;
        c->hot[i] = live[at] > c->wanted->base || live[at + 1] > c->wanted->base ||
                    names_apart(c, &c->f->instructions.items[i]);
    }
}

static void need(compactor *c, uint32_t ordinal, uint32_t unit)
{
    c->low[unit] = true;
    c->cost[unit]++;
    c->fixed[unit] = c->fixed[unit] || c->waits[ordinal];
}

static void look_at_instruction(compactor *c, const hd_live_walk *walk, const uint32_t *reg_of, uint32_t ordinal)
{
    const hd_instruction *insn = &c->f->instructions.items[ordinal];
    const uint32_t *unit_of = c->ra.units.of;
    bool cold = !c->hot[ordinal] || c->waits[ordinal];
    for (uint32_t m = 0; cold && !c->waits[ordinal] && m < walk->count; m++)
        cold = !c->free_unit[unit_of[reg_of[walk->members[m]]]];
    if (!cold)
        return;
    for (uint32_t m = 0; m < walk->count; m++)
        need(c, ordinal, unit_of[reg_of[walk->members[m]]]);
    HD_INSN_REGISTERS (c->f, insn, o)
        if (hd_regalloc_words(&c->ra, o->value))
            need(c, ordinal, unit_of[o->value]);
}

static void find_low(compactor *c)
{
    const hd_cfg *cfg = c->ra.cfg;
    uint32_t registers = c->f->registers.count;
    const hd_warp_words *words = hd_warp_words_build(&c->inner, &c->arena);
    uint32_t *reg_of = HD_ARENA_ARRAY(&c->arena, uint32_t, words->storage.words + 1u);
    hd_live_walk walk;
    c->low = HD_ARENA_ARRAY(&c->arena, bool, registers + 1u);
    c->fixed = HD_ARENA_ARRAY(&c->arena, bool, registers + 1u);
    c->free_unit = HD_ARENA_ARRAY(&c->arena, bool, registers + 1u);
    c->split_unit = HD_ARENA_ARRAY(&c->arena, bool, registers + 1u);
    c->cost = HD_ARENA_ARRAY(&c->arena, uint32_t, registers + 1u);
    for (uint32_t r = 0; r < registers; r++) {
        HD_STORAGE_WORDS (&words->storage, r, word)
            reg_of[word] = r;
        if (r < c->anywhere.count && c->anywhere.items[r])
            c->free_unit[c->ra.units.of[r]] = true;
    }
    hd_warp_words_walk(&walk, &c->arena, words);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        hd_live_start(&walk, b);
        for (uint32_t i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;) {
            hd_live_step(&walk);
            look_at_instruction(c, &walk, reg_of, i);
        }
    }
}

/* ---- too many of them -------------------------------------------------------------------------------------------- */

static int compare_parts(const void *left, const void *right)
{
    const low_part *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->unit > b->unit) - (a->unit < b->unit);
}

static void list_low_parts(compactor *c)
{
    const hd_ra_part *parts = c->ra.ranges.parts.items;
    hd_array_clear(&c->parts);
    c->demand = HD_ARENA_ARRAY(&c->arena, uint32_t, c->ra.ranges.positions + 2u);
    for (uint32_t u = 0; u < c->f->registers.count; u++) {
        const hd_ra_unit *unit = &c->ra.units.units[u];
        for (uint32_t w = 0; c->low[u] && !unit->predicate && w < unit->words; w++)
            for (uint32_t p = unit->word[w]; p != HD_NONE; p = parts[p].next) {
                hd_array_push(&c->parts, ((low_part){parts[p].begin, parts[p].end, u, false}));
                c->demand[parts[p].begin]++;
                c->demand[parts[p].end]--;
            }
    }
    for (uint32_t p = 0, sum = 0; p < c->ra.ranges.positions; p++)
        c->demand[p] = sum += c->demand[p];
    if (c->parts.count)
        qsort(c->parts.items, c->parts.count, sizeof *c->parts.items, compare_parts);
}

static void take_from_demand(compactor *c, uint32_t begin, uint32_t end, uint32_t words)
{
    for (uint32_t p = begin; p < end; p++)
        c->demand[p] -= words;
}

/* The part of a register that begins exactly there; NULL: none. */
static const hd_ra_part *part_at(const compactor *c, uint32_t reg, uint32_t begin)
{
    const hd_ra_part *parts = c->ra.ranges.parts.items;
    for (uint32_t p = c->ra.ranges.first[reg]; p != HD_NONE && parts[p].begin <= begin; p = parts[p].next)
        if (parts[p].begin == begin)
            return &parts[p];
    return NULL;
}

/* The register whose killing definition alone makes the unit live from `begin` on; HD_NONE. */
static uint32_t defined_there(const compactor *c, const low_part *part, uint32_t ordinal)
{
    const hd_instruction *insn = &c->f->instructions.items[ordinal];
    uint32_t found = HD_NONE;
    if (hd_regalloc_vector_of(c->f, insn) != HD_NONE || hd_insn_form(c->f, insn)->behaviour & HD_BEHAVE_CALL)
        return HD_NONE;
    HD_INSN_REGISTERS (c->f, insn, o) {
        if (c->ra.units.of[o->value] != part->unit)
            continue;
        if (found != HD_NONE || !(o->flags & HD_OPERAND_DEF) || o->flags & HD_OPERAND_USE ||
            insn->flags & HD_INSN_OPAQUE || !hd_definition_kills(c->f, insn, o))
            return HD_NONE;
        found = o->value;
    }
    return found;
}

/* Where the value can move to a low slot: the first instruction after `at`, in its block, with a free one; HD_NONE. Not
 * between a load and the instruction whose operand it delivers. */
static uint32_t first_fit_after(const compactor *c, uint32_t at)
{
    uint32_t ordinal = c->instruction[at / 2], end = c->ra.cfg->blocks[c->ra.cfg->block_of[ordinal]].end;
    for (uint32_t i = ordinal + 1; i < end; i++)
        if (c->demand[position_of(c, i)] <= c->wanted->base && !hd_insn_is_operand_load(c->f, i - 1))
            return i;
    return HD_NONE;
}

static const char *move_of(hd_type type);

/* Splits the value that begins with this part, if it is defined in the block of `at`. */
static bool try_split(compactor *c, const low_part *part, uint32_t at)
{
    uint32_t ordinal = c->instruction[part->begin / 2];
    if (part->split || part->begin % 2 == 0 ||
        c->ra.cfg->block_of[ordinal] != c->ra.cfg->block_of[c->instruction[at / 2]])
        return false;
    uint32_t reg = defined_there(c, part, ordinal), until = first_fit_after(c, at);
    if (reg == HD_NONE || c->apart.items[reg] || !move_of((hd_type)c->f->registers.items[reg].type))
        return false;
    const hd_ra_part *own = part_at(c, reg, part->begin);
    uint32_t last = c->ra.cfg->blocks[c->ra.cfg->block_of[ordinal]].end - 1;
    uint32_t end = until == HD_NONE ? position_of(c, last) + 1 : position_of(c, until);
    if (!own || (own->end > end && until == HD_NONE)) /* it leaves the block */
        return false;
    bool dies = own->end <= end; /* its last reader redefines it */
    hd_array_push(&c->splits, ((split){reg, ordinal, dies ? c->instruction[(own->end - 1) / 2] + 1 : until, !dies}));
    take_from_demand(c, own->begin, dies ? own->end : end, hd_register_words(c->f, reg));
    return true;
}

static void split_at(compactor *c, uint32_t active, uint32_t at)
{
    low_part *part = &c->active.items[active];
    if (c->free_unit[part->unit] || !try_split(c, part, at))
        return;
    c->split_unit[part->unit] = true;
    for (uint32_t i = 0; i < c->active.count; i++)
        if (c->active.items[i].unit == part->unit && c->active.items[i].begin == part->begin)
            c->active.items[i].split = true;
}

static bool can_demote(const compactor *c, uint32_t unit) { return !c->fixed[unit] && !c->free_unit[unit]; }

static bool demote(compactor *c, uint32_t unit)
{
    if (!can_demote(c, unit))
        return false;
    while (c->anywhere.count < c->f->registers.count)
        hd_array_push(&c->anywhere, false);
    for (uint32_t r = c->ra.units.units[unit].members; r != HD_NONE; r = c->ra.units.next_member[r])
        c->anywhere.items[r] = true;
    c->free_unit[unit] = true;
    c->demoted++;
    return true;
}

static bool demote_cheapest(compactor *c)
{
    const hd_ra_part *parts = c->ra.ranges.parts.items;
    uint32_t best = HD_NONE;
    for (uint32_t i = 0; i < c->active.count; i++) {
        uint32_t u = c->active.items[i].unit;
        if (!c->fixed[u] && !c->free_unit[u] && !c->split_unit[u] && (best == HD_NONE || c->cost[u] < c->cost[best]))
            best = u;
    }
    if (best == HD_NONE || !demote(c, best))
        return false;
    const hd_ra_unit *unit = &c->ra.units.units[best];
    for (uint32_t w = 0; w < unit->words; w++)
        for (uint32_t p = unit->word[w]; p != HD_NONE; p = parts[p].next)
            take_from_demand(c, parts[p].begin, parts[p].end, 1);
    return true;
}

static bool relieve(compactor *c, uint32_t at)
{
    for (uint32_t i = c->active.count; c->demand[at] > c->wanted->base && i-- > 0;)
        split_at(c, i, at);
    while (c->demand[at] > c->wanted->base)
        if (!demote_cheapest(c))
            return c->splits.count || c->demoted; /* the next round may find more */
    return true;
}

/* false: at some point too many words must be low. */
static bool relieve_all(compactor *c)
{
    hd_array_clear(&c->active);
    for (uint32_t i = 0; i < c->parts.count;) {
        uint32_t at = c->parts.items[i].begin, kept = 0;
        for (uint32_t k = 0; k < c->active.count; k++)
            if (c->active.items[k].end > at)
                c->active.items[kept++] = c->active.items[k];
        c->active.count = kept;
        for (; i < c->parts.count && c->parts.items[i].begin == at; i++)
            hd_array_push(&c->active, c->parts.items[i]);
        if (c->demand[at] > c->wanted->base && !relieve(c, at))
            return false;
    }
    return true;
}

/* ---- splits ------------------------------------------------------------------------------------------------------ */

static const char *move_of(hd_type type)
{
    switch (hd_types[type].bits) {
    case 16: return "mov.b16";
    case 32: return "mov.b32";
    case 64: return "mov.b64";
    case 128: return "mov.b128";
    default: return NULL;
    }
}

static void rename_between(hd_function *f, const split *s, uint32_t to)
{
    for (uint32_t i = s->definition; i < s->until; i++) {
        hd_instruction *insn = &f->instructions.items[i];
        for (uint32_t k = insn->operand_first; k < insn->operand_first + insn->operand_count; k++) {
            hd_operand *o = &f->operands.items[k];
            bool before = i == s->definition && !(o->flags & HD_OPERAND_DEF);
            if (o->kind != HD_OPERAND_REGISTER || o->value != s->reg || before)
                continue;
            o->extra = hd_operand_selector(f, o);
            o->value = to;
            insn->flags |= HD_INSN_DIRTY;
        }
    }
}

/* A new register for each split, of its type. */
static uint32_t *make_others(compactor *c)
{
    hd_function *f = c->f;
    uint32_t *others = HD_ARENA_ARRAY(&c->arena, uint32_t, c->splits.count + 1u),
             *types = HD_ARENA_ARRAY(&c->arena, uint32_t, HD_TYPE_COUNT);
    for (uint32_t s = 0; s < c->splits.count; s++)
        others[s] = types[f->registers.items[c->splits.items[s].reg].type]++;
    for (uint32_t t = 0; t < HD_TYPE_COUNT; t++)
        if (types[t])
            types[t] = hd_make_registers(f, hd_rewrite_stem(f, "webT", &c->arena), (hd_type)t, types[t]);
    for (uint32_t s = 0; s < c->splits.count; s++)
        others[s] += types[f->registers.items[c->splits.items[s].reg].type];
    while (c->apart.count < f->registers.count)
        hd_array_push(&c->apart, false);
    return others;
}

static void apply_splits(compactor *c)
{
    hd_function *f = c->f;
    uint32_t *others = make_others(c);
    hd_edit edit;
    hd_edit_begin(&edit, f);
    for (uint32_t s = 0; s < c->splits.count; s++) {
        const split *one = &c->splits.items[s];
        c->apart.items[others[s]] = true;
        rename_between(f, one, others[s]);
        if (!one->move)
            continue;
        hd_operand operands[2] = {hd_make_register_operand(one->reg), hd_make_register_operand(others[s])};
        const char *move = move_of((hd_type)f->registers.items[one->reg].type);
        hd_edit_before(&edit, one->until, hd_make_instruction(f, move, HD_NONE, false, operands, 2, NULL));
        c->wanted->moves++;
    }
    hd_edit_end(&edit);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

typedef enum outcome { DONE, AGAIN, FAILED } outcome;

static outcome assign(compactor *c)
{
    hd_regalloc *ra = &c->ra;
    bool *may_fail = HD_ARENA_ARRAY(&c->arena, bool, c->f->registers.count + 1u);
    for (uint32_t u = 0; u < c->f->registers.count; u++) {
        may_fail[u] = c->low[u] && can_demote(c, u);
        if (c->low[u] && !ra->units.units[u].predicate)
            ra->units.units[u].limit = (uint16_t)c->wanted->base;
    }
    ra->may_fail = may_fail;
    if (hd_regalloc_assign(ra))
        return DONE;
    for (uint32_t i = 0; i < ra->failed.count; i++) {
        uint32_t unit = ra->units.of[ra->failed.items[i]];
        if (!c->low[unit] || !demote(c, unit))
            return FAILED;
    }
    return AGAIN;
}

static outcome try_round(compactor *c)
{
    hd_u32_array conflicts = {0};
    c->ra.cfg = hd_function_cfg(c->f);
    c->ra.liveness = hd_analysis_get(&c->inner, HD_ANALYSIS_LIVENESS);
    c->waits = hd_regmutex_waits(c->f, &c->arena);
    while (c->apart.count < c->f->registers.count)
        hd_array_push(&c->apart, false);
    c->ra.apart = c->apart.items;
    hd_regalloc_ranges(&c->ra);
    hd_regalloc_units(&c->ra, &conflicts);
    bool conflicting = conflicts.count != 0;
    hd_array_free(&conflicts);
    if (conflicting || c->ra.ranges.general_peak > c->ra.max_registers)
        return FAILED;
    find_hot(c);
    find_low(c);
    list_low_parts(c);
    if (!relieve_all(c))
        return FAILED;
    if (c->splits.count)
        apply_splits(c);
    return c->splits.count || c->demoted ? AGAIN : assign(c);
}

static void start_round(compactor *c, const hd_pass_context *context)
{
    hd_arena_free(&c->arena);
    hd_pass_context_free(&c->inner);
    hd_pass_context_init(&c->inner, c->f, context->diagnostics);
    c->inner.liveness = context->liveness;
    hd_array_clear(&c->splits);
    c->demoted = 0;
}

static void free_compactor(compactor *c)
{
    hd_pass_context_free(&c->inner);
    hd_arena_free(&c->arena);
    hd_array_free(&c->ra.ranges.parts);
    hd_array_free(&c->ra.failed);
    hd_array_free(&c->apart);
    hd_array_free(&c->anywhere);
    hd_array_free(&c->parts);
    hd_array_free(&c->active);
    hd_array_free(&c->splits);
}

static bool finish(compactor *c, const hd_architected *before)
{
    if (!hd_regalloc_rename(&c->ra))
        return false;
    hd_architected numbers = {c->ra.used, c->ra.used_predicates, before->spill_bytes, c->ra.ranges.held};
    hd_architected_set(c->f, &numbers);
    return true;
}

bool hd_regmutex_compact(hd_pass_context *context, const hd_architected *before, hd_compaction *compaction)
{
    compactor c = {.wanted = compaction, .f = context->function};
    outcome o = AGAIN;
    hd_pass_context_init(&c.inner, c.f, context->diagnostics);
    c.ra = (hd_regalloc){.context = &c.inner,
                         .function = c.f,
                         .arena = &c.arena,
                         .max_registers = compaction->most,
                         .max_predicates = HD_PREDICATE_REGISTERS};
    compaction->moves = 0;
    for (uint32_t round = 0; o == AGAIN && round < HD_ROUNDS; round++) {
        start_round(&c, context);
        o = try_round(&c);
    }
    bool good = o == DONE && finish(&c, before);
    free_compactor(&c);
    return good;
}
