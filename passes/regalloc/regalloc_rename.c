/* Last phase of allocation: registers get the names of their physical registers, bank operands (ir/constant_bank.h) get
 * names of their own, %C0 for 32 and %CD0 for 64 bits; the declarations become those of the physical registers, and
 * annotations that refer to old registers are removed. Linear in the function. */
#include "passes/regalloc/regalloc_work.h"

#include "ir/build.h"
#include "ir/operand_loads.h"

#include <stdio.h>

typedef struct renamer {
    hd_regalloc *ra;
    hd_function *f;
    hd_physical *physical; /* by old register */
    uint32_t count[HD_PHYSICAL_CLASSES], first[HD_PHYSICAL_CLASSES];
    bool *collected; /* by old register: it names a memory operand; NULL: none */
    uint32_t collected_count[HD_PHYSICAL_CLASSES], collected_first[HD_PHYSICAL_CLASSES];
    uint32_t *bank; /* by old register: its number among the bank operands of its width, in bank_wide */
    bool *bank_wide;
    uint32_t bank_count[2], bank_first[2]; /* for 32 and for 64 bits */
    uint32_t old_carry, carry;
    bool *vector; /* by old register: a component of a vector register */
} renamer;

/* ---- names in use ------------------------------------------------------------------------------------------------ */

/* Whether a name is a physical stem alone or with a number: %R, %R7, %RD<..>, %M0, %C0. */
static bool looks_physical(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(text, prefix, length) != 0 ||
        (text[length] != 'R' && text[length] != 'P' && text[length] != 'M' && text[length] != 'C'))
        return false;
    text += length + 1;
    text += *text == 'B' || *text == 'H' || *text == 'D' || *text == 'Q';
    return strspn(text, "0123456789") == strlen(text);
}

static bool is_prefix_free(const hd_function *f, const char *prefix)
{
    const hd_module *m = f->module;
    bool taken = false;
    for (uint32_t i = 0; i < f->labels.count; i++)
        taken |= looks_physical(hd_names_text(&m->names, f->labels.items[i].name), prefix);
    for (uint32_t i = 0; i < f->tables.count; i++)
        taken |= looks_physical(hd_names_text(&m->names, f->tables.items[i].name), prefix);
    for (uint32_t i = 0; m->globals && i < m->globals->declarations.count; i++)
        taken |= looks_physical(hd_names_text(&m->names, m->globals->declarations.items[i].name), prefix);
    for (uint32_t i = 0; i < m->percent_symbols.count; i++)
        taken |= looks_physical(hd_names_text(&m->names, m->symbols.items[m->percent_symbols.items[i]].name), prefix);
    uint32_t end =
        f->index + 1 < m->functions.count ? m->functions.items[f->index + 1]->result_first : m->symbols.count;
    for (uint32_t i = f->result_first; i < end; i++) /* its own parameters, and everything declared after it */
        taken |= m->symbols.items[i].function == f->index &&
                 looks_physical(hd_names_text(&m->names, m->symbols.items[i].name), prefix);
    return !taken;
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

static void find_physical(renamer *r)
{
    const hd_function *f = r->f;
    const hd_ra_units *units = &r->ra->units;
    r->physical = HD_ARENA_ARRAY(r->ra->arena, hd_physical, f->registers.count);
    r->vector = HD_ARENA_ARRAY(r->ra->arena, bool, f->registers.count);
    r->bank = HD_ARENA_ARRAY(r->ra->arena, uint32_t, f->registers.count);
    r->bank_wide = HD_ARENA_ARRAY(r->ra->arena, bool, f->registers.count);
    for (uint32_t reg = 0; reg < f->registers.count; reg++) {
        if (reg == f->carry_register)
            continue;
        if (hd_regalloc_is_bank(r->ra, reg)) {
            r->bank_wide[reg] = hd_types[f->registers.items[reg].type].bits == 64;
            r->bank[reg] = r->bank_count[r->bank_wide[reg]]++;
            continue;
        }
        hd_physical_class class = hd_physical_class_of((hd_type)f->registers.items[reg].type);
        uint32_t number = units->units[units->of[reg]].number + units->offset[reg];
        r->physical[reg] = (hd_physical){(uint8_t) class, 0, (uint16_t)number};
        r->vector[reg] = f->registers.items[reg].vector > 1;
    }
}

/* Registers of memory operands are numbered per group, in the order of its loads. */
static void number_collected(renamer *r)
{
    hd_function *f = r->f;
    r->collected = hd_operand_registers(f, r->ra->arena);
    for (uint32_t i = 0; r->collected && i < f->instructions.count; i++) {
        uint32_t reg = hd_insn_is_operand_load(f, i) ? hd_insn_operands(f, &f->instructions.items[i])->value : HD_NONE;
        if (reg == HD_NONE || !r->collected[reg])
            continue;
        hd_physical *at = &r->physical[reg];
        at->number = (uint16_t)(i - hd_operand_group_first(f, i));
        if (r->collected_count[at->class] <= at->number)
            r->collected_count[at->class] = at->number + 1u;
    }
}

static void count_physical(renamer *r, uint32_t reg)
{
    hd_physical at = r->physical[reg];
    if (r->collected && r->collected[reg])
        return;
    if (at.class != HD_PHYSICAL_NONE && r->count[at.class] <= at.number)
        r->count[at.class] = at.number + 1u;
}

static void count_all_physical(renamer *r)
{
    const hd_function *f = r->f;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        HD_INSN_REGISTERS (f, insn, o)
            count_physical(r, o->value);
        if (insn->guard != HD_NONE)
            count_physical(r, insn->guard);
    }
}

