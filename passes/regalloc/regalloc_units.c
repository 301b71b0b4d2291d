/* Units: registers that must be adjacent, or should be in the same register, are assigned together.
 *
 * Elements of a vector memory access (ld.v4 ...) must be consecutive: they are merged first; if that fails, the access
 * gets registers of its own with moves. Then copies, packing and unpacking are coalesced: both sides become one unit if
 * their live ranges are disjoint, innermost loops first.
 *
 * An operand of a matrix instruction that ptxas may expand (ir/expanded.h) must not share a register with the result:
 * its live range is made to end after the instruction. The elements of the result and of the accumulator in the same
 * place may, and are merged first.
 *
 * Complexity: a merge walks the parts of both units; all merges together take at most HD_MERGE_STEPS steps per part,
 * after which copies are left as they are. */
#include "passes/regalloc/regalloc_work.h"

#include "ir/expanded.h"

enum { HD_MERGE_STEPS = 64, HD_DEEPEST = 7 };

typedef struct merger {
    hd_regalloc *ra;
    hd_ra_units *units;
    uint64_t steps, steps_limit;
} merger;

/* ---- one merge --------------------------------------------------------------------------------------------------- */

static bool overlap(merger *m, uint32_t a, uint32_t b)
{
    const hd_ra_part *parts = m->ra->ranges.parts.items;
    while (a != HD_NONE && b != HD_NONE) {
        m->steps++;
        if (parts[a].end <= parts[b].begin)
            a = parts[a].next;
        else if (parts[b].end <= parts[a].begin)
            b = parts[b].next;
        else
            return true;
    }
    return false;
}

static uint32_t merge_parts(hd_ra_part *parts, uint32_t a, uint32_t b)
{
    uint32_t first = HD_NONE, *to = &first;
    while (a != HD_NONE && b != HD_NONE) {
        uint32_t *earlier = parts[a].begin < parts[b].begin ? &a : &b;
        *to = *earlier;
        to = &parts[*earlier].next;
        *earlier = parts[*earlier].next;
    }
    *to = a != HD_NONE ? a : b;
    return first;
}

static bool can_merge(merger *m, const hd_ra_unit *x, uint32_t x_at, const hd_ra_unit *y, uint32_t y_at)
{
    for (uint32_t w = 0; w < HD_UNIT_WORDS; w++)
        if (w >= x_at && w < x_at + x->words && w >= y_at && w < y_at + y->words &&
            overlap(m, x->word[w - x_at], y->word[w - y_at]))
            return false;
    return true;
}

/* Moves the words of a unit up. */
static void shift_unit(hd_ra_units *units, hd_ra_unit *u, uint32_t by)
{
    if (!by)
        return;
    for (uint32_t w = HD_UNIT_WORDS; w-- > 0;)
        u->word[w] = w >= by ? u->word[w - by] : HD_NONE;
    u->words = (uint8_t)(u->words + by);
    for (uint32_t r = u->members; r != HD_NONE; r = units->next_member[r])
        units->offset[r] = (uint8_t)(units->offset[r] + by);
}

static void absorb(merger *m, uint32_t into, uint32_t from)
{
    hd_ra_units *units = m->units;
    hd_ra_unit *x = &units->units[into], *y = &units->units[from];
    for (uint32_t w = 0; w < HD_UNIT_WORDS; w++)
        x->word[w] = merge_parts(m->ra->ranges.parts.items, x->word[w], y->word[w]);
    x->words = hd_max(x->words, y->words);
    x->align = hd_max(x->align, y->align);
    x->begin = hd_min(x->begin, y->begin);
    uint32_t last = y->members;
    for (;; last = units->next_member[last]) {
        units->of[last] = into;
        if (units->next_member[last] == HD_NONE)
            break;
    }
    units->next_member[last] = x->members;
    x->members = y->members;
    *y = (hd_ra_unit){
        .word = {HD_NONE, HD_NONE, HD_NONE, HD_NONE}, .members = HD_NONE, .begin = HD_NONE, .number = HD_NONE};
}

