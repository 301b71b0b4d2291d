/* Operands from the constant bank: see constant_bank.h. */
#include "ir/constant_bank.h"
#include "ir/architected.h"
#include "ir/sregs.h"

/* ---- loads ------------------------------------------------------------------------------------------------------- */

static bool loads_constant(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    bool parameter = form->space == HD_SPACE_PARAM || form->space == HD_SPACE_PARAM_ENTRY;
    if (form->opcode != HD_OP_LD || form->modifiers[HD_GROUP_VOLATILE] ||
        !(parameter ? f->is_entry : form->space == HD_SPACE_CONST))
        return false;
    const hd_operand *o = hd_insn_operands(f, insn), *address = o + hd_operand_extent(o);
    if (address->kind != HD_OPERAND_ADDRESS || address->flags & HD_OPERAND_BARE || address->count != 1 ||
        address[1].kind != HD_OPERAND_SYMBOL)
        return false;
    return f->module->symbols.items[address[1].value].kind == (parameter ? HD_SYMBOL_PARAMETER : HD_SYMBOL_VARIABLE);
}

static bool is_launch_size(const hd_operand *o)
{
    return o->kind == HD_OPERAND_SREG && (o->value == HD_SREG_NTID || o->value == HD_SREG_NCTAID);
}

bool hd_insn_reads_bank(const hd_function *f, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    if (insn->guard != HD_NONE || insn->flags & HD_INSN_OPAQUE || insn->operand_count < 2)
        return false;
    if (hd_insn_form(f, insn)->opcode == HD_OP_MOV)
        return insn->operand_count == 2 && o->kind == HD_OPERAND_REGISTER && is_launch_size(&o[1]);
    return loads_constant(f, insn);
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

enum { BANK_A = 1, BANK_B = 2, BANK_C = 4 };

static uint32_t fields_of(const hd_form *form)
{
    static const uint8_t table[HD_OPCODE_COUNT] = {
#define HD_BANK_OPERAND(opcode, sources, machine_code) [HD_OP_##opcode] = sources,
#include "ir/bank_operands.def"
#undef HD_BANK_OPERAND
    };
    for (uint32_t i = 0; i < form->type_count; i++) /* packed floats have other instructions */
        if (form->types[i] == HD_TYPE_F32X2)
            return 0;
    return form->flags & (HD_FORM_OPAQUE | HD_FORM_INVALID) ? 0 : table[form->opcode];
}

static uint64_t literal_bits(const hd_function *f, const hd_operand *o)
{
    return f->module->literals.items[o->value].bits;
}

/* The factor of mad.lo and mad.wide with a constant addend: LEA encodes it as a shift. */
static bool is_shift(const hd_function *f, const hd_form *form, uint32_t source, const hd_operand *o)
{
    uint64_t bits = literal_bits(f, o);
    bool integer = form->type_count && hd_types[form->types[0]].class != HD_CLASS_FLOAT;
    return form->opcode == HD_OP_MAD && form->modifiers[HD_GROUP_HALF] != HD_MOD_HALF_HI && integer && source < 2 &&
           !(bits & (bits - 1));
}

static bool is_table(const hd_form *form, uint32_t source) { return form->opcode == HD_OP_LOP3 && source == 3; }

/* Which of the first three sources may be a constant: those of the table, except the field that a number occupies. */
static uint32_t free_fields(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    uint32_t fields = insn->flags & HD_INSN_OPAQUE ? 0 : fields_of(form), source = 0;
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    if (fields)
        o += hd_operand_extent(o);
    for (; fields && o < end; o += hd_operand_extent(o), source++) {
        bool number = o->kind == HD_OPERAND_SYMBOL || (o->kind == HD_OPERAND_LITERAL && literal_bits(f, o));
        if (!number || is_table(form, source))
            continue;
        fields &= o->kind == HD_OPERAND_LITERAL && is_shift(f, form, source, o) ? BANK_C : 0;
    }
    return fields;
}

bool hd_operand_takes_bank(const hd_function *f, const hd_instruction *insn, uint32_t index)
{
    const hd_operand *operands = hd_insn_operands(f, insn), *o = operands + index;
    uint32_t source = 0, at = insn->operand_count ? hd_operand_extent(operands) : 0;
    for (; at < index; source++)
        at += hd_operand_extent(operands + at);
    return index && at == index && o->kind == HD_OPERAND_REGISTER && o->flags & HD_OPERAND_USE &&
           !(o->flags & HD_OPERAND_DEF) && !o->extra && source < 3 && free_fields(f, insn) & 1u << source;
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

typedef struct bank_search {
    const hd_function *function;
    bool *operands; /* by register: a candidate so far */
    bool architected;
} bank_search;

static bool is_candidate(const bank_search *s, const hd_instruction *insn)
{
    const hd_function *f = s->function;
    const hd_operand *o = hd_insn_operands(f, insn);
    if (!hd_insn_reads_bank(f, insn) || o->kind != HD_OPERAND_REGISTER || o->extra)
        return false;
    const hd_register *reg = &f->registers.items[o->value];
    uint32_t bits = hd_types[reg->type].bits, loaded = hd_types[hd_insn_form(f, insn)->types[0]].bits;
    bool module_wide = reg->declaration < f->declarations.count && f->declarations.items[reg->declaration].depth == 0;
    bool placed = s->architected && hd_register_physical(f, o->value).class != HD_PHYSICAL_NONE;
    return (bits == 32 || bits == 64) && bits == loaded && reg->vector <= 1 && !module_wide && !placed;
}

static bool find_candidates(bank_search *s, hd_arena *arena)
{
    const hd_function *f = s->function;
    bool any = false;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (!is_candidate(s, insn))
            continue;
        if (!any)
            s->operands = HD_ARENA_ARRAY(arena, bool, f->registers.count);
        any = s->operands[hd_insn_operands(f, insn)->value] = true;
    }
    return any;
}

static void drop_written_twice(bank_search *s, hd_arena *arena)
{
    const hd_function *f = s->function;
    bool *written = HD_ARENA_ARRAY(arena, bool, f->registers.count);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o) {
            if (!(o->flags & HD_OPERAND_DEF))
                continue;
            if (written[o->value])
                s->operands[o->value] = false;
            written[o->value] = true;
        }
}

/* Rejects all candidates of an instruction except the first, or those in a field of their own. */
static void look_at(bank_search *s, const hd_instruction *insn)
{
    const hd_function *f = s->function;
    const hd_operand *operands = hd_insn_operands(f, insn);
    bool taken = false;
    for (uint32_t k = 0; k < insn->operand_count; k++) {
        const hd_operand *o = &operands[k];
        if (o->kind != HD_OPERAND_REGISTER || !(o->flags & HD_OPERAND_USE) || !s->operands[o->value])
            continue;
        if (taken || !hd_operand_takes_bank(f, insn, k))
            s->operands[o->value] = false;
        else
            taken = true;
    }
}

const bool *hd_bank_operands(const hd_function *f, hd_arena *arena)
{
    bank_search s = {.function = f, .architected = hd_function_is_architected(f)};
    if (!find_candidates(&s, arena))
        return NULL;
    drop_written_twice(&s, arena);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (f->instructions.items[i].operand_count)
            look_at(&s, &f->instructions.items[i]);
    for (uint32_t i = 0; i < f->register_results.count; i++)
        s.operands[f->register_results.items[i]] = false;
    return s.operands;
}
