/* Trip counts of counted loops, and execution counts of blocks: see executions.h.
 *
 * A loop is counted if
 *   - its header is its only entry, by one edge; there is one back edge, and one exit edge, from a block E that every
 *     iteration passes;
 *   - E ends in a branch on a predicate of an integer comparison in E, of x with a number;
 *   - x is h + c in each iteration, where h is a register whose value at the header grows by the number s per iteration
 *   and is a number in the first.
 * The value of a register is traced backwards: to the preceding definition in its block, or the only one in the loop,
 * through moves and additions of numbers; before the loop, through blocks with one predecessor, or to the only
 * definition of all. Arithmetic is that of the register's width; a loop whose counter overflows its type is not
 * counted.
 *
 * If the comparison continues the loop n times, blocks that every iteration passes up to and including E are executed n
 * + 1 times, and blocks that E dominates n times.
 *
 * Complexity: linear; the backward tracing has a budget of STEPS per instruction for the function; when it is spent,
 * loops are not counted.
 */
#include "passes/analysis/executions.h"
#include "base/search.h"

#include "ir/graph.h"
#include "passes/analysis/liveness.h"

enum { STEPS = 32, CHAIN_MOST = 16, DEFINITIONS_MOST = 64 };

typedef struct turns {    /* trip count of a loop */
    uint32_t exits, exit; /* number of exit edges, where 2 = more than one; source block of the last one */
    uint32_t entries, entry, latches, latch;
    uint32_t first, end; /* range of the text that contains its instructions */
    bool counted;
    uint64_t more; /* number of times that E continues the loop */
} turns;

typedef struct counting {
    hd_function *function;
    const hd_cfg *cfg;
    const hd_storage *storage;
    uint32_t *enter, *leave; /* intervals of the loop tree */
    turns *loops;
    uint32_t *definition_first, *definitions; /* by word: instructions that write it, ascending */
    uint64_t budget;
} counting;

/* ---- loop edges -------------------------------------------------------------------------------------------------- */

static bool loop_has(const counting *c, uint32_t loop, uint32_t block)
{
    uint32_t inner = block == c->cfg->block_count ? HD_NONE : c->cfg->blocks[block].loop;
    return inner != HD_NONE && c->enter[loop] <= c->enter[inner] && c->enter[inner] <= c->leave[loop];
}

/* `open` skips loops that have two exits already. */
static void note_exits(counting *c, uint32_t *open, uint32_t from, uint32_t to)
{
    uint32_t l = c->cfg->blocks[from].loop;
    while (l != HD_NONE && !loop_has(c, l, to)) {
        uint32_t parent = c->cfg->loops[l].parent;
        if (c->loops[l].exits == 2) {
            uint32_t next = hd_union_find(open, l);
            l = next == l ? parent : next;
            continue;
        }
        c->loops[l].exit = from;
        if (++c->loops[l].exits == 2 && parent != HD_NONE)
            open[l] = parent;
        l = parent;
    }
}

static void note_edge(counting *c, uint32_t *open, uint32_t from, uint32_t to)
{
    note_exits(c, open, from, to);
    if (to == c->cfg->block_count || c->cfg->blocks[to].loop == HD_NONE ||
        c->cfg->loops[c->cfg->blocks[to].loop].header != to)
        return;
    turns *l = &c->loops[c->cfg->blocks[to].loop];
    if (loop_has(c, c->cfg->blocks[to].loop, from)) {
        l->latches++;
        l->latch = from;
    } else {
        l->entries++;
        l->entry = from;
    }
}

