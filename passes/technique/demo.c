/* demo(operands=N): direct memory operands. Mohammadpur-Fard et al., "Exploiting Direct Memory Operands in GPU
 * Instructions" (DeMO), IEEE Computer Architecture Letters 2024, section III, algorithms 1 and 2 (line 4 of algorithm 2
 * read as "loaders").
 *
 * A load whose value is read exactly once, by an arithmetic instruction of the same block, becomes a memory operand of
 * that instruction. It is moved directly before its consumer, and both are annotated: `demo` at the load, which no
 * longer needs a register, and `demo_operand` at the source that it delivers: the pair in which the paper encodes the
 * instruction. The text stays PTX, with the load's own type and extension. An instruction takes up to `operands` memory
 * operands; their loads precede it in operand order.
 *
 * Conversion must preserve semantics. Load and consumer have the same guard. Neither the guard nor a register of the
 * address is written between them, under a guard or not. The load's is the only definition that reaches the operand,
 * and the operand its only use. Between them is no instruction that the load may not pass: barrier, fence, atomic,
 * call, exchange within the warp, volatile, ordered or unknown instruction, clock read, or a store that may write the
 * loaded bytes. A generic address may alias any space. Parameters, constants and non-coherent loads may pass stores; a
 * local variable whose address does not escape is written by its own accesses only. Vector, volatile and ordered loads
 * are not converted. The number of such instructions of its block before a load is recorded at the load (`demo_after`),
 * so that a check can verify that it passed none.
 *
 * In virtual form a register that also names other values gets a name of its own for the operand.
 *
 * Values are words of the register file (ir/storage.h), so that aliasing names of allocated code are one slot; a value
 * that an identity renames is not converted. A load is not moved into or out of a scope { }. Annotations of other
 * techniques are dropped where a load moves, because they were made for another order.
 *
 * One forward walk over each block. Complexity: linear in operands, times the logarithm of the local variables.
 * Deterministic. */
#include "ir/machine.h"
#include "ir/operand_loads.h"
#include "passes/technique/demo_use.h"
#include "passes/technique/demo_work.h"
#include "passes/rewrite.h"

enum { HD_DEMO_OPERANDS = 8 }; /* upper limit for one instruction: what a line of the extended spelling holds */

static const char *const kind_names[KINDS] = {"single-use, read by integer arithmetic",
                                              "single-use, read by floating-point arithmetic",
                                              "single-use, read by a store",
                                              "single-use, read as an address",
                                              "single-use, read otherwise",
                                              "not converted: moving the load is unsafe",
                                              "not converted: the consumer has all its memory operands",
                                              "not converted: machine code, and the load is not before its consumer"};

/* ---- what instructions are --------------------------------------------------------------------------------------- */

static bool is_candidate(const demo_pass *p, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(p->function, insn);
    const hd_operand *o = hd_insn_operands(p->function, insn);
    bool load = form->opcode == HD_OP_LD || hd_machine_is_plain_load(form);
    return load && insn->operand_count && form->behaviour == HD_BEHAVE_LOAD && form->vector <= 1 &&
           !hd_insn_reads_bank(p->function, insn) && hd_insn_is_removable(p->function, insn) &&
           o->kind == HD_OPERAND_REGISTER && o->flags & HD_OPERAND_DEF && hd_register_words(p->function, o->value) &&
           !hd_register_set_has(p->liveness->module_wide_registers, o->value);
}

static bool is_arithmetic(const hd_form *form)
{
    hd_unit unit = hd_form_unit(form);
    return form->opcode != HD_OP_MOV && !hd_machine_is_move(form) && form->behaviour == 0 &&
           (unit == HD_UNIT_INT || unit == HD_UNIT_SP || unit == HD_UNIT_DP || unit == HD_UNIT_SFU);
}

static demo_kind kind_of(const demo_pass *p, const hd_instruction *insn, uint8_t slot)
{
    const hd_form *form = hd_insn_form(p->function, insn);
    if (insn->flags & HD_INSN_OPAQUE || slot == HD_SLOT_FIXED)
        return OTHER;
    if (slot == HD_SLOT_BASE)
        return ADDRESS;
    if (form->opcode == HD_OP_ST || (form->machine && form->behaviour == HD_BEHAVE_STORE))
        return COPY;
    if (!is_arithmetic(form) || slot != HD_SLOT_SCALAR)
        return OTHER;
    return hd_form_unit(form) == HD_UNIT_INT ? ARITHMETIC_INTEGER : ARITHMETIC_FLOAT;
}

/* ---- algorithm 1 ------------------------------------------------------------------------------------------------- */

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

static void use(demo_pass *p, uint32_t ordinal, const hd_operand *o, uint8_t slot)
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
        load->kind = (uint8_t)kind_of(p, insn, slot);
        load->safe = demo_is_safe(p, load, ordinal);
    }
}

