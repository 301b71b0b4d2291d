/* The values at the point of maximum pressure: the registers that its instruction needs (report_code.c), each with its
 * definition, its uses, and whether it is live-through (not used in the enclosing loop).
 *
 * For a register with several definitions: the definition that reaches the point, if only one does (a backward search
 * over its own definitions). A guarded write does not end the search.
 *
 * Linear in accesses; plus, for each value with several definitions, the blocks between them and the point; plus the
 * loops for each value if the point is in no loop.
 */
#include "driver/report/report_work.h"
#include "base/search.h"

#include <stdlib.h>

typedef struct value_search {
    report_kernel_work *work;
    hd_report_value *values; /* the kernel's */
    uint32_t count;
    uint32_t *value_of;         /* by register: its value + 1, or 0 */
    uint32_t loop;              /* innermost loop around the point, or HD_NONE */
    bool *in_loop;              /* by loop: that one, or inside it */
    uint32_t *first_definition; /* by value: index in `definitions` */
    uint32_t *definitions;      /* writing instructions, by value, ascending */
    bool *touched;              /* by value: used inside that loop */
    bool after;                 /* the values are those live after the point's instruction, and its results */
} value_search;

/* ---- selection --------------------------------------------------------------------------------------------------- */

/* Restores the counters. */
static uint32_t words_added(report_words *set, const uint32_t *registers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        report_words_add(set, registers[i]);
    uint32_t words = set->words;
    for (uint32_t i = 0; i < count; i++)
        report_words_remove(set, registers[i]);
    return words;
}

/* The registers at the point: live before its instruction, or after it together with its results. */
static void find_set(value_search *s, report_words *words, hd_u32_array *set)
{
    report_kernel_work *work = s->work;
    const hd_function *f = work->function;
    uint32_t point = work->kernel->max_pressure_at;
    const hd_instruction *insn = &f->instructions.items[point];
    const hd_live_walk *walk = &work->live.walk;
    report_live_start(work, work->cfg->block_of[point]);
    while (walk->ordinal > point + 1)
        report_live_step(work);
    for (uint32_t i = 0; i < walk->count; i++)
        hd_array_push(set, walk->members[i]);
    HD_INSN_REGISTERS (f, insn, o) {
        bool written = o->flags & HD_OPERAND_DEF || insn->flags & HD_INSN_OPAQUE, known = hd_live_has(walk, o->value);
        for (uint32_t i = walk->count; i < set->count; i++)
            known |= set->items[i] == o->value;
        if (written && !known)
            hd_array_push(set, o->value);
    }
    report_live_step(work);
    s->after = words_added(words, set->items, set->count) > words_added(words, walk->members, walk->count);
    if (s->after)
        return;
    hd_array_clear(set);
    for (uint32_t i = 0; i < walk->count; i++)
        hd_array_push(set, walk->members[i]);
}

/* Length of the range around the point. */
static uint32_t *range_lengths(const value_search *s)
{
    const hd_report_kernel *k = s->work->kernel;
    uint32_t *lengths = HD_ARENA_ARRAY(&s->work->scratch, uint32_t, k->register_count), point = k->max_pressure_at;
    for (uint32_t i = 0; i < k->range_count; i++)
        if (k->ranges[i].first <= point && point <= k->ranges[i].last)
            lengths[k->ranges[i].reg] = k->ranges[i].last - k->ranges[i].first + 1;
    return lengths;
}

typedef struct sort_key {
    uint32_t words, length, reg;
} sort_key;

static int compare_keys(const void *a, const void *b)
{
    const sort_key *x = a, *y = b;
    if (x->words != y->words)
        return x->words > y->words ? -1 : 1;
    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg;
}

static void list_values(value_search *s)
{
    report_kernel_work *work = s->work;
    hd_u32_array set = {0};
    report_words words = report_words_new(work);
    find_set(s, &words, &set);
    uint32_t *lengths = range_lengths(s);
    sort_key *keys = HD_ARENA_ARRAY(&work->scratch, sort_key, set.count);
    for (uint32_t i = 0; i < set.count; i++)
        keys[i] = (sort_key){work->words[set.items[i]], lengths[set.items[i]], set.items[i]};
    if (set.count)
        qsort(keys, set.count, sizeof *keys, compare_keys);
    s->count = set.count;
    s->values = HD_ARENA_ARRAY(work->arena, hd_report_value, s->count);
    s->value_of = HD_ARENA_ARRAY(&work->scratch, uint32_t, work->kernel->register_count);
    for (uint32_t i = 0; i < s->count; i++) {
        s->values[i] = (hd_report_value){.reg = keys[i].reg, .definition = HD_REPORT_NONE, .last_use = HD_REPORT_NONE};
        s->values[i].words = report_words_add(&words, keys[i].reg);
        s->value_of[keys[i].reg] = i + 1;
    }
    hd_array_free(&set);
}

/* ---- definitions and uses ---------------------------------------------------------------------------------------- */