static void find_edges(counting *c, hd_arena *arena)
{
    const hd_cfg *cfg = c->cfg;
    uint32_t n = cfg->loop_count, *parents = HD_ARENA_ARRAY(arena, uint32_t, n),
             *open = HD_ARENA_ARRAY(arena, uint32_t, n);
    c->enter = HD_ARENA_ARRAY(arena, uint32_t, n);
    c->leave = HD_ARENA_ARRAY(arena, uint32_t, n);
    c->loops = HD_ARENA_ARRAY(arena, turns, n);
    for (uint32_t l = 0; l < n; l++) {
        parents[l] = cfg->loops[l].parent;
        open[l] = l;
        c->loops[l].first = HD_NONE;
    }
    hd_tree_intervals(n, parents, arena, c->enter, c->leave);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const hd_block *block = &cfg->blocks[b];
        for (uint32_t s = 0; s < block->succ_count && block->reachable; s++)
            note_edge(c, open, b, hd_block_successors(cfg, b)[s]);
        if (!block->reachable || block->loop == HD_NONE)
            continue;
        turns *l = &c->loops[block->loop];
        l->first = hd_min(l->first, block->first);
        l->end = hd_max(l->end, block->end);
    }
    for (uint32_t l = n; l-- > 0;) {
        if (parents[l] == HD_NONE)
            continue;
        turns *outer = &c->loops[parents[l]];
        outer->first = hd_min(outer->first, c->loops[l].first);
        outer->end = hd_max(outer->end, c->loops[l].end);
    }
}

typedef struct definition {
    uint32_t word, instruction;
} definition;
typedef HD_ARRAY(definition) definition_list;

static definition_list list_definitions(const counting *c)
{
    const hd_function *f = c->function;
    definition_list all = {0};
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            if (o->flags & HD_OPERAND_DEF)
                HD_STORAGE_WORDS (c->storage, o->value, word)
                    hd_array_push(&all, (definition){word, i});
    return all;
}

static void find_definitions(counting *c, hd_arena *arena)
{
    definition_list all = list_definitions(c);
    uint32_t words = c->storage->words;
    c->definition_first = HD_ARENA_ARRAY(arena, uint32_t, (size_t)words + 2);
    c->definitions = hd_arena_alloc(arena, all.count * sizeof *c->definitions);
    uint32_t *fill = c->definition_first + 1;
    for (uint32_t d = 0; d < all.count; d++)
        fill[all.items[d].word + 1]++;
    for (uint32_t w = 0; w < words; w++)
        fill[w + 1] += fill[w];
    for (uint32_t d = 0; d < all.count; d++)
        c->definitions[fill[all.items[d].word]++] = all.items[d].instruction;
    hd_array_free(&all); /* fill[w] is now the start of w + 1, so definition_first is complete */
}

/* ---- tracing register values ------------------------------------------------------------------------------------- */

typedef enum known { UNKNOWN, NUMBER, AT_HEADER } known;
typedef struct value { /* NUMBER: add; AT_HEADER: value of reg there, plus add */
    known kind;
    uint32_t reg;
    uint64_t add;
} value;

typedef struct point { /* before instruction `ordinal` of the block, or at its end */
    uint32_t block, ordinal;
} point;

static uint32_t width_of(const hd_function *f, uint32_t reg) { return hd_types[f->registers.items[reg].type].bits; }

static bool writes(const counting *c, uint32_t ordinal, uint32_t reg)
{
    uint32_t first = c->storage->first[reg], end = first + hd_storage_count(c->storage, reg);
    HD_INSN_REGISTERS (c->function, &c->function->instructions.items[ordinal], o) {
        uint32_t other = c->storage->first[o->value];
        if (o->flags & HD_OPERAND_DEF && other < end && first < other + hd_storage_count(c->storage, o->value))
            return true;
    }
    return false;
}

static bool spend(counting *c, uint32_t steps)
{
    bool enough = c->budget >= steps;
    c->budget = enough ? c->budget - steps : 0;
    return enough;
}

/* The last definition in the block before that point; *out: the budget is spent. */
static uint32_t definition_before(counting *c, uint32_t reg, point at, bool *out)
{
    for (uint32_t i = at.ordinal; i-- > c->cfg->blocks[at.block].first;) {
        *out = *out || !spend(c, 1);
        if (*out || writes(c, i, reg))
            return i;
    }
    return HD_NONE;
}

