/* Splits physical registers into webs. A web is a maximal set of definitions and uses of one name, each use with all
 * definitions that reach it. Webs of one name are independent and may get slots of their own. Each becomes a virtual
 * register of the name's class; predicates and the carry flag are left.
 *
 * Method: a node for each killing definition and for each name that is live into a block; nodes are unified where a
 * value flows from one to the other. Complexity: nearly O(instructions + sum of the live-in sets). */
#include "passes/technique/regmutex_work.h"

#include "ir/build.h"
#include "ir/graph.h"
#include "passes/rewrite.h"

#include <stdio.h>

typedef struct webs {
    hd_function *f;
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    hd_u32_array link, name; /* by node: union-find; the register it began as */
    uint32_t *entry_first;   /* by block: its nodes, in the order of live_in */
    uint32_t *now;           /* by register: its node here; HD_NONE */
    uint32_t *defined;       /* by register: the last instruction that defined it, + 1 */
    uint32_t *of;            /* by operand of the function: node */
    hd_u32_array touched;
} webs;

static bool has_webs(const webs *w, uint32_t reg) { return hd_register_physical(w->f, reg).words != 0; }

static uint32_t new_node(webs *w, uint32_t reg)
{
    uint32_t node = w->link.count;
    hd_array_push(&w->link, node);
    hd_array_push(&w->name, reg);
    return node;
}

static void unite(webs *w, uint32_t a, uint32_t b)
{
    a = hd_union_find(w->link.items, a);
    b = hd_union_find(w->link.items, b);
    if (a != b)
        w->link.items[hd_max(a, b)] = hd_min(a, b);
}

static void set_now(webs *w, uint32_t reg, uint32_t node)
{
    w->now[reg] = node;
    hd_array_push(&w->touched, reg);
}

static void name_operand(webs *w, uint32_t ordinal, const hd_operand *o, bool definition)
{
    const hd_instruction *insn = &w->f->instructions.items[ordinal];
    uint32_t reg = o->value;
    bool fresh = definition && !(o->flags & HD_OPERAND_USE) && !(insn->flags & HD_INSN_OPAQUE) &&
                 w->defined[reg] != ordinal + 1 && hd_definition_kills(w->f, insn, o);
    if (fresh || w->now[reg] == HD_NONE)
        set_now(w, reg, new_node(w, reg));
    if (definition)
        w->defined[reg] = ordinal + 1;
    w->of[o - w->f->operands.items] = w->now[reg];
}

static void walk_instruction(webs *w, uint32_t ordinal)
{
    const hd_instruction *insn = &w->f->instructions.items[ordinal];
    for (int definition = 0; definition < 2; definition++)
        HD_INSN_REGISTERS (w->f, insn, o)
            if (has_webs(w, o->value) &&
                ((o->flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE) ? !definition : definition))
                name_operand(w, ordinal, o, o->flags & HD_OPERAND_DEF);
}

static void walk_block(webs *w, uint32_t b)
{
    const hd_block *block = &w->cfg->blocks[b];
    hd_register_set in = w->liveness->live_in[b];
    for (uint32_t i = 0; i < in.count; i++)
        set_now(w, in.items[i], w->entry_first[b] + i);
    for (uint32_t i = block->first; i < block->end; i++)
        walk_instruction(w, i);
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++) {
        uint32_t to = w->cfg->successors[e];
        hd_register_set set = w->liveness->live_in[to];
        for (uint32_t i = 0; to != w->cfg->block_count && i < set.count; i++)
            if (w->now[set.items[i]] != HD_NONE)
                unite(w, w->now[set.items[i]], w->entry_first[to] + i);
    }
    while (w->touched.count)
        w->now[hd_array_pop(&w->touched)] = HD_NONE;
}

static void find_webs(webs *w, hd_arena *arena)
{
    uint32_t registers = w->f->registers.count;
    w->entry_first = HD_ARENA_ARRAY(arena, uint32_t, w->cfg->block_count + 1u);
    w->now = HD_ARENA_ARRAY(arena, uint32_t, registers + 1u);
    w->defined = HD_ARENA_ARRAY(arena, uint32_t, registers + 1u);
    w->of = HD_ARENA_ARRAY(arena, uint32_t, w->f->operands.count + 1u);
    memset(w->now, 0xff, registers * sizeof *w->now);
    memset(w->of, 0xff, w->f->operands.count * sizeof *w->of);
    for (uint32_t b = 0; b < w->cfg->block_count; b++) {
        w->entry_first[b] = w->link.count;
        for (uint32_t i = 0; i < w->liveness->live_in[b].count; i++)
            new_node(w, w->liveness->live_in[b].items[i]);
    }
    for (uint32_t b = 0; b < w->cfg->block_count; b++)
        walk_block(w, b);
}

/* Numbers the webs that operands name within their class, and declares their registers: by node, the register (of the
 * representative). */
static uint32_t *make_registers(const webs *w, hd_arena *arena)
{
    static const char *const stems[HD_PHYSICAL_CLASSES] = {"", "", "webB", "webH", "webR", "webD", "webQ"};
    uint32_t counts[HD_PHYSICAL_CLASSES] = {0}, first[HD_PHYSICAL_CLASSES] = {0};
    uint32_t *numbers = HD_ARENA_ARRAY(arena, uint32_t, w->link.count + 1u); /* number in its class + 1 */
    hd_function *f = w->f;
    for (uint32_t o = 0; o < f->operands.count; o++) {
        uint32_t node = w->of[o] == HD_NONE ? HD_NONE : hd_union_find(w->link.items, w->of[o]);
        if (node != HD_NONE && !numbers[node])
            numbers[node] = ++counts[hd_register_physical(f, w->name.items[node]).class];
    }
    for (uint32_t c = HD_PHYSICAL_BYTE; c < HD_PHYSICAL_CLASSES; c++)
        if (counts[c])
            first[c] = hd_make_registers(f, hd_rewrite_stem(f, stems[c], arena), hd_physical_type((hd_physical_class)c),
                                         counts[c]);
    for (uint32_t n = 0; n < w->link.count; n++)
        if (numbers[n])
            numbers[n] += first[hd_register_physical(f, w->name.items[n]).class] - 1;
    return numbers;
}

static void name_webs(const webs *w, const uint32_t *numbers)
{
    hd_function *f = w->f;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        hd_instruction *insn = &f->instructions.items[i];
        for (uint32_t o = insn->operand_first; o < insn->operand_first + insn->operand_count; o++) {
            if (w->of[o] == HD_NONE)
                continue;
            f->operands.items[o].extra = hd_operand_selector(f, &f->operands.items[o]);
            f->operands.items[o].value = numbers[hd_union_find(w->link.items, w->of[o])];
            insn->flags |= HD_INSN_DIRTY;
        }
    }
}

static void drop_mark(hd_function *f)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->annotations.count; i++)
        if (f->annotations.items[i].kind != HD_ANNOTATION_ARCHITECTED)
            f->annotations.items[kept++] = f->annotations.items[i];
    f->annotations.count = kept;
}

void hd_regmutex_make_webs(hd_pass_context *context)
{
    hd_arena arena = {0};
    webs w = {.f = context->function,
              .cfg = hd_function_cfg(context->function),
              .liveness = hd_analysis_get(context, HD_ANALYSIS_LIVENESS)};
    find_webs(&w, &arena);
    name_webs(&w, make_registers(&w, &arena));
    drop_mark(w.f);
    w.f->changed = true;
    hd_array_free(&w.link);
    hd_array_free(&w.name);
    hd_array_free(&w.touched);
    hd_arena_free(&arena);
}
