/* demo: operands in memory. "DeMO: direct memory operands", section III, algorithms 1 and 2 (line 4 of algorithm 2 read as "loaders").
 *
 * A load whose value is read exactly once, by an arithmetic instruction of the same block, becomes that instruction's operand in memory. It
 * is moved directly before it, and both are annotated: `demo` at the load, which needs no register any more, and `demo_operand` at
 * the source that it delivers: the pair in which the paper encodes the instruction. The text stays PTX, with the load's own type and extension.
 *
 * Made only where that changes nothing: both have the same guard; neither the guard nor a register of the address is written between,
 * under a guard or not; the load's is the only definition that reaches the operand, and the operand its only use; and between them
 * stands no barrier, fence, atomic, call, exchange within the warp, volatile, ordered or unknown instruction, and no store that may
 * write what is loaded. A generic address may be any; parameters, constants and non-coherent loads pass stores. Vector loads, and
 * volatile and ordered ones, stay. An instruction takes one operand in memory: the first in its operand order.
 *
 * Values are followed as words of the register file (ir/storage.h), so that names that alias in allocated code are one place; a value
 * that an identity gives another name stays. Nor is a load moved into or out of a scope { }.
 * Annotations of other techniques are dropped where a load moves: they were made for another order.
 *
 * One walk forward over each block. Complexity: linear in operands. Deterministic.
 */
#include "passes/liveness.h"
#include "passes/rewrite.h"

typedef enum demo_kind { ARITHMETIC_INTEGER, ARITHMETIC_FLOAT, COPY, ADDRESS, OTHER, UNSAFE, OCCUPIED, KINDS } demo_kind;
static const char *const kind_names[KINDS] = {"read once by integer arithmetic",    "read once by floating-point arithmetic",
                                              "read once by a store",               "read once as an address",
                                              "read once by something else",        "kept: moving them is not safe",
                                              "kept: the consumer has an operand in memory"};

/* What the last instruction of its kind was: 1 + ordinal. */
typedef struct demo_past {
    uint32_t blocker, any_store, global, shared, local, param, generic;
} demo_past;

typedef struct demo_load { /* R_active of algorithm 1 */
    uint32_t loader, consumer, operand, uses, words_left;
    bool spoiled, safe;
    uint8_t kind;
} demo_load;

typedef struct demo_pair {
    uint32_t loader, consumer, operand;
} demo_pair;

typedef struct demo_pass {
    hd_pass_context *context;
    hd_function *function;
    const hd_cfg *cfg;
    const hd_liveness *liveness;
    hd_storage storage;
    const hd_register_set *live_in;
    HD_ARRAY(demo_load) loads;  /* of the block */
    HD_ARRAY(demo_pair) pairs;
    uint32_t *load_of;          /* by word: 1 + index in loads */
    uint32_t *word_written, *register_written; /* 1 + ordinal of the last write, of any kind */
    uint32_t *scope_of;         /* by instruction */
    demo_past past;
    uint64_t counts[KINDS], moved;
} demo_pass;

/* ---- what instructions are ------------------------------------------------------------------------------------------ */

static bool is_weak(const hd_form *form)
{
    uint16_t order = form->modifiers[HD_GROUP_SEM];
    return order == 0 || order == HD_MOD_SEM_WEAK;
}

static bool is_candidate(const demo_pass *p, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(p->function, insn);
    const hd_operand *o = hd_insn_operands(p->function, insn);
    return form->opcode == HD_OP_LD && form->behaviour == HD_BEHAVE_LOAD && form->vector <= 1 &&
           hd_insn_is_removable(p->function, insn) && o->kind == HD_OPERAND_REGISTER && o->flags & HD_OPERAND_DEF &&
           hd_register_words(p->function, o->value) && !hd_register_set_has(p->liveness->module_wide_registers, o->value);
}

static bool is_arithmetic(const hd_form *form)
{
    hd_unit unit = hd_form_unit(form);
    return form->opcode != HD_OP_MOV && form->behaviour == 0 &&
           (unit == HD_UNIT_INT || unit == HD_UNIT_SP || unit == HD_UNIT_DP || unit == HD_UNIT_SFU);
}

static demo_kind kind_of(const demo_pass *p, const hd_instruction *insn, uint8_t place)
{
    const hd_form *form = hd_insn_form(p->function, insn);
    if (insn->flags & HD_INSN_OPAQUE || place == HD_PLACE_FIXED)
        return OTHER;
    if (place == HD_PLACE_BASE)
        return ADDRESS;
    if (form->opcode == HD_OP_ST)
        return COPY;
    if (!is_arithmetic(form) || place != HD_PLACE_SCALAR)
        return OTHER;
    return hd_form_unit(form) == HD_UNIT_INT ? ARITHMETIC_INTEGER : ARITHMETIC_FLOAT;
}

