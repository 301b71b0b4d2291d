/* Liveness, restricted to points that a definition reaches.
 *
 * In PTX, values often seem live on all paths but are defined only on some: a register written under a guard or in a
 * branch, and read under the same condition. Thread-level liveness has it live from the entry. Before its first
 * definition it holds no value, so it needs no register there, and does not count.
 *
 * This concerns only registers that are live into the entry. For each, a forward search from the blocks that define it,
 * through blocks that it is live into. Linear in instructions and in the live-in sets' sizes times successors.
 */
#include "driver/report/report_work.h"

#include <stdlib.h>

typedef struct live_at {
    uint32_t reg, block;
} live_at;
typedef HD_ARRAY(live_at) live_at_list;

static int compare_live_at(const void *a, const void *b)
{
    const live_at *x = a, *y = b;
    if (x->reg != y->reg)
        return x->reg < y->reg ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static bool has_live_at(const live_at_list *list, uint32_t reg, uint32_t block)
{
    live_at key = {reg, block};
    return list->count && bsearch(&key, list->items, list->count, sizeof key, compare_live_at);
}

static bool is_written(const hd_instruction *insn, const hd_operand *o)
{
    return o->flags & HD_OPERAND_DEF || insn->flags & HD_INSN_OPAQUE;
}

/* Finds registers that are live into the entry and not parameters; true if there are any. */
static bool find_partial(report_kernel_work *work, const hd_liveness *liveness)
{
    const hd_function *f = work->function;
    report_live *live = &work->live;
    live->partial = hd_bitset_new(&work->scratch, f->registers.count);
    for (uint32_t i = 0; i < liveness->live_in[0].count; i++)
        hd_bitset_add(&live->partial, liveness->live_in[0].items[i]);
    for (uint32_t i = 0; i < f->register_parameters.count; i++)
        hd_bitset_remove(&live->partial, f->register_parameters.items[i]);
    for (uint32_t i = 0; i < liveness->module_wide.count; i++)
        hd_bitset_remove(&live->partial, liveness->module_wide.items[i]);
    return hd_bitset_count(&live->partial) > 0;
}

static void find_definitions(report_kernel_work *work, live_at_list *definitions)
{
    const hd_function *f = work->function;
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            if (is_written(&f->instructions.items[i], o) && hd_bitset_has(&work->live.partial, o->value))
                hd_array_push(definitions, (live_at){o->value, work->cfg->block_of[i]});
    if (definitions->count)
        qsort(definitions->items, definitions->count, sizeof(live_at), compare_live_at);
}

/* Appends to `found` the blocks that a definition of the register reaches and that it is live into. */
static void search_down(report_kernel_work *work, const hd_liveness *liveness, uint32_t reg, uint32_t *stamp,
                        live_at_list *found, hd_u32_array *queue)
{
    for (uint32_t q = 0; q < queue->count; q++) {
        const uint32_t *next = hd_block_successors(work->cfg, queue->items[q]);
        for (uint32_t s = 0; s < work->cfg->blocks[queue->items[q]].succ_count; s++) {
            if (next[s] == work->cfg->block_count || stamp[next[s]] == reg + 1 ||
                !hd_register_set_has(liveness->live_in[next[s]], reg))
                continue;
            stamp[next[s]] = reg + 1;
            hd_array_push(found, (live_at){reg, next[s]});
            hd_array_push(queue, next[s]);
        }
    }
}

static void search_all(report_kernel_work *work, const hd_liveness *liveness, const live_at_list *definitions,
                       live_at_list *found)
{
    uint32_t *stamp = HD_ARENA_ARRAY(&work->scratch, uint32_t, work->cfg->block_count);
    hd_u32_array queue = {0};
    for (uint32_t d = 0; d < definitions->count;) {
        uint32_t reg = definitions->items[d].reg;
        hd_array_clear(&queue);
        for (; d < definitions->count && definitions->items[d].reg == reg; d++)
            if (!queue.count || hd_array_last(&queue) != definitions->items[d].block)
                hd_array_push(&queue, definitions->items[d].block);
        search_down(work, liveness, reg, stamp, found, &queue);
    }
    hd_array_free(&queue);
    if (found->count)
        qsort(found->items, found->count, sizeof(live_at), compare_live_at);
}

/* The set without registers that no definition reaches: neither before block b (`into`) nor in it (`inside`; may be
 * NULL). */
static hd_register_set filter(report_kernel_work *work, hd_register_set set, uint32_t b, const live_at_list *into,
                              const live_at_list *inside)
{
    uint32_t *kept = hd_arena_alloc(&work->scratch, ((size_t)set.count + 1) * sizeof *kept), count = 0;
    for (uint32_t i = 0; i < set.count; i++) {
        uint32_t reg = set.items[i];
        if (!hd_bitset_has(&work->live.partial, reg) || has_live_at(into, reg, b) ||
            (inside && has_live_at(inside, reg, b)))
            kept[count++] = reg;
    }
    return (hd_register_set){kept, count};
}

static const hd_liveness *filter_all(report_kernel_work *work, const hd_liveness *liveness)
{
    uint32_t blocks = work->cfg->block_count;
    live_at_list definitions = {0}, found = {0};
    hd_liveness *result = HD_ARENA_NEW(&work->scratch, hd_liveness);
    hd_register_set *in = HD_ARENA_ARRAY(&work->scratch, hd_register_set, blocks + 1),
                    *out = HD_ARENA_ARRAY(&work->scratch, hd_register_set, blocks + 1);
    find_definitions(work, &definitions);
    search_all(work, liveness, &definitions, &found);
    for (uint32_t b = 0; b < blocks; b++) {
        in[b] = filter(work, liveness->live_in[b], b, &found, NULL);
        out[b] = filter(work, liveness->live_out[b], b, &found, &definitions);
    }
    in[blocks] = liveness->live_in[blocks];
    hd_array_free(&definitions);
    hd_array_free(&found);
    *result = *liveness;
    result->live_in = in;
    result->live_out = out;
    return result;
}

void report_live_init(report_kernel_work *work)
{
    const hd_liveness *liveness = hd_analysis_get(&work->context, HD_ANALYSIS_LIVENESS);
    report_live *live = &work->live;
    if (work->cfg->block_count && find_partial(work, liveness)) {
        liveness = filter_all(work, liveness);
        live->any_partial = true;
        live->first = HD_ARENA_ARRAY(&work->scratch, uint32_t, work->function->registers.count);
        live->stamp = HD_ARENA_ARRAY(&work->scratch, uint32_t, work->function->registers.count);
    }
    work->liveness = liveness;
    hd_live_walk_init(&live->walk, &work->scratch, work->function, liveness);
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

void report_live_start(report_kernel_work *work, uint32_t block)
{
    const hd_function *f = work->function;
    report_live *live = &work->live;
    hd_live_start(&live->walk, block);
    for (uint32_t i = work->cfg->blocks[block].first; live->any_partial && i < work->cfg->blocks[block].end; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            if (is_written(&f->instructions.items[i], o) && live->stamp[o->value] != block + 1) {
                live->stamp[o->value] = block + 1;
                live->first[o->value] = i;
            }
}

static void drop_undefined(report_live *live, uint32_t reg)
{
    hd_live_walk *w = &live->walk;
    bool defined = live->stamp[reg] == w->block + 1 && live->first[reg] < w->ordinal;
    if (!hd_live_has(w, reg) || !hd_bitset_has(&live->partial, reg) || defined ||
        hd_register_set_has(w->liveness->live_in[w->block], reg))
        return;
    uint32_t last = w->members[--w->count];
    w->members[w->position[reg]] = last;
    w->position[last] = w->position[reg];
}

void report_live_step(report_kernel_work *work)
{
    report_live *live = &work->live;
    hd_live_step(&live->walk);
    if (!live->any_partial)
        return;
    const hd_instruction *insn = &work->function->instructions.items[live->walk.ordinal];
    HD_INSN_REGISTERS (work->function, insn, o)
        drop_undefined(live, o->value);
    if (insn->guard != HD_NONE)
        drop_undefined(live, insn->guard);
}