static uint32_t member_count(const hd_ra_units *units, uint32_t unit, uint32_t limit)
{
    uint32_t count = 0;
    for (uint32_t r = units->units[unit].members; r != HD_NONE && count < limit; r = units->next_member[r])
        count++;
    return count;
}

/* Puts word `word_y` of register y in the same register as word `word_x` of register x; false if that is impossible. */
static bool merge(merger *m, uint32_t reg_x, uint32_t word_x, uint32_t reg_y, uint32_t word_y)
{
    hd_ra_units *units = m->units;
    uint32_t x = units->of[reg_x], y = units->of[reg_y];
    int32_t start = (int32_t)(units->offset[reg_x] + word_x) - (int32_t)(units->offset[reg_y] + word_y);
    if (x == y)
        return start == 0;
    if (units->units[x].predicate != units->units[y].predicate)
        return false;
    uint32_t x_at = start < 0 ? (uint32_t)-start : 0, y_at = start < 0 ? 0 : (uint32_t)start, shift = 0;
    while (shift < HD_UNIT_WORDS && ((x_at + shift) % units->units[x].align || (y_at + shift) % units->units[y].align))
        shift++;
    x_at += shift;
    y_at += shift;
    if (x_at + units->units[x].words > HD_UNIT_WORDS || y_at + units->units[y].words > HD_UNIT_WORDS ||
        !can_merge(m, &units->units[x], x_at, &units->units[y], y_at))
        return false;
    shift_unit(units, &units->units[x], x_at);
    shift_unit(units, &units->units[y], y_at);
    if (member_count(units, x, 64) < member_count(units, y, 64))
        absorb(m, y, x);
    else
        absorb(m, x, y);
    return true;
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

uint32_t hd_regalloc_vector_of(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    bool moves = form->opcode == HD_OP_LD || form->opcode == HD_OP_LDU || form->opcode == HD_OP_ST;
    if (!moves || form->vector < 2 || hd_types[form->types[0]].bits < 32 || insn->flags & HD_INSN_OPAQUE)
        return HD_NONE;
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (hd_insn_operands(f, insn)[i].kind == HD_OPERAND_VECTOR)
            return i;
    return HD_NONE;
}

/* Raises the alignment of a register's unit to `total`, with the register `at` words after such a boundary. */
static bool align_at(hd_ra_units *units, uint32_t reg, uint32_t at, uint32_t total)
{
    hd_ra_unit *u = &units->units[units->of[reg]];
    for (uint32_t shift = 0; shift + u->words <= HD_UNIT_WORDS; shift += u->align)
        if ((units->offset[reg] + shift) % total == at) {
            shift_unit(units, u, shift);
            u->align = u->align > total ? u->align : (uint8_t)total;
            return true;
        }
    return false;
}

/* Makes elements [first, first + count) of a vector adjacent: at most four words. */
static bool merge_elements(merger *m, const hd_operand *elements, uint32_t count)
{
    uint32_t anchor = HD_NONE, words = 0;
    for (uint32_t i = 0; i < count; i++)
        if (elements[i].kind == HD_OPERAND_REGISTER)
            words = hd_regalloc_words(m->ra, elements[i].value);
    if (!words || words * count > HD_UNIT_WORDS)
        return !words;
    for (uint32_t i = 0; i < count; i++) {
        if (elements[i].kind != HD_OPERAND_REGISTER)
            continue;
        for (uint32_t k = 0; k < i; k++) /* a register cannot be at two positions */
            if (elements[k].kind == HD_OPERAND_REGISTER && elements[k].value == elements[i].value)
                return false;
        if (anchor == HD_NONE) {
            anchor = i;
            if (!align_at(m->units, elements[i].value, i * words, words * count))
                return false;
        } else if (!merge(m, elements[anchor].value, (i - anchor) * words, elements[i].value, 0)) {
            return false;
        }
    }
    return true;
}

static bool merge_vector(merger *m, const hd_function *f, const hd_instruction *insn, uint32_t at)
{
    const hd_operand *vector = &hd_insn_operands(f, insn)[at];
    uint32_t words = 0;
    for (uint32_t i = 0; i < vector->count; i++)
        if (vector[1 + i].kind == HD_OPERAND_REGISTER)
            words = hd_regalloc_words(m->ra, vector[1 + i].value);
    uint32_t chunk = words ? HD_UNIT_WORDS / words : 1;
    for (uint32_t first = 0; first < vector->count; first += chunk) {
        uint32_t rest = vector->count - first;
        if (!merge_elements(m, vector + 1 + first, hd_min(rest, chunk)))
            return false;
    }
    return true;
}

static void merge_vectors(merger *m, hd_u32_array *conflicts)
{
    const hd_function *f = m->ra->function;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        uint32_t at = hd_regalloc_vector_of(f, &f->instructions.items[i]);
        if (at != HD_NONE && !merge_vector(m, f, &f->instructions.items[i], at))
            hd_array_push(conflicts, i);
    }
}

