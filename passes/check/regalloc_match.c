/* First part of the verification: matches instructions of the allocated function with those of the original, and
 * determines their effects on locations. Rules: see regalloc.c. Linear, except for the search among spill slots. */
#include "passes/check/regalloc_proof.h"

#include "ir/expanded.h"
#include "ir/sregs.h"

static void add_effect(hd_proof *p, hd_proof_effect_kind kind, uint32_t location, uint32_t value)
{
    hd_array_push(&p->effects, (hd_proof_effect){(uint8_t)kind, 0, location, value, HD_NONE});
}

static void add_copy(hd_proof *p, uint32_t location, uint32_t from, uint32_t bits)
{
    hd_array_push(&p->effects, (hd_proof_effect){HD_PROOF_COPY, (uint8_t)bits, location, HD_NONE, from});
}

/* ---- original instructions --------------------------------------------------------------------------------------- */

static bool is_selected(const hd_function *f, const hd_operand *o)
{
    return o->kind == HD_OPERAND_REGISTER && o->extra && f->registers.items[o->value].vector == 1 &&
           *hd_names_text(&f->module->names, o->extra) == '.';
}

static bool same_operand(const hd_proof *p, const hd_operand *a, const hd_operand *b)
{
    const uint8_t spelling = HD_OPERAND_NOT | HD_OPERAND_MINUS | HD_OPERAND_OFFSET | HD_OPERAND_BARE;
    if (a->kind != b->kind || a->count != b->count || (a->flags & spelling) != (b->flags & spelling))
        return false;
    if (a->kind == HD_OPERAND_REGISTER) {
        bool selected = is_selected(p->original, a);
        return selected ? a->extra == b->extra : b->extra == 0;
    }
    bool names_a_vector = a->kind == HD_OPERAND_VECTOR && a->flags & HD_OPERAND_WHOLE;
    return a->value == b->value && (a->extra == b->extra || names_a_vector);
}

static void read_register(hd_proof *p, const hd_instruction *insn, uint32_t value, uint32_t location)
{
    if ((value == p->original->carry_register) != (location == p->allocated->carry_register))
        hd_proof_fail(p, insn, "the carry flag replaces another register");
    else if (value != p->original->carry_register)
        add_effect(p, HD_PROOF_READ, location, value);
}

static bool overlap(const hd_proof *p, uint32_t x, uint32_t y)
{
    hd_physical a = hd_register_physical(p->allocated, x), b = hd_register_physical(p->allocated, y);
    return a.class != HD_PHYSICAL_PREDICATE && b.class != HD_PHYSICAL_PREDICATE && a.number < b.number + b.words &&
           b.number < a.number + a.words;
}

/* The result of a matrix instruction that ptxas may expand shares registers with operands only where the original does,
 * or in the same place of the accumulator. */
static void check_expanded(hd_proof *p, const hd_instruction *was, const hd_instruction *is)
{
    const hd_operand *a = hd_insn_operands(p->original, was), *b = hd_insn_operands(p->allocated, is);
    for (uint32_t d = 0; d < was->operand_count; d++)
        for (uint32_t u = 0; a[d].kind == HD_OPERAND_REGISTER && a[d].flags & HD_OPERAND_DEF && u < was->operand_count;
             u++)
            if (a[u].kind == HD_OPERAND_REGISTER && a[u].flags & HD_OPERAND_USE && a[u].value != a[d].value &&
                hd_insn_accumulator(p->allocated, is, d) != u && overlap(p, b[d].value, b[u].value))
                hd_proof_fail(p, is, "the result of a matrix instruction has a register of an operand");
}

