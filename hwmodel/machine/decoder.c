/* What the decode functions of all rows use: reports, rows of constants, registers and banks, and sources. */
#include "hwmodel/machine/decoder.h"

enum { ROW_BYTES = 4 * LANES, WIDE_ROW_BYTES = 8 * LANES };

/* ---- reports ----------------------------------------------------------------------------------------------------- */

const char *hd_machine_spelling(const hd_machine_decoder *d)
{
    return hd_names_text(&d->module->names, d->module->forms.items[d->insn->form].spelling);
}

bool hd_machine_unsupported(hd_machine_decoder *d, const char *why)
{
    const hd_machine_line *line = &d->function->machine->lines[d->ordinal];
    hd_span span = d->insn->span;
    if (!d->failed || d->reason != why)
        hd_report(d->diagnostics, HD_DIAG_UNSUPPORTED, d->module->source, span,
                  "the interpreter does not execute '%.*s'%s%s; function %s, offset 0x%x", (int)(span.end - span.begin),
                  d->module->source->text + span.begin, why ? ": " : "", why ? why : "",
                  hd_names_text(&d->module->names, d->function->name), line->address);
    d->failed = true;
    return false;
}

/* ---- modifiers --------------------------------------------------------------------------------------------------- */

/* Whether a list with separators has the word. */
bool hd_machine_lists(const char *list, const char *word, size_t length, char before, char after)
{
    for (const char *at = list; (at = strstr(at, word)); at++) {
        bool begins = at == list || at[-1] == before || at[-1] == '+';
        if (begins && (at[length] == after || !at[length]))
            return true;
    }
    return false;
}

bool hd_machine_has(const hd_machine_decoder *d, const char *modifier)
{
    return hd_machine_lists(hd_machine_spelling(d), modifier, strlen(modifier), '.', '.');
}

/* ---- rows of values ---------------------------------------------------------------------------------------------- */

static hd_ref add_constant_bytes(hd_machine_decoder *d, const void *value, uint32_t bytes)
{
    uint32_t at = (d->code->constants.count + 63) / 64 * 64, end = at + bytes * LANES;
    while (d->code->constants.count < end)
        hd_array_push(&d->code->constants, 0);
    for (uint32_t i = 0; i < LANES; i++)
        memcpy(d->code->constants.items + at + (size_t)i * bytes, value, bytes);
    return HD_REF(HD_REF_CONSTANT, at);
}

hd_ref hd_machine_constant(hd_machine_decoder *d, uint64_t value, uint32_t bytes)
{
    if (bytes == 4)
        value = (uint32_t)value;
    for (uint32_t i = 0; i + 2 < d->constant_keys.count; i += 3)
        if (d->constant_keys.items[i] == value && d->constant_keys.items[i + 1] == bytes)
            return (hd_ref)d->constant_keys.items[i + 2];
    hd_ref ref = add_constant_bytes(d, &value, bytes);
    hd_array_push(&d->constant_keys, value);
    hd_array_push(&d->constant_keys, bytes);
    hd_array_push(&d->constant_keys, ref);
    return ref;
}

/* The rows that hd_machine_zero and hd_machine_true name. */
void hd_machine_first_constants(hd_machine_decoder *d)
{
    static const uint32_t zero[2], ones = UINT32_MAX;
    add_constant_bytes(d, zero, 8);
    add_constant_bytes(d, &ones, 4);
}

hd_ref hd_machine_temporary(hd_machine_decoder *d)
{
    hd_ref ref = HD_REF(HD_REF_FRAME, d->temporaries + WIDE_ROW_BYTES * d->temporary++);
    if (d->temporary > HD_MACHINE_TEMPORARIES)
        hd_machine_unsupported(d, "so many operands");
    return ref;
}

void hd_machine_add_step(hd_machine_decoder *d, hd_machine_step step)
{
    if (d->m.step_count == HD_MACHINE_STEPS)
        hd_machine_unsupported(d, "so many operands");
    else
        d->m.steps[d->m.step_count++] = step;
}