static void drop_declarations(hd_function *f)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->statements.count; i++)
        if (f->statements.items[i].kind != HD_STATEMENT_REGISTERS)
            f->statements.items[kept++] = f->statements.items[i];
    f->statements.count = kept;
    hd_array_clear(&f->registers);
    hd_array_clear(&f->declarations);
    hd_array_clear(&f->register_groups);
}

static void declare_physical(renamer *r, const char *prefix)
{
    static const hd_physical_class order[] = {
        HD_PHYSICAL_QUAD, HD_PHYSICAL_PAIR, HD_PHYSICAL_WORD,
        HD_PHYSICAL_HALF, HD_PHYSICAL_BYTE, HD_PHYSICAL_PREDICATE}; /* each is inserted before the previous one */
    static const char *const bank_stems[] = {"C", "CD"};
    hd_function *f = r->f;
    hd_register carry = {0};
    if (f->carry_register != HD_NONE)
        carry = f->registers.items[f->carry_register];
    drop_declarations(f);
    for (uint32_t wide = 2; wide-- > 0;) {
        char stem[16];
        snprintf(stem, sizeof stem, "%s%s", prefix, bank_stems[wide]);
        if (r->bank_count[wide])
            r->bank_first[wide] = hd_make_registers(f, stem, wide ? HD_TYPE_B64 : HD_TYPE_B32, r->bank_count[wide]);
    }
    for (uint32_t i = 0; i < sizeof order / sizeof *order; i++) {
        char stem[16];
        snprintf(stem, sizeof stem, "%s%s", prefix, hd_physical_stem(order[i]) + 1);
        if (r->collected_count[order[i]]) {
            char name[16];
            snprintf(name, sizeof name, "%sM%s", prefix, hd_physical_stem(order[i]) + 2);
            r->collected_first[order[i]] =
                hd_make_registers(f, name, hd_physical_type(order[i]), r->collected_count[order[i]]);
        }
        if (r->count[order[i]])
            r->first[order[i]] = hd_make_registers(f, stem, hd_physical_type(order[i]), r->count[order[i]]);
    }
    r->old_carry = r->carry = f->carry_register;
    if (f->carry_register == HD_NONE)
        return;
    r->carry = f->carry_register = f->registers.count;
    hd_array_push(&f->registers, carry);
}

static uint32_t new_of(const renamer *r, uint32_t reg)
{
    const uint32_t *first = r->collected && r->collected[reg] ? r->collected_first : r->first;
    if (hd_regalloc_is_bank(r->ra, reg))
        return r->bank_first[r->bank_wide[reg]] + r->bank[reg];
    return reg == r->old_carry ? r->carry : first[r->physical[reg].class] + r->physical[reg].number;
}

/* Vector registers become brace lists; alternative spellings and vector components are replaced. */
static void rename_operand(renamer *r, hd_operand *o)
{
    if (o->kind == HD_OPERAND_VECTOR && o->flags & HD_OPERAND_WHOLE) {
        o->flags &= (uint8_t)~HD_OPERAND_WHOLE;
        o->extra = 0;
    }
    if (o->kind != HD_OPERAND_REGISTER)
        return;
    if (o->extra && (r->vector[o->value] || *hd_names_text(&r->f->module->names, o->extra) != '.'))
        o->extra = 0;
    o->value = new_of(r, o->value);
}

static void rename_all(renamer *r)
{
    hd_function *f = r->f;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        hd_instruction *insn = &f->instructions.items[i];
        bool any = insn->guard != HD_NONE;
        for (uint32_t k = 0; k < insn->operand_count; k++) {
            hd_operand *o = &f->operands.items[insn->operand_first + k];
            any |= o->kind == HD_OPERAND_REGISTER;
            rename_operand(r, o);
        }
        if (insn->guard != HD_NONE)
            insn->guard = new_of(r, insn->guard);
        if (any)
            insn->flags |= HD_INSN_DIRTY;
    }
}

/* Annotations of technique passes or an earlier allocation refer to other registers. Private annotations without
 * registers stay, and so do those of memory operands. */
static void drop_annotations(hd_function *f)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->annotations.count; i++) {
        const hd_annotation_info *info = hd_annotation_find(f->annotations.items[i].kind);
        bool operand = info && (info->number == HD_OPERAND_LOAD || info->number == HD_OPERAND_SOURCE ||
                                info->number == HD_OPERAND_AFTER);
        if (operand || (info && !*info->technique && info->value != HD_VALUE_REGISTERS &&
                        info->number != HD_ANNOTATION_ARCHITECTED))
            f->annotations.items[kept++] = f->annotations.items[i];
    }
    f->annotations_changed |= kept != f->annotations.count;
    f->annotations.count = kept;
}

bool hd_regalloc_rename(hd_regalloc *ra)
{
    renamer r = {.ra = ra, .f = ra->function};
    const char *prefix = is_prefix_free(r.f, "%") ? "%" : "%hd_";
    if (!is_prefix_free(r.f, prefix)) {
        hd_report(ra->context->diagnostics, HD_DIAG_OUT_OF_REGISTERS, r.f->module->source, r.f->header_span,
                  "'%s' has both names like %%R7 and like %%hd_R7 for what is no register",
                  hd_names_text(&r.f->module->names, r.f->name));
        return false;
    }
    find_physical(&r);
    number_collected(&r);
    count_all_physical(&r);
    declare_physical(&r, prefix);
    rename_all(&r);
    drop_annotations(r.f);
    hd_function_drop_cfg(r.f);
    r.f->changed = true;
    return true;
}