static void add_original(hd_proof *p, const hd_instruction *was, const hd_instruction *is)
{
    const hd_operand *a = hd_insn_operands(p->original, was), *b = hd_insn_operands(p->allocated, is);
    bool same = was->form == is->form && was->operand_count == is->operand_count &&
                (was->guard == HD_NONE) == (is->guard == HD_NONE) &&
                ((was->flags ^ is->flags) & (HD_INSN_GUARD_NOT | HD_INSN_OPAQUE)) == 0;
    for (uint32_t i = 0; same && i < was->operand_count; i++)
        same = same_operand(p, &a[i], &b[i]);
    if (!same) {
        hd_proof_fail(p, is, "an instruction differs from the original in more than registers");
        return;
    }
    if (hd_insn_is_expanded(p->allocated, is))
        check_expanded(p, was, is);
    if (was->guard != HD_NONE)
        read_register(p, is, was->guard, is->guard);
    for (uint32_t i = 0; i < was->operand_count; i++)
        if (a[i].kind == HD_OPERAND_REGISTER && (a[i].flags & HD_OPERAND_USE || was->flags & HD_INSN_OPAQUE))
            read_register(p, is, a[i].value, b[i].value);
    for (uint32_t i = 0; i < was->operand_count; i++) {
        bool written = a[i].kind == HD_OPERAND_REGISTER && (a[i].flags & HD_OPERAND_DEF || was->flags & HD_INSN_OPAQUE);
        bool whole = was->guard == HD_NONE && !(was->flags & HD_INSN_OPAQUE) && !is_selected(p->original, &a[i]);
        if (written && a[i].value != p->original->carry_register)
            add_effect(p, whole ? HD_PROOF_WRITE : HD_PROOF_MERGE, b[i].value, a[i].value);
    }
}

/* ---- inserted and removed instructions --------------------------------------------------------------------------- */

/* An unguarded original instruction that gives its register the same value everywhere: from numbers, addresses, kernel
 * parameters, and special registers that are constant for a thread. */
static bool is_constant(const hd_proof *p, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(p->original, insn);
    const hd_operand *o = hd_insn_operands(p->original, insn);
    bool loads = form->opcode == HD_OP_LD;
    if (insn->guard != HD_NONE || insn->flags & HD_INSN_OPAQUE || insn->operand_count < 2 ||
        o[0].kind != HD_OPERAND_REGISTER || p->definitions[o[0].value] != 1)
        return false;
    if (form->opcode != HD_OP_MOV && form->opcode != HD_OP_CVTA &&
        !(loads && form->space == HD_SPACE_PARAM && p->original->is_entry))
        return false;
    for (uint32_t i = 1; i < insn->operand_count; i++) {
        bool fixed_sreg = o[i].kind == HD_OPERAND_SREG &&
                          (o[i].value == HD_SREG_TID || o[i].value == HD_SREG_NTID || o[i].value == HD_SREG_CTAID ||
                           o[i].value == HD_SREG_NCTAID || o[i].value == HD_SREG_LANEID);
        bool symbol = o[i].kind == HD_OPERAND_SYMBOL &&
                      (!loads || p->original->module->symbols.items[o[i].value].kind == HD_SYMBOL_PARAMETER);
        bool fixed = o[i].kind == HD_OPERAND_LITERAL || symbol || o[i].kind == HD_OPERAND_ADDRESS;
        if (!fixed && !fixed_sreg)
            return false;
    }
    return true;
}

static uint32_t location_of_slot(hd_proof *p, const hd_instruction *insn, const hd_operand *address, uint32_t bits)
{
    const hd_operand *symbol = address + 1;
    bool good = address->kind == HD_OPERAND_ADDRESS && symbol->kind == HD_OPERAND_SYMBOL &&
                (p->slot_symbol == HD_NONE || p->slot_symbol == symbol->value);
    if (!good) {
        hd_proof_fail(p, insn, "an inserted access is to no spill slot");
        return HD_NONE;
    }
    p->slot_symbol = symbol->value;
    uint64_t offset = symbol->count ? p->allocated->module->literals.items[symbol[1].value].bits : 0;
    hd_slot s = {(uint32_t)offset, bits / 8};
    if (offset + s.bytes > p->allocated->module->symbols.items[symbol->value].size_bytes || offset % s.bytes)
        hd_proof_fail(p, insn, "a spill slot lies outside its array, or is misaligned");
    for (uint32_t i = 0; i < p->slots.count; i++) {
        hd_slot t = p->slots.items[i];
        if (t.offset == s.offset && t.bytes == s.bytes)
            return p->names + i;
        if (t.offset < s.offset + s.bytes && s.offset < t.offset + t.bytes)
            hd_proof_fail(p, insn, "spill slots overlap");
    }
    hd_array_push(&p->slots, s);
    return p->names + p->slots.count - 1;
}

static bool is_literal(const hd_proof *p, const hd_operand *o, uint64_t bits)
{
    return o->kind == HD_OPERAND_LITERAL && p->allocated->module->literals.items[o->value].bits == bits;
}

