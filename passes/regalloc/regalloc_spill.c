/* Spill code. A spilled register is kept in memory, or nowhere if its definition can be rematerialized, and gets a
 * separate register around each access.
 *
 *   memory           st.local after each write, ld.local before a read, at a constant offset in one array of the
 *                    function
 *   rematerialized   a register with one definition, from constants, addresses of variables, kernel parameters or the
 *                    thread's own indices, is not stored: the instruction is repeated before each read
 *   predicate        a word of 0 or 1 in a general register: selp after a write, setp before a read
 *
 * A register in flight stays in one register for the whole span (regalloc_async.c).
 *
 * Within a block, a register that was loaded or written serves later reads while the pressure allows it. Slots are
 * shared by registers that are spilled in one round and whose live ranges are disjoint. Before a guarded write, the old
 * value is loaded.
 *
 * Complexity: O(instructions + accesses of spilled registers, each at most HD_KEEP_REACH positions). */
#include "passes/regalloc/regalloc_work.h"

#include "ir/asynchronous.h"
#include "ir/build.h"
#include "ir/operand_loads.h"
#include "ir/sregs.h"
#include "passes/rewrite.h"

#include <stdio.h>

enum {
    HD_KEEP_REACH = 256, /* positions */
    HD_KEEP_ROOM = 2,    /* registers left free, for aligned pairs */
    HD_KEEP_ROUNDS = 8,
};

typedef enum spill_kind {
    SPILL_MEMORY,
    SPILL_REPEAT,
    SPILL_PREDICATE,
    SPILL_HOME, /* a register of earlier spill code, written and stored at one point: later reads load from its slot */
} spill_kind;

typedef struct spill {
    uint8_t kind;
    uint32_t slot;                      /* MEMORY, HOME: byte offset */
    uint32_t definition;                /* REPEAT: ordinal */
    uint32_t word;                      /* PREDICATE: the general register */
    uint32_t kept, kept_at, kept_block; /* register that has held the value since that position; HD_NONE */
    bool kept_is_loaded;                /* unmodified: the slot holds the same value */
    /* 1 + the start of the operand-load group in which it was last read, and its register there */
    uint32_t group, in_group;
} spill;

typedef struct spiller {
    hd_regalloc *ra;
    hd_function *f;
    uint32_t *index; /* by register: 1 + index in `spills`; 0: not spilled */
    spill *spills;
    hd_u32_array scoped; /* variables of inner scopes */
    hd_edit edit;
    uint32_t registers;            /* number before any was added */
    uint32_t ordinal, block, read; /* the current instruction and its position */
    uint32_t group;                /* start of its group of operand loads, which must stay together */
} spiller;

uint32_t hd_regalloc_new_register(hd_regalloc *ra, hd_type type, uint8_t flags)
{
    hd_function *f = ra->function;
    hd_register fresh = {.name = hd_names_add_string(&f->module->names, "%hd_temporary"),
                         .index = f->registers.count,
                         .declaration = HD_NONE,
                         .type = (uint8_t)type,
                         .vector = 1};
    hd_array_push(&f->registers, fresh);
    hd_array_push(&ra->flags, flags);
    hd_array_push(&ra->home, 0);
    return f->registers.count - 1;
}

/* ---- slots ------------------------------------------------------------------------------------------------------- */

typedef struct interval {
    uint32_t begin, end, reg;
} interval;

static int compare_intervals(const void *left, const void *right)
{
    const interval *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->reg > b->reg) - (a->reg < b->reg);
}

static interval interval_of(const hd_regalloc *ra, uint32_t reg)
{
    interval v = {0, 0, reg};
    uint32_t p = ra->ranges.first[reg];
    if (p != HD_NONE)
        v.begin = ra->ranges.parts.items[p].begin;
    for (; p != HD_NONE; p = ra->ranges.parts.items[p].next)
        v.end = ra->ranges.parts.items[p].end;
    return v;
}

static uint32_t slot_bytes_of(hd_type type)
{
    uint32_t bytes = 1;
    while (8 * bytes < hd_types[type].bits)
        bytes *= 2;
    return bytes;
}

typedef struct slot {
    uint32_t offset, bytes, free_from;
} slot;
typedef HD_ARRAY(slot) slot_list;

static uint32_t find_slot(hd_regalloc *ra, slot_list *slots, interval v, uint32_t bytes)
{
    for (uint32_t i = 0; i < slots->count; i++)
        if (slots->items[i].bytes == bytes && slots->items[i].free_from <= v.begin) {
            slots->items[i].free_from = v.end;
            return slots->items[i].offset;
        }
    uint32_t offset = (ra->slot_bytes + bytes - 1) / bytes * bytes;
    ra->slot_bytes = offset + bytes;
    hd_array_push(slots, (slot){offset, bytes, v.end});
    return offset;
}