static void mark_loops(value_search *s)
{
    const hd_cfg *cfg = s->work->cfg;
    s->loop = cfg->blocks[cfg->block_of[s->work->kernel->max_pressure_at]].loop;
    s->in_loop = HD_ARENA_ARRAY(&s->work->scratch, bool, cfg->loop_count);
    for (uint32_t l = 0; l < cfg->loop_count; l++) /* outer ones come first */
        s->in_loop[l] = l == s->loop || (cfg->loops[l].parent != HD_NONE && s->in_loop[cfg->loops[l].parent]);
}

static void collect_accesses(value_search *s)
{
    const hd_report_kernel *k = s->work->kernel;
    hd_arena *scratch = &s->work->scratch;
    s->first_definition = HD_ARENA_ARRAY(scratch, uint32_t, s->count + 2);
    s->touched = HD_ARENA_ARRAY(scratch, bool, s->count);
    for (uint32_t v = 0; v < s->count; v++)
        s->first_definition[v + 2] = s->first_definition[v + 1] + s->work->definitions[s->values[v].reg];
    s->definitions = HD_ARENA_ARRAY(scratch, uint32_t, s->first_definition[s->count + 1] + 1);
    for (uint32_t t = 0; t < k->touch_count; t++) {
        const hd_report_touch *touch = &k->touches[t];
        uint32_t v = s->value_of[touch->reg] - 1,
                 loop = s->work->cfg->blocks[k->instructions[touch->instruction].block].loop;
        if (v == HD_NONE)
            continue;
        bool inside = s->loop != HD_NONE && loop != HD_NONE && s->in_loop[loop];
        s->touched[v] |= inside;
        if (touch->access & HD_REPORT_WRITE)
            s->definitions[s->first_definition[v + 1]++] = touch->instruction;
        if (touch->access & HD_REPORT_READ) {
            s->values[v].uses++;
            s->values[v].uses_in_loop += inside || s->loop == HD_NONE;
            s->values[v].last_use = touch->instruction;
        }
    }
}

static bool kills(const hd_function *f, uint32_t instruction, uint32_t reg)
{
    const hd_instruction *insn = &f->instructions.items[instruction];
    HD_INSN_REGISTERS (f, insn, o)
        if (o->value == reg && hd_definition_kills(f, insn, o))
            return true;
    return false;
}

/* Searches one block for definitions of a value, backwards from `limit`; true if the search continues before it. */
static bool search_block(const value_search *s, uint32_t v, uint32_t b, uint32_t limit, uint32_t *found, bool *several)
{
    const uint32_t *first = s->definitions + s->first_definition[v], *end = s->definitions + s->first_definition[v + 1];
    uint32_t low = hd_search_u32(first, 0, (uint32_t)(end - first), limit);
    while (low-- > 0 && first[low] >= s->work->cfg->blocks[b].first) {
        *several |= *found != HD_NONE && *found != first[low];
        *found = first[low];
        if (kills(s->work->function, first[low], s->values[v].reg))
            return false;
    }
    return true;
}

/* Budget of blocks for all values of a kernel; when it is spent, a value counts as having several definitions. */
enum { MOST_VISITS = 2000000 };

/* The only definition that reaches the point, or HD_NONE. */
static uint32_t reaching_definition(const value_search *s, uint32_t v, uint32_t *stamp, hd_u32_array *queue,
                                    uint32_t *visits)
{
    const hd_cfg *cfg = s->work->cfg;
    uint32_t point = s->work->kernel->max_pressure_at, b = cfg->block_of[point], found = HD_NONE;
    bool several = false;
    hd_array_clear(queue);
    bool on = search_block(s, v, b, point + s->after, &found, &several);
    if (on)
        hd_array_push(queue, b);
    for (uint32_t i = 0; i < queue->count && !several; i++) {
        several = ++*visits > MOST_VISITS;
        const uint32_t *preds = hd_block_predecessors(cfg, queue->items[i]);
        for (uint32_t p = 0; p < cfg->blocks[queue->items[i]].pred_count; p++) {
            if (stamp[preds[p]] == v + 1)
                continue;
            stamp[preds[p]] = v + 1;
            if (search_block(s, v, preds[p], cfg->blocks[preds[p]].end, &found, &several))
                hd_array_push(queue, preds[p]);
        }
    }
    return several ? HD_NONE : found;
}

/* The last read in the live range around the point, if the register has several values. */
static void narrow_last_use(value_search *s)
{
    const hd_report_kernel *k = s->work->kernel;
    uint32_t point = k->max_pressure_at;
    uint32_t *last = hd_arena_alloc(&s->work->scratch, ((size_t)k->register_count + 1) * sizeof *last);
    memset(last, 0xff, ((size_t)k->register_count + 1) * sizeof *last);
    for (uint32_t i = 0; i < k->range_count; i++)
        if (k->ranges[i].first <= point && point <= k->ranges[i].last)
            last[k->ranges[i].reg] = k->ranges[i].last;
    for (uint32_t t = 0; t < k->touch_count; t++) {
        const hd_report_touch *touch = &k->touches[t];
        uint32_t v = s->value_of[touch->reg] - 1;
        if (v != HD_NONE && touch->access & HD_REPORT_READ && s->work->definitions[touch->reg] > 1 &&
            touch->instruction >= point && touch->instruction <= last[touch->reg] && last[touch->reg] != HD_NONE)
            s->values[v].last_use = touch->instruction;
    }
}

