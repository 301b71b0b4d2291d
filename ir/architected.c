/* Physical register names, the annotation of architected functions, and copy instructions. All constant time. */
#include "ir/architected.h"

#include "base/scan.h"
#include "ir/annotations.h"
#include "ir/machine.h"

/* ---- physical registers ------------------------------------------------------------------------------------------ */

static const struct {
    const char *stem;
    uint8_t type, words;
} classes[HD_PHYSICAL_CLASSES] = {
    [HD_PHYSICAL_NONE] = {"", HD_TYPE_NONE, 0},    [HD_PHYSICAL_PREDICATE] = {"%P", HD_TYPE_PRED, 0},
    [HD_PHYSICAL_BYTE] = {"%RB", HD_TYPE_B8, 1},   [HD_PHYSICAL_HALF] = {"%RH", HD_TYPE_B16, 1},
    [HD_PHYSICAL_WORD] = {"%R", HD_TYPE_B32, 1},   [HD_PHYSICAL_PAIR] = {"%RD", HD_TYPE_B64, 2},
    [HD_PHYSICAL_QUAD] = {"%RQ", HD_TYPE_B128, 4},
};

hd_physical_class hd_physical_class_of(hd_type type)
{
    if (type == HD_TYPE_PRED)
        return HD_PHYSICAL_PREDICATE;
    if (type == HD_TYPE_NONE || type >= HD_TYPE_CC)
        return HD_PHYSICAL_NONE;
    uint32_t bits = hd_types[type].bits;
    return bits <= 8     ? HD_PHYSICAL_BYTE
           : bits <= 16  ? HD_PHYSICAL_HALF
           : bits <= 32  ? HD_PHYSICAL_WORD
           : bits <= 64  ? HD_PHYSICAL_PAIR
           : bits <= 128 ? HD_PHYSICAL_QUAD
                         : HD_PHYSICAL_NONE;
}

hd_type hd_physical_type(hd_physical_class class) { return (hd_type)classes[class].type; }
const char *hd_physical_stem(hd_physical_class class) { return classes[class].stem; }

static hd_physical_class class_of_letters(const char *text, uint32_t *length)
{
    *length = 1;
    if (*text == 'P')
        return HD_PHYSICAL_PREDICATE;
    if (*text != 'R')
        return HD_PHYSICAL_NONE;
    *length = 2;
    if (text[1] == 'B')
        return HD_PHYSICAL_BYTE;
    if (text[1] == 'H')
        return HD_PHYSICAL_HALF;
    if (text[1] == 'D')
        return HD_PHYSICAL_PAIR;
    if (text[1] == 'Q')
        return HD_PHYSICAL_QUAD;
    *length = 1;
    return HD_PHYSICAL_WORD;
}

/* The number after a stem: the index in a range, or the digits of a plain name; HD_NONE if there is none. */
static uint32_t number_of(const char *digits, uint32_t index)
{
    uint64_t number;
    if (index != HD_NONE)
        return *digits ? HD_NONE : index;
    bool padded = *digits == '0' && digits[1];
    return !padded && hd_take_number(&digits, NULL, 10, 9999, &number) && !*digits ? (uint32_t)number : HD_NONE;
}

static hd_physical machine_physical(const hd_register *r)
{
    if (r->type == HD_TYPE_B32)
        return (hd_physical){HD_PHYSICAL_WORD, 1, (uint16_t)r->index};
    if (r->type == HD_TYPE_PRED && !(r->flags & HD_REGISTER_UNIFORM))
        return (hd_physical){HD_PHYSICAL_PREDICATE, 0, (uint16_t)r->index};
    return (hd_physical){0};
}

hd_physical hd_register_physical(const hd_function *f, uint32_t reg)
{
    const hd_register *r = &f->registers.items[reg];
    const char *text = hd_names_text(&f->module->names, r->name);
    uint32_t length;
    if (f->machine)
        return machine_physical(r);
    if (*text != '%' || r->vector > 1)
        return (hd_physical){0};
    text += strncmp(text + 1, "hd_", 3) == 0 ? 4 : 1;
    hd_physical_class class = class_of_letters(text, &length);
    if (class == HD_PHYSICAL_NONE || hd_physical_type(class) != r->type)
        return (hd_physical){0};
    uint32_t number = number_of(text + length, r->index), words = classes[class].words;
    uint32_t limit = words ? HD_GENERAL_REGISTERS : HD_PREDICATE_REGISTERS;
    if (number == HD_NONE || number + (words ? words : 1) > limit || (words && number % words))
        return (hd_physical){0};
    return (hd_physical){(uint8_t) class, (uint8_t)words, (uint16_t)number};
}