static void give_slots(spiller *s, const hd_u32_array *spilled)
{
    interval *order = HD_ARENA_ARRAY(s->ra->arena, interval, spilled->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < spilled->count; i++)
        if (s->spills[i].kind == SPILL_MEMORY)
            order[count++] = interval_of(s->ra, spilled->items[i]);
    qsort(order, count, sizeof *order, compare_intervals);
    slot_list slots = {0};
    for (uint32_t i = 0; i < count; i++) {
        hd_type type = (hd_type)s->f->registers.items[order[i].reg].type;
        s->spills[s->index[order[i].reg] - 1].slot = find_slot(s->ra, &slots, order[i], slot_bytes_of(type));
    }
    hd_array_free(&slots);
    if (count && s->ra->slot_symbol == HD_NONE)
        s->ra->slot_symbol = hd_make_local(s->f, "__hd_spill", 16);
}

/* ---- rematerialization ------------------------------------------------------------------------------------------- */

static bool is_constant_sreg(uint32_t sreg)
{
    switch (sreg) {
    case HD_SREG_TID:
    case HD_SREG_NTID:
    case HD_SREG_CTAID:
    case HD_SREG_NCTAID:
    case HD_SREG_LANEID: return true;
    default: return false;
    }
}

/* Whether a symbol has the same meaning everywhere in the function: not results of calls, nor variables of inner
 * scopes. */
static bool is_fixed_symbol(const spiller *s, uint32_t symbol, bool loaded)
{
    const hd_symbol *known = &s->f->module->symbols.items[symbol];
    if (loaded || known->kind != HD_SYMBOL_VARIABLE)
        return !loaded || known->kind == HD_SYMBOL_PARAMETER;
    return (known->space != HD_SPACE_PARAM || known->function == HD_NONE) &&
           !hd_is_scoped_name(s->f->module, &s->scoped, symbol);
}

/* Whether an instruction has the same result wherever it is repeated, and reads no register. */
static bool repeats(const spiller *s, const hd_instruction *insn)
{
    const hd_function *f = s->f;
    const hd_form *form = hd_insn_form(f, insn);
    const hd_operand *o = hd_insn_operands(f, insn);
    bool parameter = form->opcode == HD_OP_LD && form->space == HD_SPACE_PARAM && f->is_entry && form->vector < 2 &&
                     !(form->behaviour & HD_BEHAVE_VOLATILE);
    bool plain = form->opcode == HD_OP_MOV || form->opcode == HD_OP_CVTA || parameter;
    if (!plain || insn->guard != HD_NONE || insn->flags & HD_INSN_OPAQUE || o[0].kind != HD_OPERAND_REGISTER)
        return false;
    for (uint32_t i = 1; i < insn->operand_count; i++)
        if (o[i].kind == HD_OPERAND_REGISTER || o[i].kind == HD_OPERAND_VECTOR ||
            (o[i].kind == HD_OPERAND_SREG && !is_constant_sreg(o[i].value)) ||
            (o[i].kind == HD_OPERAND_SYMBOL && !is_fixed_symbol(s, o[i].value, parameter)))
            return false;
    return true;
}

/* The only definition of a register, or HD_NONE. */
static uint32_t only_definition(const hd_regalloc *ra, uint32_t reg)
{
    const hd_function *f = ra->function;
    uint32_t found = HD_NONE, count = 0;
    for (uint32_t k = ra->use_first[reg]; k < ra->use_first[reg + 1]; k++)
        HD_INSN_REGISTERS (f, &f->instructions.items[ra->uses[k]], o)
            if (o->value == reg && o->flags & HD_OPERAND_DEF) {
                found = ra->uses[k];
                count++;
            }
    return count == 1 ? found : HD_NONE;
}