/* The value is dead in all its words: its live range ends. */
static void end_life(demo_pass *p, demo_load *load)
{
    if (load->spoiled || load->uses != 1)
        return;
    p->counts[load->kind]++;
    if (load->kind > ARITHMETIC_FLOAT)
        return;
    if (load->safe)
        hd_array_push(&p->pairs, ((demo_pair){load->loader, load->consumer, load->operand, load->after}));
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
        /* another definition may reach a reader, or nothing reads it */
        load->spoiled = load->spoiled || load->uses == 0;
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
    hd_array_push(&p->loads, ((demo_load){.loader = ordinal,
                                          .after = demo_hazards_of(p, &p->function->instructions.items[ordinal])}));
    HD_STORAGE_WORDS (&p->storage, o->value, word) {
        demo_load *before = load_at(p, word);
        if (before)
            before->spoiled = true; /* a guarded load leaves the older value in other lanes */
        p->load_of[word] = p->loads.count;
        hd_array_last(&p->loads).words_left++;
    }
}

static void spoil_all(demo_pass *p)
{
    for (uint32_t i = 0; i < p->loads.count; i++)
        p->loads.items[i].spoiled = true;
}

/* The value gets a second name. */
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
    uint8_t slots[HD_REWRITE_OPERANDS];
    bool known = hd_operand_slots(f, insn, slots);
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
            use(p, ordinal, o, known ? slots[o - hd_insn_operands(f, insn)] : (uint8_t)HD_SLOT_FIXED);
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & HD_OPERAND_DEF)
            define(p, ordinal, o);
    demo_remember(p, ordinal);
    if (is_candidate(p, insn))
        begin_life(p, ordinal);
}

static bool is_live_after(const demo_pass *p, const hd_block *block, uint32_t word)
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
            load->spoiled = load->spoiled || is_live_after(p, block, word);
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
    p->past = (demo_past){0};
    for (uint32_t v = 0; v < p->variables.count; v++)
        p->variables.items[v].stores = 0;
    for (uint32_t i = block->first; i < block->end; i++)
        step(p, i);
    end_block(p, block);
}

/* ---- algorithm 2 ------------------------------------------------------------------------------------------------- */

static int compare_pairs(const void *left, const void *right)
{
    const demo_pair *a = left, *b = right;
    if (a->consumer != b->consumer)
        return a->consumer < b->consumer ? -1 : 1;
    return (a->operand > b->operand) - (a->operand < b->operand);
}

/* The first ones of each consumer, up to its limit. */
static void choose_pairs(demo_pass *p)
{
    uint32_t kept = 0, of_consumer = 0, most = hd_option_number(p->context, "operands", HD_DEMO_OPERANDS);
    if (p->pairs.count)
        qsort(p->pairs.items, p->pairs.count, sizeof *p->pairs.items, compare_pairs);
    for (uint32_t i = 0; i < p->pairs.count; i++) {
        bool same = i && p->pairs.items[i - 1].consumer == p->pairs.items[i].consumer;
        of_consumer = same ? of_consumer + 1 : 1;
        if (of_consumer > most)
            p->counts[OCCUPIED]++;
        else
            p->pairs.items[kept++] = p->pairs.items[i];
    }
    p->pairs.count = kept;
}

/* The number of loads of the same consumer after this one. */
static uint32_t loads_after(const demo_pass *p, uint32_t pair)
{
    uint32_t count = 0;
    while (pair + count + 1 < p->pairs.count &&
           p->pairs.items[pair + count + 1].consumer == p->pairs.items[pair].consumer)
        count++;
    return count;
}

static bool is_placed(const demo_pass *p, uint32_t pair)
{
    return p->pairs.items[pair].loader + 1 + loads_after(p, pair) == p->pairs.items[pair].consumer;
}

/* Do all loads of a consumer, `count` from the first one on, directly precede it in operand order? */
static bool are_placed(const demo_pass *p, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        if (!is_placed(p, i))
            return false;
    return true;
}

/* Machine code keeps its order: only loads that directly precede their consumer remain. */
static void keep_placed(demo_pass *p)
{
    uint32_t kept = 0;
    demo_pair *pairs = hd_arena_alloc(&p->context->scratch, (p->pairs.count + 1) * sizeof *pairs);
    for (uint32_t first = 0, count; first < p->pairs.count; first += count) {
        count = loads_after(p, first) + 1;
        bool placed = are_placed(p, first, count);
        p->counts[APART] += placed ? 0 : count;
        for (uint32_t i = first; i < first + count && placed; i++)
            pairs[kept++] = p->pairs.items[i];
    }
    if (kept)
        memcpy(p->pairs.items, pairs, kept * sizeof *pairs);
    p->pairs.count = kept;
}

static bool is_shared(const demo_pass *p, const uint32_t *accesses, uint32_t reg)
{
    return accesses[reg] > 2 && p->function->registers.items[reg].vector == 1;
}

static void name_pair(demo_pass *p, demo_pair pair, uint32_t reg)
{
    hd_function *f = p->function;
    hd_instruction *load = &f->instructions.items[pair.loader], *consumer = &f->instructions.items[pair.consumer];
    hd_operand *from = &f->operands.items[load->operand_first],
               *to = &f->operands.items[consumer->operand_first + pair.operand];
    from->value = to->value = reg;
    from->extra = to->extra = 0;
    load->flags |= HD_INSN_DIRTY;
    consumer->flags |= HD_INSN_DIRTY;
}