/* ---- the annotation ---------------------------------------------------------------------------------------------- */

bool hd_architected_of(const hd_function *f, hd_architected *numbers)
{
    if (f->machine) {
        uint32_t most = f->machine->registers;
        *numbers = (hd_architected){most, f->machine->predicates, 0, f->machine->calls_out ? most : 0};
        return true;
    }
    const hd_annotation *a = hd_annotation_at(f, HD_ANNOTATION_ARCHITECTED, HD_NONE, 0);
    if (!a)
        return false;
    uint32_t *to[] = {&numbers->registers, &numbers->predicates, &numbers->spill_bytes, &numbers->held};
    for (uint32_t i = 0; i < sizeof to / sizeof *to; i++)
        *to[i] = i < a->count ? f->annotation_words.items[a->value + i] : 0;
    return true;
}

uint32_t hd_function_resident_registers(const hd_function *kernel, uint32_t registers)
{
    const hd_annotation *sets = hd_annotation_at(kernel, HD_ANNOTATION_REGMUTEX, HD_NONE, 0);
    uint32_t base = sets && sets->count == 2 ? kernel->annotation_words.items[sets->value] : registers;
    return hd_min(base, registers);
}

void hd_architected_set(hd_function *f, const hd_architected *numbers)
{
    uint32_t words[] = {numbers->registers, numbers->predicates, numbers->spill_bytes, numbers->held};
    hd_annotate_list(f, (hd_annotation){.kind = HD_ANNOTATION_ARCHITECTED, .instruction = HD_NONE}, words, 4);
    hd_annotations_sort(f);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

enum { PIECES_MOST = 8 };
typedef struct piece {
    uint32_t reg; /* HD_NONE: no register */
    uint32_t begin_bits, end_bits;
    bool sink;
} piece;

/* Reads the elements of one side of a mov, low bits first; returns the operand after it. */
static const hd_operand *read_side(const hd_operand *o, piece *pieces, uint32_t *count)
{
    uint32_t elements = o->kind == HD_OPERAND_VECTOR ? o->count : 1;
    const hd_operand *end = o + hd_operand_extent(o);
    o += o->kind == HD_OPERAND_VECTOR;
    *count = 0;
    for (uint32_t i = 0; i < elements && *count < PIECES_MOST; i++, o += hd_operand_extent(o)) {
        bool is_register =
            o->kind == HD_OPERAND_REGISTER && !o->count && !(o->flags & (HD_OPERAND_NOT | HD_OPERAND_MINUS));
        pieces[(*count)++] = (piece){is_register ? o->value : HD_NONE, 0, 0, o->kind == HD_OPERAND_SINK};
    }
    return end;
}

/* All elements must have one width; false if a register has another (a vector move of old PTX). */
static bool place_elements(const hd_function *f, piece *pieces, uint32_t count, uint32_t total_bits)
{
    uint32_t width = count ? total_bits / count : 0;
    for (uint32_t i = 0; i < count; i++) {
        pieces[i].begin_bits = i * width;
        pieces[i].end_bits = (i + 1) * width;
        if (pieces[i].reg != HD_NONE && hd_types[f->registers.items[pieces[i].reg].type].bits != width)
            return false;
    }
    return true;
}

/* The piece that starts at `bit` and holds the low part of a word or the whole word; NULL: none. */
static const piece *piece_at(const piece *pieces, uint32_t count, uint32_t bit)
{
    for (uint32_t i = 0; i < count; i++)
        if (pieces[i].begin_bits <= bit && bit < pieces[i].end_bits)
            return &pieces[i];
    return NULL;
}

static uint32_t match_pieces(piece *to, uint32_t to_count, piece *from, uint32_t from_count, uint32_t bits,
                             hd_copy *copies, bool *all)
{
    uint32_t count = 0;
    for (uint32_t bit = 0; bit < bits; bit += hd_min(bits, 32)) {
        const piece *t = piece_at(to, to_count, bit), *s = piece_at(from, from_count, bit);
        if (!t || !s || t->begin_bits % 32 || (t->reg == HD_NONE && !t->sink)) {
            *all = false;
            continue;
        }
        const piece *rest = piece_at(to, to_count, bit + 31 < bits ? bit + 31 : bits - 1); /* a word that is unpacked */
        if (rest && rest != t && !rest->sink)
            *all = false;
        if (t->sink)
            continue;
        uint32_t s_width = s->end_bits - s->begin_bits, t_width = t->end_bits - t->begin_bits;
        bool packs = s_width < 32 && s_width < t_width; /* packs parts of a word */
        if (s->reg == HD_NONE || s->begin_bits % 32 || packs) {
            *all = false;
            continue;
        }
        if (count < HD_COPIES_MOST)
            copies[count++] =
                (hd_copy){t->reg, s->reg, (uint8_t)((bit - t->begin_bits) / 32), (uint8_t)((bit - s->begin_bits) / 32)};
    }
    return count;
}

static uint32_t mov_copies(const hd_function *f, const hd_instruction *insn, hd_copy *copies, bool *all)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    uint32_t bits = hd_types[hd_insn_form(f, insn)->types[0]].bits, to_count, from_count;
    piece to[PIECES_MOST], from[PIECES_MOST];
    const hd_operand *source = read_side(o, to, &to_count);
    if (source >= o + insn->operand_count)
        return 0;
    if ((hd_insn_form(f, insn)->types[0] == HD_TYPE_PRED && source->flags & HD_OPERAND_NOT) ||
        source->flags & HD_OPERAND_OFFSET)
        return 0;
    read_side(source, from, &from_count);
    if (!place_elements(f, to, to_count, bits) || !place_elements(f, from, from_count, bits))
        return 0;
    *all = true;
    return match_pieces(to, to_count, from, from_count, bits, copies, all);
}