static uint32_t *store_of_space(demo_past *past, uint8_t space)
{
    switch (space) {
    case HD_SPACE_GLOBAL: return &past->global;
    case HD_SPACE_SHARED: case HD_SPACE_SHARED_CTA: case HD_SPACE_SHARED_CLUSTER: return &past->shared;
    case HD_SPACE_LOCAL: return &past->local;
    case HD_SPACE_PARAM: case HD_SPACE_PARAM_ENTRY: case HD_SPACE_PARAM_FUNC: return &past->param;
    default: return &past->generic;
    }
}

/* What may stand between, as far as memory and the warp are concerned. */
static void remember(demo_pass *p, uint32_t ordinal)
{
    const hd_instruction *insn = &p->function->instructions.items[ordinal];
    const hd_form *form = hd_insn_form(p->function, insn);
    const uint32_t harmless = HD_BEHAVE_LOAD | HD_BEHAVE_STORE | HD_BEHAVE_DIVERGENT | HD_BEHAVE_TEXTURE;
    bool memory = form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE);
    bool ordered = memory && (!is_weak(form) || form->modifiers[HD_GROUP_CACHE] == HD_MOD_CACHE_CV);
    if (insn->flags & HD_INSN_OPAQUE || form->behaviour & ~harmless || ordered)
        p->past.blocker = ordinal + 1;
    if (!(form->behaviour & HD_BEHAVE_STORE))
        return;
    p->past.any_store = ordinal + 1;
    *store_of_space(&p->past, form->opcode == HD_OP_ST ? form->space : HD_SPACE_NONE) = ordinal + 1;
}

/* ---- is it safe ------------------------------------------------------------------------------------------------------ */

static bool stores_between(demo_pass *p, const hd_form *load, uint32_t after)
{
    if (load->space == HD_SPACE_CONST || load->modifiers[HD_GROUP_NC])
        return false;
    if (load->space == HD_SPACE_PARAM || load->space == HD_SPACE_PARAM_ENTRY || load->space == HD_SPACE_PARAM_FUNC)
        return p->past.param > after;
    if (load->space == HD_SPACE_NONE)
        return p->past.any_store > after;
    return p->past.generic > after || *store_of_space(&p->past, load->space) > after;
}

static bool written_between(const demo_pass *p, uint32_t reg, uint32_t after)
{
    if (p->register_written[reg] > after)
        return true;
    HD_STORAGE_WORDS (&p->storage, reg, word)
        if (p->word_written[word] > after)
            return true;
    return false;
}

/* May the load go directly before instruction `to`, whose own writes are not known yet? */
static bool is_safe(demo_pass *p, const demo_load *load, uint32_t to)
{
    const hd_function *f = p->function;
    const hd_instruction *from = &f->instructions.items[load->loader], *consumer = &f->instructions.items[to];
    uint32_t after = load->loader + 1;
    if (from->guard != consumer->guard || (from->flags ^ consumer->flags) & HD_INSN_GUARD_NOT)
        return false;
    if (from->guard != HD_NONE && written_between(p, from->guard, after))
        return false;
    HD_INSN_REGISTERS (f, from, o)
        if (o->flags & HD_OPERAND_USE && written_between(p, o->value, after))
            return false;
    return p->past.blocker <= after && !stores_between(p, hd_insn_form(f, from), after) && p->scope_of[load->loader] == p->scope_of[to];
}

/* ---- algorithm 1 ------------------------------------------------------------------------------------------------------ */

static demo_load *load_at(const demo_pass *p, uint32_t word)
{
    return p->load_of[word] ? &p->loads.items[p->load_of[word] - 1] : NULL;
}

static bool reads_whole(const demo_pass *p, const demo_load *load, const hd_operand *o)
{
    const hd_function *f = p->function;
    const hd_operand *loaded = hd_insn_operands(f, &f->instructions.items[load->loader]);
    return hd_operand_selector(f, o) == HD_NO_NAME && o->value == loaded->value && !(o->flags & HD_OPERAND_DEF);
}

static void use(demo_pass *p, uint32_t ordinal, const hd_operand *o, uint8_t place)
{
    const hd_function *f = p->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    demo_load *last = NULL;
    HD_STORAGE_WORDS (&p->storage, o->value, word) {
        demo_load *load = load_at(p, word);
        if (!load || load == last)
            continue;
        last = load;
        load->uses++;
        load->spoiled = load->spoiled || !reads_whole(p, load, o);
        load->consumer = ordinal;
        load->operand = (uint32_t)(o - hd_insn_operands(f, insn));
        load->kind = (uint8_t)kind_of(p, insn, place);
        load->safe = is_safe(p, load, ordinal);
    }
}