static void decide(spiller *s, const hd_u32_array *spilled)
{
    for (uint32_t i = 0; i < spilled->count; i++) {
        uint32_t reg = spilled->items[i], definition = only_definition(s->ra, reg);
        spill *v = &s->spills[i];
        *v = (spill){.kind = SPILL_MEMORY, .kept = HD_NONE};
        s->index[reg] = i + 1;
        bool reloaded = s->ra->flags.items[reg] & HD_RELOADED, home = s->ra->flags.items[reg] & HD_AT_HOME;
        /* a HOME register holds the value of a register with other definitions, too, so its own definition is not
         * repeated */
        if (definition != HD_NONE && (reloaded || (!home && repeats(s, &s->f->instructions.items[definition])))) {
            v->kind = SPILL_REPEAT;
            v->definition = definition;
            s->ra->result.rematerialized += !reloaded;
        } else if (home) {
            v->kind = SPILL_HOME;
            v->slot = s->ra->home.items[reg];
        } else if (hd_regalloc_is_predicate(s->ra, reg)) {
            v->kind = SPILL_PREDICATE;
            v->word = hd_regalloc_new_register(s->ra, HD_TYPE_B32, 0);
        } else {
            s->ra->result.spilled++;
        }
    }
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static uint32_t slot_address(const spiller *s, uint32_t offset, hd_operand *o)
{
    o[0] = hd_make_aggregate(HD_OPERAND_ADDRESS, 1);
    o[1] = hd_make_operand(HD_OPERAND_SYMBOL, s->ra->slot_symbol);
    if (!offset)
        return 2;
    o[1].count = 1;
    o[2] = hd_make_literal_operand(s->f->module, offset, HD_LITERAL_SIGNED);
    return 3;
}

static void insert(spiller *s, bool after, const char *opcode, const hd_operand *o, uint32_t count)
{
    hd_instruction insn = hd_make_instruction(s->f, opcode, HD_NONE, false, o, count, NULL);
    insn.location = s->f->instructions.items[s->ordinal].location;
    if (after)
        hd_edit_after(&s->edit, s->ordinal, insn);
    else
        hd_edit_before(&s->edit, s->group, insn);
}

static void load(spiller *s, const spill *v, uint32_t to)
{
    char opcode[24];
    hd_operand o[4];
    uint32_t bits = 8 * slot_bytes_of((hd_type)s->f->registers.items[to].type);
    snprintf(opcode, sizeof opcode, "ld.local.b%u", bits);
    o[0] = hd_make_register_operand(to);
    insert(s, false, opcode, o, 1 + slot_address(s, v->slot, o + 1));
    s->ra->result.loads++;
}

static void store(spiller *s, const spill *v, uint32_t from)
{
    char opcode[24];
    hd_operand o[4];
    uint32_t bits = 8 * slot_bytes_of((hd_type)s->f->registers.items[from].type);
    snprintf(opcode, sizeof opcode, "st.local.b%u", bits);
    uint32_t count = slot_address(s, v->slot, o);
    o[count] = hd_make_register_operand(from);
    insert(s, true, opcode, o, count + 1);
    s->ra->result.stores++;
}

static void load_predicate(spiller *s, const spill *v, uint32_t to)
{
    hd_operand o[] = {hd_make_register_operand(to), hd_make_register_operand(v->word),
                      hd_make_literal_operand(s->f->module, 0, HD_LITERAL_SIGNED)};
    insert(s, false, "setp.ne.b32", o, 3);
    s->ra->result.predicate_moves++;
}

static void store_predicate(spiller *s, const spill *v, uint32_t from)
{
    hd_operand o[] = {hd_make_register_operand(v->word), hd_make_literal_operand(s->f->module, 1, HD_LITERAL_SIGNED),
                      hd_make_literal_operand(s->f->module, 0, HD_LITERAL_SIGNED), hd_make_register_operand(from)};
    insert(s, true, "selp.b32", o, 4);
    s->ra->result.predicate_moves++;
}

/* Inserts a copy of the definition that writes another register. */
static void repeat(spiller *s, const spill *v, uint32_t to)
{
    hd_function *f = s->f;
    hd_instruction insn = f->instructions.items[v->definition];
    uint32_t first = f->operands.count;
    (void)hd_array_extend(&f->operands, insn.operand_count);
    memcpy(f->operands.items + first, f->operands.items + insn.operand_first, insn.operand_count * sizeof(hd_operand));
    f->operands.items[first].value = to;
    f->operands.items[first].extra = 0;
    for (uint32_t i = 0; i < insn.operand_count; i++)
        f->operands.items[first + i].begin = HD_NONE;
    insn.id = f->next_instruction_id++;
    insn.operand_first = first;
    insn.flags = (uint16_t)(insn.flags | HD_INSN_DIRTY | HD_INSN_FRESH);
    hd_edit_before(&s->edit, s->group, insn);
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

static spill *spill_of(const spiller *s, uint32_t reg)
{
    return reg < s->registers && s->index[reg] ? &s->spills[s->index[reg] - 1] : NULL;
}

/* Whether the register that has held the value since `kept_at` can hold it up to here; if so, the pressure is
 * updated. */
static bool keep_on(spiller *s, spill *v, uint32_t reg)
{
    uint32_t *pressure = s->ra->ranges.general, words = hd_regalloc_words(s->ra, reg);
    uint32_t slack = s->ra->many_failed ? s->ra->slack : 0; /* otherwise the next round spills it again */
    uint32_t room = hd_max(slack, HD_KEEP_ROOM);
    uint32_t limit = s->ra->max_registers - room;
    if (v->kept == HD_NONE || v->kind == SPILL_PREDICATE || v->kept_block != s->block ||
        s->read - v->kept_at > HD_KEEP_REACH || s->ra->round >= HD_KEEP_ROUNDS || s->ra->max_registers < room)
        return false;
    for (uint32_t p = v->kept_at; p < s->read; p++)
        if (pressure[p] + words > limit)
            return false;
    for (uint32_t p = v->kept_at; p < s->read; p++)
        pressure[p] += words;
    s->ra->flags.items[v->kept] = v->kept_is_loaded ? HD_RELOADED : HD_AT_HOME; /* may be loaded again instead */
    s->ra->home.items[v->kept] = v->slot;
    return true;
}

static void keep_in_register(spiller *s, spill *v, uint32_t temporary, uint32_t from, bool is_loaded)
{
    v->kept = temporary;
    v->kept_at = from;
    v->kept_block = s->block;
    v->kept_is_loaded = is_loaded;
}

/* A register with the value of a spilled one, at the current instruction. */
static uint32_t fetch(spiller *s, uint32_t reg, bool must_be_own)
{
    spill *v = spill_of(s, reg);
    if (!must_be_own && v->group == s->group + 1)
        return v->in_group;
    if (!must_be_own && keep_on(s, v, reg)) {
        v->kept_at = s->read + 1;
        return v->kept;
    }
    uint32_t t = hd_regalloc_new_register(s->ra, (hd_type)s->f->registers.items[reg].type, HD_NO_SPILL);
    if (v->kind == SPILL_REPEAT)
        repeat(s, v, t);
    else if (v->kind == SPILL_PREDICATE)
        load_predicate(s, v, t);
    else
        load(s, v, t);
    keep_in_register(s, v, t, s->read + 1, true);
    v->group = s->group + 1;
    v->in_group = t;
    return t;
}

static void put_back(spiller *s, uint32_t reg, uint32_t t)
{
    const spill *v = spill_of(s, reg);
    if (v->kind == SPILL_PREDICATE)
        store_predicate(s, v, t);
    else
        store(s, v, t);
}

typedef struct access {
    bool read, written, merges; /* merges: a partial write, or one in some lanes */
} access;

static access access_of(const spiller *s, const hd_instruction *insn, uint32_t reg)
{
    access a = {.read = insn->guard == reg};
    HD_INSN_REGISTERS (s->f, insn, o) {
        if (o->value != reg)
            continue;
        a.read |= o->flags & HD_OPERAND_USE || insn->flags & HD_INSN_OPAQUE;
        a.written |= (o->flags & HD_OPERAND_DEF) || insn->flags & HD_INSN_OPAQUE;
        a.merges |= (o->flags & HD_OPERAND_DEF) && !hd_definition_kills(s->f, insn, o);
        a.merges |= (o->flags & HD_OPERAND_DEF) && (o->flags & HD_OPERAND_USE);
    }
    return a;
}

static void substitute(spiller *s, hd_instruction *insn, uint32_t reg, uint32_t reads, uint32_t writes)
{
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        hd_operand *o = &s->f->operands.items[insn->operand_first + i];
        if (o->kind == HD_OPERAND_REGISTER && o->value == reg)
            o->value = o->flags & HD_OPERAND_DEF ? writes : reads;
    }
    if (insn->guard == reg)
        insn->guard = reads;
    insn->flags |= HD_INSN_DIRTY;
}

/* Whether a HOME register is written or stored here: not changed. */
static bool is_at_home(const spiller *s, const hd_instruction *insn, uint32_t reg)
{
    const hd_form *form = hd_insn_form(s->f, insn);
    if (form->opcode == HD_OP_ST && form->space == HD_SPACE_LOCAL && insn->flags & HD_INSN_FRESH)
        return true;
    return access_of(s, insn, reg).written;
}

/* A partial write needs the old value in its register: loads are unguarded, so that the live range extends only from
 * the load to the store. */
static void rewrite_access(spiller *s, uint32_t reg)
{
    access a = access_of(s, &s->f->instructions.items[s->ordinal], reg);
    uint32_t reads = HD_NONE, writes = HD_NONE;
    if (a.read || a.merges)
        reads = fetch(s, reg, a.merges);
    if (a.merges)
        writes = reads;
    else if (a.written)
        writes = hd_regalloc_new_register(s->ra, (hd_type)s->f->registers.items[reg].type, HD_NO_SPILL);
    substitute(s, &s->f->instructions.items[s->ordinal], reg, reads, writes);
    if (!a.written)
        return;
    put_back(s, reg, writes);
    keep_in_register(s, spill_of(s, reg), writes, s->read + 2, false);
}

/* Registers in flight: one register from before the first asynchronous instruction of a pin to after its wait. */
static void rewrite_flight(spiller *s, uint32_t reg)
{
    hd_ra_pin *pin = &s->ra->pins.items[hd_regalloc_pin_from(s->ra, reg, s->ordinal)];
    spill *v = spill_of(s, reg);
    uint32_t here = s->ordinal, group = s->group;
    if (pin->temporary == HD_NONE) {
        uint32_t t = pin->temporary =
            hd_regalloc_new_register(s->ra, (hd_type)s->f->registers.items[reg].type, HD_NO_SPILL);
        s->ordinal = s->group = pin->begin;
        if (pin->reads && v->kind == SPILL_REPEAT)
            repeat(s, v, t);
        else if (pin->reads)
            load(s, v, t);
        s->ordinal = pin->last;
        if (pin->writes)
            store(s, v, t);
        s->ordinal = here;
        s->group = group;
        v->kept = pin->writes ? HD_NONE : v->kept;
    }
    substitute(s, &s->f->instructions.items[here], reg, pin->temporary, pin->temporary);
}

static bool is_in_flight(const spiller *s, const hd_operand *of)
{
    const hd_instruction *insn = &s->f->instructions.items[s->ordinal];
    if (hd_insn_async(s->f, insn).part == HD_ASYNC_BEGIN)
        HD_ASYNC_DATA (s->f, insn, o)
            if (o->value == of->value)
                return true;
    return false;
}

static void rewrite_instruction(spiller *s)
{
    const hd_instruction *insn = &s->f->instructions.items[s->ordinal];
    uint32_t guard = insn->guard, count = insn->operand_count, first = insn->operand_first;
    if (guard != HD_NONE && spill_of(s, guard)) /* first, because code inserted later may use its replacement */
        rewrite_access(s, guard);
    for (uint32_t i = 0; i < count; i++) {
        const hd_operand *o = &s->f->operands.items[first + i];
        if (o->kind != HD_OPERAND_REGISTER)
            continue;
        const spill *v = spill_of(s, o->value);
        if (v && v->kind == SPILL_REPEAT && v->definition == s->ordinal) {
            hd_edit_remove(&s->edit, s->ordinal);
            return;
        }
        if (v && is_in_flight(s, o))
            rewrite_flight(s, o->value);
        else if (v && !(v->kind == SPILL_HOME && is_at_home(s, &s->f->instructions.items[s->ordinal], o->value)))
            rewrite_access(s, o->value);
    }
}

/* The position for code inserted for an instruction: before its operand loads. */
static uint32_t group_of(const spiller *s, uint32_t ordinal, uint32_t first)
{
    while (ordinal > first && hd_insn_is_operand_load(s->f, ordinal - 1) &&
           hd_regalloc_is_collected(s->ra, hd_insn_operands(s->f, &s->f->instructions.items[ordinal - 1])->value))
        ordinal--;
    return ordinal;
}

static void rewrite_all(spiller *s)
{
    const hd_regalloc *ra = s->ra;
    for (uint32_t b = 0; b < ra->cfg->block_count; b++) {
        s->block = b;
        for (uint32_t i = ra->cfg->blocks[b].first; i < ra->cfg->blocks[b].end; i++) {
            s->ordinal = i;
            s->group = group_of(s, i, ra->cfg->blocks[b].first);
            s->read = 2 * (ra->ranges.begin[b] + i - ra->cfg->blocks[b].first);
            rewrite_instruction(s);
        }
    }
}

void hd_regalloc_spill(hd_regalloc *ra, const hd_u32_array *spilled)
{
    spiller s = {.ra = ra, .f = ra->function, .registers = ra->function->registers.count};
    s.index = HD_ARENA_ARRAY(ra->arena, uint32_t, s.registers);
    s.spills = HD_ARENA_ARRAY(ra->arena, spill, spilled->count);
    hd_regalloc_index_uses(ra);
    hd_scoped_variables(s.f, &s.scoped);
    decide(&s, spilled);
    hd_array_free(&s.scoped);
    give_slots(&s, spilled);
    hd_edit_begin(&s.edit, ra->function);
    rewrite_all(&s);
    hd_edit_end(&s.edit);
}