static bool is_integer(hd_type type)
{
    uint8_t class = hd_types[type].class;
    return class == HD_CLASS_BITS || class == HD_CLASS_UNSIGNED || class == HD_CLASS_SIGNED;
}

/* An integer conversion that keeps the low bits: to the same or a narrower width. */
static bool truncates(const hd_form *form)
{
    hd_type to = (hd_type)form->types[0], from = (hd_type)form->types[1];
    return form->type_count == 2 && is_integer(to) && is_integer(from) && hd_types[to].bits >= 16 &&
           hd_types[to].bits <= hd_types[from].bits && form->modifiers[HD_GROUP_SAT] == HD_MOD_NONE;
}

static bool keeps_address(const hd_form *form) { return form->space == HD_SPACE_GLOBAL; }

static uint32_t unary_copies(const hd_function *f, const hd_instruction *insn, hd_copy *copies, bool *all)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    if (insn->operand_count != 2 || o[0].kind != HD_OPERAND_REGISTER || o[1].kind != HD_OPERAND_REGISTER)
        return 0;
    uint32_t to_bits = hd_types[f->registers.items[o[0].value].type].bits;
    uint32_t from_bits = hd_types[f->registers.items[o[1].value].type].bits;
    if (to_bits != hd_types[hd_insn_form(f, insn)->types[0]].bits || from_bits < to_bits)
        return 0;
    uint32_t words = (to_bits + 31) / 32;
    for (uint32_t w = 0; w < words; w++)
        copies[w] = (hd_copy){o[0].value, o[1].value, (uint8_t)w, (uint8_t)w};
    *all = true;
    return words;
}

uint32_t hd_insn_copies(const hd_function *f, const hd_instruction *insn, hd_copy copies[HD_COPIES_MOST], bool *all)
{
    const hd_form *form = hd_insn_form(f, insn);
    bool nothing_else = false;
    uint32_t count = 0;
    if (!(insn->flags & HD_INSN_OPAQUE) && !(form->flags & HD_FORM_INVALID)) {
        if (form->opcode == HD_OP_MOV)
            count = mov_copies(f, insn, copies, &nothing_else);
        else if ((form->opcode == HD_OP_CVT && truncates(form)) || (form->opcode == HD_OP_CVTA && keeps_address(form)))
            count = unary_copies(f, insn, copies, &nothing_else);
    }
    if (all)
        *all = nothing_else && count;
    return count;
}

bool hd_insn_is_identity(const hd_function *f, const hd_instruction *insn)
{
    hd_copy copies[HD_COPIES_MOST];
    bool all;
    uint16_t opcode = hd_insn_form(f, insn)->opcode;
    if (opcode != HD_OP_MOV && opcode != HD_OP_CVT && opcode != HD_OP_CVTA)
        return false;
    /* the common case: a mov of a number or an address */
    if (insn->operand_count == 2 && hd_insn_operands(f, insn)[1].kind != HD_OPERAND_REGISTER)
        return false;
    uint32_t count = hd_insn_copies(f, insn, copies, &all);
    if (!all || !hd_function_is_architected(f))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        hd_physical to = hd_register_physical(f, copies[i].to), from = hd_register_physical(f, copies[i].from);
        bool both = to.class != HD_PHYSICAL_NONE && from.class != HD_PHYSICAL_NONE;
        if (!both || (to.class == HD_PHYSICAL_PREDICATE) != (from.class == HD_PHYSICAL_PREDICATE) ||
            to.number + copies[i].to_word != from.number + copies[i].from_word)
            return false;
    }
    return true;
}