/* The value's life is over in all its words. */
static void end_life(demo_pass *p, demo_load *load)
{
    if (load->spoiled || load->uses != 1)
        return;
    p->counts[load->kind]++;
    if (load->kind > ARITHMETIC_FLOAT)
        return;
    if (load->safe)
        hd_array_push(&p->pairs, ((demo_pair){load->loader, load->consumer, load->operand}));
    else
        p->counts[UNSAFE]++;
}

static void define(demo_pass *p, uint32_t ordinal, const hd_operand *o)
{
    const hd_instruction *insn = &p->function->instructions.items[ordinal];
    bool kills = hd_definition_kills(p->function, insn, o);
    p->register_written[o->value] = ordinal + 1;
    HD_STORAGE_WORDS (&p->storage, o->value, word) {
        demo_load *load = load_at(p, word);
        p->word_written[word] = ordinal + 1;
        if (!load)
            continue;
        load->spoiled = load->spoiled || load->uses == 0; /* another definition reaches what may read it; or none does */
        if (!kills)
            continue;
        p->load_of[word] = 0;
        if (--load->words_left == 0)
            end_life(p, load);
    }
}

static void begin_life(demo_pass *p, uint32_t ordinal)
{
    const hd_operand *o = hd_insn_operands(p->function, &p->function->instructions.items[ordinal]);
    hd_array_push(&p->loads, ((demo_load){.loader = ordinal}));
    HD_STORAGE_WORDS (&p->storage, o->value, word) {
        demo_load *before = load_at(p, word);
        if (before)
            before->spoiled = true; /* a guarded load leaves it in other lanes */
        p->load_of[word] = p->loads.count;
        hd_array_last(&p->loads).words_left++;
    }
}

static void spoil_all(demo_pass *p)
{
    for (uint32_t i = 0; i < p->loads.count; i++)
        p->loads.items[i].spoiled = true;
}

/* The same value under another name. */
static void spoil_named(demo_pass *p, const hd_instruction *insn)
{
    HD_INSN_REGISTERS (p->function, insn, o)
        HD_STORAGE_WORDS (&p->storage, o->value, word)
            if (load_at(p, word))
                load_at(p, word)->spoiled = true;
}

static void step(demo_pass *p, uint32_t ordinal)
{
    const hd_function *f = p->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    uint8_t places[HD_REWRITE_OPERANDS];
    bool known = hd_operand_places(f, insn, places);
    if (hd_storage_skips(&p->storage, ordinal)) {
        spoil_named(p, insn);
        HD_INSN_REGISTERS (f, insn, o)
            p->register_written[o->value] = ordinal + 1; /* the name begins here */
        return;
    }
    if (insn->flags & HD_INSN_OPAQUE)
        spoil_all(p);
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_USE)
            use(p, ordinal, o, known ? places[o - hd_insn_operands(f, insn)] : (uint8_t)HD_PLACE_FIXED);
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_DEF)
            define(p, ordinal, o);
    remember(p, ordinal);
    if (is_candidate(p, insn))
        begin_life(p, ordinal);
}

static bool is_live_behind(const demo_pass *p, const hd_block *block, uint32_t word)
{
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++)
        if (hd_register_set_has(p->live_in[p->cfg->successors[e]], word))
            return true;
    return false;
}

static void end_block(demo_pass *p, const hd_block *block)
{
    for (uint32_t i = 0; i < p->loads.count; i++) {
        demo_load *load = &p->loads.items[i];
        const hd_operand *o = hd_insn_operands(p->function, &p->function->instructions.items[load->loader]);
        bool mine = false;
        HD_STORAGE_WORDS (&p->storage, o->value, word) {
            if (p->load_of[word] != i + 1)
                continue;
            mine = true;
            load->spoiled = load->spoiled || is_live_behind(p, block, word);
            p->load_of[word] = 0;
        }
        if (mine)
            end_life(p, load);
    }
}

static void find_loads(demo_pass *p, uint32_t b)
{
    const hd_block *block = &p->cfg->blocks[b];
    hd_array_clear(&p->loads);
    for (uint32_t i = block->first; i < block->end; i++)
        step(p, i);
    end_block(p, block);
}

/* ---- algorithm 2 ------------------------------------------------------------------------------------------------------ */

static int compare_pairs(const void *left, const void *right)
{
    const demo_pair *a = left, *b = right;
    if (a->consumer != b->consumer)
        return a->consumer < b->consumer ? -1 : 1;
    return (a->operand > b->operand) - (a->operand < b->operand);
}