/* The only definition of a register's words in a range of the text and, unless `loop` is HD_NONE, in that loop.
 * HD_NONE: there is none; *many: several, or the budget is spent. */
static uint32_t only_definition(counting *c, uint32_t reg, uint32_t first, uint32_t end, uint32_t loop, bool *many)
{
    uint32_t found = HD_NONE;
    HD_STORAGE_WORDS (c->storage, reg, word) {
        uint32_t last = c->definition_first[word + 1],
                 low = hd_search_u32(c->definitions, c->definition_first[word], last, first);
        for (uint32_t d = low; d < last && c->definitions[d] < end && !*many; d++) {
            uint32_t at = c->definitions[d];
            *many = d - low >= DEFINITIONS_MOST || !spend(c, 1);
            if (at == found || (loop != HD_NONE && !loop_has(c, loop, c->cfg->block_of[at])))
                continue;
            *many = *many || found != HD_NONE;
            found = at;
        }
    }
    return found;
}

static bool integer_of(const hd_function *f, const hd_operand *o, uint64_t *bits)
{
    if (o->kind != HD_OPERAND_LITERAL)
        return false;
    const hd_literal *literal = &f->module->literals.items[o->value];
    *bits = literal->bits;
    return literal->kind == HD_LITERAL_SIGNED || literal->kind == HD_LITERAL_UNSIGNED;
}

/* Whether the operand is a whole general register of this width, local to this function. */
static bool is_plain(const hd_function *f, const hd_operand *o, uint32_t width)
{
    if (o->kind != HD_OPERAND_REGISTER || o->extra || !hd_register_words(f, o->value) || width_of(f, o->value) != width)
        return false;
    uint32_t declaration = f->registers.items[o->value].declaration;
    return declaration == HD_NONE || f->declarations.items[declaration].depth > 0;
}

/* Replaces v->reg by the register that its definition is computed from, and adjusts v->add; a NUMBER if there is no
 * such register. */
static void step_back(const counting *c, uint32_t ordinal, value *v)
{
    const hd_function *f = c->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_form *form = hd_insn_form(f, insn);
    const hd_operand *o = hd_insn_operands(f, insn);
    uint32_t width = width_of(f, v->reg), op = form->opcode;
    uint64_t number;
    v->kind = UNKNOWN;
    if (insn->flags & HD_INSN_OPAQUE || insn->operand_count < 2 || o->kind != HD_OPERAND_REGISTER ||
        o->value != v->reg || !hd_definition_kills(f, insn, o) || !form->type_count ||
        hd_types[form->types[0]].bits != width || hd_types[form->types[0]].lanes > 1)
        return;
    bool moves = op == HD_OP_MOV && insn->operand_count == 2;
    bool sums = (op == HD_OP_ADD || op == HD_OP_SUB) && insn->operand_count == 3 &&
                hd_types[form->types[0]].class != HD_CLASS_FLOAT && !form->modifiers[HD_GROUP_SAT] &&
                !(form->flags & (HD_FORM_WRITES_CARRY | HD_FORM_READS_CARRY));
    if (moves && integer_of(f, &o[1], &number)) {
        *v = (value){NUMBER, HD_NONE, v->add + number};
    } else if (moves && is_plain(f, &o[1], width)) {
        *v = (value){AT_HEADER, o[1].value, v->add};
    } else if (sums && integer_of(f, &o[2], &number) && is_plain(f, &o[1], width)) {
        *v = (value){AT_HEADER, o[1].value, op == HD_OP_ADD ? v->add + number : v->add - number};
    } else if (sums && op == HD_OP_ADD && integer_of(f, &o[1], &number) && is_plain(f, &o[2], width)) {
        *v = (value){AT_HEADER, o[2].value, v->add + number};
    }
}

