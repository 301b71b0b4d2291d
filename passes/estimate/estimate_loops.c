/* Loops that ptxas unrolls, as observed in the line tables of its code.
 *
 * Of loops that are one region, unless the PTX has .pragma "nounroll" (which nvcc writes for loops that it has unrolled
 * itself):
 *   - a counter that advances by a constant from a constant to a constant gives the trip count; if all iterations
 *     together have at most WHOLE_MOST instructions, the loop is fully unrolled;
 *   - a counter that advances by a constant to any bound: unrolled four times, if an iteration has at most FOUR_MOST
 *   instructions.
 * A counter that advances by a register (a grid stride) prevents unrolling. Other loops are assumed not to be unrolled.
 */
#include "passes/estimate/estimate_work.h"

enum { FOUR_MOST = 84, WHOLE_MOST = 500 };

/* Marks blocks that begin with .pragma "nounroll", as a bit per instruction. */
void estimate_loops_init(estimate_work *w)
{
    const hd_function *f = w->function;
    bool pending = false;
    w->kept = HD_ARENA_ARRAY(w->arena, bool, f->instructions.count);
    for (uint32_t i = 0; i < f->statements.count; i++) {
        const hd_statement *s = &f->statements.items[i];
        if (s->kind == HD_STATEMENT_VERBATIM && f->module->verbatims.items[s->index].kind == HD_VERBATIM_PRAGMA) {
            hd_tokens t = f->module->verbatims.items[s->index].tokens;
            for (uint32_t k = t.first; k < t.first + t.count; k++)
                pending |= strstr(hd_names_text(&f->module->names, f->module->tokens.items[k]), "nounroll") != NULL;
        } else if (s->kind == HD_STATEMENT_INSTRUCTION) {
            w->kept[s->index] = pending;
            pending = false;
        }
    }
}

/* The last definition of `reg` in [first, end), or HD_NONE. */
static uint32_t definition_in(const hd_function *f, uint32_t first, uint32_t end, uint32_t reg)
{
    for (uint32_t i = end; i-- > first;)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], d)
            if (d->flags & HD_OPERAND_DEF && d->value == reg)
                return i;
    return HD_NONE;
}

static bool literal_of(const hd_function *f, const hd_operand *o, int64_t *value)
{
    if (o->kind != HD_OPERAND_LITERAL)
        return false;
    *value = (int64_t)f->module->literals.items[o->value].bits;
    return true;
}

/* Whether instruction `i` is r = r + constant, or r - constant. */
static bool is_step(const hd_function *f, uint32_t i, uint32_t reg, int64_t *step)
{
    const hd_instruction *insn = &f->instructions.items[i];
    const hd_operand *o = hd_insn_operands(f, insn);
    uint32_t op = hd_insn_form(f, insn)->opcode;
    if ((op != HD_OP_ADD && op != HD_OP_SUB) || insn->guard != HD_NONE || insn->operand_count != 3)
        return false;
    if (o[1].kind != HD_OPERAND_REGISTER || o[1].value != reg || !literal_of(f, &o[2], step))
        return false;
    if (op == HD_OP_SUB)
        *step = -*step;
    return true;
}

static uint32_t trip_count(const estimate_work *w, uint32_t reg, int64_t step, int64_t bound)
{
    int64_t from;
    uint32_t d = w->first_definition[reg];
    const hd_function *f = w->function;
    if (d == HD_NONE || hd_insn_form(f, &f->instructions.items[d])->opcode != HD_OP_MOV ||
        f->instructions.items[d].operand_count != 2 || !step)
        return 0;
    if (!literal_of(f, hd_insn_operands(f, &f->instructions.items[d]) + 1, &from))
        return 0;
    int64_t trips = ((int64_t)(int32_t)bound - (int64_t)(int32_t)from) / (int64_t)(int32_t)step;
    return trips > 0 && trips < 1000 ? (uint32_t)trips : 0;
}

/* The weight of an instruction for the unrolling limit: approximately its number of machine instructions. */
static uint32_t weight_of(const hd_form *form)
{
    bool is_integer = form->type_count && hd_types[form->types[0]].class != HD_CLASS_FLOAT;
    bool wide = form->type_count && hd_types[form->types[0]].bits == 64;
    if (form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE) &&
        (form->space == HD_SPACE_NONE || form->space == HD_SPACE_GLOBAL))
        return 3;
    if (form->opcode == HD_OP_DIV || form->opcode == HD_OP_REM)
        return is_integer || wide ? 20 : 8;
    return hd_form_unit(form) == HD_UNIT_INT && wide ? 2 : 1;
}