static void find_definitions(value_search *s)
{
    const hd_report_kernel *k = s->work->kernel;
    uint32_t *stamp = HD_ARENA_ARRAY(&s->work->scratch, uint32_t, k->block_count);
    hd_u32_array queue = {0};
    uint32_t visits = 0;
    for (uint32_t v = 0; v < s->count; v++) {
        uint32_t count = s->first_definition[v + 1] - s->first_definition[v];
        if (count == 1)
            s->values[v].definition = s->definitions[s->first_definition[v]];
        else if (count > 1)
            s->values[v].definition = reaching_definition(s, v, stamp, &queue, &visits);
        if (s->values[v].definition != HD_REPORT_NONE)
            s->values[v].loop_depth = k->instructions[s->values[v].definition].loop_depth;
    }
    hd_array_free(&queue);
    narrow_last_use(s);
}

/* ---- live-through values ----------------------------------------------------------------------------------------- */

/* For a point in no loop: values that are live into a loop's header and not used in the loop. */
static void find_live_through_outside(value_search *s)
{
    const hd_report_kernel *k = s->work->kernel;
    const hd_cfg *cfg = s->work->cfg;
    uint32_t loops = cfg->loop_count;
    uint32_t *touched = HD_ARENA_ARRAY(&s->work->scratch, uint32_t, loops);
    hd_u32_array *by_value = HD_ARENA_ARRAY(&s->work->scratch, hd_u32_array, s->count);
    for (uint32_t t = 0; loops && t < k->touch_count; t++) {
        uint32_t v = s->value_of[k->touches[t].reg] - 1,
                 loop = cfg->blocks[k->instructions[k->touches[t].instruction].block].loop;
        if (v != HD_NONE && loop != HD_NONE)
            hd_array_push(&by_value[v], loop);
    }
    for (uint32_t v = 0; v < s->count; v++) {
        for (uint32_t i = 0; i < by_value[v].count; i++)
            for (uint32_t l = by_value[v].items[i]; l != HD_NONE && touched[l] != v + 1; l = cfg->loops[l].parent)
                touched[l] = v + 1;
        for (uint32_t l = 0; l < loops && !s->values[v].live_through; l++)
            s->values[v].live_through =
                touched[l] != v + 1 &&
                hd_register_set_has(s->work->liveness->live_in[cfg->loops[l].header], s->values[v].reg);
        hd_array_free(&by_value[v]);
    }
}

static bool is_cheap(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    hd_unit unit = hd_form_unit(form);
    return !form->behaviour && insn->guard == HD_NONE && !(insn->flags & HD_INSN_OPAQUE) &&
           (unit == HD_UNIT_INT || unit == HD_UNIT_SP) && form->opcode != HD_OP_DIV && form->opcode != HD_OP_REM;
}

/* Whether rematerializing it frees a register: of a packed pair, the other half must be live-through too, or absent. */
static bool frees_words(const value_search *s, const hd_report_value *v)
{
    uint32_t other = s->work->packed[v->reg];
    return v->words && (other == HD_NONE || !s->value_of[other] || s->values[s->value_of[other] - 1].live_through);
}

static const char *remedy_of(const value_search *s, const hd_report_value *v)
{
    const hd_function *f = s->work->function;
    if (f->machine) /* nobody edits it */
        return NULL;
    if (!v->live_through || v->definition == HD_REPORT_NONE || !frees_words(s, v))
        return NULL;
    const hd_instruction *insn = &f->instructions.items[v->definition];
    const hd_form *form = hd_insn_form(f, insn);
    if (form->opcode == HD_OP_LD &&
        (form->space == HD_SPACE_PARAM || form->space == HD_SPACE_PARAM_ENTRY || form->space == HD_SPACE_CONST))
        return "reload";
    if (!is_cheap(f, insn))
        return NULL;
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_USE && (!s->value_of[o->value] || s->work->definitions[o->value] > 1))
            return NULL;
    return "rematerialize";
}

void report_values(report_kernel_work *work)
{
    value_search s = {.work = work};
    if (work->kernel->max_pressure_at == HD_REPORT_NONE)
        return;
    list_values(&s);
    mark_loops(&s);
    collect_accesses(&s);
    find_definitions(&s);
    if (s.loop == HD_NONE)
        find_live_through_outside(&s);
    for (uint32_t v = 0; v < s.count && s.loop != HD_NONE; v++)
        s.values[v].live_through = !s.touched[v];
    for (uint32_t v = 0; v < s.count; v++)
        s.values[v].remedy = remedy_of(&s, &s.values[v]);
    work->kernel->values = s.values;
    work->kernel->value_count = s.count;
}