/* The value of the register at the end of a block outside the loops being analyzed: a NUMBER, or UNKNOWN. */
static value value_outside(counting *c, uint32_t reg, uint64_t add, uint32_t block)
{
    value v = {AT_HEADER, reg, add};
    point at = {block, c->cfg->blocks[block].end};
    for (uint32_t i = 0; i < CHAIN_MOST && v.kind == AT_HEADER;) {
        bool out = false;
        uint32_t d = definition_before(c, v.reg, at, &out);
        /* the only definition dominates, because registers are written before they are read */
        if (d == HD_NONE && !out) {
            uint32_t only = only_definition(c, v.reg, 0, HD_NONE, HD_NONE, &out);
            if (!out && only != HD_NONE && hd_block_dominates(c->cfg, c->cfg->block_of[only], at.block))
                d = only;
            const hd_block *b = &c->cfg->blocks[at.block];
            if (d == HD_NONE && b->pred_count == 1 && spend(c, 1)) {
                uint32_t before = hd_block_predecessors(c->cfg, at.block)[0];
                at = (point){before, c->cfg->blocks[before].end};
                continue;
            }
            out = d == HD_NONE;
        }
        if (out)
            return (value){UNKNOWN, HD_NONE, 0};
        step_back(c, d, &v);
        at = (point){c->cfg->block_of[d], d};
        i++;
    }
    return v.kind == NUMBER ? v : (value){UNKNOWN, HD_NONE, 0};
}

/* Steps to the preceding definition within an iteration of the loop and returns its ordinal; HD_NONE if v is final
 * (v->kind is the kind of result). */
static uint32_t definition_in_turn(counting *c, uint32_t loop, value *v, point at)
{
    const hd_cfg *cfg = c->cfg;
    const turns *l = &c->loops[loop];
    bool many = false;
    uint32_t d = definition_before(c, v->reg, at, &many);
    if (d != HD_NONE && !many)
        return d;
    d = only_definition(c, v->reg, l->first, l->end, loop, &many);
    if (many) {
        v->kind = UNKNOWN;
        return HD_NONE;
    }
    if (d == HD_NONE) {
        *v = value_outside(c, v->reg, v->add, l->entry);
        return HD_NONE;
    }
    uint32_t block = cfg->block_of[d];
    if (cfg->blocks[block].loop != loop || !hd_block_dominates(cfg, block, l->latch))
        v->kind = UNKNOWN;
    else if (block != at.block && hd_block_dominates(cfg, block, at.block))
        return d;
    return HD_NONE; /* defined later in each iteration: here it is the value at the header */
}

static value value_in_turn(counting *c, uint32_t loop, uint32_t reg, point at)
{
    value v = {AT_HEADER, reg, 0};
    for (uint32_t i = 0; i < CHAIN_MOST && v.kind == AT_HEADER; i++) {
        uint32_t d = definition_in_turn(c, loop, &v, at);
        if (d == HD_NONE)
            return v;
        step_back(c, d, &v);
        at = (point){c->cfg->block_of[d], d};
    }
    return v.kind == NUMBER ? v : (value){UNKNOWN, HD_NONE, 0};
}

/* ---- trip counts ------------------------------------------------------------------------------------------------- */

typedef enum relation { EQUAL, OTHER, BELOW, AT_MOST, ABOVE, AT_LEAST, NO_RELATION } relation;

static relation relation_of(uint16_t compare)
{
    switch (compare) {
    case HD_MOD_COMPARE_EQ: return EQUAL;
    case HD_MOD_COMPARE_NE: return OTHER;
    case HD_MOD_COMPARE_LT:
    case HD_MOD_COMPARE_LO: return BELOW;
    case HD_MOD_COMPARE_LE:
    case HD_MOD_COMPARE_LS: return AT_MOST;
    case HD_MOD_COMPARE_GT:
    case HD_MOD_COMPARE_HI: return ABOVE;
    case HD_MOD_COMPARE_GE:
    case HD_MOD_COMPARE_HS: return AT_LEAST;
    }
    return NO_RELATION;
}

static const uint8_t negated[] = {OTHER, EQUAL, AT_LEAST, ABOVE, AT_MOST, BELOW, NO_RELATION};
static const uint8_t swapped[] = {EQUAL, OTHER, ABOVE, AT_LEAST, BELOW, AT_MOST, NO_RELATION};