/* One a consumer. */
static void choose_pairs(demo_pass *p)
{
    uint32_t kept = 0;
    if (p->pairs.count)
        qsort(p->pairs.items, p->pairs.count, sizeof *p->pairs.items, compare_pairs);
    for (uint32_t i = 0; i < p->pairs.count; i++)
        if (kept && p->pairs.items[kept - 1].consumer == p->pairs.items[i].consumer)
            p->counts[OCCUPIED]++;
        else
            p->pairs.items[kept++] = p->pairs.items[i];
    p->pairs.count = kept;
}

/* Loads and consumers keep their ids. */
static void move_loads(demo_pass *p)
{
    hd_function *f = p->function;
    hd_edit edit;
    hd_edit_begin(&edit, f);
    for (uint32_t i = 0; i < p->pairs.count; i++) {
        demo_pair pair = p->pairs.items[i];
        if (pair.loader + 1 == pair.consumer)
            continue;
        hd_instruction load = f->instructions.items[pair.loader];
        load.flags |= HD_INSN_DIRTY | HD_INSN_FRESH;
        hd_edit_remove(&edit, pair.loader);
        hd_edit_before(&edit, pair.consumer, load);
        p->moved++;
    }
    if (edit.steps.count)
        hd_annotations_remove(f, "*");
    hd_edit_end(&edit);
}

static uint32_t slot_of(const hd_function *f, const hd_instruction *insn, uint32_t operand)
{
    uint32_t slot = 0;
    while (hd_insn_source_slot(f, insn, slot) != insn->operand_first + operand)
        slot++;
    return slot;
}

static void annotate(demo_pass *p, const uint32_t *ids)
{
    hd_function *f = p->function;
    uint32_t *place = HD_ARENA_ARRAY(&p->context->scratch, uint32_t, f->next_instruction_id);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        place[f->instructions.items[i].id] = i;
    for (uint32_t i = 0; i < p->pairs.count; i++) {
        uint32_t consumer = place[ids[i]];
        uint32_t slot = slot_of(f, &f->instructions.items[consumer], p->pairs.items[i].operand);
        hd_annotate(f, (hd_annotation){.kind = HD_ANNOTATION_DEMO, .instruction = consumer - 1});
        hd_annotate(f, (hd_annotation){.kind = HD_ANNOTATION_DEMO_OPERAND, .slot = (uint16_t)slot, .instruction = consumer});
    }
    hd_annotations_sort(f);
}

static void rewrite(demo_pass *p)
{
    uint32_t *ids = HD_ARENA_ARRAY(&p->context->scratch, uint32_t, p->pairs.count);
    for (uint32_t i = 0; i < p->pairs.count; i++)
        ids[i] = p->function->instructions.items[p->pairs.items[i].consumer].id;
    move_loads(p);
    annotate(p, ids);
}

/* ---- the function ------------------------------------------------------------------------------------------------------ */

static void number_scopes(demo_pass *p)
{
    const hd_function *f = p->function;
    uint32_t scope = 0;
    for (uint32_t i = 0; i < f->statements.count; i++) {
        const hd_statement *s = &f->statements.items[i];
        scope += s->kind == HD_STATEMENT_SCOPE_OPEN || s->kind == HD_STATEMENT_SCOPE_CLOSE;
        if (s->kind == HD_STATEMENT_INSTRUCTION)
            p->scope_of[s->index] = scope;
    }
}

bool hd_pass_demo(hd_pass_context *context)
{
    hd_function *f = context->function;
    hd_arena *arena = &context->scratch;
    demo_pass p = {.context = context, .function = f, .cfg = hd_function_cfg(f)};
    bool had = f->annotations.count != 0;
    hd_annotations_remove(f, "demo");
    p.liveness = hd_analysis_get(context, HD_ANALYSIS_LIVE_WORDS);
    p.storage = *(const hd_storage *)hd_analysis_get(context, HD_ANALYSIS_STORAGE);
    p.live_in = p.liveness->live_in;
    p.load_of = HD_ARENA_ARRAY(arena, uint32_t, p.storage.words + 1);
    p.word_written = HD_ARENA_ARRAY(arena, uint32_t, p.storage.words + 1);
    p.register_written = HD_ARENA_ARRAY(arena, uint32_t, f->registers.count + 1);
    p.scope_of = HD_ARENA_ARRAY(arena, uint32_t, f->instructions.count + 1);
    number_scopes(&p);
    for (uint32_t b = 0; b < p.cfg->block_count; b++)
        if (p.cfg->blocks[b].reachable)
            find_loads(&p, b);
    choose_pairs(&p);
    rewrite(&p);
    for (uint32_t k = 0; k < KINDS; k++)
        hd_statistic_add(context, kind_names[k], p.counts[k]);
    hd_statistic_add(context, "loads made operands in memory", p.pairs.count);
    hd_statistic_add(context, "loads moved", p.moved);
    bool any = had || p.pairs.count;
    hd_array_free(&p.loads);
    hd_array_free(&p.pairs);
    return any;
}
