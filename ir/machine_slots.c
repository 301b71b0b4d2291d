/* See machine_slots.h. */
#include "ir/machine_slots.h"

#include "ir/machine.h"

static bool ends_operand(char c) { return !c || c == ',' || c == ';' || c == '\n' || c == ']'; }

/* From the operand on; empty where it is not in the text. */
static const char *text_at(const hd_function *f, const hd_operand *o)
{
    const hd_source *source = f->module->source;
    return o->begin < source->length ? source->text + o->begin : "";
}

static bool has_reuse(const hd_function *f, const hd_operand *o)
{
    static const char flag[] = ".reuse";
    const char *text = text_at(f, o);
    for (size_t i = 0; !ends_operand(text[i]); i++)
        if (strncmp(text + i, flag, strlen(flag)) == 0)
            return true;
    return false;
}

/* The first register of an operand that is one, or several; NULL: it is neither. */
static const hd_operand *first_register(const hd_operand *o)
{
    if (o->kind == HD_OPERAND_VECTOR)
        return o->count && o[1].kind == HD_OPERAND_REGISTER ? o + 1 : NULL;
    return o->kind == HD_OPERAND_REGISTER ? o : NULL;
}

static bool is_predicate(const hd_function *f, const hd_operand *o)
{
    const hd_operand *reg = first_register(o);
    if (reg)
        return f->registers.items[reg->value].type == HD_TYPE_PRED;
    if (o->kind != HD_OPERAND_NAME)
        return false;
    const char *text = text_at(f, o);
    text += *text == '!';
    text += *text == 'U';
    return text[0] == 'P' && text[1] == 'T';
}

/* Whether the first operand that is no predicate is a result, which may be RZ. */
static bool has_result(const hd_sass_row *row)
{
    const char *slot = row->operands;
    while ((slot = strstr(slot, "Rd")) && slot > row->operands && slot[-1] == 'P') /* PRd */
        slot++;
    return slot != NULL;
}

static hd_machine_slot slot_of(const hd_function *f, const hd_operand *o)
{
    const hd_operand *reg = first_register(o);
    if (!reg || f->registers.items[reg->value].type != HD_TYPE_B32)
        return (hd_machine_slot){0};
    return (hd_machine_slot){.words = (uint8_t)(o->kind == HD_OPERAND_VECTOR ? o->count : 1),
                             .number = (uint8_t)f->registers.items[reg->value].index,
                             .flagged = has_reuse(f, reg)};
}

hd_machine_slots hd_machine_slots_of(const hd_function *f, uint32_t ordinal)
{
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_machine_form *form = hd_insn_machine(f, insn);
    const hd_operand *o = hd_insn_operands(f, insn);
    hd_machine_slots slots = {0};
    if (f->machine->slots)
        return f->machine->slots[ordinal];
    if (!form->row || form->variant == HD_MACHINE_NEVER || insn->flags & HD_INSN_OPAQUE)
        return slots;
    uint32_t slot = 0, results = has_result(form->row);
    for (uint32_t i = 0; i < insn->operand_count && slot < HD_MACHINE_SLOTS; i += hd_operand_extent(&o[i])) {
        if (is_predicate(f, &o[i]))
            continue;
        if (results)
            results--;
        else
            slots.at[slot++] = slot_of(f, &o[i]);
    }
    return slots;
}

uint32_t hd_reuse_cache_read(hd_reuse_cache *cache, uint32_t generation, const hd_machine_slots *slots)
{
    uint32_t served = 0;
    for (uint32_t s = 0; s < HD_MACHINE_SLOTS; s++) {
        const hd_machine_slot *slot = &slots->at[s];
        if (!slot->words)
            continue;
        bool fits = slot->words <= (generation >= HD_MACHINE_VOLTA ? 2 : 1), held = fits;
        for (uint32_t number = slot->number; number < (uint32_t)slot->number + slot->words; number++) {
            uint16_t *kept = &cache->kept[s][hd_reuse_bank(generation, number)];
            held &= *kept == number + 1;
            *kept = (uint16_t)(fits && slot->flagged ? number + 1 : 0);
        }
        served |= (uint32_t)held << s;
    }
    return served;
}

void hd_reuse_cache_forget(hd_reuse_cache *cache, uint32_t generation, uint32_t number)
{
    for (uint32_t s = 0; s < HD_MACHINE_SLOTS; s++) {
        uint16_t *kept = &cache->kept[s][hd_reuse_bank(generation, number)];
        *kept = (uint16_t)(*kept == number + 1 ? 0 : *kept);
    }
}