/* Gives operands whose register also names other values registers of their own, so that an allocator can omit them. */
static void separate_type(demo_pass *p, const uint32_t *accesses, hd_type type)
{
    hd_function *f = p->function;
    uint32_t count = 0, fresh = 0;
    for (uint32_t named = 0; named < 2; named++) {
        if (named && count)
            fresh = hd_make_registers(f, hd_rewrite_stem(f, "operand", &p->context->scratch), type, count);
        for (uint32_t i = 0; i < p->pairs.count && (!named || count); i++) {
            uint32_t reg = hd_insn_operands(f, &f->instructions.items[p->pairs.items[i].loader])->value;
            if (f->registers.items[reg].type != type || reg >= p->registers || !is_shared(p, accesses, reg))
                continue;
            if (named)
                name_pair(p, p->pairs.items[i], fresh++);
            else
                count++;
        }
    }
}

static void separate(demo_pass *p)
{
    hd_function *f = p->function;
    uint32_t *accesses = HD_ARENA_ARRAY(&p->context->scratch, uint32_t, f->registers.count + 1);
    p->registers = f->registers.count;
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            accesses[o->value]++;
    for (uint32_t type = 0; type < HD_TYPE_COUNT && !p->storage.architected; type++)
        separate_type(p, accesses, (hd_type)type);
}

/* Loads and consumers keep their ids. */
static void move_loads(demo_pass *p)
{
    hd_function *f = p->function;
    hd_edit edit;
    hd_edit_begin(&edit, f);
    for (uint32_t first = 0, count; first < p->pairs.count; first += count) {
        count = loads_after(p, first) + 1;
        for (uint32_t i = first; i < first + count && !are_placed(p, first, count); i++) {
            hd_instruction load = f->instructions.items[p->pairs.items[i].loader];
            load.flags |= HD_INSN_DIRTY | HD_INSN_FRESH;
            hd_edit_remove(&edit, p->pairs.items[i].loader);
            hd_edit_before(&edit, p->pairs.items[i].consumer, load);
            p->moved += !is_placed(p, i);
        }
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
    uint32_t *ordinals = HD_ARENA_ARRAY(&p->context->scratch, uint32_t, f->next_instruction_id);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        ordinals[f->instructions.items[i].id] = i;
    for (uint32_t i = 0; i < p->pairs.count; i++) {
        uint32_t consumer = ordinals[ids[i]], load = consumer - 1 - loads_after(p, i);
        uint32_t slot = slot_of(f, &f->instructions.items[consumer], p->pairs.items[i].operand);
        hd_annotate(f, (hd_annotation){.kind = HD_ANNOTATION_DEMO, .instruction = load});
        if (p->pairs.items[i].after)
            hd_annotate(f, (hd_annotation){.kind = HD_ANNOTATION_DEMO_AFTER,
                                           .instruction = load,
                                           .value = p->pairs.items[i].after});
        hd_annotate(
            f, (hd_annotation){.kind = HD_ANNOTATION_DEMO_OPERAND, .slot = (uint16_t)slot, .instruction = consumer});
    }
    hd_annotations_sort(f);
}

static void rewrite(demo_pass *p)
{
    uint32_t *ids = HD_ARENA_ARRAY(&p->context->scratch, uint32_t, p->pairs.count);
    for (uint32_t i = 0; i < p->pairs.count; i++)
        ids[i] = p->function->instructions.items[p->pairs.items[i].consumer].id;
    if (p->pairs.count)
        separate(p);
    move_loads(p);
    annotate(p, ids);
}

static void count_use(hd_pass_context *context, hd_operand_use before, hd_operand_use after)
{
    hd_statistic_add(context, "distinct registers before", before.registers);
    hd_statistic_add(context, "distinct registers after", after.registers);
    hd_statistic_add(context, "maximum register pressure before", before.pressure);
    hd_statistic_add(context, "maximum register pressure after", after.pressure);
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

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
    demo_list_variables(&p);
    for (uint32_t b = 0; b < p.cfg->block_count; b++)
        if (p.cfg->blocks[b].reachable)
            find_loads(&p, b);
    choose_pairs(&p);
    if (f->machine)
        keep_placed(&p);
    bool asked = context->counts && p.pairs.count;
    hd_operand_use before = asked ? hd_operand_use_of(f) : (hd_operand_use){0};
    rewrite(&p);
    if (asked)
        count_use(context, before, hd_operand_use_of(f));
    for (uint32_t k = 0; k < KINDS; k++)
        if (k != APART || f->machine)
            hd_statistic_add(context, kind_names[k], p.counts[k]);
    hd_statistic_add(context, "loads converted to memory operands", p.pairs.count);
    hd_statistic_add(context, "loads moved", p.moved);
    bool any = had || p.pairs.count;
    hd_array_free(&p.loads);
    hd_array_free(&p.pairs);
    hd_array_free(&p.variables);
    return any;
}