uint32_t hd_machine_push(hd_machine_decoder *d, hd_ref ref, uint32_t bytes)
{
    hd_array_push(&d->code->refs, ref);
    hd_array_push(&d->code->widths, (uint8_t)bytes);
    return d->code->refs.count - 1;
}

hd_ref hd_machine_register_row(const hd_machine_decoder *d, uint8_t class, uint32_t number)
{
    bool word = class == HD_SASS_PREDICATE || class == HD_SASS_UNIFORM_PREDICATE;
    if (number >= HD_SASS_NO_NUMBER)
        return word ? hd_machine_true() : hd_machine_zero();
    switch ((hd_sass_class) class) {
    case HD_SASS_GENERAL: return d->general + ROW_BYTES * number;
    case HD_SASS_UNIFORM: return d->uniform + ROW_BYTES * number;
    case HD_SASS_PREDICATE: return d->predicates + 4 * number;
    case HD_SASS_UNIFORM_PREDICATE: return d->uniform_predicates + 4 * number;
    case HD_SASS_BARRIER: return d->barriers + ROW_BYTES * number;
    case HD_SASS_CLASS_COUNT: break;
    }
    return HD_NO_REF;
}

hd_ref hd_machine_bank_row(hd_machine_decoder *d, uint32_t bank, int64_t offset, uint32_t bytes)
{
    hd_program *p = d->program;
    if (!hd_machine_bank_has(d->kernel, bank, offset, bytes)) {
        hd_machine_unsupported(d, "what is at this place of the constant bank is not known");
        return hd_machine_zero();
    }
    for (uint32_t i = 0; i < p->bank_rows.count; i++) {
        const hd_bank_row *b = &p->bank_rows.items[i];
        if (b->bank == bank && b->offset == offset && b->bytes == bytes)
            return HD_REF(HD_REF_SPECIAL, b->row);
    }
    hd_array_push(&p->bank_rows, ((hd_bank_row){bank, (uint32_t)offset, p->special_bytes, (uint8_t)bytes}));
    p->special_bytes += bytes * LANES;
    return HD_REF(HD_REF_SPECIAL, hd_array_last(&p->bank_rows).row);
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

static uint64_t real_bits(double value, bool wide)
{
    uint64_t bits = 0;
    float narrow = (float)value;
    if (value != value)
        return wide ? 0x7fffffff00000000ull : 0x7fffffffu;
    if (!wide) {
        memcpy(&bits, &narrow, 4);
        return bits;
    }
    memcpy(&bits, &value, 8);
    return (bits + 0x80000000u) & ~0xffffffffull; /* the instruction holds the upper half */
}

/* Half of the address of a variable: 32@lo(NAME). */
static bool address_word(const hd_machine_decoder *d, const hd_machine_operand *o, uint64_t *word)
{
    hd_machine_address a;
    uint64_t address;
    const hd_machine_layout *layout = hd_machine_layout_of(d->function);
    if (!layout || !hd_machine_address_of(layout->image, o->text, o->length, &a) || a.symbol == HD_NONE ||
        !hd_machine_symbol_address(d->program->image, layout->image, a.symbol, &address))
        return false;
    address += (uint64_t)a.addend;
    *word = a.kind == HD_MACHINE_RELOCATION_HIGH ? address >> 32 : (uint32_t)address;
    return a.kind == HD_MACHINE_RELOCATION_HIGH || a.kind == HD_MACHINE_RELOCATION_LOW;
}

/* A row of the operand as it is, of 4 bytes a lane; 8 where the operand is wide. `pair`: it consists of two rows. */
static hd_ref plain_source(hd_machine_decoder *d, const hd_machine_operand *o, char letter, hd_ref *upper)
{
    bool wide = letter == 'I' || letter == 'F', is_float = letter == 'f' || letter == 'F';
    uint32_t bytes = wide ? 8 : 4;
    *upper = HD_NO_REF;
    switch ((hd_machine_operand_kind)o->kind) {
    case HD_MACHINE_OPERAND_REGISTER: {
        bool zero = o->number == HD_SASS_NO_NUMBER;
        if (wide && !zero)
            *upper = hd_machine_register_row(d, o->class, o->number + 1u);
        return hd_machine_register_row(d, o->class, o->number);
    }
    case HD_MACHINE_OPERAND_INTEGER: return hd_machine_constant(d, o->bits, bytes);
    case HD_MACHINE_OPERAND_REAL:
        if (letter == 'u')
            return hd_machine_constant(d, real_bits(o->real, true) >> 32, 4);
        if (is_float || o->real == 0)
            return hd_machine_constant(d, real_bits(o->real, wide), bytes);
        break;
    case HD_MACHINE_OPERAND_CONSTANT:
        if (o->base == HD_SASS_NO_NUMBER && o->uniform == HD_SASS_NO_NUMBER)
            return hd_machine_bank_row(d, o->bank, o->offset, bytes);
        break;
    case HD_MACHINE_OPERAND_WORD: {
        uint64_t address;
        if (!wide && address_word(d, o, &address))
            return hd_machine_constant(d, address, 4);
        break;
    }
    case HD_MACHINE_OPERAND_ADDRESS: break;
    }
    hd_machine_unsupported(d, "an operand of this kind");
    return hd_machine_zero();
}

static bool is_immediate(const hd_machine_operand *o)
{
    return o->kind == HD_MACHINE_OPERAND_INTEGER || o->kind == HD_MACHINE_OPERAND_REAL;
}

/* Adds the step that gives the operand its signs, if it has any. */
static hd_ref narrow_source(hd_machine_decoder *d, const hd_machine_operand *o, char letter)
{
    hd_ref upper, row = plain_source(d, o, letter, &upper);
    hd_machine_step step = {.a = row};
    if (is_immediate(o) || !(o->negative || o->absolute || o->complement))
        return row;
    if (letter == 'f' || letter == 'u') {
        step.kind = HD_STEP_SIGN;
        step.value = o->negative ? 0x80000000u : 0;
        step.mask = o->absolute ? 0x80000000u : 0;
    } else if (o->absolute) {
        hd_machine_unsupported(d, "the magnitude of an integer");
    } else {
        step.kind = o->complement || letter == 'n' ? HD_STEP_COMPLEMENT : HD_STEP_NEGATE;
        d->m.ones += letter == 'n' && o->negative;
    }
    step.to = hd_machine_temporary(d);
    hd_machine_add_step(d, step);
    return step.to;
}

static hd_ref wide_source(hd_machine_decoder *d, const hd_machine_operand *o, char letter)
{
    hd_ref upper, row = plain_source(d, o, letter, &upper);
    bool signs = !is_immediate(o) && (o->negative || o->absolute);
    if (upper == HD_NO_REF && !signs)
        return row;
    hd_machine_step step = {.kind = HD_STEP_PAIR, .a = row, .b = upper, .to = hd_machine_temporary(d)};
    if (letter == 'F' && signs) {
        step.kind = HD_STEP_SIGN_PAIR;
        step.value = o->negative ? 1ull << 63 : 0;
        step.mask = o->absolute ? 1ull << 63 : 0;
    } else if (signs)
        step.kind = HD_STEP_NEGATE_PAIR;
    hd_machine_add_step(d, step);
    return step.to;
}

hd_ref hd_machine_source(hd_machine_decoder *d, const hd_machine_operand *o, char letter)
{
    return letter == 'I' || letter == 'F' ? wide_source(d, o, letter) : narrow_source(d, o, letter);
}

hd_machine_predicate hd_machine_predicate_of(hd_machine_decoder *d, const hd_machine_operand *o)
{
    bool good = o->kind == HD_MACHINE_OPERAND_REGISTER &&
                (o->class == HD_SASS_PREDICATE || o->class == HD_SASS_UNIFORM_PREDICATE);
    if (!good)
        hd_machine_unsupported(d, "an operand of this kind");
    return (hd_machine_predicate){good ? hd_machine_register_row(d, o->class, o->number) : hd_machine_true(),
                                  o->negated};
}

const hd_machine_operand *hd_machine_next(hd_machine_decoder *d)
{
    static const hd_machine_operand none = {.kind = HD_MACHINE_OPERAND_WORD, .text = ""};
    return d->next < d->operands.count ? &d->operands.items[d->next++] : &none;
}