/* The weight of [first, end). *fixed: it contains a barrier, a call or a matrix instruction, so the loop is not
 * unrolled. */
static uint32_t machine_size(const estimate_work *w, uint32_t first, uint32_t end, bool *fixed)
{
    const hd_function *f = w->function;
    uint32_t size = 0;
    *fixed = false;
    for (uint32_t i = first; i < end; i++) {
        const hd_form *form = hd_insn_form(f, &f->instructions.items[i]);
        size += w->skip[i] ? 0 : weight_of(form);
        *fixed |= form->behaviour & (HD_BEHAVE_BARRIER | HD_BEHAVE_CALL) || hd_form_unit(form) == HD_UNIT_TENSOR;
    }
    return size;
}

/* The likely number of copies of a one-region loop's body after unrolling by ptxas. */
uint32_t estimate_copies(const estimate_work *w, estimate_region region)
{
    const hd_block *last = &w->cfg->blocks[region.last];
    uint32_t first = w->cfg->blocks[region.first].first, end = last->end;
    const hd_function *f = w->function;
    bool loop = false;
    for (uint32_t s = 0; s < last->succ_count; s++)
        loop |= hd_block_successors(w->cfg, region.last)[s] == region.first;
    if (!loop || w->kept[first])
        return 1;
    bool fixed;
    uint32_t size = machine_size(w, first, end, &fixed), guard = f->instructions.items[end - 1].guard;
    uint32_t test = guard == HD_NONE ? HD_NONE : definition_in(f, first, end, guard);
    if (test == HD_NONE || fixed)
        return 1;
    const hd_operand *o = hd_insn_operands(f, &f->instructions.items[test]);
    int64_t step, bound;
    for (uint32_t k = 1; k < 3 && f->instructions.items[test].operand_count == 3; k++) {
        uint32_t d = o[k].kind == HD_OPERAND_REGISTER ? definition_in(f, first, end, o[k].value) : HD_NONE;
        if (d == HD_NONE || !is_step(f, d, o[k].value, &step))
            continue;
        uint32_t trips = literal_of(f, &o[3 - k], &bound) ? trip_count(w, o[k].value, step, bound) : 0;
        if (trips && trips * size <= WHOLE_MOST)
            return trips;
        return size <= FOUR_MOST ? 4 : 1;
    }
    return 1;
}

/* ---- words live into a loop -------------------------------------------------------------------------------------- */

/* Words of the registers of a set; values that share a root count once. */
static uint32_t rooted_words(estimate_work *w, hd_register_set set, bool uniform_only)
{
    uint32_t words = 0;
    w->order_number++;
    for (uint32_t i = 0; i < set.count; i++) {
        uint32_t root = w->root[set.items[i]];
        if (w->stamp[root] == w->order_number || (uniform_only && !w->uniform[root]))
            continue;
        w->stamp[root] = w->order_number;
        words += w->words[root];
    }
    return words;
}

static uint32_t plain_words(const estimate_work *w, hd_register_set set)
{
    uint32_t words = 0;
    for (uint32_t i = 0; i < set.count; i++) {
        uint32_t reg = set.items[i], definition = w->first_definition[reg];
        /* counted with its other half */
        bool counted = w->packed[reg] < reg && hd_register_set_has(set, w->packed[reg]);
        bool skipped = definition != HD_NONE && w->skip[definition];
        words += skipped || counted ? 0 : hd_register_words(w->function, reg);
    }
    return words;
}

hd_estimate_loop estimate_loop(estimate_work *w)
{
    hd_estimate_loop most = {0};
    uint32_t header = HD_NONE;
    for (uint32_t l = 0; l < w->cfg->loop_count; l++) {
        uint32_t words = plain_words(w, w->liveness->live_in[w->cfg->loops[l].header]);
        if (words > most.words) {
            most.words = words;
            header = w->cfg->loops[l].header;
        }
    }
    estimate_weigh(w, true);
    if (header != HD_NONE) {
        hd_register_set in = w->liveness->live_in[header];
        uint32_t all = rooted_words(w, in, false);
        most.at = w->cfg->blocks[header].first;
        most.constant_offsets = most.words - all;
        most.uniform = rooted_words(w, in, true);
        estimate_weigh(w, false);
        most.rematerialized = all - most.uniform - rooted_words(w, in, false);
    }
    estimate_weigh(w, false);
    return most;
}