static void add_inserted(hd_proof *p, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(p->allocated, insn);
    const hd_operand *o = hd_insn_operands(p->allocated, insn);
    uint32_t bits = hd_types[form->types[0]].bits, n = insn->operand_count;
    bool first = n > 1 && o[0].kind == HD_OPERAND_REGISTER, second = n > 1 && o[1].kind == HD_OPERAND_REGISTER;
    if (insn->guard != HD_NONE)
        hd_proof_fail(p, insn, "an inserted instruction has a guard");
    else if (form->opcode == HD_OP_MOV && n == 2 && first && second)
        add_copy(p, o[0].value, o[1].value, bits);
    else if (form->opcode == HD_OP_LD && form->space == HD_SPACE_LOCAL && first && form->vector < 2)
        add_copy(p, o[0].value, location_of_slot(p, insn, o + 1, bits), bits);
    else if (form->opcode == HD_OP_ST && form->space == HD_SPACE_LOCAL && o[n - 1].kind == HD_OPERAND_REGISTER)
        add_copy(p, location_of_slot(p, insn, o, bits), o[n - 1].value, bits);
    else if (form->opcode == HD_OP_SELP && n == 4 && first && is_literal(p, o + 1, 1) && is_literal(p, o + 2, 0) &&
             o[3].kind == HD_OPERAND_REGISTER && !(o[3].flags & HD_OPERAND_NOT))
        add_copy(p, o[0].value, o[3].value, 1);
    else if (form->opcode == HD_OP_SETP && n == 3 && first && second && is_literal(p, o + 2, 0) &&
             form->modifiers[HD_GROUP_COMPARE] == HD_MOD_COMPARE_NE)
        add_copy(p, o[0].value, o[1].value, 1);
    else
        hd_proof_fail(p, insn, "an inserted instruction is no spill code");
}

typedef struct same_origin { /* lists of original instructions; next: by their index */
    uint32_t *first, *next;
} same_origin;

static bool is_repeated(const hd_proof *p, const hd_instruction *was, const hd_instruction *is)
{
    const hd_operand *a = hd_insn_operands(p->original, was), *b = hd_insn_operands(p->allocated, is);
    bool same =
        is_constant(p, was) && was->form == is->form && was->operand_count == is->operand_count && is->guard == HD_NONE;
    for (uint32_t i = 0; same && i < was->operand_count; i++)
        same = same_operand(p, &a[i], &b[i]);
    return same;
}

/* Adds the effects of the original instructions with its origin. Each constant that some of them give is in its
 * register. */
static void add_repeated(hd_proof *p, const same_origin *known, const hd_instruction *is)
{
    hd_proof_effect_kind kind = HD_PROOF_MAKE;
    for (uint32_t i = known->first[is->origin]; i != HD_NONE; i = known->next[i]) {
        const hd_instruction *was = &p->original->instructions.items[i];
        if (!is_repeated(p, was, is))
            continue;
        add_effect(p, kind, hd_insn_operands(p->allocated, is)->value, hd_insn_operands(p->original, was)->value);
        kind = HD_PROOF_SAME;
    }
    if (kind == HD_PROOF_MAKE)
        hd_proof_fail(p, is, "an instruction is repeated that does not give the same value everywhere");
}

static void add_removed(hd_proof *p, const hd_instruction *was)
{
    if (is_constant(p, was))
        add_effect(p, HD_PROOF_GONE, HD_NONE, hd_insn_operands(p->original, was)->value);
    else
        hd_proof_fail(p, NULL, "an original instruction is missing");
}

/* ---- matching ---------------------------------------------------------------------------------------------------- */