typedef struct course { /* x, x + step, x + 2 step ... compared with `bound`, in `width` bits */
    uint64_t x, step, bound;
    uint32_t width;
    bool is_signed;
    relation relation; /* the loop continues while it holds */
} course;

static __int128 number_of(uint64_t bits, uint32_t width, bool is_signed)
{
    uint64_t mask = width < 64 ? (1ull << width) - 1 : ~0ull;
    bits &= mask;
    return is_signed && bits >> (width - 1) ? (__int128)bits - (__int128)mask - 1 : (__int128)bits;
}

/* How often the relation holds before it first fails; false if x would overflow the type. */
static bool count_course(const course *k, uint64_t *times)
{
    __int128 x = number_of(k->x, k->width, k->is_signed), bound = number_of(k->bound, k->width, k->is_signed);
    __int128 step = number_of(k->step, k->width, true), whole = (__int128)1 << k->width, distance = bound - x;
    bool up = k->relation == BELOW || k->relation == AT_MOST;
    *times = 0;
    if (!step || k->relation == NO_RELATION)
        return false;
    if (k->relation == EQUAL) {
        *times = !distance;
        return true;
    }
    if (k->relation == OTHER) { /* eventually reaches the bound again, if at all */
        distance = step > 0 ? (distance + whole) % whole : (whole - distance) % whole;
        __int128 size = step > 0 ? step : -step;
        *times = (uint64_t)(distance / size);
        return distance % size == 0;
    }
    if (!up) { /* the mirrored case */
        distance = -distance;
        step = -step;
    }
    distance += k->relation == AT_MOST || k->relation == AT_LEAST; /* holds while distance > 0 */
    if (distance <= 0)
        return true;
    if (step < 0)
        return false;
    __int128 n = (distance + step - 1) / step, last = x + (up ? n * step : -n * step);
    *times = (uint64_t)n;
    __int128 least = k->is_signed ? -(whole / 2) : 0;
    return last >= least && last < least + whole;
}

/* The comparison that sets the predicate at the end of a block, before its branch. */
static uint32_t comparison_in(counting *c, uint32_t block, uint32_t predicate)
{
    const hd_function *f = c->function;
    for (uint32_t i = c->cfg->blocks[block].end - 1; i-- > c->cfg->blocks[block].first && spend(c, 1);) {
        const hd_instruction *insn = &f->instructions.items[i];
        HD_INSN_REGISTERS (f, insn, o) {
            if (!(o->flags & HD_OPERAND_DEF) || o->value != predicate)
                continue;
            bool good = hd_insn_form(f, insn)->opcode == HD_OP_SETP && insn->guard == HD_NONE &&
                        insn->operand_count == 3 && hd_insn_operands(f, insn) == o && !(insn->flags & HD_INSN_OPAQUE);
            return good ? i : HD_NONE;
        }
    }
    return HD_NONE;
}

static value operand_in_turn(counting *c, uint32_t loop, const hd_operand *o, uint32_t width, point at)
{
    value v = {NUMBER, HD_NONE, 0};
    if (integer_of(c->function, o, &v.add))
        return v;
    return is_plain(c->function, o, width) ? value_in_turn(c, loop, o->value, at) : (value){UNKNOWN, HD_NONE, 0};
}