/* ---- matrix instructions ----------------------------------------------------------------------------------------- */

/* Lets a part that ends with the read at `read` end after the write. */
static void outlive(merger *m, uint32_t reg, uint32_t read)
{
    const hd_ra_unit *u = &m->units->units[m->units->of[reg]];
    hd_ra_part *parts = m->ra->ranges.parts.items;
    uint32_t from = m->units->offset[reg];
    for (uint32_t w = from; w < from + hd_regalloc_words(m->ra, reg); w++)
        for (uint32_t p = u->word[w]; p != HD_NONE && parts[p].begin <= read; p = parts[p].next) {
            bool meets = parts[p].next != HD_NONE && parts[parts[p].next].begin <= read + 1;
            if (parts[p].end == read + 1 && !meets)
                parts[p].end = read + 2;
        }
}

/* How many operands of the instruction read the register. */
static uint32_t reads_of(const hd_function *f, const hd_instruction *insn, uint32_t reg)
{
    uint32_t count = 0;
    HD_INSN_REGISTERS (f, insn, o)
        count += o->flags & HD_OPERAND_USE && o->value == reg;
    return count;
}

/* The register of the accumulator in the place of that register of the result, if it is read there alone; else
 * HD_NONE. */
static uint32_t accumulator_of(const hd_function *f, const hd_instruction *insn, const hd_operand *result)
{
    const hd_operand *all = hd_insn_operands(f, insn);
    uint32_t at = hd_insn_accumulator(f, insn, (uint32_t)(result - all));
    if (at == HD_NONE || all[at].kind != HD_OPERAND_REGISTER || reads_of(f, insn, all[at].value) != 1)
        return HD_NONE;
    return all[at].value;
}

static void part_operands(merger *m, const hd_instruction *insn, uint32_t read)
{
    const hd_function *f = m->ra->function;
    hd_u32_array together = {0};
    HD_INSN_REGISTERS (f, insn, o) {
        uint32_t accumulator = o->flags & HD_OPERAND_DEF ? accumulator_of(f, insn, o) : HD_NONE;
        if (accumulator != HD_NONE && !hd_regalloc_needs_no_register(m->ra, accumulator) &&
            hd_regalloc_words(m->ra, accumulator) == hd_regalloc_words(m->ra, o->value) &&
            merge(m, o->value, 0, accumulator, 0))
            hd_array_push(&together, accumulator);
    }
    HD_INSN_REGISTERS (f, insn, o) {
        bool apart = o->flags & HD_OPERAND_USE && !hd_regalloc_needs_no_register(m->ra, o->value);
        for (uint32_t i = 0; apart && i < together.count; i++)
            apart = together.items[i] != o->value;
        if (apart)
            outlive(m, o->value, read);
    }
    hd_array_free(&together);
}

static void part_all(merger *m)
{
    const hd_cfg *cfg = m->ra->cfg;
    const hd_function *f = m->ra->function;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++)
            if (hd_insn_is_expanded(f, &f->instructions.items[i]))
                part_operands(m, &f->instructions.items[i], 2 * (m->ra->ranges.begin[b] + i - cfg->blocks[b].first));
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