static uint32_t *index_ids(hd_proof *p)
{
    uint32_t *ordinals = hd_arena_alloc(&p->arena, ((size_t)p->original->next_instruction_id + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i <= p->original->next_instruction_id; i++)
        ordinals[i] = HD_NONE;
    for (uint32_t i = 0; i < p->original->instructions.count; i++)
        ordinals[p->original->instructions.items[i].id] = i;
    return ordinals;
}

static same_origin index_origins(hd_proof *p)
{
    const hd_function *f = p->original;
    same_origin known = {HD_ARENA_ARRAY(&p->arena, uint32_t, f->next_instruction_id + 1u),
                         HD_ARENA_ARRAY(&p->arena, uint32_t, f->instructions.count + 1u)};
    for (uint32_t i = 0; i <= f->next_instruction_id; i++)
        known.first[i] = HD_NONE;
    for (uint32_t i = f->instructions.count; i-- > 0;) {
        uint32_t origin = f->instructions.items[i].origin;
        known.next[i] = known.first[origin];
        known.first[origin] = i;
    }
    return known;
}

static void match_instruction(hd_proof *p, const hd_instruction *insn, const uint32_t *ordinals,
                              const same_origin *known, uint32_t *next)
{
    const hd_function *was = p->original;
    uint32_t limit = was->next_instruction_id;
    uint32_t at = insn->id < limit ? ordinals[insn->id] : HD_NONE;
    if (at == HD_NONE) {
        if (insn->id >= limit && insn->origin < limit && known->first[insn->origin] != HD_NONE)
            add_repeated(p, known, insn);
        else
            add_inserted(p, insn);
        return;
    }
    if (at < *next)
        hd_proof_fail(p, insn, "an instruction is out of order");
    for (; *next < at; (*next)++)
        add_removed(p, &was->instructions.items[*next]);
    add_original(p, &was->instructions.items[at], insn);
    *next = at + 1;
}

static void match_all(hd_proof *p)
{
    hd_function *is = p->allocated;
    uint32_t count = is->instructions.count, next = 0, *ordinals = index_ids(p);
    same_origin known = index_origins(p);
    p->effect_first = HD_ARENA_ARRAY(&p->arena, uint32_t, count + 1u);
    p->ordinal_of = HD_ARENA_ARRAY(&p->arena, uint32_t, count + 1u);
    for (uint32_t i = 0; i < count && !p->failed; i++) {
        match_instruction(p, &is->instructions.items[i], ordinals, &known, &next);
        p->effect_first[i + 1] = p->effects.count;
        uint32_t id = is->instructions.items[i].id;
        p->ordinal_of[i] = id < p->original->next_instruction_id ? ordinals[id] : HD_NONE;
    }
    for (uint32_t i = next; i < p->original->instructions.count && !p->failed; i++)
        if (!is_constant(p, &p->original->instructions.items[i]))
            hd_proof_fail(p, NULL, "an original instruction is missing");
    p->ordinal_of[count] = p->original->instructions.count;
    for (uint32_t i = count; i-- > 0;)
        if (p->ordinal_of[i] == HD_NONE)
            p->ordinal_of[i] = p->ordinal_of[i + 1];
}

/* Every label must precede the same original instruction, ignoring removed ones. */
static void match_labels(hd_proof *p)
{
    const hd_function *was = p->original, *is = p->allocated;
    if (was->labels.count != is->labels.count)
        hd_proof_fail(p, NULL, "labels were added or removed");
    for (uint32_t l = 0; l < was->labels.count && !p->failed; l++) {
        uint32_t from = was->labels.items[l].instruction, to = p->ordinal_of[is->labels.items[l].instruction];
        bool good = from <= to;
        for (uint32_t i = from; good && i < to; i++)
            good = is_constant(p, &was->instructions.items[i]);
        if (!good)
            hd_proof_fail(p, NULL, "label %u is elsewhere", l);
    }
}

static void match_slot_symbol(hd_proof *p)
{
    for (uint32_t i = 0; p->slot_symbol != HD_NONE && i < p->original->instructions.count; i++) {
        const hd_instruction *insn = &p->original->instructions.items[i];
        for (uint32_t k = 0; k < insn->operand_count; k++) {
            const hd_operand *o = &hd_insn_operands(p->original, insn)[k];
            if (o->kind == HD_OPERAND_SYMBOL && o->value == p->slot_symbol)
                hd_proof_fail(p, NULL, "spill slots lie in a variable of the program");
        }
    }
}

static void find_names(hd_proof *p)
{
    const hd_function *f = p->allocated;
    memset(p->name_at, 0xff, sizeof p->name_at);
    p->names = f->registers.count;
    for (uint32_t r = 0; r < f->registers.count; r++) {
        hd_physical location = hd_register_physical(f, r);
        if (location.class != HD_PHYSICAL_NONE)
            p->name_at[location.class][location.number] = r;
    }
}

static void count_definitions(hd_proof *p)
{
    const hd_function *f = p->original;
    p->definitions = HD_ARENA_ARRAY(&p->arena, uint32_t, f->registers.count);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            p->definitions[o->value] += (o->flags & HD_OPERAND_DEF) != 0;
}

void hd_proof_match(hd_proof *p)
{
    find_names(p);
    count_definitions(p);
    match_all(p);
    if (!p->failed)
        match_labels(p);
    if (!p->failed)
        match_slot_symbol(p);
}