static bool count_by(counting *c, uint32_t loop, uint32_t ordinal, bool goes_on_if)
{
    const hd_function *f = c->function;
    const hd_operand *o = hd_insn_operands(f, &f->instructions.items[ordinal]);
    const hd_form *form = hd_insn_form(f, &f->instructions.items[ordinal]);
    hd_type type = form->type_count ? (hd_type)form->types[0] : HD_TYPE_NONE;
    turns *l = &c->loops[loop];
    point at = {l->exit, ordinal};
    if (hd_types[type].class == HD_CLASS_FLOAT || hd_types[type].bits < 16 || hd_types[type].bits > 64)
        return false;
    value left = operand_in_turn(c, loop, &o[1], hd_types[type].bits, at),
          right = operand_in_turn(c, loop, &o[2], hd_types[type].bits, at);
    relation r = relation_of(form->modifiers[HD_GROUP_COMPARE]);
    if (left.kind == NUMBER) {
        value other = left;
        left = right;
        right = other;
        r = (relation)swapped[r];
    }
    if (left.kind != AT_HEADER || right.kind != NUMBER)
        return false;
    value next = value_in_turn(c, loop, left.reg, (point){l->latch, c->cfg->blocks[l->latch].end});
    value start = value_outside(c, left.reg, 0, l->entry);
    if (next.kind != AT_HEADER || next.reg != left.reg || start.kind != NUMBER)
        return false;
    course k = {start.add + left.add,
                next.add,
                right.add,
                hd_types[type].bits,
                hd_types[type].class == HD_CLASS_SIGNED,
                goes_on_if ? r : (relation)negated[r]};
    return count_course(&k, &l->more);
}

static bool count_loop(counting *c, uint32_t loop)
{
    const hd_cfg *cfg = c->cfg;
    const turns *l = &c->loops[loop];
    if (cfg->loops[loop].irreducible || l->exits != 1 || l->latches != 1 || l->entries != 1)
        return false;
    const hd_block *block = &cfg->blocks[l->exit];
    const hd_instruction *branch = &c->function->instructions.items[block->end - 1];
    if (block->loop != loop || !hd_block_dominates(cfg, l->exit, l->latch) || block->succ_count != 2 ||
        branch->guard == HD_NONE || branch->flags & HD_INSN_OPAQUE ||
        hd_insn_form(c->function, branch)->opcode != HD_OP_BRA)
        return false;
    bool taken_stays = loop_has(c, loop, hd_block_successors(cfg, l->exit)[0]);
    uint32_t comparison = comparison_in(c, l->exit, branch->guard);
    return comparison != HD_NONE &&
           count_by(c, loop, comparison, taken_stays != ((branch->flags & HD_INSN_GUARD_NOT) != 0));
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static uint64_t times(uint64_t a, uint64_t b) { return b > HD_EXECUTIONS_MOST / a ? HD_EXECUTIONS_MOST : a * b; }

/* How many iterations of the loop execute the block. */
static uint64_t turns_of(const counting *c, uint32_t loop, uint32_t block, uint32_t factor)
{
    const turns *l = &c->loops[loop];
    if (!l->counted)
        return factor;
    bool after_exit = block != l->exit && hd_block_dominates(c->cfg, l->exit, block);
    uint64_t n = after_exit ? l->more : l->more + (l->more < HD_EXECUTIONS_MOST);
    return n ? n : 1;
}

hd_executions hd_executions_estimate(hd_function *function, const hd_storage *storage, uint32_t factor, hd_arena *arena)
{
    const hd_cfg *cfg = hd_function_cfg(function);
    hd_executions e = {HD_ARENA_ARRAY(arena, uint64_t, cfg->block_count), cfg->loop_count, 0};
    counting c = {.function = function,
                  .cfg = cfg,
                  .storage = storage,
                  .budget = (uint64_t)STEPS * function->instructions.count + 1024};
    uint64_t *entered = HD_ARENA_ARRAY(arena, uint64_t, cfg->loop_count);
    if (cfg->loop_count) {
        find_edges(&c, arena);
        find_definitions(&c, arena);
    }
    for (uint32_t l = 0; l < cfg->loop_count; l++) {
        uint32_t outer = cfg->loops[l].parent;
        c.loops[l].counted = count_loop(&c, l);
        e.counted += c.loops[l].counted;
        entered[l] = outer == HD_NONE ? 1 : times(entered[outer], turns_of(&c, outer, cfg->loops[l].header, factor));
    }
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        uint32_t l = cfg->blocks[b].loop;
        if (cfg->blocks[b].reachable)
            e.of_block[b] = l == HD_NONE ? 1 : times(entered[l], turns_of(&c, l, b, factor));
    }
    return e;
}