static void coalesce(merger *m, const hd_instruction *insn)
{
    hd_copy copies[HD_COPIES_MOST];
    uint32_t count = hd_insn_copies(m->ra->function, insn, copies, NULL);
    const bool *apart = m->ra->apart;
    for (uint32_t c = 0; c < count && m->steps < m->steps_limit; c++)
        if (!hd_regalloc_is_bank(m->ra, copies[c].from) && (!apart || !(apart[copies[c].to] || apart[copies[c].from])))
            merge(m, copies[c].to, copies[c].to_word, copies[c].from, copies[c].from_word);
}

static uint32_t depth_of(const hd_cfg *cfg, uint32_t block)
{
    uint32_t loop = cfg->blocks[block].loop, depth = loop == HD_NONE ? 0 : cfg->loops[loop].depth;
    return hd_min(depth, HD_DEEPEST);
}

static void coalesce_all(merger *m)
{
    const hd_cfg *cfg = m->ra->cfg;
    const hd_function *f = m->ra->function;
    uint32_t deepest = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        deepest = depth_of(cfg, b) > deepest ? depth_of(cfg, b) : deepest;
    for (uint32_t depth = deepest + 1; depth-- > 0;)
        for (uint32_t b = 0; b < cfg->block_count; b++)
            for (uint32_t i = cfg->blocks[b].first; depth_of(cfg, b) == depth && i < cfg->blocks[b].end; i++)
                coalesce(m, &f->instructions.items[i]);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static uint32_t copy_parts(hd_ra_ranges *r, uint32_t from)
{
    uint32_t first = HD_NONE, last = HD_NONE;
    for (; from != HD_NONE; from = r->parts.items[from].next) {
        hd_array_push(&r->parts, (hd_ra_part){r->parts.items[from].begin, r->parts.items[from].end, HD_NONE});
        uint32_t copy = r->parts.count - 1;
        if (first == HD_NONE)
            first = copy;
        else
            r->parts.items[last].next = copy;
        last = copy;
    }
    return first;
}

/* Creates a unit for each register. All words of a register have the same parts, but each its own list. */
static void make_units(hd_regalloc *ra)
{
    uint32_t registers = ra->function->registers.count;
    hd_ra_ranges *r = &ra->ranges;
    hd_ra_units *units = &ra->units;
    units->units = HD_ARENA_ARRAY(ra->arena, hd_ra_unit, registers);
    units->of = HD_ARENA_ARRAY(ra->arena, uint32_t, registers);
    units->offset = HD_ARENA_ARRAY(ra->arena, uint8_t, registers);
    units->next_member = HD_ARENA_ARRAY(ra->arena, uint32_t, registers);
    for (uint32_t reg = 0; reg < registers; reg++) {
        hd_ra_unit *u = &units->units[reg];
        bool predicate = hd_regalloc_is_predicate(ra, reg);
        uint32_t words = predicate ? 1 : hd_regalloc_words(ra, reg), first = r->first[reg];
        *u = (hd_ra_unit){.word = {HD_NONE, HD_NONE, HD_NONE, HD_NONE},
                          .members = reg,
                          .begin = first == HD_NONE ? HD_NONE : r->parts.items[first].begin,
                          .number = HD_NONE,
                          .words = (uint8_t)words,
                          .align = (uint8_t)(words ? words : 1),
                          .predicate = predicate};
        units->of[reg] = reg;
        units->next_member[reg] = HD_NONE;
        for (uint32_t w = 0; w < words; w++)
            u->word[w] = copy_parts(r, first);
    }
}

void hd_regalloc_units(hd_regalloc *ra, hd_u32_array *conflicts)
{
    make_units(ra);
    merger m = {.ra = ra, .units = &ra->units};
    m.steps_limit = (uint64_t)HD_MERGE_STEPS * (ra->ranges.parts.count + 1024u);
    part_all(&m);
    merge_vectors(&m, conflicts);
    if (!conflicts->count)
        coalesce_all(&m);
}
